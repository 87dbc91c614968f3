"""Searches the memory of other agents too: those of the workspace, and those in the graph."""

from mabos_cli.core.language.text import asked_words, stem
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.memory.trust import Sharing, trust_by_source
from mabos_cli.core.search.recall import Candidate, Hit, TermSearch, browse, candidate_of, merge_hits
from mabos_cli.services.inputs import Session
from mabos_cli.services.search.agent_search import AgentSearch, SearchOptions
from mabos_cli.services.search.shared_agents import NOBODY, TYPEDB, Row, ask_graph, local_id, sharing_homes
from mabos_cli.workspace.agent import Agent

_MOST_WORDS = 8  # of a question that the graph is asked for, one after the other


class SharedSearch(AgentSearch):
    """A search over an agent's memory and over all that others share with it."""

    def __init__(self, call: Session, agent: Agent, options: SearchOptions) -> None:
        allowed, refused = sharing_homes(call, agent)
        super().__init__([agent, *allowed], options, call.progress)
        self._has_graph = bool(agent.settings["typedb.address"])
        self._graph_notes: list[str] = []
        self.notes += refused
        self._is_remote = agent.settings["index.backend"] == "postgres"
        if not allowed and not self._has_graph and not self._is_remote:
            self.notes.append(NOBODY)

    def warnings(self) -> list[str]:
        """Returns what went wrong on the way, for every agent that was searched."""
        return [*self.notes, *self._graph_notes, *super().warnings()[len(self.notes) :]]

    def __call__(self, question: str) -> list[Hit]:
        """Returns the best hits for a question. Those of the index keep their order."""
        self._open_elsewhere(question)
        hits = super().__call__(question)
        if not self._has_graph:
            return hits
        found = self._ask_graph(question)
        weight = self._home.settings["recall.importance_weight"]
        ranked = TermSearch([*found.values(), *(hit.candidate for hit in hits)], weight)(question)
        # Hits are weighed against the best of them: how good that is beside what the graph has, words must tell.
        best = max((hit.relevance for hit in ranked if hit.candidate.ref not in found), default=0.0)
        more = [hit for hit in ranked if hit.candidate.ref in found]
        return [*merge_hits(hits, more, (1 - weight) * (1 - best))][: self.options.limit]

    def best(self) -> list[Hit]:
        """Returns the most important and recent items."""
        self._open_elsewhere("")
        hits = super().best()
        more = browse(self._ask_graph("").values()) if self._has_graph else []
        return [*merge_hits(hits, more)][: self.options.limit]

    def _open_elsewhere(self, question: str) -> None:
        """Opens the indexes that agents of other workspaces share in PostgreSQL: those whose words fit a question best."""
        index = self._local()[0].index
        if self._is_remote and index:
            from mabos_cli.services.search.postgres import open_shared

            found, self._graph_notes = open_shared(self._home, index, asked_words(question))
            self._opened = [*self._local(), *found]

    def _ask_graph(self, question: str) -> dict[str, Candidate]:
        """Returns the memories of the graph that share a word with the question, or all without one, by reference."""
        from mabos_cli.formats.mirror.questions import ask_memories_elsewhere

        starts = dict.fromkeys(map(_start, asked_words(question)[:_MOST_WORDS]))
        if question.strip() and not starts:
            return {}
        asked = [[start] for start in starts] or [[]]
        queries = [ask_memories_elsewhere(self._home.id, words) for words in asked]
        rows, self._graph_notes = ask_graph(self._home, queries)
        admit, admits = self.options.filters.admit, Sharing(True).admits
        found = [each for each in map(_candidate, rows) if admit(each) and each.item and admits(each.item.tags)]
        return {each.ref: each for each in found}


def _start(word: str) -> str:
    """Returns what the forms of a word begin with: a text may hold another form than a question.

    >>> [_start(word) for word in ("pricing", "policies", "bus")]
    ['pric', 'polic', 'bus']
    """
    short = stem(word)
    return short if word.startswith(short) else short[:-1]


def _candidate(row: Row) -> Candidate:
    """Returns a memory as the graph has it."""
    item = MemoryItem(
        local_id(row, "memory"),
        row["content"],
        row["type"] or "observation",
        0.5 if row["importance"] is None else row["importance"],
        row["source"] or "",
        trust_by_source(row["trust"] or "agent", row["source"] or ""),
        tags=tuple(row["tags"]),
        created_at=row["created_at"] or "",
        expires_at=row.get("expires_at") or "",
    )
    return candidate_of(item, TYPEDB, agent=row["agent"])
