"""Conversations of four writers become the same turns; what is none is cited by its line."""

import json
from pathlib import Path

import pytest

from mabos_cli.core.context.texts import Turn
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.context.history import parse_history

SAMPLES = Path(__file__).parents[3] / "fixtures" / "history"


def sample(name: str) -> list[tuple[str, str]]:
    turns = parse_history((SAMPLES / name).read_text(), name)
    return [(turn.role, turn.content) for turn in turns]


def test_messages_of_a_provider() -> None:
    turns = sample("messages.json")
    assert [role for role, _ in turns[:6]] == ["system", "user", "assistant", "user", "assistant", "tool"]
    assert turns[4][1] == '[tool call read_file] {"path": "pricing.md"}'
    assert turns[5][1] == "[tool result] Team 12 EUR\nBusiness 29 EUR\nEnterprise on request"
    assert turns[9] == (
        "user",
        "Try again in the afternoon. Who is on call for the preview host, Ann or Bela?",
    )
    assert len(turns) == 12


def test_claude_code() -> None:
    assert sample("claude-code.jsonl") == [
        ("user", "Why does the nightly export fail?"),
        ("assistant", 'I will look at the log.\n[tool call Bash] {"command": "tail export.log"}'),
        ("tool", "[tool error] disk full on /var"),
        ("assistant", "The disk /var is full."),
    ]


def test_codex() -> None:
    assert sample("codex.jsonl") == [
        ("user", "Rename the column."),
        ("assistant", '[tool call shell] {"command":["sed"]}'),
        ("tool", "[tool result] done"),
        ("assistant", "Renamed."),
    ]


def test_openclaw() -> None:
    text = (SAMPLES / "openclaw.jsonl").read_text()
    assert parse_history(text, "x") == (
        Turn("user", "Book the room.", "2026-02-24T11:00:01.000Z"),
        Turn("assistant", '[tool call calendar] {"room": "B2"}', "2026-02-24T11:00:02.000Z"),
        Turn("tool", "[tool result] booked", "2026-02-24T11:00:03.000Z", "calendar"),
        Turn("assistant", "B2 is yours.", "2026-02-24T11:00:05.000Z"),
    )


MESSAGES = [
    {"role": "human", "content": "hi"},
    {"role": "model", "content": [{"type": "text", "text": "hello"}]},
]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(MESSAGES),
        json.dumps(MESSAGES, indent=2),
        json.dumps({"model": "x", "messages": MESSAGES}),
        json.dumps({"messages": MESSAGES}, indent=2),
        "\n".join(map(json.dumps, MESSAGES)),
        "\n\n" + "\r\n".join(map(json.dumps, MESSAGES)) + "\r\n",
        "\n".join(json.dumps({"messages": [message]}) for message in MESSAGES),
    ],
)
def test_the_forms_of_the_same_conversation(text: str) -> None:
    assert parse_history(text, "x") == (Turn("user", "hi"), Turn("assistant", "hello"))


@pytest.mark.parametrize("text", ["", "  \n", "[]", '{"messages": []}', '{"role": "user", "content": " "}'])
def test_nothing_said(text: str) -> None:
    assert parse_history(text, "x") == ()


def test_what_is_no_text_leaves_a_mark_and_thoughts_do_not() -> None:
    content = [{"type": "image", "source": {}}, {"type": "thinking", "thinking": "hm"}, "and this"]
    assert parse_history(json.dumps([{"role": "user", "content": content}]), "x")[0].content == "[image]\nand this"


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ('{"role": "user", "content": "a"}\n{"role": "user", "content":', "x:2: not valid JSON"),
        ('{"role": "user", "content": "a"}\n\n{"text": "b"}', "x:3: no message with a role"),
        (
            '[\n  {"role": "user", "content": "a"},\n  {"role": "pirate", "content": "b"}\n]',
            "x:3: unknown role 'pirate'",
        ),
        ('{"messages": [\n{"role": "user", "content": 7}]}', "x:2: no message"),
        ('[{"role": "user", "content": {"text": "b"}}]', "x:1: no message"),
        ("[1]", "x:1: no message"),
        ('"hello"', "x:1: no messages here"),
        ("Hello there", "x:1: not valid JSON"),
        ("[" * 100_000, "x:1: not valid JSON"),
    ],
)
def test_what_is_no_message_is_cited(text: str, cited: str) -> None:
    with pytest.raises(InvalidFile) as caught:
        parse_history(text, "x")
    assert cited in caught.value.message
    assert "role" in caught.value.hint


def test_blocks_without_end_are_not_followed() -> None:
    block: object = "deep"
    for _ in range(50):
        block = {"type": "tool_result", "content": [block]}
    turn = parse_history(json.dumps([{"role": "user", "content": [block]}]), "x")[0]
    assert turn.content.count("[tool result]") < 10
