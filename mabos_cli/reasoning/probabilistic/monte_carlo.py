"""Simulates the range of outcomes of a model with uncertain inputs, by simulation from a seed."""

import math
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, cut, figure, quantity
from mabos_cli.reasoning.expression import Formula, check_names, parse_formula
from mabos_cli.reasoning.inputs import AgentData, check_size, known_name
from mabos_cli.reasoning.network import causal_order
from mabos_cli.reasoning.shape import anything, list_of, map_of, number, optional, record, text, whole
from mabos_cli.reasoning.statistics import ABOUT, cholesky, correlate, correlation, described, parse_distribution, ranks

MOST_DRAWS = 1_000_000  # of all variables together
MOST_WORK = 20_000_000  # draws times tokens of the formulas
_AMONG = "min, max, abs, exp, log, sqrt, floor, ceil, round, if(condition, a, b), and, or, not"
_CORRELATION = record(
    "a pair",
    between=list_of(text("a variable"), "two variables", least=2),
    r=number("their rank correlation, about", -1, 1),
)
_VARIABLE = map_of(anything(f"a number, or one of {ABOUT}, {{discrete: {{VALUE: p, VALUE: p}}}}"), "what is uncertain")
SHAPE = record(
    variables=_VARIABLE,
    model=map_of(text("a formula"), f"what follows from it, as formulas with + - * / ^ and {_AMONG}"),
    target=optional(text("the formula that the answer is about; the last one if left out")),
    questions=optional(map_of(text("a condition"), "conditions whose probability is wanted, as `profit < 0`", 0), {}),
    correlations=optional(list_of(_CORRELATION, "variables that move together", least=0), []),
    draws=optional(whole("how many draws, a million at most", 100, MOST_DRAWS), 10_000),
    seed=optional(whole("the seed: the same one gives the same result"), 1),
    unit=optional(text("the unit of the target"), ""),
)
QUESTIONS = (
    "Which quantity is wanted, and by which formula does it follow from others?",
    "Which inputs are uncertain, and what are their low, likely and high values?",
    "Which inputs move together?",
    "Which threshold matters, such as a loss or a missed date?",
)


