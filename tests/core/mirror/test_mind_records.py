"""What depends on what, across agents, from files alone: known answers about two small minds."""

from datetime import UTC, datetime

from typeql.samples import CEO, CFO, NOW

from mabos_cli.core.mind.conflicts import Conflict
from mabos_cli.core.mind.mind import Attitude, Belief
from mabos_cli.core.mirror.mind_records import (
    AgentMind,
    RecordGraph,
    belief_chains,
    conflict_impact,
    conflict_records,
    goals_behind,
    linked_records,
    mind_records,
)

GRAPH = RecordGraph(linked_records((CEO, CFO)))


def test_chains_reach_across_agents():
    rows = [(row["belief"], row["goal"], [p["plan"] for p in row["plans"]]) for row in belief_chains(GRAPH, "cfo")]
    assert rows == [
        ("cfo/B-001", "ceo/G-1", []),
        ("cfo/B-001", "cfo/G-9", ["cfo/PL-1", "cfo/PL-2"]),
        ("cfo/B-002", "cfo/G-9", ["cfo/PL-1", "cfo/PL-2"]),
    ]


def test_goals_behind_are_late_or_stalled():
    assert goals_behind(GRAPH, NOW) == [
        {
            "agent": "ceo",
            "goal": "ceo/G-2",
            "name": "Sign",
            "level": None,
            "state": "active",
            "status": "active",
            "progress": 85.0,
            "deadline": "2026-02-20",
        },
        {
            "agent": "ceo",
            "goal": "ceo/G-3",
            "name": "Hire",
            "level": "tactical",
            "state": "stalled",
            "status": "Stalled (2026-02-01: no budget)",
            "progress": None,
            "deadline": None,
        },
    ]
    tomorrow = datetime(2026, 2, 25, tzinfo=UTC)
    assert [row["goal"] for row in goals_behind(GRAPH, tomorrow)] == ["ceo/G-2", "ceo/G-3", "ceo/G-6"]


def test_what_a_conflict_touches():
    rows = conflict_impact(GRAPH, ["cfo/B-002"])
    assert [(row["belief"], row["goal"]) for row in rows] == [("cfo/B-002", "cfo/G-9")]
    assert [each["plan"] for each in rows[0]["plans"]] == ["cfo/PL-1", "cfo/PL-2"]
    # I-1 pursues the goal and follows a plan for it, I-2 only follows one, I-3 does neither.
    assert rows[0]["intentions"] == [
        {"intention": "cfo/I-1", "name": "Hedge now", "status": "active"},
        {"intention": "cfo/I-2", "name": "Close books", "status": None},
    ]
    assert conflict_impact(GRAPH, ["nobody/B-1"]) == []


def test_beliefs_rest_on_beliefs_and_facts_that_are_there():
    beliefs = [
        Belief("Cash", "short", id="B-1", rests=("B-2", "F-1", "F-gone", "B-1")),
        Belief("Sales", "down", id="B-2"),
    ]
    first, second = mind_records(AgentMind("cfo", beliefs), facts={"F-1"})
    assert first.linked("derivation") == ("cfo/B-2", "cfo/F-1") and second.linked("derivation") == ()


def test_a_commitment_is_a_task_and_a_conflict_has_two_sides():
    promise = Attitude("commitment", "C-1", "Report", deadline="2026-03-01", owner="bank")
    [task] = mind_records(AgentMind("cfo", commitments=[promise]))
    assert (task.type, task.uid, task.get("assignee"), task.get("deadline")) == (
        "task",
        "cfo/C-1",
        "bank",
        "2026-03-01",
    )
    a, b = Belief("Cash", "up", id="B-1"), Belief("Cash", "down", id="B-2")
    clash = Conflict(a, b, "antonym", "Cash", 0.7, "", "up against down", "ab12")
    [open_one] = conflict_records("cfo", [clash], {})
    assert open_one.linked("conflict_between") == ("cfo/B-1", "cfo/B-2") and open_one.get("status") == "open"
    [settled] = conflict_records("cfo", [clash], {"ab12": ("asked the bank", "2026-02-24T10:00:00Z")})
    assert (settled.get("status"), settled.get("rationale")) == ("resolved", "asked the bank")
