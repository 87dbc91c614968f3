"""A change of memory as one transaction: from the plan of a command to the files that it writes.

Order: archive -> pages -> memory-store.json, which is the commit point -> journals -> daily log -> MEMORY.md -> derived Markdown.
The intent in the lock file says how the next writer finishes that, or rolls it back; it knows which from the store's version.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar
from zlib import crc32

from mabos_cli.core.context.memory_index import may_be_shown
from mabos_cli.core.language.clock import epoch_ms, format_time
from mabos_cli.core.language.ids import parse_id
from mabos_cli.core.memory.item import HAPPENED, MemoryItem, Prose
from mabos_cli.core.memory.stores import Changes, Memory, join, locate, new_texts
from mabos_cli.core.memory.storing import Draft, Pair, Stored, plan_store
from mabos_cli.core.memory.trust import Claim
from mabos_cli.formats.memory.items import (
    StoreFile,
    find_line,
    line_id,
    render_departure,
    render_item,
    render_page,
    render_store,
)
from mabos_cli.workspace.agent import Agent, Loaded, newest_id
from mabos_cli.workspace.files import FileWrite, read_bytes
from mabos_cli.workspace.memory.derived_pages import derived_pages, materialize_domains, materialize_items
from mabos_cli.workspace.memory.store import (
    LongTermStore,
    LongTermView,
    Touches,
    append_promoted,
    append_to_legacy,
    append_to_logs,
    cut_uses,
    page_of,
    pages_of_month,
    partition,
    read_deferred,
    remove_queued,
)
from mabos_cli.workspace.memory.trust_log import Judge
from mabos_cli.workspace.runtime import IdSource
from mabos_cli.workspace.transaction import Fresh, Write

Result = TypeVar("Result")
MemoryPlan = Callable[[Memory, Fresh], tuple[Changes, Result]]
Lines = Sequence[tuple[Path, bytes]]
_CLOCK_SLACK_MS = 60_000


def preview_change(agent: Agent, plan: MemoryPlan[Result]) -> Result:
    """What a plan would return, without writing anything."""
    return plan(agent.memory(), _equip(Fresh(agent), agent.load(), writes=False))[1]


def plan_drafts(
    agent: Agent,
    drafts: list[Draft],
    *,
    if_new: bool = False,
    agreed: Mapping[Pair, Prose | None] = MappingProxyType({}),
) -> MemoryPlan[list[Stored]]:
    """Returns a plan that stores drafts by the settings of the agent."""

    def plan(memory: Memory, fresh: Fresh) -> tuple[Changes, list[Stored]]:
        has_relatives = if_new or any(d.store == "long_term" or d.item.type not in HAPPENED for d in drafts)
        return plan_store(
            memory,
            agent.each("storing", drafts),
            now=agent.now(),
            mint=fresh.new_id,
            limits=agent.settings.limits(),
            relatives=fresh.relatives() if has_relatives else None,
            if_new=if_new,
            trust_of=Judge(agent.paths, memory),
            agreed=agreed,
        )

    return plan


def plan_change(
    fresh: Fresh, plan: MemoryPlan[Result], ledger: Callable[[Result], Lines] | None = None
) -> tuple[Write | None, Result]:
    """Returns what is to be written so that memory is as a plan has it, and the plan's result; deferred items are stored before.
    `ledger` gives the lines that the result adds to ledgers."""
    agent = fresh.agent
    loaded = agent.load()
    _equip(fresh, loaded)
    memory = loaded.memory()
    queue, queue_ids = _read_queue(agent, memory)
    base = Changes(memory.working, memory.short_term)
    if queue:
        base, _ = plan_drafts(agent, queue)(memory, fresh)
    changes, result = plan(_after(memory, base), fresh)
    total, lines = join(base, changes), ledger(result) if ledger else ()
    if total == Changes(memory.working, memory.short_term) and not queue:
        return (Write(lines=lines) if lines else None), result
    assert isinstance(fresh.new_id, IdSource)
    texts = list(new_texts(memory, changes, fresh.new_id.issued))
    return _Change(agent, loaded, total, queue_ids, fresh.new_id).write()._replace(lines=lines, texts=texts), result


def _equip(fresh: Fresh, loaded: Loaded, *, writes: bool = True) -> Fresh:
    """Gives a plan new ids behind the last one issued, and the index of similar items."""
    agent, long_term = fresh.agent, loaded.long_term
    fresh.new_id = IdSource(agent.moment, newest_id(agent.paths, loaded.head, long_term))
    if agent.open_relatives:
        fresh.relatives = cache(partial(agent.open_relatives, long_term, writes))
    return fresh


def _read_queue(agent: Agent, memory: Memory) -> tuple[list[Draft], list[str]]:
    """Returns the deferred drafts that are still to be stored, and the ids that they have in the queue; drafts that are live
    already, word for word, are taken out of it."""
    timeout = agent.settings["lock.timeout"]
    waiting, ids, stored = [], [], []
    for draft in read_deferred(agent.paths, timeout):
        live = locate(memory, draft.item.id)
        if live and live[1].content == draft.item.content:
            stored.append(draft.item.id)
        else:  # an id that is taken by something else is drawn anew
            ids.append(draft.item.id)
            waiting.append(draft._replace(item=draft.item._replace(id="")) if live else draft)
    if stored:
        remove_queued(agent.paths, stored, timeout)
    return waiting, ids


def _after(memory: Memory, changes: Changes) -> Memory:
    """Memory as it will be, for the next plan."""
    view = memory.long_term
    assert isinstance(view, LongTermView)
    put = {item.id: item for item in changes.put}
    after = LongTermView(view.store, view.touches, put, frozenset(changes.drop))
    return Memory(changes.working, changes.short_term, after)


class _Change:
    """A change on its way to the disk: what it is based on, what it writes, and what follows from that."""

    def __init__(self, agent: Agent, loaded: Loaded, changes: Changes, queue_ids: list[str], ids: IdSource) -> None:
        self._agent, self._loaded, self._ids = agent, loaded, ids
        self._queue_ids = queue_ids
        folded, self._left = self._fold_uses(changes)
        self._changes = changes._replace(put=(*folded, *changes.put))
        # Filled when the lines are put in place: the pages and the items that are as they were, and whether the index moves.
        self._dirty: set[str] = set()
        self._unchanged: set[str] = set()
        self._moves_index = False

    def _fold_uses(self, changes: Changes) -> tuple[list[MemoryItem], Touches]:
        """Long-term items with their journalled uses counted in, and the uses that stay in the journal.

        Lines of memory-store.json are rewritten anyway. Pages are not: their uses wait until the journal is long.
        """
        loaded = self._loaded
        recent = {item.id for item in (*changes.working, *changes.short_term, *changes.put)} | set(changes.drop)
        waiting = {i: use for i, use in loaded.uses.touches.items() if i not in recent}
        if loaded.head.pages and loaded.uses.lines <= self._agent.settings["memory.access_journal_lines"]:
            return [], waiting
        view = LongTermView(loaded.long_term, loaded.uses.touches)
        return [item for item_id in waiting if (item := view.find(item_id))], {}

    def write(self) -> Write:
        """What the transaction writes and notes."""
        loaded, changes, paths = self._loaded, self._changes, self._agent.paths
        pages, head, files = self._put_lines(), loaded.head, []
        undo = {name: _undo_page(loaded.long_term, name, lines) for name, lines in pages.items()}
        for name, lines in pages.items():
            path, new = paths.store_page(name), render_page(lines)
            known = loaded.long_term.loaded.get(name)
            files.append(FileWrite(path, new, known[0] if known else read_bytes(path)))
            loaded.long_term.loaded[name] = (new, lines)
        data = render_store(head)
        intent = {
            "version": head.version,
            "store": crc32(data),
            "log": [item.id for item in changes.log],
            "promoted": [item.id for item in changes.promoted],
            "queued": self._queue_ids,
            "uses": {"size": loaded.uses.size, "cut": loaded.uses.cut, "left": self._left},
            "pages": undo,
        }
        ids = [i.id for i in (*changes.log, *changes.put)] + [d.item.id for d in changes.archive]
        held = (*changes.working, *changes.short_term, *changes.put)
        return Write(
            (*files, FileWrite(paths.store, data, loaded.data)),
            archive=[(departure.at, render_departure(departure)) for departure in changes.archive],
            follow=self._follow,
            part="memory",
            ids=() if changes.tally else tuple(dict.fromkeys(ids)),
            counts=_count(changes),
            intent=intent,
            claims=[Claim(item.id, item.trust, item.source) for item in held if item.id in self._ids.issued],
        )

    def _put_lines(self) -> dict[str, list[bytes]]:
        """Puts the changes into the loaded store, notes what of it is as it was, and gives the pages that changed."""
        head, settings, changes = self._loaded.head, self._agent.settings, self._changes
        long_term, page_items = self._loaded.long_term, settings["memory.page_items"]
        old_lines, recent = list(head.long_term), _recent(head)
        head.working, head.short_term = changes.working, changes.short_term
        pages = put_lines(
            long_term,
            changes.put,
            changes.drop,
            fresh=recent.keys() | self._ids.issued | set(self._queue_ids),
            split_above=settings["memory.split_above"],
            page_items=page_items,
        )
        head.version += 1
        head.last_id = max((self._ids.last, *self._queue_ids), key=lambda i: parse_id(i) or (-1, 0))
        now = _recent(head)
        self._unchanged = {item_id for item_id, held in now.items() if recent.get(item_id) == held}
        moved = (item for held in (recent, now) for _, item in held.values() if item.id not in self._unchanged)
        self._moves_index = any(map(may_be_shown, moved))
        changed = pages if head.pages else _changed_pages(old_lines, head.long_term, page_items)
        self._dirty = set(changed)
        on_pages = (line for name in pages for line in long_term.page(name))
        before = set(on_pages if head.pages else old_lines)
        is_small = not head.pages and len(head.long_term) <= settings["memory.materialize_split_above"]
        lasting = (head.long_term,) if is_small else changed.values()
        self._unchanged.update(line_id(line) for lines in lasting for line in lines if line in before)
        return pages

    def _follow(self) -> list[str]:
        """Does everything behind the commit point: warnings. Derived files are left alone where nothing can have changed."""
        agent, changes, uses = self._agent, self._changes, self._loaded.uses
        timeout = agent.settings["lock.timeout"]
        if self._queue_ids:
            remove_queued(agent.paths, self._queue_ids, timeout)
        if uses.touches != self._left:
            cut_uses(agent.paths, uses.size, uses.cut, self._left, timeout)
        append_to_logs(agent.paths, changes.log)
        append_to_legacy(agent.paths, changes.log)
        append_to_legacy(agent.paths, changes.promoted, again=True)  # what moved unchanged may be there
        append_promoted(agent.paths, changes.promoted, format_time(agent.now())[:10])
        head, long_term = self._loaded.head, self._loaded.long_term
        after, pages = Memory(head.working, head.short_term, LongTermView(long_term)), derived_pages(agent, long_term)
        notes = materialize_items(agent, after, long_term, self._dirty, self._unchanged, pages).warnings
        if self._dirty or self._moves_index or (len(long_term) and not agent.paths.index_md.exists()):
            notes += materialize_domains(agent, after, long_term, pages, rebuild=False)[1].warnings
        if agent.paths.observations_md.exists():
            from mabos_cli.workspace.memory.observation_log import materialize_observations  # late: few have that page

            notes += materialize_observations(agent, after, changes).warnings
        return [*self._clock_warning(), *notes]

    def _clock_warning(self) -> list[str]:
        behind = (parse_id(self._ids.newest) or (0, 0))[0] - epoch_ms(self._agent.now())
        if behind <= _CLOCK_SLACK_MS:
            return []
        return [f"the clock is {behind / 3.6e6:.1f} h behind the newest memory; ids continue after {self._ids.newest}"]


def _recent(head: StoreFile) -> dict[str, tuple[str, MemoryItem]]:
    """The items of the recent stores by id."""
    return {item.id: (store, item) for store in ("working", "short_term") for item in getattr(head, store)}


def _count(changes: Changes) -> dict[str, int]:
    """How much of each kind a change wrote, and what the command itself counted."""
    return {
        "put": len(changes.put),
        "dropped": len(changes.drop),
        "archived": len(changes.archive),
        "logged": len(changes.log),
    } | dict(changes.tally)


def _undo_page(long_term: LongTermStore, name: str, lines: list[bytes]) -> dict[str, list[str]]:
    """What takes a page back to where it was: ids that are new on it, and the lines that it loses."""
    before, after = long_term.page(name), set(lines)
    known = {line_id(line) for line in before}
    lost = [line.decode("utf-8") for line in before if line not in after]
    return {"new": [i for i in map(line_id, lines) if i not in known], "lost": lost}


def _changed_pages(old: list[bytes], new: list[bytes], page_items: int) -> dict[str, list[bytes]]:
    """The pages that lines of memory-store.json would be cut into, as far as they changed."""
    if old == new:
        return {}
    before, after = partition(old, page_items), partition(new, page_items)
    return {n: after.get(n, []) for n in before.keys() | after.keys() if before.get(n) != after.get(n)}


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
