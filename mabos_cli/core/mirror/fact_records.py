"""Facts as records for the knowledge graph: what an ontology has classes and relations for becomes individuals and statements."""

from collections.abc import Collection, Iterable, Iterator
from decimal import Decimal
from functools import partial

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.ontology import TYPE_PREDICATES, Ontology, Property, Taxonomy
from mabos_cli.core.language.clock import end_of, find_time
from mabos_cli.core.language.values import find_value
from mabos_cli.core.mirror.records import (
    Links,
    Record,
    Statement,
    Value,
    derived_links,
    owned_by_agent,
    record_of,
    uid_of,
)
from mabos_cli.core.mirror.schema import INDIVIDUAL, label_types, mirror_schema, ontology_schema

_FROM_MEMORY = "memory:"  # before the id of the memory that a fact was read from
_LARGEST, _DIGITS = 2**63, 19  # before and behind the point


def fact_records(
    agent: str,
    facts: Collection[Fact],
    ontology: Ontology,
    rules: Collection[str] = (),
    memories: Collection[str] = (),
    wanted: Collection[str] | None = None,
) -> Iterator[Record]:
    """Yields the individuals that facts are about, then the facts; or of them those with wanted ids, and those about the same
    individuals, whose classes may have changed. Origins are ids of facts, of these rules and of these memories; what is gone is
    none."""
    typing = _Typing(agent, ontology, facts)
    yield from typing.individuals()
    ids = {fact.id for fact in facts}
    named = (fact for fact in facts if wanted is not None and fact.id in wanted)
    about = {name for fact in named for name in (fact.subject, fact.object) if name in typing.classes}
    for fact in facts:
        if wanted is None or fact.id in wanted or fact.subject in about or fact.object in about:
            origins = (
                ("spo_fact", fact.derived_from, ids),
                ("knowledge_rule", (fact.rule_id,), rules),
                ("memory_item", (memory_of(fact),), memories),
            )
            links = (
                derived_links(agent, kind, (key for key in named if key in known)) for kind, named, known in origins
            )
            record = fact_record(agent, fact, tuple(links))
            yield record._replace(statement=typing.statement(fact))


def memory_of(fact: Fact) -> str:
    """Returns the id of the memory that a fact was read from; nothing where it was not read from one."""
    return fact.source.removeprefix(_FROM_MEMORY) if fact.source.startswith(_FROM_MEMORY) else ""


def fact_record(agent: str, fact: Fact, links: tuple[Links, ...] = ()) -> Record:
    """Returns a fact, with the time for which it holds as it is written and as moments."""
    return record_of("spo_fact", agent, fact, links, ends_at=end_of(fact.valid_until))


class _Types:
    """The types that an ontology gives the graph, by its ids, and what each of them can play and own."""

    def __init__(self, ontology: Ontology) -> None:
        taken = mirror_schema().names()
        schema = ontology_schema(ontology, taken)
        self.ontology, self.taxonomy = ontology, Taxonomy(ontology)
        self.labels = label_types(ontology, taken)
        self.values = {each.name: each.value_type for each in schema.attributes}
        self._above = {each.name: each.parent for each in schema.entities}
        self._can = {(each.name, play.relation, play.role) for each in schema.entities for play in each.plays}
        self._can |= {(each.name, owned.attribute, "") for each in schema.entities for owned in each.owns}

    def can(self, label: str, what: str, role: str = "") -> bool:
        """Returns whether things of a type can play a role of a relation, or own an attribute."""
        while label and (label, what, role) not in self._can:
            label = self._above[label]
        return bool(label)

    def properties(self, predicate: str) -> tuple[Property, ...]:
        return () if predicate in TYPE_PREDICATES else self.ontology.properties_named(predicate)

    def narrowest(self, stated: Collection[str], implied: Collection[str]) -> str:
        """Returns the narrowest class: none of the others is below it. Of several, one that a fact names, else the deepest."""
        found = {*stated, *implied}
        lowest = [one for one in found if not any(other != one and self.taxonomy.is_a(other, one) for other in found)]
        rank = lambda one: (one not in stated, -len(self.taxonomy.ancestors(one)), one)  # noqa: E731
        return self.labels[min(lowest or found, key=rank)]


