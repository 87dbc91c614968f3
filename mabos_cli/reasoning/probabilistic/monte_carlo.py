"""Simulates the range of outcomes of a model with uncertain inputs, with draws from a seed."""

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from statistics import quantiles
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, cut, figure, quantity
from mabos_cli.reasoning.expression import Formula, check_names, parse_formula
from mabos_cli.reasoning.inputs import LARGEST, AgentData, known_name, sum_to_one
from mabos_cli.reasoning.network import causal_order
from mabos_cli.reasoning.shape import check_size, read_number, read_share

MOST_DRAWS = 1_000_000  # of all variables together
MOST_WORK = 20_000_000  # draws times tokens of the formulas
Draw = Callable[[Any], float]  # takes a random.Random
_ANY = (-LARGEST, LARGEST)
_PARAMETERS: dict[str, dict[str, tuple[float, float]]] = {
    "normal": {"mean": _ANY, "sd": (0, LARGEST)},
    "uniform": {"low": _ANY, "high": _ANY},
    "triangular": {"low": _ANY, "mode": _ANY, "high": _ANY},
}
ABOUT = ", ".join(f"{{{kind}: [{', '.join(names)}]}}" for kind, names in _PARAMETERS.items())


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the mean of the target with the interval that holds nine tenths of the draws."""
    count = fields["draws"]
    check_size("draws", count * len(fields["variables"]), MOST_DRAWS, "draws of all variables", "take fewer draws")
    formulas, questions = _read_model(fields)
    size = sum(formula.size for formula in (*formulas.values(), *questions.values()))
    check_size("model", count * size, MOST_WORK, "steps of computing", "take fewer draws or shorter formulas")
    target = known_name("target", fields["target"] or list(fields["model"])[-1], fields["model"], "formula")
    assert agent.chance is not None
    chance, columns = agent.chance(fields["seed"]), {}
    for name, raw in fields["variables"].items():
        draw = parse_distribution(raw, f"variables.{name}")
        columns[name] = [draw(chance) for _ in range(count)]
    outputs, hits = _run(formulas, questions, columns)
    figures = {name: dict(described(outputs[name])) for name in fields["model"]}
    found = figures[target]
    chances = {
        name: {"probability": share, "standard_error": math.sqrt(share * (1 - share) / count)}
        for name, share in ((name, hit / count) for name, hit in hits.items())
    }
    detail = {"draws": count, "seed": fields["seed"], "target": target, "outputs": figures, "questions": chances}
    asked = "".join(f"; P({name}) = {figure(one['probability'])}" for name, one in list(chances.items())[:2])
    unit = f" {fields['unit']}" if fields["unit"] else ""
    return Answer(
        quantity(found["mean"], (found["p5"], found["p95"]), fields["unit"], target),
        None,
        f"{target}: {figure(found['mean'])}{unit} on average, 90 % of draws from {figure(found['p5'])} to {figure(found['p95'])}{asked}",
        cut(_steps(figures, chances)),
        detail,
        _caveats(found, chances, fields),
    )


def _read_model(fields: dict[str, Any]) -> tuple[dict[str, Formula], dict[str, Formula]]:
    """Returns the formulas in the order in which they can be computed, and the conditions to count."""
    names = (*fields["variables"], *fields["model"])
    check_names(fields["variables"], "variables")
    check_names(fields["model"], "model")
    for name in fields["model"]:
        if name in fields["variables"]:
            raise BadValue(f"model.{name}: is a variable too", "give one of them another name")
    formulas = {name: parse_formula(raw, names, f"model.{name}") for name, raw in fields["model"].items()}
    after = {name: [one for one in formula.uses if one in formulas] for name, formula in formulas.items()}
    questions = {name: parse_formula(raw, names, f"questions.{name}") for name, raw in fields["questions"].items()}
    return {name: formulas[name] for name in causal_order(after, "model")}, questions


def _run(
    formulas: dict[str, Formula], questions: dict[str, Formula], columns: dict[str, list[float]]
) -> tuple[dict[str, list[float]], dict[str, int]]:
    """Returns what each formula gives draw by draw, and how often each condition holds."""
    outputs: dict[str, list[float]] = {name: [] for name in formulas}
    hits = dict.fromkeys(questions, 0)
    computed = [(name, one.value, f"model.{name}", outputs[name]) for name, one in formulas.items()]
    asked = [(name, one.value, f"questions.{name}") for name, one in questions.items()]
    for row in zip(*columns.values(), strict=True):
        values: dict[str, Any] = dict(zip(columns, row, strict=True))
        for name, compute, path, column in computed:
            found = compute(values, path)
            if isinstance(found, str):
                raise BadValue(f"{path}: gives a text, not a number", "a model computes numbers")
            values[name] = found
            column.append(found)
        for name, compute, path in asked:
            hits[name] += bool(compute(values, path))
    return outputs, hits


def _steps(figures: dict[str, Any], chances: dict[str, Any]) -> list[str]:
    lines = [
        f"{name}: mean {figure(one['mean'])} ± {figure(one['standard_error'])}, sd {figure(one['sd'])}, "
        f"5 % {figure(one['p5'])}, median {figure(one['p50'])}, 95 % {figure(one['p95'])}"
        for name, one in list(figures.items())[-4:]
    ]
    return lines + [
        f"P({name}) = {figure(one['probability'])} ± {figure(one['standard_error'])}" for name, one in chances.items()
    ]


def _caveats(found: dict[str, Any], chances: dict[str, Any], fields: dict[str, Any]) -> tuple[str, ...]:
    is_vague = found["standard_error"] > 0.02 * max(abs(found["mean"]), found["sd"] / 2)
    caveats = (
        [f"The mean is known to ± {figure(2 * found['standard_error'])} only; take more draws."] if is_vague else []
    )
    for name, one in chances.items():
        if one["probability"] in (0, 1):
            seen, what = ("never", "it") if one["probability"] == 0 else ("always", "its opposite")
            bound = f"that bounds {what} at about {figure(3 / fields['draws'])}."
            caveats.append(f"{name} was {seen} seen in {fields['draws']:,} draws; {bound}")
    if len(fields["variables"]) > 1:
        caveats.append("The inputs were drawn independently of each other.")
    return tuple(caveats)


def parse_distribution(raw: Any, path: str) -> Draw:
    """Returns how to draw from `{normal: [100, 15]}`, `{discrete: {1: 0.3, 2: 0.7}}` or a number."""
    if not isinstance(raw, dict):
        value = read_number(raw, path, *_ANY)
        return lambda chance: value
    if len(raw) != 1:
        raise BadValue(f"{path}: must name one distribution", ABOUT)
    ((kind, fields),) = raw.items()
    known_name(path, str(kind), (*_PARAMETERS, "discrete"), "distribution")
    here = f"{path}.{kind}"
    if kind == "discrete":
        return _discrete(fields, here)
    wanted = _PARAMETERS[kind]
    if not isinstance(fields, list) or len(fields) != len(wanted):
        raise BadValue(f"{here}: needs {', '.join(wanted)}", f"{kind}: [{', '.join(wanted)}]")
    given = zip(fields, wanted.items(), strict=True)
    first, *mode, last = figures = [read_number(one, f"{here}.{name}", *ends) for one, (name, ends) in given]
    if kind == "normal":
        return lambda chance: chance.gauss(first, last)
    if figures != sorted(figures):
        raise BadValue(f"{here}: {', '.join(f'{one:g}' for one in figures)} must rise", "low, mode if any, high")
    if kind == "uniform":
        return lambda chance: first + (last - first) * chance.random()
    return lambda chance: chance.triangular(first, last, *mode)


def _discrete(raw: Any, path: str) -> Draw:
    if not isinstance(raw, dict) or not raw:
        raise BadValue(f"{path}: must be values with their probabilities", "discrete: {10: 0.3, 20: 0.7}")
    values = [read_number(value, f"{path}: a value", *_ANY) for value in raw]
    shares = {str(value): read_share(p, f"{path}.{value}") for value, p in raw.items()}
    sums = list(accumulate(sum_to_one(path, shares).values()))
    last = max(at for at, share in enumerate(shares.values()) if share)
    return lambda chance: values[min(bisect_right(sums, chance.random()), last)]


def described(values: Sequence[float]) -> Mapping[str, Any]:
    """Returns the mean with its standard error, spread and percentiles of a sample."""
    count, ordered = len(values), sorted(values)
    mean = math.fsum(values) / count
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / max(1, count - 1))
    cuts = quantiles(ordered, n=20, method="inclusive")
    points = {f"p{at}": cuts[at // 5 - 1] for at in (5, 50, 95)}
    return {"mean": mean, "standard_error": sd / math.sqrt(count), "sd": sd, **points}
