"""Finds what players do at their best against each other: equilibria, dominance, safety, and advice."""

from fractions import Fraction
from itertools import product
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, choice, cut, distribution
from mabos_cli.reasoning.inputs import AgentData, check_size, known_name
from mabos_cli.reasoning.shape import Shape, anything, conform, list_of, map_of, number, optional, record, text, usual
from mabos_cli.reasoning.social import games

MOST_PROFILES = 1_000
_PAYOFF = number("what the player gets", -1e12, 1e12)
_PAYOFFS = map_of(
    anything("[what the row player gets, what the column player gets], or one number in a zero-sum game"),
    "each action of the second player, with what both get",
)
_PROFILE = record(
    "one combination of actions",
    play=map_of(text("an action"), "the action of each player", least=2),
    payoffs=map_of(_PAYOFF, "what each player gets then", least=2),
)
SHAPE: Shape = record(
    "Give payoffs for two players, or profiles for more.",
    players=optional(
        list_of(text("a player"), "who plays: first the one whose actions are the rows of payoffs", least=2)
    ),
    me=optional(text("the player to advise; the first one if left out")),
    payoffs=usual(map_of(_PAYOFFS, "two players: each action of the first, with a row of cells")),
    profiles=optional(list_of(_PROFILE, "more than two players, instead of payoffs: every combination of actions")),
)
QUESTIONS = (
    "Who decides here besides me, and does each know what the others can do?",
    "Which actions does each player have? Keep to those that differ in what follows.",
    "What does each player get in each combination, in one unit per player? Count what they care about, not what they should.",
    "Does one player's gain equal the other's loss? Then one number per cell is enough.",
)


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the equilibria of a game in normal form, and what the player `me` should do."""
    game = _read_game(fields)
    me = 0 if fields["me"] is None else game.players.index(known_name("me", fields["me"], game.players, "player"))
    pure, left, removed = games.find_pure_equilibria(game), *games.remove_dominated(game, game.everything())
    found = games.Analysis(game, me, pure, left, removed, games.find_pareto(game))
    if len(game.players) == 2:
        found = _add_mixed(found)
    return tell(found, games.advise(found))


def _add_mixed(found: games.Analysis) -> games.Analysis:
    """Adds mixed equilibria and security levels if the game is small; removes what only mixtures dominate."""
    game, left, removed = found.game, found.left, [*found.removed]
    if games.count_systems(*map(len, game.actions)) <= games.MOST_SYSTEMS:
        found = found._replace(security=tuple(games.find_security(_matrix(game, n, game.everything())) for n in (0, 1)))
    while games.count_systems(*map(len, left)) <= games.MOST_SYSTEMS:
        rows, columns = (games.find_corners(_matrix(game, n, left, of=1 - n)) for n in (0, 1))
        answered = [{a for corner in other for a in corner.replies} for other in (columns, rows)]
        never = [games.Removed(n, a, None) for n in (0, 1) for k, a in enumerate(left[n]) if k not in answered[n]]
        if not never:
            mixed = tuple(_widen(one, game, left) for one in games.match_corners(rows, columns))
            return found._replace(
                left=left, removed=removed, mixed=mixed, is_degenerate=games.is_degenerate(rows + columns)
            )
        gone = {one[:2] for one in never}
        left, more = games.remove_dominated(
            game, tuple(tuple(a for a in own if (n, a) not in gone) for n, own in enumerate(left))
        )
        removed += never + more
    return found


def _matrix(game: games.Game, player: int, left: tuple[tuple[int, ...], ...], of: int | None = None) -> games.Matrix:
    """Returns what a player, or the one named by `of`, gets: a row for each action of the player that is left."""
    gets = player if of is None else of
    return tuple(
        tuple(game.payoffs[(mine, yours) if player == 0 else (yours, mine)][gets] for yours in left[1 - player])
        for mine in left[player]
    )


def _widen(one: games.Mixed, game: games.Game, left: tuple[tuple[int, ...], ...]) -> games.Mixed:
    """Returns the equilibrium over all actions: those that were removed are never played."""
    wide = []
    for n, mix in enumerate(one.mixes):
        share = dict(zip(left[n], mix, strict=True))
        wide.append(tuple(share.get(action, Fraction(0)) for action in range(len(game.actions[n]))))
    return one._replace(mixes=(wide[0], wide[1]))


def _read_game(fields: dict[str, Any]) -> games.Game:
    if (fields["payoffs"] is None) == (fields["profiles"] is None):
        raise BadValue("payoffs: give either payoffs for two players or profiles for more", "not both, not neither")
    game = _read_table(fields) if fields["payoffs"] is not None else _read_profiles(fields)
    if len({*game.players}) < len(game.players):
        raise BadValue("players: a player is named twice", "give each a name of its own")
    return game


def _check_size(count: int, field: str) -> None:
    check_size(field, count, MOST_PROFILES, "combinations of actions", "leave out actions that nobody would take")


def _read_table(fields: dict[str, Any]) -> games.Game:
    table, players = fields["payoffs"], tuple(fields["players"] or ("row", "column"))
    if len(players) != 2:
        raise BadValue(f"players: payoffs is a table for two players, not {len(players)}", "give profiles for more")
    rows, columns = tuple(table), tuple(table[next(iter(table))])
    _check_size(len(rows) * len(columns), "payoffs")
    cells: dict[tuple[int, ...], tuple[Fraction, ...]] = {}
    for r, row in enumerate(rows):
        if odd := [*({*table[row]} ^ {*columns})]:
            hint = "each row has a cell for each action of the column player"
            raise BadValue(f"payoffs.{row}: {min(odd)!r} is not in every row", hint)
        for c, column in enumerate(columns):
            cells[r, c] = _read_cell(table[row][column], f"payoffs.{row}.{column}")
    if len({isinstance(cell, list) for row in table.values() for cell in row.values()}) > 1:
        raise BadValue("payoffs: some cells hold one number and some hold two", "one number each means a zero-sum game")
    return games.Game(players, (rows, columns), cells)


def _read_cell(cell: Any, path: str) -> tuple[Fraction, ...]:
    if not isinstance(cell, list):
        mine = Fraction(str(conform(_PAYOFF, cell, {}, path)))
        return mine, -mine
    if len(cell) != 2:
        raise BadValue(f"{path}: must be two numbers, not {len(cell)}", "[row player, column player]")
    return tuple(Fraction(str(conform(_PAYOFF, one, {}, path))) for one in cell)


def _read_profiles(fields: dict[str, Any]) -> games.Game:
    profiles = fields["profiles"]
    _check_size(len(profiles), "profiles")
    players = tuple(fields["players"] or profiles[0]["play"])
    actions: list[dict[str, int]] = [{} for _ in players]
    for n, one in enumerate(profiles, 1):
        for field in ("play", "payoffs"):
            if {*one[field]} != {*players}:
                hint = "every player, and nobody else"
                raise BadValue(f"profiles[{n}].{field}: must name {', '.join(players)}", hint)
        for known, who in zip(actions, players, strict=True):
            known.setdefault(one["play"][who], len(known))
    cells: dict[tuple[int, ...], tuple[Fraction, ...]] = {}
    for n, one in enumerate(profiles, 1):
        key = tuple(known[one["play"][who]] for known, who in zip(actions, players, strict=True))
        if key in cells:
            raise BadValue(f"profiles[{n}]: this combination is there twice", "keep one of them")
        cells[key] = tuple(Fraction(str(one["payoffs"][who])) for who in players)
    for numbered in product(*(known.items() for known in actions)):
        if tuple(number for _, number in numbered) not in cells:
            lacking = ", ".join(action for action, _ in numbered)
            raise BadValue(f"profiles: the combination {lacking} is missing", "give every combination of actions")
    return games.Game(players, tuple(map(tuple, actions)), cells)


def tell(found: games.Analysis, advice: games.Advice) -> Answer:
    """Returns the answer: advice first, then what it rests on."""
    game, me = found.game, found.me
    actions, used = game.actions[me], [n for n, share in enumerate(advice.mix) if share]
    about = f"what {game.players[me]} should do"
    if len(used) == 1:
        conclusion = choice(actions[used[0]], _scores(found, advice), about)
    else:
        conclusion = distribution({a: float(s) for a, s in zip(actions, advice.mix, strict=True)}, about)
    # Every game has an equilibrium: without the mixed ones only the pure ones can be said to be none.
    pure, equilibria = ("", found.mixed) if found.mixed is not None else ("pure ", found.pure)
    counted = f"{len(equilibria) or 'no'} {pure}{'equilibrium' if len(equilibria) == 1 else 'equilibria'}"
    summary = f"{game.players[me]}: {_mix(actions, advice.mix)} ({advice.why}); {counted}"
    return Answer(conclusion, None, summary, _steps(found), _detail(found, advice), advice.caveats + _caveats(found))


def _scores(found: games.Analysis, advice: games.Advice) -> dict[str, float]:
    """Returns what each own action brings against the play that the advice expects, or its worst case."""
    game, me = found.game, found.me
    scores = {}
    for n, action in enumerate(game.actions[me]):
        if isinstance(advice.against, games.Mixed):
            other = advice.against.mixes[1 - me]
            got = sum(share * game.payoffs[(n, k) if me == 0 else (k, n)][me] for k, share in enumerate(other))
        elif advice.against is not None:
            got = game.payoffs[games.swap(advice.against, me, n)][me]
        else:
            got = min(pay[me] for profile, pay in game.payoffs.items() if profile[me] == n)
        scores[action] = float(got)
    return scores


def _figure(value: Fraction) -> str:
    """Returns a number exactly while it is short."""
    return str(value) if value.denominator <= 1000 else f"{float(value):.3g}"


def _figures(payoffs: tuple[Fraction, ...]) -> str:
    return ", ".join(map(_figure, payoffs))


def _mix(actions: tuple[str, ...], mix: tuple[Fraction, ...]) -> str:
    parts = [(action, share) for action, share in zip(actions, mix, strict=True) if share]
    return parts[0][0] if len(parts) == 1 else ", ".join(f"{action} {_figure(share)}" for action, share in parts)


def _steps(found: games.Analysis) -> tuple[str, ...]:
    game = found.game
    size = " by ".join(str(len(own)) for own in game.actions)
    lines = [f"{len(game.players)} players, {size} actions" + (", constant sum" if found.is_zero_sum else "")]
    lines += cut([_gone(game, one) for one in found.removed], 3)
    lines += cut(
        [f"pure equilibrium: {games.played(game, p)} gives {_figures(game.payoffs[p])}" for p in found.pure], 4
    ) or ["no pure equilibrium"]
    lines += cut(
        [
            f"mixed equilibrium: {'; '.join(map(_mix, game.actions, one.mixes))} gives {_figures(one.payoffs)}"
            for one in found.mixed or ()
            if not one.is_pure
        ],
        3,
    )
    safe, floor = games.find_maximin(game, found.me)
    line = f"safest for {game.players[found.me]}: {game.actions[found.me][safe[0]]}, at least {_figure(floor)}"
    if found.security and found.security[found.me].value > floor:
        corner = found.security[found.me]
        line += f"; mixing {_mix(game.actions[found.me], corner.mix)}, {_figure(corner.value)} on average"
    return (*lines, line, *_dilemma(found))


def _gone(game: games.Game, one: games.Removed) -> str:
    own = game.actions[one.player]
    better = f"{own[one.by]} is better whatever the others do" if one.by is not None else "never a best answer"
    return f"{game.players[one.player]} drops {own[one.action]}: {better}"


def _dilemma(found: games.Analysis) -> list[str]:
    """Returns a line if every pure equilibrium leaves each of them worse off than they could be together."""
    better = [way for one in found.pure if (way := _find_better_for_all(found, one)) is not None]
    if not better or len(better) < len(found.pure):
        return []
    together, alone = (games.played(found.game, one) for one in (better[0], found.pure[0]))
    return [f"dilemma: {together} would be better for all than {alone}"]


def _find_better_for_all(found: games.Analysis, one: games.Profile) -> games.Profile | None:
    here, payoffs = found.game.payoffs[one], found.game.payoffs
    return next((p for p in found.pareto if all(a > b for a, b in zip(payoffs[p], here, strict=True))), None)


def _caveats(found: games.Analysis) -> tuple[str, ...]:
    caveats = []
    if len(found.game.players) > 2:
        caveats.append("more than two players: only pure equilibria are searched")
    elif found.mixed is None:
        caveats.append(f"mixed equilibria not searched: more than {games.MOST_SYSTEMS} pairs of supports")
    elif found.is_degenerate:
        caveats.append(
            "degenerate game: some mixture has more best answers than actions; mixtures between the equilibria shown may be equilibria too"
        )
    return tuple(caveats)


def _detail(found: games.Analysis, advice: games.Advice) -> dict[str, Any]:
    game = found.game
    less_risky, dominant = games.find_less_risky(found), games.find_payoff_dominant(found)
    detail: dict[str, Any] = {
        "players": {who: [*own] for who, own in zip(game.players, game.actions, strict=True)},
        "me": game.players[found.me],
        "play": {a: float(s) for a, s in zip(game.actions[found.me], advice.mix, strict=True)},
        "zero_sum": found.is_zero_sum,
        "removed": [
            {
                "player": game.players[one.player],
                "action": game.actions[one.player][one.action],
                "by": game.actions[one.player][one.by] if one.by is not None else None,
            }
            for one in found.removed
        ],
        "left": {who: [game.actions[n][a] for a in found.left[n]] for n, who in enumerate(game.players)},
        "pure": [_outcome(game, p) | {"improved_by": _better(found, p)} for p in found.pure],
        "mixed": None if found.mixed is None else [_mixed(game, one) for one in found.mixed if not one.is_pure],
        "degenerate": None if found.mixed is None else found.is_degenerate,
        "payoff_dominant": game.named(dominant) if dominant else None,
        "risk_dominant": game.named(less_risky) if less_risky else None,
        "pareto": [_outcome(game, p) for p in found.pareto],
        "maximin": {who: _maximin(found, n) for n, who in enumerate(game.players)},
    }
    if len(game.players) == 2:
        detail["best_replies"] = {game.players[n]: _replies(game, n) for n in (0, 1)}
    return detail


def _outcome(game: games.Game, profile: games.Profile) -> dict[str, Any]:
    got = zip(game.players, map(float, game.payoffs[profile]), strict=True)
    return {"play": game.named(profile), "payoffs": dict(got)}


def _better(found: games.Analysis, profile: games.Profile) -> dict[str, str] | None:
    better = found.improved(found.game.payoffs[profile])
    return found.game.named(better) if better else None


def _mixed(game: games.Game, one: games.Mixed) -> dict[str, Any]:
    parts = [[*zip(own, mix, strict=True)] for own, mix in zip(game.actions, one.mixes, strict=True)]
    return {
        "mix": {who: {a: float(s) for a, s in part} for who, part in zip(game.players, parts, strict=True)},
        "exact": {who: {a: str(s) for a, s in part} for who, part in zip(game.players, parts, strict=True)},
        "payoffs": dict(zip(game.players, map(float, one.payoffs), strict=True)),
    }


def _maximin(found: games.Analysis, player: int) -> dict[str, Any]:
    own = found.game.actions[player]
    safe, floor = games.find_maximin(found.game, player)
    said: dict[str, Any] = {"actions": [own[a] for a in safe], "value": float(floor)}
    if found.security:
        corner = found.security[player]
        said["mixed_value"] = float(corner.value)
        said["mix"] = {a: float(s) for a, s in zip(own, corner.mix, strict=True)}
    return said


def _replies(game: games.Game, player: int) -> dict[str, list[str]]:
    """Returns the best answers of a player to each action of the other."""
    replies = {}
    for k, action in enumerate(game.actions[1 - player]):
        got = [game.payoffs[(n, k) if player == 0 else (k, n)][player] for n in range(len(game.actions[player]))]
        replies[action] = [own for own, value in zip(game.actions[player], got, strict=True) if value == max(got)]
    return replies
