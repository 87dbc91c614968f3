"""Transcripts of the agent hosts, as they are found on disk: who said what, when."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.formats.memory.observations import LineText, parse_line_texts

quick = settings(deadline=None, derandomize=True)
AT = "2026-02-24T14:30:00.000Z"


def lines(*values):
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def parse(*values):
    return list(parse_line_texts(lines(*values)))


CLAUDE = [
    {"type": "summary", "summary": "Fixing the build", "leafUuid": "u2"},
    {
        "parentUuid": None,
        "isSidechain": False,
        "cwd": "/work",
        "sessionId": "s1",
        "type": "user",
        "message": {"role": "user", "content": "Why does the build fail?"},
        "uuid": "u1",
        "timestamp": AT,
    },
    {
        "parentUuid": "u1",
        "type": "assistant",
        "message": {
            "id": "msg_1",
            "role": "assistant",
            "model": "claude",
            "content": [
                {"type": "thinking", "thinking": "Maybe the lock.", "signature": "abc"},
                {"type": "text", "text": "The lock file is stale."},
                {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}},
            ],
            "usage": {"input_tokens": 3},
        },
        "uuid": "u2",
        "timestamp": AT,
    },
    {
        "parentUuid": "u2",
        "type": "user",
        "message": {
            "role": "user",
            "content": [{"tool_use_id": "t1", "type": "tool_result", "content": "make: *** Error 2"}],
        },
        "uuid": "u3",
        "timestamp": AT,
    },
    {"type": "file-history-snapshot", "messageId": "m1", "snapshot": {}},
]


def test_claude_code():
    summary, asked, answered, tool = parse(*CLAUDE)
    assert summary == LineText(1, "Fixing the build")
    assert asked == LineText(2, "Why does the build fail?", "user", AT)
    assert (answered.line, answered.author, answered.at) == (3, "assistant", AT)
    assert answered.text.split("\n") == ["Maybe the lock.", "The lock file is stale."]
    assert tool == LineText(4, "make: *** Error 2", "user", AT)


CODEX = [
    {"timestamp": AT, "type": "session_meta", "payload": {"id": "s1", "cwd": "/work", "originator": "cli"}},
    {
        "timestamp": AT,
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "Deploy the canary"}],
        },
    },
    {
        "timestamp": AT,
        "type": "response_item",
        "payload": {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Canary is out."}],
        },
    },
    {
        "timestamp": AT,
        "type": "response_item",
        "payload": {"type": "function_call_output", "call_id": "c1", "output": "exit 0"},
    },
    {"timestamp": AT, "type": "event_msg", "payload": {"type": "token_count", "info": {"total": 3}}},
    {"timestamp": AT, "type": "event_msg", "payload": {"type": "agent_message", "message": "Done."}},
    {"timestamp": AT, "type": "compacted", "payload": {"message": "What happened so far"}},
]


def test_codex():
    assert parse(*CODEX) == [
        LineText(2, "Deploy the canary", "user", AT),
        LineText(3, "Canary is out.", "assistant", AT),
        LineText(4, "exit 0", "", AT),
        LineText(6, "Done.", "", AT),
        LineText(7, "What happened so far", "", AT),
    ]


OPENCLAW = [
    {"type": "session", "version": 3, "id": "s1", "timestamp": AT, "cwd": "/work"},
    {
        "type": "message",
        "id": "a1",
        "parentId": None,
        "timestamp": AT,
        "message": {"role": "user", "content": "Book a table", "timestamp": 1771943400000},
    },
    {
        "type": "message",
        "id": "a2",
        "parentId": "a1",
        "timestamp": AT,
        "message": {"role": "assistant", "content": [{"type": "text", "text": "Booked for eight."}]},
    },
    {
        "type": "custom_message",
        "id": "a3",
        "parentId": "a2",
        "timestamp": AT,
        "customType": "note",
        "content": "The guest is allergic to nuts",
        "display": True,
    },
    {
        "type": "compaction",
        "id": "a4",
        "parentId": "a3",
        "timestamp": AT,
        "summary": "A table was booked",
        "firstKeptEntryId": "a2",
        "tokensBefore": 9000,
    },
]


def test_openclaw():
    assert parse(*OPENCLAW) == [
        LineText(2, "Book a table", "user", AT),
        LineText(3, "Booked for eight.", "assistant", AT),
        LineText(4, "The guest is allergic to nuts", "", AT),
        LineText(5, "A table was booked", "", AT),
    ]


def test_plain_logs_of_other_tools():
    found = parse(
        {"speaker": "Ada", "text": "Hello", "time": AT},
        {"author": "Bob", "content": "Hi", "created_at": AT, "role": "user"},
        {"prompt": "Draw a cat", "result": "a cat"},
    )
    assert found == [LineText(1, "Hello", "Ada", AT), LineText(2, "Hi", "Bob", AT), LineText(3, "Draw a cat\na cat")]


def test_the_same_text_twice_in_a_line_is_one():
    assert parse({"text": "once", "content": "once"}) == [LineText(1, "once")]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"   ",
        b"\0\0\0\0",
        b"\r",
        b"{",
        b'{"text": "cut o',
        b'"text"',
        b"[1, 2]",
        b"42",
        b"null",
        b"NaN",
        b'{"text": ""}',
        b'{"text": "  "}',
        b'{"text": null}',
        b'{"text": 42, "content": {"a": 1}}',
        b'{"role": "user"}',
        b"\xff\xfe{}",
        b'{"text": }',
        b"[" * 100_000,
        b'{"message": ' * 50_000,
    ],
)
def test_what_says_nothing_is_passed_over(line):
    good = b'{"text": "good", "role": "user"}'
    assert list(parse_line_texts(line + b"\n" + good)) == [LineText(2, "good", "user")]


def test_torn_ends_and_nul_pages_lose_only_their_own_line():
    data = lines(*CODEX[1:3]) + b"\0" * 4096 + lines(CODEX[5]) + b'{"timestamp": "2026-02'
    assert [said.text for said in parse_line_texts(data)] == ["Deploy the canary", "Canary is out.", "Done."]


def test_carriage_returns_and_bytes_that_are_not_text():
    assert list(parse_line_texts(b'{"text": "a"}\r\n{"text": "b\xff"}\r\n')) == [
        LineText(1, "a"),
        LineText(2, "b\ufffd"),
    ]


def test_deep_nesting_is_read_as_far_as_messages_go():
    deep = {"text": "far down"}
    for _ in range(40):
        deep = {"message": deep}
    assert parse(deep, {"message": {"content": [{"text": "near"}]}}) == [LineText(2, "near")]


def test_tool_results_in_blocks_are_read():
    """Claude Code nests the blocks of a tool's answer in a block of the message."""
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "3 failed"}]}
    assert parse({"type": "user", "message": {"role": "user", "content": [result]}}) == [
        LineText(1, "3 failed", "user")
    ]


def test_a_huge_line_is_one_line():
    text = "word " * 1_000_000
    (said,) = parse({"role": "user", "content": text})
    assert said.text == text


@pytest.mark.parametrize("odd", [42, None, ["x"], {"a": 1}, True])
def test_authors_and_times_of_other_kinds_are_left_out(odd):
    assert parse({"text": "x", "role": odd, "timestamp": odd}) == [LineText(1, "x")]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(("text", "content", "message", "payload", "role", "timestamp", "x")),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@quick
@given(st.lists(values, max_size=4))
def test_any_json_is_read(found):
    for said in parse(*found):
        assert 1 <= said.line <= len(found)
        assert said.text.strip() and isinstance(said.author, str) and isinstance(said.at, str)


@quick
@given(st.binary(max_size=200))
def test_any_bytes_are_read(data):
    list(parse_line_texts(data))
