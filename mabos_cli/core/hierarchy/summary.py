"""Summarizes a week, a month or a quarter: themes, patterns, trend, decisions, milestones, and its parts.

Summaries are made of segments: the days of one ISO week that lie in one month, read once and boiled down. A week across a
month boundary counts in both months and each of its days once, and one changed day costs the reading of a few.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from itertools import combinations

from mabos_cli.core.hierarchy import themes as theming
from mabos_cli.core.hierarchy.log_event import LogEvent, frame_of, shape_of
from mabos_cli.core.language.periods import WEEKDAYS, Period
from mabos_cli.core.language.text import fold, one_line, whole_sentences
from mabos_cli.core.records import NamedTuple

_THEMES = {"weekly": 6, "monthly": 10, "quarterly": 14}
_LEAST, _BELOW = 0.4, 0.35  # importance of a key line: at least, and how far below the most important one at most
_LINES, _KEY_LINES, _SHOWN, _HEADINGS, _PAIRS = 3, 12, 40, 6, 40
_OTHER = 0.5  # importance from which other lines are listed
_ROUTINE, _ABOVE = 3, 0.7  # lines of one frame that make it everyday, and the importance that no routine has
_LESSONS = ("lesson", "insight")
_TAGS = 12  # of an entry that are paired: each with each would be very many
TEXT = 280  # characters of a line that a digest keeps, in whole sentences
_CHORE = 15  # words of an entry that may be a chore; longer ones do not recur word for word


class Highlight(NamedTuple):
    """A line worth showing, with where it stands in the log of its day."""

    day: str
    line: int
    kind: str
    weight: float
    text: str
    id: str
    milestone: bool = False
    archived: bool = False
    routine: bool = False

    @property
    def is_key(self) -> bool:
        """Returns whether it is a decision, an outcome or a lesson, or anything else that changed the course, and no routine."""
        return not self.routine and (self.milestone or self.kind in ("decision", "outcome", *_LESSONS))


class DayDigest(NamedTuple):
    """A day: the hash of its log, how many events it tells, its headings and its lines, most important first.

    Untrusted events are counted, and leave nothing else behind.
    """

    day: str
    hash: str
    entries: int
    headings: tuple[str, ...]
    lines: tuple[Highlight, ...]
    untrusted: int = 0


class Chore(NamedTuple):
    """An entry that recurs: how often in a segment, on which weekdays, in which words."""

    text: str
    entries: int
    days: int


class Segment(NamedTuple):
    """The days of one week in one month, those included whose logs tell nothing."""

    week: str
    month: str
    days: tuple[DayDigest, ...]
    kinds: Mapping[str, int]
    topics: Mapping[str, theming.Topic]
    chores: Mapping[str, Chore]
    pairs: Mapping[str, int]

    @property
    def entries(self) -> int:
        return sum(day.entries for day in self.days)

    @property
    def counts(self) -> theming.Counts:
        days = sum(1 for day in self.days if day.entries)
        return theming.Counts((self.topics,), self.entries, self.kinds.get("decision", 0), days)


def digest_segment(week: str, month: str, days: Iterable[tuple[str, str, list[LogEvent]]]) -> Segment:
    """Returns the segment of some days, each given with the hash of its log and its events.

    What consolidation wrote is left out: its members are events of their own, and nothing counts twice.
    """
    found = [(day, digest, [e for e in events if e.source != "consolidation"]) for day, digest, events in days]
    trusted = [(day, digest, [event for event in events if not event.untrusted]) for day, digest, events in found]
    left_out = [len(events) - len(kept) for (_, _, events), (_, _, kept) in zip(found, trusted, strict=True)]
    by_weekday = [(date.fromisoformat(day).weekday(), events) for day, _, events in trusted]
    kinds = Counter(event.kind for _, events in by_weekday for event in events)
    pairs: Counter[str] = Counter()
    for _, events in by_weekday:
        for event in events:
            pairs.update("\t".join(pair) for pair in combinations(sorted(set(event.tags))[:_TAGS], 2))
    kept = sorted(pairs, key=lambda pair: (-pairs[pair], pair))[:_PAIRS]
    return Segment(
        week,
        month,
        tuple(digest_day(*each)._replace(untrusted=n) for each, n in zip(trusted, left_out, strict=True)),
        dict(sorted(kinds.items())),
        theming.count_topics(by_weekday),
        _chores(by_weekday),
        {pair: pairs[pair] for pair in sorted(kept)},
    )


def digest_day(day: str, digest: str, events: list[LogEvent]) -> DayDigest:
    """Returns a day boiled down: decisions, outcomes and lessons first, then what weighs most; duplicates count once."""
    headings = tuple(dict.fromkeys(one_line(e.heading, 40) for e in events if e.heading.strip()))[:_HEADINGS]
    once = {fold(event.text): event for event in sorted(events, key=lambda e: (e.weight, -e.line))}.values()
    ranked = _ranked(map(_highlight, once))
    keys = sum(line.is_key for line in ranked)
    return DayDigest(day, digest, len(events), headings, (*ranked[:keys][:_KEY_LINES], *ranked[keys:][:_LINES]))


def _ranked(lines: Iterable[Highlight]) -> tuple[Highlight, ...]:
    return tuple(sorted(lines, key=lambda line: (not line.is_key, line.routine, -line.weight, line.line)))


def _mark_routine(days: Iterable[DayDigest]) -> tuple[DayDigest, ...]:
    """Returns the days with their everyday lines marked, and those last. Lines that go on in the same three words are
    of one frame."""
    found = [(day, [(line, " ".join(frame_of(line.text).split()[:3])) for line in day.lines]) for day in days]
    often = Counter(frame for _, lines in found for _, frame in lines)

    def marked(line: Highlight, frame: str) -> Highlight:
        is_routine = often[frame] >= _ROUTINE and line.weight < _ABOVE and " " in frame
        return line._replace(routine=True) if is_routine else line

    return tuple(day._replace(lines=_ranked(marked(*pair) for pair in lines)) for day, lines in found)


def _highlight(event: LogEvent) -> Highlight:
    text, weight = whole_sentences(event.text, TEXT, TEXT), round(event.weight, 2)
    return Highlight(event.day, event.line, event.kind, weight, text, event.id, event.is_milestone, event.archived)


def _chores(days: list[tuple[int, list[LogEvent]]]) -> dict[str, Chore]:
    found: dict[str, Chore] = {}
    for weekday, events in days:
        for event in events:
            shape = shape_of(event.text)
            if 2 <= shape.count(" ") + 1 <= _CHORE:
                old = found.get(shape) or Chore(one_line(event.text, 90), 0, 0)
                found[shape] = Chore(old.text, old.entries + 1, old.days | 1 << weekday)
    return dict(sorted(found.items()))


class Stretch(NamedTuple):
    """Some segments together: a week, a month or a quarter."""

    segments: tuple[Segment, ...]

    @property
    def days(self) -> list[DayDigest]:
        """Returns the days that tell anything, in order."""
        days = (day for segment in self.segments for day in segment.days if day.entries)
        return sorted(days, key=lambda day: day.day)

    @property
    def extent(self) -> theming.Extent:
        days = self.days
        weeks = len({segment.week for segment in self.segments if segment.entries})
        return theming.Extent(len(days), sum(day.entries for day in days), weeks)

    @property
    def untrusted(self) -> int:
        """Returns how many events were left out."""
        return sum(day.untrusted for segment in self.segments for day in segment.days)

    @property
    def kinds(self) -> Counter[str]:
        return sum((Counter(segment.kinds) for segment in self.segments), Counter())

    def topics_by(self, place: Callable[[Segment], str]) -> list[theming.PartTopics]:
        return [theming.PartTopics(place(segment), segment.topics) for segment in self.segments]


def find_key_lines(days: Iterable[DayDigest], chosen: Callable[[Highlight], bool]) -> tuple[Highlight, ...]:
    """Returns the most important lines of a sort, in order of importance; the same words once."""
    found = [line for day in days for line in day.lines if line.is_key and chosen(line)]
    found.sort(key=lambda line: (-line.weight, line.day, line.line))
    least = max(_LEAST, found[0].weight - _BELOW) if found else _LEAST
    once: dict[str, Highlight] = {}
    for line in found:
        if line.weight >= least:
            once.setdefault(line.text.casefold(), line)
    return tuple(once.values())[:_SHOWN]


class Pattern(NamedTuple):
    """Something that keeps happening, in words, with how often."""

    text: str
    entries: int
    rhythm: str = ""


def find_chores(segments: Iterable[Segment], count: int) -> list[Pattern]:
    """Returns entries that recur in at least two weeks and three times, with their weekday if it is always the same."""
    chores = [(shape, segment.week, chore) for segment in segments for shape, chore in segment.chores.items()]
    found = _recurring(((shape, week, chore.entries) for shape, week, chore in chores), 3, count)
    masks: Counter[str] = Counter()
    for shape, _, chore in chores:
        masks[shape] |= chore.days
    texts = {shape: chore.text for shape, _, chore in chores}
    return [Pattern(texts[shape], times, rhythm_of(masks[shape], weeks)) for shape, times, weeks in found]


def rhythm_of(mask: int, weeks: int) -> str:
    """Returns the weekday on which something always happens, if that was in three weeks at least."""
    return f"{WEEKDAYS[mask.bit_length() - 1]}s" if weeks >= 3 and mask.bit_count() == 1 else ""


def find_pairs(segments: Sequence[Segment], count: int) -> list[Pattern]:
    """Returns tags that go together in at least two weeks and five entries, most often first; what most entries carry goes
    with everything."""
    half = sum(segment.entries for segment in segments) / 2
    pairs = ((pair, segment.week, entries) for segment in segments for pair, entries in segment.pairs.items())
    found = [(pair.split("\t"), times) for pair, times, _ in _recurring(pairs, 5, 0)]
    named: Counter[str] = Counter()
    for segment in segments:
        named.update({key: topic.named for key, topic in segment.topics.items()})
    kept = [(tags, times) for tags, times in found if all(named[theming.topic_key(tag)] <= half for tag in tags)]
    return [Pattern(" with ".join(tags), times) for tags, times in kept[:count]]


def _recurring(counted: Iterable[tuple[str, str, int]], least: int, count: int) -> list[tuple[str, int, int]]:
    """Returns what was told so often, and in two weeks at least, given with the week and how often: how often in how many weeks."""
    weeks: dict[str, set[str]] = {}
    times: Counter[str] = Counter()
    for name, week, entries in counted:
        weeks.setdefault(name, set()).add(week)
        times[name] += entries
    found = [name for name in times if times[name] >= least and len(weeks[name]) >= 2]
    found.sort(key=lambda name: (-times[name], name))
    return [(name, times[name], len(weeks[name])) for name in found[: count or None]]


class Part(NamedTuple):
    """A week of a month, or a month of a quarter: its days, the themes that stand there, and lines that are worth telling beside
    decisions, outcomes and lessons."""

    name: str
    days: tuple[DayDigest, ...]
    extent: theming.Extent
    themes: tuple[tuple[str, int], ...]
    lines: tuple[Highlight, ...] = ()


class Compared(NamedTuple):
    """The period before, with how much it and this one hold, and what changed since."""

    name: str
    then: theming.Counts
    now: theming.Counts
    trend: theming.Trend


class Earlier(NamedTuple):
    """A period before: its name, and how often it spoke of what."""

    name: str
    counts: theming.Counts


class History(NamedTuple):
    """The periods before one, latest first, and what was telling about the latest."""

    earlier: Sequence[Earlier] = ()
    known: Sequence[theming.Theme] = ()


class Summary(NamedTuple):
    """All that a summary says, before it is cut to size."""

    period: Period
    days: tuple[DayDigest, ...]
    extent: theming.Extent
    kinds: Counter[str]
    themes: tuple[theming.Theme, ...]
    steady: tuple[theming.Theme, ...]
    chores: tuple[Pattern, ...]
    pairs: tuple[Pattern, ...]
    decisions: tuple[Highlight, ...]
    milestones: tuple[Highlight, ...]
    lessons: tuple[Highlight, ...]
    parts: tuple[Part, ...]
    before: Compared | None
    untrusted: int = 0


def rank_period(level: str, now: Stretch, earlier: Sequence[Earlier]) -> list[theming.Theme]:
    """Returns what is telling about a period, as far as others are compared with it."""
    return theming.rank_topics(_past(now), [each.counts for each in earlier])[: _THEMES[level]]


def summarize(period: Period, now: Stretch, history: History = History()) -> Summary:
    """Returns what the segments of a period come to, against those of the periods before."""
    past, count, days = _past(now), _THEMES[period.level], _mark_routine(now.days)
    ranked = theming.rank_topics(past, [each.counts for each in history.earlier])
    themes = theming.choose_themes(ranked, history.known, count)
    placed = _placed(themes, now) if period.level == "quarterly" else themes
    compared = None
    if history.earlier:
        last = history.earlier[0]
        counts = theming.add_counts(segment.counts for segment in now.segments)
        compared = Compared(
            last.name, last.counts, counts, theming.find_trend(themes, counts, history.known, last.counts)
        )
    return Summary(
        period,
        days,
        now.extent,
        now.kinds,
        tuple(placed),
        tuple(theming.find_steady(past, themes, 8)),
        tuple(find_chores(now.segments, 4)),
        tuple(find_pairs(now.segments, 3)),
        find_key_lines(days, lambda line: line.kind == "decision"),
        find_key_lines(days, lambda line: line.kind not in ("decision", *_LESSONS)),
        find_key_lines(days, lambda line: line.kind in _LESSONS),
        tuple(_parts(period, now, days, placed)),
        compared,
        now.untrusted,
    )


def _week(segment: Segment) -> str:
    return segment.week


def _past(stretch: Stretch) -> theming.Past:
    """Topics by week at every level: what recurs across weeks is a theme, even of a quarter."""
    extent = stretch.extent
    return theming.Past(theming.merge_topics(stretch.topics_by(_week), min(2, extent.weeks)), extent)


def _placed(themes: list[theming.Theme], now: Stretch) -> list[theming.Theme]:
    """Returns the themes of a quarter by month: those are the parts that it leads to."""
    months = theming.merge_topics(_only(now.topics_by(lambda segment: segment.month), themes))
    return [theme._replace(places=months[theme.key].places) for theme in themes]


def _only(parts: Iterable[theming.PartTopics], themes: Iterable[theming.Theme]) -> list[theming.PartTopics]:
    """Returns what the parts say about some themes."""
    keys = {theme.key for theme in themes}
    return [theming.PartTopics(p.place, {key: p.topics[key] for key in keys & p.topics.keys()}) for p in parts]


def _parts(period: Period, now: Stretch, days: Sequence[DayDigest], themes: Sequence[theming.Theme]) -> list[Part]:
    if period.level == "weekly":
        return []
    names = list(dict.fromkeys(_part_name(period, segment) for segment in now.segments if segment.entries))
    known = {day.day: day for day in days}
    return [_part(period, now, known, themes, name) for name in names]


def _part_name(period: Period, segment: Segment) -> str:
    return segment.week if period.level == "monthly" else segment.month


def _part(
    period: Period, now: Stretch, known: Mapping[str, DayDigest], themes: Sequence[theming.Theme], name: str
) -> Part:
    stretch = Stretch(tuple(s for s in now.segments if _part_name(period, s) == name))
    here = [(theme.shown, count) for theme in themes for place, count in theme.places if place == name]
    here.sort(key=lambda pair: (-pair[1], pair[0]))
    days = tuple(known[day.day] for day in stretch.days)
    others = (
        line for day in days for line in day.lines if not line.is_key and not line.routine and line.weight >= _OTHER
    )
    lines = sorted(others, key=lambda line: (-line.weight, line.day, line.line))[:_LINES]
    return Part(name, days, stretch.extent, tuple(here[:4]), tuple(lines))
