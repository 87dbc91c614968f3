"""Shows how events lie in time: whether all that is said of them fits together, which relations are possible, how early
and how late each can be."""

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from math import inf, lcm
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.language.text import plural
from mabos_cli.core.language.values import find_value
from mabos_cli.reasoning.answer import Answer, Conclusion, choice, cut, listed, names, notes, yes_no
from mabos_cli.reasoning.formal import time_net
from mabos_cli.reasoning.inputs import AgentData, check_size

MOST_EVENTS, _MOST_DEMANDS, _MOST_AMOUNT = 30, 300, 10**9
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*(minute|hour|day|week)s?")
_Span = tuple[Fraction | None, Fraction | None]
_MOST_SCENARIOS = 200
_FIRST_ONLY = f"times come from the first {_MOST_SCENARIOS} ways to meet the demands; others may be earlier or later"


def solve(fields: dict[str, Any], agent: AgentData) -> Answer:
    """Returns whether the events can happen as described, or how two of them can lie to each other."""
    asked = read_events(fields)
    claim = time_net.parse_relation(fields["ask"], asked.events, "ask") if fields["ask"] else None
    net = time_net.Net(2 * len(asked.events) + 1, asked.order)
    try:
        if not net.is_possible(asked.demands):
            return _clash(asked, net)
        scenarios = list(islice(net.scenarios(asked.demands), _MOST_SCENARIOS + 1))
        return _fits(asked, scenarios) if claim is None else _compare(asked, net, claim, scenarios)
    except time_net.TooHard:
        hint = "say more exactly how events lie, or ask about fewer of them"
        raise BadValue("relations: too many alternatives to try", hint) from None


class Asked(NamedTuple):
    """Events, and what is demanded of them."""

    events: tuple[str, ...]
    demands: tuple[time_net.Demand, ...]
    scale: time_net.Scale
    is_metric: bool
    order: tuple[time_net.Bound, ...]  # an event starts before it ends, and not before time begins


def _compare(asked: Asked, net: time_net.Net, claim: tuple[int, int, int], scenarios: list[time_net.Matrix]) -> Answer:
    """Returns the relations that two events can have, or whether a claim about them must hold."""
    a, claimed, b = claim
    possible = 0
    for n, name in enumerate(time_net.NAMES):
        if net.is_possible((*asked.demands, time_net.relation_demand(name, a, b, 1 << n))):
            possible |= 1 << n
    found = time_net.relation_names(possible)
    first, second = asked.events[a], asked.events[b]
    conclusion: Conclusion
    if claimed != time_net.ALL:
        about = f"{first} {'|'.join(time_net.relation_names(claimed))} {second}"
        value = True if not possible & ~claimed else None if possible & claimed else False
        conclusion = yes_no(value, about)
        verdict = {True: "must hold", False: "cannot hold", None: "may hold or not"}[value]
        summary = f"{about} {verdict}: possible is {' or '.join(found)}"
    else:
        about = f"{first} ? {second}"
        conclusion = choice(found[0], about=about) if len(found) == 1 else names(found, about)
        share = "no other relation is possible" if len(found) == 1 else f"{len(found)} of 13 relations are possible"
        summary = f"{first} {' or '.join(found)} {second}: {share}"
    steps = [f"possible when all is taken together: {listed(found, 13)}"]
    steps.append(f"one order: {_order(asked, scenarios[0])}")
    steps += [f"demanded: {demand.text}" for demand in asked.demands]
    detail = {"possible": list(found)} | _detail(asked, scenarios)
    return Answer(
        conclusion, None, summary, cut(steps), detail, notes((not detail.get("times_are_exact", True), _FIRST_ONLY))
    )


def _fits(asked: Asked, scenarios: list[time_net.Matrix]) -> Answer:
    """Returns that the events can happen as described, in which order, and when."""
    conclusion = yes_no(True, "the events can happen as described")
    detail = _detail(asked, scenarios)
    order = _order(asked, scenarios[0])
    steps = [f"one order: {order}"]
    summary = f"{plural(len(asked.demands), 'demand')} on {plural(len(asked.events), 'event')} can be met together"
    if asked.is_metric:
        steps += list(_schedule_lines(detail["schedule"]))
        if detail["earliest_finish"] is not None:
            unit = "" if asked.scale.is_dated else f" {asked.scale.unit}"
            summary += f"; all is done at the earliest by {detail['earliest_finish']['told']}{unit}"
    else:
        summary += f": {order}"
    return Answer(
        conclusion, None, summary, cut(steps, 16), detail, notes((not detail.get("times_are_exact", True), _FIRST_ONLY))
    )


