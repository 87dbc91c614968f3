"""Payoff tables, acts by states: reading them, expected values, and for which probabilities an act stays the best."""

from collections.abc import Mapping
from typing import NamedTuple

from mabos_cli.reasoning.input_checks import LARGEST, check_same, check_size
from mabos_cli.reasoning.shape import map_of, number, text

MOST_ACTS = 200
MOST_CELLS = 20_000
TABLE = map_of(
    map_of(number("a payoff", -LARGEST, LARGEST), "the payoff in each state"), "the acts to choose from, each with its payoff per state"
)  # fmt: skip
KIND = text("whether the payoffs are gains, of which more is better, or costs", "gains", "costs")

Gains = dict[str, dict[str, float]]  # by act and state


class Span(NamedTuple):
    """The probabilities of a state at which an act is among the best, while the other states keep their proportions."""

    state: str
    low: float
    high: float


def read_gains(table: Mapping[str, Mapping[str, float]], kind: str, path: str) -> Gains:
    """The table as gains: costs are negative ones. Every act has a payoff in the states of the first."""
    states = tuple(next(iter(table.values())))
    check_size(path, len(table), MOST_ACTS, "acts")
    check_size(path, len(table) * len(states), MOST_CELLS, "payoffs")
    for act, row in table.items():
        check_same(f"{path}.{act}", row, states, "state")
    sign = -1 if kind == "costs" else 1
    return {act: {state: sign * row[state] + 0.0 for state in states} for act, row in table.items()}


def largest(gains: Gains) -> float:
    """The size of the largest gain or loss, by which rounding is judged."""
    return max(abs(gain) for row in gains.values() for gain in row.values())


def expected_gains(gains: Gains, shares: Mapping[str, float]) -> dict[str, float]:
    """The expected gain of each act."""
    return {act: sum(share * row[state] for state, share in shares.items()) for act, row in gains.items()}


def find_span(gains: Gains, shares: Mapping[str, float], act: str, state: str) -> Span | None:
    """For which probabilities of a state an act is best, or None if for none. The expected gains are straight lines in that
    probability, so every other act cuts off one side."""
    low, high, slack = 0.0, 1.0, 1e-12 * largest(gains)
    sure, rest = _ends(gains[act], shares, state)
    for other, row in gains.items():
        there, elsewhere = _ends(row, shares, state)
        # ahead(p) = p * (sure - there) + (1 - p) * (rest - elsewhere) must not be negative; what rounding left is no difference
        at_one, at_zero = (0.0 if abs(one) <= slack else one for one in (sure - there, rest - elsewhere))
        if other == act or (at_one >= 0 and at_zero >= 0):
            continue
        if at_one < 0 and at_zero < 0:
            return None
        even = at_zero / (at_zero - at_one)
        low, high = (low, min(high, even)) if at_one < 0 else (max(low, even), high)
    # Where three lines meet, rounding may put one end past the other.
    return Span(state, low, max(low, high)) if low <= high + 1e-9 else None


def _ends(row: Mapping[str, float], shares: Mapping[str, float], state: str) -> tuple[float, float]:
    """The gain if the state is certain, and the expected gain if it is ruled out."""
    left = sum(share for name, share in shares.items() if name != state)
    rest = sum(share * row[name] for name, share in shares.items() if name != state)
    return row[state], rest / left
