"""Facts in place of events: which are accepted, and how they take the events' places."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mabos_cli.core.hierarchy.log_event import LogEvent
from mabos_cli.core.hierarchy.log_taking import (
    CATEGORIES,
    SECTIONS,
    Extract,
    LogDay,
    Rules,
    cover,
    find_candidates,
    find_fact,
    mark_of,
    plan_taking,
    portions,
)
from mabos_cli.core.language.text import fold

RULES = Rules(date(2026, 2, 24), 7 * 86400)
TEXTS = ("We bill per seat", "Stripe handles SEPA for 3 countries", "Ann leads the Lisbon office")


def candidates(*texts, day="2026-02-10"):
    events = [LogEvent(day, n, text, "decision", importance=0.7) for n, text in enumerate(texts, 1)]
    return find_candidates([(event, f"memory/{day}.md") for event in events], (), RULES)


def plan(found, **known):
    days = [LogDay("2026-02-10", "d", len(found), tuple(found))]
    return plan_taking(days, 0.6, **{"keys": (), "marks": (), "ids": (), "texts": ()} | known)


def extract(content="We bill per seat through Stripe, which handles SEPA", events=(1, 2), **fields):
    given = {"category": "decision", "importance": 0.9, "confidence": 0.9, **fields}
    return Extract(content, given["category"], given["importance"], given["confidence"], events)


def fact(*args, **fields):
    return find_fact(extract(*args, **fields), candidates(*TEXTS), "llm:m")


def test_a_fact_rests_on_its_events():
    found = fact()
    assert [c.event.line for c in found.events] == [1, 2]
    assert (found.section, found.author) == ("Important Decisions", "llm:m")
    assert found.importance == 0.7  # as its events, whatever the model says
    assert fact(importance=0.2).importance == 0.2


@pytest.mark.parametrize(
    "doubtful",
    [
        extract("We bill per seat in 4 countries through Stripe"),
        extract("We do not bill per seat through Stripe"),
        extract("Everything is going well with the whole enterprise"),
        extract("We bill per seat", events=(1, 3)),  # it says nothing of the third
        extract(confidence=0.4),
    ],
)
def test_no_fact(doubtful):
    assert find_fact(doubtful, candidates(*TEXTS), "llm:m") is None


def test_every_category_has_a_section():
    found = [fact(category=category).section for category in CATEGORIES]
    assert set(found) <= set(SECTIONS) and len(set(found)) == len(CATEGORIES)


def test_facts_take_the_places_of_their_events():
    taking = plan(candidates(*TEXTS))
    covered = cover(taking, [fact()], marks=(), texts=())
    assert covered.taken == taking.taken
    assert [c.event.text for c in covered.lines] == [TEXTS[2]]
    assert covered.facts == (fact(),)
    # The ledger knows the events by their keys as always, and the fact by what it says.
    assert covered.days[0].taken == taking.days[0].taken
    assert covered.days[0].marks == (*taking.days[0].marks, mark_of(fact().content))


def test_a_fact_of_which_an_event_is_not_taken_is_left():
    found = candidates(*TEXTS)
    taking = plan(found, keys=(found[0].key,))
    covered = cover(taking, [fact()], marks=(), texts=())
    assert covered.facts == () and covered.lines == taking.taken == found[1:]


@pytest.mark.parametrize("how", ["marks", "texts", "twice"])
def test_a_known_fact_is_not_said_again(how):
    content = fact().content
    known = {"marks": [mark_of(content)] * (how == "marks"), "texts": [fold(content)] * (how == "texts")}
    facts = [fact()] * (2 if how == "twice" else 1)
    covered = cover(plan(candidates(*TEXTS)), facts, **known)
    assert len(covered.facts) == (how == "twice")
    assert [c.event.text for c in covered.lines] == [TEXTS[2]]


def test_facts_of_the_same_event_have_names_of_their_own():
    one, two = fact("We bill per seat", events=(1,)), fact("We bill each seat", events=(1,))
    assert one.key != two.key and one.key.startswith("log-")


@given(st.lists(st.integers(1, 20_000), max_size=80), st.integers(1, 700))
def test_portions_hold_every_event_once_and_are_bounded(sizes, width):
    found = candidates(*("x" * size for size in sizes))
    parts = list(portions(found, width))
    assert [c for part in parts for c in part] == list(found)
    for part in parts:
        told = sum(min(len(c.event.text), width) for c in part)
        assert 0 < len(part) <= 30 and (told <= 8000 or len(part) == 1)
