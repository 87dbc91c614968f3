"""Constraints and policies: where facts violate the one, and what the other asks for."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.fact_types import ground_facts
from mabos_cli.core.knowledge.joins import FactIndex, JoinLimit, Match, fill, match
from mabos_cli.core.knowledge.ontology import Ontology
from mabos_cli.core.knowledge.rule import SEVERITIES, Problem, Rule, left_out, usable_rules


class Violation(NamedTuple):
    """A state of the facts that a constraint forbids."""

    rule: Rule
    severity: str
    message: str
    bindings: tuple[tuple[str, str], ...]
    supports: tuple[str, ...]


class Action(NamedTuple):
    """What a policy asks for, and whether to escalate it."""

    rule: Rule
    action: str
    escalate: bool
    bindings: tuple[tuple[str, str], ...]
    supports: tuple[str, ...]


class Violations(NamedTuple):
    """What was found, the most severe first, and rules that could not be checked."""

    found: tuple[Violation, ...]
    problems: tuple[Problem, ...]


class Actions(NamedTuple):
    """What is to be done, escalations first, and rules that could not be evaluated."""

    found: tuple[Action, ...]
    problems: tuple[Problem, ...]


def check_constraints(facts: Iterable[Fact], rules: Iterable[Rule]) -> Violations:
    """The violations of the enabled constraints: each way in which all conditions of one hold at one time."""
    matches, problems = _match_all(facts, rules, "constraint")
    found = [Violation(rule, rule.severity, _message(rule, one), one.bindings, _ids(one)) for rule, one in matches]
    found.sort(key=lambda one: (-SEVERITIES.index(one.severity), one.rule.id))  # stable: bindings stay in order
    return Violations(tuple(found), tuple(problems))


def check_with_ontology(
    facts: Sequence[Fact], rules: Iterable[Rule], given: Sequence[Rule], ontology: Ontology
) -> Violations:
    """The violations of an agent's own constraints and of those given by ontologies, the most severe first. The latter speak of
    classes and what is below them; facts are told in these words for the predicates that they ask for."""
    own = check_constraints(facts, rules)
    asked = {condition.predicate for rule in given for condition in rule.conditions}
    grounded = (fact for fact in ground_facts(facts, ontology) if fact.predicate in asked) if given else ()
    shared = check_constraints(grounded, given)
    found = sorted((*own.found, *shared.found), key=lambda one: -SEVERITIES.index(one.severity))
    return Violations(tuple(found), (*own.problems, *shared.problems))


def assume(facts: Iterable[Fact], assumed: Sequence[Fact]) -> list[Fact]:
    """Facts with some that are assumed: each stands in place of what is known about the same property.

    >>> held = [Fact("F-1", "acme", "hasDebt", "10"), Fact("F-2", "acme", "locatedIn", "US")]
    >>> [fact.object for fact in assume(held, [Fact("assumed-1", "acme", "hasDebt", "90000")])]
    ['US', '90000']
    """
    taken = {fact.triple[:2] for fact in assumed}
    return [*(fact for fact in facts if fact.triple[:2] not in taken), *assumed]


def eval_policies(facts: Iterable[Fact], rules: Iterable[Rule]) -> Actions:
    """The actions that the enabled policies ask for."""
    matches, problems = _match_all(facts, rules, "policy")
    found = [
        Action(rule, fill(rule.action, one.bindings), rule.escalate, one.bindings, _ids(one)) for rule, one in matches
    ]
    found.sort(key=lambda one: (not one.escalate, one.rule.id))
    return Actions(tuple(found), tuple(problems))


def _match_all(
    facts: Iterable[Fact], rules: Iterable[Rule], kind: str
) -> tuple[list[tuple[Rule, Match]], list[Problem]]:
    """The ways in which the rules of a type match."""
    usable, problems = usable_rules(rules, kind)
    index = FactIndex(facts)
    found = []
    for rule in usable:
        try:
            found += [(rule, one) for one in match(rule.conditions, index)]
        except JoinLimit:
            problems.append(left_out(rule))
    return found, problems


def _message(rule: Rule, one: Match) -> str:
    """The message with variables filled in; a constraint without one says its name and what matched."""
    if rule.violation_message.strip():
        return fill(rule.violation_message, one.bindings)
    return f"{rule.name or rule.id}: " + "; ".join(" ".join(fact.triple) for fact in one.supports)


def _ids(one: Match) -> tuple[str, ...]:
    return tuple(dict.fromkeys(fact.id for fact in one.supports))
