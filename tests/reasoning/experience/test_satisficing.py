"""Satisficing: the first option that is good enough."""

import random

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


def test_what_is_not_known_is_not_good_enough():
    answer = solve_yaml("satisficing", "aspirations: {x: {min: 1}}\noptions: {a: {}, b: {x: 1}}")
    assert answer.conclusion.value == "b" and answer.steps[0] == "a fails: x is not known"
    none = solve_yaml("satisficing", "aspirations: {x: {min: 1}}\noptions: {a: {}}")
    assert none.conclusion.value is False and none.detail["misses"] == {"a": ["x is not known"]}


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
