"""Discrete Bayesian networks: exact inference, and setting a variable from outside."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import product
from math import prod
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.answer import listed
from mabos_cli.reasoning.inputs import LARGEST, check_known, check_same, known_name, sum_to_one
from mabos_cli.reasoning.shape import check_size, read_number, read_share, read_text

MOST_VARIABLES = 200
_TABLE = (
    "the probability of the first value (`0.2`), or of each value (`{low: 0.2, high: 0.8}`); with parents one such entry per "
    "combination of their values, nested in their order or under `yes, no`; left out where data tell"
)
Row = tuple[dict[str, str], float]
Table = dict[tuple[str, ...], tuple[float, ...]]
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
    """Returns the network after an intervention: what is set no longer listens to its parents."""
    parents = network.parents | {name: () for name in settings}
    points: dict[str, Table] = {
        name: {(): tuple(float(state == value) for state in network.states[name])} for name, value in settings.items()
    }
    return Network(network.states, parents, network.tables | points)


def joint(network: Network, query: Sequence[str], evidence: Evidence) -> dict[tuple[str, ...], float]:
    """Returns P(values of the query, evidence) for each combination, by variable elimination."""
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
    """Returns the distribution of a variable given the evidence, and how likely that is; None if it cannot happen."""
    cells = joint(network, (query,), evidence)
    total = sum(cells.values())
    if total <= 0:
        return None
    return {state: cells.get((state,), 0.0) / total for state in network.states[query]}, total


def marginal(network: Network, query: str, evidence: Evidence, path: str) -> tuple[dict[str, float], float]:
    """Returns the same, and raises BadValue if the evidence cannot happen."""
    found = find_marginal(network, query, evidence)
    if found is None:
        seen = listed([f"{name}={state}" for name, state in evidence.items()])
        raise BadValue(f"{path}: {seen} cannot happen in this network", "its probability is 0; check the tables")
    return found


def _factor(network: Network, name: str, evidence: Evidence) -> Factor:
    """Returns the table of a variable, without the rows that the evidence rules out."""
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
    """Returns the product of the factors over some variables, with one more summed out."""
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


def state_name(raw: Any) -> str:
    """Returns a value of a variable as it is compared: YAML reads `true` as a truth value where it is a value and as
    text where it is a name, so both are called yes."""
    name = ("yes" if raw else "no") if isinstance(raw, bool) else str(raw).strip()
    return {"true": "yes", "false": "no"}.get(name.lower(), name)


def parse_network(nodes: Mapping[str, Any], rows: Sequence[Row], path: str = "network") -> Network:
    """Returns the network that the nodes describe; tables that are left out come from the rows."""
    check_size(path, len(nodes), MOST_VARIABLES, "variables")
    states, parents = {}, {}
    for name, node in nodes.items():
        values = tuple(map(state_name, node["values"] or ("yes", "no")))
        check_known(f"{path}.{name}.values", values, values, "value")
        check_known(f"{path}.{name}.parents", node["parents"], nodes, "variable")
        states[name], parents[name] = values, tuple(node["parents"])
    causal_order(parents, path)
    network = Network(states, parents, {})
    for name, node in nodes.items():
        here = f"{path}.{name}.table"
        check_size(here, prod(len(states[p]) for p in parents[name]), MOST_CELLS, "combinations of parents")
        if node["table"] is not None:
            network.tables[name] = _read_table(network, name, node["table"], here)
        elif rows:
            network.tables[name] = _count_table(network, name, rows)
        else:
            raise BadValue(f"{here}: is missing", "give probabilities, or rows of data to count")
    return network


def _read_table(network: Network, name: str, table: Any, path: str) -> Table:
    """Returns the probabilities by combination of the parents' values, from nested maps or from keys such as `yes, no`."""
    parents = network.parents[name]
    rows: dict[tuple[str, ...], Any] = {(): table}
    if len(parents) > 1 and isinstance(table, dict) and any("," in str(key) for key in table):
        rows = {tuple(map(state_name, str(key).split(","))): entry for key, entry in table.items()}
    else:
        for parent in parents:
            if not all(isinstance(entry, dict) for entry in rows.values()):
                raise BadValue(f"{path}: must have an entry for each value of {parent}", _TABLE)
            rows = {(*key, state_name(state)): below for key, entry in rows.items() for state, below in entry.items()}
    wanted = {", ".join(key): key for key in product(*(network.states[parent] for parent in parents))}
    if parents:
        check_same(path, [", ".join(key) for key in rows], wanted, f"combination of {', '.join(parents)}")
    return {
        key: _read_shares(rows[key], network.states[name], f"{path}.{shown}" if shown else path)
        for shown, key in wanted.items()
    }


