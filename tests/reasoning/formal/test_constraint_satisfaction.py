"""Values that meet all constraints, and constraints that clash."""

from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.reasoning.expression import Node, build, parse_expression
from mabos_cli.reasoning.formal.constraint_search import NO, YES, bound, bounds_of
from reasoning.solving import refused, solve, solve_yaml

METHOD = "constraint-satisfaction"
BORDERS = "wa nt, wa sa, nt sa, nt q, sa q, sa nsw, sa v, q nsw, nsw v"
STATES = ("wa", "nt", "sa", "q", "nsw", "v", "t")


def _australia(*colours: str) -> dict:
    return {
        "variables": {state: [*colours] for state in STATES},
        "constraints": [pair.replace(" ", " != ") for pair in BORDERS.split(", ")],
        "show": 100,
    }


def test_australia() -> None:
    """Russell and Norvig, Artificial Intelligence, chapter on constraint satisfaction: the map of Australia in three colours."""
    pairs = [tuple(pair.split()) for pair in BORDERS.split(", ")]
    colours = ("red", "green", "blue")
    every = [dict(zip(STATES, chosen, strict=True)) for chosen in product(colours, repeat=7)]
    right = [one for one in every if all(one[a] != one[b] for a, b in pairs)]
    answer = solve(METHOD, _australia(*colours))
    assert answer.detail["count"] == len(right) == 18
    found = [tuple(one.items()) for one in answer.detail["solutions"]]
    assert sorted(found) == sorted(tuple(one.items()) for one in right)
    assert answer.confidence is None and answer.conclusion.kind == "names"


def test_two_colours_clash_in_a_triangle() -> None:
    answer = solve(METHOD, _australia("red", "green"))
    assert answer.conclusion.value is False and answer.detail["is_minimal"]
    states = {name for pair in answer.detail["conflict"] for name in pair.split(" != ")}
    assert len(answer.detail["conflict"]) == len(states) == 3


def test_send_more_money() -> None:
    """Dudeney, Strand Magazine, July 1924: 9567 + 1085 = 10652 is the only answer."""
    letters = "SENDMORY"
    raw = {
        "variables": {letter: "1..9" if letter in "SM" else "0..9" for letter in letters},
        "constraints": [
            f"all_different({', '.join(letters)})",
            "1000*S + 100*E + 10*N + D + 1000*M + 100*O + 10*R + E = 10000*M + 1000*O + 100*N + 10*E + Y",
        ],
    }
    answer = solve(METHOD, raw)
    assert answer.detail["solution"] == dict(zip(letters, (9, 5, 6, 7, 1, 0, 8, 2), strict=True))
    assert answer.detail["count"] == 1 and answer.summary.startswith("the only solution")


def test_eight_queens_and_clingo() -> None:
    """The eight queens puzzle has 92 solutions; clingo finds the same ones for six queens."""
    import clingo

    def queens(size: int) -> dict:
        pairs = combinations(range(1, size + 1), 2)
        apart = [f"abs(q{a} - q{b}) not in {{0, {b - a}}}" for a, b in pairs]
        variables = {f"q{n}": f"1..{size}" for n in range(1, size + 1)}
        return {"variables": variables, "constraints": apart, "show": 100}

    assert solve(METHOD, queens(8)).detail["count"] == 92
    control = clingo.Control(["0"])
    control.add(
        "base",
        [],
        "1 {q(X,1..6)} 1 :- X=1..6. :- q(X,Y), q(Z,Y), X<Z. :- q(X,Y), q(Z,W), X<Z, |Y-W| == Z-X. #show q/2.",
    )
    control.ground([("base", [])])
    theirs: list[tuple[int, ...]] = []
    with control.solve(yield_=True) as models:
        for model in models:
            rows = {atom.arguments[0].number: atom.arguments[1].number for atom in model.symbols(shown=True)}
            theirs.append(tuple(rows[n] for n in range(1, 7)))
    ours = [tuple(one.values()) for one in solve(METHOD, queens(6)).detail["solutions"]]
    assert sorted(ours) == sorted(theirs)


TERMS = st.sampled_from(["x", "y", "z", "2*x", "x + y", "y - z", "abs(x - z)", "x * y", "y % 3", "6 / x", "max(x, z)", "3"])  # fmt: skip
ATOMS = st.builds("{} {} {}".format, TERMS, st.sampled_from(["=", "!=", "<", "<=", ">", ">="]), TERMS)
LOGIC = st.one_of(
    ATOMS,
    st.builds("if {} then {}".format, ATOMS, ATOMS),
    st.builds("{} or {}".format, ATOMS, ATOMS),
    st.builds("not ({} and {})".format, ATOMS, ATOMS),
    st.builds("count({}, {}) <-> {}".format, ATOMS, ATOMS, ATOMS).map(lambda said: said.replace(" <->", " >= 1 <->")),
    st.just("all_different(x, y, z)"),
    st.builds("x in {{1, {}}}".format, TERMS),
)  # fmt: skip
DOMAIN = range(-1, 4)


