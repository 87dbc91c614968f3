"""Asking for facts: patterns with `*`, confidence, time."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from mabos_cli.core.fact import Fact
from mabos_cli.core.fact_time import holds_at


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
    patterns = [
        re.compile(".*".join(map(re.escape, part.split("*"))), re.DOTALL)
        for part in (query.subject, query.predicate, query.object)
    ]
    for fact in facts:
        if fact.confidence < query.min_confidence or (fact.is_derived and not query.with_derived):
            continue
        if query.valid_at and not holds_at(fact, query.valid_at):
            continue
        if all(pattern.fullmatch(part) for pattern, part in zip(patterns, fact.triple, strict=True)):
            yield fact
