"""Allen's relations and distances between points in time."""

from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.reasoning.formal.time_net import ALL, ENDS, NAMES, SIGNS, convex_parts, hull, relation_names
from reasoning.solving import refused, solve, solve_yaml


def relation_between(a: tuple[float, float], b: tuple[float, float]) -> str:
    """Returns how two intervals with known ends lie to each other."""
    signs = "".join("<" if a[i] < b[j] else ">" if a[i] > b[j] else "=" for i, j in ENDS)
    return next(name for name, known in SIGNS.items() if known == signs)


@given(st.integers(1, ALL))
@settings(max_examples=40, deadline=None)
def test_every_set_of_relations_is_a_choice_between_comparisons_of_ends(relations: int) -> None:
    parts = convex_parts(relations)
    assert sum(parts) == relations and all(hull(part) is not None for part in parts)


SPANS = list(combinations(range(6), 2))
SETS = st.integers(1, ALL)


@given(SETS, SETS, SETS)
@settings(max_examples=40, deadline=None)
def test_possible_relations_are_those_of_all_orders(ab: int, bc: int, ac: int) -> None:
    """Three intervals have six ends, so that six places show all of their orders."""

    def is_in(x: tuple[int, int], y: tuple[int, int], allowed: int) -> bool:
        return bool(allowed >> NAMES.index(relation_between(x, y)) & 1)

    right = [
        (a, b, c)
        for a, b in product(SPANS, repeat=2)
        if is_in(a, b, ab)
        for c in SPANS
        if is_in(b, c, bc) and is_in(a, c, ac)
    ]
    said = [f"{x} {'|'.join(relation_names(r))} {y}" for x, y, r in (("a", "b", ab), ("b", "c", bc), ("a", "c", ac))]
    raw = {"events": {"a": {}, "b": {}, "c": {}}, "relations": said, "ask": "c ? a"}
    answer = solve("temporal", raw)
    if not right:
        assert answer.conclusion.value is False
        return
    assert {*answer.detail["possible"]} == {relation_between(c, a) for a, b, c in right}


def test_triangles_are_not_enough() -> None:
    """As Allen noted in 1983, all triangles may agree although the whole cannot be: here for four events, by all orders of
    eight ends."""
    inside, ends, starts = "during|contains", "finishes|finished-by", "starts|started-by"
    texts = {"ab": inside, "ac": ends, "ad": starts, "bc": starts, "bd": ends, "cd": inside}
    allowed = {pair: {*text.split("|")} for pair, text in texts.items()}
    found: list[dict[str, tuple[int, int]]] = [{}]
    for name in "abcd":
        found = [
            one | {name: span}
            for one in found
            for span in combinations(range(8), 2)
            if all(relation_between(one[other], span) in allowed[other + name] for other in one)
        ]
    assert found == []
    raw = {
        "events": {name: {} for name in "abcd"},
        "relations": [f"{p[0]} {r} {p[1]}" for p, r in texts.items()],
    }
    answer = solve("temporal", raw)
    assert answer.conclusion.value is False
    assert len(answer.detail["conflict"]) == 6


JOHN = """
unit: minutes
events:
  john: {start: [10, 20], duration: %s}
  fred: {end: [60, 70], duration: [40, 50]}
gaps: [{from: fred start, to: john end, least: 10, most: 20}]
"""


def test_john_and_fred() -> None:
    """Dechter, Meiri, Pearl, Temporal Constraint Networks, 1991, figures 2 and 4: minutes after seven o'clock."""
    schedule = solve_yaml("temporal", JOHN % "[30, 40]").detail["schedule"]
    windows = {
        f"{name} {end}": (window["earliest"]["time"], window["latest"]["time"])
        for name, ends in schedule.items()
        for end, window in ends.items()
    }
    assert windows == {
        "john start": (10, 20),
        "john end": (40, 50),
        "fred start": (20, 30),
        "fred end": (60, 70),
    }


