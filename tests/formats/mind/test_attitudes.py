"""Desires, goals, intentions, commitments and lessons, as each of the shapes of the business fixture has them."""

from pathlib import Path

import pytest

from mabos_cli.core.mind.mind import Attitude
from mabos_cli.formats.mind.attitudes import parse_attitudes, parse_beliefs

AGENTS = Path(__file__).parents[3] / "fixtures/business/agents"
FILES = {
    "desire": "Desires",
    "goal": "Goals",
    "intention": "Intentions",
    "commitment": "Commitments",
    "learning": "Learnings",
}


def read(agent: str, kind: str) -> list[Attitude]:
    with (AGENTS / agent / f"{FILES[kind]}.md").open(encoding="utf-8", newline="") as file:
        return parse_attitudes(file.read(), kind, f"{FILES[kind]}.md")[0]


def first(agent: str, kind: str) -> Attitude:
    return read(agent, kind)[0]


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("agent", sorted(path.name for path in AGENTS.iterdir()))
def test_the_fixture_has_nothing_to_complain_about(agent: str, kind: str):
    text = (AGENTS / agent / f"{FILES[kind]}.md").read_text("utf-8")
    assert [str(problem) for problem in parse_attitudes(text, kind, "x.md")[1]] == []


def test_goals_in_a_table():
    goal = first("ceo", "goal")
    assert (goal.id, goal.title) == ("G-CEO-S1", "Reach EUR 2.4 M recurring revenue")
    assert (goal.level, goal.priority, goal.progress, goal.deadline) == (
        "strategic",
        0.95,
        77.0,
        "2026-12-31",
    )
    assert (goal.links, goal.group, goal.line) == ({"desire": ("D-003",)}, "Active Goals", 9)


def test_goals_as_nested_bullets_have_the_level_of_their_heading():
    goal = first("cfo", "goal")
    assert (goal.id, goal.title, goal.status) == ("G-CFO-S1", "Equity ratio above 30 % at year end", "Active")
    assert (goal.level, goal.priority, goal.progress) == ("strategic", 0.9, 60.0)
    assert [each.level for each in read("support", "goal")] == ["tactical", "operational", "operational"]


def test_goals_as_blocks_and_as_single_lines():
    block, line = first("cto", "goal"), first("hr", "goal")
    assert (block.level, block.priority, block.links) == ("tactical", 0.9, {"parent": ("G-CEO-S2",)})
    assert (line.id, line.title) == ("G-HR-T1", "Hire a firmware engineer")
    assert (line.level, line.priority, line.progress) == ("tactical", 0.9, 45.0)


def test_prose_below_the_heading_of_a_group_is_no_goal():
    assert [goal.id for goal in read("hr", "goal")] == ["G-HR-T1", "G-HR-T2", "G-HR-O1"]


@pytest.mark.parametrize(
    ("agent", "own", "goal"),
    [
        ("ceo", "I-CEO-001", "G-CEO-T2"),  # `### I-..: goal via plan`
        ("cfo", "I-CFO-001", "G-CFO-O1"),  # sections, with prose behind the goal
        ("cmo", "I-CMO-001", "G-CMO-T2"),  # items with nested ones
        ("coo", "I-COO-001", "G-COO-T1"),  # rows with marks in the cells
        ("cto", "I-CTO-001", "G-CTO-T1"),  # one-line items in bold
        ("hr", "I-HR-001", "G-HR-T1"),
        ("knowledge", "I-KNO-001", "G-KNO-T1"),
        ("legal", "I-LEG-001", "G-LEG-T1"),  # plain cells
        ("ontology", "I-ONT-001", "G-ONT-T1"),  # a numbered list
        ("sales", "I-SAL-001", "G-SAL-T1"),  # boxes
        ("support", "I-SUP-001", "G-SUP-O1"),  # tabs
    ],
)
def test_intentions_of_every_shape_know_their_goal(agent: str, own: str, goal: str):
    intention = first(agent, "intention")
    assert (intention.id, intention.linked("goal"), intention.status) == (own, (goal,), "active")
    assert intention.updated.startswith("2026-02-")


def test_a_plan_stands_behind_via():
    assert first("ceo", "intention").links == {"goal": ("G-CEO-T2",), "plan": ("PL-CEO-01",)}


def test_a_box_and_a_heading_say_how_things_stand():
    text = "- [x] I-1: ticked [updated: 2026-01-01]\n- [ ] I-2: not [updated: 2026-01-01]\n"
    assert [each.status for each in parse_attitudes(text, "intention", "x.md")[0]] == ["completed", ""]
    below = "## {}\n\n| ID | Goal |\n|---|---|\n| G-1 | x |\n"
    said = [
        parse_attitudes(below.format(h), "goal", "x.md")[0][0].status
        for h in ("Completed Goals", "In progress", "Ideas")
    ]
    assert said == ["completed", "in progress", ""]


def test_commitments_name_whom_they_bind_us_to():
    bank, staff = read("ceo", "commitment")[0], read("hr", "commitment")[0]
    assert (bank.id, bank.owner, bank.title, bank.deadline) == (
        "C-001",
        "Weserbank",
        "Send the annual accounts",
        "2026-04-30",
    )
    assert (staff.id, staff.owner, staff.deadline) == ("", "every applicant", "always")


def test_lessons_in_a_table_and_in_sections():
    assert first("coo", "learning").updated == "2025-09-30"
    assert [each.title for each in read("legal", "learning")] == [
        "Dates come from the portal",
        "Ask for exhibits in the first mail",
    ]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("45%", 45.0),
        ("45 % (was 40)", 45.0),
        ("0", 0.0),
        ("2 of 9", None),
        ("58/64", None),
        ("half", None),
        ("", None),
    ],
)
def test_progress_is_percent_or_nothing(said: str, meant: float | None):
    text = f"| ID | Goal | Progress |\n|---|---|---|\n| G-1 | x | {said} |\n"
    assert parse_attitudes(text, "goal", "Goals.md")[0][0].progress == meant


def test_what_makes_no_sense_is_reported_with_its_line_and_the_rest_is_read():
    text = (
        "# Goals\n\n| ID | Goal | Priority | Deadline |\n|---|---|---|---|\n"
        "| G-1 | one | 1.7 | soon |\n| G-1 | two | High | ongoing |\n| G-2 | three | often | 2026-13-45 |\n"
    )
    goals, problems = parse_attitudes(text, "goal", "Goals.md")
    assert [(goal.title, goal.priority) for goal in goals] == [("one", None), ("two", 0.8), ("three", None)]
    assert [str(problem) for problem in problems] == [
        "Goals.md:5: priority '1.7' is outside 0..1",
        "Goals.md:5: deadline 'soon' is no date",
        "Goals.md:6: G-1 is also the id of line 5",
        "Goals.md:7: priority 'often' is no number",
        "Goals.md:7: deadline '2026-13-45' is no date",
    ]


def test_a_belief_may_have_its_id_in_the_heading():
    beliefs, problems = parse_beliefs(
        "## B-001: Runway\n\nCertainty: 0.9\n\nNine months.\n\n## B-001 Burn\n\nx\n", "Beliefs.md"
    )
    assert [(b.id, b.subject, b.text) for b in beliefs] == [
        ("B-001", "Runway", "Nine months."),
        ("B-001", "Burn", "x"),
    ]
    assert [str(problem) for problem in problems] == ["Beliefs.md:7: B-001 is also the id of line 1"]
