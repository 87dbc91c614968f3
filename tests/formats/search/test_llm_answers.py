"""Answers of a model: what is asked for is found in whatever surrounds it, and nothing else is taken."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mabos_cli.core import BadValue
from mabos_cli.core.hierarchy.log_taking import Extract
from mabos_cli.formats.search.llm_answers import (
    Merge,
    parse_extracts,
    parse_merge,
    parse_order,
    parse_text,
    parse_triple,
    parse_variations,
    render_reading_prompt,
)

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize(
    "answer",
    [
        '["alpha progress", "alpha news"]',
        '```json\n["alpha progress", "alpha news"]\n```',
        'Sure:\n```\n["alpha progress", "alpha news"]\n```\nAnything else?',
        'Here you are: ["alpha progress", "alpha news"] I hope this helps.',
        '{"variations": ["alpha progress", "alpha news", 7, null]}',
        '<think>["no", "not this"]</think>\n["alpha progress", "alpha news"]',
        "1. alpha progress\n2) alpha news\n",
        "Variations:\n- alpha progress\n* alpha news",
        '["alpha progress", "Alpha  status", "alpha news", "ALPHA PROGRESS"]',
    ],
)
def test_variations(answer: str) -> None:
    assert parse_variations(answer, "alpha status") == ("alpha progress", "alpha news")


@pytest.mark.parametrize(
    "answer",
    ["", "I cannot help with that.", "[]", "[1, 2]", '{"a": 1}', '["alpha status"]', "[" * 50_000, "{}{}"],
)
def test_no_variations(answer: str) -> None:
    with pytest.raises(BadValue, match="no list of variations"):
        parse_variations(answer, "alpha status")


def test_variations_are_bounded() -> None:
    found = parse_variations(json.dumps([f"{n} " + "x" * 900 + "\nx\x1b" for n in range(99)]), "q")
    assert len(found) == 5 and all(len(text) <= 200 and text.isprintable() for text in found)


@pytest.mark.parametrize(
    ("answer", "order"),
    [
        ("[3, 1, 2]", (3, 1, 2)),
        ('{"order": ["3", "1"]}', (3, 1)),
        ("3, 1, 2", (3, 1, 2)),
        ("3 > 1\n2", (3, 1, 2)),
        ("The best is: [3, 99, 3, -1, 0, true, 2.0, 1]", (3, 1)),
    ],
)
def test_order(answer: str, order: tuple[int, ...]) -> None:
    assert parse_order(answer, range(1, 4)) == order


@pytest.mark.parametrize("answer", ["", "the first 3 are fine", "[]", "[99]", '{"order": 3}', "9" * 5000])
def test_no_order(answer: str) -> None:
    with pytest.raises(BadValue, match="no order"):
        parse_order(answer, range(1, 4))


@pytest.mark.parametrize(
    "answer",
    [
        "We bill\nper seat.",
        '"We bill per seat."',
        "```\nWe bill per seat.\n```",
        '{"text": "We bill per seat."}',
    ],
)
def test_text(answer: str) -> None:
    assert parse_text(answer, 20) == "We bill per seat."


@pytest.mark.parametrize(("answer", "fault"), [(" ", "no text"), ('{"x": 1}', "no text"), ("x" * 21, "21 characters")])
def test_no_text(answer: str, fault: str) -> None:
    with pytest.raises(BadValue, match=fault):
        parse_text(answer, 20)


def test_an_answer_without_end_is_not_read() -> None:
    with pytest.raises(BadValue, match="100,001 characters"):
        parse_text("x" * 100_001, 1_000_000)


def test_merge() -> None:
    assert parse_merge('{"same": false}', 9) == Merge(False)
    assert parse_merge('{"same": false, "newer": true}', 9) == Merge(False, newer=True)
    assert parse_merge('Yes. {"same": true, "text": "both"}', 9) == Merge(True, "both")


@pytest.mark.parametrize(
    "answer", ["yes", "true", '{"same": "true", "text": "x"}', '{"same": 1, "text": "x"}', '{"same": true}',
               '{"same": true, "text": 5}', '{"same": true, "text": "far too long"}', '{"same": true, "same": false}'],
)  # fmt: skip
def test_no_merge(answer: str) -> None:
    with pytest.raises(BadValue):
        parse_merge(answer, 9)


GOOD = {
    "content": "We bill per seat",
    "category": "decision",
    "importance": 0.8,
    "confidence": 1,
    "events": [2, 1],
}


def test_facts() -> None:
    found = parse_extracts(json.dumps({"facts": [GOOD], "summary": "Short."}), range(1, 3))
    assert found == ((Extract("We bill per seat", "decision", 0.8, 1.0, (2, 1)),), 0, "Short.")


@pytest.mark.parametrize(
    "change",
    [
        {"content": ""},
        {"content": 5},
        {"content": "x " * 151},
        {"category": "joke"},
        {"category": ["decision"]},
        {"importance": "high"},
        {"importance": True},
        {"confidence": None},
        {"events": []},
        {"events": [99]},
        {"events": "1"},
        {"events": [{"n": 1}]},
    ],
)
def test_malformed_fact_is_dropped_and_counted(change: dict) -> None:
    found = parse_extracts(json.dumps({"facts": [GOOD | change, GOOD, "text"]}), range(1, 3))
    assert len(found.facts) == 1 and found.malformed == 2


def test_fact_is_clamped() -> None:
    wild = GOOD | {"importance": 7, "confidence": -1, "events": [1, 1, 99, "2"]}
    [fact] = parse_extracts(json.dumps({"facts": [wild], "summary": 4}), range(1, 3)).facts
    assert (fact.importance, fact.confidence, fact.events) == (1.0, 0.0, (1, 2))


def test_facts_are_bounded() -> None:
    many = [GOOD | {"events": list(range(1, 41))}] * 90
    found = parse_extracts(json.dumps({"facts": many}), range(1, 41))
    assert len(found.facts) == 50 and found.malformed == 40 and len(found.facts[0].events) == 12


@pytest.mark.parametrize("answer", ["nothing", "[]", '{"facts": {}}', '{"facts": [{}}', '{"facts": [NaN]}'])
def test_no_facts(answer: str) -> None:
    with pytest.raises(BadValue, match="no list of facts"):
        parse_extracts(answer, range(1, 3))


def test_secrets_in_answers_are_redacted() -> None:
    answer = json.dumps({"facts": [GOOD | {"content": f"The token is {TOKEN}"}], "summary": f"has {TOKEN}"})
    found = parse_extracts(answer, range(1, 3))
    texts = [found.facts[0].content, found.summary, parse_text(f"use {TOKEN}", 200)]
    texts += [parse_merge(json.dumps({"same": True, "text": f"use {TOKEN}"}), 200).text]
    texts += parse_variations(json.dumps([f"what is {TOKEN}"]), "q")
    assert all("[redacted:" in text and TOKEN not in text for text in texts)


@given(st.text() | st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.sampled_from(["facts", "same", "text", "order", "variations", "events"]), x)).map(json.dumps))  # fmt: skip
def test_any_answer_is_taken_or_refused(answer: str) -> None:
    for parse in (
        lambda: parse_variations(answer, "q"),
        lambda: parse_order(answer, range(1, 5)),
        lambda: parse_text(answer, 50),
        lambda: parse_merge(answer, 50),
        lambda: parse_extracts(answer, range(1, 5)),
    ):
        try:
            assert parse() is not None
        except BadValue as error:
            assert error.message.startswith("its ")


def test_a_triple_that_a_model_reads_consists_of_known_words() -> None:
    names, predicates = {"acme", "Ann", "?"}, {"ownedBy"}
    assert parse_triple('Sure: ["acme", "ownedBy", "?"]', names, predicates) == ("acme", "ownedBy", "?x")
    for answer in (
        "[]",
        "yes",
        '["acme", "owns", "?"]',
        '["zed", "ownedBy", "?"]',
        '["?", "ownedBy", "?"]',
        '["acme", 1, "?"]',
    ):
        with pytest.raises(BadValue):
            parse_triple(answer, names, predicates)
    prompt = render_reading_prompt("Who owns Acme?", ["ownedBy"], ["acme", "Ann"])
    assert "1. Who owns Acme?\n2. ownedBy\n3. acme, Ann" in prompt
