"""migrate: MEMORY.md and other notes become memory items, each entry once. The notes stay as they are."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, NamedTuple

import typer

from mabos_cli.commands.call import Call
from mabos_cli.commands.options import DryRun
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import one_line, plural, token_cost
from mabos_cli.core.memory.migration import Named, count_outcomes, draft_note
from mabos_cli.core.memory.stores import Changes, Memory
from mabos_cli.core.memory.storing import Stored, plan_store
from mabos_cli.formats.memory.notes import ENTRY, HEADING, SKIPPED, Notes, parse_notes
from mabos_cli.services.inputs import option
from mabos_cli.workspace.agent import Agent, Fresh
from mabos_cli.workspace.files import read_bytes
from mabos_cli.workspace.memory.migration import (
    NoteFile,
    find_migrated,
    find_note_files,
    load_migrated,
    note_migrated,
    open_note_files,
)
from mabos_cli.workspace.memory.trust_log import Judge

app = typer.Typer()
_WIDTH = 72


class Reading(NamedTuple):
    """A file of notes, what stands in it, and its entries as drafts."""

    file: NoteFile
    notes: Notes
    entries: tuple[Named, ...]


class Migrated(NamedTuple):
    """The entries that became items and what became of each, and those that turned out to be items already."""

    entries: list[Named]
    results: list[Stored]
    known: dict[str, str]


@app.command()
def migrate(
    ctx: typer.Context,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE...]", help="Files of the agent (default MEMORY.md and memory/*.md)."),
    ] = None,
    min_tokens: Annotated[int | None, typer.Option(help="Leave out entries smaller than this (default 0).")] = None,
    dry_run: DryRun = False,
) -> None:
    """Make memories of notes that people wrote, each once, with their lines cited.

    The notes themselves are never changed.

    Example: mabos migrate --dry-run
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    least = option("migrate.min_tokens", min_tokens)
    found, warnings = (open_note_files(agent, files), []) if files else find_note_files(agent)
    readings = [read_notes(agent, file, least) for file in found]
    entries = [named for reading in readings for named in reading.entries]
    ledger = load_migrated(agent.paths)
    fresh = {named.key: named for named in reversed(entries) if named.key not in ledger}
    done, told = migrate_entries(agent, [*reversed(fresh.values())], dry_run=dry_run)
    known = sum(named.key in ledger for named in entries) + len(fresh) - len(done.entries)
    repeated = len(entries) - known - len(done.entries)
    data = _summary(agent, readings, done, known, repeated) | {"dry_run": dry_run}
    if dry_run:
        data["items"] = [row | {"id": None} for row in data["items"]]
    warnings += [*told, *_secret_places(found, done.entries)]
    call.emit("migrate", data, _lines(data), warnings)


