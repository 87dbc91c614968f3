"""capture, ingest and harvest: note down what happened, cheaply, and make memory items of it, each once."""

import re
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from mabos_cli.commands.call import Argument, Call, Commands, Context, DryRun, Option, open_progress
from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import STORES, TRUSTS, TYPES, check_choice
from mabos_cli.core.memory.observation import Observation
from mabos_cli.core.memory.trust import is_outside, trust_rank
from mabos_cli.core.memory.upkeep import Tally
from mabos_cli.errors import UsageFault
from mabos_cli.formats.memory.agent_hosts import HOSTS
from mabos_cli.formats.memory.agent_transcripts import ROLES, Scope
from mabos_cli.services.inputs import given_bytes, importance_of, option, stamp_of, stdin_bytes
from mabos_cli.services.memory.capture import (
    MOST_NAMED,
    Gathered,
    Rules,
    capture_lines,
    capture_text,
    fault_lines,
    is_record,
)
from mabos_cli.services.memory.ingest import Taken, find_transcripts, ingest_transcripts, warnings_of
from mabos_cli.workspace.agent import Agent

if TYPE_CHECKING:
    from mabos_cli.core.memory.storing import Stored
    from mabos_cli.services.memory.capture import Candidate
    from mabos_cli.services.memory.ingest import SpoolResult

app = Commands()


@app.command()
def capture(
    ctx: Context,
    text: Annotated[
        str, Argument(metavar="[TEXT]", help="What happened; - reads text or NDJSON from standard input.")
    ] = "",
    tool: Annotated[str, Option(help="The tool that returned it; makes it untrusted.")] = "",
    type: Annotated[str, Option("--type", "-t", help="The type of the resulting item.")] = "",
    session: Annotated[str, Option(help="The conversation it was said in.")] = "",
    author: Annotated[str, Option(help="Who said it.")] = "",
    tag: Annotated[list[str] | None, Option(help="A tag; repeat it, or separate with commas.")] = None,
    source: Annotated[str, Option(help="Where it comes from (default tool:NAME, or capture).")] = "",
    importance: Annotated[
        float | None, Option("--importance", "-i", help="0 to 1; graded by harvest when left out.")
    ] = None,
    trust: Annotated[
        str,
        Option(
            metavar="[trusted|agent|untrusted]",
            help="How far to trust it (default agent; untrusted with --tool).",
        ),
    ] = "",
    at: Annotated[str, Option(metavar="TIME", help="When it happened, if not now.")] = "",
    batch: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="Capture each line of an NDJSON file, or - for standard input; options fill in what a line leaves out.",
        ),
    ] = None,
    strict: Annotated[bool, Option("--strict", help="Capture nothing if one line of a batch is malformed.")] = False,
) -> None:
    """Record an observation, without secrets; harvest turns it into memories.

    Example: mabos capture "3 tests failed" --tool pytest --session s1
    """
    agent = ctx.obj.open_agent()
    given = Observation(
        "",
        at=stamp_of(at, agent.now()),
        source=source or (f"tool:{tool}" if tool else ""),
        kind="tool" if tool else "",
        session=session,
        author=author,
        type=check_choice(type, TYPES, "type") if type else "",
        tags=tuple(tag or ()),
        trust=_check_trust(trust, tool, source),
        importance=importance_of(importance, None),
    )
    if batch is not None:
        if text:
            raise UsageFault("--batch takes the text from the file", "leave the text out, or --batch")
        return _capture_lines(ctx.obj, agent, given_bytes(batch), batch, given, strict)
    data = stdin_bytes() if text == "-" and not ctx.obj.literal_dash else text.encode("utf-8")
    if text == "-" and not ctx.obj.literal_dash and not tool and is_record(data):
        return _capture_lines(ctx.obj, agent, data, "-", given, strict)
    if not data.strip():
        raise BadValue("nothing to capture", "give the text, or - to read it from standard input")
    _emit_one(ctx.obj, agent, capture_text(agent, given, data.decode("utf-8", "replace")))


