import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.samples import any_text, hostile_texts, make_item
from mabos_cli.formats.markdown.escape import is_as_generated
from mabos_cli.formats.memory.derived_md import (
    has_lapsed,
    render_domain,
    render_domain_entry,
)

quick = settings(deadline=None, derandomize=True)
UNTIL = "2026-03-26T14:30:00.000Z"


def test_entry_says_what_an_item_says_and_what_bears_on_it():
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
        "- (untrusted) 2026-02-20: Ada prefers calls\n  to mail\n  context: asked at kickoff; until 2026-03-26\n"
    )


def test_plain_entry_is_one_line_and_a_decision_has_its_day():
    assert render_domain_entry(make_item(1, "We bill per seat")) == "- We bill per seat\n"
    decided = make_item(1, "Bill per seat\n- because rooms differ", type="decision")
    assert render_domain_entry(decided) == "- 2026-02-24: Bill per seat\n  - because rooms differ\n"
    assert render_domain_entry(decided._replace(source="migrate:MEMORY.md", context="MEMORY.md:1-2")) == (
        "- Bill per seat\n  - because rooms differ\n"
    )


def test_entry_of_a_topic_says_its_type_and_not_the_topic():
    plan = make_item(1, "Ledger v2: cut over in May", type="plan")
    assert render_domain_entry(plan, "ledger-v2") == "- [plan] cut over in May\n"
    assert render_domain_entry(plan._replace(type="fact"), "ledger-v2") == "- cut over in May\n"


def test_front_matter_is_there_only_when_something_expires():
    entries = [render_domain_entry(make_item(1, "Ada"))]
    assert render_domain("people", entries, UNTIL).startswith(
        f'---\nvalid_until: "{UNTIL}"\n---\n\n# People (derived)\n'
    )
    assert render_domain("series-a", entries, page="2026-02").startswith("# Series a — 2026-02 (derived)\n\n- Ada\n")


@quick
@given(st.lists(st.tuples(hostile_texts | any_text, hostile_texts), max_size=4))
def test_what_items_say_makes_no_structure(specs):
    items = [
        make_item(n, content, context=other, tags=(other,), related_to=(other,), observed_at=other, expires_at=other)
        for n, (content, other) in enumerate(specs)
    ]
    text = render_domain("facts", [render_domain_entry(item) for item in items])
    assert is_as_generated(text)
    lines = [line for line in text.split("\n") if line and not line.startswith("  ")]
    assert [line[:2] for line in lines] == ["# ", *["- "] * len(items), "<!"]


def test_pages_are_listed_newest_first():
    text = render_domain("facts", [], pages=[("2026-01", 2, 90), ("2026-02", 1, 40), ("2026-01-2", 1, 30)])
    assert [line for line in text.split("\n") if line.startswith("- ")] == [
        "- [2026-02](facts/2026-02.md): 1 item, 40 tokens",
        "- [2026-01-2](facts/2026-01-2.md): 1 item, 30 tokens",
        "- [2026-01](facts/2026-01.md): 2 items, 90 tokens",
    ]
    assert "> 4 items on 3 pages, newest first." in text


@pytest.mark.parametrize(
    ("now", "edit", "lapsed"),
    [
        ("2026-03-26T14:30:00.000Z", "", True),
        ("2026-03-26T14:29:59.999Z", "", False),
        ("2027-01-01T00:00:00.000Z", "x", False),
    ],
)
def test_only_time_makes_a_file_lapse(now, edit, lapsed):
    assert has_lapsed(render_domain("facts", [], UNTIL) + edit, now) is lapsed
    assert not has_lapsed(render_domain("facts", []), now)
