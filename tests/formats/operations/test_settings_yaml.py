import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.errors import InvalidFile
from mabos_cli.workspace.settings import parse_settings

quick = settings(deadline=None, derandomize=True)


def refusal(text):
    with pytest.raises(InvalidFile) as refused:
        parse_settings(text, "mabos.yaml")
    assert refused.value.hint
    return refused.value.message


def test_sections_become_dotted_names_with_their_lines():
    text = "# settings\nmemory:\n  working_capacity: 9\n\n  short_term_ttl: 3h\nrecall: {limit: 5}\n"
    assert parse_settings(text, "mabos.yaml") == {
        "memory.working_capacity": (9, 3),
        "memory.short_term_ttl": ("3h", 5),
        "recall.limit": (5, 6),
    }


def test_dotted_name_is_the_same_as_a_section():
    assert parse_settings("memory.working_capacity: 9\n", "f") == {"memory.working_capacity": (9, 1)}


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "memory:\n", "memory:\n  working_capacity:\n"])
def test_nothing_set_is_nothing(text):
    assert parse_settings(text, "f") == {}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("true", "true"),
        ("12:30", "12:30"),
        ("2026-02-24", "2026-02-24"),
        ('"5"', "5"),
        ("5", 5),
        ("-5", -5),
        ("1_000", 1000),
        ("0.25", 0.25),
        ("1.5e+3", 1500.0),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("2h", "2h"),
        ("long_term", "long_term"),
    ],
)
def test_numbers_are_numbers_and_all_else_is_the_text_that_stands_there(written, value):
    found, line = parse_settings(f"a:\n  b: {written}\n", "f")["a.b"]
    assert (found, type(found), line) == (value, type(value), 2)


def test_duplicate_key_is_refused_with_its_line():
    assert refusal("a:\n  b: 1\n  c: 2\n  b: 3\n") == "mabos.yaml:4: a.b is set twice"
    assert refusal("a.b: 1\na:\n  b: 3\n") == "mabos.yaml:3: a.b is set twice"


@pytest.mark.parametrize("value", ["[1, 2]", "\n    - 1\n    - 2", "{c: 1}", "\n    c: 1"])
def test_value_that_is_no_single_value_is_refused_with_its_line(value):
    assert refusal(f"a:\n  b: {value}\n") == "mabos.yaml:2: a.b must be a single value"


@pytest.mark.parametrize("text", ["- a\n- b\n", "just text\n", "42\n", "[a, b]\n"])
def test_file_that_is_no_mapping_is_refused(text):
    assert refusal(text).startswith("mabos.yaml:1: expected `name: value`")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a:\n  b: [1\n", 3),
        ("a:\n  b: 1\n c: 2\n", 3),
        ("a:\n\tb: 1\n", 2),
        ("a: 'x\n", 2),
        ("a: 1\n<<<<<<< HEAD\nb: 1\n", 3),
        ("a: *missing\n", 1),
        ("a: 1\n---\nb: 2\n", 2),
    ],
)
def test_broken_yaml_is_refused_with_its_line(text, line):
    assert refusal(text).startswith(f"mabos.yaml:{line}: not valid YAML: ")


@pytest.mark.parametrize("text", ["a: \x00\n", "a: \x1b\n", "[" * 1200, "[" * 100_000, "a: &x\n  b: *x\n"])
def test_hostile_yaml_is_refused(text):
    assert refusal(text).startswith("mabos.yaml:")


@quick
@given(st.text(max_size=40) | st.text("ab:{}[]&*!|>-?#'\" \n\t%@`.,01", max_size=40))
def test_any_text_is_settings_or_an_invalid_file(text):
    try:
        found = parse_settings(text, "mabos.yaml")
    except InvalidFile as refused:
        assert refused.message.startswith("mabos.yaml:")
    else:
        assert all(isinstance(value, str | int | float) and line >= 1 for value, line in found.values())
