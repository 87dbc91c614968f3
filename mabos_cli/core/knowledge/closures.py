"""Rules that join one relation behind another (?x p ?y and ?y q ?z then ?x r ?z), as transitive ones do: worked out with sets of bits.

In a dense graph such a rule finds each conclusion in as many ways as there are things. A set of bits for each thing says at once
which ones are new.
"""

from collections.abc import Callable
from operator import itemgetter

from mabos_cli.core.knowledge.relations import FactIndex, Row
from mabos_cli.core.knowledge.rule import Rule, is_variable

_DENSE = 4  # rows for each thing
_MOST_THINGS = 8_192  # above that the sets would take more room than the facts


def find_closure(rule: Rule, rank: int, index: FactIndex) -> "Closure | None":
    """Returns a rule as a closure, if it is one and its relations are neither too large nor bound to times."""
    last, plain = rule.concluded, [c for c in rule.conditions if c.is_positive and c.operator == "eq"]
    for first, second in (plain, plain[::-1]) if len(plain) == len(rule.conditions) == 2 else ():
        terms = (first.subject, first.object, second.object)
        is_joined = first.object == second.subject and (first.subject, second.object) == (last.subject, last.object)
        is_named = not any(is_variable(each.predicate) for each in (first, second, last))
        if is_joined and is_named and len(set(terms)) == 3 and all(map(is_variable, terms)):
            ends = first.predicate, second.predicate, last.predicate
            if index.are_timed((first, second, last)):
                return None
            closure = Closure(ends, rank, index)
            # Where there are few ways, a plain join is quicker.
            is_sparse = len(closure.joined) > 1 and closure.size < _DENSE * len(closure.things)
            return closure if len(closure.things) <= _MOST_THINGS and not is_sparse else None
    return None


class Closure:
    """One such rule. Rows must come to it surest first, and of equally sure ones the nearest first."""

    def __init__(self, ends: tuple[str, str, str], rank: int, index: FactIndex) -> None:
        self.first, self.second, last = (
            ends  # the predicates of its conditions, as they follow one another, and of its conclusion
        )
        self.rank, self.index, self.joined = rank, index, {self.first, self.second}
        rows = [row for name in sorted(self.joined) for row in index.relation(name).rows]
        self.size = len(rows)
        self.things = sorted({term for row in rows for term in row[:2]})  # in an order that no hash decides
        self._numbers = {thing: number for number, thing in enumerate(self.things)}
        self._after: dict[int, int] = {}  # by ?y, the ?z of the second condition
        self._before: dict[int, int] = {}  # by ?y, the ?x of the first
        self._done: dict[int, int] = {}  # by ?x, the ?z that need not be looked at again
        self._done_back: dict[int, int] = {}
        for row in index.relation(last).rows:  # what is asserted stays as it is
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
        is_first, is_second = predicate == self.first, predicate == self.second
        things, done, back = self.things, self._done, self._done_back
        for x, y, _ in pairs:
            if is_first:
                self._before[y] = self._before.get(y, 0) | 1 << x
            if is_second:
                self._after[x] = self._after.get(x, 0) | 1 << y
        if is_first:
            second = self.index.relation(self.second).index("both")
            for x, y, row in pairs:
                for z in bits(self._after.get(y, 0) & ~done.get(x, 0)):
                    if offer(row[0], things[z], row, second[row[1], things[z]]):
                        done[x] = done.get(x, 0) | 1 << z
                        back[z] = back.get(z, 0) | 1 << x
        if is_second:
            first = self.index.relation(self.first).index("both")
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
