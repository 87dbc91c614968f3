import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.core import BadValue
from mabos_cli.core.memory.observation import Observation
from mabos_cli.formats.memory.observations import (
    complete_size,
    numbered_ids,
    observation_from_dict,
    opening_ids,
    parse_observations,
    parse_record,
    render_observation,
)

AT = "2026-02-24T14:30:00.000Z"
WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20).filter(str.strip)


@settings(deadline=None, derandomize=True)
@given(
    WORDS,
    st.tuples(WORDS, WORDS, WORDS),
    st.lists(WORDS, max_size=3),
    st.none() | st.integers(0, 10_000).map(lambda n: n / 10_000),
    st.integers(0, 10**9),
)
def test_what_is_rendered_is_read_again(text, words, tags, importance, truncated):
    source, session, author = words
    seen = Observation(
        text,
        "O-1771943400000-0000",
        AT,
        "note",
        source,
        session,
        author,
        "decision",
        tuple(tags),
        "agent",
        importance,
        "k1",
        truncated,
        ("jwt",),
    )
    line = render_observation(seen)
    assert line.count(b"\n") == 1 and line.endswith(b"\n")
    assert observation_from_dict(parse_record(line)) == seen
    assert opening_ids(line) == [seen.id]


def test_keys_are_in_order_and_empty_ones_left_out():
    line = render_observation(Observation("hi", "O-1-0000", AT, "note", trust="agent", importance=0.0))
    assert line == (
        b'{"id": "O-1-0000", "at": "2026-02-24T14:30:00.000Z", "kind": "note", "text": "hi", '
        b'"trust": "agent", "importance": 0.0}\n'
    )


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ({"text": "a"}, "a"),
        ({"content": "a"}, "a"),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\nb"),
        ({"type": "assistant", "message": {"role": "assistant", "content": "a"}}, "a"),
        ({"tool": "bash", "input": "ls", "output": "a.txt"}, "bash: ls\na.txt"),
        ({"tool": "bash", "input": {"command": "ls"}, "result": "a.txt"}, "bash: ls\na.txt"),
        (
            {"tool_name": "Read", "tool_input": {"a": 1, "b": 2}, "tool_response": {"x": 1}},
            'Read: {"a": 1, "b": 2}\n{"x": 1}',
        ),
        ({"tool": "wait", "input": None, "output": ""}, "wait"),
        ({"tool": "bash", "text": "as it is"}, "as it is"),
        ({"tool": "bash", "content": [{"text": "a"}]}, "bash\na"),
    ],
)
def test_shapes_of_records(record, text):
    assert observation_from_dict(record).text == text


def test_a_tool_is_the_source_and_its_failure_a_tag():
    seen = observation_from_dict({"tool": "bash", "output": "x", "is_error": True, "tags": "ci", "session_id": "s"})
    assert (seen.kind, seen.source, seen.tags, seen.session) == ("tool", "tool:bash", ("ci", "error"), "s")


def test_a_type_that_is_none_of_ours_is_passed_over():
    assert observation_from_dict({"text": "a", "type": "tool_result"}).type == ""
    assert observation_from_dict({"text": "a", "type": "lesson"}).type == "lesson"


