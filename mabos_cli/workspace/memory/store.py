"""Memory on disk, read only as far as needed: the newest long-term items are lines of memory-store.json, the others of its pages.

Beside it are two small journals in .mabos/queue/: deferred stores, which a write drains, and uses of items, which a write folds in.
Both are appended to without waiting for the agent's lock, under a side lock of their own that is held only for the append.
Their first line says what they are; a drained file keeps it.
"""

import os
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

from mabos_cli.core.language.ids import month_of, parse_id
from mabos_cli.core.memory.item import DOMAINS, MemoryItem, touch
from mabos_cli.core.memory.stores import Draft, LongTerm
from mabos_cli.core.memory.trust import is_untrusted
from mabos_cli.core.records import NamedTuple
from mabos_cli.errors import InvalidFile, MabosError
from mabos_cli.formats.json.text import dump_record, parse_ledger
from mabos_cli.formats.memory.items import (
    StoreFile,
    cut_line,
    find_line,
    item_from_dict,
    item_to_dict,
    line_id,
    names_item,
    parse_item,
    parse_page,
)
from mabos_cli.workspace.files import Moved, append_bytes, append_text, edit_text, read_bytes, replace_file, stamp_of
from mabos_cli.workspace.layout import LEGACY, AgentPaths
from mabos_cli.workspace.lock import Lock, locked
from mabos_cli.workspace.plain_files import read_regular

Touches = dict[str, tuple[int, str]]
_FEW = 4  # pages that are looked through as fast as the right one is found
_HEADER = b'{"queue": "mabos"}\n'  # of a journal
_OFTEN = 5  # questions about one page
_LEGACY_BYTES = 1 << 18  # of Memory.md: each new line makes a search read all of it again
_START = 200  # bytes of a page, in which its first id stands


def page_of(line: bytes) -> str:
    """Returns the month a line belongs to."""
    item_id = line_id(line)
    return month_of(item_id, "") or month_of(item_id, parse_item(line, "memory-store.json").created_at) or "undated"


def pages_of_month(names: Iterable[str], month: str) -> list[str]:
    """Returns the pages of a month, newest first."""
    return sorted((n for n in names if n[:7] == month[:7]), key=lambda n: (len(n), n), reverse=True)


# Id and checksum of a line, and how to decode it, which happens only when somebody asks.
SourceLine = tuple[str, int, Callable[[], MemoryItem]]


