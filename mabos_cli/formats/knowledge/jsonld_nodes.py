"""Nodes of JSON-LD documents as concepts, properties and rules, which only this module knows the keys of; and these as text."""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge import ontology as ontologies
from mabos_cli.core.knowledge.constraints import ground_pattern
from mabos_cli.core.knowledge.rule import Problem, Rule
from mabos_cli.core.language.text import plural
from mabos_cli.formats.knowledge.jsonld import Document, Prefixes
from mabos_cli.formats.knowledge.rules import parse_rule_text

_CLASSES = frozenset(("Class", "Concept"))
_TRAITS = {name[0].lower() + name[1:]: f"{name}Property" for name in ("Symmetric", "Transitive", "InverseFunctional")}
_PROPERTIES = frozenset(("ObjectProperty", "DatatypeProperty", "FunctionalProperty", "Property", *_TRAITS.values()))
_RULES = frozenset(("BusinessRule",))


def read_ontology(documents: Sequence[Document], domains: Iterable[str] = ()) -> ontologies.Ontology:
    """Returns what some documents say together. `domains` have no document yet: their names are prefixes too."""
    prefixes = Prefixes(documents, domains)
    concepts: list[ontologies.Concept] = []
    properties: list[ontologies.Property] = []
    rules: list[ontologies.BusinessRule] = []
    for document in documents:
        canonical = cache(lambda node_id, document=document: prefixes.shorten(document.expand(node_id)))
        for raw in document.nodes():
            node = _Node(raw, document, canonical)
            if not node.id:
                continue
            if node.is_concept:
                concepts.append(_concept(node))
            elif node.is_property:
                properties.append(_property(node))
            elif node.types & _RULES:
                rules.append(_rule(node))
    return _resolved(ontologies.Ontology(concepts, properties, rules))


def _resolved(ontology: ontologies.Ontology) -> ontologies.Ontology:
    """Returns the ontology with bare words for classes and properties replaced by the ids that they mean."""

    def class_id_of(name: str) -> str:
        known = None if ":" in name else ontology.find_concept(name)
        return known.id if known else f"xsd:{name}" if f"xsd:{name}" in ontologies.DATATYPES else name

    def ids_of(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(class_id_of, names))

    def property_ids_of(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(next((p.id for p in ontology.properties_named(name)), name) for name in names)

    concepts = [
        _labelled(c)._replace(parents=ids_of(c.parents), disjoint=ids_of(c.disjoint), equivalent=ids_of(c.equivalent))
        for c in ontology.concepts.values()
    ]
    properties = []
    for each in ontology.properties.values():
        ranges = ids_of(each.ranges)
        kind = each.kind or ("datatype" if ranges and all(map(ontologies.is_datatype, ranges)) else "object")
        each = each._replace(
            parents=property_ids_of(each.parents),
            inverses=property_ids_of(each.inverses),
            chains=tuple(map(property_ids_of, each.chains)),
        )
        properties.append(_labelled(each)._replace(kind=kind, domains=ids_of(each.domains), ranges=ranges))
    return ontologies.Ontology(concepts, properties, map(_labelled, ontology.rules.values()))


def _labelled(node: ontologies.Kind) -> ontologies.Kind:
    """Returns a node that nobody gave a label is called by the last part of its id."""
    return node if node.label else node._replace(label=ontologies.local_name(node.id))


class _Node:
    """A node of a document, its keys by what they mean."""

    def __init__(self, raw: dict[str, Any], document: Document, canonical: Callable[[str], str]) -> None:
        self.canonical = canonical
        self._field = document.field
        self._raw = {self._field(key): value for key, value in raw.items()}
        types = self._raw.get("@type", self._raw.get("type"))  # rdf:type is written as any other key
        self.types = {self._field(each) for each in _refs(types, self._field)}
        node_id = self._raw.get("@id", self._raw.get("id"))
        node_id = self.canonical(node_id) if isinstance(node_id, str) and not node_id.startswith("_:") else ""
        self.id = node_id or (self.text("label") if self.types & (_CLASSES | _PROPERTIES | _RULES) else "")
        self.source = document.name

    @property
    def is_concept(self) -> bool:
        return bool(self.types & _CLASSES) or (not self.types and "subClassOf" in self._raw)

    @property
    def is_property(self) -> bool:
        hints = self._raw.keys() & {"domain", "range", "subPropertyOf", "propertyChainAxiom"} or self.is_functional
        return bool(self.types & _PROPERTIES) or (not self.types and bool(hints))

    @property
    def is_functional(self) -> bool:
        return "FunctionalProperty" in self.types or self._raw.get("functional") is True

    def texts(self, *keys: str) -> tuple[str, ...]:
        """Returns the texts under the first of some keys that has any, those in English or in no named language first."""
        for key in keys:
            if isinstance(value := self._raw.get(key), str) and value.strip():  # as most are
                return (" ".join(value.split()),)
            found = sorted(_texts(value), key=lambda pair: pair[0][:2] not in ("", "en"))
            if found:
                return tuple(dict.fromkeys(" ".join(text.split()) for _, text in found))
        return ()

    def text(self, *keys: str) -> str:
        return next(iter(self.texts(*keys)), "")

    def refs(self, *keys: str) -> tuple[str, ...]:
        """Returns the ids under some keys."""
        found = (ref for key in keys if key in self._raw for ref in _refs(self._raw[key], self._field))
        return tuple(dict.fromkeys(map(self.canonical, found)))

    def chains(self, key: str) -> tuple[tuple[str, ...], ...]:
        """Returns the lists of ids under a key: one list, or several."""
        value = self._raw.get(key) or ()
        lists = value if isinstance(value, list) and all(isinstance(each, dict | list) for each in value) else [value]
        if lists and all(isinstance(each, dict) and each.keys() == {"@id"} for each in lists):
            lists = [value]  # one list, whose context says that it is one
        found = (tuple(map(self.canonical, _refs(each, self._field))) for each in lists)
        return tuple(chain for chain in found if len(chain) > 1)


def _texts(value: Any) -> Iterable[tuple[str, str]]:
    """Yields language and text of each text in a value."""
    if isinstance(value, str):
        yield "", value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, dict):
        if isinstance(value.get("@value"), str):
            yield str(value.get("@language", "")), value["@value"]
        for key in ("@list", "@set"):
            yield from _texts(value.get(key))
        for key, each in value.items():  # {"en": "Customer", "de": "Kunde"}
            if not key.startswith("@"):
                yield from ((key, text) for _, text in _texts(each))


