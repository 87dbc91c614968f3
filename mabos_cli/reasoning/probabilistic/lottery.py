"""Lotteries and utilities: certainty equivalents without overflow, and stochastic dominance."""

import math
from bisect import bisect_right
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from mabos_cli.core import BadValue

Lottery = tuple[tuple[float, float], ...]  # amounts, rising, with their probabilities


class Attitude(NamedTuple):
    """What amounts are worth. `sure` gives the certain amount that is worth as much as a lottery."""

    name: str
    of: Callable[[float], float]
    sure: Callable[[Lottery], float]


def linear() -> Attitude:
    """The attitude of somebody who looks at the mean only."""
    return Attitude("linear", lambda amount: amount, mean)


def cara(aversion: float) -> Attitude:
    """Constant absolute aversion to risk: u(x) = (1 - exp(-a x)) / a."""
    if aversion == 0:
        return linear()

    def sure(lottery: Lottery) -> float:
        if abs(aversion) * (lottery[-1][0] - lottery[0][0]) < 1e-7:
            # So small that the logarithm would lose all digits; the next term of the series is below rounding.
            return mean(lottery) - aversion * spread(lottery) ** 2 / 2
        # Relative to the term that dominates, so that no exponential overflows.
        top = max(-aversion * amount for amount, _ in lottery)
        total = sum(share * math.exp(-aversion * amount - top) for amount, share in lottery)
        return -(top + math.log(total)) / aversion

    return Attitude(f"CARA {aversion:g}", lambda amount: -math.expm1(-aversion * amount) / aversion, sure)


def crra(aversion: float) -> Attitude:
    """Constant relative aversion to risk: u(w) = w^(1-g) / (1-g), log w at g = 1. The amounts are total wealth, above 0."""
    if abs(aversion - 1) < 1e-9:
        return Attitude("log", math.log, lambda lot: math.exp(sum(share * math.log(w) for w, share in lot)))
    power = 1 - aversion

    def sure(lottery: Lottery) -> float:
        unit = lottery[0][0] if power < 0 else lottery[-1][0]
        if unit == 0:
            return 0.0
        return unit * sum(share * (w / unit) ** power for w, share in lottery) ** (1 / power)

    return Attitude(f"CRRA {aversion:g}", lambda w: w**power / power, sure)


def through_points(points: list[tuple[float, float]], path: str) -> Attitude:
    """A utility that is straight between given points, which must rise."""
    points = sorted(points)
    amounts, worths = [x for x, _ in points], [u for _, u in points]
    if len(points) < 2 or any(b <= a for a, b in pairwise(amounts)):
        raise BadValue(f"{path}: needs two or more points with different amounts", "add points")
    if any(b <= a for a, b in pairwise(worths)):
        raise BadValue(f"{path}: more must be worth more", "let utility rise with the amount")

    def of(amount: float) -> float:
        if not amounts[0] <= amount <= amounts[-1]:
            raise BadValue(f"{path}: no point at or beyond {amount:g}", "add a point that covers it")
        return _between(amounts, worths, amount)

    return Attitude("given points", of, lambda lot: _between(worths, amounts, sum(share * of(x) for x, share in lot)))


def _between(across: list[float], up: list[float], at: float) -> float:
    n = min(max(bisect_right(across, at), 1), len(across) - 1)
    return up[n - 1] + (up[n] - up[n - 1]) * (at - across[n - 1]) / (across[n] - across[n - 1])


def mean(lottery: Lottery) -> float:
    """The expected amount."""
    return sum(amount * share for amount, share in lottery)


def spread(lottery: Lottery) -> float:
    """The standard deviation."""
    middle = mean(lottery)
    return math.sqrt(sum(share * (amount - middle) ** 2 for amount, share in lottery))


def dominates(one: Lottery, other: Lottery) -> int:
    """1 if everybody who likes more prefers the first, 2 if everybody does who also dislikes risk, 0 otherwise.

    >>> dominates(((1, 0.5), (3, 0.5)), ((0, 0.5), (3, 0.5))), dominates(((1, 1.0),), ((0, 0.5), (2, 0.5)))
    (1, 2)
    """
    if one == other:
        return 0
    at = sorted({amount for amount, _ in one + other})
    gaps = [_below(other, amount) - _below(one, amount) for amount in at]
    if all(gap >= -1e-12 for gap in gaps):
        return 1 if any(gap > 1e-12 for gap in gaps) else 0
    area, slack = 0.0, 1e-12 * max(1.0, at[-1] - at[0])
    for gap, start, end in zip(gaps, at, at[1:], strict=False):
        area += gap * (end - start)
        if area < -slack:
            return 0
    return 2


def _below(lottery: Lottery, amount: float) -> float:
    """The probability of this amount or less."""
    return sum(share for found, share in lottery if found <= amount)
