"""Edits of cognitive files: each changes the lines it is about and no other, in the shape that the file has."""

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence

from mabos_cli.core.text import one_line
from mabos_cli.formats.cognitive import ITEM, CognitiveFile, Entry, Heading, Table, parse_cognitive
from mabos_cli.formats.cognitive_fields import Field, bare, is_only_fields
from mabos_cli.formats.markdown import escape_block

# What stands in brackets in a section; the rest stands on a line of its own.
_MARKED = ("updated", "deadline")
# What stands among the words of an item, and how fields are called on a line of their own.
SPOKEN = ("status", "priority", "certainty")
_LABELS = {"id": "ID", "owner": "To", "status": "status", "priority": "priority"}
_LEVELS = 8  # entries within entries: no more than headings and lists can nest
_BOLD = re.compile(r"(\s*[-*+]\s+)(\*\*|__)[^*_]+")


def set_field(file: CognitiveFile, entry: Entry, name: str, value: str) -> str:
    """The text with a field of an entry changed or added; a table that has no column for it gets it in brackets."""
    return set_fields(file, [(entry, name, value)])


def set_fields(file: CognitiveFile, changes: Sequence[tuple[Entry, str, str]]) -> str:
    """The text with a field of each of some entries changed: from the last to the first, so that lines stay where they are."""
    lines = list(file.lines)
    for entry, name, value in sorted(changes, key=lambda change: -change[0].first):
        field = entry.fields.get(name)
        if field:
            _replace(lines, entry, field, one_line(value))
        elif entry.shape == "row":
            _mark_row(lines, entry, name, one_line(value))
        else:
            _add_field(lines, entry, name, one_line(value), _ending(file))
    return "\n".join(lines)


def _replace(lines: list[str], entry: Entry, field: Field, value: str) -> None:
    line = lines[field.line]
    marked = line[: field.start].rstrip().endswith(":") and line[field.end :].lstrip()[:1] == "]"
    told = _unbracketed(value) if marked else value
    told = told.replace("|", "\\|") if entry.shape == "row" else told
    # A word that a mark follows keeps its distance.
    gap = " " if not marked and line[field.end : field.end + 1] == "[" else ""
    lines[field.line] = line[: field.start] + told + gap + line[field.end :]


def _add_field(lines: list[str], entry: Entry, name: str, value: str, end: str) -> None:
    """Adds a field to an item or a section: behind its last one, and like that."""
    own = sorted(f.line for f in entry.fields.values() if f.line > entry.first)
    if entry.shape == "item" and not own:
        line = lines[entry.first]
        told = f"{name}: {value}" if name in SPOKEN else bracketed(name, value)
        lines[entry.first] = f"{line.rstrip()} {told}" + ("\r" if line.endswith("\r") else "")
    elif own:
        lines.insert(own[-1] + 1, field_line(name, value, lines[own[-1]]) + end)
    else:
        lines[entry.first + 1 : entry.first + 1] = [end, field_line(name, value) + end]


def _mark_row(lines: list[str], entry: Entry, name: str, value: str) -> None:
    """Adds a field in brackets to the cell that tells most: that of the text, or of the title."""
    told = [entry.fields[n] for n in ("text", "what", "title", "id") if n in entry.fields]
    cell = next((field for field in told if field.value), told[0] if told else None)
    if cell and value:
        mark = bracketed(name, value).replace("|", "\\|")
        line = lines[cell.line]
        lines[cell.line] = line[: cell.end] + (f" {mark}" if cell.value else mark) + line[cell.end :]


def _unbracketed(value: str) -> str:
    """A value that can stand in brackets."""
    return value.replace("[", "(").replace("]", ")")


def bracketed(name: str, value: str) -> str:
    """A field in brackets."""
    return f"[{name}: {_unbracketed(value)}]"


def field_line(name: str, value: str, line: str = "") -> str:
    """A line for a field that looks like another line: indented, in bold or as an item when that is."""
    bold = _BOLD.match(line)
    if bold:
        label = "ID" if name == "id" else _LABELS.get(name, name).title()
        return f"{bold[1]}{bold[2]}{label}:{bold[2]} {value}"
    item = re.match(r"\s*[-*+]\s+", line)
    if item:
        return f"{item[0]}{'ID' if name == 'id' else name.capitalize()}: {value}"
    if name in _MARKED:
        return bracketed(name, value)
    return f"{_LABELS.get(name, name.capitalize())}: {value}"


def _ending(file: CognitiveFile) -> str:
    """What stands before a line break in this file."""
    return "\r" if file.lines[0].endswith("\r") else ""


def add_row(file: CognitiveFile, table: Table, values: Mapping[str, str]) -> str:
    """The text with a new last row in a table. What it has no column for stands in brackets in the cell that tells most."""
    cells = {name: one_line(values.get(name, "")) for name in table.columns}
    told = next((name for name in ("text", "title") if cells.get(name)), "")
    others = [n for n, v in values.items() if v and n not in cells and n not in ("text", "title", "id")]
    if told:
        cells[told] += "".join(f" {bracketed(n, one_line(values[n]))}" for n in others)
    row = " | ".join(cell.replace("|", "\\|") for cell in cells.values())
    return insert_lines(file, table.last + 1, [f"| {row} |"])


def add_item(file: CognitiveFile, after: int, last: int, told: Sequence[str]) -> str:
    """The text with a new item behind the one that begins at a line and ends at another, with the same bullet."""
    match = ITEM.fullmatch(bare(file.lines[after]))
    bullet = match[1] if match else "- "
    number = re.match(r"(\d+)(.*)", bullet)
    bullet = f"{int(number[1]) + 1}{number[2]}" if number else bullet
    return insert_lines(file, last + 1, [re.sub(r"\[[xX]\]", "[ ]", bullet) + told[0], *told[1:]])


