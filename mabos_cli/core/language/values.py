"""Objects of facts as values: numbers, money, percentages, measures, dates and times, and how two of them compare."""

import math
import re
from datetime import UTC, datetime, time
from functools import cache, lru_cache
from operator import eq, ge, gt, le, lt, ne

from mabos_cli.core.records import NamedTuple


class Value(NamedTuple):
    """Holds what a text stands for: values of one kind and unit have an order, others have none."""

    kind: str  # number, percent, money, measure, time (a day or moment), clock (a time of day)
    unit: str  # the currency of money, the unit of a measure
    amount: float  # seconds for times; a whole number stays an int, which is exact at any size


_SIGNS = {"$": "USD", "US$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
_CODES = "USD EUR GBP JPY CHF CNY CAD AUD NZD INR SEK NOK DKK PLN CZK HUF RON BRL MXN ZAR SGD HKD KRW TRY ILS AED THB"
_SCALES = {"k": 3, "m": 6, "mn": 6, "bn": 9, "b": 9, "t": 12, "tn": 12}
# Each line is one dimension: units with what they are worth in the first of them. Months vary, so they are apart from days.
_UNITS = {
    unit: (line.split()[0].split("=")[0], float(worth))
    for line in """g=1 mg=.001 kg=1e3 t=1e6 lb=453.59237 lbs=453.59237 oz=28.349523125
m=1 mm=.001 cm=.01 km=1e3 mi=1609.344 mile=1609.344 miles=1609.344 ft=.3048
s=1 ms=.001 sec=1 second=1 seconds=1 min=60 minute=60 minutes=60 h=3600 hr=3600 hour=3600 hours=3600 d=86400 day=86400 \
days=86400 week=604800 weeks=604800
month=1 months=1 quarter=3 quarters=3 year=12 years=12
byte=1 bytes=1 kB=1e3 KB=1e3 MB=1e6 GB=1e9 TB=1e12 PB=1e15 KiB=1024 MiB=1048576 GiB=1073741824 TiB=1099511627776
l=1 L=1 ml=.001 mL=.001 hl=100
W=1 kW=1e3 MW=1e6 GW=1e9
Wh=1 kWh=1e3 MWh=1e6 GWh=1e9
m2=1 m²=1 km2=1e6 km²=1e6 ha=1e4""".split("\n")
    for unit, worth in (each.split("=") for each in line.split())
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Returns amounts, days with or without a time, times of day; compiled when first needed."""
    sign = rf"US\$|[$€£¥]|{_CODES.replace(' ', '|')}"
    units = "|".join(_UNITS)
    amount = re.compile(
        rf"(?P<minus>[+-])?\s?(?P<before>{sign})?\s?(?P<sign>[+-])?"
        r"(?P<whole>[1-9][0-9]{0,2}(?:,[0-9]{3})+|0|[1-9][0-9]{0,39})?(?P<part>\.[0-9]{1,40})?(?P<power>[eE][+-]?[0-9]{1,3})?"
        rf"(?:\s?(?!(?:{units.replace('|m|', '|').replace('|t|', '|')})$)(?P<scale>k|K|m|M|mn|bn|b|B|t|T|tn))?"
        rf"(?:\s?(?P<after>{sign}|%|percent|{units}))?"
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
    if scale in ("m", "t") and not unit:
        scale, unit = None, scale  # 5 m is a length, 5 t a weight
    if (scale in ("m", "b", "t") and unit in ("", "%", "percent")) or (scale and unit in _UNITS):
        return None
    power = _SCALES[scale.lower()] if scale else 0
    digits = (match["whole"] or "0").replace(",", "") + (match["part"] or "")
    power += int(match["power"][1:]) if match["power"] else 0
    number = _exact(digits, power)
    if number is None:
        return None
    number = -number if "-" in (match["minus"], match["sign"]) else number
    if unit in ("%", "percent"):
        return Value("percent", "", number)
    if unit in _UNITS:
        return Value("measure", unit, number)
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

    Values of one kind compare by what they are worth, in whatever unit they are written; others are equal only as texts,
    and neither more nor less. A bare number takes the unit of what is there: who writes `> 40000` means that.

    >>> compare("gt", "$50,000", "$12k"), compare("gt", "$50,000", "€12k"), compare("gt", "$50,000", "40000")
    (True, False, True)
    >>> compare("eq", "$1,200.50", "1200.5"), compare("eq", "0.5 kg", "500 g"), compare("ne", "12 %", "12")
    (True, True, False)
    """
    if operator.startswith("not_"):
        return not _meets(operator[4:], left, right)
    if operator == "contains":
        return right.casefold() in left.casefold()
    if operator in ("eq", "ne") and left == right:
        return operator == "eq"
    pair = _find_amounts(left, right)
    if pair is None:
        return operator == "ne"
    return _RELATIONS[operator](*pair) if operator in _RELATIONS else False


def _meets(operator: str, left: str, right: str) -> bool:
    """Returns whether a value fits an expression, is of one of some datatypes or one of some values, each a word or a line of what
    is given; or compares as asked for."""
    if operator == "matches":
        try:
            return re.search(right, left) is not None
        except re.error:  # what is no expression asks for nothing
            return True
    if operator == "typed":
        return any(is_literal(left, datatype) for datatype in right.split())
    if operator == "among":
        return any(compare("eq", left, each) for each in right.split("\n"))
    return compare(operator, left, right)


_NUMBERS = ("decimal", "double", "float")
_AMOUNTS = ("number", "money", "percent")


def is_whole_number(datatype: str) -> bool:
    """Returns whether the values of a datatype are whole numbers.

    >>> [is_whole_number(name) for name in ("xsd:nonNegativeInteger", "xsd:unsignedShort", "xsd:decimal")]
    [True, True, False]
    """
    return datatype.lower().endswith(("integer", "long", "int", "short", "byte"))


def is_literal(text: str, datatype: str) -> bool:
    """Returns whether a text is a value of an XML Schema datatype, as facts write them: money and percentages are decimals.

    >>> [is_literal("$50,000", "xsd:decimal"), is_literal("2.5", "xsd:integer"), is_literal("soon", "xsd:date")]
    [True, False, False]
    """
    name, value = re.split("[#:]", datatype)[-1], find_value(text)
    if name in _NUMBERS:
        return value is not None and value.kind in _AMOUNTS
    if is_whole_number(name):
        whole = value is not None and value.kind == "number" and value.amount == int(value.amount)
        return whole and _has_sign(name, value.amount)  # type: ignore[union-attr]
    if name == "boolean":
        return text.strip().lower() in ("true", "false", "1", "0")
    if name == "date":
        return value is not None and value.kind == "time" and len(text.strip()) == 10
    if name in ("dateTime", "dateTimeStamp"):
        return value is not None and value.kind == "time"  # a day stands for its start
    return name != "time" or (value is not None and value.kind == "clock")


def _has_sign(name: str, amount: float) -> bool:
    """Returns whether a whole number is on the side of zero that the name of its type demands."""
    return all(is_so(amount, 0) for start, is_so in _SIDES.items() if name.startswith(start))


_SIDES = {"nonNegative": ge, "unsigned": ge, "positive": gt, "nonPositive": le, "negative": lt}
_RELATIONS = {"eq": eq, "ne": ne, "gt": gt, "gte": ge, "lt": lt, "lte": le}


def _find_amounts(left: str, right: str) -> tuple[float, float] | None:
    """Returns what two texts are worth in one unit; None if they have no order."""
    a, b = find_value(left), find_value(right)
    if a is None or b is None:
        return None
    if a[:2] == b[:2] or ("number" in (a.kind, b.kind) and not {"time", "clock"} & {a.kind, b.kind}):
        return a.amount, b.amount
    if a.kind == b.kind == "measure" and _UNITS[a.unit][0] == _UNITS[b.unit][0]:
        # To twelve digits: 2.54 cm and 1 in differ in the last one only.
        one, other = (float(f"{value.amount * _UNITS[value.unit][1]:.12g}") for value in (a, b))
        return one, other
    return None
