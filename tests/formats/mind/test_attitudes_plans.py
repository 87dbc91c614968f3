"""Plans: steps in tables, numbered lists and boxes, and new and finished ones in the shape that a plan has."""

from pathlib import Path

import pytest

from mabos_cli.core.mind.mind import Attitude
from mabos_cli.formats.mind.attitudes import find_entry, parse_attitudes
from mabos_cli.formats.mind.cognitive import parse_cognitive
from mabos_cli.formats.mind.plans import add_step, finish_step

AGENTS = Path(__file__).parents[3] / "fixtures/business/agents"
DAY = "2026-02-24"


def text_of(agent: str) -> str:
    return (AGENTS / agent / "Plans.md").read_text("utf-8")


def plans(agent: str) -> list[Attitude]:
    return parse_attitudes(text_of(agent), "plan", "Plans.md")[0]


def step_added(text: str, plan: str, told: str) -> list[str]:
    """The lines that a new step brings; nothing else changes."""
    heading = find_entry(parse_cognitive(text), "plan", plan)
    assert heading
    new, old = add_step(text, heading, told).split("\n"), text.split("\n")
    rest = iter(new)
    assert all(line in rest for line in old)
    return [line for line in new if new.count(line) > old.count(line)]


def step_finished(text: str, number: int, name: str) -> list[str]:
    step = next(
        step for step in parse_attitudes(text, "plan", "")[0][number].steps if step.name == name or step.text == name
    )
    new = finish_step(text, step, DAY)
    again = next(each for plan in parse_attitudes(new, "plan", "")[0] for each in plan.steps if each.line == step.line)
    assert again.done and finish_step(new, again, DAY) == new
    return [line for line, old in zip(new.split("\n"), text.split("\n"), strict=True) if line != old]


def test_steps_in_a_table():
    plan = plans("ceo")[0]
    assert (plan.id, plan.title, plan.links) == ("PL-CEO-01", "Renew Pagel", {"goal": ("G-CEO-T2",)})
    assert [(s.name, s.done, s.status) for s in plan.steps] == [
        ("S-1", True, "done"),
        ("S-2", False, "in progress"),
        ("S-3", False, "pending"),
        ("S-4", False, "pending"),
    ]
    assert plan.steps[0].text == "Visit the brewery with support"


def test_steps_in_lists():
    numbered, boxes = plans("ceo")[1], plans("ceo")[-1]
    assert [(s.name, s.text, s.done) for s in numbered.steps] == [
        ("1", "Agree on volumes for S3", True),
        ("2", "Agree on who holds the tooling", True),
        ("3", "Translate the annexes", None),
        ("4", "Both signatures", None),
    ]
    assert [(s.text, s.done) for s in boxes.steps] == [
        ("list of twelve candidates", True),
        ("ten yes", False),
        ("shipping list to coo", False),
    ]


def test_steps_in_tables_with_other_columns():
    assert [(s.name, s.done) for s in plans("cfo")[0].steps] == [
        ("1", True),
        ("2", True),
        ("3", True),
        ("4", False),
        ("5", False),
    ]
    assert plans("cmo")[0].steps[0][:2] == ("1", "numbers for sleep current and range")
    assert plans("legal")[0].steps[2][:4] == ("3", "Exhibit: commit history", False, "late")
    assert plans("ontology")[0].steps[1][:4] == ("2", "Examples for all classes", None, "58 of 64")
    text = "## Plan\n\n| # | Aufgabe | Done |\n|---|---|---|\n| 1 | Besuch | yes |\n| | | |\n"
    assert [s[:3] for s in parse_attitudes(text, "plan", "")[0][0].steps] == [("1", "Besuch", True)]


@pytest.mark.parametrize(
    ("agent", "plan", "line"),
    [
        ("ceo", "PL-CEO-01", "| S-5 | Call them |  |  |  | pending |"),
        ("ceo", "PL-CEO-02", "5. Call them"),
        ("ceo", "pl-ceo-04", "- [ ] Call them"),
        ("cfo", "PL-CFO-01", "| 6 | Call them |  |  | no |"),
        ("cmo", "S3 page", "| 5 |  | Call them |"),
        ("cto", "PL-CTO-01", "5. [ ] Call them"),
        ("legal", "Answer to the second brief", "| 5 | Call them |  | pending |"),
        ("strategy", "PL-STR-01", "- S-4 Call them"),
    ],
)
def test_a_new_step_has_the_shape_of_the_others(agent: str, plan: str, line: str):
    assert step_added(text_of(agent), plan, "Call them") == [line]


def test_the_first_step_of_a_plan_is_a_box():
    assert "1. [ ] Call them" in step_added(text_of("ceo"), "PL-CEO-03", "Call them")


def test_titles_of_words_stay_the_column_for_words():
    text = "## P\n\n| Step | Effort | Status |\n|---|---|---|\n| Visit | 2 d | done |\n"
    assert step_added(text, "P", "Call") == ["| Call |  | pending |"]


@pytest.mark.parametrize(
    ("agent", "number", "step", "line"),
    [
        ("ceo", 0, "S-2", "| S-2 | Offer three years at a fixed price | action | sales | S-1 | done |"),
        ("ceo", 1, "4", f"4. Both signatures (done {DAY})"),
        ("ceo", 3, "ten yes", "- [x] ten yes"),
        ("cfo", 0, "4", "| 4 | Customs invoices | coo | WD 6 | yes |"),
        ("cmo", 0, "2", "| 2 | cmo | text, 300 words at most [status: done] |"),
        ("coo", 0, "S-4", "| S-4 | First shots measured | coo | done"),
        ("legal", 0, "4", "| 4 | File | 2026-02-20 | done |"),
    ],
)
def test_a_finished_step_says_so_where_the_plan_does(agent: str, number: int, step: str, line: str):
    assert step_finished(text_of(agent), number, step) == [line]


def test_what_is_done_is_not_done_again():
    text = text_of("ceo")
    done = [step for plan in parse_attitudes(text, "plan", "")[0] for step in plan.steps if step.done]
    assert len(done) == 4 and all(finish_step(text, step, DAY) == text for step in done)


def test_what_makes_no_sense_in_a_plan_is_reported():
    text = "## PL-1: a\n\n[deadline: soon]\n\n1. x\n\n## PL-1: b\n\nPriority: 1.9\n\n1. y\n"
    found, problems = parse_attitudes(text, "plan", "Plans.md")
    assert [plan.title for plan in found] == ["a", "b"]
    assert [str(problem) for problem in problems] == [
        "Plans.md:1: deadline 'soon' is no date",
        "Plans.md:7: priority '1.9' is outside 0..1",
        "Plans.md:7: PL-1 is also the id of line 1",
    ]


@pytest.mark.parametrize(
    "told", ["Status: done", "## x\n- [x] y", "a | b", "[status: done]", "-->", "```", "priority: low"]
)
@pytest.mark.parametrize("plan", ["PL-CEO-01", "PL-CEO-02", "PL-CEO-03", "PL-CEO-04"])
def test_hostile_steps_are_one_step(plan: str, told: str):
    text = f"<!-- never closed\n\n{text_of('ceo')}"
    heading = find_entry(parse_cognitive(text), "plan", plan)
    assert heading
    before, after = (parse_attitudes(each, "plan", "")[0] for each in (text, add_step(text, heading, told)))
    assert [len(p.steps) + (p.id == plan) for p in before] == [len(p.steps) for p in after]
    assert [(p.id, p.status, p.links) for p in before] == [(p.id, p.status, p.links) for p in after]
    assert not next(p for p in after if p.id == plan).steps[-1].done
