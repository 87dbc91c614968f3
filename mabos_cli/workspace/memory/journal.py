"""Two small journals in .mabos/queue/: deferred stores, which a write drains, and uses of items, which a write folds in.

Both are appended to without waiting for the agent's lock, under a side lock of their own that is held only for the append.
Their first line says what they are; a drained file keeps it.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from mabos_cli.core.memory.storing import Draft
from mabos_cli.errors import InvalidFile, MabosError
from mabos_cli.formats.json.text import dump_record, parse_ledger
from mabos_cli.formats.memory.items import item_from_dict, item_to_dict
from mabos_cli.workspace.files import Moved, append_bytes, read_bytes, replace_file
from mabos_cli.workspace.layout import AgentPaths
from mabos_cli.workspace.lock import Lock, locked
from mabos_cli.workspace.memory.long_term import Touches


def _locked(paths: AgentPaths, timeout: float) -> AbstractContextManager[Lock]:
    """The side lock. Its file remembers the last id that was queued."""
    return locked(paths.queue_lock, paths.workspace.root, timeout)


def _append(path: Path, root: Path, records: list[dict[str, Any]], durable: bool) -> None:
    data = b"".join(map(dump_record, records))
    append_bytes(path, data if path.exists() else _header() + data, root=root, durable=durable)


def _header() -> bytes:
    return b'{"queue": "mabos"}\n'


def defer_drafts(paths: AgentPaths, drafts: list[Draft], mint: Callable[[str], str], timeout: float) -> list[Draft]:
    """Queues drafts durably, with ids; mint gives the id after the last one queued. The queued drafts come back."""
    with _locked(paths, timeout) as lock:
        last, queued = lock.left_behind.strip(b"\0\n").decode("ascii", "replace"), []
        for draft in drafts:
            last = mint(last)
            queued.append(draft._replace(item=draft.item._replace(id=last)))
        lock.note(last.encode())
        _append(paths.queue, paths.workspace.root, [_record(draft) for draft in queued], durable=True)
    return queued


def _record(draft: Draft) -> dict[str, Any]:
    return {"store": draft.store, "graded": draft.graded, "item": item_to_dict(draft.item)}


def read_deferred(paths: AgentPaths, wait: float | None = None) -> list[Draft]:
    """The queued drafts; torn lines were never acknowledged.

    A writer, who will shorten the queue, waits for its lock so that it never sees half an append.
    """
    data = read_bytes(paths.queue) or b""
    if wait is not None and len(data) > len(_header()):
        with _locked(paths, wait):
            data = read_bytes(paths.queue) or b""
    drafts = []
    for record in parse_ledger(data).records:
        if "item" in record:
            item = item_from_dict(record["item"], paths.relative(paths.queue))
            drafts.append(Draft(item, str(record.get("store")), bool(record.get("graded"))))
    return drafts


def note_uses(paths: AgentPaths, ids: list[str], at: str) -> None:
    """Journals that items were recalled. Best effort: a read-only workspace or a busy journal costs nothing but the count."""
    if ids:
        with suppress(MabosError), _locked(paths, 0.2):
            _append(paths.access_journal, paths.workspace.root, [{"at": at, "ids": ids}], durable=False)


class Uses(NamedTuple):
    """Journalled uses per item (how often, last when), and which part of which journal they are."""

    touches: Touches
    lines: int
    size: int
    cut: int


def read_uses(paths: AgentPaths) -> Uses:
    """The uses that no write has folded in yet."""
    data = read_bytes(paths.access_journal) or b""
    noted = [r for r in parse_ledger(data).records if isinstance(r.get("ids"), list)]
    touches: Touches = {}
    for record in noted:
        for item_id in map(str, record["ids"]):
            count, at = touches.get(item_id, (0, ""))
            touches[item_id] = (count + 1, max(at, str(record.get("at", ""))))
    return Uses(touches, len(noted), len(data), _times_cut(data))


def _times_cut(data: bytes) -> int:
    """How often the journal was cut, as its first line says: a cut that was made already is not made again."""
    records = parse_ledger(data.partition(b"\n")[0]).records
    return cut if records and isinstance(cut := records[0].get("cut"), int) else 0


def cut_uses(paths: AgentPaths, size: int, cut: int, left: Touches, timeout: float) -> None:
    """Drops the first `size` bytes of the access journal, which are folded now, and keeps `left` and what came behind."""
    kept = b"".join(dump_record({"at": at, "ids": [item_id] * count}) for item_id, (count, at) in left.items())
    with _locked(paths, timeout):
        data = read_bytes(paths.access_journal) or b""
        if _times_cut(data) == cut:
            header = dump_record({"queue": "mabos", "cut": cut + 1})
            _rewrite(paths, paths.access_journal, data, header + kept + data[size:])


def remove_queued(paths: AgentPaths, ids: list[str], timeout: float) -> None:
    """Takes drafts that are stored now out of the queue, and keeps what came behind them."""
    gone = set(ids)
    with _locked(paths, timeout):
        data = read_bytes(paths.queue) or b""
        lines = [line + b"\n" for line in data.split(b"\n") if line and _queued_id(line) not in gone]
        _rewrite(paths, paths.queue, data, b"".join(lines))


def _queued_id(line: bytes) -> str | None:
    """The id of the draft on a line of the queue; none on the first line, or a torn one."""
    for record in parse_ledger(line).records:
        if isinstance(record.get("item"), dict):
            own = record["item"].get("id")
            return own if isinstance(own, str) else None
    return None


def _rewrite(paths: AgentPaths, path: Path, old: bytes, new: bytes) -> None:
    try:
        replace_file(path, new or _header(), root=paths.workspace.root, expect=old)
    except Moved:
        raise InvalidFile(f"{path} was changed by something that does not lock", "run mabos doctor") from None
