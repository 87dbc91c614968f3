"""Finds what players do at their best against each other: equilibria, dominance, safety, and advice."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, choice, cut, distribution, figure, notes, ranking
from mabos_cli.reasoning.inputs import AgentData, check_known, known_name
from mabos_cli.reasoning.shape import check_size, read_number
from mabos_cli.reasoning.social.games import (
    MOST_SYSTEMS,
    Analysis,
    Game,
    Mix,
    Mixed,
    analyse,
    find_maximin,
    share_by_shapley,
)

MOST_PROFILES = 1_000
_MOST_PARTNERS = 12
_TOO_MANY = ("combinations of actions", "leave out actions that nobody would take")
_SAFEST = "it has the best worst case"


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the equilibria of a game in normal form, and what the player `me` should do."""
    if fields["coalitions"] is not None:
        return _share(*_read_coalitions(fields))
    if fields["payoffs"] is None:
        raise BadValue("payoffs: give payoffs for two players, or coalitions", "just one of them")
    game = _read_table(fields)
    check_known("players", game.players, game.players, "player")
    me = 0 if fields["me"] is None else game.players.index(known_name("me", fields["me"], game.players, "player"))
    found = analyse(game, me)
    return _answer(found, *advise(found))


def _read_coalitions(fields: dict[str, Any]) -> tuple[tuple[str, ...], dict[frozenset[str], Fraction]]:
    """Returns the players, and what every group of them is worth; who is alone and not mentioned earns nothing."""
    if fields["payoffs"] is not None:
        raise BadValue("coalitions: are a game of their own", "give no payoffs beside them")
    given: dict[frozenset[str], Fraction] = {}
    for group, value in fields["coalitions"].items():
        members = [name.strip() for name in str(group).split(",")]
        if frozenset(members) in given or len({*members}) < len(members):
            raise BadValue(f"coalitions.{group} occurs twice, or names somebody twice", "keep one of them")
        given[frozenset(members)] = Fraction(str(value))
    players = tuple(fields["players"] or dict.fromkeys(sorted(name for group in given for name in group)))
    check_size("coalitions", len(players), _MOST_PARTNERS, "players")
    for group in given:
        for name in group:
            known_name("coalitions", name, players, "player")
    worth = {frozenset(): Fraction(0)} | {frozenset({who}): Fraction(0) for who in players} | given
    for size in range(2, len(players) + 1):
        for group in combinations(players, size):
            if frozenset(group) not in worth:
                raise BadValue(f"coalitions: {', '.join(group)} is missing", "say what every group earns")
    return players, worth


def _share(players: tuple[str, ...], worth: dict[frozenset[str], Fraction]) -> Answer:
    """Returns the Shapley values, and which group could earn more alone."""
    shares = share_by_shapley(players, worth)
    order = tuple(sorted(players, key=lambda who: -shares[who]))
    whole = worth[frozenset(players)]
    gaps = {group: value - sum(shares[who] for who in group) for group, value in worth.items()}
    leaving = [group for group in worth if gaps[group] > 0]
    steps = [f"{len(players)} players earn {_figure(whole)} together"]
    steps += [f"{who}: {_figure(shares[who])}, alone {_figure(worth[frozenset({who})])}" for who in order]
    detail = {
        "shapley": {who: float(shares[who]) for who in players},
        "exact": {who: str(shares[who]) for who in players},
        "in_core": not leaving,
        "would_leave": [[who for who in players if who in group] for group in leaving],
    }
    caveats = [
        f"{', '.join(who for who in players if who in group)} would get {_figure(gaps[group])} more without the others"
        for group in leaving[:3]
    ]
    if not leaving:
        steps.append("no group gets more by leaving: these shares lie in the core")
    summary = "Shapley values: " + ", ".join(f"{who} {_figure(shares[who])}" for who in order)
    scores = {who: float(shares[who]) for who in order}
    return Answer(ranking(order, scores, "what each adds"), None, summary, cut(steps), detail, tuple(caveats))


def _read_table(fields: dict[str, Any]) -> Game:
    table, players = fields["payoffs"], tuple(fields["players"] or ("row", "column"))
    if len(players) != 2:
        raise BadValue(f"players: payoffs is a table for two players, not {len(players)}", "name two")
    rows, columns = tuple(table), tuple(table[next(iter(table))])
    check_size("payoffs", len(rows) * len(columns), MOST_PROFILES, *_TOO_MANY)
    cells: dict[tuple[int, ...], tuple[Fraction, ...]] = {}
    for r, row in enumerate(rows):
        if odd := [*({*table[row]} ^ {*columns})]:
            hint = "each row has a cell for each action of the column player"
            raise BadValue(f"payoffs.{row}: {min(odd)!r} is not in every row", hint)
        for c, column in enumerate(columns):
            path, cell = f"payoffs.{row}.{column}", table[row][column]
            if isinstance(cell, list) and len(cell) != 2:
                raise BadValue(f"{path}: must be two numbers, not {len(cell)}", "[row player, column player]")
            given = cell if isinstance(cell, list) else [cell]
            got = [Fraction(str(read_number(one, path, -1e12, 1e12, "what the player gets"))) for one in given]
            cells[r, c] = (got[0], got[1] if isinstance(cell, list) else -got[0])
    if len({isinstance(cell, list) for row in table.values() for cell in row.values()}) > 1:
        raise BadValue("payoffs: some cells hold one number and some hold two", "one number each means a zero-sum game")
    return Game(players, (rows, columns), cells)


