"""Fields of cognitive files: what they may be called, and where in a line their values stand."""

import re
from typing import NamedTuple

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
TITLES = ("belief", "desire", "goal", "intention", "plan", "commitment", "learning", "lesson")
# In a section the heading is the title and the prose the text; these begin a line that is a field.
_IN_SECTIONS = {
    name: NAMES[name]
    for name in (
        *("id", "certainty", "confidence", "priority", "status", "source", "progress", "owner", "to"),
        *("updated", "last updated", "updated at", "deadline", "due", "due date", "type"),
        *("supports", "motivates", "requires", "goal id", "goals", "for goal", "to whom", "stakeholder"),
        "assigned to",
    )
}
# These are words of everyday prose too: they are fields where they are bold, or where an id follows.
_IF_MARKED = {
    **dict.fromkeys(("level", "kind", "category"), "type"),
    **{name: name for name in ("goal", "desire", "plan", "parent", "serves", "reason", "outcome", "note")},
}
_BRACKETED = {
    **{name: NAMES[name] for name in ("deadline", "due", "updated", "status", "priority", "certainty", "id")},
    **{name: name for name in ("progress", "supports", "motivates", "requires", "owner", "source", "type")},
    **{name: name for name in ("goal", "plan", "parent", "desire", "note", "reason", "outcome")},
}
ID = re.compile(r"\b[A-Z]{1,5}(?:-[A-Za-z0-9]+)*-?\d+[A-Za-z0-9-]*\b")
MARK = re.compile(rf"\[\s*({'|'.join(_BRACKETED)})\s*:\s*([^\]\n]*?)\s*\]", re.IGNORECASE)
INLINE = re.compile(
    r"(?<![\w\[])(status|priority|certainty|progress)\s*:\s*([\w.%-]+(?:[ \t]*\(\d{4}-\d\d-\d\d[^()\n]*\))?)",
    re.IGNORECASE,
)
_PAIR = re.compile(r"(\s*(?:[-*+]\s+)?([*_]{0,3})([A-Za-z][A-Za-z ]{0,20}?)[*_]{0,3}\s*:[*_]{0,3}\s*)(.*)")


class Field(NamedTuple):
    """A value and its span: the line, counted from zero, and the columns."""

    value: str
    line: int
    start: int
    end: int


def bare(line: str) -> str:
    """A line without what stands before its break, and without a byte order mark."""
    return line.rstrip("\r").removeprefix("\ufeff")


def plain(text: str) -> str:
    """A text without marks and emphasis around it."""
    return " ".join(MARK.sub("", text).strip().strip("*_").split())


def marks_of(line: str, number: int) -> dict[str, Field]:
    """Fields in brackets, as [deadline: 2026-02-20]."""
    found: dict[str, Field] = {}
    for match in MARK.finditer(line) if "[" in line else ():
        name = _BRACKETED[match[1].lower()]
        found.setdefault(name, Field(match[2], number, match.start(2), match.end(2)))
    return found


def fields_of(line: str, number: int) -> dict[str, Field]:
    """The fields that a line of a section holds: `Certainty: 0.9`, `- **Source:** board`, `[updated: 2026-02-01]`."""
    found = marks_of(line, number)
    pair = _pair(line)
    if pair:
        name, start, value = pair
        stop = MARK.search(value)
        value = (value[: stop.start()] if stop else value).rstrip()
        found.setdefault(name, Field(value.strip("*_ "), number, start, start + len(value)))
    return found


def _pair(line: str) -> tuple[str, int, str] | None:
    """The field that a line names before a colon: what it is, where its value starts, and the rest of the line."""
    if ":" not in line:
        return None
    match = _PAIR.fullmatch(bare(line))
    if not match:
        return None
    # The expression counts from the text behind a byte order mark.
    start = len(match[1]) + line.startswith("\ufeff")
    name = match[3].strip().casefold()
    if name in _IN_SECTIONS:
        return _IN_SECTIONS[name], start, match[4]
    if name in _IF_MARKED and (match[2] or ID.match(match[4])):
        return _IF_MARKED[name], start, match[4]
    return None


def is_only_fields(line: str) -> bool:
    """Whether a line says nothing but fields."""
    return bool(_pair(line)) or not MARK.sub("", line).strip(" \t\r-*+")


def inline_fields(line: str, number: int) -> dict[str, Field]:
    """Fields of an item, in brackets or within its words: `Ship the beta, status: active [deadline: 2026-02-20]`."""
    fields = marks_of(line, number)
    for match in INLINE.finditer(line) if ":" in line else ():
        fields.setdefault(NAMES[match[1].lower()], Field(match[2], number, match.start(2), match.end(2)))
    return fields


def narrowed(cell: Field, name: str) -> Field:
    """A cell without what only repeats the name of its column: `status: active`, `[deadline: 2026-02-20]`."""
    mark = MARK.fullmatch(cell.value)
    said = mark or re.fullmatch(r"([A-Za-z]+)\s*:\s*(.*)", cell.value)
    if not said or "|" in cell.value or NAMES.get(said[1].lower()) != name:
        return cell
    return Field(said[2], cell.line, cell.start + said.start(2), cell.start + said.end(2))


def split_cells(line: str) -> list[Field]:
    """The cells of a row, trimmed, with their spans; the line number is left to the caller.

    >>> [cell.value for cell in split_cells("| B-1 | a \\\\| b |  |")]
    ['B-1', 'a | b', '']
    """
    body = bare(line)
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
