"""Counterfactuals against Pearl's formulas and numbers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoning.solving import refused, solve, solve_yaml


def squad(order: float, nervous: float) -> dict:
    """Pearl, Causality, section 7.1: a court, a captain, two riflemen of whom the first may be nervous, a prisoner."""
    return {
        "exogenous": {"U": order, "W": nervous},
        "equations": {"C": "U", "A": "C or W", "B": "C", "D": "A or B"},
        "observed": {"D": "yes"},
        "do": {"A": "no"},
        "outcome": "D",
    }


def test_firing_squad_is_certain_without_nerves() -> None:
    """Had the first rifleman not fired, the prisoner would be dead all the same: the second heard the same order."""
    answer = solve("counterfactual", squad(0.3, 0))
    assert answer.conclusion.value == "yes"
    assert answer.confidence == 1


@settings(max_examples=20, deadline=None)
@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_firing_squad_with_nerves(p: float, q: float) -> None:
    """Pearl, Causality, 7.1.2: P(alive without A's shot | dead) = q (1 - p) / (1 - (1 - q)(1 - p)). Conditioning on no shot, as if
    it had been seen, would give 1."""
    answer = solve("counterfactual", squad(p, q))
    assert answer.detail["counterfactual"]["no"] == pytest.approx(q * (1 - p) / (1 - (1 - q) * (1 - p)))


def test_exam_score() -> None:
    """Pearl, Glymour & Jewell, Primer, 4.2.3: Joe with encouragement 0.5, homework 1 and score 1.5 would have had 1.90 with
    homework 2. The chances of the outer values do not matter, what was seen tells them."""
    answer = solve_yaml(
        "counterfactual",
        """
exogenous: {u1: {0: 0.2, 0.5: 0.8}, u2: {0: 0.9, 0.75: 0.1}, u3: {0: 0.6, 0.75: 0.4}}
equations: {x: u1, h: 0.5 * x + u2, y: 0.7 * x + 0.4 * h + u3}
observed: {x: 0.5, h: 1, y: 1.5}
do: {h: 2}
outcome: y
""",
    )
    assert answer.conclusion.value == "1.9"
    assert answer.confidence == pytest.approx(1)
    assert answer.detail["evidence_probability"] == pytest.approx(0.8 * 0.1 * 0.4)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0.01, 1), min_size=4, max_size=4), st.floats(0.05, 0.95))
def test_necessity_and_sufficiency_by_response_types(weights: list[float], treated: float) -> None:
    """Tian & Pearl 2000: with the four types of response, that the cause was needed where both were seen has the probability
    helped / (helped + always), and that it would be enough where neither was, helped / (helped + never)."""
    names = ("always", "never", "helped", "hurt")
    share = {name: weight / sum(weights) for name, weight in zip(names, weights, strict=True)}
    raw = {
        "exogenous": {"kind": share, "u": treated},
        "equations": {
            "x": "u",
            "y": "kind == 'always' or (kind == 'helped' and x) or (kind == 'hurt' and not x)",
        },
        "observed": {"x": "yes", "y": "yes"},
        "do": {"x": "no"},
        "outcome": "y",
    }
    needed = solve("counterfactual", raw).detail["counterfactual"]["no"]
    assert needed == pytest.approx(share["helped"] / (share["helped"] + share["always"]))
    raw |= {"observed": {"x": "no", "y": "no"}, "do": {"x": "yes"}}
    enough = solve("counterfactual", raw).detail["counterfactual"]["yes"]
    assert enough == pytest.approx(share["helped"] / (share["helped"] + share["never"]))


def test_words_as_values() -> None:
    answer = solve_yaml(
        "counterfactual",
        """
exogenous: {weather: {dry: 0.7, wet: 0.3}}
equations: {tyre: "if(weather == 'wet', 'rain', 'slick')", result: "if(tyre == 'slick' and weather == 'wet', 'crash', 'finish')"}
observed: {result: finish, tyre: rain}
do: {tyre: slick}
outcome: result
""",
    )
    assert answer.conclusion.value == "crash"


def test_a_tie_is_said() -> None:
    answer = solve("counterfactual", squad(0.5, 1) | {"observed": {}, "do": {"A": "no"}})
    assert answer.confidence == 0.5
    assert any("equally likely" in said for said in answer.caveats)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("exogenous: {u: 0.5}\nequations: {a: b, b: a}\ndo: {a: 1}\noutcome: b", "equations: runs in a circle: "),
        ("exogenous: {u: 0.5}\nequations: {a: u}\nobserved: {a: 7}\ndo: {a: 1}\noutcome: a", "observed: a=7 cannot happen in this model"),
        ("exogenous: {u: 0.5}\nequations: {u: 1}\ndo: {u: 1}\noutcome: u", "equations.u: is exogenous too"),
        ("exogenous: {u: {a: 0.5, b: 0.1}}\nequations: {a: u}\ndo: {a: 1}\noutcome: a", "exogenous.u: probabilities must sum to 1, not 0.6"),
        ("exogenous: {u: 0.5}\nequations: {a: u + 'x'}\ndo: {u: 1}\noutcome: a", "computes with a text"),
        ("exogenous: {u: 0.5}\nequations: {a: u}\ndo: {b: 1}\noutcome: a", "do: unknown variable 'b'"),
        ("exogenous: {u: 0.5}\nequations: {a: u}\ndo: {a: [1]}\noutcome: a", "do.a: must be one value"),
        ("exogenous: {u: 1.5}\nequations: {a: u}\ndo: {a: 1}\noutcome: a", "exogenous.u: must be from 0 to 1"),
    ],
)  # fmt: skip
def test_refusals(text: str, said: str) -> None:
    assert said in refused("counterfactual", text)


def test_too_many_worlds_are_refused() -> None:
    raw = {
        "exogenous": {f"u{n}": 0.5 for n in range(17)},
        "equations": {"a": "u1"},
        "do": {"u1": 1},
        "outcome": "a",
    }
    with pytest.raises(ValueError, match="131,072 worlds are too many; the limit is 100,000"):
        solve("counterfactual", raw)


def test_worlds_are_counted() -> None:
    assert solve("counterfactual", squad(0.5, 0.5)).detail["worlds"] == 3


def test_large_figures_that_differ_little_stay_apart() -> None:
    answer = solve_yaml(
        "counterfactual",
        """
exogenous: {u: {1: 0.5, 2: 0.3, 3: 0.2}}
equations: {sold: u > 1, profit: 1000000 + u}
do: {sold: yes}
outcome: profit
""",
    )
    assert dict(answer.conclusion.scores) == {
        "1000001": pytest.approx(0.5),
        "1000002": pytest.approx(0.3),
        "1000003": pytest.approx(0.2),
    }


def test_figures_that_differ_by_rounding_are_one() -> None:
    text = "exogenous: {a: 0.5}\nequations: {y: 'if(a, 0.1 + 0.2, 0.3)'}\ndo: {a: yes}\noutcome: y"
    answer = solve_yaml("counterfactual", text)
    assert dict(answer.conclusion.scores) == {"0.3": 1} and answer.detail["factual"] == {"0.3": 1}
