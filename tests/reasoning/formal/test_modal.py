"""Modal formulas over worlds, and validity in the usual systems."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core import BadValue
from mabos_cli.reasoning.formal.formula import (
    CONDITIONS,
    SYSTEMS,
    Formula,
    Model,
    closed,
    find_flaw,
    negation,
    parse_formula,
    render_formula,
    where_true,
)
from mabos_cli.reasoning.formal.modal import find_model
from reasoning.solving import refused, solve, solve_yaml

# Hughes and Cresswell, A New Introduction to Modal Logic, 1996: which axiom holds in which system.
THEOREMS = {
    "[](p -> q) -> ([]p -> []q)": {*SYSTEMS},
    "[](p & q) <-> []p & []q": {*SYSTEMS},
    "<>(p | q) <-> <>p | <>q": {*SYSTEMS},
    "<>p <-> ![]!p": {*SYSTEMS},
    "[]p | []q -> [](p | q)": {*SYSTEMS},
    "[](p | q) -> []p | []q": set(),
    "[]p -> p": {"T", "B", "S4", "S5"},
    "[]p -> <>p": {"D", "D4", "KD45", "T", "B", "S4", "S5"},
    "[]p -> [][]p": {"K4", "D4", "S4", "K45", "KD45", "S5"},
    "p -> []<>p": {"KB", "B", "S5"},
    "<>p -> []<>p": {"K45", "KD45", "S5"},
    "[]([]p -> p)": {"T", "B", "S4", "S5", "K45", "KD45"},
    "[]<>p -> <>[]p": set(),  # McKinsey
    "[]([]p -> p) -> []p": set(),  # Löb
    "[]<>[]<>p <-> []<>p": {*SYSTEMS} - {"K", "D", "T"},
    "<>[]p -> []<>p": {"KB", "B", "S5", "K45", "KD45"},  # Geach
    "p": set(),
}


@pytest.mark.parametrize("formula", THEOREMS)
def test_axioms_hold_exactly_in_their_systems(formula: str) -> None:
    parsed = parse_formula(formula)
    valid = set()
    for system, conditions in SYSTEMS.items():
        against = find_model(negation(parsed), system)
        if against is None:
            valid.add(system)
            continue
        assert not where_true(against, parsed) & 1
        for relation in against.relations.values():
            assert [c for c in conditions if find_flaw(relation, c)] == []
    assert valid == THEOREMS[formula]


def formulas() -> st.SearchStrategy[Formula]:
    atoms = st.sampled_from([Formula("atom", "p"), Formula("atom", "q")])
    return st.recursive(
        atoms,
        lambda inner: st.one_of(
            st.builds(lambda op, a: Formula(op, "", (a,)), st.sampled_from(["not", "box", "diamond"]), inner),
            st.builds(lambda op, a, b: Formula(op, "", (a, b)), st.sampled_from(["and", "or", "implies"]), inner, inner),
        ),
        max_leaves=4,
    )  # fmt: skip


def _holds(formula: Formula, world: int, true: dict[str, set[int]], sees: set[tuple[int, int]]) -> bool:
    """Truth by the textbook's clauses, world by world."""
    values = [lambda at, part=part: _holds(part, at, true, sees) for part in formula.parts]
    match formula.op:
        case "atom":
            return world in true[formula.name]
        case "not":
            return not values[0](world)
        case "and":
            return values[0](world) and values[1](world)
        case "or":
            return values[0](world) or values[1](world)
        case "implies":
            return not values[0](world) or values[1](world)
        case "box":
            return all(values[0](b) for a, b in sees if a == world)
        case _:
            return any(values[0](b) for a, b in sees if a == world)


def _small_models(conditions: tuple[str, ...]):
    """All models with up to two worlds that fulfil the conditions."""
    for size in (1, 2):
        pairs = list(product(range(size), repeat=2))
        for chosen in product((False, True), repeat=len(pairs)):
            sees = {pair for pair, is_in in zip(pairs, chosen, strict=True) if is_in}
            relation = tuple(sum(1 << b for a, b in sees if a == n) for n in range(size))
            if all(find_flaw(relation, condition) is None for condition in conditions):
                for p, q in product(range(1 << size), repeat=2):
                    yield (
                        {
                            "p": {n for n in range(size) if p >> n & 1},
                            "q": {n for n in range(size) if q >> n & 1},
                        },
                        sees,
                    )


@settings(max_examples=25, deadline=None)
@given(formulas(), st.sampled_from([*SYSTEMS]))
def test_validity_against_all_small_models(formula: Formula, system: str) -> None:
    against = find_model(negation(formula), system)
    if against is None:
        for true, sees in _small_models(SYSTEMS[system]):
            assert _holds(formula, 0, true, sees)
        return
    true = {name: {n for n in range(len(against.worlds)) if at >> n & 1} for name, at in against.atoms.items()}
    sees = {(a, b) for r in against.relations.values() for a, x in enumerate(r) for b in range(64) if x >> b & 1}
    assert not _holds(formula, 0, {"p": set(), "q": set()} | true, sees)
    for relation in against.relations.values():
        assert all(find_flaw(relation, condition) is None for condition in SYSTEMS[system])


@settings(max_examples=40, deadline=None)
@given(formulas())
def test_text_and_back(formula: Formula) -> None:
    assert parse_formula(render_formula(formula)) == formula


def test_precedence_and_signs() -> None:
    assert parse_formula("p -> q -> r") == parse_formula("p -> (q -> r)")
    assert parse_formula("!p & q | r -> s <-> t") == parse_formula("(((((!p) & q) | r) -> s) <-> t)")
    assert parse_formula("□p→◇_a ¬q ∧ ⊤") == parse_formula("[]p -> (<a>(not q) and true)")
    assert parse_formula("[] p & q") != parse_formula("[](p & q)")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 15), min_size=4, max_size=4), st.sampled_from(CONDITIONS))
