"""Facts as rows by predicate, subject and object; and conditions compiled to Python code that joins them, one loop for each condition.

The code holds only names made here (f0, v1, k2); terms of rules and facts reach it as values, never as text.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from mabos_cli.core.knowledge.fact import EMPTY, Fact, find_span, meet, span_rank, span_texts
from mabos_cli.core.knowledge.rule import Pattern, binds, is_open, is_variable
from mabos_cli.core.language.values import compare, find_value

# (subject, object, confidence, depth, span, rule, origin): plain tuples, because joins touch millions of them. The rule is a
# number, -1 for a fact that was given; the origin is that fact, or the rows that the rule joined.
Row = tuple[str, str, float, int, Any, int, Any]
_NONE: tuple[Row, ...] = ()
Run = Callable[[Sequence[Row], int], int]
MOST_JOINS, MOST_MATCHES = 5_000_000, 200_000


class Relation:
    """The rows of one predicate. An index is made when first asked for, and kept up from then on."""

    __slots__ = ("_indexes", "rows")

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._indexes: dict[str, dict[Any, Any]] = {}

    def index(self, kind: str) -> dict[Any, Any]:
        """Returns rows by subject or by object, or the one row by both."""
        if kind not in self._indexes:
            self._indexes[kind] = {}
            self._enter(kind, self.rows)
        return self._indexes[kind]

    def add(self, rows: list[Row]) -> None:
        self.rows += rows
        for kind in self._indexes:
            self._enter(kind, rows)

    def _enter(self, kind: str, rows: list[Row]) -> None:
        index = self._indexes[kind]
        if kind == "both":
            for row in rows:
                index[row[:2]] = row
            return
        at = 0 if kind == "subject" else 1
        for row in rows:
            term = row[at]
            if term in index:
                index[term].append(row)
            else:
                index[term] = [row]

    def find(self, subject: str | None, obj: str | None) -> Iterable[Row]:
        """Yields the rows with this subject and object; None for any."""
        if subject is not None and obj is not None:
            row = self.index("both").get((subject, obj))
            return (row,) if row else _NONE
        rows: Iterable[Row] = self.rows
        if subject is not None:
            rows = self.index("subject").get(subject, _NONE)
        elif obj is not None:
            rows = self.index("object").get(obj, _NONE)
        return rows


class FactIndex:
    """Facts to match conditions against; one fact for each triple."""

    def __init__(self, facts: Iterable[Fact], keep: Callable[[Fact], bool] | None = None) -> None:
        self.relations: dict[str, Relation] = {}
        self.timed = False
        rows: dict[str, list[Row]] = {}
        for fact in _one_for_each_triple(facts if keep is None else filter(keep, facts)):
            span = find_span(fact) if fact[7] or fact[8] else None
            self.timed = self.timed or span is not None
            row = (fact[1], fact[3], fact[4], 0, span, -1, fact)
            if fact[2] in rows:
                rows[fact[2]].append(row)
            else:
                rows[fact[2]] = [row]
        for predicate, found in rows.items():
            self.relation(predicate).add(found)

    def relation(self, predicate: str) -> Relation:
        """Returns the rows of a predicate, to which some may be added."""
        return self.relations.setdefault(predicate, Relation())


def _one_for_each_triple(facts: Iterable[Fact]) -> Iterable[Fact]:
    """Yields the facts, and of those with one triple (someone edited the file) the best: given, surest, longest valid."""
    found: dict[tuple[str, ...], Fact] = {}
    for fact in facts:
        triple = fact[1:4]
        if triple not in found or _rank(fact) < _rank(found[triple]):
            found[triple] = fact
    return found.values()


def _rank(fact: Fact) -> tuple[Any, ...]:
    return fact.is_derived, -fact.confidence, span_rank(find_span(fact)), fact.id


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
    """Returns the order in which to join: from one condition on, always the one with most terms known."""
    left = [n for n, condition in enumerate(conditions) if condition.predicate and n != first]
    order, bound = [first], binds(conditions[first])
    while left:
        best = max(left, key=lambda n: (_known_terms(conditions[n], bound), -n))
        left.remove(best)
        order.append(best)
        bound |= binds(conditions[best])
    return order


def _known_terms(condition: Pattern, bound: set[str]) -> float:
    """Returns how far a condition is narrowed down: a known object helps a little less than a known subject."""
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
        """Returns a function that joins a batch of rows for the first condition with the rest, and counts what it tries:
        JoinLimit when that is more than `most`, or when `found` holds more than `room`."""
        self.names |= {"most": most, "found": found, "room": room}
        self._defer_comparisons()
        for at in order_conditions(self.conditions, first):
            self._open(at, "batch" if at == first else "")
            self._add_ready()
        for line in emit(self):
            self.add(line)
        source = "def run(batch, n):\n" + "\n".join(self.lines) + "\n    return n\n"
        exec(compile(source, "<join>", "exec"), self.names)
        run: Run = self.names["run"]
        return run

    def add(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def term(self, term: str) -> str:
        """Returns the name that stands for a term in the code."""
        return self.bound[term] if is_variable(term) else self.value(term)

    def value(self, value: Any) -> str:
        """Returns a name for a value."""
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def supports(self) -> str:
        """Returns the rows that were joined, in the order of the conditions."""
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
    """Returns whether a term is equal to others that are written differently."""
    return not is_variable(term) and find_value(term) is not None


class Match(NamedTuple):
    """One way in which conditions hold: variables with their values, and a fact for each condition that names a predicate."""

    bindings: tuple[tuple[str, str], ...]
    supports: tuple[Fact, ...]
    valid_from: str = ""
    valid_until: str = ""

    @property
    def confidence(self) -> float:
        return min(fact.confidence for fact in self.supports)


def match(conditions: Sequence[Pattern], index: FactIndex, most_joins: int = MOST_JOINS) -> list[Match]:
    """Returns every way in which the conditions of a good rule hold at one time, sorted by bindings. JoinLimit if there are too
    many to try.

    >>> facts = FactIndex([Fact("F-1", "acme", "owns", "shop"), Fact("F-2", "shop", "in", "Rome")])
    >>> [found.bindings for found in match((Pattern("?x", "owns", "?y"), Pattern("?y", "in", "Rome")), facts)]
    [(('?x', 'acme'), ('?y', 'shop'))]
    """
    named = [n for n, condition in enumerate(conditions) if condition.predicate]
    rows = {n: index.relation(conditions[n].predicate).rows for n in named}
    if not named or not all(rows.values()):
        return []
    join = Join(conditions, index.relation, weighed=False, timed=index.timed)
    found: list[tuple[Any, ...]] = []
    names: list[str] = []

    def emit(join: Join) -> list[str]:
        names.extend(name for name in join.bound if is_variable(name))
        values = "".join(f"{join.bound[name]}, " for name in names)
        return [f"found.append((({values}), {join.supports()}, {f't{join.last}' if join.timed else 'None'}))"]

    variables = [sum(map(is_variable, (condition.subject, condition.object))) for condition in conditions]
    first = min(named, key=lambda n: (variables[n], len(rows[n]), n))
    join.compile(first, emit, found, most_joins, MOST_MATCHES)(rows[first], 0)
    terms = [term for condition in conditions for term in (condition.subject, condition.object)]
    order = sorted(range(len(names)), key=lambda n: terms.index(names[n]))  # as they are first used
    matches = [
        Match(tuple((names[n], values[n]) for n in order), tuple(row[6] for row in supports), *span_texts(span))
        for values, supports, span in found
    ]
    return sorted(matches, key=lambda one: (one.bindings, [fact.triple for fact in one.supports]))


def fill(text: str, bindings: tuple[tuple[str, str], ...]) -> str:
    """Returns a text with the variables in it replaced by their values; the longest names first, as ?xy is not ?x.

    >>> fill("?x owes ?xy", (("?x", "acme"), ("?xy", "5")))
    'acme owes 5'
    """
    values = dict(bindings)
    if not values:
        return text
    names = "|".join(re.escape(name) for name in sorted(values, key=len, reverse=True))
    return re.sub(names, lambda found: values[found.group()], text)
