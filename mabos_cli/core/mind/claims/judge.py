"""Weighs the ways in which two claims might exclude each other: a linear model, and what it knows of words.

`benchmarks/conflicts.py --train` fits the weights to labelled pairs of beliefs of several writers, and to pairs of opposites.
"""

from collections.abc import Iterator, Mapping

from mabos_cli.core.mind.claims.likeness import WordUse
from mabos_cli.core.mind.claims.overlay import Overlay, Side, Way

_STEPS = (0.5, 0.7, 0.85)  # where the part of a claim that is covered counts anew
_SHARP = ("least left", "most left", "least names", "most names")
# What counts for each kind of way apart.
_OWN: tuple[str, ...] = (*_SHARP, "least covered", "first left", "first", "shared", "one subject", "numbers", "moments")
_OWN += ("least heading word",)


class ConflictModel:
    """Says of two claims how likely they exclude each other."""

    def __init__(self, weights: Mapping[str, float], bias: float, floor: float, words: WordUse) -> None:
        self._weights, self._bias, self._floor, self.words = weights, bias, floor, words

    def judge(self, one: Side, two: Side) -> float:
        """Returns how likely it is that two claims exclude each other: the score of the likeliest way, -1 where there is none."""
        return max(map(self.score, Overlay(one, two, self.words).ways()), default=-1.0)

    def score(self, way: Way) -> float:
        """Returns how far a way is above the floor, as the logarithm of the odds."""
        return sum(self._weights.get(name, 0.0) * x for name, x in inputs_of(way)) + self._bias - self._floor


def inputs_of(way: Way) -> Iterator[tuple[str, float]]:
    """Yields what the model weighs of a way: its numbers, steps in them, and some for its kind apart."""
    numbers = way.numbers
    yield from numbers.items()
    yield way.kind, 1.0
    for name in _SHARP:
        yield f"{name} >", float(numbers[name] > 0.5)
    for step in _STEPS:
        yield f"covered > {step}", max(0.0, numbers["least covered"] - step)
    for name in _OWN:
        yield f"{way.kind} {name}", numbers[name]
