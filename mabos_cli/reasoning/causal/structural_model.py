"""Structural models: chance decides the outer variables, equations the rest. Every world is computed, so answers are exact."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.arithmetic import Formula, check_names, parse_formula
from mabos_cli.reasoning.digraph import causal_order
from mabos_cli.reasoning.input_checks import check_size, sum_to_one
from mabos_cli.reasoning.shape import conform, probability
from mabos_cli.reasoning.wording import listed

MOST_WORLDS = 100_000
MOST_WORK = 10_000_000  # worlds times tokens of the equations

State = float | str  # yes is 1 and no is 0
World = dict[str, State]


class Model(NamedTuple):
    """Outer variables with the chance of each value, and equations, causes first."""

    outer: dict[str, dict[State, float]]
    equations: dict[str, Formula]

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.outer, *self.equations)

    def worlds(self) -> Iterator[tuple[World, float]]:
        """The values of the outer variables in every world, with its probability."""
        for row in product(*(chances.items() for chances in self.outer.values())):
            yield (
                {name: state for name, (state, _) in zip(self.outer, row, strict=True)},
                math.prod(share for _, share in row),
            )

    def compute(self, outer: World, settings: Mapping[str, State]) -> World:
        """All variables of a world, with some of them set from outside."""
        world = {**outer, **settings}
        for name, equation in self.equations.items():
            if name not in settings:
                world[name] = equation.value(world, f"equations.{name}")
        return world


def parse_model(exogenous: Mapping[str, Any], equations: Mapping[str, str]) -> Model:
    """The model, its equations in an order in which they can be computed."""
    check_names(exogenous, "exogenous")
    check_names(equations, "equations")
    for name in equations:
        if name in exogenous:
            raise BadValue(f"equations.{name}: is exogenous too", "a variable is left to chance or computed, not both")
    names = (*exogenous, *equations)
    outer = {name: _chances(said, f"exogenous.{name}") for name, said in exogenous.items()}
    check_size(
        "exogenous", math.prod(map(len, outer.values())), MOST_WORLDS, "worlds", "take fewer variables or values"
    )
    formulas = {name: parse_formula(said, names, f"equations.{name}") for name, said in equations.items()}
    work = math.prod(map(len, outer.values())) * sum(formula.size for formula in formulas.values())
    check_size("equations", work, MOST_WORK, "steps of computing", "take fewer variables or shorter equations")
    after = {name: [one for one in formula.uses if one in formulas] for name, formula in formulas.items()}
    return Model(outer, {name: formulas[name] for name in causal_order(after, "equations")})


def _chances(said: Any, path: str) -> dict[State, float]:
    """`0.7` is the chance of yes; otherwise values with their chances. What cannot happen is left out."""
    if not isinstance(said, dict):
        share = conform(probability("the chance of yes, or of each value"), said, {}, path)
        found = {1.0: share, 0.0: 1 - share}
    else:
        shares = {str(key): conform(probability(""), one, {}, f"{path}.{key}") for key, one in said.items()}
        found = {}
        for key, share in sum_to_one(path, shares).items():
            if parse_state(key) in found:
                raise BadValue(f"{path}: {key!r} is there twice", "yes is 1 and no is 0")
            found[parse_state(key)] = share
    return {state: share for state, share in found.items() if share > 0}


def parse_state(said: Any) -> State:
    """A value as equations compute with it."""
    if isinstance(said, bool):
        return float(said)
    text = str(said).strip()
    if text.lower() in ("yes", "true", "no", "false"):
        return float(text.lower() in ("yes", "true"))
    try:
        found = float(text)
    except ValueError:
        return text
    return found if math.isfinite(found) else text


def is_same(one: State, other: State) -> bool:
    """Whether two values are equal, up to the rounding of what was computed."""
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def has(world: World, states: Mapping[str, State]) -> bool:
    """Whether some variables have these values in a world."""
    return all(is_same(world[name], state) for name, state in states.items())


def as_told(state: State) -> State:
    """The value as a text can tell it: what differs by rounding only is one value.

    >>> as_told(0.1 + 0.2), as_told(1_000_001.0)
    (0.3, 1000001.0)
    """
    return state if isinstance(state, str) else float(f"{state:.12g}") + 0.0


def shown(state: State, among: Sequence[State]) -> str:
    """A value in a text: yes and no if a variable has no other values."""
    if isinstance(state, str):
        return state
    if all(one in (0.0, 1.0) for one in among):
        return "yes" if state else "no"
    return f"{state:.12g}"


def told(states: Mapping[str, State]) -> str:
    """Variables with their values, in a text."""
    return listed([f"{name}={shown(state, [state])}" for name, state in states.items()])
