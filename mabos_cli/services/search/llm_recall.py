"""recall --llm: a language model puts the question in other words, and gives its opinion on the order."""

from typing import Any

from mabos_cli.core.search.recall import Depth, Hit, recall
from mabos_cli.core.search.second_opinion import WiderSearch, reorder
from mabos_cli.formats.search.llm_answers import (
    parse_order,
    parse_variations,
    render_expansion_prompt,
    render_rerank_prompt,
)
from mabos_cli.services.search.agent_search import AgentSearch
from mabos_cli.services.search.llm_ask import Asker
from mabos_cli.workspace.agent import Agent

_RERANKED = 20


class AidedRecall:
    """Finds as core.recall.recall does, with a model's help; without it where the model fails."""

    def __init__(self, agent: Agent) -> None:
        self._asker = Asker(agent, "search step")
        self._variations: tuple[str, ...] = ()
        self._reranked = False

    def __call__(self, search: AgentSearch, question: str, limit: int, depth: Depth) -> list[Hit]:
        """The best hits, also in other words than those of the question."""
        prompt = render_expansion_prompt(question)
        self._variations = self._asker.ask(prompt, lambda answer: parse_variations(answer, question)) or ()
        # What is to be put in order must be there, even if less is shown in the end.
        wide = max(limit, _RERANKED)
        search.options = search.options._replace(limit=wide)
        hits = recall(WiderSearch(search, self._variations, wide), question, wide, depth)
        return self._reorder(question, hits)[:limit]

    def _reorder(self, question: str, hits: list[Hit]) -> list[Hit]:
        head = hits[:_RERANKED]
        if len(head) < 2:
            return hits
        # In the prompt the question is number 1.
        numbers = range(2, len(head) + 2)
        prompt = render_rerank_prompt(question, [hit.candidate.text for hit in head])
        order = self._asker.ask(prompt, lambda answer: parse_order(answer, numbers))
        self._reranked = order is not None
        return [*reorder(head, [number - 2 for number in order]), *hits[len(head) :]] if order else hits

    def warnings(self) -> list[str]:
        """What went wrong with the model."""
        return self._asker.warnings()

    def told(self) -> dict[str, Any]:
        """What the model did, for the answer."""
        return {"model": self._asker.name, "expansions": list(self._variations), "reranked": self._reranked}

    def lines(self) -> list[str]:
        """The same for people."""
        also = ", ".join(f'"{text}"' for text in self._variations) or "nothing"
        order = "helped to order them" if self._reranked else "did not order them"
        return [f"{self._asker.name} asked for {also} too, and {order}"]
