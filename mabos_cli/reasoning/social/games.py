"""Games in normal form: every profile of actions with what each player gets, exactly, and what follows from that."""

from fractions import Fraction
from itertools import chain, combinations, product
from math import comb, lcm
from typing import NamedTuple

MOST_SYSTEMS = 12_870  # supports to try for each player: eight by eight actions
Mix = tuple[Fraction, ...]  # the share of each action
Profile = tuple[int, ...]  # an action of each player, by its number


class Game(NamedTuple):
    """Players, what each can do, and the payoffs of every profile. Exact numbers: equilibria depend on equalities."""

    players: tuple[str, ...]
    actions: tuple[tuple[str, ...], ...]
    payoffs: dict[Profile, tuple[Fraction, ...]]

    def named(self, profile: Profile) -> dict[str, str]:
        """Returns a profile as player and action."""
        return {who: self.actions[n][profile[n]] for n, who in enumerate(self.players)}


class Mixed(NamedTuple):
    """An equilibrium of two players: what each mixes, and what each gets."""

    mixes: tuple[Mix, Mix]
    payoffs: tuple[Fraction, ...]
    is_pure: bool  # both play one action only


class Corner(NamedTuple):
    """A mixture of a player at which so many replies of the other one are best that it cannot move without losing one."""

    mix: Mix
    replies: frozenset[int]  # what is best for the other player against it
    value: Fraction  # what the other player gets by them

    @property
    def support(self) -> frozenset[int]:
        """Returns the actions that are played at all."""
        return frozenset(n for n, share in enumerate(self.mix) if share)


class Analysis(NamedTuple):
    """Everything that was found out about a game. `mixed` holds all equilibria at corners, pure ones too; None if not searched."""

    game: Game
    me: int
    pure: list[Profile]
    is_zero_sum: bool  # or of another constant sum
    mixed: list[Mixed] | None = None
    is_degenerate: bool = False


def analyse(game: Game, me: int) -> Analysis:
    """Returns everything that can be found out about a game; mixed equilibria, where each plays only best replies, only where there
    are few actions."""
    found = Analysis(game, me, find_pure(game), len({sum(got) for got in game.payoffs.values()}) == 1)
    if comb(sum(map(len, game.actions)), len(game.actions[0])) > MOST_SYSTEMS + 1:
        return found
    rows, columns = (find_corners(_matrix(game, n)) for n in (0, 1))
    mixed = [
        Mixed((mine.mix, yours.mix), (yours.value, mine.value), max(mine.mix) == max(yours.mix) == 1)
        for mine in rows
        for yours in columns
        if mine.support <= yours.replies and yours.support <= mine.replies
    ]
    mixed.sort(key=lambda one: (not one.is_pure, [[-share for share in mix] for mix in one.mixes]))
    # With more best replies than actions, equilibria may form ranges.
    is_degenerate = any(len(corner.replies) > len(corner.support) for corner in (*rows, *columns))
    return found._replace(mixed=mixed, is_degenerate=is_degenerate)


def find_pure(game: Game) -> list[Profile]:
    """Returns the profiles that nobody gains by leaving alone."""
    mine, yours = (range(len(actions)) for actions in game.actions)
    best = {y: max(game.payoffs[m, y][0] for m in mine) for y in yours}
    replies = {m: max(game.payoffs[m, y][1] for y in yours) for m in mine}
    return [
        profile for profile in product(mine, yours) if game.payoffs[profile] == (best[profile[1]], replies[profile[0]])
    ]


def find_maximin(game: Game, player: int) -> tuple[list[int], Fraction]:
    """Returns the actions with the best worst case, and that worst case."""
    worst: dict[int, Fraction] = {}
    for profile, got in game.payoffs.items():
        worst[profile[player]] = min(got[player], worst.get(profile[player], got[player]))
    floor = max(worst.values())
    return [action for action in sorted(worst) if worst[action] == floor], floor


def share_by_shapley(players: tuple[str, ...], worth: dict[frozenset[str], Fraction]) -> dict[str, Fraction]:
    """Returns what each player adds to those who came before, on average over all orders of coming.

    >>> worth = {frozenset(): Fraction(0), frozenset("a"): Fraction(1), frozenset("b"): Fraction(2), frozenset("ab"): Fraction(5)}
    >>> {who: str(share) for who, share in share_by_shapley(("a", "b"), worth).items()}
    {'a': '2', 'b': '3'}
    """
    size = len(players)
    return {
        who: sum(
            ((value - worth[group - {who}]) / (size * comb(size - 1, len(group) - 1)))
            for group, value in worth.items()
            if who in group
        )
        + Fraction(0)
        for who in players
    }


def _matrix(game: Game, player: int) -> list[list[Fraction]]:
    """Returns what the other one of two players gets, with a row for each action of `player`."""
    mine, yours = (range(len(game.actions[n])) for n in (player, 1 - player))
    return [[game.payoffs[(m, y) if player == 0 else (y, m)][1 - player] for y in yours] for m in mine]


def find_corners(theirs: list[list[Fraction]]) -> list[Corner]:
    """Returns all corners of the mixtures over the rows, where an entry is what the other player gets with a column.

    A mixture x and the best the other player can get, v, are a corner where as many columns reach v as rows are played. With
    all entries above 0, x / v solves a square system whose right side is 1: one for each pair of supports.
    """
    scale = lcm(*(entry.denominator for row in theirs for entry in row))
    lift = 1 - min(entry for row in theirs for entry in row)
    whole = [[int((entry + lift) * scale) for entry in row] for row in theirs]
    found: dict[tuple[Fraction, ...], Corner] = {}
    rows, columns = range(len(whole)), range(len(whole[0]))
    sizes = range(1, min(len(rows), len(columns)) + 1)
    pairs = (product(combinations(rows, size), combinations(columns, size)) for size in sizes)
    for support, tight in chain.from_iterable(pairs):
        solved = _solve_whole([[whole[row][column] for row in support] + [1] for column in tight])
        if solved is None or any(part <= 0 for part in solved[0]):
            continue
        parts, bound = solved
        played = [*zip(parts, (whole[row] for row in support), strict=True)]
        gains = [sum(part * row[column] for part, row in played) for column in columns]
        if max(gains) <= bound:
            total = sum(parts)
            share = {row: Fraction(part, total) for row, part in zip(support, parts, strict=True)}
            mix = tuple(share.get(row, Fraction(0)) for row in rows)
            replies = frozenset(n for n, gain in enumerate(gains) if gain == bound)
            found.setdefault(mix, Corner(mix, replies, Fraction(bound, total) / scale - lift))
    return [*found.values()]


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
