"""Memory items as JSON: one item, one line. The only place that knows the order of their keys."""

import json
import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.language.patterns import compiled, compiled_bytes
from mabos_cli.core.memory.item import (
    TRUSTS,
    UNGRADED,
    Glance,
    MemoryItem,
    check_importance,
    glance_of,
    is_ungraded,
    with_importance,
)
from mabos_cli.core.memory.stores import Departure
from mabos_cli.core.memory.trust import Decision
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.json.text import (
    dump_line,
    dump_record,
    line_of,
    parse_json,
    parse_ledger,
    record_to_dict,
    render_array,
    render_document,
    render_value,
    split_lines,
)

_LISTS = ("tags", "derived_from", "related_to", "supersedes")
_ORDER = MemoryItem._fields[:-1]  # all but extra
_TEXT = tuple(name for name in _ORDER if name not in (*_LISTS, "importance", "access_count"))
_ALWAYS = frozenset(
    ("id", "content", "type", "importance", "source", "trust", "tags", "created_at", "accessed_at", "access_count")
)
_KNOWN = frozenset(_ORDER)


def item_to_dict(item: MemoryItem) -> dict[str, Any]:
    """Returns the item as JSON values in a fixed order; empty optional fields are left out, foreign keys come last. An importance that
    nobody gave is null."""
    if is_ungraded(item) and item.importance != 0.5:  # given since
        item = with_importance(item, item.importance)
    return record_to_dict(item, _ALWAYS)


def item_from_dict(raw: Any, where: str) -> MemoryItem:
    """Returns the item that a JSON object holds; InvalidFile names the place and the field that is off."""
    if not isinstance(raw, dict):
        raise InvalidFile(f"{where}: a memory item must be an object", "repair the file or restore it from git")
    label = f"{where}: item {str(raw.get('id', '?'))[:60]}"
    try:
        level = raw.get("importance")
        values: dict[str, Any] = {"importance": 0.5 if level is None else check_importance(level)}
    except BadValue as error:
        raise InvalidFile(f"{label}: {error.message}", "repair the value by hand") from None
    for name in _TEXT:
        value = raw.get(name)
        if value is None:
            continue
        if not isinstance(value, str):
            raise InvalidFile(f"{label}: {name} must be text", "repair the value by hand")
        values[name] = value
    for name in _LISTS:
        value = raw.get(name) or ()
        if not isinstance(value, list | tuple) or not all(isinstance(part, str) for part in value):
            raise InvalidFile(f"{label}: {name} must be a list of texts", "repair the value by hand")
        values[name] = tuple(value)
    count = raw.get("access_count", 0)
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise InvalidFile(f"{label}: access_count must be a whole number", "repair the value by hand")
    if not values.get("id") or "content" not in values:
        raise InvalidFile(f"{label}: id and content are required", "repair the item by hand")
    if values.get("created_at") and not compiled(r"\d{4}-\d\d-\d\d").match(values["created_at"]):
        raise InvalidFile(f"{label}: created_at must be a date", "write it as 2026-02-24T14:30:00Z")
    extra = {key: value for key, value in raw.items() if key not in _KNOWN}
    if level is None:
        extra |= (UNGRADED,)
    if extra:
        values["extra"] = tuple(extra.items())
    return MemoryItem(access_count=count, **values)


def render_item(item: MemoryItem) -> bytes:
    """Returns the item as one JSON line, without the newline."""
    return dump_line(item_to_dict(item)).encode("utf-8")


def parse_item(line: bytes, where: str) -> MemoryItem:
    """Returns the item on a JSON line."""
    return item_from_dict(parse_json(line, where, line=0), where)


def line_id(line: bytes) -> str:
    """Returns the id on an item line in our own layout, read without decoding the rest.

    >>> line_id(b'{"id": "M-1-a3f2", "content": "x"}')
    'M-1-a3f2'
    """
    plain = line[8 : line.index(b'"', 8)]
    return plain.decode("utf-8") if b"\\" not in plain else json.loads(line)["id"]


def opening(item_id: str) -> bytes:
    """Returns how the line of an item begins."""
    return dump_line({"id": item_id})[:-1].encode("utf-8") + b","


def names_item(data: bytes, item_id: str) -> bool:
    """Returns whether the text of a file can hold an item, in whatever layout."""
    return dump_line(item_id).encode("utf-8") in data


def find_line(lines: Iterable[bytes], item_id: str) -> int | None:
    """Returns the position of the line that holds an item, or None."""
    prefix = opening(item_id)
    return next((n for n, line in enumerate(lines) if line.startswith(prefix)), None)


def cut_line(data: bytes, item_id: str) -> bytes | None:
    """Returns the line of an item out of the text of a page in our layout, which is not parsed; None where it is not found so.

    >>> cut_line(render_page([b'{"id": "M-1-a3f2", "content": "x"}', b'{"id": "M-2-a3f2", "content": "y"}']), "M-1-a3f2")
    b'{"id": "M-1-a3f2", "content": "x"}'
    """
    start = data.find(b"\n    " + opening(item_id))
    end = data.find(b"\n", start + 1)
    return data[start + 5 : end].removesuffix(b",") if 0 <= start < end else None


