"""A change of memory as one transaction: from the plan of a command to the files that it writes.

Order: archive -> pages -> memory-store.json, which is the commit point -> journals -> daily log -> MEMORY.md -> derived Markdown.
The intent in the lock file says how the next writer finishes that, or rolls it back; it knows which from the store's version.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar
from zlib import crc32

from mabos_cli.core.context.memory_index import may_be_shown
from mabos_cli.core.language.clock import epoch_ms, format_time
from mabos_cli.core.language.ids import parse_id
from mabos_cli.core.memory.item import HAPPENED, MemoryItem, Prose, touch
from mabos_cli.core.memory.stores import Changes, Draft, Memory, join, locate, new_texts
from mabos_cli.core.memory.storing import Pair, Stored, plan_store
from mabos_cli.core.memory.trust import Claim
from mabos_cli.formats.memory.items import (
    StoreFile,
    line_id,
    parse_item,
    render_departure,
    render_item,
    render_page,
    render_store,
)
from mabos_cli.workspace.agent import Agent, Loaded, newest_id
from mabos_cli.workspace.files import FileWrite
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
_HEAD_BYTES, _PAGE_BYTES = 1 << 19, 1 << 19  # of lines in memory-store.json and on a page, where items are long
_FOLDED = 2  # pages that a write counts uses into though it changes nothing else of them


def preview_change(agent: Agent, plan: MemoryPlan[Result]) -> Result:
    """Returns what a plan would return, without writing anything."""
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
        else:  # for an id that something else has, another one is chosen
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
        self._queue_ids, self._changes = queue_ids, changes
        self._before = _recent(loaded.head)
        now, put = _recent(changes), {item.id for item in changes.put}
        # The items that are not as they were, but for uses; the parts of long-term memory that hold other lines than before.
        both = now.keys() | self._before.keys()
        self._moved = {
            *put,
            *changes.drop,
            *(i for i in both if _but_for_uses(now.get(i)) != _but_for_uses(self._before.get(i))),
        }
        self._filing = _Filing(loaded.long_term, agent.settings["memory.page_items"])
        # Uses of these are counted in their items, as the plan had them.
        self._folded = {*loaded.uses.touches} & {*both, *put, *changes.drop}

    def write(self) -> Write:
        """Returns what the transaction writes and notes."""
        loaded, changes, paths = self._loaded, self._changes, self._agent.paths
        self._file_lines()
        head, files, pages = loaded.head, [], self._filing.pages
        undo = {name: _undo_page(loaded.long_term, name, lines) for name, lines in pages.items()}
        for name, lines in pages.items():
            new = render_page(lines)
            files.append(FileWrite(paths.store_page(name), new, loaded.long_term.loaded[name][0]))
            loaded.long_term.put_page(name, new, lines)
        data = render_store(head)
        intent = {
            "version": head.version,
            "store": crc32(data),
            "log": [item.id for item in changes.log],
            "promoted": [item.id for item in changes.promoted],
            "queued": self._queue_ids,
            "uses": {"size": loaded.uses.size, "cut": loaded.uses.cut, "folded": sorted(self._folded)},
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

    def _file_lines(self) -> None:
        """Puts the changes, and the uses that can be counted in, into the loaded store."""
        head, settings, changes, filing = self._loaded.head, self._agent.settings, self._changes, self._filing
        head.working, head.short_term = changes.working, changes.short_term
        fresh = self._before.keys() | self._ids.issued | set(self._queue_ids)
        filing.drop({*changes.drop})
        for item in changes.put:
            filing.put(render_item(item), item.id, is_new=item.id in fresh)
        limits = ("memory.split_above", "memory.materialize_split_above")
        filing.spill(min(settings[name] for name in limits), len(changes.put))
        waiting = {i: use for i, use in self._loaded.uses.touches.items() if i not in self._folded}
        self._folded |= filing.fold(waiting, settings["memory.access_journal_lines"])
        head.pages |= {name: len(lines) for name, lines in filing.pages.items()}
        if changes.batches is not None:
            head.extra.pop("batches", None)
            head.extra |= {"batches": dict(changes.batches)} if changes.batches else {}
        head.version += 1
        head.last_id = max((self._ids.last, *self._queue_ids), key=lambda i: parse_id(i) or (-1, 0))

    def _follow(self) -> list[str]:
        """Does everything behind the commit point: warnings. Derived files are left alone where nothing can have changed."""
        agent, changes, uses = self._agent, self._changes, self._loaded.uses
        timeout = agent.settings["lock.timeout"]
        if self._queue_ids:
            remove_queued(agent.paths, self._queue_ids, timeout)
        if self._folded:
            cut_uses(agent.paths, uses.size, uses.cut, self._folded, timeout)
        append_to_logs(agent.paths, changes.log)
        append_to_legacy(agent.paths, changes.log)
        append_to_legacy(agent.paths, changes.promoted, again=True)  # what moved unchanged may be there
        append_promoted(agent.paths, changes.promoted, format_time(agent.now())[:10])
        head, long_term = self._loaded.head, self._loaded.long_term
        after, pages = Memory(head.working, head.short_term, LongTermView(long_term)), derived_pages(agent, long_term)
        notes = materialize_items(agent, after, long_term, self._filing.dirty, self._moved, pages).warnings
        if self._filing.dirty or self._moves_index() or (len(long_term) and not agent.paths.index_md.exists()):
            notes += materialize_domains(agent, after, long_term, pages, sound=None)[1].warnings
        if agent.paths.observations_md.exists():
            from mabos_cli.workspace.memory.observation_log import materialize_observations  # late: few have that page

            notes += materialize_observations(agent, after, changes).warnings
        return [*self._clock_warning(), *notes]

    def _moves_index(self) -> bool:
        """Returns whether the memory index may have to say something else of the recent stores."""
        held = (store.get(item_id) for store in (self._before, _recent(self._loaded.head)) for item_id in self._moved)
        return any(may_be_shown(place[1]) for place in held if place)

    def _clock_warning(self) -> list[str]:
        behind = (parse_id(self._ids.newest) or (0, 0))[0] - epoch_ms(self._agent.now())
        if behind <= _CLOCK_SLACK_MS:
            return []
        return [f"the clock is {behind / 3.6e6:.1f} h behind the newest memory; ids continue after {self._ids.newest}"]


def _recent(held: StoreFile | Changes) -> dict[str, tuple[str, MemoryItem]]:
    """Returns the items of the recent stores by id."""
    return {item.id: (store, item) for store in ("working", "short_term") for item in getattr(held, store)}


def _but_for_uses(place: tuple[str, MemoryItem] | None) -> tuple[str, MemoryItem] | None:
    """Returns an item in its store, as if nobody had used it."""
    return (place[0], place[1]._replace(access_count=0, accessed_at="")) if place else None


def _count(changes: Changes) -> dict[str, int]:
    """Returns how much of each kind a change wrote, and what the command itself counted."""
    return {
        "put": len(changes.put),
        "dropped": len(changes.drop),
        "archived": len(changes.archive),
        "logged": len(changes.log),
    } | dict(changes.tally)


def _undo_page(long_term: LongTermStore, name: str, lines: list[bytes]) -> dict[str, list[str]]:
    """Returns what takes a page back to where it was: ids that are new on it, and the lines that it loses."""
    before, after = long_term.page(name), set(lines)
    known = {line_id(line) for line in before}
    lost = [line.decode("utf-8") for line in before if line not in after]
    return {"new": [i for i in map(line_id, lines) if i not in known], "lost": lost}


class _Filing:
    """Lines as they are put in their places: new ones into memory-store.json, and when it holds too many the oldest into pages."""

    def __init__(self, store: LongTermStore, page_items: int) -> None:
        self._store, self._page_items = store, page_items
        self.pages: dict[str, list[bytes]] = {}  # those that changed, with their new lines
        self.dirty: set[str] = (
            set()
        )  # those of which more changed than how often something was used; "" is memory-store.json
        self._places: dict[str, dict[str, int]] = {}
        self._sizes: dict[str, int] = {}

    def _lines(self, name: str) -> list[bytes]:
        """Returns the lines of a part as they are now, to be changed."""
        if not name:
            return self._store.head.long_term
        return self.pages.setdefault(name, list(self._store.page(name)))

    def _place_on(self, name: str, item_id: str) -> int | None:
        """Returns the position of an item on a part that was read."""
        if name not in self._places:
            self._places[name] = {line_id(line): n for n, line in enumerate(self._lines(name))}
        return self._places[name].get(item_id)

    def _append(self, name: str, line: bytes) -> None:
        item_id = line_id(line)
        position = self._place_on(name, item_id)
        if position is None:
            self._places[name][item_id] = len(self._lines(name))
            self._lines(name).append(line)
            self._sizes[name] = self._sizes.get(name, 0) + len(line)
        else:
            self._lines(name)[position] = line
        self.dirty.add(name)

    def drop(self, ids: set[str]) -> None:
        """Takes the lines of items out, in one pass: a lifecycle run drops thousands at once."""
        for item_id in ids:
            self._store.find_place(item_id)  # loads its page: a plan only cut its line out of it
        for name in ("", *self._store.loaded) if ids else ():
            lines = self._store.page(name) if name else self._store.head.long_term
            kept = [line for line in lines if line_id(line) not in ids]
            if len(kept) < len(lines):
                self._lines(name)[:] = kept
                self.dirty.add(name)

    def put(self, line: bytes, item_id: str, *, is_new: bool) -> None:
        """Replaces the line of an item where it is; a new one goes into memory-store.json."""
        name = ""
        if not is_new and self._place_on("", item_id) is None:
            place = self._store.find_place(item_id)
            name = place[0] if place else ""
        self._append(name, line)

    def spill(self, split_above: int, added: int) -> None:
        """Moves the oldest lines of memory-store.json to the last pages of their months, until half of what it may hold is left.
        What a large file of an earlier version holds moves in several writes."""
        lines = self._store.head.long_term
        if len(lines) <= split_above and sum(map(len, lines)) <= _HEAD_BYTES:
            return
        count = (
            min(len(lines) - split_above // 2, added + 2 * self._page_items)
            if len(lines) > split_above
            else len(lines) // 2
        )
        gone, self._store.head.long_term = lines[:count], lines[count:]
        self._places.pop("", None)
        tails: dict[str, str] = {}
        for line in gone:
            self._append(self._last_page(page_of(line), tails), line)
        self.dirty.add("")

    def _last_page(self, month: str, tails: dict[str, str]) -> str:
        """Returns the page that takes a line: the last of its month while there is room. tails remembers them between lines."""
        if month not in tails:
            tails[month] = next(iter(pages_of_month({*self._store.head.pages, *self.pages}, month)), month)
        name = tails[month]
        count = len(self.pages[name]) if name in self.pages else self._store.head.pages.get(name, 0)
        if count and name not in self._sizes:
            self._sizes[name] = sum(map(len, self._lines(name)))
        if count >= self._page_items or self._sizes.get(name, 0) >= _PAGE_BYTES:
            name = tails[month] = f"{month}-{int(name[8:] or 1) + 1}"
        return name

    def fold(self, waiting: Touches, most: int) -> set[str]:
        """Counts uses in, where lines are rewritten anyway; when more than `most` are left, also on the two pages that hold most of
        those items. Returns the items of which no use waits any more."""
        done: set[str] = set()
        for name in ("", *self.pages):
            done |= self._fold_into(name, waiting)
        left = [item_id for item_id in waiting if item_id not in done]
        if sum(waiting[item_id][0] for item_id in left) > most:
            likely = {item_id: self._store.likely_page(item_id) for item_id in left}
            chosen = {name for name, _ in Counter(likely.values()).most_common(_FOLDED)}
            due = [item_id for item_id, name in likely.items() if name in chosen]
            places = {item_id: self._store.find_place(item_id) for item_id in due}
            for name in {place[0] for place in places.values() if place}:
                done |= self._fold_into(name, waiting)
            done |= {item_id for item_id, place in places.items() if place is None}
        return done

    def _fold_into(self, name: str, waiting: Touches) -> set[str]:
        lines, done = self._lines(name), set()
        for position, line in enumerate(lines):
            item_id = line_id(line)
            if item_id in waiting:
                count, at = waiting[item_id]
                lines[position] = render_item(touch(parse_item(line, "memory-store.json"), at, count))
                done.add(item_id)
        return done
