"""Finds what was expected, what happened, and what to change: deviations, surprise, lessons with support."""

import math
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, Conclusion, cut, figure, notes, ranking, words
from mabos_cli.reasoning.inputs import AgentData
from mabos_cli.reasoning.meta.calibration import Forecast, fold, score_brier, surprise

_NOTHING = 1e-12  # a plan below this is none: shares of it would overflow
_MOST_LISTED = 50  # statements in the detail, the most surprising ones


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns what to do next time by how much supports it, with deviations and surprises."""
    past = agent.take("past")
    rows = ((name, _compare(one)) for name, one in fields["measures"].items())
    measures = dict(sorted(rows, key=lambda pair: -_size(pair[1])))
    forecasts = [(one["what"], Forecast(one["confidence"], one["happened"])) for one in fields["events"]]
    forecasts += [
        (one.problem or one.id, Forecast(one.confidence, one.happened))
        for one in past
        if one.confidence is not None and one.happened is not None
    ]
    if not (measures or forecasts):
        hint = "give measures or events, or record outcomes with `reason outcome`"
        raise BadValue("measures: nothing to look back on", hint)
    lessons = [*fields["lessons"], *(one.lesson for one in past if one.lesson)]
    lessons += [f"act on this cause: {one['cause']}" for one in fields["causes"] if one["controllable"]]
    return _answer(fields, measures, forecasts, count_lessons(lessons))


def _compare(one: dict[str, Any]) -> dict[str, Any]:
    """Returns how far a measure came out from the plan: as a share of the plan, if anything was planned, and as a gain, positive
    where it came out better."""
    expected, actual = one["expected"], one["actual"]
    off = (actual - expected) / abs(expected) if abs(expected) > _NOTHING else None
    gain = (actual - expected) * (1 if one["better"] == "higher" else -1)
    return {"expected": expected, "actual": actual, "off": off, "gain": gain}


def _size(measure: dict[str, Any]) -> float:
    """Returns how far off it is; something out of nothing is infinitely far."""
    return abs(measure["off"]) if measure["off"] is not None else math.inf if measure["actual"] else 0.0


def _text(name: str, one: dict[str, Any]) -> str:
    if one["off"] is None:
        return f"{name} {figure(one['actual'])} for nothing planned"
    return f"{name} {one['off']:+.0%} ({figure(one['actual'])} for {figure(one['expected'])})"


def _rate(what: str, forecast: Forecast) -> dict[str, Any]:
    """Returns the probability that was given to what then happened, and how surprising that was; None if it was called impossible."""
    chance = forecast.stated if forecast.happened else 1 - forecast.stated
    return {"what": what, "chance": chance, "bits": surprise(chance) if chance > 0 else None}


def _answer(
    fields: dict[str, Any], measures: dict[str, Any], forecasts: list[tuple[str, Forecast]], rules: dict[str, int]
) -> Answer:
    events = sorted((_rate(*one) for one in forecasts), key=lambda one: float(one["chance"]))
    met = sum(_size(one) <= fields["tolerance"] for one in measures.values())
    right = sum(one.happened for one in fold([forecast for _, forecast in forecasts]))
    farthest = next((_text(name, one) for name, one in measures.items()), "")
    heads = notes(
        (measures, f"{met} of {len(measures)} measures as planned, farthest off {farthest}"),
        (events, f"{right} of {len(events)} statements right"),
    )
    summary = "; ".join(heads)
    conclusion: Conclusion = words(summary)
    if rules:
        counts = {rule: float(count) for rule, count in rules.items()}
        conclusion = ranking(tuple(rules), counts, "what to do next time")
        summary += f"; next time: {next(iter(rules))}"
    steps = [
        f"{_text(name, one)}, {'better' if one['gain'] > 0 else 'worse'}"
        for name, one in list(measures.items())[:4]
        if one["gain"]
    ]
    for one in (one for one in events[:3] if one["chance"] < 0.5):
        given = "called impossible" if one["bits"] is None else f"given {one['chance']:.2f}, {one['bits']:.1f} bits"
        steps.append(f"surprise: {one['what'][:60]}, {given}")
    steps += [f"next time ({count}): {rule}" for rule, count in list(rules.items())[:4]]
    support = [*rules.values()]
    is_unplanned = any(one["off"] is None and one["actual"] for one in measures.values())
    caveats = notes(
        (support[:1] == [1], "each rule rests on one observation"),
        (support[1:] and support[0] == support[1] != 1, "rules with equal support stand in the order of the input"),
        (is_unplanned, "where nothing was planned, a deviation has no share"),
        (not fields["causes"], "no causes were given: the rules say what, not why"),
    )
    detail = {
        "measures": measures,
        "met": met,
        "scored": len(events),
        "statements": events[:_MOST_LISTED],
        "brier": score_brier([forecast for _, forecast in forecasts]) if forecasts else None,
        "causes": [dict(one) for one in fields["causes"]],
        "rules": [{"said": rule, "support": count} for rule, count in rules.items()],
    }
    return Answer(conclusion, None, summary, cut(steps), detail, caveats)


def count_lessons(lessons: list[str]) -> dict[str, int]:
    """Returns the rules for next time, each with how often it was given, the most frequent first. The same words count as the same rule."""
    found: dict[str, list[str]] = {}
    for lesson in lessons:
        found.setdefault(" ".join(lesson.casefold().rstrip(". ").split()), []).append(lesson)
    return {repeats[0]: len(repeats) for repeats in sorted(found.values(), key=lambda repeats: -len(repeats))}
