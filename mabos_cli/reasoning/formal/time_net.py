"""Points in time with bounds on the differences between them, and choices between sets of bounds: whether all can be kept, how early
and how late each point can be, and which demands clash.

Distances are whole numbers of ticks, GRAIN for each unit of time. `Less than` is `at most, less one tick`: a path has fewer strict
steps than a unit has ticks, so that this is exact."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from math import inf
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import figure
from mabos_cli.reasoning.inputs import bits, known_name

# How start with start, start with end, end with start and end with end of two intervals compare.
ENDS = ((0, 0), (0, 1), (1, 0), (1, 1))
SIGNS = {
    "before": "<<<<",
    "meets": "<<=<",
    "overlaps": "<<><",
    "finished-by": "<<>=",
    "contains": "<<>>",
    "starts": "=<><",
    "equals": "=<>=",
    "started-by": "=<>>",
    "during": "><><",
    "finishes": "><>=",
    "overlapped-by": "><>>",
    "met-by": ">=>>",
    "after": ">>>>",
}
UNITS = {"minutes": 60, "hours": 3600, "days": 86400, "weeks": 604800}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EVENT_ENDS = ("start", "end")
GRAIN = 1 << 12
MOST_WORK = 30_000_000
Matrix = list[list[float]]
NAMES = tuple(SIGNS)
ALL = (1 << len(NAMES)) - 1
_BIT = {name: 1 << n for n, name in enumerate(NAMES)}
_MORE = {"disjoint": "before|after|meets|met-by", "within": "during|starts|finishes|equals"}


class Bound(NamedTuple):
    """The second point is at most so many ticks after the first."""

    first: int
    second: int
    most: int


class Demand(NamedTuple):
    """A demand of the user: ways to meet it, of which one must be taken, each a set of bounds."""

    text: str
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
        """Yields for each choice of ways that can be kept, the least upper bound of every difference."""
        asked = [*demands]
        start: Matrix = [[0 if a == b else inf for b in range(self.size)] for a in range(self.size)]
        fixed = [bound for demand in asked if len(demand.ways) == 1 for bound in demand.ways[0]]
        open_ways = sorted((demand.ways for demand in asked if len(demand.ways) != 1), key=len)
        if self._add(start, (*self.always, *fixed)):
            yield from self._choose(start, open_ways)

    def _choose(self, matrix: Matrix, open_ways: list[tuple[tuple[Bound, ...], ...]]) -> Iterator[Matrix]:
        """Takes the choice with the fewest ways left, way by way."""
        stack = [(matrix, open_ways)]
        while stack:
            matrix, rest = stack.pop()
            if not rest:
                yield matrix
                continue
            possible = [[way for way in ways if all(matrix[b][a] + most >= 0 for a, b, most in way)] for ways in rest]
            fewest = min(range(len(rest)), key=lambda n: len(possible[n]))
            others = [tuple(ways) for n, ways in enumerate(possible) if n != fewest]
            for way in reversed(possible[fewest]):
                child = [row.copy() for row in matrix]
                self.work += self.size
                if self._add(child, way):
                    stack.append((child, others))

    def _add(self, matrix: Matrix, bounds: Iterable[Bound]) -> bool:
        """Keeps some bounds, and all that follows from them; whether that can be done."""
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
        """Returns whether all demands can be met together."""
        return next(self.scenarios(demands), None) is not None

    def clash(self, demands: tuple[Demand, ...]) -> tuple[int, ...]:
        """Returns the numbers of demands that cannot be met together, though they could without any one of them.

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


def positions(matrix: Matrix) -> list[float]:
    """Returns a position for each point, in ticks, that keeps all bounds."""
    return [min(row[n] for row in matrix) for n in range(len(matrix))]


def parse_relations(raw: str, place: str) -> int:
    """Returns the set of relations that words name, as in `before|meets`.

    >>> relation_names(parse_relations("met by or after", "relations[1]"))
    ('met-by', 'after')
    """
    found = 0
    for word in re.split(r"\s*(?:\||,|\bor\b)\s*", raw.strip().strip("(){}").lower()):
        name = re.sub(r"[\s_]+", "-", word.strip())
        for one in _MORE.get(name, name).split("|"):
            if one not in _BIT:
                hint = f"known: {', '.join(NAMES)}, disjoint, within"
                raise BadValue(f"{place}: unknown relation {word[:40]!r}", hint)
            found |= _BIT[one]
    return found


