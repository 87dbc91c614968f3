"""Keeping cases: equal ones become one, what was learned by reuse is noted, and the least useful leave when there are too many."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from heapq import heapify, heappop, heappush
from math import log
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.case import Case, Key, Revision, folded, is_same_case
from mabos_cli.core.language.clock import DAY, find_time

NOTED = ("context", "plan_id", "actions", "success", "metrics", "lessons")  # what revisions tell the earlier values of
HALF_LIFE = 180  # days in which a case loses half of what it is worth, unless it is used
_STALEST = 0.1
_OUTCOMES = {True: 1.0, False: 0.8, None: 0.5}  # a failure warns; what came of an open one nobody knows
_MOST_REVISIONS, _KEPT_REVISIONS = 20, 10
_MOST_LESSONS = 8_000


class CaseDeparture(NamedTuple):
    """A case that left, as it is in the file; or a version of one that stays, for the archive."""

    id: str
    reason: str
    at: str
    case: Case | None = None


class CaseChanges(NamedTuple):
    """What a command wants written: cases to add or to replace by id, ids to drop, and what goes to the archive first."""

    put: tuple[Case, ...] = ()
    drop: tuple[str, ...] = ()
    archive: tuple[CaseDeparture, ...] = ()


class Worth(NamedTuple):
    """What the usefulness of a case depends on."""

    id: str
    key: Key
    uses: int
    success: bool | None
    at: str


class Held(NamedTuple):
    """The cases that there are, for a plan: those of a situation, all as far as their worth goes, how many, and new ids."""

    of: Callable[[Key], Iterable[Case]]
    worths: Callable[[], Iterable[Worth]]
    count: int
    mint: Callable[[str], str]


def usefulness(uses: int, success: bool | None, age: float, alike: int) -> float:
    """What a case is worth: (1 + ln(1 + uses)) x outcome x freshness x rarity.

    The outcome counts 1 for success, .8 for failure, .5 while it is open. Freshness halves every 180 days since the last use,
    down to a tenth. Rarity is 1 + 1/n among n cases of the same beliefs and desires: the only one of its kind counts double.

    >>> usefulness(0, True, 0, 1), usefulness(0, False, 180, 2)
    (2.0, 0.6000000000000001)
    """
    fresh = max(_STALEST, 0.5 ** (max(0.0, age) / HALF_LIFE))
    return (1 + log(1 + uses)) * _OUTCOMES[success] * fresh * (1 + 1 / max(1, alike))


def choose_leaving(worths: Iterable[Worth], count: int, now: datetime) -> list[str]:
    """The ids of the least useful cases, as many as must leave. When one leaves, the others of its situation are worth more."""
    held = list(worths)
    alike = Counter(worth.key for worth in held)

    def value(worth: Worth) -> float:
        at = find_time(worth.at)
        age = (now - at).total_seconds() / DAY if at else HALF_LIFE * 10
        return usefulness(worth.uses, worth.success, age, alike[worth.key])

    heap = [(value(worth), worth.at, worth.id, n) for n, worth in enumerate(held)]
    heapify(heap)
    gone: list[str] = []
    while heap and len(gone) < count:
        was, at, own, n = heappop(heap)
        is_now = value(held[n])
        if is_now > was:
            heappush(heap, (is_now, at, own, n))
            continue
        gone.append(own)
        alike[held[n].key] -= 1
    return gone


def plan_store(
    given: Sequence[Case], held: Held, now: datetime, stamp: str, limit: int, used: Case | None = None
) -> tuple[CaseChanges, list[tuple[Case, str]]]:
    """Adds cases, or merges those that are known; beyond the limit the least useful leave. Also what became of each: stored, or
    merged. `used` is the case that they were made from, which counts a use."""
    put: dict[str, Case] = {used.id: count_use(used, stamp)} if used else {}
    new: dict[Key, list[Case]] = {}
    archive: list[CaseDeparture] = []
    told: list[tuple[str, str]] = []
    for case in given:
        known = [*(put.get(c.id, c) for c in held.of(case.key)), *(put[c.id] for c in new.get(case.key, ()))]
        twin = next((other for other in known if is_same_case(other, case)), None)
        if twin is None:
            made = case._replace(id=held.mint(case.id), stored_at=case.stored_at or stamp)
            new.setdefault(case.key, []).append(made)
        else:
            # The case that this one was made from counted its use above.
            before = twin._replace(uses=twin.uses - 1) if used and twin.id == used.id else twin
            made, cut = trim_revisions(merge_cases(before, case, stamp), stamp)
            archive += cut
        put[made.id] = made
        told.append((made.id, "merged" if twin else "stored"))
    added = {case.id for cases in new.values() for case in cases}
    if len(added) > limit:
        raise BadValue(f"{len(added):,} cases are more than the {limit:,} that are kept", "raise cbr.max_cases")
    over = held.count + len(added) - limit
    gone: list[str] = []
    if over > 0:
        old = [w for w in held.worths() if w.id not in put]
        gone = choose_leaving(old, over, now)
        archive += [CaseDeparture(own, f"least useful of more than {limit}", stamp) for own in gone]
    changes = CaseChanges(tuple(put.values()), tuple(gone), tuple(archive))
    return changes, [(put[own], state) for own, state in told]


def merge_cases(old: Case, new: Case, at: str) -> Case:
    """A case that happened again: the latest outcome counts, lessons of both are kept, and the earlier values stay known."""
    found = old._replace(
        success=old.success if new.success is None else new.success,
        metrics=tuple((dict(old.metrics) | dict(new.metrics)).items()),
        lessons=merge_lessons(old.lessons, new.lessons),
        merged=old.merged + 1,
    )
    return count_use(note_revision(old, found, at, "merge"), at)


def merge_lessons(old: str, new: str) -> str:
    """Both lessons, or the one that holds the other.

    >>> merge_lessons("Call first", "call first."), merge_lessons("Call", "Write")
    ('Call first', 'Call\\nWrite')
    """
    if folded(new) in folded(old):
        return old
    if folded(old) in folded(new) or len(old) + len(new) > _MOST_LESSONS:
        return new
    return f"{old}\n{new}"


def count_use(case: Case, at: str) -> Case:
    """The case after one more use."""
    return case._replace(uses=case.uses + 1, last_used=max(case.last_used, at))


def revise_case(
    old: Case, changes: Mapping[str, Any], at: str, *, is_use: bool = True
) -> tuple[Case, list[CaseDeparture]]:
    """The case after a reuse, or a correction: new values, with the earlier ones in its revisions, and what goes to the archive
    because there are too many of those."""
    told = dict(changes)
    if "metrics" in told:
        told["metrics"] = tuple((dict(old.metrics) | dict(told["metrics"])).items())
    new = note_revision(old, old._replace(**told), at, "reuse" if is_use else "correction")
    return trim_revisions(count_use(new, at) if is_use else new, at)


def note_revision(old: Case, new: Case, at: str, by: str) -> Case:
    """The new case with the earlier values of what it changes; nothing is noted when nothing changed."""
    was = tuple((name, getattr(old, name)) for name in NOTED if getattr(old, name) != getattr(new, name))
    return new._replace(revisions=(*old.revisions, Revision(at, by, was))) if was else new


def trim_revisions(case: Case, at: str) -> tuple[Case, list[CaseDeparture]]:
    """The case with its latest revisions if there are many: then it goes to the archive with all of them."""
    if len(case.revisions) <= _MOST_REVISIONS:
        return case, []
    kept = case.revisions[-_KEPT_REVISIONS:]
    return case._replace(revisions=kept), [CaseDeparture(case.id, "older revisions", at, case)]
