"""Backward chaining: whether a goal follows, by which proof, and what is missing if it does not.

Goals call for other goals through rules, each looked into once. A goal asked again, also by itself through a loop, is served from
what it has found so far, and again when it finds more. So the search ends, and costs as much as there are goals and answers, not
as many as there are ways between them.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from functools import reduce
from heapq import heappop, heappush
from typing import Any, NamedTuple

from mabos_cli.core.knowledge import explaining
from mabos_cli.core.knowledge.fact import EMPTY, Fact, Span, Triple, find_span, meet, span_rank, span_texts
from mabos_cli.core.knowledge.joins import FactIndex
from mabos_cli.core.knowledge.rule import Pattern, Problem, Rule, is_open, is_variable, usable_rules

PROVEN, POTENTIAL, CANNOT = "PROVEN", "POTENTIALLY_DERIVABLE", "CANNOT_PROVE"
MOST_STEPS = 500_000


class Instance(NamedTuple):
    """A rule with all variables filled in: what it concludes, and from what."""

    rank: int
    conclusion: Triple
    supports: tuple[Triple, ...]


class _Step(NamedTuple):
    """A rule on its way: what it has bound, the supports so far by condition, and which conditions are left."""

    rank: int
    bindings: explaining.Bindings
    supports: tuple[tuple[int, Triple], ...]
    left: tuple[int, ...]
    owner: explaining.Goal


class _Table:
    """What is known about one goal: its answers, and the steps that wait for more."""

    def __init__(self, level: int) -> None:
        self.level = level
        self.opened = False
        self.answers: dict[Triple, None] = {}
        self.waiting: list[tuple[_Step, int]] = []
        self.below: dict[explaining.Goal, None] = {}


class _Search:
    """The goals below one goal to a depth, and the instances of rules that answer them."""

    def __init__(self, index: FactIndex, rules: Sequence[Rule], depth: int, most_steps: int) -> None:
        self.index, self.rules, self.depth = index, rules, depth
        self.left = most_steps
        self.tables: dict[explaining.Goal, _Table] = {}
        self.instances: dict[Instance, None] = {}
        self.queue: deque[tuple[_Step, int, Triple]] = deque()
        self.to_open: deque[explaining.Goal] = deque()
        self.concluding: dict[str, list[int]] = {}
        for rank, rule in enumerate(rules):
            self.concluding.setdefault(rule.concluded.predicate, []).append(rank)

    @property
    def is_cut(self) -> bool:
        """Whether the search ended before it was through."""
        return bool(self.queue or self.to_open)

    def run(self, goal: explaining.Goal) -> list[Triple]:
        """Returns the triples that match a goal and may have a proof; `instances` holds what proves them."""
        table = self._ask(goal, 0)
        while (self.queue or self.to_open) and self.left > 0:
            # Answers first: by the time a deeper level is opened, the one above it has called for all it needs.
            if self.queue:
                step, at, triple = self.queue.popleft()
                self._resume(step, at, triple)
            else:
                self._open(self.to_open.popleft())
        return list(table.answers)

    def _ask(self, goal: explaining.Goal, level: int) -> _Table:
        """Returns the table of a goal, which is looked into if it is not too deep."""
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

    def _raise(self, goal: explaining.Goal, table: _Table, level: int) -> None:
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

    def _open(self, goal: explaining.Goal) -> None:
        """Starts every rule whose conclusion fits the goal."""
        table = self.tables[goal]
        if table.opened:
            return
        table.opened = True
        for rank in self.concluding.get(goal[1], ()):
            rule = self.rules[rank]
            bindings = explaining.unify(rule.concluded, goal)
            if bindings is not None:
                left = tuple(n for n, condition in enumerate(rule.conditions) if condition.predicate)
                self._continue(_Step(rank, bindings, (), left, goal))

    def _continue(self, step: _Step) -> None:
        """Asks for the next condition of a rule, or notes that all hold."""
        self.left -= 1
        rule = self.rules[step.rank]
        if not explaining.tests_hold(rule.conditions, step.bindings):
            return
        if not step.left:
            self._conclude(step, rule)
            return
        at = max(step.left, key=lambda n: (*self._ease(rule.conditions[n], step.bindings), -n))
        goal = explaining.goal_of(rule.conditions[at], step.bindings)
        level = self.tables[step.owner].level + 1
        self.tables[step.owner].below[goal] = None
        table = self._ask(goal, level)
        table.waiting.append((step, at))
        self.queue.extend((step, at, triple) for triple in table.answers)

    def _ease(self, condition: Pattern, bindings: explaining.Bindings) -> tuple[int, bool]:
        """Returns how narrow a condition is, and whether facts alone decide it."""
        goal = explaining.goal_of(condition, bindings)
        return (goal[0] is not None) + (goal[2] is not None), condition.predicate not in self.concluding

    def _resume(self, step: _Step, at: int, triple: Triple) -> None:
        """Goes on with a rule after one more answer to the condition it waits for."""
        self.left -= 1
        bindings = explaining.bind(self.rules[step.rank].conditions[at], triple, step.bindings)
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


class Proof(NamedTuple):
    """A proof of a triple: a fact, or a rule with a proof for each of its conditions."""

    triple: Triple
    confidence: float
    depth: int
    fact: Fact | None = None
    rule: Rule | None = None
    parts: tuple["Proof", ...] = ()
    span: Span | None = None

    @property
    def valid_from(self) -> str:
        return span_texts(self.span)[0]

    @property
    def valid_until(self) -> str:
        return span_texts(self.span)[1]


class Verdict(NamedTuple):
    """What came of a goal: PROVEN with a proof for each triple that matches, the best first; POTENTIALLY_DERIVABLE with what
    each rule lacks, the nearest first; CANNOT_PROVE. `why` says it in words; `is_cut` that the search was given up early."""

    status: str
    goal: Triple
    proofs: tuple[Proof, ...]
    gaps: tuple[explaining.Explanation, ...]
    why: str
    is_cut: bool
    problems: tuple[Problem, ...]


def backward_chain(
    goal: Triple, facts: Iterable[Fact], rules: Iterable[Rule], depth: int = 5, most_steps: int = MOST_STEPS
) -> Verdict:
    """Returns whether a goal, in which `*` and ?variables stand for anything, follows from the asserted facts through at most
    `depth` rules in a row. Confidence, validity and the choice between proofs are those of forward chaining."""
    usable, problems = usable_rules(rules, "inference")
    facts, usable = explaining.relevant_for(goal[1], (fact for fact in facts if not fact.rule_id), usable)
    if is_open(goal[1]) or is_variable(goal[1]):
        return Verdict(CANNOT, goal, (), (), "a goal needs a predicate", False, tuple(problems))
    wanted = explaining.goal_from(goal)
    index = FactIndex(facts)
    search = _Search(index, usable, depth, most_steps)
    answers = search.run(wanted)
    if is_variable(goal[0]) and goal[0] == goal[2]:
        answers = [triple for triple in answers if triple[0] == triple[2]]
    found = _prove(answers, [*search.instances], index, usable, depth)
    if found:
        proofs = tuple(sorted(found, key=lambda proof: (-proof.confidence, proof.depth, proof.triple)))
        why = f"{proofs[0].depth} steps" if proofs[0].depth > 1 else "1 step" if proofs[0].depth else "a fact"
        return Verdict(PROVEN, goal, proofs, (), why, search.is_cut, tuple(problems))
    fits = (
        rule.concluded.predicate == goal[1] and explaining.unify(rule.concluded, wanted) is not None for rule in usable
    )
    if depth < 1 or not any(fits):
        return Verdict(CANNOT, goal, (), (), _why_not(goal, usable, depth), search.is_cut, tuple(problems))
    gaps = explaining.explain_goal(wanted, facts, usable, depth, nearest=True)
    why = f"{len(gaps)} rule{'s' * (len(gaps) != 1)} could conclude it; the nearest lacks {len(gaps[0].assumptions)}"
    return Verdict(POTENTIAL, goal, (), gaps, why, search.is_cut, tuple(problems))


def _why_not(goal: Triple, rules: Sequence[Rule], depth: int) -> str:
    if depth < 1:
        return "no such fact, and no rule may be used at depth 0"
    if any(rule.concluded.predicate == goal[1] for rule in rules):
        return f"no such fact, and the rules that conclude {goal[1]} conclude it of something else"
    return f"no such fact, and no rule concludes {goal[1]}"


def _prove(
    answers: list[Triple], instances: list[Instance], index: FactIndex, rules: Sequence[Rule], depth: int
) -> list[Proof]:
    """Returns the best proof of each answer that has one of at most this depth."""
    leaves = _leaves(answers, instances, index)
    settled = _settle(instances, leaves, rules)
    proofs = {one: settled[one] for one in answers if one in settled and settled[one].depth <= depth}
    if any(one in settled and one not in proofs for one in answers):
        # The surest proof is too deep, but there may be one that is less sure and short enough.
        shallow = _settle_in_rounds(instances, leaves, rules, depth)
        proofs |= {one: shallow[one] for one in answers if one in shallow and one not in proofs}
    return list(proofs.values())


def _leaves(answers: list[Triple], instances: list[Instance], index: FactIndex) -> dict[Triple, Proof]:
    """Returns the triples that are facts, as proofs."""
    needed = {*answers, *(triple for one in instances for triple in (one.conclusion, *one.supports))}
    found = {}
    for triple in needed:
        relation = index.relations.get(triple[1])
        for row in relation.find(triple[0], triple[2]) if relation else ():
            found[triple] = Proof(triple, row[2], 0, row[6], span=find_span(row[6]))
    return found


def _settle(instances: list[Instance], leaves: dict[Triple, Proof], rules: Sequence[Rule]) -> dict[Triple, Proof]:
    """Returns the best proof of each triple, found as forward chaining finds it: the surest first."""
    settled = dict(leaves)
    missing = [{triple for triple in one.supports if triple not in settled} for one in instances]
    waiting: dict[Triple, list[int]] = {}
    heap: list[tuple[Any, ...]] = []
    for number, one in enumerate(instances):
        for triple in missing[number]:
            waiting.setdefault(triple, []).append(number)
        if not missing[number]:
            _offer(heap, number, one, settled, rules)
    while heap:
        *_, triple, number, proof = heappop(heap)
        if triple in settled:
            continue
        settled[triple] = proof
        for other in waiting.get(triple, ()):
            missing[other].discard(triple)
            if not missing[other]:
                _offer(heap, other, instances[other], settled, rules)
    return settled


def _offer(
    heap: list[tuple[Any, ...]], number: int, one: Instance, settled: dict[Triple, Proof], rules: Sequence[Rule]
) -> None:
    """Puts what an instance concludes into the queue, unless its supports never hold together."""
    if one.conclusion in settled:
        return
    ranked = _rank(one, settled, rules)
    if ranked is not None:
        key, proof = ranked
        heappush(heap, (*key, one.conclusion, number, proof))


def _rank(one: Instance, proofs: dict[Triple, Proof], rules: Sequence[Rule]) -> tuple[tuple[Any, ...], Proof] | None:
    """Returns the place of a proof in the order that forward chaining has, and the proof; None if its parts never hold
    together."""
    parts = tuple(proofs[triple] for triple in one.supports)
    span = reduce(meet, (part.span for part in parts), None)
    if span is EMPTY:
        return None
    rule = rules[one.rank]
    sure = min(part.confidence for part in parts) * rule.confidence_factor
    depth = 1 + max(part.depth for part in parts)
    pairs = tuple((triple[0], triple[2]) for triple in one.supports)
    return (-sure, depth, span_rank(span), one.rank, pairs), Proof(one.conclusion, sure, depth, None, rule, parts, span)


def _settle_in_rounds(
    instances: list[Instance], leaves: dict[Triple, Proof], rules: Sequence[Rule], depth: int
) -> dict[Triple, Proof]:
    """Returns the best proof of each triple among those of at most a depth, one rule more in each round."""
    settled = dict(leaves)
    ranks: dict[Triple, tuple[Any, ...]] = {}
    for _ in range(depth):
        before = dict(settled)
        for one in instances:
            if one.conclusion in leaves or not all(triple in before for triple in one.supports):
                continue
            ranked = _rank(one, before, rules)
            if ranked and (one.conclusion not in ranks or ranked[0] < ranks[one.conclusion]):
                ranks[one.conclusion], settled[one.conclusion] = ranked
    return settled
