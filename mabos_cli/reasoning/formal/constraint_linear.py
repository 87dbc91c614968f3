"""Constraints that compare sums, such as 3*x + 2*y <= 12, in the one form in which their bounds are quick to find."""

from collections.abc import Collection
from fractions import Fraction
from typing import Any

from mabos_cli.reasoning.formal.constraint_meaning import Linear
from mabos_cli.reasoning.formal.constraint_text import Node

_Sum = tuple[dict[int, Any], Any]


def find_linear(node: Node, numeric: Collection[int]) -> Linear | None:
    """The linear form of a comparison, or None if it has none. `numeric` are the variables that have only numbers.

    >>> x, y = Node("variable", value=0), Node("variable", value=1)
    >>> find_linear(Node(">", (Node("sum", (x, y)), Node("value", value=3))), {0, 1})
    Linear(terms=((0, -1), (1, -1)), constant=3, is_strict=True, is_equal=False)
    """
    if node.op not in ("=", "<", "<=", ">", ">="):
        return None
    less, more = node.parts if node.op[0] != ">" else node.parts[::-1]
    found = _sum(Node("sum", (less, Node("neg", (more,)))), numeric)
    if found is None:
        return None
    terms = tuple((variable, factor) for variable, factor in found[0].items() if factor)
    return Linear(terms, found[1], node.op in ("<", ">"), node.op == "=") if terms else None


def _sum(node: Node, numeric: Collection[int]) -> _Sum | None:
    """An expression as factors of variables and a constant."""
    if node.op == "value":
        return None if isinstance(node.value, str | bool) else ({}, node.value)
    if node.op == "variable":
        return ({node.value: 1}, 0) if node.value in numeric else None
    if node.op not in ("neg", "sum", "*", "/"):
        return None
    parts = [_sum(part, numeric) for part in node.parts]
    if any(part is None for part in parts):
        return None
    if node.op in ("*", "/"):
        return _scaled(node.op, *parts)
    sign = -1 if node.op == "neg" else 1
    factors: dict[int, Any] = {}
    for part in parts:
        for variable, factor in part[0].items():
            factors[variable] = factors.get(variable, 0) + sign * factor
    return factors, sign * sum(part[1] for part in parts)


def _scaled(op: str, left: _Sum, right: _Sum) -> _Sum | None:
    """A product or quotient, if one side is a constant."""
    if op == "*" and not left[0]:
        left, right = right, left
    if right[0] or (op == "/" and right[1] == 0):
        return None
    by = right[1] if op == "*" else Fraction(1) / right[1]
    return {variable: factor * by for variable, factor in left[0].items()}, left[1] * by
