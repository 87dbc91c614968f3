"""Edits of cognitive files: each changes the lines it is about and no other, in the shape that the file has."""

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence

from mabos_cli.core.language.text import one_line
from mabos_cli.core.records import NamedTuple
from mabos_cli.formats.markdown.escape import escape_block
from mabos_cli.formats.mind import cognitive_fields
from mabos_cli.formats.mind.cells import escape_cell
from mabos_cli.formats.mind.cognitive import CODE, CognitiveFile, is_log, parse_cognitive
from mabos_cli.formats.mind.entries import ITEM, Entry, Heading, Table

# What stands in brackets in a section; the rest stands on a line of its own.
_MARKED = ("updated", "deadline")
# What stands among the words of an item, and how fields are called on a line of their own.
SPOKEN = ("status", "priority", "certainty")
_LABELS = {"id": "ID", "owner": "To", "text": "Value", "status": "status", "priority": "priority"} | {
    "rests": "Rests on",
    "needs": "Resource",
    "delegated": "Delegated by",
}
_LEVELS = 8  # entries within entries: no more than headings and lists can nest
_BOLD = re.compile(r"(\s*(?:[-*+]\s+)?)(\*\*|__)[^*_]+:")
# What a file says of itself above its entries.
_COUNT = re.compile(r"^([\W_]*revision count[\W_]*:[\W_]*)(\d{1,9})", re.IGNORECASE | re.MULTILINE)
_DATED = re.compile(r"^([\W_]*last updated[\W_]*:[\W_]*)\d{4}-\d\d-\d\d\S*", re.IGNORECASE | re.MULTILINE)
# Columns, by what they hold.
_COLUMNS = {
    "reason": re.compile(r"reason|note|why|source|because"),
    "old": re.compile(r"\b(?:old|from|before|previous)\b"),
    "new": re.compile(r"\b(?:new|to|after|now)\b"),
    "what": re.compile(r"change|action|what|event|revision|type|text"),
}


def set_field(file: CognitiveFile, entry: Entry, name: str, value: str) -> str:
    """Returns the text with a field of an entry changed or added; a table that has no column for it gets it in
    brackets."""
    return set_fields(file, [(entry, name, value)])


def set_fields(file: CognitiveFile, changes: Sequence[tuple[Entry, str, str]]) -> str:
    """Returns the text with a field of each of some entries changed: from the last to the first, so that lines stay
    where they are."""
    lines = list(file.lines)
    for entry, name, value in sorted(changes, key=lambda change: -change[0].first):
        field, text = entry.fields.get(name), cognitive_fields.inert(one_line(value))
        if field:
            _replace(lines, entry, name, field, text)
        elif entry.shape == "row" and text:
            _mark_row(lines, entry, name, text)
        elif text:
            _add_field(lines, entry, name, text, _ending(file))
    return "\n".join(lines)


def _replace(lines: list[str], entry: Entry, name: str, field: cognitive_fields.Field, value: str) -> None:
    line, start, end = lines[field.line], field.start, field.end
    marked = line[:start].rstrip().endswith(":") and line[end:].lstrip()[:1] == "]"
    text = _unbracketed(value) if marked else value
    text = escape_cell(text) if entry.shape == "row" else text
    spoken = next((m for m in cognitive_fields.INLINE.finditer(line) if start in (m.start(4), m.start(5))), None)
    if entry.shape == "item" and field.line == entry.first and spoken and not marked:
        # Among the words of an item a value of more than one would not be told from them.
        start, text = (start, text) if is_spoken(name, text) else (spoken.start(), bracketed(name, text))
    aside = next((a for a in cognitive_fields.ASIDE.finditer(line) if a.start() < start < a.end()), None)
    if entry.shape == "item" and aside and not spoken and not re.fullmatch(r"[\w.%-]+", text):
        # So would it among others in parentheses: it goes behind the line.
        part = re.compile(r"[,;]?[^,;(]*$").search(line, aside.start() + 1, start)
        rest = line[: part.start() if part else start] + line[end:]
        lines[field.line] = (
            rest.rstrip("\r").replace("()", "").replace("(; ", "(").replace("(, ", "(").rstrip()
            + f" {bracketed(name, text)}"
            + line[len(line.rstrip("\r")) :]
        )
        return
    if entry.shape == "row":  # what stands in brackets among the words that go stays
        text = " ".join([text, *(mark[0] for mark in cognitive_fields.MARK.finditer(line, start, end))])
    # A word keeps its distance from the colon before it, and from a mark behind it.
    lead = " " if text and not field.value and line[:start].rstrip("*_")[-1:] == ":" else ""
    gap = " " if text and not marked and line[end : end + 1] == "[" else ""
    lines[field.line] = line[:start] + lead + text + gap + line[end:]
    if entry.shape == "section" and not marked and name not in cognitive_fields.fields_of(lines[field.line], 0):
        # Some names are fields only where an id follows.
        first = re.match(r"\s*(?:[-*+]\s+)?", line)
        lines[field.line] = f"{first[0] if first else ''}{bracketed(name, text)}{gap}{line[end:]}"