def read_notes(agent: Agent, file: NoteFile, min_tokens: int | None = None) -> Reading:
    """The entries of a file as drafts, cut and left out by the settings."""
    from mabos_cli.core.language.secrets import redact

    settings, per_token = agent.settings, agent.settings["text.chars_per_token"]
    least = settings["migrate.min_tokens"] if min_tokens is None else min_tokens
    # A character takes four bytes at most.
    size = max(1, min(settings["migrate.max_tokens"] * per_token, settings["memory.max_content_bytes"] // 4))
    notes = parse_notes(file.text, size, least=(least - 1) * per_token + 1, template=file.template)
    today = agent.now().date()
    return Reading(file, notes, tuple(draft_note(note, file.path, today, redact) for note in notes.entries))


def migrate_entries(agent: Agent, unknown: list[Named], *, dry_run: bool = False) -> tuple[Migrated, list[str]]:
    """Stores entries that the ledger does not know under one lock: what became of them, and warnings."""
    if not unknown:
        return Migrated([], [], {}), []

    def plan(memory: Memory, fresh: Fresh) -> tuple[Changes, Migrated]:
        known = find_migrated(agent.paths)
        entries = [named for named in unknown if named.key not in known]
        if not entries:
            return Changes(memory.working, memory.short_term), Migrated([], [], known)
        changes, results = plan_store(
            memory,
            [named.draft for named in entries],
            now=agent.now(),
            mint=fresh.new_id,
            limits=agent.settings.limits(),
            relatives=fresh,
            trust_of=Judge(agent.paths, memory),
        )
        # No entries in the daily log: the notes are there already, and today's may be one of them.
        return changes._replace(log=()), Migrated(entries, results, known)

    if dry_run:
        return agent.preview(plan), []
    done, warnings = agent.change("migrate", plan)
    taken = [(named, result.item.id) for named, result in zip(done.entries, done.results, strict=True)]
    taken += [(named, done.known[named.key]) for named in unknown if named.key in done.known]
    note_migrated(agent.paths, taken, format_time(agent.now()))
    return done, warnings


def _secret_places(files: Sequence[NoteFile], entries: Sequence[Named]) -> list[str]:
    """A warning for each line with a secret that was replaced in an item; it still stands in the notes."""
    texts = {file.path: file.text for file in files}
    return list(dict.fromkeys(place for named in entries for place in _secret_lines(named, texts[named.path])))


def _secret_lines(named: Named, text: str) -> Iterator[str]:
    if not named.draft.redacted:
        return
    from mabos_cli.core.language.secrets import find_secrets

    first, last = named.note.first, named.note.last
    written = "\n".join(text.split("\n")[first - 1 : last])
    places = [(first + written.count("\n", 0, secret.start), secret.kind) for secret in find_secrets(written)]
    for line, kind in places or [(first, kind) for kind in named.draft.redacted]:
        yield f"{named.path}:{line}: secret replaced in the item: {kind}; it still stands in the file"


def _summary(agent: Agent, readings: Sequence[Reading], done: Migrated, known: int, repeated: int) -> dict[str, Any]:
    files = [_counted(reading) for reading in readings]
    skipped = {name: sum(row["skipped"].get(name, 0) for row in files) for name in SKIPPED}
    counts = count_outcomes(done.results, known, repeated)
    return {
        "entries": sum(row["entries"] for row in files),
        **counts._asdict(),
        "by_type": dict(counts.by_type),
        **{name: sum(row[name] for row in files) for name in ("lines", "in_entries", "headings")},
        "skipped": {name: count for name, count in skipped.items() if count},
        "files": files,
        "tokens": _tokens(agent),
        "items": [_row(*pair) for pair in zip(done.entries, done.results, strict=True)],
    }


def _counted(reading: Reading) -> dict[str, Any]:
    """What the written lines of a file are: the counts add up to `lines`."""
    labels = [label for label in reading.notes.labels if label]
    return {
        "path": reading.file.path,
        "entries": len(reading.entries),
        "lines": len(labels),
        "in_entries": labels.count(ENTRY),
        "headings": labels.count(HEADING),
        "skipped": {name: labels.count(name) for name in SKIPPED if name in labels},
    }


def _tokens(agent: Agent) -> dict[str, Any]:
    """What an agent pays for MEMORY.md, and for the index that can stand in its place."""
    per_token, paths = agent.settings["text.chars_per_token"], agent.paths
    files = {"memory_md": paths.memory_md, "index_md": paths.index_md}
    texts = {name: (read_bytes(path) or b"").decode("utf-8", "replace") for name, path in files.items()}
    costs = {name: token_cost(text, per_token) if text else None for name, text in texts.items()}
    return {**costs, "counted_by": f"estimate: {per_token} characters a token"}


def _row(named: Named, result: Stored) -> dict[str, Any]:
    item = named.draft.item
    return {
        "path": named.path,
        "lines": [named.note.first, named.note.last],
        "id": result.item.id,
        "outcome": result.outcome,
        "type": item.type,
        "importance": result.item.importance,
        "tags": list(item.tags),
        "observed_at": item.observed_at or None,
        "text": one_line(item.content, _WIDTH),
    }


def _lines(data: dict[str, Any]) -> Iterator[str]:
    of = plural(len(data["files"]), "file")
    if not data["entries"]:
        yield f"no entries in {of}" if data["files"] else "no notes to migrate"
        return
    for row in data["items"] if data["dry_run"] else ():
        first, last = row["lines"]
        yield one_line(
            f"{row['path']}:{first}-{last} {row['outcome']} {row['type']} {row['importance']:.2f} {row['text']}"
        )
    took = data["new"] + data["merged"]
    rest = [f"{data[name]} {name}" for name in ("known", "repeated") if data[name]]
    if not took:
        yield f"nothing new in {of}: {', '.join(rest)}"
        return
    linked = f" ({data['linked']} linked)" if data["linked"] else ""
    parts = [f"{data['new']} new{linked}", *([f"{data['merged']} merged"] if data["merged"] else []), *rest]
    yield f"{'would migrate' if data['dry_run'] else 'migrated'} {of}: {', '.join(parts)}"
    if data["by_type"]:
        yield f"types: {', '.join(f'{count} {kind}' for kind, count in data['by_type'].items())}"
    skipped = "".join(f", {count} {name.replace('_', ' ')}" for name, count in data["skipped"].items())
    headings = plural(data["headings"], "heading")
    yield f"lines: {data['lines']} written, {data['in_entries']} in entries, {headings}{skipped}"
    if not data["dry_run"] and any(row["path"] == "MEMORY.md" for row in data["files"]):
        yield from _advice(data["tokens"]["memory_md"] or 0, data["tokens"]["index_md"] or 0)


def _advice(memory: int, index: int) -> Iterator[str]:
    """What to do next, where the index costs less than MEMORY.md does."""
    if 0 < index < memory:
        yield f"tokens: MEMORY.md {memory}, memory/INDEX.md {index}"
        yield "next: mabos context index shows what an agent can read instead; then shorten MEMORY.md by hand"
