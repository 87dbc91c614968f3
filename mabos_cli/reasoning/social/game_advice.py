"""What the analysis of a game means for one player."""

from fractions import Fraction
from typing import NamedTuple

from mabos_cli.reasoning.dominance import is_better
from mabos_cli.reasoning.social.mixed_play import Corner, Mixed
from mabos_cli.reasoning.social.normal_form import Game, Profile, Removed, find_maximin, find_risk_dominant


class Analysis(NamedTuple):
    """Everything that was found out about a game. `mixed` holds all equilibria at corners, pure ones too; None if not searched."""

    game: Game
    me: int
    pure: list[Profile]
    left: tuple[tuple[int, ...], ...]
    removed: list[Removed]
    pareto: list[Profile]
    mixed: tuple[Mixed, ...] | None = None
    is_degenerate: bool = False
    security: tuple[Corner, ...] = ()

    @property
    def is_zero_sum(self) -> bool:
        """Whether two players share a constant sum."""
        return len(self.game.players) == 2 and len({sum(got) for got in self.game.payoffs.values()}) == 1

    def improved(self, payoffs: tuple[Fraction, ...]) -> Profile | None:
        """A profile that is better for somebody and worse for nobody."""
        return next((one for one in self.pareto if is_better(self.game.payoffs[one], payoffs)), None)


def played(game: Game, profile: Profile) -> str:
    """The actions of a profile, as text."""
    return ", ".join(game.named(profile).values())


class Advice(NamedTuple):
    """What one player should play, against what play of the others, and why."""

    mix: tuple[Fraction, ...]
    why: str
    against: Mixed | Profile | None = None
    caveats: tuple[str, ...] = ()


def advise(found: Analysis) -> Advice:
    """What `me` should play: what dominance leaves, else the only equilibrium, else the one that stands out, else the safest."""
    game, me = found.game, found.me
    single = found.mixed[0] if found.mixed and len(found.mixed) == 1 else None
    if len(found.left[me]) == 1:
        others = found.pure[0] if len(found.pure) == 1 else None
        return Advice(_only(found, found.left[me][0]), "all else is strictly dominated", others)
    if found.is_zero_sum and found.pure:
        return Advice(_only(found, found.pure[0][me]), "a saddle point: neither side can do better", found.pure[0])
    if found.is_zero_sum and found.security:
        return Advice(found.security[me].mix, "it has the best worst case, which nobody can exploit", single)
    if single:
        return Advice(single.mixes[me], "it is the part in the only equilibrium", single)
    if len({profile[me] for profile in found.pure}) == 1 and found.pure:
        return Advice(_only(found, found.pure[0][me]), "it is the part in every pure equilibrium", found.pure[0])
    return _pick_outstanding(found) or _pick_safest(found, game, me)


def _only(found: Analysis, action: int) -> tuple[Fraction, ...]:
    return tuple(Fraction(n == action) for n in range(len(found.game.actions[found.me])))


def _pick_outstanding(found: Analysis) -> Advice | None:
    """The equilibrium that is better for all than any other, or that is less risky in a game of two by two."""
    game, me = found.game, found.me
    best, risk = find_payoff_dominant(found), find_less_risky(found)
    if best is not None:
        warned = (
            (f"{played(game, risk)} is less risky if the others may not keep to {played(game, best)}",)
            if risk is not None and risk != best
            else ()
        )
        searched = "" if found.mixed is not None else "pure "
        why = f"no other {searched}equilibrium is better for anybody"
        return Advice(_only(found, best[me]), why, best, warned)
    if risk is not None:
        return Advice(_only(found, risk[me]), "its equilibrium is the less risky one", risk)
    return None


def _pick_safest(found: Analysis, game: Game, me: int) -> Advice:
    safest, floor = find_maximin(game, me)
    hopes = {
        a: max((game.payoffs[p][me] for p in found.pure if p[me] == a), default=floor) for a in safest
    }  # among equally safe actions, the one with the better equilibrium
    action = max(safest, key=lambda a: hopes[a])
    tie = [game.actions[me][a] for a in safest if hopes[a] == hopes[action]]
    caveats = (f"equally safe: {', '.join(tie)}",) if len(tie) > 1 else ()
    if found.pure:
        caveats += (f"{len(found.pure)} pure equilibria, none stands out: agree beforehand which one to play",)
    else:
        caveats += ("no single equilibrium tells what to do",)
    return Advice(_only(found, action), "it has the best worst case", None, caveats)


def find_payoff_dominant(found: Analysis) -> Profile | None:
    """The pure equilibrium that gives nobody less than any other equilibrium, and somebody more."""
    game = found.game
    rivals = {game.payoffs[profile] for profile in found.pure} | {one.payoffs for one in found.mixed or ()}
    for profile in found.pure if len(rivals) > 1 else ():
        mine = game.payoffs[profile]
        alike = [other for other in found.pure if game.payoffs[other] == mine]
        if len(alike) == 1 and all(mine == other or is_better(mine, other) for other in rivals):
            return profile
    return None


def find_less_risky(found: Analysis) -> Profile | None:
    """The risk-dominant one of two strict equilibria, if dominance leaves two actions each."""
    if len(found.game.players) != 2 or [*map(len, found.left)] != [2, 2] or len(found.pure) != 2:
        return None
    return find_risk_dominant(found.game, *found.pure)
