"""Searches for values that meet all constraints: values that cannot be are dropped, then the variable with the fewest values left is
split.

The values that a variable may still take are the bits of a whole number, in the order of its domain."""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from operator import itemgetter
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.closures import bits
from mabos_cli.reasoning.expression import COMPARISONS, Node, build, names_of

MOST_CHECKS = 1_000_000
_LISTED = 64  # combinations and values that are tried one by one
_MOST_VIEWS = 50_000


class View(NamedTuple):
    """The possible values of an expression: its possible values if they are known, and their bounds if all are numbers."""

    values: frozenset[Any] | None
    low: Any = None
    high: Any = None


Views = Sequence[View]
# Of a condition: True, False, or None where both are possible.
Rough = Callable[[Views], Any]
_ANY = View(None)


def view_of(values: Sequence[Any]) -> View:
    """Returns what a variable with these values may be."""
    if any(isinstance(value, str) for value in values):
        return View(frozenset(values))
    return View(frozenset(values), min(values) + 0, max(values) + 0)  # + 0 makes numbers of yes and no


def rough(node: Node) -> Rough:
    """Returns a function from the views of the variables to what an expression may be, erring only to the side of
    possible."""
    op = node.op
    if op == "value":
        view = view_of((node.value,))
        return lambda views: view
    if op == "name":
        return itemgetter(node.value)
    parts = [rough(part) for part in node.parts]
    if op in COMPARISONS:
        return lambda views: _compare(op, _as_view(parts[0](views)), _as_view(parts[1](views)))
    if op == "in":
        return lambda views: _any(
            [_compare("=", _as_view(parts[0](views)), _as_view(part(views))) for part in parts[1:]]
        )
    if op in ("and", "or", "not", "->", "<->"):
        return lambda views: _combine(op, [_as_truth(part(views)) for part in parts])
    if op == "if":
        return lambda views: _branch(_as_truth(parts[0](views)), parts[1](views), parts[2](views))
    if op == "all_different":
        return lambda views: _differ([_as_view(part(views)) for part in parts])
    return lambda views: _calculate(op, [_as_view(part(views)) for part in parts])


def _as_truth(found: Any) -> bool | None:
    if not isinstance(found, View):
        return bool(found) if found is not None else None
    if found.values is not None and len(found.values) == 1 and found.low is not None:
        return bool(next(iter(found.values)))
    return None


def _as_view(found: Any) -> View:
    """Returns a condition as a number: 1 where it holds."""
    if isinstance(found, View):
        return found
    return View(None, 0, 1) if found is None else View(frozenset((found,)), int(found), int(found))


def _not(holds: bool | None) -> bool | None:
    return None if holds is None else not holds


def _any(parts: list[bool | None]) -> bool | None:
    return True if True in parts else None if None in parts else False


def _combine(op: str, parts: list[bool | None]) -> bool | None:
    if op == "not":
        return _not(parts[0])
    if op == "->":
        return _any([_not(parts[0]), parts[1]])
    if op == "<->":
        return None if None in parts else parts[0] == parts[1]
    return _any(parts) if op == "or" else _not(_any([_not(part) for part in parts]))


def _branch(condition: bool | None, then: Any, other: Any) -> Any:
    if condition is not None:
        return then if condition else other
    are_conditions = not isinstance(then, View) and not isinstance(other, View)
    return (then if then == other else None) if are_conditions else _ANY


def _compare(op: str, a: View, b: View) -> bool | None:
    if op in ("=", "!="):
        same = _same(a, b)
        return same if op == "=" else _not(same)
    if a.low is None or b.low is None:
        return None
    if op in (">", ">="):
        a, b, op = b, a, "<" if op == ">" else "<="
    if COMPARISONS[op](a.high, b.low):
        return True
    return None if COMPARISONS[op](a.low, b.high) else False


def _same(a: View, b: View) -> bool | None:
    if a.values is not None and b.values is not None:
        if a.values.isdisjoint(b.values):
            return False
        return True if len(a.values) == len(b.values) == 1 else None
    if a.low is None or b.low is None:
        return None
    return False if a.high < b.low or b.high < a.low else None


def _differ(views: list[View]) -> bool | None:
    """Returns False if there are fewer values than things that must differ."""
    if any(view.values is None for view in views):
        return None
    return False if len(frozenset[Any]().union(*(view.values or () for view in views))) < len(views) else None


def _calculate(op: str, views: list[View]) -> View:
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
        low, high = lows[0], highs[0]
        for view in views[1:]:
            corners = [a * b for a in (low, high) for b in (view.low, view.high)]
            low, high = min(corners), max(corners)
        return View(None, low, high)
    return _ANY


class Constraint(NamedTuple):
    """A condition over some variables. `owner` is the number of the constraint that it comes from, as the user wrote it."""

    owner: int
    scope: tuple[int, ...]
    holds: Callable[[Sequence[Any]], bool]
    may_hold: Rough
    is_whole: bool = False  # ask may_hold once and not value by value: its parts are constraints by themselves


def make_constraint(owner: int, node: Node, place: str) -> Constraint:
    """Returns the constraint that a condition states. Where it has no value, as by a division by 0, it does not hold."""
    run = build(node)

    def holds(values: Sequence[Any]) -> bool:
        try:
            return bool(run(values))
        except ZeroDivisionError:
            return False
        except (TypeError, ValueError, OverflowError):
            hint = "calculate with numbers, and compare texts by = and != only"
            raise BadValue(f"{place}: cannot be computed for these values", hint) from None

    return Constraint(owner, tuple(sorted(names_of(node))), holds, rough(node))


