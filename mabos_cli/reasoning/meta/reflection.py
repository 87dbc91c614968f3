"""Finds what was expected, what happened, and what to change: deviations, surprise, lessons with support."""

import math
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, Conclusion, cut, figure, notes, ranking, words
from mabos_cli.reasoning.inputs import AgentData
from mabos_cli.reasoning.meta.calibration import Forecast, fold, score_brier, surprise

_NOTHING = 1e-12  # a plan below this is none: shares of it would overflow
_MOST_LISTED = 50  # statements in the detail, the most surprising ones


class Event(NamedTuple):
    """A statement with a probability and its outcome."""

    what: str
    forecast: Forecast

    @property
    def chance(self) -> float:
        """Returns the probability that was given to what then happened."""
        return self.forecast.stated if self.forecast.happened else 1 - self.forecast.stated

    @property
    def bits(self) -> float | None:
        """Returns how surprising it was; None if it was called impossible."""
        return surprise(self.chance) if self.chance > 0 else None


class Measure(NamedTuple):
    """A measure and how far it came out from the plan."""

    name: str
    expected: float
    actual: float
    sign: int  # 1 where higher is better

    @property
    def off(self) -> float | None:
        """Returns the deviation as a share of the plan; None if nothing was planned."""
        return (self.actual - self.expected) / abs(self.expected) if abs(self.expected) > _NOTHING else None

    @property
    def gain(self) -> float:
        """Returns the deviation, positive where it came out better."""
        return self.sign * (self.actual - self.expected)

    @property
    def size(self) -> float:
        """Returns how far off it is; something out of nothing is infinitely far."""
        return abs(self.off) if self.off is not None else math.inf if self.actual else 0.0

    @property
    def text(self) -> str:
        """Returns the deviation in words."""
        if self.off is None:
            return f"{self.name} {figure(self.actual)} for nothing planned"
        return f"{self.name} {self.off:+.0%} ({figure(self.actual)} for {figure(self.expected)})"


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns what to do next time by how much supports it, with deviations and surprises."""
    measures = [
        Measure(name, one["expected"], one["actual"], 1 if one["better"] == "higher" else -1)
        for name, one in fields["measures"].items()
    ]
    measures.sort(key=lambda one: -one.size)
    events = [Event(one["what"], Forecast(one["confidence"], one["happened"])) for one in fields["events"]]
    events += [
        Event(one.problem or one.id, Forecast(one.confidence, one.happened))
        for one in agent.take("past")
        if one.confidence is not None and one.happened is not None
    ]
    events.sort(key=lambda one: one.chance)
    if not (measures or events):
        hint = "give measures or events, or record outcomes with `reason outcome`"
        raise BadValue("measures: nothing to look back on", hint)
    lessons = [*fields["lessons"], *(one.lesson for one in agent.take("past") if one.lesson)]
    lessons += [f"act on this cause: {one['cause']}" for one in fields["causes"] if one["controllable"]]
    return _answer(fields, measures, events, count_lessons(lessons))


def _answer(fields: dict[str, Any], measures: list[Measure], events: list[Event], rules: dict[str, int]) -> Answer:
    met = sum(one.size <= fields["tolerance"] for one in measures)
    right = sum(one.happened for one in fold([event.forecast for event in events]))
    heads = notes(
        (
            measures,
            f"{met} of {len(measures)} measures as planned, farthest off {measures[0].text if measures else ''}",
        ),
        (events, f"{right} of {len(events)} statements right"),
    )
    summary = "; ".join(heads)
    conclusion: Conclusion = words(summary)
    if rules:
        conclusion = ranking(
            tuple(rules), {rule: float(count) for rule, count in rules.items()}, "what to do next time"
        )
        summary += f"; next time: {next(iter(rules))}"
    steps = [f"{one.text}, {'better' if one.gain > 0 else 'worse'}" for one in measures[:4] if one.gain]
    for one in (one for one in events[:3] if one.chance < 0.5):
        given = "called impossible" if one.bits is None else f"given {one.chance:.2f}, {one.bits:.1f} bits"
        steps.append(f"surprise: {one.what[:60]}, {given}")
    steps += [f"next time ({count}): {rule}" for rule, count in list(rules.items())[:4]]
    support = [*rules.values()]
    caveats = notes(
        (support[:1] == [1], "each rule rests on one observation"),
        (support[1:] and support[0] == support[1] != 1, "rules with equal support stand in the order of the input"),
        (
            any(one.off is None and one.actual for one in measures),
            "where nothing was planned, a deviation has no share",
        ),
        (not fields["causes"], "no causes were given: the rules say what, not why"),
    )
    return Answer(conclusion, None, summary, cut(steps), _detail(fields, met, measures, events, rules), caveats)


def _detail(
    fields: dict[str, Any], met: int, measures: list[Measure], events: list[Event], rules: dict[str, int]
) -> dict[str, Any]:
    return {
        "measures": {
            one.name: {"expected": one.expected, "actual": one.actual, "off": one.off, "gain": one.gain}
            for one in measures
        },
        "met": met,
        "scored": len(events),
        "statements": [{"what": one.what, "chance": one.chance, "bits": one.bits} for one in events[:_MOST_LISTED]],
        "brier": score_brier([one.forecast for one in events]) if events else None,
        "causes": [dict(one) for one in fields["causes"]],
        "rules": [{"said": rule, "support": count} for rule, count in rules.items()],
    }


def count_lessons(lessons: list[str]) -> dict[str, int]:
    """Returns the rules for next time, each with how often it was given, the most frequent first. The same words count as the same rule."""
    found: dict[str, list[str]] = {}
    for lesson in lessons:
        found.setdefault(" ".join(lesson.casefold().rstrip(". ").split()), []).append(lesson)
    return {repeats[0]: len(repeats) for repeats in sorted(found.values(), key=lambda repeats: -len(repeats))}
