import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from formats.samples import HOSTILE, make_item
from mabos_cli.formats.markdown.blocks import LONGEST_TITLE, is_only_headings, plain_title
from mabos_cli.formats.markdown.scan import count_head, find_headings, scan
from mabos_cli.formats.memory.derived_md import render_log_entry, render_log_header
from mabos_cli.formats.memory.memory_md import add_consolidated, render_memory_header
from mabos_cli.formats.memory.notes import parse_notes
from mabos_cli.formats.mind.cognitive import parse_cognitive
from mabos_cli.formats.search.passages import split_passages

ROOT = Path(__file__).parents[3]
PAGES = sorted(path for folder in ("workspace-template", "docs", "fixtures") for path in (ROOT / folder).rglob("*.md"))
quick = settings(deadline=None, derandomize=True)
OUR_ID = re.compile(r" \^M-\d+-[0-9a-f]{4}\s*$")
BLOCK_ID = "ends here ^M-1700000000001-00aa"
# Lines that make scanners and parsers disagree.
STRUCTURE = (
    *("# h", "## h ##", "#", "#x", "   # i", "\t# t", "    # code", "- # t", "> # q", "####### seven"),
    *(
        "```",
        "````",
        "~~~~ x",
        "``` a`b",
        "   ```",
        "    ```",
        "> ```",
        "- ```",
        "<!-- a -->",
        "<div>",
        "<b>",
    ),
    *(
        "- x",
        "-",
        "2. x",
        "  y",
        "    z",
        "      - q",
        "  - b",
        "> - a",
        "- > a",
        "* * *",
        "- - -",
        "--- | ---",
    ),
    *("|-|", "a | b", "\xa0", "\r", "\x0c", "\u2028# x", "Setext", "-----", "title: x", "...", "\ufeff# x"),
)
lines = st.sampled_from((*HOSTILE, *STRUCTURE, BLOCK_ID, "word " * 12, "x" * 90, "A. " * 30, "", "", "plain"))
documents = st.lists(lines, max_size=30).map("\n".join)
anything = st.text(st.characters(exclude_categories=()) | st.sampled_from("\n\n#->`| \r^M1a"), max_size=200)
sizes = st.sampled_from((0, 1, 10, 40, 100, 1600))


def written(text):
    return {n for n, line in enumerate(text.split("\n"), 1) if line.strip()}


def heading_lines(text):
    """The lines of headings, counted from one."""
    source = [line.removesuffix("\r") for line in text.split("\n")]
    source[0] = source[0].removeprefix("\ufeff")
    found = scan(source, count_head(source)).headings
    return {heading.first + 1: heading for heading in found}


@quick
@given(documents | anything, sizes, sizes)
def test_passage_is_the_lines_that_it_cites(text, size, overlap):
    source = text.split("\n")
    for passage in split_passages(text, size, overlap):
        cited = "\n".join(source[passage.first - 1 : passage.last])
        is_piece = passage.first == passage.last and len(cited) > size
        assert passage.text in cited if is_piece else passage.text == cited
        assert source[passage.first - 1].strip() and source[passage.last - 1].strip()
        assert passage.text.strip()


@quick
@given(documents | anything, sizes, sizes)
def test_every_written_line_is_in_a_passage_or_is_a_title_above_the_next(text, size, overlap):
    passages = split_passages(text, size, overlap)
    cited = {n for passage in passages for n in range(passage.first, passage.last + 1)}
    for first, heading in heading_lines(text).items():
        span = {*range(first, heading.last + 2)}
        if not span & cited:
            below = next(passage for passage in passages if passage.first > first)
            assert plain_title(heading.title) in below.heading
            cited |= span
    assert written(text) <= cited


@quick
@given(documents | anything, sizes, sizes)
def test_passages_stand_in_order_and_none_lies_in_the_next(text, size, overlap):
    passages = split_passages(text, size, overlap)
    for one, two in pairwise(passages):
        assert one.first < two.first or (one.first == two.first == one.last == two.last)
        assert one.last <= two.last


