"""Finds who matters, who is for it, and whom to approach how: power and interest, and the balance of support."""

from collections.abc import Mapping
from math import fsum
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, cut, listed, notes, ranking
from mabos_cli.reasoning.inputs import AgentData
from mabos_cli.reasoning.shape import read_number

_SLACK = 1e-12
_STANCES = {"for": 1.0, "against": -1.0, "neutral": 0.0}
# By whether power and interest are high (Mendelow).
GRID = {
    (True, True): "manage closely",
    (True, False): "keep satisfied",
    (False, True): "keep informed",
    (False, False): "monitor",
}


class Person(NamedTuple):
    """A stakeholder. `pull` is its share of all power times interest: what one unit of its stance does to the balance."""

    name: str
    fields: Mapping[str, Any]
    stance: float
    pull: float

    def gain(self) -> float:
        """Returns by how much the balance rises if it is won over."""
        return self.pull * (1 - self.stance) if self.fields["movable"] else 0.0

    def score(self) -> float:
        """Returns the gain for the effort; who costs nothing counts as costing very little."""
        return float(self.gain() / max(self.fields["effort"], 1e-9))


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns whom to approach first, with the balance of support."""
    everybody = fields["stakeholders"]
    stances = [_read_stance(one["stance"], f"stakeholders.{name}.stance") for name, one in everybody.items()]
    weights = [one["power"] * one["interest"] for one in everybody.values()]
    total = fsum(weights)
    if not total:
        raise BadValue("stakeholders: nobody has both power and interest", "somebody must be able and willing to act")
    people = [
        Person(name, row, stance, weight / total)
        for (name, row), stance, weight in zip(everybody.items(), stances, weights, strict=True)
    ]
    return _answer(people, fsum(one.pull * one.stance for one in people), fields["needed"], fields["high"])


def _read_stance(raw: Any, path: str) -> float:
    if isinstance(raw, str) and raw.strip().lower() in _STANCES:
        return _STANCES[raw.strip().lower()]
    return read_number(raw, path, -1, 1, "from -1, against, to 1, for; or the words for, neutral, against")


def _answer(people: list[Person], balance: float, needed: float, high: float) -> Answer:
    carried = balance > needed + _SLACK
    order = sorted(people, key=lambda one: -one.score())
    worth = [one for one in order if one.gain() > 0]
    grid = {label: [one.name for one in people if _cell(one, high) == label] for label in GRID.values()}
    steps = [f"{label}: {listed(members)}" for label, members in grid.items() if members]
    steps.append(f"balance {balance:+.2f} by power times interest; needed above {needed:+.2f}")
    steps += [
        f"approach {one.name}: {one.gain():+.2f} to the balance, effort {one.fields['effort']:g}" for one in worth[:4]
    ]
    first = f"approach {worth[0].name} first" if worth else "nobody is left to win over"
    summary = f"support {balance:+.2f}, {'enough' if carried else 'not enough'}; {first}"
    detail = {
        "balance": balance,
        "needed": needed,
        "carried": carried,
        "grid": grid,
        "stakeholders": {one.name: _person_detail(one, high) for one in people},
        "approach": [one.name for one in worth],
    }
    scores = {one.name: one.score() for one in people}
    conclusion = ranking(tuple(one.name for one in order), scores, "whom to approach first")
    return Answer(conclusion, None, summary, cut(steps), detail, _caveats(people, order))


def _cell(one: Person, high: float) -> str:
    return GRID[one.fields["power"] >= high, one.fields["interest"] >= high]


def _person_detail(one: Person, high: float) -> dict[str, Any]:
    return {
        "quadrant": _cell(one, high),
        "stance": one.stance,
        "pull": one.pull,
        "gain": one.gain(),
        "gain_per_effort": one.score(),
    }


def _caveats(people: list[Person], order: list[Person]) -> tuple[str, ...]:
    ties = [one.name for one in order if order[0].score() and abs(one.score() - order[0].score()) < 1e-9]
    free = [one.name for one in people if not one.fields["effort"] and one.gain() > 0]
    return notes(
        (len(ties) > 1, f"equal gain for the effort: {listed(ties)}"),
        (free, f"effort 0 puts them first: {listed(free)}"),
        (True, "winning over counts as full support; the weight of a stakeholder is power times interest"),
    )
