"""Rules over facts: what follows, what must not be, and what is to be done."""

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from mabos_cli.core.language.terms import AGGREGATES, check_expression, is_expression, names_in, uses_today
from mabos_cli.core.records import NamedTuple

KINDS = ("inference", "constraint", "policy")
# What shapes ask of values is a constraint where it does not hold; `not_gte` is true also of what has no order.
_SHAPED = ("gt", "gte", "lt", "lte", "matches", "typed", "among")
OPERATORS = ("eq", "ne", "gt", "gte", "lt", "lte", "contains", *(f"not_{name}" for name in _SHAPED))
_SIGNS = {"eq": "=", "ne": "!=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
SEVERITIES = ("info", "warning", "error", "critical")


class Pattern(NamedTuple):
    """A triple with variables (`?x`) in it. With an operator other than eq, the object of a fact is compared with the object
    given here, which is a value, or a variable that another condition binds. Without a predicate, two terms are compared, which
    may be arithmetic; a variable that nothing else binds becomes equal to what it is compared with. An aggregate is the operator
    between a variable and what is counted among the ways in which the conditions `of` hold. A negated pattern holds where no fact
    matches it, or where the conditions `of` do not hold together."""

    subject: str
    predicate: str
    object: str
    operator: str = "eq"
    negated: bool = False
    of: tuple["Pattern", ...] = ()

    @property
    def is_positive(self) -> bool:
        """Returns whether facts meet this condition."""
        return bool(self.predicate) and not self.negated

    @property
    def is_aggregate(self) -> bool:
        return self.operator in AGGREGATES

    @property
    def inner(self) -> tuple["Pattern", ...]:
        """Holds what is negated or counted; nothing for other conditions."""
        return self.of or ((self._replace(negated=False),) if self.negated else ())


def pattern_text(pattern: Pattern, shown: Callable[[str], str] = str) -> str:
    """Returns a pattern in words, each term as `shown` tells it.

    >>> pattern_text(Pattern("?x", "revenue", "50000", "gt")), pattern_text(Pattern("?y", "", "5"))
    ('?x revenue > 50000', '?y = 5')
    >>> pattern_text(Pattern("?n", "", "?o", "count", of=(Pattern("?o", "placedBy", "?x"),)))
    '?n = count ?o of (?o placedBy ?x)'
    """
    inner = " and ".join(pattern_text(each, shown) for each in pattern.of)
    if pattern.is_aggregate:
        return f"{pattern.subject} = {pattern.operator} {pattern.object} of ({inner})"
    if pattern.negated:
        return f"not ({inner})" if inner else f"not {pattern_text(pattern._replace(negated=False), shown)}"
    terms = [term if is_expression(term) else shown(term) for term in (pattern.subject, pattern.object)]
    middle = [shown(pattern.predicate)] if pattern.predicate else []
    if not pattern.predicate or pattern.operator != "eq":
        middle.append(_SIGNS.get(pattern.operator, pattern.operator))
    return " ".join((terms[0], *middle, terms[1]))


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
        """Returns the id, and the name if it says more."""
        return self.id if self.name in ("", self.id) else f"{self.id} {self.name}"

    @property
    def concluded(self) -> Pattern:
        """Returns the conclusion of an inference rule that is usable, and so has one."""
        assert self.conclusion is not None
        return self.conclusion


def is_variable(term: str) -> bool:
    """Returns whether a term of a pattern stands for anything."""
    return len(term) > 1 and term.startswith("?")


# Each condition may be a loop in the code made for a rule, and Python nests no more than twenty.
MOST_CONDITIONS = 16
_TOO_MANY = "stopped early: it joins facts in too many ways"


class Problem(NamedTuple):
    """A rule that was not run, and why."""

    rule_id: str
    reason: str

    @property
    def is_left_out(self) -> bool:
        """Returns whether the rule is a good one, and only the facts are too many for it."""
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
    """Returns the variables that facts give a value through a condition; a comparison gives none to its object.

    >>> sorted(binds(Pattern("?x", "owns", "?y"))), sorted(binds(Pattern("?x", "age", "?y", "gt")))
    (['?x', '?y'], ['?x'])
    """
    if not condition.is_positive:
        return set()
    terms = condition[:3] if condition.operator == "eq" else condition[:2]
    return {term for term in terms if is_variable(term)}


def all_bound(conditions: Iterable[Pattern]) -> set[str]:
    """Returns the variables that have a value where all conditions hold: by facts, by aggregates, or worked out of others."""
    conditions = tuple(conditions)
    bound = set[str]().union(*map(binds, conditions), (c.subject for c in conditions if c.is_aggregate))
    while more := [c for c in conditions if is_assignment(c, bound) and bound.issuperset(names_in(c.object))]:
        bound |= {condition.subject for condition in more}
    return bound


def is_assignment(condition: Pattern, bound: Iterable[str]) -> bool:
    """Returns whether a condition gives its variable a value, as no other one does."""
    if condition.predicate or condition.operator != "eq" or condition.negated or uses_today(condition.object):
        return False
    return is_variable(condition.subject) and not is_expression(condition.subject) and condition.subject not in bound


def check_rule(rule: Rule) -> list[str]:
    """Returns the reasons why a rule cannot be run; none for a good one.

    >>> check_rule(Rule("R-1", "", "inference", (Pattern("?x", "owns", "?y"),), Pattern("?z", "is", "rich")))
    ['no condition binds ?z of the conclusion']
    """
    found = [] if rule.type in KINDS else [f"unknown type {rule.type!r}: {', '.join(KINDS)}"]
    bound = all_bound(rule.conditions)
    if not any(condition.is_positive or condition.is_aggregate for condition in rule.conditions):
        found.append("no conditions" if not rule.conditions else "no condition names a predicate")
    if sum(1 + len(condition.of) for condition in rule.conditions) > MOST_CONDITIONS:
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
    if condition.operator not in (*OPERATORS, *AGGREGATES):
        found.append(f"unknown operator {condition.operator!r}: {', '.join((*OPERATORS, *AGGREGATES))}")
    if condition.of:
        return found + _check_inner(condition, bound)
    if condition.is_aggregate:
        return [*found, f"{condition.operator} needs conditions: {condition.operator} ?x of (?x p ?y)"]
    if condition.predicate == "*":
        found.append(f"the predicate of {shown!r} is *: use a variable")
    if condition.negated:
        return found + _check_inner(condition, bound)
    if not condition.predicate:
        return found + _check_comparison(condition, bound)
    if condition.operator != "eq":
        if is_open(condition.object):
            found.append(f"{shown!r} compares with nothing")
        elif is_variable(condition.object) and condition.object not in bound:
            found.append(f"no condition binds {condition.object}, which is compared with")
    return found


def _check_comparison(condition: Pattern, bound: set[str]) -> list[str]:
    subject, _, obj = condition[:3]
    shown = " ".join(part or '""' for part in condition[:3])
    if not is_variable(subject) and not is_expression(subject):
        return [f"{shown!r} has no predicate, and compares no variable"]
    if is_open(obj):
        return [f"{shown!r} compares with nothing"]
    found = [reason for term in (subject, obj) if (reason := check_expression(term))]
    found += [f"{shown!r} compares today with itself"] if uses_today(subject) and uses_today(obj) else []
    for term, how in ((subject, "compared"), (obj, "compared with")):
        found += [f"no condition binds {name}, which is {how}" for name in names_in(term) if name not in bound]
    return found


def _check_inner(condition: Pattern, bound: set[str]) -> list[str]:
    """Returns what is wrong with conditions that are negated or counted."""
    inner = condition.inner
    within = all_bound(inner) | bound
    found = [reason for each in inner for reason in _check_condition(each, within)]
    if any(each.negated or each.of or uses_today(each.subject, each.object) for each in inner):
        found.append(
            "what is negated or counted has neither negations nor counts in it, nor today: use a rule of its own"
        )
    if condition.is_aggregate and condition.object not in within:
        found.append(f"no condition binds {condition.object}, which is counted")
    if condition.is_aggregate and any(condition.subject in (*each[:3],) for each in inner):
        found.append(f"{condition.subject} is what is worked out, and occurs in it")
    return found


def _check_conclusion(rule: Rule, bound: set[str]) -> list[str]:
    """Returns what is wrong with the conclusion and its factor."""
    found = []
    factor = rule.confidence_factor
    if not isinstance(factor, int | float) or not math.isfinite(factor) or not 0 < factor <= 1:
        found.append(f"confidence factor {factor!r} is outside (0, 1]")
    if rule.conclusion is None:
        return [*found, "an inference needs a conclusion"]
    if rule.conclusion.negated or rule.conclusion.of:
        found.append("a conclusion is a triple, and not negated")
    for name in ("subject", "predicate", "object"):
        term = getattr(rule.conclusion, name)
        if is_open(term):
            found.append(f"the conclusion has no {name}")
        elif is_variable(term) and term not in bound:
            found.append(f"no condition binds {term} of the conclusion")
    return found


class Needs(NamedTuple):
    """The predicates on which a rule depends, and those of which it depends on the absence or the number; "" for any."""

    all: frozenset[str]
    closed: frozenset[str]


def needs_of(rule: Rule) -> Needs:
    """Returns what a rule depends on."""
    inside = {c.predicate for condition in rule.conditions for c in condition.inner if c.predicate}
    outside = {condition.predicate for condition in rule.conditions if condition.is_positive}
    closed = frozenset("" if is_variable(name) else name for name in inside)
    return Needs(closed | {"" if is_variable(name) else name for name in outside}, closed)


def reach(start: Iterable[str], steps: Sequence[tuple[Collection[str], Collection[str]]]) -> set[str]:
    """Returns some names with all that steps lead to: one that begins with any name that is there adds its ends.

    >>> sorted(reach("a", [("b", "c"), ("a", "b"), ("d", "e")]))
    ['a', 'b', 'c']
    """
    found, size = set(start), -1
    while size != len(found):
        size = len(found)
        for begins, ends in steps:
            if not found.isdisjoint(begins):
                found.update(ends)
    return found


def stratify(rules: Iterable[Rule]) -> tuple[list[list[Rule]], list[Problem]]:
    """Returns inference rules in layers, so that what a rule negates or counts is complete before it is run; and those that
    depend on their own negation, each with the circle."""
    rules = list(rules)
    heads = {rule.concluded.predicate for rule in rules}
    wild = {head for head in heads if is_variable(head)}
    needs = {id(rule): needs_of(rule) for rule in rules}

    def below(rule: Rule, closed: bool) -> set[str]:
        named = needs[id(rule)].closed if closed else needs[id(rule)].all
        return heads if "" in named else {*(named & heads), *(wild if named else ())}

    good, problems = [], []
    for rule in rules:
        circles = (_find_circle(rule, start, rules, below) for start in sorted(below(rule, True)))
        circle = next(filter(None, circles), None)
        if circle:
            problems.append(Problem(rule.id, f"it depends on its own negation: {circle}"))
        else:
            good.append(rule)
    level = dict.fromkeys(heads, 0)
    before = None
    while before != level:
        before = {**level}
        for rule in good:
            least = max([level[q] + (q in below(rule, True)) for q in below(rule, False)], default=0)
            for head in wild and heads if is_variable(rule.concluded.predicate) else {rule.concluded.predicate}:
                level[head] = max(level[head], least)
    layers = [
        [rule for rule in good if level[rule.concluded.predicate] == n]
        for n in range(max(level.values(), default=0) + 1)
    ]
    return [layer for layer in layers if layer], problems


def _find_circle(rule: Rule, start: str, rules: list[Rule], below: Callable[[Rule, bool], set[str]]) -> str:
    """Returns the way from what a rule negates back to what it concludes; empty if there is none."""
    goal = rule.concluded.predicate
    came: dict[str, tuple[str, str]] = {start: ("", "")}
    waiting = [start]
    for at in waiting:
        if at == goal or is_variable(at) or is_variable(goal):
            steps, here = [f"{at}"], at
            while came[here][0]:
                steps.append(f"{came[here][0]} ({came[here][1]})")
                here = came[here][0]
            return f"{goal} ({rule.id}) needs no {' which needs '.join(reversed(steps))}"
        for other in rules:
            if other.concluded.predicate in (at,) or is_variable(other.concluded.predicate):
                for needed in sorted(below(other, False)):
                    if needed not in came:
                        came[needed] = (at, other.id)
                        waiting.append(needed)
    return ""
