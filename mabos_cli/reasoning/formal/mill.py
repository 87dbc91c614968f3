"""Mill's methods: which circumstances go with a phenomenon, by agreement, difference and concomitant variation."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mabos_cli.reasoning.features import Feature, feature_text
from mabos_cli.reasoning.sampling import correlation, ranks

_MOST_PAIRS = 20  # one pair shows it; more of them only confirm it


class Case(NamedTuple):
    """Something observed: its circumstances, whether the phenomenon was there, and how much of it if that was measured."""

    name: str
    features: Mapping[str, Feature]
    held: bool
    amount: float | None = None


class Findings(NamedTuple):
    """Circumstances as `feature=value`. `agreement`: in all cases with the phenomenon; `joint`: and in none without it;
    `difference`: features with the pairs of cases that are alike in all else; `variation`: features with how their amount goes
    with that of the phenomenon, from -1 to 1."""

    agreement: tuple[str, ...]
    joint: tuple[str, ...]
    difference: dict[str, list[tuple[str, str]]]
    variation: dict[str, float]


def apply_methods(cases: Sequence[Case]) -> Findings:
    """What the methods say about some cases."""
    with_it = [case for case in cases if case.held]
    without = [case for case in cases if not case.held]
    shared = [*with_it[0].features.items()] if len(with_it) > 1 else []
    shared = [(name, value) for name, value in shared if all(c.features.get(name) == value for c in with_it)]
    joint = [
        (name, value)
        for name, value in shared
        if without and all(name in c.features and c.features[name] != value for c in without)
    ]
    return Findings(
        tuple(f"{name}={feature_text(value)}" for name, value in shared),
        tuple(f"{name}={feature_text(value)}" for name, value in joint),
        _differences(with_it, without),
        _variations(cases),
    )


def _differences(with_it: Sequence[Case], without: Sequence[Case]) -> dict[str, list[tuple[str, str]]]:
    """The features by which a case with the phenomenon and one without it differ, where it is only one."""
    found: dict[str, list[tuple[str, str]]] = {}
    for one in with_it:
        for two in without:
            if one.features.keys() != two.features.keys():
                continue
            unlike = [name for name, value in one.features.items() if two.features[name] != value]
            if len(unlike) == 1 and len(found.get(unlike[0], ())) < _MOST_PAIRS:
                found.setdefault(unlike[0], []).append((one.name, two.name))
    return found


def _variations(cases: Sequence[Case]) -> dict[str, float]:
    """Rank correlations between numeric features and the phenomenon, where at least three cases tell."""
    measured = any(case.amount is not None for case in cases)
    known = [case for case in cases if not measured or case.amount is not None]
    found = {}
    for name in dict.fromkeys(name for case in known for name in case.features):
        told = [case for case in known if name in case.features]
        values = [case.features[name] for case in told]
        amounts = [float(case.held if case.amount is None else case.amount) for case in told]
        if len(told) < 3 or any(isinstance(value, str) for value in values):
            continue
        if len(set(values)) > 1 and len(set(amounts)) > 1:
            found[name] = spearman(values, amounts)
    return found


def spearman(left: Sequence[float], right: Sequence[float]) -> float:
    """The rank correlation of two rows of numbers, neither of which is constant; equal numbers share their ranks.

    >>> spearman([1, 2, 3], [10, 40, 90])
    1.0
    """
    found = correlation(ranks(left), ranks(right))
    return max(-1.0, min(1.0, found or 0.0))
