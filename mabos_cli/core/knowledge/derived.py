"""Derived facts: rows of an inference as facts, with ids, supports and trust."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from operator import itemgetter

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.fact_index import Row
from mabos_cli.core.knowledge.rule import Rule
from mabos_cli.core.knowledge.validity import span_texts
from mabos_cli.core.memory.trust import lowest_trust

Named = tuple[str, str]  # the id and the trust of a row's fact


def derived_id(subject: str, predicate: str, obj: str) -> str:
    """The id of a derived fact: always the same for a triple, and of no other.

    >>> derived_id("a", "b", "c") == derived_id("a", "b", "c"), derived_id("ab", "c", "d") == derived_id("a", "bc", "d")
    (True, False)
    """
    text = f"{len(subject)} {len(predicate)} {subject}{predicate}{obj}"
    return "F-inf-" + blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def derived_facts(settled: Iterable[tuple[str, list[Row]]], rules: Sequence[Rule]) -> list[Fact]:
    """The facts of rows that were derived, sorted by triple. Rows come after those that support them."""
    known: dict[int, Named] = {}  # by the identity of a row
    facts: list[Fact] = []
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
    """The ids of supports, each once, and the lowest trust."""
    trusts = {trust for _, trust in said}
    trust = trusts.pop() if len(trusts) == 1 else lowest_trust(tuple(sorted(trusts)))
    return tuple(dict.fromkeys([fact_id for fact_id, _ in said])), trust


def _given(row: Row, known: dict[int, Named]) -> Named:
    fact = row[6]
    known[id(row)] = found = (fact.id, fact.trust)
    return found
