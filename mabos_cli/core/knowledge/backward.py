"""Backward chaining: whether a goal follows, by which proof, and what is missing if it does not.

Only the facts and rules on which the goal can depend are chained, so that confidence, time and the choice between proofs are
those of forward chaining. Rules are first written so that each works only when it is asked, and asks for what it needs in turn
(known as magic sets): chained over bare triples, they yield the questions, and nothing else is derived on the way.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from mabos_cli.core.knowledge import explaining
from mabos_cli.core.knowledge.fact import Fact, Triple
from mabos_cli.core.knowledge.forward import Chain, Limits, run_chain
from mabos_cli.core.knowledge.relations import Row
from mabos_cli.core.knowledge.rule import Pattern, Problem, Rule, is_open, is_variable, needs_of, reach, usable_rules
from mabos_cli.core.language.spans import Span, holds_within, moment_number, span_texts
from mabos_cli.core.language.terms import uses_today
from mabos_cli.core.language.values import find_value

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

    @property
    def dates(self) -> str:
        dates = (("from", self.valid_from), ("until", self.valid_until))
        return " ".join(f"{word} {date}" for word, date in dates if date)


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
    verdict = Verdict(CANNOT, goal, (), (), "a goal needs a predicate", False, tuple(problems))
    if is_open(goal[1]) or is_variable(goal[1]):
        return verdict
    runnable, asked = usable if depth > 0 else [], explaining.goal_from(goal)
    wanted, was_cut = find_wanted(asked, facts, runnable, most_steps)
    chain = run_chain(facts, runnable, Limits(max_joins=most_steps), wanted)
    is_cut = bool(was_cut or chain.stopped or chain.cuts())
    verdict = verdict._replace(is_cut=is_cut, problems=(*problems, *chain.problems))
    found = _prove(goal, chain, depth, at)
    if any(row[3] > depth for row in _answers(goal, chain)):
        # The surest proof may be too deep, but there may be one that is less sure and short enough.
        shallow = run_chain(facts, runnable, Limits(max_joins=most_steps, max_depth=depth), wanted)
        have = {proof.triple for proof in found}
        found += [proof for proof in _prove(goal, shallow, depth, at) if proof.triple not in have]
    if found:
        found.sort(key=lambda proof: (-proof.confidence, proof.depth, proof.triple, proof.span or ()))
        steps = f"{found[0].depth} steps" if found[0].depth > 1 else "1 step" if found[0].depth else "a fact"
        dates = [proof.dates for proof in found if proof.triple == found[0].triple][:3]
        why = ", ".join(filter(None, (steps, "; ".join(filter(None, dates)))))
        return verdict._replace(status=PROVEN, proofs=tuple(found), why=why)
    elsewhere = _prove(goal, chain, depth, None) if at else []
    if elsewhere:
        return verdict._replace(why=f"not then: it holds {'; '.join(proof.dates for proof in elsewhere[:3])}")
    fits = (explaining.unify(rule.concluded, asked) is not None for rule in usable)
    if depth < 1 or not any(fits):
        return verdict._replace(why=_why_not(goal, usable, depth))
    gaps = explaining.explain_goal(asked, facts, usable, depth, nearest=True, at=at)
    why = f"{len(gaps)} rule{'s' * (len(gaps) != 1)} could conclude it"
    why += f"; the nearest lacks {len(gaps[0].assumptions)}" if gaps else ", but not with these facts"
    return verdict._replace(status=POTENTIAL, gaps=gaps, why=why)


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


Wanted = Callable[[str, str, str], bool]
Question = tuple[str, bool, bool]  # a predicate, and whether subject and object are known
_ANY = "-"


def find_wanted(
    goal: tuple[str | None, str, str | None], facts: Iterable[Fact], rules: Sequence[Rule], most_joins: int
) -> tuple[Wanted | None, bool]:
    """Returns a function from a triple to whether a proof of a goal may need it, None if it may need anything; and whether the
    search was given up early."""
    is_wild = any(is_variable(c.predicate) for rule in rules for c in (*rule.conditions, rule.concluded))
    is_counted = any(condition.is_aggregate for rule in rules for condition in rule.conditions)
    if is_wild or is_counted or (goal[0] is None and goal[2] is None):
        return None, False
    # What is negated is needed whole, and all on which it depends: what is missing of it would count.
    closed = {name for rule in rules for name in needs_of(rule).closed}
    whole = reach(closed, [({rule.concluded.predicate}, needs_of(rule).all) for rule in rules])
    first: Question = (goal[1], goal[0] is not None, goal[2] is not None)
    asking, questions = _rewrite(first, [rule for rule in rules if rule.concluded.predicate not in whole])
    given = [Fact(f"F-{n}", *fact[1:4]) for n, fact in enumerate({fact[1:4]: fact for fact in facts}.values())]
    kept = [rule._replace(confidence_factor=1.0) for rule in rules if rule.concluded.predicate in whole]
    seed = Fact("F", goal[0] or _ANY, _name(first), goal[2] or _ANY)
    chain = run_chain([*given, seed], [*asking, *kept], Limits(max_facts=10_000_000, max_joins=most_joins))
    asked: dict[str, list[tuple[Question, set[tuple[str, str]]]]] = {}
    for question in questions:
        pairs = {row[:2] for row in chain.index.relation(_name(question)).rows}
        asked.setdefault(question[0], []).append((question, pairs))

    def wanted(subject: str, predicate: str, obj: str) -> bool:
        if predicate in whole:
            return True
        return any(
            (subject if by_subject else _ANY, obj if by_object else _ANY) in pairs
            for (_, by_subject, by_object), pairs in asked.get(predicate, ())
        )

    return wanted, bool(chain.stopped)


def _name(question: Question) -> str:
    return f"\0{question[0]}\0{question[1]:d}{question[2]:d}"


def _ask(question: Question, subject: str, obj: str) -> Pattern:
    """Returns the triple that stands for a question about a subject and an object."""
    return Pattern(subject if question[1] else _ANY, _name(question), obj if question[2] else _ANY)


def _rewrite(first: Question, rules: Sequence[Rule]) -> tuple[list[Rule], list[Question]]:
    """Returns rules that ask and answer, beginning with one question, and all questions."""
    heads = {rule.concluded.predicate for rule in rules}
    questions, found = [first], dict[tuple[tuple[Pattern, ...], Pattern], None]()
    for question in questions:
        for rule in rules:
            if rule.concluded.predicate != question[0]:
                continue
            start = _ask(question, rule.concluded.subject, rule.concluded.object)
            bound = {term for term in (start.subject, start.object) if is_variable(term)}
            before, left = [start], [condition for condition in rule.conditions if condition.is_positive]
            while left:
                at = max(left, key=lambda each: sum(_known(each, bound)))
                left.remove(at)
                if at.predicate in heads:
                    asked: Question = (at.predicate, *_known(at, bound))
                    questions += [] if asked in questions else [asked]
                    found[tuple(before), _ask(asked, at.subject, at.object)] = None
                before.append(at)
                bound |= {term for term in (at.subject, at.object) if is_variable(term)}
            tests = [
                c for c in rule.conditions if not c.predicate and not c.inner and not uses_today(c.subject, c.object)
            ]
            found[(start, *(c for c in rule.conditions if c.is_positive), *tests), rule.concluded] = None
    made = [(conditions, conclusion) for conditions, conclusion in found if conclusion not in conditions]
    return [Rule(f"R-{n:06}", "", "inference", *each, confidence_factor=1.0) for n, each in enumerate(made)], questions


def _known(condition: Pattern, bound: set[str]) -> tuple[bool, bool]:
    """Returns whether the subject and the object of a condition are known."""
    subject, obj = (
        not is_open(term) and (term in bound if is_variable(term) else True)
        for term in (condition.subject, condition.object)
    )
    by_value = not is_variable(condition.object) and find_value(condition.object) is not None
    return subject, obj and condition.operator == "eq" and not by_value
