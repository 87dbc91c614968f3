import pytest

from mabos_cli.core.knowledge.case import KeptResult
from mabos_cli.reasoning.catalog import score_methods
from reasoning.solving import refused, solve, solve_yaml

SOCIAL = {
    "uncertainty": "low",
    "complexity": "simple",
    "domain": "social",
    "data_availability": "rich",
    "stakes": "medium",
}


def test_without_past_the_router_decides() -> None:
    """The weights of the specification: .2 + .2 + .3 + .15 + .15 for what fits in every aspect."""
    answer = solve("strategy-selection", SOCIAL)
    assert answer.conclusion.value == "social-choice"
    assert answer.detail["methods"][0]["fit"] == pytest.approx(1)
    assert answer.detail["changed_by_past"] is False
    assert "no past results" in answer.summary
    assert [one["method"] for one in answer.detail["methods"]] == [
        one.method.name for one in score_methods(SOCIAL) if one.method.name != "strategy-selection"
    ]


def test_past_results_change_the_choice() -> None:
    """Failures of the best fit lower it below the next: a fit of 1 times (0 + 4 * 0.5) / (6 + 4) / 0.5 is 0.4."""
    failed = [{"method": "social-choice", "right": False}] * 6 + [{"method": "deductive", "right": True}] * 6
    answer = solve("strategy-selection", SOCIAL | {"episodes": failed})
    assert answer.detail["pick_by_fit"] == "social-choice"
    assert answer.detail["changed_by_past"] is True
    assert answer.conclusion.value != "social-choice"
    found = {one["method"]: one for one in answer.detail["methods"]}
    assert found["social-choice"]["score"] == pytest.approx(0.4)
    assert found["deductive"]["factor"] == pytest.approx(1.6)
    assert "past results changed the choice from social-choice" in answer.summary


def test_own_past_is_used() -> None:
    own = tuple(KeptResult(f"R-{n}", "social-choice", "", None, True, "") for n in range(5))
    answer = solve("strategy-selection", SOCIAL, past=own)
    assert answer.detail["methods"][0]["record"]["total"] == 5
    assert "past results did not change the choice" in answer.summary


def test_time_breaks_ties_towards_less_effort() -> None:
    urgent = solve_yaml("strategy-selection", "domain: empirical\ntime_pressure: urgent")
    assert urgent.detail["methods"][0]["effort"] == 1
    free = solve_yaml("strategy-selection", "domain: empirical\ntime_pressure: none")
    assert free.conclusion.value == "causal"
    assert any(
        "equal scores: causal, counterfactual" in one and "the most thorough first" in one for one in free.caveats
    )


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("{}", "nothing to choose a method by"),
        ("time_pressure: urgent", "nothing to choose a method by"),
        ("domain: money", "domain: must be one of formal, empirical, social, mixed"),
    ],
)
def test_refusals(said: str, message: str) -> None:
    assert refused("strategy-selection", said).startswith(message)
