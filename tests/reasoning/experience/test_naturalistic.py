"""Recognition-primed decisions."""

import pytest

from reasoning.solving import refused, solve_yaml

OVERPASS = """
situation: {victim: semiconscious, place: overpass strut, on her back: no, ladder below: yes}
prototypes:
  rescue from a height:
    cues: {victim: semiconscious, place: overpass strut}
    actions: [kingsley harness, howd strap, ladder belt]
  victim on the ground:
    cues: {victim: semiconscious, place: road}
    actions: [stretcher]
actions:
  kingsley harness: {needs: {on her back: yes}}
  howd strap: {needs: {on her back: yes}}
  ladder belt: {needs: {ladder below: yes}}
  stretcher: {}
"""


def test_the_commander_takes_the_first_that_works_and_compares_nothing():
    """Klein, Sources of Power (1998), the overpass rescue: harness and strap are imagined and rejected, the ladder belt is used."""
    answer = solve_yaml("naturalistic", OVERPASS)
    assert answer.conclusion.value == "ladder belt" and answer.confidence is None
    assert [run["action"] for run in answer.detail["simulations"]] == [
        "kingsley harness",
        "howd strap",
        "ladder belt",
    ]
    assert answer.detail["simulations"][0]["rejected"] == ["needs on her back yes, and it is no"]
    first = solve_yaml("naturalistic", OVERPASS.replace("on her back: no", "on her back: yes"))
    assert first.conclusion.value == "kingsley harness" and len(first.detail["simulations"]) == 1


def test_when_no_action_of_the_best_works_the_runner_up_is_tried():
    answer = solve_yaml("naturalistic", OVERPASS.replace("ladder below: yes}\n", "ladder below: no}\n", 1))
    assert answer.conclusion.value == "stretcher" and "fits less" in answer.caveats[-1]
    strict = solve_yaml(
        "naturalistic", OVERPASS.replace("ladder below: yes}\n", "ladder below: no}\n", 1) + "familiar: 0.9"
    )
    assert strict.conclusion.kind == "truth" and strict.conclusion.value is False


FIRE = """
situation: SITUATION
prototypes:
  kitchen fire:
    cues: {smoke: yes, place: kitchen, heat: {min: 50}}
    expectancies: {noise: loud, answer to water: less}
    actions: [hose from inside]
  basement fire:
    cues: {smoke: yes, heat: {min: 80}, noise: quiet}
    actions: [leave the building]
actions: {hose from inside: {}, leave the building: {}}
"""


def test_violated_expectancies_call_for_a_second_look():
    """Klein, Sources of Power (1998), the sixth sense: too hot, too quiet, and water does not help; the fire is below."""
    text = FIRE.replace("SITUATION", "{smoke: yes, place: kitchen, heat: 90, noise: quiet, answer to water: none}")
    answer = solve_yaml("naturalistic", text)
    assert {one["name"]: one["score"] for one in answer.detail["matches"]} == {
        "kitchen fire": 1.0,
        "basement fire": 1.0,
    }
    assert answer.caveats[0] == (
        "look again: noise is quiet, not loud, answer to water is none, not less; it may be basement fire (1)"
    )
    calm = solve_yaml("naturalistic", FIRE.replace("SITUATION", "{smoke: yes, place: kitchen, heat: 60, noise: loud}"))
    assert calm.caveats == ("still to check, if it is kitchen fire: answer to water",)


def test_match_is_over_all_cues_of_the_prototype():
    """Smoke and place of smoke, place and heat. Over known cues alone it would be 1."""
    answer = solve_yaml("naturalistic", FIRE.replace("SITUATION", "{smoke: yes, place: kitchen}"))
    assert answer.detail["matches"][0]["score"] == pytest.approx(2 / 3)
    assert answer.detail["matches"][1]["score"] == pytest.approx(1 / 3)
    assert answer.detail["matches"][0]["unknown"] == ["heat"]


def test_an_unfamiliar_situation_gets_no_action():
    answer = solve_yaml("naturalistic", FIRE.replace("SITUATION", "{smoke: no, place: office, heat: 20}"))
    assert answer.conclusion.kind == "truth" and answer.conclusion.value is None
    assert "not familiar" in answer.summary


def test_bad_input_is_refused():
    good = FIRE.replace("SITUATION", "{smoke: yes}")
    assert "prototypes.kitchen fire.actions: unknown action 'hoze'" in refused(
        "naturalistic", good.replace("[hose from inside]", "[hoze]")
    )
    assert "must be {min: ..., max: ...} with numbers" in refused(
        "naturalistic", good.replace("{min: 80}", "{least: 80}")
    )
    assert "must be {min: ..., max: ...} with numbers" in refused(
        "naturalistic", good.replace("{min: 80}", "{min: hot}")
    )
