"""Points in time: ISO-8601 in UTC on disk, a few friendly forms on the way in."""

import re
from datetime import UTC, date, datetime, timedelta

from mabos_cli.core import BadValue
from mabos_cli.core.language.patterns import compiled

DAY = 86_400  # seconds
_STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"  # as format_time writes it
_SPAN = r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)"
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": DAY, "w": 7 * DAY}
_HINT = "use 2026-02-24, 2026-02-24T14:30:00Z, 7d, 2h, today or yesterday"


def format_time(moment: datetime) -> str:
    """Returns the moment as text that sorts: UTC, milliseconds, Z.

    >>> format_time(datetime(2026, 2, 24, 14, 30, tzinfo=UTC))
    '2026-02-24T14:30:00.000Z'
    """
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def parse_time(text: str) -> datetime:
    """Returns the moment that an ISO date or time names; without an offset it is UTC.

    >>> parse_time("2026-02-24T14:30:00+01:00").hour
    13
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise BadValue(f"not a date or time: {text[:40]!r}", _HINT) from None
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        raise BadValue(f"out of range: {text[:40]!r}", _HINT) from None


def find_time(text: str) -> datetime | None:
    """Returns the moment that a text names, or None when it names none."""
    try:
        return parse_time(text) if text else None
    except BadValue:
        return None


def as_stamp(text: str) -> str:
    """Returns the moment that a text names, as text that sorts with all others of ours; empty when it names none.

    >>> as_stamp("2026-02-24T14:30:00+01:00"), as_stamp("soon")
    ('2026-02-24T13:30:00.000Z', '')
    """
    moment = find_time(text)
    if moment is None:
        return ""
    return text if re.fullmatch(_STAMP, text) else format_time(moment)


def is_day(text: str) -> bool:
    """Returns whether a text that names a moment names a whole day, in whichever form."""
    return len(text.strip()) <= 10


def end_of(text: str) -> datetime | None:
    """Returns when a date is over: a day when it ends, a moment at once; None when the text names neither."""
    moment = find_time(text)
    if moment is None or not is_day(text):
        return moment
    try:
        return moment + timedelta(days=1)
    except OverflowError:  # the last day of the calendar
        return moment


def earlier(moment: datetime, seconds: float) -> datetime:
    """Returns the moment that lies so much earlier, or as far as the calendar goes; with a negative time, later."""
    try:
        return moment - timedelta(seconds=seconds)
    except OverflowError:
        return (datetime.min if seconds > 0 else datetime.max).replace(tzinfo=UTC)


def parse_when(text: str, now: datetime, *, end: bool = False) -> datetime:
    """Returns a moment given as a date, a time, `today`, `yesterday` or an age such as 7d. With end, a bare date means
    its last instant."""
    word = text.strip().lower()
    today = now.astimezone(UTC).date()
    day = {"today": today, "yesterday": today - timedelta(days=1), "tomorrow": today + timedelta(days=1)}.get(word)
    if word == "now":
        return now
    if day is None and re.fullmatch(r"\d{4}-\d{2}-\d{2}", word):
        try:
            day = date.fromisoformat(word)
        except ValueError:
            raise BadValue(f"not a date: {text!r}", _HINT) from None
    if day is not None:
        start = datetime(day.year, day.month, day.day, tzinfo=UTC)
        return start + timedelta(days=1, milliseconds=-1) if end else start
    span = re.fullmatch(_SPAN, word)
    try:
        return now - timedelta(seconds=parse_span(word)) if span else parse_time(text)
    except OverflowError:
        raise BadValue(f"too long ago: {text!r}", _HINT) from None


def parse_span(text: str) -> float:
    """Returns seconds in a duration such as 2h, 30m, 7d or a bare number of seconds.

    >>> parse_span("2h")
    7200.0
    """
    match = compiled(_SPAN).fullmatch(text.strip().lower())
    try:
        seconds = float(match[1]) * _SECONDS[match[2]] if match else float(text)
    except ValueError:
        seconds = float("nan")
    if not 0 <= seconds < 1e12:
        raise BadValue(f"not a duration: {text!r}", "use 90, 30m, 2h or 7d")
    return seconds


def format_span(seconds: float) -> str:
    """Returns a duration as people write it.

    >>> [format_span(s) for s in (7200, 90, 604800, 0.5)]
    ['2h', '90s', '7d', '0.5s']
    """
    for unit, size in (("d", DAY), ("h", 3600), ("m", 60)):
        if seconds >= size and seconds % size == 0:
            return f"{round(seconds / size)}{unit}"
    return f"{int(seconds) if seconds == int(seconds) else seconds!r}s"


def epoch_ms(moment: datetime) -> int:
    """Returns milliseconds since 1970."""
    return round(moment.timestamp() * 1000)
