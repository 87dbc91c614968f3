"""Terms that are worked out: arithmetic over values, dates and durations, `today`, and aggregates."""

import re
from calendar import monthrange
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal, DivisionByZero, InvalidOperation
from functools import lru_cache
from typing import Any

from mabos_cli.core.language.spans import ALWAYS, DAY, Span
from mabos_cli.core.language.values import Value, compare, find_value

AGGREGATES = ("count", "sum", "min", "max", "avg")
TODAY = "today"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_MONTH = 2_629_746  # seconds, on average: months have an order with days, though no exact one
_UNIT = re.compile(r"(\S+) (second|minute|hour|day|week|month|quarter|year)s?")
_OPERATION = re.compile(r"(?<=\s)[-+*/](?=\s)")
_MONEY = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥"}
Node = tuple[Any, ...]


def is_expression(text: str) -> bool:
    """Returns whether a term of a comparison is worked out, not taken as it is.

    >>> [is_expression(text) for text in ("?a * ?b", "today - 30 days", "today", "R + D", "?a")]
    [True, True, True, False, False]
    """
    if text == TODAY:
        return True
    return bool(_OPERATION.search(text)) and any(word[:1] == "?" or word == TODAY for word in _words(text))


def uses_today(*texts: str) -> bool:
    """Returns whether a term depends on the day at which it is asked for."""
    return any(is_expression(text) and TODAY in _words(text) for text in texts)


def names_in(text: str) -> tuple[str, ...]:
    """Returns the variables of a term.

    >>> names_in("?a * ( ?b + 2 )"), names_in("?x"), names_in("5")
    (('?a', '?b'), ('?x',), ())
    """
    if not is_expression(text):
        return (text,) if len(text) > 1 and text[0] == "?" else ()
    return tuple(dict.fromkeys(word for word in _words(text) if len(word) > 1 and word[0] == "?"))


def _words(text: str) -> list[str]:
    return re.findall(r"[()]|[^\s()]+", text)


def check_expression(text: str) -> str:
    """Returns why a term cannot be worked out; empty if it can."""
    try:
        node = _parse(text) if is_expression(text) else ()
    except (ValueError, IndexError):
        return f"cannot read {text!r} as arithmetic"
    if TODAY in _words(text) and node and not _is_shifted_today(node):
        return f"{text!r}: today may have durations added or taken away, and be compared with a date"
    return ""


def _is_shifted_today(node: Node) -> bool:
    if node == (TODAY,):
        return True
    return node[0] in "+-" and _is_shifted_today(node[1]) and TODAY not in str(node[2])


@lru_cache(maxsize=1 << 10)
def _parse(text: str) -> Node:
    """Returns the tree of an expression: (operation, left, right), (variable,), (today,) or (value,)."""
    words, at = _words(text), 0

    def chain(signs: str, operand: Callable[[], Node]) -> Node:
        nonlocal at
        left = operand()
        while at < len(words) and words[at] in signs:
            at += 1
            left = (words[at - 1], left, operand())
        return left

    def product() -> Node:
        return chain("*/", factor)

    def factor() -> Node:
        nonlocal at
        word = words[at]
        at += 1
        if word == "(":
            inside = chain("+-", product)
            if words[at] != ")":
                raise ValueError(text)
            at += 1
            return inside
        if word == TODAY or word[0] == "?":
            return (word,)
        value = _read(f"{word} {words[at]}") if at < len(words) else None
        at += value is not None
        value = value or _read(word)
        if value is None:
            raise ValueError(text)
        return (value,)

    tree = chain("+-", product)
    if at < len(words):
        raise ValueError(text)
    return tree


def _read(text: str) -> Value | None:
    """Returns the value of a text; a duration is one too, in seconds or in months."""
    value = find_value(text)
    unit = _UNIT.fullmatch(text) if value is None or value.kind not in ("number", "time") else None
    amount = find_value(unit[1]) if unit else None
    if unit is None or amount is None or amount.kind != "number":
        return value
    if unit[2] in _MONTHS:
        return Value("duration", "months", amount.amount * _MONTHS[unit[2]])
    return Value("duration", "", amount.amount * _SECONDS[unit[2]])


def _work_out(node: Node, values: Mapping[str, str]) -> Value | None:
    if len(node) == 1:
        return _read(values[node[0]]) if isinstance(node[0], str) else node[0]
    left, right = _work_out(node[1], values), _work_out(node[2], values)
    if left is None or right is None:
        return None
    if "time" in (left.kind, right.kind):
        return _shift(node[0], left, right)
    try:
        return _calculate(node[0], left, right)
    except (InvalidOperation, DivisionByZero):
        return None


def _shift(sign: str, left: Value, right: Value) -> Value | None:
    """Returns a date with a duration added or taken away, or the time between two dates."""
    if left.kind == right.kind and sign == "-":
        return Value("duration", "", left.amount - right.amount)
    if sign == "+" and right.kind == "time":
        left, right = right, left
    if left.kind != "time" or right.kind != "duration" or sign not in "+-":
        return None
    amount = right.amount if sign == "+" else -right.amount
    if right.unit != "months":
        return left._replace(amount=left.amount + amount)
    at = _EPOCH + timedelta(seconds=left.amount)
    years, month = divmod(at.year * 12 + at.month - 1 + int(amount), 12)
    if not 1 <= years <= 9999:
        return None
    moved = at.replace(year=years, month=month + 1, day=min(at.day, monthrange(years, month + 1)[1]))
    return left._replace(amount=(moved - _EPOCH).total_seconds())


