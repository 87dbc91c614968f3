"""The picture of a graph: the best connected, no box over another, the same every time."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.operations.report_graph import Picture, draw_graph

few = settings(max_examples=25, deadline=None, derandomize=True)
pairs = st.lists(st.tuples(st.integers(0, 14), st.integers(0, 14), st.integers(1, 30)), min_size=1, max_size=40)


def facts(*triples: tuple[str, str, str], **fields) -> list[Fact]:
    return [Fact(f"F-{n}", *triple, **fields) for n, triple in enumerate(triples)]


def check(picture: Picture) -> None:
    """No box lies over another, and all are in the frame."""
    for number, one in enumerate(picture.boxes):
        assert one.x - one.width / 2 > 0 and one.x + one.width / 2 < picture.width
        assert one.y - 12 > 0 and one.y + 12 < picture.height
        for two in picture.boxes[number + 1 :]:
            apart_x = abs(one.x - two.x) >= (one.width + two.width) / 2
            assert apart_x or abs(one.y - two.y) >= 24, (one, two)


@few
@given(pairs)
def test_boxes_do_not_overlap(links: list[tuple[int, int, int]]) -> None:
    found = facts(*((f"node {a} {'x' * size}", "knows", f"node {b} {'x' * size}") for a, b, size in links))
    picture = draw_graph(found)
    check(picture)
    assert picture == draw_graph(list(reversed(found)))


def test_sixty_wide_labels_find_room() -> None:
    names = [f"{'東京都' * 8}{n:02}" for n in range(60)]
    picture = draw_graph(facts(*((a, "near", b) for a, b in pairwise(names))))
    assert len(picture.boxes) == 60
    check(picture)
    star = draw_graph(facts(*(("hub", "has", f"leaf number {n}") for n in range(99))))
    check(star)
    assert star.boxes[0].label == "hub" and star.boxes[0].links == 99 and star.width < 1300


def test_the_best_connected_are_chosen() -> None:
    ring = [(f"core {a}", "joins", f"core {b}") for a in range(6) for b in range(a)]
    picture = draw_graph(facts(*ring, *((f"core {n % 6}", "has", f"leaf {n}") for n in range(50))), most=6)
    assert {box.label for box in picture.boxes} == {f"core {n}" for n in range(6)}
    assert len(picture.lines) == 15


def test_plain_values_are_no_entities() -> None:
    picture = draw_graph(facts(("acme", "budget", "$9,000"), ("acme", "acme", "acme"), ("acme", "uses", "redis")))
    assert [box.label for box in picture.boxes] == ["acme", "redis"]
    assert draw_graph(facts(("acme", "since", "2026-02-24"))) == Picture()


def test_a_line_is_all_that_joins_two() -> None:
    found = draw_graph([*facts(*[("a", f"p{n}", "b") for n in range(6)]), Fact("F-9", "b", "q", "a")])
    (line,) = found.lines
    assert [fact.predicate for fact in line.facts] == ["p0", "p1", "p2", "p3", "p4", "p5", "q"]
    assert [found.boxes[end].name for end in (line.start, line.end)] == ["a", "b"]


def test_not_too_many_lines_are_drawn() -> None:
    assert len(draw_graph(facts(*((f"n{a}", "p", f"n{b}") for a in range(30) for b in range(a)))).lines) == 240
