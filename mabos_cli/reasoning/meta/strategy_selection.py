"""Finds which method to use here: by how well it fits the problem, and by how it has done."""

from collections.abc import Mapping
from typing import Any

from mabos_cli.core.language.text import plural
from mabos_cli.reasoning.answer import Answer, choice, cut, listed, notes
from mabos_cli.reasoning.catalog import ASPECTS, check_classification, score_methods
from mabos_cli.reasoning.inputs import AgentData
from mabos_cli.reasoning.meta import learning_to_reason

_SELF = "strategy-selection"
_SHOWN = 5


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the method that fits best, weighed by how it has done, and whether its record changed the choice."""
    kind = check_classification({name: fields[name] for name in ASPECTS if fields[name] is not None})
    records = learning_to_reason.learned_scores(learning_to_reason.read_episodes(fields["episodes"], agent))
    factors = learning_to_reason.find_factors(records)
    rows: list[dict[str, Any]] = [
        {
            "method": method.name,
            "score": fit * factors.get(method.name, 1.0),
            "fit": fit,
            "factor": factors.get(method.name, 1.0),
            "matched": [*matched],
            "effort": method.effort,
            "record": learning_to_reason.describe(records[method.name]) if method.name in records else None,
        }
        for method, fit, matched in score_methods(kind)
        if method.name != _SELF
    ]
    # Sorting is stable: among equals the order of the router holds, which heeds the pressure of time.
    order = sorted(rows, key=lambda row: -round(row["score"], 9))
    best, by_fit = order[0]["method"], rows[0]["method"]
    why = "past results did not change the choice" if records else "no past results with a known outcome"
    why = why if best == by_fit else f"past results changed the choice from {by_fit}"
    detail = {"classification": kind, "pick": best, "pick_by_fit": by_fit, "changed_by_past": best != by_fit}
    conclusion = choice(best, {row["method"]: row["score"] for row in order[:10]}, "the method to use")
    steps = [*map(_line, order[:_SHOWN]), f"... and {len(order) - _SHOWN} more"]
    summary = f"{best}: fit {order[0]['fit']:.2f}, {why}"
    return Answer(conclusion, None, summary, cut(steps), detail | {"methods": order}, _caveats(order, kind))


def _line(row: dict[str, Any]) -> str:
    line, record = f"{row['method']} {row['score']:.2f}: fits {', '.join(row['matched']) or 'nothing'}", row["record"]
    right = f"; right in {record['right']} of {record['total']}, so times {row['factor']:.2f}" if record else ""
    return line + right


def _caveats(order: list[dict[str, Any]], kind: Mapping[str, str]) -> tuple[str, ...]:
    ties = [row for row in order if abs(row["score"] - order[0]["score"]) < 1e-9]
    by = {"urgent": "the least effort", "none": "the most thorough"}.get(kind.get("time_pressure", ""), "")
    first = by + " first, then " if by and len({row["effort"] for row in ties}) > 1 else ""
    tied = f"equal scores: {listed([row['method'] for row in ties])}; decided by {first}the order of the catalogue"
    missing = [name for name in ASPECTS if name not in kind and name != "time_pressure"]
    total = order[0]["record"]["total"] if order[0]["record"] else 0
    return notes(
        (len(ties) > 1, tied),
        (missing, f"not said: {', '.join(missing)}"),
        (0 < total < 5, f"only {plural(total, 'past result')} of {order[0]['method']}"),
    )