def insert_lines(file: CognitiveFile, place: int, new: Sequence[str]) -> str:
    """The text with lines put before a place, as they are."""
    lines, end = list(file.lines), _ending(file)
    lines[place:place] = [line + end for line in new]
    if end and place + len(new) == len(
        lines
    ):  # behind a last line without a break: its mark goes to the line above
        lines[place - 1] = lines[place - 1].rstrip("\r") + end
        lines[-1] = lines[-1].rstrip("\r")
    return "\n".join(lines)


def add_section(file: CognitiveFile, head: str, body: Sequence[str], group: str = "") -> str:
    """The text with a new section: at the end of a group if one is named and there, else at the end of the file."""
    heading = find_heading(file, group)
    return insert_block(file, file.end_of(heading) if heading else len(file.lines), [head, *body])


def insert_block(file: CognitiveFile, place: int, new: Sequence[str]) -> str:
    """The text with lines put before a place, with a blank line before and behind."""
    lines, end = list(file.lines), _ending(file)
    while place > 0 and not lines[place - 1].strip():
        place -= 1
    rest = lines[place:]
    behind = rest if any(line.strip() for line in rest) else [""]
    lead = [""] if place else []
    inner = [line + end for line in [*lead, *new]]
    return "\n".join([*lines[:place], *inner, *(behind if not behind[0].strip() else ["", *behind])])


def find_heading(file: CognitiveFile, title: str) -> Heading | None:
    """The heading with these words, in whatever case; the title of the file is none."""
    wanted = title.casefold()
    return next((h for h in file.headings if wanted and h.level > 1 and h.title.casefold() == wanted), None)


def set_text(file: CognitiveFile, entry: Entry, text: str) -> str | None:
    """The text of the file with another text in a section; None where that would touch more than plain lines."""
    body = range(entry.first + 1, entry.last + 1)
    prose = [n for n in body if file.lines[n].strip() and not is_only_fields(file.lines[n])]
    if not prose:
        behind = max([entry.first, *(f.line for f in entry.fields.values())]) + 1
        return insert_block(file, behind, escape_block(text).split("\n"))
    within = range(prose[0], prose[-1] + 1)
    if any(is_only_fields(file.lines[n]) and file.lines[n].strip() for n in within):
        return None
    if any(re.match(r"\s*(?:```|~~~|<!--|>|\|| {4}|\t)", file.lines[n]) for n in within):
        return None
    lines = list(file.lines)
    end = [(lines[prose[-1]].endswith("\r") and "\r") or ""]
    lines[prose[0] : prose[-1] + 1] = [line + end[0] for line in escape_block(text).split("\n")]
    return "\n".join(lines)


def reorder(file: CognitiveFile, key: Callable[[Entry], float | None]) -> str:
    """The text with entries sorted by a key, highest first, within their table, list or group; ties keep their order, and
    what has no key keeps its place.

    Blank lines stay where they are; what belongs to an entry, headings below it too, moves with it. What stands within
    an entry that moves is sorted in the next round.
    """
    for _ in range(_LEVELS):
        moves = _moves(file, key)
        if not moves:
            break
        lines = list(file.lines)
        for first, last, block in sorted(moves, reverse=True):
            lines[first : last + 1] = block
        file = parse_cognitive("\n".join(lines))
    return file.render()


def _moves(file: CognitiveFile, key: Callable[[Entry], float | None]) -> list[tuple[int, int, list[str]]]:
    """The places of entries that others take, and the lines that go there; no place within another one."""
    moves: list[tuple[int, int, list[str]]] = []
    behind = -1
    for run in _runs(file, key):
        spans = [_span(file, entry) for entry in run]
        order = sorted(range(len(run)), key=lambda n: -(key(run[n]) or 0))
        if spans[0][0] <= behind or order == list(range(len(run))):
            continue
        behind = spans[-1][1]
        for (first, last), source in zip(spans, order, strict=True):
            start, stop = spans[source]
            block = list(file.lines[start : stop + 1])
            wants = "\r" if file.lines[last].endswith("\r") else ""
            moves.append((first, last, [*block[:-1], block[-1].rstrip("\r") + wants]))
    return moves


def _span(file: CognitiveFile, entry: Entry) -> tuple[int, int]:
    """The lines that move with an entry, without blank ones behind."""
    last = entry.last
    if entry.shape == "section":
        last = file.end_of(_heading_at(file, entry.first)) - 1
        while last > entry.first and not file.lines[last].strip():
            last -= 1
    return entry.first, last


def _heading_at(file: CognitiveFile, line: int) -> Heading:
    """The heading at or above a line."""
    return file.headings[bisect_right(file.headings, line, key=lambda h: h.line) - 1]


def _runs(file: CognitiveFile, key: Callable[[Entry], float | None]) -> list[list[Entry]]:
    """Entries that may change places, in the order of the file: rows of one table, items below one heading, sections of
    one level below one heading. A byte order mark stays where it is, and the line that has it too."""
    runs: dict[tuple[object, ...], list[Entry]] = {}
    for entry in file.entries:
        if key(entry) is None or file.lines[entry.first].startswith("\ufeff"):
            continue
        if entry.shape == "row":
            at = bisect_right(file.tables, entry.first, key=lambda t: t.header)
        elif entry.shape == "item":
            at = bisect_right(file.headings, entry.first, key=lambda h: h.line)
        else:
            at = _heading_at(file, entry.first).above
        runs.setdefault((entry.shape, at, entry.level), []).append(entry)
    return [run for run in runs.values() if len(run) > 1]
