"""Fault trees: minimal cut sets, the exact probability of the top event by a decision diagram, and what each event adds to it."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.digraph import causal_order
from mabos_cli.reasoning.input_checks import check_size, known_name

MOST_EVENTS = 150
MOST_SETS = 2000
MOST_JOINS = 200_000  # of cut sets, on the way
MOST_NODES = 50_000
MOST_STEPS = 1_000_000  # of joining nodes

CutSet = frozenset[str]


class Gate(NamedTuple):
    """An event that happens when at least so many of others do."""

    need: int
    of: tuple[str, ...]


class Tree(NamedTuple):
    """Gates, inputs first, the event at the top, and the events at the bottom in the order in which they are met."""

    gates: dict[str, Gate]
    top: str
    events: tuple[str, ...]


def parse_tree(said: Mapping[str, Mapping[str, Any]], top: str | None) -> Tree:
    """The tree below the top event; what is named and is no gate is a basic event."""
    gates = {name: _gate(one, f"gates.{name}") for name, one in said.items()}
    used = {name for gate in gates.values() for name in gate.of}
    order = causal_order({name: [one for one in gate.of if one in gates] for name, gate in gates.items()}, "gates")
    if top is None:
        tops = [name for name in gates if name not in used]
        if len(tops) != 1:
            raise BadValue(
                f"top: is missing, and {len(tops)} gates are below no other", f"name one of {', '.join(tops)}"
            )
        top = tops[0]
    known_name("top", top, gates, "gate")
    events, queue, passed = {}, [top], set()
    while queue:
        name = queue.pop()
        if name in gates and name not in passed:
            queue.extend(reversed(gates[name].of))
        elif name not in gates:
            events[name] = None
        passed.add(name)
    check_size("gates", len(events), MOST_EVENTS, "basic events")
    return Tree({name: gates[name] for name in order if name in passed}, top, tuple(events))


def _gate(said: Mapping[str, Any], path: str) -> Gate:
    forms = [form for form in ("any", "all", "of") if said[form]]
    if len(forms) != 1 or (forms == ["of"]) != (said["need"] is not None):
        raise BadValue(
            f"{path}: must have either any, or all, or need with of", "any: [a, b]; all: [a, b]; need: 2, of: [a, b, c]"
        )
    names = tuple(said[forms[0]])
    if len(set(names)) != len(names):
        raise BadValue(f"{path}: names an event twice", "keep one of them")
    need = {"any": 1, "all": len(names), "of": said["need"]}[forms[0]]
    if need > len(names):
        raise BadValue(f"{path}: needs {need} of only {len(names)}", "need fewer, or name more")
    return Gate(need, names)


def find_cut_sets(tree: Tree) -> tuple[CutSet, ...]:
    """The smallest sets of basic events that bring about the top event, small ones first."""
    found: dict[str, tuple[CutSet, ...]] = {name: (frozenset((name,)),) for name in tree.events}
    joins = 0
    for name, gate in tree.gates.items():
        check_size(f"gates.{name}", comb(len(gate.of), gate.need), MOST_SETS, "combinations")
        alternatives: list[CutSet] = []
        for chosen in combinations(gate.of, gate.need):
            sets: tuple[CutSet, ...] = (frozenset(),)
            for one in chosen:
                joins += len(sets) * len(found[one])
                check_size(f"gates.{name}", joins, MOST_JOINS, "joins of cut sets", "the tree is too rich for them")
                sets = _smallest(part | more for part in sets for more in found[one])
            alternatives.extend(sets)
        found[name] = _smallest(alternatives)
    rank = {name: at for at, name in enumerate(tree.events)}
    return tuple(sorted(found[tree.top], key=lambda one: (len(one), sorted(rank[name] for name in one))))


def _smallest(sets: Iterable[CutSet]) -> tuple[CutSet, ...]:
    """The sets that contain no other."""
    kept: list[CutSet] = []
    by_event: dict[str, list[CutSet]] = {}
    for one in sorted(set(sets), key=len):
        # A set that is contained shares its events, so only those lists need a look.
        if any(less <= one for name in one for less in by_event.get(name, ())):
            continue
        kept.append(one)
        check_size("gates", len(kept), MOST_SETS, "cut sets", "the tree is too rich for them")
        # Listed under one event is enough: whoever contains it has that event.
        by_event.setdefault(min(one), []).append(one)
    return tuple(kept)


class Diagram:
    """A decision diagram over events in a fixed order. Node 0 is no, node 1 is yes; others ask for one event."""

    def __init__(self, events: Sequence[str]) -> None:
        self.events = tuple(events)
        self.rank = {name: at for at, name in enumerate(events)}
        self.nodes: list[tuple[int, int, int]] = [(len(events), 0, 0), (len(events), 1, 1)]  # rank, if not, if so
        self.unique: dict[tuple[int, int, int], int] = {}
        self.memo: dict[tuple[bool, int, int], int] = {}

    def node(self, rank: int, low: int, high: int) -> int:
        if low == high:
            return low
        key = (rank, low, high)
        if key not in self.unique:
            check_size("gates", len(self.nodes), MOST_NODES, "nodes of a decision diagram", "the tree is too entangled")
            self.unique[key] = len(self.nodes)
            self.nodes.append(key)
        return self.unique[key]

    def event(self, name: str) -> int:
        return self.node(self.rank[name], 0, 1)

    def join(self, is_and: bool, one: int, other: int) -> int:
        """Both, or either."""
        if one > other:
            one, other = other, one
        if one == other:
            return one
        if one <= 1:
            return other if (one == 1) == is_and else one
        key = (is_and, one, other)
        if key not in self.memo:
            check_size("gates", len(self.memo), MOST_STEPS, "steps of joining", "the tree is too entangled")
            (a, a_low, a_high), (b, b_low, b_high) = self.nodes[one], self.nodes[other]
            rank = min(a, b)
            low = self.join(is_and, a_low if a == rank else one, b_low if b == rank else other)
            high = self.join(is_and, a_high if a == rank else one, b_high if b == rank else other)
            self.memo[key] = self.node(rank, low, high)
        return self.memo[key]

    def at_least(self, need: int, parts: Sequence[int]) -> int:
        """So many of the parts or more."""
        counts = [1] + [0] * need  # counts[k]: k or more of the parts so far
        for part in parts:
            for k in range(need, 0, -1):
                counts[k] = self.join(False, counts[k], self.join(True, part, counts[k - 1]))
        return counts[need]

    def chance(self, root: int, chances: Mapping[str, float]) -> list[float]:
        """The probability of every node; nodes are made after those below them."""
        found = [0.0, 1.0]
        for rank, low, high in self.nodes[2 : root + 1]:
            share = chances[self.events[rank]]
            found.append((1 - share) * found[low] + share * found[high])
        return found

    def slopes(self, root: int, chances: Mapping[str, float]) -> dict[str, float]:
        """How much the probability of the root rises if an event becomes certain instead of impossible."""
        found, reach = self.chance(root, chances), [0.0] * (root + 1)
        reach[root] = 1.0
        slopes = dict.fromkeys(self.events, 0.0)
        for at in range(root, 1, -1):
            rank, low, high = self.nodes[at]
            share = chances[self.events[rank]]
            slopes[self.events[rank]] += reach[at] * (found[high] - found[low])
            reach[low] += reach[at] * (1 - share)
            reach[high] += reach[at] * share
        return slopes


def build(tree: Tree, diagram: Diagram) -> int:
    """The node of the top event."""
    made = {name: diagram.event(name) for name in tree.events}
    for name, gate in tree.gates.items():
        made[name] = diagram.at_least(gate.need, [made[one] for one in gate.of])
    return made[tree.top]


def chance_of_any(sets: Sequence[CutSet], diagram: Diagram, chances: Mapping[str, float]) -> float:
    """The probability that at least one of the sets happens as a whole."""
    whole = 0
    for one in sets:
        part = 1
        for name in sorted(one, key=diagram.rank.__getitem__, reverse=True):
            part = diagram.join(True, diagram.event(name), part)
        whole = diagram.join(False, whole, part)
    return diagram.chance(whole, chances)[whole]