class _Model(NamedTuple):
    """Formulas in the order in which they can be computed, and conditions to count."""

    formulas: dict[str, Formula]
    questions: dict[str, Formula]


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the mean of the target with the interval that holds nine tenths of the draws."""
    count = fields["draws"]
    check_size("draws", count * len(fields["variables"]), MOST_DRAWS, "draws of all variables", "take fewer draws")
    model = _read_model(fields)
    size = sum(formula.size for formula in (*model.formulas.values(), *model.questions.values()))
    check_size("model", count * size, MOST_WORK, "steps of computing", "take fewer draws or shorter formulas")
    target = known_name("target", fields["target"] or list(fields["model"])[-1], fields["model"], "formula")
    assert agent.chance is not None
    columns = _draw(fields, agent.chance(fields["seed"]))
    outputs, hits = _run(model, columns)
    figures = {name: dict(described(outputs[name])) for name in fields["model"]}
    found = figures[target]
    shares = {name: hit / count for name, hit in hits.items()}
    chances = {
        name: {"probability": share, "standard_error": math.sqrt(share * (1 - share) / count)}
        for name, share in shares.items()
    }
    aimed = ranks(outputs[target])
    drivers = {name: correlation(ranks(column), aimed) for name, column in columns.items()}
    detail = {
        "draws": count,
        "seed": fields["seed"],
        "target": target,
        "outputs": figures,
        "questions": chances,
        "rank_correlation": drivers,
    }
    asked = "".join(f"; P({name}) = {figure(one['probability'])}" for name, one in list(chances.items())[:2])
    unit = f" {fields['unit']}" if fields["unit"] else ""
    return Answer(
        quantity(found["mean"], (found["p5"], found["p95"]), fields["unit"], target),
        None,
        f"{target}: {figure(found['mean'])}{unit} on average, 90 % of draws from {figure(found['p5'])} to {figure(found['p95'])}{asked}",
        cut(_steps(figures, chances, drivers)),
        detail,
        _caveats(found, chances, fields),
    )


def _read_model(fields: dict[str, Any]) -> _Model:
    names = (*fields["variables"], *fields["model"])
    check_names(fields["variables"], "variables")
    check_names(fields["model"], "model")
    for name in fields["model"]:
        if name in fields["variables"]:
            raise BadValue(f"model.{name}: is a variable too", "give one of them another name")
    formulas = {name: parse_formula(raw, names, f"model.{name}") for name, raw in fields["model"].items()}
    after = {name: [one for one in formula.uses if one in formulas] for name, formula in formulas.items()}
    questions = {name: parse_formula(raw, names, f"questions.{name}") for name, raw in fields["questions"].items()}
    return _Model({name: formulas[name] for name in causal_order(after, "model")}, questions)


def _draw(fields: dict[str, Any], chance: Any) -> dict[str, list[float]]:
    columns = {}
    for name, raw in fields["variables"].items():
        draw = parse_distribution(raw, f"variables.{name}")
        columns[name] = [draw(chance) for _ in range(fields["draws"])]
    together = list(dict.fromkeys(name for pair in fields["correlations"] for name in pair["between"]))
    if not together:
        return columns
    check_size("correlations", len(together), 50, "variables")
    matrix = [[float(i == j) for j in range(len(together))] for i in range(len(together))]
    for at, pair in enumerate(fields["correlations"], 1):
        path = f"correlations[{at}].between"
        for name in pair["between"]:
            known_name(path, name, columns, "variable")
        one, other = (together.index(name) for name in pair["between"][:2])
        if len(pair["between"]) != 2 or one == other or matrix[one][other]:
            raise BadValue(f"{path}: must be two variables that no other pair has", "give each pair once")
        matrix[one][other] = matrix[other][one] = pair["r"]
    correlate(columns, together, cholesky(matrix, "correlations"), chance)
    return columns


def _run(model: _Model, columns: dict[str, list[float]]) -> tuple[dict[str, list[float]], dict[str, int]]:
    """Returns what each formula gives draw by draw, and how often each condition holds."""
    outputs: dict[str, list[float]] = {name: [] for name in model.formulas}
    hits = dict.fromkeys(model.questions, 0)
    formulas = [(name, one.value, f"model.{name}", outputs[name]) for name, one in model.formulas.items()]
    questions = [(name, one.value, f"questions.{name}") for name, one in model.questions.items()]
    for row in zip(*columns.values(), strict=True):
        values: dict[str, Any] = dict(zip(columns, row, strict=True))
        for name, compute, path, column in formulas:
            found = compute(values, path)
            if isinstance(found, str):
                raise BadValue(f"{path}: gives a text, not a number", "a model computes numbers")
            values[name] = found
            column.append(found)
        for name, compute, path in questions:
            hits[name] += bool(compute(values, path))
    return outputs, hits


def _steps(figures: dict[str, Any], chances: dict[str, Any], drivers: dict[str, float | None]) -> list[str]:
    lines = [
        f"{name}: mean {figure(one['mean'])} ± {figure(one['standard_error'])}, sd {figure(one['sd'])}, "
        f"5 % {figure(one['p5'])}, median {figure(one['p50'])}, 95 % {figure(one['p95'])}"
        for name, one in list(figures.items())[-4:]
    ]
    lines += [
        f"P({name}) = {figure(one['probability'])} ± {figure(one['standard_error'])}" for name, one in chances.items()
    ]
    known = {name: share for name, share in drivers.items() if share is not None}
    if known:
        order = sorted(known, key=lambda name: -abs(known[name]))
        shown = ", ".join(f"{name} {known[name]:+.2f}" for name in order[:6])
        lines.append(f"what drives it (rank correlation): {shown}")
    return lines


def _caveats(found: dict[str, Any], chances: dict[str, Any], fields: dict[str, Any]) -> tuple[str, ...]:
    is_vague = found["standard_error"] > 0.02 * max(abs(found["mean"]), found["sd"] / 2)
    caveats = (
        [f"The mean is known to ± {figure(2 * found['standard_error'])} only; take more draws."] if is_vague else []
    )
    for name, one in chances.items():
        if one["probability"] in (0, 1):
            seen, what = ("never", "it") if one["probability"] == 0 else ("always", "its opposite")
            bound = f"that bounds {what} at about {3 / fields['draws']:.2g}."
            caveats.append(f"{name} was {seen} seen in {fields['draws']:,} draws; {bound}")
    if not fields["correlations"] and len(fields["variables"]) > 1:
        caveats.append("The inputs were drawn independently of each other.")
    return tuple(caveats)
