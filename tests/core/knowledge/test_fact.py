"""When facts hold, what is current, and what contradicts."""

from datetime import UTC, datetime, timedelta

import pytest

from mabos_cli.core.knowledge.fact import Fact, current_facts, find_contradictions, holds_at
from mabos_cli.core.knowledge.fact_lint import lint_facts
from mabos_cli.core.language.clock import parse_time

NOW = datetime(2026, 2, 24, 14, 30, tzinfo=UTC)
ONE = frozenset({"ceo"})


def fact(number, obj="x", start="", end="", predicate="ceo", **fields):
    return Fact(f"F-{number}", "acme", predicate, obj, valid_from=start, valid_until=end, **fields)


@pytest.mark.parametrize(
    ("start", "end", "moment", "holds"),
    [
        ("2026-01-01", "2026-01-31", "2026-01-01T00:00:00Z", True),
        ("2026-01-01", "2026-01-31", "2026-01-31T23:59:59Z", True),
        ("2026-01-01", "2026-01-31", "2026-02-01T00:00:00Z", False),
        ("2026-01-01", "2026-01-31", "2025-12-31T23:59:59Z", False),
        ("2026-01-01T10:00:00Z", "2026-01-01T10:00:00Z", "2026-01-01T10:00:00Z", True),
        ("2026-01-01T10:00:00+02:00", "", "2026-01-01T08:00:00Z", True),
        ("", "20260131", "2026-01-31T12:00:00Z", True),
        ("", "9999-12-31", "9999-12-31T12:00:00Z", True),
        ("", "", "0001-01-01T00:00:00Z", True),
    ],
)
def test_both_ends_are_included(start, end, moment, holds):
    assert holds_at(fact(1, "x", start, end), parse_time(moment)) is holds


def test_of_a_functional_predicate_only_the_latest_word_is_current():
    old, new = fact(1, "Tom", "2025-01-01"), fact(2, "Ines", "2026-01-01")
    gone, coming = fact(3, "Lea", "2020-01-01", "2020-12-31"), fact(4, "Jan", "2027-01-01")
    many = [fact(5, "shop", predicate="owns"), fact(6, "mill", predicate="owns")]
    assert current_facts([old, new, gone, coming, *many], ONE, NOW) == [new, many[1], many[0]]
    assert len(current_facts([old, new, *many], frozenset(), NOW)) == 4


def test_contradictions_are_values_at_one_time():
    a, b = fact(1, "Tom", "2025-01-01", "2025-06-30"), fact(2, "Ines", "2025-06-30")
    later, same = fact(3, "Lea", "2025-07-01"), fact(4, "Ines", "2025-07-01")
    assert find_contradictions([b, a], ONE) == [(a, b)]
    assert find_contradictions([a, later], ONE) == []
    assert find_contradictions([b, same], ONE) == []
    assert find_contradictions([a, b], frozenset()) == []


def test_a_long_history_without_contradictions_is_no_work():
    days = [NOW + timedelta(days=n) for n in range(6_000)]
    facts = [fact(n, f"v{n}", f"{day:%Y-%m-%d}", f"{day:%Y-%m-%d}") for n, day in enumerate(days)]
    assert find_contradictions(facts, ONE) == []


def test_lint_finds_support_that_is_gone_expired_or_circular():
    made = {"rule_id": "R-1", "source": "inference"}
    facts = [
        fact(1, "x", end="2026-01-01", predicate="p"),
        fact(2, "expired", predicate="p", derived_from=("F-1",), **made),
        fact(3, "orphan", predicate="p", derived_from=("F-404",), **made),
        fact(4, "here", predicate="p", derived_from=("F-5",), **made),
        fact(5, "there", predicate="p", derived_from=("F-4",), **made),
        fact(6, "ruleless", predicate="p", derived_from=("F-1",), rule_id="R-404"),
    ]
    found = lint_facts(facts, ONE, frozenset({"R-1"}), NOW)
    told = [(finding.kind, finding.facts[0]) for finding in found]
    assert told == [("cycle", "F-4"), ("cycle", "F-5"), ("orphan", "F-3"), ("orphan", "F-6"), ("expired-support", "F-2")]  # fmt: skip
