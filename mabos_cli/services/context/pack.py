"""Packs: one search of the agent's memory, what is recent, the latest checkpoint and facts, within a token budget."""

import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from mabos_cli.backends.tokenizers import Counter as Counter
from mabos_cli.backends.tokenizers import open_tokenizer_counter
from mabos_cli.core import BadValue
from mabos_cli.core.context.candidates import (
    Entry,
    Limits,
    Pack,
    entry_of,
    fact_entries,
    find_against,
    focus,
    fresh_since,
    is_fact_page,
    wanted_hits,
)
from mabos_cli.core.context.pack import pack
from mabos_cli.core.context.texts import Turn
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import plural, terms
from mabos_cli.core.memory.checkpoint import checkpoint_time
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.core.search.recall import Filters, Hit, recall
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.context.context_pack import WRITING
from mabos_cli.services.search.agent_search import AgentSearch, SearchOptions
from mabos_cli.services.session import Session
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import read_text

_RECENT = 50  # items of working and short-term memory that are looked at, whatever they are about


class PackSearch:
    """The candidates of a pack, and the question that they were searched by."""

    def __init__(self, call: Session, agent: Agent, query: str, budget: int, entries: int, min_trust: str) -> None:
        self._agent, self._trust = agent, min_trust
        self._notes: list[str] = []
        now = agent.now()
        filters = Filters(now=format_time(now), min_trust=min_trust)
        options = SearchOptions(filters, False, wanted_hits(budget, entries), agent.settings["recall.preset"])
        self._search = AgentSearch([agent], options, call.progress)
        self._since = fresh_since(now, agent.settings["context.fresh"])
        self.question = focus(query, self._search.holders)

    def find(self) -> list[Entry]:
        """All candidates. Those that are trusted too little are among them, for the receipts."""
        options = self._search.options
        hits = recall(self._search, self.question, options.limit)
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
        from mabos_cli.workspace.knowledge.facts import functional_predicates

        found, warnings = functional_predicates(self._agent)
        self._notes += warnings
        return found

    def _asked(self, filters: Filters) -> None:
        self._search.options = self._search.options._replace(filters=filters)

    def _refused(self, hits: Sequence[Hit]) -> list[Hit]:
        """What the least trust keeps out, and pages of facts: each fact has a trust of its own."""
        self._asked(self._search.options.filters._replace(min_trust=""))
        least = trust_rank(self._trust)
        found = [hit for hit in self._search(self.question) if trust_rank(hit.candidate.trust) < least]
        self._asked(self._search.options.filters._replace(min_trust=self._trust))
        return found

    def _recent(self) -> Iterator[Hit]:
        """What is in working memory or was stored lately, whatever it is about: as little worth as that is."""
        options = self._search.options
        self._search.options = options._replace(limit=_RECENT)
        self._asked(options.filters._replace(stores=("working", "short_term")))
        weight = self._agent.settings["recall.importance_weight"]
        for hit in self._search.best():
            if entry_of(hit, self._since).lane == "hot":
                yield hit._replace(score=round(weight * hit.candidate.importance, 4))
        self._search.options = options

    def _checkpoint(self) -> tuple[str, str]:
        """Path and text of the latest checkpoint, if it is recent."""
        from mabos_cli.services.memory.checkpoints import checkpoint_names

        name = max(checkpoint_names(self._agent), default="")
        if not name or checkpoint_time(name) < self._since:
            return "", ""
        path = self._agent.paths.checkpoints / name
        shown = self._agent.paths.relative(path)
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
            facts = load_facts(self._agent)
            return [*fact_entries(pages, self.question, facts.find, self._agent.now())]
        except InvalidFile as error:
            self._notes.append(f"no facts: {error.message}")
            return []


class Bounds(NamedTuple):
    """What a pack is asked for: tokens, last turns of the conversation, least trust, entries (0 for any number)."""

    budget: int
    tail: int = 0
    min_trust: str = ""
    entries: int = 0


class Packed(NamedTuple):
    """A pack, who counted its tokens, and what went wrong on the way."""

    pack: Pack
    counted_by: str
    warnings: list[str]

    def used(self) -> list[str]:
        """The ids of the memories that count as used."""
        return [placed.entry.use for placed in self.pack.placed if placed.entry.use]


def pack_for(call: Session, agent: Agent, query: str, bounds: Bounds, turns: Sequence[Turn] = ()) -> Packed:
    """The pack of an agent's memory for a request, with the last turns of a conversation. Counts nothing as used."""
    if not query.strip():
        raise BadValue("the query is empty", "say what the pack is for, or - to read it from standard input")

    s, counter = agent.settings, open_counter(agent)
    search = PackSearch(call, agent, query, bounds.budget, bounds.entries, bounds.min_trust)
    found = search.find()
    limits = Limits(
        bounds.budget,
        bounds.entries,
        bounds.min_trust,
        **{name: s[f"context.{name}"] for name in ("tail_share", "hot_share", "cold_share")},
        hot_bonus=s["context.hot_bonus"],
        trusted_weight=s["context.trusted_weight"],
        untrusted_weight=s["context.untrusted_weight"],
        duplicate=s["memory.duplicate_threshold"],
    )
    made = pack(
        found,
        limits,
        WRITING,
        count=counter.count,
        asked=frozenset(terms(search.question)),
        history=[*enumerate(turns, 1)][len(turns) - min(bounds.tail, len(turns)) :],
        find_against=partial(find_against, functional=search.functional),
    )
    return Packed(made, counter.name, [*search.warnings(), *_emptiness(made, bounds)])


def _emptiness(made: Pack, bounds: Bounds) -> list[str]:
    """Why a pack is empty. A warning: the bundle itself goes to a model as it is."""
    if made.text:
        return []
    over = [receipt for receipt in made.receipts if receipt.reason == "over budget"]
    if over:
        return [f"nothing fits {plural(bounds.budget, 'token')}: {plural(len(over), 'candidate')} left out"]
    below = sum(receipt.reason == "below min trust" for receipt in made.receipts)
    if below:
        return [f"nothing to pack: {plural(below, 'candidate')} below --min-trust {bounds.min_trust}"]
    return ["nothing to pack: memory holds nothing about this"]


def open_counter(agent: Agent) -> Counter:
    """What counts tokens for an agent, and its name; Unavailable when the settings name one that is not there."""
    per_token = agent.settings["text.chars_per_token"]
    return open_tokenizer_counter(agent.settings["context.tokenizer"], per_token, os.environ)