class _Typing:
    """The classes of what facts are about: those that facts name, and those that predicates are for."""

    def __init__(self, agent: str, ontology: Ontology, facts: Iterable[Fact]) -> None:
        self._agent, self._types = agent, _Types(ontology)
        self.classes: dict[str, str] = {}
        self._stated: dict[str, set[str]] = {}
        self._implied: dict[str, set[str]] = {}
        self._facts: list[Fact] = []  # those with a value for something
        if not ontology.concepts:
            return
        for fact in facts:
            self._note(fact)
        self.classes = {
            name: self._types.narrowest(self._stated.get(name, ()), self._implied.get(name, ()))
            for name in sorted(self._stated.keys() | self._implied.keys())
        }

    def _note(self, fact: Fact) -> None:
        if fact.predicate in TYPE_PREDICATES:
            concept = self._types.ontology.find_concept(fact.object)
            if concept:
                self._stated.setdefault(fact.subject, set()).add(concept.id)
            return
        found = self._types.properties(fact.predicate)
        if any(each.kind == "datatype" for each in found):
            self._facts.append(fact)
        if len(found) == 1:  # what could mean several things implies none
            ends = ((fact.subject, found[0].domains), (fact.object, found[0].ranges))
            for name, named in ends[: 1 if found[0].kind == "datatype" else 2]:
                if len(named) == 1 and named[0] in self._types.ontology.concepts:
                    self._implied.setdefault(name, set()).add(named[0])

    def statement(self, fact: Fact) -> Statement | None:
        """Returns what a fact says, if the ontology has a relation for it that both ends can take part in."""
        subject, obj = self.classes.get(fact.subject), self.classes.get(fact.object)
        if not subject or not obj:
            return None
        for each in self._types.properties(fact.predicate):
            relation = self._types.labels[each.id]
            fits = partial(self._types.can, what=relation)
            if each.kind != "datatype" and fits(subject, role="subject") and fits(obj, role="object"):
                ends = ((subject, uid_of(self._agent, fact.subject)), (obj, uid_of(self._agent, fact.object)))
                return Statement(relation, *ends)
        return None

    def individuals(self) -> Iterator[Record]:
        """Yields the individuals of the facts, with their values. A value that holds for a time only is left to its fact."""
        values: dict[str, dict[str, dict[Value, None]]] = {}
        for fact in self._facts:
            for each in self._types.properties(fact.predicate):
                name = self._types.labels[each.id]
                value = _value(fact.object, self._types.values.get(name, ""))
                is_owned = fact.subject in self.classes and self._types.can(self.classes[fact.subject], name)
                if value is not None and is_owned and not fact.valid_until:
                    values.setdefault(fact.subject, {}).setdefault(name, {})[value] = None
        owner = owned_by_agent(self._agent)
        for name, label in self.classes.items():
            has = ((attribute, tuple(found)) for attribute, found in sorted(values.get(name, {}).items()))
            yield Record(uid_of(self._agent, name), INDIVIDUAL, (("name", name), *has), owner, label)


def _value(text: str, value_type: str) -> Value | None:
    """Returns the value of a type that a text stands for; None where it stands for none.

    >>> _value("$1,200.50", "decimal"), _value("12 %", "double"), _value("about 7", "integer"), _value("2026-02-24", "date")
    (Decimal('1200.5'), 0.12, None, datetime.date(2026, 2, 24))
    """
    if value_type == "string":
        return text or None
    if value_type == "boolean":
        return {"true": True, "yes": True, "false": False, "no": False}.get(text.strip().casefold())
    if value_type in ("date", "datetime-tz"):
        moment = find_time(text.strip())
        return moment if value_type == "datetime-tz" or moment is None else moment.date()
    found = find_value(text)
    if found is None or found.kind not in ("number", "money", "percent") or not abs(found.amount) < _LARGEST:
        return None
    amount = Decimal(repr(found.amount)) / (100 if found.kind == "percent" else 1)
    if value_type == "integer":
        return int(amount) if amount == int(amount) else None
    if value_type == "decimal":
        return amount if int(amount.as_tuple().exponent) >= -_DIGITS else None
    return float(amount)
