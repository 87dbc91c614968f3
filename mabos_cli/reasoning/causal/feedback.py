"""Signed causal graphs: reading links, every elementary loop, how a push spreads, and a linear simulation of it."""

import re
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.digraph import reach
from mabos_cli.reasoning.input_checks import check_size

MOST_VARIABLES = 100
MOST_LOOPS = 1000
MOST_PATH_STEPS = 200_000  # looks at links, for all that is pushed together
RUNAWAY = 1e12
HINT = "write: cause -> effect + (or -), then a weight and `delayed` if wanted"
_LINK = re.compile(r"(?P<cause>.+?)\s*->\s*(?P<effect>.+?)(?:\s*:\s*|\s+)(?P<sign>[-+])\s*(?P<more>[^-+]*)")


class Link(NamedTuple):
    """One influence: in the same direction (+1) or the opposite one (-1)."""

    cause: str
    effect: str
    sign: int
    weight: float = 1.0
    is_delayed: bool = False


class Loop(NamedTuple):
    """A loop of feedback: reinforcing if an even number of its links is opposite, else balancing."""

    names: tuple[str, ...]
    links: tuple[Link, ...]

    @property
    def sign(self) -> int:
        return -1 if sum(link.sign < 0 for link in self.links) % 2 else 1

    @property
    def is_delayed(self) -> bool:
        return any(link.is_delayed for link in self.links)

    def into(self, name: str) -> Link:
        """The link of the loop that ends at a variable."""
        return next(link for link in self.links if link.effect == name)

    def out_of(self, name: str) -> Link:
        """The link of the loop that starts at a variable."""
        return next(link for link in self.links if link.cause == name)


Graph = dict[str, dict[str, Link]]


def parse_links(lines: Sequence[Any], path: str) -> Graph:
    """The links by cause and effect, from `price -> demand -` or `{price -> demand: "-"}`."""
    graph: Graph = {}
    for at, line in enumerate(lines, 1):
        link = _parse_link(line, f"{path}[{at}]")
        graph.setdefault(link.cause, {})
        graph.setdefault(link.effect, {})
        if link.effect in graph[link.cause]:
            raise BadValue(f"{path}[{at}]: {link.cause} -> {link.effect} is there twice", "keep one of them")
        graph[link.cause][link.effect] = link
    check_size(path, len(graph), MOST_VARIABLES, "variables")
    return graph


def _parse_link(said: Any, path: str) -> Link:
    if isinstance(said, dict) and len(said) == 1:
        ((key, value),) = said.items()
        said = f"{key} {value:+g}" if isinstance(value, int | float) else f"{key} {value}"
    match = _LINK.fullmatch(said.strip()) if isinstance(said, str) else None
    if not match:
        raise BadValue(f"{path}: {str(said)[:60]!r} is no link", HINT)
    weight, is_delayed = 1.0, False
    for word in match["more"].replace(",", " ").split():
        if word == "delayed" and not is_delayed:
            is_delayed = True
        elif re.fullmatch(r"\d{1,6}(\.\d{1,9})?|\.\d{1,9}", word):
            weight = float(word)
        else:
            raise BadValue(f"{path}: {word!r} means nothing after the sign", HINT)
    return Link(match["cause"], match["effect"], 1 if match["sign"] == "+" else -1, weight, is_delayed)


def find_loops(graph: Graph) -> tuple[tuple[Loop, ...], bool]:
    """The elementary loops, short ones first, and whether these are all (Johnson 1975: no dead end is entered twice, so every loop
    costs at most one look at the graph)."""
    order = list(graph)
    rank = {name: at for at, name in enumerate(order)}
    found: list[tuple[str, ...]] = []
    for at, start in enumerate(order):
        # Loops through what came before were found there.
        left = {name: [one for one in graph[name] if rank[one] >= at] for name in order[at:]}
        allowed = reach(left, [start]) & reach(_reversed(left), [start])
        _Johnson(graph, start, allowed, found).visit(start)
        if len(found) > MOST_LOOPS:
            break
    found.sort(key=lambda names: (len(names), [rank[name] for name in names]))
    loops = tuple(Loop(names, _links(graph, names)) for names in found[:MOST_LOOPS])
    return loops, len(found) <= MOST_LOOPS


