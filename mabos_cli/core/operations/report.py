"""Counts and sorts the data of a report: memory by week, tier, importance and trust, and topics by month."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from heapq import nsmallest
from typing import NamedTuple

from mabos_cli.core.hierarchy.themes import Theme
from mabos_cli.core.language.periods import find_day, week_of
from mabos_cli.core.language.secrets import redact
from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory.item import CLASSES, PRIORITIES, STORES, TRUSTS, MemoryItem, priority_of
from mabos_cli.core.mind.commitment import is_past
from mabos_cli.core.mind.mind import Attitude, state_of

TIERS = (*STORES, "archive")
CLASS_NAMES = (*CLASSES, "other")
MONTHS = 12  # the latest ones have topics
MOST = 5_000  # rows of a kind on a page; the number of further ones is shown
_CLASS_OF = {kind: name for name, kinds in CLASSES.items() for kind in kinds}
_WEEKS, _FEWEST, _TOPICS = 53, 12, 6  # weeks of the chart, at most and at least; topics of a month
# Characters that are searched for secrets before a text is cut, so that no half of one is shown.
_READ = 32_768


def shown(text: str, width: int = 160) -> str:
    """Returns a text as one line, with secrets replaced and control characters made visible, cut at a word.

    >>> shown("key\\n PASSWORD=hunter2x"), shown("one two three", 9)
    ('key PASSWORD=[redacted:password]', 'one two…')
    """
    return one_line(redact(text[:_READ])[0], width)


class Held(NamedTuple):
    """An item with its agent, its tier, and its trust by lineage."""

    agent: str
    tier: str
    item: MemoryItem
    trust: str


class Week(NamedTuple):
    """A week and how many items were stored in it, by class."""

    name: str
    first: date
    counts: tuple[int, ...]


class MemoryView(NamedTuple):
    """Memory at a glance, and the live items, the most important first.

    Tiers are counted for all and by agent; importance and trust for live items. Items without a date, or with a future one, are in no
    week.
    """

    tiers: tuple[int, ...]
    by_agent: dict[str, tuple[int, ...]]
    bands: dict[str, int]
    trusts: dict[str, int]
    weeks: tuple[Week, ...]
    items: Sequence[Held]

    @property
    def live(self) -> int:
        return sum(self.tiers[:-1])

    @property
    def archived(self) -> int:
        return self.tiers[-1]


class Tally:
    """Counts items one by one, and keeps only the most important ones."""

    def __init__(self, agents: tuple[str, ...], today: date) -> None:
        self._today = today
        self._tiers = {agent: Counter[str]() for agent in agents}
        self._bands: Counter[str] = Counter()
        self._trusts: Counter[str] = Counter()
        self._stored: Counter[tuple[date, str]] = Counter()
        self._best: list[Held] = []

    def add(self, held: Held) -> None:
        """Counts an item; an archived one counts in its tier and its week only."""
        item = held.item
        self._tiers[held.agent][held.tier] += 1
        day = find_day(item.created_at[:10])
        if day and day <= self._today:
            self._stored[week_of(day).first, _CLASS_OF.get(item.type, "other")] += 1
        if held.tier == TIERS[-1]:
            return
        self._bands[priority_of(item.importance)] += 1
        self._trusts[held.trust] += 1
        self._best.append(held)
        if len(self._best) > 2 * MOST:
            self._best = nsmallest(MOST, self._best, key=_rank)

    def view(self) -> MemoryView:
        """Returns the counts."""
        return MemoryView(
            tuple(sum(counts[tier] for counts in self._tiers.values()) for tier in TIERS),
            {agent: tuple(counts[tier] for tier in TIERS) for agent, counts in self._tiers.items()},
            {name: self._bands[name] for name in PRIORITIES},
            {name: self._trusts[name] for name in reversed(TRUSTS)},
            self._weeks(),
            nsmallest(MOST, self._best, key=_rank),
        )

    def _weeks(self) -> tuple[Week, ...]:
        """Returns the weeks up to the last one with items, including empty ones."""
        firsts = {first for first, _ in self._stored}
        if not firsts:
            return ()
        last = max(firsts)
        span = (last - min(firsts)).days // 7 + 1
        count = min((last - date.min).days // 7 + 1, max(_FEWEST, min(span, _WEEKS)))
        found = [last - timedelta(weeks=back) for back in reversed(range(count))]
        return tuple(Week(week_of(day).name, day, tuple(self._stored[day, n] for n in CLASS_NAMES)) for day in found)


def _rank(held: Held) -> tuple[float, tuple[int, ...], str, str]:
    """Returns a key that sorts by importance, then latest first."""
    newest = tuple(-ord(letter) for letter in held.item.happened_at[:24])
    return -held.item.importance, newest, held.agent, held.item.id


class MonthLog(NamedTuple):
    """A month by the logs of agents: its name, entries and themes."""

    name: str
    entries: int
    themes: Sequence[Theme]


def join_months(logs: Iterable[MonthLog]) -> list[MonthLog]:
    """Returns the latest months of all agents together, with their most distinctive topics, the most frequent first.

    A topic of several agents is counted for all of them.
    """
    entries: Counter[str] = Counter()
    themes: dict[str, dict[str, Theme]] = {}
    for month in logs:
        entries[month.name] += month.entries
        known = themes.setdefault(month.name, {})
        for theme in month.themes:
            old = known.get(theme.key, theme._replace(entries=0, score=0.0))
            known[theme.key] = old._replace(entries=old.entries + theme.entries, score=old.score + theme.score)
    names = sorted((name for name, count in entries.items() if count), reverse=True)[:MONTHS]
    telling = {
        name: sorted(themes[name].values(), key=lambda theme: (-theme.score, theme.key))[:_TOPICS] for name in names
    }
    return [MonthLog(n, entries[n], sorted(telling[n], key=lambda theme: (-theme.entries, theme.key))) for n in names]


def is_open(attitude: Attitude) -> bool:
    """Returns whether an attitude is neither done nor given up."""
    return state_of(attitude) not in ("done", "gone")


def is_late(attitude: Attitude, now: datetime) -> bool:
    """Returns whether an attitude is open past its deadline."""
    return is_open(attitude) and is_past(attitude.deadline, now)
