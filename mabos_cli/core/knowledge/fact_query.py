"""Asking for facts: patterns with `*`, confidence, time."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.fact_time import holds_at


class Query(NamedTuple):
    """Which facts are asked for; `*` in a part stands for any text, and a part that is only `*` for anything."""

    subject: str = "*"
    predicate: str = "*"
    object: str = "*"
    min_confidence: float = 0.0
    valid_at: datetime | None = None
    with_derived: bool = True

    def literals(self) -> dict[str, str]:
        """The parts that are plain text."""
        parts = {"subject": self.subject, "predicate": self.predicate, "object": self.object}
        return {name: part for name, part in parts.items() if "*" not in part}


def select_facts(facts: Iterable[Fact], query: Query) -> Iterator[Fact]:
    """The facts that a query asks for, in the order given."""
    patterns = [tuple(part.split("*")) for part in (query.subject, query.predicate, query.object)]
    for fact in facts:
        if fact.confidence < query.min_confidence or (fact.is_derived and not query.with_derived):
            continue
        if query.valid_at and not holds_at(fact, query.valid_at):
            continue
        if all(map(_fits, fact.triple, patterns)):
            yield fact


def _fits(text: str, pieces: tuple[str, ...]) -> bool:
    """Whether a text consists of pieces with anything between them. One pass, however many there are.

    >>> _fits("acme corp", ("ac", "co", "")), _fits("aba", ("ab", "ba"))
    (True, False)
    """
    if len(pieces) == 1:
        return text == pieces[0]
    first, *middle, last = pieces
    if not text.startswith(first) or not text.endswith(last):
        return False
    at, end = len(first), len(text) - len(last)
    for piece in middle:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return at <= end
