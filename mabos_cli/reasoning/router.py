"""Which methods fit a problem: each aspect that a method is ideal for adds its weight."""

from collections.abc import Mapping
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.catalog import ASPECTS, METHODS, Method
from mabos_cli.reasoning.wording import meant

# What an aspect is worth. Time pressure is worth nothing: it decides between methods that fit equally well.
WEIGHTS = {"uncertainty": 0.2, "complexity": 0.2, "domain": 0.3, "data_availability": 0.15, "stakes": 0.15}
_SHORT = {"data": "data_availability", "time": "time_pressure"}


class Scored(NamedTuple):
    """A method, how well it fits a problem, and the aspects that say so."""

    method: Method
    score: float
    matched: tuple[str, ...]


def parse_classification(text: str) -> dict[str, str]:
    """What a problem is, from `uncertainty=high,domain=social`.

    >>> parse_classification("uncertainty=high, data=sparse")
    {'uncertainty': 'high', 'data_availability': 'sparse'}
    """
    found: dict[str, str] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        name, equals, value = (piece.strip().lower().replace("-", "_") for piece in part.partition("="))
        name = _SHORT.get(name, name)
        if not equals or name not in ASPECTS:
            hint = meant(name, ASPECTS, f"aspects: {', '.join(ASPECTS)}")
            raise BadValue(f"cannot read {part[:40]!r} as an aspect of the problem", hint)
        if name in found:
            raise BadValue(f"{name} is given twice", "give each aspect once")
        found[name] = value
    return check_classification(found)


def check_classification(given: Mapping[str, str]) -> dict[str, str]:
    """The classification, if all of its words are known and there is at least one."""
    for name, value in given.items():
        if name not in ASPECTS:
            raise BadValue(f"unknown aspect {name!r}", f"aspects: {', '.join(ASPECTS)}")
        if value not in ASPECTS[name]:
            raise BadValue(f"{name} cannot be {value[:40]!r}", f"{name}: {', '.join(ASPECTS[name])}")
    if not given.keys() & WEIGHTS.keys():
        raise BadValue("nothing to choose a method by", f"say at least one of {', '.join(WEIGHTS)}")
    return dict(given)


def score_methods(classification: Mapping[str, str]) -> tuple[Scored, ...]:
    """All methods, the best fit first. Among equals the pressure of time decides: what is urgent goes to the lightest method,
    what has time to the most thorough one; else the order of the catalogue holds."""
    found = [_score(method, classification) for method in METHODS.values()]
    sign = {"urgent": 1, "none": -1}.get(classification.get("time_pressure", ""), 0)
    return tuple(sorted(found, key=lambda one: (-one.score, sign * one.method.effort)))


def _score(method: Method, classification: Mapping[str, str]) -> Scored:
    matched = tuple(name for name in WEIGHTS if classification.get(name, "") in getattr(method, name))
    return Scored(method, round(sum(WEIGHTS[name] for name in matched), 10), matched)
