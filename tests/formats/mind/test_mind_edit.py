"""New and changed entries in the shape that a file has, and what hostile words cannot do to it."""

from pathlib import Path

import pytest

from mabos_cli.formats.mind.attitudes import KINDS, find_entry, parse_attitudes, parse_beliefs, priority_of
from mabos_cli.formats.mind.cognitive import Entry, parse_cognitive
from mabos_cli.formats.mind.cognitive_edit import Change, count_revision, log_change, reorder, set_field
from mabos_cli.formats.mind.mind_edit import Draft, add_entry, add_note, change_entry, next_id

AGENTS = Path(__file__).parents[3] / "fixtures/business/agents"
DAY = "2026-02-24"
INTENTION = Draft(
    "intention",
    "",
    "Call them",
    fields={"status": "active", "goal": "G-1", "deadline": "2026-03-06", "updated": DAY},
)
GOAL = Draft(
    "goal",
    "",
    "Be calm",
    fields={"type": "tactical", "priority": "high", "status": "active", "deadline": "2026-03-06"},
)
HOSTILE = (
    *("a | b", "a \\| b", "ends in \\", "[status: gone]", "status: gone", "Status: gone", "## x", "- x status: gone", "one\n## two"),
    *("-->", "<!--", "```", "~~~\nx", "| ID | Goal |\n|---|---|\n| G-9 | x |", "<b>", "\x00\x1b[31m", "] [", "# x #"),
)  # fmt: skip


def text_of(agent: str, kind: str) -> str:
    with (AGENTS / agent / KINDS[kind].file).open(encoding="utf-8", newline="") as file:
        return file.read()


def added(old: str, new: str) -> list[str]:
    """The lines that are new; all others are there, in order."""
    rest = iter(new.split("\n"))
    assert all(line in rest for line in old.split("\n"))
    left, found = old.split("\n"), []
    for line in new.split("\n"):
        if left and line == left[0]:
            left.pop(0)
        else:
            found.append(line)
    return found


def entry_of(text: str, kind: str, name: str) -> Entry:
    entry = find_entry(parse_cognitive(text), kind, name)
    assert entry
    return entry


def entries_of(text: str) -> list[tuple[object, ...]]:
    return [
        (e.shape, e.title, e.text, {n: f.value for n, f in e.fields.items()}) for e in parse_cognitive(text).entries
    ]


# Where new entries go, and what they look like.


@pytest.mark.parametrize(
    ("agent", "lines"),
    [
        ("ceo", ["", "### I-CEO-005: Call them", "- status: active", "- **Goal:** G-1", "- **Deadline:** 2026-03-06", f"- **Updated:** {DAY}"]),
        ("cfo", ["", "## I-CFO-006: Call them", "", "status: active", "Goal: G-1", "[deadline: 2026-03-06]", f"[updated: {DAY}]"]),
        ("cmo", [f"- I-CMO-005: Call them, status: active [goal: G-1] [deadline: 2026-03-06] [updated: {DAY}]"]),
        ("coo", [f"| I-COO-005 | Call them | G-1 | active | 2026-03-06 | {DAY} |"]),
        ("cto", [f"- **I-CTO-005** Call them, status: active [goal: G-1] [deadline: 2026-03-06] [updated: {DAY}]"]),
        ("ontology", [f"3. I-ONT-003 Call them, status: active [goal: G-1] [deadline: 2026-03-06] [updated: {DAY}]"]),
        ("sales", [f"- [ ] I-SAL-005 Call them, status: active [goal: G-1] [deadline: 2026-03-06] [updated: {DAY}]"]),
        ("support", [f"-\tI-SUP-004: Call them, status: active [goal: G-1] [deadline: 2026-03-06] [updated: {DAY}]"]),
    ],
)  # fmt: skip
def test_an_intention_has_the_shape_of_the_others(agent: str, lines: list[str]):
    text = text_of(agent, "intention")
    new, own = add_entry(text, INTENTION, DAY)
    assert sorted(added(text, new)) == sorted(lines)
    found = next(each for each in parse_attitudes(new, "intention", "")[0] if each.id == own)
    assert (found.title, found.status, found.deadline, found.updated) == (
        "Call them",
        "active",
        "2026-03-06",
        DAY,
    )
    assert found.linked("goal") == ("G-1",)


