"""Satisficing: the first option that is good enough."""

import random

import pytest

from reasoning.solving import refused, solve, solve_yaml

HOUSE = """
aspirations: {price: {min: PRICE}}
options: {first offer: {price: 12500}, second offer: {price: 15500}, third offer: {price: 17000}}
"""


def test_simon_sells_to_the_first_offer_above_the_acceptance_price():
    """After Simon, A Behavioral Model of Rational Choice (1955): the seller of a house takes the first offer that meets the
    acceptance price, not the highest."""
    answer = solve_yaml("satisficing", HOUSE.replace("PRICE", "15000"))
    assert answer.conclusion.value == "second offer" and answer.detail["looked_at"] == 2
    assert answer.caveats == ("no worse on any count and better on one, but met later: third offer",)
    assert solve_yaml("satisficing", HOUSE.replace("PRICE", "16000")).conclusion.value == "third offer"


def test_when_nothing_is_good_enough_the_nearest_is_named_by_its_worst_shortfall():
    """a falls short by 10 % and 10 %, b by 15 % on one count only: by the sum b would be nearer."""
    text = """
aspirations: {speed: {min: 100}, cost: {max: 100}}
options: {b: {speed: 85, cost: 100}, a: {speed: 90, cost: 110}}
"""
    answer = solve_yaml("satisficing", text)
    assert answer.conclusion.kind == "truth" and answer.conclusion.value is False
    assert answer.detail["relaxation"] == pytest.approx({"b": 0.15, "a": 0.1})
    assert answer.detail["nearest"]["option"] == "a"
    levels = answer.detail["nearest"]["levels"]
    assert levels["speed"]["min"] == pytest.approx(90) and levels["cost"]["max"] == pytest.approx(110)


def test_a_level_of_zero_is_measured_by_how_far_options_lie_apart():
    answer = solve_yaml("satisficing", "aspirations: {profit: {min: 0}}\noptions: {a: {profit: -30}, b: {profit: -10}}")
    assert answer.detail["relaxation"] == {"a": 1.5, "b": 0.5}
    one = solve_yaml("satisficing", "aspirations: {profit: {min: 0}}\noptions: {a: {profit: -3}}")
    assert one.detail["relaxation"] == {"a": 3.0}


def test_what_is_not_known_is_not_good_enough():
    answer = solve_yaml("satisficing", "aspirations: {x: {min: 1}}\noptions: {a: {}, b: {x: 1}}")
    assert answer.conclusion.value == "b" and answer.steps[0] == "a fails: x is not known"
    none = solve_yaml("satisficing", "aspirations: {x: {min: 1}}\noptions: {a: {}}")
    assert none.conclusion.value is False and none.detail["relaxation"] == {"a": None}


def test_a_band_has_two_ends():
    text = "aspirations: {heat: {min: 18, max: 22}}\noptions: {cold: {heat: 17}, hot: {heat: 23}, good: {heat: 22}}"
    answer = solve_yaml("satisficing", text)
    assert answer.conclusion.value == "good"


def test_choice_against_brute_force():
    chance = random.Random(11)
    for _ in range(25):
        options = {f"o{n}": {"gain": chance.randint(0, 5), "cost": chance.randint(0, 5)} for n in range(7)}
        answer = solve("satisficing", {"options": options, "aspirations": {"gain": {"min": 3}, "cost": {"max": 2}}})
        good = [name for name, o in options.items() if o["gain"] >= 3 and o["cost"] <= 2]
        assert answer.conclusion.value == (good[0] if good else False)


def test_bad_input_is_refused():
    assert "needs a min or a max" in refused("satisficing", "aspirations: {x: {}}\noptions: {a: {x: 1}}")
    assert "min 3 is above max 2" in refused("satisficing", "aspirations: {x: {min: 3, max: 2}}\noptions: {a: {x: 1}}")
    assert "options.a: unknown count 'y'" in refused("satisficing", "aspirations: {x: {min: 3}}\noptions: {a: {y: 1}}")
    assert "options: must hold something" in refused("satisficing", "aspirations: {x: {min: 3}}\noptions: {}")


def test_a_level_next_to_nothing_is_nothing() -> None:
    """A share of 1e-320 would be infinite: the shortfall is measured by how far options lie apart."""
    said = "options: {a: {x: -1}, b: {x: -3}}\naspirations: {x: {min: 1e-320}}\n"
    assert solve_yaml("satisficing", said).detail["relaxation"] == {"a": 0.5, "b": 1.5}
