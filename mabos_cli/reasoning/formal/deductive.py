"""Finds what follows from premises: a goal proved from facts and rules, or a formula decided from formulas."""

from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.backward import MOST_STEPS, Proof, backward_chain
from mabos_cli.core.knowledge.rule import Pattern, is_open, is_variable, pattern_text
from mabos_cli.core.language.values import compare
from mabos_cli.reasoning.answer import Answer, cut, figure, listed, names, notes, yes_no
from mabos_cli.reasoning.expression import names_of
from mabos_cli.reasoning.formal.modal import parse_formula, parts_of, where_true
from mabos_cli.reasoning.inputs import AgentData, known_facts, known_rules
from mabos_cli.reasoning.shape import check_size

_MOST_ATOMS = 20
_SHOWN = 50


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns whether the goal or the conclusion follows."""
    by_goal, by_formulas = fields["goal"] is not None, fields["premises"] is not None
    if by_goal == by_formulas:
        raise BadValue("goal: give a goal, or premises and a conclusion" + (", not both" if by_goal else ""), "")
    if by_formulas and fields["conclusion"] is None:
        raise BadValue("conclusion: is missing", "write the formula that may follow from the premises")
    if by_goal and fields["conclusion"] is not None:
        raise BadValue("conclusion: belongs to premises, and there are none", "give premises, or leave it out")
    return _decide(fields["premises"], fields["conclusion"]) if by_formulas else _prove(fields, agent)


def _prove(fields: dict[str, Any], agent: AgentData) -> Answer:
    goal: Pattern = fields["goal"]
    if not goal.predicate or is_open(goal.predicate) or is_variable(goal.predicate):
        raise BadValue("goal: needs a predicate", "write: subject predicate object")
    is_equal = goal.operator == "eq"
    if not is_equal and is_variable(goal.object):
        raise BadValue(f"goal: compares with {goal.object}, which nothing binds", "compare with a value")
    facts, caveats = known_facts(fields, agent)
    wanted = (goal.subject, goal.predicate, goal.object if is_equal else "*")
    # Depth counts for nothing here: the search has a limit of its own, and tells when it meets it.
    verdict = backward_chain(wanted, facts, known_rules(fields, agent), depth=MOST_STEPS)
    proofs = [one for one in verdict.proofs if is_equal or compare(goal.operator, one.triple[2], goal.object)]
    caveats += tuple(f"{one.rule_id} was not run: {one.reason}" for one in verdict.problems)
    caveats += notes((verdict.is_cut, f"the search was given up after {MOST_STEPS:,} steps: there may be more to find"))
    about, missing = pattern_text(goal), [[pattern_text(one) for one in gap.assumptions] for gap in verdict.gaps]
    steps = [[_proof_step(one) for one in _in_order(proof)] for proof in proofs[:_SHOWN]]
    detail = {"goal": about, "status": verdict.status, "proofs": steps, "missing": missing[:_SHOWN]}
    variables = {term for term in (goal.subject, goal.object) if is_variable(term)}
    if variables:
        at = 0 if is_variable(goal.subject) else 2
        found = {one.triple[at] if len(variables) == 1 else " ".join(one.triple): one for one in reversed(proofs)}
        return _instances(about, dict(reversed(found.items())), detail, caveats, verdict.why)
    if proofs:
        sure = proofs[0].confidence
        lines = _proof_lines(proofs[0])
        return Answer(yes_no(True, about), sure, f"{about} is proved ({figure(sure)})", cut(lines), detail, caveats)
    lines = [f"cannot be proved: {verdict.why}"]
    for gap, lacks in list(zip(verdict.gaps, missing, strict=True))[:5]:
        lines.append(f"{gap.rule.label} would conclude it, if {listed(lacks)}" if lacks else gap.rule.label)
    return Answer(yes_no(None, about), None, f"{about} is open: {verdict.why}", cut(lines), detail, caveats)


def _instances(
    about: str, found: dict[str, Proof], detail: dict[str, Any], caveats: tuple[str, ...], why: str
) -> Answer:
    """Returns all that fits the goal: the values of its variable, or the triples if it has two."""
    detail["instances"] = {name: one.confidence for name, one in found.items()}
    summary = f"{about}: {listed([*found])}" if found else f"{about}: nothing found, {why}"
    lines = [f"{' '.join(one.triple)} ({figure(one.confidence)}){_by(one)}" for one in found.values()]
    # How sure all of several are together is not told by how sure each is, unless all are certain.
    least = min((one.confidence for one in found.values()), default=None)
    sure = least if len(found) == 1 or least == 1 else None
    return Answer(names(tuple(found), about), sure, summary, cut(lines), detail, caveats)


def _proof_step(one: Proof) -> dict[str, Any]:
    names = {"fact": one.fact.id if one.fact else None, "rule": one.rule.id if one.rule else None}
    parts = [list(part.triple) for part in one.parts]
    return {"triple": list(one.triple), "confidence": one.confidence, **names, "from": parts}


def _by(proof: Proof) -> str:
    return f" by {proof.rule.label}" if proof.rule else ", a fact"


def _in_order(proof: Proof) -> list[Proof]:
    """Returns the parts of a proof, each once, those that others need first; proofs share parts, and may be long."""
    found: dict[tuple[str, str, str], Proof] = {}
    stack = [(proof, False)]
    while stack:
        one, is_ready = stack.pop()
        if is_ready:
            found.setdefault(one.triple, one)
        elif one.triple not in found:
            stack += [(one, True), *((part, False) for part in reversed(one.parts))]
    return [*found.values()]


def _proof_lines(proof: Proof) -> list[str]:
    parts = _in_order(proof)
    number = {one.triple: n for n, one in enumerate(parts, 1)}
    lines = []
    for n, one in enumerate(parts, 1):
        uses = f" from {', '.join(str(number[part.triple]) for part in one.parts)}" if one.parts else ""
        lines.append(f"{n}. {' '.join(one.triple)} ({figure(one.confidence)}){_by(one)}{uses}")
    # The end is what was asked for; of a long proof the last steps tell more than the first.
    return lines if len(lines) <= 10 else [f"{len(lines) - 9} steps before", *lines[-9:]]


def _decide(premises: Sequence[str], conclusion: str) -> Answer:
    """Returns whether the premises entail the conclusion, deny it, or leave it open, with a model that shows it.

    The cases in which a formula is true are bits of a whole number, one bit for each way to choose the truth of all atoms."""
    formulas = [parse_formula(raw, f"premises[{n}]") for n, raw in enumerate(premises, 1)]
    formulas.append(parse_formula(conclusion, "conclusion"))
    if any(part.op in ("box", "diamond") for one in formulas for part in parts_of(one)):
        raise BadValue("premises: must and may are for modal reasoning", "leave out [] and <>")
    atoms = tuple(dict.fromkeys(name for one in formulas for name in names_of(one)))
    check_size("premises", len(atoms), _MOST_ATOMS, "statements")
    everywhere, columns = (1 << (1 << len(atoms))) - 1, {}
    for n, name in enumerate(atoms):  # an atom is true in the cases whose number has bit n set
        half = 1 << n
        columns[name] = everywhere // ((1 << 2 * half) - 1) * (((1 << half) - 1) << half)
    *cases, goal = [where_true(one, everywhere, columns) for one in formulas]
    together = reduce(and_, cases)
    counter, model = (
        {name: bool((found.bit_length() - 1) >> n & 1) for n, name in enumerate(atoms)} if found else None
        for found in (together & ~goal, together & goal)
    )
    if counter is not None and model is not None:
        lines = [
            f"it is {value} while all premises are true with "
            + listed([name if holds else f"not {name}" for name, holds in case.items()], 12)
            for value, case in (("false", counter), ("true", model))
        ]
        detail = {"status": "invalid", "counter_model": counter, "model": model}
        summary = f"{conclusion} does not follow: {lines[0]}"
        return Answer(yes_no(None, conclusion), None, summary, tuple(lines), detail)
    holds = counter is None
    core = _needed(cases, (everywhere & ~goal if holds else goal) if together else -1)
    used = {"used": [premises[n] for n in core]}
    lines = [f"premise {n + 1}: {premises[n]}" for n in core]
    if not together:
        summary, give_up = (
            "the premises contradict each other, so anything would follow from them",
            "give up one of the premises listed",
        )
        inconsistent = {"status": "inconsistent"} | used
        return Answer(yes_no(None, conclusion), None, summary, cut(lines), inconsistent, (give_up,))
    by = f"premises {', '.join(str(n + 1) for n in core)}" if core else "no premise at all"
    summary = f"{conclusion} {'follows' if holds else 'is refuted: its negation follows'} from {by}"
    status = {"status": "valid" if holds else "refuted"}
    found = status | used | {"model": model if holds else counter}
    caveats = notes((core, "certain if the premises are true"))
    return Answer(yes_no(holds, conclusion), 1.0, summary, cut(lines), found, caveats)


def _needed(cases: Sequence[int], against: int) -> list[int]:
    """Returns the numbers of premises that contradict something, none of which can be left out."""
    kept = [*range(len(cases))]
    for n in range(len(cases)):
        fewer = [m for m in kept if m != n]
        if not reduce(and_, (cases[m] for m in fewer), against):
            kept = fewer
    return kept
