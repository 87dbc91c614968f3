"""Long-term memory on disk: lines of memory-store.json, or monthly pages once there are many. Read only as far as needed."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from zlib import crc32

from mabos_cli.core.language.ids import month_of, parse_id
from mabos_cli.core.memory.item import MemoryItem, touch
from mabos_cli.core.memory.stores import LongTerm
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.memory.items import (
    StoreFile,
    find_line,
    line_id,
    names_item,
    parse_item,
    parse_page,
    render_item,
)
from mabos_cli.workspace.files import read_bytes, stamp_of
from mabos_cli.workspace.layout import AgentPaths

Touches = dict[str, tuple[int, str]]
_FEW = 4  # pages that are looked through as fast as the right one is found
_START = 200  # bytes of a page, in which its first id stands


def page_of(line: bytes) -> str:
    """The month a line belongs to."""
    item_id = line_id(line)
    return month_of(item_id, "") or month_of(item_id, parse_item(line, "memory-store.json").created_at) or "undated"


def partition(lines: Iterable[bytes], page_items: int) -> dict[str, list[bytes]]:
    """Lines by page: a month each, and further pages of a month (2026-11-2) when it holds more than page_items."""
    months: dict[str, list[bytes]] = {}
    for line in lines:
        months.setdefault(page_of(line), []).append(line)
    return {
        month if start == 0 else f"{month}-{start // page_items + 1}": found[start : start + page_items]
        for month, found in sorted(months.items())
        for start in range(0, len(found), page_items)
    }


def pages_of_month(names: Iterable[str], month: str) -> list[str]:
    """The pages of a month, newest first."""
    return sorted((n for n in names if n[:7] == month[:7]), key=lambda n: (len(n), n), reverse=True)


class LongTermStore:
    """The raw lines, by page when the store is split. Pages are loaded when first looked at."""

    def __init__(self, paths: AgentPaths, head: StoreFile) -> None:
        self.paths = paths
        self.head = head
        self.loaded: dict[str, tuple[bytes | None, list[bytes]]] = {}
        self._seen: dict[str, bytes | None] = {}

    def page(self, name: str) -> list[bytes]:
        """The lines of a page; a page that is listed but missing is an error, never an empty page."""
        if name not in self.loaded:
            path = self.paths.store_page(name)
            data = read_bytes(path)
            if data is None and self.head.pages.get(name):
                raise InvalidFile(f"{self.paths.cited(path)} is missing", "restore it from git, or run mabos doctor")
            self.loaded[name] = (data, parse_page(data, self.paths.cited(path)) if data else [])
        return self.loaded[name][1]

    def lines(self) -> Iterator[bytes]:
        yield from self.head.long_term
        for name in sorted(self.head.pages, key=lambda n: (n[:7], len(n), n)):
            yield from self.page(name)

    def pages(self, page_items: int) -> dict[str, Callable[[], list[bytes]]]:
        """The pages with a loader each: as they are on disk, or as the lines of memory-store.json would be cut."""
        if self.head.pages:
            return {name: partial(self.page, name) for name in sorted(self.head.pages)}
        return {name: partial(list, lines) for name, lines in partition(self.head.long_term, page_items).items()}

    def find_place(self, item_id: str) -> tuple[str, int] | None:
        """The page ("" is memory-store.json itself) and position of an item."""
        position = find_line(self.head.long_term, item_id)
        if position is not None:
            return "", position
        month = month_of(item_id, "")
        names = pages_of_month(self.head.pages, month) if month else sorted(self.head.pages)
        for name in self._likely_first(names, item_id):
            if not self._may_hold(name, item_id):
                continue
            position = find_line(self.page(name), item_id)
            if position is not None:
                return name, position
        return None

    def _likely_first(self, names: list[str], item_id: str) -> list[str]:
        """The pages of a month, that one first on which an id should stand: ids go up from page to page, unless somebody
        brought an old item back, or merged."""
        wanted = parse_id(item_id)
        if wanted is None or len(names) < _FEW:
            return names
        place = bisect_right(names[::-1], wanted, key=self._first_id)
        likely = names[len(names) - max(1, place)]
        return [likely, *(name for name in names if name != likely)]

    def _first_id(self, name: str) -> tuple[int, int]:
        start = b""
        with suppress(OSError), self.paths.store_page(name).open("rb") as file:
            start = file.read(_START)
        found = re.search(rb'"id": "([^"]*)"', start)
        return (parse_id(found[1].decode("ascii", "replace")) if found else None) or (0, 0)

    def _may_hold(self, name: str, item_id: str) -> bool:
        """A look at the text of a page: decoding every page of a busy month would cost far more."""
        if name in self.loaded:
            return True
        if name not in self._seen:
            self._seen[name] = read_bytes(self.paths.store_page(name))
        data = self._seen[name]
        return data is None or names_item(data, item_id)

    def line(self, place: tuple[str, int]) -> bytes:
        return (self.page(place[0]) if place[0] else self.head.long_term)[place[1]]

    def __len__(self) -> int:
        return len(self.head.long_term) + sum(self.head.pages.values())

    def sources(self) -> Iterator[tuple[str, str, Callable[[], Iterator["SourceLine"]]]]:
        """Name, change stamp and lines of each part, for an index that follows changes."""
        if self.head.long_term or not self.head.pages:
            whole = b"\n".join(self.head.long_term)
            yield "", f"{len(whole)}:{crc32(whole)}", partial(_source_lines, self, "")
        for name in self.head.pages:
            yield name, stamp_of(self.paths.store_page(name)), partial(_source_lines, self, name)


SourceLine = tuple[str, int, Callable[[], str]]


def _source_lines(store: LongTermStore, name: str) -> Iterator[SourceLine]:
    """Id, checksum and content of each line; the content is decoded only when asked for."""
    for line in store.page(name) if name else store.head.long_term:
        yield line_id(line), crc32(line), partial(_content, line)


def _content(line: bytes) -> str:
    return parse_item(line, "memory-store.json").content


class LongTermView(LongTerm):
    """Long-term memory as values: the store, with recent uses counted in and pending changes laid over it."""

    def __init__(
        self,
        store: LongTermStore,
        touches: Touches | None = None,
        put: dict[str, MemoryItem] | None = None,
        drop: frozenset[str] = frozenset(),
    ) -> None:
        self.store = store
        self.touches = touches or {}
        self.put = put or {}
        self.drop = drop

    def find(self, item_id: str) -> MemoryItem | None:
        if item_id in self.put:
            return self.put[item_id]
        place = None if item_id in self.drop else self.store.find_place(item_id)
        return self._decode(self.store.line(place)) if place else None

    def _decode(self, line: bytes) -> MemoryItem:
        item = parse_item(line, "memory-store.json")
        count, at = self.touches.get(item.id, (0, ""))
        return touch(item, at, count) if count else item

    def __iter__(self) -> Iterator[MemoryItem]:
        seen = set(self.put)
        for line in self.store.lines():
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


def put_lines(
    store: LongTermStore,
    put: Iterable[MemoryItem],
    drop: Iterable[str],
    *,
    fresh: set[str],
    split_above: int,
    page_items: int,
) -> dict[str, list[bytes]]:
    """Applies changes to the lines and gives the pages that changed, with their new lines.

    memory-store.json's own lines and page counts are changed in store.head. Ids in `fresh` are known to be on no page.
    """
    pages: dict[str, list[bytes]] = {}
    tails: dict[str, str] = {}

    def lines_of(name: str) -> list[bytes]:
        if not name:
            return store.head.long_term
        return pages.setdefault(name, list(store.page(name)))

    def put_line(line: bytes, item_id: str, is_new: bool) -> None:
        place = None if is_new else _current_place(store, pages, item_id)
        if place:
            lines_of(place[0])[place[1]] = line
        else:
            name = _page_for(store, pages, tails, line, page_items) if store.head.pages else ""
            lines_of(name).append(line)

    _drop_lines(store, pages, set(drop))
    if store.head.pages and store.head.long_term:  # another tool wrote into the head of a split store
        strays, store.head.long_term = store.head.long_term, []
        for line in strays:
            put_line(line, line_id(line), False)
    for item in put:
        put_line(render_item(item), item.id, item.id in fresh)
    if not store.head.pages and len(store.head.long_term) > split_above:
        pages = _first_pages(store, page_items)
        store.head.long_term = []
    store.head.pages |= {name: len(lines) for name, lines in pages.items()}
    return pages


def _drop_lines(store: LongTermStore, pages: dict[str, list[bytes]], ids: set[str]) -> None:
    """Takes the lines of some items out, in one pass: a lifecycle run drops thousands at once.

    Whoever drops an item has found it, so that its page is loaded.
    """
    if not ids:
        return
    store.head.long_term = [line for line in store.head.long_term if line_id(line) not in ids]
    for name in store.loaded:
        lines = store.page(name)
        kept = [line for line in lines if line_id(line) not in ids]
        if len(kept) < len(lines):
            pages[name] = kept


def _first_pages(store: LongTermStore, page_items: int) -> dict[str, list[bytes]]:
    """The lines of memory-store.json as pages. What lies on a page of that name already, listed nowhere, is kept."""
    ids = {line_id(line) for line in store.head.long_term}
    pages = partition(store.head.long_term, page_items)
    for name, lines in pages.items():
        lines += [line for line in store.page(name) if line_id(line) not in ids]
    return pages


def _current_place(store: LongTermStore, pages: dict[str, list[bytes]], item_id: str) -> tuple[str, int] | None:
    """Where an item is now, in the changed pages first."""
    for name, lines in pages.items():
        position = find_line(lines, item_id)
        if position is not None:
            return name, position
    place = store.find_place(item_id)
    return place if place and place[0] not in pages else None


def _page_for(
    store: LongTermStore, pages: dict[str, list[bytes]], tails: dict[str, str], line: bytes, page_items: int
) -> str:
    """The page that takes a new line: the last of its month while there is room. tails remembers them between lines."""
    month = page_of(line)
    if month not in tails:
        tails[month] = next(iter(pages_of_month({*store.head.pages, *pages}, month)), month)
    name = tails[month]
    size = len(pages[name]) if name in pages else store.head.pages.get(name, 0)
    if size >= page_items:
        name = tails[month] = f"{month}-{int(name[8:] or 1) + 1}"
    return name
