"""typedb: the mirror of the files in a TypeDB 3 server. Files stay what counts: the mirror can be deleted and made again."""

from typing import Annotated, Any

import typer

from mabos_cli.backends.typedb import Place, Refused, Session
from mabos_cli.commands.call import Call, new_group
from mabos_cli.commands.options import DryRun, Every
from mabos_cli.config import Settings
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.mirror.records import Entry, count_standing, last_failure, record_hash
from mabos_cli.core.mirror.schema import Schema, check_schema, merge_schemas, mirror_schema, ontology_schema
from mabos_cli.errors import CheckFailed, InvalidFile, Unavailable, UsageFault
from mabos_cli.formats.json.text import dump_line
from mabos_cli.formats.mirror.typeql import check_read_only
from mabos_cli.formats.mirror.typeql_diff import SchemaDiff, diff_schema
from mabos_cli.services.inputs import text_argument
from mabos_cli.services.mirror.follow import connect, place_of, rest_after
from mabos_cli.services.mirror.seed import seed_goals
from mabos_cli.services.mirror.sync import Writing, load_records, sync_agent
from mabos_cli.terminal.emit import columns, progress, shows_progress
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.knowledge.ontologies import load_ontology
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.locate import find_agent
from mabos_cli.workspace.mirror_ledger import list_mirrored, load_ledger
from mabos_cli.workspace.settings import load_settings

app = new_group("typedb", "Mirror agents in a TypeDB 3 server, and query it.", no_args_is_help=True)
_ROOM = 4096  # bytes
_SHOWN = 10


def _settings(call: Call, workspace: WorkspacePaths) -> Settings:
    """The settings of the workspace, or of the agent that is named."""
    agent = find_agent(workspace, call.agent) if call.agent else None
    return load_settings(workspace, agent, {"lock.timeout": call.lock_timeout})


@app.command()
def status(ctx: typer.Context) -> None:
    """Say whether a server is configured and answers, and how far each agent is mirrored.

    Example: mabos typedb status --json
    """
    call: Call = ctx.obj
    workspace = call.open_workspace()
    settings = _settings(call, workspace)
    data: dict[str, Any] = {"configured": bool(settings["typedb.address"])}
    if not data["configured"]:
        call.emit("typedb.status", data, ["not configured: set typedb.address, as in localhost:1729"])
        return
    place = place_of(workspace, settings)
    data |= {"address": place.address, "database": place.database, "user": place.user}
    data |= _server(workspace, place)
    names = [call.agent] if call.agent else list_mirrored(workspace)
    rows, warnings = [], []
    for name in names:
        row, notes = _agent_row(call.agent_of(workspace.agent(name)))
        rows.append(row)
        warnings += notes
    call.emit("typedb.status", data | {"agents": rows}, _status_lines(data, rows), warnings)


def _server(workspace: WorkspacePaths, place: Place) -> dict[str, Any]:
    """What the server says about itself."""
    found: dict[str, Any] = {"reachable": False, "error": None, "version": None, "databases": []}
    try:
        with connect(workspace, place) as session:
            found |= {"version": session.version(), "databases": session.databases(), "reachable": True}
    except Unavailable as error:
        rest_after(workspace, place, error)
        found["error"] = f"{error.message}; {error.hint}" if error.hint else error.message
    return found


def _agent_row(agent: Agent) -> tuple[dict[str, Any], list[str]]:
    """How far an agent is mirrored, by its files and its ledger, and warnings about files that cannot be read."""
    known = load_ledger(agent.paths)
    records, kinds, warnings = load_records(agent)
    wanted = {key: record_hash(record) for key, record in records.items()}
    counts = count_standing(wanted, {key: entry for key, entry in known.items() if key[0] in kinds})
    last = last_failure(known)
    row = {"agent": agent.id, **counts, "last_error": _failure(last) if last else None}
    return row, [f"{agent.id}: {warning}" for warning in warnings]


def _failure(entry: Entry) -> dict[str, str]:
    return {"type": entry.type, "uid": entry.uid, "error": entry.error, "at": entry.at}


