import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mabos_cli.formats.daily_log import render_log_entry, render_log_header
from mabos_cli.formats.passages import is_only_headings, split_passages

from .samples import HOSTILE, make_item

quick = settings(max_examples=100, deadline=None, derandomize=True)
BLOCK_ID = "ends here ^M-1700000000001-00aa"
lines = st.sampled_from((*HOSTILE, BLOCK_ID, "word " * 12, "x" * 90, "", "", "plain"))
documents = st.lists(lines, max_size=30).map("\n".join)
sizes = st.sampled_from((10, 40, 100, 1600))


@quick
@given(documents, sizes)
def test_passage_is_the_lines_that_it_cites(text, size):
    source = text.split("\n")
    for passage in split_passages(text, size):
        assert passage.text == "\n".join(source[passage.first - 1 : passage.last])
        assert source[passage.first - 1].strip() and source[passage.last - 1].strip()


@quick
@given(documents, sizes)
def test_every_written_line_is_in_exactly_one_passage(text, size):
    cited = [n for passage in split_passages(text, size) for n in range(passage.first, passage.last + 1)]
    assert cited == sorted(set(cited))
    assert {n for n, line in enumerate(text.split("\n"), 1) if line.strip()} <= set(cited)


@quick
@given(documents, sizes)
def test_no_passage_crosses_a_heading_or_a_block_id(text, size):
    for passage in split_passages(text, size):
        inner = passage.text.split("\n")
        assert not [line for line in inner[1:] if re.match(r"#{1,6} ", line)]
        assert not [line for line in inner[:-1] if line == BLOCK_ID]


@quick
@given(documents, sizes)
def test_passage_stays_near_its_size(text, size):
    longest = max((len(line) for line in text.split("\n")), default=0)
    assert all(len(passage.text) <= 4 * size + 2 * longest + 2 for passage in split_passages(text, size))


def test_sections_and_their_lines():
    found = split_passages("# Title\n\nintro\n\n\n## One\ntext\n## Two\n\n")
    assert [(p.text, p.first, p.last) for p in found] == [
        ("# Title\n\nintro", 1, 3),
        ("## One\ntext", 6, 7),
        ("## Two", 8, 8),
    ]


def test_long_section_is_cut_between_paragraphs():
    paragraph = "word " * 30
    found = split_passages(f"# T\n{paragraph}\n\n{paragraph}\n\n{paragraph}\n", 100)
    assert [(p.first, p.last) for p in found] == [(1, 2), (4, 4), (6, 6)]


def test_entry_of_a_daily_log_is_one_passage_that_names_its_item():
    log = (
        render_log_header("2026-02-24")
        + render_log_entry(make_item(1, "one"))
        + render_log_entry(make_item(2, "two"))
    )
    found = split_passages(log)
    assert [p.item_id for p in found] == ["", make_item(1).id, make_item(2).id]
    assert found[1].text.startswith("## observation (14:30 UTC)\n\none\n")


def test_passage_without_a_block_id_names_no_item():
    assert [p.item_id for p in split_passages("see ^M-1-aaaa here\n")] == [""]


@pytest.mark.parametrize("content", ["see ^M-1-aaaa", "see ^M-1-aaaa\nand more"])
def test_mention_of_another_id_does_not_make_an_entry_its_copy(content):
    found = split_passages(render_log_entry(make_item(1, content)))
    assert [p.item_id for p in found] == [make_item(1).id]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A\n\n## B\n", True),
        ("", True),
        ("# A\ntext", False),
        ("text", False),
        ("#tag", False),
        ("- x", False),
    ],
)
def test_headings_alone_say_nothing(text, expected):
    assert is_only_headings(text) is expected


@pytest.mark.parametrize("text", ["", "\n\n", "  \n\t\n"])
def test_blank_text_has_no_passages(text):
    assert split_passages(text) == []
