"""Fault trees against the handbook and brute force."""

from itertools import product
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoning.solving import refused, solve, solve_yaml

TANK = """
gates:
  rupture: {any: [T, overpressure]}
  overpressure: {any: [K2, no stop]}
  no stop: {all: [S, keeps running]}
  keeps running: {any: [S1, K1, R]}
events: {T: 5e-6, K2: 3e-5, S: 1e-4, S1: 3e-5, K1: 3e-5, R: 1e-4}
"""


def test_pressure_tank() -> None:
    """NUREG-0492, Fault Tree Handbook, the pressure tank: cut sets T, K2, and S with each of K1, R and S1. The single ones make up
    nearly all of it."""
    answer = solve_yaml("root-cause", TANK)
    assert answer.detail["cut_sets"] == [["T"], ["K2"], ["S", "S1"], ["S", "K1"], ["S", "R"]]
    assert answer.detail["probability"] == pytest.approx(3.5e-5, rel=0.02)
    assert answer.conclusion.value[:2] == ("K2", "T")


def test_bridge() -> None:
    """Barlow & Proschan: a bridge of five parts that work with 0.9 each works with 2p^2 + 2p^3 - 5p^4 + 2p^5 = 0.97848. Adding up
    the cut sets gives 0.022."""
    answer = solve_yaml(
        "root-cause",
        """
gates:
  open: {any: [left, right, up, down]}
  left: {all: [a, b]}
  right: {all: [d, e]}
  up: {all: [a, c, e]}
  down: {all: [b, c, d]}
events: {a: 0.1, b: 0.1, c: 0.1, d: 0.1, e: 0.1}
""",
    )
    assert answer.detail["probability"] == pytest.approx(1 - 0.97848)
    assert answer.conclusion.value[-1] == "c"
    assert any("matter equally" in said for said in answer.caveats)


def test_two_of_three() -> None:
    """p = 0.1: 3 p^2 - 2 p^3 = 0.028, Birnbaum 2 p (1 - p) = 0.18."""
    answer = solve_yaml("root-cause", "gates: {g: {need: 2, of: [a, b, c]}}\nevents: {a: 0.1, b: 0.1, c: 0.1}")
    found = answer.detail["importance"]["a"]
    assert answer.detail["probability"] == pytest.approx(0.028)
    assert found["birnbaum"] == pytest.approx(0.18)
    assert found["criticality"] == pytest.approx(0.18 * 0.1 / 0.028)


def happens(gates: dict, name: str, world: dict[str, bool]) -> bool:
    if name in world:
        return world[name]
    gate = gates[name]
    names = gate.get("any") or gate.get("all") or gate["of"]
    need = 1 if "any" in gate else len(names) if "all" in gate else gate["need"]
    return sum(happens(gates, one, world) for one in names) >= need


