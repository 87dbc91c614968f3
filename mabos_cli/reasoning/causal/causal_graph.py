"""Causal graphs: reading arrows, what is separated from what, and which variables to adjust for."""

import re
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.inputs import check_size
from mabos_cli.reasoning.network import causal_order, reach

MOST_IN_LOOPS = 100
MOST_LOOPS = 1000
MOST_PATH_STEPS = 200_000  # looks at links, for all that is pushed together
RUNAWAY = 1e12
HINT = "write: cause -> effect + (or -), then a weight and `delayed` if wanted"
_LINK = re.compile(r"(?P<cause>.+?)\s*->\s*(?P<effect>.+?)(?:\s*:\s*|\s+)(?P<sign>[-+])\s*(?P<more>[^-+]*)")
MOST_VARIABLES = 60
# All subsets of so many variables are tried; of more, one set that does is thinned out.
MOST_TRIED = 12
_ARROW = re.compile(r"\s*(<->|->|<-)\s*")


class Graph(NamedTuple):
    """Variables with their direct causes and effects. Hidden ones cannot be measured."""

    parents: dict[str, tuple[str, ...]]
    children: dict[str, tuple[str, ...]]
    hidden: frozenset[str]

    def without(self, starts: Collection[str] = (), ends: Collection[str] = ()) -> "Graph":
        """Returns the graph without the arrows that start or end at some variables."""
        kept = {
            name: () if name in ends else tuple(one for one in above if one not in starts)
            for name, above in self.parents.items()
        }
        return _graph(kept, self.hidden)

    def below(self, names: Iterable[str]) -> set[str]:
        """Returns the variables and all that they have an effect on."""
        return reach(self.children, names)

    def above(self, names: Iterable[str]) -> set[str]:
        """Returns the variables and all that has an effect on them."""
        return reach(self.parents, names)


def _graph(parents: dict[str, tuple[str, ...]], hidden: Iterable[str]) -> Graph:
    children: dict[str, list[str]] = {name: [] for name in parents}
    for name, above in parents.items():
        for one in above:
            children[one].append(name)
    return Graph(parents, {name: tuple(found) for name, found in children.items()}, frozenset(hidden))


def parse_graph(lines: Sequence[str], hidden: Sequence[str], path: str = "graph") -> Graph:
    """Returns the graph in lines such as `price -> demand -> profit`; `a <-> b` is a hidden common cause of both."""
    parents: dict[str, dict[str, None]] = {}
    unseen = dict.fromkeys(hidden)
    for at, line in enumerate(lines, 1):
        parts = _ARROW.split(line.strip())
        names, arrows = parts[::2], parts[1::2]
        if not arrows or not all(names):
            raise BadValue(f"{path}[{at}]: {line[:60]!r} has no arrow between two names", "write: cause -> effect")
        for name in names:
            parents.setdefault(name, {})
        for left, arrow, right in zip(names, arrows, names[1:], strict=False):
            if left == right:
                raise BadValue(f"{path}[{at}]: {left!r} cannot cause itself", "take this link out")
            if arrow == "<->":
                both = f"hidden cause of {left} and {right}"
                parents[both], unseen[both] = {}, None
                parents[left][both] = parents[right][both] = None
            else:
                cause, effect = (left, right) if arrow == "->" else (right, left)
                parents[effect][cause] = None
    for name in hidden:
        if name not in parents:
            raise BadValue(f"hidden: {name!r} is not in the graph", "name variables of the graph")
    check_size(path, len(parents), MOST_VARIABLES, "variables")
    causal_order({name: tuple(above) for name, above in parents.items()}, path)
    return _graph({name: tuple(above) for name, above in parents.items()}, unseen)