def _clash(asked: Asked, net: time_net.Net) -> Answer:
    """Returns the demands that contradict each other, none of which could be left out of the contradiction."""
    core = [asked.demands[n].text for n in net.clash(asked.demands)]
    detail: dict[str, Any] = {"possible": False, "conflict": core}
    count = f"{len(core)} of {len(asked.demands)}"
    summary = f"the events cannot happen as described: {count} demands clash: {listed(core, 4)}"
    conclusion = yes_no(False, "the events can happen as described")
    return Answer(conclusion, None, summary, cut(["these cannot all hold:", *core]), detail)


def _order(asked: Asked, matrix: time_net.Matrix) -> str:
    """Returns all starts and ends in an order that meets the demands."""
    names = [f"{event} {end}" for event in asked.events for end in time_net.EVENT_ENDS]
    groups: dict[float, list[str]] = {}
    for name, at in zip(names, time_net.positions(matrix)[1:], strict=True):
        groups.setdefault(at, []).append(name)
    return " < ".join(" = ".join(groups[time]) for time in sorted(groups))


def _detail(asked: Asked, scenarios: list[time_net.Matrix]) -> dict[str, Any]:
    """Returns one order, and how early and late each point can be; a bound marked as open can be approached and not reached."""
    detail: dict[str, Any] = {"consistent": True, "order": _order(asked, scenarios[0])}
    if not asked.is_metric:
        return detail
    schedule: dict[str, Any] = {name: {} for name in asked.events}
    for n, name in enumerate(asked.events):
        for end, word in enumerate(time_net.EVENT_ENDS):
            at = time_net.point(n, end)
            low, high = min(-one[at][0] for one in scenarios), max(one[0][at] for one in scenarios)
            earliest, latest = _moment(asked, low, bool(end)), _moment(asked, high, bool(end), is_high=True)
            schedule[name][word] = {"earliest": earliest, "latest": latest}
    # When all can be over: each as early as it can be is one way to meet all bounds.
    ends = [time_net.point(n, 1) for n in range(len(asked.events))]
    finish = _moment(asked, min(max(-one[end][0] for end in ends) for one in scenarios), True)
    is_exact = len(scenarios) <= _MOST_SCENARIOS
    figures = {"earliest_finish": finish, "unit": asked.scale.unit, "times_are_exact": is_exact}
    return detail | {"schedule": schedule} | figures


