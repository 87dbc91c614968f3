"""Files of notes that can become items, and the ledger that says which of their entries did.

The ledger lies under git: a clone migrates nothing twice. It is written behind the items, so that a crash in between leaves
items that it does not know; those name the key of their entry themselves.
"""

import os
from collections.abc import Iterable
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.memory.migration import Named
from mabos_cli.errors import MabosError, NotFound
from mabos_cli.formats.markdown.seal import without_seal
from mabos_cli.formats.memory.notes import named_keys, parse_migrated, render_migrated
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.archive import archive_files
from mabos_cli.workspace.create import render_template
from mabos_cli.workspace.files import append_bytes, list_names, list_stems, read_bytes, read_text, resolve_inside
from mabos_cli.workspace.layout import AgentPaths

_LARGEST = 16 << 20


class NoteFile(NamedTuple):
    """A file of notes: its place below the agent's folder, its text, and what the template put there."""

    path: str
    text: str
    template: str = ""


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
    """The files that somebody names, below the agent's folder or by their place on disk."""
    return [_open(agent, name) for name in dict.fromkeys(_below(agent.paths, name) for name in given)]


def _below(paths: AgentPaths, name: str) -> str:
    """A name as read takes it. A citation must lead back to the text, so that files elsewhere are refused."""
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
    """Whether we write a file: by its name, or by the seal at its end."""
    ours = (paths.items_md, paths.facts_md, paths.cases_md, paths.beliefs_md, paths.index_md)
    return file.path in map(paths.relative, ours) or without_seal(file.text) != file.text


def load_migrated(paths: AgentPaths) -> dict[str, str]:
    """The ids of items by the keys of entries, as far as the ledger knows."""
    return parse_migrated(read_bytes(paths.migration_ledger) or b"")


def find_migrated(paths: AgentPaths) -> dict[str, str]:
    """The same by the items themselves, live and archived: a migration may have been cut off before its ledger."""
    places = [paths.archive / name for name in archive_files(paths)]
    places += [paths.store_page(name) for name in list_stems(paths.store_pages, ".json")]
    found: dict[str, str] = {}
    for place in (*places, paths.store):
        found |= named_keys(read_bytes(place) or b"")
    return found


def note_migrated(paths: AgentPaths, taken: Iterable[tuple[Named, str]], at: str) -> None:
    """Notes durably which item each entry became, a line for each file."""
    by_file: dict[str, dict[str, str]] = {}
    for named, item_id in taken:
        by_file.setdefault(named.path, {})[named.key] = item_id
    data = b"".join(render_migrated(path, keys, at) for path, keys in by_file.items())
    if data:
        append_bytes(paths.migration_ledger, data, root=paths.workspace.root)
