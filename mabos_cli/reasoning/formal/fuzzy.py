"""Gives a verdict from matters of degree: fuzzy rules in words, by Mamdani's method."""

import math
import re
from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, best_names, cut, figure, quantity
from mabos_cli.reasoning.expression import Node, names_of, operators_of, parse_expression
from mabos_cli.reasoning.inputs import LARGEST, AgentData, known_name

_SAMPLES = 200  # between two corners of the sets of a result
_COUNTS = {"triangle": 3, "trapezoid": 4, "gaussian": 2, "left": 2, "right": 2, "value": 1}
_SETS = (
    "a set: triangle 0 5 10, trapezoid 0 1 3 5, gaussian CENTRE WIDTH, left 2 4 (full up to 2), right 6 8 (full from 8)"
)
Degrees = dict[str, dict[str, float]]
Clauses = dict[str, tuple[str, str, bool]]  # by name in the condition: input, term, and whether that is denied


class FuzzySet(NamedTuple):
    """A term as a function from numbers to degrees from 0 to 1."""

    form: str  # triangle, trapezoid, gaussian, left, right, value
    at: tuple[float, ...]

    def degree(self, x: float) -> float:
        """Returns how far a number belongs to the set."""
        if self.form == "gaussian":
            off = (x - self.at[0]) / self.at[1]
            return math.exp(-off * off / 2)  # a power would overflow far off
        a, b, c, d = self._corners()
        if x < b:
            return 0.0 if x <= a else (x - a) / (b - a)
        if x > c:
            return 0.0 if x >= d else (d - x) / (d - c)
        return 1.0

    def _corners(self) -> tuple[float, float, float, float]:
        """Returns the set as a trapezoid."""
        at = self.at
        if self.form == "left":
            return -math.inf, -math.inf, at[0], at[1]
        if self.form == "right":
            return at[0], at[1], math.inf, math.inf
        if self.form == "trapezoid":
            return at[0], at[1], at[2], at[3]
        return at[0], at[len(at) // 2], at[len(at) // 2], at[-1]

    def places(self) -> tuple[float, ...]:
        """Returns the numbers between which the set is smooth."""
        if self.form == "gaussian":
            return tuple(self.at[0] + n * self.at[1] for n in range(-4, 5))
        return self.at


class FuzzyRule(NamedTuple):
    """A condition and the term of the result that it speaks for."""

    text: str
    condition: Node
    clauses: Clauses
    term: str

    def degree(self, degrees: Degrees) -> float:
        """Returns how far the rule applies: `and` is the least of its parts, `or` the greatest."""

        def of(node: Node) -> float:
            if node.op == "name":
                name, term, is_denied = self.clauses[node.value]
                return 1 - degrees[name][term] if is_denied else degrees[name][term]
            parts = [of(part) for part in node.parts]
            if node.op == "not":
                return 1 - parts[0]
            return min(parts) if node.op == "and" else max(parts)

        return of(self.condition)


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the number that the rules give, and the word that fits it best."""
    inputs, output = fields["inputs"], fields["output"]
    degrees = {
        name: {t: parse_set(raw, f"inputs.{name}.terms.{t}").degree(one["value"]) for t, raw in one["terms"].items()}
        for name, one in inputs.items()
    }
    if output["name"] in inputs:
        raise BadValue(f"output.name: {output['name']} is an input too", "give the result a name of its own")
    terms = {name: [*one["terms"]] for name, one in inputs.items()}
    rules = [
        parse_rule(raw, f"rules[{n}]", terms, output["name"], [*output["terms"]])
        for n, raw in enumerate(fields["rules"], 1)
    ]
    fired = [rule.degree(degrees) for rule in rules]
    if not any(fired):
        lost = [name for name, found in degrees.items() if not any(found.values())]
        why = f"no term fits {', '.join(lost)}" if lost else "each rule has a condition that does not hold at all"
        raise BadValue("rules: none applies to these values", f"{why}; add a rule, or widen the terms")
    return _answer(fields, rules, fired, degrees)


def _mamdani(fields: dict[str, Any], rules: list[FuzzyRule], fired: list[float]) -> dict[str, Any]:
    """Returns the centre of the sets of all rules, each cut off at its degree and put on top of each other, and how far it belongs to
    each."""
    output = fields["output"]
    sets = {term: parse_set(raw, f"output.terms.{term}") for term, raw in output["terms"].items()}
    for term, one in sets.items():
        if one.form == "value":
            raise BadValue(f"output.terms.{term}: is a number and no set", _SETS)
    if output["range"] is None and any(one.form in ("gaussian", "left", "right") for one in sets.values()):
        raise BadValue("output.range: is needed, as a term has no end", "give the lowest and the highest value")
    places = [x for one in sets.values() for x in one.places()]
    low, *more = output["range"] or (min(places), max(places))
    if len(more) != 1 or not low < more[0]:
        raise BadValue("output.range: must be the lowest and the highest value", "write for example [0, 10]")
    high = more[0]
    levels = dict.fromkeys(sets, 0.0)
    for rule, degree in zip(rules, fired, strict=True):
        levels[rule.term] = max(levels[rule.term], degree)
    area = moment = 0.0
    for start, end in pairwise(sorted({low, high, *(x for x in places if low < x < high)})):
        width = (end - start) / _SAMPLES
        for n in range(_SAMPLES):
            x = start + (n + 0.5) * width
            height = max(min(level, sets[term].degree(x)) for term, level in levels.items())
            area += height * width
            moment += x * height * width
    if area <= 0:
        raise BadValue("output.range: the terms that apply lie outside of it", "widen the range")
    value = moment / area
    found = {term: one.degree(value) for term, one in sets.items()}
    return {"value": value, "levels": levels, "area": area, "result_degrees": found}


def _answer(fields: dict[str, Any], rules: list[FuzzyRule], fired: list[float], degrees: Degrees) -> Answer:
    output, result = fields["output"], _mamdani(fields, rules, fired)
    value, words = result["value"], best_names(result["result_degrees"])
    # The centre of sets that lie apart may belong to none of them.
    is_fit = result["result_degrees"][words[0]] > 0
    unit = f" {output['unit']}" if output["unit"] else ""
    summary = f"{output['name']} is {figure(value)}{unit}, which {f'is {words[0]}' if is_fit else 'no term fits'}"
    caveats = [f"{' and '.join(words)} fit equally well"] if is_fit and len(words) > 1 else []
    caveats += [f"no term fits {name}" for name, terms in degrees.items() if not any(terms.values())]
    steps = []
    for name, terms in degrees.items():
        fits = ", ".join(f"{term} {degree:.2f}" for term, degree in terms.items())
        steps.append(f"{name} {figure(fields['inputs'][name]['value'])}: {fits}")
    rows: list[dict[str, Any]] = [
        {"rule": rule.text, "degree": degree} for rule, degree in zip(rules, fired, strict=True)
    ]
    ordered = sorted(rows, key=lambda row: -row["degree"])
    steps += [f"{row['degree']:.2f} by: {row['rule']}" for row in ordered if row["degree"]]
    term = words[0] if is_fit else None
    detail = {"value": value, "term": term, "inputs": degrees, "rules": rows} | result
    conclusion = quantity(value, None, output["unit"], output["name"])
    return Answer(conclusion, None, summary, cut(steps), detail, tuple(caveats))


def parse_set(raw: Any, place: str) -> FuzzySet:
    """Returns a set from words and numbers, or from 3 or 4 corners."""
    parts = raw.replace(",", " ").split() if isinstance(raw, str) else raw if isinstance(raw, list) else [raw]
    form = ""
    if parts and isinstance(parts[0], str) and parts[0].isalpha():
        form, parts = parts[0].lower(), parts[1:]
    numbers = tuple(_number(part, place) for part in parts)
    form = form or {1: "value", 3: "triangle", 4: "trapezoid"}.get(len(numbers), "")
    if form not in _COUNTS:
        raise BadValue(f"{place}: {str(raw)[:40]!r} is no fuzzy set", _SETS)
    if len(numbers) != _COUNTS[form]:
        raise BadValue(f"{place}: {form} takes {_COUNTS[form]} numbers, not {len(numbers)}", _SETS)
    if form == "gaussian":
        if numbers[1] <= 0:
            raise BadValue(f"{place}: the width of a gaussian must be above 0", _SETS)
    elif any(b < a for a, b in pairwise(numbers)):
        raise BadValue(f"{place}: the numbers must rise", "give the corners from left to right")
    elif form in ("triangle", "trapezoid") and numbers[0] == numbers[-1]:
        raise BadValue(f"{place}: the set is a single point", "give corners that lie apart")
    return FuzzySet(form, numbers)


def _number(raw: Any, place: str) -> float:
    try:
        found = float(raw)
    except (TypeError, ValueError):
        found = math.nan
    if isinstance(raw, bool) or not abs(found) <= LARGEST:
        raise BadValue(f"{place}: {str(raw)[:40]!r} is no number", _SETS)
    return found


def parse_rule(
    raw: str, place: str, inputs: Mapping[str, Collection[str]], output: str, terms: Collection[str]
) -> FuzzyRule:
    """Returns the rule in a sentence such as `if service is not good and food is bad then tip is low`."""
    form = rf"\s*if\b(?P<when>.*)\bthen\s+{re.escape(output)}\s+is\s+(?P<term>.+?)\s*"
    match = re.fullmatch(form, raw, re.IGNORECASE | re.DOTALL)
    if not match:
        hint = f"for example: if a is high then {output} is {next(iter(terms))}"
        raise BadValue(f"{place}: must read: if ... then {output} is ...", hint)
    term = known_name(place, " ".join(match["term"].split()), terms, f"term of {output}")
    condition, clauses = _read_condition(match["when"], place, inputs)
    return FuzzyRule(raw, condition, clauses, term)


def _read_condition(text: str, place: str, inputs: Mapping[str, Collection[str]]) -> tuple[Node, Clauses]:
    """Returns the condition, with names in place of its clauses `input is [not] term`; the longest term counts."""
    clauses: Clauses = {}
    for name in sorted(inputs, key=len, reverse=True):
        terms = "|".join(re.escape(term) for term in sorted(inputs[name], key=len, reverse=True))
        clause = rf"(?<!\w){re.escape(name)}\s+is\s+(not\s+)?({terms})(?!\w)"
        for match in [*re.finditer(clause, text)]:
            clauses[f"c{len(clauses)}_"] = (name, match[2], bool(match[1]))
            text = text.replace(match[0], f" c{len(clauses) - 1}_ ", 1)
    condition = parse_expression(text, place, "write: service is poor, with and, or, not")
    for name in names_of(condition):
        if name not in clauses:
            known_name(place, name, inputs, "input")
            raise BadValue(f"{place}: no term of {name} is named after `is`", f"terms: {', '.join(inputs[name])}")
    odd = next((op for op in operators_of(condition) if op not in ("name", "and", "or", "not")), "")
    if odd:
        raise BadValue(f"{place}: {odd} has no meaning in a fuzzy rule", "use and, or, not")
    return condition, clauses
