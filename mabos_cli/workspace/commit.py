"""How a change reaches the disk: one lock, one commit point, and everything else can be finished after a crash.

Order: intent (in the lock file) -> archive -> pages -> memory-store.json, which is the commit point -> journals -> daily log
-> MEMORY.md -> derived Markdown -> receipt. A crash before the commit point is rolled back by the next writer, a crash
behind it is finished by the next writer; both know from the intent and the store's version which it was.
"""

import time
from typing import Any
from zlib import crc32

from mabos_cli.core.context.memory_index import may_be_shown
from mabos_cli.core.language.clock import epoch_ms, format_time
from mabos_cli.core.language.ids import parse_id
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.memory.stores import Changes, Memory, join, locate
from mabos_cli.core.memory.storing import Draft, plan_store
from mabos_cli.errors import Conflict, MabosError
from mabos_cli.formats.json.text import dump_line
from mabos_cli.formats.memory.items import line_id, render_page, render_store
from mabos_cli.workspace import archive
from mabos_cli.workspace.agent import Agent, Fresh, Loaded, Plan, newest_id
from mabos_cli.workspace.files import Moved, read_bytes, replace_file
from mabos_cli.workspace.memory import journal as spool
from mabos_cli.workspace.memory.domains import materialize_domains
from mabos_cli.workspace.memory.items_md import derived_pages, materialize_items
from mabos_cli.workspace.memory.logs import append_promoted, append_to_logs
from mabos_cli.workspace.memory.long_term import LongTermStore, LongTermView, Touches, partition, put_lines
from mabos_cli.workspace.memory.trust_log import Judge
from mabos_cli.workspace.receipts import count_changes, note_touched, write_receipt
from mabos_cli.workspace.recovery import Holding, holding_lock
from mabos_cli.workspace.runtime import IdSource

_ATTEMPTS = 20
_CLOCK_SLACK_MS = 60_000


class _Write:
    """A change on its way to the disk: what it is based on, and what it is to write."""

    def __init__(self, agent: Agent, command: str, holding: Holding, loaded: Loaded, newest: str) -> None:
        self.agent = agent
        self.command = command
        self.holding = holding
        self.loaded = loaded
        self.newest = newest
        self.fresh = Fresh(IdSource(agent.moment, newest), loaded.long_term, agent.open_relatives)
        self.queued: list[Draft] = []
        self.queue_ids: list[str] = []
        self.changes: Changes | None = None
        self.left: Touches | None = None
        self.dirty: set[str] | None = None
        self.unchanged: set[str] = set()
        self.moves_index = False


def commit_change(agent: Agent, command: str, plan: Plan[Any]) -> tuple[Any, list[str]]:
    """Locks, plans on fresh values, writes; again when somebody else changed the store meanwhile."""
    started = time.monotonic()
    with holding_lock(agent, command) as holding:
        for _ in range(_ATTEMPTS):
            write = _prepare(agent, command, holding)
            outcome = _plan(write, plan)
            if write.changes is None:
                return outcome, holding.warnings
            try:
                _store(write)
            except Moved:
                continue
            return outcome, _finish(write, started)
    raise Conflict(
        f"{agent.paths.relative(agent.paths.store)} keeps changing", "something writes it without locking; try again"
    )


def _prepare(agent: Agent, command: str, holding: Holding) -> _Write:
    loaded = agent.load()
    write = _Write(agent, command, holding, loaded, newest_id(agent.paths, loaded.head, loaded.long_term))
    queued = spool.read_deferred(agent.paths, agent.settings["lock.timeout"])
    write.queued, stored = _sort_queue(loaded.memory(), queued)
    write.queue_ids = [draft.item.id for draft in queued if draft.item.id not in stored]
    if stored:
        spool.remove_queued(agent.paths, stored, agent.settings["lock.timeout"])
    return write


def _sort_queue(memory: Memory, queued: list[Draft]) -> tuple[list[Draft], list[str]]:
    """The drafts that are still to be stored, and the ids of those that are live already, word for word."""
    waiting, stored = [], []
    for draft in queued:
        live = locate(memory, draft.item.id)
        if live and live[1].content == draft.item.content:
            stored.append(draft.item.id)
        else:  # an id that is taken by something else is drawn anew
            waiting.append(draft._replace(item=draft.item._replace(id="")) if live else draft)
    return waiting, stored


