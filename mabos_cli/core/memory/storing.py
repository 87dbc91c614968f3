"""Storing: how drafts become items, are graded, merged with what says the same, take the place of what they update, or are
linked to what is related; and which drafts a model should be asked about."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.similar import (
    LONGEST_STATEMENT,
    SubjectIndex,
    WordIndex,
    may_update,
    mentions_change,
    repeats,
    word_set,
)
from mabos_cli.core.memory.item import HAPPENED, MemoryItem, Prose, grade, touch
from mabos_cli.core.memory.stores import Changes, Departure, Draft, Limits, Memory, Relatives, Words, tidy
from mabos_cli.core.memory.trust import TrustOf, lowered, lowest_trust, trust_of_item, trust_rank
from mabos_cli.core.records import NamedTuple

# The text of a draft, and the id and text of the item that may be the same memory.
Pair = tuple[str, str, str]
# What a repetition may say differently about itself; then it is kept in the archive under an id of its own.
_ASKED = 3  # statements about the same that a model may be asked about
_UNASKED = Prose("", "")
_ALIKE = (0.2, 0.1)  # likeness of what two statements are about; less if the newer one tells of a change
_LOOKED_AT = 10  # statements that a draft is compared with
_ABOUT = "type source trust author session observed_at derived_from related_to context expires_at".split()


class Stored(NamedTuple):
    """Holds the outcome of storing a draft."""

    item: MemoryItem
    store: str
    stored: bool = True
    deduplicated: bool = False
    graded: bool = False
    reworded: bool = False  # whether a model made one text of it and of what was there
    linked: tuple[str, ...] = ()  # what it was found to be related to
    replaced: tuple[MemoryItem, ...] = ()  # what it supersedes

    @property
    def outcome(self) -> str:
        """new, linked to relatives, superseding or merged into what was there, or known before and not stored."""
        if not self.stored:
            return "known"
        if self.replaced:
            return "supersedes"
        return "merged" if self.deduplicated else "linked" if self.linked else "new"


def plan_store(
    memory: Memory,
    drafts: Sequence[Draft],
    *,
    now: datetime,
    mint: Callable[[], str],
    limits: Limits,
    relatives: Relatives | None = None,
    if_new: bool = False,
    trust_of: TrustOf = trust_of_item,
    agreed: Mapping[Pair, Prose | None] = MappingProxyType({}),
) -> tuple[Changes, list[Stored]]:
    """Returns the changes that store the drafts, and the outcome for each. A draft is trusted no more than its source and what
    it derives from, unless a person vouches for it.

    agreed has texts for drafts that are the same memory as an item, and None for those that are newer, as long as the item
    says what it said then.
    """
    storing = _Storing(memory, now, mint, limits, relatives, trust_of, agreed)
    if if_new or not all(draft.graded and draft.item.type in HAPPENED for draft in drafts):
        for store in ("working", "short_term"):
            for item in getattr(memory, store):
                storing.note(store, item, word_set(item.content))
    results = []
    for draft in drafts:
        if not draft.vouched_by:
            draft = draft._replace(item=lowered(draft.item, trust_of(draft.item)))
        results.append(storing.store(draft, if_new))
    tidied = tidy(storing.changes(), now, limits)
    gone = {away.item.id for away in tidied.archive if away.reason not in ("merged", "updated")}
    return tidied, [r._replace(store="archive") if r.stored and r.item.id in gone else r for r in results]


class _Storing:
    """The stores as drafts go into them one after the other, before that becomes changes."""

    def __init__(
        self,
        memory: Memory,
        now: datetime,
        mint: Callable[[], str],
        limits: Limits,
        relatives: Relatives | None,
        trust_of: TrustOf,
        agreed: Mapping[Pair, Prose | None],
    ) -> None:
        self._memory, self._now, self._mint, self._limits = memory, now, mint, limits
        self._relatives, self._trust_of, self._agreed = relatives, trust_of, agreed
        self._recent = {"working": list(memory.working), "short_term": list(memory.short_term)}
        self._put: dict[str, MemoryItem] = {}
        self._archive: list[Departure] = []
        self._log: list[MemoryItem] = []
        # Items of the recent stores, found by their words.
        self._near, self._statements = WordIndex(limits.related), SubjectIndex()
        self._places: dict[str, tuple[str, MemoryItem]] = {}
        self._dropped: list[str] = []

    def changes(self) -> Changes:
        """Returns the changes to the stores."""
        working, short_term = (tuple(items) for items in self._recent.values())
        put, drop = tuple(self._put.values()), tuple(self._dropped)
        return Changes(working, short_term, put, drop, tuple(self._archive), tuple(self._log))

    def note(self, store: str, item: MemoryItem, text: Words) -> None:
        """Makes an item of the recent stores findable by its words."""
        self._places[item.id] = (store, item)
        self._near.add(item.id, text)
        self._statements.add(item.id, text)

    def store(self, draft: Draft, if_new: bool) -> Stored:
        """Stores a draft, merges it with what says the same, puts it in the place of what it updates, or links it to its
        relatives."""
        text, limits = word_set(draft.item.content), self._limits
        replaced = self._find_replaced(draft.item, text)
        if any(store == "long_term" for store, _ in replaced):
            draft = draft._replace(store="long_term")
        is_lasting = draft.store == "long_term"
        near = self._near.find(text, limits.related)
        far = self._find_far(text) if if_new or is_lasting else []
        if if_new:
            recent = ((score, *self._places[item_id]) for score, item_id in near if item_id in self._places)
            if twin := self._find_twin(draft.item, [*recent, *far]):
                return Stored(twin[1], twin[0], stored=False, deduplicated=True)
        item = draft.item
        if not draft.graded:
            item = item._replace(importance=grade(**signals_of(item, limits, recurring=bool(near))))
        linked: list[str] = []
        if is_lasting:
            if twin := self._find_twin(draft.item, far):
                return self._merge(twin[1], item)
            # One text is made of two that are trusted alike: neither may rewrite or pull down the other.
            alike = (old for _, _, old in far if trust_rank(self._trust_of(old)) == trust_rank(item.trust))
            texts = ((old, self._agreed.get((item.content, old.id, old.content))) for old in alike)
            if same := next(((old, prose) for old, prose in texts if prose), None):
                return self._reword(*same, item)
            gone = {old.id for _, old in replaced}
            linked = [relative.id for _, _, relative in far if relative.id not in gone][:5]
            item = item._replace(related_to=tuple(dict.fromkeys((*item.related_to, *linked))))
        item = self._stamped(item)
        if replaced:
            item = _in_place_of([old for _, old in replaced], item, is_graded=draft.graded)
            self._remove(replaced, item.id)
        if is_lasting:
            self._put[item.id] = item
            self._statements.add(item.id, text)
            if self._relatives:
                self._relatives.add(item.id, text)
        else:
            self._recent[draft.store].append(item)
            self.note(draft.store, item, text)
        self._log.append(item)
        older = tuple(old for _, old in replaced)
        return Stored(item, draft.store, graded=not draft.graded, linked=tuple(linked), replaced=older)

    def _find_replaced(self, item: MemoryItem, text: Words) -> list[tuple[str, MemoryItem]]:
        """Returns the items, with their stores, of whose subject the draft says something newer.

        An untrusted text takes no trusted one's place, and what was observed earlier no later one's.
        """
        if item.type in HAPPENED or (len(item.content) > LONGEST_STATEMENT and not self._agreed):
            return []
        is_change = mentions_change(item.content)
        least = _ALIKE[is_change]
        hits = [*self._statements.find(text, least), *(self._relatives.about(text, least) if self._relatives else ())]
        near = sorted({hit for hit in hits if hit[0] >= least}, key=lambda hit: (-hit[0], hit[1]))
        found, at, rank = [], item.happened_at or format_time(self._now), trust_rank(item.trust)
        for _, item_id in near[:_LOOKED_AT]:
            place = self._locate(item_id)
            if not place or place[1].type in HAPPENED or place[1].happened_at > at:
                continue
            if self._is_updated(place[1], item, is_change) and trust_rank(self._trust_of(place[1])) <= rank:
                found.append(place)
        return found

    def _is_updated(self, old: MemoryItem, item: MemoryItem, is_change: bool) -> bool:
        """Returns whether the later of two items says something else of the same."""
        pair = (item.content, old.id, old.content)
        if pair in self._agreed or not may_update(old.content, item.content, is_change):
            return self._agreed.get(pair, _UNASKED) is None
        from mabos_cli.core.mind.claims.updates import find_update  # late: it loads tables of words

        measured = "observation" in (old.type, item.type)
        return bool(find_update(old.content, item.content, measured=measured))

    def _locate(self, item_id: str) -> tuple[str, MemoryItem] | None:
        """Returns the store and item with an id, as things are by now."""
        if item_id in self._places:
            return self._places[item_id]
        item = self._put.get(item_id) or (
            self._memory.long_term.find(item_id) if item_id not in self._dropped else None
        )
        return ("long_term", item) if item else None

    def _remove(self, replaced: list[tuple[str, MemoryItem]], by: str) -> None:
        """Takes items out of their stores, for the archive."""
        at = format_time(self._now)
        for store, item in replaced:
            if store == "long_term":
                self._put.pop(item.id, None)
                self._dropped.append(item.id)
            else:
                self._recent[store] = [each for each in self._recent[store] if each.id != item.id]
                self._places.pop(item.id, None)
            self._archive.append(Departure(item._replace(superseded_by=by), store, "superseded", at, into=by))

    def _find_far(self, text: Words) -> list[tuple[float, str, MemoryItem]]:
        """Returns long-term items that share most of their words with a text, each with its likeness."""
        hits = self._relatives.find(text, self._limits.related) if self._relatives else ()
        found = ((score, self._locate(item_id)) for score, item_id in hits)
        return [(score, *place) for score, place in found if place and place[0] == "long_term"]

    def _find_twin(self, item: MemoryItem, hits: list[tuple[float, str, MemoryItem]]) -> tuple[str, MemoryItem] | None:
        """Returns the store and item that says the same in the same order, or None.

        What is trusted less than the item is no twin: whoever plants a text first must not make a better source vanish.
        """
        least = trust_rank(item.trust)
        alike = (hit for hit in hits if repeats(item.content, hit[2].content))
        return next((hit[1:] for hit in alike if trust_rank(self._trust_of(hit[2])) >= least), None)

    def _stamped(self, item: MemoryItem) -> MemoryItem:
        """Returns the item with what it lacks. Old notes that are taken in today count as used today, or they would leave unread."""
        at = format_time(self._now)
        created, used = item.created_at or at, item.accessed_at or at
        return item._replace(id=item.id or self._mint(), created_at=created, accessed_at=used)

    def _merge(self, twin: MemoryItem, item: MemoryItem) -> Stored:
        """Strengthens the item that is there by a near duplicate; other wording is kept in the archive.

        One that is trusted less is counted, and has no other say.
        """
        at = format_time(self._now)
        merged = touch(twin, at)
        if trust_rank(item.trust) >= trust_rank(self._trust_of(twin)):
            merged = merged._replace(**_joined(twin, item))
        self._put[twin.id] = merged
        says_more = any(getattr(item, name) not in ("", (), getattr(merged, name)) for name in _ABOUT)
        if item.content != twin.content or says_more or item.id:
            self._archive.append(Departure(self._stamped(item), "long_term", "merged", at, into=twin.id))
        return Stored(merged, "long_term", deduplicated=True)

    def _reword(self, old: MemoryItem, prose: Prose, item: MemoryItem) -> Stored:
        """Puts the item that is there in words that say the new one too; both go to the archive as they were."""
        at, away = format_time(self._now), self._stamped(item)
        merged = touch(old, at)._replace(
            content=prose.text,
            trust=lowest_trust((self._trust_of(old), item.trust)),
            derived_from=tuple(dict.fromkeys((*old.derived_from, *item.derived_from, away.id))),
            extra=prose.mark(old.extra),
            **_joined(old, item),
        )
        self._put[old.id] = merged
        self._archive.append(Departure(old, "long_term", "updated", at))
        self._archive.append(Departure(away, "long_term", "merged", at, into=old.id))
        return Stored(merged, "long_term", deduplicated=True, reworded=True)


def _in_place_of(replaced: list[MemoryItem], item: MemoryItem, *, is_graded: bool) -> MemoryItem:
    """Returns the item with what it takes over from those it supersedes: their tags, and where nobody said otherwise what
    kind of thing they were and how important."""
    kinds = [old.type for old in replaced if old.type != "observation"] if item.type == "observation" else []
    return item._replace(
        type=(*kinds, item.type)[0],
        tags=tuple(dict.fromkeys((*item.tags, *(tag for old in replaced for tag in old.tags)))),
        importance=item.importance if is_graded else max(item.importance, *(old.importance for old in replaced)),
        supersedes=tuple(dict.fromkeys((*item.supersedes, *(old.id for old in replaced)))),
    )


def signals_of(item: MemoryItem, limits: Limits, recurring: bool = False) -> dict[str, Any]:
    """Returns what heuristic-v1 goes by to grade an item."""
    return {
        "content": item.content,
        "kind": item.type,
        "recurring": recurring or "recurring" in item.tags,
        "weights": dict(limits.grade_weights),
    }


def _joined(old: MemoryItem, item: MemoryItem) -> dict[str, Any]:
    """Returns what an item and a repetition of it say about themselves together. The later date holds: none means for good."""
    related = dict.fromkeys(i for i in (*old.related_to, *item.related_to) if i != old.id)
    return {
        "importance": max(old.importance, item.importance),
        "tags": tuple(dict.fromkeys((*old.tags, *item.tags))),
        "related_to": tuple(related),
        "context": old.context or item.context,
        "expires_at": max(old.expires_at, item.expires_at) if old.expires_at and item.expires_at else "",
    }


class Doubt(NamedTuple):
    """A text that is to be stored, and the item that may say the same, or, if that cannot be, what was so before."""

    content: str
    item: MemoryItem
    can_be_same: bool = True

    @property
    def pair(self) -> Pair:
        return self.content, self.item.id, self.item.content


def find_doubts(
    memory: Memory, drafts: Iterable[Draft], limits: Limits, relatives: Relatives, trust_of: TrustOf
) -> list[Doubt]:
    """For each draft for long-term memory the most alike item of which words alone cannot tell whether it is the same or was so
    before, if there is one.

    Only what is trusted alike may become one, and what a person vouched for stays word for word.
    """
    from mabos_cli.core.language.similar import may_be_one  # late: only a store with a model asks
    from mabos_cli.core.mind.claims.updates import find_update

    found = []
    for draft in drafts:
        content, trust = draft.item.content, trust_of(draft.item)
        if draft.store != "long_term" or trust == "trusted":
            continue
        text = word_set(content)
        near, about = relatives.find(text, limits.related), relatives.about(text, 0)[:_ASKED]
        hits = [(score, item) for score, item_id in near if (item := memory.long_term.find(item_id))]
        if any(repeats(content, item.content) for _, item in hits):
            continue  # these merge without a question
        doubts = [
            Doubt(content, old) for score, old in hits if may_be_one(content, old.content, score > limits.duplicate)
        ]
        if draft.item.type not in HAPPENED:
            olds = (memory.long_term.find(item_id) for _, item_id in about)
            before = (old for old in olds if old and old.type not in HAPPENED and not find_update(old.content, content))
            doubts += [Doubt(content, old, can_be_same=False) for old in before]
        found += [doubt for doubt in doubts if trust_of(doubt.item) == trust][:1]
    return found