class _Johnson:
    """The loops through one variable within some others."""

    def __init__(self, graph: Graph, start: str, allowed: set[str], found: list[tuple[str, ...]]) -> None:
        self.graph, self.start, self.allowed, self.found = graph, start, allowed, found
        self.path: list[str] = []
        self.blocked: set[str] = set()
        self.waiting: dict[str, set[str]] = {}

    def visit(self, name: str) -> bool:
        """Whether a loop was closed below; if not, the variable stays blocked until what it leads to is free."""
        closed = False
        self.path.append(name)
        self.blocked.add(name)
        below = [one for one in self.graph[name] if one in self.allowed]
        for one in below:
            if len(self.found) > MOST_LOOPS:
                break
            if one == self.start:
                self.found.append(tuple(self.path))
                closed = True
            elif one not in self.blocked:
                closed |= self.visit(one)
        if closed:
            self._free(name)
        else:
            for one in below:
                self.waiting.setdefault(one, set()).add(name)
        self.path.pop()
        return closed

    def _free(self, name: str) -> None:
        queue = [name]
        while queue:
            one = queue.pop()
            if one in self.blocked:
                self.blocked.discard(one)
                queue.extend(self.waiting.pop(one, ()))


def _reversed(graph: Mapping[str, Collection[str]]) -> dict[str, dict[str, None]]:
    turned: dict[str, dict[str, None]] = {name: {} for name in graph}
    for cause, below in graph.items():
        for effect in below:
            turned[effect][cause] = None
    return turned


def _links(graph: Graph, names: tuple[str, ...]) -> tuple[Link, ...]:
    return tuple(graph[one][other] for one, other in zip(names, (*names[1:], names[0]), strict=True))


def spread(graph: Graph, start: str, most: int = MOST_PATH_STEPS) -> tuple[dict[str, set[int]], bool]:
    """For every variable that a push can reach the signs of the paths there, and whether these are all. Short paths come first;
    once all signs are found that walks in circles could have, no other path can tell more."""
    bits = {name: 1 << n for n, name in enumerate(graph)}
    open_signs = _walk_signs(graph, start)
    found: dict[str, set[int]] = {}
    queue, steps = deque([(start, 1, bits[start])]), 0
    while queue and open_signs:
        name, sign, path = queue.popleft()
        for link in graph[name].values():
            steps += 1
            if steps > most:
                return found, False
            if not path & bits[link.effect]:
                found.setdefault(link.effect, set()).add(sign * link.sign)
                open_signs.discard((link.effect, sign * link.sign))
                queue.append((link.effect, sign * link.sign, path | bits[link.effect]))
    return found, True


def _walk_signs(graph: Graph, start: str) -> set[tuple[str, int]]:
    """The variables with the signs that walks from a start have, which may pass others more than once."""
    found: set[tuple[str, int]] = set()
    queue = [(start, 1)]
    while queue:
        name, sign = queue.pop()
        for link in graph[name].values():
            there = link.effect, sign * link.sign
            if link.effect != start and there not in found:
                found.add(there)
                queue.append(there)
    return found


def simulate(graph: Graph, push: Mapping[str, float], steps: int) -> tuple[dict[str, list[float]], int | None]:
    """The change of every variable step by step, as a pulse that runs along the links: what changed in one step moves its effects
    in the next, one later if delayed. The second value is the step at which something ran away, where it stops."""
    pulses = [{name: push.get(name, 0.0) for name in graph}]
    values = {name: [pulses[0][name]] for name in graph}
    for step in range(1, steps + 1):
        pulse = dict.fromkeys(graph, 0.0)
        for below in graph.values():
            for link in below.values():
                since = step - 1 - link.is_delayed
                if since >= 0:
                    pulse[link.effect] += link.sign * link.weight * pulses[since][link.cause]
        pulses.append(pulse)
        for name in graph:
            values[name].append(values[name][-1] + pulse[name])
        if any(abs(line[-1]) > RUNAWAY for line in values.values()):
            return values, step
    return values, None
