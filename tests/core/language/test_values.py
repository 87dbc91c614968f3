"""Objects of facts compare as numbers, money, percentages, dates and times, and else as text."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mabos_cli.core.knowledge.rule import OPERATORS
from mabos_cli.core.language.values import compare, find_value


@pytest.mark.parametrize(
    ("text", "kind", "unit", "amount"),
    [
        ("1,200.5", "number", "", 1200.5),
        ("-3", "number", "", -3),
        ("+3", "number", "", 3),
        ("1.2e3", "number", "", 1200),
        ("50k", "number", "", 50_000),
        ("2.4M", "number", "", 2_400_000),
        ("1.5 bn", "number", "", 1_500_000_000),
        (".5", "number", "", 0.5),
        ("0", "number", "", 0),
        ("1e-3", "number", "", 0.001),
        ("$50,000", "money", "USD", 50_000),
        ("US$ 5", "money", "USD", 5),
        ("EUR 12", "money", "EUR", 12),
        ("12 €", "money", "EUR", 12),
        ("12 EUR", "money", "EUR", 12),
        ("-$5.50", "money", "USD", -5.5),
        ("$-5", "money", "USD", -5),
        ("£2.4m", "money", "GBP", 2_400_000),
        ("12 %", "percent", "", 12),
        ("-0.5%", "percent", "", -0.5),
        ("1970-01-02", "time", "", 86400),
        ("1970-01-01T00:01:00Z", "time", "", 60),
        ("1970-01-01 01:00:00+01:00", "time", "", 0),
        ("14:30", "clock", "", 52200),
    ],
)
def test_what_texts_stand_for(text, kind, unit, amount):
    assert find_value(text) == (kind, unit, amount)


@pytest.mark.parametrize(
    "text",
    ["", "US", "acme", "v2", "007", "01234", "1,20", "1,2000", "12 13", "5 b", "5k m", "$", "%", "k", "1.2.3", "--3", "-$-3",
     "$5 €", "2026-13-01", "2026-02-30", "25:00", "20 apples", "٣", "1e999", "ABC 12", "e5", "NaN", "inf", "9" * 200],
)  # fmt: skip
def test_what_stands_for_nothing(text):
    assert find_value(text) is None
    assert not any(compare(operator, text, "5") for operator in ("gt", "gte", "lt", "lte"))


@pytest.mark.parametrize(
    ("left", "operator", "right", "holds"),
    [
        ("$50,000", "gt", "$12k", True),
        ("$50,000", "gt", "€12k", False),
        ("$50,000", "lt", "€12k", False),
        ("$50,000", "gt", "12", True),
        ("12", "lt", "$50,000", True),
        ("$12", "gt", "12 %", False),
        ("2026-02-24", "gt", "12", False),
        ("12 %", "gte", "12%", True),
        ("12 %", "gt", "5", True),
        ("2026-02-24", "lt", "2026-02-24T00:00:01Z", True),
        ("2026-02-24T01:00:00+02:00", "lt", "2026-02-24", True),
        ("9999-12-31", "gt", "0001-01-01", True),
        ("0001-01-01T00:00:00+14:00", "lt", "0001-01-01", True),
        ("09:30", "lt", "14:00:00", True),
        ("1,200", "eq", "1200.0", True),
        ("1200", "eq", "$1200", True),
        ("$1,200.50", "ne", "1200.5", False),
        ("12 %", "eq", "12", True),
        ("0.5 kg", "eq", "500 g", True),
        ("1 mi", "gt", "1.6 km", True),
        ("2 weeks", "gte", "14 days", True),
        ("90 min", "lt", "2 h", True),
        ("1 GiB", "gt", "1 GB", True),
        ("6 kg", "gt", "5", True),
        ("6 kg", "gt", "5 m", False),
        ("1 month", "lt", "40 days", False),
        ("5 kg", "eq", "$5", False),
        ("2026-02-24", "eq", "2026-02-24T00:00:00Z", True),
        ("$5", "eq", "€5", False),
        ("$5", "ne", "€5", True),
        ("Rome", "eq", "rome", False),
        ("007", "eq", "7", False),
        ("123456789012345678901", "eq", "123456789012345678902", False),
        ("123456789012345678901", "lt", "123456789012345678902", True),
        ("Senior Engineer", "contains", "engineer", True),
        ("Straße", "contains", "STRASSE", True),
        ("engineer", "contains", "Senior Engineer", False),
        ("5", "between", "3", False),
    ],
)
def test_comparisons(left, operator, right, holds):
    assert compare(operator, left, right) is holds


amounts = st.one_of(
    st.integers(-(10**30), 10**30).map(str),
    st.integers(0, 10**12).map(lambda n: f"${n:,}"),
    st.decimals(-1000, 1000, places=3).map(lambda n: f"{n:f} %"),
    st.dates().map(str),
    st.sampled_from(["acme", "007", "", "12 €", "€12.0", "1k", "1000", "1e3"]),
)


@given(amounts, amounts)
def test_orders_agree_with_each_other(a, b):
    assert compare("eq", a, b) is compare("eq", b, a) is not compare("ne", a, b)
    assert compare("gt", a, b) is compare("lt", b, a)
    assert compare("gte", a, b) is compare("lte", b, a)
    one, two = find_value(a), find_value(b)
    alike = one is not None and two is not None and one[:2] == two[:2]
    assert not alike or any(compare(operator, a, b) for operator in ("gt", "gte", "lt", "lte"))
    if alike:
        assert compare("gt", a, b) + compare("lt", a, b) + compare("eq", a, b) == 1


@given(amounts, amounts, amounts)
def test_orders_are_transitive(a, b, c):
    if len({value and value[:2] for value in map(find_value, (a, b, c))}) > 1:
        return  # a bare number lies between amounts that have no order of their own
    for operator in ("gt", "gte", "lt", "lte", "eq"):
        assert not (compare(operator, a, b) and compare(operator, b, c)) or compare(operator, a, c)


@given(st.integers(-(10**20), 10**20), st.integers(-(10**20), 10**20))
def test_numbers_compare_as_numbers_however_written(a, b):
    for left in (str(a), f"{a:,}", f"{a}.00"):
        for right in (str(b), f"{b:,}", f"{b}e0"):
            assert compare("lt", left, right) is (a < b)
            assert compare("eq", left, right) is (a == b)


@given(st.datetimes(datetime(1000, 1, 1), datetime(9000, 1, 1)), st.timedeltas(timedelta(0), timedelta(400000)))
def test_times_compare_as_times(at, more):
    one, two = at.replace(microsecond=0), (at + more).replace(microsecond=0)
    assert compare("lte", one.isoformat(), two.isoformat() + "Z")
    assert compare("eq", one.isoformat(), two.isoformat() + "+00:00") is (one == two)


@given(st.text(), st.text(), st.sampled_from(OPERATORS))
def test_any_text_can_be_compared(a, b, operator):
    assert compare(operator, a, b) in (True, False)
    assert compare("eq", a, a) and compare("contains", a + b, b)
