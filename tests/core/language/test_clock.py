from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import (
    as_stamp,
    earlier,
    end_of,
    epoch_ms,
    format_span,
    format_time,
    parse_span,
    parse_time,
    parse_when,
)

NOW = datetime(2026, 2, 24, 14, 30, tzinfo=UTC)
quick = settings(deadline=None, derandomize=True)
moments = st.datetimes(min_value=datetime(1000, 1, 2), max_value=datetime(9999, 12, 30), timezones=st.just(UTC))


def to_ms(moment):
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


@quick
@given(moments)
def test_time_survives_writing_and_reading(moment):
    assert parse_time(format_time(moment)) == to_ms(moment)


@quick
@given(moments, moments)
def test_written_times_sort_as_the_moments_do(a, b):
    assert (format_time(a) <= format_time(b)) == (to_ms(a) <= to_ms(b))


def test_years_before_1000_are_written_with_four_digits():
    early = datetime(999, 1, 1, tzinfo=UTC)
    assert format_time(early) == "0999-01-01T00:00:00.000Z"


def test_time_of_another_zone_is_written_in_utc():
    cet = timezone(timedelta(hours=1))
    assert format_time(datetime(2026, 2, 24, 0, 30, 0, 123_456, tzinfo=cet)) == "2026-02-23T23:30:00.123Z"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-02-24", datetime(2026, 2, 24, tzinfo=UTC)),
        ("2026-02-24T14:30:00Z", NOW),
        ("2026-02-24T14:30", NOW),
        (" 2026-02-24T15:30:00+01:00 ", NOW),
    ],
)
def test_parse_time_reads_iso_and_takes_utc_for_granted(text, expected):
    assert parse_time(text) == expected
    assert parse_time(text).utcoffset() == timedelta(0)


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "2026-02-30T10:00:00Z", "0001-01-01T00:00:00+05:00"])
def test_parse_time_refuses_what_names_no_moment(text):
    with pytest.raises(BadValue) as refused:
        parse_time(text)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("now", NOW),
        ("today", datetime(2026, 2, 24, tzinfo=UTC)),
        (" Yesterday ", datetime(2026, 2, 23, tzinfo=UTC)),
        ("tomorrow", datetime(2026, 2, 25, tzinfo=UTC)),
        ("2026-01-31", datetime(2026, 1, 31, tzinfo=UTC)),
        ("7d", NOW - timedelta(days=7)),
        ("2h", NOW - timedelta(hours=2)),
        ("1.5 h", NOW - timedelta(minutes=90)),
        ("500ms", NOW - timedelta(milliseconds=500)),
        ("2W", NOW - timedelta(days=14)),
        ("2026-02-24T14:30:00+01:00", NOW - timedelta(hours=1)),
    ],
)
def test_parse_when_reads_dates_words_and_ages(text, expected):
    assert parse_when(text, NOW) == expected


@pytest.mark.parametrize("text", ["2026-02-24", "today"])
def test_bare_date_as_an_end_means_its_last_instant(text):
    assert format_time(parse_when(text, NOW, end=True)) == "2026-02-24T23:59:59.999Z"


def test_time_of_day_as_an_end_stays_what_it_is():
    assert parse_when("2026-02-24T14:30:00Z", NOW, end=True) == NOW


def test_last_day_of_the_calendar_has_an_end():
    assert format_time(parse_when("9999-12-31", NOW, end=True)) == "9999-12-31T23:59:59.999Z"


@pytest.mark.parametrize("text", ["", "soon", "2026-02-30", "2026-2-3x", "7x", "-3d", "99999999999w", "nan"])
def test_parse_when_refuses_what_names_no_moment(text):
    with pytest.raises(BadValue) as refused:
        parse_when(text, NOW)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("0", 0),
        ("30m", 1800),
        ("2h", 7200),
        ("7d", 604_800),
        ("1w", 604_800),
        ("250ms", 0.25),
        (" 1.5H ", 5400),
    ],
)
def test_parse_span_reads_units_and_bare_seconds(text, seconds):
    assert parse_span(text) == seconds


@pytest.mark.parametrize("text", ["", "h", "-1", "-5m", "nan", "inf", "1e12", "2 hours", "2h30m"])
def test_parse_span_refuses_what_is_no_duration(text):
    with pytest.raises(BadValue):
        parse_span(text)


@pytest.mark.parametrize("text", ["99999999999999w", "9" * 400 + "d"])
def test_parse_span_has_the_same_limit_with_and_without_a_unit(text):
    with pytest.raises(BadValue):
        parse_span(text)


@quick
@given(st.text(max_size=12) | st.from_regex(r"\A[0-9a-z.:+-]{1,12}\Z"))
def test_any_text_is_a_moment_or_a_bad_value(text):
    try:
        assert parse_when(text, NOW).tzinfo
    except BadValue as refused:
        assert refused.message


@quick
@given(st.integers(0, 10**9))
def test_span_survives_writing_and_reading(seconds):
    assert parse_span(format_span(seconds)) == seconds


def test_span_is_written_in_its_largest_whole_unit():
    assert [format_span(s) for s in (0, 90, 120, 5400, 7200, 86_400, 604_800)] == [
        "0s",
        "90s",
        "2m",
        "90m",
        "2h",
        "1d",
        "7d",
    ]


def test_epoch_ms_counts_from_1970():
    assert epoch_ms(datetime(1970, 1, 1, 0, 0, 1, 5000, tzinfo=UTC)) == 1005


def test_a_day_is_over_when_it_ends():
    assert end_of("2026-02-24") == datetime(2026, 2, 25, tzinfo=UTC)
    assert end_of("2026-02-24T14:30:00Z") == NOW
    assert end_of("9999-12-31") == datetime(9999, 12, 31, tzinfo=UTC)
    assert end_of("ongoing") is None and end_of("") is None


def test_the_calendar_ends_before_a_span_may():
    assert earlier(NOW, 3600) == NOW - timedelta(hours=1)
    assert (earlier(NOW, 9e11).year, earlier(NOW, -9e11).year) == (1, 9999)


@pytest.mark.parametrize(
    ("text", "stamp"),
    [
        ("2026-02-24T14:30:00.000Z", "2026-02-24T14:30:00.000Z"),
        ("2026-02-24T16:30:00+02:00", "2026-02-24T14:30:00.000Z"),
        ("2026-02-24", "2026-02-24T00:00:00.000Z"),
        ("2026-02-31T00:00:00.000Z", ""),
        ("never", ""),
        ("", ""),
    ],
)
def test_times_of_other_tools_sort_with_ours(text, stamp):
    assert as_stamp(text) == stamp
