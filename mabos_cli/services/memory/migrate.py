"""Migration of notes that people wrote into memory items, each entry once; and checkpoints of a session."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import token_cost
from mabos_cli.core.memory.migration import Named, draft_note, join_notes
from mabos_cli.core.memory.stores import Changes, Memory
from mabos_cli.core.memory.storing import Stored
from mabos_cli.errors import MabosError, NotFound
from mabos_cli.formats.markdown.escape import without_seal
from mabos_cli.formats.memory.notes import Notes, named_keys, parse_migrated, parse_notes, render_migrated
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.archive import archive_files
from mabos_cli.workspace.files import list_names, list_stems, read_bytes, read_text, resolve_inside
from mabos_cli.workspace.layout import AgentPaths
from mabos_cli.workspace.locate import render_template
from mabos_cli.workspace.memory.changing import plan_drafts
from mabos_cli.workspace.transaction import Fresh

_LARGEST = 16 << 20


class NoteFile(NamedTuple):
    """A file of notes: its place below the agent's folder, its text, and what the template put there."""

    path: str
    text: str
    template: str = ""


class Reading(NamedTuple):
    """A file of notes, what stands in it, and its entries as drafts."""

    file: NoteFile
    notes: Notes
    entries: tuple[Named, ...]


class Migrated(NamedTuple):
    """The entries that became items with the outcome for each, and those that were items already."""

    entries: list[Named]
    results: list[Stored]
    known: dict[str, str]


class Migration(NamedTuple):
    """The files that were read, the outcomes for their entries, how many were known or repeated, tokens, and warnings."""

    readings: list[Reading]
    done: Migrated
    known: int
    repeated: int
    warnings: list[str]


def migrate_notes(agent: Agent, files: Sequence[str], min_tokens: int | None, *, dry_run: bool) -> Migration:
    """Makes items of the entries of notes, by default of MEMORY.md and memory/*.md; the notes stay as they are."""
    found, warnings = (open_note_files(agent, files), []) if files else find_note_files(agent)
    readings = [read_notes(agent, file, min_tokens) for file in agent.each("reading notes", found)]
    entries = [named for reading in readings for named in reading.entries]
    ledger = load_migrated(agent.paths)
    unknown = {named.key: named for named in reversed(entries) if named.key not in ledger}
    done, notes = migrate_entries(agent, [*reversed(unknown.values())], dry_run=dry_run)
    known = sum(named.key in ledger for named in entries) + len(unknown) - len(done.entries)
    repeated = len(entries) - known - len(done.entries)
    # A secret that was replaced in an item still stands in the notes.
    texts = {file.path: file.text for file in found}
    places = (place for named in done.entries for place in _secret_lines(named, texts[named.path]))
    warnings = [*warnings, *notes, *dict.fromkeys(places)]
    return Migration(readings, done, known, repeated, warnings)


