"""Facts as records for the knowledge graph: what an ontology has classes and relations for becomes individuals and statements."""

from collections.abc import Collection, Iterable, Iterator
from decimal import Decimal

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


class _Typing:
    """The classes of what facts are about, those that facts name and those that predicates are for, as types that an ontology gives the
    graph; and what each type can play and own."""

    def __init__(self, agent: str, ontology: Ontology, facts: Iterable[Fact]) -> None:
        self._agent, self._ontology, self._taxonomy = agent, ontology, Taxonomy(ontology)
        taken = mirror_schema().names()
        schema = ontology_schema(ontology, taken)
        self._labels = label_types(ontology, taken)
        self._value_types = {each.name: each.value_type for each in schema.attributes}
        self._above = {each.name: each.parent for each in schema.entities}
        self._can = {(each.name, play.relation, play.role) for each in schema.entities for play in each.plays}
        self._can |= {(each.name, owned.attribute, "") for each in schema.entities for owned in each.owns}
        self._stated: dict[str, set[str]] = {}
        self._implied: dict[str, set[str]] = {}
        self._facts: list[Fact] = []  # those with a value for something
        for fact in facts if ontology.concepts else ():
            self._note(fact)
        self.classes = {name: self._narrowest(name) for name in sorted(self._stated.keys() | self._implied.keys())}

    def _note(self, fact: Fact) -> None:
        if fact.predicate in TYPE_PREDICATES:
            concept = self._ontology.find_concept(fact.object)
            if concept:
                self._stated.setdefault(fact.subject, set()).add(concept.id)
            return
        found = self._properties(fact.predicate)
        if any(each.kind == "datatype" for each in found):
            self._facts.append(fact)
        if len(found) == 1:  # what could mean several things implies none
            ends = ((fact.subject, found[0].domains), (fact.object, found[0].ranges))
            for name, named in ends[: 1 if found[0].kind == "datatype" else 2]:
                if len(named) == 1 and named[0] in self._ontology.concepts:
                    self._implied.setdefault(name, set()).add(named[0])

    def _narrowest(self, name: str) -> str:
        """Returns the narrowest class of a thing: none of the others is below it. Of several, one that a fact names, else the deepest."""
        is_a, stated = self._taxonomy.is_a, self._stated.get(name, set())
        found = stated | self._implied.get(name, set())
        lowest = [one for one in found if not any(other != one and is_a(other, one) for other in found)]
        rank = lambda one: (one not in stated, -len(self._taxonomy.ancestors(one)), one)  # noqa: E731
        return self._labels[min(lowest or found, key=rank)]

    def _properties(self, predicate: str) -> tuple[Property, ...]:
        return () if predicate in TYPE_PREDICATES else self._ontology.properties_named(predicate)

    def _fits(self, label: str, what: str, role: str = "") -> bool:
        """Returns whether things of a type can play a role of a relation, or own an attribute."""
        while label and (label, what, role) not in self._can:
            label = self._above[label]
        return bool(label)

    def statement(self, fact: Fact) -> Statement | None:
        """Returns what a fact says, if the ontology has a relation for it that both ends can take part in."""
        subject, obj = self.classes.get(fact.subject), self.classes.get(fact.object)
        for each in self._properties(fact.predicate) if subject and obj else ():
            relation, ends = self._labels[each.id], (subject or "", obj or "")
            if each.kind != "datatype" and all(map(self._fits, ends, (relation, relation), ("subject", "object"))):
                keys = (uid_of(self._agent, name) for name in (fact.subject, fact.object))
                return Statement(relation, *zip(ends, keys, strict=True))
        return None

    def individuals(self) -> Iterator[Record]:
        """Yields the individuals of the facts, with their values. A value that holds for a time only is left to its fact."""
        values: dict[str, dict[str, dict[Value, None]]] = {}
        for fact in self._facts:
            for each in self._properties(fact.predicate):
                name = self._labels[each.id]
                value = _value(fact.object, self._value_types.get(name, ""))
                is_owned = fact.subject in self.classes and self._fits(self.classes[fact.subject], name)
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