@cache
def _layout() -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Returns how a line begins in our layout, and the times further on. Quotes inside texts are escaped, so that a key is a key."""
    plain, text = rb'([^"\\]*+)', rb'([^"\\]*+(?:\\.[^"\\]*+)*+)'
    start = rb'\{"id": "%s", "content": "%s", "type": "%s", "importance": ([0-9.]++)[,}]' % (plain, text, plain)
    seen = rb'(?:, "observed_at": "%s")?, "accessed_at": "%s", "access_count": (\d++)' % (plain, plain)
    return compiled_bytes(start), compiled_bytes(rb'"created_at": "%s"%s' % (plain, seen))


def glance_at(line: bytes) -> Glance:
    """Returns what an item line tells at a glance. Lines in our own layout are not decoded: that is done ten times as fast.

    >>> glance_at(render_item(MemoryItem("M-1-a3f2", "We bill per seat", "fact", 0.8, created_at="2026-01-15T10:00:00.000Z")))[:5]
    ('M-1-a3f2', 'fact', 0.8, 16, '2026-01-15T10:00:00.000Z')
    """
    opens, dates = _layout()
    start = opens.match(line)
    times = dates.search(line, start.end()) if start else None
    if start is None or times is None:
        return glance_of(parse_item(line, "memory-store.json"))
    content = start[2] if b"\\" not in start[2] else json.loads(b'"%s"' % start[2])
    return Glance(
        start[1].decode("utf-8"),
        start[3].decode("utf-8"),
        float(start[4]),
        len(content if isinstance(content, str) or content.isascii() else content.decode("utf-8")),
        (times[2] or times[1]).decode("utf-8"),
        times[3].decode("utf-8") if times[4] != b"0" else "",
        line.find(b'"expires_at": "', times.end()) >= 0,
    )


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
    """Returns the store in the file. Long-term lines are split by text when they are in our layout, decoded otherwise."""
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
    """Returns the file's bytes."""
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
    """Returns the raw item lines of a monthly page."""
    return parse_store(data, path).long_term


def render_page(lines: list[bytes]) -> bytes:
    """Returns the bytes of a monthly page."""
    return render_document([render_array("long_term", lines)])


def render_departure(departure: Departure) -> bytes:
    """Returns the archive line of a departure, with its newline."""
    record: dict[str, Any] = {"id": departure.item.id, "kind": "item", "reason": departure.reason, "at": departure.at}
    if departure.into:
        record["into"] = departure.into
    record |= {"store": departure.store, "item": item_to_dict(departure.item)}
    return dump_record(record)


def departure_from_dict(record: Any, where: str) -> Departure | None:
    """Returns the departure in an archive record, or None when it is of another kind."""
    if not isinstance(record, dict) or record.get("kind") != "item":
        return None
    item: MemoryItem = item_from_dict(record.get("item"), where)
    return Departure(
        item,
        str(record.get("store", "")),
        str(record.get("reason", "")),
        str(record.get("at", "")),
        str(record.get("into", "")),
    )


def parse_archive(data: bytes, where: str) -> tuple[list[Departure], int]:
    """Returns the departures in an archive file, oldest first, and the number of unreadable lines."""
    ledger = parse_ledger(data)
    return [found for record in ledger.records if (found := departure_from_dict(record, where))], ledger.torn


def lines_naming(data: bytes, item_id: str) -> bytes:
    """Only the archive lines that are about an id: found by text, without decoding the others."""
    prefix = opening(item_id)
    found, start = [], data.find(prefix)
    while start >= 0:
        end = data.find(b"\n", start)
        if start == 0 or data[start - 1 : start] == b"\n":
            found.append(data[start : end if end >= 0 else len(data)])
        start = data.find(prefix, start + 1)
    return b"\n".join(found)


def decision_to_dict(decision: Decision) -> dict[str, str]:
    """Returns a decision as JSON values; who said it always stands there, why only if it was said."""
    at, item_id, before, to, by, reason, text = decision
    record = {"at": at, "id": item_id, "from": before, "to": to, "by": by, "reason": reason, "text": text}
    return {name: value for name, value in record.items() if value or name != "reason"}


def render_decision(decision: Decision) -> bytes:
    """Returns the line of a decision, with its newline."""
    return dump_record(decision_to_dict(decision))


def parse_decisions(data: bytes) -> tuple[list[Decision], int]:
    """Returns the decisions in a log, oldest first, and how many lines are none: those decide nothing."""
    ledger = parse_ledger(data)
    found = [decision for record in ledger.records if (decision := _decision(record))]
    # Git puts the lines of two branches behind one another.
    return sorted(found, key=lambda decision: decision.at), ledger.skipped + len(ledger.records) - len(found)


def _decision(record: dict[str, Any]) -> Decision | None:
    if record.get("from") not in TRUSTS or record.get("to") not in TRUSTS:
        return None
    names = ("at", "id", "from", "to", "by", "reason", "text")
    values = [record.get(name, "") for name in names]
    return Decision(*values) if all(isinstance(value, str) for value in values) else None
