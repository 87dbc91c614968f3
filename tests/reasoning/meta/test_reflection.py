from math import log2

import pytest

from mabos_cli.core.knowledge.case import KeptResult
from reasoning.solving import refused, solve, solve_yaml


def plan(expected, actual, better="higher", **more):
    return {"expected": expected, "actual": actual, "better": better} | more


def test_deviations_have_a_direction() -> None:
    """25 % more revenue is good and 25 % more cost is not; the base is the plan, not the outcome."""
    answer = solve(
        "reflection",
        {
            "measures": {
                "revenue": plan(80, 100),
                "cost": plan(80, 100, "lower"),
                "churn": plan(10, 4, "lower"),
            }
        },
    )
    assert [*answer.detail["measures"]] == ["churn", "revenue", "cost"]
    assert answer.detail["measures"]["revenue"] == {"expected": 80, "actual": 100, "off": 0.25, "gain": 20}
    assert answer.detail["measures"]["cost"]["gain"] == -20
    assert answer.steps[0] == "churn -60% (4 for 10), better"
    assert answer.detail["met"] == 0


def test_negative_and_empty_plans() -> None:
    """A planned loss of 10 that became 5 is 50 % up; out of nothing there is no share."""
    answer = solve("reflection", {"measures": {"profit": plan(-10, -5), "leads": plan(0, 3), "calls": plan(0, 0)}})
    assert answer.detail["measures"]["profit"]["off"] == 0.5
    assert answer.detail["measures"]["leads"]["off"] is None
    assert [*answer.detail["measures"]] == ["leads", "profit", "calls"]
    assert answer.detail["met"] == 1
    assert "where nothing was planned, a deviation has no share" in answer.caveats


def test_surprise_is_information() -> None:
    """Shannon 1948: what had 1/8 tells 3 bits when it happens, what had 1/2 tells 1."""
    said = "events: [{what: a, confidence: 0.5, happened: yes}, {what: b, confidence: 0.875, happened: no}]"
    answer = solve_yaml("reflection", said)
    assert [(one["what"], one["bits"]) for one in answer.detail["statements"]] == [("b", 3.0), ("a", 1.0)]
    assert "surprise: b, given 0.12, 3.0 bits" in answer.steps
    impossible = solve_yaml("reflection", "events: [{what: a, confidence: 0, happened: yes}]")
    assert impossible.detail["statements"][0]["bits"] is None
    assert "surprise: a, called impossible" in impossible.steps


def test_lessons_and_causes_are_counted() -> None:
    own = (
        KeptResult("R-1", "causal", "price rise", 0.8, False, "", lesson="Ask two customers first"),
        KeptResult("R-2", "causal", "hiring", 0.7, True, "", lesson="ask two customers first."),
    )
    causes = [{"cause": "late data", "controllable": True}, {"cause": "storm", "controllable": False}]
    answer = solve("reflection", {"lessons": ["Ask  two customers first"], "causes": causes}, past=own)
    assert answer.detail["rules"] == [
        {"said": "Ask  two customers first", "support": 3},
        {"said": "act on this cause: late data", "support": 1},
    ]
    assert answer.detail["statements"][0] == {
        "what": "price rise",
        "chance": pytest.approx(0.2),
        "bits": pytest.approx(log2(5)),
    }


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("{}", "measures: nothing to look back on"),
        ("measures: {a: {expected: 1}}", "measures.a.actual: is missing"),
        ("measures: {a: {expected: 1, actual: many}}", "measures.a.actual: must be a number"),
    ],
)
def test_refusals(said: str, message: str) -> None:
    assert refused("reflection", said).startswith(message)