def test_a_goal_as_nested_bullets_is_written_as_the_others_are():
    text = text_of("cfo", "goal")
    new, own = add_entry(text, GOAL, DAY, "Tactical")
    assert own == "G-CFO-T3"
    assert "\n".join(added(text, new)) == (
        "- **G-CFO-T3**: Be calm\n  - Priority: High\n  - Status: Active\n  - Deadline: 2026-03-06"
    )


def test_what_a_table_has_no_column_for_is_read_back_from_brackets():
    text = text_of("ceo", "desire")
    draft = Draft("desire", "", "Be calm", "At night.", {"priority": "low", "status": "active", "motivates": "G-1"})
    new, own = add_entry(text, draft, DAY)
    assert added(text, new) == [f"| {own} | Be calm [text: At night.] [motivates: G-1] | Low | Active |"]
    desire = next(each for each in parse_attitudes(new, "desire", "")[0] if each.id == own)
    assert (desire.title, desire.text, desire.links) == ("Be calm", "At night.", {"motivates": ("G-1",)})


def test_the_words_of_a_cell_change_and_its_brackets_stay():
    text = "| ID | Belief | Value |\n|---|---|---|\n| B-1 | x | old [source: mail] [updated: 2026-01-01] |\n"
    new = change_entry(text, entry_of(text, "belief", "B-1"), {"text": "new", "certainty": "0.4"})
    assert new == text.replace("old", "new").replace("x | new", "x | new [certainty: 0.4]")


def test_a_new_group_is_made_and_an_old_one_is_found():
    new = add_entry("# Desires\n", Draft("desire", "", "Calm", fields={"priority": "0.5"}), DAY, "Terminal")[0]
    again = add_entry(new, Draft("desire", "", "Sleep", fields={"priority": "0.4"}), DAY, "terminal")[0]
    assert [(h.level, h.title) for h in parse_cognitive(again).headings] == [
        (1, "Desires"), (2, "Terminal"), (3, "D-001: Calm"), (3, "D-002: Sleep"),
    ]  # fmt: skip


def test_a_section_goes_behind_its_like_though_another_group_has_the_same_name():
    text = "## Ideas\n\nwords\n\n# Part two\n\n## Ideas\n\n### G-1: a\nstatus: active\n\n## Other\n"
    new = add_entry(text, GOAL, DAY)[0]
    assert new.index("## Ideas\n\n### G-1") < new.index("### G-2") < new.index("## Other")


# Ids.


def test_ids_continue_the_pattern_of_their_siblings():
    text = text_of("ceo", "goal")
    place = [entry for entry in parse_cognitive(text).entries if entry.get("type") == "tactical"]
    assert next_id(parse_cognitive(text), "goal", place) == "G-CEO-T3"
    assert [add_entry(text_of("ceo", "belief"), Draft("belief", "", "x"), DAY, g)[1] for g in ("Self Beliefs", "Agent Beliefs")] == [
        "BS-003", "BA-005",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("# Goals\n", "G-001"),
        ("## G-7: a\nstatus: active\n", "G-8"),
        ("## G-009: a\nstatus: active\n", "G-010"),
        ("## G-1: a\nstatus: active\n\nReplaces G-2, see also XG-3 and G-3x.\n", "G-3"),
        ("## G-1: a\nstatus: active\n\n<!-- G-2 and G-3 were dropped -->\n", "G-4"),
        ("| ID | Goal |\n|---|---|\n| — | a |\n", "G-001"),
    ],
)
def test_an_id_that_is_named_anywhere_is_not_given_again(text: str, own: str):
    assert add_entry(text, GOAL, DAY)[1] == own


# Changes.


def test_a_status_of_many_words_stands_in_brackets_among_the_words_of_an_item():
    text = "- I-1: Ship it, status: active [updated: 2026-01-01]\n"
    new = change_entry(text, entry_of(text, "intention", "I-1"), {"status": f"dropped ({DAY}: lost (again))"})
    assert new == f"- I-1: Ship it, [status: dropped ({DAY}: lost (again))] [updated: 2026-01-01]\n"
    dated = change_entry(text, entry_of(text, "intention", "I-1"), {"status": f"expired ({DAY}: late)"})
    assert dated == f"- I-1: Ship it, status: expired ({DAY}: late) [updated: 2026-01-01]\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("## A\n\n- **Status: active**\n", "## A\n\n- **Status: done**\n"),
        ("## A\n\n**Status:** __active__ [updated: x]\n", "## A\n\n**Status:** __done__ [updated: x]\n"),
        ("## A\n\nStatus:\n", "## A\n\nStatus: done\n"),
        ("## A [status: active]\n", "## A [status: done]\n"),
        ("- A\n  Status: active\n", "- A\n  Status: done\n"),
        ("| ID | Goal | Status |\n|-|-|-|\n|G-1|A|active|", "| ID | Goal | Status |\n|-|-|-|\n|G-1|A|done|"),
    ],
)
def test_a_value_changes_and_what_is_around_it_stays(old: str, new: str):
    file = parse_cognitive(old)
    assert set_field(file, file.entries[0], "status", "done") == new


