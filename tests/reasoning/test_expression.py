"""Formulas: precedence against Python's own, and what is refused."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core import BadValue
from mabos_cli.reasoning.expression import check_names, parse_formula


def run(said: str, **values: object) -> object:
    return parse_formula(said, values, "f").value(values, "f")


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("1 + 2 * 3", 7),
        ("8 / 2 / 2 - 1 - 1", 0),
        ("2 ^ 3 ^ 2", 512),
        ("-2 ^ 2", -4),
        ("2 ^ -1", 0.5),
        ("(1 + 2) * -3", -9),
        ("50% * 1_000", 500),
        ("min(3, 1, 2) + max(1, 2)", 3),
        ("if(1 > 2, 1 / 0, 5)", 5),
        ("not 1 = 2 and 2 <= 2", 1),
        ("1 or 1 / 0", 1),
        ("0 and 1 / 0", 0),
        ("abs(-3) + sqrt(16) + log(exp(1)) + floor(2.7) + ceil(2.1)", 3 + 4 + 1 + 2 + 3),
        ("'north' == 'north'", 1),
        ("1.5e3", 1500),
        ("1 < 2 < 3", 1),
        ("if 1 > 2 then 1 else 7 % 4", 3),
        ("if (1 < 2) and 2 < 3 then 4 else 5", 4),
        ("count(1 < 2, 2 < 1, true)", 2),
    ],
)
def test_values(said: str, value: float) -> None:
    assert run(said) == pytest.approx(value)


numbers = st.integers(0, 9).map(str)
formulas = st.recursive(
    numbers,
    lambda below: st.one_of(
        st.tuples(below, st.sampled_from(["+", "-", "*", "<", ">="]), below).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(below, st.sampled_from(["+", "-", "*"]), below).map(lambda t: f"{t[0]} {t[1]} {t[2]}"),
        below.map(lambda one: f"-({one})"),
    ),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(formulas)
def test_arithmetic_is_that_of_python(said: str) -> None:
    assert run(said) == eval(said, {"__builtins__": {}})


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("", "ends too early"),
        ("1 +", "ends too early"),
        ("(1", "expected ) at its end"),
        ("1 2", "expected an operator at '2'"),
        ("prize * 2", "unknown name 'prize'"),
        ("__import__('os')", "unknown function '__import__'"),
        ("price.real", "cannot read '.real'"),
        ("if(1, 2)", "if needs a condition and two values"),
        ("sqrt(1, 2)", "sqrt takes 1 value, not 2"),
        ("1 / (price - price)", "divides by 0 at price=2"),
        ("log(0)", "has no value"),
        ("(0 - 8) ^ 0.5", "has no value"),
        ("exp(10000)", "has no value"),
        ("1e900", "is too large"),
        ("1e200 * 1e200", "is too large"),
        ("'a' + 1", "computes with a text"),
        ("(" * 60 + "1" + ")" * 60, "nests deeper than 30 levels"),
        ("2 ^ " * 60 + "1", "nests deeper than 30 levels"),
        ("1 + " * 900 + "1", "at most 2000 characters"),
    ],
)
def test_refusals(said: str, why: str) -> None:
    with pytest.raises(BadValue) as caught:
        run(said, price=2.0)
    assert why in caught.value.message


def test_long_chains_do_not_nest() -> None:
    assert run("+".join(["1"] * 900)) == 900
    assert run("-" * 1500 + "1") == 1
    assert math.isclose(run("*".join(["x"] * 900), x=1.0), 1)


def test_names_that_a_formula_cannot_hold() -> None:
    check_names(["unit_price", "größe"], "variables")
    for name in ("unit price", "then", "a-b"):
        with pytest.raises(BadValue, match="cannot be used in a formula"):
            check_names([name], "variables")


@pytest.mark.parametrize(
    ("said", "found"), [("round(2.5)", 3), ("round(-2.5)", -3), ("round(0.4)", 0), ("round(7)", 7)]
)
def test_half_is_rounded_up(said: str, found: float) -> None:
    assert run(said) == found
