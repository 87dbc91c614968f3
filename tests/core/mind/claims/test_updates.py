"""A later statement takes an earlier one's place only where one value follows another; nothing else loses its place."""

import json
from itertools import permutations
from pathlib import Path

import pytest

from mabos_cli.core.language.similar import may_update
from mabos_cli.core.mind.claims.updates import _changes, find_update

SETS = json.loads((Path(__file__).parents[4] / "fixtures" / "updates.json").read_text("utf-8"))

NEWER = [
    ("Yara leads support since May", "Omar leads support now"),
    ("Tomasz handles payroll since June", "Helena took over payroll from Tomasz"),
    ("The API rate limit is 600 requests a minute", "We raised the API rate limit to 1,000 requests a minute"),
    ("Dana lives in Berlin", "Dana moved to Lisbon"),
    ("Dana moved to Lisbon", "Dana moved to Porto"),
    ("Lea is a junior developer", "Lea was promoted to senior developer"),
    ("Hugo works for Bayer", "Hugo left Bayer"),
    ("The site is hosted on Heroku", "The site has been migrated to Vercel"),
    ("The lease ends in March", "The lease was extended to September"),
    ("The monthly fee is 20 EUR", "The monthly fee went up to 25 EUR"),
    ("Lunch is at noon", "Lunch is at 12:30 from now on"),
    ("Tests run on Python 3.10", "Tests run on Python 3.12"),
    ("Timo is the captain", "Jule is the captain"),
    ("User prefers dark mode", "User prefers light mode"),
    ("User wants answers in English", "User wants answers in German"),
    ("The main branch is called master", "The main branch is called main"),
    ("Backups are encrypted", "Backups are not encrypted"),
    ("Rick smokes", "Rick stopped smoking"),
]
BOTH = [
    ("Jonas likes payroll", "Helena took over payroll"),
    ("The API rate limit is 600 requests a minute", "We raised the budget to 1,000 euros"),
    ("Dana lives in Berlin", "Dana's sister moved to Lisbon"),
    ("Dana works at Siemens", "Dana moved to Lisbon"),
    ("Kai moved the meeting to Tuesday", "Kai moved the workshop to Thursday"),
    ("Anna manages billing", "Anna now also manages support"),
    ("Lena is in Paris", "Lena is in a meeting"),
    ("Alice is an owner of the repo", "Bob is an owner of the repo"),
    ("One of our customers is Acme", "One of our customers is Globex"),
    ("The price for 10 seats is 100 EUR", "The price for 50 seats is 400 EUR"),
    ("The app supports iOS 15", "The app supports iOS 16"),
    ("We bill customer number 4 per seat", "We bill customer number 5 per seat"),
    ("We ship order 12 on Monday", "We ship order 13 on Monday"),
    ("Zoe's son is called Max", "Zoe's son is called Paul"),
    ("The newsletter is written by Eva", "The newsletter is sent with Mailchimp"),
    ("Ben sold 3 bikes", "Ben sold 5 bikes"),
    ("The stand-up starts at 9:30 am", "The stand-up begins at half past nine in the morning"),
    ("Dana might move to Oslo", "Dana might move to Bergen"),
    ("Dana lives in Berlin. She has two cats.", "Dana moved to Lisbon"),
    ("The gate was never closed", "~~~\nx\n~~~"),
]


@pytest.mark.parametrize(("older", "newer"), NEWER)
def test_another_value_of_the_same_is_newer(older: str, newer: str) -> None:
    assert find_update(older, newer)
    assert may_update(older, newer), "it would not even be looked at"


@pytest.mark.parametrize(("older", "newer"), BOTH)
def test_what_can_both_be_so_stays(older: str, newer: str) -> None:
    assert find_update(older, newer) == ""


def test_a_number_that_was_measured_again_is_no_update() -> None:
    pair = "The queue has 20 jobs", "The queue has 35 jobs"
    assert find_update(*pair) and not find_update(*pair, measured=True)
    assert find_update(pair[0], "The queue now has 35 jobs", measured=True)


def test_siblings_take_no_place_of_one_another() -> None:
    pairs = (pair for pair in permutations(SETS["siblings"][:40], 2) if may_update(*pair))
    assert [pair for pair in pairs if find_update(*pair)] == []


def test_labelled_pairs_are_told_apart() -> None:
    for row in SETS["pairs"]:
        assert bool(find_update(row["a"], row["b"])) == (row["label"] == "newer"), row


def test_every_verb_of_change_is_looked_at() -> None:
    assert [verb for verb in _changes() if not may_update("Dana has cats", f"Dana {verb} to another place")] == []
