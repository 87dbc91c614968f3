"""Backward chaining: whether a goal follows, by which proof, and what is missing if it does not."""

from collections.abc import Iterable, Sequence
from functools import reduce
from heapq import heappop, heappush
from typing import Any, NamedTuple

from mabos_cli.core.knowledge.explaining import Explanation, explain_goal, relevant_for
from mabos_cli.core.knowledge.fact import EMPTY, Fact, Span, Triple, find_span, meet, span_rank, span_texts
from mabos_cli.core.knowledge.joins import FactIndex
from mabos_cli.core.knowledge.rule import Problem, Rule, is_open, is_variable, usable_rules
from mabos_cli.core.knowledge.tabling import Goal, Instance, Search, goal_from, unify

PROVEN, POTENTIAL, CANNOT = "PROVEN", "POTENTIALLY_DERIVABLE", "CANNOT_PROVE"
MOST_STEPS = 500_000


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
    gaps: tuple[Explanation, ...]
    why: str
    is_cut: bool
    problems: tuple[Problem, ...]


def backward_chain(
    goal: Triple, facts: Iterable[Fact], rules: Iterable[Rule], depth: int = 5, most_steps: int = MOST_STEPS
) -> Verdict:
    """Whether a goal, in which `*` and ?variables stand for anything, follows from the asserted facts through at most `depth`
    rules in a row. Confidence, validity and the choice between proofs are those of forward chaining."""
    usable, problems = usable_rules(rules, "inference")
    facts, usable = relevant_for(goal[1], (fact for fact in facts if not fact.rule_id), usable)
    if is_open(goal[1]) or is_variable(goal[1]):
        return Verdict(CANNOT, goal, (), (), "a goal needs a predicate", False, tuple(problems))
    wanted = goal_from(goal)
    index = FactIndex(facts)
    search = Search(index, usable, depth, most_steps)
    answers = search.run(wanted)
    if is_variable(goal[0]) and goal[0] == goal[2]:
        answers = [triple for triple in answers if triple[0] == triple[2]]
    found = _prove(answers, [*search.instances], index, usable, depth)
    if found:
        proofs = tuple(sorted(found, key=lambda proof: (-proof.confidence, proof.depth, proof.triple)))
        why = f"{proofs[0].depth} steps" if proofs[0].depth > 1 else "1 step" if proofs[0].depth else "a fact"
        return Verdict(PROVEN, goal, proofs, (), why, search.is_cut, tuple(problems))
    fitting = [rule for rule in usable if unify_goal(rule, wanted)]
    if not fitting or depth < 1:
        return Verdict(CANNOT, goal, (), (), _why_not(goal, usable, depth), search.is_cut, tuple(problems))
    gaps = explain_goal(wanted, facts, usable, depth, nearest=True)
    why = f"{len(gaps)} rule{'s' * (len(gaps) != 1)} could conclude it; the nearest lacks {len(gaps[0].assumptions)}"
    return Verdict(POTENTIAL, goal, (), gaps, why, search.is_cut, tuple(problems))


def unify_goal(rule: Rule, goal: Goal) -> bool:
    """Whether a rule can conclude what a goal asks for."""
    return rule.concluded.predicate == goal[1] and unify(rule.concluded, goal) is not None


def _why_not(goal: Triple, rules: Sequence[Rule], depth: int) -> str:
    if depth < 1:
        return "no such fact, and no rule may be used at depth 0"
    if any(rule.concluded.predicate == goal[1] for rule in rules):
        return f"no such fact, and the rules that conclude {goal[1]} conclude it of something else"
    return f"no such fact, and no rule concludes {goal[1]}"


def _prove(
    answers: list[Triple], instances: list[Instance], index: FactIndex, rules: Sequence[Rule], depth: int
) -> list[Proof]:
    """The best proof of each answer that has one of at most this depth."""
    leaves = _leaves(answers, instances, index)
    settled = _settle(instances, leaves, rules)
    proofs = {one: settled[one] for one in answers if one in settled and settled[one].depth <= depth}
    if any(one in settled and one not in proofs for one in answers):
        # The surest proof is too deep, but there may be one that is less sure and short enough.
        shallow = _settle_in_rounds(instances, leaves, rules, depth)
        proofs |= {one: shallow[one] for one in answers if one in shallow and one not in proofs}
    return list(proofs.values())


def _leaves(answers: list[Triple], instances: list[Instance], index: FactIndex) -> dict[Triple, Proof]:
    """The triples that are facts, as proofs."""
    needed = {*answers, *(triple for one in instances for triple in (one.conclusion, *one.supports))}
    found = {}
    for triple in needed:
        relation = index.relations.get(triple[1])
        for row in relation.find(triple[0], triple[2]) if relation else ():
            found[triple] = Proof(triple, row[2], 0, row[6], span=find_span(row[6]))
    return found


def _settle(instances: list[Instance], leaves: dict[Triple, Proof], rules: Sequence[Rule]) -> dict[Triple, Proof]:
    """The best proof of each triple, found as forward chaining finds it: the surest first."""
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
    """The place of a proof in the order that forward chaining has, and the proof; None if its parts never hold together."""
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
    """The best proof of each triple among those of at most a depth, one rule more in each round."""
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
