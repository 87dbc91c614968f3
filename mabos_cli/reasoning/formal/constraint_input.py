"""Constraints as the user states them become constraints over numbered variables."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.reasoning.formal.constraint_linear import find_linear
from mabos_cli.reasoning.formal.constraint_meaning import View, exact, is_equal, rough
from mabos_cli.reasoning.formal.constraint_search import Constraint
from mabos_cli.reasoning.formal.constraint_text import Node
from mabos_cli.reasoning.input_checks import check_size, known_name

MOST_VALUES = 10_000
_NO_CONDITIONS = ("value", "variable", "neg", "*", "/", "%", "abs", "min", "max", "sum", "count")
_RANGE = re.compile(r"(-?\d{1,9})\s*(?:\.\.+|…|to)\s*(-?\d{1,9})")


def read_domain(place: str, said: Any, shared: Mapping[str, tuple[Any, ...]]) -> tuple[Any, ...]:
    """The values of a variable, from a list, a range, or the name of a domain.

    >>> read_domain("variables.x", "1..3", {})
    (1, 2, 3)
    """
    if isinstance(said, str):
        match = _RANGE.fullmatch(said.strip())
        if not match:
            if said.strip() in shared:
                return shared[said.strip()]
            raise BadValue(
                f"{place}: {said[:40]!r} is neither a range nor a domain", "give [a, b, c], 1..9, or a domain"
            )
        low, high = int(match[1]), int(match[2])
        check_size(place, high - low + 1, MOST_VALUES, "values")
        if high < low:
            raise BadValue(f"{place}: {said} is empty", "the lower end comes first")
        return tuple(range(low, high + 1))
    if not isinstance(said, list) or not said:
        raise BadValue(f"{place}: must be a list of values or a range", "give [a, b, c] or 1..9")
    check_size(place, len(said), MOST_VALUES, "values")
    found = tuple(_value(place, one) for one in said)
    if len({(isinstance(one, bool), one) for one in found}) < len(found):
        raise BadValue(f"{place}: a value is there twice", "give each value once")
    return found


def _value(place: str, said: Any) -> Any:
    """A value with which one can calculate exactly."""
    if isinstance(said, float):
        return Fraction(str(said))
    if isinstance(said, int) or (isinstance(said, str) and said.strip()):
        return said.strip() if isinstance(said, str) else said
    raise BadValue(f"{place}: a value must be a number, a text, true or false", "")


class Names:
    """The variables by name, and the texts that stand for values."""

    def __init__(self, variables: Mapping[str, tuple[Any, ...]]) -> None:
        self.numbers = {name: n for n, name in enumerate(variables)}
        self.domains = tuple(variables.values())
        self.numeric = {
            n
            for n, domain in enumerate(self.domains)
            if all(isinstance(value, int | Fraction) and not isinstance(value, bool) for value in domain)
        }
        self.texts = {value for domain in self.domains for value in domain if isinstance(value, str)}

    def resolve(self, node: Node, place: str) -> Node:
        """The tree with each name as a variable or, if there is none, as a value of some domain."""
        if node.op != "name":
            return node._replace(parts=tuple(self.resolve(part, place) for part in node.parts))
        if node.value in self.numbers:
            return Node("variable", value=self.numbers[node.value])
        known_name(place, node.value, (*self.numbers, *sorted(self.texts)), "variable or value")
        return Node("value", value=node.value)

    def constraints(self, owner: int, node: Node, place: str) -> list[Constraint]:
        """The constraints of a condition: parts that must all hold stand apart, which prunes more."""
        if node.op == "and":
            return [one for part in node.parts for one in self.constraints(owner, part, place)]
        if node.op == "all_different":
            pairs = [self.constraint(owner, Node("!=", pair), place) for pair in combinations(node.parts, 2)]
            return [*pairs, self.constraint(owner, node, place)._replace(is_whole=True)]
        return [self.constraint(owner, node, place)]

    def constraint(self, owner: int, node: Node, place: str) -> Constraint:
        holds, may_hold = exact(node, place), rough(node)
        scope = tuple(sorted(_variables(node)))
        # A variable that is true or false is a condition of its own.
        is_flag = node.op == "variable" and all(isinstance(value, bool) for value in self.domains[node.value])
        if node.op in _NO_CONDITIONS and not is_flag and not isinstance(node.value, bool):
            raise BadValue(f"{place}: is no condition", "compare it with something: =, !=, <, <=, >, >=")
        return Constraint(owner, scope, holds, may_hold, linear=find_linear(node, self.numeric))

    def table(self, owner: int, table: Mapping[str, Any], place: str) -> Constraint:
        """The constraint that a table of allowed combinations states."""
        scope = [self.numbers[known_name(f"{place}.of", name, self.numbers, "variable")] for name in table["of"]]
        if len({*scope}) < len(scope):
            raise BadValue(f"{place}.of: a variable is there twice", "name each once")
        rows = []
        for n, said in enumerate(table["allowed"], 1):
            here = f"{place}.allowed[{n}]"
            if len(said) != len(scope):
                raise BadValue(f"{here}: {len(said)} values for {len(scope)} variables", "give one for each")
            row = tuple(_value(here, one) for one in said)
            for name, variable, value in zip(table["of"], scope, row, strict=True):
                if not any(is_equal(value, one) for one in self.domains[variable]):
                    raise BadValue(f"{here}: {value!s} is no value of {name}", "take one from its domain")
            rows.append(row)
        return _table(owner, tuple(scope), rows)


def _table(owner: int, scope: tuple[int, ...], rows: list[tuple[Any, ...]]) -> Constraint:
    allowed = {tuple((isinstance(value, bool), value) for value in row) for row in rows}

    def holds(env: Sequence[Any]) -> bool:
        return tuple((isinstance(env[n], bool), env[n]) for n in scope) in allowed

    def may_hold(views: Sequence[View]) -> bool | None:
        sets = [views[n].values or () for n in scope]
        is_open = any(all(value in each for value, each in zip(row, sets, strict=True)) for row in rows)
        return None if is_open else False

    return Constraint(owner, scope, holds, may_hold)


def _variables(node: Node) -> set[int]:
    return {node.value} if node.op == "variable" else {n for part in node.parts for n in _variables(part)}
