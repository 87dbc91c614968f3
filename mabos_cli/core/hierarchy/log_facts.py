"""Facts that a model finds in old events, on their way into MEMORY.md in place of those: what is taken of them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from mabos_cli.core.hierarchy.log_taking import Candidate, LogFact, section_of
from mabos_cli.core.language.grounding import find_fault

# What a model calls a fact, and the kind of event that belongs to the same section.
CATEGORIES = {
    "decision": "decision",
    "preference": "preference",
    "project": "project",
    "pattern": "insight",
    "relationship": "person",
}
_SURE = 0.5  # a model that believes less in its own fact than this had better left it
_KEPT = 0.2  # share of the words of each event that a fact which replaces it must hold
_MOST, _SIZE = 30, 8_000  # events and characters that are put to a model at a time


class Extract(NamedTuple):
    """A fact as a model gives it, with the numbers of the events that it rests on, from 1."""

    content: str
    category: str
    importance: float
    confidence: float
    events: tuple[int, ...]


def portions(candidates: Iterable[Candidate], width: int) -> Iterator[list[Candidate]]:
    """The events in order, a bounded number at a time; of each, no more than width characters are told."""
    found: list[Candidate] = []
    size = 0
    for candidate in candidates:
        told = min(len(candidate.event.text), width)
        if found and (len(found) == _MOST or size + told > _SIZE):
            yield found
            found, size = [], 0
        found.append(candidate)
        size += told
    if found:
        yield found


def find_fact(extract: Extract, portion: Sequence[Candidate], author: str) -> LogFact | None:
    """The fact with its events, if it says no more than they do; none that the model doubts itself.

    It is not more important than the most important of its events.
    """
    events = tuple(portion[number - 1] for number in extract.events)
    if extract.confidence < _SURE or find_fault(extract.content, [c.event.text for c in events], _KEPT):
        return None
    importance = min(extract.importance, max(candidate.importance for candidate in events))
    section = section_of(CATEGORIES[extract.category])
    return LogFact(extract.content, extract.category, section, importance, extract.confidence, author, events)
