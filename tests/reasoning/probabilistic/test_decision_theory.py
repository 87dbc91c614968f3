"""Criteria for decisions under uncertainty against published tables."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoning.solving import refused, solve, solve_yaml

MILNOR = """
payoffs:
  one: {a: 2, b: 2, c: 0, d: 1}
  two: {a: 1, b: 1, c: 1, d: 1}
  three: {a: 0, b: 4, c: 0, d: 0}
  four: {a: 1, b: 3, c: 0, d: 0}
"""
OIL = """
payoffs: {drill: {oil: 700, dry: -100}, sell: {oil: 90, dry: 90}}
probabilities: {oil: 0.25, dry: 0.75}
"""


def test_four_criteria_pick_four_acts() -> None:
    """Milnor 1954, Games against nature: Laplace picks the first act, Wald the second, Hurwicz the third, Savage the fourth."""
    picks = solve_yaml("decision-theory", MILNOR).detail["picks"]
    assert picks["laplace"] == ["one"]
    assert picks["maximin"] == ["two"]
    assert picks["hurwicz"] == picks["maximax"] == ["three"]
    assert picks["regret"] == ["four"]


def test_drill_or_sell() -> None:
    """Hillier & Lieberman, Goferbroke: drilling is worth 100, and stays best down to P(oil) = 0.2375."""
    answer = solve_yaml("decision-theory", OIL)
    assert answer.conclusion.value == "drill"
    assert answer.detail["criteria"]["expected"] == {"drill": 100.0, "sell": 90.0}
    assert answer.detail["holds_for"] == [{"state": "oil", "low": pytest.approx(0.2375), "high": 1.0}]
    assert answer.confidence is None


def test_regret_is_against_the_best_act_of_the_state_not_of_the_act() -> None:
    criteria = solve_yaml("decision-theory", OIL).detail["criteria"]
    assert criteria["regret"] == {"drill": 190.0, "sell": 610.0}


def test_costs_are_gains_turned_round() -> None:
    costs = OIL.replace("700", "-700").replace("-100", "100").replace("90", "-90") + "kind: costs"
    answer = solve_yaml("decision-theory", costs)
    assert answer.conclusion.value == "drill"
    assert answer.detail["criteria"]["expected"]["drill"] == -100.0
    assert answer.detail["picks"]["maximin"] == ["sell"]
    assert answer.detail["criteria"]["regret"] == {"drill": 190.0, "sell": 610.0}


def test_dominance_strict_and_weak() -> None:
    answer = solve_yaml(
        "decision-theory", "payoffs: {a: {x: 1, y: 2}, b: {x: 2, y: 3}, c: {x: 2, y: 2}, d: {x: 2, y: 3}}"
    )
    assert answer.detail["dominated"] == [
        {"act": "a", "by": "b", "how": "strictly"},
        {"act": "c", "by": "b", "how": "weakly"},
    ]
    assert any("ties with d" in said for said in answer.caveats)


def test_three_states_hold_while_one_moves_and_the_rest_keep_their_proportions() -> None:
    raw = {
        "payoffs": {"go": {"x": 10, "y": 0, "z": -10}, "stay": {"x": 0, "y": 1, "z": 0}},
        "probabilities": {"x": 0.5, "y": 0.3, "z": 0.2},
    }
    spans = {span["state"]: span for span in solve("decision-theory", raw).detail["holds_for"]}
    # With P(x) = p: 10 p - 10 * 0.4 (1 - p) = 0.6 (1 - p)
    assert spans["x"]["low"] == pytest.approx(4.6 / 14.6)
    assert (spans["x"]["high"], spans["z"]["low"]) == (1.0, 0.0)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(*[st.integers(-9, 9)] * 2), min_size=2, max_size=5), st.integers(0, 20))
def test_the_span_is_where_the_act_is_best(rows: list[tuple[int, int]], step: int) -> None:
    payoffs = {f"a{n}": {"x": x, "y": y} for n, (x, y) in enumerate(rows)}
    answer = solve("decision-theory", {"payoffs": payoffs, "probabilities": {"x": 0.4, "y": 0.6}})
    chosen, span = answer.conclusion.value, answer.detail["holds_for"][0]
    assert span["low"] - 1e-9 <= 0.4 <= span["high"] + 1e-9
    p = step / 20
    values = {act: p * row["x"] + (1 - p) * row["y"] for act, row in payoffs.items()}
    if span["low"] + 1e-9 < p < span["high"] - 1e-9:
        assert values[chosen] == pytest.approx(max(values.values()))
    elif p < span["low"] - 1e-9 or p > span["high"] + 1e-9:
        assert values[chosen] < max(values.values())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("payoffs: {a: {x: 1}}", "payoffs: there is only one act"),
        ("payoffs: {a: {x: 1, y: 2}, b: {x: 1}}", "payoffs.b: y is missing"),
        ("payoffs: {a: {x: 1}, b: {z: 1}}", "payoffs.b: unknown state 'z'"),
        (OIL.replace("0.75", "0.7"), "probabilities: probabilities must sum to 1, not 0.95"),
        (MILNOR + "criterion: expected", "criterion: expected needs probabilities"),
        ("payoffs: {}", "payoffs: must hold something, and is empty"),
    ],
)
def test_refusals(text: str, said: str) -> None:
    assert said in refused("decision-theory", text)


def test_one_certain_state_is_no_trouble() -> None:
    answer = solve_yaml("decision-theory", "payoffs: {a: {x: 1}, b: {x: 2}}\nprobabilities: {x: 1}")
    assert answer.conclusion.value == "b"


def test_votes_are_counted_however_large_the_payoffs() -> None:
    text = "payoffs: {a: {x: 1e15, y: 2e14}, b: {x: 1e14, y: 1e14}}"
    answer = solve_yaml("decision-theory", text)
    assert answer.detail["votes"] == {"a": 5.0, "b": 0.0}
    assert not any("ties with" in said for said in answer.caveats)


def test_figures_of_the_criteria() -> None:
    answer = solve_yaml("decision-theory", MILNOR + "optimism: 0.25\ncriterion: laplace")
    assert answer.detail["criteria"]["laplace"] == {"one": 1.25, "two": 1, "three": 1, "four": 1}
    # At a quarter of optimism cautious and bold acts meet: 0.25 * 4 = 1.
    assert answer.detail["criteria"]["hurwicz"] == {"one": 0.5, "two": 1, "three": 1, "four": 0.75}
    assert answer.detail["picks"]["hurwicz"] == ["two", "three"]
    assert answer.summary == "one by laplace with 1.25; 1 of 5 criteria pick it"


def test_a_tie_by_rounding_does_not_narrow_the_span() -> None:
    """0.3 * 6 and 0.2 * 6 + 0.3 * 2 are one figure, though not in floating point: both acts are best whatever P(s1) is."""
    payoffs = {"A": {"s1": 3, "s2": 0, "s3": 6}, "B": {"s1": 3, "s2": 6, "s3": 2}}
    answer = solve("decision-theory", {"payoffs": payoffs, "probabilities": {"s1": 0.5, "s2": 0.2, "s3": 0.3}})
    assert answer.conclusion.value == "A"
    assert answer.detail["holds_for"][0] == {"state": "s1", "low": 0, "high": 1}
