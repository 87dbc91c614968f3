from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core import BadValue
from mabos_cli.core.language.periods import (
    LEVELS,
    before,
    day_of,
    find_day,
    mentioned,
    month_of,
    parse_period,
    period_of,
    periods_of,
    quarter_of,
    span_text,
    week_of,
)

quick = settings(deadline=None, derandomize=True)
days = st.dates(date(1000, 1, 1))
levels = st.sampled_from(LEVELS)
ONE = timedelta(days=1)


def names_of(text):
    return [period_of(level, date.fromisoformat(text)).name for level in LEVELS]


def whole(name):
    """The stretch that a period takes."""
    return tuple(parse_period(name)[2:4])


@quick
@given(days, levels)
def test_a_day_lies_in_one_period_of_each_level_and_its_name_gives_it_back(day, level):
    period = period_of(level, day)
    assert period.holds(day) and period.first <= day <= period.last
    assert parse_period(period.name) == period
    assert {period_of(level, d) for d in (period.first, day, period.last)} == {period}


@given(st.dates(date.min, date(999, 12, 31)), levels)
@quick
def test_names_of_early_years_give_the_period_back(day, level):
    assert parse_period(period_of(level, day).name) == period_of(level, day)


@quick
@given(days, levels)
def test_periods_of_a_level_leave_no_day_out_and_share_none(day, level):
    period = period_of(level, day)
    earlier = before(period)
    assert earlier and earlier.level == level and earlier.last == period.first - ONE
    if period.last < date.max:
        assert period_of(level, period.last + ONE).first == period.last + ONE


@quick
@given(st.lists(days, max_size=20), levels)
def test_periods_of_days_come_in_order_and_each_once(found, level):
    periods = periods_of(level, found)
    assert periods == sorted(set(periods), key=lambda period: period.first)
    assert all(sum(period.holds(day) for period in periods) == 1 for day in found)
    assert all(any(period.holds(day) for day in found) for period in periods)


@quick
@given(st.dates(date(1000, 1, 1), date(9999, 12, 20)))
def test_weeks_run_from_monday_to_sunday_and_belong_to_the_year_of_their_thursday(day):
    week = week_of(day)
    assert (week.first.weekday(), week.last.weekday(), week.length) == (0, 6, 7)
    assert week.name[:4] == f"{(week.first + 3 * ONE).year:04d}"
    assert quarter_of(day).first <= month_of(day).first <= month_of(day).last <= quarter_of(day).last


@pytest.mark.parametrize(
    "day, names",
    [
        ("2024-12-30", ["2024-Q4", "2024-12", "2025-W01", "2024-12-30"]),
        ("2025-12-29", ["2025-Q4", "2025-12", "2026-W01", "2025-12-29"]),
        ("2027-01-01", ["2027-Q1", "2027-01", "2026-W53", "2027-01-01"]),
        ("2027-01-04", ["2027-Q1", "2027-01", "2027-W01", "2027-01-04"]),
        ("2021-01-03", ["2021-Q1", "2021-01", "2020-W53", "2021-01-03"]),
        ("2024-02-29", ["2024-Q1", "2024-02", "2024-W09", "2024-02-29"]),
        ("2026-09-30", ["2026-Q3", "2026-09", "2026-W40", "2026-09-30"]),
        ("2026-10-01", ["2026-Q4", "2026-10", "2026-W40", "2026-10-01"]),
    ],
)
def test_years_and_quarters_turn_where_the_calendar_says(day, names):
    assert names_of(day) == names


def test_months_and_quarters_have_their_lengths():
    assert [parse_period(f"2024-{n:02d}").length for n in range(1, 13)] == [
        *(31, 29, 31, 30, 31, 30),
        *(31, 31, 30, 31, 30, 31),
    ]
    assert [parse_period(f"2026-Q{n}").length for n in range(1, 5)] == [90, 91, 92, 92]
    assert parse_period("2026-W53").length == 7