def _add_field(lines: list[str], entry: Entry, name: str, value: str, end: str) -> None:
    """Adds a field to an item or a section: behind its last one, and like that."""
    field_lines = sorted(f.line for f in entry.fields.values() if f.line > entry.first)
    if entry.is_block and not field_lines:
        _insert(lines, entry.first + 1, [field_line(name, value, lines[entry.first])], end)
    elif entry.shape == "item" and not field_lines:
        line = lines[entry.first]
        text = f"{name}: {value}" if is_spoken(name, value) else bracketed(name, value)
        lines[entry.first] = f"{line.rstrip()} {text}" + ("\r" if line.endswith("\r") else "")
    elif field_lines:
        _insert(lines, field_lines[-1] + 1, [field_line(name, value, lines[field_lines[-1]])], end)
    else:
        _insert(lines, entry.first + 1, ["", field_line(name, value)], end)


def is_spoken(name: str, value: str) -> bool:
    """Returns whether a field can stand among the words of an item, as `status: active`."""
    return name in SPOKEN and bool(cognitive_fields.INLINE.fullmatch(f"{name}: {value}"))


def _mark_row(lines: list[str], entry: Entry, name: str, value: str) -> None:
    """Adds a field in brackets to the cell that tells most: that of the text, or of the title."""
    known = [entry.fields[n] for n in ("text", "what", "title", "id") if n in entry.fields]
    filled = [*known, *entry.fields.values()]
    cell = next((field for field in filled if field.value), filled[0])
    line, end = lines[cell.line], cell.end
    # Behind a mark, not within it.
    end += 1 if line[end : end + 1] == "]" else 0
    mark = escape_cell(bracketed(name, value))
    lines[cell.line] = line[:end] + (f" {mark}" if cell.value else mark) + line[end:]


def _unbracketed(value: str) -> str:
    """Returns a value that can stand in brackets."""
    return value.replace("[", "(").replace("]", ")")


def bracketed(name: str, value: str) -> str:
    """Returns a field in brackets."""
    return f"[{name}: {_unbracketed(value)}]"


def field_line(name: str, value: str, line: str = "") -> str:
    """Returns a line for a field that looks like another line: indented, in bold or as an item when that is."""
    lead = re.match(r"\s*(?:[-*+]\s+)?", line)
    start = lead[0] if lead else ""
    bold = _BOLD.match(line)
    if bold:
        label = "ID" if name == "id" else _LABELS.get(name, name).title()
        return f"{start}{bold[2]}{label}:{bold[2]} {value}"
    label = _LABELS.get(name, name.capitalize())
    if start.strip():
        label = "ID" if name == "id" else name.capitalize()
    text = f"{start}{label}: {value}"
    # What would be taken for words stands in brackets.
    if name not in cognitive_fields.fields_of(text, 0) or (name in _MARKED and not start.strip()):
        return f"{start}{bracketed(name, value)}"
    return text


def _ending(file: CognitiveFile) -> str:
    """Returns what stands before a line break in this file."""
    return "\r" if file.lines[0].endswith("\r") else ""


def add_row(file: CognitiveFile, table: Table, values: Mapping[str, str]) -> str:
    """Returns the text with a new last row in a table. What it has no column for stands in brackets in the cell that
    tells most."""
    cells = {name: cognitive_fields.inert(one_line(values.get(name, ""))) for name in table.columns}
    column = next((name for name in ("text", "title") if cells.get(name)), "")
    others = [n for n, v in values.items() if v and n not in cells and n not in ("title", "id")]
    if column:
        marks = "".join(f" {bracketed(n, cognitive_fields.inert(one_line(values[n])))}" for n in others)
        cells[column] += marks
    row = " | ".join(escape_cell(cell) for cell in cells.values())
    indent = re.match(r"\s*", cognitive_fields.bare(file.lines[table.header]))
    return insert_lines(file, table.last + 1, [f"{indent[0] if indent else ''}| {row} |"])


