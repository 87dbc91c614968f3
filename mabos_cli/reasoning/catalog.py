"""The methods of reasoning: what each is for, and which problems fit it. Light: a solver is imported when it is asked for."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from mabos_cli.core import BadValue

CATEGORIES = ("formal", "probabilistic", "causal", "experience", "social", "meta")
# What a problem may be said to be, aspect by aspect.
ASPECTS = {
    "uncertainty": ("low", "medium", "high"),
    "complexity": ("simple", "moderate", "complex"),
    "domain": ("formal", "empirical", "social", "mixed"),
    "time_pressure": ("none", "moderate", "urgent"),
    "data_availability": ("rich", "moderate", "sparse"),
    "stakes": ("low", "medium", "high"),
}


class Method(NamedTuple):
    """A method and the problems that are ideal for it. `effort` is what a result costs the one who asks: 1 a minute, 2 an
    hour, 3 a study. `draws` names what it takes from the agent's own files when the input does not give it."""

    name: str
    category: str
    about: str
    uncertainty: tuple[str, ...]
    complexity: tuple[str, ...]
    domain: tuple[str, ...]
    data_availability: tuple[str, ...]
    stakes: tuple[str, ...]
    effort: int
    draws: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        """Returns the module of the solver."""
        return f"mabos_cli.reasoning.{self.category}.{self.name.replace('-', '_')}"


def _parse_row(row: str) -> Method:
    name, category, *fit, effort, draws, about = (cell.strip() for cell in row.split("|"))
    return Method._make(
        (name, category, about, *(tuple(words.split()) for words in fit), int(effort), tuple(draws.split()))
    )


_ROWS = Path(__file__).with_name("catalog.txt").read_text("utf-8").split("\n")[1:-1]
METHODS = {method.name: method for method in map(_parse_row, _ROWS)}
# What an aspect is worth. Time pressure is worth nothing: it decides between methods that fit equally well.
WEIGHTS = {"uncertainty": 0.2, "complexity": 0.2, "domain": 0.3, "data_availability": 0.15, "stakes": 0.15}
_SHORT = {"data": "data_availability", "time": "time_pressure"}


class Scored(NamedTuple):
    """A method, how well it fits a problem, and the aspects that say so."""

    method: Method
    score: float
    matched: tuple[str, ...]


def parse_classification(text: str) -> dict[str, str]:
    """Returns what a problem is, from `uncertainty=high,domain=social`.

    >>> parse_classification("uncertainty=high, data=sparse")
    {'uncertainty': 'high', 'data_availability': 'sparse'}
    """
    from mabos_cli.reasoning.answer import (
        suggest_name,  # not with the catalogue: a list of the methods needs no more than this module
    )

    found: dict[str, str] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        name, equals, value = (piece.strip().lower().replace("-", "_") for piece in part.partition("="))
        name = _SHORT.get(name, name)
        if not equals or name not in ASPECTS:
            hint = suggest_name(name, ASPECTS, f"aspects: {', '.join(ASPECTS)}")
            raise BadValue(f"cannot read {part[:40]!r} as an aspect of the problem", hint)
        if name in found:
            raise BadValue(f"{name} is given twice", "give each aspect once")
        found[name] = value
    return check_classification(found)


def check_classification(classification: Mapping[str, str]) -> dict[str, str]:
    """Returns the classification, if all of its words are known and there is at least one."""
    for name, value in classification.items():
        if name not in ASPECTS:
            raise BadValue(f"unknown aspect {name!r}", f"aspects: {', '.join(ASPECTS)}")
        if value not in ASPECTS[name]:
            raise BadValue(f"{name} cannot be {value[:40]!r}", f"{name}: {', '.join(ASPECTS[name])}")
    if not classification.keys() & WEIGHTS.keys():
        raise BadValue("nothing to choose a method by", f"say at least one of {', '.join(WEIGHTS)}")
    return dict(classification)


def score_methods(classification: Mapping[str, str]) -> tuple[Scored, ...]:
    """Returns all methods, the best fit first. Among equals the pressure of time decides: what is urgent goes to the
    lightest method, what has time to the most thorough one; else the order of the catalogue holds."""
    found = []
    for method in METHODS.values():
        matched = tuple(name for name in WEIGHTS if classification.get(name, "") in getattr(method, name))
        found.append(Scored(method, round(sum(WEIGHTS[name] for name in matched), 10), matched))
    sign = {"urgent": 1, "none": -1}.get(classification.get("time_pressure", ""), 0)
    return tuple(sorted(found, key=lambda one: (-one.score, sign * one.method.effort)))