@pytest.mark.parametrize(
    ("value", "at"),
    [
        ("2026-02-24T15:30:00+01:00", AT),
        (1771943400, AT),
        (1771943400000, AT),
        ("2026-02-24", "2026-02-24T00:00:00.000Z"),
    ],
)
def test_times(value, at):
    assert observation_from_dict({"text": "a", "timestamp": value}).at == at


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"torn {", "not valid JSON"),
        (b'{"text": "a"', "not valid JSON"),
        (b'{"text": "a", "text": "b"}', "appears twice"),
        (b'{"text": NaN}', "NaN"),
        (b"\xff\xfe", "not valid UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[]", "not an object"),
        (b"5", "not an object"),
        (b"{}", "no text"),
        (b'{"text": "  "}', "no text"),
        (b'{"text": 5}', "no text"),
        (b'{"text": "a", "at": "noon"}', "not a date or time"),
        (b'{"text": "a", "at": [1]}', "not a date or time"),
        (b'{"text": "a", "at": true}', "not a date or time"),
        (b'{"text": "a", "at": 1e300}', "not a date or time"),
        (b'{"text": "a", "importance": 7}', "importance must be a number from 0 to 1"),
        (b'{"text": "a", "importance": "high"}', "importance must be a number from 0 to 1"),
        (b'{"text": "a", "importance": true}', "importance must be a number from 0 to 1"),
    ],
)
def test_faults_are_told_and_the_rest_is_read(line, fault):
    with pytest.raises(BadValue) as error:
        observation_from_dict(parse_record(line))
    assert fault in error.value.message
    lines = list(parse_observations(b'{"text": "one"}\n\n' + line + b'\n{"text": "two"}\n', "day.jsonl"))
    assert [(found.number, bool(found.observation)) for found in lines] == [(1, True), (3, False), (4, True)]
    assert lines[1].fault == error.value.message


def test_ids_of_others_do_not_depend_on_the_order_of_lines():
    lines = [b'{"text": "a"}', b'{"text": "b", "id": "7"}', b'{"text": "a"}', b'{"text": "c"}']
    ids = [line.id for line in parse_observations(b"\n".join(lines), "x.jsonl")]
    assert len(set(ids)) == 4
    turned = {line.id for line in parse_observations(b"\n".join(reversed(lines)), "x.jsonl")}
    assert turned == set(ids)
    assert not turned & {line.id for line in parse_observations(b"\n".join(lines), "y.jsonl")}


def test_reading_on_finds_what_reading_all_finds():
    data = b'{"text": "a"}\n{"text": "b"}\n{"text": "a"}\nbad\n{"text": "a"}\n'
    whole = list(parse_observations(data, "x.jsonl"))
    for start in (0, 14, 28, 42):
        assert list(parse_observations(data, "x.jsonl", start)) == whole[start // 14 :]


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (b"", 0),
        (b'{"text": "a"}\n', 14),
        (b'{"text": "a"}\n{"te', 14),
        (b'{"text": "a"}\n{"text": "b"}', 27),
        (b'{"text": "a"}\nnot json\n', 23),
        (b'{"te', 0),
    ],
)
def test_a_line_that_is_being_written_is_left_alone(data, size):
    assert complete_size(data) == size
    assert sum(1 for line in parse_observations(data, "x") if line.observation) == data[:size].count(b'"text"')


def test_separators_inside_a_text_end_no_line():
    seen = Observation("a\u2028b\x85c\x1cd", "O-1-0000", AT)
    [line] = parse_observations(render_observation(seen), "x")
    assert line.observation == seen


def test_json_of_a_record_is_plain():
    assert json.loads(render_observation(Observation("x", tags=("a",))))["tags"] == ["a"]


def test_numbers_and_ids_are_those_of_the_lines_that_are_read():
    """Whether lines are decoded or not: ours, others', with ids that are none of ours, and with nothing to say."""
    own = [f'{{"id": "O-177194340000{n}-00a4", "text": "pear {n}"}}' for n in range(3)]
    others = ['{"id": "O-abc", "text": "x"}', '{"text": "x"}', '{"text": "x"}', "", "[]", '{"no": "text"}']
    for lines in (own, [*own, *others], [*others, *own, own[0]]):
        data = ("\n".join(lines) + "\n").encode()
        read = [(line.number, line.id) for line in parse_observations(data, "d.jsonl") if line.observation]
        assert numbered_ids(data, "d.jsonl") == read and len(read) >= 3
    start = len(own[0]) + 1
    assert numbered_ids("\n".join(own).encode(), "d.jsonl", start)[0] == (2, "O-1771943400001-00a4")
