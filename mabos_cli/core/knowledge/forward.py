"""Forward chaining: everything that follows from facts by rules, each conclusion by its best derivation at each time.

Best first: a conclusion is no surer than its supports and one step deeper, so once the best candidate by (confidence, depth) is
taken, nothing better for its triple and time can turn up. Hence the outcome does not depend on the order of facts and rules, a
limit on their number keeps the surest, and a run that is stopped has derived nothing that a longer one would take back.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heappop, heappush
from typing import Any, NamedTuple

from mabos_cli.core.knowledge.closures import Closure, find_closure
from mabos_cli.core.knowledge.derived import ASSERTED, Head, Named, derived_facts
from mabos_cli.core.knowledge.fact import Fact, Triple
from mabos_cli.core.knowledge.joins import Join, JoinLimit, Run
from mabos_cli.core.knowledge.relations import FactIndex, Row
from mabos_cli.core.knowledge.rule import Problem, Rule, is_variable, left_out, needs_of, reach, stratify, usable_rules
from mabos_cli.core.language.spans import ALWAYS

_LEAST_ROOM = 500_000


class Limits(NamedTuple):
    """Where to stop. For confidence and depth 0 is no limit. A rule that tries more than `max_joins` combinations stops there."""

    max_facts: int = 250_000
    min_confidence: float = 0.0
    max_depth: int = 0
    max_joins: int = 10_000_000


class Cut(NamedTuple):
    """Holds what a limit kept from being derived, or from being derived with more confidence; what would follow from that is not
    counted."""

    limit: str
    lost: int
    examples: tuple[Triple, ...]


class Inference(NamedTuple):
    """Holds what follows, sorted by triple. `fixpoint` is "reached", or "stopped: " and why; `depth` is that of the deepest fact."""

    derived: tuple[Fact, ...]
    fixpoint: str
    cuts: tuple[Cut, ...]
    problems: tuple[Problem, ...]
    depth: int

    @property
    def is_complete(self) -> bool:
        """Returns whether all was derived that follows."""
        return self.fixpoint == "reached"


def forward_chain(facts: Iterable[Fact], rules: Iterable[Rule], limits: Limits = Limits()) -> Inference:
    """Returns what follows from the asserted facts by the enabled inference rules. Derived facts among those given are not
    used: they follow anew, or no longer."""
    return conclude(run_chain(facts, rules, limits)).inference


class Outcome(NamedTuple):
    """Holds what a run derived, with its rows by predicate, and the id and the trust of each row."""

    inference: Inference
    facts: FactIndex  # with the rows that were given, too
    settled: Sequence[tuple[str, list[Row]]]
    named: Mapping[int, Named]


def conclude(chain: "Chain") -> Outcome:
    """Returns what a run derived that is over."""
    cuts = chain.cuts()
    why = [f"{cut.limit} cut at least {cut.lost:,}" for cut in cuts]
    why += [f"{problem.rule_id} {problem.reason}" for problem in chain.problems if problem.is_left_out]
    derived, named = derived_facts(chain.settled, chain.names)
    depth = max((row[3] for _, rows in chain.settled for row in rows), default=0)
    fixpoint = "stopped: " + "; ".join(why) if why else "reached"
    found = Inference(tuple(derived), fixpoint, tuple(cuts), tuple(chain.problems), depth)
    return Outcome(found, chain.index, chain.settled, named)


def run_chain(
    facts: Iterable[Fact], rules: Iterable[Rule], limits: Limits, wanted: Callable[[str, str, str], bool] | None = None
) -> "Chain":
    """Returns a run that is over. With `wanted`, only triples of which that is true are derived."""
    runnable, problems = usable_rules(rules, "inference")
    layers, circles = stratify(runnable)
    chain = Chain(FactIndex([fact for fact in facts if not fact.rule_id]), layers, limits, wanted)
    chain.problems = [*problems, *circles]
    for layer in layers:
        chain.run([rule for rule in layer if chain.may_run(rule)])
    return chain


class Chain:
    """One run: rows that are settled, and candidates, the best of which is settled next."""

    def __init__(
        self,
        index: FactIndex,
        layers: Sequence[Sequence[Rule]],
        limits: Limits,
        wanted: Callable[[str, str, str], bool] | None,
    ) -> None:
        self.limits, self.wanted = limits, wanted
        self.index = index
        self.rules = [rule for layer in layers for rule in layer]
        self.names = [rule.id for rule in self.rules]
        self.left = limits.max_facts
        self.problems: list[Problem] = []
        self.heads: dict[str, Head] = {}
        self.heap: list[tuple[float, int, str]] = []
        self.settled: list[tuple[str, list[Row]]] = []
        self.lost: dict[str, dict[Triple, float]] = {"max_depth": {}, "min_confidence": {}, "max_facts": {}}
        self.incomplete: set[str] = set()
        self.joins: dict[tuple[int, int], Run] = {}
        self.tried = [0] * len(self.rules)
        self.stopped: set[int] = set()
        self.ranks = {id(rule): rank for rank, rule in enumerate(self.rules)}
        self._mark_timed()

    def _mark_timed(self) -> None:
        """Finds out which predicates have rows that hold for a time only, before any row is derived."""
        changed = True
        while changed:
            changed = False
            for rule in self.rules:
                predicate = rule.concluded.predicate
                names = [*self.index.relations] if is_variable(predicate) else [predicate]
                relations = [self.index.relation(name) for name in names]
                if not all(each.is_timed for each in relations) and self.index.are_timed(rule.conditions):
                    changed = True
                    for each in relations:
                        each.is_timed = True

    def may_run(self, rule: Rule) -> bool:
        """Returns whether all is derived that a rule negates or counts; where it is not, the rule would conclude too much."""
        missing = sorted(self.incomplete & needs_of(rule).closed)
        if not missing or is_variable(rule.concluded.predicate):
            return not missing
        self.problems.append(Problem(rule.id, f"what it negates or counts is not complete ({missing[0]})"))
        self.incomplete.add(rule.concluded.predicate)
        return False

    def run(self, layer: Sequence[Rule]) -> None:
        """Settles candidates of a layer of rules, the best first, until there are none or there are enough."""
        ranks = [self.ranks[id(rule)] for rule in layer]
        closures = self.find_closures(ranks)
        closed = {closure.rank for closure in closures}
        replayed = self._replay(closures)
        self.begin([rank for rank in ranks if rank not in closed])
        uses: dict[str, list[tuple[int, int]]] = {}
        for rank in ranks:
            for at, condition in enumerate(self.rules[rank].conditions if rank not in closed else ()):
                if condition.is_positive:
                    uses.setdefault("" if is_variable(condition.predicate) else condition.predicate, []).append(
                        (rank, at)
                    )
        while self.heap:
            confidence, depth, predicate = heappop(self.heap)
            rows = self._settle(predicate, (-confidence, depth))
            for rank, at in (*uses.get(predicate, ()), *uses.get("", ())) if rows else ():
                self._join(rank, at, rows)
            rows = replayed.get(predicate, {}).pop((-confidence, depth), []) + rows
            for closure in closures:
                self._close(closure, predicate, rows)
        # Of which predicates more would follow than was derived.
        cut = {triple[1] for limit in ("max_facts", "max_depth") for triple in self.lost[limit]}
        self.incomplete |= cut | {self.rules[rank].concluded.predicate for rank in self.stopped}
        rules = [self.rules[rank] for rank in ranks]
        steps = [(needs_of(rule).all, {rule.concluded.predicate}) for rule in rules]
        self.incomplete = reach(self.incomplete, steps)

    def find_closures(self, ranks: Sequence[int]) -> list[Closure]:
        """Returns the rules that are worked out as closures."""
        return [found for rank in ranks if (found := find_closure(self.rules[rank], rank, self.index))]

    def begin(self, ranks: Sequence[int]) -> None:
        """Offers what follows by rules from what is known."""
        for rank in ranks:
            self._join(rank, *self._smallest(self.rules[rank]))

    def _replay(self, closures: Sequence[Closure]) -> dict[str, dict[tuple[float, int], list[Row]]]:
        """Returns the rows that closures begin with, by (confidence, depth): they too come to them in that order."""
        found: dict[str, dict[tuple[float, int], list[Row]]] = {}
        for predicate in {name for closure in closures for name in closure.joined}:
            found[predicate] = {}
            for row in self.index.relation(predicate).rows:
                found[predicate].setdefault(row[2:4], []).append(row)
            for confidence, depth in found[predicate]:
                heappush(self.heap, (-confidence, depth, predicate))
        return found

    def _settle(self, predicate: str, key: tuple[float, int]) -> list[Row]:
        head = self.heads.get(predicate)
        rows = head.take(key) if head else []
        if len(rows) > self.left:
            rows.sort(key=lambda row: (row[:2], row[4] or ALWAYS))
            self.lost["max_facts"] |= {(row[0], predicate, row[1]): row[2] for row in rows[self.left :]}
            del rows[self.left :]
        if rows:
            self.left -= len(rows)
            self.settled.append((predicate, rows))
            self.index.add(predicate, rows)
        return rows

    def _smallest(self, rule: Rule) -> tuple[int, Sequence[Any]]:
        """Returns the condition to begin with when all asserted facts are new, the one with the fewest; and its rows."""
        named = [n for n, condition in enumerate(rule.conditions) if condition.is_positive]
        rows = {n: self.index.rows_for(rule.conditions[n]) for n in named}
        first = min(named, key=lambda n: (len(rows[n]), n), default=-1)
        return first, rows.get(first, ((),))

    def _join(self, rank: int, at: int, rows: Sequence[Any]) -> None:
        """Joins rows that are new for one condition of a rule with those of the others; what a rule finds before it has to stop
        is kept."""
        if not rows or rank in self.stopped:
            return
        if (rank, at) not in self.joins:
            self.joins[rank, at] = self.compile(rank, at)
        try:
            self.tried[rank] = self.joins[rank, at](rows, self.tried[rank])
        except JoinLimit:
            self._stop(rank)

    def _stop(self, rank: int) -> None:
        self.stopped.add(rank)
        self.problems.append(left_out(self.rules[rank]))

    def _close(self, closure: Closure, predicate: str, rows: list[Row]) -> None:
        """Offers what a closure makes of rows of one (confidence, depth)."""
        if not rows or predicate not in closure.joined or closure.rank in self.stopped:
            return
        rule, head = self.rules[closure.rank], self.head(self.rules[closure.rank].concluded.predicate)
        sure, depth, rank = rows[0][2] * rule.confidence_factor, rows[0][3] + 1, closure.rank
        is_limited = bool(self.wanted or self.limits.max_depth or self.limits.min_confidence)
        best, fresh = head.best, head.buckets.get((sure, depth)) or head.open_bucket(sure, depth)

        def offer(subject: str, obj: str, one: Row, two: Row) -> bool:
            far = one[3] + 1 if one[3] > two[3] else two[3] + 1
            row = (subject, obj, sure, far, None, rank, (one, two), head.predicate)
            if is_limited and not self._is_within(row, head):
                return self.wanted is not None and not self.wanted(subject, head.predicate, obj)
            pair = (subject, obj)
            if pair not in best and far == depth:
                best[pair] = row
                fresh.append(pair)
            else:
                head.offer(row)
            return far == depth

        closure.extend(predicate, rows, offer)
        self.tried[rank] += len(rows)
        if len(best) > self._room(head):
            self._stop(rank)

    def _is_within(self, row: Row, head: Head) -> bool:
        """Returns whether a candidate is wanted, sure and near enough, and notes it if it is not the latter."""
        if self.wanted and not self.wanted(row[0], head.predicate, row[1]):
            return False
        lost = ""
        if self.limits.max_depth and row[3] > self.limits.max_depth:
            lost = "max_depth"
        elif self.limits.min_confidence and row[2] < self.limits.min_confidence:
            lost = "min_confidence"
        if lost and head.best.get(row[:2]) is not ASSERTED:
            triple = (row[0], head.predicate, row[1])
            self.lost[lost][triple] = max(row[2], self.lost[lost].get(triple, 0.0))
        return not lost

    def head(self, predicate: str) -> Head:
        """Returns what is known about a predicate that is concluded."""
        if predicate not in self.heads:
            relation = self.index.relation(predicate)
            self.heads[predicate] = Head(predicate, relation.rows, relation.is_timed, self.heap)
        return self.heads[predicate]

    def _room(self, head: Head) -> int:
        return max(_LEAST_ROOM, 2 * self.limits.max_facts) + len(self.index.relation(head.predicate).rows)

    def _offer(self, row: Row) -> None:
        """Keeps a candidate of whichever predicate."""
        if row[7] not in self.heads and row[7] not in self.index.relations:
            self.index.relation(row[7]).is_timed = row[4] is not None or any(
                r.is_timed for r in self.index.relations.values()
            )
        head = self.head(row[7])
        if self._is_within(row, head):
            head.offer(row)

    def compile(self, rank: int, first: int, given: Sequence[str] = ()) -> Run:
        """Returns the join of a rule that begins with the rows of one condition, or with values of the variables given."""
        rule = self.rules[rank]
        join = Join(rule.conditions, self.index, weighed=True, given=given)
        predicate = rule.concluded.predicate
        join.names |= {
            "factor": float(rule.confidence_factor),
            "rank": rank,
            "asserted": ASSERTED,
            "offer": self._offer,
        }
        if is_variable(predicate):
            return join.compile(first, lambda join: _emit(join, rule, ""), {}, self.limits.max_joins, 1)
        head = self.head(predicate)
        if head.is_timed or self.wanted or self.limits.max_depth or self.limits.min_confidence:
            inline = ""
        else:
            inline = predicate
            join.names |= {
                "known": head.best.get,
                "bucket": head.buckets.get,
                "open_bucket": head.open_bucket,
                "tie": head.tie,
            }
        emit = lambda join: _emit(join, rule, inline)  # noqa: E731
        return join.compile(first, emit, head.best, self.limits.max_joins, self._room(head))

    def cuts(self) -> list[Cut]:
        """Returns what the limits cost, as far as it was not derived in another way that is as sure."""
        if not any(self.lost.values()):
            return []
        have = {(row[0], predicate, row[1]): row[2] for predicate, rows in self.settled for row in rows}
        found = []
        for limit, lost in self.lost.items():
            gone = [triple for triple, confidence in lost.items() if have.get(triple, -1.0) < confidence]
            if gone:
                found.append(Cut(f"{limit} {getattr(self.limits, limit):g}", len(gone), tuple(sorted(gone)[:3])))
        return found


def _emit(join: Join, rule: Rule, inline: str) -> list[str]:
    """Returns the code that makes a candidate of joined rows, and keeps it if it is the best for its triple so far."""
    subject, predicate, obj = (join.term(term) for term in rule.concluded[:3])
    row = f"({subject}, {obj}, c, d, {join.state('t')}, rank, {join.supports()}, {predicate})"
    lines = [f"c = {join.state('c')} * factor", f"d = {join.state('d')} + 1"]
    if not inline:
        return [*lines, f"offer({row})"]
    return [
        *lines,
        f"pair = ({subject}, {obj})",
        "now = known(pair)",
        "if now is None or c > now[2] or (c == now[2] and d < now[3]):",
        f"    found[pair] = {row}",
        "    (bucket((c, d)) or open_bucket(c, d)).append(pair)",
        "elif c == now[2] and d == now[3]:",
        f"    tie(pair, {row})",
    ]
