"""Upkeep: related short-term memories are consolidated (R1), unused ones archived, observations harvested and graded.

In the lifecycle trust has no say and is never raised by use: it is only counted. Importance is not rewritten either: an item
stays what it was until the day it leaves.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from mabos_cli.core.language.clock import DAY, as_stamp, earlier, find_time, format_time
from mabos_cli.core.language.similar import likeness
from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.item import (
    BANDS,
    STORES,
    TRUSTS,
    MemoryItem,
    Prose,
    band,
    grade,
    grade_parts,
    has_expired,
    is_ungraded,
    priority_of,
    with_importance,
)
from mabos_cli.core.memory.observation import Observation
from mabos_cli.core.memory.stores import Changes, Departure, Limits, Memory, is_expired, qualifies, tidy
from mabos_cli.core.memory.storing import Draft, Stored, signals_of
from mabos_cli.core.memory.trust import TrustOf, is_untrusted, lowered, lowest_trust, trust_of_item, trust_rank

GroupKey = tuple[tuple[str, str], ...]
_BETWEEN = " | "  # the contents of a group in one text
TIERS = ("critical", "high", "other")


class Consolidation(NamedTuple):
    """The plan: what changes, and which group became which item."""

    changes: Changes
    groups: tuple[tuple[MemoryItem, tuple[MemoryItem, ...]], ...]

    @property
    def candidates(self) -> int:
        return sum(len(members) for _, members in self.groups)

    @property
    def untrusted(self) -> int:
        """How many of the items MEMORY.md, which is read as the agent's own words, does not get."""
        return sum(is_untrusted(item) for item, _ in self.groups)


def plan_consolidation(
    memory: Memory,
    limits: Limits,
    *,
    now: datetime,
    mint: Callable[[], str],
    jaccard: float = 0.3,
    summarize: bool = True,
    keep: Limits | None = None,
    trust_of: TrustOf = trust_of_item,
    prose: Mapping[GroupKey, Prose] = MappingProxyType({}),
) -> Consolidation:
    """What consolidation would do: candidates grouped by trust and tags, groups compressed, originals archived.

    limits choose the candidates; keep, if given, are the limits by which the rest lives on. prose has texts that a model
    wrote: they hold for groups that are as they were told to it.
    """
    at = format_time(now)
    qualified = [
        (store, i)
        for store in ("short_term", "working")
        for i in getattr(memory, store)
        if qualifies(i, store, limits) and not is_expired(i, store, at, keep or limits)
    ]
    where = {i.id: store for store, i in qualified}
    candidates = [lowered(i, trust_of(i)) for _, i in qualified]
    grouped = group_alike(candidates, jaccard) if summarize else [(item,) for item in candidates]
    groups = tuple((_compress(group, mint, prose), group) for group in grouped)
    gone = tuple(
        Departure(member, where[member.id], "consolidated", at, into=item.id)
        for item, group in groups
        if len(group) > 1
        for member in group
    )
    fresh = tuple(item for item, _ in groups)
    changes = Changes(
        tuple(i for i in memory.working if i.id not in where),
        tuple(i for i in memory.short_term if i.id not in where),
        put=fresh,
        archive=gone,
        log=tuple(item for item, group in groups if len(group) > 1),
        promoted=fresh,
    )
    return Consolidation(tidy(changes, now, keep or limits), groups)


def group_alike(items: list[MemoryItem], threshold: float) -> list[tuple[MemoryItem, ...]]:
    """Groups by tags among those that are trusted alike, in the order of their first items.

    The least trusted decides about a group: in one of their own, planted memories cannot pull others down with them.
    """
    by_trust: dict[str, list[MemoryItem]] = {}
    for item in items:
        by_trust.setdefault(item.trust, []).append(item)
    if len(by_trust) < 2:
        return group_by_tags(items, threshold)
    place = {item.id: n for n, item in enumerate(items)}
    groups = [group for alike in by_trust.values() for group in group_by_tags(alike, threshold)]
    return sorted(groups, key=lambda group: place[group[0].id])


