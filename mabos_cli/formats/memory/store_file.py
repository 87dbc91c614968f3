"""memory-store.json and its monthly pages.

Long-term items stand one per line: a store command never decodes the thousands of items that it does not touch.
"""

from typing import Any

from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json.lines import line_of, render_array, render_document, render_value, split_lines
from mabos_cli.formats.json.text import dump_line, parse_json
from mabos_cli.formats.memory.items import item_from_dict, render_item


class StoreFile:
    """The parsed file: recent stores as items, long-term memory as raw lines, other keys as they were."""

    def __init__(
        self,
        working: tuple[MemoryItem, ...] = (),
        short_term: tuple[MemoryItem, ...] = (),
        long_term: list[bytes] | None = None,
        version: int = 0,
        last_id: str = "",
        pages: dict[str, int] | None = None,
        extra: dict[str, Any] | None = None,
    ) -> None:
        self.working = working
        self.short_term = short_term
        self.long_term = long_term or []
        self.version = version
        self.last_id = last_id
        self.pages = pages or {}
        self.extra = extra or {}


def parse_store(data: bytes, path: str) -> StoreFile:
    """The store in the file. Long-term lines are split by text when they are in our layout, decoded otherwise."""
    head, lines = split_lines(data, "long_term", path)
    raw = parse_json(head, path)
    if not isinstance(raw, dict):
        raise InvalidFile(f"{path}:1: a memory store must be an object", "repair the file or restore it from git")
    store = StoreFile(long_term=lines)
    store.working = _items(raw.pop("working", []), "working", path, data)
    store.short_term = _items(raw.pop("short_term", []), "short_term", path, data)
    found = _items(raw.pop("long_term", []), "long_term", path, data)
    if found:
        store.long_term = [render_item(item) for item in found]
    store.version = _whole(raw.pop("version", 0), "version", path)
    store.last_id = str(raw.pop("last_id", ""))
    pages = raw.pop("pages", {})
    if not isinstance(pages, dict):
        raise InvalidFile(f"{path}: pages must be an object", "run mabos doctor --repair")
    store.pages = {str(name): _whole(count, f"pages.{name}", path) for name, count in pages.items()}
    store.extra = raw
    return store


def _items(raw: Any, store: str, path: str, data: bytes) -> tuple[MemoryItem, ...]:
    if not isinstance(raw, list):
        raise InvalidFile(f"{path}: {store} must be a list", "repair the file or restore it from git")
    return tuple(_item(entry, path, data) for entry in raw)


def _item(entry: Any, path: str, data: bytes) -> MemoryItem:
    try:
        return item_from_dict(entry, path)
    except InvalidFile:
        mark = dump_line(entry.get("id", "")).encode("utf-8") if isinstance(entry, dict) else b""
        item_from_dict(entry, f"{path}:{line_of(data, mark)}")
        raise


def _whole(value: Any, name: str, path: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InvalidFile(f"{path}: {name} must be a whole number", "repair the file or restore it from git")
    return value


def render_store(store: StoreFile) -> bytes:
    """The file's bytes."""
    parts = [
        render_array("working", [render_item(item) for item in store.working]),
        render_array("short_term", [render_item(item) for item in store.short_term]),
        render_array("long_term", store.long_term),
    ]
    if store.pages:
        parts.append(render_value("pages", dict(sorted(store.pages.items()))))
    parts += [render_value(key, value) for key, value in store.extra.items()]
    if store.last_id:
        parts.append(render_value("last_id", store.last_id))
    parts.append(render_value("version", store.version))
    return render_document(parts)


def parse_page(data: bytes, path: str) -> list[bytes]:
    """The raw item lines of a monthly page."""
    return parse_store(data, path).long_term


def render_page(lines: list[bytes]) -> bytes:
    """The bytes of a monthly page."""
    return render_document([render_array("long_term", lines)])
