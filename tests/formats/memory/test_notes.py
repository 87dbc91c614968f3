import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.samples import HOSTILE, make_item
from mabos_cli.core.memory.migration import Note
from mabos_cli.formats.memory.derived_md import render_log_entry, render_log_header
from mabos_cli.formats.memory.memory_md import add_consolidated, render_memory_header
from mabos_cli.formats.memory.notes import ENTRY, HEADING, SKIPPED, Notes, find_marks, parse_notes

MONOLITH = Path(__file__).parents[3] / "fixtures/monolith"
quick = settings(deadline=None, derandomize=True)


def parse(text: str, size: int = 1600, **more) -> Notes:
    return parse_notes(text, size, **more)


def told(text: str, size: int = 1600, **more) -> list[tuple[int, int, str]]:
    return [note[:3] for note in parse(text, size, **more).entries]


def test_item_of_a_list_holds_what_is_nested_in_it() -> None:
    text = "- Urgent is:\n  - fire\n  - water\n\n  and nothing else\n- Rest waits\n"
    assert told(text) == [(1, 5, "Urgent is:\n- fire\n- water\n\nand nothing else"), (6, 6, "Rest waits")]


def test_paragraphs_numbers_and_quotes() -> None:
    text = "One\ntwo.\n\n1. First\n2) Second\n\n> Said\n> so\n"
    assert told(text) == [(1, 2, "One\ntwo."), (4, 4, "First"), (5, 5, "Second"), (7, 8, "Said\nso")]


def test_sentence_that_ends_with_a_number_keeps_it() -> None:
    assert told("Mara left at 15:30.\n") == [(1, 1, "Mara left at 15:30.")]


def test_headings_are_the_path_of_an_entry_without_the_title_of_the_file() -> None:
    found = parse("# Me\nA\n## B\n### **C**\nD\n## E\nF\n").entries
    assert [note.titles for note in found] == [("Me",), ("B", "C"), ("E",)]


def test_row_of_a_table_is_an_entry_that_names_its_columns() -> None:
    found = parse("| Name | Role |\n|:--|--:|\n| Ada | CFO <!-- importance: 9 --> |\n| Bob | |\n| a\\|b | c | d |\n")
    assert [note[:3] for note in found.entries] == [
        (3, 3, "Name: Ada; Role: CFO"),
        (4, 4, "Name: Bob"),
        (5, 5, "Name: a|b; Role: c; d"),
    ]
    assert found.entries[0].marks == (("importance", "9"),)
    assert found.labels == ("table_head", "table_head", ENTRY, ENTRY, ENTRY, "")


def test_row_of_names_and_values_is_a_pair() -> None:
    assert told("| Short | Means |\n|--|--|\n| FL | a tile |\n| RK | |\n") == [
        (3, 3, "FL: a tile"),
        (4, 4, "Short: RK"),
    ]


def test_table_without_rows_is_text() -> None:
    assert told("| Name | Role |\n|---|---|\n") == [(1, 2, "| Name | Role |\n|---|---|")]


def test_code_is_one_entry_and_goes_with_the_line_that_introduces_it() -> None:
    text = "Roll back:\n\n```bash\n# not a heading\n\nmake back\n```\n\n~~~\nalone\n~~~\n"
    assert told(text) == [
        (1, 7, "Roll back:\n\n```bash\n# not a heading\n\nmake back\n```"),
        (9, 11, "~~~\nalone\n~~~"),
    ]


def test_code_behind_a_row_or_a_cut_line_stands_alone() -> None:
    row = "| A | B |\n|--|--|\n| a | b: |\n\n```\nx\n```\n"
    assert told(row) == [(3, 3, "A: a; B: b:"), (5, 7, "```\nx\n```")]
    cut = "One two three. Four five:\n```\nx\n```\n"
    assert told(cut, 16) == [(1, 1, "One two three."), (1, 1, "Four five:"), (2, 4, "```\nx\n```")]


def test_boxes_are_told_apart() -> None:
    found = parse("- [ ] a\n- [x] b\n- [X] c\n- d [x]\n").entries
    assert [(note.text, note.box) for note in found] == [("a", "-"), ("b", "x"), ("c", "x"), ("d [x]", "")]


def test_comments_of_known_keys_are_marks_and_others_stay() -> None:
    text = "- a <!-- observed: 2026-01-10 | status: active -->\n- b <!-- ask Bob --> <!-- trigger: x, y -->\n"
    assert [(note.text, note.marks) for note in parse(text).entries] == [
        ("a", (("observed", "2026-01-10"), ("status", "active"))),
        ("b <!-- ask Bob -->", (("trigger", "x, y"),)),
    ]
    assert find_marks("<!-- Importance : 7 -->") == (("importance", "7"),)


