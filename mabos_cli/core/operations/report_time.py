"""What a report says of time gone by: the themes of quarters, months and weeks, and the top topics of each month."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mabos_cli.core.hierarchy.themes import Theme
from mabos_cli.core.language.periods import Period
from mabos_cli.core.operations.report_cut import Cut, cut, fair_share, shown

QUARTERS, _MOST = 24, 6  # of all agents together, and of one; each brings three months and thirteen weeks
_MONTHS, _TOPICS, _THEMES = 12, 6, 5


class Told(NamedTuple):
    """What the logs of an agent say of a period: days that have one of so many, entries, the state of its summary, themes,
    and the same of the periods below it."""

    period: Period
    days: int
    entries: int
    state: str
    themes: Sequence[Theme]
    below: tuple["Told", ...] = ()


class Node(NamedTuple):
    """A period in the hierarchy, with its themes and how often each is mentioned."""

    name: str
    days: int
    length: int
    entries: int
    state: str
    themes: Cut[tuple[str, int]]
    below: tuple["Node", ...]


class Span(NamedTuple):
    """The quarters of an agent, the latest first."""

    agent: str
    quarters: Cut[Node]


class Month(NamedTuple):
    """A month, how many entries its logs have, and its top topics with how often each is mentioned."""

    name: str
    entries: int
    topics: Cut[tuple[str, int]]


def share_quarters(counts: Sequence[int]) -> int:
    """How many of its quarters each agent may show, the latest, given how many each has."""
    return min(_MOST, fair_share(counts, QUARTERS))


def list_spans(told: Iterable[tuple[str, Cut[Told]]]) -> Cut[Span]:
    """The hierarchy of each agent that has logs, given with its quarters, the latest first."""
    found = [Span(agent, Cut(tuple(map(_node, told.rows)), told.left)) for agent, told in told if told.rows]
    return cut(found, QUARTERS)


def _node(told: Told) -> Node:
    period = told.period
    themes = cut(((shown(theme.shown, 40), theme.entries) for theme in told.themes), _THEMES)
    below = tuple(map(_node, told.below))
    return Node(period.name, told.days, period.length, told.entries, told.state, themes, below)


def list_months(told: Iterable[tuple[str, Cut[Told]]]) -> Cut[Month]:
    """The months of all agents together, the latest first. A topic of several agents is one, and counts for all of them."""
    entries: dict[str, int] = {}
    themes: dict[str, dict[str, Theme]] = {}
    for month in (month for _, quarters in told for quarter in quarters.rows for month in quarter.below):
        name = month.period.name
        entries[name] = entries.get(name, 0) + month.entries
        known = themes.setdefault(name, {})
        for theme in month.themes:
            old = known.get(theme.key)
            known[theme.key] = _together(old, theme) if old else theme
    rows = [_month(name, entries[name], themes[name]) for name in sorted(entries, reverse=True) if entries[name]]
    return cut(rows, _MONTHS)


def _together(one: Theme, two: Theme) -> Theme:
    return one._replace(entries=one.entries + two.entries, score=one.score + two.score)


def _month(name: str, entries: int, themes: dict[str, Theme]) -> Month:
    """A month with its most telling topics, the most frequent first."""
    telling = cut(sorted(themes.values(), key=lambda theme: (-theme.score, theme.key)), _TOPICS)
    often = sorted(telling.rows, key=lambda theme: (-theme.entries, theme.key))
    return Month(name, entries, Cut(tuple((shown(t.shown, 40), t.entries) for t in often), telling.left))
