from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.memory.checkpoint import checkpoint_name, should_flush

AT = datetime(2026, 2, 24, 14, 30, tzinfo=UTC)


def names_in_order(minutes):
    """The names of checkpoints written one after the other at these minutes."""
    taken = []
    for minute in minutes:
        taken.append(checkpoint_name(AT + timedelta(minutes=minute), set(taken)))
    return taken


def test_checkpoint_is_named_after_its_minute():
    assert checkpoint_name(AT, set()) == "2026-02-24-1430.md"
    assert checkpoint_name(AT, {"2026-02-24-1429.md", "2026-02-23-1430.md"}) == "2026-02-24-1430.md"


@settings(deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 3000), max_size=20).map(sorted))
def test_names_sort_in_time_order_as_plain_text(minutes):
    names = names_in_order(minutes)
    assert names == sorted(set(names))


def test_many_checkpoints_in_one_minute_sort_in_order():
    names = names_in_order([0] * 1001)
    assert names == sorted(set(names))


def test_new_name_sorts_last_even_if_an_earlier_checkpoint_was_removed():
    first, second, third = names_in_order([0, 0, 0])
    assert checkpoint_name(AT, {second, third}) > third
    assert checkpoint_name(AT, {first, third}) > third


@pytest.mark.parametrize(("total", "expected"), [(187_999, False), (188_000, True), (188_001, True), (0, False)])
def test_flush_is_due_from_the_threshold_on(total, expected):
    assert should_flush(total, 200_000) is expected


def test_reserve_and_soft_limit_are_settings():
    assert should_flush(70, 100, soft=10, reserve=20)
    assert not should_flush(69, 100, soft=10, reserve=20)


@pytest.mark.parametrize(
    ("compaction", "flushed_at", "expected"),
    [(2, 2, False), (3, 2, True), (0, 0, False), (0, None, True), (None, None, True), (None, 2, True)],
)
def test_flush_happens_at_most_once_per_compaction(compaction, flushed_at, expected):
    assert should_flush(199_000, 200_000, compaction=compaction, flushed_at=flushed_at) is expected


def test_new_compaction_alone_is_no_reason_to_flush():
    assert not should_flush(1000, 200_000, compaction=3, flushed_at=2)