def _plan(write: _Write, plan: Plan[Any]) -> Any:
    """Runs the plan on memory with the queue drained, and works out everything that is to be written."""
    agent, memory = write.agent, write.loaded.memory()
    base = Changes(memory.working, memory.short_term)
    if write.queued:
        base, _ = plan_store(
            memory,
            write.queued,
            now=agent.now(),
            mint=write.fresh.new_id,
            limits=agent.settings.limits(),
            relatives=write.fresh,
            trust_of=Judge(agent.paths, memory),
        )
    changes, outcome = plan(_after(memory, base), write.fresh)
    total = join(base, changes)
    if total == Changes(memory.working, memory.short_term) and not write.queued:
        return outcome
    folded, write.left = _fold_uses(write, total)
    write.changes = total._replace(put=(*folded, *total.put))
    return outcome


def _after(memory: Memory, changes: Changes) -> Memory:
    """Memory as it will be, for the next plan."""
    view = memory.long_term
    assert isinstance(view, LongTermView)
    put = {item.id: item for item in changes.put}
    return Memory(
        changes.working, changes.short_term, LongTermView(view.store, view.touches, put, frozenset(changes.drop))
    )


def _fold_uses(write: _Write, total: Changes) -> tuple[list[MemoryItem], Touches]:
    """Long-term items with their journalled uses counted in, and the uses that stay in the journal.

    Lines of memory-store.json are rewritten anyway. Pages are not: their uses wait until the journal is long.
    """
    loaded = write.loaded
    recent = {item.id for item in (*total.working, *total.short_term, *total.put)} | set(total.drop)
    waiting = {i: use for i, use in loaded.uses.touches.items() if i not in recent}
    if loaded.head.pages and loaded.uses.lines <= write.agent.settings["memory.access_journal_lines"]:
        return [], waiting
    view = LongTermView(loaded.long_term, loaded.uses.touches)
    return [item for item_id in waiting if (item := view.find(item_id))], {}


def _put_lines(write: _Write, changes: Changes) -> dict[str, list[bytes]]:
    """Puts the changes into the loaded store, notes what of it is as it was, and gives the pages that changed."""
    head, settings = write.loaded.head, write.agent.settings
    old_lines = list(head.long_term)
    recent = {item.id: (store, item) for store in ("working", "short_term") for item in getattr(head, store)}
    head.working, head.short_term = changes.working, changes.short_term
    pages = put_lines(
        write.loaded.long_term,
        changes.put,
        changes.drop,
        fresh=recent.keys() | write.fresh.new_id.issued | set(write.queue_ids),
        split_above=settings["memory.split_above"],
        page_items=settings["memory.page_items"],
    )
    head.version += 1
    head.last_id = max((write.fresh.new_id.last, *write.queue_ids), key=lambda i: parse_id(i) or (-1, 0))
    now = {item.id: (store, item) for store in ("working", "short_term") for item in getattr(head, store)}
    write.unchanged = {item_id for item_id, held in now.items() if recent.get(item_id) == held}
    write.moves_index = any(
        may_be_shown(item) for held in (recent, now) for _, item in held.values() if item.id not in write.unchanged
    )
    changed = pages if head.pages else _changed_pages(old_lines, head.long_term, settings["memory.page_items"])
    write.dirty = set(changed)
    on_pages = (line for name in pages for line in write.loaded.long_term.page(name))
    before = set(on_pages if head.pages else old_lines)
    is_small = not head.pages and len(head.long_term) <= settings["memory.materialize_split_above"]
    lasting = (head.long_term,) if is_small else changed.values()
    write.unchanged.update(line_id(line) for lines in lasting for line in lines if line in before)
    return pages


