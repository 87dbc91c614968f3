"""The three stores and how items enter, move between and leave them. Nothing leaves without a departure record."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import find_time, format_time, parse_time
from mabos_cli.core.memory.item import WEIGHTS, MemoryItem, has_expired, touch, with_importance
from mabos_cli.core.memory.trust import TrustOf, lowered
from mabos_cli.core.records import NamedTuple

Words = frozenset[str]
# How far a search goes: what is loaded; also what expired, was evicted or was unused; also what was replaced by another
# item (merged, consolidated, superseded), which a timeline shows; also what somebody forgot.
LIVE, FINDABLE, REPLACED, EVERYTHING = range(4)

# What waits, as people call it where its name does not say it, and the command that does it.
DUE_NAMES = {"to_consolidate": "to consolidate", "observations": "to harvest", "journalled_uses": "uses to count in"}
DUE_COMMANDS = {
    "to_consolidate": "mabos consolidate",
    "observations": "mabos harvest",
    "expired": "mabos lifecycle run",
}


class LongTerm(Protocol):
    """Long-term memory, decoded only as far as somebody looks. The workspace fills it in."""

    def find(self, item_id: str) -> MemoryItem | None: ...

    def __iter__(self) -> Iterator[MemoryItem]: ...

    def __len__(self) -> int: ...


class Relatives(Protocol):
    """Finds long-term items that share most of their words with a text, and short ones that may be about the same. An
    index fills it in."""

    def find(self, text: Words, threshold: float) -> list[tuple[float, str]]: ...

    def about(self, text: Words, least: float) -> list[tuple[float, str]]: ...

    def add(self, item_id: str, text: Words) -> None: ...


class Draft(NamedTuple):
    """A memory that is to be stored: checked, but without id or grade."""

    item: MemoryItem
    store: str = "short_term"
    graded: bool = True
    redacted: tuple[str, ...] = ()  # kinds of secrets that were taken out of it
    vouched_by: str = ""  # the person by whose word it is trusted more than its source is


class Memory(NamedTuple):
    """Holds what one agent remembers now."""

    working: tuple[MemoryItem, ...]
    short_term: tuple[MemoryItem, ...]
    long_term: LongTerm


class Departure(NamedTuple):
    """An item, or an earlier version of it, that left its store: for the archive."""

    item: MemoryItem
    store: str
    reason: str
    at: str
    into: str = ""


def reach_of(reason: str) -> int:
    """Returns how far a search must go to show an item that was archived for a reason; the reason is empty while it is live.

    >>> [reach_of(reason) for reason in ("", "expired", "unused: 40 days", "superseded", "forgotten: moved")]
    [0, 1, 1, 2, 3]
    """
    word = reason.partition(":")[0]
    if word in ("expired", "evicted", "unused"):
        return FINDABLE
    return (EVERYTHING if word == "forgotten" else REPLACED) if word else LIVE


class Changes(NamedTuple):
    """Holds what a command wants written. working and short_term are the new contents; the rest are differences.

    tally is what the receipt counts instead of naming ids, for a command that touches very many. batches are kept in the store as
    they are: how many lines of which batches are stored that are not through; None leaves them.
    """

    working: tuple[MemoryItem, ...]
    short_term: tuple[MemoryItem, ...]
    put: tuple[MemoryItem, ...] = ()
    drop: tuple[str, ...] = ()
    archive: tuple[Departure, ...] = ()
    log: tuple[MemoryItem, ...] = ()
    promoted: tuple[MemoryItem, ...] = ()
    tally: tuple[tuple[str, int], ...] = ()
    batches: Mapping[str, int] | None = None


class Limits(NamedTuple):
    """The numbers that govern the stores; the settings fill them in."""

    working: int = 7
    short_term: int = 200
    ttl_seconds: float = 7200
    min_importance: float = 0.6
    min_access: int = 2
    duplicate: float = 0.9
    related: float = 0.7
    grade_weights: tuple[tuple[str, float], ...] = tuple(WEIGHTS.items())


def qualifies(item: MemoryItem, store: str, limits: Limits) -> bool:
    """Returns whether consolidation would take the item."""
    used = store == "short_term" and item.access_count >= limits.min_access
    return store != "long_term" and (item.importance >= limits.min_importance or used)


def is_expired(item: MemoryItem, store: str, now: str, limits: Limits) -> bool:
    """Returns whether the item's own date has passed, or its time in short-term memory is over and nothing waits for it."""
    if has_expired(item, now):
        return True
    if store != "short_term" or qualifies(item, store, limits):
        return False
    created = find_time(item.created_at)
    if created is None:  # undated, as other tools may write: nothing says that its time is over
        return False
    return (parse_time(now) - created).total_seconds() > limits.ttl_seconds


