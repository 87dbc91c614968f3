"""Conditions compiled to Python code that joins rows through indexes, one loop for each condition.

The code holds only names made here (f0, v1, k2); terms of rules and facts reach it as values, never as text.
"""

from collections.abc import Callable, Sequence
from typing import Any

from mabos_cli.core.knowledge.fact_index import Relation, Row
from mabos_cli.core.knowledge.rule import Pattern, is_variable
from mabos_cli.core.knowledge.rule_check import binds, is_open
from mabos_cli.core.knowledge.validity import EMPTY, meet
from mabos_cli.core.language.values import compare, find_value

Run = Callable[[Sequence[Row], int], int]


class JoinLimit(ValueError):
    """A join tries more combinations than it may."""


class _Known(dict[str, bool]):
    """Whether an object meets a comparison with a value, worked out once for each."""

    def __init__(self, operator: str, given: str) -> None:
        self.operator, self.given = operator, given

    def __missing__(self, term: str) -> bool:
        self[term] = found = compare(self.operator, term, self.given)
        return found


def order_conditions(conditions: Sequence[Pattern], first: int) -> list[int]:
    """The order in which to join: from one condition on, always the one with most terms known."""
    left = [n for n, condition in enumerate(conditions) if condition.predicate and n != first]
    order, bound = [first], binds(conditions[first])
    while left:
        best = max(left, key=lambda n: (_known_terms(conditions[n], bound), -n))
        left.remove(best)
        order.append(best)
        bound |= binds(conditions[best])
    return order


def _known_terms(condition: Pattern, bound: set[str]) -> float:
    """How far a condition is narrowed down: a known object helps a little less than a known subject."""
    subject = not is_open(condition.subject) and (condition.subject in bound or not is_variable(condition.subject))
    equal = condition.operator == "eq" and not is_open(condition.object)
    obj = equal and (condition.object in bound or not is_variable(condition.object))
    return 2.0 * subject + 1.9 * obj + 0.1 * (condition.operator != "eq")


