"""Chooses among derivations: candidates, of which the best for each triple and time is taken; and rows as facts, with ids, the facts that
they rest on, and the least trust of these."""

from collections.abc import Iterable, Sequence
from heapq import heappush
from math import inf
from operator import itemgetter
from typing import Any

from mabos_cli.core.knowledge.fact import Fact, derived_id
from mabos_cli.core.knowledge.relations import Row
from mabos_cli.core.language.spans import ALWAYS, Span, meet, span_texts, subtract, unite
from mabos_cli.core.memory.trust import lowest_trust

# Surer than any derivation: what was asserted stays as it is.
ASSERTED: Row = ("", "", inf, 0, None, -1, None, "")


class Head:
    """The derivations of a predicate that rules conclude: the best candidate for each pair, or for each pair and time; those
    candidates in buckets of equal (confidence, depth); and when each pair is settled."""

    __slots__ = ("best", "buckets", "covered", "heap", "is_timed", "predicate")

    def __init__(self, predicate: str, rows: Iterable[Row], is_timed: bool, heap: list[tuple[float, int, str]]) -> None:
        self.predicate, self.is_timed, self.heap = predicate, is_timed, heap
        self.best: dict[Any, Row] = {}
        self.buckets: dict[tuple[float, int], list[Any]] = {}
        self.covered: dict[tuple[str, str], list[Span | None]] = {}
        for row in rows:
            self.best[row[:2]] = ASSERTED
            if is_timed:
                self.covered.setdefault(row[:2], []).append(row[4])

    def open_bucket(self, confidence: float, depth: int) -> list[Any]:
        heappush(self.heap, (-confidence, depth, self.predicate))
        return self.buckets.setdefault((confidence, depth), [])

    def offer(self, row: Row) -> None:
        """Keeps a candidate if it is the best for its pair and time so far."""
        key: Any = row[:2]
        if self.is_timed:
            if key in self.covered and not subtract(row[4], self.covered[key]):
                return
            key = (*key, row[4])
        now = self.best.get(key)
        if now is None or row[2] > now[2] or (row[2] == now[2] and row[3] < now[3]):
            self.best[key] = row
            (self.buckets.get(row[2:4]) or self.open_bucket(row[2], row[3])).append(key)
        elif row[2:4] == now[2:4] and _wins_tie(row, now):
            self.best[key] = row

    def tie(self, key: Any, row: Row) -> None:
        if _wins_tie(row, self.best[key]):
            self.best[key] = row

    def take(self, key: tuple[float, int]) -> list[Row]:
        """Returns the candidates of a bucket for which nothing better turned up since, at the times that are not settled."""
        found = [self.best[each] for each in self.buckets.pop(key, ())]
        found = [row for row in found if row[2:4] == key]
        if not self.is_timed:
            return found
        rows: list[Row] = []
        for row in sorted(found, key=lambda each: (each[:2], each[4] or ALWAYS, each[5], [r[:2] for r in each[6]])):
            covered = self.covered.setdefault(row[:2], [])
            pieces = subtract(row[4], covered)
            covered += pieces
            rows += [(*row[:4], piece, *row[5:]) for piece in pieces]
        return rows


def _wins_tie(row: Row, now: Row) -> bool:
    """Returns which of two derivations of one triple that are equally sure and deep is taken: by rule and supports."""
    if row[5] != now[5]:
        return row[5] < now[5]
    for mine, other in zip(row[6], now[6], strict=False):
        if mine is not other and mine[:2] != other[:2]:
            return bool(mine[:2] < other[:2])
    return False


Named = tuple[str, str]  # the id and the trust of a row's fact


def derived_facts(
    settled: Sequence[tuple[str, list[Row]]], names: Sequence[str]
) -> tuple[list[Fact], dict[int, Named]]:
    """Returns the facts of rows that were derived, sorted by triple and time, and the id and trust of each row. Rows come after
    those that support them."""
    known: dict[int, Named] = {}  # by the identity of a row
    facts: list[Fact] = []
    stretches, places = _join_stretches(settled), dict[str, int]()
    ids: tuple[str, ...]
    make = tuple.__new__  # Fact(...) alone would cost as much as all the rest

    def given(row: Row) -> Named:
        known[id(row)] = found = (row[6].id, row[6].trust)
        return found

    for predicate, rows in settled:
        for row in rows:
            subject, obj, confidence, _, span, rule, supports, _ = row
            if len(supports) == 2:  # by far the most: no loops
                one = known.get(id(supports[0])) or given(supports[0])
                two = known.get(id(supports[1])) or given(supports[1])
                ids = (one[0], two[0]) if one is not two else (one[0],)
                trust = one[1] if one[1] == two[1] else lowest_trust((one[1], two[1]))
            else:
                named = [known.get(id(each)) or given(each) for each in supports]
                trusts = {each[1] for each in named} or {"agent"}
                trust = trusts.pop() if len(trusts) == 1 else lowest_trust(tuple(sorted(trusts)))
                ids = tuple(dict.fromkeys([each[0] for each in named]))
            start, end = span_texts(stretches[id(row)]) if span else ("", "")
            fact_id = derived_id(subject, predicate, obj, start)
            known[id(row)] = fact_id, trust
            if span and fact_id in places:  # a part of a stretch that is there already
                before = facts[places[fact_id]]
                ids, trust = tuple(dict.fromkeys((*before.derived_from, *ids))), lowest_trust((before.trust, trust))
                facts[places[fact_id]] = before._replace(derived_from=ids, trust=trust)
                continue
            if span:
                places[fact_id] = len(facts)
            facts.append(make(Fact, (
                fact_id, subject, predicate, obj, confidence, "inference", trust, start, end, ids, names[rule], "", "", (),
            )))  # fmt: skip
    facts.sort(key=itemgetter(1, 2, 3, 7))
    return facts, known


def _join_stretches(settled: Sequence[tuple[str, list[Row]]]) -> dict[int, Span | None]:
    """Returns the stretch that each row which holds for a time belongs to: those of one triple that are equally sure and follow on
    one another are one."""
    groups: dict[tuple[str, str, str, float], list[Row]] = {}
    for predicate, rows in settled:
        for row in rows:
            if row[4] is not None:
                groups.setdefault((row[0], predicate, row[1], row[2]), []).append(row)
    found: dict[int, Span | None] = {}
    for group in groups.values():
        wholes = unite(row[4] for row in group) if len(group) > 1 else [group[0][4]]
        found |= {id(row): next(one for one in wholes if meet(one, row[4]) == row[4]) for row in group}
    return found
