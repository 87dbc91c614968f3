"""Discrete Bayesian networks: exact inference, and setting a variable from outside."""

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.digraph import reach
from mabos_cli.reasoning.input_checks import check_size
from mabos_cli.reasoning.wording import listed

MOST_CELLS = 200_000  # of a table that inference builds on its way
Evidence = Mapping[str, str]


class Network(NamedTuple):
    """Variables with their values and parents, and for each combination of the parents' values the chances of its values."""

    states: dict[str, tuple[str, ...]]
    parents: dict[str, tuple[str, ...]]
    tables: dict[str, dict[tuple[str, ...], tuple[float, ...]]]


class Factor(NamedTuple):
    """Numbers for each combination of the values of some variables."""

    over: tuple[str, ...]
    cells: dict[tuple[str, ...], float]


def set_variables(network: Network, settings: Evidence) -> Network:
    """The network after an intervention: what is set no longer listens to its parents."""
    parents = network.parents | {name: () for name in settings}
    points = {
        name: {(): tuple(float(state == value) for state in network.states[name])} for name, value in settings.items()
    }
    return Network(network.states, parents, network.tables | points)


def joint(network: Network, query: Sequence[str], evidence: Evidence) -> dict[tuple[str, ...], float]:
    """P(values of the query, evidence) for each combination, by variable elimination."""
    needed = reach(network.parents, (*query, *evidence))
    factors = [_factor(network, name, evidence) for name in network.states if name in needed]
    hidden = [name for name in network.states if name in needed and name not in query and name not in evidence]
    while hidden:
        # The cheapest next: the one whose elimination builds the smallest table.
        name = min(hidden, key=lambda one: _cells(network, _touched(factors, one)))
        hidden.remove(name)
        touching = [factor for factor in factors if name in factor.over]
        over = tuple(one for one in _touched(factors, name) if one != name)
        factors = [factor for factor in factors if name not in factor.over]
        factors.append(_combine(network, touching, over, name))
    free = tuple(name for name in query if name not in evidence)
    found = _combine(network, factors, free, None)
    return {
        key: found.cells[tuple(state for name, state in zip(query, key, strict=True) if name in free)]
        for key in product(*((evidence[n],) if n in evidence else network.states[n] for n in query))
    }


def find_marginal(network: Network, query: str, evidence: Evidence) -> tuple[dict[str, float], float] | None:
    """The distribution of a variable given the evidence, and the probability of the evidence; None if it cannot happen."""
    cells = joint(network, (query,), evidence)
    total = sum(cells.values())
    if total <= 0:
        return None
    return {state: cells.get((state,), 0.0) / total for state in network.states[query]}, total


def marginal(network: Network, query: str, evidence: Evidence, path: str) -> tuple[dict[str, float], float]:
    """The same where the evidence must be possible."""
    found = find_marginal(network, query, evidence)
    if found is None:
        seen = listed([f"{name}={state}" for name, state in evidence.items()])
        raise BadValue(f"{path}: {seen} cannot happen in this network", "its probability is 0; check the tables")
    return found


def _factor(network: Network, name: str, evidence: Evidence) -> Factor:
    """The table of a variable, without the rows that the evidence rules out."""
    family = (*network.parents[name], name)
    over = tuple(one for one in family if one not in evidence)
    cells = {}
    for key, shares in network.tables[name].items():
        for state, share in zip(network.states[name], shares, strict=True):
            row = dict(zip(family, (*key, state), strict=True))
            if all(evidence.get(one, value) == value for one, value in row.items()):
                cells[tuple(row[one] for one in over)] = share
    return Factor(over, cells)


def _touched(factors: Sequence[Factor], name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for factor in factors if name in factor.over for one in factor.over))


def _cells(network: Network, names: Sequence[str]) -> int:
    return prod(len(network.states[name]) for name in names)


def _combine(network: Network, factors: Sequence[Factor], over: tuple[str, ...], gone: str | None) -> Factor:
    """The product of the factors over some variables, with one more summed out."""
    names = over if gone is None else (*over, gone)
    check_size("network", _cells(network, names), MOST_CELLS, "cells of a table", "it is too dense for exact inference")
    places = [tuple(names.index(name) for name in factor.over) for factor in factors]
    cells = dict.fromkeys(product(*(network.states[name] for name in over)), 0.0)
    for key in product(*(network.states[name] for name in names)):
        weight = 1.0
        for factor, place in zip(factors, places, strict=True):
            weight *= factor.cells[tuple(key[at] for at in place)]
            if not weight:
                break
        cells[key[: len(over)]] += weight
    return Factor(over, cells)
