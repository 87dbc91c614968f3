import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.hierarchy.log_event import LogEvent
from mabos_cli.core.hierarchy.themes import Topic, count_topics, heading_topic, is_telling, topic_key, topics_of

quick = settings(max_examples=50, deadline=None, derandomize=True)


def event(text="", **fields):
    return LogEvent("2026-02-24", 3, text, **fields)


@pytest.mark.parametrize("text", ["tide-tables", "Tide tables", "#tide_tables", "tide/table", " TIDE  TABLES "])
def test_tag_heading_and_phrase_of_the_same_words_meet(text):
    assert topic_key(text) == topic_key("tide tables")


def test_empty_tags_have_no_key():
    assert [topic_key(text) for text in ("", "#", " - ", "/")] == ["", "", "", ""]
    assert topics_of(event(tags=("", "#", "--"))) == {}


def test_an_event_speaks_of_tags_headings_words_and_pairs_of_words():
    found = topics_of(event("The berth price rises.", tags=("berth-price",), heading="Winter storage"))
    assert found[topic_key("berth price")] == ("berth-price", True)
    assert found[topic_key("winter storage")] == ("Winter storage", True)
    assert found[topic_key("berth")] == ("berth", False)
    assert "the" not in found and not any("rises." in shown for shown, _ in found.values())


def test_phrases_do_not_reach_over_the_end_of_a_sentence_or_a_dull_word():
    assert topic_key("harbour winter") not in topics_of(event("To the harbour. Winter comes"))
    assert topic_key("harbour winter") not in topics_of(event("harbour of winter"))
    assert topic_key("harbour winter") in topics_of(event("harbour winter"))


def test_names_stay_whole():
    found = topics_of(event("Today Havel Foods called; then we met Brandt & Sons and New Havel Foods", tags=()))
    shown = {text for text, _ in found.values()}
    assert {"Havel Foods", "Brandt & Sons"} <= shown and not {"Foods", "Havel", "Sons", "Brandt"} & shown


def test_what_begins_a_sentence_belongs_to_a_name_unless_it_is_a_common_word():
    told = [event("Served Orlik late"), event("Havel Foods paid"), event("we served everybody")]
    shown = {topic.shown for topic in count_topics([(0, told)]).values()}
    assert {"Orlik", "Havel Foods"} <= shown and not {"Served Orlik", "Foods"} & shown


@pytest.mark.parametrize("word", ["the", "ok", "2026", "v2", "monday", "memory", "eur", "é2", "-x-"])
def test_dull_words_and_numbers_name_nothing(word):
    assert not is_telling(word)


@pytest.mark.parametrize("word", ["berth", "stripe", "café", "東京"])
def test_names_tell_something(word):
    assert is_telling(word)


@pytest.mark.parametrize("heading", ["", "  ", "Notes", "TODO", "**Summary**", "12:30", "x" * 61, "…", "---"])
def test_headings_that_name_nothing_are_no_topic(heading):
    assert heading_topic(heading) is None


def test_an_event_counts_once_however_often_it_says_a_word():
    [topic] = [t for key, t in count_topics([(0, [event("berth, berth; berth")])]).items() if key == "berth"]
    assert topic == Topic("berth", 1, 0, 1)


def test_topics_know_their_weekdays_and_who_named_them():
    found = count_topics([(0, [event("x", tags=("pricing",))]), (6, [event("pricing")] * 2)])
    assert found["pric"] == Topic("pricing", 3, 1, 0b1000001)


def test_words_are_shown_as_in_the_middle_of_a_sentence():
    assert count_topics([(0, [event("Berths are full"), event("all berths")])])["berth"].shown == "berths"


def test_what_is_named_stays_when_there_are_very_many_topics():
    crowd = [event(f"wort{'x' * n}a und wort{'x' * n}b") for n in range(1, 400)]
    found = count_topics([(0, [*crowd, event("x", tags=("pricing",))])])
    assert len(found) == 250 and found["pric"].named == 1
    assert list(found) == sorted(found)


words = st.lists(st.sampled_from("berth Berth price tide Tables storm the 2026".split()), max_size=4).map(" ".join)
tags = st.lists(st.sampled_from(("berth-price", "storm", "#tide")), max_size=2).map(tuple)
events = st.builds(event, words, tags=tags, heading=st.sampled_from(("", "Notes", "Storm", "tide tables")))


@quick
@given(st.lists(events, max_size=8), st.randoms(use_true_random=False))
def test_topics_do_not_depend_on_the_order_of_events(found, random):
    mixed = random.sample(found, len(found))
    assert count_topics([(2, found)]) == count_topics([(2, mixed)])
