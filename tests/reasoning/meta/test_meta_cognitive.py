import pytest
from hypothesis import settings

from mabos_cli.core.knowledge.case import KeptResult
from reasoning.solving import example, refused, solve, solve_yaml

quick = settings(max_examples=40, deadline=None, derandomize=True)


def claim(confidence, impact, hours=None, cost=0, finds=1, status="assumed"):
    found = {"status": status, "confidence": confidence, "impact": impact}
    return found | ({} if hours is None else {"check": {"hours": hours, "cost": cost, "finds": finds}})


def test_value_of_a_check() -> None:
    """Expected value of imperfect information: 0.3 * 1000 lost, found with 0.8: 240, less 2 hours at 20 and 50: 150."""
    answer = solve("meta-cognitive", {"claims": {"a": claim(0.7, 1000, 2, 50, 0.8)}, "cost_per_hour": 20})
    assert answer.conclusion.value == "check a"
    assert dict(answer.conclusion.scores) == pytest.approx({"proceed": 0, "check a": 150})
    assert answer.detail["expected_loss"] == pytest.approx(300)
    assert answer.confidence is None


def test_a_check_that_costs_more_than_it_saves() -> None:
    answer = solve("meta-cognitive", {"claims": {"a": claim(0.9, 1000, 10)}, "cost_per_hour": 11})
    assert answer.conclusion.value == "proceed"
    assert answer.summary.startswith("proceed: no check is worth its cost")


def test_the_largest_loss_is_not_always_the_first_check() -> None:
    """a loses 500, but its check finds little; b loses 300 and is found for sure."""
    claims = {"a": claim(0.5, 1000, 1, 0, 0.4), "b": claim(0.7, 1000, 1, 0, 1)}
    answer = solve("meta-cognitive", {"claims": claims})
    assert answer.detail["checks"] == ["b", "a"]
    assert "largest expected loss 500 (a)" in answer.summary


def test_the_deadline_is_a_knapsack() -> None:
    """One check of 300 in 5 hours against two of 200 in 3 hours each: with 6 hours the two win, with 5 the one."""
    claims = {"a": claim(0.7, 1000, 5), "b": claim(0.8, 1000, 3), "c": claim(0.8, 1000, 3)}
    assert solve("meta-cognitive", {"claims": claims, "hours_left": 6}).detail["checks"] == ["b", "c"]
    tight = solve("meta-cognitive", {"claims": claims, "hours_left": 5})
    assert tight.detail["checks"] == ["a"]
    assert "would pay, but not within 5 hours: b, c" in tight.caveats
    none = solve("meta-cognitive", {"claims": claims, "hours_left": 1})
    assert none.conclusion.value == "proceed"
    assert "no check that pays fits" in none.summary


def test_what_nobody_rated_counts_as_even_chances() -> None:
    unknown = solve_yaml("meta-cognitive", "claims: {a: {status: unknown, impact: 10}, b: {status: known}}")
    assert unknown.detail["claims"]["a"]["expected_loss"] == 5
    assert unknown.caveats[0].startswith("no confidence given, even chances assumed: a")


def test_own_record_is_told() -> None:
    own = tuple(KeptResult(f"R-{n}", "bayesian", "", 0.9, n < 3, "") for n in range(6))
    answer = solve_yaml("meta-cognitive", "claims: {a: {status: known}}", past=own)
    assert "own record: stated 0.90 on average, right in 3 of 6" in answer.caveats


def test_of_many_checks_the_most_valuable_are_weighed() -> None:
    claims = {f"c{n}": claim(0.5, 100 + n, 1) for n in range(20)}
    answer = solve("meta-cognitive", {"claims": claims, "hours_left": 3})
    assert answer.detail["checks"] == ["c19", "c18", "c17"]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("claims: {}", "claims: must hold something"),
        ("claims: {a: {status: assumed}}", "claims.a.confidence: is missing"),
        ("claims: {a: {status: sure}}", "claims.a.status: must be one of known, assumed, unknown"),
        ("claims: {a: {status: known, confidence: 2}}", "claims.a.confidence: must be from 0 to 1"),
        ("claims: {a: {status: known, impact: -1}}", "claims.a.impact: must be from 0"),
    ],
)
def test_refusals(said: str, message: str) -> None:
    assert refused("meta-cognitive", said).startswith(message)


def test_the_example_runs() -> None:
    answer = solve("meta-cognitive", example("meta-cognitive"))
    # 0.7 * 0.35 * 400000 - 3000 - 12 * 120
    assert dict(answer.conclusion.scores)["check demand grows 20 percent"] == pytest.approx(93_560)
    assert answer.detail["checks"] == ["demand grows 20 percent", "landlord is solvent"]