def advise(found: Analysis) -> tuple[Mix, str]:
    """Returns what `me` should play, and why: the part in the only equilibrium, else what is safest."""
    game, me, mixed, pure = found.game, found.me, found.mixed or [], found.pure
    if found.is_zero_sum and pure:
        action, why = pure[0][me], "a saddle point: neither side can do better"
    elif found.is_zero_sum and mixed:
        return mixed[0].mixes[me], "it has the best worst case, which nobody can exploit"
    elif len(mixed) == 1:
        return mixed[0].mixes[me], "it is the part in the only equilibrium"
    elif len({profile[me] for profile in pure}) == 1:
        action, why = pure[0][me], "it is the part in every pure equilibrium"
    else:
        safest, floor = find_maximin(game, me)
        # Among equally safe actions, the one with the better equilibrium.
        hopes = {a: max((game.payoffs[p][me] for p in pure if p[me] == a), default=floor) for a in safest}
        action, why = max(safest, key=lambda a: hopes[a]), _SAFEST
    return tuple(Fraction(n == action) for n in range(len(game.actions[me]))), why


def _answer(found: Analysis, mix: Mix, why: str) -> Answer:
    """Returns the answer: advice first, then what it rests on."""
    game, me = found.game, found.me
    actions, used = game.actions[me], [n for n, share in enumerate(mix) if share]
    about, play = f"what {game.players[me]} should do", {a: float(s) for a, s in zip(actions, mix, strict=True)}
    conclusion = distribution(play, about) if len(used) > 1 else choice(actions[used[0]], about=about)
    # Every game has an equilibrium: without the mixed ones only the pure ones can be said to be none.
    pure, count = ("", len(found.mixed)) if found.mixed is not None else ("pure ", len(found.pure))
    counted = f"{count or 'no'} {pure}{'equilibrium' if count == 1 else 'equilibria'}"
    is_open = why == _SAFEST and not found.pure
    others = f"{len(found.pure)} pure equilibria, none stands out: agree beforehand which one to play"
    caveats = notes(
        (why == _SAFEST, "no single equilibrium tells what to do" if is_open else others),
        (found.mixed is None, f"mixed equilibria not searched: more than {MOST_SYSTEMS} pairs of supports"),
        (found.is_degenerate, "degenerate game: mixtures between the equilibria shown may be equilibria too"),
    )
    shares = [
        [dict(zip(*each, strict=True)) for each in zip(game.actions, one.mixes, strict=True)] for one in _mixed(found)
    ]
    detail = {
        "players": {who: [*mine] for who, mine in zip(game.players, game.actions, strict=True)},
        "me": game.players[me],
        "play": play,
        "zero_sum": found.is_zero_sum,
        "pure": [{"play": game.named(p), "payoffs": _by_player(game, game.payoffs[p])} for p in found.pure],
        "mixed": [
            {
                "mix": {
                    who: {a: float(s) for a, s in mine.items()} for who, mine in zip(game.players, both, strict=True)
                },
                "exact": {
                    who: {a: str(s) for a, s in mine.items()} for who, mine in zip(game.players, both, strict=True)
                },
                "payoffs": _by_player(game, one.payoffs),
            }
            for one, both in zip(_mixed(found), shares, strict=True)
        ]
        if found.mixed is not None
        else None,
    }
    summary = f"{game.players[me]}: {_mix(actions, mix)} ({why}); {counted}"
    return Answer(conclusion, None, summary, _steps(found), detail, caveats)


def _mixed(found: Analysis) -> list[Mixed]:
    return [one for one in found.mixed or () if not one.is_pure]


def _by_player(game: Game, payoffs: Sequence[Fraction]) -> dict[str, float]:
    return dict(zip(game.players, map(float, payoffs), strict=True))


def _figure(value: Fraction) -> str:
    """Returns a number exactly while it is short."""
    is_decimal = value.denominator in (1, 2, 4, 5, 10, 20, 100) and abs(value) > 1
    return figure(float(value)) if is_decimal or value.denominator > 1000 else str(value)


def _mix(actions: tuple[str, ...], mix: Mix) -> str:
    parts = [(action, share) for action, share in zip(actions, mix, strict=True) if share]
    return parts[0][0] if len(parts) == 1 else ", ".join(f"{action} {_figure(share)}" for action, share in parts)


def _steps(found: Analysis) -> tuple[str, ...]:
    game, me = found.game, found.me
    size = " by ".join(str(len(actions)) for actions in game.actions)
    lines = [f"2 players, {size} actions" + (", constant sum" if found.is_zero_sum else "")]
    pure = [
        f"pure equilibrium: {', '.join(game.named(p).values())} gives {', '.join(map(_figure, game.payoffs[p]))}"
        for p in found.pure
    ]
    lines += cut(pure, 4) or ["no pure equilibrium"]
    for mixed in _mixed(found)[:3]:
        mixes = "; ".join(map(_mix, game.actions, mixed.mixes))
        lines.append(f"mixed equilibrium: {mixes} gives {', '.join(map(_figure, mixed.payoffs))}")
    safe, floor = find_maximin(game, me)
    lines.append(f"safest for {game.players[me]}: {game.actions[me][safe[0]]}, at least {_figure(floor)}")
    return tuple(lines)
