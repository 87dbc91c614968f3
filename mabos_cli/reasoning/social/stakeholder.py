"""Finds who matters, who is for it, and whom to approach how: power and interest, and the balance of support."""

from collections.abc import Mapping
from math import fsum
from typing import Any

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


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns whom to approach first, with the balance of support."""
    rows, needed = fields["stakeholders"], fields["needed"]
    total = fsum(row["power"] * row["interest"] for row in rows.values())
    if not total:
        raise BadValue("stakeholders: nobody has both power and interest", "somebody must be able and willing to act")
    people = {name: _weigh(row, total, fields["high"], f"stakeholders.{name}.stance") for name, row in rows.items()}
    balance = fsum(one["pull"] * one["stance"] for one in people.values())
    carried = balance > needed + _SLACK
    scores = {name: one["gain_per_effort"] for name, one in people.items()}
    order = sorted(people, key=lambda name: -scores[name])
    worth = [name for name in order if people[name]["gain"] > 0]
    grid = {label: [name for name in people if people[name]["quadrant"] == label] for label in GRID.values()}
    steps = [f"{label}: {listed(members)}" for label, members in grid.items() if members]
    steps.append(f"balance {balance:+.2f} by power times interest; needed above {needed:+.2f}")
    for name in worth[:4]:
        steps.append(f"approach {name}: {people[name]['gain']:+.2f} to the balance, effort {rows[name]['effort']:g}")
    first = f"approach {worth[0]} first" if worth else "nobody is left to win over"
    summary = f"support {balance:+.2f}, {'enough' if carried else 'not enough'}; {first}"
    detail = {"balance": balance, "needed": needed, "carried": carried, "grid": grid, "stakeholders": people}
    ties = [name for name in order if scores[order[0]] and abs(scores[name] - scores[order[0]]) < 1e-9]
    free = [name for name in people if not rows[name]["effort"] and name in worth]
    caveats = notes(
        (len(ties) > 1, f"equal gain for the effort: {listed(ties)}"),
        (free, f"effort 0 puts them first: {listed(free)}"),
        (True, "winning over counts as full support; the weight of a stakeholder is power times interest"),
    )
    conclusion = ranking(tuple(order), scores, "whom to approach first")
    return Answer(conclusion, None, summary, cut(steps), detail | {"approach": worth}, caveats)


def _weigh(row: Mapping[str, Any], total: float, high: float, path: str) -> dict[str, Any]:
    """Returns the figures of a stakeholder. `pull` is its share of all power times interest, what one unit of its stance does to
    the balance; `gain` is by how much the balance rises if it is won over. Who costs nothing counts as costing very little."""
    stance, pull = _read_stance(row["stance"], path), row["power"] * row["interest"] / total
    gain = pull * (1 - stance) if row["movable"] else 0.0
    quadrant = GRID[row["power"] >= high, row["interest"] >= high]
    figures = {"quadrant": quadrant, "stance": stance, "pull": pull, "gain": gain}
    return figures | {"gain_per_effort": gain / max(row["effort"], 1e-9)}


def _read_stance(raw: Any, path: str) -> float:
    if isinstance(raw, str) and raw.strip().lower() in _STANCES:
        return _STANCES[raw.strip().lower()]
    return read_number(raw, path, -1, 1, "from -1, against, to 1, for; or the words for, neutral, against")
