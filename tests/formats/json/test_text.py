import json
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.samples import json_values
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json.text import dump_document, dump_line, dump_record, parse_json, parse_ledger

quick = settings(deadline=None, derandomize=True)


def refusal(data, **options):
    with pytest.raises(InvalidFile) as refused:
        parse_json(data, "f.json", **options)
    assert refused.value.hint
    return refused.value.message


@quick
@given(json_values)
def test_what_is_written_is_read_back(value):
    assert parse_json(dump_line(value), "f.json") == value
    assert parse_json(dump_line(value).encode(), "f.json") == value
    assert parse_json(dump_document(value).encode(), "f.json") == value


@quick
@given(json_values)
def test_written_line_is_one_line_without_harmful_characters(value):
    line = dump_line(value)
    assert not [c for c in line if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")]
    assert not [c for c in line if c in "\u061c\u200e\u200f\u202a\u202e\u2066\u2069\ufeff"]
    assert len(line.splitlines()) == 1


def test_harmful_characters_are_escaped_and_others_kept():
    assert dump_line("é東\x1b\x7f\x9b\u202e\u2028\ufeff\ud800") == (
        '"é東\\u001b\\u007f\\u009b\\u202e\\u2028\\ufeff\\ud800"'
    )


def test_document_is_indented_and_ends_with_a_newline():
    assert dump_document({"a": [1]}) == '{\n  "a": [\n    1\n  ]\n}\n'


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_number_that_json_lacks_is_not_written(number):
    with pytest.raises(ValueError, match="JSON"):
        dump_line({"x": number})


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_number_that_json_lacks_is_refused(name):
    assert f"{name} is not a JSON number" in refusal('{"x": ' + name + "}")


def test_number_too_large_to_be_written_again_is_refused():
    assert refusal('{"x": 1e999}').startswith("f.json:1: not valid JSON")


def test_duplicate_key_is_refused_at_any_depth():
    assert "the key 'a' appears twice" in refusal('{"a": 1, "a": 1}')
    assert "the key 'b' appears twice" in refusal('[{"c": {"b": 1, "b": 2}}]')


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000])
def test_endless_nesting_is_refused(text):
    assert "nested too deeply" in refusal(text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{\n  "a": 1,\n<<<<<<< HEAD\n  "b": 1\n=======\n  "b": 2\n>>>>>>> x\n}', 3),
        ('{\n  "a": [\n    1\n<<<<<<< HEAD\n    , 2\n=======\n>>>>>>> x\n  ]\n}', 4),
        ('{\n<<<<<<< HEAD\n  "a": 1\n}', 2),
        ('{"a": 1}\n=======\n', 2),
        ('{"a": 1}\n>>>>>>> x\n', 2),
    ],
)
def test_conflict_markers_are_called_by_their_name(text, line):
    assert refusal(text) == f"f.json:{line}: not valid JSON: git conflict markers"


def test_conflict_marker_on_the_first_line_is_called_by_its_name():
    text = '<<<<<<< HEAD\n{"a": 1}\n=======\n{"a": 2}\n>>>>>>> x\n'
    assert refusal(text) == "f.json:1: not valid JSON: git conflict markers"


def test_bytes_that_are_not_utf8_are_refused_with_their_line():
    assert refusal(b'{\n"a": "\xff"}') == "f.json:2: not valid UTF-8"


def test_syntax_error_cites_its_line_or_the_given_one():
    assert refusal('{\n\n"a" 1}').startswith("f.json:3: not valid JSON:")
    assert refusal("{", line=17).startswith("f.json:17: not valid JSON:")


@pytest.mark.parametrize("data", [b"\0\0\0", b"{'a': 1}", b'{"a": 1,}', b'"a\nb"', b"[1", b"\xef\xbb\xbf{}"])
def test_what_is_not_json_is_refused(data):
    assert refusal(data).startswith("f.json:1: not valid JSON:")


def test_empty_file_is_called_empty():
    assert refusal(b" ") == "f.json:1: the file is empty"


@quick
@given(st.binary(max_size=60) | st.text('{}[]",:0123eE+-truefalsn\\u \n', max_size=40).map(str.encode))
def test_any_bytes_are_a_value_or_an_invalid_file(data):
    try:
        value = parse_json(data, "f.json")
    except InvalidFile as refused:
        assert refused.message.startswith("f.json:")
    else:
        assert parse_json(dump_line(value), "f.json") == value


def test_records_are_read_in_order_with_all_their_keys():
    assert parse_ledger(b'{"b": 1, "new": [2]}\n\n{"a": 1}\r\n{}') == ([{"b": 1, "new": [2]}, {"a": 1}, {}], 0, 0)
    assert parse_ledger(b"") == ([], 0, 0)


def test_lines_that_are_no_objects_are_counted_and_passed_over():
    ledger = parse_ledger(b'{"a": 1}\n[2]\n3\nnull\n"x"\n{"a"\n{"a": 2}\n')
    assert ledger == ([{"a": 1}, {"a": 2}], 1, 4)
    assert ledger.skipped == 5


def test_torn_last_line_is_counted_and_the_rest_read():
    assert parse_ledger(b'{"a": 1}\n{"a": 2}\n{"a": "to') == ([{"a": 1}, {"a": 2}], 1, 0)


@quick
@given(st.lists(st.fixed_dictionaries({"a": json_values}), min_size=1, max_size=4), st.data())
def test_cut_anywhere_all_whole_lines_are_read(values, data):
    lines = [dump_record(value) for value in values]
    whole = b"".join(lines)
    cut = data.draw(st.integers(0, len(whole)))
    complete = [value for n, value in enumerate(values) if len(b"".join(lines[: n + 1])) <= cut]
    found, torn, foreign = parse_ledger(whole[:cut])
    assert found[: len(complete)] == complete
    assert torn <= 1 and foreign == 0
    assert len(found) <= len(complete) + 1


def test_nul_bytes_of_a_crash_are_skipped():
    assert parse_ledger(b'{"a": 1}\n\0\0\0\0\n{"a": 2}\n\0\0{"a": 3}\n') == ([{"a": 1}, {"a": 2}, {"a": 3}], 1, 0)
    assert parse_ledger(b'{"a": 1}\n\0\0\0\0') == ([{"a": 1}], 1, 0)


@pytest.mark.parametrize("line", [b"\xff", b"NaN", b"[" * 100_000, b"{'a'}", b"<<<<<<< HEAD"])
def test_broken_line_does_not_hide_the_others(line):
    assert parse_ledger(b'{"a": 1}\n' + line + b"\n{}\n") == ([{"a": 1}, {}], 1, 0)


@quick
@given(st.binary(max_size=80))
def test_reading_lines_never_fails(data):
    ledger = parse_ledger(data)
    assert len(ledger.records) + ledger.skipped <= data.count(b"\n") + 1
    assert json.dumps(ledger.records)
