from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.reasoning.social.games import find_corners
from reasoning.solving import refused, solve, solve_yaml

quick = settings(max_examples=60, deadline=None, derandomize=True)


def table(cells):
    """A game from rows of cells: rows a, b, c and columns x, y, z."""
    return {
        "payoffs": {
            "abcdefghij"[r]: {"zyxwvutsrq"[::-1][c]: cell for c, cell in enumerate(row)} for r, row in enumerate(cells)
        }
    }


def exact(answer):
    return [tuple(tuple(mix.values()) for mix in one["exact"].values()) for one in answer.detail["mixed"]]


def test_prisoners_dilemma() -> None:
    """Tucker 1950: defection is dominant, and its outcome is worse for both than silence."""
    answer = solve_yaml(
        "game-theory",
        "payoffs: {silent: {silent: [-1, -1], talk: [-3, 0]}, talk: {silent: [0, -3], talk: [-2, -2]}}",
    )
    assert answer.conclusion.value == "talk"
    assert [one["play"] for one in answer.detail["pure"]] == [{"row": "talk", "column": "talk"}]
    assert answer.detail["mixed"] == []
    assert answer.confidence is None


def test_battle_of_the_sexes() -> None:
    """Luce and Raiffa 1957: two pure equilibria and a mixed one at 2/3, 1/3, which gives both 2/3."""
    said = (
        "players: [her, him]\npayoffs: {opera: {opera: [2, 1], fight: [0, 0]}, fight: {opera: [0, 0], fight: [1, 2]}}"
    )
    answer = solve_yaml("game-theory", said)
    assert exact(answer) == [(("2/3", "1/3"), ("1/3", "2/3"))]
    assert answer.detail["mixed"][0]["payoffs"] == {"her": 2 / 3, "him": 2 / 3}
    assert len(answer.detail["pure"]) == 2
    assert answer.conclusion.value == "opera"
    assert any("agree beforehand" in caveat for caveat in answer.caveats)


def test_matching_pennies_and_rock_paper_scissors() -> None:
    """Zero-sum games without a saddle: the only equilibrium is even, and its value is 0."""
    pennies = solve("game-theory", table([[1, -1], [-1, 1]]))
    assert pennies.conclusion.kind == "distribution"
    assert pennies.conclusion.scores == (("a", 0.5), ("b", 0.5))
    roshambo = solve("game-theory", table([[0, -1, 1], [1, 0, -1], [-1, 1, 0]]))
    assert exact(roshambo) == [(("1/3",) * 3,) * 2]


def test_zero_sum_without_symmetry() -> None:
    """By hand, from equal expectations: [[2, -3], [-1, 4]] has value 1/2 at 1/2, 1/2 for the rows and 7/10, 3/10 for the columns."""
    answer = solve("game-theory", table([[2, -3], [-1, 4]]))
    assert exact(answer) == [(("1/2", "1/2"), ("7/10", "3/10"))]
    assert answer.detail["mixed"][0]["payoffs"] == {"row": 0.5, "column": -0.5}


def test_saddle_points_are_exchangeable() -> None:
    """A zero-sum game with two saddles of the same value: either is optimal, and nothing needs to be agreed on."""
    answer = solve("game-theory", table([[2, 2, 3], [1, 0, 2], [2, 2, 2]]))
    assert len(answer.detail["pure"]) == 4
    assert answer.conclusion.value == "a"
    assert {one["payoffs"]["row"] for one in answer.detail["pure"]} == {2.0}
    assert not any("agree beforehand" in caveat for caveat in answer.caveats)


def test_seven_equilibria() -> None:
    """A coordination game of three actions has every support as an equilibrium: 3 pure ones, 3 over two, 1 over three."""
    answer = solve("game-theory", table([[[3, 3], [0, 0], [0, 0]], [[0, 0], [2, 2], [0, 0]], [[0, 0], [0, 0], [1, 1]]]))
    assert len(answer.detail["pure"]) == 3
    assert exact(answer) == [
        (("2/5", "3/5", "0"), ("2/5", "3/5", "0")),
        (("1/4", "0", "3/4"), ("1/4", "0", "3/4")),
        (("2/11", "3/11", "6/11"), ("2/11", "3/11", "6/11")),
        (("0", "1/3", "2/3"), ("0", "1/3", "2/3")),
    ]
    assert answer.conclusion.value == "a"


def test_three_by_two_of_von_stengel() -> None:
    """von Stengel 2007, Equilibrium computation for two-player games, (3.3): one pure and two mixed equilibria."""
    game = [[[3, 3], [3, 2]], [[2, 2], [5, 6]], [[0, 3], [6, 1]]]
    answer = solve("game-theory", table(game))
    assert [one["play"] for one in answer.detail["pure"]] == [{"row": "a", "column": "q"}]
    assert exact(answer) == [(("4/5", "1/5", "0"), ("2/3", "1/3")), (("0", "1/3", "2/3"), ("1/3", "2/3"))]
    assert not any("degenerate" in caveat for caveat in answer.caveats)


def test_degenerate_games_are_said() -> None:
    answer = solve("game-theory", table([[[1, 1], [1, 0]], [[1, 0], [0, 1]]]))
    assert any("degenerate" in caveat for caveat in answer.caveats)
    even = solve("game-theory", table([[0, 0], [0, 0]]))
    assert len(even.detail["pure"]) == 4
    assert even.conclusion.value == "a"


