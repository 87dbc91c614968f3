"""Merges the changes of two sides. The result does not depend on which side is ours."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple, TypeVar

from mabos_cli.core.knowledge.case import NOTED, Case, is_same_case, merge_lessons, note_revision
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.memory.item import STORES, MemoryItem
from mabos_cli.core.memory.trust import lowest_trust

T = TypeVar("T")
Item = TypeVar("Item", bound=Hashable)
_NOTHING = object()
# The fields that make up a rule; the others describe it.
_BODY = ("type", "conditions", "conclusion", "violation_message", "action")
_NOBODY = object()


class Spare(NamedTuple):
    """A record that lost its id: another version of the record that is kept, or, without a base, something else with that id."""

    id: str
    record: Any
    has_base: bool
    is_ours: bool


class Settled(NamedTuple):
    """The merge of a record that both sides changed; `spare` tells whose version needs another id: ours, theirs, or empty for none."""

    kept: Any
    spare: str = ""


class Union(NamedTuple):
    """Records by id, those of the base first, new ones by age; and those that need a new id."""

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
    """Merges the records of both sides.

    What a side added is kept, what one side changed is taken as changed. What one side removed is gone, unless the other side
    changed it; changes for which is_same is true do not count. What both sides changed is left to settle.
    """
    kept: dict[str, Any] = {}
    spares: list[Spare] = []
    added = sorted((ours.keys() | theirs.keys()) - base.keys(), key=age)
    for key in (*base, *added):
        was, a, b = base.get(key), ours.get(key), theirs.get(key)
        if a == b or b == was:
            found = a
        elif a == was:
            found = b
        elif a is None or b is None:
            left = b if a is None else a
            assert was is not None and left is not None, "one side removed what the other changed"
            found = None if is_same(was, left) else left
        else:
            found, lost = settle(was, a, b)
            if lost:
                is_ours = lost == "ours"
                spares.append(Spare(key, a if is_ours else b, was is not None, is_ours))
        if found is not None:
            kept[key] = found
    return Union(kept, tuple(spares))


def follow_renames(
    sides: Sequence[Mapping[str, T]], identity: Callable[[T], Hashable], new_id: Callable[[str, T], str]
) -> list[dict[str, T]]:
    """Returns three versions of records by id, in which a record that an earlier merge renamed has its new id everywhere.

    A record of the base was renamed on a side if that side has something else under its id, and has the id that it would get.
    """
    base, ours, theirs = (dict(side) for side in sides)
    for key, was in sides[0].items():
        others = [side for side in (ours, theirs) if key in side and side[key] != was]
        if not any(identity(side[key]) != identity(was) for side in others):
            continue
        new = new_id(key, was)
        if any(new in side and identity(side[key]) != identity(was) for side in others):
            for side in (base, ours, theirs):
                if key in side and identity(side[key]) == identity(was) and new not in side:
                    side[new] = side.pop(key)
    return [base, ours, theirs]


def merge_value(base: Any, a: T, b: T, newer: T) -> T:
    """Returns the value of the side that changed it, or the newer one if both did.

    >>> merge_value(1, 1, 2, 1), merge_value(1, 3, 2, 3)
    (2, 3)
    """
    return a if b == base else b if a == base else newer


def merge_sets(base: Iterable[Item], a: Sequence[Item], b: Sequence[Item]) -> tuple[Item, ...]:
    """Returns the members that either side has, without those that one of them removed.

    In the order of the base, then sorted.

    >>> merge_sets(("x", "y"), ("y", "n"), ("x", "y", "m"))
    ('y', 'm', 'n')
    """
    known = dict.fromkeys(base)
    both = {*a} & {*b}
    return (*(each for each in known if each in both), *sorted({*a, *b} - known.keys(), key=repr))


def merge_count(base: int | None, a: int, b: int) -> int:
    """Adds up how far both sides advanced a counter; without a base, the larger one wins.

    >>> merge_count(2, 5, 3), merge_count(None, 5, 3)
    (6, 5)
    """
    return max(a, b) if base is None else max(0, a + b - base)


def merge_maps(
    base: Mapping[str, Any], a: Mapping[str, Any], b: Mapping[str, Any], newer: Mapping[str, Any]
) -> dict[str, Any]:
    """Merges two objects by key: the value of the side that changed it, or the newer one if both did.

    What one side removed and the other changed stays.

    >>> merge_maps({"x": 1, "y": 1}, {"x": 2, "y": 1}, {"x": 3}, {"x": 3})
    {'x': 3}
    """
    older = b if newer == a else a
    found = {}
    for key in dict.fromkeys((*newer, *older)):
        was, one, other = (each.get(key, _NOTHING) for each in (base, a, b))
        if one == other or other == was or (other is _NOTHING and one != was):
            value = one
        else:
            value = other if one == was or one is _NOTHING else newer[key]
        if value is not _NOTHING:
            found[key] = value
    return found


def merge_runs(base: Sequence[Item], a: Sequence[Item], b: Sequence[Item], when: Callable[[Item], Any]) -> list[Item]:
    """Merges two edited copies of a sequence as one.

    What a side removed is gone, what it added is there. What both added at the same place is ordered by time, which `when`
    returns; what has no time stays behind what it follows.
    """
    out: list[Item] = []
    for old, one, other, same in align(base, a, b):
        out += [*_merge_gap(old, one, other, when), *same]
    return out


def merge_lines(base: Sequence[str], a: Sequence[str], b: Sequence[str]) -> list[str] | None:
    """Merges the lines of two copies; None if both changed the same lines.

    >>> merge_lines("abc", "xabc", "abcd"), merge_lines("abc", "axc", "ayc")
    (['x', 'a', 'b', 'c', 'd'], None)
    """
    found: list[str] = []
    for old, one, other, same in align(base, a, b):
        if one != other and old not in (one, other):
            return None
        found += [*(one if other == old else other), *same]
    return found


Aligned = tuple[Sequence[Item], Sequence[Item], Sequence[Item], Sequence[Item]]


def align(base: Sequence[Item], a: Sequence[Item], b: Sequence[Item]) -> Iterator[Aligned[Item]]:
    """Yields the stretches that differ, in the base and in each copy, each with the element after it that all three share."""
    done = done_a = done_b = 0
    same_a, same_b = _match_places(base, a), _match_places(base, b)
    for n in [n for n in range(len(base)) if n in same_a and n in same_b] + [len(base)]:
        at_a, at_b = same_a.get(n, len(a)), same_b.get(n, len(b))
        yield base[done:n], a[done_a:at_a], b[done_b:at_b], base[n : n + 1]
        done, done_a, done_b = n + 1, at_a + 1, at_b + 1


def _match_places(base: Sequence[Item], other: Sequence[Item]) -> dict[int, int]:
    """Maps positions of the base to positions of a copy with the same element."""
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
    """Merges several runs into one, each in its own order, the earliest next one first."""
    timed = []
    for place, run in enumerate(runs):
        at: tuple[Any, ...] = ()
        for number, each in enumerate(run):
            found = when(each)
            at = max(at, (found,)) if found is not None else at
            timed.append((at, place, number, each))
    return [each for *_, each in sorted(timed, key=lambda entry: entry[:3])]


def merge_store(base: str | None, a: str, b: str) -> str:
    """Returns the store of an item: the one it was moved to, or the more lasting one if both sides moved it."""
    return merge_value(base, a, b, max(a, b, key=STORES.index))


def is_only_used(old: MemoryItem, new: MemoryItem) -> bool:
    """Returns whether an item was used, and nothing else happened to it."""
    return new._replace(accessed_at=old.accessed_at, access_count=old.access_count) == old


# Fields with a merge of their own, in any kind of record.
_SETS = frozenset("tags derived_from related_to supersedes beliefs desires".split())
_MAPS = frozenset(("metrics", "extra"))
_COUNTS = frozenset("access_count uses merged".split())
_EARLIEST, _LATEST = frozenset(("created_at", "stored_at")), frozenset("accessed_at updated_at last_used".split())


def _merge_fields(base: Any, a: Any, b: Any, newer: Any) -> Any:
    """Merges a record field by field: sets, maps and counters combine both changes, times are the first or the last one, and any other
    field has the value of the side that changed it, or the newer one."""
    found = {}
    for name, one, other, later in zip(a._fields, a, b, newer, strict=True):
        was: Any = getattr(base, name, _NOBODY)
        if name in _SETS:
            value: Any = merge_sets(was if base else (), one, other)
        elif name in _MAPS:
            value = tuple(merge_maps(dict(was if base else ()), dict(one), dict(other), dict(later)).items())
        elif name in _COUNTS:
            value = merge_count(was if base else None, one, other)
        elif name in _EARLIEST:
            value = min(filter(None, (one, other)), default="")
        else:
            value = max(one, other) if name in _LATEST else merge_value(was, one, other, later)
        found[name] = value
    return type(a)(**found)


def keep_older(a: Any, b: Any, age: Callable[[Any], Any]) -> Settled:
    """Leaves an id that was given to two things to the older one."""
    first = min(a, b, key=lambda each: (age(each), repr(each)))
    return Settled(first, "theirs" if first is a else "ours")


def merge_items(base: MemoryItem | None, a: MemoryItem, b: MemoryItem) -> Settled:
    """Merges an item that both sides changed, or added under one id.

    Two texts are two memories: the newer edit keeps the id; of two that only drew the same id, the older.
    """
    if base is None and a.content != b.content:
        return keep_older(a, b, lambda item: item.created_at)
    newer = max(a, b, key=lambda item: (item.accessed_at, item.created_at, repr(item)))
    merged = _merge_fields(base, a, b, newer)
    # Who vouched for one text has not seen the other.
    if a.content != b.content or (base and base.trust not in (a.trust, b.trust)):
        merged = merged._replace(trust=lowest_trust((a.trust, b.trust)))
    is_split = base is not None and a.content != b.content and base.content not in (a.content, b.content)
    return Settled(merged, ("theirs" if newer is a else "ours") if is_split else "")


def merge_facts(base: Fact | None, a: Fact, b: Fact) -> Settled:
    """Merges a fact that both sides changed or added: the later one wins, else the more certain one."""
    if base is None and a.triple != b.triple:
        return keep_older(a, b, lambda fact: fact.created_at)
    newer = _later_fact(a, b)
    if base and a.triple != b.triple and base.triple not in (a.triple, b.triple):
        return Settled(newer, "theirs" if newer is a else "ours")
    return Settled(_merge_fields(base, a, b, newer))


def unite_facts(a: Fact, b: Fact) -> Fact:
    """Unites two facts with the same triple: the older id, the later values, the lower trust, and the other id in `same_as`."""
    first = min(a, b, key=lambda fact: (fact.created_at, fact.id))
    other, newer = b if first is a else a, _later_fact(a, b)
    older = b if newer is a else a
    extra = dict(older.extra) | dict(newer.extra)
    known = {
        record_id for fact in (a, b) for record_id in dict(fact.extra).get("same_as", ()) if isinstance(record_id, str)
    }
    return newer._replace(
        id=first.id,
        created_at=first.created_at,
        trust=lowest_trust((a.trust, b.trust)),
        valid_from=newer.valid_from or older.valid_from,
        valid_until=newer.valid_until or older.valid_until,
        extra=tuple((extra | {"same_as": sorted({*known, other.id} - {first.id})}).items()),
    )


def _later_fact(a: Fact, b: Fact) -> Fact:
    return max(a, b, key=lambda fact: (fact.updated_at or fact.created_at, fact.confidence, repr(fact)))


def rule_body(rule: Mapping[str, Any]) -> str:
    """Returns what a rule consists of, without its name and other descriptions."""
    return repr([rule.get(name) for name in _BODY])


def merge_rules(base: Mapping[str, Any] | None, a: Mapping[str, Any], b: Mapping[str, Any]) -> Settled:
    """Merges a rule that both sides changed, or numbered alike.

    Rules do not say when they were changed: of two texts the one that sorts first keeps the number, and of two
    numbers the lower factor counts.
    """
    older = keep_older(a, b, lambda rule: str(rule.get("created_at", "")))
    bodies = [rule_body(rule) for rule in (a, b, base or {})]
    if bodies[0] != bodies[1] and (base is None or bodies[2] not in bodies[:2]):
        return older
    merged = merge_maps(base or {}, a, b, older.kept)
    factors = [rule.get("confidence_factor") for rule in (base or {}, a, b)]
    numbers = [each for each in factors[1:] if isinstance(each, int | float)]
    if len({*map(repr, factors)}) == 3 and len(numbers) == 2:
        merged["confidence_factor"] = min(numbers)
    return Settled(merged)


def merge_cases(base: Case | None, a: Case, b: Case) -> Settled:
    """Merges a case that both sides changed: uses add up, lessons stay, the later value wins, the other is a revision."""
    if base is None and not is_same_case(a, b):
        return keep_older(a, b, lambda case: case.stored_at)
    newer = max(a, b, key=_last_word)
    older = b if newer is a else a
    lessons = merge_lessons(older.lessons, newer.lessons)
    merged = _merge_fields(base, a, b, newer)._replace(
        lessons=merge_value(base.lessons if base else None, a.lessons, b.lessons, lessons)
    )
    known = base.revisions if base else ()
    new = sorted((r for r in {repr(r): r for r in (*a.revisions, *b.revisions)}.values() if r not in known), key=repr)
    merged = merged._replace(revisions=(*known, *new))
    lost = {name: getattr(older, name) for name in NOTED if _is_lost(name, base, older, merged)}
    at = max(case.last_used or case.stored_at for case in (a, b))
    return Settled(note_revision(merged._replace(**lost), merged, at, "merge"))


def _last_word(case: Case) -> tuple[str, str]:
    """Returns when a case was last changed or used."""
    times = [case.stored_at, case.last_used, *(revision.at for revision in case.revisions)]
    return max(times), repr(case)


def _is_lost(name: str, base: Case | None, older: Case, merged: Case) -> bool:
    """Returns whether the older side changed a value, and the merged case does not have it."""
    value, was, kept = getattr(older, name), getattr(base, name, None), getattr(merged, name)
    if name == "metrics":
        had, has = dict(was or ()), dict(kept)
        return any(number not in (had.get(key), has.get(key)) for key, number in value)
    return name != "lessons" and value not in (was, kept, None, "", ())
