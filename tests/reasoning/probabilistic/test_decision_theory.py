"""Criteria for decisions under uncertainty against published tables."""

import pytest

from reasoning.solving import refused, solve_yaml

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
    assert answer.confidence is None


def test_regret_is_against_the_best_act_of_the_state_not_of_the_act() -> None:
    criteria = solve_yaml("decision-theory", OIL).detail["criteria"]
    assert criteria["regret"] == {"drill": 190.0, "sell": 610.0}


def test_ties_are_told() -> None:
    answer = solve_yaml(
        "decision-theory", "payoffs: {a: {x: 1, y: 2}, b: {x: 2, y: 3}, c: {x: 2, y: 2}, d: {x: 2, y: 3}}"
    )
    assert any("ties with d" in said for said in answer.caveats)


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
