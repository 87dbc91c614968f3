import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from formats.samples import hostile_texts, make_item, plain_texts
from mabos_cli.core.memory.item import TYPES
from mabos_cli.formats.hierarchy.daily_log import parse_events
from mabos_cli.formats.memory.derived_md import render_log_entry, render_log_header

quick = settings(max_examples=70, deadline=None, derandomize=True)
DAY = "2026-02-24"
HEADER = render_log_header(DAY)
OF_OLD = "## decision (10:00 UTC)\n\nkeep Stripe\n\n[pricing] (manual) ^M-1-aaaa\n"


def events(text):
    return parse_events(text, DAY)


def told(text):
    return [e.text for e in events(text)]


def test_an_entry_is_an_event_with_all_that_it_says():
    item = make_item(1, "We ship.\nOn Friday.", type="decision", tags=("a", "b"), importance=0.87)
    [event] = events(HEADER + render_log_entry(item))
    assert (event.day, event.line, event.text, event.kind) == (DAY, 3, "We ship.\nOn Friday.", "decision")
    assert (event.tags, event.id, event.importance, event.time) == (("a", "b"), item.id, 0.87, "14:30")


entries = st.tuples(
    st.sampled_from(TYPES),
    hostile_texts | plain_texts,
    st.lists(st.sampled_from(("a", "b c", "x]", "(y)", "# z", "](x)")), max_size=3, unique=True).map(tuple),
    st.integers(0, 100).map(lambda n: n / 100),
)
notes = st.sampled_from(("", "\n- a note\n", "\n### Heading\n\nwords\nmore words\n", "\n> quoted\n", "\n***\n"))


@quick
@given(st.lists(st.tuples(entries, notes), min_size=1, max_size=4))
def test_every_entry_comes_back_whatever_stands_between(specs):
    items = [
        make_item(n, text, type=kind, tags=tags, importance=importance)
        for n, ((kind, text, tags, importance), _) in enumerate(specs)
    ]
    log = HEADER + "".join(render_log_entry(i) + note for i, (_, note) in zip(items, specs, strict=True))
    found = events(log)
    assert [(e.id, e.kind, e.text, e.tags, e.importance) for e in found if e.id] == [
        (i.id, i.type, i.content, i.tags, i.importance) for i in items
    ]
    assert [e.line for e in found] == sorted({e.line for e in found})
    assert sum(not e.id for e in found) == sum(any(c.isalnum() for c in note) for _, note in specs)


marks = st.sampled_from(
    (
        "---\n",
        "```\n",
        "<!--",
        "-->",
        "## fact (10:00 UTC)\n",
        "(a) 0.50 ^M-1-aaaa\n",
        "- ",
        "#",
        "\r\n",
        "\n",
    )
)


@quick
@given(st.lists(marks | hostile_texts | st.text(max_size=12), max_size=12).map("".join))
def test_any_text_gives_events_with_words_in_order(text):
    lines = text.removeprefix("\ufeff").split("\n")
    found = events(text)
    assert [e.line for e in found] == sorted(e.line for e in found)
    assert all(1 <= e.line <= len(lines) for e in found)
    assert all(e.id or any(c.isalnum() for c in e.text) for e in found)


@quick
@given(st.binary(max_size=60))
def test_any_bytes_are_a_log(data):
    assert isinstance(events(data.decode("utf-8", "replace")), list)


def test_entries_of_other_tools_have_no_importance_and_are_graded():
    [event] = events(HEADER + "\n" + OF_OLD)
    assert (event.importance, event.weight, event.id) == (None, 0.8, "M-1-aaaa")


@pytest.mark.parametrize(
    "line, importance",
    [
        ("- signed <!-- importance: 0.9 -->", 0.9),
        ("- signed <!-- importance: 9 -->", 0.9),
        ("- signed <!-- id: x importance: 99 -->", 1.0),
        ("- signed <!-- something else -->", None),
        ("- **outcome** (0.65): signed", 0.65),
    ],
)
def test_other_tools_say_importance_in_their_ways(line, importance):
    [event] = events(line)
    assert (event.text, event.importance) == ("signed", importance)


def test_importance_is_at_most_one():
    [event] = events(OF_OLD.replace("(manual)", "(manual) 1.99"))
    assert event.importance is None or event.importance <= 1


