import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.samples import any_text, items, json_values, make_item
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.memory.items import (
    StoreFile,
    item_to_dict,
    parse_item,
    parse_page,
    parse_store,
    render_item,
    render_page,
    render_store,
)

quick = settings(deadline=None, derandomize=True)
OWN_KEYS = ("working", "short_term", "long_term", "version", "last_id", "pages")
item_tuples = st.lists(items, max_size=2).map(tuple)
stores = st.builds(
    StoreFile,
    working=item_tuples,
    short_term=item_tuples,
    long_term=st.lists(items.map(render_item), max_size=3),
    version=st.integers(0, 10**9),
    last_id=any_text,
    pages=st.dictionaries(any_text, st.integers(0, 100), max_size=2),
    extra=st.dictionaries(any_text.filter(lambda key: key not in OWN_KEYS), json_values, max_size=2),
)


def values(store):
    return {name: getattr(store, name) for name in vars(StoreFile())}


def sample_store():
    return StoreFile(
        working=(make_item(1, "one"),),
        short_term=(make_item(2, "two"), make_item(3, "three")),
        long_term=[render_item(make_item(n, f"long {n}")) for n in (4, 5, 6)],
        version=7,
        last_id="M-1700000000006-00aa",
        extra={"note": "of another tool"},
    )


@quick
@given(stores)
def test_store_survives_writing_and_reading(store):
    assert values(parse_store(render_store(store), "s")) == values(store)


@quick
@given(stores)
def test_written_store_is_plain_json_that_any_tool_reads(store):
    raw = json.loads(render_store(store))
    assert raw["working"] == [item_to_dict(item) for item in store.working]
    assert raw["long_term"] == [json.loads(line) for line in store.long_term]
    assert raw["version"] == store.version
    assert {key: raw[key] for key in store.extra} == store.extra


def test_layout_is_one_item_per_line():
    text = render_store(sample_store()).decode()
    assert text.startswith('{\n  "working": [\n    {"id": "M-1700000000001-00aa", ')
    assert text.endswith('  "last_id": "M-1700000000006-00aa",\n  "version": 7\n}\n')
    assert sum(line.startswith('    {"id": "M-') for line in text.split("\n")) == 6


def test_empty_store_has_every_list():
    assert render_store(StoreFile()) == (
        b'{\n  "working": [],\n  "short_term": [],\n  "long_term": [],\n  "version": 0\n}\n'
    )


def foreign_store():
    """A store as another tool writes it, with keys of its own everywhere."""
    return {
        "schema": {"name": "other", "v": [1, 2]},
        "version": 3,
        "long_term": [item_to_dict(make_item(n, f"long {n}", extra=(("tier", n),))) for n in (1, 2)],
        "short_term": [item_to_dict(make_item(3, "short\nof two lines"))],
        "working": [item_to_dict(make_item(4, "working ünïcode"))],
        "settings": None,
    }


@pytest.mark.parametrize("layout", [{"indent": 2}, {"indent": 4}, {}, {"indent": 2, "ensure_ascii": False}])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_store_in_the_layout_of_another_tool_loses_nothing(layout, newline):
    data = json.dumps(foreign_store(), **layout).replace("\n", newline).encode()
    store = parse_store(data, "s")
    assert [parse_item(line, "s").content for line in store.long_term] == ["long 1", "long 2"]
    assert json.loads(render_store(store)) == foreign_store()


@quick
@given(stores)
def test_any_store_in_the_layout_of_another_tool_loses_nothing(store):
    ours = render_store(store)
    indented = json.dumps(json.loads(ours), indent=2).encode()
    assert json.loads(render_store(parse_store(indented, "s"))) == json.loads(ours)


def test_reading_our_own_layout_keeps_long_term_lines_byte_for_byte():
    odd = b'{"id": "M-1-aaaa",   "content": "kept as it is",  "unknown":1.50, "importance": 0.10}'
    data = b'{\n  "working": [],\n  "short_term": [],\n  "long_term": [\n    %s,\n    %s\n  ],\n  "version": 1\n}\n'
    data %= (odd, render_item(make_item(2)))
    store = parse_store(data, "s")
    assert store.long_term[0] == odd
    assert render_store(store) == data


