"""Identification and adjustment against Pearl's examples, the kidney stones, and path enumeration."""

from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.reasoning.causal.causal_graph import Graph, find_back_doors, is_separated, parse_graph
from reasoning.solving import STONES_DATA, refused, solve, solve_yaml

# Pearl, Causality, table 3.1: smoking, tar, cancer, in percent of the population.
TAR = """
graph: [smoking -> tar -> cancer, smoking <-> cancer]
treatment: smoking
outcome: cancer
data:
  - {smoking: no, tar: no, cancer: yes, count: 4.75}
  - {smoking: no, tar: no, cancer: no, count: 42.75}
  - {smoking: yes, tar: no, cancer: yes, count: 2.25}
  - {smoking: yes, tar: no, cancer: no, count: 0.25}
  - {smoking: no, tar: yes, cancer: yes, count: 0.125}
  - {smoking: no, tar: yes, cancer: no, count: 2.375}
  - {smoking: yes, tar: yes, cancer: yes, count: 40.375}
  - {smoking: yes, tar: yes, cancer: no, count: 7.125}
"""
STONES = f"""
graph: [size -> treatment, size -> cured, treatment -> cured]
treatment: treatment
outcome: cured
compare: [A, B]
data:{STONES_DATA}"""


def test_front_door() -> None:
    """Pearl, Causality, section 3.3.3: 0.4525 with smoking, 0.4975 without, while the plain rates are 0.8525 and 0.0975."""
    answer = solve_yaml("causal", TAR)
    (effect,) = answer.detail["effects"]
    assert effect["by"] == "by the formula"
    assert effect["with"] == pytest.approx(0.4525)
    assert effect["without"] == pytest.approx(0.4975)
    assert answer.detail["crude"]["with"] == pytest.approx(0.8525)
    assert answer.detail["crude"]["without"] == pytest.approx(0.0975)
    assert answer.detail["back_door"] == []
    assert any("Simpson" in said for said in answer.caveats)


def test_kidney_stones() -> None:
    """Simpson's paradox: 78 % against 83 % as seen, 83.3 % against 77.9 % adjusted for the size of the stone."""
    answer = solve_yaml("causal", STONES)
    (effect,) = answer.detail["effects"]
    assert (effect["with"], effect["without"]) == (
        pytest.approx(0.8325, abs=5e-5),
        pytest.approx(0.7789, abs=5e-5),
    )
    assert answer.detail["crude"]["effect"] == pytest.approx(273 / 350 - 289 / 350)
    assert answer.conclusion.value == pytest.approx(0.0537, abs=5e-4)
    low, high = answer.conclusion.interval
    assert low < answer.conclusion.value < high


def test_m_bias() -> None:
    """Greenland, Pearl & Robins 1999: nothing need be adjusted for."""
    text = "graph: [a -> x, a -> m, b -> m, b -> y, x -> y]\nhidden: [a, b]\ntreatment: x\noutcome: y"
    answer = solve_yaml("causal", text)
    assert answer.detail["back_door"] == [[]]
    assert answer.conclusion.value is True


def test_pearls_six_variables() -> None:
    """Pearl, Causality, figure 3.4: the minimal sets for the effect of Xi on Xj are {X3, X4} and {X4, X5}; X4 alone does not do,
    and X6 is on the way."""
    text = """
graph: [X1 -> X3, X1 -> X4, X2 -> X4, X2 -> X5, X3 -> Xi, X4 -> Xi, X4 -> Xj, X5 -> Xj, Xi -> X6 -> Xj]
hidden: [X1, X2]
treatment: Xi
outcome: Xj
"""
    answer = solve_yaml("causal", text)
    assert answer.detail["back_door"] == [["X3", "X4"], ["X4", "X5"]]


def test_the_napkin_is_estimated_by_its_formula() -> None:
    """Neither door is open, yet the formula gives what the model does when x is set: y follows x in 8 of 10, u flips it."""
    rows = []
    for u, v, w, z, x, y in product((0, 1), repeat=6):
        share = 0.25 * (0.9 if w == (u ^ v) else 0.1) * (0.8 if z == w else 0.2) * (0.7 if x == (z ^ u) else 0.3)
        rows.append({"w": w, "z": z, "x": x, "y": y, "count": share * (0.8 if y == (x & v) else 0.2)})
    graph = ["w -> z -> x -> y", "w <-> x", "w <-> y"]
    raw = {"graph": graph, "treatment": "x", "outcome": "y", "data": rows, "compare": ["1", "0"], "success": "1"}
    answer = solve("causal", raw)
    assert answer.conclusion.value == pytest.approx(0.3)  # 0.5 * 0.8 + 0.5 * 0.2 against 0.2
    assert answer.detail["estimand"].startswith("P(y | do x) = [")
    plain = solve("causal", {name: raw[name] for name in ("graph", "treatment", "outcome")})
    assert plain.conclusion.value is True and "but the formula P(y | do x) = [" in plain.summary


def test_what_is_not_identifiable_says_why() -> None:
    answer = solve_yaml("causal", "graph: [x -> y, x <-> y]\ntreatment: x\noutcome: y")
    assert "is not identifiable" in answer.summary and "cannot" not in answer.summary
    assert answer.detail["hedge"] == {"outer": ("x", "y"), "inner": ("y",)}


def test_no_path_no_effect() -> None:
    answer = solve_yaml("causal", "graph: [a -> x, a -> y]\ntreatment: x\noutcome: y")
    assert "no causal path" in answer.summary
    assert answer.detail["back_door"] == [["a"]]