@quick
@given(st.text(st.sampled_from("ab.  "), max_size=600), st.integers(1, 60))
def test_pieces_of_a_line_hold_all_of_it_in_order(text, size):
    found = split_passages(text, size, 0)
    assert all(len(passage.text) <= size for passage in found)
    assert "".join("".join(passage.text.split()) for passage in found) == "".join(text.split())


@quick
@given(st.integers(0, 400), st.integers(10, 200), st.integers(0, 100))
def test_pieces_of_a_line_repeat_whole_words(count, size, overlap):
    words = [f"w{n}" for n in range(count)]
    pieces = [passage.text.split() for passage in split_passages(" ".join(words), size, overlap)]
    told = []
    for piece in pieces:
        repeated = told.index(piece[0]) if piece[0] in told else len(told)
        assert len(" ".join(told[repeated:])) <= overlap
        told = told[:repeated] + piece
    assert told == words


@quick
@given(documents, sizes)
def test_no_passage_crosses_a_heading_or_a_block_id(text, size):
    headings = heading_lines(text)
    for passage in split_passages(text, size):
        assert not [n for n in headings if passage.first < n <= passage.last]
        assert not [line for line in passage.text.split("\n")[:-1] if line == BLOCK_ID]


@quick
@given(documents, st.sampled_from((10, 40, 100, 1600)))
def test_passage_stays_within_its_size(text, size):
    """An item's copy may be four times as long; a short heading is not counted where its section's first block needs all."""
    headings = heading_lines(text)
    for passage in split_passages(text, size):
        extra = size // 4 + passage.text.count("\n") if passage.first in headings else 0
        assert len(passage.text) <= (4 * size if passage.copy_of else size + extra)


def parse(body):
    """Headings, and ranges of fences and outer HTML, as markdown-it finds them."""
    parser = MarkdownIt("commonmark").enable("table").disable("reference")
    tokens, headings, whole = [], [], {}
    lines = [line if line.strip() else "" for line in body.split("\n")]
    parser.block.parse("\n".join(lines), parser, {}, tokens)
    for token in (token for token in tokens if token.map):
        first, last = token.map[0], token.map[1] - 1
        if token.type == "heading_open" and token.level == 0:
            if first == last or not any(map(OUR_ID.search, lines[first:last])):
                headings.append((first, last, int(token.tag[1])))
        elif token.type == "fence" or (token.type == "html_block" and token.level == 0):
            whole[first] = (last, token.level == 0)
    return headings, whole


def scanned(body):
    found = scan(body.split("\n"))
    whole = {h.first: (h.last, h.is_outer) for h in found.hidden if h.kind == "fence" or h.is_outer}
    return [heading[:3] for heading in found.headings], whole


@settings(deadline=None, derandomize=True, max_examples=400)
@given(documents)
@example("- a\n\n  # no\n")
@example("> a\n---\n# b")
@example("x\na | b\n--|--\nrow\n===")
@example("1. a\n\n   ```\n   # no\n   ```\n# b")
def test_scanning_finds_what_a_parser_of_commonmark_finds(text):
    body = text.rstrip().replace("\r", "").removeprefix("\ufeff")
    found = scan(body.split("\n"))
    assume(not found.unclosed and not any(h.kind == "comment" and not h.is_outer for h in found.hidden))
    assert scanned(body) == parse(body)


@pytest.mark.parametrize("mark", ["```", "~~~~ sh", "<!--", "- ```", "<script>"])
def test_what_is_never_closed_hides_nothing_from_search_or_mind(mark):
    text = f"# Beliefs\n\n## One\n\ncertainty: 0.9\n\n{mark}\n\n## Two\n\ncertainty: 0.8\n"
    assert [heading.title for heading in find_headings(text.split("\n"))] == ["Beliefs", "One", "Two"]
    assert [entry.title for entry in parse_cognitive(text).entries] == ["One", "Two"]
    assert [passage.heading for passage in split_passages(text)] == ["Beliefs", "Beliefs"]
    assert [note.titles for note in parse_notes(text, 1600).entries][-1] == ("Two",)


