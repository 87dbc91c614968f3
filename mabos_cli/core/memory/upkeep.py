"""Upkeep: unused memories are archived, observations harvested and graded.

In the lifecycle trust has no say and is never raised by use: it is only counted. Importance is not rewritten either: an item
stays what it was until the day it leaves.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from mabos_cli.core.language.clock import DAY, as_stamp, epoch_ms, find_time, format_time
from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.item import (
    BANDS,
    KEEPING,
    STORES,
    TRUSTS,
    Keeping,
    MemoryItem,
    band,
    grade,
    grade_parts,
    has_expired,
    is_ungraded,
    priority_of,
    types_of,
    with_importance,
)
from mabos_cli.core.memory.observation import Observation
from mabos_cli.core.memory.stores import Changes, Departure, Draft, Limits, Memory, tidy
from mabos_cli.core.memory.storing import Stored, signals_of
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.core.records import NamedTuple

TIERS = ("critical", "high", "other")


class Rules(NamedTuple):
    """The numbers that govern retention, times in seconds; the settings fill them in.

    high is the least time for what is highly important, whatever its type. What is critical has no end.
    """

    high: float = 90 * DAY
    notice: float = 7 * DAY
    fuse: float = 0.25
    types: Mapping[str, Keeping] = KEEPING

    def span(self, item: MemoryItem) -> float:
        """Returns how long an item may go unused, by its type and its importance."""
        kept = [self.types.get(name, self.types["observation"]).unused for name in types_of(item)]
        span, tier = max(kept), tier_of(item)
        return math.inf if tier == "critical" else max(span, self.high) if tier == "high" else span


class Leaving(NamedTuple):
    """An item that goes, and what is counted of it. The cause is expired or unused; days are those since its last use."""

    departure: Departure
    tier: str
    trust: str
    cause: str
    days: int | None


class Lifecycle(NamedTuple):
    """The plan: what changes, which items go, how many more soon will, how many there were, and how many the fuse holds back."""

    changes: Changes
    leaving: tuple[Leaving, ...]
    fading: int
    live: int
    tidied: int
    held: int


def leaves_at(item: MemoryItem, rules: Rules) -> float:
    """Returns when an item of long-term memory will be unused, in milliseconds since 1970; never, if its times name no moment."""
    used = find_time(item.touched_at)
    return epoch_ms(used) + rules.span(item) * 1000 if used else math.inf


def find_ends(items: Iterable[MemoryItem], rules: Rules) -> tuple[str, list[float]]:
    """Returns the first date on which one of some items expires, if there is one, and the moments at which they will be unused."""
    held = tuple(items)
    expires = min(filter(None, (as_stamp(item.expires_at) for item in held if item.expires_at)), default="")
    return expires, sorted(end for item in held if (end := leaves_at(item, rules)) < math.inf)


def plan_lifecycle(
    memory: Memory,
    rules: Rules = Rules(),
    *,
    now: datetime,
    limits: Limits = Limits(),
    is_confirmed: bool = False,
    fading: int = 0,
) -> Lifecycle:
    """Returns what a lifecycle run would do: items of any store past their own date go, and long-term items that are unused.

    Unused means: more time than its type and importance allow has passed since the last use. An item that will be unused within
    the notice fades. Unless it is confirmed, a run takes no larger share of what is unused than the fuse, the longest unused first:
    a clock that jumps ahead does not empty a memory in one night. Working and short-term memory are tidied by their own limits, as by
    every write; that is not counted. `fading` counts items that fade among those that memory passes over.
    """
    at, moment = format_time(now), epoch_ms(now)
    kept: dict[str, list[MemoryItem]] = {"working": [], "short_term": []}
    leaving: list[Leaving] = []
    live = sum(len(getattr(memory, store)) for store in STORES)
    for store in STORES:
        for item in getattr(memory, store):
            if has_expired(item, at):
                leaving.append(_leaving(item, store, "expired", now))
            elif store != "long_term":
                kept[store].append(item)
            elif (end := leaves_at(item, rules)) < moment:
                leaving.append(_leaving(item, store, "unused", now))
            else:
                fading += end < moment + rules.notice * 1000
    unused = [away.departure.item for away in leaving if away.cause == "unused"]
    most = len(unused) if is_confirmed else max(int(round(rules.fuse * live, 9)), rules.fuse > 0)
    held = {item.id for item in sorted(unused, key=lambda item: (item.touched_at, item.id))[most:]}
    leaving = [away for away in leaving if away.departure.item.id not in held]
    changes = Changes(
        tuple(kept["working"]),
        tuple(kept["short_term"]),
        drop=tuple(away.departure.item.id for away in leaving if away.departure.store == "long_term"),
        archive=tuple(away.departure for away in leaving),
    )
    tidy_too = tidy(changes, now, limits)
    tidied = len(tidy_too.archive) - len(leaving)
    tally = [("/".join(kind), count) for kind, count in count_leaving(leaving)]
    tally += [("tidied", tidied)] if tidied else []
    return Lifecycle(tidy_too._replace(tally=tuple(tally)), tuple(leaving), fading, live, tidied, len(held))


def tier_of(item: MemoryItem) -> str:
    """Returns how long an item is kept without use, as a name: the priorities are points on its importance."""
    priority = priority_of(item.importance)
    return priority if priority in TIERS else TIERS[-1]


def count_leaving(leaving: list[Leaving] | tuple[Leaving, ...]) -> list[tuple[tuple[str, str, str], int]]:
    """Returns how many items go for each cause, tier and trust, in a fixed order."""
    return sorted(Counter((away.cause, away.tier, away.trust) for away in leaving).items())


def _leaving(item: MemoryItem, store: str, cause: str, now: datetime) -> Leaving:
    used = find_time(item.touched_at)
    days = max(0, (now - used).days) if used else None
    reason = f"unused: {plural(days or 0, 'day')}" if cause == "unused" else cause
    # What other tools call their trust is not known here, and what is not known is not trusted.
    trust = TRUSTS[trust_rank(item.trust)]
    return Leaving(Departure(item, store, reason, format_time(now)), tier_of(item), trust, cause, days)


_NO_BANDS = tuple((name, 0) for name in BANDS)


class Tally(NamedTuple):
    """Counts the results of a harvest: new items, merges, those among the new that are linked, items by band, transactions, and what was
    stored before; with its warnings."""

    harvested: int = 0
    merged: int = 0
    linked: int = 0
    bands: tuple[tuple[str, int], ...] = _NO_BANDS
    chunks: int = 0
    known: int = 0
    warnings: tuple[str, ...] = ()

    def with_results(self, results: Iterable[Stored], must: float, nice: float) -> "Tally":
        """Returns the tally with more results in it."""
        results = tuple(results)
        new = [result for result in results if not result.deduplicated]
        bands = dict(self.bands)
        for result in new:
            bands[band(result.item.importance, must, nice)] += 1
        return self._replace(
            harvested=self.harvested + len(new),
            merged=self.merged + len(results) - len(new),
            linked=self.linked + sum(bool(result.linked) for result in new),
            bands=tuple(bands.items()),
        )


def draft_observation(observation: Observation, store: str = "", types: Mapping[str, Keeping] = KEEPING) -> Draft:
    """Returns the draft that an observation becomes: all that it says, and where it comes from. Without a store, its type decides."""
    level = observation.importance
    item = MemoryItem(
        id="",
        content=observation.text,
        type=observation.type or "observation",
        importance=0.5 if level is None else level,
        source=observation.source,
        trust=observation.trust,
        author=observation.author,
        session=observation.session,
        tags=observation.tags,
        observed_at=observation.at,
        derived_from=(observation.id,),
    )
    return Draft(item, store or types[item.type].store, graded=level is not None)


def join_repeats(drafts: Iterable[Draft]) -> list[Draft]:
    """Returns drafts with what repeats itself once, as one that derives from each. Long-term memory merges its own."""
    kept: dict[object, Draft] = {}
    for number, draft in enumerate(drafts):
        item = draft.item
        key = number if draft.store == "long_term" else (draft.store, item._replace(observed_at="", derived_from=()))
        known = kept.setdefault(key, draft)
        if known is not draft:
            sources = (*known.item.derived_from, *item.derived_from)
            kept[key] = known._replace(item=known.item._replace(derived_from=sources))
    return list(kept.values())


def is_worth(draft: Draft, floor: float, limits: Limits) -> bool:
    """Returns whether a draft is as important as asked for, by what it says or by its grade."""
    if floor <= 0:
        return True
    level = draft.item.importance if draft.graded else grade(**signals_of(draft.item, limits))
    return level >= floor


class Grading(NamedTuple):
    """An item with the importance that it got, and how that came about."""

    item: MemoryItem
    parts: tuple[tuple[str, float], ...]


def grade_item(item: MemoryItem, limits: Limits) -> Grading:
    """Returns the item with the importance that heuristic-v1 gives it."""
    signals = signals_of(item, limits)
    return Grading(with_importance(item, grade(**signals)), grade_parts(**signals))


def plan_grading(memory: Memory, ids: Sequence[str], *, limits: Limits) -> tuple[Changes, tuple[Grading, ...]]:
    """Returns the changes that fill in the importance that nobody gave, of the items with these ids or, without ids, of all."""
    wanted, done = set(ids), []

    def graded(items: Iterable[MemoryItem]) -> tuple[MemoryItem, ...]:
        kept = []
        for item in items:
            if is_ungraded(item) and (not wanted or item.id in wanted):
                done.append(grade_item(item, limits))
                item = done[-1].item
            kept.append(item)
        return tuple(kept)

    working, short_term = graded(memory.working), graded(memory.short_term)
    recent = len(done)
    found = filter(None, (memory.long_term.find(i) for i in wanted))
    graded(sorted(found, key=lambda item: item.id) if wanted else memory.long_term)
    put = tuple(grading.item for grading in done[recent:])
    return Changes(working, short_term, put=put), tuple(done)
