"""What players do who all do their best against each other: equilibria, dominance, safety, and what that means for me."""

from fractions import Fraction
from itertools import islice, product
from math import prod
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer
from mabos_cli.reasoning.input_checks import check_size, known_name
from mabos_cli.reasoning.own import Own
from mabos_cli.reasoning.shape import Shape, anything, conform, list_of, map_of, number, optional, record, text, usual
from mabos_cli.reasoning.social.game_advice import Analysis, advise
from mabos_cli.reasoning.social.game_report import tell
from mabos_cli.reasoning.social.mixed_play import (
    MOST_SYSTEMS,
    Matrix,
    Mixed,
    count_systems,
    find_corners,
    find_security,
    is_degenerate,
    match_corners,
)
from mabos_cli.reasoning.social.normal_form import Game, Removed, find_pareto, find_pure_equilibria, remove_dominated

MOST_PROFILES = 1_000
_PAYOFF = number("what the player gets", -1e12, 1e12)

SHAPE: Shape = record(
    "Give payoffs for two players, or profiles for more.",
    players=optional(
        list_of(text("a player"), "who plays: first the one whose actions are the rows of payoffs", least=2)
    ),
    me=optional(text("the player to advise; the first one if left out")),
    payoffs=usual(
        map_of(
            map_of(
                anything("[what the row player gets, what the column player gets], or one number in a zero-sum game"),
                "each action of the second player, with what both get",
            ),
            "two players: each action of the first, with a row of cells",
        )
    ),
    profiles=optional(
        list_of(
            record(
                "one combination of actions",
                play=map_of(text("an action"), "the action of each player", least=2),
                payoffs=map_of(_PAYOFF, "what each player gets then", least=2),
            ),
            "more than two players, instead of payoffs: every combination of actions",
        )
    ),
)
QUESTIONS = (
    "Who decides here besides me, and does each know what the others can do?",
    "Which actions does each player have? Keep to those that differ in what follows.",
    "What does each player get in each combination, in one unit per player? Count what they care about, not what they should.",
    "Does one player's gain equal the other's loss? Then one number per cell is enough.",
)


def solve(given: dict[str, Any], own: Own) -> Answer:
    """The equilibria of a game in normal form, and what the player `me` should do."""
    game = _read_game(given)
    me = _find_me(game, given["me"])
    pure, left, removed = find_pure_equilibria(game), *remove_dominated(game, game.everything())
    found = Analysis(game, me, pure, left, removed, find_pareto(game))
    if len(game.players) == 2:
        found = _add_mixed(found)
    return tell(found, advise(found))


def _add_mixed(found: Analysis) -> Analysis:
    """The analysis with mixed equilibria and security levels, where the game is small enough; removes what only mixtures dominate."""
    game, left, removed = found.game, found.left, [*found.removed]
    if count_systems(*map(len, game.actions)) <= MOST_SYSTEMS:
        found = found._replace(security=tuple(find_security(_matrix(game, n, game.everything())) for n in (0, 1)))
    while count_systems(*map(len, left)) <= MOST_SYSTEMS:
        rows, columns = (find_corners(_matrix(game, n, left, of=1 - n)) for n in (0, 1))
        answered = [{a for corner in other for a in corner.replies} for other in (columns, rows)]
        never = [Removed(n, a, None) for n in (0, 1) for k, a in enumerate(left[n]) if k not in answered[n]]
        if not never:
            mixed = tuple(_widen(one, game, left) for one in match_corners(rows, columns))
            return found._replace(left=left, removed=removed, mixed=mixed, is_degenerate=is_degenerate(rows + columns))
        gone = {one[:2] for one in never}
        left, more = remove_dominated(
            game, tuple(tuple(a for a in own if (n, a) not in gone) for n, own in enumerate(left))
        )
        removed += never + more
    return found


def _matrix(game: Game, player: int, left: tuple[tuple[int, ...], ...], of: int | None = None) -> Matrix:
    """What a player, or the one named by `of`, gets: a row for each action of the player that is left."""
    gets = player if of is None else of
    return tuple(
        tuple(game.payoffs[(mine, yours) if player == 0 else (yours, mine)][gets] for yours in left[1 - player])
        for mine in left[player]
    )


