"""Claims in other words: what excludes what, and what only looks so."""

import pytest

from mabos_cli.core.mind.claims.claim import read_claims
from mabos_cli.core.mind.claims.disagreement import disagree
from mabos_cli.core.mind.conflicts import find_conflicts
from mabos_cli.core.mind.mind import Belief


def kind_of(one: str, two: str) -> str:
    found = disagree(read_claims(one)[0], read_claims(two)[0])
    return found.kind if found else ""


@pytest.mark.parametrize(
    ("one", "two", "kind"),
    [
        ("A guest card admits up to four people to the pool", "The pool lets in six people per guest card", "number"),
        ("The main hall of the Old Mint is rented from Ferrari", "Only Rossi rents out the main hall of the Old Mint", "value"),
        ("The registered seat of Bluebird Freight is in Genoa", "Bluebird Freight has its registered seat in Turin", "value"),
        ("Visitors pay a fee of 5 EUR at the museum garage", "No fee is charged to visitors at the museum garage", "negation"),
        ("Pruning of the Riesling vines starts on 3 February", "The Riesling vine pruning begins on 20 February", "date"),
        ("Flights to the island are cleared by Ada", "Bo clears flights to the island", "value"),
        ("The surf class is on Tuesdays and Thursdays", "The surf class is on Mondays", "date"),
        ("The kiosk opens Monday to Friday", "The kiosk opens on Sundays", "date"),
        ("We send one letter a month to the members", "Letters to the members go out every week", "number"),
        ("The jetty carries 600 people at once", "The jetty carries 900 people", "number"),
        ("The nightly import finishes in under a minute", "The nightly import takes 20 minutes or more", "number"),
        ("Every lifeguard has a whistle", "Lifeguard Ines has no whistle", "negation"),
        ("Dogs may swim in the castle lake", "No dogs in the castle lake, the new warden says", "negation"),
        ("The lake is deep", "Our lake is quite shallow", "antonym"),
        ("The lake closes on the last day of October", "The lake closes on 12 October", "date"),
    ],
)  # fmt: skip
def test_claims_about_one_thing_exclude_each_other(one: str, two: str, kind: str):
    assert kind_of(one, two) == kind_of(two, one) == kind


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("The day pass of the pool admits four people", "The season pass of the pool admits six people"),
        ("In fog the harbour crane is run by two people", "In wind the harbour crane is run by three people"),
        ("Most guides of the harbour tour hold a licence", "The harbour tour guide Ada Blum holds no licence"),
        ("Only Ada signs contracts of the harbour tour", "Bo does not sign contracts of the harbour tour"),
        ("The harbour tour lasts 90 minutes", "By 2030 the harbour tour is to last 120 minutes"),
        ("Members of the club pay no entry fee", "Old members of the club pay an entry fee"),
        ("The limit for a loan is 900 EUR", "A loan of 700 EUR was paid out"),
        ("The repair of the jetty was estimated at 900 EUR", "The repair of the jetty cost 1,200 EUR"),
        ("Twelve of the lifeguards are paid", "Forty lifeguards are paid"),
        ("Kayaks are rented by the hour", "Rowing boats are not rented by the hour"),
        ("We rent kayaks from Ferro", "We also rent kayaks from Lund"),
        ("Until the end of May the lake is closed", "Since 1 June the lake is open"),
        ("The jetty is 20 metres long", "The jetty is 3 metres wide"),
        ("The kiosk opens on weekdays", "The kiosk opens Monday to Friday"),
        ("The club has 80 members", "Ten years ago the club had 45 members"),
        ("The hut sleeps twelve guests", "In 1990 the hut slept thirty guests"),
    ],
)
def test_claims_about_two_things_do_not(one: str, two: str):
    assert kind_of(one, two) == kind_of(two, one) == ""


def test_beliefs_under_other_headings_meet():
    one = Belief("Gate rules", "A guest card admits up to four people to the pool.", 0.9, line=1)
    two = Belief("Guest cards", "The pool lets in six people per guest card.", 0.8, line=2)
    assert [conflict.kind for conflict in find_conflicts([one, two])] == ["number"]


@pytest.mark.parametrize(
    ("one", "two", "kinds"),
    [
        # A value says something with its heading.
        (("Time a firing takes in the big kiln", "14 hours"), ("Big kiln, firing: start to finish", "a day and a half"), ["number"]),
        (("Does a tag on main start an upload?", "yes, automatically"), ("Upload after a tag on main", "never happens by itself"), ["negation"]),
        (("Guests who book by telephone", "8 of 10"), ("Guests who want breakfast", "3 of 10"), []),
        (("Wheat bread", "not baked today"), ("Rye bread", "baked with caraway")  , []),
        # What a text says of its heading is about what the heading names.
        (("Harbour fund", "Applications close on 3 May."), ("Harbour fund application", "It has to be in by 20 May."), ["date"]),
        (("Boat licence", "Adults need one."), ("Boat licence", "Children need two."), []),
        # Who is the one for it.
        (("Rope supplier", "Our rope comes from Ferro."), ("Rope", "We order the rope from Lund."), ["value"]),
    ],
)  # fmt: skip
def test_headings_belong_to_what_is_said(one: tuple[str, str], two: tuple[str, str], kinds: list[str]):
    beliefs = [Belief(*one, 0.9, line=1), Belief(*two, 0.8, line=2)]
    assert [conflict.kind for conflict in find_conflicts(beliefs)] == kinds


def test_the_about_column_is_the_heading_of_a_statement():
    one = Belief("It is held in Kiel.", "", 0.9, line=1, about="Spring fair")
    two = Belief("It is held in Lyon.", "", 0.8, line=2, about="The spring fair")
    assert [conflict.kind for conflict in find_conflicts([one, two])] == ["value"]
    assert find_conflicts([one, two._replace(about="Autumn fair")]) == []


def test_when_something_was_written_down_is_no_part_of_it():
    one = Belief("Keys", "The keys hang in the hall. Recorded: 2025-02-01", 0.9, line=1)
    assert (
        find_conflicts([one, one._replace(text="The keys hang in the hall. Last reviewed: 2026-02-01", line=2)]) == []
    )
