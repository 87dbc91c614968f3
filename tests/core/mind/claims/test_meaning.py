"""Claims in other words: what excludes what, and what only looks so."""

import pytest

from mabos_cli.core.mind.claims.claim import read_claims
from mabos_cli.core.mind.claims.meaning import differ
from mabos_cli.core.mind.conflicts import find_conflicts
from mabos_cli.core.mind.mind import Belief


def kind_of(one: str, two: str) -> str:
    found = differ(read_claims(one)[0], read_claims(two)[0])
    return found.kind if found else ""


@pytest.mark.parametrize(
    ("one", "two", "kind"),
    [
        ("A guest card admits up to four people to the pool", "The pool lets in six people per guest card", "number"),
        ("The main hall of the Old Mint is rented from Ferrari", "Only Rossi rents out the main hall of the Old Mint", "value"),
        ("The registered seat of Bluebird Freight is in Genoa", "Bluebird Freight has its registered seat in Turin", "value"),
        ("Visitors pay a fee of 5 EUR at the museum garage", "No fee is charged to visitors at the museum garage", "negation"),
        ("Pruning of the Riesling vines starts on 3 February", "The Riesling vine pruning begins on 20 February", "date"),
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
    ],
)
def test_claims_about_two_things_do_not(one: str, two: str):
    assert kind_of(one, two) == kind_of(two, one) == ""


def test_beliefs_under_other_headings_meet():
    one = Belief("Gate rules", "A guest card admits up to four people to the pool.", 0.9, line=1)
    two = Belief("Guest cards", "The pool lets in six people per guest card.", 0.8, line=2)
    assert [conflict.kind for conflict in find_conflicts([one, two])] == ["number"]