def test_large_tables_say_what_was_not_searched() -> None:
    """Twelve actions each: pure equilibria of coordination are found, mixed ones are not searched, and that is said."""
    letters = "abcdefghijkl"
    cells = {a: {b: [n + 1, n + 1] if a == b else [0, 0] for b in letters} for n, a in enumerate(letters)}
    answer = solve("game-theory", {"payoffs": cells})
    assert len(answer.detail["pure"]) == 12
    assert answer.detail["mixed"] is None
    assert any("not searched" in caveat for caveat in answer.caveats)
    assert answer.conclusion.value == "l"
    assert answer.summary == "row: l (it has the best worst case); 12 pure equilibria"
    chase = {a: {b: int(a == b) for b in letters} for a in letters}  # who hides and who seeks: none is pure
    assert solve("game-theory", {"payoffs": chase}).summary.endswith("; no pure equilibria")
    wide = {f"r{n}": {f"c{k}": 0 for k in range(32)} for n in range(32)}
    assert refused("game-theory", f"payoffs: {wide}").startswith("payoffs: 1,024 combinations")


def test_shapley_values() -> None:
    """Shapley 1953; one left glove and two right ones: the left one gets two thirds, and the core only all of it."""
    pairs = {"left": 0, "left, one": 1, "left, two": 1, "one, two": 0, "left, one, two": 1}
    answer = solve("game-theory", {"coalitions": pairs})
    assert answer.detail["exact"] == {"left": "2/3", "one": "1/6", "two": "1/6"}
    assert answer.detail["would_leave"] == [["left", "one"], ["left", "two"]]
    assert answer.conclusion.value[0] == "left"
    assert answer.summary == "Shapley values: left 2/3, one 1/6, two 1/6"
    even = solve("game-theory", {"coalitions": {"a": 100, "b": 40, "a, b": 285}})
    assert even.summary == "Shapley values: a 172.5, b 112.5" and even.detail["in_core"]
    assert refused("game-theory", "coalitions: {a: 1, 'a, b': 2, 'b, c': 3}").startswith("coalitions: a, c is missing")


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("payoffs: {}", "payoffs: must hold something, and is empty"),
        ("players: [a, b]", "payoffs: give payoffs"),
        ("payoffs: {up: {left: [1, 2]}, down: {right: [1, 2]}}", "payoffs.down: 'left' is not in every row"),
        ("payoffs: {up: {left: [1, 2, 3]}}", "payoffs.up.left: must be two numbers, not 3"),
        ("payoffs: {up: {left: [1, many]}}", "payoffs.up.left: must be a number, not 'many'"),
        ("payoffs: {up: {left: 1, right: [1, 2]}}", "payoffs: some cells hold one number"),
        ("players: [a, a]\npayoffs: {up: {left: 1}}", "players: 'a' occurs twice"),
        ("players: [a, b, c]\npayoffs: {up: {left: 1}}", "players: payoffs is a table for two"),
        ("me: bbo\nplayers: [al, bob]\npayoffs: {up: {left: 1}}", "me: unknown player 'bbo'"),
        ("payoffs: {up: {left: 1e300}}", "payoffs.up.left: must be from"),
    ],
)
def test_refusals(said: str, message: str) -> None:
    assert refused("game-theory", said).startswith(message)


cells = st.integers(1, 3).flatmap(
    lambda columns: st.lists(
        st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)).map(list), min_size=columns, max_size=columns),
        min_size=1,
        max_size=3,
    )
)


@quick
@given(cells)
def test_nobody_gains_by_deviating(game) -> None:
    """Every equilibrium stands the definition, pure ones are complete, and there is always one; generically an odd number (Wilson)."""
    answer = solve("game-theory", table(game))
    rows, columns = range(len(game)), range(len(game[0]))
    pure = {
        (r, c)
        for r in rows
        for c in columns
        if all(game[i][c][0] <= game[r][c][0] for i in rows) and all(game[r][j][1] <= game[r][c][1] for j in columns)
    }
    named = answer.detail["players"]
    assert {
        tuple(named[who].index(one["play"][who]) for who in ("row", "column")) for one in answer.detail["pure"]
    } == pure
    found = exact(answer)
    for mixes in found:
        x, y = ([Fraction(share) for share in mix] for mix in mixes)
        assert sum(x) == sum(y) == 1
        mine = [sum(y[c] * game[r][c][0] for c in columns) for r in rows]
        yours = [sum(x[r] * game[r][c][1] for r in rows) for c in columns]
        assert sum(p * v for p, v in zip(x, mine, strict=True)) == max(mine)
        assert sum(p * v for p, v in zip(y, yours, strict=True)) == max(yours)
    assert pure or found
    if not any("degenerate" in caveat for caveat in answer.caveats):
        assert len(found) == len({*found})
        assert (len(pure) + len(found)) % 2 == 1


def test_corners_are_all_of_them() -> None:
    """Two rows against two crossing columns: both ends and the crossing."""
    corners = find_corners([[Fraction(1), Fraction(0)], [Fraction(0), Fraction(2)]])
    assert [[*map(str, corner.mix)] for corner in corners] == [["1", "0"], ["0", "1"], ["2/3", "1/3"]]
