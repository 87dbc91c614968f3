"""case retrieve: the cases that are like the present situation, why, and what to do about it."""

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import typer

from mabos_cli.commands.call import Call
from mabos_cli.commands.options import Limit, more_line
from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.case import Case
from mabos_cli.core.knowledge.case_similarity import Comparison, Score, Side, best_cases, make_measure
from mabos_cli.core.language.text import one_line
from mabos_cli.formats.knowledge.cases import CaseFile, case_to_dict
from mabos_cli.services.knowledge.case_common import (
    case_weights,
    difference,
    find_texts,
    open_taxonomy,
    read_situation,
    side_row,
    solution_line,
)
from mabos_cli.services.knowledge.fact_common import without_gc
from mabos_cli.workspace.knowledge.cases import load_cases


class Found(NamedTuple):
    """A case with its score and what became of its features."""

    case: Case
    score: Score
    beliefs: Side
    desires: Side


def retrieve(
    ctx: typer.Context,
    belief: Annotated[
        list[str] | None,
        typer.Option("--belief", help="A belief that holds now, as in store; without any, those of the agent's files."),
    ] = None,
    desire: Annotated[list[str] | None, typer.Option("--desire", help="A desire, likewise.")] = None,
    context: Annotated[str, typer.Option(help="The situation in words, compared by words and meaning.")] = "",
    similarity: Annotated[str, typer.Option(help="containment, jaccard or tversky.")] = "containment",
    alpha: Annotated[float | None, typer.Option(help="Tversky: what is missing now takes away (0.7).")] = None,
    beta: Annotated[float | None, typer.Option(help="Tversky: what is new now takes away (0.3).")] = None,
    success_only: Annotated[bool, typer.Option("--success-only", help="Only cases that worked.")] = False,
    no_taxonomy: Annotated[
        bool, typer.Option("--no-taxonomy", help="Names of near concepts do not count in part.")
    ] = False,
    min_score: Annotated[float, typer.Option(help="Only cases at least this near.")] = 0.0,
    limit: Limit = 5,
) -> None:
    """Find the cases that are like the present situation, and what worked then.

    Example: mabos case retrieve --belief B-001,B-002 --desire D-001 --context "Customers leave after the price change"
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    if not 0 <= min_score <= 1:
        raise BadValue(f"the least score {min_score:g} is outside 0..1", "as in --min-score 0.5")
    measure = make_measure(similarity, alpha, beta)
    now = read_situation(agent, belief, desire, from_mind=not (belief or desire))
    features = now.beliefs + now.desires
    with without_gc():
        file = load_cases(agent)
        texts, notes = find_texts(call, agent, file, context) if context.strip() else (None, [])
        alike, trouble = (None, []) if no_taxonomy else open_taxonomy(agent, features)
        comparison = Comparison(
            now.beliefs, now.desires, texts, measure=measure, weights=case_weights(agent), alike=alike
        )
        shown, count, proposal = _find(file, comparison, limit, min_score, success_only)
    warnings = [*now.warnings, *notes, *trouble, *_nearer_failures(shown, proposal)]
    data = {
        "beliefs": now.beliefs,
        "desires": now.desires,
        "context": context or None,
        "similarity": {"name": similarity, **measure._asdict()},
        "total": len(file),
        "count": count,
        "cases": [_row(found) for found in shown],
        "proposal": _proposed(proposal) if proposal else None,
    }
    lines = [line for found in shown for line in _lines(found)] + more_line(count, len(shown))
    if proposal:
        differs = difference((proposal.beliefs, proposal.desires))
        told = f"reuse {proposal.case.id}: {solution_line(proposal.case) or 'no solution is noted'}"
        lines.append(told + (f" (differs: {differs})" if differs else ""))
    call.emit("case.retrieve", data, lines or [_nothing(file, features, context)], warnings)


def _find(
    file: CaseFile, comparison: Comparison, limit: int, least: float, success_only: bool
) -> tuple[list[Found], int, Found | None]:
    """The nearest cases, how many are near at all, and the nearest one that worked."""
    totals = comparison.totals(file.places, file.sides)
    if success_only:
        totals = _that_worked(file, totals)
    places, count = best_cases(totals, limit, least, file.standing)
    worked = next((n for n in places if file.standing(n).success), None)
    if worked is None:
        worked = next(iter(best_cases(_that_worked(file, totals), 1, least, file.standing)[0]), None)
    best = None if worked is None else _found(file, comparison, worked)
    return [_found(file, comparison, n) for n in places], count, best


def _that_worked(file: CaseFile, totals: Sequence[float]) -> list[float]:
    return [total if total and file.standing(n).success else 0.0 for n, total in enumerate(totals)]


def _found(file: CaseFile, comparison: Comparison, n: int) -> Found:
    case = file.case(n)
    score = comparison.score(case.id, *file.sides[n])
    sides = (comparison.explain(side, getattr(case, side)) for side in ("beliefs", "desires"))
    return Found(case, score, *sides)


def _nearer_failures(shown: Sequence[Found], proposal: Found | None) -> list[str]:
    """A warning about cases that failed and are nearer than the one that is proposed."""
    least = proposal.score.total if proposal else 0.0
    failed = [each.case.id for each in shown if each.case.success is False and each.score.total > least]
    if not failed:
        return []
    named = f"{', '.join(failed[:10])} FAILED"
    if proposal is None:
        return [f"no case like this worked: {named}"]
    return [f"{named} and {'is' if len(failed) == 1 else 'are'} nearer than {proposal.case.id}"]


def _row(found: Found) -> dict[str, Any]:
    return {
        "case_id": found.case.id,
        "score": round(found.score.total, 4),
        "parts": {
            name: None if value is None else round(value, 4)
            for name, value in found.score._asdict().items()
            if name != "total"
        },
        "failed": found.case.success is False,
        "beliefs": side_row(found.beliefs),
        "desires": side_row(found.desires),
        "case": case_to_dict(found.case),
    }


def _proposed(found: Found) -> dict[str, Any]:
    return {
        "case_id": found.case.id,
        "score": round(found.score.total, 4),
        "plan_id": found.case.plan_id,
        "actions": found.case.actions,
        "missing": found.beliefs.missing + found.desires.missing,
        "extra": found.beliefs.extra + found.desires.extra,
    }


def _lines(found: Found) -> list[str]:
    """A case that was found, and why."""
    case, sides = found.case, (found.beliefs, found.desires)
    parts = zip(("Sb", "Sd", "Sc"), found.score[1:], strict=True)
    told = ", ".join(f"{name} {value:.2f}" for name, value in parts if value is not None)
    matched = [each for side in sides for each in side.matched]
    matched += [f"{f} ~ {to} {like:.2f}" for side in sides for f, to, like in side.alike]
    rows = (
        ("matched", ", ".join(matched)),
        ("differs", difference(sides)),
        ("did", solution_line(case)),
        ("lessons", one_line(case.lessons, 200)),
    )
    head = f"{one_line(case.id, 80)} {found.score.total:.2f} {case.word} ({told})"
    head += f": {one_line(case.context, 100)}" if case.context else ""
    return [head, *(f"  {name}: {one_line(text, 400)}" for name, text in rows if text)]


def _nothing(file: CaseFile, features: Sequence[str], context: str) -> str:
    """Why nothing was found."""
    if not len(file):
        return "no cases yet"
    if not features and not context.strip():
        return "nothing is known of the present situation: give --belief, --desire or --context"
    return "no case is like this"
