"""Edits of cognitive files: each changes the lines it is about and no other, in the shape that the file has."""

from collections.abc import Callable, Mapping, Sequence

from mabos_cli.core.text import one_line
from mabos_cli.formats.cognitive import CognitiveFile, Entry, Table
from mabos_cli.formats.markdown import escape_block

# What stands in brackets in a section or item; the rest stands on a line of its own.
_MARKED = ("updated", "deadline")
_LABELS = {
    "id": "ID",
    "certainty": "Certainty",
    "source": "Source",
    "supports": "Supports",
    "motivates": "Motivates",
    "requires": "Requires",
}


def set_field(file: CognitiveFile, entry: Entry, name: str, value: str) -> str | None:
    """The text with a field of an entry changed or added; None when a table has no column for it."""
    lines = list(file.lines)
    value = one_line(value)
    field = entry.fields.get(name)
    if field:
        told = value.replace("|", "\\|") if entry.shape == "row" else value
        line = lines[field.line]
        lines[field.line] = line[: field.start] + told + line[field.end :]
    elif entry.shape == "row":
        return None
    elif entry.shape == "item":
        end = "\r" if lines[entry.first].endswith("\r") else ""
        mark = f" [{name}: {value}]" if name in _MARKED else f" {name}: {value}"
        lines[entry.first] = lines[entry.first].rstrip("\r").rstrip() + mark + end
    else:
        own = [f.line for f in entry.fields.values() if f.line > entry.first]
        place = max(own) + 1 if own else entry.first + 1
        new = [_field_line(name, value)] if own else ["", _field_line(name, value)]
        lines[place:place] = [line + _ending(file) for line in new]
    return "\n".join(lines)


def _field_line(name: str, value: str) -> str:
    return f"[{name}: {value}]" if name in _MARKED else f"{_LABELS.get(name, name)}: {value}"


def _ending(file: CognitiveFile) -> str:
    """What stands before a line break in this file."""
    return "\r" if file.lines[0].endswith("\r") else ""


def add_row(file: CognitiveFile, table: Table, values: Mapping[str, str]) -> str:
    """The text with a new last row in a table."""
    cells = [one_line(values.get(name, "")).replace("|", "\\|") for name in table.columns]
    lines = list(file.lines)
    lines.insert(table.last + 1, f"| {' | '.join(cells)} |{_ending(file)}")
    if table.last + 1 == len(lines) - 1 and _ending(
        file
    ):  # the last line had no break, and so no mark of one
        lines[table.last] += _ending(file)
        lines[-1] = lines[-1].rstrip("\r")
    return "\n".join(lines)


def add_section(
    file: CognitiveFile, title: str, text: str, fields: Mapping[str, str], *, group: str = "", level: int = 2
) -> str:
    """The text with a new section: at the end of a group if one is named and there, else at the end of the file."""
    end = _ending(file)
    marks = [_field_line(name, one_line(value)) for name, value in fields.items() if value]
    told = escape_block(text).split("\n") if text else []
    new = [f"{'#' * level} {one_line(title)}", "", *marks, *(["", *told] if told and marks else told)]
    lines = list(file.lines)
    place = _end_of_group(file, group)
    while place > 0 and not lines[place - 1].strip():
        place -= 1
    rest = lines[place:]
    behind = rest if any(line.strip() for line in rest) else [""]
    lead = [""] if place else []
    return "\n".join(
        [
            *lines[:place],
            *(line + end for line in [*lead, *new]),
            *(behind if behind[0] == "" else ["", *behind]),
        ]
    )


def _end_of_group(file: CognitiveFile, group: str) -> int:
    """The line behind a group, or behind the file."""
    for n, heading in enumerate(file.headings):
        if group and heading.title.casefold() == group.casefold():
            after = (h.line for h in file.headings[n + 1 :] if h.level <= heading.level)
            return next(after, len(file.lines))
    return len(file.lines)


def reorder(file: CognitiveFile, key: Callable[[Entry], float]) -> str:
    """The text with entries sorted by a key, highest first, within their table, list or group; ties keep their order.

    Blank lines stay where they are, and what stands between entries stays between the same places.
    """
    lines = list(file.lines)
    for run in _runs(file):
        blocks = [list(file.lines[entry.first : entry.last + 1]) for entry in run]
        order = sorted(range(len(run)), key=lambda n: -key(run[n]))
        if order == list(range(len(run))):
            continue
        for entry, source in reversed(list(zip(run, order, strict=True))):
            lines[entry.first : entry.last + 1] = _as_ended(blocks[source], file.lines, entry)
    return "\n".join(lines)


def _as_ended(block: list[str], lines: Sequence[str], entry: Entry) -> list[str]:
    """A block with the line end of the place it moves to: the last line of a file may have none."""
    wants = lines[entry.last].endswith("\r")
    return [*block[:-1], block[-1].rstrip("\r") + ("\r" if wants else "")]


def _runs(file: CognitiveFile) -> list[list[Entry]]:
    """Entries that may change places: rows of one table, items or sections of one level in one group."""
    runs: dict[tuple[object, ...], list[Entry]] = {}
    for entry in file.entries:
        table = next((t.header for t in file.tables if t.first <= entry.first <= t.last), None)
        group = next(
            (
                h.line
                for h in reversed(file.headings)
                if h.line < entry.first and 1 < h.level < (entry.level or 7)
            ),
            -1,
        )
        runs.setdefault((entry.shape, table, group if table is None else None, entry.level), []).append(entry)
    return [run for run in runs.values() if len(run) > 1]
