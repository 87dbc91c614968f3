"""Rules that join one relation behind another (?x p ?y and ?y q ?z then ?x r ?z), as transitive ones do: worked out with sets of bits.

In a dense graph such a rule finds each conclusion in as many ways as there are things. A set of bits for each thing says at once
which ones are new.
"""

from collections.abc import Callable
from operator import itemgetter
from typing import NamedTuple

from mabos_cli.core.knowledge.relations import FactIndex, Row
from mabos_cli.core.knowledge.rule import Pattern, Rule, is_variable

_DENSE = 4  # rows for each thing
_MOST_THINGS = 8_192  # above that the sets would take more room than the facts


class _Ends(NamedTuple):
    """The conditions of such a rule in the order in which they follow one another, and its conclusion."""

    first: Pattern
    second: Pattern
    last: Pattern


def find_closure(rule: Rule, rank: int, index: FactIndex) -> "Closure | None":
    """Returns a rule as a closure, if it is one and its relations are neither too large nor bound to times."""
    ends = _find_ends(rule)
    if ends is None or index.are_timed(ends):
        return None
    closure = Closure(ends, rank, index)
    is_sparse = len(closure.joined) > 1 and closure.size < _DENSE * len(
        closure.things
    )  # few ways: a plain join is quicker
    return closure if len(closure.things) <= _MOST_THINGS and not is_sparse else None


def _find_ends(rule: Rule) -> _Ends | None:
    if len(rule.conditions) != 2 or not all(c.is_positive and c.operator == "eq" for c in rule.conditions):
        return None
    for one, two in (rule.conditions, rule.conditions[::-1]):
        names = (one.subject, one.object, two.object)
        if one.object == two.subject and (one.subject, two.object) == (rule.concluded.subject, rule.concluded.object):
            is_plain = not any(is_variable(each.predicate) for each in (one, two, rule.concluded))
            if is_plain and len(set(names)) == 3 and all(map(is_variable, names)):
                return _Ends(one, two, rule.concluded)
    return None


class Closure:
    """One such rule. Rows must come to it surest first, and of equally sure ones the nearest first."""

    def __init__(self, ends: _Ends, rank: int, index: FactIndex) -> None:
        self.ends, self.rank, self.index = ends, rank, index
        self.joined = {ends.first.predicate, ends.second.predicate}
        rows = [row for name in sorted(self.joined) for row in index.relation(name).rows]
        self.size = len(rows)
        self.things = sorted({term for row in rows for term in row[:2]})  # in an order that no hash decides
        self._numbers = {thing: number for number, thing in enumerate(self.things)}
        self._after: dict[int, int] = {}  # by ?y, the ?z of the second condition
        self._before: dict[int, int] = {}  # by ?y, the ?x of the first
        self._done: dict[int, int] = {}  # by ?x, the ?z that need not be looked at again
        self._done_back: dict[int, int] = {}
        for row in index.relation(ends.last.predicate).rows:  # what is asserted stays as it is
            x, z = self._number(row[0]), self._number(row[1])
            self._done[x] = self._done.get(x, 0) | 1 << z
            self._done_back[z] = self._done_back.get(z, 0) | 1 << x

    def _number(self, thing: str) -> int:
        found = self._numbers.get(thing)
        if found is None:
            found = self._numbers[thing] = len(self.things)
            self.things.append(thing)
        return found

    def extend(self, predicate: str, rows: list[Row], offer: Callable[[str, str, Row, Row], bool]) -> None:
        """Offers the conclusions that rows of one of the conditions make possible, with the rows that they rest on. The answer to an
        offer is whether no later one by this rule can be better."""
        number = self._number
        pairs = [(number(row[0]), number(row[1]), row) for row in sorted(rows, key=itemgetter(0, 1))]
        is_first, is_second = predicate == self.ends.first.predicate, predicate == self.ends.second.predicate
        things, done, back = self.things, self._done, self._done_back
        for x, y, _ in pairs:
            if is_first:
                self._before[y] = self._before.get(y, 0) | 1 << x
            if is_second:
                self._after[x] = self._after.get(x, 0) | 1 << y
        if is_first:
            second = self.index.relation(self.ends.second.predicate).index("both")
            for x, y, row in pairs:
                for z in bits(self._after.get(y, 0) & ~done.get(x, 0)):
                    if offer(row[0], things[z], row, second[row[1], things[z]]):
                        done[x] = done.get(x, 0) | 1 << z
                        back[z] = back.get(z, 0) | 1 << x
        if is_second:
            first = self.index.relation(self.ends.first.predicate).index("both")
            for y, z, row in pairs:
                for x in bits(self._before.get(y, 0) & ~back.get(z, 0)):
                    if offer(things[x], row[1], first[things[x], row[0]], row):
                        done[x] = done.get(x, 0) | 1 << z
                        back[z] = back.get(z, 0) | 1 << x


def bits(members: int) -> list[int]:
    """Returns the numbers in a set, in order.

    >>> bits(0b1101)
    [0, 2, 3]
    """
    found = []
    while members:
        low = members & -members
        found.append(low.bit_length() - 1)
        members ^= low
    return found
