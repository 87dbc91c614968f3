"""Chooses old events of daily logs for MEMORY.md: which are important, where they belong, which were copied before, and which facts of a
model replace them."""

from _blake2 import blake2b
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from datetime import date

from mabos_cli.core.hierarchy.log_event import LogEvent, shape_of
from mabos_cli.core.language.clock import DAY
from mabos_cli.core.language.ids import parse_id
from mabos_cli.core.language.similar import find_fault
from mabos_cli.core.language.text import fold
from mabos_cli.core.memory.condensing import consolidated_parts
from mabos_cli.core.memory.item import WEIGHTS, grade
from mabos_cli.core.records import NamedTuple

WINDOW = 30  # days in which something must come back to count as recurring
RECURRING = "Recurring Tasks"
_OTHER = "Events and Outcomes"
_SECTIONS = {
    "decision": "Important Decisions",
    "preference": "User Preferences",
    "project": "Project Context",
    "plan": "Project Context",
    "person": "Relationships & Contacts",
    "lesson": "Learned Patterns",
    "insight": "Learned Patterns",
    "recurring": RECURRING,
    "instruction": "Standing Instructions",
    "fact": "Facts",
}
# The order in which sections that MEMORY.md does not have yet are added to it.
SECTIONS = (*dict.fromkeys(_SECTIONS.values()), _OTHER)
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


class Rules(NamedTuple):
    """Holds what decides about an event: the day it is now, and the settings."""

    today: date
    older_than: float
    min_importance: float = 0.6
    recurring_days: int = 3
    weights: Mapping[str, float] = WEIGHTS


class Candidate(NamedTuple):
    """An event that is important enough. Marks stand for what it says; `settled` means that it must not be taken."""

    event: LogEvent
    path: str
    importance: float
    section: str
    marks: tuple[str, ...]
    settled: bool = False

    @property
    def key(self) -> str:
        return key_of(self.event)


class LogFact(NamedTuple):
    """Holds what a model wrote in place of some events: where it belongs, how far it believes in it, and the events themselves."""

    content: str
    category: str
    section: str
    importance: float
    confidence: float
    author: str
    events: tuple[Candidate, ...]

    @property
    def key(self) -> str:
        """Returns a name of its own: several facts may rest on the same event."""
        return f"log-{mark_of(f'{self.events[0].event.day} {self.content}')}"


class LogDay(NamedTuple):
    """A day whose logs were looked through."""

    day: str
    digest: str
    events: int
    candidates: tuple[Candidate, ...]


class DayTaken(NamedTuple):
    """Holds the ledger's record of a day: the digest of the log that was read, the threshold, and the keys and marks that were taken or known."""

    day: str
    digest: str
    min_importance: float
    taken: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()


class Taking(NamedTuple):
    """The plan: what goes into MEMORY.md, how many are known already, and what the ledger shall remember.

    covered are the keys of events in whose place facts go there.
    """

    taken: tuple[Candidate, ...]
    known: int
    days: tuple[DayTaken, ...]
    facts: tuple[LogFact, ...] = ()
    covered: frozenset[str] = frozenset()

    @property
    def lines(self) -> tuple[Candidate, ...]:
        """Returns the events that are taken as they are."""
        return tuple(candidate for candidate in self.taken if candidate.key not in self.covered)


def is_past(day: date, today: date, span: float) -> bool:
    """Returns whether a day is more than a span of seconds before today; today itself never is.

    >>> is_past(date(2026, 2, 16), date(2026, 2, 24), 7 * 86400), is_past(date(2026, 2, 17), date(2026, 2, 24), 7 * 86400)
    (True, False)
    """
    return (today - day).days * DAY > span


