"""Scores of probability forecasts against what happened: Brier and its parts, log score, tests of calibration, recalibration."""

import math
from collections.abc import Sequence
from typing import NamedTuple

_MOST_EXACT = 300  # forecasts whose number of hits gets an exact distribution


class Forecast(NamedTuple):
    """A stated probability and whether the thing happened."""

    said: float
    happened: bool
    method: str = ""


class Group(NamedTuple):
    """Forecasts of about the same probability: how many, their mean, and how often it happened."""

    count: int
    said: float
    rate: float


class Parts(NamedTuple):
    """Murphy's parts of the Brier score: reliability - resolution + uncertainty + what is lost by grouping."""

    reliability: float
    resolution: float
    uncertainty: float
    within: float


def mean(values: Sequence[float]) -> float:
    """The mean; of nothing it is not asked."""
    return math.fsum(values) / len(values)


def score_brier(forecasts: Sequence[Forecast]) -> float:
    """The mean squared distance of what was said from what happened: 0 is perfect, 0.25 is saying one half always."""
    return mean([(one.said - one.happened) ** 2 for one in forecasts])


def score_log(forecasts: Sequence[Forecast]) -> float | None:
    """The mean surprise in bits; None if something happened that was called impossible."""
    chances = [one.said if one.happened else 1 - one.said for one in forecasts]
    return None if min(chances) <= 0 else mean([surprise(chance) for chance in chances])


def surprise(chance: float) -> float:
    """How many bits one learns when something of this probability happens.

    >>> surprise(0.25), surprise(1)
    (2.0, 0.0)
    """
    return abs(math.log2(chance))


def group_forecasts(forecasts: Sequence[Forecast], most: int) -> list[Group]:
    """Forecasts by their value if there are few different ones, else in so many bins of equal width, from low to high."""
    values = {one.said for one in forecasts}
    bins: dict[float, list[Forecast]] = {}
    for one in forecasts:
        key = one.said if len(values) <= most else min(int(one.said * most), most - 1)
        bins.setdefault(key, []).append(one)
    return [
        Group(len(some), mean([one.said for one in some]), mean([one.happened for one in some]))
        for _, some in sorted(bins.items())
    ]


def split_brier(forecasts: Sequence[Forecast], groups: Sequence[Group]) -> Parts:
    """The parts of the Brier score (Murphy 1973)."""
    count, base = len(forecasts), mean([one.happened for one in forecasts])
    reliability = math.fsum(one.count * (one.said - one.rate) ** 2 for one in groups) / count
    resolution = math.fsum(one.count * (one.rate - base) ** 2 for one in groups) / count
    uncertainty = base * (1 - base)
    within = score_brier(forecasts) - (reliability - resolution + uncertainty)
    return Parts(reliability, resolution, uncertainty, within)


def spiegelhalter(forecasts: Sequence[Forecast]) -> tuple[float, float] | None:
    """Spiegelhalter's z and its two-sided p: whether the Brier score is further off than calibrated forecasts would be. None
    if all forecasts are 0, 1/2 or 1, which leave nothing to test."""
    spread = math.fsum((1 - 2 * one.said) ** 2 * one.said * (1 - one.said) for one in forecasts)
    if spread <= 0:
        return None
    z = math.fsum((one.happened - one.said) * (1 - 2 * one.said) for one in forecasts) / math.sqrt(spread)
    return z, math.erfc(abs(z) / math.sqrt(2))


def fold(forecasts: Sequence[Forecast]) -> list[Forecast]:
    """The forecasts as sureness: 0.2 that it happens is 0.8 that it does not."""
    return [one if one.said >= 0.5 else one._replace(said=1 - one.said, happened=not one.happened) for one in forecasts]


def find_tail(forecasts: Sequence[Forecast]) -> float:
    """The two-sided probability of a number of hits as far off as the one seen, were the forecasts calibrated."""
    hits = sum(one.happened for one in forecasts)
    if len(forecasts) > _MOST_EXACT:
        spread = math.sqrt(math.fsum(one.said * (1 - one.said) for one in forecasts))
        off = abs(hits - math.fsum(one.said for one in forecasts))
        return (1.0 if off < 1e-9 else 0.0) if not spread else math.erfc(off / spread / math.sqrt(2))
    chances = [1.0]  # of so many hits, one forecast after the other
    for one in forecasts:
        miss, hit = [*chances, 0.0], [0.0, *chances]
        chances = [(1 - one.said) * a + one.said * b for a, b in zip(miss, hit, strict=True)]
    return min(1.0, 2 * min(math.fsum(chances[: hits + 1]), math.fsum(chances[hits:])))


class Step(NamedTuple):
    """A range of stated probabilities and what happened as often in it."""

    low: float
    high: float
    count: int
    rate: float


def recalibrate(forecasts: Sequence[Forecast]) -> list[Step]:
    """The rising steps that come closest to what happened: neighbours that run the wrong way are pooled (isotonic regression)."""
    levels: dict[float, list[int]] = {}
    for one in forecasts:
        level = levels.setdefault(one.said, [0, 0])
        level[0] += one.happened
        level[1] += 1
    pools: list[tuple[float, float, int, int]] = []  # low, high, hits, count
    for said, (hits, count) in sorted(levels.items()):
        pools.append((said, said, hits, count))
        while len(pools) > 1 and pools[-2][2] * pools[-1][3] >= pools[-1][2] * pools[-2][3]:
            low, _, some, so_many = pools.pop(-2)
            _, high, more, as_many = pools.pop()
            pools.append((low, high, some + more, so_many + as_many))
    return [Step(low, high, count, hits / count) for low, high, hits, count in pools]
