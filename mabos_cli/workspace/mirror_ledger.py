"""What is known about the mirror, in .mabos/typedb/: a ledger for each agent, and a mark that the server did not answer.

All of it can be deleted: then everything is written to the mirror anew.
"""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

from mabos_cli.core.mirror_plan import Entry, Key
from mabos_cli.errors import MabosError
from mabos_cli.formats.mirror_ledger import compact_ledger, parse_ledger, render_entries
from mabos_cli.workspace.files import Lock, append_bytes, read_bytes, remove_file, replace_file
from mabos_cli.workspace.layout import AgentPaths, WorkspacePaths

REST_SECONDS = 30.0
_COMPACT_ABOVE = 16_384
_GROWTH = 4


@contextmanager
def mirroring(paths: AgentPaths, wait: float) -> Iterator[None]:
    """The lock of an agent's mirror: only one process writes it at a time, so that the ledger's last line about a record is also
    the last thing that happened to it. Conflict when it is not free in time."""
    lock = Lock(paths.mirror_lock)
    lock.acquire(wait)
    try:
        yield
    finally:
        lock.release()


def load_ledger(paths: AgentPaths) -> dict[Key, Entry]:
    """The entries of an agent's ledger."""
    return parse_ledger(read_bytes(paths.mirror_ledger) or b"")


def note_entries(paths: AgentPaths, entries: Iterable[Entry]) -> None:
    """Adds entries to the ledger. What a power cut takes of it is written to the mirror anew."""
    data = render_entries(entries)
    if data:
        append_bytes(paths.mirror_ledger, data, root=paths.workspace.root, durable=False)


def compact(paths: AgentPaths) -> bool:
    """Rewrites a ledger that has grown to several times of what it says; whether it was. Best effort."""
    data = read_bytes(paths.mirror_ledger) or b""
    if len(data) < _COMPACT_ABOVE:
        return False
    new = compact_ledger(parse_ledger(data).values())
    if len(data) < _GROWTH * len(new):
        return False
    with suppress(MabosError):
        replace_file(paths.mirror_ledger, new, root=paths.workspace.root, expect=data)
        return True
    return False


def is_resting(workspace: WorkspacePaths, address: str) -> bool:
    """Whether the server at an address did not answer within the last half minute. By the clock of the files: the moment of a
    call may be given, and has nothing to do with how long a server is left in peace."""
    path = workspace.mirror_rest
    try:
        age = time.time() - path.stat().st_mtime
    except OSError:
        return False
    return 0 <= age < REST_SECONDS and read_bytes(path) == address.encode("utf-8")


def let_rest(workspace: WorkspacePaths, address: str) -> None:
    """Notes that the server at an address does not answer. Best effort, and without waiting for the disk."""
    with suppress(MabosError):
        lock = Lock(workspace.mirror_rest)
        lock.acquire(0)
        try:
            lock.note(address.encode("utf-8"))
        finally:
            lock.release()


def end_rest(workspace: WorkspacePaths) -> None:
    """The server answers again."""
    if workspace.mirror_rest.exists():
        with suppress(MabosError):
            remove_file(workspace.mirror_rest)