names = st.lists(st.sampled_from("abcde"), min_size=1, max_size=4, unique=True)
gates = st.builds(
    lambda of, need: {"any": of} if need == 0 else {"all": of} if need == 1 else {"need": 1 + need % len(of), "of": of},
    names, st.integers(0, 4),
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(gates, gates, gates, st.lists(st.floats(0.01, 0.99), min_size=5, max_size=5))
def test_trees_agree_with_all_worlds(one: dict, two: dict, three: dict, p: list[float]) -> None:
    tree = {"top": {"need": 2, "of": ["g1", "g2", "g3"]}, "g1": one, "g2": two, "g3": three}
    chances = dict(zip("abcde", p, strict=True))
    used = {name for gate in (one, two, three) for names in gate.values() if isinstance(names, list) for name in names}
    found = solve("root-cause", {"gates": tree, "events": {name: chances[name] for name in sorted(used)}}).detail
    worlds = [dict(zip("abcde", row, strict=True)) for row in product([False, True], repeat=5)]

    def total(**fixed: bool) -> float:
        weight = 0.0
        for world in worlds:
            if all(world[name] == there for name, there in fixed.items()) and happens(tree, "top", world):
                share = 1.0
                for name in "abcde":
                    if name not in fixed:
                        share *= chances[name] if world[name] else 1 - chances[name]
                weight += share
        return weight

    assert found["probability"] == pytest.approx(total())
    for name in used:
        assert found["importance"][name]["birnbaum"] == pytest.approx(
            total(**{name: True}) - total(**{name: False}), abs=1e-12
        )
    failing = [{name for name in used if world[name]} for world in worlds if happens(tree, "top", world)]
    smallest = {frozenset(one) for one in failing if not any(less < one for less in failing)}
    assert {frozenset(one) for one in found["cut_sets"]} == smallest


def test_without_probabilities_structure_decides() -> None:
    answer = solve_yaml("root-cause", TANK.split("events")[0])
    assert answer.conclusion.value[:3] == ("T", "K2", "S")
    assert answer.confidence is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gates: {a: {any: [b]}, b: {any: [a]}}", "gates: runs in a circle: "),
        ("gates: {a: {any: [x], all: [y]}}", "gates.a: must have either any, or all, or need with of"),
        ("gates: {a: {need: 3, of: [x, y]}}", "gates.a: needs 3 of only 2"),
        ("gates: {a: {any: [x]}, b: {any: [y]}}", "top: is missing, and 2 gates are below no other"),
        ("gates: {a: {any: [x, x]}}", "gates.a: names an event twice"),
        ("gates: {a: {any: [x, y]}}\nevents: {x: 0.1}", "events: y has no probability"),
        ("gates: {a: {any: [x]}}\nevents: {x: 0.1, z: 0.2}", "events: unknown event 'z'"),
        ("gates: {a: {any: [x]}}\nevents: {x: 0.1, a: 0.2}", "events.a: is a gate"),
        ("gates: {a: {any: [x]}}\nevents: {x: 0}", "events: with these probabilities a cannot happen"),
        ("top: a", "gates: is missing"),
    ],
)  # fmt: skip
def test_refusals(text: str, said: str) -> None:
    assert said in refused("root-cause", text)


def test_too_many_cut_sets_are_refused() -> None:
    """Twenty pairs in a row have a million cut sets."""
    tree = {"top": {"all": [f"g{n}" for n in range(20)]}} | {f"g{n}": {"any": [f"a{n}", f"b{n}"]} for n in range(20)}
    with pytest.raises(ValueError, match="are too many; the limit is"):
        solve("root-cause", {"gates": tree})


def test_many_pairs_are_weighed() -> None:
    """Sixty pairs of faults, each enough by itself; and five of ten parts that fail with one half each."""
    pairs = {f"g{n}": {"all": [f"a{n}", f"b{n}"]} for n in range(60)}
    chances = {name: 0.1 for gate in pairs.values() for name in gate["all"]}
    tree = {"top": {"any": [*pairs]}} | pairs
    assert solve("root-cause", {"gates": tree, "events": chances}).detail["probability"] == pytest.approx(1 - 0.99**60)
    parts = [f"p{n}" for n in range(10)]
    half = solve("root-cause", {"gates": {"top": {"need": 5, "of": parts}}, "events": dict.fromkeys(parts, 0.5)})
    assert half.detail["probability"] == pytest.approx(sum(comb(10, k) for k in range(5, 11)) / 1024)


def test_what_mending_leaves() -> None:
    answer = solve_yaml("root-cause", "gates: {g: {any: [a, b]}}\nevents: {a: 0.5, b: 0.2}")
    assert answer.detail["probability"] == pytest.approx(0.6)
    assert answer.detail["importance"]["a"]["top_if_mended"] == pytest.approx(0.2)
    assert answer.summary == "P(g) = 0.6; mend a first: it takes off 66.7 %"
    assert "fails alone on: a, b" in answer.steps
