"""Events as the user states them, with dates, durations, gaps and relations, become points in time and demands on them."""

import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.language.values import find_value
from mabos_cli.reasoning.formal.allen import ALL, ENDS, convex_parts, hull, parse_relations
from mabos_cli.reasoning.formal.time_net import GRAIN, Bound, Demand
from mabos_cli.reasoning.input_checks import check_size, unknown_name
from mabos_cli.reasoning.wording import figure

UNITS = {"minutes": 60, "hours": 3600, "days": 86400, "weeks": 604800}
MOST_EVENTS, _MOST_DEMANDS, _MOST_AMOUNT = 30, 300, 10**9
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*(minute|hour|day|week)s?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ENDS = ("start", "end")
_Span = tuple[Fraction | None, Fraction | None]


class Scale(NamedTuple):
    """How times are told: in which unit, and whether they are dates."""

    unit: str
    is_dated: bool
    is_daily: bool  # only whole days occur: an end is told as the last day
    ticks: int = GRAIN

    def told(self, time: Fraction, is_end: bool = False) -> str:
        """A time as people write it."""
        if not self.is_dated:
            return figure(float(time))
        try:
            at = _EPOCH + timedelta(seconds=float(time * UNITS[self.unit]))
            midnight = (at.hour, at.minute, at.second, at.microsecond) == (0, 0, 0, 0)
            if midnight and is_end and self.is_daily:
                at -= timedelta(days=1)
        except OverflowError:
            return "beyond the calendar"
        return at.strftime("%Y-%m-%d") if midnight else at.strftime("%Y-%m-%d %H:%M")


class Asked(NamedTuple):
    """Events, what is demanded of them, and what was said of each two."""

    events: tuple[str, ...]
    demands: tuple[Demand, ...]
    labels: tuple[tuple[int, int, int], ...]  # event, event, relations
    scale: Scale
    is_metric: bool
    order: tuple[Bound, ...]  # an event starts before it ends, and not before time begins


class _Metric(NamedTuple):
    """A difference of two points that must lie in a span."""

    said: str
    first: int
    second: int
    span: _Span


def point(event: int, end: int) -> int:
    """The number of the start (0) or end (1) of an event. Point 0 is where time is counted from."""
    return 1 + 2 * event + end


def read_events(given: dict[str, Any]) -> Asked:
    """The events with all that is demanded of them."""
    events = tuple(given["events"])
    check_size("events", len(events), MOST_EVENTS, "events")
    check_size("relations", len(given["relations"]) + len(given["gaps"]), _MOST_DEMANDS, "relations and gaps")
    unit = given["unit"]
    times = _Times(UNITS[unit])
    metric = [one for n, name in enumerate(events) for one in times.of_event(n, name, given["events"][name] or {})]
    metric += [times.of_gap(gap, f"gaps[{n}]", events) for n, gap in enumerate(given["gaps"], 1)]
    grain = lcm(1, *(side.denominator for one in metric for side in one.span if side is not None))
    if grain > 10**12:
        raise BadValue("events: times are too finely divided to compare exactly", "round them")
    is_dated = bool(times.seen & {"day", "moment"})
    scale = Scale(unit, is_dated, times.seen == {"day"}, GRAIN * grain)
    demands = [Demand(one.said, (tuple(_within(one, scale.ticks)),)) for one in metric]
    labels = []
    for n, said in enumerate(given["relations"], 1):
        a, relations, b = parse_relation(said, events, f"relations[{n}]")
        labels.append((a, b, relations))
        demands.append(relation_demand(said, a, b, relations))
    order = [Bound(point(n, 1), point(n, 0), -1) for n in range(len(events))]
    if metric and not is_dated and "number" not in times.seen:
        order += [Bound(point(n, 0), 0, 0) for n in range(len(events))]
    return Asked(events, tuple(demands), tuple(labels), scale, bool(metric), tuple(order))


def _within(one: _Metric, ticks: int) -> list[Bound]:
    low, high = one.span
    found = [Bound(one.first, one.second, int(high * ticks))] if high is not None else []
    return found + ([Bound(one.second, one.first, -int(low * ticks))] if low is not None else [])


