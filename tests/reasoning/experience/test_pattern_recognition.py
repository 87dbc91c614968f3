"""Nearest neighbours over numbers and words."""

import random

import pytest

from mabos_cli.reasoning.inputs import parse_feature
from reasoning.solving import refused, solve, solve_yaml

TISSUE = """
k: 3
situation: {durability: 3, strength: 7}
examples:
  - {label: bad, features: {durability: 7, strength: 7}}
  - {label: bad, features: {durability: 7, strength: 4}}
  - {label: good, features: {durability: 3, strength: 4}}
  - {label: good, features: {durability: 1, strength: 4}}
"""


def test_paper_tissue():
    """Teknomo's tutorial on nearest neighbours: the tissue (3, 7) is good by its three nearest, though the nearest is bad
    once both features are scaled."""
    answer = solve_yaml("pattern-recognition", TISSUE)
    assert answer.conclusion.kind == "distribution" and answer.conclusion.value == "good"
    assert dict(answer.conclusion.scores) == pytest.approx({"good": 2 / 3, "bad": 1 / 3})
    found = [row["distance"] for row in answer.detail["neighbours"]]
    assert found == pytest.approx([4 / 6 / 2, 1 / 2, (2 / 6 + 1) / 2])
    assert solve_yaml("pattern-recognition", TISSUE.replace("k: 3", "k: 1")).conclusion.value == "bad"


def test_unscaled_numbers_would_let_the_large_unit_decide():
    text = """
k: 1
situation: {income: 50000, age: 60}
examples:
  - {label: old, features: {income: 58000, age: 61}}
  - {label: young, features: {income: 51000, age: 20}}
  - {label: young, features: {income: 90000, age: 22}}
  - {label: old, features: {income: 20000, age: 65}}
"""
    assert solve_yaml("pattern-recognition", text).conclusion.value == "old"


def test_missing_features_are_left_out_of_the_mean():
    text = """
k: 1
situation: {colour: red, size: 5}
examples:
  - {name: one, label: a, features: {colour: red, size: 10}}
  - {name: two, label: b, features: {colour: blue, size: 5}}
  - {name: three, label: c, features: {size: 0}}
"""
    answer = solve_yaml("pattern-recognition", text)
    assert answer.detail["neighbours"] == [{"name": "one", "label": "a", "distance": 0.25}]


def test_what_was_left_out_is_the_share_of_hits_and_the_confidence_follows_it():
    examples = [{"label": "low" if n < 5 else "high", "features": {"x": n if n < 5 else n + 20}} for n in range(10)]
    answer = solve("pattern-recognition", {"situation": {"x": 2}, "examples": examples, "k": 1})
    assert answer.detail["left_one_out"] == {"hits": 10, "of": 10} and answer.confidence == pytest.approx(11 / 12)
    mixed = [{"label": "ab"[n % 2], "features": {"x": n}} for n in range(10)]
    assert solve("pattern-recognition", {"situation": {"x": 2}, "examples": mixed, "k": 1}).confidence == pytest.approx(
        1 / 12
    )


def test_something_new_is_said_to_be_new_and_gets_no_confidence():
    answer = solve_yaml(
        "pattern-recognition", TISSUE.replace("{durability: 3, strength: 7}", "{durability: 40, strength: 5}")
    )
    assert answer.confidence is None and answer.detail["is_novel"] and answer.detail["outside_range"] == ["durability"]
    inside = [{"label": "a", "features": {"x": n % 3, "y": n // 3}} for n in range(9)] + [
        {"label": "b", "features": {"x": 100, "y": 100}},
        {"label": "b", "features": {"x": 101, "y": 101}},
    ]
    between = solve("pattern-recognition", {"situation": {"x": 50, "y": 50}, "examples": inside, "k": 1})
    assert between.confidence is None and between.caveats[0].startswith("new: the nearest example is 0.4")


def test_against_brute_force():
    chance = random.Random(5)
    for _ in range(15):
        rows = [
            {"label": chance.choice("abc"), "features": {"n": chance.random(), "w": chance.choice("xyz")}}
            for _ in range(12)
        ]
        asked = {"n": rows[0]["features"]["n"], "w": chance.choice("xyz")}
        numbers = [row["features"]["n"] for row in rows]
        spread = max(numbers) - min(numbers)

        def far(row, asked=asked, spread=spread):
            return abs(row["features"]["n"] - asked["n"]) / spread / 2 + (row["features"]["w"] != asked["w"]) / 2

        nearest = sorted(rows, key=far)[:5]
        answer = solve("pattern-recognition", {"situation": asked, "examples": rows, "k": 5})
        for label in "abc":
            share = sum(row["label"] == label for row in nearest) / 5
            assert answer.detail["shares"].get(label, 0.0) == pytest.approx(share)


def test_many_examples_are_tried_in_part_and_that_is_said():
    examples = [{"label": str(n % 2), "features": {"x": n, "y": n % 2}} for n in range(600)]
    answer = solve("pattern-recognition", {"situation": {"x": 5, "y": 1}, "examples": examples, "k": 1})
    assert answer.conclusion.value == "1" and "of 600 examples, spread evenly" in answer.caveats[-1]


def test_bad_input_is_refused():
    assert "unknown feature 'durabilty'" in refused(
        "pattern-recognition", TISSUE.replace("situation: {durability", "situation: {durabilty")
    )
    assert "situation.strength: must be a number" in refused(
        "pattern-recognition", TISSUE.replace("strength: 7}\nex", "strength: big}\nex")
    )
    assert "k: 9 neighbours of 4 examples" in refused("pattern-recognition", TISSUE.replace("k: 3", "k: 9"))
    assert "shares no feature" in refused(
        "pattern-recognition",
        "situation: {x: unknown}\nexamples: [{label: a, features: {x: 1}}, {label: b, features: {x: 2}}]",
    )


def test_a_percentage_is_the_number_that_it_stands_for() -> None:
    assert parse_feature("90%", "x") == pytest.approx(0.9) == parse_feature(0.9, "x")
