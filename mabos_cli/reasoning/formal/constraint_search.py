"""Searches for values that meet all constraints: arcs are kept consistent, the variable with the fewest values left
goes first, and the value that leaves most to the others.

The values that a variable may still take are the bits of a whole number, in the order of its domain."""

from collections.abc import Callable, Collection, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any, NamedTuple

from mabos_cli.reasoning.arithmetic import bits
from mabos_cli.reasoning.formal.constraint_meaning import Exact, Linear, Rough, View, view_of
from mabos_cli.reasoning.formal.constraint_text import Node

_Sum = tuple[dict[int, Any], Any]
MOST_CHECKS = 1_000_000
_TABLED, _LISTED = (40_000, 64)  # pairs of values that are tabled; combinations and values that are tried one by one
_MOST_VIEWS = 50_000


class Constraint(NamedTuple):
    """A condition over some variables. `owner` is the number of the constraint that it comes from, as the user wrote it."""

    owner: int
    scope: tuple[int, ...]
    holds: Exact
    may_hold: Rough
    is_whole: bool = False  # ask may_hold once and not value by value: its parts are constraints of their own
    linear: Linear | None = None  # the same as a sum, which is faster to keep within bounds


class GaveUp(Exception):
    """The search did more than it may."""


class Problem:
    """Variables with their domains, constraints, and what has been worked out about pairs of values."""

    def __init__(self, values: tuple[tuple[Any, ...], ...], constraints: tuple[Constraint, ...]) -> None:
        self.values = values
        self.constraints = constraints
        self._pairs: dict[int, tuple[list[int], list[int]]] = {}
        self._views: dict[tuple[int, int], View] = {}

    def is_tabled(self, number: int) -> bool:
        """Returns whether a constraint is between two variables of which all pairs of values can be tried."""
        scope = self.constraints[number].scope
        return len(scope) == 2 and prod(len(self.values[n]) for n in scope) <= _TABLED

    def pairs(self, number: int) -> tuple[list[int], list[int]]:
        """Returns for each value of a constraint's first variable the values of the second that fit, and the
        reverse."""
        if number not in self._pairs:
            constraint = self.constraints[number]
            a, b = constraint.scope
            env: list[Any] = [None] * len(self.values)
            there, back = [0] * len(self.values[a]), [0] * len(self.values[b])
            for i, first in enumerate(self.values[a]):
                env[a] = first
                for j, second in enumerate(self.values[b]):
                    env[b] = second
                    if constraint.holds(env):
                        there[i] |= 1 << j
                        back[j] |= 1 << i
            self._pairs[number] = there, back
        return self._pairs[number]

    def view(self, variable: int, left: int) -> View:
        """Returns what a variable may be, given the values that are left."""
        key = variable, left
        found = self._views.get(key)
        if found is None:
            if len(self._views) >= _MOST_VIEWS:
                self._views.clear()
            values = self.values[variable]
            found = self._views[key] = view_of([values[n] for n in bits(left)])
        return found