def add_item(file: CognitiveFile, after: int, last: int, new: Sequence[str]) -> str:
    """Returns the text with a new item behind the one that begins at a line and ends at another, with the same
    bullet."""
    line = cognitive_fields.bare(file.lines[after])
    indent = line[: len(line) - len(line.lstrip())]
    match = ITEM.fullmatch(line.lstrip())
    bullet = match[1] if match else "- "
    number = re.match(r"(\d+)(.*)", bullet)
    bullet = f"{int(number[1]) + 1}{number[2]}" if number else bullet
    first = indent + re.sub(r"\[[xX]\]", "[ ]", bullet) + new[0]
    return insert_lines(file, last + 1, [first, *(indent + each for each in new[1:])])


def insert_lines(file: CognitiveFile, place: int, new: Sequence[str]) -> str:
    """Returns the text with lines put before a place, as they are."""
    lines = list(file.lines)
    _insert(lines, place, new, _ending(file))
    return "\n".join(lines)


def _insert(lines: list[str], place: int, new: Sequence[str], end: str) -> None:
    """Puts lines before a place. A last line without a break gets one when others follow, and the new last has none."""
    at_end = place == len(lines)
    lines[place:place] = [line + end for line in new]
    if end and at_end and place:
        lines[place - 1] = lines[place - 1].removesuffix(end) + end
        lines[-1] = lines[-1].removesuffix(end)


def add_section(file: CognitiveFile, head: str, body: Sequence[str], heading: Heading | None = None) -> str:
    """Returns the text with a new section: at the end of what stands below a heading, else at the end of the file."""
    return insert_block(file, file.end_of(heading) if heading else len(file.lines), [head, *body])


def insert_block(file: CognitiveFile, place: int, new: Sequence[str]) -> str:
    """Returns the text with lines put before a place, with a blank line before and behind."""
    lines, end = list(file.lines), _ending(file)
    while place > 0 and not lines[place - 1].strip():
        place -= 1
    is_last = place == len(lines)
    behind = [""] if not is_last and lines[place].strip() else []
    _insert(lines, place, [*([""] if place else []), *new, *behind], end)
    if is_last:
        _insert(lines, len(lines), [""], end)
    return "\n".join(lines)


def find_heading(file: CognitiveFile, title: str) -> Heading | None:
    """Returns the heading with these words, in whatever case; the title of the file is none."""
    wanted = title.casefold()
    return next((h for h in file.headings if wanted and h.level > 1 and h.title.casefold() == wanted), None)


def inert_lines(text: str) -> list[str]:
    """Returns the lines of a text, none of which is anything else."""
    return [cognitive_fields.inert_line(line) for line in escape_block(text.replace("-->", "--\\>")).split("\n")]


def set_text(file: CognitiveFile, entry: Entry, text: str) -> str | None:
    """Returns the text of the file with another text in a section; None where that would touch more than plain
    lines."""
    others = {n for e in file.entries if e.shape == "item" for n in range(e.first, e.last + 1)}
    field_lines = {field.line for field in entry.fields.values()}
    body = [n for n in range(entry.first + 1, entry.last + 1) if file.lines[n].strip()]
    words = {n for n in body if CODE.match(file.lines[n]) or not cognitive_fields.is_only_fields(file.lines[n])}
    prose = sorted(words - file.hidden - others)
    new = inert_lines(text)
    if not prose:
        return insert_block(file, max([entry.first, *field_lines]) + 1, new)
    within = {n for n in body if prose[0] <= n <= prose[-1]}
    if within & (file.hidden | others | field_lines) or within - words:
        return None
    if any(re.match(r"\s*(?:```|~~~|<!--|>|\|)| {4}|\t", file.lines[n]) for n in within):
        return None
    lines = list(file.lines)
    end = "\r" if lines[prose[-1]].endswith("\r") else ""
    lines[prose[0] : prose[-1] + 1] = [*(line + _ending(file) for line in new[:-1]), new[-1] + end]
    return "\n".join(lines)