def test_comment_on_a_line_of_its_own_is_of_the_entry_above_or_of_the_section() -> None:
    text = "## P\n<!-- status: done -->\n\n- a\n<!-- importance: 3 -->\n- b\n\n<!-- importance: 9 -->\n\n## Q <!-- status: paused -->\nc\n"
    found = parse(text)
    assert [(note.first, note.last, note.text, note.marks) for note in found.entries] == [
        (4, 5, "a", (("status", "done"), ("importance", "3"))),
        (6, 6, "b", (("status", "done"),)),
        (11, 11, "c", (("status", "paused"),)),
    ]
    assert [n for n, label in enumerate(found.labels, 1) if label == "comment"] == [2, 8]


def test_what_gives_no_entry_says_why() -> None:
    text = "---\na: b\n---\n# T\n\n- [A](#a)\n  - [B](#b)\n\n***\n\n-\n\n<!-- later -->\n"
    found = parse(text)
    assert not found.entries
    assert [label for label in found.labels if label] == [
        *["front_matter"] * 3,
        "heading",
        *["contents"] * 2,
        "rule",
        "empty",
        "comment",
    ]


def test_template_is_no_note() -> None:
    template = "# Memory\n\nA log for people. `MEMORY.md` holds the rest.\n"
    assert told(f"{template}\nMine.\n", template=template) == [(5, 5, "Mine.")]


def test_copies_of_items_are_left_out_and_what_people_wrote_between_them_is_not() -> None:
    one, two = make_item(1, "First\n\n- a list\n# odd"), make_item(2, "Second")
    log = render_log_header("2026-02-24") + render_log_entry(one) + "\nA remark.\n" + render_log_entry(two)
    assert [note.text for note in parse(log).entries] == ["A remark."]
    memory = add_consolidated(render_memory_header("main") + "\n- Mine\n", (one, two), "2026-02-24")
    found = parse(memory + "- Yours\n")
    assert [note.text for note in found.entries] == ["Mine", "Yours"]
    assert set(found.labels) == {"", HEADING, ENTRY, "copy"}


def test_bullet_from_a_log_is_told_without_its_place() -> None:
    text = "- Chose \\[A\\] over B ([2026-02-10:5](memory/2026-02-10.md)) ^L-0a1b2c\n"
    assert told(text) == [(1, 1, "Chose [A] over B")]


def test_long_entry_is_cut_at_paragraphs_and_each_part_cites_its_lines() -> None:
    text = "- head\n  - " + "a" * 30 + "\n  - " + "b" * 30 + "\n\n  " + "c" * 30 + " <!-- importance: 8 -->\n"
    found = parse(text, 50).entries
    assert [(n.first, n.last, n.text) for n in found] == [
        (1, 2, "head\n- " + "a" * 30),
        (3, 3, "b" * 30),
        (5, 5, "c" * 30),
    ]
    assert {note.marks for note in found} == {(("importance", "8"),)}


def test_long_line_is_cut_at_sentences_on_the_same_line() -> None:
    assert told("One two three. Four five six.\n", 20) == [(1, 1, "One two three."), (1, 1, "Four five six.")]


def test_short_entries_are_left_out_where_that_is_asked_for() -> None:
    found = parse("- abc\n- abcd\n", least=4)
    assert (found.entries[0].text, found.labels) == ("abcd", ("short", ENTRY, ""))


def test_line_endings_and_byte_order_mark_are_no_text() -> None:
    assert parse("\ufeff# A\r\n- b\r\n  c\r\n") == Notes(
        (Note(2, 3, "b\nc", ("A",), page="A"),), (HEADING, ENTRY, ENTRY, "")
    )


