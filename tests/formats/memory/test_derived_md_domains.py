import re

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.samples import any_text, hostile_texts, make_item
from mabos_cli.formats.markdown.escape import is_as_generated
from mabos_cli.formats.memory.derived_md import (
    has_lapsed,
    render_domain,
    render_domain_entry,
    render_domain_index,
    split_domain,
)

quick = settings(deadline=None, derandomize=True)
UNTIL = "2026-03-26T14:30:00.000Z"


def front_matter(text):
    head = re.match(r"---\n(.*?)\n---\n\n", text, re.DOTALL)
    assert head, text
    return yaml.safe_load(head[1])


def test_entry_says_all_that_is_known():
    item = make_item(
        1,
        "Ada prefers calls\nto mail",
        importance=0.8,
        tags=("people", "ada"),
        context="asked at\nkickoff",
        observed_at="2026-02-20T00:00:00.000Z",
        related_to=("M-1771943400000-0002", "mem-x"),
        expires_at=UNTIL,
        trust="untrusted",
    )
    assert render_domain_entry(item) == (
        "- **high** (0.80, 2026-02-20, untrusted): Ada prefers calls\n  to mail [people, ada]\n"
        "  context: asked at kickoff; related: [[2026-02-24#^M-1771943400000-0002]], mem-x; until 2026-03-26"
        " ^M-1700000000001-00aa\n"
    )


def test_plain_entry_is_one_line():
    assert render_domain_entry(make_item(1, "We bill per seat")) == (
        "- **medium** (0.50, 2026-02-24): We bill per seat ^M-1700000000001-00aa\n"
    )


def test_front_matter_is_flat_and_its_tags_start_with_a_letter():
    text = render_domain("007", "people", [render_domain_entry(make_item(1))], UNTIL)
    found = front_matter(text)
    assert found == {"agent": "007", "items": 1, "tags": ["mabos/people"], "valid_until": UNTIL}
    assert "valid_until" not in front_matter(render_domain("main", "people", []))


@quick
@given(st.lists(st.tuples(hostile_texts | any_text, hostile_texts), max_size=4))
def test_entries_are_those_of_the_items_whatever_they_say(specs):
    items = [
        make_item(n, content, context=other, tags=(other,), related_to=(other,), observed_at=other, expires_at=other)
        for n, (content, other) in enumerate(specs)
    ]
    entries = {item.id: render_domain_entry(item) for item in items}
    text = render_domain("cfo", "facts", list(entries.values()))
    assert split_domain(text) == entries
    assert is_as_generated(text)
    body = text.split("\n---\n", 1)[1]
    lines = [line for line in body.split("\n") if line and not line.startswith("  ")]
    assert [line[:5] for line in lines] == ["# Fac", "> Der", *["- **m"] * len(items), "<!-- "]
    assert len(re.findall(r"(?m)(?<= )\^M-\S+$", text)) == len(items)


def test_id_that_no_block_can_have_stands_in_brackets():
    entry = render_domain_entry(make_item(1)._replace(id="odd id ^M-1-aaaa"))
    assert entry.endswith(" (odd id \\^M-1-aaaa)\n")


def test_edited_file_offers_no_entries():
    text = render_domain("cfo", "facts", [render_domain_entry(make_item(1))])
    assert split_domain(text.replace("content", "other")) == {} == split_domain("")


def test_pages_are_listed_newest_first():
    text = render_domain_index("cfo", "facts", [("2026-01", 2, 90), ("2026-02", 1, 40), ("2026-01-2", 1, 30)])
    assert [line for line in text.split("\n") if line.startswith("- ")] == [
        "- [2026-02](facts/2026-02.md): 1 item, 40 tokens",
        "- [2026-01-2](facts/2026-01-2.md): 1 item, 30 tokens",
        "- [2026-01](facts/2026-01.md): 2 items, 90 tokens",
    ]
    assert front_matter(text)["items"] == 4


@pytest.mark.parametrize(
    ("now", "edit", "lapsed"),
    [
        ("2026-03-26T14:30:00.000Z", "", True),
        ("2026-03-26T14:29:59.999Z", "", False),
        ("2027-01-01T00:00:00.000Z", "x", False),
    ],
)
def test_only_time_makes_a_file_lapse(now, edit, lapsed):
    assert has_lapsed(render_domain("cfo", "facts", [], UNTIL) + edit, now) is lapsed
    assert not has_lapsed(render_domain("cfo", "facts", []), now)