def group_by_tags(items: list[MemoryItem], threshold: float) -> list[tuple[MemoryItem, ...]]:
    """Greedy groups in order: an item joins the first open group whose first item's tags are alike enough.

    Two tag sets that are alike enough share one of the rarest tags of either (as many as could be missing, plus one), so
    items are looked up by those alone: a tag that everything carries brings nobody together for comparison.
    """
    tags = [frozenset(item.tags) for item in items]
    carried = Counter(name for names in tags for name in names)
    rare = [_rarest(names, carried, threshold) for names in tags]
    holders: dict[str, list[int]] = defaultdict(list)
    for position, names in enumerate(rare):
        for name in names:
            holders[name].append(position)
    taken = [False] * len(items)
    groups = []
    for first in range(len(items)):
        if taken[first]:
            continue
        near = sorted({p for name in rare[first] for p in _open_after(holders, name, first, taken)})
        group = [first, *(p for p in near if likeness(tags[first], tags[p]) > threshold)]
        for position in group:
            taken[position] = True
        groups.append(tuple(items[position] for position in group))
    return groups


def _rarest(names: frozenset[str], carried: Counter[str], threshold: float) -> list[str]:
    """The rarest tags of a set, of which any set that is alike enough has at least one among its own rarest."""
    ordered = sorted(names, key=lambda name: (carried[name], name))
    # More than threshold of the union, so more than that of this set.
    common = int(threshold * len(ordered)) + 1
    return ordered[: len(ordered) - common + 1]


def _open_after(holders: dict[str, list[int]], name: str, first: int, taken: list[bool]) -> list[int]:
    """Ungrouped holders of a tag behind `first`; the list is pruned on the way, so that it shrinks as groups form."""
    holders[name] = [p for p in holders[name] if not taken[p] and p > first]
    return holders[name]


def describe_group(group: Sequence[MemoryItem]) -> GroupKey:
    """What the text of a group depends on: ids and contents."""
    return tuple((item.id, item.content) for item in group)


def consolidated_parts(text: str) -> list[str]:
    """The memories that a consolidated one was made of, as far as its text tells.

    >>> consolidated_parts("[Consolidated from 2 memories] a | b"), consolidated_parts("a | b")
    (['a', 'b'], [])
    """
    match = re.match(r"(?i)\[Consolidated from \d+ memories\] ", text)
    return text[match.end() :].split(_BETWEEN) if match else []


def _compress(group: tuple[MemoryItem, ...], mint: Callable[[], str], prose: Mapping[GroupKey, Prose]) -> MemoryItem:
    if len(group) == 1:
        return group[0]
    best = max(group, key=lambda item: item.importance)
    written = prose.get(describe_group(group))
    text = written.text if written else _BETWEEN.join(i.content for i in group)
    return MemoryItem(
        id=mint(),
        content=f"[Consolidated from {len(group)} memories] {text}",
        type=best.type,
        importance=best.importance,
        source="consolidation",
        # Trust never rises by being summarized: the least trusted source decides.
        trust=lowest_trust(i.trust for i in group),
        tags=tuple(dict.fromkeys(tag for i in group for tag in i.tags)),
        created_at=max(i.created_at for i in group),
        accessed_at=max(i.accessed_at for i in group),
        derived_from=tuple(i.id for i in group),
        extra=written.mark(()) if written else (),
    )


class Rules(NamedTuple):
    """The numbers that govern retention, times in seconds; the settings fill them in. Critical items have no time."""

    high: float = 90 * DAY
    other: float = 30 * DAY
    notice: float = 7 * DAY
    fuse: float = 0.25


class Leaving(NamedTuple):
    """An item that goes, and what is counted of it. The cause is expired or unused; days are those since its last use."""

    departure: Departure
    tier: str
    trust: str
    cause: str
    days: int | None


class Lifecycle(NamedTuple):
    """The plan: what changes, which items go, how many more soon will, and how many there were."""

    changes: Changes
    leaving: tuple[Leaving, ...]
    fading: int
    live: int
    tidied: int
    fuse: float

    @property
    def needs_yes(self) -> bool:
        """Whether more would go in one run than anybody expects."""
        return len(self.leaving) > round(self.fuse * self.live, 9)


