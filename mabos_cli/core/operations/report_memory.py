"""Counts memory for a report: what was stored when, where it is now, its importance and trust, and the most important."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from heapq import nsmallest
from typing import Generic, NamedTuple, TypeVar

from mabos_cli.core.hierarchy.themes import Theme
from mabos_cli.core.language.periods import find_day, week_of
from mabos_cli.core.language.secrets import redact
from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory.item import CLASSES, PRIORITIES, STORES, TRUSTS, TYPES, MemoryItem, priority_of

TIERS = (*STORES, "archive")
CLASS_NAMES = (*CLASSES, "other")
_CLASS_OF = {kind: name for name, kinds in CLASSES.items() for kind in kinds}
_WEEKS, _FEWEST = 53, 12  # weeks that are drawn, at most and at least
_TYPES, _MOMENTS = 14, 40
AGENTS = 60  # in a table that has a row for each
Row = TypeVar("Row")
# A secret is looked for before a text is cut, or its first half would be shown. The longest have half of this.
_READ = 32_768
MONTHS, _TOPICS = 12, 6


class Cut(NamedTuple, Generic[Row]):
    """The rows that are shown, and how many are not."""

    rows: tuple[Row, ...] = ()
    left: int = 0

    @property
    def total(self) -> int:
        return len(self.rows) + self.left


def cut(rows: Iterable[Row], most: int) -> Cut[Row]:
    """Returns the first rows, at most so many, and the number of the others.

    >>> cut("abc", 2)
    Cut(rows=('a', 'b'), left=1)
    """
    found = tuple(rows)
    return Cut(found[:most], max(0, len(found) - most))


def fair_share(sizes: Sequence[int], room: int) -> int:
    """Returns about the largest number of rows that everybody may have for all to find room; one at least.

    >>> fair_share([2, 50, 60], 42)
    20
    """
    share = max(sizes, default=1)
    while share > 1 and sum(min(size, share) for size in sizes) > room:
        share -= max(1, share // 20)
    return max(1, share)


def shown(text: str, width: int = 160) -> str:
    """Returns a text as one safe line: secrets replaced, control and direction characters made visible, cut at a word.

    >>> shown("key\\n PASSWORD=hunter2x"), shown("one two three", 9)
    ('key PASSWORD=[redacted:password]', 'one two…')
    """
    return one_line(redact(text[:_READ])[0], width)


class Held(NamedTuple):
    """An item with whose it is, where it is, and how far it can be relied on, its sources considered."""

    agent: str
    tier: str
    item: MemoryItem
    trust: str


class Week(NamedTuple):
    """A week and how many items were stored in it, by class."""

    name: str
    first: date
    counts: tuple[int, ...]


class Kind(NamedTuple):
    """A type of items: how many were ever stored, and how many in each of the weeks."""

    name: str
    total: int
    weeks: tuple[int, ...]


class Moment(NamedTuple):
    """A memory on the timeline."""

    day: str
    agent: str
    id: str
    type: str
    importance: float
    trust: str
    text: str


class Outside(NamedTuple):
    """Items that the weeks do not show: stored before them, dated later than now, and not dated."""

    earlier: int = 0
    later: int = 0
    undated: int = 0


class MemoryView(NamedTuple):
    """Memory at a glance. Tiers are counted for all and by agent; importance and trust are those of live items."""

    tiers: tuple[int, ...]
    by_agent: Cut[tuple[str, tuple[int, ...]]]
    bands: tuple[tuple[str, int], ...]
    trusts: tuple[tuple[str, int], ...]
    weeks: tuple[Week, ...]
    kinds: Cut[Kind]
    outside: Outside
    timeline: Cut[Moment]

    @property
    def live(self) -> int:
        return sum(self.tiers[:-1])

    @property
    def archived(self) -> int:
        return self.tiers[-1]


class Tally:
    """Counts items one by one, so that however many there are, only the best are kept."""

    def __init__(self, agents: tuple[str, ...], today: date) -> None:
        self._today = today
        self._tiers = {agent: Counter[str]() for agent in agents}
        self._bands: Counter[str] = Counter()
        self._trusts: Counter[str] = Counter()
        self._stored: Counter[tuple[date, str]] = Counter()
        self._types: Counter[str] = Counter()
        self._best: list[Held] = []
        self._later = self._undated = 0

    def add(self, held: Held) -> None:
        """Counts an item. One that is archived was stored all the same; of its kind only that is told."""
        item = held.item
        self._tiers[held.agent][held.tier] += 1
        self._types[item.type] += 1
        day = find_day(item.created_at[:10])
        if day is None:
            self._undated += 1
        elif day > self._today:
            self._later += 1
        else:
            self._stored[week_of(day).first, item.type] += 1
        if held.tier == TIERS[-1]:
            return
        self._bands[priority_of(item.importance)] += 1
        self._trusts[held.trust] += 1
        self._best.append(held)
        if len(self._best) > 50 * _MOMENTS:
            self._best = nsmallest(_MOMENTS, self._best, key=_rank)

    def view(self) -> MemoryView:
        """Returns what was counted."""
        weeks = self._weeks()
        shown_weeks = {week.first for week in weeks}
        earlier = sum(count for (first, _), count in self._stored.items() if first not in shown_weeks)
        best = nsmallest(_MOMENTS, self._best, key=_rank)
        live = self._bands.total()
        # The known types in their order, and behind them those that other tools wrote.
        names = [name for name in TYPES if self._types[name]]
        names += sorted(self._types.keys() - {*TYPES}, key=lambda name: (-self._types[name], name))
        return MemoryView(
            tuple(sum(counts[tier] for counts in self._tiers.values()) for tier in TIERS),
            cut(((agent, tuple(counts[tier] for tier in TIERS)) for agent, counts in self._tiers.items()), AGENTS),
            tuple((name, self._bands[name]) for name in PRIORITIES),
            tuple((name, self._trusts[name]) for name in reversed(TRUSTS)),
            weeks,
            cut((self._kind(name, weeks) for name in names), _TYPES),
            Outside(earlier, self._later, self._undated),
            Cut(tuple(sorted(map(_moment, best), key=lambda m: (m.day, m.id), reverse=True)), live - len(best)),
        )

    def _weeks(self) -> tuple[Week, ...]:
        """Returns the weeks up to the last one in which anything was stored, those included in which nothing was."""
        firsts = {first for first, _ in self._stored}
        if not firsts:
            return ()
        last = max(firsts)
        span = (last - min(firsts)).days // 7 + 1
        count = min((last - date.min).days // 7 + 1, max(_FEWEST, min(span, _WEEKS)))
        classes: Counter[tuple[date, str]] = Counter()
        for (first, kind), stored in self._stored.items():
            classes[first, _CLASS_OF.get(kind, "other")] += stored
        found = [last - timedelta(weeks=back) for back in reversed(range(count))]
        return tuple(Week(week_of(day).name, day, tuple(classes[day, n] for n in CLASS_NAMES)) for day in found)

    def _kind(self, name: str, weeks: tuple[Week, ...]) -> Kind:
        return Kind(shown(name, 24), self._types[name], tuple(self._stored[week.first, name] for week in weeks))


def _rank(held: Held) -> tuple[float, tuple[int, ...], str, str]:
    """Returns a key that sorts the most important first, of equals the latest."""
    newest = tuple(-ord(letter) for letter in held.item.happened_at[:24])
    return -held.item.importance, newest, held.agent, held.item.id


def _moment(held: Held) -> Moment:
    item = held.item
    return Moment(
        shown(item.happened_at[:10], 10),
        held.agent,
        shown(item.id, 40),
        shown(item.type, 24),
        item.importance,
        held.trust,
        shown(item.content, 220),
    )


class MonthLog(NamedTuple):
    """A month by the logs of an agent: its name, entries and themes."""

    name: str
    entries: int
    themes: Sequence[Theme]


class Month(NamedTuple):
    """A month, how many entries its logs have, and its top topics with how often each is mentioned."""

    name: str
    entries: int
    topics: Cut[tuple[str, int]]


def list_months(logs: Iterable[MonthLog]) -> Cut[Month]:
    """Lists the months of all agents together, the latest first.

    A topic of several agents is one, and counts for all of them.
    """
    entries: dict[str, int] = {}
    themes: dict[str, dict[str, Theme]] = {}
    for month in logs:
        entries[month.name] = entries.get(month.name, 0) + month.entries
        known = themes.setdefault(month.name, {})
        for theme in month.themes:
            old = known.get(theme.key)
            known[theme.key] = _together(old, theme) if old else theme
    rows = [_month(name, entries[name], themes[name]) for name in sorted(entries, reverse=True) if entries[name]]
    return cut(rows, MONTHS)


def _together(one: Theme, two: Theme) -> Theme:
    return one._replace(entries=one.entries + two.entries, score=one.score + two.score)


def _month(name: str, entries: int, themes: dict[str, Theme]) -> Month:
    """Returns a month with its most telling topics, the most frequent first."""
    telling = cut(sorted(themes.values(), key=lambda theme: (-theme.score, theme.key)), _TOPICS)
    often = sorted(telling.rows, key=lambda theme: (-theme.entries, theme.key))
    return Month(name, entries, Cut(tuple((shown(t.shown, 40), t.entries) for t in often), telling.left))
