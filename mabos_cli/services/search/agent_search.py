"""Searches an agent's memory: its index, brought up to date with its files, or the files themselves without SQLite."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.memory.item import has_expired, touch
from mabos_cli.core.memory.stores import EVERYTHING, reach_of
from mabos_cli.core.memory.trust import lowered, parse_sharing, trust_rank
from mabos_cli.core.records import NamedTuple
from mabos_cli.core.search.documents import Held, Source
from mabos_cli.core.search.recall import Candidate, Filters, Hit, Search, TermSearch, candidate_of
from mabos_cli.core.search.scoring import Weighing
from mabos_cli.errors import Conflict, InvalidFile, MabosError
from mabos_cli.index.ask import Asking, Scope
from mabos_cli.index.candidates import Index
from mabos_cli.index.plan import Enough, Plan, never
from mabos_cli.index.search_index import SearchIndex
from mabos_cli.index.vectors import open_engine
from mabos_cli.services.search.judges import OwnMemory, SharedHome, decode_line
from mabos_cli.services.search.later import sync_later
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.memory.store import read_uses
from mabos_cli.workspace.sources import find_sources, holds_items, index_places, is_store, item_state, template_marks

if TYPE_CHECKING:
    from mabos_cli.core.search.documents import Embedder

OpenProgress = Callable[[str], Callable[[int, int], None] | None]  # by what it is about
Found = TypeVar("Found")

MOST = 1_000_000  # results and candidates, whatever is asked for
_SHAPE = ("index.passage_tokens", "index.overlap_tokens", "index.item_tokens", "index.max_file_bytes")
_PATIENCE = 6000  # characters that a model which takes long may embed while somebody waits: about a second
_AT_A_TIME = 32  # passages that it embeds before it writes them down
_ROUNDS = 5  # of reading while others write; each takes a fraction of the time that a write does


class AgentIndex(OwnMemory):
    """An agent's index and the warnings that came up on the way to it. Without SQLite there is none."""

    def __init__(self, agent: Agent, label: str = "", progress: OpenProgress | None = None) -> None:
        self.agent = agent
        self._progress = progress
        self.label = label  # tells the results of another agent apart
        shared = (agent.settings[name] for name in ("memory.shared", "memory.shared_tags"))
        self.sharing = parse_sharing(*shared) if label else None
        self.warnings: list[str] = []
        self.sources: list[Source] = find_sources(agent)
        self.index: SearchIndex | None = None
        self.stats: Any = None

    def refresh(
        self, *, rebuild: bool = False, wait: float | None = None, in_parts: bool = False
    ) -> SearchIndex | None:
        """Opens the index, up to date or rebuilt, in the first place where that works: workspace, cache folder, memory.

        With `wait` given, a busy index is a Conflict; a recall rather answers from memory, and leaves what takes long to others, as
        one that works `in_parts` does.
        """
        try:
            plan = self.plan()
        except ImportError:
            self.warnings.append("this Python has no SQLite: searched by words in the files themselves")
            return None
        patience = self.agent.settings["index.wait"] if wait is None else wait
        enough = self._enough() if wait is None or in_parts else never
        faults: tuple[type[Exception], ...] = (MabosError, OSError, *plan.engine.errors)
        places = [*index_places(self.agent.paths), None]
        while places:
            place = places.pop(0)
            if self.index:
                self.index.close()
            self.index = index = SearchIndex(place, plan)
            index.label, index.sharing = self.label, self.sharing
            try:
                if rebuild:
                    self.stats = index.rebuild(self.sources, patience)
                else:
                    self.stats = index.refresh(self.sources, patience, enough)
                self._follow_moves(index, patience, enough)
                break
            except Conflict:
                if wait is not None:
                    raise
                self.warnings.append("another process is building the index: searched by words only")
                plan, places = plan._replace(embedder=None), [None]
            except faults:
                if place is None:
                    raise
        self._report()
        if self.index and self.index.path and (self.stats.left or self.index.count_waiting()):
            sync_later(self.agent)
        if self.index and self.is_remote and not self.stats.left:
            from mabos_cli.services.search.postgres import use_postgres

            self.warnings += use_postgres(self.agent, self.index, whole=wait is not None)
        return self.index

    def embed_all(self, wait: float) -> int:
        """Embeds for the model that takes long until no passage waits; returns how many there were."""
        done = 0
        while self.index and (some := self.index.embed_some(_AT_A_TIME, wait)):
            done += some
        return done

    def _enough(self) -> Enough:
        """Returns what says when somebody who waits for an answer has waited enough, by the time that this process worked."""
        end = time.process_time() + self.agent.settings["index.patience"]
        return lambda: time.process_time() > end

    def _follow_moves(self, index: SearchIndex, wait: float, enough: Enough) -> None:
        """Reads again while items move between files: what moved meanwhile may have been seen in neither."""
        for _ in range(_ROUNDS):
            if index.stale or self.stats.unchanged == len(self.sources):
                return
            seen = {(source.path, source.stamp) for source in self.sources if holds_items(source.path)}
            if seen == item_state(self.agent):
                return
            self.sources = find_sources(self.agent)
            self.stats = index.refresh(self.sources, wait, enough)
        index.stale = index.stale or "memory keeps changing while it is read"

    def _report(self) -> None:
        """Raises InvalidFile for a store that cannot be read; what else went wrong is a warning."""
        assert self.index is not None
        if self.index.stale:
            self.warnings.append(f"stale: {self.index.stale}")
        if self.stats.left:
            self.warnings.append(
                "the index is being built: answers are from what it has by now, by words; the rest follows"
            )
        if self.index.news:
            self.warnings.append(self.index.news)
        for path, error in self.index.errors():
            if is_store(path):
                raise InvalidFile(
                    error, "nothing was changed; repair the file or restore it from git, then run mabos doctor"
                )
            self.warnings.append(error if path in error else f"{path}: {error}")

    def troubles(self) -> list[str]:
        """Returns the warnings, with what the model had to say by now."""
        trouble = self.index.trouble if self.index else ""
        return [*self.warnings, *([f"searched by words only: {trouble}"] if trouble else [])]

    @property
    def is_remote(self) -> bool:
        """Returns whether PostgreSQL is to answer for the agent."""
        return bool(self.agent.settings["index.backend"] == "postgres")

    def plan(self) -> Plan:
        """Returns how the index is built, as the settings say."""
        s = self.agent.settings
        engine = open_engine(s["index.vectors"])
        per_token = s["text.chars_per_token"]
        shape = "-".join(str(s[name]) for name in (*_SHAPE, "text.chars_per_token"))
        shape += f"-{template_marks(self.agent):08x}"
        embedder = self._embedder() if engine.step != "lexical" else None
        # One that takes long has another beside it that answers meanwhile.
        strong, embedder = (embedder, self._stand_in()) if getattr(embedder, "is_slow", False) else (None, embedder)
        strong, embedder = (strong, embedder) if embedder else (None, strong)
        show = self._progress("indexing") if self._progress else None
        size, patience = s["index.item_tokens"] * per_token, _PATIENCE if s["embeddings.background"] else inf
        return Plan(engine, decode_line, shape, size, embedder, show, strong, patience, self.is_remote)

    def _stand_in(self) -> "Embedder | None":
        from mabos_cli.backends.wordllama import open_wordllama

        with suppress(MabosError):
            return open_wordllama()
        return None

    def _embedder(self) -> "Embedder | None":
        s = self.agent.settings
        if s["embeddings.provider"] == "none":
            return None
        from mabos_cli.backends.embeddings import ModelOptions, open_embedder

        wanted = {name: s[f"embeddings.{name}"] for name in ModelOptions._fields}
        try:
            return open_embedder(s["embeddings.provider"], environ=os.environ, **wanted)
        except MabosError as error:
            hint = f" ({error.hint})" if error.hint else ""
            self.warnings.append(f"searched by words only: {error.message}{hint}")
            return None

    def read_all(self, reach: int) -> Iterator[Candidate]:
        """Yields every candidate within reach, straight from the files: for when there is no index. The last departure counts."""
        items: dict[str, Held] = {}
        pieces, agent = [], self.label.removesuffix("/")
        for source in self.sources:
            content = source.load()
            for held in filter(None, (record.decode() for record in content.records)):
                items[held.item.id] = max(held, items.get(held.item.id, held), key=_standing)
            pieces += [(source.path, piece) for piece in content.pieces]
        now = format_time(self.agent.now())
        for held in items.values():
            why = held.archived or ("expired" if has_expired(held.item, now) else "")
            if reach_of(why) <= reach:
                yield candidate_of(held.item, held.store, why, agent)
        for path, piece in pieces:
            if piece.copy_of not in items:
                found = Candidate(piece.text, 0.5, piece.at, path=path, lines=(piece.first, piece.last), agent=agent)
                yield found._replace(marked=piece.trust, by=piece.author)