class LongTermStore:
    """The raw lines: those of memory-store.json itself, and of its pages, which are loaded when first looked at.

    An item of memory-store.json counts for what a page may have of it: a merge of two branches can leave both.
    """

    def __init__(self, paths: AgentPaths, head: StoreFile) -> None:
        self.paths = paths
        self.head = head
        self.loaded: dict[str, tuple[bytes | None, list[bytes]]] = {}
        self._seen: dict[str, bytes | None] = {}
        self._firsts: dict[str, tuple[int, int]] = {}
        self._asked: dict[str, int] = {}
        self._tables: dict[str, tuple[object, dict[str, int]]] = {}
        self._months: dict[str, list[str]] = {}

    def page(self, name: str) -> list[bytes]:
        """Returns the lines of a page; a page that is listed but missing is an error, never an empty page."""
        if name not in self.loaded:
            path = self.paths.store_page(name)
            data = read_bytes(path)
            if data is None and self.head.pages.get(name):
                raise InvalidFile(f"{self.paths.cited(path)} is missing", "restore it from git, or run mabos doctor")
            self.loaded[name] = (data, parse_page(data, self.paths.cited(path)) if data else [])
        return self.loaded[name][1]

    def put_page(self, name: str, data: bytes, lines: list[bytes]) -> None:
        """Notes what a page holds from now on."""
        self.loaded[name] = (data, lines)
        self._tables.pop(name, None)
        self._months.clear()

    def lines(self, without: Collection[str] = ()) -> Iterator[bytes]:
        """Yields all lines, but for those of some pages."""
        held = set(map(line_id, self.head.long_term))
        for name in sorted(self.head.pages.keys() - without, key=lambda n: (n[:7], len(n), n)):
            yield from (line for line in self.page(name) if line_id(line) not in held)
        yield from self.head.long_term

    def find_place(self, item_id: str) -> tuple[str, int] | None:
        """Returns the page ("" is memory-store.json itself) and position of an item."""
        position = self._position("", item_id)
        if position is not None:
            return "", position
        places = ((name, self._position(name, item_id)) for name in self._pages_holding(item_id))
        return next(((name, position) for name, position in places if position is not None), None)

    def find(self, item_id: str) -> bytes | None:
        """Returns the line of an item. A page that is looked at for nothing else is not split into lines."""
        position = self._position("", item_id)
        if position is not None:
            return self.head.long_term[position]
        for name in self._pages_holding(item_id):
            is_rare = name not in self.loaded and self._asked.get(name, 0) < _OFTEN
            if is_rare and (line := cut_line(self._seen[name] or b"", item_id)):
                self._asked[name] = self._asked.get(name, 0) + 1
                return line
            position = self._position(name, item_id)
            if position is not None:
                return self.page(name)[position]
        return None

    def _pages_holding(self, item_id: str) -> Iterator[str]:
        """Yields the pages that may hold an item, the likely one first."""
        month = month_of(item_id, "")
        names = self._pages_of(month) if month else sorted(self.head.pages)
        likely = self.likely_page(item_id) if len(names) >= _FEW else ""
        ordered = [likely, *(name for name in names if name != likely)] if likely else names
        return (name for name in ordered if self._may_hold(name, item_id))

    def _pages_of(self, month: str) -> list[str]:
        """Returns the pages of a month, newest first, as they were when they were first asked for."""
        if month not in self._months:
            self._months[month] = pages_of_month(self.head.pages, month)
        return self._months[month]

    def _position(self, name: str, item_id: str) -> int | None:
        """Returns the position of an item on a part; one that is asked for many items gets a table."""
        lines = self.page(name) if name else self.head.long_term
        self._asked[name] = self._asked.get(name, 0) + 1
        if self._asked[name] < _OFTEN:
            return find_line(lines, item_id)
        state = len(lines), lines[-1:]  # whoever takes a line out, or adds one, changes this
        if self._tables.get(name, (None,))[0] != state:
            self._tables[name] = state, {line_id(line): n for n, line in enumerate(lines)}
        return self._tables[name][1].get(item_id)

    def likely_page(self, item_id: str) -> str:
        """Returns the page of its month on which an id should stand: ids go up from page to page, unless somebody brought an old item
        back, or merged. Empty when there is none."""
        wanted = parse_id(item_id)
        names = self._pages_of(month_of(item_id, "")) if wanted else []
        if wanted is None or len(names) < 2:
            return names[0] if names else ""
        return names[len(names) - max(1, bisect_right(names[::-1], wanted, key=self._first_id))]

    def _first_id(self, name: str) -> tuple[int, int]:
        if name not in self._firsts:
            self._firsts[name] = self._read_first_id(name)
        return self._firsts[name]

    def _read_first_id(self, name: str) -> tuple[int, int]:
        start = b""
        with suppress(OSError):
            start = read_regular(os.fspath(self.paths.store_page(name)), _START)
        found = re.search(rb'"id": "([^"]*)"', start)
        return (parse_id(found[1].decode("ascii", "replace")) if found else None) or (0, 0)

    def _may_hold(self, name: str, item_id: str) -> bool:
        """Returns a look at the text of a page: decoding every page of a busy month would cost far more."""
        if name in self.loaded:
            return True
        if name not in self._seen:
            self._seen[name] = read_bytes(self.paths.store_page(name))
        data = self._seen[name]
        return data is None or names_item(data, item_id)

    def __len__(self) -> int:
        return len(self.head.long_term) + sum(self.head.pages.values())

    def sources(self) -> Iterator[tuple[str, str, Callable[[], Iterator[SourceLine]]]]:
        """Name, change stamp and lines of each part, for an index that follows changes; lines move on to the parts that come first."""
        for name in self.head.pages:
            yield name, stamp_of(self.paths.store_page(name)), partial(self._source_lines, name)
        whole = b"\n".join(self.head.long_term)
        yield "", f"{len(whole)}:{crc32(whole)}", partial(self._source_lines, "")

    def _source_lines(self, name: str) -> Iterator[SourceLine]:
        for line in self.page(name) if name else self.head.long_term:
            yield line_id(line), crc32(line), partial(parse_item, line, "memory-store.json")


