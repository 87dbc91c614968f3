"""Finds what was expected, what happened, why, and what to change: deviations, surprise, rules with support."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, Conclusion, cut, figure, notes, ranking, words
from mabos_cli.reasoning.inputs import AgentData
from mabos_cli.reasoning.meta.calibration import Forecast, fold, score_brier, surprise

_NOTHING = 1e-12  # a plan below this is none: shares of it would overflow
_MOST_LISTED = 50  # statements in the detail, the most surprising ones


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the rules for the next time by how much supports them, with deviations and surprises."""
    measures = [
        Measure(name, one["expected"], one["actual"], 1 if one["better"] == "higher" else -1)
        for name, one in fields["measures"].items()
    ]
    events = [Event(one["what"], Forecast(one["confidence"], one["happened"])) for one in fields["events"]]
    events += [
        Event(one.problem or one.id, Forecast(one.confidence, one.happened))
        for one in agent.take("past")
        if one.confidence is not None and one.happened is not None
    ]
    if not (measures or events):
        hint = "give measures or events, or record outcomes with `reason outcome`"
        raise BadValue("measures: nothing to look back on", hint)
    measures.sort(key=lambda one: -one.size)
    lessons = [*fields["lessons"], *(one.lesson for one in agent.take("past") if one.lesson)]
    lessons += [f"act on this cause: {one['cause']}" for one in fields["causes"] if one["controllable"]]
    return _tell(_Review(fields, measures, events, find_rules(lessons)))


class Event(NamedTuple):
    """A statement with a probability and its outcome."""

    what: str
    forecast: Forecast


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


class Rule(NamedTuple):
    """Something to do next time, and how many observations speak for it."""

    text: str
    support: int


class _Review(NamedTuple):
    """The input and all that was found in it; measures the farthest off first."""

    fields: Mapping[str, Any]
    measures: list[Measure]
    events: list[Event]
    rules: list[Rule]


def _tell(review: _Review) -> Answer:
    fields, measures, events, rules = review
    met = sum(one.size <= fields["tolerance"] for one in measures)
    surprises = sorted(events, key=chance_of)
    heads = []
    if measures:
        heads.append(f"{met} of {len(measures)} measures as planned, farthest off {_off_text(measures[0])}")
    if events:
        right = sum(one.happened for one in fold([event.forecast for event in events]))
        heads.append(f"{right} of {len(events)} statements right")
    summary = "; ".join(heads)
    conclusion: Conclusion = words(summary)
    if rules:
        scores = {rule.text: float(rule.support) for rule in rules}
        conclusion = ranking(tuple(scores), scores, "what to do next time")
        summary += f"; next time: {rules[0].text}"
    steps = [f"{_off_text(one)}, {'better' if one.gain > 0 else 'worse'}" for one in measures[:4] if one.gain]
    steps += [
        f"surprise: {one.what[:60]}, "
        + (
            f"given {chance_of(one):.2f}, {surprise(chance_of(one)):.1f} bits"
            if chance_of(one)
            else "called impossible"
        )
        for one in surprises[:3]
        if chance_of(one) < 0.5
    ]
    steps += [f"next time ({rule.support}): {rule.text}" for rule in rules[:4]]
    return Answer(conclusion, None, summary, cut(steps), _detail(review, met, surprises), _caveats(review))


def _off_text(one: Measure) -> str:
    if one.off is None:
        return f"{one.name} {figure(one.actual)} for nothing planned"
    return f"{one.name} {one.off:+.0%} ({figure(one.actual)} for {figure(one.expected)})"


def _detail(review: _Review, met: int, surprises: Sequence[Event]) -> dict[str, Any]:
    fields = review.fields
    return {
        "measures": {
            one.name: {"expected": one.expected, "actual": one.actual, "off": one.off, "gain": one.gain}
            for one in review.measures
        },
        "met": met,
        "scored": len(surprises),
        "statements": [
            {
                "what": one.what,
                "chance": chance_of(one),
                "bits": surprise(chance_of(one)) if chance_of(one) > 0 else None,
            }
            for one in surprises[:_MOST_LISTED]
        ],
        "brier": score_brier([one.forecast for one in surprises]) if surprises else None,
        "causes": [dict(one) for one in fields["causes"]],
        "rules": [{"said": rule.text, "support": rule.support} for rule in review.rules],
    }


def _caveats(review: _Review) -> tuple[str, ...]:
    fields, measures, _, rules = review
    support = [rule.support for rule in rules]
    is_equal = len(rules) > 1 and support[0] == support[1] != 1
    has_unplanned = any(one.off is None and one.actual for one in measures)
    return notes(
        (support[:1] == [1], "each rule rests on one observation"),
        (is_equal, "rules with equal support stand in the order of the input"),
        (has_unplanned, "where nothing was planned, a deviation has no share"),
        (not fields["causes"], "no causes were given: the rules say what, not why"),
    )


def chance_of(event: Event) -> float:
    """Returns the probability that was given to what then happened."""
    return event.forecast.stated if event.forecast.happened else 1 - event.forecast.stated


def find_rules(lessons: list[str]) -> list[Rule]:
    """Returns what to do next time, the best supported first. The same words count as the same rule."""
    found: dict[str, Rule] = {}
    for lesson in lessons:
        key = " ".join(lesson.casefold().rstrip(". ").split())
        known = found.get(key, Rule(lesson, 0))
        found[key] = Rule(known.text, known.support + 1)
    return sorted(found.values(), key=lambda rule: -rule.support)
