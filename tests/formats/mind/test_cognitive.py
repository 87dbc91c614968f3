"""Cognitive files: what is understood, that everything else stays, and that an edit changes only its own lines."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mabos_cli.core.mind.mind import Belief
from mabos_cli.formats.mind.attitudes import find_entry, parse_beliefs
from mabos_cli.formats.mind.cells import split_cells
from mabos_cli.formats.mind.cognitive import parse_cognitive
from mabos_cli.formats.mind.cognitive_edit import Change, add_row, add_section, log_change, reorder, set_field
from mabos_cli.formats.mind.mind_edit import add_entry, belief_draft, change_entry

quick = settings(deadline=None, derandomize=True)
TEMPLATE = Path(__file__).parents[3] / "workspace-template/agents/_agent"

MIXED = """\
# Beliefs

> A quote | with a pipe

## About the environment

| ID | Belief | Value | Certainty | Source | Updated |
|----|--------|:-----:|-----------|--------|---------|
| B-001 | Market demand | growing | 0.8 | report | 2024-02-20 |
| B-002 | A \\| b | x | .9

## Session store

Certainty: 0.9
- **Source:** ops
[updated: 2026-02-01]

Redis is our primary session store.

<!-- ## Hidden
Certainty: 0.1
-->

```
## Code
| ID | Belief |
|----|--------|
| B-9 | no |
```

## Work

- Ship the beta [deadline: 2026-02-20] status: active
- only words

## Belief Revision Log

