"""Finds candidates and refines questions over any search. Without an index, terms are counted here."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from mabos_cli.core.language.periods import LEVELS, is_summary
from mabos_cli.core.language.similar import likeness, word_set
from mabos_cli.core.language.text import asked_words, one_line, stem, stems, token_cost, words
from mabos_cli.core.memory.item import MemoryItem, has_expired, types_of
from mabos_cli.core.memory.trust import lowest_trust, trust_of_file, trust_rank
from mabos_cli.core.records import NamedTuple
from mabos_cli.core.search.scoring import AWAY

_RETOLD = 60  # leading characters by which a text is known again where a line of a summary cuts it
_LEAST_RETOLD = 20  # shorter lines are alike by chance
_SAME = 0.8  # likeness from which on two texts say the same
_CROWDED = 0.005  # what each hit of a session or file takes from the next one of it, where many things are asked for
_RELEVANT = 0.3  # share of the best relevance that is still about the thing
_LEAST = 0.3  # weight of what even the weakest of the followed hits leads to


class Candidate(NamedTuple):
    """Something that can be recalled: a memory item, or a passage of a file (then path and lines say where)."""

    text: str
    importance: float
    at: str
    item: MemoryItem | None = None
    store: str = ""
    archived: str = ""  # why it is no longer loaded
    path: str = ""
    lines: tuple[int, int] = (0, 0)
    agent: str = ""  # another agent's, when memory is shared
    was: tuple[tuple[str, str], ...] = ()  # ids and texts of what it supersedes
    newer: str = ""  # what says something newer of the same
    marked: str = ""  # how far a passage is trusted, when its text says it or it repeats an item
    by: str = ""  # who said a passage

    @property
    def ref(self) -> str:
        place = self.item.id if self.item else f"{self.path}:{self.lines[0]}-{self.lines[1]}"
        return f"{self.agent}/{place}" if self.agent else place

    @property
    def author(self) -> str:
        """Who said it, if that is known."""
        return self.item.author if self.item else self.by

    @property
    def trust(self) -> str:
        """Returns how far it is trusted: as its item says, or as far as its file is, unless it is marked as less."""
        if self.item:
            return self.item.trust
        return lowest_trust((trust_of_file(self.path), self.marked or "trusted"))


def candidate_of(item: MemoryItem, store: str, archived: str = "", agent: str = "") -> Candidate:
    """Returns the candidate of a memory item."""
    return Candidate(item.content, item.importance, item.happened_at, item, store, archived, agent=agent)


class Hit(NamedTuple):
    """A candidate with its score, the depth at which it first appeared and the terms that led to it."""

    candidate: Candidate
    score: float
    relevance: float = 0.0
    matched: tuple[str, ...] = ()
    depth: int = 0
    via: tuple[str, ...] = ()
    parts: tuple[tuple[str, float], ...] = ()


class Filters(NamedTuple):
    """Holds what a recall may return. Empty values do not restrict."""

    types: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    min_importance: float = 0.0
    since: str = ""
    until: str = ""
    now: str = ""
    under: str = ""  # only files in this folder, as memory/weekly/
    min_trust: str = ""

    def admit(self, candidate: Candidate) -> bool:
        """Returns whether the candidate passes every filter."""
        item = candidate.item
        if trust_rank(candidate.trust) < trust_rank(self.min_trust):
            return False
        if self.under and not candidate.path.startswith(self.under):
            return False
        if item is None:
            if self.types or self.stores or self.tags or self.min_importance > 0:
                return False
        elif (
            has_expired(item, self.now)
            or (self.types and not {*self.types} & {*types_of(item)})
            or (self.stores and candidate.store not in self.stores)
            or (self.tags and not set(self.tags) <= set(item.tags))
            or item.importance < self.min_importance
        ):
            return False
        if self.since and (not candidate.at or candidate.at < self.since):
            return False
        return not (self.until and (not candidate.at or candidate.at > self.until))


class Search(Protocol):
    """A port for searching: an index, or the terms of candidates held in memory."""

    def __call__(self, question: str) -> list[Hit]:
        """Returns the best hits for a question."""

    def follow(self, question: str, asked: Sequence[str]) -> list[Hit]:
        """Returns the best hits for words that a result led to; the question still says who is meant."""

    def holders(self, asked: Sequence[str]) -> Mapping[str, int]:
        """Returns how many candidates hold each word, in whatever form."""


class TermSearch:
    """BM25 over candidates held in memory, blended with importance: for when there is no SQLite to keep an index in."""

    def __init__(self, candidates: Iterable[Candidate], importance_weight: float = 0.3) -> None:
        self._weight = importance_weight
        self._docs = [(candidate, Counter(stems(spoken_text(candidate)))) for candidate in candidates]
        self._holders = Counter(term for _, counts in self._docs for term in counts)
        self.candidates = len(self._docs)
        self._mean = sum(counts.total() for _, counts in self._docs) / max(1, self.candidates) or 1.0

    def best(self) -> list[Hit]:
        """Returns the memory items, the most important and recent first."""
        return browse(candidate for candidate, _ in self._docs)

    def around(self, place: tuple[str, str], before: int, after: int) -> list[list[Candidate]]:
        """Returns the last items before a place in time (a moment and an id), and the first from there on, in order."""
        items = sorted((c for c, _ in self._docs if c.item), key=lambda c: (c.at, c.ref))
        cut = sum((c.at, c.ref) < place for c in items)
        return [items[max(0, cut - before) : cut], items[cut : cut + after]]

    def count(self) -> int:
        """Returns how many candidates there are."""
        return self.candidates

    def holders(self, asked: Sequence[str]) -> dict[str, int]:
        """Returns how many candidates hold each word, in whatever form."""
        return {word: self._holders[stem(word)] for word in asked}

    def __call__(self, question: str) -> list[Hit]:
        """Returns everything that shares a term with the question, best first."""
        return self.follow(question, asked_words(question))

    def follow(self, question: str, asked: Sequence[str]) -> list[Hit]:
        """Returns everything that shares a term with the words, best first."""
        query = list(dict.fromkeys(term for word in asked for term in stems(word)))
        # Rare terms tell more.
        total, held = self.candidates, self._holders
        weight = {term: math.log(1 + (total - held[term] + 0.5) / (held[term] + 0.5)) for term in query}
        raw = []
        for candidate, counts in self._docs:
            if matched := [term for term in query if term in counts]:
                norm = 1.2 * (0.25 + 0.75 * counts.total() / self._mean)
                raw.append((sum(weight[t] * counts[t] * 2.2 / (counts[t] + norm) for t in matched), candidate))
        top = max((score for score, _ in raw), default=1.0) or 1.0
        hits = []
        for score, candidate in raw:
            value = (1 - self._weight) * score / top + self._weight * candidate.importance
            value *= AWAY if candidate.archived else 1.0
            parts = (("relevance", round(score / top, 4)), ("importance", candidate.importance))
            hits.append(Hit(candidate, round(value, 4), round(score / top, 4), parts=parts))
        return rank(hits)


def spoken_text(candidate: Candidate) -> str:
    """Returns all the words that a candidate can be found by."""
    tags = candidate.item.tags if candidate.item else ()
    return " ".join((candidate.text, candidate.author, *tags, candidate.ref))


def new_words(candidate: Candidate, known: set[str]) -> list[str]:
    """Returns the words of a candidate with more than three letters and those of its tags, with stems not known yet."""
    tags = " ".join(candidate.item.tags) if candidate.item else ""
    named = {*stems(tags)}
    found = {stem(word): word for word in reversed(asked_words(f"{candidate.text} {tags}"))}
    return [word for term, word in reversed(found.items()) if (len(word) > 3 or term in named) and term not in known]


def rank(hits: Iterable[Hit]) -> list[Hit]:
    """Returns hits best first; ties go to the newer, then to the reference, so that the order never wavers."""
    ordered = sorted(sorted(hits, key=lambda hit: hit.candidate.ref), key=lambda hit: hit.candidate.at, reverse=True)
    return sorted(ordered, key=lambda hit: -hit.score)


def browse(candidates: Iterable[Candidate]) -> list[Hit]:
    """Returns memory items, the most important and recent first."""
    return rank(Hit(c, round(c.importance * (AWAY if c.archived else 1.0), 4)) for c in candidates if c.item)


def merge_hits(hits: Iterable[Hit], more: list[Hit], loss: float = 0.0) -> Iterator[Hit]:
    """Merges two lists: each hit of the second comes before the first of the first list that scores less.

    `loss` says how much the relevance of the first list is overstated.
    """
    at = 0
    for hit in hits:
        while at < len(more) and more[at].score > hit.score - loss * hit.relevance:
            yield more[at]
            at += 1
        yield hit
    yield from more[at:]


def without_repeated(hits: Sequence[Hit], asked: Iterable[str]) -> list[Hit]:
    """Returns hits without passages that only repeat other hits: notes that became memories, lines of MEMORY.md that logs or memories
    have, and summaries of any of these."""
    asked, out = [*asked], set()
    shown: list[tuple[int, Candidate, list[str], set[str]]] = []
    levels = [_level(hit.candidate) for hit in hits]
    for at in sorted(range(len(hits)), key=lambda at: (levels[at], at)) if any(levels) else ():
        level, passage = levels[at], hits[at].candidate
        line, held = one_line(passage.text), {*stems(" ".join(matching(asked, passage)))}
        below = [content for n, other, leads, content in shown if n < level and _repeats(passage, line, other, leads)]
        if below and held <= set().union(*below):
            out.add(at)
        else:
            shown.append((level, passage, _leads(passage), {*stems(spoken_text(passage))}))
    return [hit for at, hit in enumerate(hits) if at not in out]


def _level(candidate: Candidate) -> int:
    """Returns how far a candidate is from what was stored: a memory, a file, MEMORY.md, and summaries by the time they cover."""
    if is_summary(candidate.path):
        return 5 - LEVELS.index(candidate.path.split("/")[1])  # weeks 3, months 4, quarters 5
    return 0 if candidate.item else 2 if candidate.path == "MEMORY.md" else 1


def _leads(candidate: Candidate) -> list[str]:
    """Returns the beginnings by which the statements of a candidate are known again in a passage that may cut them."""
    parts = [line.lstrip(" -*+>") for line in candidate.text.split("\n") if len(line) >= _LEAST_RETOLD]
    if candidate.item:
        from mabos_cli.core.memory.condensing import consolidated_parts  # late: few hits repeat what others say

        parts = consolidated_parts(candidate.text) or [candidate.text]
    return [one_line(part)[:_RETOLD] for part in parts if part]


def _repeats(passage: Candidate, line: str, other: Candidate, leads: list[str]) -> bool:
    """Returns whether a passage says what another candidate says. A note is somebody's own, unless it became a memory."""
    if other.item and other.item.source == f"migrate:{passage.path}":
        cited = re.match(r"(?:.*?):(\d+)-(\d+)", other.item.context)
        first, last = (int(cited[1]), int(cited[2])) if cited else (0, 0)
        return passage.lines[0] <= last and first <= passage.lines[1]
    return _level(passage) > 1 and any(lead in line for lead in leads)