@settings(max_examples=50, deadline=None)
@given(st.lists(LOGIC, min_size=1, max_size=4))
def test_against_brute_force(constraints: list[str]) -> None:
    """All solutions and the clash are those of trying every combination, with Python doing the arithmetic."""

    def python(said: str, env: dict[str, int]) -> object:
        try:
            return _value(parse_expression(said, ""), env)
        except ZeroDivisionError:
            return False

    every = [dict(zip("xyz", chosen, strict=True)) for chosen in product(DOMAIN, repeat=3)]
    right = [env for env in every if all(python(said, env) is True for said in constraints)]
    raw = {"variables": dict.fromkeys("xyz", "-1..3"), "constraints": constraints, "show": 100}
    answer = solve(METHOD, raw)
    if not right:
        clash = answer.detail["conflict"]
        for left_out in range(len(clash)):
            rest = clash[:left_out] + clash[left_out + 1 :]
            assert any(all(python(said, env) is True for said in rest) for env in every)
        assert not any(all(python(said, env) is True for said in clash) for env in every)
        return
    assert answer.detail["count"] == len(right)
    if len(right) <= 100:
        assert all(one in right for one in answer.detail["solutions"])


def _value(node: Node, env: dict[str, int]) -> object:
    """Returns what a tree means, computed in another way than the solver does. Like it, `or` and `if` look no further than needed."""
    if node.op in ("value", "name"):
        return node.value if node.op == "value" else env[node.value]
    if node.op in ("and", "or"):
        return (all if node.op == "and" else any)(_value(part, env) for part in node.parts)
    if node.op == "->":
        return not _value(node.parts[0], env) or _value(node.parts[1], env)
    parts = [_value(part, env) for part in node.parts]
    a, b = (*parts, None, None)[:2]
    match node.op:
        case "=" | "!=" | "<->":
            return (a == b) == (node.op != "!=")
        case "<" | "<=" | ">" | ">=":
            return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[node.op]
        case "in":
            return a in parts[1:]
        case "not":
            return not a
        case "all_different":
            return len({*parts}) == len(parts)
        case "neg" | "abs":
            return -a if node.op == "neg" else abs(a)
        case "sum" | "count":
            return sum(parts)
        case "max":
            return max(parts)
        case "*":
            return a * b
        case "/":
            return Fraction(a, b)
        case "%":
            return a % b
    raise AssertionError(node.op)


@settings(max_examples=60, deadline=None)
@given(LOGIC, st.tuples(*[st.lists(st.sampled_from(DOMAIN), min_size=1, max_size=4, unique=True)] * 3))
def test_a_look_at_domains_never_rules_out_a_solution(said: str, domains: tuple[list[int], ...]) -> None:
    def numbered(node: Node) -> Node:
        if node.op == "name":
            return Node("name", value="xyz".index(node.value))
        return node._replace(parts=tuple(map(numbered, node.parts)))

    tree = numbered(parse_expression(said, ""))
    verdict = bound(tree)([bounds_of(domain) for domain in domains])
    run = build(tree)

    def holds(chosen: tuple[int, ...]) -> bool | None:
        try:
            return run(chosen)
        except ZeroDivisionError:
            return None

    truths = {holds(chosen) for chosen in product(*domains)} - {None}
    assert verdict not in (NO, YES) or truths <= {verdict == YES}


def test_a_product_over_large_domains() -> None:
    """1729 is the smallest number that is the sum of two cubes in two ways (Hardy and Ramanujan)."""
    raw = {
        "variables": dict.fromkeys("abcd", "1..12"),
        "constraints": ["a*a*a + b*b*b = c*c*c + d*d*d", "a < c <= d < b"],
    }
    answer = solve(METHOD, raw)
    assert answer.detail["solution"] == {"a": 1, "b": 12, "c": 9, "d": 10} and answer.detail["count"] == 1
    far = {"variables": {"x": "1..5000", "y": "1..5000"}, "constraints": ["x * y = 9991", "1 < x < y"]}
    assert solve(METHOD, far).detail["solution"] == {"x": 97, "y": 103}


def test_decimals_are_exact() -> None:
    """In floating point 0.1 + 0.2 is not 0.3."""
    raw = {"variables": {"a": [0.1, 0.4], "b": [0.2, 0.5]}, "constraints": ["a + b = 0.3"]}
    assert solve(METHOD, raw).detail["solution"] == {"a": 0.1, "b": 0.2}


def test_true_counts_as_one() -> None:
    raw = {"variables": {"flag": [True, False], "n": [0, 1, "one"]}, "constraints": ["flag", "n = flag or n = one"]}
    assert solve(METHOD, raw).detail["solutions"] == [{"flag": True, "n": 1}, {"flag": True, "n": "one"}]


