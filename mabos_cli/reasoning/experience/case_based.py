"""Finds what worked before in a situation like this: the nearest cases vote by nearness and outcome."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.case import Case, check_case
from mabos_cli.core.knowledge.case_similarity import Comparison, Score, Standing, best_cases
from mabos_cli.core.language.text import one_line, terms
from mabos_cli.reasoning.answer import Answer, best_names, choice, cut, listed, words
from mabos_cli.reasoning.inputs import AgentData
from mabos_cli.reasoning.shape import check_size

_MOST_CASES = 10_000


class _Near(NamedTuple):
    """A case that votes."""

    case: Case
    score: Score

    @property
    def plan(self) -> str:
        """Returns what was done, by the name of the plan or else by the actions."""
        return self.case.plan_id or " + ".join(self.case.actions)


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the plan for which the nearest cases speak."""
    cases = _cases(fields["cases"]) if fields["cases"] is not None else agent.take("cases")
    cases = tuple(case for case in cases if case.plan_id or case.actions)
    if not cases:
        hint = "give cases, or store the agent's own with: mabos case store"
        raise BadValue("cases: there are none that say what was done", hint)
    check_size("cases", len(cases), _MOST_CASES, "cases")
    beliefs = agent.take("beliefs") if fields["beliefs"] is None else fields["beliefs"]
    desires = agent.take("desires") if fields["desires"] is None else fields["desires"]
    if not (beliefs or desires or fields["context"]):
        raise BadValue("beliefs: nothing is known of the situation", "give beliefs, desires or a context")
    wanted = {*terms(fields["context"])}
    if fields["context"] and not wanted:
        raise BadValue("context: has no word to compare", "say more, or leave it out")
    # For each case with a context, the share of the words asked for that it holds.
    texts = {case.id: len(wanted & {*terms(case.context)}) / len(wanted) for case in cases if case.context and wanted}
    comparison = Comparison(beliefs, desires, texts if wanted else None, agent.weights)
    near = _nearest(comparison, cases, fields["k"], fields["least"])
    if not near:
        summary = f"no case is like this situation, out of {len(cases)}"
        return Answer(words("no case is like this"), None, summary, (), {"cases": [], "compared": len(cases)})
    return _answer(near, comparison, len(cases))


def _cases(rows: Sequence[Mapping[str, Any]]) -> tuple[Case, ...]:
    """Returns the cases of the input; those without an id are numbered."""
    found: dict[str, Case] = {}
    for n, one in enumerate(rows, 1):
        outcome = one["outcome"] or {"success": None, "metrics": {}, "lessons": ""}
        case = Case(
            one["case_id"] or f"case {n}",
            beliefs=tuple(one["situation"]["beliefs"]),
            desires=tuple(one["situation"]["desires"]),
            context=one["situation"]["context"],
            plan_id=one["solution"]["plan_id"],
            actions=tuple(one["solution"]["actions"]),
            success=outcome["success"],
            metrics=tuple(outcome["metrics"].items()),
            lessons=outcome["lessons"],
            stored_at=one["stored_at"],
        )
        if case.id in found:
            raise BadValue(f"cases[{n}].case_id: {case.id} occurs twice", "give each case an id of its own")
        try:
            found[case.id] = check_case(case)
        except BadValue as error:
            raise BadValue(f"cases[{n}]: {error.message}", "") from None
    return tuple(found.values())


def _nearest(comparison: Comparison, cases: Sequence[Case], most: int, least: float) -> list[_Near]:
    scores = [comparison.score(case.id, case.beliefs, case.desires, bool(case.context)) for case in cases]
    places, _ = best_cases(
        [score.total for score in scores],
        most,
        least,
        lambda n: Standing(cases[n].id, cases[n].success, cases[n].stored_at),
    )
    return [_Near(cases[n], scores[n]) for n in places]


def _answer(near: list[_Near], comparison: Comparison, compared: int) -> Answer:
    plans = {
        plan: _weigh([one for one in near if one.plan == plan]) for plan in dict.fromkeys(one.plan for one in near)
    }
    nets = {plan: figures["vote"] for plan, figures in plans.items()}
    best = best_names(nets)
    chosen, every = plans[best[0]], _weigh(near)
    known = every["worked"] + every["failed"]
    counts = {name: every[name] for name in ("worked", "failed", "open")}
    detail: dict[str, Any] = {
        "plans": plans,
        "cases": [_case_detail(one, comparison) for one in near],
        "near": counts | {"success_rate": every["worked"] / known if known else None},
        "compared": compared,
    }
    steps = []
    for one, row in zip(near, detail["cases"], strict=True):
        differs = f" (not now: {listed(row['missing'], 4)})" if row["missing"] else ""
        steps.append(f"{one.case.id} {one.score.total:.2f} {one.case.word}: {one_line(one.plan, 60)}{differs}")
    caveats = []
    for one in [one for one in near if one.case.success is False][:3]:
        lesson = f": {one_line(one.case.lessons, 80)}" if one.case.lessons else ""
        caveats.append(f"{one_line(one.plan, 40)} failed in {one.case.id}, {one.score.total:.2f} near{lesson}")
    if chosen["vote"] <= 0:
        summary = f"no plan has more for it than against it: {known} of the {len(near)} nearest cases have an outcome"
        return Answer(words("no plan has proved itself"), None, summary, cut(steps), detail, tuple(caveats))
    if len(best) > 1:
        caveats.append(f"as much speaks for {listed(best[1:])}")
    tried = chosen["worked"] + chosen["failed"]
    if tried < 3:
        caveats.append(f"only {tried} near case{'s' * (tried > 1)} with an outcome used this plan")
    summary = f"{one_line(best[0], 60)}: worked in {chosen['worked']} of {tried} near cases, "
    summary += f"chance of success {chosen['chance']:.2f} (Laplace, by nearness)"
    return Answer(choice(best[0], nets), chosen["chance"], summary, cut(steps), detail, tuple(caveats))


def _weigh(near: list[_Near]) -> dict[str, Any]:
    """Returns how near those cases are, in sum, that worked or that failed, and how many; the chance is Laplace's share of successes,
    weighted by nearness: 1/2 if nothing is known. Of what was measured where it worked, the means."""
    measured: dict[str, list[float]] = {}
    for name, value in (pair for one in near if one.case.success for pair in one.case.metrics):
        measured.setdefault(name, []).append(value)
    gain, loss = (sum(one.score.total for one in near if one.case.success is success) for success in (True, False))
    worked, failed, undecided = (sum(one.case.success is value for one in near) for value in (True, False, None))
    return {
        "vote": gain - loss,
        "for": gain,
        "against": loss,
        "worked": worked,
        "failed": failed,
        "open": undecided,
        "chance": (gain + 1) / (gain + loss + 2),
        "metrics": {name: sum(values) / len(values) for name, values in measured.items()},
    }


def _case_detail(one: _Near, comparison: Comparison) -> dict[str, Any]:
    beliefs = comparison.explain("beliefs", one.case.beliefs)
    desires = comparison.explain("desires", one.case.desires)
    return {
        "id": one.case.id,
        "similarity": one.score.total,
        "beliefs": one.score.beliefs,
        "desires": one.score.desires,
        "context": one.score.context,
        "plan": one.plan,
        "actions": list(one.case.actions),
        "success": one.case.success,
        "lessons": one.case.lessons,
        "missing": [*beliefs.missing, *desires.missing],
        "extra": [*beliefs.extra, *desires.extra],
    }