def _read_shares(entry: Any, states: Sequence[str], path: str) -> tuple[float, ...]:
    if isinstance(entry, dict):
        named = {state_name(key): value for key, value in entry.items()}
        check_same(path, tuple(named), states, "value")
        shares = {state: read_share(named[state], f"{path}.{state}") for state in states}
    elif isinstance(entry, list):
        if len(entry) != len(states):
            raise BadValue(f"{path}: must have {len(states)} probabilities, not {len(entry)}", ", ".join(states))
        fields = [read_share(share, path) for share in entry]
        shares = dict(zip(states, fields, strict=True))
    elif len(states) == 2:
        first = read_share(entry, path, _TABLE)
        shares = {states[0]: first, states[1]: 1 - first}
    else:
        raise BadValue(f"{path}: needs a probability for each of {', '.join(states)}", _TABLE)
    return tuple(sum_to_one(path, shares).values())


def parse_rows(data: Sequence[Mapping[str, Any]], path: str = "data") -> tuple[Row, ...]:
    """Returns the rows with their counts; each names the same variables."""
    rows, columns = [], None
    for at, row in enumerate(data, 1):
        here = f"{path}[{at}]"
        count = read_number(row.get("count", 1), f"{here}.count", 0, LARGEST, "how often")
        cells = {}
        for name, value in row.items():
            if name != "count":
                cells[name] = state_name(read_text(value, f"{here}.{name}", "a value"))
        columns = cells.keys() if columns is None else columns
        check_same(here, tuple(cells), tuple(columns), "variable")
        rows.append((cells, count))
    if rows and not sum(count for _, count in rows):
        raise BadValue(f"{path}: every count is 0", "count what was seen")
    return tuple(rows)


def _count_table(network: Network, name: str, rows: Sequence[Row]) -> Table:
    columns = tuple(rows[0][0])
    for needed in (name, *network.parents[name]):
        known_name("data", needed, columns, "variable")
    counts = {
        key: dict.fromkeys(network.states[name], 0.0)
        for key in product(*(network.states[parent] for parent in network.parents[name]))
    }
    for cells, count in rows:
        for variable in (name, *network.parents[name]):
            known_name(f"data.{variable}", cells[variable], network.states[variable], "value")
        counts[tuple(cells[parent] for parent in network.parents[name])][cells[name]] += count
    table = {}
    for key, seen in counts.items():
        total = sum(seen.values())
        if not total:
            where = listed([f"{p}={s}" for p, s in zip(network.parents[name], key, strict=True)])
            raise BadValue(f"data: no row has {where}", f"give such rows, or a table for {name}")
        table[key] = tuple(count / total for count in seen.values())
    return table


def check_states(path: str, raw: Mapping[str, str], states: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Returns the variables with values, each known."""
    found = {}
    for name, value in raw.items():
        known_name(path, name, states, "variable")
        found[name] = known_name(f"{path}.{name}", state_name(value), states[name], "value")
    return found


def causal_order(parents: Mapping[str, Sequence[str]], path: str) -> tuple[str, ...]:
    """Returns the variables, parents before children; BadValue names a cycle."""
    try:
        return tuple(TopologicalSorter(parents).static_order())
    except CycleError as error:
        cycle = " -> ".join(error.args[1][:10])
        raise BadValue(f"{path}: runs in a circle: {cycle}", "take one of these links out") from None


def reach(links: Mapping[str, Collection[str]], names: Iterable[str]) -> set[str]:
    """Returns some names, and all that links lead to from them.

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