def relation_names(found: int) -> tuple[str, ...]:
    """Returns the names of a set of relations."""
    return tuple(name for n, name in enumerate(NAMES) if found >> n & 1)


@lru_cache(maxsize=1 << 14)
def hull(found: int) -> tuple[str, ...] | None:
    """Returns how each pair of ends may compare, or None if that says more or less than the relations do."""
    signs = [SIGNS[name] for name in relation_names(found)]
    sides = tuple("".join(sorted({one[n] for one in signs})) for n in range(4))
    if "<>" in sides:
        return None
    allowed = sum(_BIT[name] for name, one in SIGNS.items() if all(one[n] in sides[n] for n in range(4)))
    return sides if allowed == found else None


@lru_cache(maxsize=1 << 14)
def convex_parts(found: int) -> tuple[int, ...]:
    """Returns the set as few sets that comparisons of ends can express; only the choice between these is left to
    try."""
    parts = []
    while found:
        part = 0
        for one in bits(found):
            if hull(part | 1 << one) is not None:
                part |= 1 << one
        parts.append(part)
        found &= ~part
    return tuple(parts)


class Scale(NamedTuple):
    """The way to show times: in which unit, and whether they are dates."""

    unit: str
    is_dated: bool
    is_daily: bool  # only whole days occur: an end is shown as the last day
    ticks: int = GRAIN

    def show(self, time: Fraction, is_end: bool = False) -> str:
        """Returns a time as people write it."""
        if not self.is_dated:
            return figure(float(time))
        try:
            at = _EPOCH + timedelta(seconds=float(time * UNITS[self.unit]))
            midnight = (at.hour, at.minute, at.second, at.microsecond) == (0, 0, 0, 0)
            if midnight and is_end and self.is_daily:
                at -= timedelta(days=1)
        except OverflowError:
            return "beyond the calendar"
        return at.strftime("%Y-%m-%d") if midnight else at.strftime("%Y-%m-%d %H:%M")


def point(event: int, end: int) -> int:
    """Returns the number of the start (0) or end (1) of an event. Point 0 is where time is counted from."""
    return 1 + 2 * event + end


def end_point(raw: str, events: tuple[str, ...], default: int, place: str) -> int:
    """Returns the point that `audit` or `audit start` names."""
    name, _, word = raw.rpartition(" ")
    if raw not in events and word in EVENT_ENDS and name in events:
        return point(events.index(name), EVENT_ENDS.index(word))
    return point(events.index(known_name(place, raw, events, "event")), default)


def parse_relation(raw: str, events: tuple[str, ...], place: str) -> tuple[int, int, int]:
    """Returns the two events and the relations between them, from `a before|meets b`; the longest name counts."""
    longest, words = sorted(events, key=len, reverse=True), raw.split()
    first = next((name for name in longest if raw.startswith(f"{name} ")), words[0])
    rest = raw.removeprefix(first)
    second = next((name for name in longest if rest.endswith(f" {name}")), words[-1])
    for name in (first, second):
        known_name(place, name, events, "event")
    if first == second:
        raise BadValue(f"{place}: {first} is on both sides", "name two different events")
    middle = rest.removesuffix(second).strip()
    if not middle:
        raise BadValue(f"{place}: there is no relation", "write for example: a before b, a before|meets b")
    relations = ALL if middle == "?" else parse_relations(middle, place)
    return events.index(first), relations, events.index(second)


def relation_demand(text: str, a: int, b: int, relations: int) -> Demand:
    """Returns what one of some relations between two events demands of their ends."""
    return Demand(text, tuple(tuple(_compare(a, b, hull(part) or ())) for part in convex_parts(relations)))


def _compare(a: int, b: int, signs: tuple[str, ...]) -> list[Bound]:
    found = []
    for (i, j), sign in zip(ENDS, signs, strict=True):
        first, second = point(a, i), point(b, j)
        if ">" not in sign:
            found.append(Bound(second, first, 0 if "=" in sign else -1))
        if "<" not in sign:
            found.append(Bound(first, second, 0 if "=" in sign else -1))
    return found
