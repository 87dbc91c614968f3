"""Infers again after a change, as far as the change reaches: what may follow in another way is found first, by the rules read without
their negations and counts as plain joins over what was and what is; only that is derived anew, best first, from all the rest.

What nothing of that kind leads to has the same derivations as before, and so the same best one.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, Protocol

from mabos_cli.core.knowledge.closures import Closure
from mabos_cli.core.knowledge.derived import ASSERTED, Head
from mabos_cli.core.knowledge.fact import Triple
from mabos_cli.core.knowledge.forward import Chain, Limits, Outcome, conclude
from mabos_cli.core.knowledge.joins import MOST_JOINS, Join, JoinLimit, Run
from mabos_cli.core.knowledge.relations import FactIndex, Relation, Row
from mabos_cli.core.knowledge.rule import Pattern, Rule, all_bound, is_variable, stratify, usable_rules
from mabos_cli.core.language.terms import names_in, uses_today

MOST_AFFECTED = 50_000  # beyond that, all is derived again


class RowSource(Protocol):
    """Facts as they were at the last run, given and derived, found by what they say; and the predicates, each with whether facts with
    it hold for a time only."""

    def find(self, predicate: str | None, subject: str | None, obj: str | None) -> list[Row]: ...

    def predicates(self) -> Mapping[str, bool]: ...


# By kind of index: the key of a row, and the subject and object that rows with a key have.
_KEYS: dict[str, Callable[[Row], Any]] = {"subject": itemgetter(0), "object": itemgetter(1), "both": itemgetter(0, 1)}
_ENDS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "subject": lambda key: (key, None),
    "object": lambda key: (None, key),
    "both": lambda key: key,
}


class _Lazy(dict[Any, list[Row]]):
    """Rows by a key, each looked up when somebody first asks for it."""

    def __init__(self, load: Callable[[Any], list[Row]], is_single: bool) -> None:
        self._load, self._is_single = load, is_single

    def get(self, key: Any, default: Any = None) -> Any:
        if key not in self:
            self[key] = self._load(key)
        found = self[key]
        return default if not found else found[-1] if self._is_single else found


class _Relation(Relation):
    """Rows of one predicate, or of all: those of a source, but for some triples, and those that were added."""

    __slots__ = ("_all", "_fresh", "_hidden", "_predicate", "_source")

    def __init__(self, source: RowSource, predicate: str | None, hidden: set[Triple], is_timed: bool) -> None:
        self._source, self._predicate, self._hidden, self.is_timed = source, predicate, hidden, is_timed
        self._fresh = Relation(is_timed=True)
        self._all: list[Row] | None = None
        self._indexes: dict[str, dict[Any, Any]] = {}

    @property
    def rows(self) -> list[Row]:  # type: ignore[override]
        if self._all is None:
            self._all = self.load(None, None)
        return self._all  # the list itself, for joins that go on while it grows

    @property
    def fresh(self) -> list[Row]:
        return self._fresh.rows

    def load(self, subject: str | None, obj: str | None) -> list[Row]:
        hidden = self._hidden
        found = self._source.find(self._predicate, subject, obj)
        kept = [row for row in found if (row[0], row[7], row[1]) not in hidden] if hidden else found
        return [*kept, *self._fresh.find(subject, obj)]

    def index(self, kind: str) -> dict[Any, Any]:
        if kind not in self._indexes:
            load = lambda key: self.load(*_ENDS[kind](key))  # noqa: E731
            self._indexes[kind] = _Lazy(load, kind == "both" and not self.is_timed)
        return self._indexes[kind]

    def add(self, rows: list[Row]) -> None:
        self._fresh.add(rows)
        if self._all is not None:
            self._all += rows
        for kind, index in self._indexes.items():
            for row in rows:
                if (key := _KEYS[kind](row)) in index:
                    index[key].append(row)

    def find(self, subject: str | None, obj: str | None) -> Sequence[Row]:
        return self.load(subject, obj)


class _Index(FactIndex):
    """The facts of a source, but for some triples, and rows that are added."""

    def __init__(self, source: RowSource, hidden: set[Triple], *, is_timed: bool = False) -> None:
        super().__init__(())
        self._source, self._hidden, self._is_timed = source, hidden, is_timed
        for name, timed in source.predicates().items():
            self.relations[name] = _Relation(source, name, hidden, timed or is_timed)

    def relation(self, predicate: str) -> Relation:
        if predicate not in self.relations:
            self.relations[predicate] = _Relation(self._source, predicate, self._hidden, self._is_timed)
        return self.relations[predicate]

    def everything(self) -> Relation:
        if self._everything is None:
            self._everything = _Relation(self._source, None, self._hidden, True)
            self._everything.add(
                [row for each in self.relations.values() if isinstance(each, _Relation) for row in each.fresh]
            )
        return self._everything


class Changed(NamedTuple):
    """Triples whose given facts changed: their rows before and after."""

    before: list[Row]
    after: list[Row]

    @property
    def triples(self) -> set[Triple]:
        return {(row[0], row[7], row[1]) for row in (*self.before, *self.after)}


class Renewal(NamedTuple):
    """Holds what follows now of all triples that a change may concern."""

    affected: set[Triple]
    outcome: Outcome


def renew_inference(
    source: RowSource, changed: Changed, rules: Iterable[Rule], limits: Limits, derived: int
) -> Renewal | None:
    """Returns what follows after a change; None where that is not to be had for less than deriving everything again. `derived` is
    how many facts followed before."""
    runnable, problems = usable_rules(rules, "inference")
    layers, circles = stratify(runnable)
    rules = [rule for layer in layers for rule in layer]
    affected = _find_affected(source, changed, rules)
    if affected is None:
        return None
    index = _Index(source, affected)
    rows = [*changed.after]
    for triple in affected - changed.triples:  # what is given of it stays
        rows += [row for row in source.find(triple[1], triple[0], triple[2]) if not row[6].rule_id]
    for row in rows:
        index.relation(row[7]).is_timed |= row[4] is not None
    for row in rows:
        index.add(row[7], [row])
    chain = _Again(
        index, layers, limits._replace(max_facts=limits.max_facts - max(0, derived - len(affected))), affected
    )
    chain.problems = [*problems, *circles]
    for layer in layers:
        chain.run([rule for rule in layer if chain.may_run(rule)])
    found = conclude(chain)
    return Renewal(affected, found) if found.inference.is_complete else None


def _find_affected(source: RowSource, changed: Changed, rules: Sequence[Rule]) -> set[Triple] | None:
    """Returns the triples to which a way by rules may lead from those that changed; None when there are too many, or when what a rule
    counts is a part of its conclusion, which is not known then."""
    index = _Index(source, set(), is_timed=True)
    uses: dict[str, list[tuple[_Variant, int]]] = {}
    for rule in rules:
        for variant, at in _variants(rule, index):
            name = variant.conditions[at].predicate
            uses.setdefault("" if is_variable(name) else name, []).append((variant, at))
    affected: set[Triple] = set()
    waiting = changed.triples
    try:
        while waiting:
            affected |= waiting
            batch: dict[str, list[Row]] = {}
            for triple in sorted(waiting):  # at any time: the id of what is derived names the start of a whole stretch
                batch.setdefault(triple[1], []).append((triple[0], triple[2], 1.0, 0, None, -1, None, triple[1]))
            for name, rows in batch.items():
                index.add(name, rows)
            heads = (
                variant.heads(at, rows)
                for name, rows in batch.items()
                for variant, at in (*uses.get(name, ()), *uses.get("", ()))
            )
            waiting = {triple for found in heads for triple in found} - affected
            if len(affected) > MOST_AFFECTED:
                return None
    except (JoinLimit, _Unknown):
        return None
    return affected


class _Unknown(Exception):
    """A rule concludes what it counts."""


class _Variant:
    """A rule read as a plain join: what it negates or counts is only to be there."""

    def __init__(self, rule: Rule, conditions: tuple[Pattern, ...], index: FactIndex) -> None:
        self.rule, self.conditions, self._index = rule, conditions, index
        self._runs: dict[int, tuple[Run, list[Triple]]] = {}

    def heads(self, at: int, rows: Sequence[Row]) -> list[Triple]:
        """Returns what the rule may conclude from rows for one condition."""
        if at not in self._runs:
            found: list[Triple] = []
            join = Join(self.conditions, self._index, weighed=False)
            self._runs[at] = join.compile(at, self._emit, found, MOST_JOINS, 4 * MOST_AFFECTED), found
        run, found = self._runs[at]
        found.clear()
        run(rows, 0)
        if found and not self._is_known():
            raise _Unknown
        return [*found]

    def _is_known(self) -> bool:
        names = {term for term in self.rule.concluded[:3] if is_variable(term)}
        return names <= all_bound(self.conditions)

    def _emit(self, join: Join) -> list[str]:
        if not self._is_known():
            return ["found.append(None)"]
        return [f"found.append(({', '.join(join.term(term) for term in self.rule.concluded[:3])}))"]


def _variants(rule: Rule, index: FactIndex) -> Iterator[tuple[_Variant, int]]:
    """Yields the ways to read a rule, each with a condition for which rows may have changed."""
    positive = tuple(condition for condition in rule.conditions if condition.is_positive)
    tests = [c for c in rule.conditions if not c.predicate and not c.inner and not uses_today(c.subject, c.object)]
    for closed in (None, *(condition for condition in rule.conditions if condition.inner)):
        inside = tuple(closed.inner) if closed else ()
        named = tuple(condition for condition in (*positive, *inside) if condition.predicate)
        kept, bound = [*named], all_bound(named)
        for test in (*tests, *(each for each in inside if not each.predicate)):
            # In the order of the rule: one may need what another works out.
            needed = {*names_in(test.object), *names_in(test.subject)}
            if needed <= bound or (test.operator == "eq" and {*names_in(test.object)} <= bound):
                kept.append(test)
                bound = all_bound(kept)
        variant = _Variant(rule, tuple(kept), index)
        for at in range(len(positive) if closed else 0, len(named)):
            yield variant, at


class _Again(Chain):
    """A run that derives only some triples, from all that is known of others."""

    def __init__(
        self, index: FactIndex, layers: Sequence[Sequence[Rule]], limits: Limits, affected: set[Triple]
    ) -> None:
        self._affected = affected
        super().__init__(index, layers, limits, lambda *triple: triple in affected)

    def find_closures(self, ranks: Sequence[int]) -> list[Closure]:
        return []

    def begin(self, ranks: Sequence[int]) -> None:
        """Offers every way in which a rule concludes one of the triples."""
        by_predicate: dict[str, list[Triple]] = {}
        for triple in sorted(self._affected):
            by_predicate.setdefault(triple[1], []).append(triple)
        for rank in ranks:
            head = self.rules[rank].concluded
            names = tuple(sorted({term for term in head[:3] if is_variable(term)}))
            run: Run | None = None
            predicates = by_predicate if is_variable(head.predicate) else (head.predicate,)
            for triple in (each for name in predicates for each in by_predicate.get(name, ())):
                values = _unify(head, triple)
                if values is not None and rank not in self.stopped:
                    run = run or self.compile(rank, -1, names)
                    try:
                        self.tried[rank] = run(tuple(values[name] for name in names), self.tried[rank])
                    except JoinLimit:
                        self._stop(rank)

    def head(self, predicate: str) -> Head:
        if predicate not in self.heads:
            relation = self.index.relation(predicate)
            fresh = [row for row in relation.fresh if row[5] < 0] if isinstance(relation, _Relation) else []
            self.heads[predicate] = Head(predicate, fresh, relation.is_timed, self.heap)
            if not relation.is_timed:
                self.heads[predicate].best |= {row[:2]: ASSERTED for row in fresh}
        return self.heads[predicate]

    def _room(self, head: Head) -> int:
        return 20 * MOST_AFFECTED


def _unify(head: Pattern, triple: Triple) -> dict[str, str] | None:
    """Returns the values of the variables of a conclusion that make it a triple; None if there are none."""
    values: dict[str, str] = {}
    for term, value in zip(head[:3], triple, strict=True):
        if values.setdefault(term, value) != value if is_variable(term) else term != value:
            return None
    return {name: value for name, value in values.items() if is_variable(name)}