def _refs(value: Any, field: Callable[[str], str]) -> Iterable[str]:
    """Yields the ids that a value refers to; a union refers to its members, other nameless classes to nothing."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _refs(each, field)
    elif isinstance(value, dict):
        ref = value.get("@id", value.get("@value"))
        if isinstance(ref, str) and not ref.startswith("_:"):
            yield ref
        for key, each in value.items():
            if key in ("@list", "@set") or field(key) == "unionOf":
                yield from _refs(each, field)


def _concept(node: _Node) -> ontologies.Concept:
    return ontologies.Concept(
        node.id,
        node.text("label", "prefLabel"),
        tuple(parent for parent in node.refs("subClassOf", "broader") if parent != node.id),
        node.text("sbvr_definition", "definition", "comment"),
        node.texts("sbvr_synonyms", "altLabel"),
        node.source,
        node.refs("disjointWith"),
        tuple(other for other in node.refs("equivalentClass") if other != node.id),
    )


def _property(node: _Node) -> ontologies.Property:
    stated = next((kind for kind in ("Object", "Datatype") if f"{kind}Property" in node.types), "").lower()
    return ontologies.Property(
        node.id,
        node.text("label", "prefLabel"),
        stated,
        node.refs("domain"),
        node.refs("range"),
        node.is_functional,
        node.text("sbvr_definition", "definition", "comment"),
        node.texts("sbvr_synonyms", "altLabel"),
        node.text("reading"),
        node.text("inverse_reading"),
        node.source,
        tuple(parent for parent in node.refs("subPropertyOf") if parent != node.id),
        node.refs("inverseOf"),
        tuple(trait for trait, kind in _TRAITS.items() if kind in node.types),
        node.chains("propertyChainAxiom"),
    )


def _rule(node: _Node) -> ontologies.BusinessRule:
    return ontologies.BusinessRule(
        node.id,
        node.text("label", "prefLabel"),
        node.text("modality"),
        node.text("enforcement_level"),
        node.text("sbvr_statement", "statement", "comment"),
        node.text("severity") or "warning",
        node.text("violated_when"),
        node.text("violation_message"),
        node.source,
    )


def read_constraints(ontology: ontologies.Ontology) -> tuple[list[Rule], list[Problem]]:
    """Returns the constraints, in the terms of `ground_facts`, and the rules that cannot be parsed. A rule that does not say what breaks
    it is for people, and skipped."""
    found, problems = [], []
    for rule in ontology.rules.values():
        if rule.violated_when.strip():
            try:
                found += [_constraint(rule, condition, ontology) for condition in rule.violated_when.split(" or if ")]
            except BadValue as error:
                problems.append(Problem(rule.id, error.message))
    return found, problems


def _constraint(rule: ontologies.BusinessRule, condition: str, ontology: ontologies.Ontology) -> Rule:
    """Returns the constraint for one condition that breaks a rule; a rule separates several of them by `or if`."""
    conditions, conclusion = parse_rule_text(condition, rule.message)
    if conclusion is not None:
        raise BadValue("what breaks a rule has conditions only, no `then`")
    grounded = tuple(ground_pattern(pattern, ontology) for pattern in conditions)
    return Rule(
        rule.id,
        rule.label,
        "constraint",
        grounded,
        description=rule.statement,
        violation_message=rule.message,
        severity=rule.severity,
        domain=rule.source,
    )


def count_columns(row: dict[str, Any]) -> tuple[str, ...]:
    """Returns a row of the list of ontologies."""
    nouns = (("concepts", "concept"), ("properties", "property"), ("rules", "rule"))
    pending = f"{row['pending']} pending" if row["file"] else f"no file yet, {row['pending']} pending"
    return (row["name"], *(plural(row[name], noun) for name, noun in nouns), pending)


def tree_lines(branches: Iterable[ontologies.Branch]) -> list[str]:
    """Returns the class tree, a concept on each line."""
    return [f"{'  ' * b.depth}{b.concept.label} ({b.concept.id})" for b in branches]


def node_lines(node: ontologies.Node, ontology: ontologies.Ontology) -> list[str]:
    """Returns all about one node."""

    def labels(ids: Iterable[str], between: str = ", ") -> str:
        known = ontology.concepts
        return between.join(known[node_id].label if node_id in known else node_id for node_id in ids)

    more: list[str] = []
    if isinstance(node, ontologies.Concept):
        kind, path = "class", ontologies.Taxonomy(ontology).path_up(node.id)
        details = {
            "definition": node.definition,
            "synonyms": ", ".join(node.synonyms),
            "above": labels(path[1:], " < "),
            "also below": labels(class_id for class_id in node.parents if class_id not in path),
            "children": labels(ontology.children(node.id)),
            "disjoint with": labels(node.disjoint),
            "the same as": labels(node.equivalent),
        }
        for above, given in ontologies.inherited_properties(ontology, node.id).items():
            more.append(f"  as a {labels([above])}: {', '.join(ontologies.local_name(p.id) for p in given)}")
        for each in ontologies.properties_of(ontology, node.id):
            ends = " -> ".join(labels(side, " or ") or "?" for side in (each.domains, each.ranges))
            read = " / ".join(filter(None, (each.reading, each.inverse_reading)))
            more.append(f"  {each.id}: {ends}" + (f" ({read})" if read else ""))
    elif isinstance(node, ontologies.Property):
        kind = f"{'functional ' if node.is_functional else ''}{node.kind} property"
        details = {
            "definition": node.definition,
            "synonyms": ", ".join(node.synonyms),
            "domain": labels(node.domains, " or "),
            "range": labels(node.ranges, " or "),
            "reading": node.reading,
            "inverse": node.inverse_reading,
            "below": ", ".join(node.parents),
            "inverse of": ", ".join(node.inverses),
            "traits": ", ".join(node.traits),
            "chains": "; ".join(" then ".join(chain) for chain in node.chains),
        }
    else:
        kind = f"{node.modality} rule".strip()
        details = {"statement": node.statement, "enforcement": node.enforcement_level, "severity": node.severity}
        details |= {"violated when": node.violated_when, "message": node.message}
    lines = [f"  {name}: {text}" for name, text in details.items() if text]
    return [f"{node.label} ({node.id}), {kind} of {node.source}", *lines, *more]


def node_row(node: ontologies.Node, ontology: ontologies.Ontology) -> dict[str, Any]:
    """Returns one node as JSON."""
    kind = {ontologies.Concept: "class", ontologies.Property: "property", ontologies.BusinessRule: "rule"}[type(node)]
    row: dict[str, Any] = {"node": kind}
    for name, value in node._asdict().items():
        row["ontology" if name == "source" else name] = list(value) if isinstance(value, tuple) else value
    if isinstance(node, ontologies.Concept):
        row["path"] = ontologies.Taxonomy(ontology).path_up(node.id)
        row["children"] = list(ontology.children(node.id))
        row["properties"] = [node_row(each, ontology) for each in ontologies.properties_of(ontology, node.id)]
        above = ontologies.inherited_properties(ontology, node.id)
        row["inherited"] = {class_id: [each.id for each in given] for class_id, given in above.items()}
    return row
