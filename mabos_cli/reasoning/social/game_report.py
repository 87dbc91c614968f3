"""How the analysis of a game is told."""

from fractions import Fraction
from typing import Any

from mabos_cli.reasoning.answer import Answer, choice, distribution
from mabos_cli.reasoning.social.game_advice import Advice, Analysis, find_less_risky, find_payoff_dominant, played
from mabos_cli.reasoning.social.mixed_play import MOST_SYSTEMS, Mixed
from mabos_cli.reasoning.social.normal_form import Game, Profile, Removed, find_maximin, swap
from mabos_cli.reasoning.wording import cut


def tell(found: Analysis, advice: Advice) -> Answer:
    """The answer: advice first, then what it rests on."""
    game, me = found.game, found.me
    actions, used = game.actions[me], [n for n, share in enumerate(advice.mix) if share]
    about = f"what {game.players[me]} should do"
    if len(used) == 1:
        conclusion = choice(actions[used[0]], _scores(found, advice), about)
    else:
        conclusion = distribution({a: float(s) for a, s in zip(actions, advice.mix, strict=True)}, about)
    # Every game has an equilibrium: without the mixed ones only the pure ones can be said to be none.
    pure, equilibria = ("", found.mixed) if found.mixed is not None else ("pure ", found.pure)
    counted = _count(len(equilibria), f"{pure}equilibrium", f"{pure}equilibria")
    summary = f"{game.players[me]}: {_mix(actions, advice.mix)} ({advice.why}); {counted}"
    return Answer(conclusion, None, summary, _steps(found), _detail(found, advice), advice.caveats + _caveats(found))


def _scores(found: Analysis, advice: Advice) -> dict[str, float]:
    """What each own action brings against the play that the advice expects, or its worst case."""
    game, me = found.game, found.me
    scores = {}
    for n, action in enumerate(game.actions[me]):
        if isinstance(advice.against, Mixed):
            other = advice.against.mixes[1 - me]
            got = sum(share * game.payoffs[(n, k) if me == 0 else (k, n)][me] for k, share in enumerate(other))
        elif advice.against is not None:
            got = game.payoffs[swap(advice.against, me, n)][me]
        else:
            got = min(pay[me] for profile, pay in game.payoffs.items() if profile[me] == n)
        scores[action] = float(got)
    return scores


def _count(n: int, one: str, more: str) -> str:
    return f"{n or 'no'} {one if n == 1 else more}"


def _figure(value: Fraction) -> str:
    """A number exactly while it is short."""
    return str(value) if value.denominator <= 1000 else f"{float(value):.3g}"


def _figures(payoffs: tuple[Fraction, ...]) -> str:
    return ", ".join(map(_figure, payoffs))


def _mix(actions: tuple[str, ...], mix: tuple[Fraction, ...]) -> str:
    parts = [(action, share) for action, share in zip(actions, mix, strict=True) if share]
    return parts[0][0] if len(parts) == 1 else ", ".join(f"{action} {_figure(share)}" for action, share in parts)


def _steps(found: Analysis) -> tuple[str, ...]:
    game = found.game
    size = " by ".join(str(len(own)) for own in game.actions)
    lines = [f"{len(game.players)} players, {size} actions" + (", constant sum" if found.is_zero_sum else "")]
    lines += cut([_gone(game, one) for one in found.removed], 3)
    lines += cut([f"pure equilibrium: {played(game, p)} gives {_figures(game.payoffs[p])}" for p in found.pure], 4) or [
        "no pure equilibrium"
    ]
    lines += cut(
        [
            f"mixed equilibrium: {'; '.join(map(_mix, game.actions, one.mixes))} gives {_figures(one.payoffs)}"
            for one in found.mixed or ()
            if not one.is_pure
        ],
        3,
    )
    safe, floor = find_maximin(game, found.me)
    line = f"safest for {game.players[found.me]}: {game.actions[found.me][safe[0]]}, at least {_figure(floor)}"
    if found.security and found.security[found.me].value > floor:
        corner = found.security[found.me]
        line += f"; mixing {_mix(game.actions[found.me], corner.mix)}, {_figure(corner.value)} on average"
    return (*lines, line, *_dilemma(found))


def _gone(game: Game, one: Removed) -> str:
    own = game.actions[one.player]
    better = f"{own[one.by]} is better whatever the others do" if one.by is not None else "never a best answer"
    return f"{game.players[one.player]} drops {own[one.action]}: {better}"


def _dilemma(found: Analysis) -> list[str]:
    """A line if every pure equilibrium leaves each of them worse off than they could be together."""
    ways = [(one, _find_better_for_all(found, one)) for one in found.pure]
    if not ways or any(better is None for _, better in ways):
        return []
    one, better = ways[0]
    return [f"dilemma: {played(found.game, better)} would be better for all than {played(found.game, one)}"]


def _find_better_for_all(found: Analysis, one: Profile) -> Profile | None:
    here, payoffs = found.game.payoffs[one], found.game.payoffs
    return next((p for p in found.pareto if all(a > b for a, b in zip(payoffs[p], here, strict=True))), None)


def _caveats(found: Analysis) -> tuple[str, ...]:
    caveats = []
    if len(found.game.players) > 2:
        caveats.append("more than two players: only pure equilibria are searched")
    elif found.mixed is None:
        caveats.append(f"mixed equilibria not searched: more than {MOST_SYSTEMS} pairs of supports")
    elif found.is_degenerate:
        caveats.append(
            "degenerate game: some mixture has more best answers than actions; mixtures between the equilibria shown may be equilibria too"
        )
    return tuple(caveats)


def _detail(found: Analysis, advice: Advice) -> dict[str, Any]:
    game = found.game
    less_risky, dominant = find_less_risky(found), find_payoff_dominant(found)
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


def _outcome(game: Game, profile: Profile) -> dict[str, Any]:
    got = zip(game.players, map(float, game.payoffs[profile]), strict=True)
    return {"play": game.named(profile), "payoffs": dict(got)}


def _better(found: Analysis, profile: Profile) -> dict[str, str] | None:
    better = found.improved(found.game.payoffs[profile])
    return found.game.named(better) if better else None


def _mixed(game: Game, one: Mixed) -> dict[str, Any]:
    parts = [[*zip(own, mix, strict=True)] for own, mix in zip(game.actions, one.mixes, strict=True)]
    return {
        "mix": {who: {a: float(s) for a, s in part} for who, part in zip(game.players, parts, strict=True)},
        "exact": {who: {a: str(s) for a, s in part} for who, part in zip(game.players, parts, strict=True)},
        "payoffs": dict(zip(game.players, map(float, one.payoffs), strict=True)),
    }


def _maximin(found: Analysis, player: int) -> dict[str, Any]:
    own = found.game.actions[player]
    safe, floor = find_maximin(found.game, player)
    said: dict[str, Any] = {"actions": [own[a] for a in safe], "value": float(floor)}
    if found.security:
        corner = found.security[player]
        said["mixed_value"] = float(corner.value)
        said["mix"] = {a: float(s) for a, s in zip(own, corner.mix, strict=True)}
    return said


def _replies(game: Game, player: int) -> dict[str, list[str]]:
    """The best answers of a player to each action of the other."""
    replies = {}
    for k, action in enumerate(game.actions[1 - player]):
        got = [game.payoffs[(n, k) if player == 0 else (k, n)][player] for n in range(len(game.actions[player]))]
        replies[action] = [own for own, value in zip(game.actions[player], got, strict=True) if value == max(got)]
    return replies
