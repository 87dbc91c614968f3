"""Markdown as units that can be merged one by one: sections, rows of tables, items of lists, and lines of other text.

The result does not depend on which of two copies is ours.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from mabos_cli.core.operations.three_way import merge_runs, merge_value
from mabos_cli.formats.mind.attitudes import split_id
from mabos_cli.formats.mind.cells import row_fields, split_cells
from mabos_cli.formats.mind.cognitive import CognitiveFile, parse_cognitive
from mabos_cli.formats.mind.cognitive_fields import INLINE, MARK, bare, is_only_fields, plain
from mabos_cli.formats.mind.entries import ITEM, Heading, Table, headed


class Unit(NamedTuple):
    """A part of a text that is merged as a whole: its name, its lines, the blank lines behind it, and its heading's name.

    `kind` is section, row, item, table or line; `columns` are those of the table that a row stands in.
    """

    key: Hashable
    kind: str
    lines: tuple[str, ...]
    blanks: tuple[str, ...] = ()
    above: Hashable = None
    columns: tuple[str, ...] = ()
    order: Any = None


# Merges a unit that both sides changed or added: returns the units that replace it.
Settle = Callable[[Unit | None, Unit, Unit], Sequence[Unit]]
Units = Mapping[Hashable, Unit]


def merge_units(base: Sequence[Unit], a: Sequence[Unit], b: Sequence[Unit], settle: Settle) -> list[Unit]:
    """Merges the units of two copies.

    What a side added is kept, what one side changed is taken as changed. What one side removed is gone, unless the other side
    changed it or something below it. What both sides changed is left to settle.
    """
    was, ours, theirs = ({unit.key: unit for unit in side} for side in (base, a, b))
    kept = {
        key: units
        for key in dict.fromkeys((*was, *ours, *theirs))
        if (units := _merge_unit(key, was, ours, theirs, settle))
    }
    # What one side removed and the merge keeps is treated as added by the other.
    runs = [[unit.key for unit in side if unit.key in kept] for side in (base, a, b)]
    runs[0] = [key for key in runs[0] if key in ours and key in theirs]
    order = {unit.key: unit.order for side in (b, a) for unit in side}
    return [unit for key in dict.fromkeys(merge_runs(runs[0], runs[1], runs[2], order.get)) for unit in kept[key]]


def _merge_unit(key: Hashable, was: Units, ours: Units, theirs: Units, settle: Settle) -> Sequence[Unit]:
    old, one, other = was.get(key), ours.get(key), theirs.get(key)
    if one is None or other is None:
        left, side = (other, theirs) if one is None else (one, ours)
        if left is None:
            return ()
        return [left] if old is None or _is_changed(key, was, side) else ()
    if one.lines == other.lines or (old and other.lines == old.lines):
        return [one]
    return [other] if old and one.lines == old.lines else settle(old, one, other)


def _is_changed(key: Hashable, was: Units, side: Units) -> bool:
    """Returns whether a side changed a unit or something below it."""
    below = (unit for unit in side.values() if unit.above == key or unit.key == key)
    return any(unit.key not in was or was[unit.key].lines != unit.lines for unit in below)


_BLOCK_ID = re.compile(r"\s\^(\S+)\s*\Z")
_COUNTED = re.compile(r"(.*?)(\d+)\D*")
_NUMBER = re.compile(r"(\s*)(\d+)([.)].*)", re.DOTALL)
ANY_PREFIX = "[A-Z]{1,4}"


def split_units(text: str, prefix: str = ANY_PREFIX) -> list[Unit]:
    """Returns the units of a text in their order; with the prefix that ids of its entries have."""
    return list(_Splitter(parse_cognitive(text), prefix).units())


class _Splitter:
    """Splits a file: knows what begins on each line, and how often each name occurred."""

    def __init__(self, file: CognitiveFile, prefix: str) -> None:
        self._file, self._prefix = file, prefix
        self._headings = {heading.line: heading for heading in file.headings}
        self._tables = {table.header: table for table in file.tables}
        self._entries = {(entry.first, entry.shape): entry for entry in file.entries}
        self._named: Counter[Hashable] = Counter()
        self._above: Hashable = None

    def units(self) -> Iterator[Unit]:
        lines, at = self._file.lines, 0
        while at < len(lines) and not lines[at].strip():
            at += 1
        if at:
            yield Unit(("start",), "line", (), lines[:at])
        while at < len(lines):
            for unit, end in self._at(at):
                after = end
                while after < len(lines) and not lines[after].strip():
                    after += 1
                yield unit._replace(blanks=lines[end:after])
                at = after

    def _at(self, line: int) -> Iterator[tuple[Unit, int]]:
        """Yields the units that begin on a line, each with the line after it."""
        if line in self._headings:
            yield self._section(self._headings[line])
        elif line in self._tables:
            yield from self._table(self._tables[line])
        elif self._is_item(line):
            end = self._file.end_of_item(line) + 1
            yield self._unit("item", line, end, self._item_name(line, end)), end
        else:
            end = line + 1
            while line in self._file.hidden and end in self._file.hidden and end not in self._headings:
                end += 1
            while end > line + 1 and not self._file.lines[end - 1].strip():
                end -= 1
            yield self._unit("line", line, end, "\n".join(self._file.lines[line:end])), end

    def _is_item(self, line: int) -> bool:
        text = self._file.lines[line]
        is_item = line not in self._file.hidden and ITEM.fullmatch(bare(text)) and not is_only_fields(text)
        return bool(is_item) and text[:1] in "-*+0123456789"

    def _section(self, heading: Heading) -> tuple[Unit, int]:
        """Returns a heading with its fields and first prose as one unit; items and tables are separate units."""
        inner = range(heading.line + 1, heading.last + 1)
        end = next((n for n in inner if n in self._tables or self._is_item(n)), heading.last + 1)
        while end > heading.line + 1 and not self._file.lines[end - 1].strip():
            end -= 1
        entry = self._entries.get((heading.line, "section"))
        entry_id = split_id(entry or headed(heading), self._prefix)[0]
        self._above = None
        unit = self._unit("section", heading.line, end, (heading.group, plain(heading.title).casefold()), entry_id)
        self._above = unit.key
        return unit, end

    def _table(self, table: Table) -> Iterator[tuple[Unit, int]]:
        names = tuple(cell.value.casefold() for cell in split_cells(self._file.lines[table.header]))
        yield self._unit("table", table.header, table.first, ("table",), columns=names), table.first
        for line in range(table.first, table.last + 1):
            text = self._file.lines[line]
            cells = {name: field.value for name, field in row_fields(text, line, table.columns).items()}
            named = "" if table.is_log else cells.get("id") or plain(cells.get("title", ""))
            entry_id = cells.get("id", "").strip("*_` ")
            is_ours = not table.is_log and re.match(rf"{self._prefix}[A-Z]?-.*\d", entry_id)
            name = ("row", (named or text.strip()).casefold())
            yield self._unit("row", line, line + 1, name, entry_id if is_ours else "", names), line + 1

    def _item_name(self, line: int, end: int) -> Hashable:
        """Returns the name of an item: its block id, or its words without box and fields."""
        block_id = _BLOCK_ID.search("\n".join(self._file.lines[line:end]))
        if block_id:
            return block_id[1]
        match = ITEM.fullmatch(bare(self._file.lines[line]))
        return plain(INLINE.sub("", MARK.sub("", match[2] if match else ""))).casefold()

    def _unit(
        self,
        kind: str,
        first: int,
        end: int,
        name: Hashable,
        entry_id: str = "",
        columns: tuple[str, ...] = (),
    ) -> Unit:
        if kind == "item" and not entry_id:
            entry = self._entries.get((first, "item"))
            entry_id = split_id(entry, self._prefix)[0] if entry else ""
        key: tuple[Hashable, ...] = ("id", entry_id) if entry_id else (kind, self._above, name)
        self._named[key] += 1
        key = key if self._named[key] == 1 else (*key, self._named[key])
        counted = _COUNTED.fullmatch(entry_id)
        order = (counted[1], int(counted[2][:18]), entry_id) if counted else None
        return Unit(key, kind, self._file.lines[first:end], (), self._above, columns, order)


def join_units(units: Sequence[Unit], sides: Sequence[Sequence[Unit]]) -> str:
    """Returns the text of merged units, with the blank lines that a side has between them, or that Markdown needs.

    The sides are the base and both copies, or a single text.
    """
    known: dict[tuple[Hashable, Hashable], tuple[str, ...]] = {}
    for side in sides:
        known |= {(one.key, other.key): one.blanks for one, other in pairwise(side)}
    units = _renumber(_realign(units), known)
    lines: list[str] = []
    for one, other in pairwise(units):
        lines += one.lines
        lines += known.get((one.key, other.key), _usual_gap(one, other))
    tails = [side[-1].blanks if side else () for side in sides]
    tail = merge_value(tails[0], tails[1], tails[2], max(tails[1:])) if len(tails) == 3 else tails[-1]
    return "\n".join([*lines, *(units[-1].lines if units else ()), *tail])


def _usual_gap(one: Unit, other: Unit) -> tuple[str, ...]:
    """Returns the blank lines between two units that were not neighbours before."""
    if one.kind == "table" or (one.kind == other.kind != "section" and one.above == other.above):
        return ()
    ending = "\r" if one.lines and one.lines[-1].endswith("\r") else ""
    return one.blanks if len(one.blanks) > 1 else (ending,)


def _realign(units: Sequence[Unit]) -> Iterator[Unit]:
    """Yields the units, with rows fitted to the columns of their table."""
    columns: tuple[str, ...] = ()
    for unit in units:
        columns = unit.columns if unit.kind == "table" else columns
        yield unit if unit.kind != "row" or unit.columns == columns else fit_row(unit, columns)


def fit_row(unit: Unit, columns: tuple[str, ...]) -> Unit:
    """Returns a row with its cells in other columns; cells without a column of that name are appended to the last filled one."""
    cells = dict(zip(unit.columns, raw_cells(unit.lines[0]), strict=False))
    found = [cells.pop(name, "") for name in columns]
    left = [text for text in cells.values() if text]
    if left and found:
        place = max((n for n, text in enumerate(found) if text), default=0)
        found[place] = " ".join([found[place], *left]).strip()
    return unit._replace(lines=(render_row(found, unit.lines[0]),), columns=columns)


def raw_cells(line: str) -> list[str]:
    """Returns the cells of a row as they are written, escapes included."""
    return [line[cell.start : cell.end] for cell in split_cells(line)]


def render_row(cells: Sequence[str], like: str) -> str:
    """Returns a row of escaped cells, with the indentation and line ending of another row."""
    indent = re.match(r"\s*", bare(like))
    return f"{indent[0] if indent else ''}| {' | '.join(cells)} |" + ("\r" if like.endswith("\r") else "")


def _renumber(units: Iterable[Unit], known: Collection[tuple[Hashable, Hashable]]) -> list[Unit]:
    """Returns the units, with ordered lists renumbered from the first place where the merge joined items."""
    found: list[Unit] = []
    last, is_moved = 0, False
    for unit in units:
        match = _NUMBER.fullmatch(unit.lines[0]) if unit.kind == "item" else None
        if match and found and found[-1].kind == "item" and found[-1].above == unit.above:
            is_moved = is_moved or (found[-1].key, unit.key) not in known
        else:
            last, is_moved = 0, False
        number = int(match[2][:9]) if match else 0
        if match and is_moved and number <= last:
            number = last + 1
            unit = unit._replace(lines=(f"{match[1]}{number}{match[3]}", *unit.lines[1:]))
        last = number
        found.append(unit)
    return found