def _check_trust(trust: str, tool: str, source: str) -> str:
    """Returns the trust that is asked for; UsageFault where it is more than what a tool or another outside source has."""
    if trust and trust_rank(check_choice(trust, TRUSTS, "trust")) and (tool or is_outside(source)):
        hint = "capture it without --trust; once it is harvested: mabos trust ID --set agent --by NAME"
        raise UsageFault(f"what comes from {source or f'tool:{tool}'} is captured as untrusted", hint)
    return trust


def _capture_lines(call: Call, agent: Agent, data: bytes, path: str, given: Observation, strict: bool) -> None:
    name = "standard input" if path == "-" else path
    kept, faults = capture_lines(agent, data, name, given, strict=strict)
    counts = {
        "redacted": sum(bool(one.redacted) for one in kept),
        "truncated": sum(bool(one.truncated) for one in kept),
    }
    result: dict[str, Any] = {"captured": len(kept), "ids": [one.id for one in kept], **counts}
    result["malformed"] = [fault._asdict() for fault in faults[:MOST_NAMED]]
    result["malformed_total"] = len(faults)
    notes = [f"{plural(count, 'text')} {name}" for name, count in counts.items() if count]
    line = ", ".join([f"captured {plural(len(kept), 'observation')}", *notes])
    call.emit("capture.batch", result, [line], fault_lines(faults))


def _emit_one(call: Call, agent: Agent, kept: Observation) -> None:
    path = agent.paths.relative(agent.paths.observations / f"{format_time(agent.now())[:10]}.jsonl")
    data: dict[str, Any] = {
        "id": kept.id,
        "at": kept.at,
        "kind": kept.kind,
        "source": kept.source,
        "trust": kept.trust,
        "bytes": len(kept.text.encode("utf-8")),
        "truncated": kept.truncated,
        "redacted": list(kept.redacted),
        "path": path,
    }
    notes = [f"redacted {', '.join(kept.redacted)}"] if kept.redacted else []
    notes += [f"{kept.truncated:,} bytes left out"] if kept.truncated else []
    line = f"captured {kept.id} ({', '.join((kept.source, kept.trust, *notes))})"
    call.emit("capture", data, [line])


@app.command()
def harvest(
    ctx: Context,
    since: Annotated[
        str, Option(metavar="DATE", help="Only what was observed since a date, or an age such as 7d.")
    ] = "",
    limit: Annotated[int, Option("--limit", "-n", min=0, help="Take at most this many; 0 for all.")] = 0,
    store: Annotated[
        str, Option(metavar="[working|short_term|long_term]", help="Where to put them (default: by type).")
    ] = "",
    min_importance: Annotated[
        float | None, Option(help="Take observations at least this important (default 0).")
    ] = None,
    review: Annotated[
        bool, Option("--review", help="List what a harvest would keep, with citations; nothing is written.")
    ] = False,
    apply: Annotated[
        str,
        Option(
            metavar="ID,...",
            ids="observations",
            help="Keep only these candidates of a review, or all; the others wait.",
        ),
    ] = "",
    leave: Annotated[
        str, Option(metavar="ID,...", ids="observations", help="Drop these candidates for good, or all.")
    ] = "",
    dry_run: DryRun = False,
) -> None:
    """Turn observations into memories, each once.

    Example: mabos harvest --since 7d --review
    """
    from mabos_cli.services.memory.ingest import harvest as harvest_memories  # late: capture starts without it
    from mabos_cli.services.memory.ingest import review_harvest

    if review + bool(apply) + bool(leave) > 1 or (dry_run and leave):
        raise UsageFault("--review, --apply and --leave exclude each other", "review first, then apply or leave")
    agent = ctx.obj.open_agent()
    settings = agent.settings
    floor = option("harvest.min_importance", min_importance)
    rules = Rules(
        check_choice(store, STORES, "store") if store else "",
        settings["harvest.min_importance"] if floor is None else floor,
        stamp_of(since, agent.now()),
        limit or None,
        frozenset(filter(None, re.split(r"[,\s]+", apply or leave))) or None,
        bool(leave),
    )
    if review:
        return _emit_review(ctx.obj, agent, *review_harvest(agent, rules, progress=open_progress))
    spooled, gathered, done = harvest_memories(agent, rules, dry_run=dry_run, progress=open_progress)
    ctx.obj.emit(
        "harvest",
        _harvest_summary(gathered, done, dry_run)
        | {"transcripts": spooled.transcripts, "observed": spooled.taken}
        | ({"left": len(gathered.drafts)} if leave else {}),
        [
            *_spool_lines(spooled, dry_run),
            *(
                [f"left {plural(len(gathered.drafts), 'candidate')}"]
                if leave
                else _harvest_lines(gathered, done, dry_run)
            ),
        ],
        [*spooled.notes, *done.warnings, *fault_lines(gathered.faults)],
    )