| Date | Belief | Change |
|---|---|---|
| 2026-01-01 | B-001 | made |
"""

PIECES = st.sampled_from(
    [
        *MIXED.split("\n"),
        *(
            "## ",
            "###",
            "|",
            "||",
            "|-|",
            "| - |",
            "|:-:|",
            "a|b",
            "\\|",
            "Certainty:",
            "certainty: 1.7",
            "[updated:]",
        ),
        *(
            "[deadline: soon]",
            "```",
            "~~~",
            "<!--",
            "-->",
            "---",
            "===",
            "\ufeff# x",
            "x\r",
            "| a |\r",
            "\t- x",
            "- ",
        ),
        *(
            "priority: High",
            "**Priority:** .5",
            "status:active",
            "- [x] done [updated: 2026-01-01]",
            "\x00",
            "東京",
        ),
    ]
)
FILES = st.lists(st.one_of(PIECES, st.text(max_size=20)), max_size=25).map("\n".join)


def told(text: str) -> list[tuple[str, str, str, str]]:
    return [(e.shape, e.group, e.title, e.text) for e in parse_cognitive(text).entries]


def changed(old: str, new: str) -> list[str]:
    """The lines of the new text that the old one does not have at that place, given that nothing was removed."""
    left = old.split("\n")
    found = []
    for line in new.split("\n"):
        if left and line == left[0]:
            left.pop(0)
        else:
            found.append(line)
    assert not left, f"lines are gone or moved: {left[:3]}"
    return found


def test_rows_sections_and_items_are_understood():
    assert told(MIXED) == [
        ("row", "About the environment", "Market demand", "growing"),
        ("row", "About the environment", "A | b", "x"),
        ("section", "", "Session store", "Redis is our primary session store."),
        ("item", "Work", "Ship the beta", ""),
        ("item", "Work", "only words", ""),
    ]


def test_fields_carry_their_values():
    row, _, section, *_ = parse_cognitive(MIXED).entries
    assert {n: row.get(n) for n in ("id", "certainty", "source", "updated")} == {
        "id": "B-001",
        "certainty": "0.8",
        "source": "report",
        "updated": "2024-02-20",
    }
    assert (section.get("certainty"), section.get("source"), section.get("updated")) == (
        "0.9",
        "ops",
        "2026-02-01",
    )


@pytest.mark.parametrize("path", sorted(TEMPLATE.glob("*.md")), ids=lambda path: path.name)
def test_template_files_come_back(path: Path):
    text = path.read_text("utf-8")
    assert parse_cognitive(text).render() == text


@settings(deadline=None, derandomize=True)
@given(FILES)
@example(MIXED)
@example("")
def test_any_file_comes_back_as_it_was(text: str):
    file = parse_cognitive(text)
    assert file.render() == text
    lines = text.split("\n")
    for entry in file.entries:
        for field in entry.fields.values():
            assert entry.first <= field.line <= entry.last and field.end <= len(lines[field.line])


@quick
@given(FILES, st.text(max_size=12))
@example(MIXED, "0.5")
def test_setting_a_field_changes_one_line(text: str, value: str):
    file = parse_cognitive(text)
    for entry in file.entries[:4]:
        for name in entry.fields:
            new = set_field(file, entry, name, value)
            assert new is not None
            before, after = text.split("\n"), new.split("\n")
            assert len(before) == len(after)
            assert sum(a != b for a, b in zip(before, after, strict=True)) <= 1


@quick
@given(FILES)
@example(MIXED)
def test_adding_removes_nothing(text: str):
    file = parse_cognitive(text)
    for table in file.tables:
        lines = changed(text.replace("\r", ""), add_row(file, table, {"id": "B-77"}).replace("\r", ""))
        assert len(lines) == 1
        assert "B-77" in lines[0] or "id" not in table.columns
    if not text.endswith("\n"):
        text, file = text + "\n", parse_cognitive(text + "\n")
    new = add_section(file, "## New one", ["Certainty: 0.9", "words"])
    assert sorted(filter(str.strip, new.replace("\r", "").split("\n"))) == sorted(
        [*filter(str.strip, text.replace("\r", "").split("\n")), "## New one", "Certainty: 0.9", "words"]
    )


@quick
@given(FILES, st.randoms(use_true_random=False))
@example(MIXED, None)
def test_sorting_moves_lines_and_loses_none(text: str, rnd):
    file = parse_cognitive(text)
    new = reorder(file, lambda entry: rnd.random() if rnd else float(entry.get("certainty") or 0))
    assert sorted(line.rstrip("\r") for line in new.split("\n")) == sorted(
        line.rstrip("\r") for line in text.split("\n")
    )
    assert reorder(file, lambda entry: 0) == text


def test_rows_are_sorted_within_their_table():
    new = reorder(parse_cognitive(MIXED), lambda entry: float(entry.get("certainty") or 0))
    assert new.index("B-002 | A") < new.index("B-001 | Market")


def test_cells_keep_escaped_pipes():
    assert [c.value for c in split_cells("| a \\| b | c")] == ["a | b", "c"]
    assert [c.value for c in split_cells("|a|b|")] == ["a", "b"]


def test_beliefs_report_what_makes_no_sense():
    text = "## A\n\nid: B-1\nCertainty: 1.7\n\nx\n\n## B\n\nid: B-1\nCertainty: maybe\n[updated: soon]\n\ny\n"
    beliefs, problems = parse_beliefs(text, "Beliefs.md")
    assert [(b.subject, b.certainty) for b in beliefs] == [("A", 0.5), ("B", 0.5)]
    assert [(p.line, p.message) for p in problems] == [
        (1, "certainty '1.7' is outside 0..1"),
        (8, "certainty 'maybe' is no number"),
        (8, "'soon' is no date"),
        (8, "B-1 is also the id of line 1"),
    ]


def test_a_belief_is_added_in_the_shape_of_the_file():
    draft = belief_draft(Belief("Churn", "3 %", 0.7, "2026-02-24", "", "report"))
    in_table, own = add_entry(MIXED, draft, "2026-02-24")
    assert own == "B-003"
    assert changed(MIXED, in_table) == [
        "| B-003 | Churn | 3 % | 0.7 | report | 2026-02-24 |",
        "| 2026-02-24 | B-003 | added: report |",
    ]
    assert "## Churn\n\nID: B-001\nCertainty: 0.7\n" in add_entry("# Beliefs\n", draft, "2026-02-24")[0]


def test_a_revision_changes_the_row_and_the_log():
    entry = find_entry(parse_cognitive(MIXED), "belief", "b-001")
    assert entry is not None
    new = change_entry(MIXED, entry, {"certainty": "0.4", "updated": "2026-02-24"})
    assert new is not None
    new = log_change(new, "B-001", entry.title, "2026-02-24", Change("revised certainty", "two left"))
    assert "| B-001 | Market demand | growing | 0.4 | report | 2026-02-24 |" in new
    assert "| 2026-02-24 | B-001 | revised certainty: two left |" in new
    assert len(new.split("\n")) == len(MIXED.split("\n")) + 1
