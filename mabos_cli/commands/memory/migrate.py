"""migrate: MEMORY.md and other notes become memory items, each entry once. The notes stay as they are."""

from collections.abc import Iterator
from typing import Annotated, Any

from mabos_cli.commands.call import Argument, Commands, Context, DryRun, Option
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import TYPES
from mabos_cli.core.memory.migration import Named
from mabos_cli.core.memory.storing import Stored
from mabos_cli.formats.memory.notes import ENTRY, HEADING, SKIPPED
from mabos_cli.services.inputs import option
from mabos_cli.services.memory.migrate import Migration, Reading, count_tokens, migrate_notes
from mabos_cli.workspace.agent import Agent

app = Commands()
_WIDTH = 72


@app.command()
def migrate(
    ctx: Context,
    files: Annotated[
        list[str] | None, Argument(metavar="[FILE...]", help="Files of the agent (default MEMORY.md and memory/*.md).")
    ] = None,
    min_tokens: Annotated[int | None, Option(help="Leave out entries smaller than this (default 0).")] = None,
    dry_run: DryRun = False,
) -> None:
    """Turn notes into memories that cite their lines.

    The notes themselves are never changed.

    Example: mabos migrate --dry-run
    """
    agent = ctx.obj.open_agent()
    least = option("migrate.min_tokens", min_tokens)
    migration = migrate_notes(agent, files or (), least, dry_run=dry_run)
    data = _summary(agent, migration) | {"dry_run": dry_run}
    if dry_run:
        data["items"] = [row | {"id": None} for row in data["items"]]
    ctx.obj.emit("migrate", data, _lines(data), migration.warnings)


def _summary(agent: Agent, migration: Migration) -> dict[str, Any]:
    files, done = [_counted(reading) for reading in migration.readings], migration.done
    skipped = {name: sum(row["skipped"].get(name, 0) for row in files) for name in SKIPPED}
    fresh = [result for result in done.results if not result.deduplicated]
    kinds = [result.item.type for result in fresh]
    return {
        "entries": sum(row["entries"] for row in files),
        "new": len(fresh),
        "linked": sum(bool(result.linked) for result in fresh),
        "merged": len(done.results) - len(fresh),
        "known": migration.known,
        "repeated": migration.repeated,
        "by_type": {kind: kinds.count(kind) for kind in TYPES if kind in kinds},
        **{name: sum(row[name] for row in files) for name in ("lines", "in_entries", "headings")},
        "skipped": {name: count for name, count in skipped.items() if count},
        "files": files,
        "tokens": count_tokens(agent),
        "items": [_row(*pair) for pair in zip(done.entries, done.results, strict=True)],
    }


def _counted(reading: Reading) -> dict[str, Any]:
    """Returns what the written lines of a file are: the counts add up to `lines`."""
    labels = [label for label in reading.notes.labels if label]
    return {
        "path": reading.file.path,
        "entries": len(reading.entries),
        "lines": len(labels),
        "in_entries": labels.count(ENTRY),
        "headings": labels.count(HEADING),
        "skipped": {name: labels.count(name) for name in SKIPPED if name in labels},
    }


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
    """Yields what to do next, where the index costs less than MEMORY.md does."""
    if 0 < index < memory:
        yield f"tokens: MEMORY.md {memory}, memory/INDEX.md {index}"
        yield "next: load memory/INDEX.md instead; mabos context audit --recommend says what can go from MEMORY.md"
