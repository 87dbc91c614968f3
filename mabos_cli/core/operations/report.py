"""A report of one agent or of all in a workspace, as values: everything that the page shows, cut to size."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from mabos_cli.core.language.clock import find_time
from mabos_cli.core.mind.commitment import is_past
from mabos_cli.core.mind.conflicts import Conflict
from mabos_cli.core.mind.mind import Attitude, Belief, Branch, state_of
from mabos_cli.core.operations.report_graph import Picture
from mabos_cli.core.operations.report_memory import Cut, MemoryView, Month, cut, fair_share, shown

_TROUBLES = 40
_CONFLICTS, _RESOLVED, _GOALS, _DATES = 40, 20, 150, 40
_AHEAD = timedelta(days=30)


class Side(NamedTuple):
    """One of two beliefs that disagree, with its place."""

    text: str
    place: str
    certainty: float
    newer: bool


class Clash(NamedTuple):
    """A conflict that is open, with both beliefs and what to do."""

    agent: str
    key: str
    reason: str
    severity: float
    sides: tuple[Side, Side]
    action: str


class Settled(NamedTuple):
    """A conflict that somebody resolved: which side was kept, why and when."""

    agent: str
    key: str
    sides: tuple[str, str]
    keep: str
    reason: str
    day: str


class GoalRow(NamedTuple):
    """A goal in the tree, so many levels down; the state is one of five words, the status is as it is written."""

    agent: str
    depth: int
    name: str
    title: str
    level: str
    state: str
    status: str
    progress: float | None
    deadline: str
    late: bool
    below: int


class Dated(NamedTuple):
    """Something with a date that has passed, or soon will."""

    day: str
    late: bool
    agent: str
    kind: str
    name: str
    title: str
    place: str


class Report(NamedTuple):
    """All that a report shows: whose it is, its moment, the agents, and the sections in their order."""

    name: str
    at: str
    agents: tuple[str, ...]
    memory: MemoryView
    months: Cut[Month]
    clashes: Cut[Clash]
    settled: Cut[Settled]
    goals: Cut[GoalRow]
    picture: Picture
    facts: int
    lapsed: int
    dates: Cut[Dated]
    troubles: Cut[str]

    @property
    def is_empty(self) -> bool:
        """Returns whether there is nothing to show but the agents, and nothing that could not be read."""
        lists = self.months, self.clashes, self.settled, self.goals, self.dates, self.troubles
        return not any((self.memory.live, self.memory.archived, self.facts, *(each.total for each in lists)))


def list_troubles(troubles: Iterable[str]) -> Cut[str]:
    """Lists what could not be read, each once."""
    return cut((shown(trouble, 240) for trouble in dict.fromkeys(troubles)), _TROUBLES)


def list_clashes(found: Iterable[tuple[str, Conflict]]) -> Cut[Clash]:
    """Lists the open conflicts of agents, the most severe first."""
    ranked = sorted(found, key=lambda pair: (-pair[1].severity, pair[0], pair[1].key))
    first = cut(ranked, _CONFLICTS)
    return Cut(tuple(_clash(agent, conflict) for agent, conflict in first.rows), first.left)


def _clash(agent: str, conflict: Conflict) -> Clash:
    sides = _side(conflict.a, conflict.newer == "a"), _side(conflict.b, conflict.newer == "b")
    texts = shown(conflict.reason), conflict.severity, sides, shown(conflict.action)
    return Clash(agent, conflict.key[:8], *texts)


def _side(belief: Belief, newer: bool) -> Side:
    place = f"{belief.place}, {belief.id}" if belief.id else belief.place
    return Side(shown(belief.statement, 240), shown(place, 80), belief.certainty, newer)


def list_settled(found: Iterable[Settled]) -> Cut[Settled]:
    """Lists the resolved conflicts, the latest first."""
    rows = cut(sorted(found, key=lambda row: (row.day, row.agent, row.key), reverse=True), _RESOLVED)
    return Cut(tuple(_shown_settled(row) for row in rows.rows), rows.left)


def _shown_settled(row: Settled) -> Settled:
    sides = shown(row.sides[0]), shown(row.sides[1])
    return Settled(row.agent, shown(row.key, 8), sides, shown(row.keep, 8), shown(row.reason), shown(row.day, 10))


def list_goals(trees: Iterable[tuple[str, Sequence[Branch]]], now: datetime) -> Cut[GoalRow]:
    """Lists the goals of agents as rows of a tree, in order.

    What is cut is cut at the end of a tree, every agent's as deep.
    """
    each = [(agent, [row for branch in branches for row in _goal_rows(branch, 0)]) for agent, branches in trees]
    held = [(agent, rows) for agent, rows in each if rows]
    total = sum(len(rows) for _, rows in held)
    most = fair_share([len(rows) for _, rows in held], _GOALS)
    chosen = [_goal_row(agent, *row, now) for agent, rows in held for row in rows[:most]][:_GOALS]
    return Cut(tuple(chosen), total - len(chosen))


def _goal_rows(branch: Branch, depth: int) -> Iterator[tuple[int, Branch]]:
    yield depth, branch
    for below in branch.below:
        yield from _goal_rows(below, depth + 1)


def _goal_row(agent: str, depth: int, branch: Branch, now: datetime) -> GoalRow:
    goal = branch.goal
    state = state_of(goal)
    return GoalRow(
        agent,
        depth,
        shown(goal.id, 24),
        shown(goal.title, 120),
        shown(goal.level, 16),
        state,
        shown(goal.status, 60),
        None if goal.progress is None else max(0.0, min(100.0, goal.progress)),
        shown(goal.deadline, 24),
        is_open(goal) and is_past(goal.deadline, now),
        len(branch.below),
    )


def is_open(attitude: Attitude) -> bool:
    """Returns whether something is neither done nor given up."""
    return state_of(attitude) not in ("done", "gone")


def list_dates(held: Iterable[tuple[str, Attitude]], now: datetime) -> Cut[Dated]:
    """Lists what is open and was due, or is due within a month, the earliest first."""
    found = []
    for agent, each in held:
        moment = find_time(each.deadline) if each.deadline and is_open(each) else None
        if moment and moment <= now + _AHEAD:
            texts = each.kind, shown(each.id, 24), shown(each.title, 120), shown(each.place, 80)
            found.append(Dated(moment.date().isoformat(), is_past(each.deadline, now), agent, *texts))
    return cut(sorted(found), _DATES)
