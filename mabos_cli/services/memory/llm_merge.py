"""store --llm: a language model tells whether a relative is the same memory, and words the two as one."""

from collections.abc import Iterable
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.language.grounding import find_merge_fault
from mabos_cli.core.memory.item import Prose
from mabos_cli.core.memory.stores import Changes, Memory
from mabos_cli.core.memory.storing import Doubt, Draft, Pair, Stored, find_doubts
from mabos_cli.formats.search.llm_answers import Merge, is_too_large, parse_merge, render_merge_prompt
from mabos_cli.services.search.llm_ask import Asker
from mabos_cli.workspace.agent import Agent, Fresh
from mabos_cli.workspace.memory.trust_log import Judge

_ROOM = 100  # characters by which a text may be longer than both together


class Merger:
    """Puts drafts and their nearest relatives to the model; those that it does not merge are linked as always."""

    def __init__(self, agent: Agent) -> None:
        self._home = agent
        self._asker = Asker(agent, "near duplicate")
        self._notes: list[str] = []

    def agree(self, drafts: list[Draft]) -> dict[Pair, Prose]:
        """The texts for drafts that are the same memory as an item."""
        agreed = {}
        for doubt in self._find_doubts(drafts):
            if is_too_large(doubt.pair):
                self._asker.do_without("too large for a prompt")
                continue
            prompt = render_merge_prompt(doubt.item.content, doubt.content)
            merge = self._asker.ask(prompt, lambda answer, doubt=doubt: _read(answer, doubt))
            if merge and merge.same:
                agreed[doubt.pair] = Prose(merge.text, self._asker.mark)
        return agreed

    def _find_doubts(self, drafts: list[Draft]) -> list[Doubt]:
        """Looks under the lock, as the index of relatives wants it, and lets go before anybody is asked."""
        if not any(draft.store == "long_term" for draft in drafts):
            return []

        def look(memory: Memory, fresh: Fresh) -> tuple[Changes, list[Doubt]]:
            trust_of, limits = Judge(self._home.paths, memory), self._home.settings.limits()
            doubts = find_doubts(memory, drafts, limits, fresh, trust_of)
            return Changes(memory.working, memory.short_term), doubts

        found, self._notes = self._home.change("store", look)
        return found

    def told(self, results: Iterable[Stored]) -> dict[str, Any]:
        """What the model did, for the answer."""
        merged = sum(result.reworded for result in results)
        return {"model": self._asker.name, "asked": self._asker.asked, "merged": merged}

    def warnings(self) -> list[str]:
        """What went wrong with the model."""
        return [*self._notes, *self._asker.warnings()]


def _read(answer: str, doubt: Doubt) -> Merge:
    """What the model says of two memories, if its text keeps to them."""
    merge = parse_merge(answer, len(doubt.content) + len(doubt.item.content) + _ROOM)
    if merge.same and (fault := find_merge_fault(merge.text, doubt.item.content, doubt.content)):
        raise BadValue(fault)
    return merge