def test_closure_is_least(rows: list[int], condition: str) -> None:
    """What a closure adds is in every relation with the condition that contains the given one."""
    if condition == "serial":
        return
    full = closed(tuple(rows), (condition,))
    assert find_flaw(full, condition) is None
    assert all(not row & ~more for row, more in zip(rows, full, strict=True))
    for n, other in product(range(4), repeat=2):
        fewer = [row & ~(1 << other) if at == n else row for at, row in enumerate(full)]
        if full[n] >> other & 1 and not rows[n] >> other & 1:
            assert find_flaw(tuple(fewer), condition) is not None


MUDDY = """
worlds: {aa: [a, b], ab: [a], ba: [b]}
agents:
  anna: {aa: [ba]}
  ben: {aa: [ab]}
frame: S5
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


def test_all_worlds_and_premises() -> None:
    base = {"worlds": {"w1": ["p", "q"], "w2": ["p"], "w3": []}, "access": {"w1": ["w2"], "w2": ["w1", "w3"]}}
    answer = solve("modal", base | {"formula": "<>p"})
    assert answer.conclusion.value is False
    assert answer.detail["true_at"] == ["w1", "w2"]
    assert answer.summary == "<>p holds in not all worlds (2 of 3); it fails at w3"
    assert solve("modal", base | {"formula": "<>p", "premises": ["p"]}).conclusion.value is True


def test_premises_decide_a_question() -> None:
    text = "valid_in: S5\npremises: ['[](rain -> wet)', '<>rain']\nformula: '%s'\n"
    assert solve_yaml("modal", text % "<>wet").conclusion.value is True
    assert solve_yaml("modal", text % "[]!wet").conclusion.value is False
    assert solve_yaml("modal", text % "wet").conclusion.value is None


def test_several_modalities_do_not_mix() -> None:
    text = "valid_in: S5\nformula: '%s'\n"
    assert solve_yaml("modal", text % "[a]p -> [a][a]p").conclusion.value is True
    answer = solve_yaml("modal", text % "[a]p -> [b][a]p")
    assert answer.conclusion.value is False
    assert answer.detail["counter_model"]["false_at"] == "w1"


def test_frame_is_checked_or_closed() -> None:
    text = 'worlds: {u: [], v: [], w: [p]}\naccess: {u: [v], v: [w]}\nframe: transitive\nformula: "<>p"\nat: u\n'
    assert solve_yaml("modal", text).conclusion.value is True
    assert refused("modal", text + "enforce: check\n") == "access: not transitive, see u -> v -> w"
    assert "not serial, see w" in refused("modal", text.replace("transitive", "serial"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("formula: p ->", "formula: expected a statement at its end"),
        ("formula: (p", "formula: expected ) at its end"),
        ("formula: p q\nvalid_in: K", "formula: expected an operator such as & | -> at 'q'"),
        ("formula: p $ q\nvalid_in: K", "formula: cannot read '$ q'"),
        ("formula: p", "worlds: neither worlds nor valid_in are given"),
        ("formula: p\nvalid_in: K\nworlds: {w: []}", "valid_in: worlds are given too"),
        ("formula: p\nvalid_in: K\nat: w", "at: there are no worlds"),
        ("formula: p\nworlds: {w1: []}\nat: w11", "at: unknown world 'w11'"),
        ("formula: '[]p'\nworlds: {w1: []}\naccess: {w1: [w2]}", "access.w1: unknown world 'w2'"),
        ("formula: '[a]p'\nworlds: {w1: []}", "agents: unknown modality 'a'"),
        ("formula: '[]p'\nworlds: {w1: []}\nframe: euclid", "frame: unknown condition 'euclid'"),
        ("formula: q\nvalid_in: K\npremises: [p, '!p']", "premises: they cannot hold together in K"),
        ("formula: q\nvalid_in: K\npremises: ['p &']", "premises[1]: expected a statement at its end"),
    ],
)
def test_bad_input(text: str, said: str) -> None:
    assert refused("modal", text) == said


def test_large_input_is_refused() -> None:
    many = " & ".join(f"p{n}" for n in range(15))
    assert "15 atoms and 0 boxes, more than 14 together" in refused("modal", f"formula: {many}\nvalid_in: K")
    for deep in ("(" * 900 + "p" + ")" * 900, "!" * 100 + "p", "p -> " * 100 + "p"):
        with pytest.raises(BadValue, match="nested deeper than 60"):
            parse_formula(deep)
    with pytest.raises(BadValue, match="more than 150 operators"):
        parse_formula("p&" * 900 + "p")
    assert "longer than 2000" in refused("modal", f"formula: '{'p & ' * 600}p'\nvalid_in: K")


def test_long_chains() -> None:
    model = Model(("w",), {"p": 1}, {})
    assert where_true(model, parse_formula("p & " * 149 + "p")) == 1
    text = "formula: p\nvalid_in: K\npremises: [" + ", ".join(["p & " * 149 + "p"] * 100) + "]"
    assert solve_yaml("modal", text).conclusion.value is True


def test_not_valid_is_said_of_validity_and_not_of_the_formula():
    answer = solve("modal", {"formula": "[]p -> p", "valid_in": "K"})
    assert answer.conclusion.value is False and answer.conclusion.about == "[]p -> p is valid in K"
    follows = solve("modal", {"formula": "p", "premises": ["[]p"], "valid_in": "T"})
    assert follows.conclusion.value is True and follows.conclusion.about == "p"
