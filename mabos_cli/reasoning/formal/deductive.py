"""Finds what follows from premises: a goal proved from facts and rules, or a formula decided from formulas."""

from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.backward import MOST_STEPS, Proof, Verdict, backward_chain
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.rule import Pattern, Rule, is_open, is_variable, pattern_text
from mabos_cli.core.language.values import compare
from mabos_cli.reasoning.answer import Answer, cut, figure, listed, names, yes_no
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
    facts, caveats = known_facts(fields, agent)
    rules = known_rules(fields, agent)
    goal: Pattern = fields["goal"]
    verdict, proofs = _chain(goal, facts, rules)
    caveats += tuple(f"{one.rule_id} was not run: {one.reason}" for one in verdict.problems)
    if verdict.is_cut:
        caveats += (f"the search was given up after {MOST_STEPS:,} steps: there may be more to find",)
    variables = list(dict.fromkeys(term for term in (goal.subject, goal.object) if is_variable(term)))
    detail = {
        "goal": pattern_text(goal),
        "status": verdict.status,
        "proofs": [_proof_steps(proof) for proof in proofs[:_SHOWN]],
        "missing": [[pattern_text(one) for one in gap.assumptions] for gap in verdict.gaps[:_SHOWN]],
    }
    if variables:
        return _instances(goal, variables, proofs, detail, caveats, verdict)
    return _truth(pattern_text(goal), proofs, detail, caveats, verdict)


def _chain(goal: Pattern, facts: Sequence[Fact], rules: Sequence[Rule]) -> tuple[Verdict, list[Proof]]:
    """Returns the verdict on a goal, and the proofs that its comparison admits."""
    if not goal.predicate or is_open(goal.predicate) or is_variable(goal.predicate):
        raise BadValue("goal: needs a predicate", "write: subject predicate object")
    is_equal = goal.operator == "eq"
    if not is_equal and is_variable(goal.object):
        raise BadValue(f"goal: compares with {goal.object}, which nothing binds", "compare with a value")
    wanted = (goal.subject, goal.predicate, goal.object if is_equal else "*")
    # Depth counts for nothing here: the search has a limit of its own, and tells when it meets it.
    verdict = backward_chain(wanted, facts, rules, depth=MOST_STEPS)
    fit = [one for one in verdict.proofs if is_equal or compare(goal.operator, one.triple[2], goal.object)]
    return verdict, fit


def _truth(
    about: str, proofs: list[Proof], detail: dict[str, Any], caveats: tuple[str, ...], verdict: Verdict
) -> Answer:
    if proofs:
        summary = f"{about} is proved ({figure(proofs[0].confidence)})"
        lines = _proof_lines(proofs[0])
        return Answer(yes_no(True, about), proofs[0].confidence, summary, cut(lines), detail, caveats)

    lines = [f"cannot be proved: {verdict.why}"]
    for gap in verdict.gaps[:5]:
        missing = listed([pattern_text(one) for one in gap.assumptions])
        lines.append(f"{gap.rule.label} would conclude it, if {missing}" if missing else gap.rule.label)
    summary = f"{about} is open: {verdict.why}"
    return Answer(yes_no(None, about), None, summary, cut(lines), detail, caveats)


def _instances(
    goal: Pattern, variables: list[str], proofs: list[Proof], detail: dict[str, Any], caveats: tuple[str, ...],
    verdict: Verdict,
) -> Answer:  # fmt: skip
    """Returns all that fits the goal: the values of its variable, or the triples if it has two."""
    about = pattern_text(goal)
    at = 0 if is_variable(goal.subject) else 2
    found = {one.triple[at] if len(variables) == 1 else " ".join(one.triple): one for one in reversed(proofs)}
    found = dict(reversed(found.items()))
    detail["instances"] = {name: one.confidence for name, one in found.items()}
    summary = f"{about}: {listed([*found])}" if found else f"{about}: nothing found, {verdict.why}"
    lines = [f"{' '.join(one.triple)} ({figure(one.confidence)}){_by(one)}" for one in found.values()]
    # How sure all of several are together is not told by how sure each is, unless all are certain.
    least = min((one.confidence for one in found.values()), default=None)
    sure = least if len(found) == 1 or least == 1 else None
    return Answer(names(tuple(found), about), sure, summary, cut(lines), detail, caveats)


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


