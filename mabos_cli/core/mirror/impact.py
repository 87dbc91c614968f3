"""What hangs on what, across agents, from the records of all of them: the answers that a knowledge graph gives, without one. The
questions are those of formats/mirror/graph_questions.py, and so are the rows."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from mabos_cli.core.mirror.records import Record

Row = dict[str, Any]


class RecordGraph:
    """Records by type and key, and who is linked with whom from both sides."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._held = {(each.type, each.uid): each for each in records}
        self._back: dict[tuple[str, str], list[str]] = {}
        for each in self._held.values():
            for links in each.links:
                for uid in links.uids:
                    self._back.setdefault((links.relation, uid), []).append(each.uid)

    def all(self, kind: str) -> list[Record]:
        """The records of a type, by key."""
        return sorted((each for (own, _), each in self._held.items() if own == kind), key=_uid)

    def get(self, kind: str, uids: Iterable[str]) -> list[Record]:
        """Those of some records that are there, each once, by key."""
        return [self._held[kind, uid] for uid in sorted({*uids}) if (kind, uid) in self._held]

    def linking(self, relation: str, uid: str) -> list[str]:
        """The keys of those that link themselves with one by a relation."""
        return self._back.get((relation, uid), [])


def _uid(record: Record) -> str:
    return record.uid


def belief_chains(graph: RecordGraph, agent: str) -> list[Row]:
    """The beliefs of an agent with the goals that they support, the plans for these, and the intentions under way for either."""
    mine = [each for each in graph.all("belief") if _agent(each) == agent]
    return [
        {
            "belief": belief.uid,
            "belief_name": belief.get("name"),
            "certainty": belief.get("certainty"),
            **_pursuit(graph, goal),
        }
        for belief in mine
        for goal in graph.get("goal", belief.linked("belief_supports_goal"))
    ]


def goals_behind(graph: RecordGraph, now: datetime, level: str = "") -> list[Row]:
    """Goals of all agents that are stalled, or whose day is over while they are neither done nor given up nor at 100 %."""
    return [
        {
            "agent": _agent(goal),
            "goal": goal.uid,
            "name": goal.get("name"),
            "level": goal.get("hierarchy_level"),
            "state": goal.get("state"),
            "status": goal.get("status"),
            "progress": goal.get("progress"),
            "deadline": goal.get("deadline"),
        }
        for goal in graph.all("goal")
        if _is_behind(goal, now) and level in ("", goal.get("hierarchy_level"))
    ]


def conflict_impact(graph: RecordGraph, beliefs: Sequence[str]) -> list[Row]:
    """What hangs on some beliefs, given by their keys: goals, the plans for them, and the intentions under way for either."""
    return [
        {"belief": belief.uid, **_pursuit(graph, goal)}
        for belief in graph.get("belief", beliefs)
        for goal in graph.get("goal", belief.linked("belief_supports_goal"))
    ]


def _agent(record: Record) -> str:
    return next(iter(record.linked("agent_owns")), "")


def _is_behind(goal: Record, now: datetime) -> bool:
    state, due, progress = goal.get("state"), goal.get("due_at"), goal.get("progress")
    if state not in ("active", "open"):
        return state == "stalled"
    return due is not None and due <= now and (progress is None or progress < 100)


def _pursuit(graph: RecordGraph, goal: Record) -> Row:
    """A goal, the plans for it, and the intentions under way for either."""
    plans = graph.get("plan", goal.linked("goal_requires_plan"))
    return {
        "goal": goal.uid,
        "goal_name": goal.get("name"),
        "goal_status": goal.get("status"),
        "plans": [_told("plan", each) for each in plans],
        "intentions": [_told("intention", each) for each in _intentions(graph, goal)],
    }


def _told(kind: str, record: Record) -> Row:
    return {kind: record.uid, "name": record.get("name"), "status": record.get("status")}


def _intentions(graph: RecordGraph, goal: Record) -> list[Record]:
    keys = {*graph.linking("intention_pursues_goal", goal.uid)}
    for plan in goal.linked("goal_requires_plan"):
        keys |= {*graph.linking("intention_follows_plan", plan)}
    return graph.get("intention", keys)