def _status_lines(data: dict[str, Any], rows: list[dict[str, Any]]) -> list[str]:
    state = data["version"] if data["reachable"] else data["error"]
    lacks = data["reachable"] and data["database"] not in data["databases"]
    told = [("server", data["address"]), ("state", state)]
    told += [("database", f"{data['database']}{' (missing: mabos typedb sync-schema)' if lacks else ''}")]
    others = [name for name in data["databases"] if name != data["database"]]
    told += [("others", ", ".join(others))] if others else []
    lines = columns(told)
    for row in rows:
        lines.append(f"{row['agent']}: {row['ok']} ok, {row['queued']} queued, {row['failed']} failed")
        if row["last_error"]:
            lines.append(f"  {row['last_error']['uid']}: {one_line(row['last_error']['error'], 200)}")
    return lines


@app.command("sync-schema")
def sync_schema(
    ctx: typer.Context,
    apply_changes: Annotated[
        bool, typer.Option("--apply-changes", help="Also redefine what the server has otherwise.")
    ] = False,
    dry_run: DryRun = False,
) -> None:
    """Make the database if needed, and define the types that agents and ontologies need.

    Example: mabos typedb sync-schema --dry-run
    """
    call: Call = ctx.obj
    workspace = call.open_workspace()
    place = place_of(workspace, _settings(call, workspace))
    schema, warnings = _wanted_schema(workspace)
    with connect(workspace, place) as session:
        present = session.schema()
        diff = diff_schema(schema, present or "")
        if not dry_run:
            _apply(session, diff, apply_changes, is_new=present is None)
    data = {
        "database": place.database,
        "created": present is None,
        "defined": diff.define.count("\n") - 1 if diff.define else 0,
        "define": diff.define if dry_run else None,
        "changes": [{"told": each.told, "queries": list(each.queries)} for each in diff.changes],
        "changed": apply_changes and any(each.queries for each in diff.changes),
        "only_there": list(diff.only_there),
        "dry_run": dry_run,
    }
    call.emit("typedb.sync-schema", data, _schema_lines(data), warnings)


def _wanted_schema(workspace: WorkspacePaths) -> tuple[Schema, list[str]]:
    """The types that agents and the ontologies of the workspace need, and warnings about files that cannot be read."""
    ontology, warnings = load_ontology(workspace)
    base = mirror_schema()
    schema = merge_schemas(base, ontology_schema(ontology, base.names()))
    troubles = check_schema(schema)
    if troubles:
        raise InvalidFile(
            f"the ontologies make no schema: {troubles[0]}", "look at it: mabos ontology export --format typeql"
        )
    return schema, warnings


def _apply(session: Session, diff: SchemaDiff, apply_changes: bool, *, is_new: bool) -> None:
    """Defines what is new and, if wanted, what differs: all in one transaction, or nothing."""
    if is_new:
        session.create_database()
    changes = [query for each in diff.changes for query in each.queries] if apply_changes else []
    queries = [*([diff.define] if diff.define else []), *changes]
    if queries:
        session.change_schema(queries)


def _schema_lines(data: dict[str, Any]) -> list[str]:
    would = "would be " if data["dry_run"] else ""
    lines = [f"database {data['database']} {would}made"] if data["created"] else []
    lines.append(f"{plural(data['defined'], 'type')} {would}defined" if data["defined"] else "no type is missing")
    for change in data["changes"]:
        how = f"{would}changed" if data["changed"] else "left; --apply-changes"
        lines.append(f"differs: {change['told']} ({how if change['queries'] else 'to be changed by hand'})")
    if data["only_there"]:
        lines.append(f"only on the server, left alone: {', '.join(data['only_there'][:_SHOWN])}")
    return [*lines, *((data["define"] or "").rstrip().split("\n") if data["define"] else [])]