def _store(write: _Write) -> None:
    """Writes archive, pages and memory-store.json; all or nothing as long as this process lives."""
    agent, loaded, changes, paths = write.agent, write.loaded, write.changes, write.agent.paths
    assert changes is not None
    pages, head = _put_lines(write, changes), loaded.head
    data = render_store(head)
    if read_bytes(paths.store) != loaded.data:
        raise Moved(paths.store)
    intent = {
        "version": head.version,
        "store": crc32(data),
        "log": [item.id for item in changes.log],
        "promoted": [item.id for item in changes.promoted],
        "queued": write.queue_ids,
        "uses": {"size": loaded.uses.size, "cut": loaded.uses.cut, "left": write.left or {}},
        "carried": write.holding.unfinished,
        "pages": {name: _undo_page(loaded.long_term, name, lines) for name, lines in pages.items()},
    }
    write.holding.lock.declare(dump_line(intent).encode())
    begun: dict[str, tuple[bytes | None, bytes]] = {}
    try:
        archive.append_departures(paths, changes.archive)
        for name, lines in pages.items():
            path, new = paths.store_page(name), render_page(lines)
            old = loaded.long_term.loaded[name][0] if name in loaded.long_term.loaded else read_bytes(path)
            begun[name] = (old, new)
            replace_file(path, new, root=paths.workspace.root, expect=old)
            loaded.long_term.loaded[name] = (new, lines)
        replace_file(paths.store, data, root=paths.workspace.root, expect=loaded.data)
    except BaseException:
        if read_bytes(paths.store) != data:
            _undo(agent, begun)
            write.holding.lock.settled = not write.holding.is_unfinished
        raise


def _undo_page(long_term: LongTermStore, name: str, lines: list[bytes]) -> dict[str, list[str]]:
    """What takes a page back to where it was: ids that are new on it, and the lines that it loses."""
    before, after = long_term.page(name), set(lines)
    known = {line_id(line) for line in before}
    lost = [line.decode("utf-8") for line in before if line not in after]
    return {"new": [i for i in map(line_id, lines) if i not in known], "lost": lost}


def _undo(agent: Agent, begun: dict[str, tuple[bytes | None, bytes]]) -> None:
    """Puts pages back as they were. If even that fails, the intent is still there for the next writer."""
    for name, (old, new) in begun.items():
        path = agent.paths.store_page(name)
        if old != new and read_bytes(path) == new:
            replace_file(path, old or render_page([]), root=agent.paths.workspace.root, expect=new)


def _changed_pages(old: list[bytes], new: list[bytes], page_items: int) -> dict[str, list[bytes]]:
    """The pages that lines of memory-store.json would be cut into, as far as they changed."""
    if old == new:
        return {}
    before, after = partition(old, page_items), partition(new, page_items)
    return {n: after.get(n, []) for n in before.keys() | after.keys() if before.get(n) != after.get(n)}


def _finish(write: _Write, started: float) -> list[str]:
    """Everything behind the commit point. A failure here is a warning: the memory is durable, the next writer finishes."""
    agent, changes, timeout = write.agent, write.changes, write.agent.settings["lock.timeout"]
    assert changes is not None
    warnings = [*write.holding.warnings, *_clock_warning(write)]
    ids = [i.id for i in (*changes.log, *changes.put)] + [d.item.id for d in changes.archive]
    named = [] if changes.tally else list(dict.fromkeys(ids))
    try:
        if write.queued:
            spool.remove_queued(agent.paths, write.queue_ids, timeout)
        if write.loaded.uses.touches != write.left:
            spool.cut_uses(agent.paths, write.loaded.uses.size, write.loaded.uses.cut, write.left or {}, timeout)
        append_to_logs(agent.paths, changes.log)
        append_promoted(agent.paths, changes.promoted, format_time(agent.now())[:10])
        warnings += _derive(write)
    except MabosError as error:
        note_touched(agent, write.command, named)
        return [*warnings, f"the memory is stored, but {error.message}; the next write finishes the rest"]
    write.holding.settle(write.loaded.head.version)
    write_receipt(agent, write.command, count_changes(changes), named, started)
    return warnings


def _derive(write: _Write) -> list[str]:
    """Brings derived files up to date: warnings. The index and the domains are left alone when nothing in them can have changed."""
    agent, head, long_term = write.agent, write.loaded.head, write.loaded.long_term
    after, pages = Memory(head.working, head.short_term, LongTermView(long_term)), derived_pages(agent, long_term)
    warnings = materialize_items(agent, after, long_term, write.dirty, write.unchanged, pages)[1]
    if write.dirty or write.moves_index or (len(long_term) and not agent.paths.index_md.exists()):
        warnings += materialize_domains(agent, after, long_term, pages, write.unchanged)[1].warnings
    return warnings


def _clock_warning(write: _Write) -> list[str]:
    newest = (parse_id(write.newest) or (0, 0))[0]
    behind = newest - epoch_ms(write.agent.now())
    if behind <= _CLOCK_SLACK_MS:
        return []
    return [f"the clock is {behind / 3.6e6:.1f} h behind the newest memory; ids continue after {write.newest}"]
