"""Distances between things with features of both kinds, numbers and words (Gower), from 0 to 1."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mabos_cli.reasoning.features import Feature

Features = Mapping[str, Feature]


class Scale(NamedTuple):
    """How much each feature counts, and the least and the most of those that are numbers."""

    weights: dict[str, float]
    ranges: dict[str, tuple[float, float]]


def find_scale(things: Sequence[Features], weights: Mapping[str, float]) -> Scale:
    """The scale by which things are compared. A feature counts as a number if it is one wherever it is known."""
    names = dict.fromkeys(name for thing in things for name in thing)
    ranges = {}
    for name in names:
        values = [thing[name] for thing in things if name in thing]
        if not any(isinstance(value, str) for value in values):
            ranges[name] = (min(values), max(values))
    return Scale({name: weights.get(name, 1.0) for name in names}, ranges)


def distance(one: Features, two: Features, scale: Scale) -> float | None:
    """The mean difference over the features that both have; None if they have none in common. A number beyond the range is
    as far away as can be.

    >>> round(distance({"age": 20, "town": "Rome"}, {"age": 30, "town": "Oslo"}, Scale({"age": 1, "town": 1}, {"age": (0, 40)})), 3)
    0.625
    """
    total = weighed = 0.0
    for name, weight in scale.weights.items():
        a, b = one.get(name), two.get(name)
        if a is None or b is None:
            continue
        weighed += weight
        if name in scale.ranges and not isinstance(a, str) and not isinstance(b, str):
            low, high = scale.ranges[name]
            total += weight * min(1.0, abs(a - b) / (high - low)) if high > low else weight * (a != b)
        else:
            total += weight * (a != b)
    return total / weighed if weighed else None
