"""Checks constraints against facts, and finds what policies ask for."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache
from typing import NamedTuple

from mabos_cli.core.knowledge import ontology as ontologies
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.fact_lint import LintFinding
from mabos_cli.core.knowledge.matching import JoinLimit, fill, match
from mabos_cli.core.knowledge.relations import FactIndex
from mabos_cli.core.knowledge.rule import SEVERITIES, Pattern, Problem, Rule, is_variable, left_out, usable_rules
from mabos_cli.core.language.values import is_literal


class Firing(NamedTuple):
    """One way in which the conditions of a constraint or a policy hold: what it says or asks for, with variables filled in, and
    the ids of the facts behind it."""

    rule: Rule
    message: str
    bindings: tuple[tuple[str, str], ...]
    supports: tuple[str, ...]


class Firings(NamedTuple):
    """Holds what was found, the most severe or escalations first, and rules that could not be run."""

    found: tuple[Firing, ...]
    problems: tuple[Problem, ...]


def check_constraints(facts: Iterable[Fact], rules: Iterable[Rule], at: datetime | None = None) -> Firings:
    """Returns the violations of the enabled constraints: each way in which all conditions of one hold at one time, or at a
    moment."""
    found, problems = _fire(facts, rules, "constraint", at)
    # Sorting is stable: bindings stay in order.
    return Firings(tuple(sorted(found, key=lambda one: (-SEVERITIES.index(one.rule.severity), one.rule.id))), problems)


def check_with_ontology(
    facts: Sequence[Fact],
    rules: Iterable[Rule],
    given: Sequence[Rule],
    ontology: ontologies.Ontology,
    at: datetime | None = None,
) -> Firings:
    """Returns the violations of an agent's own constraints and of those given by ontologies, the most severe first. The latter are about
    classes and their subclasses; facts are rewritten in these terms for the predicates that they ask for."""
    local = check_constraints(facts, rules, at)
    asked = {each.predicate for rule in given for condition in rule.conditions for each in (condition, *condition.of)}
    # Facts get all superclasses here, so what ontologies entail about classes would be checked twice.
    plain = (f for f in facts if f.predicate not in ontologies.TYPE_PREDICATES or not f.rule_id.startswith("OWL-"))
    grounded = (fact for fact in ground_facts(plain, ontology) if fact.predicate in asked) if given else ()
    shared = check_constraints(grounded, given, at)
    found = sorted((*local.found, *shared.found), key=lambda one: -SEVERITIES.index(one.rule.severity))
    return Firings(tuple(found), (*local.problems, *shared.problems))


def assume(facts: Iterable[Fact], assumed: Sequence[Fact]) -> list[Fact]:
    """Returns facts with some that are assumed: each stands in place of what is known about the same property.

    >>> held = [Fact("F-1", "acme", "hasDebt", "10"), Fact("F-2", "acme", "locatedIn", "US")]
    >>> [fact.object for fact in assume(held, [Fact("assumed-1", "acme", "hasDebt", "90000")])]
    ['US', '90000']
    """
    taken = {fact.triple[:2] for fact in assumed}
    return [*(fact for fact in facts if fact.triple[:2] not in taken), *assumed]


def eval_policies(facts: Iterable[Fact], rules: Iterable[Rule], at: datetime | None = None) -> Firings:
    """Returns the actions that the enabled policies ask for, at a moment if one is given."""
    found, problems = _fire(facts, rules, "policy", at)
    return Firings(tuple(sorted(found, key=lambda one: (not one.rule.escalate, one.rule.id))), problems)


def _fire(facts: Iterable[Fact], rules: Iterable[Rule], kind: str, at: datetime | None) -> Firings:
    """Returns the ways in which the rules of a type match, and what each of them says then: its message or action with variables
    filled in; a constraint without a message says its name and what matched."""
    usable, problems = usable_rules(rules, kind)
    index = FactIndex(facts)
    found: list[Firing] = []
    for rule in usable:
        text = rule.action if kind == "policy" else rule.violation_message
        try:
            for one in match(rule.conditions, index, at=at):
                matched = f"{rule.name or rule.id}: " + "; ".join(" ".join(fact.triple) for fact in one.supports)
                ids = tuple(dict.fromkeys(fact.id for fact in one.supports))
                says = fill(text, one.bindings) if text.strip() else matched
                found.append(Firing(rule, says, one.bindings, ids))
        except JoinLimit:
            problems.append(left_out(rule))
    return Firings(tuple(found), tuple(problems))


_TYPE = "type"
_IRIS = ("http://", "https://", "urn:")


def lint_types(facts: Sequence[Fact], ontology: ontologies.Ontology) -> list[LintFinding]:
    """Returns the facts whose subject or object is of a class, or a value of a kind, that the property does not have: domains
    first. What has no known class is not judged; of several classes, or several properties of one name, one that fits is
    enough."""
    if not ontology.properties:
        return []
    facts = [fact for fact in facts if not fact.rule_id.startswith("OWL-")]  # a class that a domain entails always fits
    taxonomy, classes = ontologies.Taxonomy(ontology), find_classes(facts, ontology)
    find_properties = _meaning_in(ontology)

    def labels(ids: Iterable[str]) -> str:
        known = ontology.concepts
        return " or ".join(known[name].label if name in known else name for name in dict.fromkeys(ids))

    def fits_range(value: str, of: Collection[str], each: ontologies.Property) -> bool:
        datatypes = [name for name in each.ranges if ontologies.is_datatype(name)]
        if datatypes:
            return any(is_literal(value, name) for name in datatypes)
        return _is_one_of(of, each.ranges, taxonomy)

    found = []
    for fact in facts:
        properties = find_properties(fact.predicate)
        if not properties:
            continue
        subject, target = classes.get(fact.subject, ()), classes.get(fact.object, ())
        statement = " ".join(fact.triple)
        if not any(_is_one_of(subject, each.domains, taxonomy) for each in properties):
            wanted = labels(name for each in properties for name in each.domains)
            message = f"{statement}: the subject is {labels(subject)}, not {wanted}"
            found.append(LintFinding("domain", (fact.id,), message))
        if not any(fits_range(fact.object, target, each) for each in properties):
            wanted = labels(name for each in properties for name in each.ranges)
            is_class = f"is {labels(target)}, not {wanted}" if target else f"is no {wanted}"
            found.append(LintFinding("range", (fact.id,), f"{statement}: the object {is_class}"))
    return sorted(found, key=lambda finding: (finding.kind, finding.facts))


def find_classes(facts: Iterable[Fact], ontology: ontologies.Ontology) -> dict[str, tuple[str, ...]]:
    """Returns the ids of the classes of things, where facts name a class that the ontology knows."""
    found: dict[str, dict[str, None]] = {}
    for fact in facts:
        if fact.predicate in ontologies.TYPE_PREDICATES:
            for concept in _concepts(fact.object, ontology):
                found.setdefault(fact.subject, {})[concept] = None
    return {subject: tuple(classes) for subject, classes in found.items()}


def _concepts(name: str, ontology: ontologies.Ontology) -> list[str]:
    named = ontology.concepts_named(name)
    if not named and "/" in name:  # a whole IRI
        named = ontology.concepts_named(ontologies.local_name(name))
    return [concept.id for concept in named]


def _meaning_in(ontology: ontologies.Ontology) -> Callable[[str], tuple[ontologies.Property, ...]]:
    """Returns a function from predicates of facts to the properties that they mean, each looked up once."""

    @cache
    def find(predicate: str) -> tuple[ontologies.Property, ...]:
        found = ontology.properties_named(predicate)
        is_address = not found and re.search("[:/#]", predicate)
        return ontology.properties_named(ontologies.local_name(predicate)) if is_address else found

    return find


def _is_one_of(classes: Collection[str], wanted: Collection[str], taxonomy: ontologies.Taxonomy) -> bool:
    """Returns whether something of some classes may be of one that is wanted: it is of one below it, or is known only by one
    above it."""
    pairs = [(a, b) for a in classes for b in wanted]
    return not pairs or any(taxonomy.is_a(a, b) or taxonomy.is_a(b, a) for a, b in pairs)


def ground_facts(facts: Iterable[Fact], ontology: ontologies.Ontology) -> Iterator[Fact]:
    """Yields facts as the rules of an ontology see them: predicates by the local names of properties, and what is of a class is
    also of those above it."""
    taxonomy, find_properties = ontologies.Taxonomy(ontology), _meaning_in(ontology)
    for fact in facts:
        if fact.predicate in ontologies.TYPE_PREDICATES:
            above = {name: None for node_id in _concepts(fact.object, ontology) for name in taxonomy.ancestors(node_id)}
            for name in above or (fact.object,):
                is_iri = above or name.startswith(_IRIS)
                yield fact._replace(predicate=_TYPE, object=ontologies.local_name(name) if is_iri else name)
        else:
            named = find_properties(fact.predicate)
            node_id = named[0].id if named else fact.predicate
            name = ontologies.local_name(node_id) if named or node_id.startswith(_IRIS) else node_id
            yield fact if name == fact.predicate else fact._replace(predicate=name)


def ground_pattern(pattern: Pattern, ontology: ontologies.Ontology) -> Pattern:
    """Returns a condition of a rule in the same words."""
    pattern = pattern._replace(of=tuple(ground_pattern(each, ontology) for each in pattern.of))
    if pattern.predicate in ontologies.TYPE_PREDICATES:
        named = [] if is_variable(pattern.object) else _concepts(pattern.object, ontology)
        return pattern._replace(predicate=_TYPE, object=ontologies.local_name(named[0]) if named else pattern.object)
    found = _meaning_in(ontology)(pattern.predicate) if pattern.predicate else ()
    return pattern._replace(predicate=ontologies.local_name(found[0].id)) if found else pattern
