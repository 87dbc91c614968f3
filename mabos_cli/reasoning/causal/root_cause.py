"""Finds which basic faults account for a failure, and which to mend first: a fault tree computed exactly."""

from collections.abc import Iterable, Mapping
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import Answer, cut, figure, listed, notes, ranking
from mabos_cli.reasoning.inputs import AgentData, check_known, known_name
from mabos_cli.reasoning.network import causal_order
from mabos_cli.reasoning.shape import check_size

CutSet = frozenset[str]
MOST_EVENTS = 150
MOST_SETS = 2000
MOST_JOINS = 200_000  # of cut sets, on the way
MOST_WORK = 200_000  # cut sets looked at while they are weighed


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns the faults in the order in which to mend them."""
    tree = parse_tree(fields["gates"], fields["top"])
    sets = find_cut_sets(tree)
    detail: dict[str, Any] = {"top": tree.top, "cut_sets": [_sorted(one, tree) for one in sets]}
    lines = [f"{len(sets)} minimal cut sets: {listed([' + '.join(_sorted(one, tree)) for one in sets], 5)}"]
    single = [name for one in sets if len(one) == 1 for name in one]
    if single:
        lines.append(f"fails alone on: {listed(single)}")
    if not fields["events"]:
        # By the size of the smallest cut set of each, then by the number of such sets.
        sizes = {name: [len(one) for one in sets if name in one] for name in tree.events}
        order = sorted(filter(sizes.get, sizes), key=lambda name: (min(sizes[name]), -len(sizes[name])))
        summary = f"{tree.top}: {len(sets)} minimal cut sets, the smallest of {len(sets[0])}; begin with {order[0]}"
        caveats = ("Without probabilities events are ranked by how few others must come with them, and how often.",)
        return Answer(ranking(tuple(order), about=tree.top), None, summary, cut(lines), detail, caveats)
    for name in fields["events"]:
        if name in fields["gates"]:
            raise BadValue(f"events.{name}: is a gate", "its probability follows; give those of basic events")
    named = [name for gate in fields["gates"].values() for form in ("any", "all", "of") for name in gate[form] or ()]
    check_known("events", fields["events"], dict.fromkeys(named), "event")
    missing = [name for name in tree.events if name not in fields["events"]]
    if missing:
        hint = "give one for every basic event, or none at all"
        raise BadValue(f"events: {listed(missing)} has no probability", hint)
    return _weigh(tree, sets, {name: fields["events"][name] for name in tree.events}, detail, lines)


class Gate(NamedTuple):
    """An event that happens when at least so many of others do."""

    need: int
    of: tuple[str, ...]


class Tree(NamedTuple):
    """Gates, inputs first, the event at the top, and the events at the bottom in the order in which they are met."""

    gates: dict[str, Gate]
    top: str
    events: tuple[str, ...]


def _weigh(
    tree: Tree, sets: tuple[CutSet, ...], chances: dict[str, float], detail: dict[str, Any], lines: list[str]
) -> Answer:
    """Returns the answer with probabilities: importance of each event by what mending it would take off the top."""
    top, slopes = _Expansion(chances).weigh(frozenset(sets))
    if top <= 0:
        raise BadValue(f"events: with these probabilities {tree.top} cannot happen", "some events on every way have 0")
    importance = {}
    for name in tree.events:
        slope, chance = slopes.get(name, 0.0), chances[name]
        share, left = slope * chance / top, top - slope * chance
        importance[name] = {"probability": chance, "birnbaum": slope, "criticality": share, "top_if_mended": left}
    ranks = {name: (-round(one["criticality"], 12), -round(one["birnbaum"], 12)) for name, one in importance.items()}
    order = sorted(tree.events, key=ranks.__getitem__)
    shares = {name: one["criticality"] for name, one in importance.items()}
    detail |= {"probability": top, "importance": {name: importance[name] for name in order}}
    lines.insert(0, f"P({tree.top}) = {figure(top)}, computed over all combinations of events")
    for name in order:
        gone, rest, rise = (figure(importance[name][key]) for key in ("criticality", "top_if_mended", "birnbaum"))
        lines.append(f"{name}: {gone} of it goes if mended, left {rest}, Birnbaum {rise}")
    most = shares[order[0]]
    summary = f"P({tree.top}) = {figure(top)}; mend {order[0]} first: it takes off {figure(100 * most)} %"
    tied = [name for name in order[1:] if abs(shares[name] - most) < 1e-12]
    caveats = notes(
        (True, "Basic events count as independent of each other."),
        (tied, f"{order[0]} and {listed(tied)} matter equally."),
    )
    return Answer(ranking(tuple(order), shares, tree.top), None, summary, cut(lines), detail, caveats)


class _Expansion:
    """Exact probabilities of cut sets of independent events, by asking for one event after the other."""

    def __init__(self, chances: Mapping[str, float]) -> None:
        self.chances = chances
        self.known: dict[frozenset[CutSet], tuple[float, dict[str, float]]] = {}
        self.work = 0

    def weigh(self, sets: frozenset[CutSet]) -> tuple[float, dict[str, float]]:
        """Returns the probability that some set happens as a whole, and by how much it rises if an event becomes certain
        instead of impossible."""
        if not sets or frozenset() in sets:
            return float(bool(sets)), {}
        if sets not in self.known:
            self.work += len(sets)
            check_size("gates", self.work, MOST_WORK, "steps of weighing cut sets", "the tree is too entangled")
            first = min(sets, key=lambda one: (len(one), sorted(one)))
            event = max(sorted(first), key=lambda name: sum(name in one for one in sets))
            with_it = self.weigh(frozenset(_smallest(one - {event} for one in sets)))
            without = self.weigh(frozenset(one for one in sets if event not in one))
            share = self.chances[event]
            slopes = {event: with_it[0] - without[0]}
            for name in (*with_it[1], *without[1]):
                slopes[name] = share * with_it[1].get(name, 0.0) + (1 - share) * without[1].get(name, 0.0)
            self.known[sets] = share * with_it[0] + (1 - share) * without[0], slopes
        return self.known[sets]


def _sorted(one: CutSet, tree: Tree) -> list[str]:
    return sorted(one, key=tree.events.index)


def parse_tree(raw: Mapping[str, Mapping[str, Any]], top: str | None) -> Tree:
    """Returns the tree below the top event; what is named and is no gate is a basic event."""
    gates = {name: _gate(one, f"gates.{name}") for name, one in raw.items()}
    used = {name for gate in gates.values() for name in gate.of}
    order = causal_order({name: [one for one in gate.of if one in gates] for name, gate in gates.items()}, "gates")
    if top is None:
        tops = [name for name in gates if name not in used]
        if len(tops) != 1:
            hint = f"name one of {', '.join(tops)}"
            raise BadValue(f"top: is missing, and {len(tops)} gates are below no other", hint)
        top = tops[0]
    known_name("top", top, gates, "gate")
    events: dict[str, None] = {}
    queue, passed = [top], set()
    while queue:
        name = queue.pop()
        if name in gates and name not in passed:
            queue.extend(reversed(gates[name].of))
        elif name not in gates:
            events[name] = None
        passed.add(name)
    check_size("gates", len(events), MOST_EVENTS, "basic events")
    return Tree({name: gates[name] for name in order if name in passed}, top, tuple(events))


def _gate(raw: Mapping[str, Any], path: str) -> Gate:
    forms = [form for form in ("any", "all", "of") if raw[form]]
    if len(forms) != 1 or (forms == ["of"]) != (raw["need"] is not None):
        hint = "any: [a, b]; all: [a, b]; need: 2, of: [a, b, c]"
        raise BadValue(f"{path}: must have either any, or all, or need with of", hint)
    names = tuple(raw[forms[0]])
    if len(set(names)) != len(names):
        raise BadValue(f"{path}: names an event twice", "keep one of them")
    need = {"any": 1, "all": len(names), "of": raw["need"]}[forms[0]]
    if need > len(names):
        raise BadValue(f"{path}: needs {need} of only {len(names)}", "need fewer, or name more")
    return Gate(need, names)


def find_cut_sets(tree: Tree) -> tuple[CutSet, ...]:
    """Returns the smallest sets of basic events that bring about the top event, small ones first."""
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
    """Returns the sets that contain no other."""
    kept: list[CutSet] = []
    by_event: dict[str, list[CutSet]] = {}
    for one in sorted(set(sets), key=len):
        if not one:
            return (one,)
        # A set that is contained shares its events, so only those lists need a look.
        if any(less <= one for name in one for less in by_event.get(name, ())):
            continue
        kept.append(one)
        check_size("gates", len(kept), MOST_SETS, "cut sets", "the tree is too rich for them")
        # Listed under one event is enough: whoever contains it has that event.
        by_event.setdefault(min(one), []).append(one)
    return tuple(kept)
