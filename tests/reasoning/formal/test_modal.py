"""Modal formulas over possible worlds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core import BadValue
from mabos_cli.reasoning.expression import Node
from mabos_cli.reasoning.formal.modal import parse_formula, render_formula, where_true
from reasoning.solving import refused, solve, solve_yaml


def formulas() -> st.SearchStrategy[Node]:
    atoms = st.sampled_from([Node("name", value="p"), Node("name", value="q")])
    return st.recursive(
        atoms,
        lambda inner: st.one_of(
            st.builds(lambda a: Node("not", (a,)), inner.filter(lambda one: one.op != "not")),
            st.builds(lambda op, a: Node(op, (a,), ""), st.sampled_from(["box", "diamond"]), inner),
            st.builds(lambda op, a, b: Node(op, (a, b)), st.sampled_from(["and", "or", "->"]), inner.filter(is_tight), inner),
        ),
        max_leaves=4,
    )  # fmt: skip


def is_tight(one: Node) -> bool:
    """Returns whether a formula on the left stays a part: `p & q & r` is read as one conjunction of three."""
    return one.op not in ("and", "or")


def _holds(formula: Node, world: int, true: dict[str, set[int]], sees: set[tuple[int, int]]) -> bool:
    """Returns the truth by the textbook's clauses, world by world."""
    values = [lambda at, part=part: _holds(part, at, true, sees) for part in formula.parts]
    match formula.op:
        case "name":
            return world in true[formula.value]
        case "not":
            return not values[0](world)
        case "and":
            return values[0](world) and values[1](world)
        case "or":
            return values[0](world) or values[1](world)
        case "->":
            return not values[0](world) or values[1](world)
        case "box":
            return all(values[0](b) for a, b in sees if a == world)
        case _:
            return any(values[0](b) for a, b in sees if a == world)


@settings(max_examples=60, deadline=None)
@given(formulas(), st.lists(st.integers(0, 7), min_size=3, max_size=3), st.integers(0, 7), st.integers(0, 7))
def test_truth_is_that_of_the_textbook(formula: Node, rows: list[int], p: int, q: int) -> None:
    sees = {(a, b) for a in range(3) for b in range(3) if rows[a] >> b & 1}
    true = {"p": {n for n in range(3) if p >> n & 1}, "q": {n for n in range(3) if q >> n & 1}}
    found = where_true(formula, 0b111, {"p": p, "q": q}, {"": rows})
    assert [bool(found >> n & 1) for n in range(3)] == [_holds(formula, n, true, sees) for n in range(3)]


@settings(max_examples=40, deadline=None)
@given(formulas())
def test_text_and_back(formula: Node) -> None:
    assert parse_formula(render_formula(formula)) == formula


def test_precedence_and_signs() -> None:
    assert parse_formula("p -> q -> r") == parse_formula("p -> (q -> r)")
    assert parse_formula("!p & q | r -> s <-> t") == parse_formula("(((((!p) & q) | r) -> s) <-> t)")
    assert parse_formula("□p→◇_a ¬q ∧ ⊤") == parse_formula("[]p -> (<a>(not q) and true)")
    assert parse_formula("[] p & q") != parse_formula("[](p & q)")


MUDDY = """
worlds: {aa: [a, b], ab: [a], ba: [b]}
agents:
  anna: {aa: [aa, ba], ba: [aa, ba], ab: [ab]}
  ben: {aa: [aa, ab], ab: [aa, ab], ba: [ba]}
formula: "%s"
at: %s
"""


def test_muddy_children() -> None:
    """Fagin, Halpern, Moses, Vardi, Reasoning About Knowledge, 1995: two muddy children after `one of you is muddy`. The
    child who sees a clean face knows that its own is muddy; where both are muddy, neither knows yet."""
    assert solve_yaml("modal", MUDDY % ("[]_anna a", "ab")).conclusion.value is True
    assert solve_yaml("modal", MUDDY % ("[]_anna a | []_ben b", "aa")).conclusion.value is False
    # Each knows that the other is muddy, and that somebody is; but not that the other knows that.
    assert solve_yaml("modal", MUDDY % ("[]_anna b & []_ben a", "aa")).conclusion.value is True
    assert solve_yaml("modal", MUDDY % ("[]_anna []_ben b", "aa")).conclusion.value is False


def test_a_box_is_vacuous_without_sight_and_a_diamond_is_not() -> None:
    answer = solve_yaml("modal", 'worlds: {w: []}\nformula: "[]p & !<>p & []false"\n')
    assert answer.conclusion.value is True
    assert "p is true in no world" in answer.caveats


def test_all_worlds() -> None:
    base = {"worlds": {"w1": ["p", "q"], "w2": ["p"], "w3": []}, "access": {"w1": ["w2"], "w2": ["w1", "w3"]}}
    answer = solve("modal", base | {"formula": "<>p"})
    assert answer.conclusion.value is False
    assert answer.detail["true_at"] == ["w1", "w2"]
    assert answer.summary == "<>p holds in not all worlds (2 of 3); it fails at w3"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("formula: p ->\nworlds: {w: []}", "formula: ends too early"),
        ("formula: (p\nworlds: {w: []}", "formula: expected ) at its end"),
        ("formula: p q\nworlds: {w: []}", "formula: expected an operator at 'q'"),
        ("formula: p $ q\nworlds: {w: []}", "formula: cannot read '$ q'"),
        ("formula: p", "worlds: is missing"),
        ("formula: p\nworlds: {w1: []}\nat: w11", "at: unknown world 'w11'"),
        ("formula: '[]p'\nworlds: {w1: []}\naccess: {w1: [w2]}", "access.w1: unknown world 'w2'"),
        ("formula: '[a]p'\nworlds: {w1: []}", "agents: unknown modality 'a'"),
    ],
)
def test_bad_input(text: str, why: str) -> None:
    assert refused("modal", text) == why


def test_large_input_is_refused() -> None:
    for deep in ("(" * 900 + "p" + ")" * 900, "[]" * 100 + "p", "p -> " * 100 + "p"):
        with pytest.raises(BadValue, match="nests deeper than 30"):
            parse_formula(deep)
    with pytest.raises(BadValue, match="more than 300 parts"):
        parse_formula("p&" * 900 + "p")
    assert "at most 2000 characters" in refused("modal", f"formula: '{'p & ' * 600}p'\nworlds: {{w: []}}")


def test_long_chains() -> None:
    assert where_true(parse_formula("p & " * 149 + "p"), 1, {"p": 1}) == 1
