"""Forward chaining: everything that follows from facts by rules, each conclusion by its best derivation.

Best first: a conclusion is no surer than its supports and one step deeper, so once the best candidate by (confidence, depth) is
taken, nothing better for its triple can turn up, and all that ties with it is known. Hence the outcome does not depend on the
order of facts and rules, and a limit on their number keeps the surest.
"""

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from math import inf
from operator import itemgetter
from typing import NamedTuple

from mabos_cli.core.knowledge.fact import Fact, Triple, derived_id, span_rank, span_texts
from mabos_cli.core.knowledge.joins import FactIndex, Join, JoinLimit, Row, Run
from mabos_cli.core.knowledge.rule import Problem, Rule, left_out, usable_rules
from mabos_cli.core.memory.trust import lowest_trust

# Surer than any derivation: what was asserted stays as it is.
_ASSERTED: Row = ("", "", inf, 0, None, -1, None)
_LEAST_JOINS, _LEAST_ROOM = 2_000_000, 500_000


class Limits(NamedTuple):
    """Where to stop. For confidence and depth 0 is no limit. A rule that tries more than `max_joins` combinations is left out; 0
    stands for ten times the facts, and two million at least."""

    max_facts: int = 250_000
    min_confidence: float = 0.0
    max_depth: int = 0
    max_joins: int = 0


class Cut(NamedTuple):
    """What a limit kept from being derived, or from being derived with more confidence; what would follow from that is not
    counted."""

    limit: str
    lost: int
    examples: tuple[Triple, ...]


class Inference(NamedTuple):
    """What follows, sorted by triple. `fixpoint` is "reached", or "stopped: " and why; `depth` is that of the deepest fact."""

    derived: tuple[Fact, ...]
    fixpoint: str
    cuts: tuple[Cut, ...]
    problems: tuple[Problem, ...]
    depth: int


def forward_chain(facts: Iterable[Fact], rules: Iterable[Rule], limits: Limits = Limits()) -> Inference:
    """Returns what follows from the asserted facts by the enabled inference rules. Derived facts among those given are not
    used: they follow anew, or no longer."""
    facts = [fact for fact in facts if not fact.rule_id]
    runnable, problems = usable_rules(rules, "inference")
    while True:
        chain = _Chain(facts, runnable, limits)
        try:
            chain.run()
        except JoinLimit:
            # Half of what a rule gives would depend on the order of the facts, so it gives nothing.
            rule = chain.running
            assert rule is not None
            problems.append(left_out(rule))
            runnable = [other for other in runnable if other is not rule]
            continue
        cuts = chain.cuts()
        why = [f"{cut.limit} cut at least {cut.lost:,}" for cut in cuts]
        why += [f"{problem.rule_id} {problem.reason}" for problem in problems if problem.is_left_out]
        derived = derived_facts(chain.settled, runnable)
        depth = max((row[3] for _, rows in chain.settled for row in rows), default=0)
        told = "stopped: " + "; ".join(why) if why else "reached"
        return Inference(tuple(derived), told, tuple(cuts), tuple(problems), depth)


class _Chain:
    """One run: rows that are settled, and candidates in buckets of equal (confidence, depth) for each predicate."""

    def __init__(self, facts: Sequence[Fact], rules: Sequence[Rule], limits: Limits) -> None:
        self.limits, self.rules = limits, rules
        self.most = limits.max_joins or max(_LEAST_JOINS, 10 * limits.max_facts)
        self.index = FactIndex(facts)
        self.best: dict[str, dict[tuple[str, str], Row]] = {}
        self.buckets: dict[str, dict[tuple[float, int], list[tuple[str, str]]]] = {}
        self.heap: list[tuple[float, int, str]] = []
        self.settled: list[tuple[str, list[Row]]] = []
        self.lost: dict[str, dict[Triple, float]] = {"max_depth": {}, "min_confidence": {}, "max_facts": {}}
        self.joins: dict[tuple[int, int], Run] = {}
        self.tried = [0] * len(rules)
        self.running = rules[0] if rules else None
        for rule in rules:
            predicate = rule.concluded.predicate
            if predicate not in self.best:
                rows = self.index.relation(predicate).rows
                self.best[predicate] = {row[:2]: _ASSERTED for row in rows}
                self.buckets[predicate] = {}

    def run(self) -> None:
        """Settles candidates, the best first, until there are none or there are enough."""
        for rank, rule in enumerate(self.rules):
            self._join(rank, *self._smallest(rule))
        uses: dict[str, list[tuple[int, int]]] = {}
        for rank, rule in enumerate(self.rules):
            for at, condition in enumerate(rule.conditions):
                uses.setdefault(condition.predicate, []).append((rank, at))
        left = self.limits.max_facts
        while self.heap:
            confidence, depth, predicate = heappop(self.heap)
            rows = self._take(predicate, (-confidence, depth))
            if len(rows) > left:
                rows.sort(key=lambda row: row[:2])
                self._lose(predicate, rows[left:])
                del rows[left:]
            if not rows:
                continue
            left -= len(rows)
            self.settled.append((predicate, rows))
            self.index.relation(predicate).add(rows)
            for rank, at in uses.get(predicate, ()):
                self._join(rank, at, rows)

    def _smallest(self, rule: Rule) -> tuple[int, list[Row]]:
        """Returns the condition to begin with when all asserted facts are new, the one with the fewest; and its rows."""
        named = [n for n, condition in enumerate(rule.conditions) if condition.predicate]
        rows = {n: self.index.relation(rule.conditions[n].predicate).rows for n in named}
        first = min(named, key=lambda n: (len(rows[n]), n))
        return first, rows[first]

    def _join(self, rank: int, at: int, rows: list[Row]) -> None:
        """Joins rows that are new for one condition of a rule with those of the others."""
        if not rows:
            return
        if (rank, at) not in self.joins:
            self.joins[rank, at] = self._compile(rank, at)
        self.running = self.rules[rank]
        self.tried[rank] = self.joins[rank, at](rows, self.tried[rank])

    def _take(self, predicate: str, key: tuple[float, int]) -> list[Row]:
        """Returns the candidates of a bucket for which nothing better turned up since."""
        best = self.best[predicate]
        rows = [best[pair] for pair in self.buckets[predicate].pop(key)]
        return [row for row in rows if row[2:4] == key]

    def _compile(self, rank: int, first: int) -> Run:
        """Returns the join of a rule that begins with the rows of one condition."""
        rule = self.rules[rank]
        join = Join(rule.conditions, self.index.relation, weighed=True, timed=self.index.timed)
        predicate = rule.concluded.predicate
        best, buckets, heap = self.best[predicate], self.buckets[predicate], self.heap

        def open_bucket(confidence: float, depth: int) -> list[tuple[str, str]]:
            heappush(heap, (-confidence, depth, predicate))
            return buckets.setdefault((confidence, depth), [])

        def tie(pair: tuple[str, str], row: Row) -> None:
            if _wins_tie(row, best[pair]):
                best[pair] = row

        def lose(limit: str, subject: str, obj: str, confidence: float) -> None:
            lost, triple = self.lost[limit], (subject, predicate, obj)
            lost[triple] = max(confidence, lost.get(triple, 0.0))

        join.names |= {"known": best.get, "bucket": buckets.get, "open_bucket": open_bucket}
        join.names |= {"tie": tie, "lose": lose, "factor": float(rule.confidence_factor), "rank": rank}
        join.names |= {"least": self.limits.min_confidence, "deepest": self.limits.max_depth}
        room = max(_LEAST_ROOM, 2 * self.limits.max_facts) + len(self.index.relation(predicate).rows)
        return join.compile(first, lambda join: _emit(join, rule, self.limits), best, self.most, room)

    def _lose(self, predicate: str, rows: list[Row]) -> None:
        self.lost["max_facts"] |= {(row[0], predicate, row[1]): row[2] for row in rows}

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


