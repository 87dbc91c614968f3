"""Matching conditions against facts: the bindings under which all hold together, with the facts that say so."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.fact_index import FactIndex
from mabos_cli.core.knowledge.joins import Join
from mabos_cli.core.knowledge.rule import Pattern, is_variable
from mabos_cli.core.knowledge.validity import span_texts

MOST_JOINS, MOST_MATCHES = 5_000_000, 200_000


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
    """Every way in which the conditions of a good rule hold at one time, sorted by bindings. JoinLimit if there are too
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
    found: list[tuple] = []
    names: list[str] = []

    def emit(join: Join) -> list[str]:
        names.extend(name for name in join.bound if is_variable(name))
        values = "".join(f"{join.bound[name]}, " for name in names)
        return [f"found.append((({values}), {join.supports()}, {f't{join.last}' if join.timed else 'None'}))"]

    first = min(named, key=lambda n: (_terms_open(conditions[n]), len(rows[n]), n))
    join.compile(first, emit, found, most_joins, MOST_MATCHES)(rows[first], 0)
    order = sorted(range(len(names)), key=lambda n: _first_use(names[n], conditions))
    matches = [
        Match(tuple((names[n], values[n]) for n in order), tuple(row[6] for row in supports), *span_texts(span))
        for values, supports, span in found
    ]
    return sorted(matches, key=lambda one: (one.bindings, [fact.triple for fact in one.supports]))


def _terms_open(condition: Pattern) -> int:
    return sum(is_variable(term) for term in (condition.subject, condition.object))


def _first_use(variable: str, conditions: Sequence[Pattern]) -> int:
    terms = [term for condition in conditions for term in (condition.subject, condition.object)]
    return terms.index(variable)


def fill(text: str, bindings: tuple[tuple[str, str], ...]) -> str:
    """A text with the variables in it replaced by their values; the longest names first, as ?xy is not ?x.

    >>> fill("?x owes ?xy", (("?x", "acme"), ("?xy", "5")))
    'acme owes 5'
    """
    values = dict(bindings)
    if not values:
        return text
    names = "|".join(re.escape(name) for name in sorted(values, key=len, reverse=True))
    return re.sub(names, lambda found: values[found.group()], text)
