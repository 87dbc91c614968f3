"""Looking back in figures: how far outcomes lie from plans, signs of bias, and rules with the observations that support them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from mabos_cli.reasoning.meta.forecasts import Forecast, find_tail, fold, mean
from mabos_cli.reasoning.wording import figure

_NOTHING = 1e-12  # a plan below this is none: shares of it would overflow
_ENOUGH = 2  # measures of a kind before a factor is worth a rule


class Measure(NamedTuple):
    """A measure and how far it came out from the plan."""

    name: str
    expected: float
    actual: float
    sign: int  # 1 where higher is better
    kind: str

    @property
    def off(self) -> float | None:
        """The deviation as a share of the plan; None if nothing was planned."""
        return (self.actual - self.expected) / abs(self.expected) if abs(self.expected) > _NOTHING else None

    @property
    def gain(self) -> float:
        """The deviation, positive where it came out better."""
        return self.sign * (self.actual - self.expected)

    @property
    def size(self) -> float:
        """How far off it is; something out of nothing is infinitely far."""
        return abs(self.off) if self.off is not None else math.inf if self.actual else 0.0


class Rule(NamedTuple):
    """Something to do next time, and how many observations speak for it."""

    said: str
    support: int


class Event(NamedTuple):
    """A statement with a probability and its outcome."""

    what: str
    forecast: Forecast


def find_signs(measures: Sequence[Measure], before: Sequence[Event], after: Sequence[Event]) -> dict[str, Any]:
    """Signs of bias, each with the figures that it rests on; a p says how often chance alone would give as much."""
    signs: dict[str, Any] = {}
    worse, better = sum(one.gain < 0 for one in measures), sum(one.gain > 0 for one in measures)
    if worse + better > 1 and worse != better:
        chance = find_tail([Forecast(0.5, n < worse) for n in range(worse + better)])
        signs["optimism" if worse > better else "pessimism"] = {"worse": worse, "better": better, "p": chance}
    if before:
        folded = fold([one.forecast for one in before])
        said, right = mean([one.said for one in folded]), mean([one.happened for one in folded])
        if abs(said - right) > 1e-9:
            name = "overconfidence" if said > right else "underconfidence"
            signs[name] = {"said": said, "right": right, "count": len(folded), "p": find_tail(folded)}
    if after:
        chances = [chance_of(one) for one in after]
        then = mean([chance_of(one) for one in before]) if before else None
        signs["hindsight"] = {"stated_after": len(after), "given_to_what_happened": mean(chances), "given_before": then}
    return signs


def chance_of(event: Event) -> float:
    """The probability that was given to what then happened."""
    return event.forecast.said if event.forecast.happened else 1 - event.forecast.said


def find_rules(
    lessons: Iterable[str],
    causes: Iterable[str],
    measures: Sequence[Measure],
    signs: Mapping[str, Any],
    tolerance: float,
) -> list[Rule]:
    """What to do next time: lessons, causes that were in our hands, factors on plans, and less confidence where it is due; the
    best supported first. The same words count as the same rule."""
    found: dict[str, Rule] = {}

    def add(said: str, support: int = 1) -> None:
        key = " ".join(said.casefold().rstrip(". ").split())
        found[key] = Rule(
            found[key].said if key in found else said, support + (found[key].support if key in found else 0)
        )

    for said in lessons:
        add(said)
    for cause in causes:
        add(f"act on this cause: {cause}")
    for kind, some in _by_kind(measures).items():
        ratios = [one.actual / one.expected for one in some if one.expected > _NOTHING]
        times = median(ratios) if len(ratios) >= _ENOUGH else 1.0
        if abs(times - 1) > tolerance:
            same = sum((ratio > 1) == (times > 1) for ratio in ratios)
            add(f"expect {figure(times)} times the plan in {kind}", same)
    over = signs.get("overconfidence")
    if over and over["p"] < 0.05:
        add(f"state less confidence: {over['said']:.2f} said, {over['right']:.2f} right", over["count"])
    return sorted(found.values(), key=lambda rule: -rule.support)


def _by_kind(measures: Sequence[Measure]) -> dict[str, list[Measure]]:
    kinds: dict[str, list[Measure]] = {}
    for one in measures:
        if one.kind:
            kinds.setdefault(one.kind, []).append(one)
    return kinds