def _calculate(sign: str, left: Value, right: Value) -> Value | None:
    """Returns a sum, difference, product or quotient, where the kinds have one."""
    one, two = Decimal(str(left.amount)), Decimal(str(right.amount))
    if sign in "+-":
        if left[:2] != right[:2]:
            return None
        return left._replace(amount=_plain(one + two if sign == "+" else one - two))
    if sign == "/" and left[:2] == right[:2]:
        return Value("number", "", _plain(one / two))
    if right.kind == "percent" and left.kind != "percent":
        right, two = Value("number", "", 0), two / 100
    if left.kind == "percent" and sign == "*" and right.kind != "percent":
        left, one = Value("number", "", 0), one / 100
    if right.kind != "number":
        if sign == "/" or left.kind != "number":
            return None
        left, right = right, left
    return left._replace(amount=_plain(one * two if sign == "*" else one / two))


def _plain(amount: Decimal) -> float:
    return int(amount) if amount == amount.to_integral_value() else float(amount)


def render_value(value: Value) -> str:
    """Returns a value as text that is read as the same one.

    >>> [render_value(Value(*each)) for each in (("number", "", 0.3), ("money", "USD", 150), ("duration", "", 172800))]
    ['0.3', '$150', '2 days']
    """
    if value.kind == "time":
        at = _EPOCH + timedelta(seconds=value.amount)
        return at.date().isoformat() if value.amount % 86_400 == 0 else at.replace(tzinfo=None).isoformat() + "Z"
    if value.kind == "duration":
        names = _MONTHS if value.unit else _SECONDS
        fitting = (name for name in ("day", "hour", "minute") if name in names and value.amount % names[name] == 0)
        unit = next(fitting, "month" if value.unit else "second")
        count = value.amount / names[unit]
        return f"{count:g} {unit}{'s' * (count != 1)}"
    text = format(Decimal(str(value.amount)), "f")
    if value.kind == "percent":
        return f"{text}%"
    if value.kind == "measure":
        return f"{text} {value.unit}"
    if value.kind == "money":
        sign = "-" if value.amount < 0 else ""
        return f"{sign}{_MONEY[value.unit]}{text.lstrip('-')}" if value.unit in _MONEY else f"{text} {value.unit}"
    return text


def worker(text: str) -> tuple[tuple[str, ...], Callable[..., str | None]]:
    """Returns the variables of a term and a function that works it out for their values; None where it has no value.

    >>> names, work = worker("?price * 3")
    >>> work("$1,200.50"), work("soon")
    ('$3601.5', None)
    """
    names = names_in(text)
    if not is_expression(text):
        return names, (lambda *values: values[0]) if names else (lambda *values: text)
    node = _parse(text)

    def work(*values: str) -> str | None:
        value = _work_out(node, dict(zip(names, values, strict=True)))
        return None if value is None else render_value(value)

    return names, work


def compare_terms(operator: str, left: str | None, right: str | None) -> bool:
    """Returns whether two values stand in a relation; durations have an order too."""
    if left is None or right is None:
        return False
    one, two = _read(left), _read(right)
    if one and two and one.kind == two.kind == "duration":
        left, right = (str(v.amount * _MONTH if v.unit else v.amount) for v in (one, two))
    return compare(operator, left, right)


_FLIPPED = {"lt": "gt", "gt": "lt", "lte": "gte", "gte": "lte", "eq": "eq", "ne": "ne"}


def during(operator: str, left: str, right: str, values: Mapping[str, str]) -> list[Span]:
    """Returns when a comparison holds in which one side is `today`, perhaps with durations added or taken away.

    >>> from mabos_cli.core.language.spans import span_texts
    >>> [span_texts(each) for each in during("lt", "?due", "today - 30 days", {"?due": "2026-01-01"})]
    [('2026-02-01', '')]
    """
    if uses_today(right):
        left, right, operator = right, left, _FLIPPED.get(operator, operator)
    node: Node = _parse(left)
    moment = _read(str(worker(right)[1](*(values[name] for name in names_in(right)))))
    while moment is not None and moment.kind == "time" and node != (TODAY,):
        shift = _work_out(node[2], values)
        moment = _shift("-" if node[0] == "+" else "+", moment, shift) if shift else None
        node = node[1]
    if moment is None or moment.kind != "time":
        return []
    at = round(moment.amount * 1_000_000)
    after = at + (DAY if at % DAY == 0 else 1)
    first, last = ALWAYS
    return {
        "lt": [(first, at)], "lte": [(first, after)], "gt": [(after, last)], "gte": [(at, last)],
        "eq": [(at, after)], "ne": [(first, at), (after, last)],
    }.get(operator, [])  # fmt: skip


def aggregate(name: str, texts: Sequence[str]) -> str | None:
    """Returns the number, sum, least, greatest or mean of some values; None where there is none, as of sums in two currencies.

    >>> aggregate("sum", ("$1,200.50", "$10")), aggregate("avg", ("1", "2")), aggregate("max", ("a", "b")), aggregate("min", ())
    ('$1210.5', '1.5', 'b', None)
    """
    if name == "count":
        return str(len(texts))
    if not texts:
        return "0" if name == "sum" else None
    values = [value for value in map(_read, texts) if value is not None]
    if len(values) < len(texts) or len({value[:2] for value in values}) > 1:
        return {"min": min, "max": max}[name](texts) if name in ("min", "max") and not values else None
    if name in ("min", "max"):
        best = (min if name == "min" else max)(zip((value.amount for value in values), texts, strict=True))
        return best[1]
    total = sum((Decimal(str(value.amount)) for value in values), Decimal(0))
    return render_value(values[0]._replace(amount=_plain(total / len(values) if name == "avg" else total)))
