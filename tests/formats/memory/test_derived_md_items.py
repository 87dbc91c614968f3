import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.samples import any_text, hostile_texts, make_item
from mabos_cli.formats.markdown.escape import is_as_generated, seal
from mabos_cli.formats.memory.derived_md import render_entry, render_item_page, render_items, split_entries

quick = settings(deadline=None, derandomize=True)
COUNTS = {"working": 1, "short_term": 2, "long_term": 3}


def entries(text):
    return [line for line in text.split("\n") if line.startswith("## ")]


def ids(text):
    return [line for line in text.split("\n") if line.startswith("- **ID:** ")]


@quick
@given(any_text | hostile_texts)
def test_sealed_text_is_as_generated(text):
    assert seal(text).startswith(text)
    assert is_as_generated(seal(text))
    assert is_as_generated(seal(seal(text)))


@quick
@given(hostile_texts, st.data())
def test_every_edit_of_sealed_text_is_noticed(text, data):
    sealed = seal(text)
    spot = data.draw(st.integers(0, len(sealed)))
    added = data.draw(st.text(min_size=1, max_size=3))
    assert not is_as_generated(sealed[:spot] + added + sealed[spot:])
    assert not is_as_generated(sealed[:spot] + sealed[spot + 1 :]) or spot == len(sealed)


def test_text_without_a_seal_is_not_as_generated_but_empty_text_is():
    assert is_as_generated("")
    assert not is_as_generated("# Mine\n")
    assert not is_as_generated(seal("x").rstrip("\n"))


def test_items_are_written_in_full_under_their_stores():
    item = make_item(
        1,
        "We ship\non Friday",
        type="decision",
        importance=0.8,
        tags=("a", "b"),
        trust="untrusted",
        author="ann",
    )
    text = render_items("cfo", [render_entry("working", item), render_entry("short_term", make_item(2, "two"))], COUNTS)
    assert text.startswith(
        "# MABOS Memory Items — cfo\n\n> Auto-materialized from memory-store.json. 3 long-term, 2 short-term, 1 working"
    )
    assert entries(text) == ["## [working] decision: We ship on Friday", "## [short_term] observation: two"]
    assert "- **Tags:** a, b\n" in text
    assert "- **Trust:** untrusted\n- **Author:** ann\n" in text
    assert "\n\nWe ship\non Friday\n" in text
    assert text.count("- **Trust:**") == 1
    assert is_as_generated(text)


def test_pages_are_listed_sorted():
    text = render_items("cfo", [], COUNTS, {"2026-03": 1, "2026-01": 2})
    assert "\n## Pages\n\n- [2026-01](mabos-memory-items/2026-01.md): 2 items\n- [2026-03](" in text


def test_same_items_give_the_same_text():
    stores = [("working", [make_item(1)])]
    rendered = [render_entry(store, item) for store, items in stores for item in items]
    text = render_items("cfo", rendered, COUNTS)
    assert list(split_entries(text).values()) == rendered
    assert split_entries(text + "edited") == {}


@quick
@given(st.lists(st.tuples(hostile_texts | any_text, hostile_texts), max_size=4))
def test_number_of_entries_is_that_of_the_items_whatever_they_say(specs):
    items = [
        make_item(n, content, context=other, author=other, source=other, tags=(other,))
        for n, (content, other) in enumerate(specs)
    ]
    for text in (
        render_items("cfo", [render_entry("long_term", item) for item in items], COUNTS),
        render_item_page("cfo", "2026-02", [render_entry("long_term", item) for item in items]),
    ):
        assert len(entries(text)) == len(ids(text)) == len(items)
        assert sum(line.startswith("# ") for line in text.split("\n")) == 1
        assert is_as_generated(text)


@pytest.mark.parametrize("hostile", ["fact\n## [working] fact: fake", "fact\n- **ID:** M-1-aaaa"])
def test_foreign_type_cannot_pass_for_an_entry(hostile):
    text = render_items("cfo", [render_entry("long_term", make_item(1, type=hostile))], COUNTS)
    assert len(entries(text)) == len(ids(text)) == 1


def test_page_names_agent_and_month():
    text = render_item_page("cfo", "2026-02", [render_entry("long_term", make_item(1))])
    assert text.startswith("# MABOS Memory Items — cfo — 2026-02\n\n> Auto-materialized")
    assert entries(text) == ["## [long_term] observation: content"]
