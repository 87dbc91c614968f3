"""Rules of an ontology as constraints that run against facts."""

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.fact_types import ground_pattern
from mabos_cli.core.knowledge.ontology import BusinessRule, Ontology
from mabos_cli.core.knowledge.rule import Rule
from mabos_cli.core.knowledge.rule_check import Problem
from mabos_cli.formats.knowledge.rule_text import parse_rule_text


def read_constraints(ontology: Ontology) -> tuple[list[Rule], list[Problem]]:
    """The constraints, in the words in which `ground_facts` gives facts, and the rules that cannot be read as such. A rule that
    does not say what breaks it is for people, and left alone."""
    found, problems = [], []
    for rule in ontology.rules.values():
        if rule.violated_when.strip():
            try:
                found.append(_constraint(rule, ontology))
            except BadValue as error:
                problems.append(Problem(rule.id, error.message))
    return found, problems


def _constraint(rule: BusinessRule, ontology: Ontology) -> Rule:
    conditions, conclusion = parse_rule_text(rule.violated_when, rule.message)
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
