"""What a week, a month or a quarter comes to: themes, patterns, trend, decisions, milestones, and its parts."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mabos_cli.core.hierarchy.digest import DayDigest, Highlight, Pattern, Segment, Stretch, find_chores, find_pairs
from mabos_cli.core.hierarchy.themes import (
    Counts,
    Extent,
    Past,
    Spoken,
    Theme,
    Trend,
    add_counts,
    choose_themes,
    find_steady,
    find_trend,
    merge_topics,
    rank_topics,
)
from mabos_cli.core.language.periods import Period

_THEMES = {"weekly": 6, "monthly": 10, "quarterly": 14}
_LEAST = 0.4  # importance of a decision that counts as a key decision


class Part(NamedTuple):
    """A week of a month, or a month of a quarter: its days, the themes that stand there, and its most important line."""

    name: str
    days: tuple[DayDigest, ...]
    extent: Extent
    themes: tuple[tuple[str, int], ...]
    top: Highlight | None


class Compared(NamedTuple):
    """The period before, how many entries and decisions it had, and what changed since."""

    name: str
    entries: int
    decisions: int
    trend: Trend


class Earlier(NamedTuple):
    """A period before: its name, and how often it spoke of what."""

    name: str
    counts: Counts


class History(NamedTuple):
    """The periods before one, latest first, and what was telling about the latest."""

    earlier: Sequence[Earlier] = ()
    known: Sequence[Theme] = ()


class Summary(NamedTuple):
    """All that a summary says, before it is cut to size."""

    period: Period
    days: tuple[DayDigest, ...]
    extent: Extent
    kinds: Counter[str]
    themes: tuple[Theme, ...]
    steady: tuple[Theme, ...]
    chores: tuple[Pattern, ...]
    pairs: tuple[Pattern, ...]
    decisions: tuple[Highlight, ...]
    milestones: tuple[Highlight, ...]
    parts: tuple[Part, ...]
    before: Compared | None
    untrusted: int = 0


def rank_period(level: str, now: Stretch, earlier: Sequence[Earlier]) -> list[Theme]:
    """What is telling about a period, as far as others are compared with it."""
    return rank_topics(_past(now), [each.counts for each in earlier])[: _THEMES[level]]


def summarize(period: Period, now: Stretch, history: History = History()) -> Summary:
    """What the segments of a period come to, against those of the periods before."""
    past, count = _past(now), _THEMES[period.level]
    ranked = rank_topics(past, [each.counts for each in history.earlier])
    themes = choose_themes(ranked, history.known, count)
    placed = _placed(themes, now) if period.level == "quarterly" else themes
    compared = None
    if history.earlier:
        last = history.earlier[0]
        said = add_counts(segment.counts for segment in now.segments)
        trend = find_trend(themes, said, history.known, last.counts.total)
        compared = Compared(last.name, last.counts.total, last.counts.decisions, trend)
    return Summary(
        period,
        tuple(now.days),
        now.extent,
        now.kinds,
        tuple(placed),
        tuple(find_steady(past, themes, 8)),
        tuple(find_chores(now.segments, 4)),
        tuple(find_pairs(now.segments, 3)),
        tuple(now.lines(10, lambda line: line.kind == "decision" and line.weight >= _LEAST)),
        tuple(now.lines(8, lambda line: line.milestone and line.kind != "decision")),
        tuple(_parts(period, now, placed)),
        compared,
        now.untrusted,
    )


def _week(segment: Segment) -> str:
    return segment.week


def _past(stretch: Stretch) -> Past:
    """Topics by week at every level: what recurs across weeks is a theme, even of a quarter."""
    extent = stretch.extent
    return Past(merge_topics(stretch.spoken(_week), min(2, extent.weeks)), extent)


def _placed(themes: list[Theme], now: Stretch) -> list[Theme]:
    """The themes of a quarter by month: those are the parts that it leads to."""
    months = merge_topics(_only(now.spoken(lambda segment: segment.month), themes))
    return [theme._replace(places=months[theme.key].places) for theme in themes]


def _only(parts: Iterable[Spoken], themes: Iterable[Theme]) -> list[Spoken]:
    """What the parts say about some themes."""
    keys = {theme.key for theme in themes}
    return [Spoken(p.place, {key: p.topics[key] for key in keys & p.topics.keys()}) for p in parts]


def _parts(period: Period, now: Stretch, themes: Sequence[Theme]) -> list[Part]:
    if period.level == "weekly":
        return []
    names = list(dict.fromkeys(_part_name(period, segment) for segment in now.segments if segment.entries))
    return [_part(period, now, themes, name) for name in names]


def _part_name(period: Period, segment: Segment) -> str:
    return segment.week if period.level == "monthly" else segment.month


def _part(period: Period, now: Stretch, themes: Sequence[Theme], name: str) -> Part:
    own = Stretch(tuple(s for s in now.segments if _part_name(period, s) == name))
    here = [(theme.shown, count) for theme in themes for place, count in theme.places if place == name]
    here.sort(key=lambda pair: (-pair[1], pair[0]))
    top = own.lines(1, lambda line: True)
    return Part(name, tuple(own.days), own.extent, tuple(here[:3]), top[0] if top else None)
