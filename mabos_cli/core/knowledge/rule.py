"""Rules over facts: what follows, what must not be, and what is to be done."""

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

KINDS = ("inference", "constraint", "policy")
OPERATORS = ("eq", "ne", "gt", "gte", "lt", "lte", "contains")
_SIGNS = {"eq": "=", "ne": "!=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
SEVERITIES = ("info", "warning", "error", "critical")


class Pattern(NamedTuple):
    """A triple with variables (`?x`) in it. With an operator other than eq, the object of a fact is compared with the object
    given here, which is a value, or a variable that another condition binds. Without a predicate, the subject is a variable that
    other conditions bind, and its value is compared."""

    subject: str
    predicate: str
    object: str
    operator: str = "eq"


def pattern_text(pattern: Pattern, shown: Callable[[str], str] = str) -> str:
    """Returns a pattern in words, each term as `shown` tells it.

    >>> pattern_text(Pattern("?x", "revenue", "50000", "gt")), pattern_text(Pattern("?y", "", "5"))
    ('?x revenue > 50000', '?y = 5')
    """
    middle = [pattern.predicate] if pattern.predicate else []
    terms = [shown(term) for term in (pattern.subject, *middle, pattern.object)]
    sign = _SIGNS.get(pattern.operator, pattern.operator)
    if not pattern.predicate or pattern.operator != "eq":
        terms.insert(-1, sign)
    return " ".join(terms)


class Rule(NamedTuple):
    """A rule: when all conditions hold together, an inference rule concludes a fact, a constraint is violated, a policy asks
    for an action. `extra` holds keys of other tools."""

    id: str
    name: str
    type: str
    conditions: tuple[Pattern, ...]
    conclusion: Pattern | None = None
    description: str = ""
    violation_message: str = ""
    severity: str = "warning"
    action: str = ""
    escalate: bool = False
    confidence_factor: float = 0.9
    enabled: bool = True
    domain: str = ""
    created_at: str = ""
    extra: tuple[tuple[str, Any], ...] = ()

    @property
    def label(self) -> str:
        """The id, and the name if it says more."""
        return self.id if self.name in ("", self.id) else f"{self.id} {self.name}"

    @property
    def concluded(self) -> Pattern:
        """The conclusion of an inference rule that is usable, and so has one."""
        assert self.conclusion is not None
        return self.conclusion


def is_variable(term: str) -> bool:
    """Returns whether a term of a pattern stands for anything."""
    return len(term) > 1 and term.startswith("?")


# Each condition may be a loop in the code made for a rule, and Python nests no more than twenty.
MOST_CONDITIONS = 16
_TOO_MANY = "left out: it joins facts in too many ways"


class Problem(NamedTuple):
    """A rule that was not run, and why."""

    rule_id: str
    reason: str

    @property
    def is_left_out(self) -> bool:
        """Whether the rule is a good one, and only the facts are too many for it."""
        return self.reason == _TOO_MANY


def left_out(rule: Rule) -> Problem:
    """That a rule tries more combinations of facts than it may."""
    return Problem(rule.id, _TOO_MANY)


def usable_rules(rules: Iterable[Rule], kind: str) -> tuple[list[Rule], list[Problem]]:
    """Returns the enabled rules of a type in an order that does not depend on the one given, and what is wrong with the
    others."""
    mine = sorted(
        (rule for rule in rules if rule.type == kind and rule.enabled),
        key=lambda rule: (rule.id, rule.conditions, rule.conclusion or (), str(rule.confidence_factor)),
    )
    checked = [(rule, check_rule(rule)) for rule in mine]
    problems = [Problem(rule.id, reason) for rule, reasons in checked for reason in reasons]
    return [rule for rule, reasons in checked if not reasons], problems


def is_open(term: str) -> bool:
    """Returns whether a term of a condition matches anything without binding it."""
    return term in ("", "*")


def binds(condition: Pattern) -> set[str]:
    """Returns the variables that a condition gives a value; a comparison gives none to its object.

    >>> sorted(binds(Pattern("?x", "owns", "?y"))), sorted(binds(Pattern("?x", "age", "?y", "gt")))
    (['?x', '?y'], ['?x'])
    """
    if not condition.predicate:
        return set()
    terms = (condition.subject, condition.object) if condition.operator == "eq" else (condition.subject,)
    return {term for term in terms if is_variable(term)}


def check_rule(rule: Rule) -> list[str]:
    """Returns the reasons why a rule cannot be run; none for a good one.

    >>> check_rule(Rule("R-1", "", "inference", (Pattern("?x", "owns", "?y"),), Pattern("?z", "is", "rich")))
    ['no condition binds ?z of the conclusion']
    """
    found = [] if rule.type in KINDS else [f"unknown type {rule.type!r}: {', '.join(KINDS)}"]
    bound = set().union(*map(binds, rule.conditions))
    if not any(condition.predicate for condition in rule.conditions):
        found.append("no conditions" if not rule.conditions else "no condition names a predicate")
    if len(rule.conditions) > MOST_CONDITIONS:
        found.append(f"{len(rule.conditions)} conditions; at most {MOST_CONDITIONS}")
    for condition in rule.conditions:
        found += _check_condition(condition, bound)
    if rule.type == "inference":
        found += _check_conclusion(rule, bound)
    if rule.type == "policy" and not rule.action.strip():
        found.append("a policy needs an action")
    if rule.type == "constraint" and rule.severity not in SEVERITIES:
        found.append(f"unknown severity {rule.severity!r}: {', '.join(SEVERITIES)}")
    return list(dict.fromkeys(found))


def _check_condition(condition: Pattern, bound: set[str]) -> list[str]:
    """Returns what is wrong with one condition, given the variables that all conditions bind."""
    found = []
    shown = " ".join(part or '""' for part in condition[:3])
    if condition.operator not in OPERATORS:
        found.append(f"unknown operator {condition.operator!r}: {', '.join(OPERATORS)}")
    if is_variable(condition.predicate) or condition.predicate == "*":
        found.append(f"the predicate of {shown!r} is a variable")
    if not condition.predicate and not is_variable(condition.subject):
        found.append(f"{shown!r} has no predicate, and compares no variable")
    elif not condition.predicate and condition.subject not in bound:
        found.append(f"no condition binds {condition.subject}, which is compared")
    if condition.operator == "eq" and condition.predicate:
        return found
    if is_open(condition.object):
        found.append(f"{shown!r} compares with nothing")
    elif is_variable(condition.object) and condition.object not in bound:
        found.append(f"no condition binds {condition.object}, which is compared with")
    return found


def _check_conclusion(rule: Rule, bound: set[str]) -> list[str]:
    """Returns what is wrong with the conclusion and its factor."""
    found = []
    factor = rule.confidence_factor
    if not isinstance(factor, int | float) or not math.isfinite(factor) or not 0 < factor <= 1:
        found.append(f"confidence factor {factor!r} is outside (0, 1]")
    if rule.conclusion is None:
        return [*found, "an inference needs a conclusion"]
    for name in ("subject", "predicate", "object"):
        term = getattr(rule.conclusion, name)
        if is_open(term):
            found.append(f"the conclusion has no {name}")
        elif name == "predicate" and is_variable(term):
            found.append("the predicate of the conclusion is a variable")
        elif is_variable(term) and term not in bound:
            found.append(f"no condition binds {term} of the conclusion")
    return found
