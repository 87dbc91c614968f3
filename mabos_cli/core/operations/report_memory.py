"""What a report says of memory: how much was stored when, where it is now, how important and how far trusted, and the most
important of it."""

from collections import Counter
from datetime import date, timedelta
from heapq import nsmallest
from typing import NamedTuple

from mabos_cli.core.language.periods import find_day, week_of
from mabos_cli.core.memory.item import CLASSES, PRIORITIES, STORES, TRUSTS, TYPES, MemoryItem, priority_of
from mabos_cli.core.operations.report_cut import Cut, cut, shown

TIERS = (*STORES, "archive")
CLASS_NAMES = (*CLASSES, "other")
_CLASS_OF = {kind: name for name, kinds in CLASSES.items() for kind in kinds}
_WEEKS, _FEWEST = 53, 12  # weeks that are drawn, at most and at least
_TYPES, _MOMENTS = 14, 40
AGENTS = 60  # in a table that has a row for each


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
        """What it all comes to."""
        weeks = self._weeks()
        drawn = {week.first for week in weeks}
        earlier = sum(count for (first, _), count in self._stored.items() if first not in drawn)
        best = nsmallest(_MOMENTS, self._best, key=_rank)
        live = self._bands.total()
        return MemoryView(
            tuple(sum(counts[tier] for counts in self._tiers.values()) for tier in TIERS),
            cut(((agent, tuple(counts[tier] for tier in TIERS)) for agent, counts in self._tiers.items()), AGENTS),
            tuple((name, self._bands[name]) for name in PRIORITIES),
            tuple((name, self._trusts[name]) for name in reversed(TRUSTS)),
            weeks,
            self._kinds(weeks),
            Outside(earlier, self._later, self._undated),
            Cut(tuple(sorted(map(_moment, best), key=lambda m: (m.day, m.id), reverse=True)), live - len(best)),
        )

    def _weeks(self) -> tuple[Week, ...]:
        """The weeks up to the last one in which anything was stored, those included in which nothing was."""
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

    def _kinds(self, weeks: tuple[Week, ...]) -> Cut[Kind]:
        """The types, in the order in which they are known; others, as other tools may write them, behind those."""
        names = [name for name in TYPES if self._types[name]]
        names += sorted(self._types.keys() - {*TYPES}, key=lambda name: (-self._types[name], name))
        return cut((self._kind(name, weeks) for name in names), _TYPES)

    def _kind(self, name: str, weeks: tuple[Week, ...]) -> Kind:
        return Kind(shown(name, 24), self._types[name], tuple(self._stored[week.first, name] for week in weeks))


def _rank(held: Held) -> tuple[float, tuple[int, ...], str, str]:
    """The most important first, of equals the latest."""
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
