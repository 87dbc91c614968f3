"""Packs what an agent's memory knows about a request: one search, what is recent, the latest checkpoint and facts."""

import os
from collections.abc import Collection, Iterator, Sequence
from datetime import date
from math import log

from mabos_cli.backends.tokenizers import Counter, open_tokenizer_counter
from mabos_cli.core import BadValue
from mabos_cli.core.context.candidates import (
    Entry,
    Limits,
    Pack,
    add_concerns,
    entry_of,
    fact_entries,
    find_against,
    focus,
    fresh_since,
    has_rival_facts,
    is_fact_page,
    mark_rivals,
    named_things,
    wanted_hits,
)
from mabos_cli.core.context.memory_index import CRITICAL
from mabos_cli.core.context.pack import choose, pack
from mabos_cli.core.context.texts import Turn
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import asked_words, plural, stem, stems, terms
from mabos_cli.core.memory.checkpoint import checkpoint_time
from mabos_cli.core.memory.item import TRUSTS, check_choice
from mabos_cli.core.memory.stores import FINDABLE, LIVE
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.core.records import NamedTuple
from mabos_cli.core.search.documents import cosine
from mabos_cli.core.search.prompt import choose_nearest, holds_value, is_unheard_of, read_prompt, relevance
from mabos_cli.core.search.question import is_about_many, is_within, times_in
from mabos_cli.core.search.recall import Filters, Hit, recall
from mabos_cli.errors import InvalidFile
from mabos_cli.formats.context.context_pack import DOUBTFUL, WRITING
from mabos_cli.index.candidates import END_OF_TIME
from mabos_cli.services.inputs import Session, read_given
from mabos_cli.services.operations.prompt_entries import find_entries, find_relevant, open_static_model
from mabos_cli.services.search.agent_search import SearchOptions
from mabos_cli.services.search.recall import open_search
from mabos_cli.workspace.agent import Agent

_ENTRIES, _BEHIND = 8, 0.5  # that only their meaning brings up, and the share of their score that counts here
_READ = 400  # characters of a text by which its meaning is compared with a question
_LOOKED_AT = 10  # hits that may hold enough of what is asked
_RELEVANT = 0.25  # share of the best relevance from which on a hit is still about the question
_LATEST = 20  # items that happened last
_RECENT = 50  # items of working and short-term memory, and instructions, that are looked at whatever they are about


class Bounds(NamedTuple):
    """Holds what a pack is asked for: tokens, last turns of the conversation, least trust, entries (0 for any number), whether only what is
    loaded, and whether what other agents share, too."""

    budget: int
    tail: int = 0
    min_trust: str = ""
    entries: int = 0
    live: bool = False
    shared: bool = False


class Packed(NamedTuple):
    """A pack, who counted its tokens, the ids that count as used, and what went wrong on the way."""

    pack: Pack
    counted_by: str
    used: list[str]
    warnings: list[str]


def check_bounds(
    agent: Agent,
    budget: int | None,
    tail: int | None,
    history: str,
    min_trust: str,
    limit: int,
    live: bool,
    shared: bool,
) -> Bounds:
    """Returns the bounds that options give, with the settings where they give none."""
    if tail is not None and not history:
        raise BadValue("--tail needs a conversation", "add --history FILE")
    if (tail or 0) < 0:
        raise BadValue("--tail cannot be negative", "0 keeps no turn")
    if budget is not None and budget < 1:
        raise BadValue("--budget must be above 0", "the frame and one line take about 50 tokens")
    return Bounds(
        agent.settings["context.pack_budget"] if budget is None else budget,
        agent.settings["context.tail_turns"] if tail is None else tail,
        check_choice(min_trust, list(TRUSTS), "trust") if min_trust else "",
        limit,
        live,
        shared,
    )


def read_history(path: str) -> tuple[Turn, ...]:
    """Reads the turns of a conversation, from standard input for `-`, without the secrets in them."""
    from mabos_cli.core.language.secrets import hide_in
    from mabos_cli.formats.context.history import parse_history

    turns: tuple[Turn, ...] = hide_in(parse_history(read_given(path), "standard input" if path == "-" else path))
    return turns