def mark_of(text: str) -> str:
    """Returns a short mark that stands for a text where the text itself must not be."""
    return blake2b(fold(text).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def key_of(event: LogEvent) -> str:
    """Returns the name of an event, which does not depend on the line it stands on: its item's id, or one made of day
    and text."""
    return event.id if parse_id(event.id) else f"log-{mark_of(f'{event.day} {event.text}')}"


def digest_of(texts: Iterable[str]) -> str:
    """Returns a mark for all that the logs of a day say; the same when they are only moved."""
    return blake2b("".join(texts).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def section_of(kind: str, recurring: bool = False) -> str:
    """Returns the section of MEMORY.md where an event of a kind belongs.

    >>> section_of("lesson"), section_of("note"), section_of("note", recurring=True)
    ('Learned Patterns', 'Events and Outcomes', 'Recurring Tasks')
    """
    return RECURRING if recurring and kind == "note" else _SECTIONS.get(kind, _OTHER)


def days_around(days: Sequence[date], fresh: Collection[date]) -> list[date]:
    """Returns the days that must be read to find what recurs on the fresh ones: those, and the days of the window before each."""
    needed, latest = [], None
    for day in sorted(days, reverse=True):
        latest = day if day in fresh else latest
        if latest and (latest - day).days < WINDOW:
            needed.append(day)
    return needed[::-1]


def find_recurring(days: Mapping[str, Sequence[LogEvent]], least: int) -> dict[str, set[str]]:
    """Returns the shapes that recur on each day: those logged on at least that many days of the window that ends with it."""
    occurrences: dict[str, list[int]] = {}
    found: dict[str, set[str]] = {}
    for day in sorted(days):
        number = date.fromisoformat(day).toordinal()
        for shape in {shape_of(event.text) for event in days[day]} - {""}:
            before = [n for n in occurrences.get(shape, ()) if n > number - WINDOW]
            occurrences[shape] = [*before, number]
            if len(occurrences[shape]) >= least:
                found.setdefault(day, set()).add(shape)
    return found


def find_candidates(
    events: Iterable[tuple[LogEvent, str]], recurring: Collection[str], rules: Rules
) -> tuple[Candidate, ...]:
    """Returns the events of a day, given with the paths of their logs, that are important enough. What was recorded counts."""
    found = []
    for event, path in events:
        shape = shape_of(event.text) if recurring else ""
        again = bool(shape) and shape in recurring
        importance = event.importance
        if importance is None:
            importance = grade(event.text, event.kind, recurring=again, weights=rules.weights)
        if importance >= rules.min_importance:
            section = section_of(event.kind, again)
            # A task that recurs has other numbers every day: once is enough.
            tasks = [f"recurring {shape}"] if section == RECURRING else []
            # What consolidation wrote went into MEMORY.md at that time; its parts are events of their own.
            settled = event.source == "consolidation"
            parts = consolidated_parts(event.text) if settled else []
            marks = tuple(mark_of(text) for text in (event.text, *tasks, *parts))
            found.append(Candidate(event, path, importance, section, marks, settled))
    return tuple(found)


def plan_taking(
    days: Iterable[LogDay],
    min_importance: float,
    *,
    keys: Collection[str],
    marks: Collection[str],
    ids: Collection[str],
    texts: Container[str],
) -> Taking:
    """Returns the events to copy from some days. `keys` and `marks` come from the ledger, `ids` and `texts` from MEMORY.md: those were
    copied before."""
    days, keys = list(days), set(keys)
    settled = (candidate for day in days for candidate in day.candidates if candidate.settled)
    marks = {*marks, *(mark for candidate in settled for mark in candidate.marks)}
    taken: list[Candidate] = []
    known, lines = 0, []
    for day in days:
        fresh: list[Candidate] = []
        old: list[Candidate] = []
        for candidate in day.candidates:
            if candidate.key in keys:
                known += 1
                continue
            there = candidate.key in ids or fold(candidate.event.text) in texts
            is_old = candidate.settled or there or not marks.isdisjoint(candidate.marks)
            (old if is_old else fresh).append(candidate)
            keys.add(candidate.key)
            marks.update(candidate.marks)
        day_marks = dict.fromkeys(mark for candidate in (*fresh, *old) for mark in candidate.marks)
        new_keys, old_keys = (tuple(candidate.key for candidate in part) for part in (fresh, old))
        lines.append(DayTaken(day.day, day.digest, min_importance, new_keys, old_keys, tuple(day_marks)))
        taken += fresh
        known += len(old)
    return Taking(tuple(taken), known, tuple(lines))


def cover(taking: Taking, facts: Iterable[LogFact], *, marks: Collection[str], texts: Container[str]) -> Taking:
    """Returns the plan with facts in place of their events where all of these are copied; a fact that is known is not repeated."""
    keys, written = {candidate.key for candidate in taking.taken}, {*marks}
    kept: list[LogFact] = []
    covered: set[str] = set()
    marks_by_day: dict[str, list[str]] = {}
    for fact in facts:
        parts = {candidate.key for candidate in fact.events}
        if not parts <= keys:
            continue
        covered |= parts
        mark = mark_of(fact.content)
        if mark not in written and fold(fact.content) not in texts:
            kept.append(fact)
            marks_by_day.setdefault(fact.events[0].event.day, []).append(mark)
        written.add(mark)
    days = (line._replace(marks=(*line.marks, *marks_by_day.get(line.day, ()))) for line in taking.days)
    return taking._replace(days=tuple(days), facts=tuple(kept), covered=frozenset(covered))


class Extract(NamedTuple):
    """A fact as a model gives it, with the numbers of the events that it rests on, from 1."""

    content: str
    category: str
    importance: float
    confidence: float
    events: tuple[int, ...]


def portions(candidates: Iterable[Candidate], width: int) -> Iterator[list[Candidate]]:
    """Yields the events in order, a bounded number at a time, each cut to `width` characters."""
    found: list[Candidate] = []
    size = 0
    for candidate in candidates:
        length = min(len(candidate.event.text), width)
        if found and (len(found) == _MOST or size + length > _SIZE):
            yield found
            found, size = [], 0
        found.append(candidate)
        size += length
    if found:
        yield found


def find_fact(extract: Extract, portion: Sequence[Candidate], author: str) -> LogFact | None:
    """Returns the fact with its events, if it says no more than they do; none that the model doubts itself.

    It is not more important than the most important of its events.
    """
    events = tuple(portion[number - 1] for number in extract.events)
    if extract.confidence < _SURE or find_fault(extract.content, [c.event.text for c in events], _KEPT):
        return None
    importance = min(extract.importance, max(candidate.importance for candidate in events))
    section = section_of(CATEGORIES[extract.category])
    return LogFact(extract.content, extract.category, section, importance, extract.confidence, author, events)
