"""Cases as a method of reasoning: the nearest ones vote for what they did."""

from typing import Any

import pytest

from mabos_cli.core.knowledge.case import Case
from reasoning.solving import refused, solve


def told(number: int, beliefs: str, desires: str, plan: str, success: bool | None, **more: Any) -> dict[str, Any]:
    outcome = {"success": success} | {name: more.pop(name) for name in ("metrics", "lessons") if name in more}
    return {
        "case_id": f"C-{number:03}",
        "situation": {"beliefs": beliefs.split(), "desires": desires.split()} | more,
        "solution": {"plan_id": plan},
        "outcome": outcome,
    }


NOW = {"beliefs": ["b1", "b2", "b3"], "desires": ["d1"]}


def test_score_of_the_cbr_bdi_algorithm() -> None:
    """The retrieval formula of CBR-BDI as the specification gives it: .6 of the beliefs of a case and .4 of its desires."""
    cases = [
        told(1, "b1 b2 x y", "d1 d2", "p", True),
        told(2, "b1", "d9", "q", True),
        told(3, "x", "d9", "r", True),
    ]
    answer = solve("case-based", NOW | {"cases": cases})
    found = {one["id"]: one["similarity"] for one in answer.detail["cases"]}
    assert found == pytest.approx({"C-002": 0.6 * 1 + 0.4 * 0, "C-001": 0.6 * 0.5 + 0.4 * 0.5})
    assert answer.detail["cases"][1]["missing"] == ["x", "y", "d2"]
    assert answer.detail["compared"] == 3


def test_failures_count_against_a_plan() -> None:
    """By successes alone p would win with two to one; its failures speak against it."""
    cases = [
        *(told(n, "b1", "d1", "p", n <= 2) for n in range(1, 5)),
        told(5, "b1", "d1", "q", True),
    ]
    answer = solve("case-based", NOW | {"cases": cases})
    assert answer.conclusion.value == "q"
    assert dict(answer.conclusion.scores) == pytest.approx({"p": 0, "q": 1})
    assert answer.detail["near"] == {"worked": 3, "failed": 2, "open": 0, "success_rate": 0.6}
    assert sum("failed in" in one for one in answer.caveats) == 2


def test_chance_is_laplaces_rule_of_succession() -> None:
    """Laplace, 1774: after s successes in n trials, (s + 1) / (n + 2). The bare share would be 1."""
    cases = [told(n, "b1", "d1", "p", True) for n in range(1, 4)]
    answer = solve("case-based", NOW | {"cases": cases})
    assert answer.confidence == pytest.approx(4 / 5)
    cases.append(told(4, "b1", "d1", "p", False))
    assert solve("case-based", NOW | {"cases": cases}).confidence == pytest.approx(4 / 6)
    # A case that is half as near is half a trial.
    cases = [told(1, "b1 x", "d1 d2", "p", True)]
    assert solve("case-based", NOW | {"cases": cases}).confidence == pytest.approx(1.5 / 2.5)


def test_open_cases_do_not_vote() -> None:
    cases = [told(1, "b1", "d1", "p", None), told(2, "b1 x", "d1", "q", True)]
    answer = solve("case-based", NOW | {"cases": cases})
    assert answer.conclusion.value == "q" and answer.detail["plans"]["p"]["chance"] == 0.5
    only = solve("case-based", NOW | {"cases": cases[:1]})
    assert only.conclusion[:2] == ("text", "no plan has proved itself") and only.confidence is None


def test_only_the_nearest_vote() -> None:
    cases = [told(n, "b1 x", "d1", "far", True) for n in range(1, 6)] + [told(9, "b1", "d1", "near", True)]
    assert solve("case-based", NOW | {"cases": cases}).conclusion.value == "far"
    assert solve("case-based", NOW | {"cases": cases, "k": 1}).conclusion.value == "near"
    assert solve("case-based", NOW | {"cases": cases, "least": 0.8}).conclusion.value == "near"


def test_context_counts_by_words() -> None:
    cases = [
        told(1, "b1", "d1", "p", True, context="The supplier delivered late"),
        told(2, "b1", "d1", "q", True, context="Prices rose at the supplier"),
    ]
    answer = solve("case-based", NOW | {"cases": cases, "context": "supplier prices rose"})
    assert [one["id"] for one in answer.detail["cases"]] == ["C-002", "C-001"]
    assert answer.detail["cases"][1]["context"] == pytest.approx(1 / 3)
    assert answer.detail["cases"][1]["similarity"] == pytest.approx((1 + 0.3 / 3) / 1.3)


def test_the_agents_own_cases_and_mind() -> None:
    own = (
        Case("C-1", ("B-1",), ("D-1",), "", "offer", (), True, (("kept", 0.8),)),
        Case("C-2", ("B-1",), ("D-1",), "", "offer", (), True, (("kept", 0.9),)),
        Case("C-3", ("B-1",)),
    )
    answer = solve("case-based", {}, cases=own, beliefs=("B-1",), desires=("D-1",))
    assert answer.conclusion.value == "offer"
    assert answer.detail["plans"]["offer"]["metrics"] == pytest.approx({"kept": 0.85})
    other = solve("case-based", {"beliefs": ["B-9"], "desires": []}, cases=own, beliefs=("B-1",), desires=("D-1",))
    assert other.conclusion[:2] == ("text", "no case is like this") and other.confidence is None


def test_actions_name_what_has_no_plan_and_ties_are_told() -> None:
    cases = [told(1, "b1", "d1", "", True), told(2, "b1", "d1", "q", True)]
    cases[0]["solution"] = {"actions": ["call", "visit"]}
    answer = solve("case-based", NOW | {"cases": cases})
    assert answer.conclusion.value == "call + visit"
    assert "as much speaks for q" in answer.caveats


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("cases: []", "cases: must hold something, and is empty"),
        ("{}", "cases: there are none that say what was done"),
        ("k: 0", "k: must be from 1 to 100, not 0"),
        ("cases: [{situation: {}, solution: {plan_id: p}}]", "cases[1]: the situation is empty"),
        ("cases: [{situation: {beliefs: [a]}, solution: {}}]", "cases[1]: the solution is empty"),
        (
            "cases: [{case_id: a, situation: {beliefs: [a]}, solution: {plan_id: p}}, "
            "{case_id: a, situation: {beliefs: [a]}, solution: {plan_id: p}}]",
            "cases[2].case_id: a occurs twice",
        ),
        (
            "cases: [{situation: {beliefs: [a]}, solution: {plan_id: p}}]",
            "beliefs: nothing is known of the situation",
        ),
        (
            "context: '?!'\ncases: [{situation: {beliefs: [a]}, solution: {plan_id: p}}]",
            "context: has no word to compare",
        ),
    ],
)
def test_bad_input(change: str, said: str) -> None:
    assert refused("case-based", change) == said