def brute_force(graph: Graph, x: str, y: str, given: tuple[str, ...]) -> bool:
    """Separation by looking at every path on its own."""

    def walk(path: list[str]) -> bool:
        """Whether some continuation of the path to y is open."""
        if path[-1] == y:
            return all(is_open(a, b, c) for a, b, c in zip(path, path[1:], path[2:], strict=False))
        near = {*graph.parents[path[-1]], *graph.children[path[-1]]} - set(path)
        return any(walk([*path, one]) for one in near)

    def is_open(a: str, b: str, c: str) -> bool:
        if a in graph.parents[b] and c in graph.parents[b]:
            return bool(graph.below([b]) & set(given))
        return b not in given

    return not walk([x])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.booleans(), min_size=15, max_size=15))
def test_separation_and_minimal_sets_agree_with_paths(arrows: list[bool]) -> None:
    """Every graph over six variables in a fixed order."""
    pairs = [pair for pair, there in zip(combinations("abcdef", 2), arrows, strict=True) if there]
    graph = parse_graph([f"{one} -> {other}" for one, other in [*pairs, ("c", "f")]], [])
    others = [name for name in graph.parents if name not in ("c", "f")]
    cut_off = graph.without(starts=["c"])
    valid = []
    for size in range(len(others) + 1):
        for chosen in combinations(others, size):
            assert is_separated(cut_off, ["c"], ["f"], chosen) == brute_force(cut_off, "c", "f", chosen)
            if not set(chosen) & graph.below(["c"]) and brute_force(cut_off, "c", "f", chosen):
                valid.append(set(chosen))
    smallest = {frozenset(one) for one in valid if not any(less < one for less in valid)}
    assert {frozenset(one) for one in find_back_doors(graph, "c", "f")[0]} == smallest


def test_a_large_graph_gets_one_set_and_says_so() -> None:
    links = [f"c{n} -> x" for n in range(15)] + [f"c{n} -> y" for n in range(15)] + ["x -> y"]
    answer = solve("causal", {"graph": links, "treatment": "x", "outcome": "y"})
    assert answer.detail["back_door"] == [[f"c{n}" for n in range(15)]]
    assert any("one set to adjust for is given" in said for said in answer.caveats)


def test_a_stratum_without_treatment_is_said_not_guessed() -> None:
    text = STONES.replace("treatment: B, cured: yes, count: 55", "treatment: B, cured: yes, count: 0")
    text = text.replace("treatment: B, cured: no, count: 25", "treatment: B, cured: no, count: 0")
    answer = solve_yaml("causal", text)
    assert answer.conclusion.value is False
    assert any("no row has treatment=B among size=large" in said for said in answer.caveats)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("graph: [a -> b, b -> a]\ntreatment: a\noutcome: b", "graph: runs in a circle: "),
        ("graph: [a b]\ntreatment: a\noutcome: b", "graph[1]: 'a b' has no arrow between two names"),
        ("graph: [a -> b]\ntreatment: a\noutcome: c", "outcome: unknown variable 'c'"),
        ("graph: [a -> b]\ntreatment: a\noutcome: a", "outcome: is the treatment itself"),
        ("graph: [a -> b]\ntreatment: a\noutcome: b\nhidden: [a]", "treatment: 'a' is hidden"),
        ("graph: [a -> b]\ntreatment: a\noutcome: b\nhidden: [z]", "hidden: 'z' is not in the graph"),
        ("graph: [a -> b]\ntreatment: a\noutcome: b\ndata: [{a: yes, c: no}]", "data: unknown variable 'b'"),
        ("graph: [a -> b]\ntreatment: a\noutcome: b\ndata: [{a: yes, b: no}]", "compare: needs two values of the treatment"),
        ("graph: [a -> b]\ntreatment: a\noutcome: b\ndata: [{a: yes, b: no}, {a: no}]", "data[2]: b is missing"),
    ],
)  # fmt: skip
def test_refusals(text: str, said: str) -> None:
    assert said in refused("causal", text)


def test_interval_by_hand() -> None:
    """One stratum: p1 = 0.6 of 50, p0 = 0.3 of 100; the variance is 0.24 / 50 + 0.21 / 100."""
    answer = solve_yaml(
        "causal",
        """
graph: [x -> y]
treatment: x
outcome: y
data: [{x: yes, y: yes, count: 30}, {x: yes, y: no, count: 20}, {x: no, y: yes, count: 30}, {x: no, y: no, count: 70}]
""",
    )
    reach = 1.96 * (0.24 / 50 + 0.21 / 100) ** 0.5
    assert answer.conclusion.interval == (pytest.approx(0.3 - reach), pytest.approx(0.3 + reach))


SPURIOUS = """
graph: [x <-> y, z -> x]
treatment: x
outcome: y
data: [{x: yes, y: yes, count: 30}, {x: yes, y: no, count: 10}, {x: no, y: yes, count: 10}, {x: no, y: no, count: 30}]
"""


def test_where_no_path_leads_the_effect_is_0_whatever_is_seen() -> None:
    answer = solve_yaml("causal", SPURIOUS)
    assert answer.conclusion.kind == "number" and answer.conclusion.value == 0
    assert answer.detail["crude"]["effect"] == pytest.approx(0.5)
    assert "no causal path" in answer.summary and "+0.5" in answer.summary


def test_three_of_three_make_nothing_certain() -> None:
    """0.8 of 3 on either side by the rule of succession: 1 - 1.96 * sqrt(2 * 0.16 / 3)."""
    data = [{"x": "yes", "y": "yes", "count": 3}, {"x": "no", "y": "no", "count": 3}]
    answer = solve("causal", {"graph": ["x -> y"], "treatment": "x", "outcome": "y", "data": data})
    assert answer.conclusion.value == 1
    assert answer.conclusion.interval == (pytest.approx(1 - 1.96 * (0.32 / 3) ** 0.5), 1)