class Depth(NamedTuple):
    """How far recall follows its hits: passes, hits followed in each, terms taken from a hit, share of the places, and whether
    only where the first pass leaves something open."""

    passes: int = 0
    hits: int = 3
    terms: int = 12
    reserved: float = 0.3
    if_open: bool = False


def recall(search: Search, question: str, limit: int, depth: Depth = Depth()) -> list[Hit]:
    """Returns the best hits for a question; each pass asks again with what the best few hits leave open.

    What deeper passes find gets the last places, behind the direct hits, and never pushes out the strong ones.
    """
    direct = search(question)[:limit]
    if not direct or depth.passes <= 0 or (depth.if_open and not leaves_open(question, direct[: depth.hits])):
        return direct
    kept = direct[: limit - round(limit * depth.reserved)]
    found = _deepen(search, question, direct, {hit.candidate.ref for hit in kept}, depth)
    chosen = each_once(found, limit - len(kept), kept)
    # A direct hit that is found again stays among the direct ones, whatever its rank was.
    again = {hit.candidate.ref for hit in chosen} & {hit.candidate.ref for hit in direct}
    deeper = [hit for hit in chosen if hit.candidate.ref not in again]
    places = limit - len(deeper)
    sure = [n for n, hit in enumerate(direct) if n < len(kept) or hit.candidate.ref in again]
    rest = [n for n in range(len(direct)) if n not in sure][: places - len(sure)]
    return [*(direct[n] for n in sorted(sure + rest)), *deeper]