def reorder(file: CognitiveFile, key: Callable[[Entry], float | None]) -> str:
    """Returns the text with entries sorted by a key, highest first, within their table, list or group; ties keep their
    order, and what has no key keeps its place.

    Blank lines stay where they are; what belongs to an entry, headings below it too, moves with it. What stands within
    an entry that moves is sorted in the next round. Where a move would hide or make entries, as one of a fence that
    nobody closed may, everything stays.
    """
    for _ in range(_LEVELS):
        moves = _moves(file, key)
        if not moves:
            break
        lines = list(file.lines)
        for first, last, block in sorted(moves, reverse=True):
            lines[first : last + 1] = block
        moved = parse_cognitive("\n".join(lines))
        if _contents(moved) != _contents(file):
            break
        file = moved
    return file.render()


def _contents(file: CognitiveFile) -> list[tuple[object, ...]]:
    """Returns what a file says, in whatever order."""
    return sorted(
        (e.shape, e.group, e.title, e.text, *((n, f.value) for n, f in sorted(e.fields.items()))) for e in file.entries
    )


def _moves(file: CognitiveFile, key: Callable[[Entry], float | None]) -> list[tuple[int, int, list[str]]]:
    """Returns the places of entries that others take, and the lines that go there; no place within another one."""
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
    """Returns the lines that move with an entry, without blank ones behind."""
    last = entry.last
    if entry.shape == "section":
        last = file.end_of(_heading_at(file, entry.first)) - 1
        while last > entry.first and not file.lines[last].strip():
            last -= 1
    return entry.first, last


def _heading_at(file: CognitiveFile, line: int) -> Heading:
    """Returns the heading at or above a line."""
    return file.headings[bisect_right(file.headings, line, key=lambda h: h.line) - 1]


def _runs(file: CognitiveFile, key: Callable[[Entry], float | None]) -> list[list[Entry]]:
    """Returns the entries that may change places, in the order of the file: rows of one table, items below one heading,
    sections of one level below one heading. A byte order mark stays where it is, and the line that has it too."""
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


class Change(NamedTuple):
    """Holds what a revision log says of a change: what was done, why, and what was and is."""

    what: str
    reason: str = ""
    old: str = ""
    new: str = ""


def log_change(text: str, entry_id: str, title: str, day: str, change: Change) -> str:
    """Returns the file with a line about a change in its revision log, where it keeps one: a table or a list."""
    file = parse_cognitive(text)
    table = next((table for table in file.tables if table.is_log), None)
    if table:
        return add_row(file, table, _logged(table, entry_id or title, day, change))
    tabled = {entry.first for entry in file.entries}
    heading = next((h for h in file.headings if h.level > 1 and is_log(h) and h.line not in tabled), None)
    if heading is None:
        return text
    reason = f": {change.reason}" if change.reason else ""
    line = cognitive_fields.inert_item(one_line(f"{day}: {entry_id or title} {change.what}{reason}"))
    items = file.find_items(range(heading.line + 1, heading.last + 1))
    if items:
        return add_item(file, items[-1], file.end_of_item(items[-1]), [line])
    return insert_block(file, heading.last + 1, [f"- {line}"])


def count_revision(text: str, day: str) -> str:
    """Returns the file with its count of revisions raised, and the date beside it, where it keeps them above its entries."""
    head, mark, rest = text.partition("\n## ")
    counted = _COUNT.sub(lambda found: f"{found[1]}{int(found[2]) + 1}", head, count=1)
    dated = _DATED.sub(lambda found: f"{found[1]}{day}", counted, count=1) if counted != head else head
    return dated + mark + rest


def _logged(table: Table, name: str, day: str, change: Change) -> dict[str, str]:
    """Returns the cells of a row in a revision log, each where its column says; the reason where there is a place for
    it."""
    values: dict[str, str] = {}
    columns: dict[str, str] = {}
    for column in table.columns:
        what = next((what for what, pattern in _COLUMNS.items() if pattern.search(column)), "")
        if column == "updated":
            values[column] = day
        elif column in ("title", "id") and name not in values.values():
            values[column] = name
        elif what and what not in columns:
            columns[what] = column
            values[column] = getattr(change, what)
    # A log with one column for words has both there: what was done, and why.
    words = columns.get("what") or columns.get("reason")
    if words and not (columns.get("what") and columns.get("reason")):
        values[words] = ": ".join(filter(None, (change.what, change.reason)))
    return values
