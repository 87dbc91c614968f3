"""Asks a language model, if configured and asked for, to merge near duplicates, summarize groups and extract facts from logs.

The model is asked before anything is locked. What it does not answer well is done without it.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.hierarchy.log_taking import Candidate, LogFact, Taking, find_fact, portions
from mabos_cli.core.language.similar import find_fault, find_merge_fault
from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory.consolidation import GroupKey, describe_group
from mabos_cli.core.memory.item import MemoryItem, Prose, is_worded
from mabos_cli.core.memory.stores import Changes, Draft, Memory
from mabos_cli.core.memory.storing import Doubt, Pair, Stored, find_doubts
from mabos_cli.formats.search import llm_answers
from mabos_cli.services.search.llm_ask import Asker
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.memory.trust_log import Judge
from mabos_cli.workspace.transaction import Fresh

_ROOM = 100  # characters by which a text of the model may be longer than the memories together
_KEPT = 0.2  # share of the words of each memory that a text must hold, so that none is left out
_EXCERPT = 600  # characters of an event: the rest is in its log
Groups = Iterable[tuple[MemoryItem, tuple[MemoryItem, ...]]]


class Merger(Asker):
    """Puts drafts and their nearest relatives to the model; those that it does not merge are linked as always."""

    def __init__(self, agent: Agent) -> None:
        super().__init__(agent, "near duplicate")
        self._agent = agent
        self._notes: list[str] = []

    def agree(self, drafts: list[Draft]) -> dict[Pair, Prose | None]:
        """Returns the texts for drafts that are the same memory as an item, and None for those that are newer."""
        agreed: dict[Pair, Prose | None] = {}
        for doubt in self._find_doubts(drafts):
            if llm_answers.is_too_large(doubt.pair):
                self.do_without("too large for a prompt")
                continue
            merge = self.ask(
                llm_answers.render_merge_prompt(doubt.item.content, doubt.content), partial(_read_merge, doubt=doubt)
            )
            if merge and (merge.newer or (merge.same and doubt.can_be_same)):
                agreed[doubt.pair] = Prose(merge.text, self.mark) if merge.same else None
        return agreed

    def _find_doubts(self, drafts: list[Draft]) -> list[Doubt]:
        """Looks under the lock, as the index of relatives wants it, and lets go before anybody is asked."""
        if not any(draft.store == "long_term" for draft in drafts):
            return []

        def look(memory: Memory, fresh: Fresh) -> tuple[Changes, list[Doubt]]:
            trust_of, limits = Judge(self._agent.paths, memory), self._agent.settings.limits()
            relatives = fresh.relatives()
            doubts = find_doubts(memory, drafts, limits, relatives, trust_of) if relatives else []
            return Changes(memory.working, memory.short_term), doubts

        found, self._notes = self._agent.change("store", look)
        return found

    def summary(self, results: Iterable[Stored]) -> dict[str, Any]:
        """Returns what the model did, for the answer."""
        return {"model": self.name, "asked": self.asked, "merged": sum(result.reworded for result in results)}

    def warnings(self) -> list[str]:
        return [*self._notes, *super().warnings()]


def _read_merge(answer: str, doubt: Doubt) -> llm_answers.Merge:
    """Returns what the model says of two memories, if its text keeps to them."""
    merge = llm_answers.parse_merge(answer, len(doubt.content) + len(doubt.item.content) + _ROOM)
    if merge.same and (fault := find_merge_fault(merge.text, doubt.item.content, doubt.content)):
        raise BadValue(fault)
    return merge


class GroupAuthor(Asker):
    """Words groups of memories; prose is what came of it."""

    def __init__(self, agent: Agent) -> None:
        super().__init__(agent, "group")
        self.prose: dict[GroupKey, Prose] = {}

    def write(self, groups: Groups) -> None:
        """Asks for the text of each group of two or more. What a person vouched for stays word for word."""
        for item, group in groups:
            if len(group) < 2 or item.trust == "trusted":
                continue
            texts = [member.content for member in group]
            if llm_answers.is_too_large(texts):
                self.do_without("too large for a prompt")
            elif text := self.ask(llm_answers.render_consolidation_prompt(texts), partial(_read_text, texts=texts)):
                self.prose[describe_group(group)] = Prose(text, self.mark)

    def summary(self, groups: Groups) -> dict[str, Any]:
        """Returns what the model did, for the answer."""
        written = sum(is_worded(item) for item, group in groups if len(group) > 1)
        return {"model": self.name, "asked": self.asked, "written": written}


def _read_text(answer: str, texts: list[str]) -> str:
    """Returns the text of a group, if it keeps to the memories."""
    # The bar parts memories in a text that nobody worded.
    text = llm_answers.parse_text(answer, sum(map(len, texts)) + _ROOM).replace(" | ", " / ")
    if fault := find_fault(text, texts, _KEPT):
        raise BadValue(fault)
    return text


class FactFinder(Asker):
    """Puts events of logs to the model, some at a time. Events of which it makes no fact are taken as they are."""

    def __init__(self, agent: Agent) -> None:
        super().__init__(agent, "portion")
        self._dropped = 0
        self._summaries: list[str] = []

    def find(self, events: Iterable[Candidate]) -> list[LogFact]:
        """Returns the facts that the model finds in events, as far as they keep to them."""
        found = []
        for portion in portions(events, _EXCERPT):
            lines = [f"{c.event.kind}: {one_line(c.event.text, _EXCERPT)}" for c in portion]
            parse = partial(llm_answers.parse_extracts, numbers=range(1, len(portion) + 1))
            answer = self.ask(llm_answers.render_extraction_prompt(lines), parse)
            if answer is None:
                continue
            facts = [find_fact(extract, portion, self.mark) for extract in answer.facts]
            kept = [fact for fact in facts if fact]
            self._dropped += answer.malformed + len(facts) - len(kept)
            self._summaries += [answer.summary] if answer.summary else []
            found += kept
        return found

    def summary(self, taking: Taking) -> dict[str, Any]:
        """Returns what the model did, for the answer."""
        return {
            "model": self.name,
            "asked": self.asked,
            "facts": [_fact_row(fact) for fact in taking.facts],
            "dropped": self._dropped,
            "summary": " ".join(self._summaries),
        }


def _fact_row(fact: LogFact) -> dict[str, Any]:
    """Returns a fact for the answer, with the lines that it rests on."""
    places = [
        {"day": c.event.day, "line": c.event.line, "path": c.path, "id": c.key, "text": c.event.text}
        for c in fact.events
    ]
    return {
        "category": fact.section,
        "kind": fact.category,
        "importance": fact.importance,
        "confidence": fact.confidence,
        "text": fact.content,
        "id": fact.key,
        "events": places,
    }