def leaves_open(question: str, best: Sequence[Hit]) -> bool:
    """Returns whether none of the best hits holds all that a question asks about. What was said in a conversation stands beside what
    it is about: nothing is to be followed there."""
    asked, found = asked_words(question), [hit.candidate for hit in best]
    return not any((c.item and c.item.session) or len(matching(asked, c)) >= len(asked) for c in found)


def each_once(hits: Iterable[Hit], count: int, known: Iterable[Hit] = ()) -> list[Hit]:
    """Returns the leading hits that do not say nearly the same as another one before them, or as a known one."""
    shown, chosen = [word_set(hit.candidate.text) for hit in known], list[Hit]()
    for hit in hits:
        if len(chosen) == count:
            break
        mine = word_set(hit.candidate.text)
        if all(likeness(mine, other) < _SAME for other in shown):
            chosen.append(hit)
            shown.append(mine)
    return chosen


def spread(hits: Sequence[Hit], count: int) -> list[Hit]:
    """Returns so many hits of a question about many things: the more of them are from one session or file, the less the next one of
    it counts."""
    left, taken, chosen = [*hits], Counter[str](), list[Hit]()
    while left and len(chosen) < count:
        best = max(left, key=lambda hit: hit.score - _CROWDED * taken[_place(hit)])
        left.remove(best)
        chosen.append(best)
        taken[_place(best)] += 1
    return chosen


