"""The search for what can prove a goal: goals call for other goals through rules, each looked into once.

A goal asked again, also by itself through a loop, is served from what it has found so far, and again when it finds more. So
the search ends, and costs as much as there are goals and answers, not as many as there are ways between them.
"""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from mabos_cli.core.knowledge.fact import Triple
from mabos_cli.core.knowledge.joins import FactIndex
from mabos_cli.core.knowledge.rule import Pattern, Rule, is_open, is_variable
from mabos_cli.core.language.values import compare, find_value

Goal = tuple[str | None, str, str | None]  # None stands for anything
# Variables with their values; and conditions with the objects that are to be compared once their variable has a value.
Bindings = dict[Any, Any]


class Instance(NamedTuple):
    """A rule with all variables filled in: what it concludes, and from what."""

    rank: int
    conclusion: Triple
    supports: tuple[Triple, ...]


class _Step(NamedTuple):
    """A rule on its way: what it has bound, the supports so far by condition, and which conditions are left."""

    rank: int
    bindings: Bindings
    supports: tuple[tuple[int, Triple], ...]
    left: tuple[int, ...]
    owner: Goal


class _Table:
    """What is known about one goal: its answers, and the steps that wait for more."""

    def __init__(self, level: int) -> None:
        self.level = level
        self.opened = False
        self.answers: dict[Triple, None] = {}
        self.waiting: list[tuple[_Step, int]] = []
        self.below: dict[Goal, None] = {}


class Search:
    """The goals below one goal to a depth, and the instances of rules that answer them."""

    def __init__(self, index: FactIndex, rules: Sequence[Rule], depth: int, most_steps: int) -> None:
        self.index, self.rules, self.depth = index, rules, depth
        self.left = most_steps
        self.tables: dict[Goal, _Table] = {}
        self.instances: dict[Instance, None] = {}
        self.queue: deque[tuple[_Step, int, Triple]] = deque()
        self.to_open: deque[Goal] = deque()
        self.concluding: dict[str, list[int]] = {}
        for rank, rule in enumerate(rules):
            self.concluding.setdefault(rule.concluded.predicate, []).append(rank)

    @property
    def is_cut(self) -> bool:
        """Whether the search ended before it was through."""
        return bool(self.queue or self.to_open)

    def run(self, goal: Goal) -> list[Triple]:
        """The triples that match a goal and may have a proof; `instances` holds what proves them."""
        table = self._ask(goal, 0)
        while (self.queue or self.to_open) and self.left > 0:
            # Answers first: by the time a deeper level is opened, the one above it has called for all it needs.
            if self.queue:
                step, at, triple = self.queue.popleft()
                self._resume(step, at, triple)
            else:
                self._open(self.to_open.popleft())
        return list(table.answers)

    def _ask(self, goal: Goal, level: int) -> _Table:
        """The table of a goal, which is looked into if it is not too deep."""
        table = self.tables.get(goal)
        if table is None:
            table = self.tables[goal] = _Table(level)
            relation = self.index.relations.get(goal[1])
            for row in relation.find(goal[0], goal[2]) if relation else ():
                table.answers[row[0], goal[1], row[1]] = None
            if level < self.depth:
                self.to_open.append(goal)
        elif level < table.level:
            self._raise(goal, table, level)
        return table

    def _raise(self, goal: Goal, table: _Table, level: int) -> None:
        """A goal that is asked nearer to the start than before may be followed further."""
        changed = deque([(goal, table, level)])
        while changed:
            goal, table, level = changed.popleft()
            if level >= table.level:
                continue
            table.level = level
            if not table.opened and level < self.depth:
                self.to_open.append(goal)
            changed.extend((below, self.tables[below], level + 1) for below in table.below)

    def _open(self, goal: Goal) -> None:
        """Starts every rule whose conclusion fits the goal."""
        table = self.tables[goal]
        if table.opened:
            return
        table.opened = True
        for rank in self.concluding.get(goal[1], ()):
            rule = self.rules[rank]
            bindings = unify(rule.concluded, goal)
            if bindings is not None:
                left = tuple(n for n, condition in enumerate(rule.conditions) if condition.predicate)
                self._continue(_Step(rank, bindings, (), left, goal))

    def _continue(self, step: _Step) -> None:
        """Asks for the next condition of a rule, or notes that all hold."""
        self.left -= 1
        rule = self.rules[step.rank]
        if not tests_hold(rule.conditions, step.bindings):
            return
        if not step.left:
            self._conclude(step, rule)
            return
        at = max(step.left, key=lambda n: (*self._ease(rule.conditions[n], step.bindings), -n))
        goal = goal_of(rule.conditions[at], step.bindings)
        level = self.tables[step.owner].level + 1
        self.tables[step.owner].below[goal] = None
        table = self._ask(goal, level)
        table.waiting.append((step, at))
        self.queue.extend((step, at, triple) for triple in table.answers)

    def _ease(self, condition: Pattern, bindings: Bindings) -> tuple[int, bool]:
        """How narrow a condition is, and whether facts alone decide it."""
        goal = goal_of(condition, bindings)
        return (goal[0] is not None) + (goal[2] is not None), condition.predicate not in self.concluding

    def _resume(self, step: _Step, at: int, triple: Triple) -> None:
        """Goes on with a rule after one more answer to the condition it waits for."""
        self.left -= 1
        bindings = bind(self.rules[step.rank].conditions[at], triple, step.bindings)
        if bindings is not None:
            left = tuple(n for n in step.left if n != at)
            self._continue(step._replace(bindings=bindings, supports=(*step.supports, (at, triple)), left=left))

    def _conclude(self, step: _Step, rule: Rule) -> None:
        subject, obj = (step.bindings.get(term, term) for term in (rule.concluded.subject, rule.concluded.object))
        conclusion = (subject, rule.concluded.predicate, obj)
        supports = tuple(triple for _, triple in sorted(step.supports))
        self.instances[Instance(step.rank, conclusion, supports)] = None
        table = self.tables[step.owner]
        if conclusion not in table.answers:
            table.answers[conclusion] = None
            self.queue.extend((waiting, at, conclusion) for waiting, at in table.waiting)


def goal_from(goal: Triple) -> Goal:
    """The goal with None for what is left open."""
    subject, obj = (None if is_open(term) or is_variable(term) else term for term in (goal[0], goal[2]))
    return subject, goal[1], obj


def unify(conclusion: Pattern, goal: Goal) -> Bindings | None:
    """What a conclusion's variables must be for it to be the goal; None if it cannot be."""
    bindings: Bindings = {}
    for term, wanted in ((conclusion.subject, goal[0]), (conclusion.object, goal[2])):
        if wanted is None:
            continue
        if bindings.get(term, wanted) != wanted or (not is_variable(term) and term != wanted):
            return None
        if is_variable(term):
            bindings[term] = wanted
    return bindings


def goal_of(condition: Pattern, bindings: Mapping[str, str]) -> Goal:
    """The goal that a condition asks for; what is compared by value is left open."""
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
    """The bindings with those that a triple adds to a condition; None if it does not match. A comparison with a variable
    that has no value yet is left to `tests_hold`."""
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
    """Whether the comparisons hold whose variables all have values by now."""
    for condition in conditions:
        if not condition.predicate:
            lefts = (bindings[condition.subject],) if condition.subject in bindings else ()
        else:
            lefts = bindings.get(condition, ())
        right = bindings.get(condition.object) if is_variable(condition.object) else condition.object
        if right is not None and not all(compare(condition.operator, left, right) for left in lefts):
            return False
    return True
