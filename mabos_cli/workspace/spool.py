"""Two small journals in .mabos/queue/: deferred stores, which a write drains, and uses of items, which a write folds in.

Both are appended to without waiting for the agent's lock, under a side lock of their own that is held only for the append.
Their first line says what they are; a drained file keeps it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mabos_cli.core.storing import Draft
from mabos_cli.errors import InvalidFile, MabosError
from mabos_cli.formats.items import item_from_dict, item_to_dict
from mabos_cli.formats.json_text import dump_line, parse_lines
from mabos_cli.workspace.files import Lock, Moved, append_bytes, read_bytes, replace_file
from mabos_cli.workspace.layout import AgentPaths
from mabos_cli.workspace.long_term import Touches


@contextmanager
def _locked(paths: AgentPaths, timeout: float) -> Iterator[Lock]:
    """The side lock. Its file remembers the last id that was queued."""
    lock = Lock(paths.queue_lock)
    lock.acquire(timeout)
    try:
        yield lock
    finally:
        lock.release()


def _append(path: Path, root: Path, records: list[dict[str, Any]], durable: bool) -> None:
    data = "".join(dump_line(record) + "\n" for record in records).encode("utf-8")
    append_bytes(path, data if path.exists() else _header() + data, root=root, durable=durable)


def _header() -> bytes:
    return b'{"queue": "mabos"}\n'


def defer_drafts(
    paths: AgentPaths, drafts: list[Draft], mint: Callable[[str], str], timeout: float
) -> list[Draft]:
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
    for record in parse_lines(data)[0]:
        if isinstance(record, dict) and "item" in record:
            item = item_from_dict(record["item"], paths.relative(paths.queue))
            drafts.append(Draft(item, str(record.get("store")), bool(record.get("graded"))))
    return drafts


def note_uses(paths: AgentPaths, ids: list[str], at: str) -> None:
    """Journals that items were recalled. Best effort: a read-only workspace or a busy journal costs nothing but the count."""
    if ids:
        with suppress(MabosError), _locked(paths, 0.2):
            _append(paths.access_journal, paths.workspace.root, [{"at": at, "ids": ids}], durable=False)


def read_uses(paths: AgentPaths) -> tuple[Touches, int, int]:
    """Uses per item (how often, last when), the number of journal lines, and the size they were read from."""
    data = read_bytes(paths.access_journal) or b""
    records = [r for r in parse_lines(data)[0] if isinstance(r, dict) and isinstance(r.get("ids"), list)]
    uses: Touches = {}
    for record in records:
        for item_id in map(str, record["ids"]):
            count, at = uses.get(item_id, (0, ""))
            uses[item_id] = (count + 1, max(at, str(record.get("at", ""))))
    return uses, len(records), len(data)


def remove_queued(paths: AgentPaths, ids: list[str], timeout: float) -> None:
    """Takes drafts that are stored now out of the queue, and keeps what came behind them."""
    marks = {dump_line({"id": item_id})[1:-1].encode("utf-8") for item_id in ids}

    def is_kept(line: bytes) -> bool:
        return not any(mark in line for mark in marks) or parse_lines(line)[0][0]["item"]["id"] not in ids

    with _locked(paths, timeout):
        data = read_bytes(paths.queue) or b""
        rest = b"".join(line + b"\n" for line in data.split(b"\n")[1:] if line and is_kept(line))
        _rewrite(paths, paths.queue, data, rest)


def cut_uses(paths: AgentPaths, size: int, left: Touches, timeout: float) -> None:
    """Drops the folded part of the access journal, keeping uses that are still to be folded."""
    kept = "".join(
        dump_line({"at": at, "ids": [item_id] * count}) + "\n" for item_id, (count, at) in left.items()
    )
    with _locked(paths, timeout):
        data = read_bytes(paths.access_journal) or b""
        _rewrite(paths, paths.access_journal, data, kept.encode("utf-8") + data[size:])


def _rewrite(paths: AgentPaths, path: Path, old: bytes, rest: bytes) -> None:
    try:
        replace_file(path, _header() + rest, root=paths.workspace.root, expect=old)
    except Moved:
        raise InvalidFile(f"{path} was changed by something that does not lock", "run mabos doctor") from None
