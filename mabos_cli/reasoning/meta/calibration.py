"""Decides whether stated confidence matches what came true: Brier score and its parts, and tests."""

import math
from collections.abc import Sequence
from statistics import fmean
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.language.text import plural
from mabos_cli.reasoning.answer import Answer, cut, notes, wilson, yes_no
from mabos_cli.reasoning.inputs import AgentData

_NEAR = 0.1  # a gap that stays within this is close enough to call it calibrated
_FEW = 30
_MOST_GROUPS = 10


class Parts(NamedTuple):
    """Murphy's parts of the Brier score: reliability - resolution + uncertainty + what is lost by grouping."""

    reliability: float
    resolution: float
    uncertainty: float
    within: float


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns whether stated confidence can be taken at its word, and by how much it is off."""
    forecasts = _read(fields["forecasts"], agent)
    groups = group_forecasts(forecasts, _MOST_GROUPS)
    detail = _score(forecasts, groups)
    low, high = detail["gap_interval"]
    # Wrong if the gap is no chance, right if there is enough to tell that it is small.
    is_enough = len(forecasts) >= _FEW and low >= -_NEAR and high <= _NEAR
    verdict = False if low > 0 or high < 0 else True if is_enough else None
    off = "over" if detail["gap"] > 0 else "under"
    word = {True: "calibrated", False: f"{off}confident", None: "too early to tell"}[verdict]
    right = f"right in {detail['share_right']:.2f} of {len(forecasts)}"
    summary = f"{word}: mean confidence {detail['mean_confidence']:.2f}, {right}; Brier score {detail['brier']:.3f}"
    values = {one.stated for one in forecasts}
    few = f"only {plural(len(forecasts), 'forecast')}: only large errors show"
    caveats = notes(
        (len(forecasts) < _FEW, few),
        (detail["skill"] is None, "all came out the same way: no skill can be told from that"),
        (len(values) > _MOST_GROUPS, f"grouped into {_MOST_GROUPS} bins; the parts of the score depend on them"),
        (min(values) < 0.5, "a statement below 0.5 counts as being sure of the opposite"),
    )
    about = "stated confidence matches what came true"
    brier, *parts = (f"{detail[name]:.3f}" for name in ("brier", "reliability", "resolution", "uncertainty"))
    lines = ["Brier {} = reliability {} - resolution {} + uncertainty {}".format(brier, *parts)]
    if abs(detail["within"]) > 5e-4:
        lines[0] += f" + within groups {detail['within']:.3f}"
    if detail["skill"] is not None:
        lines.append(f"skill against always saying {detail['base_rate']:.2f}: {detail['skill']:+.2f}")
    lines.append(f"gap {detail['gap']:+.2f} ({low:+.2f} to {high:+.2f})")
    shown = [f"said {o['said']:.2f}: happened in {o['rate']:.2f} of {o['count']}" for o in detail["groups"]]
    return Answer(yes_no(verdict, about), None, summary, cut([*lines, *cut(shown, 6)]), detail, caveats)


class Forecast(NamedTuple):
    """A stated probability and whether the thing happened."""

    stated: float
    happened: bool


def _read(rows: list[Any] | None, agent: AgentData) -> list[Forecast]:
    if rows is not None:
        return [Forecast(one["confidence"], one["happened"]) for one in rows]
    past = ((one.confidence, one.happened) for one in agent.take("past"))
    found = [Forecast(*one) for one in past if None not in one]
    if not found:
        hint = "give forecasts, or record outcomes with `reason outcome`"
        raise BadValue("forecasts: no past result has both a confidence and a known outcome", hint)
    return found


class Group(NamedTuple):
    """Forecasts of about the same probability: how many, their mean, and how often it happened."""

    size: int
    stated: float
    rate: float


def _score(forecasts: Sequence[Forecast], groups: Sequence[Group]) -> dict[str, Any]:
    """Returns what the forecasts are worth together. The gap is mean sureness less the share that was right."""
    brier, parts, folded = score_brier(forecasts), split_brier(forecasts, groups), fold(forecasts)
    mean, hits = fmean([one.stated for one in folded]), sum(one.happened for one in folded)
    low, high = wilson(hits, len(folded), 0.95)
    return {
        "count": len(forecasts),
        "brier": brier,
        "base_rate": fmean([one.happened for one in forecasts]),
        **parts._asdict(),
        "skill": 1 - brier / parts.uncertainty if parts.uncertainty else None,
        "mean_confidence": mean,
        "share_right": hits / len(folded),
        "gap": mean - hits / len(folded),
        "gap_interval": [mean - high, mean - low],
        "groups": [{"count": one.size, "said": one.stated, "rate": one.rate} for one in groups],
    }


def score_brier(forecasts: Sequence[Forecast]) -> float:
    """Returns the mean squared distance of what was said from what happened: 0 is perfect, 0.25 is always saying one
    half."""
    return fmean([(one.stated - one.happened) ** 2 for one in forecasts])


def surprise(chance: float) -> float:
    """Returns how many bits one learns when something of this probability happens."""
    return abs(math.log2(chance))


def group_forecasts(forecasts: Sequence[Forecast], most: int) -> list[Group]:
    """Returns the forecasts by value if there are few values, else in bins of equal width, from low to high."""
    values = {one.stated for one in forecasts}
    bins: dict[float, list[Forecast]] = {}
    for one in forecasts:
        key = one.stated if len(values) <= most else min(int(one.stated * most), most - 1)
        bins.setdefault(key, []).append(one)
    return [
        Group(len(some), fmean([one.stated for one in some]), fmean([one.happened for one in some]))
        for _, some in sorted(bins.items())
    ]


def split_brier(forecasts: Sequence[Forecast], groups: Sequence[Group]) -> Parts:
    """Returns the parts of the Brier score (Murphy 1973)."""
    count, base = len(forecasts), fmean([one.happened for one in forecasts])
    reliability = math.fsum(one.size * (one.stated - one.rate) ** 2 for one in groups) / count
    resolution = math.fsum(one.size * (one.rate - base) ** 2 for one in groups) / count
    uncertainty = base * (1 - base)
    within = score_brier(forecasts) - (reliability - resolution + uncertainty)
    return Parts(reliability, resolution, uncertainty, within)


def fold(forecasts: Sequence[Forecast]) -> list[Forecast]:
    """Returns the forecasts as sureness: 0.2 that it happens is 0.8 that it does not."""
    return [
        one if one.stated >= 0.5 else one._replace(stated=1 - one.stated, happened=not one.happened)
        for one in forecasts
    ]
