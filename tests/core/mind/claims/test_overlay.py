"""Claims in other words: the ways in which two might exclude each other, and what the model makes of beliefs."""

import pytest

from mabos_cli.core.mind.claims.claim import read_claims
from mabos_cli.core.mind.claims.overlay import days_of
from mabos_cli.core.mind.conflicts import find_conflicts
from mabos_cli.core.mind.mind import Belief
from mabos_cli.services.mind.conflict_model import open_conflict_model


def kinds_of(one: tuple[str, str], two: tuple[str, str]) -> list[str]:
    beliefs = [Belief(subject, text, 0.9, line=line) for line, (subject, text) in enumerate((one, two), 1)]
    return [conflict.kind for conflict in find_conflicts(beliefs, model=open_conflict_model())]


@pytest.mark.parametrize(
    ("one", "two", "kind"),
    [
        (("Fleet", "The airline flies 42 aircraft."), ("Fleet size", "There are 37 aircraft in the fleet."), "number"),
        (("Premiere", "The film's premiere is on 8 October."), ("Film premiere", "The film is first shown on 22 October."), "date"),
        (("Insurer", "We are insured with Allianz."), ("Insurance", "Our insurer is Zurich."), "value"),
        (("Pool", "The hotel has a pool."), ("Hotel", "There is no pool at the hotel."), "negation"),
        (("Stock count", "Stock is counted on Mondays only."), ("Stock", "Stock is counted on Fridays."), "date"),
    ],
)  # fmt: skip
def test_beliefs_in_other_words_exclude_each_other(one: tuple[str, str], two: tuple[str, str], kind: str):
    assert kinds_of(one, two) == kinds_of(two, one) == [kind]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (("Hall", "The hall was built by Strabag."), ("Hall", "The hall is managed by Immo Süd.")),
        (("Ward 3", "Visiting hours end at 19:00."), ("Ward 8", "Visiting hours end at 20:30.")),
        (("Closing", "We close at 6 pm."), ("Closing time", "The shop closes at 18:00.")),
        (("Turnover", "In 2023 we sold 300 cars."), ("Turnover", "In 2024 we sold 340 cars.")),
    ],
)
def test_beliefs_about_two_things_do_not(one: tuple[str, str], two: tuple[str, str]):
    assert kinds_of(one, two) == kinds_of(two, one) == []


def test_days_between_two_count():
    assert days_of(read_claims("Open Friday to Monday")[0]) == {4, 5, 6, 0}
