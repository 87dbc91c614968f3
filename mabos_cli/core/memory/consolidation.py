"""Consolidation (R1): related memories become one long-term item that names its members, and again over the weeks."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from mabos_cli.core.language.clock import DAY, earlier, format_time
from mabos_cli.core.language.similar import likeness
from mabos_cli.core.language.text import terms
from mabos_cli.core.memory.condensing import body_of, join_contents
from mabos_cli.core.memory.item import CONSOLIDATION, PRIORITIES, MemoryItem, Prose, count_members, with_members
from mabos_cli.core.memory.stores import Changes, Departure, Limits, Memory, is_expired, qualifies, tidy
from mabos_cli.core.memory.trust import PRIVATE, TrustOf, is_untrusted, lowered, lowest_trust, trust_of_item
from mabos_cli.core.records import NamedTuple

GroupKey = tuple[tuple[str, str], ...]
_APART = ("instruction", "preference", "person")  # types that are grouped with their own kind only
_FEW, _EVERYWHERE = 4, 0.5  # a tag of so many items, and of more than this share of all, is a catch-all
_COMMON_WORDS, _COMMON_SHARE = (
    2,
    0.34,
)  # words that items under a catch-all tag must share, at least and of the shorter one's
_ASKED, _HOLDERS = 5, 50  # rare words by which an item is looked up, and how many may hold one
_REST = 7 * DAY  # what was consolidated so long ago is consolidated again with what else there is of its topic
_BRANCHES = 12  # of a standing item: with more, the one before becomes a branch


class Consolidation(NamedTuple):
    """The plan: what changes, and which group became which item."""

    changes: Changes
    groups: tuple[tuple[MemoryItem, tuple[MemoryItem, ...]], ...]

    @property
    def candidates(self) -> int:
        return sum(len(members) for _, members in self.groups)

    @property
    def untrusted(self) -> int:
        """Returns how many of the items MEMORY.md, which is read as the agent's own words, does not get."""
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
    """Returns what consolidation would do: candidates grouped by trust, type, tags and words, groups compressed, originals archived.
    With them goes what was consolidated a week ago or more, where several items are about one topic.

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
    grouped: list[tuple[MemoryItem, ...]] = [(item,) for item in candidates]
    again: list[tuple[MemoryItem, ...]] = []
    if summarize and candidates:
        lasting = list(memory.long_term)
        every = [*memory.working, *memory.short_term, *lasting]
        common = find_catch_alls(every) | (find_catch_alls(candidates) & find_catch_alls(every, _EVERYWHERE / 2))
        grouped = group_alike(candidates, jaccard, common)
        resting = [
            lowered(i, trust_of(i))
            for i in lasting
            if i.source == CONSOLIDATION and i.created_at < format_time(earlier(now, _REST))
        ]
        resting.sort(key=lambda item: (item.created_at, item.id))
        again = [group for group in group_alike(resting, jaccard, common) if len(group) > 1]
    groups = tuple((_compress(group, mint, prose), group) for group in (*grouped, *again))
    gone = tuple(
        Departure(member, where.get(member.id, "long_term"), "consolidated", at, into=item.id)
        for item, group in groups
        if len(group) > 1
        for member in group
    )
    fresh = tuple(item for item, _ in groups[: len(grouped)])
    changes = Changes(
        tuple(i for i in memory.working if i.id not in where),
        tuple(i for i in memory.short_term if i.id not in where),
        put=tuple(item for item, _ in groups),
        drop=tuple(member.id for group in again for member in group),
        archive=gone,
        # What is consolidated again was logged and stands in MEMORY.md.
        log=tuple(item for item, group in groups[: len(grouped)] if len(group) > 1),
        promoted=fresh,
    )
    return Consolidation(tidy(changes, now, keep or limits), groups)


def find_catch_alls(items: Iterable[MemoryItem], share: float = _EVERYWHERE) -> frozenset[str]:
    """Returns the tags that so many items carry that they say nothing about any of them."""
    tagged = [item.tags for item in items if item.tags]
    carried = Counter(tag for tags in tagged for tag in tags)
    return frozenset(tag for tag, count in carried.items() if count >= _FEW and count > share * len(tagged))


def group_alike(
    items: list[MemoryItem], threshold: float, common: Collection[str] = ()
) -> list[tuple[MemoryItem, ...]]:
    """Groups by tags among those that are trusted alike, in the order of their first items.

    The least trusted decides about a group: in one of their own, planted memories cannot pull others down with them. Instructions,
    preferences and people stay among their own kind as well, and what is critical stays alone: the index shows it as it was said.
    """
    kinds: dict[tuple[str, str], list[MemoryItem]] = {}
    for item in items:
        apart = item.id if item.importance >= PRIORITIES["critical"] else item.type if item.type in _APART else ""
        kinds.setdefault((item.trust, apart), []).append(item)
    place = {item.id: n for n, item in enumerate(items)}
    groups = [group for alike in kinds.values() for group in group_by_tags(alike, threshold, common)]
    return sorted(groups, key=lambda group: place[group[0].id])


def group_by_tags(
    items: list[MemoryItem], threshold: float, common: Collection[str] = ()
) -> list[tuple[MemoryItem, ...]]:
    """Greedy groups in order: an item joins the first open group whose first item is alike enough."""
    topics = _Topics(items, threshold, common)
    holders: dict[str, list[int]] = defaultdict(list)
    for position, names in enumerate(topics.keys):
        for name in names:
            holders[name].append(position)
    taken = [False] * len(items)
    groups = []
    for first in range(len(items)):
        if taken[first]:
            continue
        near = sorted({p for name in topics.keys[first] for p in _open_after(holders, name, first, taken)})
        group = [first, *(p for p in near if topics.are_alike(first, p))]
        for position in group:
            taken[position] = True
        groups.append(tuple(items[position] for position in group))
    return groups


class _Topics:
    """The topics of items: tags and, under catch-all tags, words; and the keys by which those that may be alike are looked up.

    Two tag sets that are alike enough share one of the rarest tags of either (as many as could be missing, plus one), and
    two texts that are share rare words: a tag that everything carries brings nobody together for comparison.
    """

    def __init__(self, items: Sequence[MemoryItem], threshold: float, common: Collection[str]) -> None:
        self.threshold, self.named = threshold, {tag: frozenset(terms(tag)) for tag in common}
        self.tags = [frozenset(item.tags) for item in items]
        self.specific = [names.difference(common) for names in self.tags]
        carried = Counter(name for names in self.tags for name in names)
        self.telling = _telling_words(items) if common else [frozenset[str]()] * len(items)
        counts = Counter(word for words in self.telling for word in words)
        self.keys = [
            [
                *(name for name in _rarest(names, carried, threshold) if name not in common),
                *(f" {word}" for word in sorted(words, key=lambda word: (counts[word], word))[:_ASKED]),
                *(["\t".join(sorted(names))] if len(names) > 1 else []),
            ]
            for names, words in zip(self.tags, self.telling, strict=True)
        ]

    def are_alike(self, one: int, other: int) -> bool:
        """Returns whether two items have enough tags in common, not only a catch-all, or words as well."""
        tags = self.tags[one], self.tags[other]
        if likeness(*tags) <= self.threshold:
            return False
        if self.specific[one] and self.specific[other]:
            return not self.specific[one].isdisjoint(self.specific[other])
        if tags[0] == tags[1] and len(tags[0]) > 1:
            return True
        # Both must name a tag that they share, or have more in common than a word, the longer they are.
        shared = self.telling[one] & self.telling[other]
        need = max(_COMMON_WORDS, _COMMON_SHARE * min(len(self.telling[one]), len(self.telling[other])))
        return len(shared) >= need or any(self.named[tag] and self.named[tag] <= shared for tag in tags[0] & tags[1])


def _telling_words(items: Sequence[MemoryItem]) -> list[frozenset[str]]:
    """Returns the words of each item that neither too many of the others nor any number share."""
    telling = [frozenset(word for word in terms(body_of(item.content)) if not word[0].isdigit()) for item in items]
    held = Counter(word for words in telling for word in words)
    most = min(_HOLDERS, max(2 * _FEW, len(items) // 5))
    return [frozenset(word for word in words if held[word] <= most) for words in telling]


def _rarest(names: frozenset[str], carried: Counter[str], threshold: float) -> list[str]:
    """Returns the rarest tags of a set, of which any set that is alike enough has at least one among its own rarest."""
    ordered = sorted(names, key=lambda name: (carried[name], name))
    # More than threshold of the union, so more than that of this set.
    common = int(threshold * len(ordered)) + 1
    return ordered[: len(ordered) - common + 1]


def _open_after(holders: dict[str, list[int]], name: str, first: int, taken: list[bool]) -> list[int]:
    """Ungrouped holders of a tag behind `first`; the list is pruned on the way, so that it shrinks as groups form."""
    holders[name] = [p for p in holders[name] if not taken[p] and p > first]
    return holders[name]


def describe_group(group: Sequence[MemoryItem]) -> GroupKey:
    """Returns what the text of a group depends on: ids and contents."""
    return tuple((item.id, item.content) for item in group)


def _compress(group: tuple[MemoryItem, ...], mint: Callable[[], str], prose: Mapping[GroupKey, Prose]) -> MemoryItem:
    if len(group) == 1:
        return group[0]
    best = max(group, key=lambda item: item.importance)
    written = prose.get(describe_group(group))
    members: Counter[str] = sum((count_members(item) for item in group), Counter())
    text = written.text if written else join_contents(group)
    is_again = all(item.source == CONSOLIDATION for item in group)
    return MemoryItem(
        id=mint(),
        content=f"[Consolidated from {members.total()} memories] {text}",
        type=best.type,
        importance=best.importance,
        source=CONSOLIDATION,
        # Trust never rises by being summarized: the least trusted source decides.
        trust=lowest_trust(i.trust for i in group),
        tags=_tags_of(group, is_again),
        created_at=max(i.created_at for i in group),
        accessed_at=max(i.accessed_at for i in group),
        derived_from=tuple(_branches(group)) if is_again else tuple(i.id for i in group),
        extra=with_members(written.mark(()) if written else (), members),
    )


def _tags_of(group: Sequence[MemoryItem], is_again: bool) -> tuple[str, ...]:
    """Returns all tags of a group; a standing item gets those of the first and what others have in common, or it would soon
    have all. What tells something private is private."""
    carried = Counter(tag for item in group for tag in set(item.tags))
    return tuple(
        tag
        for tag in dict.fromkeys(t for i in group for t in i.tags)
        if not is_again or carried[tag] > 1 or tag in group[0].tags or tag.casefold() == PRIVATE
    )


def _branches(group: Sequence[MemoryItem]) -> Iterator[str]:
    """Yields the ids that a standing item derives from: the branches of the standing item before it, as long as they are few."""
    first, *others = group
    is_standing = sum(count_members(first).values()) > len(first.derived_from)
    grows = is_standing and len(first.derived_from) + len(others) <= _BRANCHES
    yield from first.derived_from if grows else (first.id,)
    yield from (item.id for item in others)