def test_john_cannot_take_the_bus() -> None:
    """In the same example: by bus, which takes an hour or more, he would arrive at 70 and not by 50."""
    answer = solve_yaml("temporal", JOHN % "[60, null]")
    assert answer.conclusion.value is False
    assert answer.detail["conflict"] == [
        "john start 10 to 20",
        "john duration 60 to open",
        "fred end 60 to 70",
        "fred duration 40 to 50",
        "gap from fred start to john end least 10 most 20",
    ]


WINDOW = st.tuples(st.integers(0, 3), st.integers(0, 3)).map(sorted)
STEPS = [Fraction(n, 5) for n in range(16)]


@given(WINDOW, WINDOW, WINDOW, SETS)
@settings(max_examples=12, deadline=None)
def test_times_against_a_fine_grid(a_start: list, a_end: list, b_start: list, relations: int) -> None:
    """Four points with whole bounds: if they can be placed at all, then also on fifths."""
    spans = list(combinations(STEPS, 2))
    some_a = [x for x in spans if a_start[0] <= x[0] <= a_start[1] and a_end[0] <= x[1] <= a_end[1]]
    some_b = [y for y in spans if b_start[0] <= y[0] <= b_start[1] and y[1] - y[0] <= 1]
    allowed = {*relation_names(relations)}
    right = [(x, y) for x in some_a for y in some_b if relation_between(x, y) in allowed]
    raw = {
        "events": {
            "a": {"start": a_start, "end": a_end},
            "b": {"start": b_start, "end": [0, 3], "duration": [0, 1]},
        },
        "relations": [f"a {'|'.join(allowed)} b"],
    }
    answer = solve("temporal", raw)
    assert answer.conclusion.value is bool(right)
    if right:
        window = answer.detail["schedule"]["a"]["start"]
        found = [x[0] for x, _ in right]
        for side, best in (("earliest", min(found)), ("latest", max(found))):
            # An open bound is approached; the grid then stays less than a unit inside of it.
            assert window[side]["time"] == best if not window[side]["open"] else abs(window[side]["time"] - best) < 1


def test_open_bounds() -> None:
    raw = {"events": {"a": {"start": 0, "end": 4}, "b": {"end": 10}}, "relations": ["a before b"]}
    start = solve("temporal", raw).detail["schedule"]["b"]["start"]
    assert start["earliest"] == {"time": 4, "told": "4", "open": True}
    assert start["latest"] == {"time": 10, "told": "10", "open": True}
    raw["relations"] = ["a meets b"]
    start = solve("temporal", raw).detail["schedule"]["b"]["start"]
    assert start["earliest"] == start["latest"] == {"time": 4, "told": "4", "open": False}


def test_a_day_as_an_end_is_the_whole_day() -> None:
    text = """
events: {audit: {start: 2026-03-02, end: 2026-03-06}, review: {start: 2026-03-07, duration: 2}}
ask: audit ? review
"""
    answer = solve_yaml("temporal", text)
    assert answer.conclusion.value == "meets"
    assert answer.detail["schedule"]["review"]["end"]["earliest"]["told"] == "2026-03-08"
    assert answer.detail["earliest_finish"]["told"] == "2026-03-08"
    hours = "unit: hours\nevents: {a: {start: 2026-03-02 09:00, duration: 90 minutes}}\n"
    end = solve_yaml("temporal", hours).detail["schedule"]["a"]["end"]["latest"]
    assert end["told"] == "2026-03-02 10:30"


def test_claims_are_certain_impossible_or_open() -> None:
    raw = {"events": {"a": {}, "b": {}, "c": {}}, "relations": ["a before|meets b", "b meets c"]}
    assert solve("temporal", raw | {"ask": "a before c"}).conclusion.value is True
    assert solve("temporal", raw | {"ask": "c during a"}).conclusion.value is False
    assert solve("temporal", raw | {"ask": "a before b"}).conclusion.value is None
    assert solve("temporal", raw | {"ask": "a ? b"}).conclusion[:2] == ("names", ("before", "meets"))


