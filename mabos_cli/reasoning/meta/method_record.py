"""How methods of reasoning have done: success rates from past results whose outcome is known, and what they say about the next choice."""

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from mabos_cli.reasoning.catalog import ASPECTS, METHODS
from mabos_cli.reasoning.input_checks import known_name
from mabos_cli.reasoning.own import Own, Past
from mabos_cli.reasoning.shape import Shape, list_of, map_of, optional, record, text, truth
from mabos_cli.reasoning.shares import beta_below, beta_quantile

LEVEL = 0.9  # of the credible intervals
# A method is taken to be as good as all together until about so many results of its own say otherwise.
PRIOR_CASES = 4.0
_CELLS = 200

EPISODES: Shape = list_of(
    record(
        "one use of a method",
        method=text("the method that was used"),
        right=truth("whether its conclusion turned out right"),
        classification=optional(
            map_of(text("a value of the aspect"), "what the problem was, as in domain: social"), {}
        ),
    ),
    "past uses of methods with their outcome; the agent's own if left out",
)


class Record(NamedTuple):
    """How often a method was right, and its rate: mean and credible interval of a beta distribution from an even start."""

    right: int
    total: int

    @property
    def mean(self) -> float:
        """The expected rate."""
        return (self.right + 1) / (self.total + 2)

    @property
    def low(self) -> float:
        """What the rate exceeds with a probability of 0.95."""
        return _bound((1 - LEVEL) / 2, self.right, self.total)

    @property
    def high(self) -> float:
        """What the rate stays below with a probability of 0.95."""
        return _bound((1 + LEVEL) / 2, self.right, self.total)


@lru_cache(maxsize=4096)
def _bound(share: float, right: int, total: int) -> float:
    """A quantile of the rate; few different records come up again and again."""
    return beta_quantile(share, right + 1, total - right + 1)


def read_episodes(given: list[dict[str, Any]] | None, own: Own) -> tuple[Past, ...]:
    """Results whose outcome is known: those of the input, or else the agent's own."""
    if given is None:
        return tuple(one for one in own.past if one.happened is not None)
    found = []
    for n, one in enumerate(given, 1):
        known_name(f"episodes[{n}].method", one["method"], METHODS, "method")
        for aspect, value in one["classification"].items():
            known_name(f"episodes[{n}].classification", aspect, ASPECTS, "aspect")
            known_name(f"episodes[{n}].classification.{aspect}", value, ASPECTS[aspect], "value")
        kind = tuple(one["classification"].items())
        found.append(Past(f"episodes[{n}]", one["method"], "", None, one["right"], "", kind))
    return tuple(found)


def learned_scores(past: Iterable[Past]) -> dict[str, Record]:
    """The record of each method that has a result with a known outcome, in the order of the catalogue."""
    counts: dict[str, list[int]] = {}
    for one in past:
        if one.happened is not None:
            count = counts.setdefault(one.method, [0, 0])
            count[0] += one.happened
            count[1] += 1
    order = {name: n for n, name in enumerate(METHODS)}
    return {
        name: Record(*counts[name]) for name in sorted(counts, key=lambda name: (order.get(name, len(order)), name))
    }


def scores_by_aspect(past: Iterable[Past]) -> dict[str, dict[str, Record]]:
    """The records of methods for each value of each aspect that a problem was said to have, as in `domain=social`."""
    groups: dict[tuple[str, str], list[Past]] = {}
    for one in past:
        for aspect, value in one.classification:
            groups.setdefault((aspect, value), []).append(one)
    return {
        f"{aspect}={value}": learned_scores(groups[aspect, value])
        for aspect, values in ASPECTS.items()
        for value in values
        if (aspect, value) in groups
    }


def find_factors(records: Mapping[str, Record]) -> dict[str, float]:
    """What to multiply the fit of each method by: its rate over the rate of all, drawn towards 1 while it has few results.

    >>> find_factors({"causal": Record(8, 8), "bayesian": Record(0, 8)})
    {'causal': 1.6666666666666667, 'bayesian': 0.3333333333333333}
    """
    right, total = sum(one.right for one in records.values()), sum(one.total for one in records.values())
    if not right:
        return {name: PRIOR_CASES / (one.total + PRIOR_CASES) for name, one in records.items()}
    base = right / total
    return {name: (one.right + PRIOR_CASES * base) / (one.total + PRIOR_CASES) / base for name, one in records.items()}


def chance_of_best(records: Mapping[str, Record], name: str) -> float:
    """The probability that a method has the highest rate of all that have a record."""
    own = records[name]
    shape = (own.right + 1, own.total - own.right + 1)
    low, high = beta_quantile(1e-6, *shape), beta_quantile(1 - 1e-6, *shape)
    edges = [low + (high - low) * n / _CELLS for n in range(_CELLS + 1)]
    below = [beta_below(edge, *shape) for edge in edges]
    parts = []
    for n in range(_CELLS):
        middle = (edges[n] + edges[n + 1]) / 2
        others = (beta_below(middle, r.right + 1, r.total - r.right + 1) for k, r in records.items() if k != name)
        parts.append((below[n + 1] - below[n]) * math.prod(others))
    return min(1.0, math.fsum(parts) / (below[-1] - below[0]))


def describe(one: Record) -> dict[str, Any]:
    """A record as JSON values."""
    return {"right": one.right, "total": one.total, "mean": one.mean, "low": one.low, "high": one.high}
