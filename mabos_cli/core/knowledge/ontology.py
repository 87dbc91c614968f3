"""Ontologies: concepts, properties and business rules, found by id, local name, label or synonym."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from mabos_cli.core.language.text import composed

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


def local_name(own: str) -> str:
    """The last part of an id.

    >>> local_name("mabos:Customer"), local_name("http://x.org/a#places"), local_name("Order")
    ('Customer', 'places', 'Order')
    """
    return re.split(r"[#/:]", own.rstrip("#/:"))[-1]


def is_datatype(own: str) -> bool:
    """Whether an id is one of a kind of values, not of a class."""
    return own.startswith("xsd:") or own == "rdfs:Literal"


def is_whole_number(datatype: str) -> bool:
    """Whether the values of a datatype are whole numbers.

    >>> [is_whole_number(name) for name in ("xsd:nonNegativeInteger", "xsd:unsignedShort", "xsd:decimal")]
    [True, True, False]
    """
    return local_name(datatype).lower().endswith(("integer", "long", "int", "short", "byte"))


@lru_cache(maxsize=1 << 16)
def name_key(name: str) -> str:
    """A name as names are compared: letters of any case, however its words are joined.

    >>> name_key("Sales Order") == name_key("salesOrder") == name_key("sales_order")
    True
    """
    return re.sub(r"[\s_-]+", "", composed(name)).casefold()


def names_of(node: Node) -> tuple[str, ...]:
    """What a node is called besides its id, the most exact first."""
    return (local_name(node.id), node.label, *node.synonyms)


class Ontology:
    """All that the ontologies of a workspace say. What several of them say about one id is put together."""

    def __init__(
        self, concepts: Iterable[Concept] = (), properties: Iterable[Property] = (), rules: Iterable[BusinessRule] = ()
    ) -> None:
        self.concepts = MappingProxyType(_gather(concepts))
        self.properties = MappingProxyType(_gather(properties))
        self.rules = MappingProxyType(_gather(rules))
        self._names: dict[str, dict[str, tuple[str, ...]]] = {}
        self._children: dict[str, tuple[str, ...]] | None = None

    def concepts_named(self, name: str) -> tuple[Concept, ...]:
        """The concepts that a name means: the one with this id, or those so called, local names before labels and synonyms."""
        return self._named("concepts", self.concepts, name)

    def properties_named(self, name: str) -> tuple[Property, ...]:
        """The properties that a name means, in the same way."""
        return self._named("properties", self.properties, name)

    def rules_named(self, name: str) -> tuple[BusinessRule, ...]:
        """The rules that a name means, in the same way."""
        return self._named("rules", self.rules, name)

    def find_concept(self, name: str) -> Concept | None:
        """The concept that a name means first."""
        return next(iter(self.concepts_named(name)), None)

    def nodes_named(self, name: str) -> tuple[Node, ...]:
        """Everything that a name means: an id means one thing, a word perhaps several."""
        found = (*self.concepts_named(name), *self.properties_named(name), *self.rules_named(name))
        return tuple(node for node in found if node.id == name) or found

    def nodes(self) -> list[Node]:
        """Everything, concepts first."""
        return [*self.concepts.values(), *self.properties.values(), *self.rules.values()]

    def children(self, own: str) -> tuple[str, ...]:
        """The ids of the concepts right below one, sorted."""
        if self._children is None:
            below: dict[str, list[str]] = {}
            for concept in self.concepts.values():
                for parent in concept.parents:
                    below.setdefault(parent, []).append(concept.id)
            self._children = {parent: tuple(sorted(ids)) for parent, ids in below.items()}
        return self._children.get(own, ())

    def functional_names(self) -> frozenset[str]:
        """The ids, local names and labels of the properties that have one value at a time."""
        found = (p for p in self.properties.values() if p.is_functional)
        return frozenset(name for each in found for name in (each.id, local_name(each.id), each.label) if name)

    def _named(self, kind: str, nodes: "MappingProxyType[str, Kind]", name: str) -> tuple[Kind, ...]:
        if name in nodes:
            return (nodes[name],)
        if kind not in self._names:
            self._names[kind] = _index_names(list(nodes.values()))
        return tuple(nodes[own] for own in self._names[kind].get(name_key(name), ()))


def _index_names(nodes: Sequence[Node]) -> dict[str, tuple[str, ...]]:
    """Ids by names: those whose local name it is first, then labels, then synonyms."""
    ranked: dict[str, dict[str, None]] = {}
    for rank in (0, 1, 2):
        for node in nodes:
            names = names_of(node)
            for name in names[rank : rank + 1] if rank < 2 else names[2:]:
                if name:
                    ranked.setdefault(name_key(name), {})[node.id] = None
    return {key: tuple(ids) for key, ids in ranked.items()}


def _gather(nodes: Iterable[Kind]) -> dict[str, Kind]:
    """Nodes by id. A later one with the same id adds what the first does not say."""
    found: dict[str, Kind] = {}
    for node in nodes:
        held = found.get(node.id)
        found[node.id] = node if held is None else _joined(held, node)
    return found


def _joined(held: Kind, more: Kind) -> Kind:
    values = {}
    for name, old, new in zip(held._fields, held, more, strict=True):
        if isinstance(old, tuple):
            values[name] = tuple(dict.fromkeys((*old, *new)))
        else:
            values[name] = old or new
    return held._replace(**values)