def gather(hits: Sequence[Hit], count: int) -> list[Hit]:
    """Returns what is to be said about a thing, or for a question about many: relevant hits, each thing once, spread over sessions and
    files, in the order of time. What has no date comes last."""
    least = _RELEVANT * max((hit.relevance for hit in hits), default=0.0)
    found = spread(each_once([hit for hit in hits if hit.relevance >= least], len(hits)), count)
    return sorted(found, key=lambda hit: (not hit.candidate.at, hit.candidate.at, hit.candidate.ref))


def _place(hit: Hit) -> str:
    """Returns the session or the file that a hit is from; an item without a session is from nowhere else."""
    item = hit.candidate.item
    return (item.session or item.id) if item else hit.candidate.path


def _deepen(search: Search, question: str, direct: list[Hit], kept: set[str], depth: Depth) -> list[Hit]:
    """Returns what asking on from the best hits finds besides those that are kept, what the best hits lead to first."""
    asked = asked_words(question)
    found: dict[str, Hit] = {}
    opened: set[str] = set()
    sources = [(hit, _LEAST + (1 - _LEAST) * hit.relevance) for hit in direct[: depth.hits]]
    order: list[Hit] = []
    for level in range(1, min(depth.passes, 3) + 1):
        for source, weight in sources:
            opened.add(source.candidate.ref)
            left, fresh = _refine(search, asked, source.candidate, depth.terms)
            for hit in search.follow(question, [*left, *fresh]) if fresh else ():
                ref, value = hit.candidate.ref, weight * hit.relevance
                if ref in kept or ref == source.candidate.ref or (ref in found and found[ref].score >= value):
                    continue
                first = found[ref].depth if ref in found else level
                found[ref] = hit._replace(score=round(value, 4), depth=first, via=matching(fresh, hit.candidate))
        order = rank(found.values())
        sources = [(hit, hit.score) for hit in order if hit.candidate.ref not in opened][: depth.hits]
    return order


def _refine(search: Search, asked: list[str], candidate: Candidate, count: int) -> tuple[list[str], list[str]]:
    """Returns the next query after a hit: the words of the question that the hit lacks, and its rarest other words."""
    covered = {*stems(spoken_text(candidate))}
    fresh = new_words(candidate, {stem(word) for word in asked})
    held = search.holders(fresh)
    order = sorted(range(len(fresh)), key=lambda n: (held.get(fresh[n], 0), n))
    return [word for word in asked if stem(word) not in covered] or asked, [fresh[n] for n in order[:count]]


def matching(asked: Iterable[str], candidate: Candidate) -> tuple[str, ...]:
    """Returns the words of a question that a candidate holds, in any form, as they stand in the candidate."""
    wanted = dict.fromkeys(term for word in asked for term in stems(word))
    starts = {term[:2] for term in wanted}  # a stem leaves the start of a word alone
    held = {stem(word): word for word in reversed(words(spoken_text(candidate))) if word[:2] in starts}
    return tuple(held[term] for term in wanted if term in held)


def with_words(hit: Hit, question: str) -> Hit:
    """Returns the hit with the words of the question that it matches."""
    return hit._replace(matched=matching(asked_words(question), hit.candidate))


def fit_budget(hits: list[Hit], budget: int, per_token: int = 4) -> list[Hit]:
    """Returns the leading hits that the token budget holds, all with 0. One that does not fit is passed over."""
    if not budget:
        return hits
    kept, left = [], budget
    for hit in hits:
        cost = token_cost(hit.candidate.text, per_token)
        if cost <= left:
            kept.append(hit)
            left -= cost
    return kept
