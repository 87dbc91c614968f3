"""Fast and frugal choice: take-the-best."""

import random
from itertools import combinations

import pytest

from reasoning.solving import refused, solve, solve_yaml

VALIDITIES = """
cues:
  university: {validity: 0.71}
  national capital: {validity: 1.0}
  exposition site: {validity: 0.91}
  soccer team: {validity: 0.87}
  intercity train: {validity: 0.78}
  state capital: {validity: 0.77}
  license plate: {validity: 0.75}
  industrial belt: {validity: 0.56}
  east germany: {validity: 0.51}
"""


def test_cities_with_the_published_validities():
    """Gigerenzer and Goldstein, Reasoning the Fast and Frugal Way (1996), table 2. The first cue that differs decides,
    though the other city has more cues in its favour."""
    answer = solve_yaml(
        "heuristic",
        VALIDITIES
        + """
options:
  west: {national capital: no, exposition site: no, soccer team: yes, intercity train: no, university: no}
  east: {national capital: no, exposition site: no, soccer team: no, intercity train: yes, university: yes}
""",
    )
    assert answer.conclusion.value == "west" and answer.confidence == 0.87
    assert [one["cue"] for one in answer.detail["rounds"]] == [
        "national capital",
        "exposition site",
        "soccer team",
    ]


FIGURE = {
    "a": {"cue 1": "yes", "cue 2": "?", "cue 3": "no", "cue 4": "?", "cue 5": "?"},
    "b": {"cue 1": "no", "cue 2": "yes", "cue 3": "yes", "cue 4": "no", "cue 5": "no"},
    "c": {"cue 1": "?", "cue 2": "no", "cue 3": "?", "cue 4": "no", "cue 5": "no"},
}
CUES = {f"cue {n}": {} for n in range(1, 6)}


@pytest.mark.parametrize(("pair", "by", "winner"), [("ab", "cue 1", "a"), ("bc", "cue 2", "b")])
def test_the_illustration_of_the_algorithm(pair, by, winner):
    """Gigerenzer and Goldstein (1996), figure 2: a no against an unknown does not decide."""
    options = {name: FIGURE[name] for name in pair}
    answer = solve("heuristic", {"options": options, "cues": CUES})
    assert answer.conclusion.value == winner and answer.detail["rounds"][-1]["cue"] == by


def test_more_options_are_eliminated_cue_by_cue():
    text = """
options:
  a: {price: 10, near: yes}
  b: {price: 10, near: no}
  c: {price: 30, near: yes}
  d: {price: 10, near: yes}
cues:
  price: {validity: 0.9, better: lower}
  near: {validity: 0.8}
"""
    answer = solve_yaml("heuristic", text)
    assert [one["left"] for one in answer.detail["rounds"]] == [["a", "b", "d"], ["a", "d"]]
    assert answer.conclusion.value == "a" and answer.confidence is None and "a guess" in answer.caveats[0]


def test_take_the_best_against_a_plain_lexicographic_comparison():
    chance = random.Random(3)
    for _ in range(30):
        rows = {name: [chance.choice(("yes", "no")) for _ in range(4)] for name in "abcde"}
        options = {name: {f"c{n}": value for n, value in enumerate(row)} for name, row in rows.items()}
        cues = {f"c{n}": {"validity": 0.9 - n / 10} for n in range(4)}
        best = max(rows, key=lambda name: [value == "yes" for value in rows[name]])
        assert solve("heuristic", {"options": options, "cues": cues}).conclusion.value == best
        for one, two in combinations("abc", 2):
            pair = {one: options[one], two: options[two]}
            first = next((n for n in range(4) if rows[one][n] != rows[two][n]), None)
            sure = solve("heuristic", {"options": pair, "cues": cues}).confidence
            assert sure == (None if first is None else 0.9 - first / 10)


def test_bad_input_is_refused():
    assert "at least 2" in refused("heuristic", "options: {a: {x: yes}}")
    assert refused("heuristic", "options: {a: {}, b: {}}") == "options: have no cues"
    assert "unknown cue 'y'" in refused("heuristic", "options: {a: {x: yes}, b: {y: no}}\ncues: {x: {}}")
    assert "x is 'blue'" in refused("heuristic", "options: {a: {x: blue}, b: {x: no}}")
    assert "a number for others" in refused("heuristic", "options: {a: {x: 3}, b: {x: no}}")
