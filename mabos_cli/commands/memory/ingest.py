"""ingest: what was said in the transcripts of agent hosts becomes observations, each once."""

import sys
from collections.abc import Sequence
from typing import Annotated, Any

from mabos_cli.commands.call import Commands, Context, open_progress
from mabos_cli.commands.options import Argument, DryRun, Option
from mabos_cli.core import BadValue
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import check_choice
from mabos_cli.errors import UsageFault
from mabos_cli.formats.memory.agent_hosts import HOSTS
from mabos_cli.formats.memory.agent_transcripts import ROLES, Scope
from mabos_cli.services.inputs import stamp_of
from mabos_cli.services.memory.ingest import Taken, find_transcripts, ingest_transcripts, warnings_of

app = Commands("ingest", "Take what was said in transcripts of agent hosts as observations.")


@app.command()
def transcript(
    ctx: Context,
    files: Annotated[
        list[str], Argument(metavar="FILE...", help="Transcripts, folders with *.jsonl below, or - for standard input.")
    ],
    host: Annotated[
        str, Option(help="Who wrote them: claude, codex, gemini or openclaw; auto tells by their lines.")
    ] = "auto",
    roles: Annotated[str, Option(help="Whose messages to take.")] = ",".join(ROLES),
    tools: Annotated[bool, Option("--tools/--no-tools", help="Take what tools answered.")] = True,
    since: Annotated[str, Option(metavar="DATE", help="Only what was said since: a date, or an age such as 7d.")] = "",
    harvest: Annotated[bool, Option("--harvest", help="Make memories of what waits, behind it.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Take messages and answers of tools from transcripts of Claude Code, Codex, Gemini or OpenClaw, each once.

    Example: mabos ingest transcript ~/.claude/projects/app/session.jsonl --harvest
    """
    agent = ctx.obj.open_agent()
    check_choice(host, ["auto", *HOSTS], "host")
    scope = Scope(_roles(roles), tools, stamp_of(since, agent.now()))
    given, others = find_transcripts(files, host, None if ctx.obj.literal_dash else _open_stdin)
    done = ingest_transcripts(agent, given, host, scope, harvest=harvest, dry_run=dry_run, progress=open_progress)
    data: dict[str, Any] = {
        "files": [row.summary() for row in done.rows],
        "taken": sum(row.taken for row in done.rows),
        "dry_run": dry_run,
    }
    lines = _lines(done.rows, dry_run)
    if done.harvested:
        count, merged = done.harvested.tally.harvested, done.harvested.tally.merged
        data["harvested"] = count
        lines.append(f"harvested {plural(count, 'observation')}" + (f", {merged} merged" if merged else ""))
    ctx.obj.emit("ingest.transcript", data, lines, [*warnings_of(done.rows, others), *done.warnings])


def _open_stdin() -> Any:
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageFault("nothing on standard input", "pipe a transcript in, or give a file")
    return sys.stdin.buffer


def _roles(text: str) -> tuple[str, ...]:
    """The roles in a list, in our order."""
    given = {check_choice(word.strip(), ROLES, "role") for word in text.split(",") if word.strip()}
    if not given:
        raise BadValue("no role given", f"some of {', '.join(ROLES)}")
    return tuple(role for role in ROLES if role in given)


def _lines(rows: Sequence[Taken], dry_run: bool) -> list[str]:
    """A line for each transcript that held something, and one for all where there are several."""
    did = "would take" if dry_run else "took"
    lines = [_line(row, did) for row in rows if row.bytes]
    if len(rows) == 1 and lines:
        return lines
    taken = sum(row.taken for row in rows)
    of = plural(len(rows), "transcript")
    return [*lines, f"{did} {plural(taken, 'observation')} of {of}" if lines else f"nothing new in {of}"]


def _line(row: Taken, did: str) -> str:
    tools = f" ({row.tools} of tools)" if row.tools else ""
    parts = [f"{did} {row.taken}{tools}"]
    parts += [f"{row.known} known"] if row.known else []
    parts += [f"{row.malformed} malformed"] if row.malformed else []
    skipped = ", ".join(f"{count} {name}" for name, count in sorted(row.skipped.items()))
    parts += [f"skipped {skipped}"] if skipped else []
    parts += ["the last line is not complete yet"] if row.torn else []
    who = " ".join(filter(None, (row.name, row.host, row.session)))
    return one_line(f"{who}: {'; '.join(parts)}")
