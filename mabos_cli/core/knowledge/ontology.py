"""Ontologies: concepts, properties and business rules, found by id, local name, label or synonym."""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeVar

from mabos_cli.core.language.text import composed
from mabos_cli.core.records import NamedTuple

# What a fact may say to give something its class.
TYPE_PREDICATES = frozenset(
    ("type", "isA", "is_a", "instanceOf", "rdf:type", "a", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
)
DATATYPES = tuple(
    f"xsd:{name}"
    for name in (
        "string boolean decimal integer float double date dateTime dateTimeStamp time duration gYear gYearMonth anyURI "
        "language token long int short byte nonNegativeInteger positiveInteger nonPositiveInteger negativeInteger "
        "unsignedLong unsignedInt"
    ).split()
)


class Concept(NamedTuple):
    """A class of things. `source` names the ontology that it was first found in."""

    id: str
    label: str = ""
    parents: tuple[str, ...] = ()
    definition: str = ""
    synonyms: tuple[str, ...] = ()
    source: str = ""
    disjoint: tuple[str, ...] = ()  # classes that nothing of this class is of
    equivalent: tuple[str, ...] = ()  # classes that have the same things


class Property(NamedTuple):
    """A relation between things, or from a thing to a value. Of several domains or ranges, any will do."""

    id: str
    label: str = ""
    kind: str = "object"  # object, datatype
    domains: tuple[str, ...] = ()
    ranges: tuple[str, ...] = ()
    is_functional: bool = False
    definition: str = ""
    synonyms: tuple[str, ...] = ()
    reading: str = ""
    inverse_reading: str = ""
    source: str = ""
    parents: tuple[str, ...] = ()  # the properties that hold wherever this one does
    inverses: tuple[str, ...] = ()
    traits: tuple[str, ...] = ()  # symmetric, transitive, inverseFunctional
    chains: tuple[tuple[str, ...], ...] = ()  # properties that together lead where this one does


class BusinessRule(NamedTuple):
    """A rule in the words of the business, and the condition on facts that breaks it."""

    id: str
    label: str = ""
    modality: str = ""
    enforcement_level: str = ""
    statement: str = ""
    severity: str = "warning"
    violated_when: str = ""
    message: str = ""
    source: str = ""
    synonyms: tuple[str, ...] = ()


Node = Concept | Property | BusinessRule
Kind = TypeVar("Kind", Concept, Property, BusinessRule)


def local_name(node_id: str) -> str:
    """Returns the last part of an id.

    >>> local_name("mabos:Customer"), local_name("http://x.org/a#places"), local_name("Order")
    ('Customer', 'places', 'Order')
    """
    return re.split(r"[#/:]", node_id.rstrip("#/:"))[-1]


def is_datatype(node_id: str) -> bool:
    """Returns whether an id is one of a kind of values, not of a class."""
    return node_id.startswith("xsd:") or node_id == "rdfs:Literal"


@lru_cache(maxsize=1 << 16)
def name_key(name: str) -> str:
    """Returns a name as names are compared: letters of any case, however its words are joined.

    >>> name_key("Sales Order") == name_key("salesOrder") == name_key("sales_order")
    True
    """
    return re.sub(r"[\s_-]+", "", composed(name)).casefold()


def names_of(node: Node) -> tuple[str, ...]:
    """Returns what a node is called besides its id, the most exact first."""
    return (local_name(node.id), node.label, *node.synonyms)


class Ontology:
    """The ontologies of a workspace as one. Statements about one id are merged."""

    def __init__(
        self, concepts: Iterable[Concept] = (), properties: Iterable[Property] = (), rules: Iterable[BusinessRule] = ()
    ) -> None:
        self.concepts = MappingProxyType(_gather(concepts))
        self.properties = MappingProxyType(_gather(properties))
        self.rules = MappingProxyType(_gather(rules))
        self._names: dict[str, dict[str, tuple[str, ...]]] = {}
        self._children: dict[str, tuple[str, ...]] | None = None

    def concepts_named(self, name: str) -> tuple[Concept, ...]:
        """Returns the concepts that a name means: the one with this id, or those so called, local names before labels and
        synonyms."""
        return self._named("concepts", self.concepts, name)

    def properties_named(self, name: str) -> tuple[Property, ...]:
        """Returns the properties that a name means, in the same way."""
        return self._named("properties", self.properties, name)

    def find_concept(self, name: str) -> Concept | None:
        """Returns the concept that a name means first."""
        return next(iter(self.concepts_named(name)), None)

    def nodes_named(self, name: str) -> tuple[Node, ...]:
        """Returns everything that a name means: an id means one thing, a word perhaps several."""
        rules = self._named("rules", self.rules, name)
        found: list[Node] = [*self.concepts_named(name), *self.properties_named(name), *rules]
        return tuple([node for node in found if node.id == name] or found)

    def nodes(self) -> list[Node]:
        """Returns everything, concepts first."""
        return [*self.concepts.values(), *self.properties.values(), *self.rules.values()]

    def children(self, concept_id: str) -> tuple[str, ...]:
        """Returns the ids of the concepts right below one, sorted."""
        if self._children is None:
            below: dict[str, list[str]] = {}
            for concept in self.concepts.values():
                for parent in concept.parents:
                    below.setdefault(parent, []).append(concept.id)
            self._children = {parent: tuple(sorted(ids)) for parent, ids in below.items()}
        return self._children.get(concept_id, ())

    def functional_names(self) -> frozenset[str]:
        """Returns the ids, local names and labels of the properties that have one value at a time."""
        found = (p for p in self.properties.values() if p.is_functional)
        return frozenset(name for each in found for name in (each.id, local_name(each.id), each.label) if name)

    def _named(self, kind: str, nodes: "MappingProxyType[str, Kind]", name: str) -> tuple[Kind, ...]:
        if name in nodes:
            return (nodes[name],)
        if kind not in self._names:
            self._names[kind] = _index_names(list(nodes.values()))
        return tuple(nodes[node_id] for node_id in self._names[kind].get(name_key(name), ()))


def _index_names(nodes: Sequence[Node]) -> dict[str, tuple[str, ...]]:
    """Returns ids by names: those whose local name it is first, then labels, then synonyms."""
    ranked: dict[str, dict[str, None]] = {}
    for rank in (0, 1, 2):
        for node in nodes:
            names = names_of(node)
            for name in names[rank : rank + 1] if rank < 2 else names[2:]:
                if name:
                    ranked.setdefault(name_key(name), {})[node.id] = None
    return {key: tuple(ids) for key, ids in ranked.items()}


def _join(old: Any, new: Any) -> Any:
    return tuple(dict.fromkeys((*old, *new))) if isinstance(old, tuple) else old or new


def _gather(nodes: Iterable[Kind]) -> dict[str, Kind]:
    """Returns nodes by id. A later one with the same id adds what the first does not say."""
    found: dict[str, Kind] = {}
    for node in nodes:
        held = found.get(node.id)
        values = {name: _join(getattr(held, name), getattr(node, name)) for name in node._fields if held}
        found[node.id] = held._replace(**values) if held else node
    return found


# Everything is below these: to share them says nothing.
_EVERYTHING = frozenset(("owl:Thing", "rdfs:Resource"))


class Taxonomy:
    """The class tree of an ontology. What was asked once is remembered."""

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology
        self._above: dict[str, Mapping[str, int]] = {}
        self._same: dict[str, dict[str, None]] = {}
        for each in ontology.concepts.values():
            for other in each.equivalent:
                self._same.setdefault(each.id, {})[other] = None
                self._same.setdefault(other, {})[each.id] = None

    def ancestors(self, concept_id: str) -> Mapping[str, int]:
        """Returns the ids above a concept and itself, each with the least number of steps to it, the nearest first. A circle,
        which only a hand can make, is gone round once."""
        if concept_id not in self._above:
            steps, layer, far = {concept_id: 0}, [concept_id], 0
            while layer:
                above = [parent for each in layer for parent in (*self._parents(each), *self._same.get(each, ()))]
                layer = list(dict.fromkeys(parent for parent in above if parent not in steps))
                far += 1
                steps.update(dict.fromkeys(layer, far))
            self._above[concept_id] = steps
        return self._above[concept_id]

    def is_a(self, concept_id: str, other: str) -> bool:
        """Returns whether a concept is another or below it, by ids."""
        return other in _EVERYTHING or other in self.ancestors(concept_id)

    def path_up(self, concept_id: str) -> list[str]:
        """Returns the ids from a concept to the top, by its first parents."""
        found = {concept_id: None}
        while (concept_id := self.first_parent(concept_id)) and concept_id not in found:
            found[concept_id] = None
        return list(found)

    def first_parent(self, concept_id: str) -> str:
        """Returns the id right above a concept, of several the first; empty at the top."""
        return next(iter(self._parents(concept_id)), "")

    def _parents(self, concept_id: str) -> tuple[str, ...]:
        concept = self.ontology.concepts.get(concept_id)
        return tuple(p for p in concept.parents if p not in _EVERYTHING) if concept else ()


class Branch(NamedTuple):
    """A concept in the tree, and how far below the top of it."""

    concept: Concept
    depth: int


def draw_tree(ontology: Ontology, source: str = "", below: str = "") -> list[Branch]:
    """Returns the concepts from the top down, each below its first parent: all, those of one domain with what is above them, or
    those below one."""
    taxonomy = Taxonomy(ontology)
    shown = {concept_id for concept_id, concept in ontology.concepts.items() if source in ("", concept.source)}
    if source:
        for concept_id in [*shown]:
            above = taxonomy.first_parent(concept_id)
            while above in ontology.concepts and above not in shown:
                shown.add(above)
                above = taxonomy.first_parent(above)
    children: dict[str, list[str]] = {}
    for concept_id in sorted(shown, key=lambda each: (ontology.concepts[each].label.casefold(), each)):
        above = taxonomy.first_parent(concept_id)
        children.setdefault(above if above in shown else "", []).append(concept_id)
    found: list[Branch] = []
    tops = [below] if below else [*children.get("", ()), *sorted(shown)]
    seen: set[str] = set()
    for top in tops:  # behind the tops, whatever goes in circles and hangs from none
        waiting = [(top, 0)]
        while waiting:
            concept_id, depth = waiting.pop()
            if concept_id not in seen:
                seen.add(concept_id)
                found.append(Branch(ontology.concepts[concept_id], depth))
                waiting += [(child, depth + 1) for child in reversed(children.get(concept_id, ()))]
    return found


def select_domain(ontology: Ontology, source: str) -> Ontology:
    """Returns what one domain defines, with the concepts that it builds on."""
    taxonomy = Taxonomy(ontology)
    properties = [each for each in ontology.properties.values() if each.source == source]
    kept = {concept_id for concept_id, concept in ontology.concepts.items() if concept.source == source}
    kept |= {end for each in properties for end in (*each.domains, *each.ranges)}
    kept = {above for concept_id in kept for above in taxonomy.ancestors(concept_id)}
    concepts = [concept for concept_id, concept in ontology.concepts.items() if concept_id in kept]
    return Ontology(concepts, properties, (r for r in ontology.rules.values() if r.source == source))


def properties_of(ontology: Ontology, concept_id: str) -> list[Property]:
    """Returns the properties that a concept is a domain or a range of, by label."""
    found = (each for each in ontology.properties.values() if concept_id in (*each.domains, *each.ranges))
    return sorted(found, key=lambda each: (concept_id not in each.domains, each.label.casefold(), each.id))


def inherited_properties(ontology: Ontology, concept_id: str) -> dict[str, list[Property]]:
    """Returns the properties that a class inherits, by the ids of its superclasses, the nearest first."""
    above = list(Taxonomy(ontology).ancestors(concept_id))[1:]
    found = {each: [p for p in properties_of(ontology, each) if each in p.domains] for each in above}
    return {each: given for each, given in found.items() if given}


def close_names(ontology: Ontology, name: str) -> list[str]:
    """Returns names that somebody may have meant by one that nothing has."""
    known: dict[str, str] = {}
    for node in ontology.nodes():
        for each in filter(None, (node.label, *names_of(node), node.id)):
            known.setdefault(name_key(each), each)
    return [known[key] for key in get_close_matches(name_key(name), known, n=3, cutoff=0.7)]