def is_separated(graph: Graph, ones: Iterable[str], others: Iterable[str], given: Collection[str]) -> bool:
    """Returns whether every path between two sets is blocked once some variables are known: known ones block, but a
    variable with two arrows into it blocks unless it or something below it is known."""
    targets, opened = set(others), graph.above(given)
    queue = [(name, True) for name in ones]  # True: reached from below, against the arrow
    seen: set[tuple[str, bool]] = set()
    while queue:
        name, upward = queue.pop()
        if (name, upward) in seen:
            continue
        seen.add((name, upward))
        if name in targets:
            return False
        if upward and name not in given:
            queue.extend((parent, True) for parent in graph.parents[name])
            queue.extend((child, False) for child in graph.children[name])
        elif not upward:
            if name not in given:
                queue.extend((child, False) for child in graph.children[name])
            if name in opened:
                queue.extend((parent, True) for parent in graph.parents[name])
    return True


def is_back_door(graph: Graph, cause: str, effect: str, chosen: Collection[str]) -> bool:
    """Returns whether adjusting for these variables leaves only what the cause does."""
    if graph.below([cause]) & set(chosen) or graph.hidden & set(chosen) or effect in chosen:
        return False
    return is_separated(graph.without(starts=[cause]), [cause], [effect], chosen)


def find_back_doors(graph: Graph, cause: str, effect: str) -> tuple[list[tuple[str, ...]], bool]:
    """Returns the smallest sets to adjust for, shortest first, and whether these are all. Only what lies above cause or
    effect can be in one."""
    after = graph.below([cause])
    useful = graph.above([cause, effect])
    free = [n for n in graph.parents if n in useful and n not in after and n not in graph.hidden and n != effect]
    if len(free) > MOST_TRIED:
        if not is_back_door(graph, cause, effect, free):
            return [], True
        for name in tuple(free):
            fewer = [one for one in free if one != name]
            free = fewer if is_back_door(graph, cause, effect, fewer) else free
        return [tuple(free)], False
    found: list[tuple[str, ...]] = []
    for size in range(len(free) + 1):
        for chosen in combinations(free, size):
            if not any(set(less) <= set(chosen) for less in found) and is_back_door(graph, cause, effect, chosen):
                found.append(chosen)
    return found, True


def is_front_door(graph: Graph, cause: str, effect: str, chosen: Collection[str]) -> bool:
    """Returns whether mediators carry the whole effectand neither their causes nor their effects are confounded."""
    through = graph.without(starts=chosen)
    return (
        effect not in through.below([cause])
        and is_separated(graph.without(starts=[cause]), [cause], chosen, ())
        and is_separated(through, chosen, [effect], [cause])
    )


def find_front_door(graph: Graph, cause: str, effect: str) -> tuple[tuple[str, ...] | None, bool]:
    """Returns a set of mediators that serves as front door, or None; and whether all sets were tried. Of many mediators
    single ones, pairs and all together are."""
    between = (graph.below([cause]) & graph.above([effect])) - {cause, effect} - graph.hidden
    free = tuple(name for name in graph.parents if name in between)
    are_few = len(free) <= MOST_TRIED
    for size in range(1, (len(free) if are_few else 2) + 1):
        for chosen in combinations(free, size):
            if is_front_door(graph, cause, effect, chosen):
                return chosen, True
    if not are_few and is_front_door(graph, cause, effect, free):
        return free, True
    return None, are_few


def find_instruments(graph: Graph, cause: str, effect: str) -> tuple[str, ...]:
    """Returns the variables that move the cause and reach the effect in no other way."""
    cut_off = graph.without(ends=[cause])
    return tuple(
        name
        for name in graph.parents
        if name not in graph.hidden
        and name not in (cause, effect)
        and not is_separated(graph, [name], [cause], ())
        and is_separated(cut_off, [name], [effect], ())
    )


def find_traps(graph: Graph, cause: str, effect: str) -> dict[str, str]:
    """Returns the measured variables that must not be adjusted for, with the reason."""
    after, outcome = graph.below([cause]), graph.below([effect])
    carrying = after & graph.above([effect])
    cut_off = graph.without(starts=[cause])
    closed = is_separated(cut_off, [cause], [effect], ())
    found = {}
    for name in graph.parents:
        if name in (cause, effect) or name in graph.hidden:
            continue
        if name in carrying:
            found[name] = "carries part of the effect"
        elif name in outcome:
            found[name] = "follows from the outcome"
        elif name in after:
            found[name] = "follows from the treatment"
        elif closed and not is_separated(cut_off, [cause], [effect], [name]):
            found[name] = "is a collider: knowing it links what was independent"
    return found


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
        """Returns the link of the loop that ends at a variable."""
        return next(link for link in self.links if link.effect == name)

    def out_of(self, name: str) -> Link:
        """Returns the link of the loop that starts at a variable."""
        return next(link for link in self.links if link.cause == name)


