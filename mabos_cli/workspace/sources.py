"""An agent's files as sources of an index: which there are, what changed, what is in them; where the index lies."""

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from functools import cache, partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from stat import S_ISREG
from zlib import crc32

from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time, parse_time
from mabos_cli.core.language.ids import stamp_of
from mabos_cli.core.memory.item import DOMAINS, MemoryItem
from mabos_cli.core.memory.trust import Ruling, claim_trust, lowered, needs_voucher
from mabos_cli.core.search.documents import WRITING, Content, Held, Piece, Record, Source, digest_of
from mabos_cli.errors import MabosError
from mabos_cli.formats.json.text import parse_json
from mabos_cli.formats.markdown.escape import without_seal
from mabos_cli.formats.memory.items import StoreFile, departure_from_dict, line_id, parse_item, parse_store, render_item
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import explained, is_inside, read_bytes
from mabos_cli.workspace.files import stamp_of as stamp_of_file
from mabos_cli.workspace.layout import DAY, LEGACY, STORE, AgentPaths
from mabos_cli.workspace.locate import render_template
from mabos_cli.workspace.lock import locked
from mabos_cli.workspace.memory.store import read_deferred
from mabos_cli.workspace.plain_files import cache_folder

# Clocks of file systems tick in steps of up to 10 ms: a file changed this recently may change again with the same time.
UNSETTLED = 25_000_000
_TEXTS = (".md", ".txt", ".jsonl")
# Our own copies of items, page by page, and of beliefs: what they copy is a source itself.
_COPIES, _COPIES_MD = "mabos-memory-items", frozenset(("mabos-memory-items.md", "mabos-beliefs.md"))
_OBSERVED = "observations/"
# Results of reasoning that were kept, each a memory as well, which says more; and what is no memory: who trusts what, what of
# the observations became items, what of transcripts became observations.
_RECORDS = frozenset(
    (
        "reasoning.jsonl",
        "trust.jsonl",
        f"{_OBSERVED}harvested",
        f"{_OBSERVED}transcripts.jsonl",
        *(f"memory/{name}" for name in ("INDEX.md", "observations.md")),  # these and the domains copy items
        *(f"memory/domains/{name}{end}" for name in DOMAINS.values() for end in ("", ".md")),
    )
)
_RECORD_NAMES = frozenset(path.rpartition("/")[2] for path in _RECORDS)
_STORE = re.compile(STORE)
Rulings = Callable[[], Mapping[str, Ruling]]


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
        load = partial(load_source, agent, shown, path)
        stamp, changed = stamp_of(stat), stat.st_ctime_ns
        ledger = ledgers.get(shown) if ledgers else None
        if ledger:
            stamp, changed = f"{stamp}:{stamp_of(ledger)}", max(changed, ledger.st_ctime_ns)
        grow = partial(_grow_archive, agent, path) if is_archive(shown) else None
        found.append(Source(shown, stamp, changed < settled, load, grow))
    with suppress(OSError):
        path = os.fspath(agent.paths.queue)
        shown, stat = agent.paths.relative(agent.paths.queue), os.stat(path)
        load = partial(load_source, agent, shown, path)
        found.append(Source(shown, stamp_of(stat), stat.st_ctime_ns < settled, load))
    return found


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
            found[_OBSERVED + clean(entry.name)] = entry.stat()
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
            if not name.endswith(_TEXTS) and not is_store(entry.path[base:]):
                below.append(entry)
            elif name not in _COPIES_MD and (not entry.is_symlink() or is_inside(entry.path, outermost)):
                store = is_store(entry.path[base:])  # what else stands in its place is an error, and not an absence
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
    return shown.startswith("memory-store") and bool(_STORE.fullmatch(shown))


def holds_items(shown: str) -> bool:
    """Returns whether a source holds items of memory, live, archived or waiting, and not text that somebody wrote."""
    return is_store(shown) or shown.startswith(("archive/", ".mabos/"))


def load_source(agent: Agent, shown: str, path: str) -> Content:
    """Reads what a file holds now; a file that cannot be read is an error to report, and no reason to stop."""
    from hashlib import blake2b

    try:
        limit = agent.settings["index.max_file_bytes"]
        with explained(Path(path), "read"), suppress(FileNotFoundError):
            stat = os.stat(path)
            if stat.st_size > limit and not is_store(shown) and not shown.startswith("archive/"):
                return Content(stamp_of(stat), error=f"{shown} is larger than {limit:,} bytes and is left out")
        data = read_bytes(Path(path))
        if data is None:
            return Content()
        digest = blake2b(data + _harvested(agent, shown), digest_size=16).hexdigest()
        return _loader(agent, shown)(agent, shown, data)._replace(hash=digest, size=len(data))
    except MabosError as error:
        return Content(error=error.message)


