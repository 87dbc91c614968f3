"""Discrete networks as people write them: tables of probabilities, or rows of counts to take them from."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.reasoning.digraph import causal_order
from mabos_cli.reasoning.discrete_network import MOST_CELLS, Network
from mabos_cli.reasoning.input_checks import LARGEST, check_known, check_same, check_size, known_name, sum_to_one
from mabos_cli.reasoning.shape import anything, conform, list_of, map_of, number, optional, probability, record, text
from mabos_cli.reasoning.wording import listed

MOST_VARIABLES = 200
_TABLE = (
    "the probability of the first value (`0.2`), or of each value (`{low: 0.2, high: 0.8}`); with parents one such entry per "
    "combination of their values, nested in their order or under `yes, no`; left out where data tell"
)
NODES = map_of(
    record(
        "a variable",
        values=optional(list_of(text("a value"), "its values, yes and no if left out", least=2)),
        parents=optional(list_of(text("a variable"), "the variables it depends on directly", least=0), []),
        table=optional(anything(_TABLE)),
    ),
    "the variables of the network",
)
STATES = map_of(text("a value"), "variables with the value that each has", least=0)
DATA = list_of(
    map_of(anything("a value"), "a row"),
    "rows with a value per variable, and `count` for how often it was seen",
    least=0,
)

Row = tuple[dict[str, str], float]
Table = dict[tuple[str, ...], tuple[float, ...]]


def state_name(said: Any) -> str:
    """A value of a variable as it is compared: YAML reads `true` as a truth value where it is a value and as text where it is
    a name, so both are called yes."""
    name = ("yes" if said else "no") if isinstance(said, bool) else str(said).strip()
    return {"true": "yes", "false": "no"}.get(name.lower(), name)


def parse_network(nodes: Mapping[str, Any], rows: Sequence[Row], path: str = "network") -> Network:
    """The network that the nodes describe; tables that are left out come from the rows."""
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
            network.tables[name] = dict(_read_table(network, name, node["table"], here))
        elif rows:
            network.tables[name] = _count_table(network, name, rows)
        else:
            raise BadValue(f"{here}: is missing", "give probabilities, or rows of data to count")
    return network


def _read_table(network: Network, name: str, table: Any, path: str) -> Iterator[Any]:
    """Combinations of the parents' values, each with its row of probabilities."""
    joined = _joined_keys(network, name, table, path)
    for combination in product(*(network.states[parent] for parent in network.parents[name])):
        if joined is not None:
            entry = joined[combination]
        else:
            entry = table
            for parent, state in zip(network.parents[name], combination, strict=True):
                entry = _below(entry, parent, state, network.states[parent], path)
        where = f"{path}.{', '.join(combination)}" if combination else path
        yield combination, _read_shares(entry, network.states[name], where)


def _joined_keys(network: Network, name: str, table: Any, path: str) -> dict[tuple[str, ...], Any] | None:
    """Entries under `yes, no` by combination, or None if the table is nested instead."""
    parents = network.parents[name]
    if len(parents) < 2 or not isinstance(table, dict) or not any("," in str(key) for key in table):
        return None
    found = {}
    for key, entry in table.items():
        combination = tuple(state_name(part) for part in str(key).split(","))
        if len(combination) != len(parents):
            raise BadValue(f"{path}: {key!r} must have {len(parents)} values", f"in the order {', '.join(parents)}")
        for parent, state in zip(parents, combination, strict=True):
            known_name(path, state, network.states[parent], f"value of {parent}")
        found[combination] = entry
    for combination in product(*(network.states[parent] for parent in parents)):
        if combination not in found:
            raise BadValue(f"{path}: {', '.join(combination)!r} is missing", f"in the order {', '.join(parents)}")
    return found


def _below(entry: Any, parent: str, state: str, states: Sequence[str], path: str) -> Any:
    if not isinstance(entry, dict):
        raise BadValue(f"{path}: must have an entry for each value of {parent}", _TABLE)
    named = {state_name(key): value for key, value in entry.items()}
    check_same(path, tuple(named), states, f"value of {parent}")
    return named[state]


def _read_shares(entry: Any, states: Sequence[str], path: str) -> tuple[float, ...]:
    if isinstance(entry, dict):
        named = {state_name(key): value for key, value in entry.items()}
        check_same(path, tuple(named), states, "value")
        shares = {state: conform(probability(""), named[state], {}, f"{path}.{state}") for state in states}
    elif isinstance(entry, list):
        if len(entry) != len(states):
            raise BadValue(f"{path}: must have {len(states)} probabilities, not {len(entry)}", ", ".join(states))
        given = [conform(probability(""), share, {}, path) for share in entry]
        shares = dict(zip(states, given, strict=True))
    elif len(states) == 2:
        first = conform(probability(_TABLE), entry, {}, path)
        shares = {states[0]: first, states[1]: 1 - first}
    else:
        raise BadValue(f"{path}: needs a probability for each of {', '.join(states)}", _TABLE)
    return tuple(sum_to_one(path, shares).values())


def parse_rows(data: Sequence[Mapping[str, Any]], path: str = "data") -> tuple[Row, ...]:
    """Rows with their counts; each names the same variables."""
    rows, columns = [], None
    for at, row in enumerate(data, 1):
        here = f"{path}[{at}]"
        count = conform(number("how often", 0, LARGEST), row.get("count", 1), {}, f"{here}.count")
        cells = {}
        for name, value in row.items():
            if name != "count":
                cells[name] = state_name(conform(text("a value"), value, {}, f"{here}.{name}"))
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


def check_states(path: str, given: Mapping[str, str], states: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Variables with values, each known."""
    found = {}
    for name, said in given.items():
        known_name(path, name, states, "variable")
        found[name] = known_name(f"{path}.{name}", state_name(said), states[name], "value")
    return found
