"""Cognitive files of two branches as one: entries by ids or titles, in sections, tables and lists."""

from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mabos_cli.core.language.ids import distinct_id
from mabos_cli.formats.mind.attitudes import parse_attitudes, parse_beliefs
from mabos_cli.formats.operations.git_merge import merge_file
from mabos_cli.formats.operations.markdown_units import join_units, split_units
from mabos_cli.formats.operations.merge_minds import Renames, merge_minds

ROOT = Path(__file__).parents[3]
FILES = sorted((*ROOT.glob("fixtures/*/agents/*/*.md"), *ROOT.glob("workspace-template/agents/_agent/*.md")))

GOALS = """# Goals

| ID | Goal | Priority | Status | Updated |
|---|---|---|---|---|
| G-001 | Cut overdue invoices | 0.8 | active | 2026-02-20 |
| G-002 | Close the books | 0.5 | active | 2026-02-20 |

## Log

| Date | Goal | Change |
|---|---|---|
| 2026-02-20 | G-001 | added |
"""
BELIEFS = """# Beliefs

What we hold true.

## Payment terms

ID: B-001
Certainty: 0.9
Source: contract
[updated: 2026-02-20]

Northwind pays within 14 days.
"""


def merged(
    name: str, base: str, ours: str, theirs: str, elsewhere: Renames | None = None
) -> tuple[str, tuple[str, ...]]:
    """Merges three texts, and holds against it what the other side sees."""
    path, more = f"agents/cfo/{name}", () if elsewhere is None else (elsewhere,)
    found = merge_minds(path, (base.encode(), ours.encode(), theirs.encode()), *more)
    if elsewhere is None:
        assert merge_minds(path, (base.encode(), theirs.encode(), ours.encode())).data == found.data
    return found.data.decode(), found.notes


