"""Reorders and extends a recall: newer statements come before those that they update; with a model, other words to search with and
another order. Strong hits stay."""

from collections.abc import Mapping, Sequence

from mabos_cli.core.language.similar import Statement, find_outdated
from mabos_cli.core.memory.item import HAPPENED
from mabos_cli.core.search.recall import Hit, Search, rank

# What is found in other words than those of the question counts a little less, and gets at most this share of the places.
_COMPARED = 20  # hits that are looked at for updates of one another
_STRENGTH, _RESERVED = 0.8, 0.4


class WiderSearch:
    """A search that also asks in other words. Hits of the question keep their scores, and the best their places."""

    def __init__(self, search: Search, variations: Sequence[str], limit: int) -> None:
        self._search = search
        self._variations = variations
        self._limit = limit

    def __call__(self, question: str) -> list[Hit]:
        """Returns the best hits for a question and its variations; one that a variation raised says which."""
        direct = self._search(question)[: self._limit]
        found = {hit.candidate.ref: hit for hit in direct}
        for variation in self._variations:
            for hit in self._search(variation)[: self._limit]:
                ref, value = hit.candidate.ref, round(_STRENGTH * hit.score, 4)
                if ref not in found or found[ref].score < value:
                    parts = (*hit.parts, ("expansion", value))
                    found[ref] = hit._replace(score=value, via=(variation,), parts=parts)
        sure = {hit.candidate.ref for hit in direct[: self._limit - round(self._limit * _RESERVED)]}
        ranked = rank(found.values())
        others = [hit.candidate.ref for hit in ranked if hit.candidate.ref not in sure]
        chosen = sure.union(others[: self._limit - len(sure)])
        return [hit for hit in ranked if hit.candidate.ref in chosen]

    def follow(self, question: str, asked: Sequence[str]) -> list[Hit]:
        return self._search.follow(question, asked)

    def holders(self, asked: Sequence[str]) -> Mapping[str, int]:
        return self._search.holders(asked)


def reorder(hits: Sequence[Hit], order: Sequence[int]) -> list[Hit]:
    """Returns the hits by their own places and those that a model gives them (positions, best first), half and half.

    By the sum of 1/place: what was first stays among the first two, and the n-th among the first 4n - 1, whatever the model
    says. Hits that it does not name keep their places.
    """
    places = {position: place for place, position in enumerate(order, 1)}
    values = [(1 / (n + 1) + 1 / places.get(n, n + 1)) / 2 for n in range(len(hits))]
    ranked = sorted(range(len(hits)), key=lambda n: (-values[n], n))
    return [hits[n]._replace(parts=(*hits[n].parts, ("reranked", round(values[n], 4)))) for n in ranked]


def newer_first(hits: list[Hit]) -> list[Hit]:
    """Returns the hits with each newer statement before the live one that it updates. The older one names the newer."""
    live = [hit.candidate for hit in hits[:_COMPARED] if hit.candidate.item and not hit.candidate.archived]
    statements = [Statement(c.ref, c.at, c.text, c.trust) for c in live if c.item and c.item.type not in HAPPENED]
    found = [*hits]
    for older, newer in find_outdated(statements).items():
        at, to = ([hit.candidate.ref for hit in found].index(ref) for ref in (newer, older))
        found[to] = found[to]._replace(candidate=found[to].candidate._replace(newer=newer))
        if at > to:
            found.insert(to, found.pop(at)._replace(score=found[to].score))
    return found