plain_parts = st.sampled_from(
    (
        *(
            "# One\n\n",
            "## Two words\n\n",
            "### *Three*\n",
            "###### six ######\n\n",
            "Some prose.\nSecond line.\n\n",
        ),
        *(
            "- item\n- item\n\n",
            "1. a\n2. b\n\n",
            "- a\n  more\n\n  still a\n    - b\n\n",
            "| a | b |\n|---|---|\n| 1 | 2 |\n\n",
        ),
        *(
            "> said\n> so\n\n",
            "```sh\n# no heading\n\n- x\n```\n\n",
            "~~~\n```\n## no\n~~~\n",
            "    # code\n\n",
            "* * *\n\n",
        ),
        *("\n---\n\n", "Text ^M-1-aaaa\n\n", "#tag\n\n", "[a]: b\n\n", "- # in a list\n- > # quoted\n\n"),
    )
)


@quick
@given(st.lists(plain_parts, max_size=12).map("".join))
def test_ordinary_notes_are_scanned_right(text):
    body = text.rstrip()
    assert scanned(body) == parse(body)


def test_templates_docs_and_fixtures_are_scanned_right():
    for path in PAGES:
        body = path.read_text("utf-8", "replace").removeprefix("\ufeff").rstrip()
        assert scanned(body) == parse(body), path


@quick
@given(st.lists(st.lists(lines, min_size=1, max_size=5).map("\n".join), min_size=1, max_size=4))
def test_entries_of_a_daily_log_are_scanned_right_and_one_passage_each(contents):
    items = [make_item(n, content) for n, content in enumerate(contents)]
    log = render_log_header("2026-02-24") + "".join(map(render_log_entry, items))
    assert scanned(log.rstrip()) == parse(log.rstrip())
    assert [p.copy_of for p in split_passages(log)] == [item.id for item in items]


def test_sections_and_their_lines():
    found = split_passages("# Title\n\nintro\n\n\n## One\ntext\n## Two\n\n")
    assert [(p.text, p.first, p.last, p.heading) for p in found] == [
        ("# Title\n\nintro", 1, 3, ""),
        ("## One\ntext", 6, 7, "Title"),
        ("## Two", 8, 8, "Title"),
    ]


def test_path_of_headings_is_what_stands_above():
    text = "# A\n## B\n### C\n" + "word " * 30 + "\n\n" + "more " * 30 + "\n## D\nx\n# E\ny\n"
    assert [(p.first, p.heading) for p in split_passages(text, 160)] == [
        (3, "A › B"),
        (6, "A › B › C"),
        (7, "A"),
        (9, ""),
    ]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# A *b* **c** `d_e` _f_ g_h ~~i~~", "A b c d_e f g_h i"),
        ("## [Text](http://x) and [[Note|alias]] [[Other]] ![i](j)", "Text and alias Other i"),
        ("# 2 * 3 \\* 4 <b>x</b> <!-- c --> <https://e.org>", "2 * 3 * 4 x https://e.org"),
        ("# C# ##", "C#"),
        ("# C#", "C#"),
        ("##", ""),
        ("# ##", ""),
        ("# Kept ^M-1-aaaa", "Kept"),
        ("# " + "x" * 500, "x" * (LONGEST_TITLE - 1) + "…"),
    ],
)
def test_title_is_the_words_of_a_heading(line, title):
    assert plain_title(scan([line]).headings[0].title) == title


def test_heading_too_long_for_a_path_has_a_passage():
    long = "# " + "word " * 60
    assert [p.first for p in split_passages(f"{long}\n## b\nx\n")] == [1, 2]


def test_heading_before_one_that_is_not_below_it_has_a_passage():
    assert [p.text for p in split_passages("# G\n\n## S\n\n## T\n")] == ["## S", "## T"]


def test_underlined_headings_are_headings():
    found = split_passages("Two\nlines\n===\nintro\n\nSub\n---\ntext\n")
    assert [(p.first, p.last, p.heading) for p in found] == [(1, 4, ""), (6, 8, "Two lines")]


@pytest.mark.parametrize(
    "text",
    [
        "a\n\n```sh\n# no\n```\nb",
        "a\n\n- x\n\n  ```\n  # no\n  ```\nb",
        "a\n\n    # no\n",
        "a\n<!--\n# no\n\n# no\n-->\nb",
        "<div>\n# no\n</div>",
        "- # no\n- b",
        "> # no\n> b",
        "- a\n\n  # no\n\n  b",
        "a\n#no\n\\# no",
        "---\ntitle: x\n# no\nb: c\n---\n",
    ],
)
def test_what_only_looks_like_a_heading_cuts_nothing(text):
    assert len(split_passages(text)) == 1


