"""Which feedback loops drive a system, and where to act: loops with their kind, archetypes, and how a push spreads."""

from typing import Any

from mabos_cli.core.language.text import plural
from mabos_cli.reasoning.answer import Answer, best_names, ranking, words
from mabos_cli.reasoning.causal.archetypes import ADVICE, MOST_COMPARED, Archetype, find_archetypes
from mabos_cli.reasoning.causal.feedback import MOST_PATH_STEPS, Graph, Loop, find_loops, parse_links, simulate, spread
from mabos_cli.reasoning.input_checks import known_name
from mabos_cli.reasoning.own import Own
from mabos_cli.reasoning.shape import anything, list_of, map_of, number, optional, record, whole
from mabos_cli.reasoning.wording import cut, figure, listed

SHAPE = record(
    links=list_of(
        anything("a link: `price -> demand -`; + is the same direction, - the opposite; then a weight and `delayed` if wanted"),
        "what influences what",
    ),
    push=optional(map_of(number("by how much", -1e6, 1e6), "what we would change, and by how much", least=0), {}),
    steps=optional(whole("how many steps to simulate the push for, 0 for none", 0, 1000), 0),
)  # fmt: skip
QUESTIONS = (
    "Which quantities change over time in this system?",
    "Which quantity moves which, in the same or in the opposite direction?",
    "Where does the effect come late?",
    "What would we change ourselves?",
)


def solve(given: dict[str, Any], own: Own) -> Answer:
    """The variables by the number of loops that run through them."""
    graph = parse_links(given["links"], "links")
    for name in given["push"]:
        known_name("push", name, graph, "variable")
    loops, are_all = find_loops(graph)
    labels = _labels(loops)
    found = find_archetypes(loops)
    counts = {name: float(sum(name in loop.names for loop in loops)) for name in graph}
    order = sorted((name for name in graph if counts[name]), key=lambda name: -counts[name])
    caveats = _caveats(loops, are_all, counts)
    detail = {
        "loops": [_loop_detail(loop, label) for loop, label in zip(loops, labels, strict=True)],
        "archetypes": [
            {"name": one.name, "loops": [labels[at] for at in one.loops], "at": list(one.at)} for one in found
        ],
        "loops_through": counts,
    }
    steps = [_loop_line(loop, label) for loop, label in list(zip(loops, labels, strict=True))[:4]]
    steps += [f"... and {len(loops) - 4} more loops"] if len(loops) > 4 else []
    steps += [_archetype_line(one, labels) for one in found[:3]]
    if given["push"]:
        detail |= _pushed(graph, given, steps, caveats)
    if not loops:
        said = f"no feedback among {len(graph)} variables: effects run through once and end"
        return Answer(words(said), None, said, cut(steps), detail, tuple(caveats))
    kinds = sum(loop.sign > 0 for loop in loops)
    said = f"{plural(len(loops), 'loop')}, {kinds} reinforcing and {len(loops) - kinds} balancing; most run through {order[0]} ({counts[order[0]]:.0f})"
    said += f"; looks like {found[0].name}" if found else ""
    return Answer(ranking(tuple(order), counts), None, said, cut(steps), detail, tuple(caveats))


def _labels(loops: tuple[Loop, ...]) -> list[str]:
    """R1, R2, ... for reinforcing loops, B1, ... for balancing ones."""
    labels, seen = [], {1: 0, -1: 0}
    for loop in loops:
        seen[loop.sign] += 1
        labels.append(f"{'R' if loop.sign > 0 else 'B'}{seen[loop.sign]}")
    return labels


def _loop_detail(loop: Loop, label: str) -> dict[str, Any]:
    gain = 1.0
    for link in loop.links:
        gain *= link.sign * link.weight
    return {
        "label": label,
        "kind": "reinforcing" if loop.sign > 0 else "balancing",
        "variables": list(loop.names),
        "is_delayed": loop.is_delayed,
        "gain": gain if abs(gain) < 1e300 else None,
    }


def _loop_line(loop: Loop, label: str) -> str:
    chain = loop.names[0] + "".join(f" ->{'+' if one.sign > 0 else '-'} {one.effect}" for one in loop.links)
    return f"{label}{' (delayed)' if loop.is_delayed else ''}: {chain}"


def _archetype_line(one: Archetype, labels: list[str]) -> str:
    return f"{one.name} at {listed(one.at, 2)} ({', '.join(labels[at] for at in one.loops)}): {ADVICE[one.name]}"


def _pushed(graph: Graph, given: dict[str, Any], steps: list[str], caveats: list[str]) -> dict[str, Any]:
    """Where the push moves each variable along all paths, and the simulation if one is wanted."""
    signs: dict[str, set[int]] = {}
    pushed = {name: 1 if amount > 0 else -1 for name, amount in given["push"].items() if amount}
    partly = []
    for name, way in pushed.items():
        reached, is_whole = spread(graph, name, MOST_PATH_STEPS // len(pushed))
        partly += [] if is_whole else [name]
        for one, paths in reached.items():
            # What is pushed itself moves by that too.
            signs.setdefault(one, {pushed[one]} if one in pushed else set()).update(way * sign for sign in paths)
    if partly:
        caveats.append(f"Not all paths from {listed(partly)} were followed: what looks certain may be open.")
    ways = {name: "open" if len(found) > 1 else "up" if 1 in found else "down" for name, found in signs.items()}
    for way, said in (("up", "moves up"), ("down", "moves down"), ("open", "leaves open")):
        moved = [name for name in ways if ways[name] == way]
        if moved:
            steps.append(f"the push {said}: {listed(moved)}")
    if not given["steps"]:
        return {"push": ways}
    values, away = simulate(graph, given["push"], given["steps"])
    last = {name: line[-1] for name, line in values.items()}
    shown = sorted(last, key=lambda name: -abs(last[name]))[:5]
    at = given["steps"] if away is None else away
    steps.append(f"after {plural(at, 'step')}: " + ", ".join(f"{name} {figure(last[name])}" for name in shown))
    if away is not None:
        caveats.append(f"The simulation runs away and was stopped at step {away}.")
    caveats.append("The simulation is linear: it shows directions and timing, not amounts.")
    return {"push": ways, "simulation": values}


def _caveats(loops: tuple[Loop, ...], are_all: bool, counts: dict[str, float]) -> list[str]:
    said = []
    if not are_all:
        said.append(
            f"There are more loops than the {len(loops)} that were found first: counts favour what is named first."
        )
    if len(loops) > MOST_COMPARED:
        said.append(f"Archetypes were looked for among the {MOST_COMPARED} shortest loops that were found.")
    if loops:
        top = best_names(counts)
        said += [f"{listed(top)} lie on equally many loops."] if len(top) > 1 else []
    return said