@pytest.mark.parametrize(
    ("old", "name", "new"),
    [
        ("## A\n\nwords", "status", "## A\n\nstatus: v\n\nwords"),
        ("## A\r\n\r\nstatus: x", "owner", "## A\r\n\r\nstatus: x\r\nTo: v"),
        ("## A [id: G-1]", "status", "## A [id: G-1]\n\nstatus: v"),
        ("- A\n  Priority: 0.9\n", "status", "- A\n  Priority: 0.9\n  status: v\n"),
        ("## A\n\n- **Priority:** 0.9\n", "reason", "## A\n\n- **Priority:** 0.9\n- **Reason:** v\n"),
        ("## A\n\nPriority: 0.9\n", "outcome", "## A\n\nPriority: 0.9\n[outcome: v]\n"),
    ],
)
def test_a_new_field_looks_like_the_last_one_and_is_read_back(old: str, name: str, new: str):
    file = parse_cognitive(old)
    done = set_field(file, file.entries[0], name, "v")
    assert (done, parse_cognitive(done).entries[0].get(name)) == (new, "v")


def test_the_text_of_a_section_is_replaced_only_where_it_is_plain():
    plain = "## A\n\nCertainty: 0.9\n\nold\nwords\n"
    assert change_entry(plain, entry_of(plain, "belief", "A"), {"text": "new"}) == "## A\n\nCertainty: 0.9\n\nnew\n"
    for more in (
        "> quote",
        "```\ncode\n```",
        "<!-- x -->",
        "    code",
        "in words [updated: 2026-01-01]",
        "- B status: active",
    ):
        text = f"## A\n\nCertainty: 0.9\n\nold\n\n{more}\n\nold\n"
        assert change_entry(text, entry_of(text, "belief", "A"), {"text": "new"}) is None


def test_notes_stand_below_their_entry():
    text = text_of("cmo", "intention")
    new = add_note(text, entry_of(text, "intention", "I-CMO-001"), DAY, "approved")
    assert "    - asked again on the 17th\n  - 2026-02-24: approved\n- I-CMO-002" in new
    row = text_of("legal", "intention")
    assert "second brief [note: 2026-02-24: filed] |" in add_note(
        row, entry_of(row, "intention", "I-LEG-001"), DAY, "filed"
    )


def test_a_comment_that_begins_in_an_item_belongs_to_it():
    text = "- G-1: a, status: active\n  <!-- begins\nends -->\n"
    new, own = add_entry(text, GOAL, DAY)
    assert new.startswith(text) and entry_of(new, "goal", own).get("status") == "active"


# Revision logs.


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("Date | ID | Change | Old | New | Source", f"{DAY} | B-1 | revised | 0.9 | 0.4 | two left"),
        ("Date | Belief | Change", f"{DAY} | B-1 | revised: two left"),
        ("Date | Reason for change | Change | ID", f"{DAY} | two left | revised | B-1"),
        ("Date | ID | Why", f"{DAY} | B-1 | revised: two left"),
        ("Date | ID | Change | Event | Old value", f"{DAY} | B-1 | revised: two left |  | 0.9"),
    ],
)
def test_a_log_gets_a_row_by_its_columns(head: str, row: str):
    text = f"# B\n\n## Revision Log\n\n| {head} |\n|{'---|' * (head.count('|') + 1)}\n"
    new = log_change(text, "B-1", "Runway", DAY, Change("revised", "two left", "0.9", "0.4"))
    assert added(text, new) == [f"| {row} |"]


def test_a_log_may_be_a_list_or_empty_or_missing():
    said = Change("revised", "two left")
    assert (
        log_change("## History\n\n* 2026: a\n", "B-1", "x", DAY, said)
        == f"## History\n\n* 2026: a\n* {DAY}: B-1 revised: two left\n"
    )
    assert log_change("## History\n", "", "x", DAY, said) == f"## History\n\n- {DAY}: x revised: two left\n"
    assert log_change("## Beliefs\n", "B-1", "x", DAY, said) == "## Beliefs\n"


