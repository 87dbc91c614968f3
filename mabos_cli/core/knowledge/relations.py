"""Facts as rows, found by predicate, subject and object."""

from collections.abc import Iterable, Sequence
from typing import Any

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.rule import Pattern, is_variable
from mabos_cli.core.language.spans import EMPTY, Span, find_span, subtract
from mabos_cli.core.language.terms import uses_today

# (subject, object, confidence, depth, span, rule, origin, predicate): plain tuples, because joins touch millions of them. The
# rule is a number, -1 for a fact that was given; the origin is that fact, or the rows that the rule joined.
Row = tuple[str, str, float, int, Any, int, Any, str]
_NONE: tuple[Row, ...] = ()


class Relation:
    """The rows of one predicate. An index is made when first asked for, and kept up from then on. Where rows hold for a time, there
    may be several for one subject and object."""

    __slots__ = ("_indexes", "is_timed", "rows")

    def __init__(self, is_timed: bool = False) -> None:
        self.rows: list[Row] = []
        self.is_timed = is_timed
        self._indexes: dict[str, dict[Any, Any]] = {}

    def index(self, kind: str) -> dict[Any, Any]:
        """Returns rows by subject or by object, or by both: the one row, or several where they hold for a time."""
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
                if self.is_timed:
                    index.setdefault(row[:2], []).append(row)
                else:
                    index[row[:2]] = row
            return
        at = 0 if kind == "subject" else 1
        for row in rows:
            term = row[at]
            if term in index:
                index[term].append(row)
            else:
                index[term] = [row]

    def find(self, subject: str | None, obj: str | None) -> Sequence[Row]:
        """Returns the rows with this subject and object; None for any."""
        if subject is not None and obj is not None:
            found = self.index("both").get((subject, obj), _NONE)
            return found if self.is_timed or not found else (found,)
        if subject is not None:
            return self.index("subject").get(subject, _NONE)  # type: ignore[no-any-return]
        return self.rows if obj is None else self.index("object").get(obj, _NONE)


class FactIndex:
    """Facts to match conditions against: for each triple one row, or one for each stretch of time."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.relations: dict[str, Relation] = {}
        self._everything: Relation | None = None
        self.looked_up: dict[Any, Any] = {}  # what joins keep about conditions that are negated or counted
        rows: dict[str, list[Row]] = {}
        timed: set[str] = set()
        for fact, span in _one_at_each_time(facts):
            if span is not None:
                timed.add(fact[2])
            row = (fact[1], fact[3], fact[4], 0, span, -1, fact, fact[2])
            if fact[2] in rows:
                rows[fact[2]].append(row)
            else:
                rows[fact[2]] = [row]
        for predicate, found in rows.items():
            self.relations[predicate] = Relation(predicate in timed)
            self.relations[predicate].add(found)

    def relation(self, predicate: str) -> Relation:
        """Returns the rows of a predicate."""
        return self.relations.setdefault(predicate, Relation())

    def add(self, predicate: str, rows: list[Row]) -> None:
        """Adds rows of a predicate."""
        self.relation(predicate).add(rows)
        if self._everything is not None:
            self._everything.add(rows)

    def everything(self) -> Relation:
        """Returns the rows of all predicates, for conditions whose predicate is a variable."""
        if self._everything is None:
            self._everything = Relation(is_timed=True)
            self._everything.add([row for relation in self.relations.values() for row in relation.rows])
        return self._everything

    def find(self, predicate: str, subject: str | None, obj: str | None) -> Sequence[Row]:
        """Returns the rows of a predicate with this subject and object; None for any."""
        relation = self.relations.get(predicate)
        return relation.find(subject, obj) if relation else _NONE

    def rows_for(self, condition: Pattern) -> list[Row]:
        """Returns the rows among which those are that a condition matches."""
        return (self.everything() if is_variable(condition.predicate) else self.relation(condition.predicate)).rows

    def are_timed(self, conditions: Iterable[Pattern]) -> bool:
        """Returns whether it depends on the time whether conditions hold."""
        for each in conditions:
            if uses_today(each.subject, each.object) or self.are_timed(each.inner):
                return True
            if is_variable(each.predicate):
                if any(relation.is_timed for relation in self.relations.values()):
                    return True
            elif each.predicate and self.relation(each.predicate).is_timed:
                return True
        return False


def _one_at_each_time(facts: Iterable[Fact]) -> Iterable[tuple[Fact, Span | None]]:
    """Yields facts with the time for which they count. Of those with one triple, the best counts at each time: given, surest."""
    found: dict[tuple[str, ...], Fact | list[Fact]] = {}
    for fact in facts:
        triple = fact[1:4]
        before = found.get(triple)
        if before is None:
            found[triple] = fact
        elif isinstance(before, list):
            before.append(fact)
        else:
            found[triple] = [before, fact]
    for one in found.values():
        if not isinstance(one, list):
            if not (one[7] or one[8]):
                yield one, None
            elif (span := find_span(one[7], one[8])) is not EMPTY:
                yield one, span
            continue
        covered: list[Span | None] = []
        for fact in sorted(one, key=lambda each: (each.is_derived, -each.confidence, each.valid_from, each.id)):
            span = find_span(fact.valid_from, fact.valid_until)
            for piece in subtract(span, covered) if span is not EMPTY else ():
                yield fact, piece
                covered.append(piece)