def _emit_review(
    call: Call, agent: Agent, spooled: "SpoolResult", gathered: Gathered, candidates: "list[tuple[Candidate, Stored]]"
) -> None:
    """Prints candidates, the planned outcome for each, and its speaker and place."""
    made = {result.item.id: each.id for each, result in candidates if not result.deduplicated}
    rows = [_candidate_row(agent, each, result, made) for each, result in candidates]
    lines = list(_spool_lines(spooled, dry_run=True))
    for row in rows:
        does = " ".join([row["action"], *row["of"]])
        lines.append(f"{row['id']} {row['type']} {row['trust']}, {does}: {one_line(row['content'])}")
        session = f"session {row['session']}" if row["session"] else ""
        who = [row["author"], session, row["observed_at"][:10], row["citation"]]
        lines.append(f"  {', '.join(filter(None, who))}")
    next_step = "; keep some: mabos harvest --apply ID,..." if rows else ""
    lines.append(f"{plural(len(rows), 'candidate')}, nothing written{next_step}")
    data = {"count": len(rows), "candidates": rows, "ignored": gathered.ignored, "writes_performed": False}
    counts = {"transcripts": spooled.transcripts, "observed": spooled.taken}
    warnings = [*spooled.notes, *fault_lines(gathered.faults)]
    call.emit("harvest.review", data | counts, lines, warnings)


def _candidate_row(agent: Agent, each: "Candidate", result: "Stored", made: dict[str, str]) -> dict[str, Any]:
    """Returns a candidate as JSON. Other candidates that it repeats or replaces are named by their own ids."""
    item = each.draft.item if result.deduplicated else result.item
    of = [result.item] if result.deduplicated else list(result.replaced)
    place = agent.paths.relative(agent.paths.observations / each.file)
    is_cited = item.source.startswith("session:")
    return {
        "id": each.id,
        "type": item.type,
        "content": item.content,
        "author": item.author,
        "session": item.session,
        "observed_at": item.observed_at,
        "citation": item.source.removeprefix("session:") if is_cited else f"{place}:{each.line}",
        "observation": each.seen.id if each.line else None,
        "trust": item.trust,
        "importance": round(item.importance, 4),
        "store": result.store,
        "tags": list(item.tags),
        "action": "reinforces" if result.deduplicated else "supersedes" if of else "new",
        "of": [made.get(old.id, old.id) for old in of],
        "related_to": [made.get(i, i) for i in result.linked],
    }


def _spool_lines(spooled: "SpoolResult", dry_run: bool) -> Iterator[str]:
    """Yields what there is to tell about transcripts that hooks named, if anything."""
    if spooled.transcripts:
        of, did = plural(spooled.transcripts, "transcript"), "would read" if dry_run else "read"
        yield f"{did} {plural(spooled.taken, 'observation')} from {of} named by hooks"


def _harvest_summary(gathered: Gathered, done: Tally, dry_run: bool) -> dict[str, Any]:
    return {
        "harvested": done.harvested,
        "merged": done.merged,
        "linked": done.linked,
        "ignored": gathered.ignored,
        "known": done.known,
        "malformed": [fault._asdict() for fault in gathered.faults[:MOST_NAMED]],
        "malformed_total": len(gathered.faults),
        "by_band": dict(done.bands),
        "chunks": done.chunks,
        "remaining": gathered.remaining,
        "dry_run": dry_run,
    }