def _emit(join: Join, rule: Rule, limits: Limits) -> list[str]:
    """Returns the code that makes a candidate of joined rows, and keeps it if it is the best for its triple so far."""
    subject, obj = join.term(rule.concluded.subject), join.term(rule.concluded.object)
    span = f"t{join.last}" if join.timed else "None"
    row = f"({subject}, {obj}, c, d, {span}, rank, {join.supports()})"
    asserted = f"known(({subject}, {obj})) is not asserted"
    join.names["asserted"] = _ASSERTED
    lines = [f"c = c{join.last} * factor", f"d = d{join.last} + 1"]
    for limit, test in (("max_depth", "d > deepest"), ("min_confidence", "c < least")):
        if getattr(limits, limit):
            lines += [f"if {test}:", f"    if {asserted}: lose({limit!r}, {subject}, {obj}, c)", "    continue"]
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


def _wins_tie(row: Row, now: Row) -> bool:
    """Returns which of two derivations of one triple that are equally sure and deep is taken: by validity, rule and
    supports."""
    if row[4] is not now[4]:
        one, two = span_rank(row[4]), span_rank(now[4])
        if one != two:
            return one < two
    if row[5] != now[5]:
        return row[5] < now[5]
    for mine, other in zip(row[6], now[6], strict=True):
        if mine is not other and mine[:2] != other[:2]:
            return bool(mine[:2] < other[:2])
    return False


Named = tuple[str, str]  # the id and the trust of a row's fact


def derived_facts(settled: Iterable[tuple[str, list[Row]]], rules: Sequence[Rule]) -> list[Fact]:
    """Returns the facts of rows that were derived, sorted by triple. Rows come after those that support them."""
    known: dict[int, Named] = {}  # by the identity of a row
    facts: list[Fact] = []
    ids: tuple[str, ...]
    names = [rule.id for rule in rules]
    make = tuple.__new__  # Fact(...) alone would cost as much as all the rest
    for predicate, rows in settled:
        for row in rows:
            subject, obj, confidence, _, span, rule, supports = row
            if len(supports) == 2:  # by far the most: no loops
                one = known.get(id(supports[0])) or _given(supports[0], known)
                two = known.get(id(supports[1])) or _given(supports[1], known)
                ids = (one[0], two[0]) if one is not two else (one[0],)
                trust = one[1] if one[1] == two[1] else lowest_trust((one[1], two[1]))
            else:
                ids, trust = _merge([known.get(id(each)) or _given(each, known) for each in supports])
            start, end = span_texts(span) if span else ("", "")
            fact_id = derived_id(subject, predicate, obj)
            known[id(row)] = fact_id, trust
            facts.append(make(Fact, (
                fact_id, subject, predicate, obj, confidence, "inference", trust, start, end, ids, names[rule], "", "", (),
            )))  # fmt: skip
    facts.sort(key=itemgetter(1, 2, 3))
    return facts


def _merge(said: list[Named]) -> tuple[tuple[str, ...], str]:
    """Returns the ids of supports, each once, and the lowest trust."""
    trusts = {trust for _, trust in said}
    trust = trusts.pop() if len(trusts) == 1 else lowest_trust(tuple(sorted(trusts)))
    return tuple(dict.fromkeys([fact_id for fact_id, _ in said])), trust


def _given(row: Row, known: dict[int, Named]) -> Named:
    fact = row[6]
    known[id(row)] = found = (fact.id, fact.trust)
    return found
