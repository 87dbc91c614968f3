"""Introduces the index to the agent's files, to the item codec and to the embedding model that the settings name."""

import json
import os
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.memory.trust import OBSERVATION, Ruling, effective_trust, find_rulings
from mabos_cli.core.search.documents import Source
from mabos_cli.core.search.recall import Candidate
from mabos_cli.errors import Conflict, InvalidFile, MabosError
from mabos_cli.formats.memory.items import item_from_dict
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.index_place import index_places
from mabos_cli.workspace.memory.trust_log import Observed, load_decisions
from mabos_cli.workspace.sources import find_sources, holds_items, is_store, item_state, template_marks

if TYPE_CHECKING:
    from mabos_cli.core.search.documents import Embedder
    from mabos_cli.index.search_index import Plan, SearchIndex

OpenProgress = Callable[[str], Callable[[int, int], None] | None]  # by what it is about
_SHAPE = ("index.passage_tokens", "index.overlap_tokens", "index.item_tokens", "index.max_file_bytes")
_ROUNDS = 5  # of reading while others write; each takes a fraction of the time that a write does


def _items(sources: list[Source]) -> set[tuple[str, str]]:
    """The state of the files that hold items, as it was found."""
    return {(source.path, source.stamp) for source in sources if holds_items(source.path)}