class Search:
    """One search over a problem, or over some of its constraints. `cut` may be replaced while it runs, by what the next solution
    has to be better than; `prefer` tells the better of two branches by how low its figure is."""

    def __init__(
        self, problem: Problem, owners: set[int] | None = None, most: int = MOST_CHECKS, cut: Constraint | None = None
    ) -> None:
        self.problem, self.most = problem, most
        self.constraints = [*problem.constraints, cut] if cut else [*problem.constraints]
        self.active = [
            n for n, one in enumerate(self.constraints) if owners is None or one is cut or one.owner in owners
        ]
        self.of: list[list[int]] = [[] for _ in problem.values]
        for n in self.active:
            for variable in self.constraints[n].scope:
                self.of[variable].append(n)
        self.tabled = {n for n in self.active if self.constraints[n] is not cut and problem.is_tabled(n)}
        self.always = [len(self.constraints) - 1] if cut else []
        self.checks = self.nodes = 0
        self.prefer: Callable[[Sequence[View]], Any] | None = None

    def tighten(self, cut: Constraint) -> None:
        """Asks more of the solutions that are still to come."""
        self.constraints[-1] = cut

    def solutions(self) -> Iterator[tuple[Any, ...]]:
        """Yields every solution, each once, in an order that the input decides; GaveUp after too much work."""
        values = self.problem.values
        stack = [([(1 << len(domain)) - 1 for domain in values], self.active)]
        while stack:
            left, changed = stack.pop()
            self.nodes += 1
            self._count(1)
            if not self._propagate(left, changed):
                continue
            variable = self._choose(left)
            if variable is None:
                yield tuple(domain[mask.bit_length() - 1] for domain, mask in zip(values, left, strict=True))
                continue
            for part in reversed(self._branches(variable, left)):
                child = left.copy()
                child[variable] = part
                stack.append((child, self.of[variable] + self.always))

    def _count(self, checks: int) -> None:
        self.checks += checks
        if self.checks > self.most:
            raise GaveUp

    def _choose(self, left: list[int]) -> int | None:
        """Returns the open variable with the fewest values, of equals the one in most constraints, then the first."""
        ready = [(mask.bit_count(), -len(self.of[n]), n) for n, mask in enumerate(left) if mask.bit_count() > 1]
        return min(ready)[2] if ready else None

    def _branches(self, variable: int, left: list[int]) -> list[int]:
        """Returns the values of a variable , those first that rule out the fewest others; many values as halves."""
        mine = list(bits(left[variable]))
        if len(mine) > _LISTED:
            lower = sum(1 << one for one in mine[: len(mine) // 2])
            return self._preferred(variable, left, [lower, left[variable] ^ lower])
        free = dict.fromkeys(mine, 0)
        for number in self.of[variable]:
            if number in self.tabled:
                a, b = self.constraints[number].scope
                table = self.problem.pairs(number)[variable == b]
                other = left[a if variable == b else b]
                for value in mine:
                    free[value] -= (table[value] & other).bit_count()
        return self._preferred(variable, left, [1 << one for one in sorted(mine, key=free.__getitem__)])

    def _preferred(self, variable: int, left: list[int], parts: list[int]) -> list[int]:
        if self.prefer is None:
            return parts
        views = [self.problem.view(n, mask) for n, mask in enumerate(left)]
        figures = {}
        for part in parts:
            views[variable] = self.problem.view(variable, part)
            figures[part] = self.prefer(views)
        return sorted(parts, key=figures.__getitem__)

    def _propagate(self, left: list[int], changed: Sequence[int]) -> bool:
        """Drops values that no constraint can do with, in place; whether every variable keeps one."""
        waiting = dict.fromkeys(changed)
        while waiting:
            number = next(iter(waiting))
            del waiting[number]
            constraint = self.constraints[number]
            before = [left[n] for n in constraint.scope]
            is_settled = self._revise(number, left)
            for variable, old in zip(constraint.scope, before, strict=True):
                if left[variable] == old:
                    continue
                if not left[variable]:
                    return False
                waiting.update(dict.fromkeys(n for n in self.of[variable] if n != number or not is_settled))
            if not constraint.scope and not constraint.holds(()):
                return False
        return True

    def _revise(self, number: int, left: list[int]) -> bool:
        """Drops the values that one constraint rules out; whether doing it again would change nothing."""
        constraint = self.constraints[number]
        scope = constraint.scope
        if number in self.tabled:
            self._revise_pair(number, left)
            return True
        if prod(left[n].bit_count() for n in scope) <= (1 if constraint.is_whole else _LISTED):
            self._revise_listed(constraint, left)
            return True
        if constraint.linear is not None:
            self._count(len(scope))
            return self._revise_linear(constraint.linear, left)
        views: list[Any] = [None] * len(left)
        for n in scope:
            views[n] = self.problem.view(n, left[n])
        if constraint.is_whole:
            self._count(1)
            if constraint.may_hold(views) is False:
                left[scope[0]] = 0
            return True
        before = [left[n] for n in scope]
        for n in scope:
            self._revise_bounds(constraint, n, left, views)
            if not left[n]:
                break
            views[n] = self.problem.view(n, left[n])
        return before == [left[n] for n in scope]

    def _revise_pair(self, number: int, left: list[int]) -> None:
        a, b = self.constraints[number].scope
        there, back = self.problem.pairs(number)
        self._count(1)
        left[a] = sum(1 << n for n in bits(left[a]) if there[n] & left[b])
        left[b] = sum(1 << n for n in bits(left[b]) if back[n] & left[a])

    def _revise_listed(self, constraint: Constraint, left: list[int]) -> None:
        """Tries all combinations."""
        scope, values = constraint.scope, self.problem.values
        env: list[Any] = [None] * len(left)
        kept = dict.fromkeys(scope, 0)
        for chosen in product(*(tuple(bits(left[n])) for n in scope)):
            self._count(1)
            for n, one in zip(scope, chosen, strict=True):
                env[n] = values[n][one]
            if constraint.holds(env):
                for n, one in zip(scope, chosen, strict=True):
                    kept[n] |= 1 << one
        for n in scope:
            left[n] = kept[n]

    def _revise_linear(self, linear: Linear, left: list[int]) -> bool:
        """Drops the values that are too large for a sum even if all others are as small as can be, or too small."""
        spans = []
        for n, factor in linear.terms:
            view = self.problem.view(n, left[n])
            spans.append(
                (factor * view.low, factor * view.high) if factor > 0 else (factor * view.high, factor * view.low)
            )
        low = sum(span[0] for span in spans) + linear.constant
        high = sum(span[1] for span in spans) + linear.constant
        is_settled = True
        for (n, factor), span in zip(linear.terms, spans, strict=True):
            most, least = span[0] - low, span[1] - high
            if (
                span[1] <= most
                and not (linear.is_strict and span[1] == most)
                and (not linear.is_equal or span[0] >= least)
            ):
                continue
            domain, is_settled = self.problem.values[n], False
            for one in bits(left[n]):
                part = factor * domain[one]
                is_over = part > most or (linear.is_strict and part == most)
                if is_over or (linear.is_equal and part < least):
                    left[n] ^= 1 << one
            if not left[n]:
                return True
        return is_settled

    def _revise_bounds(self, constraint: Constraint, variable: int, left: list[int], views: list[Any]) -> None:
        """Drops the values with which the constraint cannot hold, whatever the others are; of many, those at the
        ends."""
        mine = list(bits(left[variable]))

        def is_out(some: Sequence[int]) -> bool:
            self._count(1)
            views[variable] = self.problem.view(variable, sum(1 << one for one in some))
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


def find_linear(node: Node, numeric: Collection[int]) -> Linear | None:
    """Returns the linear form of a comparison, if it has one. `numeric` are the variables that have only numbers.

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
    """Returns an expression as factors of variables and a constant."""
    if node.op == "value":
        return None if isinstance(node.value, str | bool) else ({}, node.value)
    if node.op == "variable":
        return ({node.value: 1}, 0) if node.value in numeric else None
    if node.op not in ("neg", "sum", "*", "/"):
        return None
    parts = [part for part in (_sum(part, numeric) for part in node.parts) if part is not None]
    if len(parts) < len(node.parts):
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
    """Returns a product or quotient, if one side is a constant."""
    if op == "*" and not left[0]:
        left, right = right, left
    if right[0] or (op == "/" and right[1] == 0):
        return None
    by = right[1] if op == "*" else Fraction(1) / right[1]
    return {variable: factor * by for variable, factor in left[0].items()}, left[1] * by
