"""Claims laid over each other: the ways in which two might exclude each other, and what the model refutes."""

import pytest

from mabos_cli.core.mind.conflicts import find_conflicts
from mabos_cli.core.mind.mind import Belief
from mabos_cli.services.mind.conflict_model import open_conflict_model


def count(subject: str, one: str, two: str, model: bool) -> int:
    beliefs = [Belief(subject, text, 0.9, line=line) for line, text in enumerate((one, two), 1)]
    return len(find_conflicts(beliefs, model=open_conflict_model() if model else None))


@pytest.mark.parametrize(
    ("subject", "one", "two"),
    [
        ("Flight 81", "Flight 81 leaves at 7:10.", "Flight 81 arrives at 9:45."),
        ("Contract Olm", "The contract was signed in May.", "The contract ends in December."),
    ],
)
def test_what_rules_take_for_a_conflict_may_be_refuted(subject: str, one: str, two: str):
    assert count(subject, one, two, True) == count(subject, two, one, True) == 0


@pytest.mark.parametrize(
    ("subject", "one", "two"),
    [
        ("Payment terms", "We pay within 14 days", "We pay within 45 days"),
        ("Hosting", "We host on AWS", "We host on Azure"),
        ("Refunds", "Annual plans are refunded", "Annual plans are not refunded"),
        ("Demand", "Demand is growing", "Demand is shrinking"),
    ],
)
def test_what_is_one_stays_one(subject: str, one: str, two: str):
    assert count(subject, one, two, True) == count(subject, one, two, False) == 1
