"""Fuzzy rules in words, by Mamdani's method."""

import math

import pytest

from mabos_cli.reasoning.formal.fuzzy import parse_rule, parse_set
from reasoning.solving import refused, solve_yaml

TIPPER = """
inputs:
  service: {value: %s, terms: {poor: gaussian 0 1.5, good: gaussian 5 1.5, excellent: gaussian 10 1.5}}
  food: {value: %s, terms: {rancid: trapezoid 0 0 1 3, delicious: trapezoid 7 9 10 10}}
output: {name: tip, range: [0, 30], unit: '%%', terms: {cheap: [0, 5, 10], average: [10, 15, 20], generous: [20, 25, 30]}}
rules:
  - if service is poor or food is rancid then tip is cheap
  - if service is good then tip is average
  - if service is excellent or food is delicious then tip is generous
"""


def _tip_by_samples(service: float, food: float) -> float:
    """The same problem on 101 points, as MATLAB computes it."""

    def bell(x: float, centre: float) -> float:
        return math.exp(-((x - centre) ** 2) / (2 * 1.5**2))

    rancid = min(1.0, max(0.0, (3 - food) / 2))
    delicious = min(1.0, max(0.0, (food - 7) / 2))
    levels = {5: max(bell(service, 0), rancid), 15: bell(service, 5), 25: max(bell(service, 10), delicious)}
    xs = [0.3 * n for n in range(101)]
    ys = [max(min(level, max(0.0, 1 - abs(x - peak) / 5)) for peak, level in levels.items()) for x in xs]
    return sum(x * y for x, y in zip(xs, ys, strict=True)) / sum(ys)


@pytest.mark.parametrize(("service", "food", "tip"), [(2, 1, 7.0169), (4, 5, 14.4585), (7, 8, 20.3414)])
def test_the_tipping_problem(service: float, food: float, tip: float) -> None:
    """MATLAB Fuzzy Logic Toolbox, tipper.fis, the example of evalfis: its values come from 101 samples, ours from integration."""
    answer = solve_yaml("fuzzy", TIPPER % (service, food))
    assert _tip_by_samples(service, food) == pytest.approx(tip, abs=5e-4)
    assert answer.conclusion.value == pytest.approx(tip, abs=0.01)
    assert (answer.conclusion.kind, answer.conclusion.unit, answer.conclusion.about) == ("number", "%", "tip")
    assert answer.confidence is None


def test_the_word_that_fits_and_the_degrees() -> None:
    answer = solve_yaml("fuzzy", TIPPER % (7, 8))
    assert answer.detail["term"] == "generous"
    assert answer.detail["inputs"]["food"] == {"rancid": 0.0, "delicious": 0.5}
    degrees = [one["degree"] for one in answer.detail["rules"]]
    assert degrees == pytest.approx([math.exp(-(49 / 4.5)), math.exp(-(4 / 4.5)), 0.5])
    assert answer.summary == "tip is 20.3 %, which is generous"


ONE = """
inputs: {x: {value: %s, terms: {low: left 0 10, high: right 0 10}}}
output: {name: y, terms: {small: %s, big: %s}}
rules: [if x is low then y is small, if x is high then y is big]
"""


def test_centroid_of_cut_triangles_by_hand() -> None:
    """A triangle on 0, 3, 6 cut at 1/2 is a trapezoid with sides 6 and 3; mirrored at 9 with its twin on 6, 9, 12."""
    answer = solve_yaml("fuzzy", ONE % (5, "[0, 3, 6]", "[6, 9, 12]"))
    assert answer.conclusion.value == pytest.approx(6)
    assert answer.detail["area"] == pytest.approx(2 * (6 + 3) / 2 * 0.5, rel=1e-4)
    # At x = 2 the levels are 0.8 and 0.2: areas 3 - 3 * 0.2**2 and 3 - 3 * 0.8**2, centres 3 and 9.
    left, right = 3 * (1 - 0.04), 3 * (1 - 0.64)
    answer = solve_yaml("fuzzy", ONE % (2, "[0, 3, 6]", "[6, 9, 12]"))
    assert answer.conclusion.value == pytest.approx((3 * left + 9 * right) / (left + right), rel=1e-4)


def test_overlap_counts_once() -> None:
    """Where sets overlap, the higher one counts; their sum would give the middle of the two centres, 4."""
    answer = solve_yaml("fuzzy", ONE % (2, "[0, 0, 4, 4]", "[0, 0, 8, 8]"))
    assert answer.detail["area"] == pytest.approx(4 * 0.8 + 4 * 0.2)
    assert answer.conclusion.value == pytest.approx((4 * 0.8 * 2 + 4 * 0.2 * 6) / 4)


def test_a_narrow_set_in_a_wide_range_counts() -> None:
    """Two sets of the same form and degree, far apart: the centre is in the middle, however wide the range is."""
    text = ONE % (5, "[1000, 1001, 1002]", "[9000, 9001, 9002]")
    answer = solve_yaml("fuzzy", text.replace("name: y", "name: y, range: [0, 1000000]"))
    assert answer.conclusion.value == pytest.approx(5001)


