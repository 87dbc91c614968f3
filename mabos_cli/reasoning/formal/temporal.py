"""Finds how events are ordered in time: whether all demands are consistent, and which of Allen's relations are possible.

Starts and ends are points with bounds on how far one is behind another: 0 for `not later`, -1 for `earlier`. A set of relations is a
choice between sets of bounds."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import inf
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.closures import bits
from mabos_cli.core.language.text import plural
from mabos_cli.reasoning.answer import Answer, Conclusion, choice, cut, listed, names, yes_no
from mabos_cli.reasoning.inputs import AgentData, check_known, known_name

MOST_WORK = 30_000_000
# How start with start, start with end, end with start and end with end of two intervals compare.
ENDS = ((0, 0), (0, 1), (1, 0), (1, 1))
_SIGNS = (
    "before <<<<, meets <<=<, overlaps <<><, finished-by <<>=, contains <<>>, starts =<><, equals =<>=, started-by =<>>, "
    "during ><><, finishes ><>=, overlapped-by ><>>, met-by >=>>, after >>>>"
)
SIGNS: dict[str, str] = dict(pair.split() for pair in _SIGNS.split(", "))
NAMES = tuple(SIGNS)
ALL = (1 << len(NAMES)) - 1
_BIT = {name: 1 << n for n, name in enumerate(NAMES)}
_MORE = {"disjoint": "before|after|meets|met-by", "within": "during|starts|finishes|equals"}
Matrix = list[list[float]]


class Bound(NamedTuple):
    """The second point is at most so much after the first."""

    first: int
    second: int
    most: int


class Demand(NamedTuple):
    """A demand of the user: ways to meet it, of which one must be taken, each a set of bounds."""

    text: str
    ways: tuple[tuple[Bound, ...], ...]


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns whether the events can happen as described, or how two of them can lie to each other."""
    events = tuple(fields["events"])
    check_known("events", events, events, "event")
    relations = [(raw, *parse_relation(raw, events, f"relations[{n}]")) for n, raw in enumerate(fields["relations"], 1)]
    demands = tuple(relation_demand(raw, a, b, allowed) for raw, a, allowed, b in relations)
    claim = parse_relation(fields["ask"], events, "ask") if fields["ask"] else None
    net = _Net(len(events))
    try:
        scenario = next(net.scenarios(demands), None)
        if scenario is None:  # some demands contradict each other, none of which could be left out of the contradiction
            core = [demands[n].text for n in net.clash(demands)]
            count = f"{len(core)} of {len(demands)}"
            summary = f"the events cannot happen as described: {count} demands clash: {listed(core, 4)}"
            conclusion = yes_no(False, "the events can happen as described")
            steps = cut(["these cannot all hold:", *core])
            return Answer(conclusion, None, summary, steps, {"possible": False, "conflict": core})
        groups: dict[float, list[str]] = {}  # starts and ends, by their place in an order that meets the demands
        for n, name in enumerate(f"{event} {end}" for event in events for end in ("start", "end")):
            groups.setdefault(min(row[n] for row in scenario), []).append(name)
        order = " < ".join(" = ".join(groups[place]) for place in sorted(groups))
        detail = {"consistent": True, "order": order}
        if claim is not None:
            return _compare(events, demands, net, claim, detail)
    except TooHard:
        hint = "say more exactly how events lie, or ask about fewer of them"
        raise BadValue("relations: too many alternatives to try", hint) from None
    met = f"{plural(len(demands), 'demand')} on {plural(len(events), 'event')} can be met together"
    conclusion = yes_no(True, "the events can happen as described")
    return Answer(conclusion, None, f"{met}: {order}", (f"one order: {order}",), detail)


def _compare(
    events: tuple[str, ...],
    demands: tuple[Demand, ...],
    net: "_Net",
    claim: tuple[int, int, int],
    detail: dict[str, Any],
) -> Answer:
    """Returns the relations that two events can have, or whether a claim about them must hold."""
    a, claimed, b = claim
    possible = 0
    for n, name in enumerate(NAMES):
        if next(net.scenarios((*demands, relation_demand(name, a, b, 1 << n))), None) is not None:
            possible |= 1 << n
    found, first, second = relation_names(possible), events[a], events[b]
    about = f"{first} {'?' if claimed == ALL else '|'.join(relation_names(claimed))} {second}"
    share = "no other relation is possible" if len(found) == 1 else f"{len(found)} of 13 relations are possible"
    summary = f"{first} {' or '.join(found)} {second}: {share}"
    conclusion: Conclusion = choice(found[0], about=about) if len(found) == 1 else names(found, about)
    if claimed != ALL:
        conclusion = yes_no(True if not possible & ~claimed else None if possible & claimed else False, about)
    steps = [f"possible when all is taken together: {listed(found, 13)}", f"one order: {detail['order']}"]
    steps += [f"demanded: {demand.text}" for demand in demands]
    return Answer(conclusion, None, summary, cut(steps), {"possible": list(found)} | detail)


class TooHard(Exception):
    """More alternatives than can be tried."""


class _Net:
    """Starts and ends of some events, of which each starts before it ends."""

    def __init__(self, events: int) -> None:
        self.size = 2 * events
        self.always = tuple(Bound(_point(n, 1), _point(n, 0), -1) for n in range(events))
        self.work = 0

    def scenarios(self, demands: Iterable[Demand]) -> Iterator[Matrix]:
        """Yields for each choice of ways that can be kept, the least upper bound of every difference."""
        asked = [*demands]
        start: Matrix = [[0 if a == b else inf for b in range(self.size)] for a in range(self.size)]
        fixed = [bound for demand in asked if len(demand.ways) == 1 for bound in demand.ways[0]]
        open_ways = sorted((demand.ways for demand in asked if len(demand.ways) != 1), key=len)
        stack = [(start, open_ways)] if self._add(start, (*self.always, *fixed)) else []
        while stack:
            matrix, rest = stack.pop()
            if not rest:
                yield matrix
                continue
            # The choice with the fewest ways left comes first.
            possible = [
                [option for option in ways if all(matrix[b][a] + most >= 0 for a, b, most in option)] for ways in rest
            ]
            fewest = min(range(len(rest)), key=lambda n: len(possible[n]))
            others = [tuple(ways) for n, ways in enumerate(possible) if n != fewest]
            for option in reversed(possible[fewest]):
                child = [row.copy() for row in matrix]
                self.work += self.size
                if self._add(child, option):
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
                        row[n] = min(row[n], here + far)
        return True

    def clash(self, demands: tuple[Demand, ...]) -> tuple[int, ...]:
        """Returns the numbers of demands that cannot be met together, though they could without any one of them."""

        def is_possible(numbers: Iterable[int]) -> bool:
            return next(self.scenarios(demands[n] for n in numbers), None) is not None

        core = [*range(len(demands))]
        for number in reversed(range(len(demands))):
            fewer = [n for n in core if n != number]
            core = core if is_possible(fewer) else fewer
        return tuple(core)


def _point(event: int, end: int) -> int:
    """Returns the number of the start (0) or end (1) of an event."""
    return 2 * event + end


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
    return Demand(text, tuple(_bounds(a, b, hull(part) or ()) for part in convex_parts(relations)))


def _bounds(a: int, b: int, signs: tuple[str, ...]) -> tuple[Bound, ...]:
    found = []
    for (i, j), sign in zip(ENDS, signs, strict=True):
        first, second = _point(a, i), _point(b, j)
        if ">" not in sign:
            found.append(Bound(second, first, 0 if "=" in sign else -1))
        if "<" not in sign:
            found.append(Bound(first, second, 0 if "=" in sign else -1))
    return tuple(found)
