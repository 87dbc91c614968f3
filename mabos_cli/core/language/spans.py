"""Stretches of time as pairs of whole numbers, so that what holds can be met, taken away and put together exactly."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise

from mabos_cli.core.language.clock import find_time, is_day

# Microseconds since 1970, the end not included. None, in rows of facts that hold always, stands for ALWAYS.
Span = tuple[int, int]
_EPOCH, _TICK = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
DAY = 86_400_000_000
_MIN, _MAX = -(1 << 62), 1 << 62
ALWAYS: Span = (_MIN, _MAX)
EMPTY: Span = (0, 0)


def moment_number(moment: datetime) -> int:
    """Returns a moment as a number.

    >>> moment_number(datetime(1970, 1, 2, tzinfo=UTC)) == DAY
    True
    """
    return (moment - _EPOCH) // _TICK


@lru_cache(maxsize=1 << 16)
def find_span(valid_from: str, valid_until: str) -> Span | None:
    """Returns the time between two dates, None for always, EMPTY for never. A day as an end is included; a bound that cannot be
    read is none."""
    start, end = find_time(valid_from), find_time(valid_until)
    low = moment_number(start) if start else _MIN
    high = moment_number(end) + (DAY if is_day(valid_until) else 1) if end else _MAX
    if low >= high:
        return EMPTY
    return None if (low, high) == ALWAYS else (low, high)


def meet(one: Span | None, two: Span | None) -> Span | None:
    """Returns the time that two stretches have in common: None for always, EMPTY for never."""
    if one is None or two is None:
        return one if two is None else two
    low = one[0] if one[0] > two[0] else two[0]
    high = one[1] if one[1] < two[1] else two[1]
    return (low, high) if low < high else EMPTY


def subtract(span: Span | None, covered: Iterable[Span | None]) -> list[Span | None]:
    """Returns what is left of a stretch without others, in order.

    >>> subtract((0, 10), [(2, 4), (9, 20)])
    [(0, 2), (4, 9)]
    """
    left, end = span or ALWAYS
    found: list[Span | None] = []
    for low, high in sorted(each or ALWAYS for each in covered):
        if low >= end:
            break
        if low > left:
            found.append((left, low))
        left = max(left, high)
    if left < end:
        found.append((left, end) if (left, end) != ALWAYS else None)
    return found


def unite(spans: Iterable[Span | None]) -> list[Span | None]:
    """Returns stretches in order, with those that touch or overlap put together.

    >>> unite([(4, 6), (0, 2), (2, 3)])
    [(0, 3), (4, 6)]
    """
    found: list[Span] = []
    for low, high in sorted(each or ALWAYS for each in spans):
        if found and low <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return [None if each == ALWAYS else each for each in found]


def holds_within(span: Span | None, moment: int) -> bool:
    """Returns whether a moment lies in a stretch."""
    return span is None or span[0] <= moment < span[1]


def span_texts(span: Span | None) -> tuple[str, str]:
    """Returns the bounds as the dates of a fact, empty where there is none.

    >>> span_texts(find_span("2026-01-01", "2026-03-31T18:00:00Z"))
    ('2026-01-01', '2026-03-31T18:00:00Z')
    """
    low, high = span or ALWAYS
    until = "" if high == _MAX else _text(high - DAY) if high % DAY == 0 else _text(high - 1)
    return "" if low == _MIN else _text(low), until


@lru_cache(maxsize=1 << 12)
def _text(number: int) -> str:
    try:
        moment = _EPOCH + number * _TICK
    except OverflowError:  # beyond the calendar: no bound
        return ""
    if number % DAY == 0:
        return moment.date().isoformat()
    return moment.replace(tzinfo=None).isoformat() + "Z"


def cut_points(spans: Sequence[Span | None]) -> list[Span]:
    """Returns the stretches between all bounds of some, over all time: within each of them the same ones hold."""
    points = sorted({_MIN, _MAX, *(point for each in spans for point in each or ALWAYS)})
    return list(pairwise(points))
