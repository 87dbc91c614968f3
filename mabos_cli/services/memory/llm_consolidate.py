"""consolidate --llm: a language model words the groups of memories."""

from collections.abc import Iterable
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.language.grounding import find_fault
from mabos_cli.core.memory.item import MemoryItem, Prose, is_worded
from mabos_cli.core.memory.upkeep import Told, told_of
from mabos_cli.formats.search.llm_answers import is_too_large, parse_text, render_consolidation_prompt
from mabos_cli.services.search.llm_ask import Asker
from mabos_cli.workspace.agent import Agent

# Of the words of each memory a text must hold this share, so that none is left out.
_KEPT = 0.2
_ROOM = 100  # characters by which a text may be longer than the memories together

Groups = Iterable[tuple[MemoryItem, tuple[MemoryItem, ...]]]


class GroupAuthor:
    """Words groups of memories, before anything is locked; prose is what came of it."""

    def __init__(self, agent: Agent) -> None:
        self._asker = Asker(agent, "group")
        self.prose: dict[Told, Prose] = {}

    def write(self, groups: Groups) -> None:
        """Asks for the text of each group of two or more. What a person vouched for stays word for word."""
        for item, group in groups:
            if len(group) < 2 or item.trust == "trusted":
                continue
            texts = [member.content for member in group]
            if is_too_large(texts):
                self._asker.do_without("too large for a prompt")
            elif text := self._asker.ask(render_consolidation_prompt(texts), lambda a, t=texts: _read(a, t)):
                self.prose[told_of(group)] = Prose(text, self._asker.mark)

    def told(self, groups: Groups) -> dict[str, Any]:
        """What the model did, for the answer."""
        written = sum(is_worded(item) for item, group in groups if len(group) > 1)
        return {"model": self._asker.name, "asked": self._asker.asked, "written": written}

    def warnings(self) -> list[str]:
        """What went wrong with the model."""
        return self._asker.warnings()


def _read(answer: str, texts: list[str]) -> str:
    """The text of a group, if it keeps to the memories."""
    # The bar parts memories in a text that nobody worded.
    text = parse_text(answer, sum(map(len, texts)) + _ROOM).replace(" | ", " / ")
    if fault := find_fault(text, texts, _KEPT):
        raise BadValue(fault)
    return text
