"""Gives a verdict from matters of degree: fuzzy rules in words, by Mamdani or Sugeno."""

import math
from collections.abc import Mapping
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, best_names, cut, figure, quantity
from mabos_cli.reasoning.formal import fuzzy_sets
from mabos_cli.reasoning.inputs import LARGEST, AgentData, check_size, known_name
from mabos_cli.reasoning.shape import Shape, anything, list_of, map_of, number, optional, record, text

_MOST_TERMS, _MOST_RULES = 50, 500
_SETS = (
    "a set: triangle 0 5 10, trapezoid 0 1 3 5, gaussian CENTRE WIDTH, left 2 4 (full up to 2), right 6 8 (full from 8)"
)
_RANGE = optional(list_of(number("an end", -LARGEST, LARGEST), "two numbers: the lowest and the highest value", 2))
_INPUT = record(
    "a quantity that is known",
    value=number("its value now", -LARGEST, LARGEST),
    terms=map_of(anything(_SETS), "words for it, each with its fuzzy set"),
    range=_RANGE,
)
_TERM = map_of(anything(f"{_SETS}; for sugeno a number, or factors as in {{speed: 0.5, constant: 2}}"), "words for it")
SHAPE: Shape = record(
    "Give inputs and an output, each with words for its values, and rules in these words.",
    inputs=map_of(_INPUT, "what the verdict depends on"),
    output=record(
        "what the verdict is about",
        name=text("what it is called in the rules"),
        terms=_TERM,
        range=_RANGE,
        unit=optional(text("what its numbers count"), ""),
    ),
    rules=list_of(
        text(
            f"as in `if service is good then tip is high`; with and, or, not, {', '.join(list(fuzzy_sets.HEDGES)[1:])}; at its end may stand: weight 0.5"
        ),
        "the rules",
    ),
    system=optional(
        text("mamdani: results are fuzzy sets; sugeno: results are numbers", "mamdani", "sugeno"), "mamdani"
    ),
    both=optional(text("how `and` is computed", "min", "product"), "min"),
    either=optional(text("how `or` is computed", "max", "sum"), "max"),
    implication=optional(text("how a rule limits the set of its result", "min", "product"), "min"),
    defuzzify=optional(
        text("which number stands for the resulting set", "centroid", "bisector", "middle-of-top"), "centroid"
    ),
)
QUESTIONS: tuple[str, ...] = (
    "Which quantity should the verdict give, and in which words would you speak of it?",
    "Which measurable inputs does it depend on, and what are their values now?",
    "For each word such as low or high: which values fully deserve it, and from where on not at all?",
    "Which rules of thumb lead from the inputs to the result, and which count less than the others?",
)
Degrees = dict[str, dict[str, float]]
Result = tuple[float, dict[str, Any], list[str]]  # the value, its detail, caveats


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the number that the rules give, and the word that fits it best."""
    inputs, output = fields["inputs"], fields["output"]
    check_size("rules", len(fields["rules"]), _MOST_RULES, "rules")
    degrees = {name: _degrees(name, one) for name, one in inputs.items()}
    if output["name"] in inputs:
        raise BadValue(f"output.name: {output['name']} is an input too", "give the result a name of its own")
    terms = {name: [*one["terms"]] for name, one in inputs.items()}
    rules = [
        fuzzy_sets.parse_rule(said, f"rules[{n}]", terms, output["name"], [*output["terms"]])
        for n, said in enumerate(fields["rules"], 1)
    ]
    fired = [rule.weight * rule.condition.degree(degrees, fields["both"], fields["either"]) for rule in rules]
    if not any(fired):
        raise BadValue("rules: none applies to these values", f"{_lost(degrees)}; add a rule, or widen the terms")
    solver = _sugeno if fields["system"] == "sugeno" else _mamdani
    return _answer(fields, rules, fired, degrees, solver(fields, rules, fired))


def _degrees(name: str, one: Mapping[str, Any]) -> dict[str, float]:
    """Returns how far the value of an input belongs to each of its terms."""
    place = f"inputs.{name}"
    check_size(f"{place}.terms", len(one["terms"]), _MOST_TERMS, "terms")
    low, high = _range(f"{place}.range", one["range"], -math.inf, math.inf)
    if not low <= one["value"] <= high:
        hint = "change the value or the range"
        raise BadValue(f"{place}.value: {figure(one['value'])} lies outside of its range", hint)
    return {
        term: fuzzy_sets.parse_set(said, f"{place}.terms.{term}").degree(one["value"])
        for term, said in one["terms"].items()
    }


def _range(place: str, said: list[float] | None, low: float, high: float) -> tuple[float, float]:
    if said is None:
        return low, high
    if len(said) != 2 or not said[0] < said[1]:
        raise BadValue(f"{place}: must be the lowest and the highest value", "write for example [0, 10]")
    return said[0], said[1]


def _lost(degrees: Degrees) -> str:
    lost = [name for name, terms in degrees.items() if not any(terms.values())]
    return f"no term fits {', '.join(lost)}" if lost else "each rule has a condition that does not hold at all"


def _mamdani(fields: dict[str, Any], rules: list[fuzzy_sets.FuzzyRule], fired: list[float]) -> Result:
    """Returns the number that stands for the sets of all rules, put on top of each other."""
    sets = _output_sets(fields["output"])
    ends = [x for one in sets.values() for x in one.ends()]
    if fields["output"]["range"] is None and (
        not ends or any(one.form in ("gaussian", "left", "right") for one in sets.values())
    ):
        raise BadValue("output.range: is needed, as a term has no end", "give the lowest and the highest value")
    low, high = _range("output.range", fields["output"]["range"], min(ends, default=0), max(ends, default=1))
    levels: dict[str, float] = {}
    for rule, degree in zip(rules, fired, strict=True):
        levels[rule.term] = max(levels.get(rule.term, 0.0), degree)
    shown = {term: levels[term] for term in sets if levels.get(term)}
    found: fuzzy_sets.Outline = fuzzy_sets.outline(
        [fuzzy_sets.shrink(sets[term].line(low, high), level, fields["implication"]) for term, level in shown.items()]
    )
    if found.area <= 0:
        raise BadValue("output.range: the terms that apply lie outside of it", "widen the range")
    ways = {"centroid": found.centroid, "bisector": found.bisector, "middle-of-top": found.middle_of_top}
    value = ways[fields["defuzzify"]]()
    word = {term: one.degree(value) for term, one in sets.items()}
    detail = {"levels": {term: levels.get(term, 0.0) for term in sets}, "area": found.area, "result_degrees": word}
    is_bell = any(sets[term].form == "gaussian" for term in shown)
    caveats = [f"bell curves of the result are integrated as {fuzzy_sets.SAMPLES} straight pieces"] if is_bell else []
    return value, detail, caveats


def _output_sets(output: Mapping[str, Any]) -> dict[str, fuzzy_sets.FuzzySet]:
    check_size("output.terms", len(output["terms"]), _MOST_TERMS, "terms")
    found = {}
    for term, said in output["terms"].items():
        found[term] = fuzzy_sets.parse_set(said, f"output.terms.{term}")
        if found[term].form == "value":
            raise BadValue(f"output.terms.{term}: is a number and no set", "write system: sugeno, or give a set")
    return found


def _sugeno(fields: dict[str, Any], rules: list[fuzzy_sets.FuzzyRule], fired: list[float]) -> Result:
    """Returns the mean of what the rules say, each as far as it applies."""
    inputs = fields["inputs"]
    said = {term: _level(term, one, inputs) for term, one in fields["output"]["terms"].items()}
    total = math.fsum(fired)
    value = math.fsum(degree * said[rule.term] for rule, degree in zip(rules, fired, strict=True)) / total
    # The word that fits is the one whose number is nearest.
    near = {term: -abs(one - value) for term, one in said.items()}
    return value, {"values": said, "total_degree": total, "result_degrees": near}, []


def _level(term: str, raw: Any, inputs: Mapping[str, Any]) -> float:
    place = f"output.terms.{term}"
    if not isinstance(raw, dict):
        one = fuzzy_sets.parse_set(raw, place)
        if one.form != "value":
            hint = "write system: mamdani for sets"
            raise BadValue(f"{place}: sugeno takes a number, or a factor for each input", hint)
        return one.at[0]
    found = 0.0
    for name, factor in raw.items():
        known_name(place, str(name), (*inputs, "constant"), "input")
        times = 1.0 if name == "constant" else inputs[name]["value"]
        found += fuzzy_sets.parse_set([factor], f"{place}.{name}").at[0] * times
    return found


def _answer(
    fields: dict[str, Any], rules: list[fuzzy_sets.FuzzyRule], fired: list[float], degrees: Degrees, result: Result
) -> Answer:
    value, detail, caveats = result
    output = fields["output"]
    words = best_names(detail["result_degrees"])
    # The centre of sets that lie apart may belong to none of them.
    is_fit = fields["system"] == "sugeno" or detail["result_degrees"][words[0]] > 0
    unit = f" {output['unit']}" if output["unit"] else ""
    summary = f"{output['name']} is {figure(value)}{unit}, which {f'is {words[0]}' if is_fit else 'no term fits'}"
    if is_fit and len(words) > 1:
        caveats.append(f"{' and '.join(words)} fit equally well")
    caveats += [f"no term fits {name}" for name, terms in degrees.items() if not any(terms.values())]
    steps = [
        f"{name} {figure(fields['inputs'][name]['value'])}: {', '.join(f'{term} {degree:.2f}' for term, degree in terms.items())}"
        for name, terms in degrees.items()
    ]
    ordered = sorted(range(len(rules)), key=lambda n: -fired[n])
    steps += [f"{fired[n]:.2f} by: {rules[n].said}" for n in ordered if fired[n]]
    detail = {
        "value": value,
        "term": words[0] if is_fit else None,
        "inputs": degrees,
        "rules": [{"rule": rule.said, "degree": degree} for rule, degree in zip(rules, fired, strict=True)],
    } | detail
    conclusion = quantity(value, None, output["unit"], output["name"])
    return Answer(conclusion, None, summary, cut(steps), detail, tuple(caveats))