SignedGraph = dict[str, dict[str, Link]]


def parse_links(lines: Sequence[Any], path: str) -> SignedGraph:
    """Returns the links by cause and effect, from `price -> demand -` or `{price -> demand: "-"}`."""
    graph: SignedGraph = {}
    for at, line in enumerate(lines, 1):
        link = _parse_link(line, f"{path}[{at}]")
        graph.setdefault(link.cause, {})
        graph.setdefault(link.effect, {})
        if link.effect in graph[link.cause]:
            raise BadValue(f"{path}[{at}]: {link.cause} -> {link.effect} is there twice", "keep one of them")
        graph[link.cause][link.effect] = link
    check_size(path, len(graph), MOST_IN_LOOPS, "variables")
    return graph


def _parse_link(raw: Any, path: str) -> Link:
    if isinstance(raw, dict) and len(raw) == 1:
        ((key, value),) = raw.items()
        raw = f"{key} {value:+g}" if isinstance(value, int | float) else f"{key} {value}"
    match = _LINK.fullmatch(raw.strip()) if isinstance(raw, str) else None
    if not match:
        raise BadValue(f"{path}: {str(raw)[:60]!r} is no link", HINT)
    weight, is_delayed = 1.0, False
    for word in match["more"].replace(",", " ").split():
        if word == "delayed" and not is_delayed:
            is_delayed = True
        elif re.fullmatch(r"\d{1,6}(\.\d{1,9})?|\.\d{1,9}", word):
            weight = float(word)
        else:
            raise BadValue(f"{path}: {word!r} means nothing after the sign", HINT)
    return Link(match["cause"], match["effect"], 1 if match["sign"] == "+" else -1, weight, is_delayed)


def find_loops(graph: SignedGraph) -> tuple[tuple[Loop, ...], bool]:
    """Returns the elementary loops, short ones first, and whether these are all (Johnson 1975: no dead end is entered
    twice, so every loop costs at most one look at the graph)."""
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
    loops = [
        Loop(names, tuple(graph[one][other] for one, other in zip(names, (*names[1:], names[0]), strict=True)))
        for names in found[:MOST_LOOPS]
    ]
    return tuple(loops), len(found) <= MOST_LOOPS


class _Johnson:
    """The loops through one variable within some others."""

    def __init__(self, graph: SignedGraph, start: str, allowed: set[str], found: list[tuple[str, ...]]) -> None:
        self.graph, self.start, self.allowed, self.found = graph, start, allowed, found
        self.path: list[str] = []
        self.blocked: set[str] = set()
        self.waiting: dict[str, set[str]] = {}

    def visit(self, name: str) -> bool:
        """Returns whether a loop was closed below; if not, the variable stays blocked until what follows is free."""
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


def spread(graph: SignedGraph, start: str, most: int = MOST_PATH_STEPS) -> tuple[dict[str, set[int]], bool]:
    """Returns for every variable that a push can reach the signs of the paths there, and whether these are all. Short
    paths come first; once all signs are found that walks in circles could have, no other path can tell more."""
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


def _walk_signs(graph: SignedGraph, start: str) -> set[tuple[str, int]]:
    """Returns the variables with the signs that walks from a start have, which may pass others more than once."""
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


def simulate(graph: SignedGraph, push: Mapping[str, float], steps: int) -> tuple[dict[str, list[float]], int | None]:
    """Returns the change of every variable step by step, as a pulse that runs along the links: a change moves its
    effects in the next step, one later if delayed. Also returns the step at which something ran away."""
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
