"""Points in time with bounds on the differences between them, and choices between sets of bounds: whether all can be kept, how early
and how late each point can be, and which demands clash.

Distances are whole numbers of ticks, GRAIN for each unit of time. `Less than` is `at most, less one tick`: a path has fewer strict
steps than a unit has ticks, so that this is exact."""

from collections.abc import Iterable, Iterator
from math import inf
from typing import NamedTuple

GRAIN = 1 << 12
MOST_WORK = 30_000_000
Matrix = list[list[float]]


class Bound(NamedTuple):
    """The second point is at most so many ticks after the first."""

    first: int
    second: int
    most: int


class Demand(NamedTuple):
    """What the user asked for: ways to meet it, of which one must be taken, each a set of bounds."""

    said: str
    ways: tuple[tuple[Bound, ...], ...]


class TooHard(Exception):
    """More alternatives than can be tried."""


class Net:
    """A number of points, and bounds that always hold."""

    def __init__(self, size: int, always: Iterable[Bound]) -> None:
        self.size = size
        self.always = tuple(always)
        self.work = 0

    def scenarios(self, demands: Iterable[Demand]) -> Iterator[Matrix]:
        """For each choice of ways that can be kept, the least upper bound of every difference."""
        asked = [*demands]
        start: Matrix = [[0 if a == b else inf for b in range(self.size)] for a in range(self.size)]
        fixed = [bound for demand in asked if len(demand.ways) == 1 for bound in demand.ways[0]]
        open_ways = sorted((demand.ways for demand in asked if len(demand.ways) != 1), key=len)
        if self._add(start, (*self.always, *fixed)):
            yield from self._choose(start, open_ways)

    def _choose(self, matrix: Matrix, open_ways: list[tuple[tuple[Bound, ...], ...]]) -> Iterator[Matrix]:
        """Take the choice with the fewest ways left, way by way."""
        stack = [(matrix, open_ways)]
        while stack:
            matrix, rest = stack.pop()
            if not rest:
                yield matrix
                continue
            possible = [[way for way in ways if _fits(matrix, way)] for ways in rest]
            fewest = min(range(len(rest)), key=lambda n: len(possible[n]))
            others = [tuple(ways) for n, ways in enumerate(possible) if n != fewest]
            for way in reversed(possible[fewest]):
                child = [row.copy() for row in matrix]
                self.work += self.size
                if self._add(child, way):
                    stack.append((child, others))

    def _add(self, matrix: Matrix, bounds: Iterable[Bound]) -> bool:
        """Keep some bounds, and all that follows from them; whether that can be done."""
        for first, second, most in bounds:
            if matrix[first][second] <= most:
                continue
            if matrix[second][first] + most < 0:
                return False
            after = [(n, most + far) for n, far in enumerate(matrix[second]) if far < inf]
            self.work += self.size * (len(after) + 1)
            if self.work > MOST_WORK:
                raise TooHard
            for row in matrix:
                here = row[first]
                if here < inf:
                    for n, far in after:
                        if here + far < row[n]:
                            row[n] = here + far
        return True

    def is_possible(self, demands: Iterable[Demand]) -> bool:
        """Whether all demands can be met together."""
        return next(self.scenarios(demands), None) is not None

    def clash(self, demands: tuple[Demand, ...]) -> tuple[int, ...]:
        """The numbers of demands that cannot be met together, though they could without any one of them.

        The shortest row of demands that cannot be met ends with one of these; with it in front, the next is found."""
        core: list[int] = []
        rest = list(range(len(demands)))
        while not core or self.is_possible(demands[n] for n in core):
            low, high = 0, len(rest)
            while high - low > 1:
                middle = (low + high) // 2
                if self.is_possible(demands[n] for n in core + rest[:middle]):
                    low = middle
                else:
                    high = middle
            core.append(rest[high - 1])
            rest = rest[: high - 1]
        return tuple(sorted(core))


def _fits(matrix: Matrix, way: tuple[Bound, ...]) -> bool:
    return all(matrix[second][first] + most >= 0 for first, second, most in way)


def missing(bounds: Iterable[Bound], size: int) -> tuple[tuple[Bound, ...], int] | None:
    """A circle of bounds that cannot be kept, and by how many ticks it fails; None if there is none. (Bellman and Ford.)"""
    edges = [*bounds]
    best, by = [0] * size, [None] * size
    last = None
    for _ in range(size + 1):
        last = None
        for bound in edges:
            if best[bound.first] + bound.most < best[bound.second]:
                best[bound.second], by[bound.second], last = (best[bound.first] + bound.most, bound, bound.second)
    if last is None:
        return None
    for _ in range(size):
        last = by[last].first
    circle, at = [], last
    while not circle or at != last:
        circle.append(by[at])
        at = by[at].first
    return tuple(circle[::-1]), -sum(bound.most for bound in circle)


def positions(matrix: Matrix) -> list[float]:
    """A position for each point, in ticks, that keeps all bounds."""
    return [min(row[n] for row in matrix) for n in range(len(matrix))]