def _standing(held: Held) -> tuple[bool, str, bool, int]:
    """Returns what decides which record of an item counts: a live one, or else the last departure."""
    reach = reach_of(held.archived)
    return not held.archived, held.away_at, reach == EVERYTHING, -reach


class SearchOptions(NamedTuple):
    """How a recall searches: filters, how far into the archive, how many, and how signals are weighed."""

    filters: Filters
    reach: int
    limit: int
    preset: str = "default"
    diversity: float | None = None
    half_life: float = 0.0


class AgentSearch(Search):
    """The Search of core.search.recall over real memory. An index that turns out to be damaged is rebuilt, once."""

    def __init__(self, agents: Sequence[Agent], options: SearchOptions, progress: OpenProgress | None = None) -> None:
        self.options = options
        self.notes: list[str] = []
        self.candidates = 0
        self._home = agents[0]
        self._opened: list[AgentIndex | SharedHome] = []
        for agent in agents:
            found = AgentIndex(agent, f"{agent.id}/" if self._opened else "", progress)
            try:
                found.refresh()
                self._opened.append(found)
            except MabosError as error:
                if not self._opened:
                    raise
                self.notes.append(f"{agent.id}: {error.message}")
        local = [opened.index for opened in self._local() if opened.index]
        if len({index.embedder.model for index in local if index.embedder}) > 1:
            for index in local:  # cosines of two models cannot be compared
                index.use_weak()
        self._touches = read_uses(self._home.paths).touches

    @property
    def has_index(self) -> bool:
        return bool(self._indexes())

    @property
    def stale(self) -> bool:
        return any(opened.index.stale for opened in self._local() if opened.index)

    def warnings(self) -> list[str]:
        """Returns what went wrong on the way, for every agent that was searched."""
        found = [*self.notes]
        for opened in self._opened:
            is_first = opened is self._opened[0]
            found += [text if is_first else f"{opened.agent.id}: {text}" for text in opened.troubles()]
        return found

    def __call__(self, question: str) -> list[Hit]:
        """Returns the best hits for a question."""
        return self._judge(self._ask(lambda asking: asking(question)))

    def follow(self, question: str, asked: Sequence[str]) -> list[Hit]:
        """Returns the best hits for words that a result led to."""
        return self._judge(self._ask(lambda asking: asking.follow(question, asked)))

    def holders(self, asked: Sequence[str]) -> Mapping[str, int]:
        """Returns how many candidates hold each word."""
        return self._ask(lambda asking: asking.holders(asked))

    def best(self) -> list[Hit]:
        """Returns the most important and recent items."""
        hits = self._ask(lambda asking: asking.best())[: self.options.limit]
        if not self.has_index:
            self.candidates = len(hits)
        return self._judge(hits)

    def around(self, place: tuple[str, str], before: int, after: int) -> list[list[Candidate]]:
        """Returns the last items before a place in time (a moment and an id), and the first from there on, in order."""
        before, after = min(before, MOST), min(after, MOST)
        return self._ask(lambda asking: asking.around(place, before, after))

    def count(self) -> int:
        """Returns how many items and passages can be found at all."""
        return self._ask(lambda asking: asking.count())

    def count_archived(self, question: str) -> int:
        """Returns how many archived items, those included that are out of sight, would answer."""
        options, self.options = self.options, self.options._replace(reach=EVERYTHING, limit=MOST)
        hits = self._ask(lambda asking: asking(question) if question.strip() else asking.best())
        self.options = options
        return sum(bool(hit.candidate.archived) for hit in hits)

    def _judge(self, hits: list[Hit]) -> list[Hit]:
        """Returns the hits that are trusted enough, their lineage included, with their journalled uses."""
        opened = {opened.label.removesuffix("/"): opened for opened in self._opened}
        judged, least = [], trust_rank(self.options.filters.min_trust)
        for hit in hits:
            candidate = hit.candidate
            item = candidate.item
            if candidate.agent in opened and not opened[candidate.agent].may_show(candidate):
                continue
            if item and candidate.agent in opened:
                item = lowered(item, opened[candidate.agent](item))
                if item.supersedes and not candidate.agent:
                    candidate = candidate._replace(was=opened[candidate.agent].texts_of(item.supersedes))
            count, at = self._touches.get(item.id, (0, "")) if item and not candidate.agent else (0, "")
            item = touch(item, at, count) if item and count else item
            candidate = candidate._replace(item=item)
            if trust_rank(candidate.trust) >= least:
                judged.append(hit._replace(candidate=candidate))
        return judged

    def _indexes(self) -> list[Index]:
        return [opened.index for opened in self._opened if opened.index]

    def _ask(self, ask: Callable[[Asking | TermSearch], Found]) -> Found:
        """Returns what the indexes answer. Without a database that fails the local ones do; those that turn out to be damaged are
        rebuilt first."""
        for recover in (self._leave_postgres, self._rebuild):
            asking, errors = self._asking(), self._errors()
            try:
                found = ask(asking)
                break
            except errors as error:
                recover(error)
        else:
            asking = self._asking()
            found = ask(asking)
        self.candidates = max(self.candidates, asking.candidates)
        return found

    def _local(self) -> list[AgentIndex]:
        """Returns the agents of this workspace that are searched."""
        return [opened for opened in self._opened if isinstance(opened, AgentIndex)]

    def _errors(self) -> tuple[type[Exception], ...]:
        local = next((opened.index.engine.errors for opened in self._local() if opened.index), ())
        return (*local, *(error for index in self._indexes() for error in index.lanes.errors))

    def _leave_postgres(self, error: Exception) -> None:
        """Lets the local indexes answer where a database failed."""
        failed = any(index.lanes.errors for index in self._indexes())
        self._opened = [*self._local()]
        if failed:
            from mabos_cli.services.search.postgres import rest_after

            self.notes.append(rest_after(self._home, error))
        for opened in self._local():
            if opened.index:
                opened.index.remote = None

    def _rebuild(self, error: Exception) -> None:
        for opened in self._local():
            opened.refresh(rebuild=True)

    def _asking(self) -> Asking | TermSearch:
        """Returns the search: over the indexes, or without SQLite over the files themselves."""
        s, options, indexes = self._home.settings, self.options, self._indexes()
        if not indexes:
            candidates = (c for one in self._local() for c in one.read_all(options.reach) if one.may_show(c))
            return TermSearch(filter(options.filters.admit, candidates), s["recall.importance_weight"])
        pool = min(max(s["recall.pool"], s["recall.candidate_multiplier"] * options.limit), MOST)
        weighing = Weighing(options.preset, s["recall.importance_weight"], self._home.now(), options.half_life)
        bounds = options.reach, max(pool, options.limit), options.limit
        return Asking(indexes, Scope(options.filters, *bounds, weighing, options.diversity))