def test_nesting_deeper_than_is_followed_hides_nothing_behind_it():
    deep = "".join("  " * n + "- x\n" for n in range(200)) + "<b>\n\n# After\n\ny\n"
    assert split_passages(deep)[-1].text == "# After\n\ny"


def test_front_matter_is_a_passage():
    found = split_passages("---\ntitle: Deploy\ntags: [a]\n---\nintro\n\n# H\nx\n")
    assert [(p.first, p.last) for p in found] == [(1, 4), (5, 5), (7, 8)]
    assert [p.first for p in split_passages("\ufeff---\r\na: b\r\n---\r\n# H\r\nx")] == [1, 4]


@pytest.mark.parametrize(
    ("head", "above"), [('title: "Cats & dogs"', "Cats & dogs"), ("title: Food", ""), ("weight: 3", "")]
)
def test_title_of_a_page_is_above_all_its_passages(head, above):
    passages = split_passages(f"---\n{head}\n---\n# Food\nWhat they eat.\n")
    assert passages[-1].heading == above


def test_rules_around_prose_are_no_count_head():
    assert [p.first for p in split_passages("---\n\nprose\n\n# H\nx\n\n---\n")] == [1, 5]


def test_carriage_returns_stay_in_the_text():
    found = split_passages("# A\r\n\r\none\r\n## B\r\ntwo ^M-1-aaaa\r\n\r\nSet\r\n---\r\nx")
    assert [(p.text, p.heading, p.copy_of) for p in found] == [
        ("# A\r\n\r\none\r", "", ""),
        ("## B\r\ntwo ^M-1-aaaa\r", "A", "M-1-aaaa"),
        ("Set\r\n---\r\nx", "A", ""),
    ]


def test_rule_right_below_an_entry_does_not_make_it_a_heading():
    found = split_passages(render_log_entry(make_item(1, "one")) + "---\nmine\n")
    assert [(p.first, p.last, p.copy_of) for p in found] == [(2, 6, make_item(1).id), (7, 8, "")]


def test_long_section_is_cut_between_paragraphs():
    paragraph = ("word " * 20).strip()
    found = split_passages(f"# T\n{paragraph}\n\n{paragraph}\n\n{paragraph}\n", 100)
    assert [(p.first, p.last) for p in found] == [(1, 2), (4, 4), (6, 6)]


def test_items_and_rows_and_code_stay_whole_where_they_fit():
    item = "- point\n  more\n\n  same item\n"
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n"
    code = "```\nx = 1\n\ny = 2\n```\n"
    found = split_passages(f"{item}{item}{table}\n{code}", 40, 0)
    assert [(p.first, p.last) for p in found] == [(1, 4), (5, 8), (9, 11), (13, 17)]


def test_passages_of_a_section_overlap_by_whole_blocks():
    text = "\n\n".join(f"block {n} " + "x" * 20 for n in range(10))
    found = split_passages(text, 100, 30)
    assert [(p.first, p.last) for p in found] == [(1, 5), (5, 9), (9, 13), (13, 17), (17, 19)]
    assert [(p.first, p.last) for p in split_passages(text, 100, 27)][:2] == [(1, 5), (7, 11)]


def test_long_block_is_cut_between_lines_that_overlap():
    found = split_passages("```\n" + "line of code\n" * 20 + "```", 60, 26)
    assert [(p.first, p.last) for p in found][:3] == [(1, 5), (4, 7), (6, 9)]


def test_long_line_is_cut_at_sentences_then_words_then_anywhere():
    assert [p.text for p in split_passages("One two three. Four five six. Seven.", 20, 0)] == [
        "One two three.",
        "Four five six.",
        "Seven.",
    ]
    assert [p.text for p in split_passages("one two three four five", 10, 4)] == [
        "one two",
        "two three",
        "four five",
    ]
    assert [p.text for p in split_passages("a " + "x" * 25, 10, 4)] == ["a", "x" * 10, "x" * 10, "x" * 5]


