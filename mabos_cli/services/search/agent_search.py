"""What recall searches with: an agent's index, those of agents that share their memory, or the files themselves."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from mabos_cli.core.memory.item import touch
from mabos_cli.core.memory.trust import lowered, trust_rank
from mabos_cli.core.search.recall import Candidate, Filters, Hit, Search, TermSearch, browse
from mabos_cli.core.search.scoring import Weighing
from mabos_cli.errors import MabosError
from mabos_cli.services.search.agent_index import AgentIndex, OpenProgress
from mabos_cli.services.search.shared_agents import NOBODY, sharing_homes
from mabos_cli.services.session import Session
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.memory.store import read_uses

if TYPE_CHECKING:
    from mabos_cli.index.ask import Asking
    from mabos_cli.index.search_index import SearchIndex
    from mabos_cli.services.search.shared_memories import Elsewhere

Found = TypeVar("Found")  # what a question to the indexes is answered with

MOST = 1_000_000  # results and candidates, whatever is asked for


class SearchOptions(NamedTuple):
    """How a recall searches: filters, the archive too or not, how many, and how signals are weighed."""

    filters: Filters
    archived: bool
    limit: int
    preset: str = "default"
    diversity: float | None = None
    half_life: float = 0.0


def open_search(call: Session, agent: Agent, options: SearchOptions, *, shared: bool = False) -> "AgentSearch":
    """The search over an agent's memory and, if asked for, over that of the agents that share theirs."""
    allowed, refused = sharing_homes(call, agent) if shared else ([], [])
    search = AgentSearch([agent, *allowed], options, call.progress)
    search.notes += refused
    if shared and agent.settings["typedb.address"]:
        from mabos_cli.services.search.shared_memories import Elsewhere

        search.elsewhere = Elsewhere(agent, options.filters, options.limit)
    elif shared and not allowed:
        search.notes.append(NOBODY)
    return search


def _place(candidate: Candidate) -> tuple[str, str]:
    return candidate.at, candidate.ref