class _Times:
    """Reads times and amounts, and remembers of which sort they are, as dates and plain numbers do not mix."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        self.seen: set[str] = set()

    def of_event(self, number: int, name: str, said: dict[str, Any]) -> list[_Metric]:
        found = []
        for end, word in enumerate(_ENDS):
            if said.get(word) is not None:
                place = f"events.{name}.{word}"
                span = self._span(
                    place, said[word], lambda one, is_end=bool(end), at=place: self._time(at, one, is_end)
                )
                found.append(_Metric(f"{name} {word} {_told(said[word])}", 0, point(number, end), span))
        if said.get("duration") is not None:
            place = f"events.{name}.duration"
            span = self._span(place, said["duration"], lambda one: self._amount(place, one))
            if span[1] == 0:
                raise BadValue(f"{place}: an event must take some time", "leave the duration out, or give a small one")
            told = f"{name} duration {_told(said['duration'])}"
            found.append(_Metric(told, point(number, 0), point(number, 1), span))
        return found

    def of_gap(self, gap: dict[str, Any], place: str, events: tuple[str, ...]) -> _Metric:
        first = _end_point(gap["from"], events, 1, f"{place}.from")
        second = _end_point(gap["to"], events, 0, f"{place}.to")
        if gap["least"] is None and gap["most"] is None:
            raise BadValue(f"{place}: neither least nor most is given", "give at least one of them")
        sides = [
            None if gap[name] is None else self._amount(f"{place}.{name}", gap[name]) for name in ("least", "most")
        ]
        if None not in sides and sides[0] > sides[1]:
            raise BadValue(f"{place}: least is more than most", "swap them")
        told = " ".join(f"{name} {_told(gap[name])}" for name in ("least", "most") if gap[name] is not None)
        return _Metric(f"gap from {gap['from']} to {gap['to']} {told}", first, second, (sides[0], sides[1]))

    def _span(self, place: str, said: Any, read: Any) -> _Span:
        """One value, or the least and the most."""
        if not isinstance(said, list):
            return (read(said), read(said))
        if len(said) != 2:
            raise BadValue(f"{place}: must be one value, or the least and the most", "write for example [2, 5]")
        low, high = (None if one is None else read(one) for one in said)
        if low is not None and high is not None and low > high:
            raise BadValue(f"{place}: the least is more than the most", "swap them")
        return low, high

    def _time(self, place: str, said: Any, is_end: bool) -> Fraction:
        value = find_value(said) if isinstance(said, str) else None
        if value is not None and value.kind == "time":
            is_day = bool(_DAY.fullmatch(said.strip()))
            self.seen.add("day" if is_day else "moment")
            found = Fraction(str(value.amount)) + (86400 if is_day and is_end else 0)
            found /= self.seconds
        elif isinstance(said, int | float) and not isinstance(said, bool) and abs(said) <= _MOST_AMOUNT:
            self.seen.add("number")
            found = Fraction(str(said))
        else:
            raise BadValue(f"{place}: {str(said)[:40]!r} is no time", "give a date, a date and time, or a number")
        if "number" in self.seen and len(self.seen) > 1:
            raise BadValue(f"{place}: dates and plain numbers are mixed", "give all times as dates, or all as numbers")
        return found

    def _amount(self, place: str, said: Any) -> Fraction:
        match = _AMOUNT.fullmatch(said.strip().lower()) if isinstance(said, str) else None
        if match:
            return Fraction(match[1]) * UNITS[f"{match[2]}s"] / self.seconds
        if isinstance(said, int | float) and not isinstance(said, bool) and 0 <= said <= _MOST_AMOUNT:
            return Fraction(str(said))
        raise BadValue(f"{place}: {str(said)[:40]!r} is no length of time", "give a number, or 3 days, 2 weeks")


def _told(said: Any) -> str:
    if isinstance(said, list):
        return " to ".join("open" if one is None else str(one) for one in said)
    return str(said)


def _end_point(said: str, events: tuple[str, ...], default: int, place: str) -> int:
    if said in events:
        return point(events.index(said), default)
    name, _, word = said.replace(".", " ").rpartition(" ")
    if word in _ENDS and name in events:
        return point(events.index(name), _ENDS.index(word))
    raise _refused(place, said, events)


def _refused(place: str, said: str, events: tuple[str, ...]) -> BadValue:
    """The refusal of what names no event, or of an event that stands where it cannot be read."""
    if said in events:
        return BadValue(f"{place}: cannot read {said[:60]!r}", "write for example: a before b")
    return unknown_name(place, said, events, "event")


def parse_relation(said: str, events: tuple[str, ...], place: str) -> tuple[int, int, int]:
    """The two events and the relations between them, from `a before|meets b`. Of names that begin alike, the longest counts."""
    longest = sorted(events, key=len, reverse=True)
    first = next((name for name in longest if said.startswith(f"{name} ")), None)
    if first is None:
        raise _refused(place, said.split()[0], events)
    rest = said[len(first) :]
    second = next((name for name in longest if rest.endswith(f" {name}")), None)
    if second is None:
        raise _refused(place, rest.split()[-1], events)
    if first == second:
        raise BadValue(f"{place}: {first} is on both sides", "name two different events")
    middle = rest[: len(rest) - len(second)].strip()
    if not middle:
        raise BadValue(f"{place}: there is no relation", "write for example: a before b, a before|meets b")
    relations = ALL if middle == "?" else parse_relations(middle, place)
    return events.index(first), relations, events.index(second)


def relation_demand(said: str, a: int, b: int, relations: int) -> Demand:
    """What one of some relations between two events demands of their ends."""
    return Demand(said, tuple(tuple(_compare(a, b, hull(part) or ())) for part in convex_parts(relations)))


def _compare(a: int, b: int, signs: tuple[str, ...]) -> list[Bound]:
    found = []
    for (i, j), sign in zip(ENDS, signs, strict=True):
        first, second = point(a, i), point(b, j)
        if ">" not in sign:
            found.append(Bound(second, first, 0 if "=" in sign else -1))
        if "<" not in sign:
            found.append(Bound(first, second, 0 if "=" in sign else -1))
    return found