def test_time_ends_somewhere():
    assert before(week_of(date.min)) is None and before(day_of(date.min)) is None
    last = [period_of(level, date.max) for level in LEVELS]
    assert [period.name for period in last] == ["9999-Q4", "9999-12", "9999-W52", "9999-12-31"]
    assert all(period.last == date.max for period in last)


@pytest.mark.parametrize("name", [" 2026-w09\n", "2026-q1", "2026-02", "2026-02-24"])
def test_names_may_be_written_small(name):
    assert parse_period(name).name == name.strip().upper()


@pytest.mark.parametrize(
    "name",
    [
        *("", "2026", "2026-13", "2026-00", "2026-Q5", "2026-Q0", "2026-W00", "2026-W54", "2025-W53"),
        *("2026-02-30", "2026-13-45", "26-02", "02026-02", "2026-2", "2026-W9", "0000-01", "2026-02-24.md"),
        *("2026-02-24-1", "last week", "../2026-02", "2026-Q1\n2026-Q2", "x" * 5000),
    ],
)
def test_what_is_no_period_is_an_error_of_one_short_line(name):
    with pytest.raises(BadValue) as error:
        parse_period(name)
    assert len(error.value.message) < 200 and "2026-Q1" in error.value.hint


@pytest.mark.parametrize(
    "name, day",
    [
        ("2026-02-24", date(2026, 2, 24)),
        ("2024-02-29", date(2024, 2, 29)),
        *((name, None) for name in ("2026-02-29", "2026-13-45", "2026-2-4", "20260224", "2026-W09", "")),
        *((name, None) for name in ("2026-02-24 ", "2026-02-24T10:00", "٢٠٢٦-٠٢-٢٤", "notes")),
    ],
)
def test_only_real_days_are_days(name, day):
    assert find_day(name) == day


@pytest.mark.parametrize(
    "first, last, text",
    [
        ("2026-02-24", "2026-02-24", "24 February 2026"),
        ("2026-02-02", "2026-02-08", "2 to 8 February 2026"),
        ("2026-02-23", "2026-03-01", "23 February to 1 March 2026"),
        ("2025-12-29", "2026-01-04", "29 December 2025 to 4 January 2026"),
        ("2025-02-03", "2026-02-03", "3 February 2025 to 3 February 2026"),
    ],
)
def test_spans_are_written_as_people_do(first, last, text):
    assert span_text(date.fromisoformat(first), date.fromisoformat(last)) == text


@pytest.mark.parametrize(
    "question, spans",
    [
        ("what happened on 2026-02-24?", [whole("2026-02-24")]),
        ("2026-w09 or 2026-Q2", [whole("2026-W09"), whole("2026-Q2")]),
        ("in 2026-02", [whole("2026-02")]),
        ("what did we sign in March 2025?", [whole("2025-03")]),
        ("results of Q3", [whole("2026-Q3")]),
        ("since Jan, in Sept and until Dec", [whole(name) for name in ("2026-01", "2026-09", "2026-12")]),
        ("last winter", [(date(2025, 12, 1), date(2026, 2, 28))]),
        ("in autumn 2024", [(date(2024, 9, 1), date(2024, 11, 30))]),
        ("may we march on?", []),
        ("2026-13-45 and 2026-W99", []),
        ("", []),
    ],
)
def test_questions_name_stretches_of_time(question, spans):
    assert mentioned(question, [2026]) == spans


def test_a_month_without_a_year_is_that_of_every_year():
    assert mentioned("March", [2026, 2025, 2026]) == [whole("2025-03"), whole("2026-03")]
    assert mentioned("March", []) == []


asked = st.lists(
    st.sampled_from(("2026-02", "0000-00-00", "9999-W53", "Q4", "May", "winter", "2026", "1999", "?"))
    | st.text(max_size=8),
    max_size=6,
).map(" ".join)


@quick
@given(asked, st.lists(st.integers(2, 9999), max_size=3))
def test_any_question_names_spans_that_go_forward(question, years):
    assert all(first <= last for first, last in mentioned(question, years))


def test_winter_of_the_first_year_is_no_error():
    assert mentioned("winter", [1]) is not None
