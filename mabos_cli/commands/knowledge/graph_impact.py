"""graph impact: what hangs on what, across agents, by the files or by the mirror in TypeDB."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mabos_cli.commands.call import Call
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.mind.conflicts import Conflict
from mabos_cli.core.mind.mind import Belief
from mabos_cli.core.mirror.mind_records import (
    AgentMind,
    RecordGraph,
    Row,
    belief_chains,
    conflict_impact,
    goals_behind,
    mind_records,
    world_records,
)
from mabos_cli.core.mirror.records import Record
from mabos_cli.errors import MabosError, NotFound, UsageFault
from mabos_cli.formats.mirror.typeql import ask_belief_chains, ask_conflict_impact, ask_goals_behind, plain_rows
from mabos_cli.services.mirror.source import load_mind
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.conflicts import compare_beliefs
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.locate import find_agent, list_agents
from mabos_cli.workspace.mind import load_beliefs
from mabos_cli.workspace.runtime import now
from mabos_cli.workspace.settings import load_settings

if TYPE_CHECKING:
    from mabos_cli.backends.typedb import Session

_KINDS = ("belief", "goal", "plan", "intention")


class World(NamedTuple):
    """Who is asked: the records of all agents and, if the mirror is to answer, a session with it."""

    agents: list[str]
    graph: RecordGraph
    session: "Session | None" = None

    def chains(self, agent: str) -> list[Row]:
        """What the beliefs of an agent support, and what follows."""
        return self._read(ask_belief_chains(agent)) if self.session else belief_chains(self.graph, agent)

    def impact(self, beliefs: Sequence[str]) -> list[Row]:
        """What hangs on some beliefs."""
        if self.session:
            return self._read(ask_conflict_impact(beliefs))
        return conflict_impact(self.graph, beliefs)

    def behind(self, level: str) -> list[Row]:
        """Goals that are behind, whoever has them."""
        if self.session:
            return self._read(ask_goals_behind(now(), level))
        return goals_behind(self.graph, now(), level)

    def _read(self, query: str) -> list[Row]:
        assert self.session
        return plain_rows(self.session.read(query)[0])


class Question(NamedTuple):
    """What is asked: about an id, about a conflict by its key, which goals are behind, or else about all beliefs of an agent."""

    name: str = ""
    conflict: str = ""
    behind: bool = False
    level: str = ""


def show_impact(call: Call, asked: Question, via: str) -> None:
    """Answers a question by the files, or by TypeDB, and says by which."""
    workspace = call.open_workspace()
    agent = None if asked.behind else call.open_agent()
    if via == "files":
        world, warnings = _load_world(call, workspace, agent)
        data, lines = _answer(world, agent, asked)
        told = "by the files"
    else:
        from mabos_cli.services.mirror.follow import connect, place_of

        place = place_of(workspace, agent.settings if agent else load_settings(workspace, None, {}))
        # Ids and conflicts are looked up in the files all the same.
        world, warnings = _load_world(call, workspace, agent) if agent else (World([], RecordGraph(())), [])
        with connect(workspace, place) as session:
            data, lines = _answer(world._replace(session=session), agent, asked)
        told = f"by TypeDB at {place.address}"
    call.emit("graph.impact", {"via": via, **data}, [*lines, told], warnings)


def _load_world(call: Call, workspace: WorkspacePaths, home: Agent | None) -> tuple[World, list[str]]:
    """The minds of all agents. One that cannot be read is a warning, unless it is the one that is asked about."""
    agents, minds, warnings = list_agents(workspace), [], []
    for agent in agents:
        try:
            minds.append(load_mind(call.agent_of(find_agent(workspace, agent))))
        except MabosError as error:
            if home and agent == home.id:
                raise
            warnings.append(f"{agent}: {error.message}")
    return World(agents, RecordGraph(world_records(minds))), warnings


def _answer(world: World, agent: Agent | None, asked: Question) -> tuple[dict[str, Any], list[str]]:
    """The rows of the answer, as data and as lines."""
    if agent is None:
        rows = world.behind(asked.level)
        lines = [_goal_line(row) for row in rows]
        return {"question": "behind", "rows": rows}, lines or ["no goal is behind"]
    told: dict[str, Any] = {"question": "chains", "agent": agent.id}
    if asked.conflict:
        found = _find_conflict(agent, asked.conflict.strip().lower())
        told |= {"question": "conflict", "conflict": found.key, "reason": found.reason}
        rows = world.impact(sorted({_key(agent.id, belief) for belief in (found.a, found.b)}))
        nothing = f"conflict {found.key[:8]} touches no goal"
    elif asked.name:
        record = _find_record(world.graph, agent.id, asked.name)
        told["about"] = record.uid
        rows = _chains_with(world, record)
        is_start = record.type == "belief"
        nothing = f"{record.uid} supports no goal" if is_start else f"no belief supports {record.uid}"
    else:
        rows = world.chains(agent.id)
        nothing = f"no belief of {agent.id} supports a goal"
    return told | {"rows": rows}, _chain_lines(world.graph, rows) or [nothing]


def _find_conflict(agent: Agent, key: str) -> Conflict:
    """The conflict with a key, whether somebody resolved it or not."""
    found = compare_beliefs(agent, load_beliefs(agent)[0]).conflicts
    named = {each.key: each for each in found if len(key) >= 4 and each.key.startswith(key)}
    if len(named) > 1:
        raise UsageFault(f"{key} could be {plural(len(named), 'conflict')}", f"one of: {', '.join(named)}")
    if not named:
        raise NotFound(f"no conflict {key!r} for agent {agent.id}", "mabos bdi conflicts lists them")
    return next(iter(named.values()))


def _key(agent: str, belief: Belief) -> str:
    """The key of a belief in the graph."""
    return mind_records(AgentMind(agent, (belief,)))[0].uid


def _find_record(graph: RecordGraph, agent: str, name: str) -> Record:
    """The belief, goal, plan or intention with an id or a title. Its agent may stand before a slash, and another one is meant
    when only that has something of this id."""
    wanted = name.strip().casefold()
    records = [record for kind in _KINDS for record in graph.all(kind)]
    mine = [each for each in records if agent in each.linked("agent_owns")]
    found = [each for each in mine if each.uid.casefold() == f"{agent}/{wanted}".casefold()]
    found = found or [each for each in mine if (each.get("name") or "").casefold() == wanted]
    found = found or [each for each in records if each.uid.casefold() == wanted]
    others = [] if found else [each for each in records if each.uid.casefold().partition("/")[2] == wanted]
    if len(others) > 1:
        raise UsageFault(f"whose {name}?", f"one of: {', '.join(each.uid for each in others)}")
    found += others
    if not found:
        raise NotFound(
            f"no belief, goal, plan or intention {name!r} for agent {agent}",
            "mabos belief list, goal list, plan list and intention list show them",
        )
    return found[0]


def _chains_with(world: World, record: Record) -> list[Row]:
    """The chains that lead through something. Goals, plans and intentions may rest on beliefs of any agent."""
    if record.type == "belief":
        return world.impact([record.uid])
    rows = [row for agent in world.agents for row in world.chains(agent)]
    return [row for row in rows if record.uid in _keys_of(row, record.type)]


def _keys_of(row: Row, kind: str) -> set[str]:
    """The keys of a kind that a chain leads through."""
    return {row["goal"]} if kind == "goal" else {each[kind] for each in row.get(f"{kind}s", ())}


def _chain_lines(graph: RecordGraph, rows: Sequence[Row]) -> list[str]:
    """Chains as lines: beliefs, below them goals, below these plans and intentions."""
    lines: list[str] = []
    before = ""
    for row in rows:
        if row["belief"] != before:
            before = row["belief"]
            lines.append(_belief_line(graph, before))
        lines.append(f"  supports {_named(row['goal'], row['goal_name'], row['goal_status'])}")
        for kind, verb in (("plan", "requires"), ("intention", "pursued by")):
            for each in row.get(f"{kind}s", ()):
                lines.append(f"    {verb} {_named(each[kind], each['name'], each['status'])}")
    return lines


def _belief_line(graph: RecordGraph, uid: str) -> str:
    held = graph.get("belief", [uid])
    sure = held[0].get("certainty") if held else None
    return _named(uid, held[0].get("name") if held else "", "" if sure is None else f"{sure:.2f}")


def _goal_line(row: Row) -> str:
    done = "" if row["progress"] is None else f"{row['progress']:g} %"
    due = f"due {row['deadline']}" if row["deadline"] else ""
    told = ", ".join(part for part in (row["level"], row["status"] or row["state"], done, due) if part)
    return _named(row["goal"], row["name"], told)


def _named(uid: str, name: str | None, told: str | None) -> str:
    return f"{uid} {one_line(name or '', 80)}{f' ({one_line(told, 60)})' if told else ''}"