# Hostile words, in a file where somebody forgot to close a comment and a fence.

SHAPES = {
    "rows": "| ID | Goal | Status |\n|---|---|---|\n| G-1 | a | active |\n",
    "items": "- G-1: a, status: active\n",
    "nested": "- **G-1**: a\n  - Status: active\n",
    "sections": "## G-1: a\n\nstatus: active\n\nwords\n",
    "blocks": "## Active\n\n### G-1: a\n- **Status:** active\n",
}


@pytest.mark.parametrize("said", HOSTILE)
@pytest.mark.parametrize("shape", SHAPES)
def test_hostile_words_make_no_structure(shape: str, said: str):
    text = f"<!-- never closed\n\n````\n\n{SHAPES[shape]}\n## Change log\n\n- 2026-01-01: made\n"
    draft = Draft("goal", "", said, said, {"priority": "low", "source": said})
    new, own = add_entry(text, draft, DAY, "")
    new = log_change(new, own, said, DAY, Change(said, said, said, said))
    new = add_note(new, entry_of(new, "goal", own), DAY, said)
    before, after = entries_of(text), entries_of(new)
    assert len(after) == len(before) + 1 and all(each in after for each in before)
    made = entry_of(new, "goal", own)
    assert set(made.fields) <= {
        "id",
        "title",
        "text",
        "priority",
        "source",
        "note",
        *(["status"] if shape == "rows" else []),
    }
    assert (made.get("status"), made.get("priority").casefold()) == ("", "low")
    assert len(parse_cognitive(new).headings) <= len(parse_cognitive(text).headings) + 1


def test_beliefs_of_hostile_words_are_read_as_they_were_said():
    for said in ("## x", "Status: gone", "[status: gone]", "- x", "a --> b", "| a | b |"):
        new = add_entry("# Beliefs\n", Draft("belief", "", "Runway", said, {"certainty": "0.5"}), DAY)[0]
        (belief,), problems = parse_beliefs(new, "Beliefs.md")
        assert (belief.text, belief.status, problems) == (said, "", [])


# What a move may not do, and what edits cost.


def test_nothing_moves_where_a_move_would_hide_entries():
    for text in (
        "## A\npriority: 0.1\n````\n\n## B\npriority: 0.5\n```\n",
        "## A\npriority: 0.1\n-->\n\n## B\npriority: 0.5\n<!--\n",
    ):
        assert len(parse_cognitive(text).entries) == 2
        assert reorder(parse_cognitive(text), priority_of) == text


@pytest.mark.parametrize(
    "text",
    [
        "- x " + "[note: " * 20_000,
        "- x (" + "status: a " * 20_000,
        "- x [note:" + " " * 100_000,
        "|" * 20_000 + "\n|-|\n" + "|" * 20_000,
        "| a |\n|-|\n|" + "\\" * 100_001 + "|",
        "# x\n- y status: a\n" * 10_000,
    ],
    ids=["brackets", "parentheses", "blanks", "pipes", "backslashes", "titles"],
)
def test_odd_lines_are_read_in_one_go(text: str):
    """Each took minutes once, when its cost grew with the square of its length."""
    assert parse_cognitive(text).render() == text


@pytest.mark.parametrize(
    ("head", "after"),
    [
        ("Last updated: 2026-02-20T16:05:11.000Z\nRevision count: 7", "Last updated: 2026-03-01\nRevision count: 8"),
        ("- **Revision count:** 9", "- **Revision count:** 10"),
        ("Last updated: 2026-02-20", "Last updated: 2026-02-20"),
    ],
)
def test_a_file_that_counts_its_revisions_counts_on(head: str, after: str) -> None:
    body = "\n\n## Runway\n\nRevision count: 3 of 4 drafts\n"
    assert count_revision(f"# Beliefs\n\n{head}{body}", "2026-03-01") == f"# Beliefs\n\n{after}{body}"


def test_an_edit_reads_each_of_its_two_texts_once() -> None:
    parse_cognitive.cache_clear()
    new, _ = add_entry("# Goals\n\n## G-1: One\n\nstatus: active\n", Draft("goal", "", "Two"), "2026-02-01")
    assert [entry.title for entry in parse_cognitive(new).entries] == ["G-1: One", "G-2: Two"]
    assert parse_cognitive.cache_info().misses == 2
