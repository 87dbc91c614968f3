"""Finds which method to use here: by how well it fits the problem, and by how it has done."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from mabos_cli.core.language.text import plural
from mabos_cli.reasoning.answer import Answer, choice, cut, listed
from mabos_cli.reasoning.catalog import ASPECTS, Scored, check_classification, score_methods
from mabos_cli.reasoning.inputs import AgentData
from mabos_cli.reasoning.meta import learning_to_reason

_SELF = "strategy-selection"
_SHOWN = 5


class Rated(NamedTuple):
    """A method with its fit, the factor that its record gives, and both together."""

    scored: Scored
    factor: float

    @property
    def name(self) -> str:
        """Returns the name of the method."""
        return self.scored.method.name

    @property
    def total(self) -> float:
        """Returns the fit times factor."""
        return self.scored.score * self.factor


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the method that fits best, weighed by how it has done, and whether its record changed the choice."""
    kind = check_classification({name: fields[name] for name in ASPECTS if fields[name] is not None})
    candidates = [one for one in score_methods(kind) if one.method.name != _SELF]
    records = learning_to_reason.learned_scores(learning_to_reason.read_episodes(fields["episodes"], agent))
    factors = learning_to_reason.find_factors(records)
    # Sorting is stable: among equals the order of the router holds, which heeds the pressure of time.
    rated = [Rated(one, factors.get(one.method.name, 1.0)) for one in candidates]
    order = sorted(rated, key=lambda one: -round(one.total, 9))
    return _answer(order, rated[0], records, kind)


def _answer(order: list[Rated], by_fit: Rated, records: learning_to_reason.Records, kind: Mapping[str, str]) -> Answer:
    best = order[0]
    changed = best.name != by_fit.name
    if changed:
        why = f"past results changed the choice from {by_fit.name}"
    else:
        why = "past results did not change the choice" if records else "no past results with a known outcome"
    summary = f"{best.name}: fit {best.scored.score:.2f}, {why}"
    detail = {
        "classification": dict(kind),
        "pick": best.name,
        "pick_by_fit": by_fit.name,
        "changed_by_past": changed,
        "methods": [_line_detail(one, records) for one in order],
    }
    conclusion = choice(best.name, {one.name: one.total for one in order[:10]}, "the method to use")
    steps = [_line(one, records) for one in order[:_SHOWN]]
    if len(order) > _SHOWN:
        steps.append(f"... and {len(order) - _SHOWN} more")
    return Answer(conclusion, None, summary, cut(steps), detail, _caveats(order, records, kind))


def _line(one: Rated, records: learning_to_reason.Records) -> str:
    line = f"{one.name} {one.total:.2f}: fits {', '.join(one.scored.matched) or 'nothing'}"
    if one.name in records:
        known = records[one.name]
        line += f"; right in {known.right} of {known.total}, so times {one.factor:.2f}"
    return line


def _line_detail(one: Rated, records: learning_to_reason.Records) -> dict[str, Any]:
    return {
        "method": one.name,
        "score": one.total,
        "fit": one.scored.score,
        "factor": one.factor,
        "matched": [*one.scored.matched],
        "effort": one.scored.method.effort,
        "record": learning_to_reason.describe(records[one.name]) if one.name in records else None,
    }


def _caveats(order: list[Rated], records: learning_to_reason.Records, kind: Mapping[str, str]) -> tuple[str, ...]:
    caveats = []
    ties = [one for one in order if abs(one.total - order[0].total) < 1e-9]
    if len(ties) > 1:
        by = {"urgent": "the least effort", "none": "the most thorough"}.get(kind.get("time_pressure", ""), "")
        first = by + " first, then " if by and len({one.scored.method.effort for one in ties}) > 1 else ""
        caveats.append(
            f"equal scores: {listed([one.name for one in ties])}; decided by {first}the order of the catalogue"
        )
    missing = [name for name in ASPECTS if name not in kind and name != "time_pressure"]
    if missing:
        caveats.append(f"not said: {', '.join(missing)}")
    known = records.get(order[0].name)
    if known and known.total < 5:
        caveats.append(f"only {plural(known.total, 'past result')} of {order[0].name}")
    return tuple(caveats)
