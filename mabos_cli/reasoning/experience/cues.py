"""Cues that tell which of two things has more of something: their values, and how often they are right."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from mabos_cli.reasoning.features import Feature

POSITIVE, NEGATIVE = "yes", "no"
Profile = Mapping[str, Feature]


class Cue(NamedTuple):
    """A cue, how often it is right where it tells things apart, and which side of it is better. Differences up to `least` do
    not count."""

    name: str
    validity: float | None = None
    is_higher_better: bool = True
    least: float = 0.0


def prefer(cue: Cue, one: Profile, two: Profile) -> int:
    """1 if a cue speaks for the first, -1 for the second, 0 if it does not tell them apart. Of yes-or-no cues a yes counts
    against a no and against what is not known, but a no does not count against what is not known."""
    a, b = one.get(cue.name), two.get(cue.name)
    if isinstance(a, float | int) and isinstance(b, float | int):
        found = (a - b > cue.least) - (b - a > cue.least)
        return found if cue.is_higher_better else -found
    good = POSITIVE if cue.is_higher_better else NEGATIVE
    return (a == good) - (b == good)


class Learned(NamedTuple):
    """How often a cue was right and wrong over pairs of examples, and over how many pairs in all."""

    right: int
    wrong: int
    pairs: int

    @property
    def validity(self) -> float | None:
        told = self.right + self.wrong
        return self.right / told if told else None

    @property
    def discrimination(self) -> float:
        return (self.right + self.wrong) / self.pairs if self.pairs else 0.0


def learn(cue: Cue, examples: Sequence[tuple[Profile, float]]) -> Learned:
    """How a cue does over all pairs of examples that differ in the value to be told."""
    right = wrong = pairs = 0
    for (one, a), (two, b) in combinations(examples, 2):
        if a == b:
            continue
        pairs += 1
        said = prefer(cue, one, two) * (1 if a > b else -1)
        right += said > 0
        wrong += said < 0
    return Learned(right, wrong, pairs)


def votes(cues: Sequence[Cue], options: Mapping[str, Profile]) -> dict[str, dict[str, int]]:
    """For each option and cue 1, -1 or 0: yes or no; for numbers above or below the median of the options."""
    found: dict[str, dict[str, int]] = {name: {} for name in options}
    for cue in cues:
        numbers = sorted(p[cue.name] for p in options.values() if isinstance(p.get(cue.name), float | int))
        half = len(numbers) // 2
        middle = (numbers[half] + numbers[-half - 1]) / 2 if numbers else 0.0
        for name, profile in options.items():
            value = profile.get(cue.name)
            if isinstance(value, float | int):
                vote = (value > middle) - (value < middle)
            else:
                vote = (value == POSITIVE) - (value == NEGATIVE)
            found[name][cue.name] = vote if cue.is_higher_better else -vote
    return found