def test_store_above_the_size_of_the_full_check_is_split_by_text_alone():
    store = StoreFile(long_term=[render_item(make_item(n, "x" * 2000)) for n in range(700)], version=1)
    assert values(parse_store(render_store(store), "s")) == values(store)


def test_content_that_looks_like_our_layout_stays_content():
    tricky = make_item(1, '\n  "long_term": [\n    {"id": "x"}\n  ]\n},\n')
    store = StoreFile(working=(tricky,), long_term=[render_item(tricky)] * 2)
    assert values(parse_store(render_store(store), "s")) == values(store)


def test_items_that_share_a_line_are_all_read():
    lines = b", ".join(render_item(make_item(n)) for n in (1, 2))
    store = parse_store(b'{\n  "long_term": [\n    ' + lines + b"\n  ]\n}\n", "s")
    assert [parse_item(line, "s") for line in store.long_term] == [make_item(1), make_item(2)]


def test_truncated_store_is_refused_wherever_it_was_cut():
    data = render_store(sample_store()).rstrip(b"\n")
    for cut in range(len(data)):
        with pytest.raises(InvalidFile):
            parse_store(data[:cut], "s")


def test_large_store_cut_within_long_term_is_refused():
    data = render_store(StoreFile(long_term=[render_item(make_item(n, "x" * 2000)) for n in range(700)]))
    for cut in (len(data) // 2, len(data) - 20):
        with pytest.raises(InvalidFile):
            parse_store(data[:cut], "s")


@quick
@given(stores, st.data())
def test_damaged_store_is_read_or_refused_but_never_breaks_the_reader(store, data):
    whole = render_store(store)
    start = data.draw(st.integers(0, len(whole)))
    length = data.draw(st.integers(0, 8))
    damaged = whole[:start] + data.draw(st.binary(max_size=4)) + whole[start + length :]
    try:
        found = parse_store(damaged, "s")
    except InvalidFile as refused:
        assert refused.message.startswith("s")
    else:
        assert json.loads(render_store(found))


@pytest.mark.parametrize("damage", [b'"long 5', b'long 5"', b'"content": "long 5"', b'00aa", "content": "long 5"'])
def test_damaged_long_term_line_is_refused(damage):
    with pytest.raises(InvalidFile):
        parse_store(render_store(sample_store()).replace(damage, b"", 1), "s")


@pytest.mark.parametrize("marker_before", [b'  "short_term"', b'    {"id": "M-1700000000005', b'  "version"'])
def test_conflict_markers_are_refused_by_name(marker_before):
    data = render_store(sample_store())
    spot = data.index(marker_before)
    conflicted = data[:spot] + b"<<<<<<< HEAD\n=======\n>>>>>>> x\n" + data[spot:]
    line = data[:spot].count(b"\n") + 1
    with pytest.raises(InvalidFile, match=f"s:{line}: .*git conflict markers"):
        parse_store(conflicted, "s")


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ([], "must be an object"),
        ({"working": {}}, "working must be a list"),
        ({"short_term": None}, "short_term must be a list"),
        ({"long_term": "x"}, "long_term must be a list"),
        ({"working": [{"id": "M-1-aaaa"}]}, ":1: item M-1-aaaa: id and content"),
        ({"version": "1"}, "version must be a whole number"),
        ({"version": -1}, "version must be a whole number"),
        ({"version": True}, "version must be a whole number"),
        ({"pages": []}, "pages must be an object"),
        ({"pages": {"2026-02": "x"}}, "pages.2026-02 must be a whole number"),
    ],
)
def test_wrong_shape_is_refused_by_name(raw, problem):
    with pytest.raises(InvalidFile, match=problem):
        parse_store(json.dumps(raw).encode(), "s")


def test_missing_parts_are_empty():
    assert values(parse_store(b"{}", "s")) == values(StoreFile())


@quick
@given(st.lists(items.map(render_item), max_size=4))
def test_page_survives_writing_and_reading(lines):
    assert parse_page(render_page(lines), "p") == lines


def test_pages_are_written_sorted():
    data = render_store(StoreFile(pages={"2026-03": 1, "2026-01": 2}))
    assert b'\n  "pages": {"2026-01": 2, "2026-03": 1},\n' in data
