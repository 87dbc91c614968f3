"""Games in normal form: every profile of actions with what each player gets, exactly; what follows from pure actions."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from math import comb, lcm
from typing import NamedTuple

from mabos_cli.reasoning.answer import find_front, is_better

MOST_SYSTEMS = 12_870  # supports to try for each player: eight by eight actions
Matrix = tuple[tuple[Fraction, ...], ...]
Profile = tuple[int, ...]  # an action of each player, by its number


class Game(NamedTuple):
    """Players, what each can do, and the payoffs of every profile. Exact numbers: equilibria hang on equalities."""

    players: tuple[str, ...]
    actions: tuple[tuple[str, ...], ...]
    payoffs: dict[Profile, tuple[Fraction, ...]]

    def profiles(self, left: tuple[tuple[int, ...], ...] | None = None) -> Iterator[Profile]:
        """Yields every profile, or those of the actions that are left."""
        return product(*(left or self.everything()))

    def everything(self) -> tuple[tuple[int, ...], ...]:
        """Returns the numbers of all actions of each player."""
        return tuple(tuple(range(len(own))) for own in self.actions)

    def named(self, profile: Profile) -> dict[str, str]:
        """Returns a profile as player and action."""
        return {who: self.actions[n][profile[n]] for n, who in enumerate(self.players)}


class Removed(NamedTuple):
    """An action that goes, and the action that is better whatever the others do; None if only a mixture is."""

    player: int
    action: int
    by: int | None


def swap(profile: Profile, player: int, action: int) -> Profile:
    """Returns the profile after one player changes."""
    return (*profile[:player], action, *profile[player + 1 :])


def find_pure_equilibria(game: Game) -> list[Profile]:
    """Returns the profiles that nobody gains by leaving alone."""
    best: dict[tuple[int, Profile], Fraction] = {}
    for profile in game.profiles():
        for player, got in enumerate(game.payoffs[profile]):
            others = (player, swap(profile, player, -1))
            best[others] = max(got, best.get(others, got))
    return [
        profile
        for profile in game.profiles()
        if all(got == best[n, swap(profile, n, -1)] for n, got in enumerate(game.payoffs[profile]))
    ]


def remove_dominated(
    game: Game, left: tuple[tuple[int, ...], ...]
) -> tuple[tuple[tuple[int, ...], ...], list[Removed]]:
    """Returns the actions that survive when strictly dominated ones are removed until none is left, and those removed.
    The order of removal makes no difference to what survives."""
    removed: list[Removed] = []
    while found := _find_dominated(game, left):
        removed.append(found)
        left = tuple(tuple(a for a in own if (n, a) != (found.player, found.action)) for n, own in enumerate(left))
    return left, removed


def _find_dominated(game: Game, left: tuple[tuple[int, ...], ...]) -> Removed | None:
    for player, own in enumerate(left):
        others = [*game.profiles((*left[:player], (-1,), *left[player + 1 :]))]
        column = {a: [game.payoffs[swap(o, player, a)][player] for o in others] for a in own}
        for action in own:
            for by in own:
                if all(ours > theirs for ours, theirs in zip(column[by], column[action], strict=True)):
                    return Removed(player, action, by)
    return None


def find_maximin(game: Game, player: int) -> tuple[list[int], Fraction]:
    """Returns the actions with the best worst case, and that worst case."""
    worst: dict[int, Fraction] = {}
    for profile in game.profiles():
        got, action = game.payoffs[profile][player], profile[player]
        worst[action] = min(got, worst.get(action, got))
    floor = max(worst.values())
    return [action for action in sorted(worst) if worst[action] == floor], floor


def find_pareto(game: Game) -> list[Profile]:
    """Returns the profiles that no other one improves for somebody at nobody's cost."""
    kept = find_front(game.payoffs.values())
    return [profile for profile in game.profiles() if game.payoffs[profile] in kept]


def find_risk_dominant(game: Game, one: Profile, other: Profile) -> Profile | None:
    """Returns, of two strict equilibria of a game of two by two, the one whose deviations cost more (Harsanyi and
    Selten), if one does."""
    if any(a == b for a, b in zip(one, other, strict=True)):
        return None
    losses = []
    for stays, away in ((one, other), (other, one)):
        here = game.payoffs[stays]
        lost = [here[n] - game.payoffs[swap(stays, n, away[n])][n] for n in (0, 1)]
        losses.append(lost[0] * lost[1])
    if losses[0] == losses[1]:
        return None
    return one if losses[0] > losses[1] else other


class Corner(NamedTuple):
    """A mixture of a player at which so many replies of the other one are best that it cannot move without losing one."""

    mix: tuple[Fraction, ...]
    replies: frozenset[int]  # what is best for the other player against it
    value: Fraction  # what the other player gets by them

    @property
    def support(self) -> frozenset[int]:
        """Returns the actions that are played at all."""
        return frozenset(n for n, share in enumerate(self.mix) if share)


def count_systems(rows: int, columns: int) -> int:
    """Returns how many pairs of supports of equal size there are."""
    return comb(rows + columns, rows) - 1


def find_corners(theirs: Matrix) -> list[Corner]:
    """Returns all corners of the mixtures over the rows, where an entry is what the other player gets with a column.

    A mixture x and the best the other player can get, v, are a corner where as many columns reach v as rows are played. With
    all entries above 0, x / v solves a square system whose right side is 1: one for each pair of supports.
    """
    scale = lcm(*(entry.denominator for row in theirs for entry in row))
    lift = 1 - min(entry for row in theirs for entry in row)
    whole = [[int((entry + lift) * scale) for entry in row] for row in theirs]
    found: dict[tuple[Fraction, ...], Corner] = {}
    rows, columns = range(len(whole)), range(len(whole[0]))
    for size in range(1, min(len(rows), len(columns)) + 1):
        for support in combinations(rows, size):
            for tight in combinations(columns, size):
                corner = _find_corner(whole, support, tight)
                if corner:
                    value = corner.value / scale - lift
                    found.setdefault(corner.mix, corner._replace(value=value))
    return [*found.values()]


