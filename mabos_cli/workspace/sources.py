"""An agent's files as sources of an index: which there are, what changed, what is in them; where the index lies."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from operator import attrgetter
from pathlib import Path
from stat import S_ISREG
from zlib import crc32

from mabos_cli.core.language.ids import stamp_of
from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.memory.item import DOMAINS
from mabos_cli.core.search.documents import WRITING, Content, Source, digest_of
from mabos_cli.errors import MabosError
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import is_inside, read_bytes
from mabos_cli.workspace.files import stamp_of as stamp_of_file
from mabos_cli.workspace.layout import STORE, AgentPaths
from mabos_cli.workspace.lock import locked
from mabos_cli.workspace.plain_files import cache_folder

# Clocks of file systems tick in steps of up to 10 ms: a file changed this recently may change again with the same time.
UNSETTLED = 25_000_000
_TEXTS = (".md", ".txt", ".jsonl")
# Our own copies of items, page by page, and of beliefs: what they copy is a source itself.
_COPIES, _COPIES_MD = "mabos-memory-items", frozenset(("mabos-memory-items.md", "mabos-beliefs.md"))
OBSERVED = "observations/"
# Results of reasoning that were kept, each a memory as well, which says more; and what is no memory: who trusts what, what of
# the observations became items, what of transcripts became observations.
_RECORDS = frozenset(
    (
        "reasoning.jsonl",
        "trust.jsonl",
        f"{OBSERVED}harvested",
        f"{OBSERVED}transcripts.jsonl",
        *(f"memory/{name}" for name in ("INDEX.md", "observations.md")),  # these and the domains copy items
        *(f"memory/domains/{name}{end}" for name in DOMAINS.values() for end in ("", ".md")),
    )
)
_RECORD_NAMES = frozenset(path.rpartition("/")[2] for path in _RECORDS)


def find_sources(agent: Agent) -> list[Source]:
    """Returns every file that a person or agent would call memory, with the stamp that tells whether it changed."""
    root = os.fspath(agent.paths.root)
    settled = time.time_ns() - UNSETTLED
    found = []
    ledgers = _ledgers(agent)
    for path, stat in _walk(agent, [root]):
        shown = path[len(root) + 1 :]
        if not shown.isascii():
            shown = clean(shown)
        stamp, changed = stamp_of(stat), stat.st_ctime_ns
        ledger = ledgers.get(shown) if ledgers else None
        if ledger:
            stamp, changed = f"{stamp}:{stamp_of(ledger)}", max(changed, ledger.st_ctime_ns)
        load, grow = partial(_load, agent, shown, path), partial(_grow, agent, shown, path)
        found.append(Source(shown, stamp, changed < settled, load, grow))
    with suppress(OSError):
        path = os.fspath(agent.paths.queue)
        shown, stat = agent.paths.relative(agent.paths.queue), os.stat(path)
        found.append(Source(shown, stamp_of(stat), stat.st_ctime_ns < settled, partial(_load, agent, shown, path)))
    return found


def _load(agent: Agent, shown: str, path: str) -> Content:
    from mabos_cli.workspace.contents import load_source  # late: mostly nothing changed

    return load_source(agent, shown, path)


def _grow(agent: Agent, shown: str, path: str, size: int, digest: str) -> Content | None:
    from mabos_cli.workspace.contents import grow_source

    return grow_source(agent, shown, path, size, digest)


def item_state(agent: Agent) -> set[tuple[str, str]]:
    """Returns path and stamp of the sources that hold items now: a look at few files, however many notes there are."""
    paths, base = agent.paths, len(os.fspath(agent.paths.root)) + 1
    folders = [os.fspath(folder) for folder in (paths.store_pages, paths.archive)]
    found = {(path[base:], stamp_of(stat)) for path, stat in _walk(agent, folders)}
    for path in (paths.store, paths.queue):
        with suppress(OSError):
            stat = os.stat(path, follow_symlinks=os.path.exists(path))
            found.add((paths.relative(path), stamp_of(stat)))
    return found


def _ledgers(agent: Agent) -> dict[str, os.stat_result]:
    """Returns the ledgers of harvests by their file: what of it can still be found changes with them."""
    found = {}
    with suppress(OSError):
        for entry in os.scandir(agent.paths.harvest_ledgers):
            found[OBSERVED + clean(entry.name)] = entry.stat()
    return found


def clean(text: str) -> str:
    """Returns the text without lone surrogates, which names of files may hold and SQLite refuses."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _walk(agent: Agent, folders: list[str]) -> Iterator[tuple[str, os.stat_result]]:
    """Yields the files of interest below folders. Links are followed to files in the workspace, never to folders."""
    base, outermost = len(os.fspath(agent.paths.root)) + 1, agent.paths.workspace.root
    while folders:
        try:
            entries = sorted(os.scandir(folders.pop()), key=attrgetter("name"))
        except OSError:
            continue
        below = []
        for entry in entries:
            name = entry.name
            if name[0] == ".":
                continue
            if name in _RECORD_NAMES and entry.path[base:] in _RECORDS:
                continue
            is_text = name.endswith(_TEXTS)
            store = not is_text and is_store(
                entry.path[base:]
            )  # what else stands in its place is an error, and not an absence
            if not is_text and not store:
                below.append(entry)
            elif name not in _COPIES_MD and (not entry.is_symlink() or is_inside(entry.path, outermost)):
                try:
                    stat = entry.stat(follow_symlinks=not store or os.path.exists(entry.path))
                except OSError:
                    continue
                if S_ISREG(stat.st_mode) or store:
                    yield entry.path, stat
                else:
                    below.append(entry)
        folders += [
            entry.path for entry in reversed(below) if entry.is_dir(follow_symlinks=False) and entry.name != _COPIES
        ]


