"""Allen's relations between events."""

from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.reasoning.formal.temporal import ALL, ENDS, NAMES, SIGNS, convex_parts, hull, relation_names
from reasoning.solving import refused, solve


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
    raw = {"events": ["a", "b", "c"], "relations": said, "ask": "c ? a"}
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
        "events": [*"abcd"],
        "relations": [f"{p[0]} {r} {p[1]}" for p, r in texts.items()],
    }
    answer = solve("temporal", raw)
    assert answer.conclusion.value is False
    assert len(answer.detail["conflict"]) == 6


def test_claims_are_certain_impossible_or_open() -> None:
    raw = {"events": ["a", "b", "c"], "relations": ["a before|meets b", "b meets c"]}
    assert solve("temporal", raw | {"ask": "a before c"}).conclusion.value is True
    assert solve("temporal", raw | {"ask": "c during a"}).conclusion.value is False
    assert solve("temporal", raw | {"ask": "a before b"}).conclusion.value is None
    assert solve("temporal", raw | {"ask": "a ? b"}).conclusion[:2] == ("names", ("before", "meets"))


def test_a_circle_is_named() -> None:
    raw = {
        "events": ["plan", "build", "ship", "rest"],
        "relations": ["plan before build", "rest after ship", "build before|meets ship", "ship before plan"],
    }
    answer = solve("temporal", raw)
    assert answer.detail["conflict"] == ["plan before build", "build before|meets ship", "ship before plan"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("relations: [a befor b]", "relations[1]: unknown relation 'befor'"),
        ("relations: [a before bb]", "relations[1]: unknown event 'bb'"),
        ("relations: [x before b]", "relations[1]: unknown event 'x'"),
        ("relations: [a before a]", "relations[1]: a is on both sides"),
        ("relations: [a b]", "relations[1]: there is no relation"),
        ("ask: a", "ask: a is on both sides"),
    ],
)
def test_bad_relations(text: str, said: str) -> None:
    assert refused("temporal", "events: [a, b]\n" + text) == said


def test_events_are_few_and_apart() -> None:
    many = {"events": [f"e{n}" for n in range(31)]}
    assert "31 events are too many; the limit is 30" in refused("temporal", str(many))
    assert refused("temporal", "events: [a, a]") == "events: 'a' occurs twice"


def test_too_many_alternatives_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mabos_cli.reasoning.formal.temporal.MOST_WORK", 5_000)
    apart = [f"{a} disjoint {b}" for a, b in combinations("abcdefg", 2)]
    said = refused("temporal", str({"events": [*"abcdefg"], "relations": apart}))
    assert said == "relations: too many alternatives to try"
