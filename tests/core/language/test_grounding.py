"""What a model may not do to what it was told: invent, deny, wander off, leave out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mabos_cli.core.language.similar import find_fault, find_merge_fault, may_be_one, numbers_of

SEATS = "A seat costs 20 EUR a month"
TEAM = "The team has 12 people in Lisbon"


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("twelve people, twenty-one seats", {"12", "21"}),
        ("1,000 and 1000 and 01000", {"1000"}),
        ("2.50 or 2,5", {"2.5", "2,5"}),
        ("one of them, v2, 0", {"2", "0"}),
        ("due 2026-02-03", {"2026", "2", "3"}),
        ("no number at all", set()),
    ],
)
def test_numbers_however_they_are_written(text: str, numbers: set[str]) -> None:
    assert numbers_of(text) == numbers


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("A seat costs 20 EUR a month, and the team of twelve is in Lisbon", ""),
        ("A seat costs 25 EUR a month, and the team is in Lisbon", "number"),
        ("A seat costs thirty EUR a month, and the team is in Lisbon", "number"),
        ("A seat does not cost 20 EUR a month, and the team is in Lisbon", "denies"),
        ("A seat costs 20 EUR a month", "leaves out"),
        ("I am sorry, but I cannot help with that request", "denies"),
        ("Sure! Here is your requested summary of everything", "something else"),
        ("...", "something else"),
    ],
)
def test_fault_of_a_text_about_two_memories(text: str, fault: str) -> None:
    found = find_fault(text, [SEATS, TEAM], keep=0.2)
    assert fault in found and bool(found) == bool(fault)


def test_what_was_denied_may_be_denied_again() -> None:
    assert find_fault("Berlin does not ship", ["We don't ship from Berlin"]) == ""


def test_relatives_are_worth_a_question_unless_one_denies_the_other() -> None:
    assert may_be_one("The limit is 50 a day", "The limit is 60 a day", same_numbers=False)
    assert not may_be_one("The limit is 50 a day", "The limit is 60 a day", same_numbers=True)
    assert not may_be_one("Backups run nightly", "Backups never run", same_numbers=False)
    assert may_be_one("Payments are important", "The payment is important", same_numbers=True)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("The database is restored nightly at 2 from the backup", ""),
        ("The database is restored nightly from the backup", "leaves out a number"),
        ("The database is restored nightly at 2 and at 4 from the backup", "number that is not"),
        ("The database at 2", "leaves out something"),
    ],
)
def test_merged_text_loses_no_number(text: str, fault: str) -> None:
    found = find_merge_fault(
        text, "The database is restored nightly at two", "The database is restored from the backup"
    )
    assert fault in found and bool(found) == bool(fault)


def test_merged_text_keeps_a_denial() -> None:
    a, b = "We do not ship to Norway by sea", "We do not ship to Norway by plane"
    assert find_merge_fault("We ship to Norway by sea or plane", a, b) == "its text does not deny what was denied"
    assert find_merge_fault("We do not ship to Norway by sea or plane", a, b) == ""


WORDS = st.text("abcdefghijklmnopqrstuvwxyzäé", min_size=1, max_size=8)


@given(st.lists(st.lists(WORDS, min_size=1, max_size=6).map(" ".join), min_size=1, max_size=4))
def test_what_is_said_word_for_word_has_no_fault(sources: list[str]) -> None:
    assert find_fault(" ".join(sources), sources, keep=1.0) == ""


@given(st.text(), st.lists(st.text(), min_size=1, max_size=4))
def test_any_text_is_judged(text: str, sources: list[str]) -> None:
    found = find_fault(text, sources, keep=0.5)
    assert found == "" or found.startswith("its text ")