@app.command("sync-agent")
def sync_agent_command(
    ctx: typer.Context,
    agent: Annotated[str, typer.Argument(metavar="[AGENT]", help="The agent; by default that of --agent.")] = "",
    every: Every = False,
    check: Annotated[
        bool, typer.Option("--check", "--strict", help="Exit 7 when the server refused something.")
    ] = False,
) -> None:
    """Bring the mirror of an agent up to date with its files.

    Example: mabos typedb sync-agent --all --check
    """
    call: Call = ctx.obj
    call.check_all(every)
    if every and agent:
        raise UsageFault("both an agent and --all given", "one names an agent, the other means all")
    workspace = call.open_workspace()
    names = list_mirrored(workspace) if every else [find_agent(workspace, agent or call.agent).id]
    rows, warnings = [], []
    for name in names:
        home, writing = call.agent_of(workspace.agent(name)), Writing()
        _sync(home, writing)
        rows.append(_sync_row(name, writing))
        warnings += writing.warnings
    data = {"agents": rows, "failed": sum(len(row["failed"]) for row in rows)}
    call.emit("typedb.sync-agent", data, [line for row in rows for line in _sync_lines(row)], warnings)
    if check and data["failed"]:
        raise CheckFailed(f"TypeDB refused {plural(data['failed'], 'record')}", "see mabos typedb status")


def _sync(agent: Agent, writing: Writing) -> None:
    workspace = agent.paths.workspace
    place = place_of(workspace, agent.settings)
    show = progress(f"mirroring {agent.id}") if shows_progress() else None
    try:
        with connect(workspace, place) as session:
            sync_agent(agent, session, writing, show)
    except Unavailable as error:
        rest_after(workspace, place, error)
        if not writing.left:
            raise
        done = writing.written + writing.deleted
        told = f"{error.message}; {agent.id}: {done} done, {writing.left} queued"
        raise Unavailable(told, "run it again to go on") from None


def _sync_row(name: str, writing: Writing) -> dict[str, Any]:
    failed = [_failure(entry) for entry in writing.failed]
    return {"agent": name, "written": writing.written, "deleted": writing.deleted, "failed": failed}


def _sync_lines(row: dict[str, Any]) -> list[str]:
    failed = row["failed"]
    told = f"{row['agent']}: {row['written']} written, {row['deleted']} deleted, {len(failed)} failed"
    lines = [f"  {each['uid']}: {one_line(each['error'], 200)}" for each in failed[:_SHOWN]]
    more = [f"  and {len(failed) - _SHOWN} more"] if len(failed) > _SHOWN else []
    return [told, *lines, *more]


@app.command()
def query(
    ctx: typer.Context,
    typeql: Annotated[str, typer.Argument(metavar="TYPEQL", help="A query that reads; - reads standard input.")],
    full: Annotated[bool, typer.Option("--full", help="All rows, however many.")] = False,
    database: Annotated[str, typer.Option(help="Another database of the server.")] = "",
) -> None:
    """Run a TypeQL query that reads, and print its rows as JSON.

    Example: mabos typedb query 'match $g isa goal, has name $name; select $name;'
    """
    call: Call = ctx.obj
    text = check_read_only(text_argument(typeql, call.literal_dash))
    workspace = call.open_workspace()
    place = place_of(workspace, _settings(call, workspace), database)
    with connect(workspace, place) as session:
        try:
            rows, is_all = session.read(text, None if full else _ROOM)
        except Refused as error:
            if place.database not in session.databases():
                hint = "mabos typedb status lists them; sync-schema makes one"
                raise Unavailable(f"TypeDB has no database {place.database}", hint) from None
            raise UsageFault(error.message, "see https://typedb.com/docs/typeql-reference") from None
    data = {"database": place.database, "rows": rows, "truncated": not is_all}
    cut = f"cut at 4 KB: {plural(len(rows), 'row')} shown, and there are more; --full shows all"
    lines = [dump_line(row) for row in rows] or ["no rows"] if is_all else [dump_line(row) for row in rows]
    call.emit("typedb.query", data, lines, [] if is_all else [cut])


app.command("seed-goals")(seed_goals)
