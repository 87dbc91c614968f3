"""Storing: how drafts become items, are graded, merged with what says the same, or linked to what is related."""

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from mabos_cli.core.clock import format_time, parse_time
from mabos_cli.core.grade import grade
from mabos_cli.core.item import MemoryItem, touch
from mabos_cli.core.similar import WordIndex, says_the_same, word_set
from mabos_cli.core.stores import Changes, Departure, Limits, Memory, Relatives, Words, tidy


class Draft(NamedTuple):
    """A memory that is to be stored: checked, but without id or grade."""

    item: MemoryItem
    store: str = "short_term"
    graded: bool = True


class Stored(NamedTuple):
    """What became of a draft."""

    item: MemoryItem
    store: str
    stored: bool = True
    deduplicated: bool = False
    graded: bool = False


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
) -> tuple[Changes, list[Stored]]:
    """The changes that store the drafts, and what became of each."""
    desk = _Desk(
        memory, list(memory.working), list(memory.short_term), {}, [], [], WordIndex(limits.related), {}
    )
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
    gone = {departure.item.id for departure in tidied.archive if departure.reason != "merged"}
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
        twin = _find_twin(draft.item.content, [*recent, *far], limits)
        if twin:
            return Stored(twin[1], twin[0], stored=False, deduplicated=True)
    item = _graded(draft, now, limits, recurring=bool(near))
    if draft.store == "long_term":
        twin = _find_twin(draft.item.content, far, limits)
        if twin:
            return _merge(desk, twin[1], item, now, mint)
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
    return Stored(item, draft.store, graded=not draft.graded)


def _far_relatives(
    desk: _Desk, text: Words, limits: Limits, relatives: Relatives | None
) -> list[tuple[float, str, MemoryItem]]:
    if relatives is None:
        return []
    found = ((score, desk.long_term(item_id)) for score, item_id in relatives.find(text, limits.related))
    return [(score, "long_term", item) for score, item in found if item is not None]


def _find_twin(
    content: str, hits: list[tuple[float, str, MemoryItem]], limits: Limits
) -> tuple[str, MemoryItem] | None:
    """The store and item that says the same, or None: likeness alone is not enough when a number differs."""
    alike = [hit for hit in hits if hit[0] > limits.duplicate and says_the_same(content, hit[2].content)]
    return max(alike, key=lambda hit: hit[0])[1:] if alike else None


def _graded(draft: Draft, now: datetime, limits: Limits, recurring: bool) -> MemoryItem:
    if draft.graded:
        return draft.item
    item = draft.item
    age = (now - parse_time(item.happened_at)).total_seconds() / 86400 if item.happened_at else 0
    recurring = recurring or "recurring" in item.tags
    score = grade(item.content, item.type, recurring=recurring, days=age, weights=dict(limits.grade_weights))
    return item._replace(importance=score)


def _stamped(item: MemoryItem, now: datetime, mint: Callable[[], str]) -> MemoryItem:
    created = item.created_at or format_time(now)
    return item._replace(id=item.id or mint(), created_at=created, accessed_at=item.accessed_at or created)


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
)


def _merge(desk: _Desk, twin: MemoryItem, item: MemoryItem, now: datetime, mint: Callable[[], str]) -> Stored:
    """A near duplicate strengthens the item that is there; other wording is kept in the archive."""
    at = format_time(now)
    merged = touch(twin, at)._replace(
        importance=max(twin.importance, item.importance),
        tags=tuple(dict.fromkeys((*twin.tags, *item.tags))),
    )
    desk.put[twin.id] = merged
    says_more = any(getattr(item, name) not in ("", (), getattr(twin, name)) for name in _ABOUT)
    if item.content != twin.content or says_more or item.id:
        away = _stamped(item, now, mint)
        desk.archive.append(Departure(away, "long_term", "merged", at, into=twin.id))
    return Stored(merged, "long_term", deduplicated=True)
