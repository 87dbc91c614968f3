"""The hierarchy of concepts: what is above what, and how near two concepts are to each other."""

from collections.abc import Mapping

from mabos_cli.core.knowledge.ontology import Ontology

# Everything is below these: to share them says nothing.
_EVERYTHING = frozenset(("owl:Thing", "rdfs:Resource"))


class Taxonomy:
    """The class tree of an ontology. What was asked once is remembered."""

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology
        self._above: dict[str, Mapping[str, int]] = {}
        self._depths: dict[str, int] = {}
        self._pairs: dict[tuple[str, str], float] = {}

    def ancestors(self, own: str) -> Mapping[str, int]:
        """The ids above a concept and itself, each with the least number of steps to it, the nearest first. A circle, which
        only a hand can make, is gone round once."""
        if own not in self._above:
            steps, layer, far = {own: 0}, [own], 0
            while layer:
                above = [parent for each in layer for parent in self._parents(each)]
                layer = list(dict.fromkeys(parent for parent in above if parent not in steps))
                far += 1
                steps.update(dict.fromkeys(layer, far))
            self._above[own] = steps
        return self._above[own]

    def is_a(self, own: str, other: str) -> bool:
        """Whether a concept is another or below it, by ids."""
        return other in _EVERYTHING or other in self.ancestors(own)

    def similarity(self, a: str, b: str) -> float:
        """How near two concepts are (Wu and Palmer), by names: 1 for the same, 0 for unknown or unrelated ones.

        Of the concepts above both, the one that brings them nearest counts: twice its depth, over that and the steps to it.
        """
        pair = (a, b) if a <= b else (b, a)
        if pair not in self._pairs:
            one, two = self.ontology.find_concept(a), self.ontology.find_concept(b)
            self._pairs[pair] = self._nearness(one.id, two.id) if one and two else 0.0
        return self._pairs[pair]

    def depth(self, own: str) -> int:
        """The least number of concepts from the top down to one, both counted."""
        if own not in self._depths:
            above = self.ancestors(own)
            tops = [steps for each, steps in above.items() if not self._parents(each)]
            self._depths[own] = 1 + min(tops, default=0)
        return self._depths[own]

    def path_up(self, own: str) -> list[str]:
        """The ids from a concept to the top, by its first parents."""
        found = {own: None}
        while (own := self.first_parent(own)) and own not in found:
            found[own] = None
        return list(found)

    def first_parent(self, own: str) -> str:
        """The id right above a concept, of several the first; empty at the top."""
        return next(iter(self._parents(own)), "")

    def _parents(self, own: str) -> tuple[str, ...]:
        concept = self.ontology.concepts.get(own)
        return tuple(p for p in concept.parents if p not in _EVERYTHING) if concept else ()

    def _nearness(self, one: str, two: str) -> float:
        left, right = self.ancestors(one), self.ancestors(two)
        best = 0.0
        for shared in left.keys() & right.keys():
            deep = 2 * self.depth(shared)
            best = max(best, deep / (deep + left[shared] + right[shared]))
        return best
