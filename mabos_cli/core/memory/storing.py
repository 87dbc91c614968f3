"""Storing: how drafts become items, are graded, merged with what says the same, or linked to what is related; and which drafts
a model should be asked about."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from mabos_cli.core.language.clock import DAY, find_time, format_time
from mabos_cli.core.language.similar import WordIndex, says_the_same, word_set
from mabos_cli.core.memory.item import MemoryItem, Prose, grade, touch
from mabos_cli.core.memory.stores import Changes, Departure, Limits, Memory, Relatives, Words, tidy
from mabos_cli.core.memory.trust import TrustOf, lowered, lowest_trust, trust_of_item, trust_rank

# The text of a draft, and the id and text of the item that may be the same memory.
Pair = tuple[str, str, str]
# What a repetition may say differently about itself; then it is kept in the archive under an id of its own.
_ABOUT = (
    "type",
    "source",
    "trust",
    "author",
    "session",
    "observed_at",
    "derived_from",
    "related_to",
    "context",
    "expires_at",
)


class Draft(NamedTuple):
    """A memory that is to be stored: checked, but without id or grade."""

    item: MemoryItem
    store: str = "short_term"
    graded: bool = True
    redacted: tuple[str, ...] = ()  # kinds of secrets that were taken out of it


class Stored(NamedTuple):
    """What became of a draft."""

    item: MemoryItem
    store: str
    stored: bool = True
    deduplicated: bool = False
    graded: bool = False
    reworded: bool = False  # whether a model made one text of it and of what was there
    linked: tuple[str, ...] = ()  # what it was found to be related to

    @property
    def outcome(self) -> str:
        """new, linked to relatives, merged into what was there, or known before and not stored."""
        if not self.stored:
            return "known"
        return "merged" if self.deduplicated else "linked" if self.linked else "new"


class _Desk(NamedTuple):
    """Where drafts of one store command are worked on before they become changes."""

    memory: Memory
    working: list[MemoryItem]
    short_term: list[MemoryItem]
    put: dict[str, MemoryItem]
    archive: list[Departure]
    log: list[MemoryItem]
    near: WordIndex
    recent: dict[str, tuple[str, MemoryItem]]
    trust_of: TrustOf
    agreed: Mapping[Pair, Prose]

    def note(self, store: str, item: MemoryItem, text: Words) -> None:
        """Makes an item of the recent stores findable by its words."""
        self.recent[item.id] = (store, item)
        self.near.add(item.id, text)

    def long_term(self, item_id: str) -> MemoryItem | None:
        return self.put.get(item_id) or self.memory.long_term.find(item_id)


def plan_store(
    memory: Memory,
    drafts: list[Draft],
    *,
    now: datetime,
    mint: Callable[[], str],
    limits: Limits,
    relatives: Relatives | None = None,
    if_new: bool = False,
    trust_of: TrustOf = trust_of_item,
    agreed: Mapping[Pair, Prose] = MappingProxyType({}),
) -> tuple[Changes, list[Stored]]:
    """The changes that store the drafts, and what became of each. A draft is trusted no more than what it derives from.

    agreed has texts for drafts that are the same memory as an item, as long as that says what it said then.
    """
    recent, near = (list(memory.working), list(memory.short_term)), WordIndex(limits.related)
    desk = _Desk(memory, *recent, {}, [], [], near, {}, trust_of, agreed)
    drafts = [draft._replace(item=lowered(draft.item, trust_of(draft.item))) for draft in drafts]
    if if_new or not all(draft.graded for draft in drafts):
        for store in ("working", "short_term"):
            for item in getattr(memory, store):
                desk.note(store, item, word_set(item.content))
    results = [_store_one(desk, draft, now, mint, limits, relatives, if_new) for draft in drafts]
    changes = Changes(
        tuple(desk.working),
        tuple(desk.short_term),
        put=tuple(desk.put.values()),
        archive=tuple(desk.archive),
        log=tuple(desk.log),
    )
    tidied = tidy(changes, now, limits)
    gone = {away.item.id for away in tidied.archive if away.reason not in ("merged", "updated")}
    return tidied, [r._replace(store="archive") if r.stored and r.item.id in gone else r for r in results]


def _store_one(
    desk: _Desk,
    draft: Draft,
    now: datetime,
    mint: Callable[[], str],
    limits: Limits,
    relatives: Relatives | None,
    if_new: bool,
) -> Stored:
    text = word_set(draft.item.content)
    near = desk.near.find(text, limits.related)
    far = _far_relatives(desk, text, limits, relatives) if if_new or draft.store == "long_term" else []
    if if_new:
        recent = ((score, *desk.recent[item_id]) for score, item_id in near)
        twin = _find_twin(desk, draft.item, [*recent, *far], limits)
        if twin:
            return Stored(twin[1], twin[0], stored=False, deduplicated=True)
    item = _graded(draft, now, limits, recurring=bool(near))
    linked: list[str] = []
    if draft.store == "long_term":
        twin = _find_twin(desk, draft.item, far, limits)
        if twin:
            return _merge(desk, twin[1], item, now, mint)
        # One text is made of two that are trusted alike: neither may rewrite or pull down the other.
        alike = (old for _, _, old in far if trust_rank(desk.trust_of(old)) == trust_rank(item.trust))
        pairs = ((old, (item.content, old.id, old.content)) for old in alike)
        if same := next((old for old, pair in pairs if pair in desk.agreed), None):
            return _reword(desk, same, item, now, mint)
        linked = [relative.id for score, _, relative in far if score >= limits.related][:5]
        item = item._replace(related_to=tuple(dict.fromkeys((*item.related_to, *linked))))
    item = _stamped(item, now, mint)
    if draft.store == "long_term":
        desk.put[item.id] = item
        if relatives:
            relatives.add(item.id, text)
    else:
        (desk.working if draft.store == "working" else desk.short_term).append(item)
        desk.note(draft.store, item, text)
    desk.log.append(item)
    return Stored(item, draft.store, graded=not draft.graded, linked=tuple(linked))


def _far_relatives(
    desk: _Desk, text: Words, limits: Limits, relatives: Relatives | None
) -> list[tuple[float, str, MemoryItem]]:
    if relatives is None:
        return []
    found = ((score, desk.long_term(item_id)) for score, item_id in relatives.find(text, limits.related))
    return [(score, "long_term", item) for score, item in found if item is not None]


def _find_twin(
    desk: _Desk, item: MemoryItem, hits: list[tuple[float, str, MemoryItem]], limits: Limits
) -> tuple[str, MemoryItem] | None:
    """The store and item that says the same, or None: likeness alone is not enough when a number differs.

    What is trusted less than the item is no twin: whoever plants a text first must not make a better source vanish.
    """
    alike = [hit for hit in hits if hit[0] > limits.duplicate and says_the_same(item.content, hit[2].content)]
    least = trust_rank(item.trust)
    alike = [hit for hit in alike if trust_rank(desk.trust_of(hit[2])) >= least]
    return max(alike, key=lambda hit: hit[0])[1:] if alike else None


def _graded(draft: Draft, now: datetime, limits: Limits, recurring: bool) -> MemoryItem:
    if draft.graded:
        return draft.item
    return draft.item._replace(importance=grade(**signals_of(draft.item, now, limits, recurring)))


def signals_of(item: MemoryItem, now: datetime, limits: Limits, recurring: bool = False) -> dict[str, Any]:
    """What heuristic-v1 goes by to grade an item."""
    moment = find_time(item.happened_at)
    return {
        "content": item.content,
        "kind": item.type,
        "recurring": recurring or "recurring" in item.tags,
        "days": (now - moment).total_seconds() / DAY if moment else 0,
        "weights": dict(limits.grade_weights),
    }


def _stamped(item: MemoryItem, now: datetime, mint: Callable[[], str]) -> MemoryItem:
    """The item with what it lacks. Old notes that are taken in today count as used today, or they would leave unread."""
    at = format_time(now)
    created, used = item.created_at or at, item.accessed_at or at
    return item._replace(id=item.id or mint(), created_at=created, accessed_at=used)


def _joined(old: MemoryItem, item: MemoryItem) -> dict[str, Any]:
    """What an item and a repetition of it say about themselves together. The later date holds: none means for good."""
    related = dict.fromkeys(i for i in (*old.related_to, *item.related_to) if i != old.id)
    return {
        "importance": max(old.importance, item.importance),
        "tags": tuple(dict.fromkeys((*old.tags, *item.tags))),
        "related_to": tuple(related),
        "context": old.context or item.context,
        "expires_at": max(old.expires_at, item.expires_at) if old.expires_at and item.expires_at else "",
    }


def _merge(desk: _Desk, twin: MemoryItem, item: MemoryItem, now: datetime, mint: Callable[[], str]) -> Stored:
    """A near duplicate strengthens the item that is there; other wording is kept in the archive.

    One that is trusted less is counted, and has no other say.
    """
    at = format_time(now)
    merged = touch(twin, at)
    if trust_rank(item.trust) >= trust_rank(desk.trust_of(twin)):
        merged = merged._replace(**_joined(twin, item))
    desk.put[twin.id] = merged
    says_more = any(getattr(item, name) not in ("", (), getattr(merged, name)) for name in _ABOUT)
    if item.content != twin.content or says_more or item.id:
        away = _stamped(item, now, mint)
        desk.archive.append(Departure(away, "long_term", "merged", at, into=twin.id))
    return Stored(merged, "long_term", deduplicated=True)


def _reword(desk: _Desk, old: MemoryItem, item: MemoryItem, now: datetime, mint: Callable[[], str]) -> Stored:
    """The item that is there, in words that say the new one too; both go to the archive as they were."""
    at, away = format_time(now), _stamped(item, now, mint)
    prose = desk.agreed[item.content, old.id, old.content]
    lineage = dict.fromkeys((*old.derived_from, *item.derived_from, away.id))
    merged = touch(old, at)._replace(
        content=prose.text,
        trust=lowest_trust((desk.trust_of(old), item.trust)),
        derived_from=tuple(lineage),
        extra=prose.mark(old.extra),
        **_joined(old, item),
    )
    desk.put[old.id] = merged
    desk.archive.append(Departure(old, "long_term", "updated", at))
    desk.archive.append(Departure(away, "long_term", "merged", at, into=old.id))
    return Stored(merged, "long_term", deduplicated=True, reworded=True)


class Doubt(NamedTuple):
    """A text that is to be stored, and the item that may say the same."""

    content: str
    item: MemoryItem

    @property
    def pair(self) -> Pair:
        return self.content, self.item.id, self.item.content


def find_doubts(
    memory: Memory, drafts: Iterable[Draft], limits: Limits, relatives: Relatives, trust_of: TrustOf
) -> list[Doubt]:
    """For each draft for long-term memory the most alike item of which likeness alone cannot tell, if there is one.

    Only what is trusted alike may become one, and what a person vouched for stays word for word.
    """
    from mabos_cli.core.language.similar import may_be_one  # late: only a store with a model asks

    found = []
    for draft in drafts:
        content, trust = draft.item.content, trust_of(draft.item)
        if draft.store != "long_term" or trust == "trusted":
            continue
        hits = relatives.find(word_set(content), limits.related)
        near = [(score, item) for score, item_id in hits if (item := memory.long_term.find(item_id))]
        if any(score > limits.duplicate and says_the_same(content, item.content) for score, item in near):
            continue  # these merge without a question
        doubts = (
            item
            for score, item in near
            if trust_of(item) == trust and may_be_one(content, item.content, score > limits.duplicate)
        )
        if item := next(doubts, None):
            found.append(Doubt(content, item))
    return found