def test_items_and_paragraphs_under_headings_are_events():
    log = (
        f"{HEADER}\nA first\nparagraph #tag.\n\n## 09:15 - Standup\n\n- [x] one\n- two\n  goes on\n1. three\n"
        "\n### Berths ###\n> quoted\n\n# Title\nlast ^ref-1\n"
    )
    found = events(log)
    assert [(e.line, e.heading, e.time, e.text) for e in found] == [
        (3, "", "", "A first paragraph #tag."),
        (8, "Standup", "09:15", "one"),
        (9, "Standup", "09:15", "two goes on"),
        (11, "Standup", "09:15", "three"),
        (14, "Berths", "", "quoted"),
        (17, "", "", "last"),
    ]
    assert (found[0].tags, found[-1].id, {e.kind for e in found}) == (("tag",), "ref-1", {"note"})


@pytest.mark.parametrize("fence", ["```", "~~~", "  ```python"])
def test_code_is_no_event(fence):
    assert told(f"before\n{fence}\n- item\n# heading\n{fence.strip()[:3]}\nafter") == ["before", "after"]
    assert told(f"before\n{fence}\nnever closed") == ["before", "never closed"]


@pytest.mark.parametrize("text", ["", "\n", HEADER, "---", "***\n---\n", "<!-- hidden -->", "| - | - |", "…"])
def test_what_says_nothing_is_no_event(text):
    assert events(text) == []


@pytest.mark.parametrize("end", ["---", "..."])
def test_front_matter_is_no_event(end):
    log = f"---\ntitle: x\n## fact (10:00 UTC)\n{end}\n\n- a note\n\n{OF_OLD}"
    assert told(log) == ["a note", "keep Stripe"]
    assert told("\ufeff" + log) == ["a note", "keep Stripe"]
    assert [e.line for e in events(log)] == [6, 8]


def test_a_rule_that_is_never_closed_is_no_front_matter():
    assert told("---\n- a note\n") == ["a note"]


def test_prose_between_two_rules_is_no_front_matter():
    assert told("---\nWe moved to Oslo.\n---\n- a note\n") == ["We moved to Oslo.", "a note"]


def test_a_byte_order_mark_hides_nothing():
    assert told("\ufeff" + OF_OLD) == ["keep Stripe"]


def test_notes_with_the_line_ends_of_windows_are_read():
    log = "# 2026-02-24\n\n## Standup\n\n- one\n- two\n\nthree\n"
    assert events(log.replace("\n", "\r\n")) == events(log)


def test_entries_with_the_line_ends_of_windows_are_read():
    log = HEADER + render_log_entry(make_item(1, "two\nlines", tags=("a",))) + "\n" + OF_OLD
    assert events(log.replace("\n", "\r\n")) == events(log)


def test_a_log_of_one_long_word_and_of_many_lines():
    assert [len(text) for text in told("w" * 100_000)] == [100_000]
    assert len(events(HEADER + "- a line\n" * 5_000)) == 5_000


@pytest.mark.parametrize(
    "line",
    [
        "<!--" * 100_000,
        "# a" + " #" * 100_000 + "x",
        "## fact (10:00 UTC)\n\n[" + "] ()" * 100_000 + " ^",
        "\\" * 200_000 + "a",
    ],
)
def test_no_line_takes_for_ever(line):
    assert len(events(line)) <= 1


def test_a_note_behind_an_entry_is_an_event_of_its_own():
    assert told(OF_OLD + "\nA remark.\n\n- and one more\n") == ["keep Stripe", "A remark.", "and one more"]
    assert [e.heading for e in events(OF_OLD + "\n### Later\n\nA remark.\n")] == ["", "Later"]


def test_a_remark_that_ends_like_a_trailer_does_not_take_the_entry_over():
    found = events(OF_OLD + "\nSee the minutes\n(page 3) ^ref-1\n")
    assert (found[0].text, found[0].id) == ("keep Stripe", "M-1-aaaa")


def test_log_by_time_of_day_tells_one_event_for_each_time_and_what_was_decided() -> None:
    text = """# Daily Log: 2025-01-16

## Session Start
- **Time**: 08:15:00Z

## Events

### 08:15 - Gmail Check
- **Action**: Checked 23 new emails
- **Decisions**: Scheduled reply to John
- **Summary**: 3 flagged

### 09:30 - Code Session
- **Project**: Alpha
- **Notes**: Added retry logic

## Notes for Tomorrow
- Research Twilio
"""
    told = [(event.line, event.kind, event.time, event.text) for event in parse_events(text, "2025-01-16")]
    assert told == [
        (9, "note", "08:15", "Gmail Check: Action: Checked 23 new emails; Summary: 3 flagged"),
        (10, "decision", "08:15", "Gmail Check: Scheduled reply to John"),
        (14, "note", "09:30", "Code Session: Project: Alpha; Notes: Added retry logic"),
        (18, "plan", "", "Research Twilio"),
    ]
