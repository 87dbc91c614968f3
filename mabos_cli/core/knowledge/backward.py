"""Backward chaining: whether a goal follows, by which proof, and what is missing if it does not.

Only the facts and rules on which the goal can depend are chained, so that confidence, time and the choice between proofs are
those of forward chaining.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from mabos_cli.core.knowledge import explaining
from mabos_cli.core.knowledge.demand import find_wanted
from mabos_cli.core.knowledge.fact import Fact, Triple
from mabos_cli.core.knowledge.forward import Chain, Limits, run_chain
from mabos_cli.core.knowledge.relations import Row
from mabos_cli.core.knowledge.rule import Problem, Rule, is_open, is_variable, usable_rules
from mabos_cli.core.language.spans import Span, holds_within, moment_number, span_texts

PROVEN, POTENTIAL, CANNOT = "PROVEN", "POTENTIALLY_DERIVABLE", "CANNOT_PROVE"
MOST_STEPS = 20_000_000


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
    """Holds what came of a goal: PROVEN with a proof for each triple that matches and each time, the best first; POTENTIALLY_DERIVABLE
    with what each rule lacks, the nearest first; CANNOT_PROVE. `why` says it in words; `is_cut` that the search was given up
    early."""

    status: str
    goal: Triple
    proofs: tuple[Proof, ...]
    gaps: tuple[explaining.Explanation, ...]
    why: str
    is_cut: bool
    problems: tuple[Problem, ...]


def backward_chain(
    goal: Triple, facts: Iterable[Fact], rules: Iterable[Rule], depth: int = 5, most_steps: int = MOST_STEPS,
    at: datetime | None = None,
) -> Verdict:  # fmt: skip
    """Returns whether a goal, in which `*` and ?variables stand for anything, follows from the asserted facts through at most
    `depth` rules in a row; with a moment, whether it follows then."""
    usable, problems = usable_rules(rules, "inference")
    facts, usable = explaining.relevant_for({goal[1]}, (fact for fact in facts if not fact.rule_id), usable)
    if is_open(goal[1]) or is_variable(goal[1]):
        return Verdict(CANNOT, goal, (), (), "a goal needs a predicate", False, tuple(problems))
    runnable = usable if depth > 0 else []
    wanted, was_cut = find_wanted(explaining.goal_from(goal), facts, runnable, most_steps)
    chain = run_chain(facts, runnable, Limits(max_joins=most_steps), wanted)
    problems += chain.problems
    is_cut = bool(was_cut or chain.stopped or chain.cuts())
    found = _prove(goal, chain, depth, at)
    if any(row[3] > depth for row in _answers(goal, chain)):
        # The surest proof may be too deep, but there may be one that is less sure and short enough.
        shallow = run_chain(facts, runnable, Limits(max_joins=most_steps, max_depth=depth), wanted)
        have = {proof.triple for proof in found}
        found += [proof for proof in _prove(goal, shallow, depth, at) if proof.triple not in have]
    elsewhere = _prove(goal, chain, depth, None) if at and not found else []
    if elsewhere:
        why = f"not then: it holds {'; '.join(map(_dates, elsewhere[:3]))}"
        return Verdict(CANNOT, goal, (), (), why, is_cut, tuple(problems))
    if found:
        proofs = tuple(
            sorted(found, key=lambda proof: (-proof.confidence, proof.depth, proof.triple, proof.span or ()))
        )
        same = [proof for proof in proofs if proof.triple == proofs[0].triple]
        return Verdict(PROVEN, goal, proofs, (), _why(same), is_cut, tuple(problems))
    asked = explaining.goal_from(goal)
    fits = (explaining.unify(rule.concluded, asked) is not None for rule in usable)
    if depth < 1 or not any(fits):
        return Verdict(CANNOT, goal, (), (), _why_not(goal, usable, depth), is_cut, tuple(problems))
    gaps = explaining.explain_goal(asked, facts, usable, depth, nearest=True, at=at)
    why = f"{len(gaps)} rule{'s' * (len(gaps) != 1)} could conclude it"
    why += f"; the nearest lacks {len(gaps[0].assumptions)}" if gaps else ", but not with these facts"
    return Verdict(POTENTIAL, goal, (), gaps, why, is_cut, tuple(problems))


def _why(proofs: Sequence[Proof]) -> str:
    """Returns how long the best proof is, and for which times there are some."""
    depth = proofs[0].depth
    steps = f"{depth} steps" if depth > 1 else "1 step" if depth else "a fact"
    dates = [_dates(proof) for proof in proofs[:3] if proof.span]
    return ", ".join((steps, "; ".join(dates))) if dates else steps


def _dates(proof: Proof) -> str:
    dates = (("from", proof.valid_from), ("until", proof.valid_until))
    return " ".join(f"{word} {date}" for word, date in dates if date)


def _why_not(goal: Triple, rules: Sequence[Rule], depth: int) -> str:
    if depth < 1:
        return "no such fact, and no rule may be used at depth 0"
    if any(rule.concluded.predicate == goal[1] for rule in rules):
        return f"no such fact, and the rules that conclude {goal[1]} conclude it of something else"
    return f"no such fact, and no rule concludes {goal[1]}"


def _answers(goal: Triple, chain: Chain) -> list[Row]:
    """Returns the rows that match a goal."""
    subject, predicate, obj = explaining.goal_from(goal)
    rows = chain.index.find(predicate, subject, obj)
    return [row for row in rows if row[0] == row[1]] if is_variable(goal[0]) and goal[0] == goal[2] else list(rows)


def _prove(goal: Triple, chain: Chain, depth: int, at: datetime | None) -> list[Proof]:
    """Returns the proofs of what matches a goal, of at most a depth."""
    moment = moment_number(at) if at else 0
    rows = [row for row in _answers(goal, chain) if row[3] <= depth and (at is None or holds_within(row[4], moment))]
    proofs: dict[int, Proof] = {}
    waiting = list(rows)
    while waiting:
        row = waiting[-1]
        supports = row[6] if row[5] >= 0 else ()
        missing = [each for each in supports if id(each) not in proofs] if id(row) not in proofs else []
        if missing:
            waiting += missing
            continue
        waiting.pop()
        if id(row) not in proofs:
            triple, parts = (row[0], row[7], row[1]), tuple(proofs[id(each)] for each in supports)
            fact, rule = (None, chain.rules[row[5]]) if row[5] >= 0 else (row[6], None)
            proofs[id(row)] = Proof(triple, row[2], row[3], fact, rule, parts, row[4])
    return [proofs[id(row)] for row in rows]
