import pytest

from mabos_cli.reasoning.social.stakeholder import GRID
from reasoning.solving import refused, solve, solve_yaml


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


def test_effort_decides_whom_to_approach() -> None:
    people = {
        "a": person(9, 9, -1, effort=9),
        "b": person(4, 6, 0, effort=1),
        "c": person(9, 9, -1, movable=False),
    }
    answer = solve("stakeholder", {"stakeholders": people})
    assert answer.conclusion.value == ("b", "a", "c")
    assert answer.detail["approach"] == ["b", "a"]


def test_who_cannot_be_moved() -> None:
    people = {"a": person(9, 9, -1, movable=False), "b": person(1, 1, 0)}
    assert solve("stakeholder", {"stakeholders": people}).detail["approach"] == ["b"]
    content = solve("stakeholder", {"stakeholders": {"a": person(9, 9, 1)}})
    assert content.summary == "support +1.00, enough; nobody is left to win over"


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
