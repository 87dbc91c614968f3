"""Merges two edited copies of a text whose parts have names. Which copy is which never matters for the result."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from mabos_cli.core.operations.three_way import match_places, merge_runs


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


# Decides about a unit that both sides changed or added: the units that take its place.
Settle = Callable[[Unit | None, Unit, Unit], Sequence[Unit]]
Units = Mapping[Hashable, Unit]


def merge_units(base: Sequence[Unit], a: Sequence[Unit], b: Sequence[Unit], settle: Settle) -> list[Unit]:
    """Merges the units of two copies.

    Added on a side: there; changed on one side: as changed; removed on one side: gone, unless the other one changed it
    or something below it; changed on both: as settle says.
    """
    was, ours, theirs = ({unit.key: unit for unit in side} for side in (base, a, b))
    kept: dict[Hashable, Sequence[Unit]] = {}
    for key in dict.fromkeys((*was, *ours, *theirs)):
        if found := _merge_unit(key, was, ours, theirs, settle):
            kept[key] = found
    order = {unit.key: unit.order for side in (b, a) for unit in side}
    rows = [_restored([unit.key for unit in side if unit.key in kept], was, kept) for side in (base, a, b)]
    merged = dict.fromkeys(merge_runs(rows[0], rows[1], rows[2], order.get))
    return [unit for key in _completed([*merged], rows) for unit in kept[key]]


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
    """Returns whether a side changed a unit, or something that stands below it."""
    below = (unit for unit in side.values() if unit.above == key or unit.key == key)
    return any(unit.key not in was or was[unit.key].lines != unit.lines for unit in below)


def _restored(keys: list[Hashable], was: Units, kept: Mapping[Hashable, Any]) -> list[Hashable]:
    """Returns the order of a side with what it removed and the merge keeps, each behind what it followed in the base."""
    there = {*keys}
    last: Hashable = None
    for key in was:
        if key in kept and key not in there:
            keys.insert(keys.index(last) + 1 if last is not None else 0, key)
            there.add(key)
        last = key if key in there else last
    return keys


def _completed(merged: list[Hashable], sides: Iterable[Sequence[Hashable]]) -> list[Hashable]:
    """Returns the merged order with what both sides moved away from each other, behind what it follows on a side."""
    there = {*merged}
    for side in sides:
        for before, key in zip((None, *side), side, strict=False):
            if key not in there:
                merged.insert(merged.index(before) + 1 if before in there else 0, key)
                there.add(key)
    return merged


def merge_lines(base: Sequence[str], a: Sequence[str], b: Sequence[str]) -> list[str] | None:
    """Merges the lines of two copies; None when both changed the same lines.

    >>> merge_lines("abc", "xabc", "abcd"), merge_lines("abc", "axc", "ayc")
    (['x', 'a', 'b', 'c', 'd'], None)
    """
    found: list[str] = []
    done = done_a = done_b = 0
    same_a, same_b = match_places(base, a), match_places(base, b)
    for n in [n for n in range(len(base)) if n in same_a and n in same_b] + [len(base)]:
        at_a, at_b = same_a.get(n, len(a)), same_b.get(n, len(b))
        old, one, other = list(base[done:n]), list(a[done_a:at_a]), list(b[done_b:at_b])
        if one != other and old not in (one, other):
            return None
        found += one if other == old else other
        found += base[n : n + 1]
        done, done_a, done_b = n + 1, at_a + 1, at_b + 1
    return found
