"""Questions: what must be found as it is written, and whom they name."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core.language.text import asked_words, one_line, spaced, split_uncut, terms, words
from mabos_cli.core.search.question import (
    asked_for,
    asking_share,
    is_about_many,
    is_first_person,
    is_within,
    names_in,
    phrases,
    times_in,
    without,
)

quick = settings(deadline=None, derandomize=True)


def named(text):
    """What is to be found as it is written, whether it is sure or looks like it."""
    return [phrase for phrase, _ in phrases(text)]


def test_only_what_is_quoted_is_sure():
    assert phrases('"per seat" in ERR_42') == [("per seat", True), ("ERR_42", False)]


@pytest.mark.parametrize(
    "name",
    [
        "M-1771943400000-00a3",
        "ERR_42",
        "E1001",
        "ORA-00942",
        "HTTP2",
        "deploy.yml",
        "src/app.py",
        "agents/main/Beliefs.md",
        "Beliefs.md",
        "max_content_bytes",
        "v2.1",
        "1.2.3-rc1",
        "foo@example.com",
        "app.core.scoring",
        "C3PO",
        "sha256:deadbeef",
    ],
)
def test_names_of_things_are_found_as_written(name):
    assert named(f"what about {name} then?") == [name]
    assert named(name) == [name]


@pytest.mark.parametrize(
    "text",
    [
        "7:30",
        "7:30pm",
        "1st 2nd 3rd 4th",
        "42",
        "3.14",
        "1,000",
        "1990s",
        "10k",
        "5x faster",
        "long-term memory",
        "well-known and up-to-date",
        "per seat",
        "What happened?",
        "it's Ada's",
        "...",
        "-- - --",
        "",
    ],
)
def test_plain_words_and_numbers_are_not(text):
    assert named(text) == []


@pytest.mark.parametrize(
    "text",
    ["at 7 p.m. sharp", "e.g. this", "i.e. that", "and/or", "he/she said", "10km", "5kg of rice", "1.5h"],
)
def test_abbreviations_and_measures_are_not_either(text):
    assert named(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('why "per seat" now', ["per seat"]),
        ('"one two" and "three four"', ["one two", "three four"]),
        ('" padded  phrase "', ["padded  phrase"]),
        ('"..."', []),
        ('""', []),
        ('a "b', []),
        ('"ERR_42"', ["ERR_42"]),
        ('"two\nlines"', []),
        ('"東京" の天気', ["東京"]),
    ],
)
def test_quoted_phrases_are_found_as_written(text, found):
    assert named(text) == found


def test_a_full_stop_does_not_belong_to_a_name():
    assert named("It broke in src/app.py. Why?") == ["src/app.py"]
    assert named("(see ERR_42, and v2.1)") == ["ERR_42", "v2.1"]


def test_long_questions_are_read_at_the_beginning():
    assert named("word " * 10 + "ERR_42 " + "word " * 300_000) == ["ERR_42"]
    assert len(named("ERR_42 " * 200_000)) < 1000


# People

AUTHORS = ["Ada Lovelace", "Bob Stone", "李小龙", "Al", "user", "Caroline"]


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What did Ada say?", {"Ada Lovelace"}),
        ("what did ADA LOVELACE say", {"Ada Lovelace"}),
        ("What about Lovelace?", {"Ada Lovelace"}),
        ("Stone and Bob", {"Bob Stone"}),
        ("Caroline's plan for Ada's party", {"Caroline", "Ada Lovelace"}),
        ("Adaptation of bobsleds", set()),
        ("What does Al do?", {"Al"}),
        ("李小龙 说了什么", {"李小龙"}),
        ("nobody", set()),
        ("", set()),
    ],
)
def test_authors_are_named_by_their_first_last_or_whole_name(question, found):
    assert names_in(question, AUTHORS) == found


def test_a_last_name_that_two_have_names_nobody():
    assert names_in("What did Stone say?", ["Bob Stone", "Eve Stone"]) == frozenset()


def test_authors_without_letters_are_never_named():
    assert names_in("who ... is ?", ["", "...", "?"]) == frozenset()


@pytest.mark.parametrize(
    ("question", "names", "left"),
    [
        ("When did Ada's brother visit?", ["Ada"], "When did brother visit?"),
        ("When did ada Lovelace visit Adam?", ["Ada Lovelace"], "When did visit Adam?"),
        ("Ada", ["Ada"], "Ada"),
        ("Ada’s cat", ["Ada"], "cat"),
        ("nothing here", [], "nothing here"),
        ("a+b (c)", ["c"], "a+b ()"),
    ],
)
def test_names_leave_the_question(question, names, left):
    assert without(question, names) == left


@pytest.mark.parametrize(
    ("question", "is_own"),
    [
        ("What did I eat?", True),
        ("my sister", True),
        ("what do we charge", True),
        ("US", True),
        ("it is mine", True),
        ("What did Ada eat?", False),
        ("iPhone", False),
        ("", False),
    ],
)
def test_first_person_is_heard(question, is_own):
    assert is_first_person(question) is is_own


# Any text

anything = st.one_of(
    st.text(max_size=200),
    st.text(st.characters(), max_size=60),
    st.text("\"'/.:@_-#+ \n\0aZ0٣東가ก\u0301\ud800", max_size=80),
)


@quick
@given(anything, st.lists(anything, max_size=4))
def test_any_text_is_a_question(text, names):
    found = named(text)
    assert all(words(phrase) for phrase in found)
    assert names_in(text, names) <= set(names)
    assert isinstance(is_first_person(text), bool)
    assert isinstance(without(text, names), str)
    assert without(text, []) == text
    for made in (asked_words(text), terms(text), split_uncut(text)):
        assert all(isinstance(word, str) for word in made)
    assert isinstance(spaced(text), str) and isinstance(one_line(text, 20), str)


@quick
@given(anything)
def test_asked_words_are_once_and_never_lost(text):
    asked = asked_words(text)
    assert len(set(asked)) == len(asked)
    assert bool(asked) == bool(words(text))


@quick
@given(anything)
def test_a_question_is_never_emptied(text):
    left = without(text, words(text)[:3])
    assert left.strip() or not text.strip()


# Time

TODAY = date(2026, 3, 4)  # a Wednesday


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("What happened on 9 November 2025?", (2025, 11, 9), (2025, 11, 9)),
        ("and on November 9th, 2025?", (2025, 11, 9), (2025, 11, 9)),
        ("what did we do last spring?", (2025, 3, 1), (2025, 5, 31)),
        ("what did we do last week?", (2026, 2, 23), (2026, 3, 1)),
        ("what did I say yesterday?", (2026, 3, 3), (2026, 3, 3)),
        ("whom did we meet two weeks ago?", (2026, 2, 18), (2026, 2, 18)),
        ("which books did I read last month?", (2026, 2, 1), (2026, 2, 28)),
        ("who came in 2026-02?", (2026, 2, 1), (2026, 2, 28)),
    ],
)
def test_a_question_means_a_stretch_of_time(question, first, last):
    assert times_in(question, [2025, 2026], TODAY)[-1] == (date(*first), date(*last))


@pytest.mark.parametrize("question", ["who owns the webhooks?", "Ada may march on", "what costs 2000 EUR?", ""])
def test_a_question_may_mean_no_time(question):
    assert times_in(question, [2025, 2026], TODAY) == []


def test_what_lies_in_a_stretch():
    spans = times_in("what did we plan in February?", [2026], TODAY)
    assert is_within("2026-02-28T23:00:00.000Z", spans)
    assert not is_within("2026-03-01T00:00:00.000Z", spans)
    assert not is_within("", spans)


# Words, and how many things are asked for


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What's Ada's plan?", ["Ada", "plan"]),
        ("why don’t we ship?", ["ship"]),
        ("they'll meet the owners' club", ["meet", "owners", "club"]),
        ("don't", ["don", "t"]),
        ("Can you list the order in which I brought up different boats?", ["boats"]),
        ("summarize", ["summarize"]),
    ],
)
def test_words_that_are_searched_for(question, asked):
    assert asked_for(question) == asked


@pytest.mark.parametrize(
    "question",
    ["What books has Ada read?", "How many boats do we own?", "Summarize the talks", "What are her hobbies?", "Which ports did we visit?"],
)  # fmt: skip
def test_questions_about_many(question):
    assert is_about_many(question)


@pytest.mark.parametrize(
    "question", ["When does Ada come?", "Who owns the boat?", "What is the address?", "seat price"]
)
def test_questions_about_one(question):
    assert not is_about_many(question)


def test_a_turn_that_asks_tells_less():
    assert asking_share("How was it?") == 1.0
    assert asking_share("It was fine. " * 100 + "And you?") == 0.0
    assert 0 < asking_share("It was fine, thank you. And you?") < 0.5
