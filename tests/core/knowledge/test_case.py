"""Cases as values: what makes sense, what is the same, what an adaptation takes over."""

import pytest

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.case import Case, adapt_case, check_case, is_same_case, parse_metric

BASE = Case("C-001", ("B-1", "B-2"), ("D-1",), "Churn rose", "P-1", ("call", "write"), True, (("churn", 0.1),), "call")


def test_a_case_is_put_in_order():
    case = BASE._replace(id="", beliefs=(" B-1 ", "B-1", ""), context=" Churn ", actions=(" call ", "  "))
    made = check_case(case)
    assert (made.beliefs, made.context, made.actions) == (("B-1",), "Churn", ("call",))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"beliefs": (), "desires": (), "context": " "}, "the situation is empty"),
        ({"plan_id": "", "actions": (" ",)}, "the solution is empty"),
        ({"beliefs": ("a\nb",)}, "bad belief"),
        ({"beliefs": tuple(map(str, range(1001)))}, "more than 1000"),
        ({"context": "x" * 20_001}, "bad context"),
        ({"lessons": "a\0b"}, "bad lessons"),
        ({"metrics": (("churn", float("inf")),)}, "bad metric"),
        ({"metrics": (("", 1),)}, "bad metric"),
    ],
)
def test_what_makes_no_sense_is_refused(changes, told):
    with pytest.raises(BadValue, match=told):
        check_case(BASE._replace(**changes))


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"beliefs": ("B-2", "B-1", "B-2")}, True),
        ({"context": "  churn   ROSE!"}, True),
        ({"actions": ("Call", "write.")}, True),
        ({"success": False, "metrics": (), "lessons": "", "id": "C-9", "stored_at": "x"}, True),
        ({"beliefs": ("B-1",)}, False),
        ({"desires": ()}, False),
        ({"context": "Churn rose twice"}, False),
        ({"plan_id": "P-2"}, False),
        ({"actions": ("write", "call")}, False),
    ],
)
def test_equal_situation_and_solution_are_the_same_case(changes, same):
    assert is_same_case(BASE, BASE._replace(**changes)) is same


def test_an_adaptation_takes_what_is_not_given_but_not_the_outcome():
    made = adapt_case(BASE, Case("", desires=("D-9",), actions=("visit",)))
    assert made == Case("", ("B-1", "B-2"), ("D-9",), "Churn rose", "P-1", ("visit",), adapted_from="C-001")


def test_metrics():
    assert parse_metric("days=3") == ("days", 3) and isinstance(parse_metric("days=3")[1], int)
    assert parse_metric("share=3.0") == ("share", 3.0) and isinstance(parse_metric("share=3.0")[1], float)
    assert parse_metric("a b=-1e3") == ("a b", -1000)
    for bad in ("churn", "=1", "churn=", "churn=high", "churn=nan", "churn=1e999"):
        with pytest.raises(BadValue, match="as a metric"):
            parse_metric(bad)
