"""What ontology commands print: nodes, trees, proposals and what is to be said against them."""

from collections.abc import Iterable
from typing import Any

from mabos_cli.core.knowledge.ontology import (
    Branch,
    BusinessRule,
    Concept,
    Node,
    Ontology,
    Property,
    Taxonomy,
    inherited_properties,
    local_name,
    properties_of,
)
from mabos_cli.core.knowledge.proposal import Proposal
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.services.knowledge.ontology_changes import Verdict

_INDENT = "  "


def proposal_line(proposal: Proposal) -> str:
    """A proposal on one line."""
    by = f" by {proposal.proposed_by}" if proposal.proposed_by else ""
    told = f", {_checked(proposal)}" if proposal.status == "pending" and proposal.validation_result else ""
    why = f" ({proposal.reason})" if proposal.reason else ""
    kind = proposal.node_type.replace("_", " ")
    return one_line(
        f"{proposal.id} {kind} {proposal.node_id} {proposal.label!r}{by}: {proposal.status}{told}{why}", 240
    )


def _checked(proposal: Proposal) -> str:
    """What the last validation found."""
    result = proposal.validation_result or {}
    if result.get("valid") is True:
        return "valid"
    findings = result.get("findings")
    levels = [f.get("level") for f in findings if isinstance(f, dict)] if isinstance(findings, list) else []
    return plural(levels.count("error"), "error")


def count_columns(row: dict[str, Any]) -> tuple[str, ...]:
    """A row of the list of ontologies."""
    nouns = (("concepts", "concept"), ("properties", "property"), ("rules", "rule"))
    pending = f"{row['pending']} pending" if row["file"] else f"no file yet, {row['pending']} pending"
    return (row["name"], *(plural(row[name], noun) for name, noun in nouns), pending)


def finding_lines(verdict: Verdict) -> list[str]:
    """A verdict, with a line for each finding."""
    proposal = verdict.proposal
    state = ("valid" if verdict.is_valid else "fails") if proposal.status == "pending" else proposal.status
    head = f"{proposal.id} {proposal.node_id}: {state}"
    return [head, *(f"{_INDENT}{f.level} {f.check}: {f.message}" for f in verdict.findings)]


def verdict_row(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON."""
    proposal = verdict.proposal
    return {
        "id": proposal.id,
        "node_id": proposal.node_id,
        "status": proposal.status,
        "valid": verdict.is_valid,
        "findings": [finding._asdict() for finding in verdict.findings],
    }


def tree_lines(branches: Iterable[Branch]) -> list[str]:
    """The class tree, a concept on each line."""
    return [f"{_INDENT * b.depth}{b.concept.label} ({b.concept.id})" for b in branches]


def node_lines(node: Node, ontology: Ontology) -> list[str]:
    """All about one node."""
    if isinstance(node, Concept):
        kind, lines = "class", _concept_lines(node, ontology)
    elif isinstance(node, Property):
        kind = f"{'functional ' if node.is_functional else ''}{node.kind} property"
        lines = _property_lines(node, ontology)
    else:
        kind, lines = f"{node.modality} rule".strip(), _rule_lines(node)
    return [f"{node.label} ({node.id}), {kind} of {node.source}", *lines]


def _concept_lines(node: Concept, ontology: Ontology) -> list[str]:
    path = Taxonomy(ontology).path_up(node.id)
    told = {
        "definition": node.definition,
        "synonyms": ", ".join(node.synonyms),
        "above": " < ".join(_label(own, ontology) for own in path[1:]),
        "also below": ", ".join(_label(own, ontology) for own in node.parents if own not in path),
        "children": ", ".join(_label(own, ontology) for own in ontology.children(node.id)),
    }
    lines = [f"{_INDENT}{name}: {text}" for name, text in told.items() if text]
    for above, given in inherited_properties(ontology, node.id).items():
        lines.append(f"{_INDENT}as a {_label(above, ontology)}: {', '.join(local_name(p.id) for p in given)}")
    return [*lines, *(f"{_INDENT}{_property_line(each, ontology)}" for each in properties_of(ontology, node.id))]


def _property_line(each: Property, ontology: Ontology) -> str:
    ends = " -> ".join(
        " or ".join(_label(own, ontology) for own in side) or "?" for side in (each.domains, each.ranges)
    )
    read = " / ".join(filter(None, (each.reading, each.inverse_reading)))
    return f"{each.id}: {ends}" + (f" ({read})" if read else "")


def _property_lines(node: Property, ontology: Ontology) -> list[str]:
    told = {
        "definition": node.definition,
        "synonyms": ", ".join(node.synonyms),
        "domain": " or ".join(_label(own, ontology) for own in node.domains),
        "range": " or ".join(_label(own, ontology) for own in node.ranges),
        "reading": node.reading,
        "inverse": node.inverse_reading,
    }
    return [f"{_INDENT}{name}: {text}" for name, text in told.items() if text]


def _rule_lines(node: BusinessRule) -> list[str]:
    told = {
        "statement": node.statement,
        "enforcement": node.enforcement_level,
        "severity": node.severity,
        "violated when": node.violated_when,
        "message": node.message,
    }
    return [f"{_INDENT}{name}: {text}" for name, text in told.items() if text]


def _label(own: str, ontology: Ontology) -> str:
    concept = ontology.concepts.get(own)
    return concept.label if concept else own


def node_row(node: Node, ontology: Ontology) -> dict[str, Any]:
    """One node as JSON."""
    kind = {Concept: "class", Property: "property", BusinessRule: "rule"}[type(node)]
    told: dict[str, Any] = {"node": kind}
    for name, value in node._asdict().items():
        told["ontology" if name == "source" else name] = list(value) if isinstance(value, tuple) else value
    if isinstance(node, Concept):
        told["path"] = Taxonomy(ontology).path_up(node.id)
        told["children"] = list(ontology.children(node.id))
        told["properties"] = [node_row(each, ontology) for each in properties_of(ontology, node.id)]
        above = inherited_properties(ontology, node.id)
        told["inherited"] = {own: [each.id for each in given] for own, given in above.items()}
    return told
