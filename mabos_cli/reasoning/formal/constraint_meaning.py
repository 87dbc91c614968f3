"""Evaluates constraints: whether values meet it, and whether values from given domains can still meet it.

Numbers are exact. An expression without a value, such as a division by zero, makes the comparison around it false."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from operator import ge, gt, itemgetter, le, lt
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.reasoning.formal.constraint_text import COMPARISONS, Node

_ORDERS: dict[str, Callable[[Any, Any], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_LOGIC = ("and", "or", "not", "->", "<->", "if")
Value = int | Fraction | bool | str
Exact = Callable[[Sequence[Any]], Any]


class View(NamedTuple):
    """What an expression may be: its possible values if they are known, and their bounds if all are numbers."""

    values: frozenset[Any] | None
    low: Any = None
    high: Any = None


class Linear(NamedTuple):
    """A sum of variables with factors and a constant that must be at most, below, or exactly zero."""

    terms: tuple[tuple[int, Any], ...]
    constant: Any
    is_strict: bool = False
    is_equal: bool = False


# Of a condition: True, False, or None where both are possible.
Rough = Callable[[Sequence[View]], Any]
_ANY = View(None)


class _Undefined(ArithmeticError):
    """An expression that has no value."""


def view_of(values: Sequence[Any]) -> View:
    """Returns what a variable with these values may be."""
    if any(isinstance(value, str) for value in values):
        return View(frozenset(values))
    return View(frozenset(values), min(values) + 0, max(values) + 0)  # + 0 makes numbers of yes and no


def is_equal(a: Any, b: Any) -> bool:
    """Returns whether two values are one; yes and 1 are not."""
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def _number(value: Any, place: str) -> Any:
    if isinstance(value, str):
        raise BadValue(f"{place}: {value!r} is no number", "calculate and order only what has numbers in its domain")
    return value


def _truth(value: Any, place: str) -> bool:
    if isinstance(value, bool):
        return value
    raise BadValue(f"{place}: {value!s} stands where a condition is needed", "compare it: a = 1, b != red")


def exact(node: Node, place: str) -> Exact:
    """Returns a function from the values of the variables, by number, to the value of an expression."""
    op = node.op
    if op == "value":
        value = node.value
        return lambda env: value
    if op == "variable":
        return itemgetter(node.value)
    parts = [exact(part, place) for part in node.parts]
    if op in COMPARISONS or op in ("in", "all_different", "all_equal"):
        return _exact_condition(op, parts, place)
    if op in _LOGIC:
        return _exact_logic(op, parts, place)
    if op == "count":
        return lambda env: sum(_truth(part(env), place) for part in parts)
    return lambda env: _calculate(op, [_number(part(env), place) for part in parts])


def _exact_condition(op: str, parts: list[Exact], place: str) -> Exact:
    def holds(env: Sequence[Any]) -> bool:
        try:
            values = [part(env) for part in parts]
        except _Undefined:
            return False
        if op == "in":
            return any(is_equal(values[0], value) for value in values[1:])
        if op in ("=", "!="):
            return is_equal(*values) == (op == "=")
        if op in _ORDERS:
            return _ORDERS[op](_number(values[0], place), _number(values[1], place))
        different = {(isinstance(value, bool), value) for value in values}
        return len(different) == (len(parts) if op == "all_different" else 1)

    return holds


def _exact_logic(op: str, parts: list[Exact], place: str) -> Exact:
    def said(n: int, env: Sequence[Any]) -> bool:
        return _truth(parts[n](env), place)

    if op == "if":
        return lambda env: parts[1](env) if said(0, env) else parts[2](env)
    if op == "not":
        return lambda env: not said(0, env)
    if op == "->":
        return lambda env: not said(0, env) or said(1, env)
    if op == "<->":
        return lambda env: said(0, env) == said(1, env)
    count = range(len(parts))
    return lambda env: (all if op == "and" else any)(said(n, env) for n in count)


def _calculate(op: str, values: list[Any]) -> Any:
    if op in ("min", "max"):
        return min(values) if op == "min" else max(values)
    if op == "sum":
        return sum(values)
    if op in ("neg", "abs"):
        return -values[0] if op == "neg" else abs(values[0])
    a, b = values
    if op in ("/", "%"):
        if b == 0:
            raise _Undefined
        return Fraction(a) / b if op == "/" else a % b
    return a * b


def rough(node: Node) -> Rough:
    """Returns a function from the views of the variables to what an expression may be, erring only to the side of
    possible."""
    op = node.op
    if op == "value":
        view = view_of((node.value,))
        return lambda env: view
    if op == "variable":
        return itemgetter(node.value)
    parts = [rough(part) for part in node.parts]
    if op in ("=", "!="):
        return lambda env: _not(_same(parts[0](env), parts[1](env)), op == "!=")
    if op in COMPARISONS:
        return lambda env: _order(op, parts[0](env), parts[1](env))
    if op == "in":
        return lambda env: _any([_same(parts[0](env), part(env)) for part in parts[1:]])
    if op in _LOGIC:
        return _rough_logic(op, parts)
    if op == "all_different":
        return lambda env: _different([_as_view(part(env)) for part in parts])
    if op == "all_equal":
        return lambda env: _not(_any([_not(_same(parts[0](env), part(env))) for part in parts[1:]]))
    return lambda env: _rough_number(op, [_as_view(part(env)) for part in parts])


def _rough_logic(op: str, parts: list[Rough]) -> Rough:
    def said(n: int, env: Sequence[View]) -> bool | None:
        return _as_truth(parts[n](env))

    if op == "if":

        def branch(env: Sequence[View]) -> Any:
            condition = said(0, env)
            if condition is not None:
                return parts[1 if condition else 2](env)
            sides = [parts[1](env), parts[2](env)]
            if all(side is None or isinstance(side, bool) for side in sides):
                return sides[0] if sides[0] == sides[1] else None
            return _ANY

        return branch
    if op == "not":
        return lambda env: _not(said(0, env))
    if op == "->":
        return lambda env: _any([_not(said(0, env)), said(1, env)])
    if op == "<->":
        return lambda env: None if None in (both := (said(0, env), said(1, env))) else both[0] == both[1]
    count = range(len(parts))
    if op == "or":
        return lambda env: _any([said(n, env) for n in count])
    return lambda env: _not(_any([_not(said(n, env)) for n in count]))


def _not(said: bool | None, really: bool = True) -> bool | None:
    return said if said is None or not really else not said


def _any(said: list[bool | None]) -> bool | None:
    return True if True in said else None if None in said else False


def _as_truth(found: Any) -> bool | None:
    if isinstance(found, View):
        only = next(iter(found.values)) if found.values and len(found.values) == 1 else None
        return only if isinstance(only, bool) else None
    assert found is None or isinstance(found, bool)
    return found


def _as_view(found: Any) -> View:
    """Returns a condition counts as 1 where it holds."""
    if isinstance(found, View):
        return found
    return View(None, 0, 1) if found is None else View(frozenset((found,)), int(found), int(found))


def _same(a: Any, b: Any) -> bool | None:
    a, b = _as_view(a), _as_view(b)
    if a.values is not None and b.values is not None:
        if a.values.isdisjoint(b.values):
            return False
        if len(a.values) == len(b.values) == 1:
            return is_equal(*a.values, *b.values)
        return None
    if a.low is None or b.low is None:
        return None
    return False if a.high < b.low or b.high < a.low else None


def _order(op: str, a: Any, b: Any) -> bool | None:
    a, b = _as_view(a), _as_view(b)
    if a.low is None or b.low is None:
        return None
    if op in (">", ">="):
        a, b, op = b, a, "<" if op == ">" else "<="
    if _ORDERS[op](a.high, b.low):
        return True
    return None if _ORDERS[op](a.low, b.high) else False


def _different(views: list[View]) -> bool | None:
    """Returns False if there are fewer values than things that must differ."""
    if any(view.values is None for view in views):
        return None
    sizes = len(frozenset[Any]().union(*(view.values or () for view in views)))
    # Yes and 1 count as one value in a set, though they differ.
    has_truth = any(isinstance(value, bool) for view in views for value in view.values or ())
    return False if sizes < len(views) and not has_truth else None


def _rough_number(op: str, views: list[View]) -> View:
    if any(view.low is None for view in views):
        return _ANY
    lows, highs = [view.low for view in views], [view.high for view in views]
    if op in ("sum", "count"):
        return View(None, sum(lows), sum(highs))
    if op in ("min", "max"):
        pick = min if op == "min" else max
        return View(None, pick(lows), pick(highs))
    if op == "neg":
        return View(None, -highs[0], -lows[0])
    if op == "abs":
        ends = (abs(lows[0]), abs(highs[0]))
        return View(None, 0 if lows[0] <= 0 <= highs[0] else min(ends), max(ends))
    if op == "*":
        corners = [a * b for a in (lows[0], highs[0]) for b in (lows[1], highs[1])]
        return View(None, min(corners), max(corners))
    if lows[1] <= 0 <= highs[1]:
        return _ANY
    if op == "%":
        return View(None, 0, highs[1]) if lows[1] > 0 else View(None, lows[1], 0)
    corners = [Fraction(a) / b for a in (lows[0], highs[0]) for b in (lows[1], highs[1])]
    return View(None, min(corners), max(corners))