def _branches(left: int) -> list[int]:
    """Returns the values that are left one by one, or many values as halves."""
    parts = [1 << one for one in bits(left)]
    if len(parts) <= _LISTED:
        return parts
    lower = sum(parts[: len(parts) // 2])
    return [lower, left ^ lower]


class GaveUp(Exception):
    """The search did more than it may."""


class Search:
    """One search over variables with their domains."""

    def __init__(
        self, domains: Sequence[tuple[Any, ...]], constraints: Sequence[Constraint], most: int = MOST_CHECKS
    ) -> None:
        self.domains, self.constraints, self.most = domains, constraints, most
        self.of: list[list[int]] = [[] for _ in domains]
        for n, constraint in enumerate(constraints):
            for variable in constraint.scope:
                self.of[variable].append(n)
        self.checks = self.nodes = 0
        self._views: dict[tuple[int, int], View] = {}

    def solutions(self) -> Iterator[tuple[Any, ...]]:
        """Yields every solution, each once, in an order that the input decides; GaveUp after too much work."""
        stack = [([(1 << len(domain)) - 1 for domain in self.domains], [*range(len(self.constraints))])]
        while stack:
            left, changed = stack.pop()
            self.nodes += 1
            self._count(1)
            if not self._propagate(left, changed):
                continue
            open_ones = [(mask.bit_count(), -len(self.of[n]), n) for n, mask in enumerate(left) if mask.bit_count() > 1]
            if not open_ones:
                yield tuple(domain[mask.bit_length() - 1] for domain, mask in zip(self.domains, left, strict=True))
                continue
            variable = min(open_ones)[2]
            for part in reversed(_branches(left[variable])):
                child = left.copy()
                child[variable] = part
                stack.append((child, self.of[variable]))

    def _count(self, checks: int) -> None:
        self.checks += checks
        if self.checks > self.most:
            raise GaveUp

    def _view(self, variable: int, left: int) -> View:
        """Returns what a variable may be, given the values that are left."""
        found = self._views.get((variable, left))
        if found is None:
            if len(self._views) >= _MOST_VIEWS:
                self._views.clear()
            found = view_of([self.domains[variable][n] for n in bits(left)])
            self._views[variable, left] = found
        return found

    def _propagate(self, left: list[int], changed: Sequence[int]) -> bool:
        """Drops values that no constraint can do with, in place; returns whether every variable keeps one."""
        waiting = dict.fromkeys(changed)
        while waiting:
            number = next(iter(waiting))
            del waiting[number]
            constraint = self.constraints[number]
            before = [left[n] for n in constraint.scope]
            is_settled = self._revise(constraint, left)
            for variable, old in zip(constraint.scope, before, strict=True):
                if left[variable] == old:
                    continue
                if not left[variable]:
                    return False
                waiting.update(dict.fromkeys(n for n in self.of[variable] if n != number or not is_settled))
            if not constraint.scope and not constraint.holds(()):
                return False
        return True

    def _revise(self, constraint: Constraint, left: list[int]) -> bool:
        """Drops the values that one constraint rules out; returns whether doing it again would change nothing."""
        scope = constraint.scope
        if prod(left[n].bit_count() for n in scope) <= (1 if constraint.is_whole else _LISTED):
            self._revise_listed(constraint, left)
            return True
        views: list[Any] = [None] * len(left)
        for n in scope:
            views[n] = self._view(n, left[n])
        self._count(1)
        verdict = constraint.may_hold(views)
        if verdict is False:
            left[scope[0]] = 0
        if verdict is not None or constraint.is_whole:
            return True
        before = [left[n] for n in scope]
        for n in scope:
            self._revise_bounds(constraint, n, left, views)
            if not left[n]:
                break
            views[n] = self._view(n, left[n])
        return before == [left[n] for n in scope]

    def _revise_listed(self, constraint: Constraint, left: list[int]) -> None:
        """Tries all combinations."""
        scope = constraint.scope
        values: list[Any] = [None] * len(left)
        kept = dict.fromkeys(scope, 0)
        for chosen in product(*(tuple(bits(left[n])) for n in scope)):
            self._count(1)
            for n, one in zip(scope, chosen, strict=True):
                values[n] = self.domains[n][one]
            if constraint.holds(values):
                for n, one in zip(scope, chosen, strict=True):
                    kept[n] |= 1 << one
        for n in scope:
            left[n] = kept[n]

    def _revise_bounds(self, constraint: Constraint, variable: int, left: list[int], views: list[Any]) -> None:
        """Drops the values with which the constraint cannot hold, whatever the others are; of many, those at the
        ends."""
        mine = list(bits(left[variable]))

        def is_out(some: Sequence[int]) -> bool:
            self._count(1 + len(constraint.scope) // 2)
            views[variable] = self._view(variable, sum(1 << one for one in some))
            return constraint.may_hold(views) is False

        if len(mine) <= _LISTED:
            left[variable] &= ~sum(1 << one for one in mine if is_out((one,)))
            return
        for ordered in (mine, mine[::-1]):
            # Blocks that shrink where they can still hold: few looks at many values.
            start, size = 0, len(mine) // 2
            while size:
                block = ordered[start : start + size]
                if block and is_out(block):
                    left[variable] &= ~sum(1 << one for one in block)
                    start += size
                else:
                    size //= 2
