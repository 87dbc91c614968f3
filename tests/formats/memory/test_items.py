import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.samples import any_text, items, make_item
from mabos_cli.core.memory.item import UNGRADED, Glance, MemoryItem, glance_of, is_ungraded, with_importance
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.memory.items import (
    find_line,
    glance_at,
    item_from_dict,
    item_to_dict,
    line_id,
    names_item,
    parse_item,
    render_item,
)

quick = settings(deadline=None, derandomize=True)
GOOD = {"id": "M-1-aaaa", "content": "x"}


def refusal(raw):
    with pytest.raises(InvalidFile) as refused:
        item_from_dict(raw, "store.json (working)")
    assert refused.value.message.startswith("store.json (working)")
    assert refused.value.hint
    return refused.value.message


@quick
@given(items)
def test_item_survives_writing_and_reading(item):
    line = render_item(item)
    assert b"\n" not in line
    assert parse_item(line, "f") == item
    assert render_item(parse_item(line, "f")) == line


def test_item_is_written_in_a_fixed_order_without_empty_options():
    item = make_item(1, "hello", tags=("a",), importance=0.8, context="why")
    assert list(item_to_dict(item).items()) == [
        ("id", item.id),
        ("content", "hello"),
        ("type", "observation"),
        ("importance", 0.8),
        ("source", "manual"),
        ("trust", "agent"),
        ("tags", ["a"]),
        ("created_at", item.created_at),
        ("accessed_at", ""),
        ("access_count", 0),
        ("context", "why"),
    ]


def test_every_field_is_written_and_read():
    full = MemoryItem(
        "M-1-aaaa", "c", "fact", 0.9, "tool:x", "untrusted", "ann", "s1", ("t",), "2026-01-01", "2026-01-02",
        "2026-01-03", 4, ("M-2-aaaa",), ("M-3-aaaa",), ("M-4-aaaa",), "M-5-aaaa", "why", "2027-01-01", (("mood", {"a": [1, None]}),),
    )  # fmt: skip
    assert all(full)
    assert item_from_dict(item_to_dict(full), "f") == full
    assert item_from_dict(json.loads(render_item(full)), "f") == full


def test_unknown_keys_are_kept_and_come_last():
    item = item_from_dict({"tier": "gold", **GOOD, "extra": {"deep": [1]}}, "f")
    assert list(item_to_dict(item))[-2:] == ["tier", "extra"]
    assert item_to_dict(item)["extra"] == {"deep": [1]}


def test_missing_and_null_fields_get_their_defaults():
    raw = {**GOOD, "type": None, "tags": None, "author": None, "importance": None}
    plain = MemoryItem("M-1-aaaa", "x", extra=(UNGRADED,))
    assert item_from_dict(raw, "f") == item_from_dict(GOOD, "f") == plain


def test_importance_that_nobody_gave_stays_open():
    item = item_from_dict({**GOOD, "mood": "good"}, "f")
    assert (item.importance, is_ungraded(item)) == (0.5, True)
    written = item_to_dict(item)
    assert written["importance"] is None and list(written)[-1] == "mood"
    assert item_from_dict(written, "f") == item
    assert item_to_dict(item._replace(importance=0.7))["importance"] == 0.7
    assert item_to_dict(with_importance(item, 0.5))["importance"] == 0.5


@pytest.mark.parametrize("raw", [None, [], "text", 5])
def test_item_that_is_no_object_is_refused(raw):
    assert "must be an object" in refusal(raw)


@pytest.mark.parametrize(
    "name",
    ["content", "type", "source", "trust", "author", "session", "created_at", "observed_at", "accessed_at",
     "context", "expires_at"],
)  # fmt: skip
@pytest.mark.parametrize("value", [5, [], {}, True])
def test_text_field_that_is_no_text_is_refused_by_name(name, value):
    assert refusal(GOOD | {name: value}).endswith(f"item M-1-aaaa: {name} must be text")


@pytest.mark.parametrize("name", ["tags", "derived_from", "related_to"])
@pytest.mark.parametrize("value", ["a", [1], ["a", None], {"a": 1}, 3])
def test_list_field_that_is_no_list_of_texts_is_refused_by_name(name, value):
    assert refusal(GOOD | {name: value}).endswith(f"item M-1-aaaa: {name} must be a list of texts")


@pytest.mark.parametrize("value", [-1, 1.5, "3", True, None])
def test_access_count_that_is_no_count_is_refused(value):
    assert "item M-1-aaaa: access_count" in refusal(GOOD | {"access_count": value})


@pytest.mark.parametrize("value", [2, -0.1, True, "0.5", float("inf")])
def test_importance_out_of_range_is_refused(value):
    assert "item M-1-aaaa: importance" in refusal(GOOD | {"importance": value})


def test_importance_too_large_for_a_float_is_refused():
    with pytest.raises(InvalidFile, match="importance"):
        parse_item(b'{"id": "M-1-aaaa", "content": "x", "importance": 1' + b"0" * 400 + b"}", "f")


@pytest.mark.parametrize("raw", [{"content": "x"}, {"id": "M-1-aaaa"}, {"id": "", "content": "x"}, {}])
def test_item_without_id_or_content_is_refused(raw):
    assert "id and content are required" in refusal(raw)


def test_id_is_read_from_a_line_without_decoding_it():
    assert line_id(render_item(make_item(1))) == make_item(1).id


@quick
@given(any_text.filter(bool))
def test_any_id_is_read_from_its_line(name):
    assert line_id(render_item(MemoryItem(name, "x"))) == name


@pytest.mark.parametrize("name", ['say "hi"', "back\\slash", "bell\x07", "right\u202eleft"])
def test_id_that_json_escapes_is_read_from_its_line(name):
    assert line_id(render_item(MemoryItem(name, "x"))) == name


@quick
@given(st.lists(items, max_size=4, unique_by=lambda item: item.id), items)
def test_line_of_an_item_is_found_by_its_id_alone(found, other):
    lines = [render_item(item) for item in found]
    for position, item in enumerate(found):
        assert find_line(lines, item.id) == position
    if other.id not in [item.id for item in found]:
        assert find_line(lines, other.id) is None


def test_line_is_not_found_by_the_beginning_of_its_id_or_by_its_content():
    lines = [render_item(MemoryItem("M-1-aaaab", '{"id": "M-2-aaaa",'))]
    assert find_line(lines, "M-1-aaaa") is None
    assert find_line(lines, "M-2-aaaa") is None


def test_file_names_the_items_that_it_holds():
    data = b"\n".join(render_item(make_item(n)) for n in (1, 2))
    assert names_item(data, make_item(2).id)
    assert not names_item(data, make_item(3).id)
    assert not names_item(data, make_item(2).id[:-1])


@quick
@given(items)
def test_glance_at_a_line_sees_what_decoding_it_shows(item):
    line = render_item(item)
    assert glance_at(line) == glance_of(parse_item(line, "x"))


def test_glance_at_a_line_of_another_layout():
    line = b'{"id": "mem-1", "type": "fact", "content": "a \\"quoted\\" word", "expires_at": "2027-01-01"}'
    assert glance_at(line) == Glance("mem-1", "fact", 0.5, 15, "", "", True)