def is_store(shown: str) -> bool:
    """Returns whether a path is memory-store.json or one of its pages."""
    return shown.startswith("memory-store") and bool(compiled(STORE).fullmatch(shown))


def holds_items(shown: str) -> bool:
    """Returns whether a source holds items of memory, live, archived or waiting, and not text that somebody wrote."""
    return is_store(shown) or shown.startswith(("archive/", ".mabos/"))


def template_marks(agent: Agent) -> int:
    """Returns a number for what the template was filled with: it decides which passages are the agent's own."""
    with suppress(MabosError):
        manifest = agent.manifest()
        return crc32(f"{agent.id} {manifest.get('name')} {manifest.get('role')}".encode("utf-8", "replace"))
    return 0


class IndexPlace:
    """Where an index lies; a side file keeps writers apart and holds the note that stays between them."""

    def __init__(self, path: Path, root: Path) -> None:
        self.path = path
        self._lock = path.with_suffix(".lock")
        self._root = root

    def read(self) -> str:
        """Returns the note of the last writer, or what the present one says."""
        with suppress(MabosError):
            return (read_bytes(self._lock) or b"").decode("utf-8", "replace").strip("\0\n")
        return ""

    @contextmanager
    def hold(self, timeout: float) -> Iterator[Callable[[str], None]]:
        """Holds the right to write; what it yields replaces the note."""
        with locked(self._lock, self._root, timeout) as lock:
            # That somebody writes must be on disk before the first change is: after a power cut nobody else knows.
            yield lambda text: lock.note(text.encode("utf-8") + b"\n", durable=text == WRITING)


def index_places(paths: AgentPaths) -> Iterator[IndexPlace]:
    """Yields the places for an index, best first. One that can only be read will do while nothing changed."""
    cache = _cache_folder(paths)
    for folder, root in ((paths.index_file.parent, paths.workspace.root), (cache, cache)):
        if not folder.is_absolute() or not is_inside(folder, root):  # no home folder, no cache
            continue
        yield IndexPlace(folder / paths.index_file.name, root)


def index_state(agent: Agent) -> str:
    """Says whether an index is fresh, by its note alone: SQLite is not opened."""
    states = [_state(place, agent) for place in index_places(agent.paths) if place.path.exists()]
    return "fresh" if "fresh" in states else next(iter(states), "none: the next recall builds it")


def _state(place: IndexPlace, agent: Agent) -> str:
    stamp, _, rest = place.read().partition(" ")
    if stamp == WRITING:
        return "being written"
    if stamp != stamp_of_file(place.path):
        return "damaged: the next recall rebuilds it"
    return "fresh" if rest.partition(" ")[0] == digest_of(find_sources(agent)) else "stale: the next recall follows"


def _cache_folder(paths: AgentPaths) -> Path:
    """Returns the folder of this workspace in the user's cache."""
    root = os.path.realpath(paths.workspace.root)
    return Path(cache_folder()) / f"{os.path.basename(root)}-{crc32(root.encode('utf-8', 'replace')):08x}"
