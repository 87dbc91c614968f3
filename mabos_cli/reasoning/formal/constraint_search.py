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
_MOST_BOUNDS = 50_000
# The least and the greatest value that is possible: yes is 1 and no is 0, a text has bounds only where it is the only one left.
Bounds = tuple[Any, Any] | None
NO, YES, OPEN = (0, 0), (1, 1), (0, 1)


def bounds_of(values: Sequence[Any]) -> Bounds:
    """Returns the bounds of a variable with these values."""
    if any(isinstance(value, str) for value in values):
        return (values[0], values[0]) if len(values) == 1 else None
    return min(values) + 0, max(values) + 0  # + 0 makes numbers of yes and no


def bound(node: Node) -> Callable[[Sequence[Bounds]], Bounds]:
    """Returns a function from the bounds of the variables to those of an expression, which err only to the side of
    possible."""
    if node.op == "value":
        constant = bounds_of((node.value,))
        return lambda known: constant
    if node.op == "name":
        return itemgetter(node.value)
    parts = [bound(part) for part in node.parts]
    if node.op in _CONDITIONS:
        decide = _CONDITIONS[node.op]
        return lambda known: decide([part(known) for part in parts])
    calculate = _CALCULATIONS.get(node.op)

    def work_out(known: Sequence[Bounds]) -> Bounds:
        found = [pair for part in parts if (pair := part(known)) and not isinstance(pair[0], str)]
        if calculate is None or len(found) < len(parts):
            return None
        lows, highs = zip(*found, strict=True)
        return calculate(lows, highs)

    return work_out


def _equal(pair: Sequence[Bounds]) -> Bounds:
    a, b = pair
    if a is None or b is None:
        return OPEN
    if a[0] == a[1] and b[0] == b[1]:
        return YES if a[0] == b[0] else NO
    apart = isinstance(a[0], str) or isinstance(b[0], str) or a[1] < b[0] or b[1] < a[0]
    return NO if apart else OPEN


def _order(op: str, pair: Sequence[Bounds]) -> Bounds:
    a, b = pair
    if a is None or b is None or isinstance(a[0], str) or isinstance(b[0], str):
        return OPEN
    if op in (">", ">="):
        a, b, op = b, a, "<" if op == ">" else "<="
    compare = COMPARISONS[op]
    return YES if compare(a[1], b[0]) else OPEN if compare(a[0], b[1]) else NO


def _not(one: Bounds) -> Bounds:
    low, high = one or OPEN
    return 1 - high, 1 - low


def _any(parts: Sequence[Bounds]) -> Bounds:
    known = [part or OPEN for part in parts]
    return max(low for low, _ in known), max(high for _, high in known)


def _branch(parts: Sequence[Bounds]) -> Bounds:
    test, then, other = parts
    if test in (YES, NO):
        return then if test == YES else other
    return then if then == other else None


def _multiply(lows: Sequence[Any], highs: Sequence[Any]) -> Bounds:
    low, high = 1, 1
    for pair in zip(lows, highs, strict=True):
        corners = [a * b for a in (low, high) for b in pair]
        low, high = min(corners), max(corners)
    return low, high


_CONDITIONS: dict[str, Callable[[Sequence[Bounds]], Bounds]] = {
    "=": _equal,
    "!=": lambda parts: _not(_equal(parts)),
    **{op: lambda parts, op=op: _order(op, parts) for op in ("<", "<=", ">", ">=")},  # type: ignore[misc]
    "in": lambda parts: _any([_equal((parts[0], part)) for part in parts[1:]]),
    "or": _any,
    "and": lambda parts: _not(_any([_not(part) for part in parts])),
    "not": lambda parts: _not(parts[0]),
    "->": lambda parts: _any([_not(parts[0]), parts[1]]),
    "<->": _equal,
    "if": _branch,
    "all_different": lambda parts: OPEN,
    "all_equal": lambda parts: OPEN,
}
_CALCULATIONS: dict[str, Callable[[Sequence[Any], Sequence[Any]], Bounds]] = {
    "sum": lambda lows, highs: (sum(lows), sum(highs)),
    "count": lambda lows, highs: (sum(lows), sum(highs)),
    "min": lambda lows, highs: (min(lows), min(highs)),
    "max": lambda lows, highs: (max(lows), max(highs)),
    "neg": lambda lows, highs: (-highs[0], -lows[0]),
    "abs": lambda lows, highs: (max(lows[0], -highs[0], 0), max(highs[0], -lows[0])),
    "*": _multiply,
}


class Constraint(NamedTuple):
    """A condition over some variables. `owner` is the number of the constraint that it comes from, as the user wrote it."""

    owner: int
    scope: tuple[int, ...]
    holds: Callable[[Sequence[Any]], bool]
    bounds: Callable[[Sequence[Bounds]], Bounds]
    are_counted: bool = False  # that there are enough values for all to differ is all that is asked


def make_constraint(owner: int, node: Node, place: str, *, are_counted: bool = False) -> Constraint:
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

    return Constraint(owner, tuple(sorted(names_of(node))), holds, bound(node), are_counted)


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
        self.checks = 0
        self._bounds: dict[tuple[int, int], Bounds] = {}

    def solutions(self) -> Iterator[tuple[Any, ...]]:
        """Yields every solution, each once, in an order that the input decides; GaveUp after too much work."""
        stack = [([(1 << len(domain)) - 1 for domain in self.domains], [*range(len(self.constraints))])]
        while stack:
            left, changed = stack.pop()
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

    def _bounds_of(self, variable: int, left: int) -> Bounds:
        """Returns the bounds of a variable, given the values that are left."""
        if (variable, left) not in self._bounds:
            if len(self._bounds) >= _MOST_BOUNDS:
                self._bounds.clear()
            self._bounds[variable, left] = bounds_of([self.domains[variable][n] for n in bits(left)])
        return self._bounds[variable, left]

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
                if not left[variable]:
                    return False
                if left[variable] != old:
                    waiting.update(dict.fromkeys(n for n in self.of[variable] if n != number or not is_settled))
            if not constraint.scope and not constraint.holds(()):
                return False
        return True

    def _revise(self, constraint: Constraint, left: list[int]) -> bool:
        """Drops the values that one constraint rules out; returns whether doing it again would change nothing."""
        scope = constraint.scope
        if constraint.are_counted:
            self._count(1)
            if len({self.domains[n][one] for n in scope for one in bits(left[n])}) < len(scope):
                left[scope[0]] = 0
            return True
        if prod(left[n].bit_count() for n in scope) <= _LISTED:  # all combinations are tried
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
            return True
        known: list[Bounds] = [None] * len(left)
        for n in scope:
            known[n] = self._bounds_of(n, left[n])
        self._count(1)
        verdict = constraint.bounds(known)
        if verdict in (YES, NO):
            left[scope[0]] *= verdict == YES
            return True
        for n in scope:
            self._revise_bounds(constraint, n, left, known)
            if not left[n]:
                break
            known[n] = self._bounds_of(n, left[n])
        return False

    def _revise_bounds(self, constraint: Constraint, variable: int, left: list[int], known: list[Bounds]) -> None:
        """Drops the values with which the constraint cannot hold, whatever the others are; of many, those at the
        ends."""
        mine = bits(left[variable])

        def is_out(some: Sequence[int]) -> bool:
            self._count(1 + len(constraint.scope) // 2)
            known[variable] = self._bounds_of(variable, sum(1 << one for one in some))
            return constraint.bounds(known) == NO

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
