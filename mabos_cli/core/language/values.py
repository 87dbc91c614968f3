"""Objects of facts as values: numbers, money, percentages, dates and times, and how two of them compare."""

import math
import re
from datetime import UTC, datetime, time
from functools import cache, lru_cache
from typing import NamedTuple


class Value(NamedTuple):
    """What a text stands for: values of one kind and unit have an order, others have none."""

    kind: str  # number, percent, money, time (a day or moment), clock (a time of day)
    unit: str  # the currency of money
    amount: float  # seconds for times; a whole number stays an int, which is exact at any size


_SIGNS = {"$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
_CODES = "USD EUR GBP JPY CHF CNY CAD AUD NZD INR SEK NOK DKK PLN CZK HUF RON BRL MXN ZAR SGD HKD KRW TRY ILS AED THB"
_SCALES = {"k": 3, "m": 6, "mn": 6, "bn": 9, "b": 9, "t": 12, "tn": 12}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Returns amounts, days with or without a time, times of day; compiled when first needed."""
    sign = rf"US\$|[$€£¥]|{_CODES.replace(' ', '|')}"
    amount = re.compile(
        rf"(?P<minus>[+-])?\s?(?P<before>{sign})?\s?(?P<sign>[+-])?"
        r"(?P<whole>[1-9][0-9]{0,2}(?:,[0-9]{3})+|0|[1-9][0-9]{0,39})?(?P<part>\.[0-9]{1,40})?(?P<power>[eE][+-]?[0-9]{1,3})?"
        rf"(?:\s?(?P<scale>k|K|m|M|mn|bn|b|B|t|T|tn))?(?:\s?(?P<after>{sign}|%|percent))?"
    )
    day = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    clock = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?"
    return amount, re.compile(rf"{day}(?:[T ]{clock}(?:Z|[+-][0-9]{{2}}:?[0-9]{{2}})?)?"), re.compile(clock)


@lru_cache(maxsize=1 << 16)
def find_value(text: str) -> Value | None:
    """Returns the value that a text stands for, or None. Digits with a leading zero are a code, not a number.

    >>> [find_value(text) for text in ("$50,000", "2.4M", "12 %")]
    [Value(kind='money', unit='USD', amount=50000), Value(kind='number', unit='', amount=2400000), \
Value(kind='percent', unit='', amount=12)]
    >>> find_value("007"), find_value("about 7")
    (None, None)
    """
    value = text.strip()
    if not value or len(value) > 100 or not any("0" <= char <= "9" for char in value):
        return None
    amount, day, clock = _patterns()
    if day.fullmatch(value):
        return _moment(value)
    if clock.fullmatch(value):
        try:
            at = time.fromisoformat(value)
        except ValueError:
            return None
        return Value("clock", "", at.hour * 3600 + at.minute * 60 + at.second + at.microsecond / 1e6)
    match = amount.fullmatch(value)
    return _amount(match) if match else None


def _moment(text: str) -> Value | None:
    """Returns a day or a moment in seconds; without an offset it is UTC, and a day stands for its start."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    # By difference: timestamp() and conversion to UTC fail at the ends of the calendar.
    span = (at if at.tzinfo else at.replace(tzinfo=UTC)) - _EPOCH
    return Value("time", "", span.days * 86400 + span.seconds + span.microseconds / 1e6)


def _amount(match: re.Match[str]) -> Value | None:
    """Returns the number, money or percentage of a match."""
    before, after, scale = match["before"], match["after"], match["scale"]
    if not (match["whole"] or match["part"]) or (match["minus"] and match["sign"]):
        return None
    if before and after:
        return None
    unit = before or after or ""
    if scale in ("m", "b", "t") and unit in ("", "%", "percent"):
        return None  # 5 m is a length, 5 t a weight
    power = _SCALES[scale.lower()] if scale else 0
    digits = (match["whole"] or "0").replace(",", "") + (match["part"] or "")
    power += int(match["power"][1:]) if match["power"] else 0
    number = _exact(digits, power)
    if number is None:
        return None
    number = -number if "-" in (match["minus"], match["sign"]) else number
    if unit in ("%", "percent"):
        return Value("percent", "", number)
    return Value("money", _SIGNS.get(unit, unit), number) if unit else Value("number", "", number)


def _exact(digits: str, power: int) -> float | None:
    """Returns the number; whole ones as int, because floats take neighbours beyond 2**53 for equal."""
    whole, _, part = digits.partition(".")
    part = part.rstrip("0")
    if power - len(part) >= 0 and len(whole) + power <= 60:
        return int(whole + part) * int(10 ** (power - len(part)))
    if not part and power == 0:
        return int(whole)
    number = float(f"{digits}e{power}")
    return number if math.isfinite(number) else None


def compare(operator: str, left: str, right: str) -> bool:
    """Returns whether the object of a fact stands in this relation to what a condition gives.

    Equality is by value if both are of one kind, else by text; what has no common order is neither more nor less. A bare
    number has the order of money and percentages: who writes `> 40000` means the unit of what is there.

    >>> compare("gt", "$50,000", "$12k"), compare("gt", "$50,000", "€12k"), compare("gt", "$50,000", "40000")
    (True, False, True)
    """
    if operator == "contains":
        return right.casefold() in left.casefold()
    if operator == "eq":
        return _is_equal(left, right)
    if operator == "ne":
        return not _is_equal(left, right)
    a, b = find_value(left), find_value(right)
    if a is None or b is None or not _have_order(a, b):
        return False
    if operator == "gt":
        return a.amount > b.amount
    if operator == "gte":
        return a.amount >= b.amount
    if operator == "lt":
        return a.amount < b.amount
    return operator == "lte" and a.amount <= b.amount


def _have_order(a: Value, b: Value) -> bool:
    return a[:2] == b[:2] or ("number" in (a.kind, b.kind) and not {"time", "clock"} & {a.kind, b.kind})


def _is_equal(left: str, right: str) -> bool:
    if left == right:
        return True
    a = find_value(left)
    return a is not None and a == find_value(right)
