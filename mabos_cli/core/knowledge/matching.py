"""The ways in which the conditions of a rule hold."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.joins import MOST_JOINS, MOST_MATCHES, Join, JoinLimit
from mabos_cli.core.knowledge.relations import FactIndex
from mabos_cli.core.knowledge.rule import Pattern, binds
from mabos_cli.core.language.spans import Span, holds_within, moment_number
from mabos_cli.core.language.terms import names_in

__all__ = ["JoinLimit", "Match", "fill", "match"]


class Match(NamedTuple):
    """One way in which conditions hold: variables with their values, a fact for each condition that names a predicate, and the time
    for which they hold together."""

    bindings: tuple[tuple[str, str], ...]
    supports: tuple[Fact, ...]
    span: Span | None = None

    @property
    def confidence(self) -> float:
        return min((fact.confidence for fact in self.supports), default=1.0)


def match(
    conditions: Sequence[Pattern], index: FactIndex, most_joins: int = MOST_JOINS, at: datetime | None = None
) -> list[Match]:
    """Returns every way in which the conditions of a good rule hold at one time, or at a moment, sorted by bindings. JoinLimit if
    there are too many to try.

    >>> facts = FactIndex([Fact("F-1", "acme", "owns", "shop"), Fact("F-2", "shop", "in", "Rome")])
    >>> [found.bindings for found in match((Pattern("?x", "owns", "?y"), Pattern("?y", "in", "Rome")), facts)]
    [(('?x', 'acme'), ('?y', 'shop'))]
    """
    named = [n for n, condition in enumerate(conditions) if condition.is_positive]
    rows = {n: index.rows_for(conditions[n]) for n in named}
    if not all(rows.values()):
        return []
    join = Join(conditions, index, weighed=False)
    found: list[tuple[Any, ...]] = []
    names: list[str] = []

    def emit(join: Join) -> list[str]:
        names.extend(join.variables())
        values = "".join(f"{join.bound[name]}, " for name in names)
        return [f"found.append((({values}), {join.supports()}, {join.state('t')}))"]

    first = min(named, key=lambda n: (len(binds(conditions[n])), len(rows[n]), n), default=-1)
    join.compile(first, emit, found, most_joins, MOST_MATCHES)(rows.get(first, ()), 0)
    terms = [name for condition in conditions for term in condition[:3] for name in names_in(term)]
    order = sorted(range(len(names)), key=lambda n: terms.index(names[n]))  # as they are first used
    moment = moment_number(at) if at else 0
    matches = [
        Match(tuple((names[n], values[n]) for n in order), tuple(row[6] for row in supports), span)
        for values, supports, span in found
        if at is None or holds_within(span, moment)
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
    return re.sub(names, lambda found: values[found[0]], text)
