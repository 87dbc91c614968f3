"""Simulation against closed forms and a published example."""

import math

import pytest

from reasoning.solving import refused, solve, solve_yaml


def sample(distribution: object, draws: int = 20_000) -> dict:
    raw = {"variables": {"x": distribution}, "model": {"y": "x"}, "draws": draws}
    return solve("monte-carlo", raw).detail["outputs"]["y"]


@pytest.mark.parametrize(
    ("distribution", "mean", "sd"),
    [
        ({"normal": [100, 15]}, 100, 15),
        ({"uniform": [2, 8]}, 5, 6 / math.sqrt(12)),
        ({"triangular": [0, 3, 6]}, 3, math.sqrt((0 + 9 + 36 - 0 - 0 - 18) / 18)),
        ({"triangular": [1, 2, 9]}, 4, math.sqrt((1 + 4 + 81 - 2 - 9 - 18) / 18)),
        ({"discrete": {10: 0.2, 20: 0.5, 40: 0.3}}, 24, math.sqrt(20 + 200 + 480 - 576)),
    ],
)
def test_moments(distribution: object, mean: float, sd: float) -> None:
    """Means within four standard errors, deviations within five percent of the closed forms."""
    found = sample(distribution)
    assert abs(found["mean"] - mean) < 4 * sd / math.sqrt(20_000)
    assert found["sd"] == pytest.approx(sd, rel=0.05)
    assert found["standard_error"] == pytest.approx(found["sd"] / math.sqrt(20_000))


def test_machine_lease() -> None:
    """Hubbard, How to Measure Anything, chapter 6: three savings a unit and a volume by their 90 % ranges; about 600,000 on
    average, and about 14 % of cases do not pay for the lease of 400,000."""
    answer = solve_yaml(
        "monte-carlo",
        """
variables:
  maintenance: {normal: [15, 3.04]}
  labor: {normal: [3, 3.04]}
  materials: {normal: [6, 1.82]}
  units: {normal: [25000, 6079]}
model: {savings: (maintenance + labor + materials) * units}
questions: {loss: savings < 400000}
draws: 20000
""",
    )
    assert answer.conclusion.value == pytest.approx(600_000, rel=0.01)
    assert answer.detail["questions"]["loss"]["probability"] == pytest.approx(0.14, abs=0.015)


def test_a_quarter_circle() -> None:
    answer = solve_yaml(
        "monte-carlo",
        """
variables: {x: {uniform: [0, 1]}, y: {uniform: [0, 1]}}
model: {r: x ^ 2 + y ^ 2}
questions: {inside: r <= 1}
""",
    )
    inside = answer.detail["questions"]["inside"]
    assert abs(inside["probability"] - math.pi / 4) < 4 * inside["standard_error"]
    assert inside["standard_error"] == pytest.approx(math.sqrt(math.pi / 4 * (1 - math.pi / 4) / 10_000), rel=0.02)


def test_same_seed_same_result_and_another_seed_another() -> None:
    raw = {"variables": {"x": {"normal": [0, 1]}}, "model": {"y": "x"}, "draws": 200}
    assert solve("monte-carlo", raw) == solve("monte-carlo", raw)
    assert solve("monte-carlo", raw | {"seed": 2}).conclusion.value != solve("monte-carlo", raw).conclusion.value


def test_formulas_may_stand_in_any_order() -> None:
    answer = solve_yaml("monte-carlo", "variables: {x: 3}\nmodel: {b: a * 2, a: x + 1}\ntarget: b\ndraws: 100")
    assert answer.conclusion.value == 8
    assert answer.conclusion.interval == (8, 8)


def test_what_was_never_seen_is_said() -> None:
    answer = solve_yaml(
        "monte-carlo", "variables: {x: {normal: [0, 1]}}\nmodel: {y: x}\nquestions: {far: y > 9}\ndraws: 1000"
    )
    assert "far was never seen in 1,000 draws; that bounds it at about 0.003." in answer.caveats


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("variables: {x: {norml: [0, 1]}}\nmodel: {y: x}", "variables.x: unknown distribution 'norml'"),
        ("variables: {x: {normal: [0]}}\nmodel: {y: x}", "variables.x.normal: needs mean, sd"),
        ("variables: {x: {normal: [0, -1]}}\nmodel: {y: x}", "variables.x.normal.sd: must be from 0"),
        ("variables: {x: {triangular: [5, 1, 9]}}\nmodel: {y: x}", "variables.x.triangular: 5, 1, 9 must rise"),
        ("variables: {x: {discrete: {1: 0.5, 2: 0.4}}}\nmodel: {y: x}", "variables.x.discrete: probabilities must sum to 1, not 0.9"),
        ("variables: {x: 1}\nmodel: {y: z + 1}", "model.y: unknown name 'z'"),
        ("variables: {x: 1}\nmodel: {y: w, w: y}", "model: runs in a circle: "),
        ("variables: {x: 1}\nmodel: {x: 2}", "model.x: is a variable too"),
        ("variables: {x: {uniform: [-1, 1]}}\nmodel: {y: log(x)}", "model.y: 'log(x)' has no value"),
        ("variables: {x: 1, y: 2}\nmodel: {z: x}\ndraws: 600000", "draws: 1,200,000 draws of all variables are too many; the limit is 1,000,000"),
        ("variables: {unit price: 1}\nmodel: {y: 1}", "variables: 'unit price' cannot be used in a formula"),
        ("variables: {x: 1}\nmodel: {y: x}\ntarget: profit", "target: unknown formula 'profit'"),
    ],
)  # fmt: skip
def test_refusals(text: str, said: str) -> None:
    assert said in refused("monte-carlo", text)


def test_work_is_bounded() -> None:
    text = "variables: {x: 1}\nmodel: {y: " + "+".join(["x"] * 300) + "}\ndraws: 100000"
    assert "model: 30,100,000 steps of computing are too many; the limit is 20,000,000" in refused("monte-carlo", text)


def test_a_heavy_tail_is_said_and_a_settled_mean_is_not() -> None:
    tail = solve_yaml("monte-carlo", "variables: {x: {normal: [0, 5]}}\nmodel: {y: exp(x)}\ndraws: 1000")
    assert any("take more draws" in said for said in tail.caveats)
    calm = solve_yaml("monte-carlo", "variables: {x: {normal: [100, 1]}}\nmodel: {y: x}\ndraws: 1000")
    assert calm.caveats == ()


def test_what_always_holds_bounds_its_opposite() -> None:
    text = "variables: {a: {uniform: [1, 2]}}\nmodel: {b: a * 2}\nquestions: {gain: b > 0, loss: b < 0}\ndraws: 1000"
    said = " ".join(solve_yaml("monte-carlo", text).caveats)
    assert "gain was always seen in 1,000 draws; that bounds its opposite at about 0.003" in said
    assert "loss was never seen in 1,000 draws; that bounds it at about 0.003" in said
