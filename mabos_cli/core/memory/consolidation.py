"""Consolidation (R1): related short-term memories become one long-term item that names its members."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.similar import likeness
from mabos_cli.core.memory.item import MemoryItem, Prose
from mabos_cli.core.memory.stores import Changes, Departure, Limits, Memory, is_expired, qualifies, tidy
from mabos_cli.core.memory.trust import TrustOf, is_untrusted, lowered, lowest_trust, trust_of_item

GroupKey = tuple[tuple[str, str], ...]
_BETWEEN = " | "  # the contents of a group in one text


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
