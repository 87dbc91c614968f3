"""Cognitive files (Beliefs.md, Goals.md, ...): what stands in sections, tables and lists, and where, to the character.

A file is its lines; what is understood of it are entries with fields, each with the span of its value. Whatever else there
is (prose, quotes, comments, code, odd spacing) is not looked at and so not touched: a file comes back as it was.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from mabos_cli.formats.outline import hidden_lines

# What a field may be called, and what it is.
NAMES = {
    **{
        name: name
        for name in ("id", "certainty", "priority", "status", "source", "progress", "owner", "text")
    },
    **{name: name for name in ("updated", "deadline", "type", "supports", "motivates", "requires", "title")},
    **dict.fromkeys(("confidence",), "certainty"),
    **dict.fromkeys(("last updated", "updated at", "date", "since"), "updated"),
    **dict.fromkeys(("due", "due date", "by", "until"), "deadline"),
    **dict.fromkeys(("level", "kind", "category"), "type"),
    **dict.fromkeys(("value", "content", "description", "details", "state"), "text"),
    **dict.fromkeys(
        ("belief", "desire", "goal", "intention", "plan", "commitment", "learning", "lesson"), "title"
    ),
    **dict.fromkeys(("about", "subject", "name", "action", "step", "what"), "title"),
    **dict.fromkeys(("goal id", "goals", "for goal"), "supports"),
    **dict.fromkeys(("to", "to whom", "stakeholder", "assigned to"), "owner"),
}
_TITLES = ("belief", "desire", "goal", "intention", "plan", "commitment", "learning", "lesson")
# In a section the heading is the title and the prose the text; these words begin a line of their own.
_IN_SECTIONS = frozenset(NAMES) - {
    *(
        "text",
        "title",
        "value",
        "content",
        "description",
        "details",
        "state",
        "since",
        "by",
        "name",
        "to",
        "what",
    ),
    *(
        "belief",
        "desire",
        "goal",
        "intention",
        "plan",
        "commitment",
        "learning",
        "lesson",
        "about",
        "subject",
    ),
    *("action", "step", "date", "until", "level", "kind", "category"),
}
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_PAIR = re.compile(r"(\s*(?:[-*+]\s+)?[*_]{0,3}([A-Za-z][A-Za-z ]{0,20}?)[*_]{0,3}\s*:[*_]{0,3}\s*)(.*)")
_MARK = re.compile(
    r"\[\s*(deadline|due|updated|status|priority|certainty|id|progress)\s*:\s*([^\]\n]*?)\s*\]", re.IGNORECASE
)
_INLINE = re.compile(r"(?<![\w\[])(status|priority|certainty)\s*:\s*([\w.%-]+)", re.IGNORECASE)
_ITEM = re.compile(r"([-*+]\s+(?:\[[ xX]\]\s+)?)(.*)")
_DELIMITER = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_LOG = re.compile(r"(?i)\b(?:log|history|revisions?|changes)\b")


class Field(NamedTuple):
    """A value and its span: the line, counted from zero, and the columns."""

    value: str
    line: int
    start: int
    end: int


class Entry(NamedTuple):
    """A belief, goal, ... as it stands in a file: a section, a row of a table, or an item of a list."""

    shape: str
    group: str
    title: str
    text: str
    fields: Mapping[str, Field]
    first: int
    last: int
    level: int = 0

    def get(self, name: str) -> str:
        """The value of a field, empty when there is none."""
        return self.fields[name].value if name in self.fields else ""


class Table(NamedTuple):
    """A table: the heading above it, its columns by what they are, and its lines."""

    group: str
    columns: tuple[str, ...]
    header: int
    first: int
    last: int
    is_log: bool


class Heading(NamedTuple):
    """A heading that counts: line, level, words, and the last line before the next heading of any level."""

    line: int
    level: int
    title: str
    last: int


class CognitiveFile(NamedTuple):
    """A file as lines, with what was understood of them."""

    lines: tuple[str, ...]
    entries: tuple[Entry, ...]
    tables: tuple[Table, ...]
    headings: tuple[Heading, ...]

    def render(self) -> str:
        """The file as it was."""
        return "\n".join(self.lines)


def parse_cognitive(text: str) -> CognitiveFile:
    """What stands in a cognitive file. Any text will do."""
    lines = tuple(text.split("\n"))
    hidden = hidden_lines(lines)
    headings = tuple(_headings(lines, hidden))
    tables = tuple(_tables(lines, hidden, headings))
    entries = [*_rows(lines, tables), *_sections(lines, hidden, headings, tables)]
    entries += _items(lines, hidden, headings)
    return CognitiveFile(lines, tuple(sorted(entries, key=lambda entry: entry.first)), tables, headings)


def _headings(lines: tuple[str, ...], hidden: set[int]) -> Iterator[Heading]:
    found = [
        (n, match)
        for n, line in enumerate(lines)
        if n not in hidden and (match := _HEADING.match(_bare(line)))
    ]
    for (number, match), after in zip(found, [*(n for n, _ in found[1:]), len(lines)], strict=False):
        yield Heading(number, len(match[1]), match[2].rstrip(" \t#").strip(), after - 1)


def _bare(line: str) -> str:
    return line.rstrip("\r").removeprefix("\ufeff")


def _group_of(headings: tuple[Heading, ...], line: int, below: int = 7) -> str:
    """The nearest heading above a line, of a level above another if asked for."""
    above = [h for h in headings if h.line < line and 1 < h.level < below]
    return above[-1].title if above else ""


# Tables.


def split_cells(line: str) -> list[Field]:
    """The cells of a row, trimmed, with their spans; the line number is left to the caller.

    >>> [cell.value for cell in split_cells("| B-1 | a \\\\| b |  |")]
    ['B-1', 'a | b', '']
    """
    body = _bare(line)
    start = len(body) - len(body.lstrip())
    start += body[start : start + 1] == "|"
    cells, position = [], start
    while position <= len(body):
        end = position
        while end < len(body) and body[end] != "|":
            end += 2 if body[end] == "\\" else 1
        end = min(end, len(body))
        if end == len(body) and not body[position:end].strip():
            break
        raw = body[position:end]
        left = position + len(raw) - len(raw.lstrip()) if raw.strip() else position + min(1, len(raw))
        right = position + len(raw.rstrip()) if raw.strip() else left
        cells.append(Field(body[left:right].replace("\\|", "|"), 0, left, right))
        position = end + 1
    return cells


def _tables(lines: tuple[str, ...], hidden: set[int], headings: tuple[Heading, ...]) -> Iterator[Table]:
    number = 1
    while number < len(lines):
        above, line = _bare(lines[number - 1]), _bare(lines[number])
        is_table = "|" in above and "-" in line and "|" in line and bool(_DELIMITER.fullmatch(line))
        if not is_table or hidden & {number, number - 1}:
            number += 1
            continue
        last = number
        while last + 1 < len(lines) and "|" in lines[last + 1] and last + 1 not in hidden:
            last += 1
        names = [cell.value.strip("*_ ").casefold() for cell in split_cells(above)]
        group = _group_of(headings, number - 1)
        yield Table(group, _meanings(names), number - 1, number + 1, last, bool(_LOG.search(group)))
        number = last + 1


def _meanings(names: list[str]) -> tuple[str, ...]:
    """What the columns of a table are. Of two that could be the title the one that says what stands in the file is: an
    Agent Beliefs table has About and Belief."""
    named = [name for name in names if NAMES.get(name) == "title"]
    title = next((name for name in named if name in _TITLES), named[0] if named else "")
    columns: list[str] = []
    for name in names:
        meaning = NAMES.get(name, name) if NAMES.get(name) != "title" or name == title else name
        columns.append(meaning if meaning not in columns else f"{meaning} {len(columns)}")
    return tuple(columns)


def _rows(lines: tuple[str, ...], tables: tuple[Table, ...]) -> Iterator[Entry]:
    for table in tables:
        if table.is_log or not {"title", "id"} & set(table.columns):
            continue
        for number in range(table.first, table.last + 1):
            cells = [cell._replace(line=number) for cell in split_cells(lines[number])]
            fields = dict(zip(table.columns, cells, strict=False))
            fields = {**_marks(lines[number], number), **fields}
            title = fields["title"].value if "title" in fields else ""
            if any(cell.value for cell in cells):
                text = fields["text"].value if "text" in fields else ""
                yield Entry("row", table.group, _plain(title), _plain(text), fields, number, number)


def _marks(line: str, number: int) -> dict[str, Field]:
    """Fields in brackets, as [deadline: 2026-02-20]."""
    found = {}
    for match in _MARK.finditer(line):
        name = NAMES[match[1].lower()]
        found.setdefault(name, Field(match[2], number, match.start(2), match.end(2)))
    return found


def _plain(text: str) -> str:
    """A text without marks and emphasis around it."""
    return " ".join(_MARK.sub("", text).strip().strip("*_").split())


# Sections.


def _sections(
    lines: tuple[str, ...], hidden: set[int], headings: tuple[Heading, ...], tables: tuple[Table, ...]
) -> Iterator[Entry]:
    with_table = {h.line for table in tables for h in headings if h.line < table.header <= h.last}
    for heading, below in zip(headings, [*headings[1:], None], strict=False):
        if heading.level < 2 or heading.line in with_table or _LOG.search(heading.title):
            continue
        body = range(heading.line + 1, heading.last + 1)
        fields = dict(_marks(lines[heading.line], heading.line))
        prose = []
        for number in body:
            if number in hidden or _is_item(lines[number], number):
                continue
            found = _line_fields(lines[number], number)
            fields = {**found, **fields}
            if not found or not _is_only_fields(lines[number]):
                prose.append(_bare(lines[number]).strip())
        is_group = below is not None and below.level > heading.level
        told = [line for line in prose if line]
        if (told or fields) and not (is_group and not fields):
            last = max((n for n in body if lines[n].strip()), default=heading.line)
            group = _group_of(headings, heading.line, heading.level)
            text = _plain(" ".join(told))
            yield Entry(
                "section", group, _plain(heading.title), text, fields, heading.line, last, heading.level
            )


def _line_fields(line: str, number: int) -> dict[str, Field]:
    """The fields that a line of a section holds: `Certainty: 0.9`, `- **Source:** board`, `[updated: 2026-02-01]`."""
    found = _marks(line, number)
    pair = _PAIR.fullmatch(_bare(line))
    if pair and pair[2].strip().casefold() in _IN_SECTIONS:
        value = pair[3].rstrip()
        start = len(pair[1])
        found.setdefault(
            NAMES[pair[2].strip().casefold()], Field(value.strip("*_ "), number, start, start + len(value))
        )
    return found


def _is_only_fields(line: str) -> bool:
    pair = _PAIR.fullmatch(_bare(line))
    if pair and pair[2].strip().casefold() in _IN_SECTIONS:
        return True
    return not _MARK.sub("", line).strip(" \t\r-*+")


# Lists.


def _is_item(line: str, number: int) -> bool:
    """Whether a line is an item of its own: at the margin, with a mark and with words besides."""
    match = _ITEM.fullmatch(_bare(line))
    return bool(match and _item_fields(line, number) and not _is_only_fields(line))


def _item_fields(line: str, number: int) -> dict[str, Field]:
    fields = _marks(line, number)
    for match in _INLINE.finditer(line):
        fields.setdefault(NAMES[match[1].lower()], Field(match[2], number, match.start(2), match.end(2)))
    return fields


def _items(lines: tuple[str, ...], hidden: set[int], headings: tuple[Heading, ...]) -> Iterator[Entry]:
    """Items at the margin that carry a mark, as `- Ship the beta [deadline: 2026-02-20] status: active`."""
    for number, line in enumerate(lines):
        match = _ITEM.fullmatch(_bare(line))
        if number in hidden or not match or not _is_item(line, number):
            continue
        title = _plain(_INLINE.sub("", match[2])).rstrip(" ,;")
        fields = _item_fields(line, number)
        yield Entry("item", _group_of(headings, number, 7), title, "", fields, number, number)