def tidy(changes: Changes, now: datetime, limits: Limits) -> Changes:
    """Returns the changes with expiry and capacity applied: working overflows into short_term, short_term into the archive."""
    at = format_time(now)
    gone: list[Departure] = []

    def keep_fresh(items: tuple[MemoryItem, ...], store: str) -> list[MemoryItem]:
        stale = {item.id for item in items if is_expired(item, store, at, limits)}
        gone.extend(Departure(item, store, "expired", at) for item in items if item.id in stale)
        return [item for item in items if item.id not in stale]

    working = keep_fresh(changes.working, "working")
    demoted = _overflow(working, limits.working, lambda item: (item.touched_at, item.id))
    short_term = keep_fresh((*changes.short_term, *demoted), "short_term")
    evicted = _overflow(short_term, limits.short_term, lambda item: (item.importance, item.created_at, item.id))
    gone.extend(Departure(item, "short_term", "evicted", at) for item in evicted)
    return changes._replace(
        working=_without(working, demoted), short_term=_without(short_term, evicted), archive=(*changes.archive, *gone)
    )


def _overflow(
    items: list[MemoryItem], capacity: int, key: Callable[[MemoryItem], tuple[str | float, ...]]
) -> list[MemoryItem]:
    """Returns the items that must go, lowest key first, for the rest to fit."""
    return sorted(items, key=key)[: max(0, len(items) - capacity)]


def _without(items: list[MemoryItem], gone: list[MemoryItem]) -> tuple[MemoryItem, ...]:
    ids = {item.id for item in gone}
    return tuple(item for item in items if item.id not in ids)


def join(first: Changes, then: Changes) -> Changes:
    """Two changes, the second planned on the outcome of the first, as one."""
    put = {item.id: item for item in (*first.put, *then.put)}
    for item_id in then.drop:
        put.pop(item_id, None)
    return Changes(
        then.working,
        then.short_term,
        tuple(put.values()),
        (*first.drop, *then.drop),
        (*first.archive, *then.archive),
        (*first.log, *then.log),
        (*first.promoted, *then.promoted),
        (*first.tally, *then.tally),
        then.batches,
    )


def new_texts(memory: Memory, changes: Changes, issued: set[str]) -> Iterator[str]:
    """Yields the texts of items that are new, their ids just issued, or that say something else than before. What waited in the
    queue, and what comes back from the archive, was looked at when it was stored first."""
    known = {item.id: item for item in (*memory.working, *memory.short_term)}
    for item in (*changes.working, *changes.short_term, *changes.put):
        old = known.get(item.id) or (None if item.id in issued else memory.long_term.find(item.id))
        if item.id in issued or (old and _texts_of(old) != _texts_of(item)):
            yield "\n".join(_texts_of(item))


def _texts_of(item: MemoryItem) -> tuple[str, ...]:
    return (item.content, item.context, item.author, item.session, item.source, *item.tags)


def locate(memory: Memory, item_id: str) -> tuple[str, MemoryItem] | None:
    """Returns the store and the live item with this id."""
    for store in ("working", "short_term"):
        for item in getattr(memory, store):
            if item.id == item_id:
                return store, item
    item = memory.long_term.find(item_id)
    return ("long_term", item) if item else None


def put_item(memory: Memory, store: str, item: MemoryItem, archive: tuple[Departure, ...] = ()) -> Changes:
    """Returns the changes that put an item into a store, replacing the one with its id wherever it is."""
    taken = take_item(memory, item.id)
    if store == "long_term":
        return taken._replace(put=(item,), drop=(), archive=archive)
    spot = next((i for i, old in enumerate(getattr(memory, store)) if old.id == item.id), None)
    items = list(getattr(taken, store))
    items.insert(len(items) if spot is None else spot, item)
    held: dict[str, Any] = {store: tuple(items)}
    return taken._replace(archive=archive, **held)


def take_item(memory: Memory, item_id: str, archive: tuple[Departure, ...] = ()) -> Changes:
    """Returns the changes that take an item out of whichever store holds it."""
    working = tuple(item for item in memory.working if item.id != item_id)
    short_term = tuple(item for item in memory.short_term if item.id != item_id)
    moved = len(working) + len(short_term) < len(memory.working) + len(memory.short_term)
    return Changes(working, short_term, drop=() if moved else (item_id,), archive=archive)


