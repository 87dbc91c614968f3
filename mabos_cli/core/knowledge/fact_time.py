"""When facts hold: intervals, what is current, and what contradicts."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.language.clock import find_time, is_day

FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def interval(fact: Fact) -> tuple[datetime, datetime]:
    """The first and the last moment at which a fact holds; a day as an end is included."""
    start = find_time(fact.valid_from) if fact.valid_from else None
    end = find_time(fact.valid_until) if fact.valid_until else None
    if end and is_day(fact.valid_until):
        end += timedelta(days=1, microseconds=-1)
    return start or FIRST, end or LAST


def holds_at(fact: Fact, moment: datetime) -> bool:
    """Whether a fact holds at a moment, ends included."""
    start, end = interval(fact)
    return start <= moment <= end


def current_facts(facts: Iterable[Fact], functional: frozenset[str], now: datetime) -> list[Fact]:
    """The facts that hold now; of a functional predicate, which has one value at a time, only the latest word."""
    holding = [fact for fact in facts if holds_at(fact, now)]
    latest: dict[tuple[str, str], Fact] = {}
    for fact in holding:
        key = fact.subject, fact.predicate
        if fact.predicate in functional and (key not in latest or _rank(fact) > _rank(latest[key])):
            latest[key] = fact
    kept = [f for f in holding if f.predicate not in functional or latest[f.subject, f.predicate] is f]
    return sorted(kept, key=lambda fact: fact.triple)


def _rank(fact: Fact) -> tuple[datetime, str, float, str]:
    """The later it began to hold, the later it was said, the surer: the more it counts."""
    return interval(fact)[0], fact.updated_at or fact.created_at, fact.confidence, fact.id


def known_since(fact: Fact) -> str:
    """The day from which a fact is known to hold: as it says, or when it was asserted, unless it was over by then.

    >>> known_since(Fact("F-1", "acme", "hasOwner", "Ada", valid_until="2025-12-31", created_at="2026-02-24T09:00:00.000Z"))
    '2025-12-31'
    """
    asserted = fact.created_at[:10] or "undated"
    return fact.valid_from[:10] or min(asserted, fact.valid_until[:10] or asserted)


def find_contradictions(facts: Sequence[Fact], functional: frozenset[str]) -> list[tuple[Fact, Fact]]:
    """Pairs of facts that give a functional predicate two values at one time."""
    groups: dict[tuple[str, str], list[Fact]] = {}
    for fact in facts:
        if fact.predicate in functional:
            groups.setdefault((fact.subject, fact.predicate), []).append(fact)
    found = []
    for group in groups.values():
        spans = sorted(((*interval(fact), fact) for fact in group), key=lambda span: (span[0], span[2].id))
        for number, (_, end, one) in enumerate(spans):
            for start, _, two in islice(spans, number + 1, None):
                if start > end:
                    break
                if two.object != one.object:
                    found.append((one, two))
                    break  # one finding for each fact says enough
    return found
