"""What a pack chooses from: one search of the agent's memory, what is recent, the latest checkpoint, and facts."""

from collections.abc import Iterator, Sequence

from mabos_cli.core.context.candidates import (
    Entry,
    entry_of,
    fact_entries,
    focus,
    fresh_since,
    is_fact_page,
    wanted_hits,
)
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.memory.checkpoint import checkpoint_time
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.core.search.recall import Filters, Hit, recall
from mabos_cli.errors import InvalidFile
from mabos_cli.services.search.agent_search import Way, open_search
from mabos_cli.services.session import Session
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import read_text

_RECENT = 50  # items of working and short-term memory that are looked at, whatever they are about


class PackSearch:
    """The candidates of a pack, and the question that they were searched by."""

    def __init__(self, call: Session, agent: Agent, query: str, budget: int, entries: int, min_trust: str) -> None:
        self._home, self._trust = agent, min_trust
        self._notes: list[str] = []
        now = agent.now()
        filters = Filters(now=format_time(now), min_trust=min_trust)
        way = Way(filters, False, wanted_hits(budget, entries), agent.settings["recall.preset"])
        self._search = open_search(call, agent, way)
        self._since = fresh_since(now, agent.settings["context.fresh"])
        self.question = focus(query, self._search.holders)

    def find(self) -> list[Entry]:
        """All candidates. Those that are trusted too little are among them, for the receipts."""
        way = self._search.way
        hits = recall(self._search, self.question, way.limit)
        if self._trust:
            hits += self._refused(hits)
        hits += self._recent()
        checkpoint, text = self._checkpoint()
        found = [entry_of(hit, self._since, checkpoint) for hit in hits if not is_fact_page(hit.candidate)]
        lines = text.rstrip().split("\n")
        if lines[-1] and not any(entry.ref.startswith(f"{checkpoint}:") for entry in found):
            ref = f"{checkpoint}:1-{len(lines)}"
            found.append(Entry(ref, text, "passage", "hot", "checkpoint", at=checkpoint_time(checkpoint)))
        return [*found, *self._facts([hit for hit in hits if is_fact_page(hit.candidate)])]

    def warnings(self) -> list[str]:
        return [*self._search.warnings(), *self._notes]

    def functional(self) -> frozenset[str]:
        """The predicates that have one value at a time."""
        from mabos_cli.workspace.knowledge.rulebook import functional_predicates

        found, warnings = functional_predicates(self._home)
        self._notes += warnings
        return found

    def _asked(self, **changes: object) -> None:
        way = self._search.way
        self._search.way = way._replace(filters=way.filters._replace(**changes))

    def _refused(self, hits: Sequence[Hit]) -> list[Hit]:
        """What the least trust keeps out, and pages of facts: each fact has a trust of its own."""
        self._asked(min_trust="")
        least = trust_rank(self._trust)
        found = [hit for hit in self._search(self.question) if trust_rank(hit.candidate.trust) < least]
        self._asked(min_trust=self._trust)
        return found

    def _recent(self) -> Iterator[Hit]:
        """What is in working memory or was stored lately, whatever it is about: as little worth as that is."""
        way = self._search.way
        self._search.way = way._replace(limit=_RECENT)
        self._asked(stores=("working", "short_term"))
        weight = self._home.settings["recall.importance_weight"]
        for hit in self._search.best():
            if entry_of(hit, self._since).lane == "hot":
                yield hit._replace(score=round(weight * hit.candidate.importance, 4))
        self._search.way = way

    def _checkpoint(self) -> tuple[str, str]:
        """Path and text of the latest checkpoint, if it is recent."""
        from mabos_cli.workspace.memory.checkpoints import checkpoint_names

        name = max(checkpoint_names(self._home), default="")
        if not name or checkpoint_time(name) < self._since:
            return "", ""
        path = self._home.paths.checkpoints / name
        shown = self._home.paths.relative(path)
        try:
            return shown, read_text(path, shown)
        except InvalidFile as error:
            self._notes.append(f"no checkpoint: {error.message}")
            return "", ""

    def _facts(self, pages: Sequence[Hit]) -> list[Entry]:
        """The facts that pages list, as they are in the files of facts."""
        if not pages:
            return []
        from mabos_cli.workspace.knowledge.facts import load_facts

        try:
            facts = load_facts(self._home)
            return [*fact_entries(pages, self.question, facts.find, self._home.now())]
        except InvalidFile as error:
            self._notes.append(f"no facts: {error.message}")
            return []