def test_entry_of_a_daily_log_is_one_passage_that_names_its_item():
    log = (
        render_log_header("2026-02-24")
        + render_log_entry(make_item(1, "one"))
        + render_log_entry(make_item(2, "two\n\nthree\n\n" + "four " * 1000))
    )
    found = split_passages(log + "\nWords of a person.\n")
    assert [p.copy_of for p in found] == [make_item(1).id, make_item(2).id, ""]
    assert found[0].text.startswith("## observation (14:30 UTC)\n\none\n")
    assert {p.heading for p in found[:2]} == {"2026-02-24 — Agent Log"}


def test_pieces_of_a_very_long_entry_name_its_item():
    found = split_passages(render_log_entry(make_item(1, "A sentence of it. " * 3600)))
    assert len(found) > 40
    assert {p.copy_of for p in found} == {make_item(1).id}
    assert max(len(p.text) for p in found) <= 1600


def test_words_of_a_person_above_a_copy_are_not_the_copy():
    found = split_passages("## Notes\n\nmine\n\n- fact ^M-1-aaaa\n- fact ^M-2-bbbb\nmine too\n")
    assert [(p.first, p.last, p.copy_of) for p in found] == [
        (1, 3, ""),
        (5, 5, "M-1-aaaa"),
        (6, 6, "M-2-bbbb"),
        (7, 7, ""),
    ]


def test_heading_goes_with_the_copy_below_it():
    items = (make_item(1, "one\n\nmore"), make_item(2, "two"))
    found = split_passages(add_consolidated(render_memory_header("cfo"), items, "2026-02-24"))
    assert [p.copy_of for p in found] == [item.id for item in items]
    assert found[0].text.startswith("## Consolidated (2026-02-24)\n\n- **observation**")
    assert found[1].heading == "MEMORY.md - Long-Term Memory (cfo) › Consolidated (2026-02-24)"


def test_passage_without_a_block_id_names_no_item():
    assert [p.copy_of for p in split_passages("see ^M-1-aaaa here\n")] == [""]


@pytest.mark.parametrize("content", ["see ^M-1-aaaa", "see ^M-1-aaaa\nand more"])
def test_mention_of_another_id_does_not_make_an_entry_its_copy(content):
    found = split_passages(render_log_entry(make_item(1, content)))
    assert [p.copy_of for p in found] == [make_item(1).id]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A\n\n## B\n", True),
        ("", True),
        ("#", True),
        ("# A\ntext", False),
        ("text", False),
        ("#tag", False),
        ("- x", False),
    ],
)
def test_headings_alone_say_nothing(text, expected):
    assert is_only_headings(text) is expected


@pytest.mark.parametrize("text", ["", "\n\n", "  \n\t\n", "\r\n\r", "\ufeff", "\xa0\n\u2028"])
def test_blank_text_has_no_passages(text):
    assert split_passages(text) == []


GROWING = {
    "links": "![[](",
    "brackets": "[",
    "ticks": "`",
    "quotes": ">",
    "lists": "- ",
    "numbers": "1. ",
    "headings": "#\n",
    "underlines": "x\n-\n",
    "items": "- x\n",
    "comments": "<!--\n",
    "tags": "<a b\n",
    "fences": "```\n",
    "inner fences": "> ```\n",
    "rows": "a|b\n-|-\n",
    "targets": "[a]: b\n",
    "ids": "x ^M-1-aaaa\n",
    "blanks": " ",
    "empty": "\n",
    "returns": "\r",
    "lazy": "> - a\nb\n",
    "stops": ". ",
    "rules": "* * *\n",
    "loose": "- a\n\n  b\n\n",
}


@pytest.mark.parametrize("name", GROWING)
def test_hostile_shapes_are_split_and_nothing_is_left_out(name):
    """Parsed and scanned: shapes on which parsers of Markdown take quadratic time."""
    unit = GROWING[name]
    for length, end in ((16_000, "\n\n<b>\n"), (60_000, "")):
        text = unit * (length // len(unit)) + end
        covered = {line for p in split_passages(text) for line in range(p.first, p.last + 1)}
        written = {n for n, line in enumerate(text.split("\n"), 1) if line.strip() and not line.startswith("#")}
        assert written <= covered