class AgentSearch(Search):
    """The Search of core.recall over real memory. An index that turns out to be damaged is made anew, once."""

    def __init__(self, agents: Sequence[Agent], options: SearchOptions, progress: OpenProgress | None = None) -> None:
        self.options = options
        self.notes: list[str] = []
        self.elsewhere: Elsewhere | None = None
        self.candidates = 0
        self._home = agents[0]
        self._opened: list[AgentIndex] = []
        for agent in agents:
            found = AgentIndex(agent, f"{agent.id}/" if self._opened else "", progress)
            try:
                found.refresh()
                self._opened.append(found)
            except MabosError as error:
                if not self._opened:
                    raise
                self.notes.append(f"{agent.id}: {error.message}")
        self._touches = read_uses(self._home.paths).touches

    @property
    def has_index(self) -> bool:
        return bool(self._indexes())

    @property
    def stale(self) -> bool:
        return any(opened.index.stale for opened in self._opened if opened.index)

    def warnings(self) -> list[str]:
        """What went wrong on the way, for every agent that was searched."""
        found = [*self.notes, *(self.elsewhere.notes if self.elsewhere else ())]
        for opened in self._opened:
            is_first = opened is self._opened[0]
            found += [text if is_first else f"{opened.agent.id}: {text}" for text in opened.troubles()]
        return found

    def __call__(self, question: str) -> list[Hit]:
        """The best hits for a question."""
        terms = self._terms()
        hits = self._counted(terms(question) if terms else self._asked(lambda asking: asking(question)))
        return self.elsewhere.merge(hits, question) if self.elsewhere else hits

    def follow(self, question: str, asked: Sequence[str]) -> list[Hit]:
        """The best hits for words that a result led to."""
        terms = self._terms()
        hits = terms.follow(question, asked) if terms else self._asked(lambda asking: asking.follow(question, asked))
        return self._counted(hits)

    def holders(self, asked: Sequence[str]) -> Mapping[str, int]:
        """How many candidates hold each word."""
        terms = self._terms()
        return terms.holders(asked) if terms else self._asked(lambda asking: asking.holders(asked))

    def best(self) -> list[Hit]:
        """Without a question: the most important and recent items."""
        if self._terms():
            hits = browse(self._read(self.options.archived))[: self.options.limit]
            self.candidates = len(hits)
        else:
            hits = self._asked(lambda asking: asking.best())
        hits = self._counted(hits)
        return self.elsewhere.merge(hits, "") if self.elsewhere else hits

    def around(self, place: tuple[str, str], before: int, after: int) -> list[list[Candidate]]:
        """The last items before a place in time (a moment and an id), and the first from there on, in order."""
        before, after = min(before, MOST), min(after, MOST)
        if not self._terms():
            return self._asked(lambda asking: asking.around(place, before, after))
        items = [c for c in self._read(self.options.archived) if c.item]
        items.sort(key=_place)
        cut = bisect_left(items, place, key=_place)
        return [items[max(0, cut - before) : cut], items[cut : cut + after]]

    def count(self) -> int:
        """How many items and passages can be found at all."""
        if self._terms():
            return len(self._read(self.options.archived))
        return self._asked(lambda asking: asking.count())

    def count_archived(self, question: str) -> int:
        """How many archived items would answer."""
        if self._terms():
            gone = [c for c in self._read(True) if c.archived]
            return len(TermSearch(gone)(question) if question.strip() else gone)
        hits = self._asked(lambda asking: asking(question) if question.strip() else asking.best(), archived=True)
        return sum(bool(hit.candidate.archived) for hit in hits)

    def _judged(self, hits: list[Hit]) -> list[Hit]:
        """The hits, none trusted more than what it derives from, as far as that is enough."""
        judges = {opened.label.removesuffix("/"): opened.trust_of for opened in self._opened}
        judged, least = [], trust_rank(self.options.filters.min_trust)
        for hit in hits:
            item = hit.candidate.item
            if item and hit.candidate.agent in judges:
                item = lowered(item, judges[hit.candidate.agent](item))
                hit = hit._replace(candidate=hit.candidate._replace(item=item))
            if trust_rank(hit.candidate.trust) >= least:
                judged.append(hit)
        return judged

    def _counted(self, hits: list[Hit]) -> list[Hit]:
        """The hits with uses that are journalled but not folded in yet."""
        counted = []
        for hit in self._judged(hits):
            item = hit.candidate.item
            count, at = self._touches.get(item.id, (0, "")) if item and not hit.candidate.agent else (0, "")
            if item and count:
                hit = hit._replace(candidate=hit.candidate._replace(item=touch(item, at, count)))
            counted.append(hit)
        return counted

    def _indexes(self) -> "list[SearchIndex]":
        return [opened.index for opened in self._opened if opened.index]

    def _asked(self, ask: "Callable[[Asking], Found]", archived: bool = False) -> Found:
        """What the indexes answer; those that turn out to be damaged are made anew first."""
        errors = self._indexes()[0].engine.errors
        try:
            return self._ask(ask, archived)
        except errors:
            for opened in self._opened:
                opened.refresh(rebuild=True)
            return self._ask(ask, archived)

    def _ask(self, ask: "Callable[[Asking], Found]", archived: bool) -> Found:
        from mabos_cli.index.ask import Asking, Scope

        s, options = self._home.settings, self.options
        pool = min(max(s["recall.pool"], s["recall.candidate_multiplier"] * options.limit), MOST)
        weighing = Weighing(options.preset, s["recall.importance_weight"], self._home.now(), options.half_life)
        count = MOST if archived else options.limit  # what is in the archive is only counted
        scope = Scope(
            options.filters, archived or options.archived, max(pool, count), count, weighing, options.diversity
        )
        asking = Asking(self._indexes(), scope)
        found = ask(asking)
        self.candidates = max(self.candidates, asking.candidates)
        return found

    def _read(self, archived: bool) -> list[Candidate]:
        admit = self.options.filters.admit
        return [c for opened in self._opened for c in opened.read_all(archived) if admit(c)]

    def _terms(self) -> TermSearch | None:
        """The search over the files themselves, when there is no SQLite."""
        if self._indexes():
            return None
        found = self._read(self.options.archived)
        self.candidates = len(found)
        return TermSearch(found, self._home.settings["recall.importance_weight"])
