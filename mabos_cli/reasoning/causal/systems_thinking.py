"""Finds which feedback loops drive a system, and where to act: on what lies on most loops."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.language.text import plural
from mabos_cli.reasoning.answer import Answer, best_names, cut, listed, notes, ranking, words
from mabos_cli.reasoning.inputs import AgentData
from mabos_cli.reasoning.network import reach
from mabos_cli.reasoning.shape import check_size

MOST_VARIABLES, MOST_LOOPS = 100, 1000
MOST_PATH_STEPS = 50_000
HINT = "write: cause -> effect + (or -)"
_LINK = re.compile(r"(?P<cause>.+?)\s*->\s*(?P<effect>.+?)(?:\s*:\s*|\s+)(?P<sign>[-+])\s*")


class Link(NamedTuple):
    """One influence: in the same direction (+1) or the opposite one (-1)."""

    cause: str
    effect: str
    sign: int


class Loop(NamedTuple):
    """A loop of feedback: reinforcing if an even number of its links is opposite, else balancing."""

    names: tuple[str, ...]
    links: tuple[Link, ...]

    @property
    def sign(self) -> int:
        return -1 if sum(link.sign < 0 for link in self.links) % 2 else 1


SignedGraph = dict[str, dict[str, Link]]


def parse_links(lines: Sequence[str], path: str) -> SignedGraph:
    """Returns the links by cause and effect, from `price -> demand -`."""
    graph: SignedGraph = {}
    for at, line in enumerate(lines, 1):
        match = _LINK.fullmatch(line.strip())
        if not match:
            raise BadValue(f"{path}[{at}]: {line[:60]!r} is no link", HINT)
        link = Link(match["cause"], match["effect"], 1 if match["sign"] == "+" else -1)
        graph.setdefault(link.cause, {})
        graph.setdefault(link.effect, {})
        if link.effect in graph[link.cause]:
            raise BadValue(f"{path}[{at}]: {link.cause} -> {link.effect} occurs twice", "keep one of them")
        graph[link.cause][link.effect] = link
    check_size(path, len(graph), MOST_VARIABLES, "variables")
    return graph


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the variables by the number of loops that run through them."""
    graph = parse_links(fields["links"], "links")
    loops, are_all = find_loops(graph)
    labels = _labels(loops)
    counts = {name: float(sum(name in loop.names for loop in loops)) for name in graph}
    order = sorted((name for name in graph if counts[name]), key=lambda name: -counts[name])
    top = best_names(counts)
    more = f"There are more loops than the {len(loops)} that were found first: counts favour what is named first."
    caveats = notes((not are_all, more), (loops and len(top) > 1, f"{listed(top)} lie on equally many loops."))
    detail = {
        "loops": [_loop_detail(loop, label) for loop, label in zip(loops, labels, strict=True)],
        "loops_through": counts,
    }
    arrows = {1: "->+", -1: "->-"}
    steps = [
        f"{label}: {' '.join((loop.names[0], *(f'{arrows[one.sign]} {one.effect}' for one in loop.links)))}"
        for loop, label in list(zip(loops, labels, strict=True))[:4]
    ]
    steps += [f"... and {len(loops) - 4} more loops"] if len(loops) > 4 else []
    if not loops:
        summary = f"no feedback among {len(graph)} variables: effects run through once and end"
        return Answer(words(summary), None, summary, cut(steps), detail, caveats)
    kinds = sum(loop.sign > 0 for loop in loops)
    summary = f"{plural(len(loops), 'loop')}, {kinds} reinforcing and {len(loops) - kinds} balancing; most run through {order[0]} ({counts[order[0]]:.0f})"
    return Answer(ranking(tuple(order), counts), None, summary, cut(steps), detail, caveats)


def _labels(loops: tuple[Loop, ...]) -> list[str]:
    """Returns R1, R2, ... for reinforcing loops, B1, ... for balancing ones."""
    labels, seen = [], {1: 0, -1: 0}
    for loop in loops:
        seen[loop.sign] += 1
        labels.append(f"{'R' if loop.sign > 0 else 'B'}{seen[loop.sign]}")
    return labels


def _loop_detail(loop: Loop, label: str) -> dict[str, Any]:
    return {
        "label": label,
        "kind": "reinforcing" if loop.sign > 0 else "balancing",
        "variables": list(loop.names),
    }


def find_loops(graph: SignedGraph) -> tuple[tuple[Loop, ...], bool]:
    """Returns the elementary loops, short ones first, and whether these are all. Each is found from its first variable, by paths
    through later ones that can still lead back."""
    rank = {name: at for at, name in enumerate(graph)}
    found: list[tuple[str, ...]] = []
    steps = 0
    for start in graph:
        later = {name: [one for one in graph[name] if rank[one] >= rank[start]] for name in graph}
        back: dict[str, list[str]] = {name: [] for name in graph}
        for name, below in later.items():
            for one in below:
                back[one].append(name)
        allowed = reach(later, [start]) & reach(back, [start])
        stack: list[tuple[str, ...]] = [(start,)]
        while stack and len(found) <= MOST_LOOPS and steps <= MOST_PATH_STEPS:
            path = stack.pop()
            steps += 1
            found += [path] if start in later[path[-1]] else []
            stack += [(*path, one) for one in later[path[-1]] if one in allowed and one not in path]
    found.sort(key=lambda names: (len(names), [rank[name] for name in names]))
    loops = [
        Loop(names, tuple(graph[one][other] for one, other in zip(names, (*names[1:], names[0]), strict=True)))
        for names in found[:MOST_LOOPS]
    ]
    return tuple(loops), len(found) <= MOST_LOOPS and steps <= MOST_PATH_STEPS