def _find_corner(whole: list[list[int]], support: tuple[int, ...], tight: tuple[int, ...]) -> Corner | None:
    solved = _solve_whole([[whole[row][column] for row in support] + [1] for column in tight])
    if solved is None or any(part <= 0 for part in solved[0]):
        return None
    parts, bound = solved
    played = [whole[row] for row in support]
    gains = [
        sum(part * row[column] for part, row in zip(parts, played, strict=True)) for column in range(len(whole[0]))
    ]
    if max(gains) > bound:
        return None
    total = sum(parts)
    share = {row: Fraction(part, total) for row, part in zip(support, parts, strict=True)}
    mix = tuple(share.get(row, Fraction(0)) for row in range(len(whole)))
    return Corner(mix, frozenset(n for n, gain in enumerate(gains) if gain == bound), Fraction(bound, total))


def _solve_whole(rows: list[list[int]]) -> tuple[list[int], int] | None:
    """Returns numerators and their positive denominator that solve whole-numbered equations; None if not unique.

    Gauss and Jordan without fractions: each division is exact (Bareiss), and the diagonal ends as the determinant.
    """
    before, size = 1, len(rows)
    for at in range(size):
        pivot = next((n for n in range(at, size) if rows[n][at]), None)
        if pivot is None:
            return None
        rows[at], rows[pivot] = rows[pivot], rows[at]
        lead = rows[at]
        for n in range(size):
            if n != at:
                times = rows[n][at]
                rows[n] = [(lead[at] * a - times * b) // before for a, b in zip(rows[n], lead, strict=True)]
        before = lead[at]
    sign = 1 if before > 0 else -1
    return [sign * row[size] for row in rows], sign * before


class Mixed(NamedTuple):
    """An equilibrium: what each player mixes, and what each gets."""

    mixes: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]
    payoffs: tuple[Fraction, Fraction]

    @property
    def is_pure(self) -> bool:
        """Returns whether both play one action only."""
        return all(max(mix) == 1 for mix in self.mixes)


def match_corners(rows: list[Corner], columns: list[Corner]) -> list[Mixed]:
    """Returns the equilibria at corners, where each plays only best replies; pure ones first, in the order of
    actions."""
    found = [
        Mixed((mine.mix, yours.mix), (yours.value, mine.value))
        for mine in rows
        for yours in columns
        if mine.support <= yours.replies and yours.support <= mine.replies
    ]
    return sorted(found, key=lambda one: (not one.is_pure, [[-share for share in mix] for mix in one.mixes]))


def is_degenerate(corners: list[Corner]) -> bool:
    """Returns whether some mixture has more best replies than it has actions, so that equilibria may form ranges."""
    return any(len(corner.replies) > len(corner.support) for corner in corners)


def find_security(mine: Matrix) -> Corner:
    """Returns the mixture over the rows with the best worst caseas its value; an entry is what its player gets."""
    corners = find_corners(tuple(tuple(-entry for entry in row) for row in mine))
    best = min(corners, key=lambda corner: corner.value)
    return best._replace(value=-best.value)


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
        """Returns whether two players share a constant sum."""
        return len(self.game.players) == 2 and len({sum(got) for got in self.game.payoffs.values()}) == 1

    def improved(self, payoffs: tuple[Fraction, ...]) -> Profile | None:
        """Returns a profile that is better for somebody and worse for nobody."""
        return next((one for one in self.pareto if is_better(self.game.payoffs[one], payoffs)), None)


def played(game: Game, profile: Profile) -> str:
    """Returns the actions of a profile, as text."""
    return ", ".join(game.named(profile).values())


class Advice(NamedTuple):
    """What one player should play, against what play of the others, and why."""

    mix: tuple[Fraction, ...]
    why: str
    against: Mixed | Profile | None = None
    caveats: tuple[str, ...] = ()


def advise(found: Analysis) -> Advice:
    """Returns what `me` should playby dominance, else the only equilibrium, else the outstanding or safest one."""
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
    """Returns the equilibrium that is better for all than any other, or that is less risky in a game of two by two."""
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
    caveats: tuple[str, ...] = (f"equally safe: {', '.join(tie)}",) if len(tie) > 1 else ()
    if found.pure:
        caveats += (f"{len(found.pure)} pure equilibria, none stands out: agree beforehand which one to play",)
    else:
        caveats += ("no single equilibrium tells what to do",)
    return Advice(_only(found, action), "it has the best worst case", None, caveats)


def find_payoff_dominant(found: Analysis) -> Profile | None:
    """Returns the pure equilibrium that gives nobody less than any other equilibrium, and somebody more."""
    game = found.game
    rivals = {game.payoffs[profile] for profile in found.pure} | {one.payoffs for one in found.mixed or ()}
    for profile in found.pure if len(rivals) > 1 else ():
        mine = game.payoffs[profile]
        alike = [other for other in found.pure if game.payoffs[other] == mine]
        if len(alike) == 1 and all(mine == other or is_better(mine, other) for other in rivals):
            return profile
    return None


def find_less_risky(found: Analysis) -> Profile | None:
    """Returns the risk-dominant one of two strict equilibria, if dominance leaves two actions each."""
    if len(found.game.players) != 2 or [*map(len, found.left)] != [2, 2] or len(found.pure) != 2:
        return None
    return find_risk_dominant(found.game, *found.pure)
