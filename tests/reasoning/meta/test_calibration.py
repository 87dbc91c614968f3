import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.knowledge.case import KeptResult
from mabos_cli.reasoning.meta.calibration import (
    Forecast,
    group_forecasts,
    score_brier,
    split_brier,
)
from reasoning.solving import refused, solve, solve_yaml

quick = settings(max_examples=60, deadline=None, derandomize=True)
said = st.lists(st.tuples(st.integers(0, 20).map(lambda n: n / 20), st.booleans()), min_size=1, max_size=30)


def many(confidence, right, wrong):
    return [{"confidence": confidence, "happened": held} for held in [True] * right + [False] * wrong]


def test_brier_nineteen_fifty() -> None:
    """Brier 1950, table 1, halved to one class: ten forecasts of rain, (0.7, 0.9, 0.8, 0.4, 0.2, 0, 0, 0, 0, 0.1)."""
    rain = (0.7, 0.9, 0.8, 0.4, 0.2, 0, 0, 0, 0, 0.1)
    fell = (False, True, True, True, False, False, False, False, False, False)
    forecasts = [Forecast(p, o) for p, o in zip(rain, fell, strict=True)]
    # Brier sums over both classes and gives 0.19; one class is half of that.
    assert score_brier(forecasts) == pytest.approx(0.19 / 2)


def test_murphys_parts() -> None:
    """By hand: 0.8 comes true in 3 of 5, 0.2 in 1 of 5. Base 0.4: REL 0.02, RES 0.04, UNC 0.24, Brier 0.22, skill 1/12."""
    answer = solve("calibration", {"forecasts": many(0.8, 3, 2) + many(0.2, 1, 4)})
    detail = answer.detail
    assert detail["reliability"] == pytest.approx((0.2**2 + 0) / 2)
    assert detail["resolution"] == pytest.approx(0.04)
    assert detail["uncertainty"] == pytest.approx(0.24)
    assert detail["brier"] == pytest.approx(0.22)
    assert detail["skill"] == pytest.approx(1 - 0.22 / 0.24)
    assert detail["within"] == pytest.approx(0)


@quick
@given(said)
def test_the_parts_make_up_the_score(found) -> None:
    """Murphy 1973: exact for groups of one value; without fail the parts are at least 0."""
    forecasts = [Forecast(*one) for one in found]
    parts = split_brier(forecasts, group_forecasts(forecasts, 25))
    assert parts.within == pytest.approx(0, abs=1e-12)
    assert min(parts.reliability, parts.resolution, parts.uncertainty) >= 0
    assert parts.resolution <= parts.uncertainty + 1e-12


def test_overconfidence_is_told_from_its_opposite() -> None:
    over = solve("calibration", {"forecasts": many(0.9, 12, 8)})
    assert over.conclusion.value is False
    assert over.summary.startswith("overconfident: mean confidence 0.90, right in 0.60 of 20")
    under = solve("calibration", {"forecasts": many(0.6, 38, 2)})
    assert under.summary.startswith("underconfident")
    assert under.detail["gap"] == pytest.approx(-0.35)


def test_sureness_of_the_opposite() -> None:
    """0.1 said and never happening is being right with 0.9; a plain mean of what was said would call it something else."""
    answer = solve("calibration", {"forecasts": many(0.1, 1, 9) + many(0.9, 9, 1)})
    assert answer.detail["mean_confidence"] == pytest.approx(0.9)
    assert answer.detail["share_right"] == pytest.approx(0.9)
    assert answer.detail["gap"] == pytest.approx(0)
    assert answer.conclusion.value is None
    assert solve("calibration", {"forecasts": many(0.9, 180, 20)}).conclusion.value is True


def test_all_alike() -> None:
    answer = solve("calibration", {"forecasts": many(1, 2, 0)})
    assert answer.detail["brier"] == 0
    assert answer.detail["skill"] is None
    assert answer.conclusion.value is None


def test_many_values_are_binned() -> None:
    forecasts = [{"confidence": n / 100, "happened": n % 3 == 0} for n in range(100)]
    answer = solve("calibration", {"forecasts": forecasts})
    assert [one["count"] for one in answer.detail["groups"]] == [10] * 10
    detail = answer.detail
    parts = detail["reliability"] - detail["resolution"] + detail["uncertainty"] + detail["within"]
    assert parts == pytest.approx(detail["brier"])


def test_own_results() -> None:
    own = (
        KeptResult("R-1", "bayesian", "", 0.8, True, ""),
        KeptResult("R-2", "bayesian", "", 0.6, False, ""),
        KeptResult("R-3", "causal", "", None, True, ""),
        KeptResult("R-4", "causal", "", 0.7, None, ""),
    )
    answer = solve("calibration", {}, past=own)
    assert answer.detail["count"] == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "forecasts: no past result has both"),
        ("forecasts: []", "forecasts: must hold something"),
        ("forecasts: [{confidence: 80, happened: yes}]", "forecasts[1].confidence: must be from 0 to 1"),
        ("forecasts: [{confidence: 0.5, happened: maybe}]", "forecasts[1].happened: must be yes or no"),
        ("forecasts: [0.5]", "forecasts[1]: must be fields"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    assert refused("calibration", text).startswith(message)


def test_percent_is_read() -> None:
    assert solve_yaml("calibration", "forecasts: [{confidence: 80%, happened: yes}]").detail["brier"] == pytest.approx(
        0.04
    )
