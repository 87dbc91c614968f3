"""Proposals for ontologies: new concepts and properties, what they add and what they depend on."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.ontology import (
    DATATYPES,
    Concept,
    Ontology,
    Property,
    is_datatype,
    local_name,
    name_key,
    names_of,
)
from mabos_cli.core.language.similar import edit_distance, tolerance

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
        """Returns what is proposed, without who proposed it and its status."""
        return self[1:11]


def make_local_name(label: str, node_type: str) -> str:
    """Returns the last part of an id for a label: PascalCase for classes, camelCase for properties.

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
    name = "".join(parts)
    return name if not name[0].isdigit() else ("N" if node_type == "class" else "n") + name


def proposed_node(proposal: Proposal) -> Concept | Property:
    """Returns what a proposal adds to an ontology."""
    label, definition = (" ".join(text.split()) for text in (proposal.label, proposal.sbvr_definition))
    synonyms = tuple(filter(None, dict.fromkeys(" ".join(each.split()) for each in proposal.sbvr_synonyms)))
    parents, domains, ranges = (
        (name,) if name else () for name in (proposal.parent_class, proposal.domain_class, proposal.range)
    )
    if proposal.is_class:
        return Concept(proposal.node_id, label, parents, definition, synonyms, proposal.domain)
    kind, source = proposal.node_type.removesuffix("_property"), proposal.domain
    ends = (domains, ranges, proposal.functional)
    return Property(proposal.node_id, label, kind, *ends, definition, synonyms, source=source)


def name_proposed(proposals: Iterable[Proposal]) -> dict[str, str]:
    """Returns the ids of proposed classes, by their names."""
    nodes = [proposed_node(each) for each in proposals if each.is_class]
    return {name_key(name): node.id for node in nodes for name in names_of(node) if name}


def resolve_names(proposal: Proposal, ontology: Ontology, proposed: Mapping[str, str]) -> Proposal:
    """Returns the proposal with ids where it names parent, domain and range by label or synonym; what nobody knows stays.

    Of several concepts so called, one of the same ontology is meant first, then one of any, then a proposed one.
    """

    def resolve(name: str) -> str:
        found = ontology.concepts_named(name)
        near = [concept for concept in found if concept.source == proposal.domain]
        return (near or found)[0].id if found else proposed.get(name_key(name), name)

    span = proposal.range
    if proposal.node_type == "datatype_property" and f"xsd:{span}" in DATATYPES:
        span = f"xsd:{span}"
    elif proposal.node_type == "object_property":
        span = resolve(span)
    return proposal._replace(
        parent_class=resolve(proposal.parent_class), domain_class=resolve(proposal.domain_class), range=span
    )


def is_merged(proposal: Proposal, ontology: Ontology) -> bool:
    """Returns whether an ontology has just what is proposed: a merge was cut short behind the write, or somebody did it by
    hand."""
    node = proposed_node(proposal)
    held = (ontology.concepts if proposal.is_class else ontology.properties).get(node.id)
    return held is not None and held._replace(source=node.source) == node


def order_proposals(proposals: Sequence[Proposal]) -> list[Proposal]:
    """Returns proposals with those that others rest on first. Circles were refused before."""
    by_node = {proposal.node_id: proposal for proposal in proposals}
    rests = {node_id: [need for need in needs_of(each) if need in by_node] for node_id, each in by_node.items()}
    return [by_node[node_id] for node_id in TopologicalSorter(rests).static_order()]


def needs_of(proposal: Proposal) -> list[str]:
    """Returns the ids of what a proposal names: its parent, or the ends of a property."""
    named = (proposal.parent_class, proposal.domain_class, proposal.range)
    return [name for name in dict.fromkeys(named) if name and name != proposal.node_id]


class Finding(NamedTuple):
    """Something against a proposal: an error keeps it from being merged, a warning does not."""

    level: str
    check: str
    message: str


class ProposalVerdict(NamedTuple):
    """A proposal and the findings against it."""

    proposal: Proposal
    findings: tuple[Finding, ...] = ()

    @property
    def is_valid(self) -> bool:
        return not any(finding.level == "error" for finding in self.findings)


class _Taken(NamedTuple):
    """A name, and what has it."""

    key: str
    name: str
    owner: str
    shown: str