def test_words() -> None:
    text = """
variables: {day: [monday, friday], room: [small, 'main hall'], chairs: [20, 80]}
constraints: [if room is 'main hall' then day is not friday, "chairs = if room = small then 20 else 80", chairs = 80]
ask: room
"""
    answer = solve_yaml(METHOD, text)
    assert answer.conclusion == ("choice", "main hall", (), None, "", "room")
    assert answer.detail["same_in_all"] == {"day": "monday", "room": "main hall", "chairs": 80}


def test_order_and_chains() -> None:
    assert parse_expression("a or b and not c -> d", "") == parse_expression("(a or (b and (not c))) -> d", "")
    assert parse_expression("1 - 2 - 3 = -4", "") == parse_expression("(1 - 2) - 3 = -(4)", "")
    chain = {"variables": dict.fromkeys("abcd", "1..4"), "constraints": ["a < b < c < d"]}
    assert solve(METHOD, chain).detail["solution"] == {"a": 1, "b": 2, "c": 3, "d": 4}


def test_only_what_clashes_is_named() -> None:
    raw = {
        "variables": {"a": "1..5", "b": "1..5", "c": "1..5"},
        "constraints": ["c != 3", "a < b", "b + c <= 9", "b < a", "a != c"],
    }
    answer = solve(METHOD, raw)
    assert answer.detail["conflict"] == ["a < b", "b < a"]
    assert answer.summary == "no values meet all constraints: 2 of 5 clash: a < b, b < a"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("variables: {a: []}", "variables.a: must be a list of values or a range"),
        ("variables: {a: 5..1}", "variables.a: 5..1 is empty"),
        ("variables: {a: [1, 1]}", "variables.a: a value occurs twice"),
        ("variables: {a: colours}", "variables.a: 'colours' is no range"),
        ("variables: {a: 1..20000}", "variables.a: 20,000 values are too many; the limit is 10,000"),
        ("variables: {my day: [1]}", "variables: 'my day' cannot be used in a formula"),
        ("variables: {a: [red]}\nconstraints: [a = rad]", "constraints[1]: unknown variable or value 'rad'"),
        ("variables: {a: 1..3}\nconstraints: [a = 1, a +]", "constraints[2]: ends too early"),
        ("variables: {a: 1..3}\nconstraints: [a + 1]", "constraints[1]: is no condition"),
        ("variables: {a: 1..3}\nconstraints: [a and a = 1]", "constraints[1]: is no condition"),
        ("variables: {a: [x]}\nconstraints: [a < 3]", "constraints[1]: cannot be computed for these values"),
        ("variables: {a: 1..3}\nconstraints: [__import__(a)]", "constraints[1]: unknown function '__import__'"),
        ("variables: {a: 1..3}\nconstraints: [a.b = 1]", "constraints[1]: cannot read '.b = 1'"),
        ("variables: {a: 1..3}\nask: b", "ask: unknown variable 'b'"),
    ],
)  # fmt: skip
def test_bad_input(text: str, said: str) -> None:
    assert refused(METHOD, text) == said


def test_hostile_expressions_are_refused() -> None:
    for said, why in (
        ("(" * 900 + "a" + ")" * 900, "nests deeper than 30 levels"),
        ("a" + " / a" * 400 + " = 1", "more than 100 of"),
        ("a" * 3000, "at most 2000 characters"),
    ):
        assert why in refused(METHOD, f"variables: {{a: 1..2}}\nconstraints: ['{said}']")
    long = {"variables": {"a": "1..2"}, "constraints": ["a" + " + a" * 400 + " = 802"]}
    assert solve(METHOD, long).detail["solution"] == {"a": 2}


def test_a_search_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten pigeons in nine holes, told pair by pair, is hard for every search of this kind."""
    monkeypatch.setattr("mabos_cli.reasoning.formal.constraint_search.Search.__init__.__defaults__", (20_000,))
    names = [f"p{n}" for n in range(10)]
    pairs = ", ".join(f"{a} != {b}" for a, b in combinations(names, 2))
    text = f"variables: {{{', '.join(f'{name}: 1..9' for name in names)}}}\nconstraints: [{pairs}]"
    assert refused(METHOD, text).startswith("constraints: no result after")
    together = text.split("constraints")[0] + f"constraints: ['all_different({', '.join(names)})']"
    assert solve_yaml(METHOD, together).conclusion.value is False


def test_more_solutions_than_can_be_counted() -> None:
    answer = solve(METHOD, {"variables": {f"x{n}": "0..9" for n in range(6)}})
    assert answer.detail["count"] == 10_000 and not answer.detail["count_is_complete"]
    assert answer.caveats == ("not all solutions were counted: the search stops at a limit",)
