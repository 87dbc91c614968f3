"""typedb: the mirror of the files in a TypeDB 3 server. Files are canonical: the mirror can be deleted and rebuilt."""

from typing import Annotated, Any

from mabos_cli.commands.call import Argument, Commands, Context, DryRun, Every, Option
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.errors import CheckFailed, UsageFault
from mabos_cli.formats.json.text import dump_line
from mabos_cli.formats.mind.goal_seed import LINKS
from mabos_cli.formats.mirror.typeql import check_read_only, render_define
from mabos_cli.services.inputs import text_argument
from mabos_cli.services.mind.goal_seed import Seeded, seed_business
from mabos_cli.services.mirror.queries import READY, define_schema, failure_row, read_status, run_query, word_question
from mabos_cli.services.mirror.sync import mirror_agents
from mabos_cli.terminal.emit import columns

app = Commands("typedb", "Mirror agents in a TypeDB 3 server, and query it.")
_ROOM = 4096  # bytes
_SHOWN = 10


@app.command()
def status(ctx: Context) -> None:
    """Show whether a server is configured and answers, and how far each agent is mirrored.

    Example: mabos typedb status --json
    """
    data, warnings = read_status(ctx.obj)
    lines = _status_lines(data) if data["configured"] else ["not configured: set typedb.address, as in localhost:1729"]
    ctx.obj.emit("typedb.status", data, lines, warnings)


def _status_lines(data: dict[str, Any]) -> list[str]:
    state = data["version"] if data["reachable"] else data["error"]
    lacks = data["reachable"] and data["database"] not in data["databases"]
    facts = [("server", data["address"]), ("state", state)]
    facts += [("database", f"{data['database']}{' (missing: mabos typedb sync-schema)' if lacks else ''}")]
    others = [name for name in data["databases"] if name != data["database"]]
    facts += [("others", ", ".join(others))] if others else []
    lines = columns(facts)
    for row in data["agents"]:
        lines.append(f"{row['agent']}: {row['ok']} ok, {row['queued']} queued, {row['failed']} failed")
        if row["last_error"]:
            lines.append(f"  {row['last_error']['uid']}: {one_line(row['last_error']['error'], 200)}")
    return lines


@app.command("sync-schema")
def sync_schema(ctx: Context, dry_run: DryRun = False) -> None:
    """Create the database if needed, and define its types.

    Example: mabos typedb sync-schema --dry-run
    """
    database, missing, is_new, warnings = define_schema(ctx.obj, dry_run=dry_run)
    define, count = render_define(missing), len(missing.names())
    data = {
        "database": database,
        "created": is_new,
        "defined": count,
        "define": define if dry_run else None,
        "dry_run": dry_run,
    }
    would = "would be " if dry_run else ""
    lines = [f"database {database} {would}made"] if is_new else []
    lines.append(f"{plural(count, 'type')} {would}defined" if count else "no type is missing")
    ctx.obj.emit("typedb.sync-schema", data, lines + (define.splitlines() if dry_run else []), warnings)


@app.command("sync-agent")
def sync_agent_command(
    ctx: Context,
    agent: Annotated[str, Argument(metavar="[AGENT]", help="The agent; by default that of --agent.")] = "",
    every: Every = False,
    check: Annotated[bool, Option("--check", "--strict", help="Exit 7 if the server refused something.")] = False,
) -> None:
    """Bring the mirror of an agent up to date with its files.

    Example: mabos typedb sync-agent --all --check
    """
    ctx.obj.check_all(every)
    if every and agent:
        raise UsageFault("both an agent and --all given", "one names an agent, the other means all")
    rows: list[dict[str, Any]] = []
    warnings: list[str] = []
    for name, writing in mirror_agents(ctx.obj, "" if every else agent or ctx.obj.agent, every=every):
        refused = [failure_row(entry) for entry in writing.failed]
        rows.append({"agent": name, "written": writing.written, "deleted": writing.deleted, "failed": refused})
        warnings += writing.warnings
    failed = sum(len(row["failed"]) for row in rows)
    data = {"agents": rows, "failed": failed}
    lines = []
    for row in rows:
        refused = row["failed"]
        lines.append(f"{row['agent']}: {row['written']} written, {row['deleted']} deleted, {len(refused)} failed")
        lines += [f"  {each['uid']}: {one_line(each['error'], 200)}" for each in refused[:_SHOWN]]
        lines += [f"  and {len(refused) - _SHOWN} more"] if len(refused) > _SHOWN else []
    ctx.obj.emit("typedb.sync-agent", data, lines, warnings)
    if check and failed:
        raise CheckFailed(f"TypeDB refused {plural(failed, 'record')}", "see mabos typedb status")


