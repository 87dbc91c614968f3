import re

import pytest
from hypothesis import example, given, settings

from formats.samples import HOSTILE, any_text, hostile_texts, plain_texts
from mabos_cli.formats.markdown.escape import escape_block, indent, unescape_block

quick = settings(deadline=None, derandomize=True)
STRUCTURE = re.compile(
    r"\s*(#{1,6}(\s|$)|`{3}|~{3}|[-*+](\s|$)|\d{1,9}[.)](\s|$)|<|>|\||\$\$|%%|\^|\[[^\]]*\]:|([-_*=])(\s*\5)*\s*$)"
)


@quick
@given(hostile_texts | plain_texts)
@example("\\\\\\%%\\^M-")
@example("%%%%%\\")
@example("--->")
@example("1.")
@example("²) x")
def test_escaped_text_is_unescaped_exactly(text):
    assert unescape_block(escape_block(text)) == text


@quick
@given(hostile_texts | plain_texts | any_text)
def test_no_escaped_line_starts_a_block(text):
    assert not [line for line in escape_block(text).split("\n") if STRUCTURE.match(line)]


def active_text(escaped):
    """What is left for a renderer to act on once every escaped character is taken for itself."""
    return re.sub(r"\\.", "x", escaped)


@quick
@given(hostile_texts | any_text)
def test_no_comment_or_block_id_is_left_active(text):
    active = active_text(escape_block(text))
    assert not [mark for mark in ("<!--", "%%", "^M-") if mark in active]


@pytest.mark.parametrize(
    "text",
    ["<!-- hidden -->", "x <!-- hidden -->", "%% hidden %%", "x %% y", "^M-1-aaaa", "x ^M-1-aaaa", "\\<!--"],
)
def test_hiding_mark_is_escaped_at_the_start_of_a_line_as_within_it(text):
    active = active_text(escape_block(text))
    assert not [mark for mark in ("<!--", "%%", "^M-") if mark in active]


@pytest.mark.parametrize("text", ["%%%", "x %%% hidden"])
def test_odd_run_of_percent_signs_hides_nothing(text):
    assert "%%" not in active_text(escape_block(text))


@quick
@given(hostile_texts | plain_texts)
def test_line_count_stays(text):
    assert escape_block(text).count("\n") == text.count("\n")


@pytest.mark.parametrize("line", [line for line in HOSTILE if STRUCTURE.match(line)])
def test_each_kind_of_structure_is_escaped(line):
    assert escape_block(line) != line
    assert unescape_block(escape_block(line)) == line


@pytest.mark.parametrize(
    "line", ["plain words", "3 apples", "2026 was good", "a # b", "don't", "(note)", "3.5 million"]
)
def test_plain_text_is_left_alone(line):
    assert escape_block(line) == line


@pytest.mark.parametrize("row", ["--- | ---", "---|---", ":-- | --:", "--|"])
def test_table_cannot_form(row):
    line = escape_block(f"a | b\n{row}\n1 | 2").split("\n")[1]
    assert not re.fullmatch(r"\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*", line)


def test_front_matter_cannot_begin():
    assert escape_block("---\ntitle: x\n---") == "\\---\ntitle: x\n\\---"


def test_line_endings_become_newlines_and_controls_are_drawn():
    assert escape_block("a\r\n# b\rc\x1b") == "a\n\\# b\nc␛"


def test_indent_moves_all_lines_but_the_first():
    assert indent("a\nb\n\nc") == "a\n  b\n  \n  c"
    assert indent("a\nb", 4) == "a\n    b"
