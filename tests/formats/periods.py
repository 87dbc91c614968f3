"""Summaries made of a few events: what the tests of their formats share."""

from datetime import date

from mabos_cli.core.hierarchy.log_event import LogEvent
from mabos_cli.core.hierarchy.summary import Earlier, History, Stretch, digest_segment, rank_period, summarize
from mabos_cli.core.hierarchy.themes import add_counts
from mabos_cli.core.language.periods import month_of, parse_period, week_of

DAY = "2026-02-24"


def event(text="We ship", **fields):
    return LogEvent(DAY, 3, text, **fields)


def cut(days):
    """The segments of some days, given with their events."""
    groups = {}
    for day in sorted(days):
        moment = date.fromisoformat(day)
        told = (day, f"hash of {day}", [e._replace(day=day, line=n) for n, e in enumerate(days[day], 1)])
        groups.setdefault((week_of(moment).name, month_of(moment).name), []).append(told)
    return [digest_segment(week, month, told) for (week, month), told in groups.items()]


def sum_up(name, days, *before):
    """The summary of a period; those before it, latest first, are compared with it."""
    period = parse_period(name)

    def stretch(p):
        return Stretch(tuple(cut({day: e for day, e in days.items() if p.holds(date.fromisoformat(day))})))

    past = [stretch(parse_period(each)) for each in before]
    counts = [add_counts(segment.counts for segment in each.segments) for each in past]
    earlier = [Earlier(*pair) for pair in zip(before, counts, strict=True)]
    known = rank_period(period.level, past[0], earlier[1:]) if past else ()
    return summarize(period, stretch(period), History(earlier, known))


def busy(count=30, **fields):
    """Three months of days with events of every sort."""
    return {
        f"2026-{month:02d}-{day:02d}": [
            event(f"We decided to raise price {n} of berth {day}", kind="decision", tags=("pricing",), **fields)
            if n % 3
            else event(f"Signed contract {n} with harbour {day}", kind="outcome", importance=0.7, heading="Contracts")
            for n in range(count)
        ]
        for month in (1, 2, 3)
        for day in (3, 4, 10, 17, 18, 24)
    }