def plan_update(
    memory: Memory,
    item_id: str,
    fields: dict[str, Any],
    *,
    now: datetime,
    limits: Limits = Limits(),
    store: str = "",
    keep_version: bool = True,
    trust_of: TrustOf | None = None,
    reason: str = "updated",
) -> tuple[Changes, MemoryItem, str] | None:
    """Returns the changes that edit an item; the version before goes to the archive. None when it is not live.

    With trust_of, a new text is trusted no more than that says: who vouched for the old one did not see it.
    """
    found = locate(memory, item_id)
    if not found:
        return None
    here, item = found
    edited = item._replace(**fields)
    if "importance" in fields:
        edited = with_importance(edited, fields["importance"])
    if trust_of and edited.content != item.content:
        edited = lowered(edited, trust_of(edited))
    target = store or here
    if edited == item and target == here:
        return Changes(memory.working, memory.short_term), item, here
    if target != here and is_expired(edited._replace(expires_at=""), target, format_time(now), limits):
        raise BadValue(f"{item_id} is too old for {target}: it would be archived at once", "move it to long_term")
    before = (Departure(item, here, reason, format_time(now)),) if keep_version and edited != item else ()
    edited = touch(edited, format_time(now), 0)  # whoever edits an item has use for it
    changes = put_item(memory, target, edited, before)
    if here == "long_term" and target != here:
        changes = changes._replace(drop=(item_id,))
    return tidy(changes, now, limits), edited, target


def plan_forget(memory: Memory, item: MemoryItem, store: str, reason: str, *, now: datetime) -> Changes:
    """Returns the changes that put an item out of sight, whether it is live or was archived before."""
    away = Departure(item, store, "forgotten" + (f": {reason}" if reason else ""), format_time(now))
    if locate(memory, item.id):
        return take_item(memory, item.id, (away,))
    return Changes(memory.working, memory.short_term, archive=(away,))


def plan_revive(
    memory: Memory,
    item: MemoryItem,
    store: str,
    *,
    now: datetime,
    limits: Limits = Limits(),
    trust_of: TrustOf | None = None,
) -> tuple[Changes, tuple[MemoryItem, str]]:
    """Returns the changes that bring an archived item back, and where it is then: long-term if its short-term life is over."""
    if locate(memory, item.id):
        raise BadValue(f"{item.id} is not archived", "it is live already: mabos get " + item.id)
    at = format_time(now)
    alive = touch(item, at, 0)._replace(expires_at="", superseded_by="")
    alive = lowered(alive, trust_of(alive)) if trust_of else alive
    target = "long_term" if is_expired(alive, store, at, limits) else store
    changes = put_item(memory, target, alive)
    if newer := locate(memory, item.superseded_by) if item.superseded_by else None:
        changes = _unlink(changes, *newer, item.id)
    return tidy(changes, now, limits), (alive, target)


def _unlink(changes: Changes, store: str, item: MemoryItem, old_id: str) -> Changes:
    """Returns the changes with an item that no longer supersedes another: they are only related."""
    left = tuple(each for each in item.supersedes if each != old_id)
    item = item._replace(supersedes=left, related_to=tuple(dict.fromkeys((*item.related_to, old_id))))
    if store == "long_term":
        return changes._replace(put=(*changes.put, item))
    held = tuple(item if each.id == item.id else each for each in getattr(changes, store))
    return changes._replace(working=held) if store == "working" else changes._replace(short_term=held)


def supersede(
    changes: Changes, newer: str, olds: Sequence[tuple[str, MemoryItem]], at: str, live: frozenset[str]
) -> Changes:
    """Returns the changes with items, in their stores, out of the way of a newer one: archived, with a link to it. Of those
    that are not live, only that is noted."""
    ids = {item.id for _, item in olds}
    away = (Departure(item._replace(superseded_by=newer), store, "superseded", at, newer) for store, item in olds)
    return changes._replace(
        working=tuple(item for item in changes.working if item.id not in ids),
        short_term=tuple(item for item in changes.short_term if item.id not in ids),
        put=tuple(item for item in changes.put if item.id not in ids),
        drop=(*changes.drop, *(item.id for store, item in olds if store == "long_term" and item.id in live)),
        archive=(*changes.archive, *away),
    )
