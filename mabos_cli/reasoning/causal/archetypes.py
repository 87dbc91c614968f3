"""Archetypes of systems, told by how reinforcing and balancing loops hang together (after Senge, The Fifth Discipline)."""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

from mabos_cli.reasoning.causal.feedback import Loop

# Pairs of loops are compared, and triples for some archetypes.
MOST_COMPARED = 40

ADVICE = {
    "limits to growth": "do not push the growth; weaken what limits it",
    "shifting the burden": "strengthen the lasting solution; use the quick one only to win time",
    "fixes that fail": "mind the late side effect; the fix feeds the problem",
    "success to the successful": "give both sides their own resource, or a goal above both",
    "escalation": "let one side stop first, or agree on a goal for both",
    "tragedy of the commons": "limit the use of what is shared, or make each feel its own part",
}


class Archetype(NamedTuple):
    """An archetype with the loops, by number, and the variables that show it."""

    name: str
    loops: tuple[int, ...]
    at: tuple[str, ...]


def find_archetypes(loops: Sequence[Loop]) -> list[Archetype]:
    """The archetypes among the loops. A pair that belongs to a richer one is not told again as limits to growth."""
    loops = loops[:MOST_COMPARED]
    plus = [at for at, loop in enumerate(loops) if loop.sign > 0]
    minus = [at for at, loop in enumerate(loops) if loop.sign < 0]
    found = [
        *_tragedies(loops, plus, minus),
        *_burdens(loops, plus, minus),
        *_escalations(loops, minus),
        *_successes(loops, plus),
        *_failing_fixes(loops, plus, minus),
    ]
    taken = [set(one.loops) for one in found]
    found += [one for one in _limits(loops, plus, minus) if not any(set(one.loops) <= more for more in taken)]
    return found


def _shared(one: Loop, other: Loop) -> tuple[str, ...]:
    return tuple(name for name in one.names if name in other.names)


def _limits(loops: Sequence[Loop], plus: list[int], minus: list[int]) -> Iterator[Archetype]:
    """Growth that feeds itself runs into a balancing loop, the shortest of those that it meets."""
    for grow in plus:
        hold = next((at for at in minus if _shared(loops[grow], loops[at])), None)
        if hold is not None:
            yield Archetype("limits to growth", (grow, hold), _shared(loops[grow], loops[hold]))


def _failing_fixes(loops: Sequence[Loop], plus: list[int], minus: list[int]) -> Iterator[Archetype]:
    """The same step that balances the problem feeds it later: a common link, and the delay on the reinforcing side only."""
    for harm, fix in product(plus, minus):
        common = set(loops[harm].links) & set(loops[fix].links)
        if common and loops[harm].is_delayed and not loops[fix].is_delayed:
            yield Archetype("fixes that fail", (harm, fix), _shared(loops[harm], loops[fix]))


def _burdens(loops: Sequence[Loop], plus: list[int], minus: list[int]) -> Iterator[Archetype]:
    """Two balancing loops from one problem, a quick and a slow one, and a reinforcing loop from the quick fix to the slow one."""
    for one, other in combinations(minus, 2):
        if loops[one].is_delayed == loops[other].is_delayed:
            continue
        quick, slow = (one, other) if loops[other].is_delayed else (other, one)
        at = _shared(loops[quick], loops[slow])
        fixes = set(loops[quick].names) - set(loops[slow].names)
        lasting = set(loops[slow].names) - set(loops[quick].names)
        for more in plus:
            if at and fixes & set(loops[more].names) and lasting & set(loops[more].names):
                yield Archetype("shifting the burden", (quick, slow, more), at)
                break


def _successes(loops: Sequence[Loop], plus: list[int]) -> Iterator[Archetype]:
    """Two reinforcing loops around one share: what it gives to one it takes from the other."""
    for one, other in combinations(plus, 2):
        at = _shared(loops[one], loops[other])
        if len(at) == 1 and {_turn(loops[one], at[0]), _turn(loops[other], at[0])} == {(1, 1), (-1, -1)}:
            yield Archetype("success to the successful", (one, other), at)


def _escalations(loops: Sequence[Loop], minus: list[int]) -> Iterator[Archetype]:
    """Two balancing loops around one comparison, which each pulls to its own side."""
    for one, other in combinations(minus, 2):
        at = _shared(loops[one], loops[other])
        if len(at) == 1 and {_turn(loops[one], at[0]), _turn(loops[other], at[0])} == {(1, -1), (-1, 1)}:
            yield Archetype("escalation", (one, other), at)


def _turn(loop: Loop, name: str) -> tuple[int, int]:
    """The signs of the links of a loop into and out of a variable."""
    return loop.into(name).sign, loop.out_of(name).sign


def _tragedies(loops: Sequence[Loop], plus: list[int], minus: list[int]) -> Iterator[Archetype]:
    """Two growths that have nothing in common but what both use up: each is held back through it."""
    for one, other in combinations(plus, 2):
        if _shared(loops[one], loops[other]):
            continue
        holding = [[at for at in minus if _shared(loops[at], loops[grow])] for grow in (one, other)]
        for hold, also in product(*holding):
            commons = tuple(
                name
                for name in _shared(loops[hold], loops[also])
                if name not in loops[one].names and name not in loops[other].names
            )
            if hold != also and commons:
                yield Archetype("tragedy of the commons", (one, other, hold, also), commons)
                break