def with_row(row: str, after: str = "2026-02-20 |\n\n## Log") -> str:
    return GOALS.replace(after, after.replace("\n\n", f"\n{row}\n\n"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_files_come_back_as_they_were(path: Path):
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    units = split_units(text)
    assert join_units(units, [units]) == text
    changed = text.rstrip("\r\n") + "\n\n## A new part\n\nIt is new.\n"
    assert merged(path.name, text, text, changed)[0] == changed


def test_rows_that_both_added_stay_in_the_table():
    ours = with_row("| G-003 | Hire a treasurer | 0.4 | active | 2026-02-21 |")
    theirs = with_row("| G-003 | Open a branch | 0.6 | active | 2026-02-22 |")
    text, notes = merged("Goals.md", GOALS, ours, theirs)
    new_id = distinct_id("G-003", "open a branch")
    assert [goal.id for goal in parse_attitudes(text, "goal", "x")[0]] == ["G-001", "G-002", "G-003", new_id]
    assert notes == (f"G-003 was given to two goals: the younger one is {new_id}",)
    assert "2026-02-21 |\n| " in text and "2026-02-22 |\n\n## Log\n" in text


def test_what_a_side_says_about_its_entry_follows_a_new_id():
    log = "| 2026-02-20 | G-001 | added |\n"
    ours = with_row("| G-003 | Hire a treasurer | 0.4 | active | 2026-02-21 |")
    theirs = with_row("| G-003 | Open a branch | 0.6 | active | 2026-02-22 |")
    ours = ours.replace(log, f"{log}| 2026-02-21 | G-003 | added |\n")
    theirs = theirs.replace(log, f"{log}| 2026-02-22 | G-003 | added, as G-001 wants |\n")
    text, _ = merged("Goals.md", GOALS, ours, theirs)
    new_id = distinct_id("G-003", "open a branch")
    assert "| 2026-02-21 | G-003 | added |" in text and f"| 2026-02-22 | {new_id} | added, as G-001 wants |" in text


def test_ids_of_other_files_follow():
    ours = "# Intentions\n\n## I-001: Call\n\nGoal: G-003\n"
    theirs = "# Intentions\n\n## I-002: Write\n\nGoal: G-003\n"
    text, _ = merged("Intentions.md", "# Intentions\n", ours, theirs, ({}, {}, {"G-003": "G-003-bcd"}))
    assert [entry.links for entry in parse_attitudes(text, "intention", "x")[0]] == [
        {"goal": ("G-003",)},
        {"goal": ("G-003-bcd",)},
    ]


def test_cells_that_each_side_changed_meet_in_one_row():
    ours = GOALS.replace("invoices | 0.8 | active | 2026-02-20", "invoices | 0.9 | active | 2026-02-21")
    theirs = GOALS.replace("invoices | 0.8 | active | 2026-02-20", "invoices | 0.8 | completed | 2026-02-22")
    text, notes = merged("Goals.md", GOALS, ours, theirs)
    assert "| G-001 | Cut overdue invoices | 0.9 | completed | 2026-02-22 |" in text and not notes


def test_the_newer_value_of_a_field_stays_and_the_other_is_noted():
    ours = GOALS.replace("invoices | 0.8 | active | 2026-02-20", "invoices | 0.9 | active | 2026-02-21")
    theirs = GOALS.replace("invoices | 0.8 | active | 2026-02-20", "invoices | 0.3 | active | 2026-02-22")
    text, notes = merged("Goals.md", GOALS, ours, theirs)
    goal = parse_attitudes(text, "goal", "x")[0][0]
    assert (goal.priority, goal.title) == (0.3, "Cut overdue invoices")
    assert "the other side had priority 0.9]" in text
    assert notes == ("G-001 was changed on both sides: kept the newer; not priority 0.9",)


def test_words_that_both_changed_stay_both():
    ours = BELIEFS.replace("14 days", "30 days").replace("2026-02-20", "2026-02-21")
    theirs = BELIEFS.replace("14 days", "45 days").replace("2026-02-20", "2026-02-22")
    text, notes = merged("Beliefs.md", BELIEFS, ours, theirs)
    newer, older = parse_beliefs(text, "x")[0]
    assert (newer.id, newer.text) == ("B-001", "Northwind pays within 45 days.")
    assert (older.text, older.status) == ("Northwind pays within 30 days.", "superseded by B-001")
    assert notes == (f"B-001 was changed on both sides: the older version is {older.id}",)
    assert "<<<<" not in text


def test_of_words_without_dates_both_count():
    undated = BELIEFS.replace("[updated: 2026-02-20]\n", "")
    text, _ = merged(
        "Beliefs.md", undated, undated.replace("14 days", "30 days"), undated.replace("14 days", "45 days")
    )
    assert sorted((belief.text, belief.status) for belief in parse_beliefs(text, "x")[0]) == [
        ("Northwind pays within 30 days.", ""),
        ("Northwind pays within 45 days.", ""),
    ]


def test_fields_of_a_section_that_each_side_changed():
    ours = BELIEFS.replace("Certainty: 0.9", "Certainty: 0.7").replace("2026-02-20", "2026-02-21")
    theirs = BELIEFS.replace("Source: contract", "Source: ledger").replace("2026-02-20", "2026-02-22")
    text, notes = merged("Beliefs.md", BELIEFS, ours, theirs)
    expected = BELIEFS.replace("Certainty: 0.9", "Certainty: 0.7").replace("contract", "ledger")
    assert text == expected.replace("2026-02-20", "2026-02-22") and not notes


def test_removed_on_one_side_is_gone_unless_the_other_changed_it():
    gone = BELIEFS[: BELIEFS.index("\n## ")]
    assert merged("Beliefs.md", BELIEFS, gone, BELIEFS)[0] == gone
    changed = BELIEFS.replace("14 days", "30 days")
    assert merged("Beliefs.md", BELIEFS, gone, changed)[0] == changed


def test_steps_of_a_plan():
    base = "# Plans\n\n## PL-001: Dunning\n\nGoal: G-001\n\n1. [ ] Remind\n2. [ ] Call\n"
    ours = base.replace("1. [ ]", "1. [x]") + "3. [ ] Sue\n"
    theirs = base.replace("2. [ ]", "2. [x]") + "3. [ ] Settle\n"
    text, notes = merged("Plans.md", base, ours, theirs)
    assert text == base.replace("[ ]", "[x]") + "3. [ ] Settle\n4. [ ] Sue\n" and not notes


def test_prose_of_people_keeps_the_lines_of_both():
    ours = BELIEFS.replace("What we hold true.", "What we hold true.\nAda looks after it.")
    theirs = BELIEFS.replace("# Beliefs\n", "# Beliefs\n\nRead this first.\n")
    text, _ = merged("Beliefs.md", BELIEFS, ours, theirs)
    assert "# Beliefs\n\nRead this first.\n" in text and "What we hold true.\nAda looks after it.\n" in text


def test_a_column_that_one_side_added():
    wide = GOALS.replace("| Updated |\n|---|", "| Updated | Owner |\n|---|---|").replace(
        "2026-02-20 |\n", "2026-02-20 | ada |\n"
    )
    theirs = with_row("| G-003 | Open a branch | 0.6 | active | 2026-02-22 |")
    text, _ = merged("Goals.md", GOALS, wide, theirs)
    goals = parse_attitudes(text, "goal", "x")[0]
    assert [goal.owner for goal in goals] == ["ada", "ada", ""] and goals[2].updated == "2026-02-22"


def test_consolidated_memories_of_both_sides():
    base = "# MEMORY.md\n"
    sides = [
        f"{base}\n## Consolidated (2026-02-24)\n\n- **fact** (0.80): {who} said so ^M-{n}\n"
        for n, who in enumerate(("ada", "bob"))
    ]
    text, _ = merged("MEMORY.md", base, *sides)
    assert (
        text
        == f"{base}\n## Consolidated (2026-02-24)\n\n- **fact** (0.80): ada said so ^M-0\n- **fact** (0.80): bob said so ^M-1\n"
    )


def test_checkpoints_of_one_minute():
    sides = [f"# Session Checkpoint\n\n## Current Task Context\n\n{who} works\n".encode() for who in ("ada", "bob")]
    for ours, theirs in permutations(sides):
        found = merge_file("checkpoint", "x.md", (b"", ours, theirs))
        assert found and found.data == b"\n".join(sides)
        again = merge_file("checkpoint", "x.md", (ours, found.data, ours))
        assert again and again.data == found.data


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_three_sides_come_to_the_same_in_every_order(order: tuple[int, ...]):
    sides = [f"{BELIEFS}\n## {who} terms\n\nID: B-002\n\n{who} pays.\n" for who in ("ada", "bob", "cyd")]
    first, second, third = (sides[n] for n in order)
    text = merged("Beliefs.md", BELIEFS, merged("Beliefs.md", BELIEFS, first, second)[0], third)[0]
    beliefs = parse_beliefs(text, "x")[0]
    assert {(b.id, b.subject) for b in beliefs[1:]} == {
        ("B-002", "ada terms"),
        (distinct_id("B-002", "bob terms"), "bob terms"),
        (distinct_id("B-002", "cyd terms"), "cyd terms"),
    }


def test_merges_that_crossed():
    """One clone merged ada with bob, another bob with cyd, who goes on with what bob believed: nothing is told of another."""
    ada, bob, cyd = (f"{BELIEFS}\n## {who} terms\n\nID: B-002\n\n{who} pays.\n" for who in ("ada", "bob", "cyd"))
    left = merged("Beliefs.md", BELIEFS, ada, bob)[0]
    right = merged("Beliefs.md", BELIEFS, bob, cyd)[0].replace("bob pays.", "bob pays in cash.")
    text, _ = merged("Beliefs.md", bob, left, right)
    found = {belief.subject: (belief.id, belief.text) for belief in parse_beliefs(text, "x")[0]}
    assert found["ada terms"] == ("B-002", "ada pays.")
    assert found["bob terms"] == (distinct_id("B-002", "bob terms"), "bob pays in cash.")
    assert found["cyd terms"] == (distinct_id("B-002", "cyd terms"), "cyd pays.")
    assert len(found) == len(parse_beliefs(text, "x")[0])


ENTRY = st.builds(
    "## {}: {}\n\nstatus: {}\n[updated: 2026-02-{}]\n\n{}\n".format,
    st.sampled_from(("G-001", "G-002", "G-003", "G-004")),
    st.sampled_from(("Grow", "Save", "Hire")),
    st.sampled_from(("active", "completed")),
    st.integers(10, 20),
    st.sampled_from(("One.", "Two.", "Three.\n\n- a point\n- another", "| a | b |\n|---|---|\n| 1 | 2 |")),
)
TEXT = st.lists(ENTRY, max_size=4, unique_by=lambda entry: entry[:8]).map(
    lambda parts: "\n".join(["# Goals\n", *parts])
)


@given(TEXT, TEXT, TEXT)
def test_any_two_sides(base: str, ours: str, theirs: str):
    """Side by side it comes to the same; a side that changed nothing gives way; no id occurs twice."""
    text, _ = merged("Goals.md", base, ours, theirs)
    assert merged("Goals.md", base, ours, base)[0] == ours
    assert merged("Goals.md", base, ours, ours)[0] == ours
    ids = [goal.id for goal in parse_attitudes(text, "goal", "x")[0] if goal.id]
    assert len(ids) == len(set(ids))
    for entry in {*ours.split("\n\n"), *theirs.split("\n\n")} - {*base.split("\n\n")}:
        title = entry.partition(": ")[2]
        assert not entry.startswith("## ") or title in text
