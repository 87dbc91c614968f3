"""Judges what may be shown of an agent's memory, and its trust: of an agent of this workspace, or one elsewhere that shares."""

import json
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache

from mabos_cli.core.memory.item import TRUSTS, MemoryItem
from mabos_cli.core.memory.stores import EVERYTHING, REPLACED, reach_of
from mabos_cli.core.memory.trust import (
    OBSERVATION,
    PRIVATE,
    Ruling,
    Sharing,
    TrustJudge,
    effective_trust,
    find_rulings,
    lowered,
    retells,
)
from mabos_cli.core.search.recall import Candidate
from mabos_cli.formats.memory.items import item_from_dict
from mabos_cli.index.candidates import END, RemoteIndex
from mabos_cli.index.restriction import Restriction
from mabos_cli.index.search_index import SearchIndex
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.memory.trust_log import Observed, load_decisions


@lru_cache(maxsize=20_000)  # a full sync looks at each item several times
def decode_line(line: str) -> MemoryItem:
    """Returns the item on a line of the index, which came from a file that was checked."""
    return item_from_dict(json.loads(line), "the index")


class OwnMemory(TrustJudge):
    """The memory of an agent of this workspace, by its index, or by its files without one."""

    agent: Agent
    index: SearchIndex | None
    sharing: Sharing | None

    @abstractmethod
    def read_all(self, reach: int) -> Iterator[Candidate]:
        """Yields every candidate within reach, straight from the files."""

    @cached_property
    def _rulings(self) -> dict[str, Ruling]:
        return find_rulings(load_decisions(self.agent.paths)[0])

    @cached_property
    def _items(self) -> dict[str, Candidate]:
        return {c.item.id: c for c in self.read_all(EVERYTHING) if c.item}

    @cached_property
    def _observed(self) -> Observed:
        return Observed(self.agent.paths)

    @cached_property
    def _private(self) -> list[str]:
        if self.index:
            return [decode_line(line).content for line in self.index.lanes.list_private()]
        return [c.text for c in self._items.values() if c.item and PRIVATE in c.item.tags]

    def may_show(self, candidate: Candidate) -> bool:
        """Returns whether a candidate of this agent may be shown: everything to itself, to others what it shares."""
        if self.sharing is None or candidate.item:
            return self.sharing is None or self.sharing.admits(candidate.item.tags if candidate.item else ())
        return self.sharing.is_open and not retells(candidate.text, self._private)

    def __call__(self, item: MemoryItem) -> str:
        """Returns how far an item of this agent is trusted, all that it derives from considered."""
        return effective_trust(item, self.find, self._rulings)

    def texts_of(self, ids: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """Returns ids and texts of items, archived ones too; those that are not known, or forgotten, are left out."""
        return tuple((item_id, item.content) for item_id in ids if (item := self.find(item_id, REPLACED)))

    def find(self, item_id: str, reach: int = EVERYTHING) -> MemoryItem | None:
        if item_id.startswith(OBSERVATION):
            return self._observed.find(item_id)
        if self.index is None:
            found = self._items.get(item_id)
            return found.item if found and reach_of(found.archived) <= reach else None
        line = self.index.lanes.find_line(item_id, reach)
        return decode_line(line) if line else None


class SharedHome(TrustJudge):
    """The memory of an agent elsewhere, as far as it is shared: an opened index, like that of an agent of this workspace."""

    def __init__(self, agent: Agent, index: RemoteIndex) -> None:
        self.agent = agent  # who asks
        self.index = index
        self.label = index.label

    def may_show(self, candidate: Candidate) -> bool:
        """Returns whether a candidate may be shown: always, because the database holds only what is shared."""
        return True

    def __call__(self, item: MemoryItem) -> str:
        """Returns how far an item is trusted: as far as its own host trusts it, all that it derives from considered."""
        rank = next((row.trust for row in self.index.lanes.load_items([item.id], Restriction(), END)), 0)
        return effective_trust(lowered(item, TRUSTS[rank]), self.find)

    def find(self, item_id: str, reach: int = EVERYTHING) -> MemoryItem | None:
        line = self.index.lanes.find_line(item_id, reach)
        return self.index.decode(line) if line else None

    def texts_of(self, ids: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """Returns ids and texts of items, as far as they are shared."""
        return tuple((item_id, item.content) for item_id in ids if (item := self.find(item_id, REPLACED)))

    def troubles(self) -> list[str]:
        """Returns what the model had to say."""
        return [f"searched by words only: {self.index.trouble}"] if self.index.trouble else []
