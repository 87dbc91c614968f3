"""Facts by predicate, subject and object, as rows that joins run over."""

from collections.abc import Callable, Iterable
from typing import Any

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.validity import find_span, span_rank

# (subject, object, confidence, depth, span, rule, origin): plain tuples, because joins touch millions of them. The rule is a
# number, -1 for a fact that was given; the origin is that fact, or the rows that the rule joined.
Row = tuple[str, str, float, int, Any, int, Any]
_NONE: tuple[Row, ...] = ()


class Relation:
    """The rows of one predicate. An index is made when first asked for, and kept up from then on."""

    __slots__ = ("_indexes", "rows")

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._indexes: dict[str, dict[Any, Any]] = {}

    def index(self, kind: str) -> dict[Any, Any]:
        """Rows by subject or by object, or the one row by both."""
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
        """The rows with this subject and object; None for any."""
        if subject is not None and obj is not None:
            row = self.index("both").get((subject, obj))
            return (row,) if row else _NONE
        if subject is not None:
            return self.index("subject").get(subject, _NONE)
        return self.rows if obj is None else self.index("object").get(obj, _NONE)


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
        """The rows of a predicate, to which some may be added."""
        return self.relations.setdefault(predicate, Relation())


def _one_for_each_triple(facts: Iterable[Fact]) -> Iterable[Fact]:
    """The facts, and of those with one triple (someone edited the file) the best: given, surest, longest valid."""
    found: dict[tuple[str, ...], Fact] = {}
    for fact in facts:
        triple = fact[1:4]
        if triple not in found or _rank(fact) < _rank(found[triple]):
            found[triple] = fact
    return found.values()


def _rank(fact: Fact) -> tuple[Any, ...]:
    return fact.is_derived, -fact.confidence, span_rank(find_span(fact)), fact.id
