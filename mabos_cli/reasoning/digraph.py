"""Links from one name to others: what lies on a way, and an order in which nothing comes before its causes."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from mabos_cli.core import BadValue


def causal_order(parents: Mapping[str, Sequence[str]], path: str) -> tuple[str, ...]:
    """The variables, parents before children; BadValue names a cycle."""
    try:
        return tuple(TopologicalSorter(parents).static_order())
    except CycleError as error:
        cycle = " -> ".join(error.args[1][:10])
        raise BadValue(f"{path}: nothing may cause itself: {cycle}", "take one of these links out") from None


def reach(links: Mapping[str, Collection[str]], names: Iterable[str]) -> set[str]:
    """Some names, and all that links lead to from them.

    >>> sorted(reach({"a": ["b"], "b": ["c"], "c": [], "d": ["a"]}, ["a"]))
    ['a', 'b', 'c']
    """
    found: set[str] = set()
    queue = [*names]
    while queue:
        name = queue.pop()
        if name not in found:
            found.add(name)
            queue.extend(links[name])
    return found