def _harvested(agent: Agent, shown: str) -> bytes:
    """Returns the ledger of a file of observations; nothing for other files."""
    if not shown.startswith(_OBSERVED):
        return b""
    return read_bytes(agent.paths.harvest_ledger(shown.removeprefix(_OBSERVED))) or b""


def _loader(agent: Agent, shown: str) -> Callable[[Agent, str, bytes], Content]:
    if is_store(shown):
        return _stored
    if is_archive(shown):
        return _archived
    if shown == agent.paths.relative(agent.paths.queue):
        return _queued
    return _spoken if shown.endswith(".jsonl") else _written


def _stored(agent: Agent, shown: str, data: bytes) -> Content:
    """Reads the items of memory-store.json or one of its pages."""
    store: StoreFile = parse_store(data, agent.paths.cited(agent.paths.root / shown))
    recent = [(item, name) for name in ("working", "short_term") for item in getattr(store, name)]
    rulings = cache(partial(_rulings, agent))
    records = [_record(item, name, rulings) for item, name in recent]
    records += [
        Record(line_id(line), crc32(line), partial(_decode, agent, shown, line, rulings)) for line in store.long_term
    ]
    return Content(records=tuple(records))


def _record(item: MemoryItem, store: str, rulings: Rulings) -> Record:
    line = render_item(item)
    return Record(item.id, crc32(store.encode(), crc32(line)), partial(_hold, item, line, store, rulings))


def _decode(agent: Agent, shown: str, line: bytes, rulings: Rulings) -> Held:
    return _hold(parse_item(line, agent.paths.cited(agent.paths.root / shown)), line, "long_term", rulings)


def _hold(item: MemoryItem, line: bytes, store: str, rulings: Rulings) -> Held:
    """Returns an item for the index, trusted no more than its source is where nobody vouches for it; its line stays as it is."""
    if needs_voucher(item.trust, item.source):
        item = lowered(item, claim_trust(item, rulings())[0])
    return Held(item, line.decode("utf-8"), store)


def _rulings(agent: Agent) -> Mapping[str, Ruling]:
    from mabos_cli.workspace.memory.trust_log import load_rulings

    return load_rulings(agent.paths)


def is_archive(shown: str) -> bool:
    """Returns whether a path is a file of the archive."""
    return shown.startswith("archive/") and shown.endswith(".jsonl")


def _grow_archive(agent: Agent, path: str, size: int, digest: str) -> Content | None:
    """Reads the lines that were appended to an archive file; None when what was there before changed, or ended within a line."""
    from hashlib import blake2b

    with suppress(MabosError):
        data = read_bytes(Path(path)) or b""
        seen = blake2b(data[:size], digest_size=16)
        if seen.hexdigest() == digest and data[:size].endswith(b"\n"):
            seen.update(data[size:])
            more = _archived(agent, "", data[size:])
            return more._replace(hash=seen.hexdigest(), size=len(data), is_more=True)
    return None


def _archived(agent: Agent, shown: str, data: bytes) -> Content:
    """Reads the items of an archive file; torn lines were never acknowledged."""
    records, rulings = [], cache(partial(_rulings, agent))
    for line in data.split(b"\n"):
        if line.startswith(b'{"id": "') and b'"kind": "item"' in line:
            with suppress(ValueError):
                records.append(Record(line_id(line), crc32(line), partial(_departed, line, rulings)))
    return Content(records=tuple(records))


def _departed(line: bytes, rulings: Rulings) -> Held | None:
    """Returns an item as the archive holds it; a line that is torn or of another kind holds none."""
    with suppress(MabosError):
        departure = departure_from_dict(parse_json(line, "archive"), "archive")
        if departure:
            held = _hold(departure.item, render_item(departure.item), departure.store, rulings)
            return held._replace(archived=departure.reason, away_at=departure.at, into=departure.into)
    return None


def _queued(agent: Agent, shown: str, data: bytes) -> Content:
    """Reads the items that wait in the queue."""
    rulings = cache(partial(_rulings, agent))
    return Content(records=tuple(_record(d.item, d.store, rulings) for d in read_deferred(agent.paths)))