@app.command()
def query(
    ctx: Context,
    typeql: Annotated[
        str, Argument(metavar="TYPEQL", help=f"A read query; - reads standard input. Or {', '.join(READY)}.")
    ],
    about: Annotated[
        str, Argument(metavar="[ABOUT]", help="With a ready question: an agent, level, conflict, id or predicate.")
    ] = "",
    full: Annotated[bool, Option("--full", help="All rows, however many.")] = False,
    database: Annotated[str, Option(help="Another database of the server.")] = "",
) -> None:
    """Run a read query or a ready question, and print the rows as JSON.

    Example: mabos typedb query 'match $g isa goal, has name $name; select $name;'
    """
    text = text_argument(typeql, ctx.obj.literal_dash)
    if text not in READY and (about or text.isidentifier()):
        raise UsageFault(f"{one_line(text, 60)!r} is no ready question", f"one of: {', '.join(READY)}")
    text = word_question(ctx.obj, text, about) if text in READY else check_read_only(text)
    name, rows, is_all = run_query(ctx.obj, text, None if full else _ROOM, database)
    data = {"database": name, "rows": rows, "truncated": not is_all}
    cut = f"cut at 4 KB: {plural(len(rows), 'row')} shown, and there are more; --full shows all"
    lines = [dump_line(row) for row in rows]
    ctx.obj.emit("typedb.query", data, lines or (["no rows"] if is_all else []), [] if is_all else [cut])


@app.command("seed-goals")
def seed_goals(
    ctx: Context,
    file: Annotated[
        str,
        Argument(metavar="[FILE]", help="A template in YAML; - reads standard input. By default, the included one."),
    ] = "",
    create_agents: Annotated[bool, Option("--create-agents", help="Create the agents that are missing.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Create goals, desires, plans and beliefs from a YAML template. Existing entries stay as they are.

    Example: mabos typedb seed-goals --create-agents --dry-run
    """
    found = seed_business(ctx.obj, file, create_agents=create_agents, dry_run=dry_run)
    data = {
        "template": found.template,
        "business": found.business,
        "dry_run": dry_run,
        "agents_created": found.created,
        "agents_missing": found.missing,
        "entries": found.rows,
    }
    lines = _seed_lines(found, dry_run, dry_run or ctx.obj.verbose)
    if found.created and not dry_run:
        lines.append(f"next: mabos goal tree --agent {found.created[0]}, or MABOS_AGENT={found.created[0]}")
    ctx.obj.emit("typedb.seed-goals", data, lines, found.warnings)


def _seed_lines(found: Seeded, dry_run: bool, every: bool) -> list[str]:
    """Returns a line for each agent, how much it was given and how much it had; and a line for each entry, or only for those that are
    there under another id or title."""
    lines = []
    added = "would add" if dry_run else "added"
    for agent in dict.fromkeys(row["agent"] for row in found.rows):
        parts = []
        for state, verb in (("added", added), ("kept", "kept")):
            mine = [row["kind"] for row in found.rows if (row["agent"], row["state"]) == (agent, state)]
            counts = ", ".join(plural(mine.count(kind), kind) for kind in LINKS if kind in mine)
            parts += [f"{verb} {counts}"] if counts else []
        new = " (new)" if agent in found.created else ""
        lines += [f"{agent}{new}: {'; '.join(parts)}"] if parts else []
    lines = lines or ["nothing was added"]
    for row in found.rows:
        if row["state"] != "left out" and (every or "for" in row):
            verb = added if row["state"] == "added" else row["state"]
            place = f" ({row['place']})" if row["place"] else ""
            note = f", which the template has as {row['for']}" if "for" in row else ""
            lines.append(f"{verb} {row['agent']} {row['id'] or '-'} {one_line(row['title'], 100)}{place}{note}")
    return lines
