from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.formats.knowledge.reason_input import parse_source
from mabos_cli.reasoning.social.stakeholder import GRID
from reasoning.solving import refused, solve, solve_yaml

quick = settings(max_examples=40, deadline=None, derandomize=True)
FIXTURES = Path(__file__).parents[3] / "fixtures" / "reasoning"


def person(power, interest, stance, **more):
    return {"power": power, "interest": interest, "stance": stance} | more


def test_mendelows_grid() -> None:
    """Mendelow 1991: four fields, four ways to deal with them; the border counts as high."""
    people = {"a": person(9, 9, 0), "b": person(5, 1, 0), "c": person(1, 5, 0), "d": person(4.9, 4.9, 0)}
    grid = solve("stakeholder", {"stakeholders": people}).detail["grid"]
    assert grid == {
        "manage closely": ["a"],
        "keep satisfied": ["b"],
        "keep informed": ["c"],
        "monitor": ["d"],
    }
    assert len({*GRID.values()}) == 4


def test_balance_is_weighted() -> None:
    """(10 * 8 * 1 - 5 * 4 * 1) / 100 = 0.6; a plain mean would be 0."""
    answer = solve("stakeholder", {"stakeholders": {"a": person(10, 8, "for"), "b": person(5, 4, "against")}})
    assert answer.detail["balance"] == pytest.approx(0.6)
    assert answer.detail["carried"] is True
    assert answer.detail["breaking"] == ["a"]


def test_it_is_lost_when_the_balance_falls_to_what_must_be_exceeded() -> None:
    """Two of equal weight are for it: if one turns, the balance is 0, which is not above 0."""
    both = "stakeholders:\n  a: {power: 5, interest: 5, stance: for}\n  b: {power: 5, interest: 5, stance: for}\n"
    answer = solve_yaml("stakeholder", both)
    assert answer.detail["breaking"] == ["a"]
    answer = solve_yaml("stakeholder", both.replace("for}", "for, movable: no}", 1))
    assert answer.detail["breaking"] == ["b"] and "it is lost if these turn against it: b" in answer.steps


def test_effort_decides_whom_to_approach() -> None:
    people = {
        "a": person(9, 9, -1, effort=9),
        "b": person(4, 6, 0, effort=1),
        "c": person(9, 9, -1, movable=False),
    }
    answer = solve("stakeholder", {"stakeholders": people})
    assert answer.conclusion.value == ("b", "a", "c")
    assert answer.detail["approach"] == ["b", "a"]
    # Won over, b and a bring (24 + 2 * 81) / 186 = 1 to a balance of -162 / 186.
    assert answer.detail["tipping"] == ["a", "b"]


def test_who_cannot_be_moved() -> None:
    people = {"a": person(9, 9, -1, movable=False), "b": person(1, 1, 0)}
    answer = solve("stakeholder", {"stakeholders": people})
    assert answer.detail["tipping"] is None
    assert "not enough even if all who can be moved were won over" in answer.steps
    content = solve("stakeholder", {"stakeholders": {"a": person(9, 9, 1)}})
    assert content.summary == "support +1.00, enough; nobody is left to win over"


stances = st.lists(st.tuples(st.integers(1, 9), st.integers(-10, 10)), min_size=1, max_size=5)


@quick
@given(stances)
def test_the_fewest_are_the_fewest(found) -> None:
    """Against brute force over all sets, each played through anew with the set won over."""
    people = {f"p{n}": person(power, 10, stance / 10) for n, (power, stance) in enumerate(found)}
    raw = {"stakeholders": people}
    answer = solve("stakeholder", raw)

    def carried(some):
        won = {name: one | ({"stance": 1} if name in some else {}) for name, one in people.items()}
        return solve("stakeholder", raw | {"stakeholders": won}).detail["balance"] > 1e-9

    fewest = next((k for k in range(len(people) + 1) for some in combinations(people, k) if carried(some)), None)
    if abs(answer.detail["balance"]) > 1e-9:
        assert fewest is not None
        assert len(answer.detail["tipping"]) == fewest
        assert carried(answer.detail["tipping"])


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("stakeholders: {}", "stakeholders: must hold something"),
        (
            "stakeholders: {a: {power: 11, interest: 1, stance: 0}}",
            "stakeholders.a.power: must be from 0 to 10",
        ),
        (
            "stakeholders: {a: {power: 1, interest: 1, stance: maybe}}",
            "stakeholders.a.stance: must be a number",
        ),
        (
            "stakeholders: {a: {power: 1, interest: 1, stance: 2}}",
            "stakeholders.a.stance: must be from -1 to 1",
        ),
        (
            "stakeholders: {a: {power: 0, interest: 1, stance: 0}}",
            "stakeholders: nobody has both power and interest",
        ),
    ],
)
def test_refusals(said: str, message: str) -> None:
    assert refused("stakeholder", said).startswith(message)


def test_ties_are_said() -> None:
    answer = solve_yaml(
        "stakeholder",
        "stakeholders: {a: {power: 5, interest: 5, stance: 0}, b: {power: 5, interest: 5, stance: 0}}",
    )
    assert answer.conclusion.value == ("a", "b")
    assert "equal gain for the effort: a, b" in answer.caveats


def test_the_example_runs() -> None:
    raw = parse_source((FIXTURES / "stakeholder.yaml").read_text("utf-8"), "stakeholder.yaml").value
    raw.pop("problem")
    answer = solve("stakeholder", raw)
    assert answer.detail["carried"] is False
    assert answer.conclusion.value[0] == "CFO"
