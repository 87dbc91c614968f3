"""Where the index of an agent lies: in the workspace, in the user's cache folder when that cannot be written, or nowhere."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from zlib import crc32

from mabos_cli.core.search.documents import WRITING, digest_of
from mabos_cli.errors import MabosError
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import is_inside, read_bytes, stamp_of
from mabos_cli.workspace.layout import AgentPaths
from mabos_cli.workspace.lock import locked
from mabos_cli.workspace.sources import find_sources


class IndexGuard:
    """One writer at a time, and a note that stays between them, both in a side file of the index."""

    def __init__(self, path: Path, root: Path) -> None:
        self._path = path
        self._root = root

    def read(self) -> str:
        """The note of the last writer, or what the present one says."""
        with suppress(MabosError):
            return (read_bytes(self._path) or b"").decode("utf-8", "replace").strip("\0\n")
        return ""

    @contextmanager
    def hold(self, timeout: float) -> Iterator[Callable[[str], None]]:
        """The right to write; what it yields replaces the note."""
        with locked(self._path, self._root, timeout) as lock:
            # That somebody writes must be on disk before the first change is: after a power cut nobody else knows.
            yield lambda text: lock.note(text.encode("utf-8") + b"\n", durable=text == WRITING)


def index_places(paths: AgentPaths) -> Iterator[tuple[Path, IndexGuard]]:
    """The places for an index, best first. One that can only be read will do while nothing changed."""
    cache = cache_folder(paths)
    for folder, root in ((paths.index_file.parent, paths.workspace.root), (cache, cache)):
        if not folder.is_absolute() or not is_inside(folder, root):  # no home folder, no cache
            continue
        path = folder / paths.index_file.name
        yield path, IndexGuard(path.with_suffix(".lock"), root)


def index_state(agent: Agent) -> str:
    """Whether an index is fresh, told from its note alone: SQLite is not opened."""
    states = [_state(path, guard.read(), agent) for path, guard in index_places(agent.paths) if path.exists()]
    return "fresh" if "fresh" in states else next(iter(states), "none: the next recall makes it")


def _state(path: Path, note: str, agent: Agent) -> str:
    stamp, _, rest = note.partition(" ")
    if stamp == WRITING:
        return "being written"
    if stamp != stamp_of(path):
        return "damaged: the next recall makes it anew"
    return "fresh" if rest.partition(" ")[0] == digest_of(find_sources(agent)) else "stale: the next recall follows"


def cache_folder(paths: AgentPaths) -> Path:
    """A folder of this workspace in the user's cache."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    root = os.path.realpath(paths.workspace.root)
    return Path(base) / "mabos" / f"{os.path.basename(root)}-{crc32(root.encode('utf-8', 'replace')):08x}"
