from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.language.ids import DEFERRED, LOCKED, minted_at, month_of, next_id, parse_id

MS = 1_708_800_000_000
clocks = st.lists(st.integers(MS - 50, MS + 50), min_size=1, max_size=60)
quick = settings(deadline=None, derandomize=True)


def mint_all(clock, seed, lane=LOCKED, last=""):
    draw, ids = Random(seed).randrange, []
    for now in clock:
        last = next_id(now, last, draw, lane)
        ids.append(last)
    return ids


def test_id_has_the_documented_form():
    assert next_id(MS, "", lambda n: n - 1) == f"M-{MS}-7ffe"


def test_hundred_thousand_ids_in_one_millisecond_are_unique_and_sorted():
    ids = mint_all([MS] * 100_000, seed=1)
    assert len(set(ids)) == 100_000
    assert ids == sorted(ids)
    assert all(parse_id(text) for text in ids[::1_000])


@quick
@given(clocks, st.integers(0, 1000))
def test_ids_stay_unique_and_sorted_whatever_the_clock_does(clock, seed):
    ids = mint_all(clock, seed)
    assert len(set(ids)) == len(ids)
    assert ids == sorted(ids)


@quick
@given(clocks, clocks, st.integers(0, 1000))
def test_lanes_never_draw_the_same_id(locked, deferred, seed):
    assert not set(mint_all(locked, seed, LOCKED)) & set(mint_all(deferred, seed, DEFERRED))


@quick
@given(st.lists(st.tuples(st.integers(MS - 5, MS + 5), st.sampled_from((LOCKED, DEFERRED))), max_size=60))
def test_lanes_that_know_of_each_other_stay_sorted(calls):
    draw, last, ids = Random(3).randrange, "", []
    for now, lane in calls:
        last = next_id(now, last, draw, lane)
        ids.append(last)
    assert ids == sorted(set(ids))


def test_lane_is_the_last_bit_of_the_suffix():
    assert all(int(text[-1], 16) % 2 == LOCKED for text in mint_all([MS] * 500, 5, LOCKED))
    assert all(int(text[-1], 16) % 2 == DEFERRED for text in mint_all([MS] * 500, 5, DEFERRED))


def test_clock_that_stands_still_continues_behind_the_last_id():
    assert next_id(MS, f"M-{MS}-0010", lambda n: 0) == f"M-{MS}-0012"


def test_clock_that_jumped_back_continues_behind_the_last_id():
    assert next_id(MS - 86_400_000, f"M-{MS}-0010", lambda n: 0) == f"M-{MS}-0012"


def test_full_millisecond_continues_in_the_next():
    assert next_id(MS, f"M-{MS}-fffe", lambda n: 0) == f"M-{MS + 1}-0000"


def test_last_id_of_another_tool_does_not_hinder():
    assert next_id(MS, "mem-abc", lambda n: 0) == f"M-{MS}-0000"


@pytest.mark.parametrize("text", ["", "M-1-00g0", "M-1-000", "M-1-00000", "m-1-0000", "M--0000", " M-1-0000", "mem-x"])
def test_parse_id_refuses_what_is_not_ours(text):
    assert parse_id(text) is None


def test_parse_id_gives_milliseconds_and_suffix():
    assert parse_id("M-1708800000000-a3f2") == (1_708_800_000_000, 0xA3F2)


def test_month_of_an_id_in_milliseconds():
    assert month_of("M-1708800000000-a3f2", "2030-01-01T00:00:00.000Z") == "2024-02"


def test_month_of_an_id_in_seconds():
    assert month_of("M-1708800000-a3f2", "2030-01-01T00:00:00.000Z") == "2024-02"


def test_month_changes_at_midnight_utc():
    assert month_of("M-1709251199999-0000", "") == "2024-02"
    assert month_of("M-1709251200000-0000", "") == "2024-03"


def test_month_of_a_foreign_id_is_that_of_its_date():
    assert month_of("mem-x", "2026-02-24T14:30:00.000Z") == "2026-02"
    assert month_of("mem-x", "") == ""


def test_month_of_an_id_beyond_the_calendar_is_that_of_its_date():
    assert month_of("M-9999999999999999-0000", "2026-02-24T14:30:00.000Z") == "2026-02"


def test_an_id_in_seconds_was_minted_when_its_month_says():
    found = [minted_at(own) for own in ("M-1771943400000-0002", "M-1771943400-0002")]
    assert [at.isoformat() for at in found if at] == ["2026-02-24T14:30:00+00:00"] * 2
    assert minted_at("mem-x") is None and minted_at("M-9999999999999999-0002") is None
