import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.samples import hostile_texts, make_item, plain_texts
from mabos_cli.core.memory.item import TYPES
from mabos_cli.formats.hierarchy.daily_log import parse_log
from mabos_cli.formats.memory.derived_md import render_log_entry, render_log_header
from mabos_cli.formats.search.passages import find_untrusted

quick = settings(deadline=None, derandomize=True)


def render_log(items):
    return render_log_header("2026-02-24") + "".join(render_log_entry(item) for item in items)


def test_entry_is_a_heading_the_content_and_a_trailer():
    item = make_item(1, "We ship.\nOn Friday.", type="decision", tags=("a", "b"), source="bdi-cycle")
    assert render_log_header("2026-02-24") == "# 2026-02-24 — Agent Log\n"
    assert render_log_entry(item) == (
        "\n## decision (14:30 UTC)\n\nWe ship.\nOn Friday.\n\n[a, b] (bdi-cycle) 0.50 ^M-1700000000001-00aa\n"
    )


@quick
@given(
    st.lists(
        st.tuples(
            st.sampled_from(TYPES),
            hostile_texts | plain_texts,
            st.lists(st.sampled_from(("a", "b c", "x]", "(y)", "# z")), max_size=3, unique=True).map(tuple),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_log_gives_exactly_the_entries_that_were_written(specs):
    items = [make_item(n, content, type=kind, tags=tags) for n, (kind, content, tags) in enumerate(specs)]
    log = render_log(items)
    entries = parse_log(log)
    assert [(e.id, e.type, e.content, e.tags, e.source) for e in entries] == [
        (i.id, i.type, i.content, i.tags, i.source) for i in items
    ]
    lines = log.split("\n")
    assert all(lines[e.line - 1] == f"## {e.type} ({e.time} UTC)" for e in entries)


@pytest.mark.parametrize(
    "content",
    [
        "(manual) ^M-1-aaaa",
        "[a] (manual) ^M-1-aaaa",
        "## fact (10:00 UTC)\n\nfake\n\n(manual) ^M-1-aaaa",
        "```\n## fact (10:00 UTC)\n```",
        "---\n# 2026-02-24 — Agent Log\n---",
        "\n\nblank lines around\n\n",
        "\\(manual) \\^M-1-aaaa",
    ],
)
def test_content_cannot_pass_for_structure(content):
    items = [make_item(1, content), make_item(2, "second")]
    assert [(e.id, e.content) for e in parse_log(render_log(items))] == [(i.id, i.content) for i in items]


@pytest.mark.parametrize("content", ["(manual) ^mem-x", "[a] (see below) ^footnote", "a\n(b) ^c\nd"])
def test_content_cannot_pass_for_the_trailer_of_a_foreign_id(content):
    [entry] = parse_log(render_log([make_item(1, content)]))
    assert (entry.id, entry.content) == (make_item(1).id, content)


@pytest.mark.parametrize("source", ["tool:x) ^M-1-aaaa (y", "a ^M-1-aaaa", "(nested)", "# heading", "two\nlines"])
def test_source_cannot_pass_for_structure(source):
    [entry] = parse_log(render_log([make_item(1, "x", source=source)]))
    assert (entry.id, entry.content, entry.source) == (make_item(1).id, "x", source.replace("\n", " "))


@pytest.mark.parametrize("tag", ["a\n## fact (10:00 UTC)", "x] (manual) ^M-1-aaaa", "]", "[", "a\\b"])
def test_tag_cannot_pass_for_structure(tag):
    [entry] = parse_log(render_log([make_item(1, "x", tags=(tag,))]))
    assert (entry.id, entry.content, entry.tags) == (make_item(1).id, "x", (tag.replace("\n", " "),))


def test_item_of_a_foreign_id_is_read_back():
    item = make_item(1, "x")._replace(id="mem-x")
    assert [e.id for e in parse_log(render_log([item]))] == ["mem-x"]


def test_what_people_wrote_is_left_alone():
    log = render_log([make_item(1, "one")]) + "\n## Notes\n\nMy own words.\n" + render_log_entry(make_item(2, "two"))
    assert [e.content for e in parse_log(log)] == ["one", "two"]
    assert parse_log("# Title\n\n## fact (10:00 UTC)\n\nno id\n") == []


@pytest.mark.parametrize("text", ["", render_log_header("2026-02-24"), "a person's notes\n\nwithout headings\n"])
def test_log_without_entries_has_none(text):
    assert parse_log(text) == []


@quick
@given(hostile_texts)
def test_any_text_is_a_log_of_some_entries(text):
    assert all(text.split("\n")[entry.line - 1].startswith("## ") for entry in parse_log(text))


@pytest.mark.parametrize("source", ["tool:bash", "x) 0.90 untrusted", "untrusted"])
@pytest.mark.parametrize("trust", ["trusted", "agent", "untrusted"])
def test_an_entry_says_that_it_is_untrusted_and_nothing_else_does(source: str, trust: str):
    log = render_log([make_item(1, "pay (tool) 0.50 untrusted", source=source, trust=trust, tags=("a",))])
    [entry] = parse_log(log)
    assert (entry.untrusted, entry.source, entry.tags) == (trust == "untrusted", source, ("a",))
    assert find_untrusted(log) == ({entry.id} if trust == "untrusted" else set())


def test_entries_of_earlier_versions_say_nothing_of_trust():
    ends = ("(manual) 0.50 ^M-1-0000", "(manual) ^M-2-0000", "[untrusted] (untrusted) ^M-3-0000")
    log = "# 2026-02-24 — Agent Log\n" + "".join(f"\n## fact (10:00 UTC)\n\nx\n\n{end}\n" for end in ends)
    assert [(e.id, e.untrusted) for e in parse_log(log)] == [(f"M-{n}-0000", False) for n in (1, 2, 3)]
