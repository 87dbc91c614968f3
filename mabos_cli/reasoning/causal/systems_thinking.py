"""Finds which feedback loops drive a system, and where to act: on what lies on most loops."""

import re
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

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


SignedGraph = dict[str, dict[str, int]]  # by cause and effect: 1 in the same direction, -1 in the opposite one


def parse_links(lines: Sequence[str], path: str) -> SignedGraph:
    """Returns the links by cause and effect, from `price -> demand -`."""
    graph: SignedGraph = {}
    for at, line in enumerate(lines, 1):
        match = _LINK.fullmatch(line.strip())
        if not match:
            raise BadValue(f"{path}[{at}]: {line[:60]!r} is no link", HINT)
        cause, effect, sign = match.groups()
        if effect in graph.setdefault(cause, {}):
            raise BadValue(f"{path}[{at}]: {cause} -> {effect} occurs twice", "keep one of them")
        graph[cause][effect] = 1 if sign == "+" else -1
        graph.setdefault(effect, {})
    check_size(path, len(graph), MOST_VARIABLES, "variables")
    return graph


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the variables by the number of loops that run through them."""
    graph = parse_links(fields["links"], "links")
    loops, are_all = find_loops(graph)
    signs = [sign_of(loop, graph) for loop in loops]
    labels = [f"{'R' if sign > 0 else 'B'}{signs[: n + 1].count(sign)}" for n, sign in enumerate(signs)]
    counts = {name: float(sum(name in loop for loop in loops)) for name in graph}
    order = sorted((name for name in graph if counts[name]), key=lambda name: -counts[name])
    top = best_names(counts)
    more = f"There are more loops than the {len(loops)} that were found first: counts favour what is named first."
    caveats = notes((not are_all, more), (loops and len(top) > 1, f"{listed(top)} lie on equally many loops."))
    kinds = {1: "reinforcing", -1: "balancing"}
    detail = {
        "loops": [
            {"label": label, "kind": kinds[sign], "variables": list(loop)}
            for label, sign, loop in zip(labels, signs, loops, strict=True)
        ],
        "loops_through": counts,
    }
    steps = []
    for label, loop in list(zip(labels, loops, strict=True))[:4]:
        arrows = (f"{'->+' if graph[one][other] > 0 else '->-'} {other}" for one, other in links_of(loop))
        steps.append(f"{label}: {' '.join((loop[0], *arrows))}")
    steps += [f"... and {len(loops) - 4} more loops"] if len(loops) > 4 else []
    if not loops:
        summary = f"no feedback among {len(graph)} variables: effects run through once and end"
        return Answer(words(summary), None, summary, cut(steps), detail, caveats)
    kind = f"{signs.count(1)} reinforcing and {signs.count(-1)} balancing"
    summary = f"{plural(len(loops), 'loop')}, {kind}; most run through {order[0]} ({counts[order[0]]:.0f})"
    return Answer(ranking(tuple(order), counts), None, summary, cut(steps), detail, caveats)


def links_of(loop: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Returns each variable of a loop with the next one."""
    return zip(loop, (*loop[1:], loop[0]), strict=True)


def sign_of(loop: Sequence[str], graph: SignedGraph) -> int:
    """Returns 1 for a reinforcing loop, in which an even number of links is opposite, else -1."""
    return prod(graph[one][other] for one, other in links_of(loop))


def find_loops(graph: SignedGraph) -> tuple[tuple[tuple[str, ...], ...], bool]:
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
    return tuple(found[:MOST_LOOPS]), len(found) <= MOST_LOOPS and steps <= MOST_PATH_STEPS
