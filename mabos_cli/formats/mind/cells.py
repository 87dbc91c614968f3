"""Cells of tables in cognitive files: how they are split, escaped and read as fields."""

import re
from collections.abc import Sequence

from mabos_cli.formats.mind.cognitive_fields import MARK, NAMES, Field, marks_of, trimmed

_NAMED = re.compile(r"([A-Za-z]+)\s*:(.*)")
_PIPE = re.compile(r"(?<!\\)(\\*)\|")
_CELL = re.compile(r"(?:[^|\\]|\\.|\\$)*")


def _narrowed(line: str, cell: Field, name: str) -> Field:
    """Returns a cell without what only repeats the name of its column: `status: active`, `[deadline: 2026-02-20]`.
    Titles and texts are words, and stay."""
    if ":" not in cell.value or name in ("title", "text"):
        return cell
    match = MARK.fullmatch(line, cell.start, cell.end) or _NAMED.fullmatch(line, cell.start, cell.end)
    if not match or NAMES.get(match[1].lower()) != name:
        return cell
    inner = trimmed(line, cell.line, *match.span(2))
    return inner._replace(value=unescape_cell(inner.value))


def row_fields(line: str, number: int, columns: Sequence[str]) -> dict[str, Field]:
    """Returns the fields of a row: its cells, and what stands in brackets in one of them."""
    cells = [cell._replace(line=number) for cell in split_cells(line)]
    marks: dict[str, Field] = {}
    for cell in cells if "[" in line else ():
        marks = marks_of(line, number, cell.start, cell.end) | marks
    marks = {name: mark._replace(value=unescape_cell(mark.value)) for name, mark in marks.items()}
    named = {n: _unmarked(line, _narrowed(line, cell, n)) for n, cell in zip(columns, cells, strict=False)}
    return marks | {name: cell for name, cell in named.items() if cell.value or name not in marks}


def _unmarked(line: str, cell: Field) -> Field:
    """Returns a cell without the marks before and behind its words."""
    marks = list(MARK.finditer(line, cell.start, cell.end)) if "[" in cell.value else []
    if not marks:
        return cell
    start, end = cell.start, cell.end
    while marks and not line[start : marks[0].start()].strip():
        start = marks.pop(0).end()
    while marks and not line[marks[-1].end() : end].strip():
        end = marks.pop().start()
    if not line[start:end].strip():
        return Field("", cell.line, cell.start, cell.start)
    inner = trimmed(line, cell.line, start, end)
    return inner._replace(value=unescape_cell(inner.value))


def escape_cell(text: str) -> str:
    """Returns a text as it stands in a cell: pipes are escaped, and so are backslashes that would escape a pipe.

    >>> print(escape_cell("a | b"))
    a \\| b
    """
    return _PIPE.sub(lambda match: match[1] * 2 + "\\|", text) + (" " if text.endswith("\\") else "")


def unescape_cell(text: str) -> str:
    """Returns the text that escape_cell was given."""
    return _PIPE.sub(lambda match: "\\" * (len(match[1]) // 2) + "|", text)


def split_cells(line: str) -> list[Field]:
    """Returns the cells of a row, trimmed, with their spans; the line number is left to the caller.

    >>> [cell.value for cell in split_cells("| B-1 | a \\\\| b |  |")]
    ['B-1', 'a | b', '']
    """
    body = line.rstrip("\r")
    lead = re.match(r"\ufeff?\s*\|?", body)
    cells, position = [], lead.end() if lead else 0
    while position <= len(body):
        cell = _CELL.match(body, position)
        end = cell.end() if cell else position
        raw = body[position:end]
        if end == len(body) and not raw.strip():
            break
        left = position + len(raw) - len(raw.lstrip()) if raw.strip() else position + min(1, len(raw))
        right = position + len(raw.rstrip()) if raw.strip() else left
        cells.append(Field(unescape_cell(body[left:right]), 0, left, right))
        position = end + 1
    return cells