def test_a_circle_is_named() -> None:
    raw = {
        "events": {name: {} for name in ("plan", "build", "ship", "rest")},
        "relations": ["plan before build", "rest after ship", "build before|meets ship", "ship before plan"],
    }
    answer = solve("temporal", raw)
    assert answer.detail["conflict"] == ["plan before build", "build before|meets ship", "ship before plan"]


def test_alternatives_give_the_earliest_over_all() -> None:
    """One machine: the job of 3 days before or after the one of 5 that is fixed from day 2."""
    raw = {
        "events": {"fixed": {"start": 2, "duration": 5}, "job": {"duration": 3, "start": [0, 20]}},
        "relations": ["job disjoint fixed"],
    }
    answer = solve("temporal", raw)
    assert answer.detail["schedule"]["job"]["start"]["earliest"]["time"] == 7
    raw["events"]["job"]["duration"] = 2
    answer = solve("temporal", raw)
    assert answer.detail["schedule"]["job"]["start"]["earliest"]["time"] == 0
    assert answer.detail["earliest_finish"]["time"] == 7


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("relations: [a befor b]", "relations[1]: unknown relation 'befor'"),
        ("relations: [a before bb]", "relations[1]: unknown event 'bb'"),
        ("relations: [x before b]", "relations[1]: unknown event 'x'"),
        ("relations: [a before a]", "relations[1]: a is on both sides"),
        ("relations: [a b]", "relations[1]: there is no relation"),
        ("ask: a", "ask: a is on both sides"),
        ("gaps: [{from: a, to: b}]", "gaps[1]: neither least nor most is given"),
        ("gaps: [{from: a, to: b, least: 3, most: 2}]", "gaps[1]: the least is more than the most"),
        ("gaps: [{from: a middle, to: b, least: 3}]", "gaps[1].from: unknown event 'a middle'"),
        ("gaps: [{from: a, to: b, least: -3}]", "gaps[1]: '-3' is no length of time"),
    ],
)
def test_bad_relations(text: str, said: str) -> None:
    assert refused("temporal", "events: {a: {}, b: {}}\n" + text) == said


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ("start: soon", "events.a.start: 'soon' is no time"),
        ("start: 1e300", "events.a.start: '1e+300' is no time"),
        ("start: 2026-03-01, end: 5", "events.a.end: dates and plain numbers are mixed"),
        ("duration: 0", "events.a.duration: an event must take some time"),
        ("duration: [3, 2]", "events.a.duration: the least is more than the most"),
        ("duration: [3]", "events.a.duration: must be one value, or the least and the most"),
        ("start: 2026-02-30", "events.a.start: '2026-02-30' is no time"),
    ],
)
def test_bad_times(event: str, said: str) -> None:
    assert refused("temporal", f"events: {{a: {{{event}}}}}") == said


def test_an_end_before_the_start_is_a_clash() -> None:
    answer = solve_yaml("temporal", "events: {a: {start: 5, end: 3}}")
    assert answer.conclusion.value is False
    assert answer.detail["conflict"] == ["a start 5", "a end 3"]


def test_far_dates_and_many_events() -> None:
    raw = {"events": {"a": {"start": "9999-12-30", "duration": 900}}}
    assert solve("temporal", raw).detail["schedule"]["a"]["end"]["latest"]["told"] == "beyond the calendar"
    many = {"events": {f"e{n}": {} for n in range(31)}}
    assert "31 events are too many; the limit is 30" in refused("temporal", str(many))


def test_too_many_alternatives_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mabos_cli.reasoning.formal.time_net.MOST_WORK", 20_000)
    jobs = {f"job{n}": {"duration": 2, "start": [0, 9]} for n in range(7)}
    apart = [f"{a} disjoint {b}" for a, b in combinations(jobs, 2)]
    said = refused("temporal", str({"events": jobs, "relations": apart}))
    assert said == "relations: too many alternatives to try"