LINES = (
    *(
        "# h",
        "## 2026-02-24: h",
        "### h <!-- status: done -->",
        "text",
        "more text 15:30.",
        "a | b",
        "| a | b |",
        "|---|---|",
    ),
    *(
        "- item",
        "  - nested",
        "    deep",
        "1. one",
        "- [ ] box",
        "- [x]",
        "-",
        "> quote",
        "```",
        "~~~ x",
        "---",
        "***",
        "===",
    ),
    *(
        "x <!-- importance: 7 -->",
        "<!-- trigger: a, b -->",
        "<!-- open",
        "closed -->",
        "[A](#a)",
        "- [B](#b)",
        "[TOC]",
    ),
    *(
        "copy ^M-1700000000001-00aa",
        "other ^L-12",
        "ends with:",
        "👍",
        "é",
        "<div>",
        "</div>",
        "word " * 12,
        "x" * 90,
    ),
    *(
        "## fact (10:00 UTC)",
        "(manual) 0.50 ^M-1700000000002-00ab",
        "",
        "",
        "  ",
        "\t- tab",
        "a\\|b",
        "\r",
        "...",
    ),
)
documents = st.lists(st.sampled_from((*LINES, *HOSTILE)), max_size=30).map("\n".join)
anything = st.text(st.characters(exclude_categories=("Cs",)) | st.sampled_from("\n\n#->`| ^M1a"), max_size=200)
MARK = re.compile(r"^\s*(?:> ?)*\s*(?:(?:[-+*]|\d{1,9}[.)])(?:\s+(?:\[[ xX]\](?:\s+|$))?|$))?")
COMMENT = re.compile(r"<!--\s*(?:importance|trigger|status):[^<>]*-->")
TRAIL = re.compile(r"(?:^|\s)\^[\w-]+\s*$")


def letters(text: str) -> str:
    return "".join(c for c in text if c.isalnum())


@quick
@given(documents | anything, st.sampled_from((1, 10, 40, 1600)))
def test_no_written_line_is_lost(text: str, size: int) -> None:
    lines = text.split("\n")
    found = parse(text, size)
    assert len(found.labels) == len(lines)
    said = dict.fromkeys(range(1, len(lines) + 1), "")
    for note in found.entries:
        assert lines[note.first - 1].strip() and lines[note.last - 1].strip() and note.text.strip()
        assert len(note.text) <= size
        for number in range(note.first, note.last + 1):
            said[number] += letters(note.text)
    for number, (line, label) in enumerate(zip(lines, found.labels, strict=True), 1):
        line = line.removeprefix("\ufeff") if number == 1 else line
        assert bool(label) == bool(line.strip())
        own = MARK.sub("", TRAIL.sub("", COMMENT.sub("", line)))
        if label == ENTRY:
            assert all(letters(part) in said[number] for part in own.split("|")), (number, line)
        elif label in ("rule", "empty"):
            assert not letters(own), (number, line)
        else:
            assert not label or label in (HEADING, *SKIPPED)


@pytest.mark.parametrize("name", ["MEMORY.md", *(f"memory/2026-02-{day}.md" for day in (16, 17, 18))])
def test_monolith_is_told_whole(name: str) -> None:
    text = (MONOLITH / name).read_text("utf-8")
    found = parse(text)
    said = " ".join(note.text for note in found.entries)
    for line, label in zip(text.split("\n"), found.labels, strict=True):
        if label == ENTRY:
            own = MARK.sub("", re.sub(r"<!--.*?-->", "", line))
            assert all(letters(part) in letters(said) for part in own.split("|")), line
    left = {label for label in found.labels if label not in ("", ENTRY, HEADING)}
    assert left <= {"front_matter", "contents", "table_head", "rule", "comment"}


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("_Last updated: 2026-02-20_", ["boilerplate"]),
        ("> Last Updated: 2025-01-16T14:32:00Z\n> Version: 1.3\n> Agent: ClawWin-01", ["boilerplate"] * 3),
        ("---\nAuto-generated summary, do not edit by hand", ["rule", "boilerplate"]),
        ("**Contents:** [Me](#me) · [Money](#money)", ["contents"]),
        ("- **Duration**: 9h 08m", ["boilerplate"]),
        ("- Do not edit `schema.sql`: it is generated by sqlc", ["entry"]),
        ("Updated the price list for March", ["entry"]),
        ("- Deadline: 2026-04-15", ["entry"]),
    ],
)
def test_what_a_file_says_about_itself_is_no_entry(text: str, labels: list[str]) -> None:
    assert [label for label in parse(f"# A\n\n{text}\n").labels if label][1:] == labels


def test_line_before_a_list_is_its_heading_and_ends_with_it() -> None:
    found = parse("# A\n## B\nThings I prefer:\n- tea\n\n**2025-12-15: Wei stays.**\n- cheap\n\nAfterwards.\n").entries
    assert [(note.text, note.titles) for note in found] == [
        ("tea", ("B", "Things I prefer")),
        ("cheap", ("B", "2025-12-15: Wei stays.")),
        ("Afterwards.", ("B",)),
    ]


def test_several_headings_of_the_first_level_are_no_title() -> None:
    found = parse("# Me\n- tall\n# Projects\n## Shop\n- open\n").entries
    assert [note.titles for note in found] == [("Me",), ("Projects", "Shop")]