class Surroundings:
    """The context in which proposals are checked: the ontology, the other proposals, and the known ontologies and prefixes."""

    def __init__(
        self,
        ontology: Ontology,
        pending: Sequence[Proposal] = (),
        domains: Collection[str] = (),
        prefixes: Collection[str] = (),
    ) -> None:
        self.ontology = ontology
        self.pending = pending
        self.domains = domains
        self.prefixes = prefixes
        self._taken: dict[tuple[bool, int], list[_Taken]] = {}
        nodes: list[Concept | Property] = [*ontology.concepts.values(), *ontology.properties.values()]
        for node in nodes:
            self._take(node, node.id)
        for each in pending:
            self._take(proposed_node(each), f"{each.node_id} ({each.id})")

    def _take(self, node: Concept | Property, shown: str) -> None:
        for name in filter(None, names_of(node)):
            key = name_key(name)
            place = isinstance(node, Concept), len(key)
            self._taken.setdefault(place, []).append(_Taken(key, name, node.id, shown))

    def names_like(self, key: str, is_class: bool) -> Iterator[tuple[int, _Taken]]:
        """Yields the names of nodes of a kind that are too near to one, and how far each is."""
        spread = tolerance(len(key))
        for length in range(len(key) - spread, len(key) + spread + 1):
            most = tolerance(min(len(key), length))
            # Of so many parts and one more, one at least is left as it is: most names have none of them, and are quickly done.
            size = -(-len(key) // (most + 1)) or 1
            parts = [key[at : at + size] for at in range(0, len(key), size)]
            for taken in self._taken.get((is_class, length), ()):
                if any(part in taken.key for part in parts):
                    away = edit_distance(key, taken.key, most)
                    if away <= most:
                        yield away, taken


def validate_proposal(proposal: Proposal, around: Surroundings) -> list[Finding]:
    """Returns the findings against a proposal, errors first."""
    others = [other for other in around.pending if other.id != proposal.id]
    found = [*_check_id(proposal, around, others), *_check_duplicates(proposal, around)]
    if proposal.is_class:
        found += _check_parent(proposal, around.ontology, others)
    else:
        found += _check_ends(proposal, around.ontology, others)
    found += _check_texts(proposal)
    return sorted(found, key=lambda finding: finding.level != "error")


def judge_proposal(proposal: Proposal, around: Surroundings, similar: bool) -> ProposalVerdict:
    """Returns the verdict on a proposal; with `similar`, names that are only alike are no error."""
    if proposal.status != "pending":
        return ProposalVerdict(proposal)
    if is_merged(proposal, around.ontology):
        done = Finding("warning", "duplicate", f"{proposal.node_id} is in the ontology already, just as proposed")
        return ProposalVerdict(proposal, (done,))
    found = validate_proposal(proposal, around)
    if similar:
        found = [f._replace(level="warning") if f.check == "similar" else f for f in found]
    return ProposalVerdict(proposal, tuple(found))


def note_findings(verdict: ProposalVerdict, now: str) -> Proposal:
    """Returns the proposal with what was found; when it was found before, that stays as it is."""
    findings = [finding._asdict() for finding in verdict.findings]
    old = verdict.proposal.validation_result or {}
    if old.get("findings") == findings and old.get("valid") is verdict.is_valid:
        return verdict.proposal
    result: dict[str, Any] = {"valid": verdict.is_valid, "findings": findings, "checked_at": now}
    return verdict.proposal._replace(validation_result=result)


def _check_id(proposal: Proposal, around: Surroundings, others: Sequence[Proposal]) -> Iterator[Finding]:
    name, node_id = local_name(proposal.node_id), proposal.node_id
    if not re.fullmatch(DOMAIN, proposal.domain):
        yield Finding("error", "domain", f"{proposal.domain!r} cannot be the name of an ontology")
    elif proposal.domain not in around.domains:
        yield Finding("warning", "domain", f"there is no ontology {proposal.domain}: merging makes one")
    is_word = name.isidentifier() and "_" not in name and ":" in node_id and not re.search(r'[\s<>"{}|\\^`]', node_id)
    if proposal.is_class and (not is_word or name[0].islower()):
        yield Finding("error", "naming", f"{node_id}: a class is named prefix:PascalCase")
    elif not proposal.is_class and (not is_word or name[0].isupper()):
        yield Finding("error", "naming", f"{node_id}: a property is named prefix:camelCase")
    prefix, colon, rest = node_id.partition(":")
    if colon and not rest.startswith("//") and prefix not in (*around.prefixes, proposal.domain):
        yield Finding("error", "naming", f"{node_id}: no ontology says what the prefix {prefix} stands for")
    known = around.ontology
    if node_id in known.concepts or node_id in known.properties or node_id in known.rules:
        yield Finding("error", "duplicate", f"{node_id} exists")
    for other in others:
        if other.node_id == node_id:
            yield Finding("error", "duplicate", f"{other.id} proposes {node_id} too")


def _check_duplicates(proposal: Proposal, around: Surroundings) -> Iterator[Finding]:
    """Yields names that are taken, or nearly so, by nodes of the same kind: nouns and verbs may look alike."""
    names: dict[str, str] = {}
    for name in filter(None, (proposal.label, *proposal.sbvr_synonyms, local_name(proposal.node_id))):
        names.setdefault(name_key(name), name)
    for key, name in names.items():
        nearest: dict[str, tuple[int, _Taken]] = {}
        for away, taken in around.names_like(key, proposal.is_class):
            if taken.owner != proposal.node_id and (taken.shown not in nearest or away < nearest[taken.shown][0]):
                nearest[taken.shown] = away, taken
        for away, taken in sorted(nearest.values()):
            check, verb = ("duplicate", "is") if away == 0 else ("similar", "is nearly")
            yield Finding("error", check, f"{name!r} {verb} {taken.name!r} of {taken.shown}")


def _check_parent(proposal: Proposal, ontology: Ontology, others: Sequence[Proposal]) -> Iterator[Finding]:
    parent = proposal.parent_class
    if not parent:
        yield Finding("warning", "parent", "no parent: the class is the root of a tree of its own")
        return
    proposed = {other.node_id: other for other in others if other.is_class}
    if parent not in ontology.concepts and parent not in proposed and parent != proposal.node_id:
        yield Finding("error", "parent", f"the parent {parent} is no class of any ontology or proposal")
    circle = _find_circle(proposal, ontology, proposed)
    if circle:
        yield Finding("error", "cycle", f"a class cannot be below itself: {' < '.join(circle)}")


def _find_circle(proposal: Proposal, ontology: Ontology, proposed: Mapping[str, Proposal]) -> tuple[str, ...]:
    """Returns the path from a class up to itself, if there is one."""
    waiting: list[tuple[str, ...]] = [(proposal.node_id, proposal.parent_class)]
    seen: set[str] = set()
    while waiting:
        path = waiting.pop()
        if path[-1] == proposal.node_id:
            return path
        if path[-1] not in seen:
            seen.add(path[-1])
            known, new = ontology.concepts.get(path[-1]), proposed.get(path[-1])
            above = (*(known.parents if known else ()), *((new.parent_class,) if new else ()))
            waiting += [(*path, each) for each in above if each]
    return ()


def _check_ends(proposal: Proposal, ontology: Ontology, others: Sequence[Proposal]) -> Iterator[Finding]:
    """Yields what is wrong with domain and range of a property: classes, or the range of a datatype property a datatype."""
    classes = {*ontology.concepts, *(other.node_id for other in others if other.is_class)}
    is_data, span = proposal.node_type == "datatype_property", proposal.range
    known = "is no class of any ontology or proposal"
    if not proposal.domain_class:
        yield Finding("warning", "domain_class", "no domain: nothing says what has this property")
    elif proposal.domain_class not in classes:
        yield Finding("error", "domain_class", f"the domain {proposal.domain_class} {known}")
    if not span:
        yield Finding("warning", "range", "no range: nothing says what its values are")
    elif is_data and span not in (*DATATYPES, "rdfs:Literal"):
        yield Finding("error", "range", f"the range {span} is no datatype such as xsd:decimal")
    elif not is_data and is_datatype(span):
        yield Finding("error", "range", f"{span} is a datatype: propose a datatype_property")
    elif not is_data and span not in classes:
        yield Finding("error", "range", f"the range {span} {known}")


def _check_texts(proposal: Proposal) -> Iterator[Finding]:
    definition = proposal.sbvr_definition
    if not definition.strip():
        yield Finding("error", "definition", "no definition: say what it is, and how it differs from its parent")
    elif name_key(definition.rstrip(".")) in {name_key(proposal.label), name_key(local_name(proposal.node_id))}:
        yield Finding("error", "definition", "the definition only repeats the label")
    if not proposal.rationale.strip():
        yield Finding("warning", "rationale", "no rationale: nothing says why it is needed")


def find_left_out(proposal: Proposal, chosen: Iterable[Proposal], around: Surroundings) -> Iterator[Finding]:
    """Yields an error for each class that a proposal rests on and that is itself only proposed, and not chosen with it."""
    given = {*around.ontology.concepts, *(each.node_id for each in chosen)}
    for other in around.pending:
        if other.node_id not in given and other.node_id in needs_of(proposal):
            yield Finding("error", "parent", f"{other.node_id} is itself only proposed: merge {other.id} too")
