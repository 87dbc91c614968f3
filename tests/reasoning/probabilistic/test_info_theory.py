"""Information and its value against published worked examples."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoning.solving import refused, solve, solve_yaml

OIL = """
states: {oil: 0.25, dry: 0.75}
questions:
  survey:
    cost: 30
    answers:
      unfavorable: {oil: 0.4, dry: 0.8}
      favorable: {oil: 0.6, dry: 0.2}
payoffs: {drill: {oil: 700, dry: -100}, sell: {oil: 90, dry: 90}}
"""


def weighing(each: int) -> dict[str, list[str]]:
    """Coins 1..each against the next each: which of the 24 states tilt the balance which way."""
    left, right = range(1, each + 1), range(each + 1, 2 * each + 1)
    rest = range(2 * each + 1, 13)
    answers = {
        "left": [f"{n}{'h' if n in left else 'l'}" for n in (*left, *right)],
        "right": [f"{n}{'l' if n in left else 'h'}" for n in (*left, *right)],
        "even": [f"{n}{way}" for n in rest for way in "hl"],
    }
    return {answer: states for answer, states in answers.items() if states}


def test_twelve_coins() -> None:
    """MacKay, Information Theory, section 4.1: one odd coin of twelve, heavy or light. Four against four tells log2 3 bits, six
    against six only one."""
    states = {f"{n}{way}": 1 / 24 for n in range(1, 13) for way in "hl"}
    questions = {f"{n} against {n}": {"answers": weighing(n)} for n in range(1, 7)}
    answer = solve("info-theory", {"states": states, "questions": questions})
    found = answer.detail["questions"]
    assert answer.conclusion.value == "4 against 4"
    assert answer.detail["entropy"] == pytest.approx(math.log2(24))
    assert found["4 against 4"]["information"] == pytest.approx(math.log2(3))
    assert found["6 against 6"]["information"] == pytest.approx(1)
    assert found["5 against 5"]["information"] == pytest.approx(1.4834, abs=1e-4)


def test_noisy_test_tells_less_than_its_answers_vary() -> None:
    """A binary symmetric channel: 1 - H(0.1) bits. The entropy of the answer itself would be 1."""
    answer = solve_yaml(
        "info-theory",
        """
states: {a: 0.5, b: 0.5}
questions: {look: {answers: {a seen: {a: 0.9, b: 0.1}, b seen: {a: 0.1, b: 0.9}}}}
""",
    )
    found = answer.detail["questions"]["look"]
    assert found["information"] == pytest.approx(0.5310, abs=5e-5)
    assert found["answer_entropy"] == pytest.approx(1)


def test_oil_survey() -> None:
    """Hillier & Lieberman, Goferbroke: perfect information is worth 142.5, the survey 53 for 30; posterior of oil 1/7 and 1/2."""
    answer = solve_yaml("info-theory", OIL)
    survey = answer.detail["questions"]["survey"]
    assert answer.conclusion.value == "survey"
    assert answer.detail["evpi"] == pytest.approx(142.5)
    assert survey["evsi"] == pytest.approx(53)
    assert survey["net"] == pytest.approx(23)
    assert survey["posteriors"]["unfavorable"]["oil"] == pytest.approx(1 / 7)
    assert survey["posteriors"]["favorable"]["oil"] == pytest.approx(1 / 2)
    assert survey["acts"] == {"unfavorable": "sell", "favorable": "drill"}


def test_a_survey_that_costs_more_than_it_is_worth_is_not_bought() -> None:
    answer = solve_yaml("info-theory", OIL.replace("cost: 30", "cost: 53.5"))
    assert answer.conclusion.value == "ask nothing"
    assert answer.detail["questions"]["survey"]["net"] == pytest.approx(-0.5)
    assert "choose drill now" in answer.summary


def test_bits_that_change_no_act_are_worth_nothing() -> None:
    answer = solve_yaml("info-theory", OIL.replace("sell: {oil: 90, dry: 90}", "sell: {oil: -900, dry: -900}"))
    survey = answer.detail["questions"]["survey"]
    assert survey["information"] > 0.09
    assert survey["evsi"] == pytest.approx(0, abs=1e-9)
    assert answer.conclusion.value == "ask nothing"


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.floats(0.05, 1), min_size=3, max_size=3),
    st.lists(st.floats(0, 1), min_size=3, max_size=3),
    st.lists(st.integers(-50, 50), min_size=6, max_size=6),
)
def test_no_test_is_worth_more_than_certainty(weights: list[float], likely: list[float], pays: list[int]) -> None:
    names = ("x", "y", "z")
    raw = {
        "states": {name: w / sum(weights) for name, w in zip(names, weights, strict=True)},
        "questions": {
            "q": {
                "answers": {
                    "yes": dict(zip(names, likely, strict=True)),
                    "no": {name: 1 - p for name, p in zip(names, likely, strict=True)},
                }
            },
            "oracle": {"answers": {name: [name] for name in names}},
        },
        "payoffs": {
            "a": dict(zip(names, pays[:3], strict=True)),
            "b": dict(zip(names, pays[3:], strict=True)),
        },
    }
    detail = solve("info-theory", raw).detail
    found = detail["questions"]
    assert -1e-9 <= found["q"]["evsi"] <= detail["evpi"] + 1e-9
    assert found["oracle"]["evsi"] == pytest.approx(detail["evpi"], abs=1e-9)
    assert found["q"]["information"] <= found["oracle"]["information"] + 1e-9
    assert found["oracle"]["information"] == pytest.approx(detail["entropy"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (OIL.replace("0.75", "0.5"), "states: probabilities must sum to 1, not 0.75"),
        (OIL.replace("dry: 0.8", "dry: 0.7"), "questions.survey.answers: probabilities of the answers in state 'dry' must sum to 1, not 0.9"),
        ("states: {a: 0.5, b: 0.5}\nquestions: {q: {answers: {yes: [a], no: [c]}}}", "questions.q.answers.no: unknown state 'c'"),
        ("states: {a: 0.5, b: 0.5}\nquestions: {q: {answers: {yes: [a], no: 3}}}", "must be a list of states, or a probability per state"),
        (OIL.replace("sell: {oil: 90, dry: 90}", "sell: {oil: 90}"), "payoffs.sell: dry is missing"),
    ],
)  # fmt: skip
def test_refusals(text: str, said: str) -> None:
    assert said in refused("info-theory", text)


def test_what_is_left_and_ties() -> None:
    answer = solve_yaml(
        "info-theory",
        """
states: {a: 0.25, b: 0.25, c: 0.5}
questions:
  is it a: {answers: {yes: [a], no: [b, c]}}
  is it c: {answers: {yes: [c], no: [a, b]}, cost: 2}
  c or not: {answers: {yes: [c], no: [a, b]}, cost: 1}
  once more: {answers: {yes: [c], no: [a, b]}, cost: 1}
""",
    )
    assert answer.conclusion.value == "c or not"
    assert answer.caveats[0] == "c or not is as good as once more; the first in the input is named."
    assert answer.detail["questions"]["is it c"]["entropy_left"] == pytest.approx(0.5)
    assert answer.detail["questions"]["is it a"]["information"] == pytest.approx(0.8113, abs=5e-5)
