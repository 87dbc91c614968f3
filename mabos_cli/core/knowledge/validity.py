"""The time for which conclusions hold: what is common to the times of their supports."""

from datetime import datetime

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.fact_time import FIRST, LAST, interval

# A bound is a moment and the text that gave it, so that a conclusion can say it in the words of its support.
Bound = tuple[datetime, str]
Span = tuple[Bound, Bound]
_FIRST: Bound = FIRST, ""
_LAST: Bound = LAST, ""
EMPTY: Span = (_LAST, _FIRST)


def find_span(fact: Fact) -> Span | None:
    """The time for which a fact holds, None for always, EMPTY for never. A bound that cannot be read is none."""
    if not fact.valid_from and not fact.valid_until:
        return None
    start, end = interval(fact)
    low = (start, fact.valid_from.strip()) if start != _FIRST[0] else _FIRST
    high = (end, fact.valid_until.strip()) if end != _LAST[0] else _LAST
    if low[0] > high[0]:
        return EMPTY
    return None if low is _FIRST and high is _LAST else (low, high)


def meet(one: Span | None, two: Span | None) -> Span | None:
    """The time for which both hold: None for always, EMPTY for never."""
    if one is None or two is None:
        return one if two is None else two
    low, high = max(one[0], two[0]), min(one[1], two[1])
    return (low, high) if low[0] <= high[0] else EMPTY


def span_texts(span: Span | None) -> tuple[str, str]:
    """The bounds as texts of a fact."""
    return (span[0][1], span[1][1]) if span else ("", "")


def span_rank(span: Span | None) -> tuple[datetime, str, float, str]:
    """An order of times: the earlier it begins and the longer it lasts, the better."""
    low, high = span or (_FIRST, _LAST)
    return low[0], low[1], -(high[0] - _FIRST[0]).total_seconds(), high[1]
