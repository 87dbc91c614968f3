"""How events lie in time: whether all that is said of them fits together, which relations are possible, how early and how late each
can be."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from math import inf
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.language.text import plural
from mabos_cli.reasoning.answer import Answer, Conclusion, choice, names, yes_no
from mabos_cli.reasoning.formal.allen import ALL, NAMES, converse, relation_names, tighten
from mabos_cli.reasoning.formal.temporal_input import UNITS, Asked, parse_relation, point, read_events, relation_demand
from mabos_cli.reasoning.formal.time_net import GRAIN, Demand, Matrix, Net, TooHard, missing, positions
from mabos_cli.reasoning.own import Own
from mabos_cli.reasoning.shape import Shape, anything, list_of, map_of, optional, record, text, usual
from mabos_cli.reasoning.wording import cut, figure, listed

_MOST_SCENARIOS = 200
_MOST_PAIRS = 12  # events up to which the relations of all pairs are told

SHAPE: Shape = record(
    "Give the events, and what is known of when they happen and how they lie to each other.",
    events=map_of(
        record(
            "when it happens, as far as known; {} if nothing is",
            start=optional(anything("when it starts: a date, a date and time, or a number; or [earliest, latest]")),
            end=optional(anything("when it ends; a day means the whole day; or [earliest, latest]")),
            duration=optional(anything("how long it takes: a number of units, 3 days, or [least, most]")),
        ),
        "the events by name",
    ),
    relations=usual(
        list_of(
            text(
                f"two events with one or more of {', '.join(NAMES)}, disjoint, within, as in: audit before|meets launch"
            ),
            "how events lie to each other",
            0,
        ),
        [],
    ),
    gaps=optional(
        list_of(
            record(
                "the time between two events",
                **{"from": text("an event; its end counts, unless you write: audit start")},
                to=text("an event; its start counts, unless you write: launch end"),
                least=optional(anything("the least time between them: a number of units, or 3 days")),
                most=optional(anything("the most time between them")),
            ),
            "times between events",
            0,
        ),
        [],
    ),
    unit=optional(text("what numbers of durations and gaps count", *UNITS), "days"),
    ask=optional(
        text(
            "two events with ? between for their possible relations (audit ? launch), or a claim (audit before launch)"
        ),
        "",
    ),
)

QUESTIONS: tuple[str, ...] = (
    "Which events or phases matter, each with a start and an end?",
    "Which dates are fixed, and how long does each event take at least and at most?",
    "Which events must come before, meet, overlap or contain which others?",
    "How much time must or may lie between them?",
    "What do you want to know: whether it all fits, or how two events lie to each other?",
)


def solve(given: dict[str, Any], own: Own) -> Answer:
    """Whether the events can happen as described, or how two of them can lie to each other."""
    asked = read_events(given)
    claim = parse_relation(given["ask"], asked.events, "ask") if given["ask"] else None
    net = Net(2 * len(asked.events) + 1, asked.order)
    try:
        labels, triangle = _labels(asked)
        if triangle or not net.is_possible(asked.demands):
            return _clash(asked, net, triangle)
        scenarios = list(islice(net.scenarios(asked.demands), _MOST_SCENARIOS + 1))
        if claim is None:
            return _fits(asked, scenarios, labels)
        return _compare(asked, net, claim, scenarios, labels)
    except TooHard:
        raise BadValue(
            "relations: too many alternatives to try", "say more exactly how events lie, or ask about fewer of them"
        ) from None


def _labels(asked: Asked) -> tuple[list[list[int]], tuple[int, int, int] | None]:
    """The relations that are possible as far as each three events tell, and three that contradict each other."""
    size = len(asked.events)
    labels = [[ALL] * size for _ in range(size)]
    for a, b, relations in asked.labels:
        labels[a][b] &= relations
        labels[b][a] &= converse(relations)
        if not labels[a][b]:
            return labels, (a, b, b)
    return labels, tighten(labels)


def _compare(
    asked: Asked, net: Net, claim: tuple[int, int, int], scenarios: list[Matrix], labels: list[list[int]]
) -> Answer:
    """The relations that two events can have, or whether a claim about them must hold."""
    a, claimed, b = claim
    possible = 0
    for n, name in enumerate(NAMES):
        if labels[a][b] >> n & 1 and net.is_possible((*asked.demands, relation_demand(name, a, b, 1 << n))):
            possible |= 1 << n
    found = relation_names(possible)
    first, second = asked.events[a], asked.events[b]
    about = f"{first} ? {second}"
    conclusion: Conclusion
    if claimed != ALL:
        said = f"{first} {'|'.join(relation_names(claimed))} {second}"
        value = True if not possible & ~claimed else None if possible & claimed else False
        conclusion = yes_no(value, said)
        verdict = {True: "must hold", False: "cannot hold", None: "may hold or not"}[value]
        summary = f"{said} {verdict}: possible is {' or '.join(found)}"
    else:
        conclusion = choice(found[0], about=about) if len(found) == 1 else names(found, about)
        share = "no other relation is possible" if len(found) == 1 else f"{len(found)} of 13 relations are possible"
        summary = f"{first} {' or '.join(found)} {second}: {share}"
    steps = [f"possible when all is taken together: {listed(found, 13)}"]
    if labels[a][b] != possible:
        steps.append(f"by the relations of each three events alone: {listed(relation_names(labels[a][b]), 13)}")
    steps.append(f"one order: {_order(asked, scenarios[0])}")
    steps += [f"given: {demand.said}" for demand in asked.demands]
    detail = {"possible": list(found), "by_triangles": list(relation_names(labels[a][b]))}
    detail |= _detail(asked, scenarios, labels)
    return Answer(conclusion, None, summary, cut(steps), detail, _caveats(asked, scenarios))


def _fits(asked: Asked, scenarios: list[Matrix], labels: list[list[int]]) -> Answer:
    """That the events can happen as described, in which order, and when."""
    conclusion = yes_no(True, "the events can happen as described")
    detail = _detail(asked, scenarios, labels)
    order = _order(asked, scenarios[0])
    steps = [f"one order: {order}"]
    summary = f"{plural(len(asked.demands), 'demand')} on {plural(len(asked.events), 'event')} can be met together"
    if asked.is_metric:
        steps += list(_schedule_lines(asked, detail["schedule"]))
        if detail["earliest_finish"] is not None:
            summary += f"; all is done at the earliest by {detail['earliest_finish']['told']}"
            if not asked.scale.is_dated:
                summary += f" {asked.scale.unit}"
    else:
        summary += f": {order}"
    return Answer(conclusion, None, summary, cut(steps, 16), detail, _caveats(asked, scenarios))


def _caveats(asked: Asked, scenarios: list[Matrix]) -> tuple[str, ...]:
    if asked.is_metric and len(scenarios) > _MOST_SCENARIOS:
        return (
            f"times come from the first {_MOST_SCENARIOS} ways to meet the demands; others may be earlier or later",
        )
    return ()


def _clash(asked: Asked, net: Net, triangle: tuple[int, int, int] | None) -> Answer:
    """The demands that contradict each other, none of which could be left out of the contradiction."""
    core = [asked.demands[n] for n in net.clash(asked.demands)]
    said = [demand.said for demand in core]
    steps = ["these cannot all hold:", *said]
    detail: dict[str, Any] = {"possible": False, "conflict": said}
    if triangle and len({*triangle}) == 3:
        detail["triangle"] = [asked.events[n] for n in triangle]
        steps.append(f"seen at the events {', '.join(detail['triangle'])}")
    shortfall = _shortfall(asked, core)
    if shortfall is not None:
        detail |= shortfall
        if shortfall["short_by"]:
            steps.append(
                f"short by {figure(shortfall['short_by'])} {asked.scale.unit}: {' -> '.join(shortfall['circle'])}"
            )
        else:
            steps.append(f"the order runs in a circle: {' -> '.join(shortfall['circle'])}")
    summary = (
        f"the events cannot happen as described: {len(said)} of {len(asked.demands)} demands clash: {listed(said, 4)}"
    )
    return Answer(yes_no(False, "the events can happen as described"), None, summary, cut(steps), detail)


def _shortfall(asked: Asked, core: list[Demand]) -> dict[str, Any] | None:
    """The circle of points that a clash runs through, and the time that is missing; None if the clash lies in alternatives."""
    if any(len(demand.ways) != 1 for demand in core):
        return None
    bounds = (*asked.order, *(bound for demand in core for bound in demand.ways[0]))
    found = missing(bounds, 2 * len(asked.events) + 1)
    if found is None:
        return None
    circle, ticks = found
    points = [circle[0].first, *(bound.second for bound in circle)]
    return {
        "circle": [_point_name(asked, one) for one in points],
        "short_by": float(Fraction(ticks // GRAIN * GRAIN, asked.scale.ticks)),
    }


def _point_name(asked: Asked, number: int) -> str:
    if number == 0:
        return "calendar"
    return f"{asked.events[(number - 1) // 2]} {'end' if (number - 1) % 2 else 'start'}"


def _order(asked: Asked, matrix: Matrix) -> str:
    """All starts and ends in an order that meets the demands."""
    at = positions(matrix)
    groups: dict[float, list[str]] = {}
    for number in range(1, len(at)):
        groups.setdefault(at[number], []).append(_point_name(asked, number))
    return " < ".join(" = ".join(groups[time]) for time in sorted(groups))


def _detail(asked: Asked, scenarios: list[Matrix], labels: list[list[int]]) -> dict[str, Any]:
    detail: dict[str, Any] = {"consistent": True, "order": _order(asked, scenarios[0])}
    if len(asked.events) <= _MOST_PAIRS:
        detail["relations"] = {
            f"{first} ? {second}": list(relation_names(labels[a][b]))
            for a, first in enumerate(asked.events)
            for b, second in enumerate(asked.events)
            if a < b and labels[a][b] != ALL
        }
    if asked.is_metric:
        detail["schedule"] = {
            name: {
                word: _window(asked, scenarios, point(n, end), bool(end)) for end, word in enumerate(("start", "end"))
            }
            for n, name in enumerate(asked.events)
        }
        detail["earliest_finish"] = _finish(asked, scenarios)
        detail["unit"] = asked.scale.unit
        detail["times_are_exact"] = len(scenarios) <= _MOST_SCENARIOS
    return detail


def _window(asked: Asked, scenarios: list[Matrix], number: int, is_end: bool) -> dict[str, Any]:
    """How early and how late a point can be; a bound that is told as open can be approached and not reached."""
    low = min(-matrix[number][0] for matrix in scenarios)
    high = max(matrix[0][number] for matrix in scenarios)
    return {"earliest": _moment(asked, low, is_end), "latest": _moment(asked, high, is_end, is_high=True)}


def _moment(asked: Asked, ticks: float, is_end: bool, is_high: bool = False) -> dict[str, Any] | None:
    if abs(ticks) == inf:
        return None
    whole = -(-int(ticks) // GRAIN) if is_high else int(ticks) // GRAIN
    time = Fraction(whole * GRAIN, asked.scale.ticks)
    return {"time": float(time), "told": asked.scale.told(time, is_end), "open": whole * GRAIN != ticks}


def _finish(asked: Asked, scenarios: list[Matrix]) -> dict[str, Any] | None:
    """When all events can be over: each as early as it can be is one way to meet all bounds."""
    ends = [point(n, 1) for n in range(len(asked.events))]
    return _moment(asked, min(max(-matrix[end][0] for end in ends) for matrix in scenarios), True)


def _schedule_lines(asked: Asked, schedule: dict[str, Any]) -> Iterator[str]:
    for name, ends in schedule.items():
        parts = []
        for word, window in ends.items():
            low, high = (window[side] and window[side]["told"] for side in ("earliest", "latest"))
            span = low if low == high else f"{low or 'any time'} to {high or 'any time'}"
            parts.append(f"{word} {span or 'any time'}")
        yield f"{name}: {', '.join(parts)}"
