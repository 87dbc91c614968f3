import pytest
from hypothesis import given, settings

from formats.samples import hostile_texts, make_item
from mabos_cli.formats.memory.memory_md import add_consolidated, render_memory_header

quick = settings(deadline=None, derandomize=True)
DAY, NEXT = "2026-02-24", "2026-02-25"


def bullets(text):
    return [line for line in text.split("\n") if line.startswith("- ")]


def test_item_becomes_a_bullet_with_its_block_id():
    item = make_item(1, "We ship", type="decision", importance=0.8, tags=("a", "b"))
    assert add_consolidated(render_memory_header("cfo"), (item,), DAY) == (
        "# MEMORY.md - Long-Term Memory (cfo)\n\n## Consolidated (2026-02-24)\n\n"
        "- **decision** (0.80): We ship [a, b] ^M-1700000000001-00aa\n"
    )


def test_section_of_the_same_day_is_extended():
    once = add_consolidated("# M\n", (make_item(1),), DAY)
    twice = add_consolidated(once, (make_item(2),), DAY)
    assert twice.startswith(once)
    assert twice.count("## Consolidated") == 1
    assert len(bullets(twice)) == 2


def test_new_day_gets_a_new_section():
    once = add_consolidated("# M\n", (make_item(1),), DAY)
    twice = add_consolidated(once, (make_item(2),), NEXT)
    assert twice.startswith(once)
    assert [line for line in twice.split("\n") if line.startswith("##")] == [
        f"## Consolidated ({DAY})",
        f"## Consolidated ({NEXT})",
    ]


def test_section_that_is_no_longer_the_last_is_not_extended():
    once = add_consolidated("# M\n", (make_item(1),), DAY) + "\n## Mine\n\nwords\n"
    twice = add_consolidated(once, (make_item(2),), DAY)
    assert twice.startswith(once)
    assert twice.count(f"## Consolidated ({DAY})") == 2


def test_top_heading_of_a_person_ends_the_section():
    once = add_consolidated("# M\n", (make_item(1),), DAY) + "\n# Mine\n\nwords\n"
    assert add_consolidated(once, (make_item(2),), DAY).count(f"## Consolidated ({DAY})") == 2


@quick
@given(hostile_texts, hostile_texts)
def test_text_of_people_is_kept_byte_for_byte_and_adding_twice_changes_nothing(people, content):
    items = (make_item(1, content), make_item(2, "other", tags=("x",)))
    once = add_consolidated(people, items, DAY)
    assert once.startswith(people)
    assert add_consolidated(once, items, DAY) == once
    assert add_consolidated(once, items, NEXT) == once


def test_nothing_to_add_changes_nothing():
    assert add_consolidated("# M", (), DAY) == "# M"


def test_missing_final_newline_is_mended():
    assert add_consolidated("my words", (make_item(1),), DAY).startswith("my words\n\n## Consolidated")


def test_adding_twice_changes_nothing_for_a_foreign_id():
    item = make_item(1)._replace(id="mem-x")
    once = add_consolidated("# M\n", (item,), DAY)
    assert add_consolidated(once, (item,), DAY) == once


def test_adding_twice_changes_nothing_after_an_editor_changed_the_line_endings():
    item = make_item(1)
    saved = add_consolidated("# M\n", (item,), DAY).replace("\n", "\r\n")
    assert add_consolidated(saved, (item,), DAY) == saved


def test_item_is_added_although_another_mentions_its_id():
    mention = make_item(1, f"compare ^{make_item(2).id}\nand so on")
    once = add_consolidated("# M\n", (mention,), DAY)
    twice = add_consolidated(once, (make_item(2),), DAY)
    assert len(bullets(twice)) == 2


@quick
@given(hostile_texts)
def test_content_adds_no_bullet_heading_or_id_of_its_own(content):
    text = add_consolidated("# M\n", (make_item(1, content), make_item(2, "other")), DAY)
    assert len(bullets(text)) == 2
    assert [line for line in text.split("\n") if line.lstrip().startswith("#")] == [
        "# M",
        f"## Consolidated ({DAY})",
    ]


@pytest.mark.parametrize("hostile", ["fact\n## Fake", "fact**\n- **fact"])
def test_foreign_type_cannot_pass_for_structure(hostile):
    text = add_consolidated("# M\n", (make_item(1, type=hostile),), DAY)
    assert len(bullets(text)) == 1
    assert text.count("\n## ") == 1
