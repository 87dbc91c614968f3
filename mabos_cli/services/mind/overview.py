"""Shows a mind on one screen, and what agents owe one another: promises, delegated goals, goals that are behind."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import check_choice
from mabos_cli.core.mind.commitment import Mind, Verdict, find_behind, is_past
from mabos_cli.core.mind.deliberation import Deliberation
from mabos_cli.core.mind.mind import LEVELS, Attitude, Belief, is_active, state_of, status_word
from mabos_cli.core.records import NamedTuple
from mabos_cli.errors import InvalidFile, NotFound, UsageFault
from mabos_cli.formats.mind.mind_md import attitude_line, attitude_row
from mabos_cli.services.inputs import Session
from mabos_cli.services.mind.attitudes import Result, add_attitude, update_attitude
from mabos_cli.services.mind.beliefs import find_doubts
from mabos_cli.services.mind.cycle import judge
from mabos_cli.services.mind.deliberation import deliberate_now, find_reports, neighbour, strategy_of
from mabos_cli.workspace import mind as mind_files
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.locate import find_agent, list_agents
from mabos_cli.workspace.transaction import last_runs

_SOON = timedelta(days=7)
_MOST = 5  # entries of each kind that an overview shows


class MindState(NamedTuple):
    """Holds what an agent holds in mind, what the next cycle would end, and the conflicts that its last report lists as open."""

    strategy: str
    beliefs: list[Belief]
    attitudes: Mapping[str, list[Attitude]]
    due: list[Verdict]
    conflicts: int
    report: str
    last_cycle: str
    behind: Mapping[str, str]
    deliberation: Deliberation
    warnings: list[str]


def describe_mind(agent: Agent) -> MindState:
    """Returns what an agent holds in mind, and what the next cycle would do about it."""
    strategy, warnings = strategy_of(agent)
    beliefs, problems = mind_files.load_beliefs(agent)
    found: dict[str, list[Attitude]] = {}
    for kind in ("desire", "goal", "intention", "plan", "commitment"):
        found[kind], more = mind_files.load_attitudes(agent, kind)
        problems += more
    due = judge(agent, found["intention"], Mind(found["goal"], found["desire"], beliefs), strategy)
    latest, known = mind_files.latest_report(agent), mind_files.read_resolved(agent)
    conflicts = len([key for key in latest[1] if key not in known]) if latest else 0
    report = agent.paths.relative(latest[0]) if latest else ""
    last = last_runs(agent).get("bdi cycle", {}).get("at") or ""
    warnings = [*warnings, *(str(problem) for problem in problems)]
    behind = find_behind(found["goal"], agent.now())
    return MindState(strategy, beliefs, found, due, conflicts, report, last, behind, deliberate_now(agent), warnings)


def agents_of(call: Session, every: bool) -> Iterator[Agent]:
    """Yields the agent of a session, or every agent of its workspace."""
    workspace = call.open_workspace()
    for name in list_agents(workspace) if every else [find_agent(workspace, call.agent).id]:
        yield call.agent_of(find_agent(workspace, name))


def describe_all(call: Session) -> Result:
    """Returns a row for each agent: what it holds, owes and is behind with, and what is proposed to it."""
    table: list[tuple[str, ...]] = [
        (
            "agent",
            "strategy",
            "beliefs",
            "goals",
            "behind",
            "intentions",
            "owes",
            "overdue",
            "conflicts",
            "proposals",
            "last cycle",
        )
    ]
    rows: list[dict[str, Any]] = []
    warnings: list[str] = []
    for agent in agents_of(call, True):
        mind = describe_mind(agent)
        owed = [each for each in mind.attitudes["commitment"] if state_of(each) not in ("done", "gone")]
        counts = {
            "beliefs": sum(belief.is_held for belief in mind.beliefs),
            "goals": sum(state_of(goal) not in ("done", "gone") for goal in mind.attitudes["goal"]),
            "behind": len(mind.behind),
            "intentions": sum(map(is_active, mind.attitudes["intention"])),
            "owes": len(owed),
            "overdue": sum(is_past(each.deadline, agent.now()) for each in owed),
            "conflicts": mind.conflicts,
            "proposals": len(mind.deliberation.proposals),
        }
        rows.append({"agent": agent.id, "strategy": mind.strategy, **counts, "last_cycle": mind.last_cycle or None})
        table.append((agent.id, mind.strategy, *map(str, counts.values()), mind.last_cycle[:16] or "-"))
        warnings += [f"{agent.id}: {text}" for text in mind.warnings]
    return Result({"agents": rows}, [_aligned(row, table) for row in table], warnings)


def _aligned(row: tuple[str, ...], table: list[tuple[str, ...]]) -> str:
    widths = [max(len(other[n]) for other in table) for n in range(len(row))]
    return "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def list_goals(call: Session, status: str, level: str, *, behind: bool, every: bool) -> Result:
    """Lists goals of an agent or of all, with what other agents report of those that they were handed."""
    level = check_choice(level, LEVELS, "level") if level else ""
    rows, lines, warnings = [], list[str](), list[str]()
    for agent in agents_of(call, every):
        goals, problems = mind_files.load_attitudes(agent, "goal")
        late, reports = find_behind(goals, agent.now()), find_reports(agent, goals)
        for goal in goals:
            chosen = status.strip().casefold() in ("", status_word(goal.status)) and level in ("", goal.level)
            if not chosen or (behind and goal.name not in late):
                continue
            report, why = reports.get(goal.name), late.get(goal.name, "")
            row = attitude_row(goal) | {"behind": why or None, "report": attitude_row(report) if report else None}
            rows.append(({"agent": agent.id} if every else {}) | row)
            lines.append(f"{f'{agent.id} ' if every else ''}{attitude_line(goal)}")
            lines += [f"  behind: {why}"] if behind else []
            lines += [f"  {report.owner} reports {attitude_line(report)}"] if report else []
        warnings += [f"{agent.id}: {problem}" if every else str(problem) for problem in problems]
    nothing = "no goal is behind" if behind else f"no goals{f' with status {status}' if status or level else ' yet'}"
    return Result({"goals": rows}, lines or [nothing], warnings)


def list_owed_to(agent: Agent) -> Result:
    """Lists what the other agents of the workspace promised to one, each from their files."""
    rows, lines = [], []
    for giver, each in _owed_to(agent):
        rows.append({"agent": giver} | attitude_row(each))
        lines.append(f"{giver} {attitude_line(each)}")
    return Result({"commitments": rows}, lines or [f"nobody has promised {agent.id} anything"], [])


def _owed_to(agent: Agent) -> Iterator[tuple[str, Attitude]]:
    names = {agent.id.casefold(), str(agent.manifest().get("name") or "").strip().casefold()} - {""}
    for other in list_agents(agent.paths.workspace):
        for each in mind_files.load_attitudes(neighbour(agent, other), "commitment")[0] if other != agent.id else ():
            to = each.owner or each.group.casefold().removeprefix("to ")
            if to.strip(" *_`@").casefold() in names:
                yield other, each._replace(path=f"../{other}/{each.path}")


def delegate_goal(call: Session, name: str, to: str) -> Result:
    """Hands a goal to another agent: it stands in the goals of both, and each names the other."""
    agent = call.open_agent()
    other = call.agent_of(find_agent(call.open_workspace(), to))
    goal = next(
        (
            g
            for g in mind_files.load_attitudes(agent, "goal")[0]
            if name.casefold() in (g.id.casefold(), g.title.casefold())
        ),
        None,
    )
    if goal is None:
        raise NotFound(f"no goal {name!r} for agent {agent.id}", "mabos goal list shows them")
    if other.id == agent.id or not goal.id:
        why = "is its own" if other.id == agent.id else "has no id to report on"
        raise BadValue(
            f"{goal.name} cannot be delegated to {other.id}: it {why}", "name another agent, or give it an id"
        )
    if goal.name in find_reports(agent, [goal._replace(owner=other.id)]):
        raise BadValue(f"{other.id} has {goal.name} already", f"mabos goal list -a {other.id}")
    priority = "" if goal.priority is None else f"{goal.priority:g}"
    fields = {
        "type": goal.level or "tactical",
        "priority": priority,
        "status": "active",
        "deadline": goal.deadline[:10],
    }
    try:
        given = add_attitude(other, "goal", goal.title, fields | {"delegated": [f"{agent.id} {goal.id}"]})
    except (BadValue, UsageFault) as error:  # what the file says, not what the call says
        raise InvalidFile(f"{goal.place}: {error.message}", error.hint) from None
    kept = update_attitude(agent, "goal", goal.id, {"owner": other.id}, f"delegated to {other.id}")
    lines = [*kept.lines, f"{other.id}: {given.lines[0]}"]
    return Result(
        {"goal": kept.data, "agent": other.id, "delegated": given.data}, lines, given.warnings + kept.warnings
    )


def show_mind(agent: Agent) -> Result:
    """Returns an overview on one screen: what an agent believes, wants, intends and owes, and what is due."""
    mind = describe_mind(agent)
    held = [belief for belief in mind.beliefs if belief.is_held]
    doubts = find_doubts(agent, mind.beliefs)
    live = {kind: [e for e in each if state_of(e) not in ("done", "gone")] for kind, each in mind.attitudes.items()}
    parts: dict[str, list[str]] = {
        "believe": [
            f"{belief.statement} ({belief.certainty:.2f})" for belief in sorted(held, key=lambda b: -b.certainty)
        ],
        "doubt": [f"{name} {why}" for name, why in doubts.items()],
        "want": [each.title for each in sorted(live["desire"], key=lambda each: -(each.priority or 0))],
        "aim at": [each.label for each in sorted(live["goal"], key=lambda e: (-(e.priority or 0), e.deadline or "9"))],
        "intend": [each.label for each in live["intention"] if is_active(each)],
        "owe": [f"{each.label}{f' to {each.owner}' if each.owner else ''}" for each in live["commitment"]],
        "am owed": [
            f"{giver} {each.label}" for giver, each in _owed_to(agent) if state_of(each) not in ("done", "gone")
        ],
        "due": [*_due(agent, live), *(f"{v.intention.name} {v.status}: {v.reason}" for v in mind.due)],
        "propose": [f"{each.action} {each.name}: {each.reasons[0]}" for each in mind.deliberation.proposals],
    }
    lines = [f"{agent.id} ({mind.strategy}), {plural(mind.conflicts, 'open conflict')}"]
    for name, entries in parts.items():
        lines += [f"{name} {len(entries)}"] if entries else []
        lines += [f"  {one_line(entry, 100)}" for entry in entries[:_MOST]]
    return Result(
        {"agent": agent.id, "strategy": mind.strategy, "conflicts": mind.conflicts}
        | {name.replace(" ", "_"): each for name, each in parts.items()},
        lines,
        mind.warnings,
    )


def _due(agent: Agent, live: Mapping[str, list[Attitude]]) -> list[str]:
    """Returns what is overdue or due within a week, the earliest first."""
    soon = agent.now() + _SOON
    dated = [
        each for kind in ("goal", "intention", "commitment") for each in live[kind] if is_past(each.deadline, soon)
    ]
    return [f"{each.deadline[:10]} {each.label}" for each in sorted(dated, key=lambda each: each.deadline)]