def test_and_is_the_least_and_or_the_greatest() -> None:
    text = """
inputs:
  x: {value: 3, terms: {small: left 0 10}}
  y: {value: 8, terms: {large: right 0 10}}
output: {name: z, terms: {a: [0, 1, 2], b: [2, 3, 4]}}
rules: [if x is small and y is large then z is a, if x is small or y is large then z is b]
"""
    rules = solve_yaml("fuzzy", text).detail["rules"]
    assert [one["degree"] for one in rules] == pytest.approx([0.7, 0.8])


def test_denials_and_terms_of_several_words() -> None:
    inputs = {"the load": ["high", "very high"], "fan": ["on"]}
    degrees = {"the load": {"high": 0.25, "very high": 0.1}, "fan": {"on": 0.6}}

    def degree(said: str) -> float:
        rule = parse_rule(f"if {said} then out is a", "", inputs, "out", ["a"])
        return rule.degree(degrees)

    assert degree("the load is high") == 0.25
    assert degree("the load is very high") == 0.1  # a term of its own
    assert degree("fan is not on") == pytest.approx(0.4)
    assert degree("not the load is high and fan is on") == 0.6
    assert degree("not (the load is high and fan is on)") == 0.75
    assert degree("fan is on or the load is high and the load is very high") == 0.6


def test_shoulders_and_steps() -> None:
    assert [parse_set("left 2 4", "").degree(x) for x in (1, 2, 3, 4)] == [1, 1, 0.5, 0]
    assert [parse_set("right 2 4", "").degree(x) for x in (2, 3, 4, 9)] == [0, 0.5, 1, 1]
    assert [parse_set("left 2 2", "").degree(x) for x in (2, 2.001)] == [1, 0]
    assert parse_set("gaussian 5 1e-200", "").degree(1e15) == 0
    assert parse_set([0, 0, 5], "").degree(0) == 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("[0, 3, 6]", "[6, 3, 0]"), "output.terms.small: the numbers must rise"),
        (("[0, 3, 6]", "[3, 3, 3]"), "output.terms.small: the set is a single point"),
        (("[0, 3, 6]", "[0, 3]"), "output.terms.small: '[0, 3]' is no fuzzy set"),
        (("[0, 3, 6]", "blob 1 2"), "output.terms.small: 'blob 1 2' is no fuzzy set"),
        (("[0, 3, 6]", "triangle 1 2"), "output.terms.small: triangle takes 3 numbers, not 2"),
        (("[0, 3, 6]", "triangle a b c"), "output.terms.small: 'a' is no number"),
        (("[0, 3, 6]", "gaussian 1 0"), "output.terms.small: the width of a gaussian must be above 0"),
        (("[0, 3, 6]", "gaussian 1 1"), "output.range: is needed, as a term has no end"),
        (("[0, 3, 6]", "5"), "output.terms.small: is a number and no set"),
        (("x is low", "z is low"), "rules[1]: unknown input 'z'"),
        (("x is low", "x is lov"), "rules[1]: no term of x is named after `is`"),
        (("y is small", "y is smal"), "rules[1]: unknown term of y 'smal'"),
        (("y is small", "z is small"), "rules[1]: must read: if ... then y is ..."),
        (("if x is low then", "x is low so"), "rules[1]: must read: if ... then y is ..."),
        (("x is low then", "x is low high then"), "rules[1]: expected an operator at 'high '"),
        (("x is low then", "(x is low then"), "rules[1]: expected ) at its end"),
        (("x is low then", "x is then"), "rules[1]: ends too early"),
        (("name: y", "name: x"), "output.name: x is an input too"),
        (("name: y", "name: y, range: [5, 5]"), "output.range: must be the lowest and the highest value"),
        (("name: y", "name: y, range: [50, 60]"), "output.range: the terms that apply lie outside of it"),
    ],
)
def test_bad_input(change: tuple[str, str], said: str) -> None:
    text = ONE % (5, "[0, 3, 6]", "[6, 9, 12]")
    assert change[0] in text
    assert refused("fuzzy", text.replace(*change, 1)) == said


def test_no_rule_applies() -> None:
    text = ONE.replace("left 0 10", "[0, 1, 2]").replace("right 0 10", "[3, 4, 5]") % (
        9,
        "[0, 3, 6]",
        "[6, 9, 12]",
    )
    assert refused("fuzzy", text) == "rules: none applies to these values"


def test_deep_nesting_is_refused() -> None:
    deep = f"if {'(' * 500}x is low{')' * 500} then y is small"
    text = ONE.replace("if x is low then y is small", deep) % (5, "[0, 3, 6]", "[6, 9, 12]")
    assert refused("fuzzy", text) == "rules[1]: nests deeper than 30 levels"


def test_a_centre_between_the_terms_is_called_by_none_of_them():
    answer = solve_yaml(
        "fuzzy",
        """
inputs: {x: {value: 5, terms: {any: left 8 9}}}
output: {name: y, terms: {low: triangle 0 1 2, high: triangle 8 9 10}}
rules: [if x is any then y is low, if x is any then y is high]
""",
    )
    assert answer.conclusion.value == pytest.approx(5) and answer.detail["term"] is None
    assert answer.summary == "y is 5, which no term fits" and answer.caveats == ()
