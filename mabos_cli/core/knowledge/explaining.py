"""Goals and how far rules come towards them: which conditions hold, and what would have to be assumed for the rest."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from heapq import nsmallest
from typing import Any, NamedTuple

from mabos_cli.core.knowledge.fact import Fact, Triple, holds_at
from mabos_cli.core.knowledge.forward import Limits, forward_chain
from mabos_cli.core.knowledge.relations import FactIndex, Row
from mabos_cli.core.knowledge.rule import Pattern, Problem, Rule, is_open, is_variable, needs_of, reach, usable_rules
from mabos_cli.core.language.spans import EMPTY, Span, meet
from mabos_cli.core.language.terms import is_expression, uses_today
from mabos_cli.core.language.values import compare, find_value

Goal = tuple[str | None, str, str | None]  # None stands for anything
# Variables with their values; and conditions with the objects that are to be compared once their variable has a value.
Bindings = dict[Any, Any]

_MOST_ROWS, _MOST_TRIES, _MOST_PARTIALS, _MOST_DERIVED = 40, 4_000, 8, 50_000
_MOST_GOALS, _DEEPEST = 1_000, 50  # beyond that a condition is assumed, not looked into


class Explanation(NamedTuple):
    """A rule that would conclude a goal: the facts that support it, what must be assumed for it to apply, and rules by which
    an unsupported condition could follow in turn. `score` is supported / total conditions x factor, where a condition that
    follows through another rule counts as much as that rule scores."""

    rule: Rule
    conclusion: Pattern
    bindings: tuple[tuple[str, str], ...]
    score: float
    supported: int
    total: int
    supports: tuple[Fact, ...]
    assumptions: tuple[Pattern, ...]
    steps: tuple["Explanation", ...] = ()


def explain_goal(
    goal: Goal, facts: Iterable[Fact], rules: Sequence[Rule], depth: int, *, nearest: bool, each: int = 1,
    at: datetime | None = None,
) -> tuple[Explanation, ...]:  # fmt: skip
    """For every rule that can conclude a goal its best explanations, `each` at most: those with the fewest assumptions first
    if `nearest`, else those with the highest score; by what holds at a moment, if one is given. Rules must be usable ones, and those
    that count are not looked into: what would change a number is open."""
    near, relevant = relevant_for({goal[1]}, facts, rules)
    held = [*near, *forward_chain(near, relevant, Limits(max_facts=_MOST_DERIVED)).derived]
    index = FactIndex(fact for fact in held if at is None or holds_at(fact, at))
    plain = [rule for rule in rules if not any(c.is_aggregate or is_variable(c.predicate) for c in rule.conditions)]
    return tuple(_Explainer(index, plain, nearest, each).explain(goal, min(depth, _DEEPEST)))


def relevant_for(
    predicates: Collection[str], facts: Iterable[Fact], rules: Sequence[Rule]
) -> tuple[list[Fact], list[Rule]]:
    """Returns the facts and the rules on which it can depend what is true of some predicates."""
    # What concludes any predicate concludes these too, and where any predicate is needed, all are.
    heads = [{rule.concluded.predicate, ""} for rule in rules]
    wild = [*predicates] if predicates else [""]
    steps = [
        ({*wild, ""} if is_variable(rule.concluded.predicate) else head, needs_of(rule).all)
        for rule, head in zip(rules, heads, strict=True)
    ]
    needed = reach(predicates, steps)
    near = [fact for fact in facts if fact[2] in needed or "" in needed]
    return near, [rule for rule, (begins, _) in zip(rules, steps, strict=True) if not needed.isdisjoint(begins)]


class _Explainer:
    """Explanations of goals about one set of facts, each goal once."""

    def __init__(self, index: FactIndex, rules: Sequence[Rule], nearest: bool, each: int) -> None:
        self.index, self.rules, self.nearest, self.each = index, rules, nearest, each
        self.known: dict[tuple[Goal, int], list[Explanation]] = {}
        self.asked: set[Goal] = set()

    def explain(self, goal: Goal, depth: int) -> list[Explanation]:
        """Returns the explanations of a goal, the best first. While it is looked into, the goal itself has none: no loops."""
        key = goal, depth
        if key in self.known or goal in self.asked or len(self.known) >= _MOST_GOALS:
            return self.known.get(key, [])
        self.asked.add(goal)
        found: list[Explanation] = []
        for rule in self.rules:
            bindings = unify(rule.concluded, goal)
            if bindings is not None:
                mine = [self._complete(rule, one, depth) for one in partial_matches(rule, bindings, self.index)]
                found += sorted(mine, key=self._order)[: self.each]
        self.asked.remove(goal)
        self.known[key] = sorted(found, key=self._order)
        return self.known[key]

    def _order(self, one: Explanation) -> tuple[Any, ...]:
        counts = (len(one.assumptions), -one.score) if self.nearest else (-one.score, len(one.assumptions))
        return *counts, one.rule.id, one.bindings, one.assumptions

    def _complete(self, rule: Rule, partial: "Partial", depth: int) -> Explanation:
        """Returns an explanation by a rule that holds in part; for the other conditions other rules are asked."""
        bindings = dict(partial.bindings)
        assumptions: list[Pattern] = []
        supports = list(partial.supports)
        steps, worth = [], 0.0
        for condition in partial.missing:
            needed = fill_pattern(condition, bindings)
            step = self._through(needed, depth - 1) if depth > 1 else None
            if step is None:
                assumptions.append(needed)
                continue
            steps.append(step)
            worth += step.score
            assumptions += step.assumptions
            supports += step.supports
            for term, value in zip(
                (needed.subject, needed.object), (step.conclusion[0], step.conclusion[2]), strict=True
            ):
                if is_variable(term) and not is_variable(value) and needed.operator == "eq":
                    bindings[term] = value
        total = sum(condition.is_positive for condition in rule.conditions)
        score = (len(partial.supports) + worth) / total * rule.confidence_factor
        filled = tuple(dict.fromkeys(fill_pattern(one, bindings) for one in assumptions))
        return Explanation(
            rule, fill_pattern(rule.concluded, bindings), tuple(sorted(bindings.items())), score,
            len(partial.supports), total, tuple(dict.fromkeys(supports)), filled, tuple(steps),
        )  # fmt: skip

    def _through(self, needed: Pattern, depth: int) -> Explanation | None:
        """Returns the best way for a condition to follow by rules; for abduction only if something supports it."""
        goal = goal_of(needed, {})
        for one in self.explain(goal, depth):
            if any(each.predicate == needed.predicate for each in one.assumptions):
                continue  # by transitivity, say: the same is to be assumed, of something else
            value = one.conclusion.object
            compared = needed.operator != "eq" and not is_variable(value) and not is_variable(needed.object)
            if compared and not compare(needed.operator, value, needed.object):
                continue
            if self.nearest or one.score > 0:
                return one
        return None


class Partial(NamedTuple):
    """A rule with some of its conditions met by facts, and those that are not."""

    bindings: tuple[tuple[str, str], ...]
    supports: tuple[Fact, ...]
    missing: tuple[Pattern, ...]


def partial_matches(rule: Rule, bindings: Bindings, index: FactIndex) -> list[Partial]:
    """Returns the ways in which most conditions of a rule hold together: all lack as few conditions as possible."""
    search = _PartialSearch(rule, index)
    conditions = tuple(n for n, condition in enumerate(rule.conditions) if condition.is_positive)
    for lacking in range(len(conditions) + 1):
        search.tries = _MOST_TRIES
        search.extend(conditions, bindings, (), None, lacking)
        if search.found:
            break
    return [*search.found][:_MOST_PARTIALS]


class _PartialSearch:
    """A search for the facts that meet some conditions of a rule, given up after so many tries."""

    def __init__(self, rule: Rule, index: FactIndex) -> None:
        self.rule, self.index = rule, index
        self.tries = 0
        self.rows: dict[tuple[int, str | None, str | None, str | None], list[Row]] = {}
        self.found: dict[Partial, None] = {}

    def extend(
        self,
        left: tuple[int, ...],
        bindings: Bindings,
        met: tuple[tuple[int, Row], ...],
        span: Span | None,
        lacking: int,
    ) -> None:
        """Meets the conditions that are left, or lets some be missing."""
        if not tests_hold(self.rule.conditions, bindings) or len(self.found) >= _MOST_PARTIALS:
            return
        if not left:
            # Of several conditions that are denied together, it is enough to look at the first.
            denied = [condition.inner[0] for condition in self.rule.conditions if condition.negated]
            if all(next(self._find(each, bindings), None) is None for each in denied):
                self._note(bindings, met)
            return
        conditions = self.rule.conditions
        at = max(left, key=lambda n: (sum(term is not None for term in goal_of(conditions[n], bindings)), -n))
        rest = tuple(n for n in left if n != at)
        for row in self._rows(at, bindings):
            self.tries -= 1
            triple = (row[0], conditions[at].predicate, row[1])
            more, time = bind(conditions[at], triple, bindings), meet(span, row[4])
            if self.tries <= 0:
                break
            if more is not None and time is not EMPTY:
                self.extend(rest, more, (*met, (at, row)), time, lacking)
        if lacking:
            self.extend(rest, bindings, met, span, lacking - 1)

    def _rows(self, at: int, bindings: Bindings) -> list[Row]:
        """Returns the surest rows that a condition may match."""
        condition = self.rule.conditions[at]
        key = at, *goal_of(condition, bindings)[::2], bindings.get(condition.object)
        if key not in self.rows:
            self.rows[key] = nsmallest(_MOST_ROWS, self._find(condition, bindings), key=lambda row: (-row[2], row[:2]))
        return self.rows[key]

    def _find(self, condition: Pattern, bindings: Bindings) -> Iterator[Row]:
        subject, predicate, obj = goal_of(condition, bindings)
        rows = self.index.find(predicate, subject, obj)
        return (row for row in rows if bind(condition, (row[0], predicate, row[1]), bindings) is not None)

    def _note(self, bindings: Bindings, met: tuple[tuple[int, Row], ...]) -> None:
        used = {at for at, _ in met}
        values = {name: value for name, value in bindings.items() if isinstance(name, str)}
        missing = tuple(
            fill_pattern(condition, values)
            for at, condition in enumerate(self.rule.conditions)
            if condition.is_positive and at not in used
        )
        supports = tuple(row[6] for _, row in sorted(met, key=lambda one: one[0]))
        self.found[Partial(tuple(sorted(values.items())), supports, missing)] = None


def fill_pattern(pattern: Pattern, bindings: Bindings) -> Pattern:
    """Returns a pattern with the values that are known."""
    subject, obj = (bindings.get(term, term) for term in (pattern.subject, pattern.object))
    return pattern._replace(subject="*" if is_open(subject) else subject, object="*" if is_open(obj) else obj)


class Abduction(NamedTuple):
    """Hypotheses for an observation, the best first; `known` are facts that already say it."""

    observation: Triple
    known: tuple[Fact, ...]
    hypotheses: tuple[Explanation, ...]
    problems: tuple[Problem, ...]


def abduce(
    observation: Triple, facts: Iterable[Fact], rules: Iterable[Rule], depth: int = 3, each: int = 5,
    at: datetime | None = None,
) -> Abduction:  # fmt: skip
    """Returns the rules that would conclude an observation, each with what supports it and what must be assumed, to a depth of
    rules that lead to one another; at most `each` ways for a rule; by what holds at a moment, if one is given. In the observation
    `*` and ?variables stand for anything."""
    usable, problems = usable_rules(rules, "inference")
    facts = list(facts)
    goal = goal_from(observation)
    known = tuple(
        fact
        for fact in facts
        if all(w in (None, h) for w, h in zip(goal, fact.triple, strict=True)) and (at is None or holds_at(fact, at))
    )
    asserted = [fact for fact in facts if not fact.is_derived]
    hypotheses = explain_goal(goal, asserted, usable, max(1, depth), nearest=False, each=each, at=at)
    return Abduction(observation, known, hypotheses, tuple(problems))


def goal_from(goal: Triple) -> Goal:
    """Returns the goal with None for what is left open."""
    subject, obj = (None if is_open(term) or is_variable(term) else term for term in (goal[0], goal[2]))
    return subject, goal[1], obj


def unify(conclusion: Pattern, goal: Goal) -> Bindings | None:
    """Returns what a conclusion's variables must be for it to be the goal; None if it cannot be."""
    bindings: Bindings = {}
    for term, wanted in zip(conclusion[:3], goal, strict=True):
        if wanted is None:
            continue
        if bindings.get(term, wanted) != wanted or (not is_variable(term) and term != wanted):
            return None
        if is_variable(term):
            bindings[term] = wanted
    return bindings


