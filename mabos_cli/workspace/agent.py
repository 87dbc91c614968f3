"""One agent's files as values: what the commands read, and the door through which they write."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from mabos_cli.config import Settings
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.ids import DEFERRED, parse_id
from mabos_cli.core.memory.item import MemoryItem, touch
from mabos_cli.core.memory.stores import Departure, Draft, Memory, Relatives, locate
from mabos_cli.core.records import NamedTuple
from mabos_cli.formats.json.text import parse_json
from mabos_cli.formats.memory.items import StoreFile, line_id, parse_store
from mabos_cli.workspace.files import read_bytes
from mabos_cli.workspace.layout import AgentPaths
from mabos_cli.workspace.memory.store import (
    LongTermStore,
    LongTermView,
    Uses,
    defer_drafts,
    note_uses,
    read_deferred,
    read_uses,
)
from mabos_cli.workspace.runtime import IdSource

if TYPE_CHECKING:
    from mabos_cli.workspace.memory.changing import Lines, MemoryPlan

Result = TypeVar("Result")
Item = TypeVar("Item")
Show = Callable[[int, int], None]


class Change(NamedTuple):
    """Something that a command changed: the part of the mirror, if it is in one, and the ids that it named."""

    command: str
    part: str = ""
    ids: tuple[str, ...] = ()


class Loaded(NamedTuple):
    """Everything a write is based on: the bytes that were read, and the values in them."""

    data: bytes | None
    head: StoreFile
    long_term: LongTermStore
    uses: Uses

    def memory(self) -> Memory:
        """Returns the values, with journalled uses counted in."""
        used = [tuple(self._touched(item) for item in items) for items in (self.head.working, self.head.short_term)]
        return Memory(used[0], used[1], LongTermView(self.long_term, self.uses.touches))

    def _touched(self, item: MemoryItem) -> MemoryItem:
        count, at = self.uses.touches.get(item.id, (0, ""))
        return touch(item, at, count) if count else item


class Watched(Sequence[Item]):
    """Values of which it is shown how many were taken, whenever somebody goes through them."""

    def __init__(self, values: Sequence[Item], show: Show) -> None:
        self._values, self._show = values, show

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, at: Any) -> Any:
        return self._values[at]

    def __iter__(self) -> Iterator[Item]:
        try:
            for done, value in enumerate(self._values):
                self._show(done, len(self._values))
                yield value
        finally:  # also where somebody takes only the first ones
            self._show(len(self._values), len(self._values))


class Agent(NamedTuple):
    """An opened agent: its paths, its settings, and this call's moment in time."""

    paths: AgentPaths
    settings: Settings
    moment: datetime
    open_relatives: Callable[[LongTermStore, bool], Relatives] | None = None  # bool: whether the index may be written
    # What was changed in this call, for who mirrors or commits it.
    changes: list[Change] | None = None
    # Whether this call may store secrets: somebody said --allow-secret.
    admits_secrets: bool = False
    # How the door shows that something takes long: by what it is about, a function of done and total, or nothing.
    progress: Callable[[str], Show | None] | None = None
    # Raises Conflict where what the caller decided on is no longer so: asked under the lock, on the first write of the call.
    confirm: Callable[[], None] | None = None

    @property
    def id(self) -> str:
        return self.paths.id

    def now(self) -> datetime:
        return self.moment

    def each(self, doing: str, values: Sequence[Item]) -> Sequence[Item]:
        """Returns the same values, with what is done with them and how far that is, where somebody watches."""
        show = self.progress(doing) if self.progress and len(values) > 1 else None
        return Watched(values, show) if show else values

    def manifest(self) -> dict[str, Any]:
        """agent.json, empty when there is none."""
        data = read_bytes(self.paths.manifest)
        found = parse_json(data, self.paths.cited(self.paths.manifest)) if data else {}
        return found if isinstance(found, dict) else {}

    def load(self) -> Loaded:
        """Returns the store as it is on disk, with journalled uses."""
        data = read_bytes(self.paths.store)
        head = parse_store(data, self.paths.cited(self.paths.store)) if data is not None else StoreFile()
        return Loaded(data, head, LongTermStore(self.paths, head), read_uses(self.paths))

    def memory(self) -> Memory:
        """Returns what the agent remembers now, deferred items included.

        Reads without locking: every file is whole at any time, and they are read in the order in which a writer moves
        things on, so that an item may be seen twice on its way, never not at all.
        """
        queued = read_deferred(self.paths)
        memory = self.load().memory()
        waiting = [draft for draft in queued if not locate(memory, draft.item.id)]
        if not waiting:
            return memory
        view = memory.long_term
        assert isinstance(view, LongTermView)
        view.put |= {d.item.id: d.item for d in waiting if d.store == "long_term"}
        extra = {name: tuple(d.item for d in waiting if d.store == name) for name in ("working", "short_term")}
        return Memory(memory.working + extra["working"], memory.short_term + extra["short_term"], view)

    def departures(self, item_id: str, *, is_live: bool = False) -> list[Departure]:
        """Returns the archive's records about an id, oldest first."""
        from mabos_cli.workspace.archive import find_departures

        return find_departures(self.paths, item_id, is_live=is_live)

    def all_departures(self) -> Iterator[Departure]:
        from mabos_cli.workspace.archive import all_departures

        return all_departures(self.paths)

    def note_uses(self, ids: list[str]) -> None:
        """Journals a recall, without rewriting memory."""
        note_uses(self.paths, ids, format_time(self.moment))

    def defer(self, drafts: list[Draft]) -> list[Draft]:
        """Queues drafts; the next writing command stores them."""
        at = format_time(self.moment)
        dated = [d._replace(item=d.item._replace(created_at=d.item.created_at or at, accessed_at=at)) for d in drafts]
        mint = lambda last: IdSource(self.moment, last, DEFERRED)()  # noqa: E731
        return defer_drafts(self.paths, dated, mint, self.settings["lock.timeout"])

    def preview(self, plan: "MemoryPlan[Result]") -> Result:
        """Returns what a plan would return, without writing anything."""
        from mabos_cli.workspace.memory.changing import preview_change

        return preview_change(self, plan)

    def change(
        self,
        command: str,
        plan: "MemoryPlan[Result]",
        *,
        ledger: "Callable[[Result], Lines] | None" = None,
        dry_run: bool = False,
    ) -> tuple[Result, list[str]]:
        """Runs a plan on memory and writes its changes in one transaction, with the lines that its result adds to ledgers: the
        result, and warnings. A dry run writes nothing."""
        from mabos_cli.workspace.memory.changing import plan_change
        from mabos_cli.workspace.transaction import transact

        if dry_run:
            return self.preview(plan), []
        return transact(self, command, partial(plan_change, plan=plan, ledger=ledger))


def newest_id(paths: AgentPaths, head: StoreFile, long_term: LongTermStore) -> str:
    """Returns the last id issued. A store that does not say, as other tools write it, is searched once, archive included."""
    if head.last_id:
        return head.last_id
    from mabos_cli.workspace.archive import archived_ids

    ids = [item.id for item in (*head.working, *head.short_term)]
    ids += [line_id(line) for line in long_term.lines()]
    ids += archived_ids(paths)
    return max((i for i in ids if parse_id(i)), key=lambda i: parse_id(i) or (0, 0), default="")