def pack_memory(
    call: Session, agent: Agent, query: str, bounds: Bounds, turns: Sequence[Turn] = (), *, count_uses: bool = True
) -> Packed:
    """Packs an agent's memory for a request, with the last turns of a conversation; counts what is packed as used."""
    if not query.strip():
        raise BadValue("the query is empty", "say what the pack is for, or - to read it from standard input")
    s, counter = agent.settings, open_counter(agent)
    search = PackSearch(call, agent, query, bounds)
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
    chosen = choose(search.find(), limits)
    functional = search.functional() if has_rival_facts(chosen.ranked) else frozenset[str]()
    made = pack(
        chosen,
        limits,
        DOUBTFUL if search.is_doubtful else WRITING,
        count=counter.count,
        asked=frozenset(terms(search.question)),
        history=[*enumerate(turns, 1)][len(turns) - min(bounds.tail, len(turns)) :],
        against=find_against(chosen.ranked, functional),
        in_time=is_about_many(search.question),
    )
    used = [placed.entry.use for placed in made.placed if placed.entry.use] if count_uses else []
    agent.note_uses(used)
    return Packed(made, counter.name, used, [*search.warnings(), *_explain(made, bounds, search)])


def open_counter(agent: Agent) -> Counter:
    """Opens what counts tokens for an agent; Unavailable when the settings name one that is not there."""
    per_token = agent.settings["text.chars_per_token"]
    return open_tokenizer_counter(agent.settings["context.tokenizer"], per_token, os.environ)


def _explain(made: Pack, bounds: Bounds, search: "PackSearch") -> list[str]:
    """Returns why a pack is empty, or holds nothing about the question. A warning: the bundle itself goes to a model as it is."""
    if made.placed and search.is_unknown:
        return ["memory holds nothing about this: the pack has what is recent, and standing instructions"]
    if made.placed and search.is_doubtful:
        return ["memory may hold nothing about this: the pack has what is nearest"]
    if made.text:
        return []
    over = [receipt for receipt in made.receipts if receipt.reason == "over budget"]
    if over:
        return [f"nothing fits {plural(bounds.budget, 'token')}: {plural(len(over), 'candidate')} left out"]
    below = sum(receipt.reason == "below min trust" for receipt in made.receipts)
    if below:
        return [f"nothing to pack: {plural(below, 'candidate')} below --min-trust {bounds.min_trust}"]
    return ["nothing to pack: memory holds nothing about this"]