def _widen(one: Mixed, game: Game, left: tuple[tuple[int, ...], ...]) -> Mixed:
    """The equilibrium over all actions: those that were removed are never played."""
    wide = []
    for n, mix in enumerate(one.mixes):
        share = dict(zip(left[n], mix, strict=True))
        wide.append(tuple(share.get(action, Fraction(0)) for action in range(len(game.actions[n]))))
    return one._replace(mixes=(wide[0], wide[1]))


def _read_game(given: dict[str, Any]) -> Game:
    if (given["payoffs"] is None) == (given["profiles"] is None):
        raise BadValue("payoffs: give either payoffs for two players or profiles for more", "not both, not neither")
    game = _read_table(given) if given["payoffs"] is not None else _read_profiles(given)
    if len({*game.players}) < len(game.players):
        raise BadValue("players: a player is named twice", "give each a name of its own")
    return game


def _check_size(count: int, field: str) -> None:
    check_size(field, count, MOST_PROFILES, "combinations of actions", "leave out actions that nobody would take")


def _read_table(given: dict[str, Any]) -> Game:
    table, players = given["payoffs"], tuple(given["players"] or ("row", "column"))
    if len(players) != 2:
        raise BadValue(f"players: payoffs is a table for two players, not {len(players)}", "give profiles for more")
    rows, columns = tuple(table), tuple(table[next(iter(table))])
    _check_size(len(rows) * len(columns), "payoffs")
    cells: dict[tuple[int, ...], tuple[Fraction, ...]] = {}
    for r, row in enumerate(rows):
        if odd := [*({*table[row]} ^ {*columns})]:
            raise BadValue(
                f"payoffs.{row}: {min(odd)!r} is not in every row",
                "each row has a cell for each action of the column player",
            )
        for c, column in enumerate(columns):
            cells[r, c] = _read_cell(table[row][column], f"payoffs.{row}.{column}")
    if len({isinstance(cell, list) for row in table.values() for cell in row.values()}) > 1:
        raise BadValue("payoffs: some cells hold one number and some hold two", "one number each means a zero-sum game")
    return Game(players, (rows, columns), cells)


def _read_cell(cell: Any, path: str) -> tuple[Fraction, ...]:
    if not isinstance(cell, list):
        mine = Fraction(str(conform(_PAYOFF, cell, {}, path)))
        return mine, -mine
    if len(cell) != 2:
        raise BadValue(f"{path}: must be two numbers, not {len(cell)}", "[row player, column player]")
    return tuple(Fraction(str(conform(_PAYOFF, one, {}, path))) for one in cell)


def _read_profiles(given: dict[str, Any]) -> Game:
    profiles = given["profiles"]
    _check_size(len(profiles), "profiles")
    players = tuple(given["players"] or profiles[0]["play"])
    actions: list[dict[str, int]] = [{} for _ in players]
    for n, one in enumerate(profiles, 1):
        for field in ("play", "payoffs"):
            if {*one[field]} != {*players}:
                raise BadValue(
                    f"profiles[{n}].{field}: must name {', '.join(players)}", "every player, and nobody else"
                )
        for known, who in zip(actions, players, strict=True):
            known.setdefault(one["play"][who], len(known))
    cells: dict[tuple[int, ...], tuple[Fraction, ...]] = {}
    for n, one in enumerate(profiles, 1):
        key = tuple(known[one["play"][who]] for known, who in zip(actions, players, strict=True))
        if key in cells:
            raise BadValue(f"profiles[{n}]: this combination is there twice", "keep one of them")
        cells[key] = tuple(Fraction(str(one["payoffs"][who])) for who in players)
    if len(cells) < prod(map(len, actions)):
        lacking = next(islice((key for key in product(*actions) if _index(actions, key) not in cells), 1))
        raise BadValue(
            f"profiles: the combination {', '.join(lacking)} is missing", "give every combination of actions"
        )
    return Game(players, tuple(map(tuple, actions)), cells)


def _index(actions: list[dict[str, int]], key: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(known[action] for known, action in zip(actions, key, strict=True))


def _find_me(game: Game, name: str | None) -> int:
    return 0 if name is None else game.players.index(known_name("me", name, game.players, "player"))