def read_notes(agent: Agent, file: NoteFile, min_tokens: int | None = None) -> Reading:
    """Returns the entries of a file as drafts, cut and left out by the settings."""
    from mabos_cli.core.language.secrets import redact

    settings, per_token = agent.settings, agent.settings["text.chars_per_token"]
    least = settings["migrate.min_tokens"] if min_tokens is None else min_tokens
    # A character takes four bytes at most.
    size = max(1, min(settings["migrate.max_tokens"] * per_token, settings["memory.max_content_bytes"] // 4))
    notes = parse_notes(file.text, size, least=(least - 1) * per_token + 1, template=file.template)
    today = agent.now().date()
    joined = join_notes(notes.entries, file.path, size)
    return Reading(file, notes, tuple(draft_note(note, file.path, today, redact) for note in joined))


def migrate_entries(agent: Agent, unknown: list[Named], *, dry_run: bool = False) -> tuple[Migrated, list[str]]:
    """Stores entries that the ledger does not know under one lock; returns the outcomes, and warnings."""
    if not unknown:
        return Migrated([], [], {}), []

    def plan(memory: Memory, fresh: Fresh) -> tuple[Changes, Migrated]:
        known = find_migrated(agent.paths)
        entries = [named for named in unknown if named.key not in known]
        if not entries:
            return Changes(memory.working, memory.short_term), Migrated([], [], known)
        changes, results = plan_drafts(agent, [named.draft for named in entries])(memory, fresh)
        # No entries in the daily log: the notes are there already, and today's may be one of them.
        return changes._replace(log=()), Migrated(entries, results, known)

    def ledger(done: Migrated) -> list[tuple[Path, bytes]]:
        by_file: dict[str, dict[str, str]] = {}
        for named, result in zip(done.entries, done.results, strict=True):
            by_file.setdefault(named.path, {})[named.key] = result.item.id
        for named in unknown:
            if named.key in done.known:
                by_file.setdefault(named.path, {})[named.key] = done.known[named.key]
        at = format_time(agent.now())
        return [(agent.paths.migration_ledger, render_migrated(path, keys, at)) for path, keys in by_file.items()]

    return agent.change("migrate", plan, ledger=ledger, dry_run=dry_run)


def _secret_lines(named: Named, text: str) -> Iterator[str]:
    if not named.draft.redacted:
        return
    from mabos_cli.core.language.secrets import find_secrets

    first, last = named.note.first, named.note.last
    written = "\n".join(text.split("\n")[first - 1 : last])
    places = [(first + written.count("\n", 0, secret.start), secret.kind) for secret in find_secrets(written)]
    for line, kind in places or [(first, kind) for kind in named.draft.redacted]:
        yield f"{named.path}:{line}: secret replaced in the item: {kind}; it is still in the file"


def count_tokens(agent: Agent) -> dict[str, Any]:
    """Returns what an agent pays for MEMORY.md, and for the index that can stand in its place."""
    per_token, paths = agent.settings["text.chars_per_token"], agent.paths
    files = {"memory_md": paths.memory_md, "index_md": paths.index_md}
    texts = {name: (read_bytes(path) or b"").decode("utf-8", "replace") for name, path in files.items()}
    costs = {name: token_cost(text, per_token) if text else None for name, text in texts.items()}
    return {**costs, "counted_by": f"estimate: {per_token} characters a token"}


def find_note_files(agent: Agent) -> tuple[list[NoteFile], list[str]]:
    """MEMORY.md and the Markdown of memory/ that is not derived, and warnings about files that cannot be read."""
    paths = agent.paths
    names = [paths.memory_md.name] if paths.memory_md.exists() else []
    names += [f"memory/{n}" for n in list_names(paths.memory) if n.endswith(".md") and n[0] != "."]
    found, warnings = [], []
    for name in names:
        try:
            file = _read(agent, name)
        except (MabosError, BadValue) as error:
            warnings.append(f"left out: {error.message}")
            continue
        if file and not _is_derived(paths, file):
            found.append(file)
    return found, warnings


def open_note_files(agent: Agent, given: Iterable[str]) -> list[NoteFile]:
    """Returns the files that somebody names, below the agent's folder or by their place on disk."""
    return [_open(agent, name) for name in dict.fromkeys(_below(agent.paths, name) for name in given)]


def _below(paths: AgentPaths, name: str) -> str:
    """Returns a name as read takes it. A citation must lead back to the text, so that files elsewhere are refused."""
    root = os.path.realpath(paths.root)
    inside = os.path.join(root, name)
    place = inside if not os.path.isabs(name) and os.path.exists(inside) else os.path.abspath(name)
    shown = os.path.relpath(os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place)), root)
    if shown.split(os.sep)[0] == "..":
        if not os.path.exists(place):
            raise NotFound(
                f"no file {name} for agent {paths.id}", "give a path below the agent's folder, as read takes it"
            )
        raise BadValue(
            f"{name} is not below the agent's folder",
            f"copy it there first, so that its lines can be cited: cp {name} {paths.cited(paths.memory)}/",
        )
    return shown.replace(os.sep, "/")


def _open(agent: Agent, name: str) -> NoteFile:
    if (agent.paths.root / name).is_dir():
        raise BadValue(f"{name} is a folder", "name the files in it")
    file = _read(agent, name)
    if file is None:
        raise NotFound(f"no file {name} for agent {agent.id}", "give a path below the agent's folder, as read takes it")
    if not name.endswith((".md", ".txt")):
        raise BadValue(f"{name} is no file of notes", "notes are Markdown or plain text: .md, .txt")
    if _is_derived(agent.paths, file):
        raise BadValue(f"{name} is derived from memory", "migrate what people wrote, such as MEMORY.md")
    return file


def _read(agent: Agent, name: str) -> NoteFile | None:
    path = resolve_inside(agent.paths.root / name, agent.paths.workspace.root)
    if not path.is_file():
        return None
    if path.stat().st_size > _LARGEST:
        raise BadValue(f"{name} is larger than {_LARGEST >> 20} MiB", "split it")
    template = "" if "/" in name else render_template(agent.id, agent.manifest(), name)
    return NoteFile(name, read_text(path, name), template)


def _is_derived(paths: AgentPaths, file: NoteFile) -> bool:
    """Returns whether we write a file: by its name, or by the seal at its end."""
    ours = (paths.items_md, paths.facts_md, paths.cases_md, paths.beliefs_md, paths.index_md)
    return file.path in map(paths.relative, ours) or without_seal(file.text) != file.text


def load_migrated(paths: AgentPaths) -> dict[str, str]:
    """Returns the ids of items by the keys of entries, as far as the ledger knows."""
    return parse_migrated(read_bytes(paths.migration_ledger) or b"")


def find_migrated(paths: AgentPaths) -> dict[str, str]:
    """Returns the same by the items themselves, live and archived: a migration may have been cut off before its ledger."""
    places = [paths.archive / name for name in archive_files(paths)]
    places += [paths.store_page(name) for name in list_stems(paths.store_pages, ".json")]
    found: dict[str, str] = {}
    for place in (*places, paths.store):
        found |= named_keys(read_bytes(place) or b"")
    return found