def goal_of(condition: Pattern, bindings: Mapping[str, str]) -> Goal:
    """Returns the goal that a condition asks for; what is compared by value is left open."""
    subject = _known(condition.subject, bindings)
    equal = condition.operator == "eq"
    obj = _known(condition.object, bindings) if equal else None
    if obj is not None and not is_variable(condition.object) and find_value(obj) is not None:
        obj = None
    return subject, condition.predicate, obj


def _known(term: str, bindings: Mapping[str, str]) -> str | None:
    if is_open(term):
        return None
    return bindings.get(term) if is_variable(term) else term


def bind(condition: Pattern, triple: Triple, bindings: Bindings) -> Bindings | None:
    """Returns the bindings with those that a triple adds to a condition; None if it does not match. A comparison with a
    variable that has no value yet is left to `tests_hold`."""
    found = dict(bindings)
    subject, _, obj = triple
    if is_variable(condition.subject):
        if found.setdefault(condition.subject, subject) != subject:
            return None
    elif not is_open(condition.subject) and condition.subject != subject:
        return None
    if condition.operator != "eq":
        given = found.get(condition.object) if is_variable(condition.object) else condition.object
        if given is None:
            found[condition] = (*found.get(condition, ()), obj)
            return found
        return found if compare(condition.operator, obj, given) else None
    if is_variable(condition.object):
        return found if found.setdefault(condition.object, obj) == obj else None
    return found if is_open(condition.object) or compare("eq", obj, condition.object) else None


def tests_hold(conditions: Iterable[Pattern], bindings: Bindings) -> bool:
    """Returns whether the comparisons hold whose variables all have values by now."""
    for condition in conditions:
        if condition.negated or condition.of or uses_today(condition.subject, condition.object):
            continue
        if not condition.predicate:
            lefts = (bindings[condition.subject],) if condition.subject in bindings else ()
        else:
            lefts = bindings.get(condition, ())
        right = bindings.get(condition.object) if is_variable(condition.object) else condition.object
        right = None if is_expression(condition.object) else right  # that is only worked out where all conditions hold
        if right is not None and not all(compare(condition.operator, left, right) for left in lefts):
            return False
    return True
