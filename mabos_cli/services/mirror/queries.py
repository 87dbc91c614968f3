"""Questions to the mirror: its state, its schema, TypeQL; and what depends on what across agents, by the files."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mabos_cli.backends.typedb import Refused
from mabos_cli.config import Settings
from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.item import check_choice
from mabos_cli.core.mind.conflicts import Conflict
from mabos_cli.core.mind.mind import LEVELS
from mabos_cli.core.mirror.mind_records import (
    AgentMind,
    RecordGraph,
    Row,
    belief_chains,
    conflict_impact,
    goals_behind,
    linked_records,
    mind_records,
)
from mabos_cli.core.mirror.records import Entry, Record, count_standing, last_failure, record_hash, uid_of
from mabos_cli.core.mirror.schema import Schema, label_types, mirror_schema, unplayed_roles, whole_schema
from mabos_cli.errors import InvalidFile, MabosError, NotFound, Unavailable, UsageFault
from mabos_cli.formats.mirror.questions import (
    ask_belief_chains,
    ask_conflict_impact,
    ask_goals_behind,
    ask_provenance,
    ask_statements,
    plain_rows,
)
from mabos_cli.formats.mirror.typeql import missing_types, render_define
from mabos_cli.services.inputs import Session
from mabos_cli.services.mirror.follow import connect, place_of, rest_after
from mabos_cli.services.mirror.source import load_mind
from mabos_cli.services.mirror.sync import load_records
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.knowledge.ontologies import load_ontology
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.locate import find_agent, list_agents
from mabos_cli.workspace.mind import compare_beliefs, load_beliefs
from mabos_cli.workspace.mirror_ledger import list_mirrored, load_ledger
from mabos_cli.workspace.runtime import now
from mabos_cli.workspace.settings import load_settings

# Ready questions, and what each is about; in brackets what may be left out.
READY = {
    "chains": "[AGENT]",
    "behind": "[LEVEL]",
    "conflict": "KEY",
    "provenance": "ID",
    "statements": "PREDICATE",
}
_SCHEMA_SECONDS = 60.0
_KINDS = ("belief", "goal", "plan", "intention")


class Question(NamedTuple):
    """Holds what is asked: about an id, about a conflict by its key, which goals are behind, or else about all beliefs of an agent."""

    name: str = ""
    conflict: str = ""
    behind: bool = False
    level: str = ""


class Impact(NamedTuple):
    """The rows of an answer, what it is about, what to say where there is none, and warnings. `beliefs` holds names and
    certainties by key."""

    rows: list[Row]
    about: dict[str, Any]
    nothing: str
    beliefs: Mapping[str, tuple[str, float | None]]
    warnings: Sequence[str]


def find_impact(call: Session, asked: Question) -> Impact:
    """Answers a question by the files of all agents. A mind that cannot be read is a warning, unless it is the one asked about."""
    workspace = call.open_workspace()
    agent = None if asked.behind else call.open_agent()
    names, minds, warnings = list_agents(workspace), [], []
    for name in names:
        try:
            minds.append(load_mind(call.agent_of(find_agent(workspace, name))))
        except MabosError as error:
            if agent and name == agent.id:
                raise
            warnings.append(f"{name}: {error.message}")
    graph = RecordGraph(linked_records(minds))
    if agent is None:
        return Impact(
            goals_behind(graph, now(), asked.level), {"question": "behind"}, "no goal is behind", {}, warnings
        )
    about: dict[str, Any] = {"question": "chains", "agent": agent.id}
    if asked.conflict:
        found = _find_conflict(agent, asked.conflict.strip().lower())
        about |= {"question": "conflict", "conflict": found.key, "reason": found.reason}
        both = mind_records(AgentMind(agent.id, (found.a, found.b)))
        rows = conflict_impact(graph, sorted({each.uid for each in both if each.type == "belief"}))
        nothing = f"conflict {found.key[:8]} touches no goal"
    elif not asked.name:
        rows, nothing = belief_chains(graph, agent.id), f"no belief of {agent.id} supports a goal"
    else:
        record = _find_record(graph, agent.id, asked.name)
        about["about"], nothing = record.uid, f"no belief supports {record.uid}"
        if record.type == "belief":
            rows, nothing = conflict_impact(graph, [record.uid]), f"{record.uid} supports no goal"
        else:  # goals, plans and intentions may rest on beliefs of any agent
            every, kind = [row for name in names for row in belief_chains(graph, name)], record.type
            here = [{row["goal"]} if kind == "goal" else {each[kind] for each in row[f"{kind}s"]} for row in every]
            rows = [row for row, uids in zip(every, here, strict=True) if record.uid in uids]
    held = graph.get("belief", [row["belief"] for row in rows])
    beliefs = {each.uid: (each.get("name"), each.get("certainty")) for each in held}
    return Impact(rows, about, nothing, beliefs, warnings)


def _find_conflict(agent: Agent, key: str) -> Conflict:
    """Returns the conflict with a key, whether somebody resolved it or not."""
    found = compare_beliefs(agent, load_beliefs(agent)[0]).conflicts
    named = {each.key: each for each in found if len(key) >= 4 and each.key.startswith(key)}
    if len(named) > 1:
        raise UsageFault(f"{key} could be {plural(len(named), 'conflict')}", f"one of: {', '.join(named)}")
    if not named:
        raise NotFound(f"no conflict {key!r} for agent {agent.id}", "mabos bdi conflicts lists them")
    return next(iter(named.values()))


def _find_record(graph: RecordGraph, agent: str, name: str) -> Record:
    """Returns the belief, goal, plan or intention with an id or a title. Its agent may stand before a slash, and another one is
    meant when only that has something of this id."""
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


def read_status(call: Session) -> tuple[dict[str, Any], list[str]]:
    """Returns whether a server is configured and what it says about itself, how far each agent is mirrored; and warnings."""
    workspace = call.open_workspace()
    settings = _settings_of(call, workspace)
    if not settings["typedb.address"]:
        return {"configured": False}, []
    place = place_of(workspace, settings)
    rows, warnings = [], []
    data: dict[str, Any] = {"address": place.address, "database": place.database, "user": place.user}
    data |= {"reachable": False, "error": None, "version": None, "databases": []}
    try:
        with connect(workspace, place) as session:
            data |= {"version": session.version(), "databases": session.databases(), "reachable": True}
    except Unavailable as error:
        rest_after(workspace, place, error)
        data["error"] = f"{error.message}; {error.hint}" if error.hint else error.message
    for name in [call.agent] if call.agent else list_mirrored(workspace):
        agent = call.agent_of(workspace.agent(name))
        known = load_ledger(agent.paths)
        records, kinds, notes = load_records(agent)
        wanted = {key: record_hash(record) for key, record in records.items()}
        counts = count_standing(wanted, {key: entry for key, entry in known.items() if key[0] in kinds})
        last = last_failure(known)
        rows.append({"agent": name, **counts, "last_error": failure_row(last) if last else None})
        warnings += [f"{name}: {note}" for note in notes]
    return {"configured": True, **data, "agents": rows}, warnings


def failure_row(entry: Entry) -> dict[str, str]:
    """Returns what the server refused, as JSON."""
    return {"type": entry.type, "uid": entry.uid, "error": entry.error, "at": entry.at}


def _settings_of(call: Session, workspace: WorkspacePaths) -> Settings:
    """Returns the settings of the workspace, or of the agent that is named."""
    agent = find_agent(workspace, call.agent) if call.agent else None
    return load_settings(workspace, agent, {"lock.timeout": call.lock_timeout})


def define_schema(call: Session, *, dry_run: bool) -> tuple[str, Schema, bool, list[str]]:
    """Defines the types that agents and ontologies need: the database, the types that it lacks, whether the database was
    missing, and warnings. To define again what is there changes nothing; what is there otherwise, the server refuses."""
    workspace = call.open_workspace()
    place = place_of(workspace, _settings_of(call, workspace))
    ontology, warnings = load_ontology(workspace)
    schema = whole_schema(ontology)
    unplayed = unplayed_roles(schema)
    if unplayed:
        hint = "look at it: mabos ontology export --format typeql"
        raise InvalidFile(f"the ontologies make no schema: nothing plays {unplayed[0]}", hint)
    # The types of all ontologies take a small server longer than records do.
    with connect(workspace, place._replace(timeout=max(place.timeout, _SCHEMA_SECONDS))) as session:
        present = session.schema()
        if present is None and not dry_run:
            session.create_database()
        try:
            if not dry_run:
                session.change_schema([render_define(schema)])
        except Refused as error:
            hint = "a type has another definition in the database: delete the database, or name a new one in typedb.database"
            raise Unavailable(error.message, hint) from None
    return place.database, missing_types(schema, present or ""), present is None, warnings


def word_question(call: Session, name: str, about: str) -> str:
    """Returns a ready question as TypeQL: chains [AGENT], behind [LEVEL], conflict KEY, provenance ID, statements PREDICATE."""
    if name == "behind":
        return ask_goals_behind(now(), check_choice(about, LEVELS, "level") if about else "")
    if name == "chains":
        return ask_belief_chains(about or call.open_agent().id)
    if not about:
        raise UsageFault(f"{name} of what?", f"give {READY[name]}")
    if name == "statements":  # by the relation that stands for a predicate in the graph
        ontology = load_ontology(call.open_workspace())[0]
        found = [each for each in ontology.properties_named(about) if each.kind != "datatype"]
        if not found:
            raise NotFound(f"no ontology has a relation {about!r}", "mabos ontology show lists what there is")
        return ask_statements(label_types(ontology, mirror_schema().names())[found[0].id])
    agent = call.open_agent()
    if name == "conflict":
        return ask_conflict_impact(agent.id, _find_conflict(agent, about.strip().lower()).key)
    return ask_provenance(about if "/" in about else uid_of(agent.id, about))


def run_query(call: Session, typeql: str, room: int | None, database: str = "") -> tuple[str, list[Any], bool]:
    """Returns the database that a query reads, its rows, and whether that is all: with room, no more than fill so many bytes."""
    workspace = call.open_workspace()
    place = place_of(workspace, _settings_of(call, workspace), database)
    with connect(workspace, place) as session:
        try:
            rows, is_all = session.read(typeql, room)
            return place.database, plain_rows(typeql, rows), is_all
        except Refused as error:
            if place.database not in session.databases():
                hint = "mabos typedb status lists them; sync-schema makes one"
                raise Unavailable(f"TypeDB has no database {place.database}", hint) from None
            raise UsageFault(error.message, "see https://typedb.com/docs/typeql-reference") from None
