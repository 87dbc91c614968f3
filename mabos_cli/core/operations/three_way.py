"""Three-way merges: what two sides made of something, put together. Which side is which never matters for what comes out."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
Item = TypeVar("Item", bound=Hashable)


class Spare(NamedTuple):
    """A record that lost its id to another one: a version of what is kept there, or, without a base, something else that drew the
    same id. `is_ours` tells whose it was."""

    id: str
    record: Any
    has_base: bool
    is_ours: bool


class Settled(NamedTuple):
    """What becomes of a record that both sides changed: what stays under its id, and which side's version needs another: ours,
    theirs or none."""

    kept: Any
    spare: str = ""


class Union(NamedTuple):
    """Records by id, those of the base first and in its order, new ones by age; and those that need an id of their own."""

    kept: dict[str, Any]
    spares: tuple[Spare, ...]


def merge_keyed(
    base: Mapping[str, T],
    ours: Mapping[str, T],
    theirs: Mapping[str, T],
    settle: Callable[[T | None, T, T], Settled],
    is_same: Callable[[T, T], bool],
    age: Callable[[str], Any],
) -> Union:
    """The records of both sides. Added on a side: there; changed on one side: as changed; removed on one side: gone, unless the
    other changed it and is_same does not say that this is nothing; changed on both: as settle says."""
    kept: dict[str, Any] = {}
    spares: list[Spare] = []
    added = sorted((ours.keys() | theirs.keys()) - base.keys(), key=age)
    for own in (*base, *added):
        was, a, b = base.get(own), ours.get(own), theirs.get(own)
        if a == b or b == was:
            found = a
        elif a == was:
            found = b
        elif a is None or b is None:
            left = b if a is None else a
            found = None if is_same(was, left) else left
        else:
            found, lost = settle(was, a, b)
            if lost:
                is_ours = lost == "ours"
                spares.append(Spare(own, a if is_ours else b, was is not None, is_ours))
        if found is not None:
            kept[own] = found
    return Union(kept, tuple(spares))


def merge_value(base: Any, a: Any, b: Any, newer: Any) -> Any:
    """The value that one side changed, or the newer one when both did.

    >>> merge_value(1, 1, 2, 1), merge_value(1, 3, 2, 3)
    (2, 3)
    """
    return a if b == base else b if a == base else newer


def merge_sets(base: Iterable[Item], a: Sequence[Item], b: Sequence[Item]) -> tuple[Item, ...]:
    """The members that either side has, without those that one of them took out. In the order of the base, then sorted.

    >>> merge_sets(("x", "y"), ("y", "n"), ("x", "y", "m"))
    ('y', 'm', 'n')
    """
    known = dict.fromkeys(base)
    both = {*a} & {*b}
    return (*(each for each in known if each in both), *sorted({*a, *b} - known.keys(), key=repr))


def merge_count(base: int | None, a: int, b: int) -> int:
    """A counter that both sides moved on: all steps count. Without a base the larger one.

    >>> merge_count(2, 5, 3), merge_count(None, 5, 3)
    (6, 5)
    """
    return max(a, b) if base is None else max(0, a + b - base)


_NOTHING = object()


def merge_maps(
    base: Mapping[str, Any], a: Mapping[str, Any], b: Mapping[str, Any], newer: Mapping[str, Any]
) -> dict[str, Any]:
    """The keys of two objects, each as the side has it that changed it; the newer one's where both did. What one side removed and
    the other changed stays.

    >>> merge_maps({"x": 1, "y": 1}, {"x": 2, "y": 1}, {"x": 3}, {"x": 3})
    {'x': 3}
    """
    found = {}
    older = b if newer == a else a
    for key in dict.fromkeys((*newer, *older)):
        was, one, other = (each.get(key, _NOTHING) for each in (base, a, b))
        if one == other or other == was or (other is _NOTHING and one != was):
            value = one
        elif one == was or one is _NOTHING:
            value = other
        else:
            value = newer[key]
        if value is not _NOTHING:
            found[key] = value
    return found


def merge_runs(base: Sequence[Item], a: Sequence[Item], b: Sequence[Item], when: Callable[[Item], Any]) -> list[Item]:
    """Two edited copies of a sequence as one. What a side took out is gone, what it put in is there; where both put something in at
    the same place, it stands in the order of time, as `when` tells; what has no time stays behind what it follows."""
    out: list[Item] = []
    done = done_a = done_b = 0
    same_a, same_b = _matches(base, a), _matches(base, b)
    for n in [n for n in range(len(base)) if n in same_a and n in same_b] + [len(base)]:
        at_a, at_b = same_a.get(n, len(a)), same_b.get(n, len(b))
        out += _merge_gap(base[done:n], a[done_a:at_a], b[done_b:at_b], when)
        out += base[n : n + 1]
        done, done_a, done_b = n + 1, at_a + 1, at_b + 1
    return out


def _matches(base: Sequence[Item], other: Sequence[Item]) -> dict[int, int]:
    """Where what stands in the base stands in a copy of it."""
    if base == other[: len(base)]:  # grown at its end, as logs are
        return {n: n for n in range(len(base))}
    blocks = SequenceMatcher(None, base, other, autojunk=False).get_matching_blocks()
    return {start + n: there + n for start, there, size in blocks for n in range(size)}


def _merge_gap(base: Sequence[Item], a: Sequence[Item], b: Sequence[Item], when: Callable[[Item], Any]) -> list[Item]:
    if list(a) == list(b):
        return list(a)
    first, then = sorted((a, b), key=repr)
    known, ours, theirs = {*base}, {*first}, {*then}
    kept = [each for each in first if each not in known or each in theirs]
    return _interleave([kept, [each for each in then if each not in known and each not in ours]], when)


def _interleave(runs: list[list[Item]], when: Callable[[Item], Any]) -> list[Item]:
    """Several runs as one, each in its own order, the earliest next one first."""
    timed = []
    for place, run in enumerate(runs):
        at: tuple = ()
        for number, each in enumerate(run):
            found = when(each)
            at = max(at, (found,)) if found is not None else at
            timed.append((at, place, number, each))
    return [each for *_, each in sorted(timed, key=lambda entry: entry[:3])]