def plan_lifecycle(memory: Memory, rules: Rules = Rules(), *, now: datetime, limits: Limits = Limits()) -> Lifecycle:
    """What a lifecycle run would do: items of any store past their own date go, and long-term items that are unused.

    Unused means: more time than the tier allows has passed since the last use. An item that will be unused within the
    notice fades. Working and short-term memory are tidied by their own limits, as by every write; that is not counted.
    """
    at = format_time(now)
    # By tier: an item that was last used before the first time is unused, before the second it soon will be. Critical ones never.
    spans = {"high": rules.high, "other": rules.other}
    ends = {tier: [format_time(earlier(now, s)) for s in (span, span - rules.notice)] for tier, span in spans.items()}
    kept: dict[str, list[MemoryItem]] = {"working": [], "short_term": []}
    leaving: list[Leaving] = []
    live = fading = 0
    for store in STORES:
        for item in getattr(memory, store):
            live += 1
            if has_expired(item, at):
                leaving.append(_leaving(item, store, "expired", now))
            elif store != "long_term":
                kept[store].append(item)
            elif end := ends.get(tier_of(item)):
                used = as_stamp(item.touched_at)  # what names no moment is never unused
                if used and used < end[0]:
                    leaving.append(_leaving(item, store, "unused", now))
                elif used and used < end[1]:
                    fading += 1
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
    return Lifecycle(tidy_too._replace(tally=tuple(tally)), tuple(leaving), fading, live, tidied, rules.fuse)


def tier_of(item: MemoryItem) -> str:
    """How long an item is kept without use, as a name: the priorities are points on its importance."""
    priority = priority_of(item.importance)
    return priority if priority in TIERS else TIERS[-1]


def count_leaving(leaving: list[Leaving] | tuple[Leaving, ...]) -> list[tuple[tuple[str, str, str], int]]:
    """How many items go for each cause, tier and trust, in a fixed order."""
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
    """What became of harvested observations: new items, those among them that are linked, merges, items by band."""

    harvested: int = 0
    merged: int = 0
    linked: int = 0
    bands: tuple[tuple[str, int], ...] = _NO_BANDS

    def with_results(self, results: Iterable[Stored], must: float, nice: float) -> "Tally":
        """The tally with more results in it."""
        results = tuple(results)
        new = [result for result in results if not result.deduplicated]
        bands = dict(self.bands)
        for result in new:
            bands[band(result.item.importance, must, nice)] += 1
        return Tally(
            self.harvested + len(new),
            self.merged + len(results) - len(new),
            self.linked + sum(bool(result.linked) for result in new),
            tuple(bands.items()),
        )


def draft_observation(observation: Observation, store: str) -> Draft:
    """The draft that an observation becomes: all that it says, and where it comes from."""
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
    return Draft(item, store, graded=level is not None)


def is_worth(draft: Draft, floor: float, now: datetime, limits: Limits) -> bool:
    """Whether a draft is as important as asked for, by what it says or by its grade."""
    if floor <= 0:
        return True
    level = draft.item.importance if draft.graded else grade(**signals_of(draft.item, now, limits))
    return level >= floor


class Grading(NamedTuple):
    """An item with the importance that it got, and how that came about."""

    item: MemoryItem
    parts: tuple[tuple[str, float], ...]


def grade_item(item: MemoryItem, now: datetime, limits: Limits) -> Grading:
    """The item with the importance that heuristic-v1 gives it."""
    signals = signals_of(item, now, limits)
    return Grading(with_importance(item, grade(**signals)), grade_parts(**signals))


def plan_grading(
    memory: Memory, ids: Sequence[str], *, now: datetime, limits: Limits
) -> tuple[Changes, tuple[Grading, ...]]:
    """The changes that fill in the importance that nobody gave, of the items with these ids or, without ids, of all."""
    wanted, done = set(ids), []

    def graded(items: Iterable[MemoryItem]) -> tuple[MemoryItem, ...]:
        kept = []
        for item in items:
            if is_ungraded(item) and (not wanted or item.id in wanted):
                done.append(grade_item(item, now, limits))
                item = done[-1].item
            kept.append(item)
        return tuple(kept)

    working, short_term = graded(memory.working), graded(memory.short_term)
    recent = len(done)
    found = filter(None, (memory.long_term.find(i) for i in wanted))
    graded(sorted(found, key=lambda item: item.id) if wanted else memory.long_term)
    put = tuple(grading.item for grading in done[recent:])
    return Changes(working, short_term, put=put), tuple(done)
