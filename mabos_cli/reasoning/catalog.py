"""The methods of reasoning: what each is for, and which problems fit it. Light: a solver is imported when it is asked for."""

from collections.abc import Mapping
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


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# name | category | uncertainty | complexity | domain | data | stakes | effort | draws | about
_TABLE = """
deductive | formal | low | simple moderate | formal | rich moderate | medium high | 1 | facts rules | What follows from premises with certainty: proves or refutes a statement.
inductive | formal | medium | moderate | empirical | rich | low medium | 1 | facts | What generally holds, from observed instances: how far a pattern can be trusted.
abductive | formal | high | moderate complex | empirical mixed | sparse | medium | 1 | facts rules | Which explanation accounts best for what was observed.
analogical | formal | medium high | moderate | mixed | sparse | low medium | 2 | | What carries over from a known situation with the same structure.
modal | formal | low medium | complex | formal | moderate | medium | 2 | | What must be and what may be, over possible worlds.
deontic | formal | low | moderate | social formal | moderate | high | 1 | facts rules | What is obligatory, permitted or forbidden, and where norms clash.
temporal | formal | low medium | moderate complex | formal empirical | moderate | medium | 2 | | How events lie in time: which orders are possible, and what must come before.
default | formal | medium | moderate | formal mixed | sparse moderate | medium | 1 | facts | What normally holds unless something speaks against it.
constraint-satisfaction | formal | low | complex | formal | rich moderate | medium high | 2 | | An assignment that meets all constraints, or why there is none.
fuzzy | formal | medium | moderate | empirical mixed | moderate | low medium | 2 | | A verdict from matters of degree, by rules in words.
bayesian | probabilistic | high medium | moderate | empirical | moderate sparse | high medium | 1 | | How evidence changes what to believe.
decision-theory | probabilistic | high | moderate complex | mixed empirical | sparse moderate | high | 2 | | Which act to choose when the state of the world is unknown: several criteria side by side.
expected-utility | probabilistic | medium high | moderate simple | empirical mixed | rich moderate | high medium | 1 | | Which option has the highest expected utility, with an attitude to risk.
info-theory | probabilistic | high | moderate | empirical formal | sparse moderate | medium | 2 | | Which question is worth asking first, and what the answer is worth.
monte-carlo | probabilistic | high | complex | empirical | rich moderate | high medium | 2 | | The range of outcomes of a model with uncertain inputs, by simulation.
causal | causal | medium | complex | empirical | rich | high | 3 | | Whether and how strongly one thing causes another, apart from what confounds them.
counterfactual | causal | medium | complex | empirical mixed | moderate | high | 3 | | What would have happened if something had been otherwise.
interventional | causal | medium high | complex | empirical | rich moderate | high | 2 | | What will happen if we set something ourselves.
root-cause | causal | medium | moderate complex | empirical | moderate | medium high | 2 | | Which basic faults account for a failure, and which to mend first.
systems-thinking | causal | medium high | complex | mixed empirical social | moderate sparse | high | 3 | | Which feedback loops drive a system, and where to act.
heuristic | experience | medium high | simple | mixed empirical | sparse | low | 1 | | Which option is better by the first cue that tells them apart.
case-based | experience | medium | moderate | mixed empirical social | moderate sparse | medium | 1 | cases beliefs desires | What worked before in a situation like this.
pattern-recognition | experience | medium | moderate simple | empirical | rich | low medium | 1 | | Which known pattern a situation shows, by the nearest examples.
satisficing | experience | medium | simple moderate | mixed | sparse moderate | low medium | 1 | | The first option that is good enough on every count.
naturalistic | experience | high medium | complex moderate | mixed social | sparse | high | 1 | | The course of action that experience suggests, played through before it is taken.
game-theory | social | medium | moderate complex | social formal | moderate rich | high | 2 | | What players do who all do their best against each other.
negotiation | social | medium | moderate complex | social | moderate | high medium | 2 | | What a fair and lasting deal is, given what each can walk away to.
social-choice | social | low | moderate simple | social | rich | medium | 1 | | What a group prefers, by several rules of voting.
argumentation | social | medium high | complex moderate | social mixed | moderate sparse | medium high | 2 | | Which arguments stand when all attacks are weighed.
stakeholder | social | medium | moderate | social | moderate | high medium | 1 | | Who matters, who is for it, and whom to approach how.
meta-cognitive | meta | high | complex | mixed | sparse moderate | high medium | 1 | past | What is known, assumed and missing, and whether more thought is worth it.
strategy-selection | meta | medium high | complex moderate | mixed | moderate | medium | 1 | past | Which method to use here, by fit and by how it has done.
learning-to-reason | meta | medium | moderate | mixed | rich moderate | low medium | 2 | past | What past results teach about which method works for what.
reflection | meta | medium | moderate complex | mixed social | moderate sparse | medium low | 1 | past | What was expected, what happened, why, and what to do differently.
calibration | meta | high medium | moderate | mixed empirical | rich moderate | medium high | 1 | past | Whether stated confidence matches what came true.
"""


def _parse_row(row: str) -> Method:
    name, category, uncertainty, complexity, domain, data, stakes, effort, draws, about = row.split(" | ")
    fit = (_words(uncertainty), _words(complexity), _words(domain), _words(data), _words(stakes))
    return Method(name, category, about, *fit, int(effort), _words(draws))


METHODS = {
    method.name: method for method in (_parse_row(row.replace("| |", "|  |")) for row in _TABLE.strip().split("\n"))
}
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
        meant,  # not with the catalogue: a list of the methods needs no more than this module
    )

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
    found = [_score(method, classification) for method in METHODS.values()]
    sign = {"urgent": 1, "none": -1}.get(classification.get("time_pressure", ""), 0)
    return tuple(sorted(found, key=lambda one: (-one.score, sign * one.method.effort)))


def _score(method: Method, classification: Mapping[str, str]) -> Scored:
    matched = tuple(name for name in WEIGHTS if classification.get(name, "") in getattr(method, name))
    return Scored(method, round(sum(WEIGHTS[name] for name in matched), 10), matched)