def _proof_steps(proof: Proof) -> list[dict[str, Any]]:
    return [
        {
            "triple": list(one.triple),
            "confidence": one.confidence,
            "fact": one.fact.id if one.fact else None,
            "rule": one.rule.id if one.rule else None,
            "from": [list(part.triple) for part in one.parts],
        }
        for one in _in_order(proof)
    ]


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
    everywhere = (1 << (1 << len(atoms))) - 1
    columns = {name: _column(n, everywhere) for n, name in enumerate(atoms)}
    *cases, goal = [where_true(one, everywhere, columns) for one in formulas]
    together = reduce(and_, cases)
    if not together:
        return _inconsistent(premises, conclusion, cases)
    counter, model = (_find_model(atoms, together & one) for one in (everywhere & ~goal, goal))
    if counter is not None and model is not None:
        return _open(conclusion, counter, model)
    holds = counter is None
    core = _needed(cases, everywhere & ~goal if holds else goal)
    summary = f"{conclusion} {'follows' if holds else 'is refuted: its negation follows'}"
    summary += f" from premises {', '.join(str(n + 1) for n in core)}" if core else " from no premise at all"
    shown = {"model": model if holds else counter}
    detail = {"status": "valid" if holds else "refuted", "used": [premises[n] for n in core], **shown}
    lines = tuple(f"premise {n + 1}: {premises[n]}" for n in core)
    caveats = ("certain if the premises are true",) if core else ()
    return Answer(yes_no(holds, conclusion), 1.0, summary, cut(lines), detail, caveats)


def _column(n: int, everywhere: int) -> int:
    """Returns the cases in which an atom is true: the bits of all numbers that have bit n set."""
    half = 1 << n
    return everywhere // ((1 << 2 * half) - 1) * (((1 << half) - 1) << half)


def _find_model(atoms: Sequence[str], cases: int) -> dict[str, bool] | None:
    """Returns the case with the most atoms true at the end of the list, if there is any."""
    number = cases.bit_length() - 1
    return {name: bool(number >> n & 1) for n, name in enumerate(atoms)} if cases else None


def _needed(cases: Sequence[int], against: int) -> list[int]:
    """Returns the numbers of premises that contradict something, none of which can be left out."""
    kept = [*range(len(cases))]
    for n in range(len(cases)):
        fewer = [m for m in kept if m != n]
        if not reduce(and_, (cases[m] for m in fewer), against):
            kept = fewer
    return kept


def _inconsistent(premises: Sequence[str], conclusion: str, cases: Sequence[int]) -> Answer:
    core = _needed(cases, -1)
    summary = "the premises contradict each other, so anything would follow from them"
    detail = {"status": "inconsistent", "used": [premises[n] for n in core]}
    lines = tuple(f"premise {n + 1}: {premises[n]}" for n in core)
    caveats = ("give up one of the premises listed",)
    return Answer(yes_no(None, conclusion), None, summary, cut(lines), detail, caveats)


def _open(conclusion: str, counter: dict[str, bool], model: dict[str, bool]) -> Answer:
    lines = tuple(
        f"it is {value} while all premises are true with "
        + listed([name if holds else f"not {name}" for name, holds in atoms.items()], 12)
        for value, atoms in (("false", counter), ("true", model))
    )
    detail = {"status": "invalid", "counter_model": counter, "model": model}
    summary = f"{conclusion} does not follow: {lines[0]}"
    return Answer(yes_no(None, conclusion), None, summary, lines, detail)
