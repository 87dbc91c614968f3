"""Proposals for ontologies: new concepts and properties, what they add and what they rest on."""

import re
from collections.abc import Iterable, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.ontology import DATATYPES, Concept, Ontology, Property, name_key, names_of

NODE_TYPES = ("class", "object_property", "datatype_property")
STATUSES = ("pending", "approved", "rejected")
DOMAIN = r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"  # how an ontology may be called


class Proposal(NamedTuple):
    """A node that somebody wants in an ontology. Times are ISO-8601 text; `extra` holds keys of other tools."""

    id: str
    domain: str
    node_type: str
    node_id: str
    label: str
    parent_class: str = ""
    domain_class: str = ""
    range: str = ""
    functional: bool = False
    sbvr_definition: str = ""
    sbvr_synonyms: tuple[str, ...] = ()
    rationale: str = ""
    proposed_by: str = ""
    status: str = "pending"
    validation_result: dict[str, Any] | None = None
    proposed_at: str = ""
    merged_at: str = ""
    rejected_at: str = ""
    reason: str = ""
    extra: tuple[tuple[str, Any], ...] = ()

    @property
    def is_class(self) -> bool:
        return self.node_type == "class"

    @property
    def content(self) -> tuple[Any, ...]:
        """What is proposed, whoever proposed it and whatever became of it."""
        return self[1:11]


def make_local_name(label: str, node_type: str) -> str:
    """The last part of an id for a label: PascalCase for classes, camelCase for properties.

    >>> make_local_name("dropship fulfillment", "class"), make_local_name("Placed by", "object_property")
    ('DropshipFulfillment', 'placedBy')
    >>> make_local_name("MRR", "class"), make_local_name("MRR in euro", "datatype_property")
    ('MRR', 'mrrInEuro')
    """
    words = [word for word in re.split(r"[\W_]+", label) if word]
    if not words:
        raise BadValue(f"the label {label[:40]!r} has no word", "give a label such as 'Dropship fulfillment'")
    parts = [word[0].upper() + word[1:] for word in words]
    if node_type != "class":
        first = words[0]
        parts[0] = first.lower() if first.isupper() else first[0].lower() + first[1:]
    own = "".join(parts)
    return own if not own[0].isdigit() else ("N" if node_type == "class" else "n") + own


def proposed_node(proposal: Proposal) -> Concept | Property:
    """What a proposal adds to an ontology."""
    label, definition = (" ".join(text.split()) for text in (proposal.label, proposal.sbvr_definition))
    synonyms = tuple(filter(None, dict.fromkeys(" ".join(each.split()) for each in proposal.sbvr_synonyms)))
    told = (definition, synonyms)
    if proposal.is_class:
        parents = (proposal.parent_class,) if proposal.parent_class else ()
        return Concept(proposal.node_id, label, parents, *told, source=proposal.domain)
    return Property(
        proposal.node_id,
        label,
        proposal.node_type.removesuffix("_property"),
        (proposal.domain_class,) if proposal.domain_class else (),
        (proposal.range,) if proposal.range else (),
        proposal.functional,
        *told,
        source=proposal.domain,
    )


def name_proposed(proposals: Iterable[Proposal]) -> dict[str, str]:
    """The ids of proposed classes, by their names."""
    nodes = [proposed_node(each) for each in proposals if each.is_class]
    return {name_key(name): node.id for node in nodes for name in names_of(node) if name}


def resolve_names(proposal: Proposal, ontology: Ontology, proposed: Mapping[str, str]) -> Proposal:
    """The proposal with ids where it names parent, domain and range by label or synonym; what nobody knows stays.

    Of several concepts so called, one of the same ontology is meant first, then one of any, then a proposed one.
    """

    def meant(name: str) -> str:
        found = ontology.concepts_named(name)
        near = [concept for concept in found if concept.source == proposal.domain]
        return (near or found)[0].id if found else proposed.get(name_key(name), name)

    span = proposal.range
    if proposal.node_type == "datatype_property" and f"xsd:{span}" in DATATYPES:
        span = f"xsd:{span}"
    elif proposal.node_type == "object_property":
        span = meant(span)
    return proposal._replace(
        parent_class=meant(proposal.parent_class), domain_class=meant(proposal.domain_class), range=span
    )


def is_merged(proposal: Proposal, ontology: Ontology) -> bool:
    """Whether an ontology has just what is proposed: a merge was cut short behind the write, or somebody did it by hand."""
    node = proposed_node(proposal)
    held = (ontology.concepts if proposal.is_class else ontology.properties).get(node.id)
    return held is not None and held._replace(source=node.source) == node


def is_lost(proposal: Proposal, ontology: Ontology) -> bool:
    """Whether what was approved is not in an ontology any more: somebody took it out, or brought an older file back."""
    nodes = ontology.concepts if proposal.is_class else ontology.properties
    return proposal.status == "approved" and proposal.node_id not in nodes


def order_proposals(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Proposals with those that others rest on first. Circles were refused before."""
    by_node = {proposal.node_id: proposal for proposal in proposals}
    rests = {own: [need for need in needs_of(each) if need in by_node] for own, each in by_node.items()}
    return [by_node[own] for own in TopologicalSorter(rests).static_order()]


def needs_of(proposal: Proposal) -> list[str]:
    """The ids of what a proposal names: its parent, or the ends of a property."""
    named = (proposal.parent_class, proposal.domain_class, proposal.range)
    return [name for name in dict.fromkeys(named) if name and name != proposal.node_id]
