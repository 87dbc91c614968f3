"""Finding: filters, term scoring with importance, and recursive refinement over any search function."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from mabos_cli.core.item import MemoryItem
from mabos_cli.core.text import stem, terms, token_cost, words


class Candidate(NamedTuple):
    """Something that can be recalled: a memory item, or a passage of a file (then path and lines say where)."""

    text: str
    importance: float
    at: str
    item: MemoryItem | None = None
    store: str = ""
    archived: str = ""
    path: str = ""
    lines: tuple[int, int] = (0, 0)

    @property
    def ref(self) -> str:
        return self.item.id if self.item else f"{self.path}:{self.lines[0]}-{self.lines[1]}"


class Hit(NamedTuple):
    """A candidate with its score, the depth at which it first appeared and the terms that led to it."""

    candidate: Candidate
    score: float
    relevance: float = 0.0
    matched: tuple[str, ...] = ()
    depth: int = 0
    via: tuple[str, ...] = ()


class Filters(NamedTuple):
    """What a recall may return. Empty values do not restrict."""

    types: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    min_importance: float = 0.0
    since: str = ""
    until: str = ""
    now: str = ""

    def admit(self, candidate: Candidate) -> bool:
        """Whether the candidate passes every filter."""
        item = candidate.item
        if item is None:
            if self.types or self.stores or self.tags or self.min_importance > 0:
                return False
        elif (
            (item.expires_at and item.expires_at <= self.now)
            or (self.types and item.type not in self.types)
            or (self.stores and candidate.store not in self.stores)
            or (self.tags and not set(self.tags) <= set(item.tags))
            or item.importance < self.min_importance
        ):
            return False
        if self.since and (not candidate.at or candidate.at < self.since):
            return False
        return not (self.until and (not candidate.at or candidate.at > self.until))


Search = Callable[[Sequence[str]], list[Hit]]


class TermSearch:
    """BM25 over candidates held in memory, blended with importance. The index replaces it behind the same call."""

    def __init__(self, candidates: Iterable[Candidate], importance_weight: float = 0.3) -> None:
        self._weight = importance_weight
        self._docs: list[tuple[Candidate, Counter[str], int]] = []
        self._holders: Counter[str] = Counter()
        for candidate in candidates:
            about = " ".join((candidate.item.author, *candidate.item.tags)) if candidate.item else ""
            counts = Counter(terms_all(f"{candidate.ref} {about} {candidate.text}"))
            self._docs.append((candidate, counts, sum(counts.values())))
            self._holders.update(counts.keys())
        self._mean = sum(size for _, _, size in self._docs) / len(self._docs) if self._docs else 1.0

    def rarity(self, term: str) -> float:
        """How telling a term is here: rare terms weigh more."""
        held = self._holders[term]
        return math.log(1 + (len(self._docs) - held + 0.5) / (held + 0.5))

    def __call__(self, query: Sequence[str]) -> list[Hit]:
        """Everything that shares a term with the query, best first."""
        weight = {term: self.rarity(term) for term in query}
        raw = []
        for candidate, counts, size in self._docs:
            matched = tuple(term for term in query if term in counts)
            if matched:
                norm = 1.2 * (0.25 + 0.75 * size / self._mean)
                raw.append(
                    (
                        sum(weight[t] * counts[t] * 2.2 / (counts[t] + norm) for t in matched),
                        matched,
                        candidate,
                    )
                )
        top = max((score for score, _, _ in raw), default=1.0) or 1.0
        hits = [
            Hit(
                c,
                round((1 - self._weight) * s / top + self._weight * c.importance, 4),
                round(s / top, 4),
                matched,
            )
            for s, matched, c in raw
        ]
        return rank(hits)


def terms_all(text: str) -> list[str]:
    """Every search term of a text, with repetition."""
    return [stem(word) for word in words(text)]


def rank(hits: Iterable[Hit]) -> list[Hit]:
    """Hits best first; ties go to the newer, then to the reference, so that the order never wavers."""
    ordered = sorted(hits, key=lambda hit: hit.candidate.ref)
    ordered.sort(key=lambda hit: hit.candidate.at, reverse=True)
    return sorted(ordered, key=lambda hit: -hit.score)


def browse(candidates: Iterable[Candidate]) -> list[Hit]:
    """Without a query: memory items, the most important and recent first."""
    return rank(Hit(c, round(c.importance, 4)) for c in candidates if c.item)


def recall(
    search: Search,
    query: str,
    *,
    depth: int = 0,
    limit: int = 20,
    branch: int = 3,
    new_terms: int = 12,
    reserved: float = 0.3,
    rarity: Callable[[str], float] | None = None,
) -> list[Hit]:
    """The best hits for a query; each level of depth searches again with the rarest new terms of the best few hits.

    What only a deeper pass finds gets reserved places behind the direct hits and never pushes out the strong ones.
    """
    asked = terms(query)
    direct = search(asked)
    if not direct or depth <= 0:
        return direct[:limit]
    seen = {hit.candidate.ref for hit in direct}
    known, frontier, found = set(asked), direct[:branch], []
    for level in range(1, min(depth, 3) + 1):
        reached: dict[str, Hit] = {}
        for source in frontier:
            fresh = _rarest_terms(source.candidate, known, rarity, new_terms)
            for hit in search([*asked, *fresh]) if fresh else ():
                led = tuple(term for term in fresh if term in hit.matched)
                ref = hit.candidate.ref
                if led and ref not in seen and (ref not in reached or reached[ref].score < hit.score):
                    reached[ref] = hit._replace(depth=level, via=led)
        if not reached:
            break
        frontier = rank(reached.values())[:branch]
        found += rank(reached.values())
        seen |= reached.keys()
        known |= {term for hit in frontier for term in hit.via}
    places = min(len(found), max(round(limit * reserved), limit - len(direct)))
    return direct[: limit - places] + found[:places]


def in_words(hit: Hit) -> Hit:
    """The hit with its terms as the words that stand in its text, for people to read."""
    about = " ".join((hit.candidate.item.author, *hit.candidate.item.tags)) if hit.candidate.item else ""
    spoken = {
        stem(word): word for word in reversed(words(f"{hit.candidate.text} {about} {hit.candidate.ref}"))
    }
    return hit._replace(
        matched=tuple(spoken.get(t, t) for t in hit.matched), via=tuple(spoken.get(t, t) for t in hit.via)
    )


def _rarest_terms(
    candidate: Candidate, known: set[str], rarity: Callable[[str], float] | None, count: int
) -> list[str]:
    tags = list(candidate.item.tags) if candidate.item else []
    fresh = [
        term for term in terms(f"{candidate.text} {' '.join(tags)}") if len(term) > 3 and term not in known
    ]
    order = sorted(range(len(fresh)), key=lambda n: (-(rarity(fresh[n]) if rarity else 0), n))
    return [fresh[n] for n in order[:count]]


def fit_budget(hits: list[Hit], budget: int, per_token: int = 4) -> list[Hit]:
    """As many leading hits as the token budget holds; 0 means no budget. One that does not fit is passed over."""
    if not budget:
        return hits
    kept, left = [], budget
    for hit in hits:
        cost = token_cost(hit.candidate.text, per_token)
        if cost <= left:
            kept.append(hit)
            left -= cost
    return kept