def _moment(asked: Asked, ticks: float, is_end: bool, is_high: bool = False) -> dict[str, Any] | None:
    if abs(ticks) == inf:
        return None
    whole = -(-int(ticks) // time_net.GRAIN) if is_high else int(ticks) // time_net.GRAIN
    time = Fraction(whole * time_net.GRAIN, asked.scale.ticks)
    return {"time": float(time), "told": asked.scale.show(time, is_end), "open": whole * time_net.GRAIN != ticks}


def _schedule_lines(schedule: dict[str, Any]) -> Iterator[str]:
    for name, ends in schedule.items():
        parts = []
        for word, window in ends.items():
            low, high = (window[side] and window[side]["told"] for side in ("earliest", "latest"))
            span = low if low == high else f"{low or 'any time'} to {high or 'any time'}"
            parts.append(f"{word} {span or 'any time'}")
        yield f"{name}: {', '.join(parts)}"


class _Metric(NamedTuple):
    """A difference of two points that must lie in a span."""

    text: str
    first: int
    second: int
    span: _Span


def read_events(fields: dict[str, Any]) -> Asked:
    """Returns the events with all that is demanded of them."""
    events = tuple(fields["events"])
    check_size("events", len(events), MOST_EVENTS, "events")
    check_size("relations", len(fields["relations"]) + len(fields["gaps"]), _MOST_DEMANDS, "relations and gaps")
    unit = fields["unit"]
    times = _Times(time_net.UNITS[unit])
    metric = [one for n, name in enumerate(events) for one in times.of_event(n, name, fields["events"][name] or {})]
    metric += [times.of_gap(gap, f"gaps[{n}]", events) for n, gap in enumerate(fields["gaps"], 1)]
    grain = lcm(1, *(side.denominator for one in metric for side in one.span if side is not None))
    if grain > 10**12:
        raise BadValue("events: times are too finely divided to compare exactly", "round them")
    is_dated = bool(times.seen & {"day", "moment"})
    scale = time_net.Scale(unit, is_dated, times.seen == {"day"}, time_net.GRAIN * grain)
    demands = []
    for text, first, second, (low, high) in metric:
        bounds = [time_net.Bound(first, second, int(high * scale.ticks))] if high is not None else []
        bounds += [time_net.Bound(second, first, -int(low * scale.ticks))] if low is not None else []
        demands.append(time_net.Demand(text, (tuple(bounds),)))
    for n, raw in enumerate(fields["relations"], 1):
        a, relations, b = time_net.parse_relation(raw, events, f"relations[{n}]")
        demands.append(time_net.relation_demand(raw, a, b, relations))
    order = [time_net.Bound(time_net.point(n, 1), time_net.point(n, 0), -1) for n in range(len(events))]
    if metric and not is_dated and "number" not in times.seen:
        order += [time_net.Bound(time_net.point(n, 0), 0, 0) for n in range(len(events))]
    return Asked(events, tuple(demands), scale, bool(metric), tuple(order))


class _Times:
    """Reads times and amounts, and remembers of which sort they are, as dates and plain numbers do not mix."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        self.seen: set[str] = set()

    def of_event(self, number: int, name: str, raw: dict[str, Any]) -> list[_Metric]:
        found = []
        for end, word in enumerate(time_net.EVENT_ENDS):
            if raw.get(word) is not None:
                place = f"events.{name}.{word}"
                span = self._span(place, raw[word], lambda one, is_end=bool(end), at=place: self._time(at, one, is_end))
                found.append(_Metric(f"{name} {word} {_shown(raw[word])}", 0, time_net.point(number, end), span))
        if raw.get("duration") is not None:
            place = f"events.{name}.duration"
            span = self._span(place, raw["duration"], lambda one: self._amount(place, one))
            if span[1] == 0:
                raise BadValue(f"{place}: an event must take some time", "leave the duration out, or give a small one")
            text = f"{name} duration {_shown(raw['duration'])}"
            found.append(_Metric(text, time_net.point(number, 0), time_net.point(number, 1), span))
        return found

    def of_gap(self, gap: dict[str, Any], place: str, events: tuple[str, ...]) -> _Metric:
        first = time_net.end_point(gap["from"], events, 1, f"{place}.from")
        second = time_net.end_point(gap["to"], events, 0, f"{place}.to")
        if gap["least"] is None and gap["most"] is None:
            raise BadValue(f"{place}: neither least nor most is given", "give at least one of them")
        span = self._span(place, [gap["least"], gap["most"]], lambda one: self._amount(place, one))
        bounds = " ".join(f"{name} {_shown(gap[name])}" for name in ("least", "most") if gap[name] is not None)
        return _Metric(f"gap from {gap['from']} to {gap['to']} {bounds}", first, second, span)

    def _span(self, place: str, raw: Any, read: Any) -> _Span:
        """Returns one value, or the least and the most."""
        if not isinstance(raw, list):
            return (read(raw), read(raw))
        if len(raw) != 2:
            raise BadValue(f"{place}: must be one value, or the least and the most", "write for example [2, 5]")
        low, high = (None if one is None else read(one) for one in raw)
        if low is not None and high is not None and low > high:
            raise BadValue(f"{place}: the least is more than the most", "swap them")
        return low, high

    def _time(self, place: str, raw: Any, is_end: bool) -> Fraction:
        value = find_value(raw) if isinstance(raw, str) else None
        if value is not None and value.kind == "time":
            is_day = bool(_DAY.fullmatch(raw.strip()))
            self.seen.add("day" if is_day else "moment")
            found = Fraction(str(value.amount)) + (86400 if is_day and is_end else 0)
            found /= self.seconds
        elif isinstance(raw, int | float) and not isinstance(raw, bool) and abs(raw) <= _MOST_AMOUNT:
            self.seen.add("number")
            found = Fraction(str(raw))
        else:
            raise BadValue(f"{place}: {str(raw)[:40]!r} is no time", "give a date, a date and time, or a number")
        if "number" in self.seen and len(self.seen) > 1:
            raise BadValue(f"{place}: dates and plain numbers are mixed", "give all times as dates, or all as numbers")
        return found

    def _amount(self, place: str, raw: Any) -> Fraction:
        match = _AMOUNT.fullmatch(raw.strip().lower()) if isinstance(raw, str) else None
        if match:
            return Fraction(match[1]) * time_net.UNITS[f"{match[2]}s"] / self.seconds
        if isinstance(raw, int | float) and not isinstance(raw, bool) and 0 <= raw <= _MOST_AMOUNT:
            return Fraction(str(raw))
        raise BadValue(f"{place}: {str(raw)[:40]!r} is no length of time", "give a number, or 3 days, 2 weeks")


def _shown(raw: Any) -> str:
    if isinstance(raw, list):
        return " to ".join("open" if one is None else str(one) for one in raw)
    return str(raw)
