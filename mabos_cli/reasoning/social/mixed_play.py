"""Mixed strategies of two players, exactly: every corner of the sets of best replies, and the equilibria between them."""

from fractions import Fraction
from itertools import combinations
from math import comb, lcm
from typing import NamedTuple

MOST_SYSTEMS = 12_870  # supports to try for each player: eight by eight actions

Matrix = tuple[tuple[Fraction, ...], ...]


class Corner(NamedTuple):
    """A mixture of a player at which so many replies of the other one are best that it cannot move without losing one."""

    mix: tuple[Fraction, ...]
    replies: frozenset[int]  # what is best for the other player against it
    value: Fraction  # what the other player gets by them

    @property
    def support(self) -> frozenset[int]:
        """The actions that are played at all."""
        return frozenset(n for n, share in enumerate(self.mix) if share)


def count_systems(rows: int, columns: int) -> int:
    """How many pairs of supports of equal size there are."""
    return comb(rows + columns, rows) - 1


def find_corners(theirs: Matrix) -> list[Corner]:
    """All corners of the mixtures over the rows, where an entry is what the other player gets with a column.

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
    """Numerators and the common denominator, above 0, of the solution of whole-numbered equations; None if there is not exactly one.

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
        """Whether both play one action only."""
        return all(max(mix) == 1 for mix in self.mixes)


def match_corners(rows: list[Corner], columns: list[Corner]) -> list[Mixed]:
    """The equilibria at corners: each plays only best replies to the other. Pure ones first, in the order of the actions."""
    found = [
        Mixed((mine.mix, yours.mix), (yours.value, mine.value))
        for mine in rows
        for yours in columns
        if mine.support <= yours.replies and yours.support <= mine.replies
    ]
    return sorted(found, key=lambda one: (not one.is_pure, [[-share for share in mix] for mix in one.mixes]))


def is_degenerate(corners: list[Corner]) -> bool:
    """Whether some mixture has more best replies than it has actions: then equilibria may come in whole ranges."""
    return any(len(corner.replies) > len(corner.support) for corner in corners)


def find_security(mine: Matrix) -> Corner:
    """The mixture over the rows with the best worst case, where an entry is what its player gets; its value is that worst case."""
    corners = find_corners(tuple(tuple(-entry for entry in row) for row in mine))
    best = min(corners, key=lambda corner: corner.value)
    return best._replace(value=-best.value)