def _written(agent: Agent, shown: str, data: bytes) -> Content:
    """Reads the passages of a text file, without what the template put there."""
    from mabos_cli.core.language.periods import is_summary
    from mabos_cli.core.language.secrets import hide_secrets
    from mabos_cli.formats.markdown.blocks import is_only_headings
    from mabos_cli.formats.search import passages

    s = agent.settings
    per_token = s["text.chars_per_token"]
    size, overlap = s["index.passage_tokens"] * per_token, s["index.overlap_tokens"] * per_token
    day = re.match(DAY, shown.rpartition("/")[2])
    at = f"{day[0]}T00:00:00.000Z" if day else ""
    untouched = _template_passages(agent, shown, size, overlap)
    whole = data.decode("utf-8", "replace")
    text = hide_secrets(passages.without_legacy_lines(whole) if shown == LEGACY else without_seal(whole))
    if shown.startswith("memory/domains/") and len(without_seal(whole)) < len(whole):
        return Content()  # our own file of a topic: its items are a source themselves
    found = passages.split_passages(text, size, overlap)
    marked, low = passages.find_untrusted(text), passages.find_untrusted_lines(shown, text)
    if is_summary(shown) and text.startswith("---\n"):
        found = found[1:]  # what a summary says about itself is nothing to recall
    pieces = (piece._replace(at=at) for passage in found for piece in _split_by_trust(passage, marked, low))
    return Content(pieces=tuple(p for p in pieces if p.text not in untouched and not is_only_headings(p.text)))


def _split_by_trust(passage: Piece, marked: set[str], low: AbstractSet[int]) -> Iterator[Piece]:
    """Yields a passage with what it says of its trust. A copy of an item that is long says it at its end only; of lines that
    are trusted differently, each run is a passage of its own."""
    from mabos_cli.formats.search.passages import has_untrusted_bullet

    if not low.isdisjoint(range(passage.first, passage.last + 1)):
        lines = enumerate(passage.text.split("\n"), passage.first)
        for is_low, run in groupby(lines, lambda numbered: numbered[0] in low):
            numbers, texts = zip(*run, strict=True)
            lines_of = {"text": "\n".join(texts), "first": numbers[0], "last": numbers[-1]}
            yield passage._replace(**lines_of, trust="untrusted" if is_low else "")
        return
    item_id = passage.copy_of
    is_low = bool(item_id) and (item_id in marked or has_untrusted_bullet(passage.text))
    yield passage._replace(trust="untrusted" if is_low else "")


def _template_passages(agent: Agent, shown: str, size: int, overlap: int) -> frozenset[str]:
    """Returns the passages that a file had when the agent was created: nobody wants to recall those."""
    from mabos_cli.formats.search.passages import split_passages

    if "/" in shown:
        return frozenset()
    text = render_template(agent.id, agent.manifest(), shown)
    return frozenset(passage.text for passage in split_passages(text, size, overlap))


def _moment(text: str) -> str:
    """Returns a time as we write it, empty when it is none."""
    with suppress(BadValue):
        return format_time(parse_time(text)) if text else ""
    return ""


def template_marks(agent: Agent) -> int:
    """Returns a number for what the template was filled with: it decides which passages are the agent's own."""
    with suppress(MabosError):
        manifest = agent.manifest()
        return crc32(f"{agent.id} {manifest.get('name')} {manifest.get('role')}".encode("utf-8", "replace"))
    return 0


def _spoken(agent: Agent, shown: str, data: bytes) -> Content:
    """Reads what was said in a transcript or log of JSON lines, line by line. An observation that became an item is found as that."""
    from mabos_cli.core.language.secrets import hide_secrets
    from mabos_cli.formats.memory.observations import parse_line_texts
    from mabos_cli.formats.search.passages import split_passages
    from mabos_cli.workspace.memory.observations import harvested_lines

    size = agent.settings["index.passage_tokens"] * agent.settings["text.chars_per_token"]
    name, pieces = shown.removeprefix(_OBSERVED), []
    taken = harvested_lines(agent.paths, name, data) if name != shown else frozenset()
    for said in (said for said in parse_line_texts(data) if said.line not in taken):
        for part in split_passages(hide_secrets(clean(said.text)), size, 0):
            pieces.append(Piece(part.text, said.line, said.line, "", "", _moment(said.at), clean(said.author)))
    return Content(pieces=tuple(pieces))


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
