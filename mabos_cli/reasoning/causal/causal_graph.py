"""Causal graphs: reading arrows, what is separated from what, and which variables to adjust for."""

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.network import causal_order, reach
from mabos_cli.reasoning.shape import check_size

MOST_VARIABLES = 60
# All subsets of so many variables are tried; of more, one set that does is thinned out.
MOST_TRIED = 12
_ARROW = re.compile(r"\s*(<->|->|<-)\s*")


class Graph(NamedTuple):
    """Variables with their direct causes and effects. Hidden ones cannot be measured."""

    parents: dict[str, tuple[str, ...]]
    children: dict[str, tuple[str, ...]]
    hidden: frozenset[str]

    def without(self, starts: Collection[str]) -> "Graph":
        """Returns the graph without the arrows that start at some variables."""
        kept = {name: tuple(one for one in above if one not in starts) for name, above in self.parents.items()}
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


def is_separated(graph: Graph, ones: Iterable[str], others: Iterable[str], known: Collection[str]) -> bool:
    """Returns whether every path between two sets is blocked once some variables are known: known ones block, but a
    variable with two arrows into it blocks unless it or something below it is known."""
    targets, opened = set(others), graph.above(known)
    queue = [(name, True) for name in ones]  # True: reached from below, against the arrow
    seen: set[tuple[str, bool]] = set()
    while queue:
        name, upward = queue.pop()
        if (name, upward) in seen:
            continue
        seen.add((name, upward))
        if name in targets:
            return False
        if upward and name not in known:
            queue.extend((parent, True) for parent in graph.parents[name])
            queue.extend((child, False) for child in graph.children[name])
        elif not upward:
            if name not in known:
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
