"""The record of changes that a cognitive file may keep, as a table or a list: a line for each."""

import re
from typing import NamedTuple

from mabos_cli.core.language.text import one_line
from mabos_cli.formats.markdown.outline import hidden_lines
from mabos_cli.formats.mind.cognitive import ITEM, Table, end_of_item, is_log, parse_cognitive
from mabos_cli.formats.mind.cognitive_edit import add_item, add_row, insert_block
from mabos_cli.formats.mind.cognitive_fields import bare, inert_item

# Columns, by what they hold.
_COLUMNS = {
    "reason": re.compile(r"reason|note|why|source|because"),
    "old": re.compile(r"\b(?:old|from|before|previous)\b"),
    "new": re.compile(r"\b(?:new|to|after|now)\b"),
    "what": re.compile(r"change|action|what|event|revision|type|text"),
}


class Change(NamedTuple):
    """What a revision log says of a change: what was done, why, and what was and is."""

    what: str
    reason: str = ""
    old: str = ""
    new: str = ""


def log_change(text: str, entry_id: str, title: str, day: str, change: Change) -> str:
    """The file with a line about a change in its revision log, where it keeps one: a table or a list."""
    file = parse_cognitive(text)
    table = next((table for table in file.tables if table.is_log), None)
    if table:
        return add_row(file, table, _logged(table, entry_id or title, day, change))
    tabled = {entry.first for entry in file.entries}
    heading = next((h for h in file.headings if h.level > 1 and is_log(h) and h.line not in tabled), None)
    if heading is None:
        return text
    said = f"{day}: {entry_id or title} {change.what}{f': {change.reason}' if change.reason else ''}"
    told = inert_item(one_line(said))
    hidden = hidden_lines(file.lines)
    below = range(heading.line + 1, heading.last + 1)
    items = [n for n in below if n not in hidden and ITEM.fullmatch(bare(file.lines[n]))]
    if items:
        return add_item(file, items[-1], end_of_item(file.lines, items[-1], hidden), [told])
    return insert_block(file, heading.last + 1, [f"- {told}"])


def _logged(table: Table, name: str, day: str, change: Change) -> dict[str, str]:
    """The cells of a row in a revision log, each where its column says; the reason where there is a place for it."""
    values: dict[str, str] = {}
    meant: dict[str, str] = {}
    for column in table.columns:
        what = next((what for what, pattern in _COLUMNS.items() if pattern.search(column)), "")
        if column == "updated":
            values[column] = day
        elif column in ("title", "id") and name not in values.values():
            values[column] = name
        elif what and what not in meant:
            meant[what] = column
            values[column] = getattr(change, what)
    # A log with one column for words has both there: what was done, and why.
    words = meant.get("what") or meant.get("reason")
    if words and not (meant.get("what") and meant.get("reason")):
        values[words] = ": ".join(filter(None, (change.what, change.reason)))
    return values