def _harvest_lines(gathered: Gathered, done: Tally, dry_run: bool) -> Iterator[str]:
    if not (gathered.drafts or gathered.faults or gathered.ignored or gathered.remaining):
        yield "nothing to harvest"
        return
    parts = [f"{'would harvest' if dry_run else 'harvested'} {plural(done.harvested, 'observation')}"]
    bands = ", ".join(f"{count} {name}" for name, count in done.bands if count)
    parts[0] += f" ({bands})" if bands else ""
    rest = {"merged": done.merged, "linked": done.linked, "ignored": gathered.ignored, "known": done.known}
    parts += [f"{count} {name}" for name, count in {**rest, "malformed": len(gathered.faults)}.items() if count]
    parts += [f"{gathered.remaining} remaining"] if gathered.remaining else []
    yield ", ".join(parts)


ingest = Commands("ingest", "Read transcripts of agent hosts into observations.")


@ingest.command()
def transcript(
    ctx: Context,
    files: Annotated[
        list[str],
        Argument(metavar="FILE...", help="Transcripts, folders that contain *.jsonl, or - for standard input."),
    ],
    host: Annotated[
        str,
        Option(metavar="[auto|claude|codex|gemini|openclaw]", help="The host that wrote them; auto detects it."),
    ] = "auto",
    roles: Annotated[str, Option(help="Whose messages to read.")] = ",".join(ROLES),
    tools: Annotated[bool, Option("--tools/--no-tools", help="Read the output of tools.")] = True,
    since: Annotated[str, Option(metavar="DATE", help="Only what was said since a date, or an age such as 7d.")] = "",
    harvest: Annotated[bool, Option("--harvest", help="Harvest afterwards.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Read messages and tool output from transcripts of Claude Code, Codex, Gemini or OpenClaw, each once.

    Example: mabos ingest transcript ~/.claude/projects/app/session.jsonl --harvest
    """
    agent = ctx.obj.open_agent()
    check_choice(host, ["auto", *HOSTS], "host")
    scope = Scope(_roles(roles), tools, stamp_of(since, agent.now()))
    given, others = find_transcripts(files, host, None if ctx.obj.literal_dash else _open_stdin)
    rows, harvested, warnings = ingest_transcripts(
        agent, given, host, scope, harvest=harvest, dry_run=dry_run, progress=open_progress
    )
    data: dict[str, Any] = {
        "files": [row.summary() for row in rows],
        "taken": sum(row.taken for row in rows),
        "dry_run": dry_run,
    }
    lines = _lines(rows, dry_run)
    if harvested:
        count, merged = harvested.harvested, harvested.merged
        data["harvested"] = count
        lines.append(f"harvested {plural(count, 'observation')}" + (f", {merged} merged" if merged else ""))
    ctx.obj.emit("ingest.transcript", data, lines, [*warnings_of(rows, others), *warnings])


def _open_stdin() -> Any:
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageFault("nothing on standard input", "pipe a transcript in, or give a file")
    return sys.stdin.buffer


def _roles(text: str) -> tuple[str, ...]:
    """Returns the roles in a list, in our order."""
    given = {check_choice(word.strip(), ROLES, "role") for word in text.split(",") if word.strip()}
    if not given:
        raise BadValue("no role given", f"some of {', '.join(ROLES)}")
    return tuple(role for role in ROLES if role in given)


def _lines(rows: Sequence[Taken], dry_run: bool) -> list[str]:
    """Returns a line for each transcript that held something, and one for all where there are several."""
    did = "would read" if dry_run else "read"
    lines = [_line(row, did) for row in rows if row.bytes]
    if len(rows) == 1 and lines:
        return lines
    taken = sum(row.taken for row in rows)
    of = plural(len(rows), "transcript")
    return [*lines, f"{did} {plural(taken, 'observation')} of {of}" if lines else f"nothing new in {of}"]


def _line(row: Taken, did: str) -> str:
    tools = f" ({row.tools} from tools)" if row.tools else ""
    parts = [f"{did} {plural(row.taken, 'observation')}{tools}"]
    parts += [f"{row.known} known"] if row.known else []
    parts += [f"{row.malformed} malformed"] if row.malformed else []
    skipped = ", ".join(f"{count} {name}" for name, count in sorted(row.skipped.items()))
    parts += [f"skipped {skipped}"] if skipped else []
    parts += ["the last line is not complete yet"] if row.torn else []
    who = " ".join(filter(None, (row.name, row.host, row.session)))
    return one_line(f"{who}: {'; '.join(parts)}")