class AgentIndex:
    """An agent's index and the warnings that came up on the way to it. Without SQLite there is none."""

    def __init__(self, agent: Agent, label: str = "", progress: OpenProgress | None = None) -> None:
        self.agent = agent
        self._progress = progress
        self.label = label  # tells the results of another agent apart
        self.warnings: list[str] = []
        self.sources: list[Source] = find_sources(agent)
        self.index: SearchIndex | None = None
        self.stats: Any = None

    def refresh(self, *, rebuild: bool = False, wait: float | None = None) -> "SearchIndex | None":
        """The index, followed or made anew, in the first place where that works: workspace, cache folder, memory.

        With `wait` given, a busy index is a Conflict; a recall rather answers from memory.
        """
        try:
            plan = self.plan()
        except ImportError:
            self.warnings.append("this Python has no SQLite: searched by words in the files themselves")
            return None
        patience = self.agent.settings["index.wait"] if wait is None else wait
        faults: tuple[type[Exception], ...] = (MabosError, OSError, *plan.engine.errors)
        for path, guard in (*index_places(self.agent.paths), (None, None)):
            try:
                self._refresh(path, guard, plan, rebuild, patience)
                break
            except Conflict:
                if wait is not None:
                    raise
                self.warnings.append("another process is building the index: searched by words only")
                self._refresh(None, None, plan._replace(embedder=None), False, 0)
                break
            except faults:
                if path is None:
                    raise
        self._report()
        return self.index

    def _refresh(self, path: Any, guard: Any, plan: "Plan", rebuild: bool, wait: float) -> None:
        from mabos_cli.index.search_index import SearchIndex

        if self.index:
            self.index.close()
        self.index = index = SearchIndex(path, guard, plan)
        index.label = self.label
        self.stats = (index.rebuild if rebuild else index.refresh)(self.sources, wait)
        for _ in range(_ROUNDS):
            # Whatever moved between files while they were read may have been seen at neither place.
            if index.stale or self.stats.unchanged == len(self.sources):
                return
            if _items(self.sources) == item_state(self.agent):
                return
            self.sources = find_sources(self.agent)
            self.stats = index.refresh(self.sources, wait)
        index.stale = index.stale or "memory keeps changing while it is read"

    def _report(self) -> None:
        """A store that cannot be read is an error; what else went wrong is a warning."""
        assert self.index is not None
        if self.index.stale:
            self.warnings.append(f"stale: {self.index.stale}")
        if self.index.news:
            self.warnings.append(self.index.news)
        for path, error in self.index.errors():
            if is_store(path):
                raise InvalidFile(
                    error, "nothing was changed; repair the file or restore it from git, then run mabos doctor"
                )
            self.warnings.append(error if path in error else f"{path}: {error}")

    def troubles(self) -> list[str]:
        """The warnings, with what the model had to say by now."""
        trouble = self.index.trouble if self.index else ""
        return [*self.warnings, *([f"searched by words only: {trouble}"] if trouble else [])]

    def plan(self) -> "Plan":
        """What the index is made with, as the settings say."""
        from mabos_cli.index.search_index import Plan
        from mabos_cli.index.vectors import open_engine

        s = self.agent.settings
        engine = open_engine(s["index.vectors"])
        per_token = s["text.chars_per_token"]
        shape = "-".join(str(s[name]) for name in (*_SHAPE, "text.chars_per_token"))
        shape += f"-{template_marks(self.agent):08x}"
        embedder = self._embedder() if engine.step != "lexical" else None
        show = self._progress("indexing") if self._progress else None
        return Plan(engine, decode_line, shape, s["index.item_tokens"] * per_token, embedder, show)

    def _embedder(self) -> "Embedder | None":
        s = self.agent.settings
        if s["embeddings.provider"] == "none":
            return None
        from mabos_cli.backends.embeddings import open_embedder

        options = {name: s[f"embeddings.{name}"] for name in ("model", "url", "path", "timeout")}
        try:
            return open_embedder(s["embeddings.provider"], **options, environ=os.environ)
        except MabosError as error:
            hint = f" ({error.hint})" if error.hint else ""
            self.warnings.append(f"searched by words only: {error.message}{hint}")
            return None

    def search_lanes(self, question: str, limit: int) -> dict[str, list[tuple[str, float, str]]]:
        """What each lane finds by itself, best first: reference, measure (BM25 for words, cosine for vectors) and text."""
        index = self.refresh()
        if index is None:
            return {"words": [], "vectors": []}
        from mabos_cli.index.ask import lanes_of

        try:
            return lanes_of(index, question, limit)
        except index.engine.errors:  # damaged behind our back: rebuilt
            index = self.refresh(rebuild=True)
            assert index is not None
            return lanes_of(index, question, limit)

    def describe(self) -> dict[str, Any]:
        """What the index holds and what state it is in, without changing it."""
        about: dict[str, Any] = {"agent": self.agent.id, "state": "none", "vectors": "none, without SQLite"}
        try:
            plan = self.plan()
        except ImportError:
            return about | {"step": "none", "model": None}
        from mabos_cli.index.search_index import SearchIndex

        about["vectors"] = plan.engine.about
        about |= {"step": plan.engine.step, "model": plan.embedder.model if plan.embedder else None}
        for path, guard in index_places(self.agent.paths):
            held = SearchIndex(path, guard, plan).inspect(self.sources)
            if held and about["state"] != "fresh":
                about |= {"path": self.agent.paths.relative(path)} | held
        return about

    def read_all(self, archived: bool) -> Iterator[Candidate]:
        """Every candidate, straight from the files: for when there is no index."""
        items: dict[str, Candidate] = {}
        pieces, agent = [], self.label.removesuffix("/")
        for source in self.sources:
            content = source.load()
            for held in filter(None, (record.decode() for record in content.records)):
                item, live = held.item, not held.archived
                if live or item.id not in items or items[item.id].archived:
                    told = (item.content, item.importance, item.happened_at, item, held.store, held.archived)
                    items[item.id] = Candidate(*told, agent=agent)
            pieces += [(source.path, piece) for piece in content.pieces]
        yield from (c for c in items.values() if archived or not c.archived)
        for path, piece in pieces:
            if piece.copy_of not in items:
                lines = (piece.first, piece.last)
                yield Candidate(piece.text, 0.5, piece.at, path=path, lines=lines, marked=piece.trust, agent=agent)

    @cached_property
    def _rulings(self) -> dict[str, Ruling]:
        return find_rulings(load_decisions(self.agent.paths)[0])

    @cached_property
    def _items(self) -> dict[str, MemoryItem]:
        return {c.item.id: c.item for c in self.read_all(True) if c.item}

    def trust_of(self, item: MemoryItem) -> str:
        """How far an item of this agent is trusted, all that it derives from considered."""
        return effective_trust(item, self._find, self._rulings)

    @cached_property
    def _observed(self) -> Observed:
        return Observed(self.agent.paths)

    def _find(self, item_id: str) -> MemoryItem | None:
        if item_id.startswith(OBSERVATION):
            return self._observed.find(item_id)
        if self.index is None:
            return self._items.get(item_id)
        from mabos_cli.index.tables import find_line

        line = find_line(self.index.db, item_id)
        return decode_line(line) if line else None


@lru_cache(maxsize=20_000)  # a full sync looks at each item several times
def decode_line(line: str) -> MemoryItem:
    """The item on a line of the index, which came from a file that was checked."""
    return item_from_dict(json.loads(line), "the index")