class LongTermView(LongTerm):
    """Long-term memory as values: the store, with recent uses counted in and pending changes laid over it."""

    def __init__(
        self,
        store: LongTermStore,
        touches: Touches | None = None,
        put: dict[str, MemoryItem] | None = None,
        drop: frozenset[str] = frozenset(),
        without: Collection[str] = (),
    ) -> None:
        """Takes the store, uses, changes, and the pages whose items need not be gone through."""
        self.store = store
        self.without = without
        self.touches = touches or {}
        self.put = put or {}
        self.drop = drop
        self._found: dict[str, MemoryItem | None] = {}

    def find(self, item_id: str) -> MemoryItem | None:
        if item_id in self.put:
            return self.put[item_id]
        if item_id not in self._found:
            line = None if item_id in self.drop else self.store.find(item_id)
            self._found[item_id] = self._decode(line) if line else None
        return self._found[item_id]

    def _decode(self, line: bytes) -> MemoryItem:
        item = parse_item(line, "memory-store.json")
        count, at = self.touches.get(item.id, (0, ""))
        return touch(item, at, count) if count else item

    def __iter__(self) -> Iterator[MemoryItem]:
        seen = set(self.put)
        for line in self.store.lines(self.without):
            item_id = line_id(line)
            if item_id in self.put:
                yield self.put[item_id]
                seen.discard(item_id)
            elif item_id not in self.drop:
                yield self._decode(line)
        yield from (item for item_id, item in self.put.items() if item_id in seen)

    def __len__(self) -> int:
        fresh = sum(1 for item_id in self.put if self.store.find_place(item_id) is None)
        return len(self.store) + fresh - len(self.drop)


def _locked(paths: AgentPaths, timeout: float) -> AbstractContextManager[Lock]:
    """Returns the side lock. Its file remembers the last id that was queued."""
    return locked(paths.queue_lock, paths.workspace.root, timeout)


def _append(path: Path, root: Path, records: list[dict[str, Any]], durable: bool) -> None:
    data = b"".join(map(dump_record, records))
    append_bytes(path, data if path.exists() else _HEADER + data, root=root, durable=durable)


def defer_drafts(paths: AgentPaths, drafts: list[Draft], mint: Callable[[str], str], timeout: float) -> list[Draft]:
    """Queues drafts durably, with ids; mint gives the id after the last one queued. The queued drafts come back."""
    with _locked(paths, timeout) as lock:
        last, queued = lock.left_behind.strip(b"\0\n").decode("ascii", "replace"), []
        for draft in drafts:
            last = mint(last)
            queued.append(draft._replace(item=draft.item._replace(id=last)))
        lock.note(last.encode())
        records = [{"store": d.store, "graded": d.graded, "item": item_to_dict(d.item)} for d in queued]
        _append(paths.queue, paths.workspace.root, records, durable=True)
    return queued


def read_deferred(paths: AgentPaths, wait: float | None = None) -> list[Draft]:
    """Returns the queued drafts; torn lines were never acknowledged.

    A writer, who will shorten the queue, waits for its lock so that it never sees half an append.
    """
    data = read_bytes(paths.queue) or b""
    if wait is not None and len(data) > len(_HEADER):
        with _locked(paths, wait):
            data = read_bytes(paths.queue) or b""
    drafts = []
    for record in parse_ledger(data).records:
        if "item" in record:
            item = item_from_dict(record["item"], paths.relative(paths.queue))
            drafts.append(Draft(item, str(record.get("store")), bool(record.get("graded"))))
    return drafts


def note_uses(paths: AgentPaths, ids: list[str], at: str) -> None:
    """Journals that items were used. Best effort: a read-only workspace or a busy journal costs nothing but the count."""
    if ids:
        with suppress(MabosError), _locked(paths, 0.2):
            _append(paths.access_journal, paths.workspace.root, [{"at": at, "ids": ids}], durable=False)


class Uses(NamedTuple):
    """Journalled uses per item (how often, last when), and which part of which journal they are."""

    touches: Touches
    size: int
    cut: int


def read_uses(paths: AgentPaths) -> Uses:
    """Returns the uses that no write has folded in yet."""
    data = read_bytes(paths.access_journal) or b""
    noted = [r for r in parse_ledger(data).records if isinstance(r.get("ids"), list)]
    touches: Touches = {}
    for record in noted:
        at = str(record.get("at", ""))
        for item_id in map(str, record["ids"]):
            known = touches.get(item_id)
            touches[item_id] = (known[0] + 1, max(known[1], at)) if known else (1, at)
    return Uses(touches, len(data), _times_cut(data))


