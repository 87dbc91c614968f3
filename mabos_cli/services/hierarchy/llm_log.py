"""log consolidate --llm: a language model finds facts in old events."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from mabos_cli.core.hierarchy.log_taking import Candidate, LogFact, Taking, find_fact, portions
from mabos_cli.core.language.text import one_line
from mabos_cli.formats.search.llm_answers import parse_extracts, render_extraction_prompt
from mabos_cli.services.search.llm_ask import Asker
from mabos_cli.workspace.agent import Agent

_TOLD = 600  # characters of an event: the rest is in its log


class FactFinder:
    """Puts events to the model, some at a time. Events of which it makes no fact are taken as they are."""

    def __init__(self, agent: Agent) -> None:
        self._asker = Asker(agent, "portion")
        self._dropped = 0
        self._summaries: list[str] = []

    def find(self, events: Iterable[Candidate]) -> list[LogFact]:
        """The facts that the model finds in events, as far as they keep to them."""
        found = []
        for portion in portions(events, _TOLD):
            told = [f"{c.event.kind}: {one_line(c.event.text, _TOLD)}" for c in portion]
            parse = partial(parse_extracts, numbers=range(1, len(portion) + 1))
            answer = self._asker.ask(render_extraction_prompt(told), parse)
            if answer is None:
                continue
            facts = [find_fact(extract, portion, self._asker.mark) for extract in answer.facts]
            kept = [fact for fact in facts if fact]
            self._dropped += answer.malformed + len(facts) - len(kept)
            self._summaries += [answer.summary] if answer.summary else []
            found += kept
        return found

    def told(self, taking: Taking) -> dict[str, Any]:
        """What the model did, for the answer."""
        return {
            "model": self._asker.name,
            "asked": self._asker.asked,
            "facts": [_row(fact) for fact in taking.facts],
            "dropped": self._dropped,
            "summary": " ".join(self._summaries),
        }

    def warnings(self) -> list[str]:
        """What went wrong with the model."""
        return self._asker.warnings()


def _row(fact: LogFact) -> dict[str, Any]:
    """A fact for the answer, with the lines that it rests on."""
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
