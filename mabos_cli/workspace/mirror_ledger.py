"""Records the state of the mirror in .mabos/typedb/: a ledger for each agent, and a mark that the server did not answer.

All of it can be deleted: then everything is written to the mirror again.
"""

import json
import re
import time
from collections.abc import Iterable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

from mabos_cli.core.mirror.records import GONE, QUEUED, STATES, Entry, Key
from mabos_cli.errors import MabosError
from mabos_cli.formats.json.text import dump_record, parse_ledger
from mabos_cli.workspace.files import append_bytes, list_stems, read_bytes, remove_file, replace_file
from mabos_cli.workspace.layout import AGENT_ID, AgentPaths, WorkspacePaths
from mabos_cli.workspace.locate import list_agents
from mabos_cli.workspace.lock import Lock, locked

REST_SECONDS = 30.0
_COMPACT_ABOVE = 16_384
_GROWTH = 2


def mirroring(paths: AgentPaths, wait: float) -> AbstractContextManager[Lock]:
    """Returns the lock of an agent's mirror: only one process writes it at a time, so that the ledger's last line about a record is also
    the last thing that happened to it. Conflict when it is not free in time."""
    return locked(paths.mirror_lock, paths.workspace.root, wait)


def list_mirrored(workspace: WorkspacePaths) -> list[str]:
    """Returns the agents, and those that are gone and left a ledger: what the mirror has of them is to go, too."""
    names = list_stems(workspace.mirror_ledgers, ".jsonl")
    return sorted({*list_agents(workspace), *(name for name in names if re.fullmatch(AGENT_ID, name))})


def load_ledger(paths: AgentPaths) -> dict[Key, Entry]:
    """Returns the entries of an agent's ledger."""
    return parse_entries(read_bytes(paths.mirror_ledger) or b"")


def parse_entries(data: bytes) -> dict[Key, Entry]:
    """Returns the entries of a ledger, of which the last about a record holds. Lines that are torn or no entry of ours are passed
    over: what they said is found out again."""
    try:  # whole lines are read at once: a command that changes one record reads the ledger of all
        values = json.loads(b"[%s]" % b",".join(filter(None, data.split(b"\n"))))
    except (ValueError, RecursionError):
        values = parse_ledger(data).records
    entries = (_entry(value) for value in values if isinstance(value, dict))
    return {entry.key: entry for entry in entries if entry}


def _entry(record: dict[str, Any]) -> Entry | None:
    if record.get("state") not in STATES:
        return None
    texts = [value if isinstance(value := record.get(name), str) else "" for name in Entry._fields]
    return Entry(*texts) if texts[0] and texts[1] else None


def render_entries(entries: Iterable[Entry]) -> bytes:
    """Returns lines of a ledger, which name records and never say what is in them; what an entry does not say is left out."""
    lines = ({name: value for name, value in entry._asdict().items() if value} for entry in entries)
    return b"".join(map(dump_record, lines))


def note_entries(paths: AgentPaths, entries: Iterable[Entry]) -> None:
    """Adds entries to the ledger. What a power cut takes of it is written to the mirror again."""
    data = render_entries(entries)
    if data:
        append_bytes(paths.mirror_ledger, data, root=paths.workspace.root, durable=False)


def ledger_size(paths: AgentPaths) -> int:
    """Returns how long a ledger is, for `queued_since`."""
    return len(read_bytes(paths.mirror_ledger) or b"")


def queued_since(paths: AgentPaths, size: int) -> list[Entry]:
    """Returns what others queued behind so many bytes of a ledger. They need no lock for that, and say no hash; who writes
    does."""
    lines = (read_bytes(paths.mirror_ledger) or b"")[size:].split(b"\n")
    found = (entry for line in lines for entry in parse_entries(line).values())
    return [entry for entry in found if entry.state == QUEUED and not entry.hash]


def compact(paths: AgentPaths, live: int) -> bool:
    """Rewrites a ledger that has twice the lines that it needs, where so many records are about to stay; whether it did. Best
    effort. Lines are only counted: a ledger that is well is not worth reading behind every command."""
    data = read_bytes(paths.mirror_ledger) or b""
    if len(data) < _COMPACT_ABOVE or data.count(b"\n") < _GROWTH * live:
        return False
    new = render_entries(entry for entry in parse_entries(data).values() if entry.state != GONE)
    with suppress(MabosError):
        replace_file(paths.mirror_ledger, new, root=paths.workspace.root, expect=data, shared=True)
        return True
    return False


def is_resting(workspace: WorkspacePaths, address: str, path: Path | None = None) -> bool:
    """Returns whether the server at an address did not answer within the last half minute. By the clock of the files: the
    moment of a call may be given, and has nothing to do with how long a server is left in peace."""
    path = path or workspace.mirror_rest
    try:
        age = time.time() - path.stat().st_mtime
    except OSError:
        return False
    return 0 <= age < REST_SECONDS and read_bytes(path) == address.encode("utf-8")


def let_rest(workspace: WorkspacePaths, address: str, path: Path | None = None) -> None:
    """Notes that the server at an address does not answer. Best effort, and without waiting for the disk."""
    with suppress(MabosError), locked(path or workspace.mirror_rest, workspace.root, 0) as lock:
        lock.note(address.encode("utf-8"))


def end_rest(workspace: WorkspacePaths, path: Path | None = None) -> None:
    """The server answers again."""
    path = path or workspace.mirror_rest
    if path.exists():
        with suppress(MabosError):
            remove_file(path, root=workspace.root)