class Join:
    """The code of one join in the making. `weighed`: whether it tracks confidence and depth; `timed`: validity."""

    def __init__(
        self, conditions: Sequence[Pattern], relations: Callable[[str], Relation], *, weighed: bool, timed: bool
    ) -> None:
        self.conditions, self.relations = conditions, relations
        self.weighed, self.timed = weighed, timed
        self.names: dict[str, Any] = {"none": (), "meet": meet, "EMPTY": EMPTY, "JoinLimit": JoinLimit}
        self.bound: dict[str, str] = {}
        self.lines: list[str] = []
        self.depth = 1
        self.waiting: list[tuple[set[str], int]] = []
        self.last = -1

    def compile(self, first: int, emit: Callable[["Join"], list[str]], found: Any, most: int, room: int) -> Run:
        """A function that joins a batch of rows for the first condition with the rest, and counts what it tries: JoinLimit
        when that is more than `most`, or when `found` holds more than `room`."""
        self.names |= {"most": most, "found": found, "room": room}
        self._defer_comparisons()
        for at in order_conditions(self.conditions, first):
            self._open(at, "batch" if at == first else "")
            self._add_ready()
        for line in emit(self):
            self.add(line)
        source = "def run(batch, n):\n" + "\n".join(self.lines) + "\n    return n\n"
        exec(compile(source, "<join>", "exec"), self.names)
        return self.names["run"]

    def add(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def term(self, term: str) -> str:
        """The name that stands for a term in the code."""
        return self.bound[term] if is_variable(term) else self.value(term)

    def value(self, value: Any) -> str:
        """A name for a value."""
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def supports(self) -> str:
        """The rows that were joined, in the order of the conditions."""
        return "(" + "".join(f"f{n}, " for n, c in enumerate(self.conditions) if c.predicate) + ")"

    def _defer_comparisons(self) -> None:
        """Comparisons with variables wait until all of them are bound."""
        self.names["compare"] = compare
        for at, (subject, predicate, obj, operator) in enumerate(self.conditions):
            needed = {term for term in (obj, "" if predicate else subject) if is_variable(term)}
            if not predicate or (operator != "eq" and needed):
                self.waiting.append((needed | ({f"#{at}"} if predicate else set()), at))

    def _add_ready(self) -> None:
        """The comparisons whose variables and rows are there by now."""
        for needed, at in [entry for entry in self.waiting if entry[0] <= self.bound.keys()]:
            self.waiting.remove((needed, at))
            subject, predicate, obj, operator = self.conditions[at]
            left = f"f{at}[1]" if predicate else self.bound[subject]
            if is_variable(obj):
                self.add(f"if not compare({self.value(operator)}, {left}, {self.bound[obj]}): continue")
            else:
                self.add(f"if not {self.value(_Known(operator, obj))}[{left}]: continue")

    def _open(self, at: int, batch: str) -> None:
        """A loop over the rows that one condition can match, or the single row."""
        subject, predicate, obj, operator = self.conditions[at]
        relation = self.relations(predicate)
        know_subject = self._is_known(subject)
        know_object = operator == "eq" and self._is_known(obj) and not _is_value(obj)
        row = f"f{at}"
        if batch:
            know_subject = know_object = False
            self._loop(row, batch)
        elif know_subject and know_object:
            get = self.value(relation.index("both").get)
            self.add(f"{row} = {get}(({self.term(subject)}, {self.term(obj)}))")
            self.add(f"if {row} is None: continue")
        elif know_subject:
            get = self.value(relation.index("subject").get)
            self._loop(row, f"{get}({self.term(subject)}, none)")
        elif know_object:
            get = self.value(relation.index("object").get)
            self._loop(row, f"{get}({self.term(obj)}, none)")
        else:
            self._loop(row, self.value(relation.rows))
        self.bound[f"#{at}"] = row
        if not know_subject:
            self._take(subject, f"{row}[0]")
        if not know_object:
            self._take_object(obj, operator, f"{row}[1]")
        self._weigh(at)

    def _loop(self, row: str, rows: str) -> None:
        self.add(f"g{row} = {rows}")
        self.add(f"n += len(g{row})")
        self.add("if n > most or len(found) > room: raise JoinLimit")
        self.add(f"for {row} in g{row}:")
        self.depth += 1

    def _is_known(self, term: str) -> bool:
        return not is_open(term) and (not is_variable(term) or term in self.bound)

    def _take(self, term: str, place: str) -> None:
        """Binds a variable to a place of a row, or checks that what is there is right."""
        if is_open(term):
            return
        if is_variable(term) and term not in self.bound:
            self.bound[term] = f"v{len(self.bound)}"
            self.add(f"{self.bound[term]} = {place}")
        else:
            self.add(f"if {place} != {self.term(term)}: continue")

    def _take_object(self, obj: str, operator: str, place: str) -> None:
        if is_variable(obj) or is_open(obj):
            if operator == "eq":
                self._take(obj, place)
        elif operator == "eq" and not _is_value(obj):
            self._take(obj, place)
        else:
            self.add(f"if not {self.value(_Known(operator, obj))}[{place}]: continue")

    def _weigh(self, at: int) -> None:
        """The least confidence, the greatest depth and the common time of the rows so far."""
        row, last = f"f{at}", self.last
        self.last = at
        if self.weighed:
            self.add(f"c{at} = {row}[2]")
            self.add(f"d{at} = {row}[3]")
            if last >= 0:
                self.add(f"if c{last} < c{at}: c{at} = c{last}")
                self.add(f"if d{last} > d{at}: d{at} = d{last}")
        if self.timed:
            self.add(f"t{at} = {row}[4]" if last < 0 else f"t{at} = meet(t{last}, {row}[4])")
            self.add(f"if t{at} is EMPTY: continue")


def _is_value(term: str) -> bool:
    """Whether a term is equal to others that are written differently."""
    return not is_variable(term) and find_value(term) is not None
