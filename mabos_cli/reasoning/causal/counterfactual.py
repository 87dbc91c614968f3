"""Finds what would have happened if something had been otherwise: worlds that fit what was seen, changed and
recomputed."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.language.text import plural
from mabos_cli.reasoning.answer import Answer, best_names, distribution, figure, listed, notes
from mabos_cli.reasoning.expression import Formula, check_names, parse_formula
from mabos_cli.reasoning.inputs import AgentData, known_name, sum_to_one
from mabos_cli.reasoning.network import causal_order
from mabos_cli.reasoning.shape import check_size, read_share

MOST_WORLDS = 100_000
MOST_WORK = 10_000_000  # worlds times tokens of the equations
State = float | str  # yes is 1 and no is 0
World = dict[str, State]


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the distribution of the outcome in the changed world, given what was seen in the real one."""
    model = parse_model(fields["exogenous"], fields["equations"])
    seen, do = _read_states("observed", fields, model), _read_states("do", fields, model)
    outcome = known_name("outcome", fields["outcome"], model.names, "variable")
    worlds, weight, factual, changed = _imagine(model, seen, do, outcome)
    among = tuple(dict.fromkeys((*changed, *factual)))
    before, after = ({shown(state, among): found.get(state, 0.0) for state in among} for found in (factual, changed))
    best, *tied = best_names(after)
    change, known = _assigned(do), _assigned(seen)
    is_so = any(name in seen and is_same(seen[name], state) for name, state in do.items())
    caveats = notes(
        (True, "Holds only as far as the equations do: counterfactuals cannot be checked by data alone."),
        (tied, f"{best} and {listed(tied)} are equally likely."),
        (is_so, "Part of the change was so already."),
    )
    moved = ", ".join(f"{state} {figure(before[state])} -> {figure(after[state])}" for state in list(after)[:6])
    steps = (
        f"abduction: {plural(worlds, 'world')} left by {known or 'nothing seen'}, together {figure(weight)}",
        f"action: {change} in each of them",
        f"prediction: {outcome} {moved}",
    )
    would = (
        f"{outcome} would have been {best} with {figure(after[best])} if {change}{f', given {known}' if seen else ''}"
    )
    detail = {"counterfactual": after, "factual": before, "evidence_probability": weight, "worlds": worlds}
    conclusion, summary = (
        distribution(after, about=f"{outcome} if {change}"),
        f"{would}; in fact {best} has {figure(before[best])}",
    )
    return Answer(conclusion, min(1.0, after[best]), summary, steps, detail, caveats)


class Model(NamedTuple):
    """Outer variables with the chance of each value, and equations, causes first."""

    outer: dict[str, dict[State, float]]
    equations: dict[str, Formula]

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.outer, *self.equations)

    def worlds(self) -> Iterator[tuple[World, float]]:
        """Yields the values of the outer variables in every world, with its probability."""
        for row in product(*(chances.items() for chances in self.outer.values())):
            yield (
                {name: state for name, (state, _) in zip(self.outer, row, strict=True)},
                math.prod(share for _, share in row),
            )

    def compute(self, outer: World, settings: Mapping[str, State]) -> World:
        """Returns all variables of a world, with some of them set from outside."""
        world = {**outer, **settings}
        for name, equation in self.equations.items():
            if name not in settings:
                world[name] = equation.value(world, f"equations.{name}")
        return world


def _read_states(field: str, fields: dict[str, Any], model: Model) -> dict[str, State]:
    found = {}
    for name, raw in fields[field].items():
        known_name(field, name, model.names, "variable")
        if not isinstance(raw, str | int | float):
            raise BadValue(f"{field}.{name}: must be one value", "yes, no, a number or a word")
        found[name] = parse_state(raw)
    return found