def _times_cut(data: bytes) -> int:
    """Returns how often the journal was cut, as its first line says: a cut that was made already is not made again."""
    records = parse_ledger(data.partition(b"\n")[0]).records
    return cut if records and isinstance(cut := records[0].get("cut"), int) else 0


def cut_uses(paths: AgentPaths, size: int, cut: int, folded: Collection[str], timeout: float) -> None:
    """Drops the uses of items that are folded now from the first `size` bytes of the access journal."""
    with _locked(paths, timeout):
        data = read_bytes(paths.access_journal) or b""
        if _times_cut(data) == cut:
            kept = [dump_record({"queue": "mabos", "cut": cut + 1})]
            for record in parse_ledger(data[:size]).records:
                left = [item_id for item_id in record.get("ids", ()) if item_id not in folded]
                kept += [dump_record({"at": record.get("at", ""), "ids": left})] if left else []
            _rewrite(paths, paths.access_journal, data, b"".join(kept) + data[size:])


def remove_queued(paths: AgentPaths, ids: list[str], timeout: float) -> None:
    """Takes drafts that are stored now out of the queue, and keeps what came behind them."""
    gone = set(ids)
    with _locked(paths, timeout):
        data = read_bytes(paths.queue) or b""
        lines = [line + b"\n" for line in data.split(b"\n") if line and _queued_id(line) not in gone]
        _rewrite(paths, paths.queue, data, b"".join(lines))


def _queued_id(line: bytes) -> str | None:
    """Returns the id of the draft on a line of the queue; none on the first line, or a torn one."""
    for record in parse_ledger(line).records:
        if isinstance(record.get("item"), dict):
            item_id = record["item"].get("id")
            return item_id if isinstance(item_id, str) else None
    return None


def _rewrite(paths: AgentPaths, path: Path, old: bytes, new: bytes) -> None:
    try:
        replace_file(path, new or _HEADER, root=paths.workspace.root, expect=old)
    except Moved:
        raise InvalidFile(f"{path} was changed by something that does not lock", "run mabos doctor") from None


def append_to_logs(paths: AgentPaths, items: Iterable[MemoryItem], *, again: bool = False) -> None:
    """Adds each item to the log of its day; with again, only those that the log does not name yet."""
    from mabos_cli.formats.memory.derived_md import render_log_entry, render_log_header  # late: reading does without

    days: dict[str, list[MemoryItem]] = {}
    for item in items:
        days.setdefault(item.created_at[:10] or "undated", []).append(item)
    for day, found in sorted(days.items()):
        path = paths.daily_log(day)
        if again:
            # The log may have been archived since.
            parts = (read_bytes(place) or b"" for place in (path, paths.archived_log(day)))
            there = b"\n".join(parts).decode("utf-8", "replace")
            found = [item for item in found if f" ^{item.id}\n" not in there]
        if found:
            text = "".join(render_log_entry(item) for item in found)
            append_text(path, text, root=paths.workspace.root, header=render_log_header(day))


def append_to_legacy(paths: AgentPaths, items: Iterable[MemoryItem], *, again: bool = False) -> None:
    """Adds a line for each item of a lasting type to Memory.md, where there is one and it is not too long to read; with again, only
    those that it does not name yet. Untrusted ones stay items only."""
    from mabos_cli.formats.memory.derived_md import render_legacy_line
    from mabos_cli.workspace.locate import shares_a_file

    lasting = [item for item in items if item.type in DOMAINS and not is_untrusted(item)]
    path = paths.root / LEGACY
    if lasting and path.is_file() and path.stat().st_size < _LEGACY_BYTES and not shares_a_file(paths):
        there = (read_bytes(path) or b"").decode("utf-8", "replace") if again else ""
        text = "".join(render_legacy_line(item) for item in lasting if f" ^{item.id}\n" not in there)
        if text:
            append_text(path, text, root=paths.workspace.root)


def append_promoted(paths: AgentPaths, items: tuple[MemoryItem, ...], day: str) -> None:
    """Adds consolidated items to MEMORY.md, behind whatever people wrote there meanwhile.

    Untrusted ones stay items only: what stands in MEMORY.md is read as the agent's own words.
    """
    items = tuple(item for item in items if not is_untrusted(item))
    if items:
        from mabos_cli.formats.memory import memory_md  # late: only consolidation does

        header = memory_md.render_memory_header(paths.id)
        root, add = paths.workspace.root, memory_md.add_consolidated
        edit_text(paths.memory_md, lambda text: add(text or header, items, day), root=root)