class PackSearch:
    """The candidates of a pack, the question that they were searched by, and whether nothing was found about it."""

    def __init__(self, call: Session, agent: Agent, query: str, bounds: Bounds) -> None:
        self._agent, self._trust, self._prompt = agent, bounds.min_trust, read_prompt(query)
        self._notes: list[str] = []
        self.is_unknown = self.is_doubtful = False
        now = agent.now()
        filters = Filters(now=format_time(now) if bounds.live else "", min_trust=bounds.min_trust)
        limit = wanted_hits(bounds.budget, bounds.entries)
        options = SearchOptions(filters, LIVE if bounds.live else FINDABLE, limit, agent.settings["recall.preset"])
        self._search = open_search(call, agent, options, shared=bounds.shared)
        self._since = fresh_since(now, agent.settings["context.fresh"])
        self.question = focus(query, self._search.holders)

    def find(self) -> list[Entry]:
        """Returns all candidates. Those that are trusted too little are among them, for the receipts."""
        hits = self._latest() if self._prompt.wants_latest else self._answers()
        is_known = bool(hits)
        if self._trust:
            hits += self._refused()
        # What is recent stands beside what a request is about. It answers no question about something else.
        is_at_work = self._prompt.wants_latest or (is_known and not self._prompt.is_question)
        hits += self._recent() if is_at_work else ()
        standing = self._standing()
        hits += [hit for hit in standing if hit.candidate.ref not in {hit.candidate.ref for hit in hits}]
        checkpoint, text = self._checkpoint()
        found = [entry_of(hit, self._since, checkpoint) for hit in hits if not is_fact_page(hit.candidate)]
        lines = text.rstrip().split("\n")
        if is_at_work and lines[-1] and not any(entry.ref.startswith(f"{checkpoint}:") for entry in found):
            ref, worth = f"{checkpoint}:1-{len(lines)}", float(self._prompt.wants_latest)
            at = checkpoint_time(checkpoint)
            found.append(Entry(ref, text, "passage", "hot", "checkpoint", score=worth, at=at))
        found += self._facts([hit for hit in hits if is_fact_page(hit.candidate)])
        prompted = {entry.ref: entry for entry in self._prompted()}
        relevant = [entry for ref, entry in prompted.items() if ref not in {each.ref for each in found}]
        first = {hit.candidate.ref for hit in standing}
        found = [entry._replace(applies=entry.ref in first) for entry in (*found, *relevant)]
        nearest = self._nearest(found, prompted)
        is_all_left_out = len(nearest) < len(found) and all(entry.applies for entry in nearest)
        self.is_unknown = not (is_known or relevant) or is_all_left_out
        self.is_doubtful = self.is_doubtful and not self.is_unknown
        return nearest

    def _nearest(self, found: list[Entry], prompted: Collection[str]) -> list[Entry]:
        """Returns the candidates near enough to a question, and those of the prompt hook; a small memory always has some that are
        faintly similar."""
        prompt, settings, total = self._prompt, self._agent.settings, self._search.count()
        least = trust_rank(self._trust)
        judged = [e for e in found if e.kind != "fact" and not e.applies and trust_rank(e.trust) >= least]
        is_small = prompt.is_question and not prompt.wants_latest and total < settings["recall.pool"]
        model = open_static_model(settings) if is_small and judged else None
        if model is None:
            return found
        asked = {stem(word.casefold()): word for word in asked_words(self.question)}
        held = self._search.holders([*asked.values()])
        worth = {term: log(1 + total / (held.get(word) or 1)) for term, word in asked.items()}
        whole, query = sum(worth.values()) or 1.0, model.embed_query(prompt.text)
        spans = times_in(self.question, (), self._agent.now().date())
        values = {}
        for entry in judged:
            text = entry.text[:_READ]
            shared = sum(worth[term] for term in {*stems(f"{entry.author} {text}")} & worth.keys()) / whole
            near = cosine(query, model.embed_query(text))
            values[entry.ref] = relevance(prompt, text, shared, near) + is_within(entry.at, spans)
        kept, is_sure = choose_nearest(values, is_about_many(self.question))
        self.is_doubtful = bool(kept) and not is_sure
        return [entry for entry in found if entry.ref not in values or entry.ref in kept or entry.ref in prompted]

    def _answers(self) -> list[Hit]:
        """Returns what is relevant to the question, beside the best of it, if anything in memory is about it."""
        hits = recall(self._search, self.question, self._search.options.limit)
        least = _RELEVANT * max((hit.relevance for hit in hits), default=0.0)
        kept = [hit for hit in hits if hit.relevance >= least or not hit.candidate.item]
        hits = [] if self._is_unheard_of(hits) else kept
        return hits if holds_value(self._prompt, [hit.candidate.text for hit in hits]) else []

    def _latest(self) -> list[Hit]:
        """Returns what happened last, or in the time that is named, the newest first."""
        options, now = self._search.options, self._agent.now()
        last = self._search.around(END_OF_TIME, _LATEST, 0)[0]
        if not last:
            return []
        spans = times_in(self.question, (), now.date()) or [(date.fromisoformat(last[0].at[:10]), now.date())]
        since, until = spans[0][0].isoformat(), f"{spans[0][1].isoformat()}~"
        filters = options.filters._replace(since=since, until=until, now=format_time(now))
        self._search.options = options._replace(filters=filters, limit=_RECENT)
        found = sorted(self._search.best(), key=lambda hit: hit.candidate.at, reverse=True)[:_LATEST]
        self._search.options = options
        return [hit._replace(score=round(1 - n / _RECENT, 4)) for n, hit in enumerate(found)]

    def _prompted(self) -> Iterator[Entry]:
        """Yields what a hook would tell for this as a prompt: what answers it in other words."""
        for entry in find_entries(self._agent.paths, self._agent.settings, self._prompt, _ENTRIES) or ():
            if entry.kind == "item" and (not entry.state or self._search.options.reach != LIVE):
                yield entry._replace(score=round(_BEHIND * entry.score, 4), use=entry.ref)

    def _is_unheard_of(self, hits: Sequence[Hit]) -> bool:
        """Returns whether nothing in memory is about the question, although something always comes first."""
        asked = asked_words(self.question)
        held = self._search.holders(asked)
        if all(map(held.get, asked)):
            return False
        texts = (f"{hit.candidate.text} {hit.candidate.path}" for hit in hits[:_LOOKED_AT])
        return is_unheard_of(self.question, held, self._search.count(), texts)

    def warnings(self) -> list[str]:
        return [*self._search.warnings(), *self._notes]

    def functional(self) -> frozenset[str]:
        """Returns the predicates that have one value at a time."""
        from mabos_cli.workspace.knowledge.rules import functional_predicates

        found, warnings = functional_predicates(self._agent)
        self._notes += warnings
        return found

    def _refused(self) -> list[Hit]:
        """Returns what the least trust keeps out, and pages of facts: each fact has a trust of its own."""
        options, least = self._search.options, trust_rank(self._trust)
        self._search.options = options._replace(filters=options.filters._replace(min_trust=""))
        found = [hit for hit in self._search(self.question) if trust_rank(hit.candidate.trust) < least]
        self._search.options = options
        return found

    def _recent(self) -> Iterator[Hit]:
        """Yields what is in working memory or was stored lately, whatever it is about: as little worth as that is."""
        for hit in self._best(stores=("working", "short_term")):
            if entry_of(hit, self._since).lane == "hot":
                yield hit

    def _standing(self) -> list[Hit]:
        """Returns the standing instructions that apply: those that are critical, and those that are relevant enough."""
        hits = [hit for hit in self._best(types=("instruction",)) if trust_rank(hit.candidate.trust)]
        near = find_relevant(self._agent.settings, self._prompt, [hit.candidate.text for hit in hits])
        return [hit for n, hit in enumerate(hits) if n in near or hit.candidate.importance >= CRITICAL]

    def _best(self, stores: tuple[str, ...] = (), types: tuple[str, ...] = ()) -> list[Hit]:
        """Returns the most important and recent of the live items that pass filters; their importance alone counts."""
        options, now = self._search.options, format_time(self._agent.now())
        within = options.filters._replace(now=now, stores=stores, types=types)
        self._search.options = options._replace(filters=within, reach=LIVE, limit=_RECENT)
        hits, weight = self._search.best(), self._agent.settings["recall.importance_weight"]
        self._search.options = options
        return [hit._replace(score=round(weight * hit.candidate.importance, 4)) for hit in hits]

    def _checkpoint(self) -> tuple[str, str]:
        """Returns path and text of the latest checkpoint, if it is recent."""
        from mabos_cli.services.memory.checkpoints import current_checkpoints, read_checkpoint

        name = max(current_checkpoints(self._agent), default="")
        if not name or checkpoint_time(name) < self._since:
            return "", ""
        try:
            return read_checkpoint(self._agent, name)
        except InvalidFile as error:
            self._notes.append(f"no checkpoint: {error.message}")
            return "", ""

    def _facts(self, pages: Sequence[Hit]) -> list[Entry]:
        """Returns the facts that pages list, as they are in the files of facts."""
        if not pages:
            return []
        from mabos_cli.workspace.knowledge.facts import load_facts

        try:
            facts = load_facts(self._agent)
            found = [*fact_entries(pages, self.question, facts.find, self._agent.now())]
            if names := named_things(found, self.question):
                found = add_concerns(found, names, facts.around(names, self._agent.now()))
            return mark_rivals(found, self.functional()) if has_rival_facts(found) else found
        except InvalidFile as error:
            self._notes.append(f"no facts: {error.message}")
            return []