def _imagine(
    model: Model, seen: Mapping[str, State], do: Mapping[str, State], outcome: str
) -> tuple[int, float, dict[State, float], dict[State, float]]:
    """Weighs the worlds by what was seen, changes them, and computes again: how many fit, their probability, and the distribution of
    the outcome before and after the change."""
    weight, worlds = 0.0, 0
    factual: dict[State, float] = {}
    changed: dict[State, float] = {}
    for outer, share in model.worlds():
        world = model.compute(outer, {})
        if not all(is_same(world[name], state) for name, state in seen.items()):
            continue
        weight, worlds = weight + share, worlds + 1
        for found, state in ((factual, world[outcome]), (changed, model.compute(outer, do)[outcome])):
            # What differs by rounding only is one value.
            key = state if isinstance(state, str) else float(f"{state:.12g}") + 0.0
            found[key] = found.get(key, 0.0) + share
    if not weight:
        impossible = f"observed: {_assigned(seen)} cannot happen in this model"
        raise BadValue(impossible, "check the equations and the chances")
    factual, changed = ({state: share / weight for state, share in found.items()} for found in (factual, changed))
    return worlds, weight, factual, changed


def parse_model(exogenous: Mapping[str, Any], equations: Mapping[str, str]) -> Model:
    """Returns the model, its equations in an order in which they can be computed."""
    check_names(exogenous, "exogenous")
    check_names(equations, "equations")
    for name in equations:
        if name in exogenous:
            raise BadValue(f"equations.{name}: is exogenous too", "a variable is left to chance or computed, not both")
    names = (*exogenous, *equations)
    outer = {name: _chances(raw, f"exogenous.{name}") for name, raw in exogenous.items()}
    check_size(
        "exogenous", math.prod(map(len, outer.values())), MOST_WORLDS, "worlds", "take fewer variables or values"
    )
    formulas = {name: parse_formula(raw, names, f"equations.{name}") for name, raw in equations.items()}
    work = math.prod(map(len, outer.values())) * sum(formula.size for formula in formulas.values())
    check_size("equations", work, MOST_WORK, "steps of computing", "take fewer variables or shorter equations")
    after = {name: [one for one in formula.uses if one in formulas] for name, formula in formulas.items()}
    return Model(outer, {name: formulas[name] for name in causal_order(after, "equations")})


def _chances(raw: Any, path: str) -> dict[State, float]:
    """Reads chances: `0.7` is the chance of yes, else each value has its chance. What cannot happen is left out."""
    if not isinstance(raw, dict):
        share = read_share(raw, path, "the chance of yes, or of each value")
        found: dict[State, float] = {1.0: share, 0.0: 1 - share}
    else:
        shares = {str(key): read_share(one, f"{path}.{key}") for key, one in raw.items()}
        found = {}
        for key, share in sum_to_one(path, shares).items():
            if parse_state(key) in found:
                raise BadValue(f"{path}: {key!r} occurs twice", "yes is 1 and no is 0")
            found[parse_state(key)] = share
    return {state: share for state, share in found.items() if share > 0}


def parse_state(raw: Any) -> State:
    """Returns a value as equations compute with it."""
    if isinstance(raw, bool):
        return float(raw)
    text = str(raw).strip()
    if text.lower() in ("yes", "true", "no", "false"):
        return float(text.lower() in ("yes", "true"))
    try:
        found = float(text)
    except ValueError:
        return text
    return found if math.isfinite(found) else text


def is_same(one: State, other: State) -> bool:
    """Returns whether two values are equal, up to the rounding of what was computed."""
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def shown(state: State, among: Sequence[State]) -> str:
    """Returns a value in a text: yes and no if a variable has no other values."""
    if isinstance(state, str):
        return state
    if all(one in (0.0, 1.0) for one in among):
        return "yes" if state else "no"
    return f"{state:.12g}"


def _assigned(states: Mapping[str, State]) -> str:
    """Returns the variables with their values, in a text."""
    return listed([f"{name}={shown(state, [state])}" for name, state in states.items()])
