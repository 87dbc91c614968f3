"""Memories that other agents put in the graph, among the hits of a recall."""

from mabos_cli.core.language.text import asked_words, stem
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.search.recall import Candidate, Filters, Hit, TermSearch, browse, merge_hits
from mabos_cli.services.search.shared_agents import TYPEDB, Row, ask_graph, own_id
from mabos_cli.workspace.agent import Agent

_MOST_WORDS = 8  # of a question that the graph is asked for, one after the other


class Elsewhere:
    """Memories in the graph, to be put among the hits of a search."""

    def __init__(self, agent: Agent, filters: Filters, limit: int) -> None:
        self._home, self._filters, self._limit = agent, filters, limit
        self.notes: list[str] = []

    def merge(self, hits: list[Hit], question: str) -> list[Hit]:
        """The hits with those from the graph among them. The hits keep their order."""
        found = self._find(question)
        if not question.strip():
            return list(merge_hits(hits, browse(found.values())))[: self._limit]
        weight = self._home.settings["recall.importance_weight"]
        told = TermSearch([*found.values(), *(hit.candidate for hit in hits)], weight)(question)
        # Hits are weighed against the best of them: how good that is beside what the graph has, words must tell.
        best = max((hit.relevance for hit in told if hit.candidate.ref not in found), default=0.0)
        more = [hit for hit in told if hit.candidate.ref in found]
        return list(merge_hits(hits, more, (1 - weight) * (1 - best)))[: self._limit]

    def _find(self, question: str) -> dict[str, Candidate]:
        from mabos_cli.formats.mirror.typeql import ask_memories_elsewhere

        starts = dict.fromkeys(map(_start, asked_words(question)[:_MOST_WORDS]))
        if question.strip() and not starts:
            return {}
        asked = [[start] for start in starts] or [[]]
        queries = [ask_memories_elsewhere(self._home.id, words) for words in asked]
        rows, self.notes = ask_graph(self._home, queries)
        found = {each.ref: each for each in map(_candidate, rows)}
        return {ref: each for ref, each in found.items() if self._filters.admit(each)}


def _start(word: str) -> str:
    """What the forms of a word begin with: a text may hold another form than a question.

    >>> [_start(word) for word in ("pricing", "policies", "bus")]
    ['pric', 'polic', 'bus']
    """
    short = stem(word)
    return short if word.startswith(short) else short[:-1]


def _candidate(row: Row) -> Candidate:
    """A memory as the graph has it."""
    item = MemoryItem(
        own_id(row, "memory"),
        row["content"],
        row["type"] or "observation",
        0.5 if row["importance"] is None else row["importance"],
        row["source"] or "",
        row["trust"] or "agent",
        tags=tuple(row["tags"]),
        created_at=row["created_at"] or "",
        expires_at=row.get("expires_at") or "",
    )
    return Candidate(item.content, item.importance, item.created_at, item, TYPEDB, agent=row["agent"])
