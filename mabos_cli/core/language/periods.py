"""The calendar of the hierarchy: days, ISO weeks (Monday to Sunday), months and quarters, and which lie within which."""

import re
from collections.abc import Iterable
from datetime import date, timedelta
from functools import cache

from mabos_cli.core import BadValue
from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.records import NamedTuple

LEVELS = ("quarterly", "monthly", "weekly", "daily")
_SUMMARIES = tuple(f"memory/{level}/" for level in LEVELS if level != "daily")
MONTHS = ("January February March April May June July August September October November December").split()
MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in MONTHS).replace("(?:tem", "(?:t|tem")  # in a pattern
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_BEFORE = r"(?i:\b(?:in|since|until|till|of|from|during|early|late|mid|last|this|before|after))"
SEASONS = {"spring": (3, 4, 5), "summer": (6, 7, 8), "autumn": (9, 10, 11), "fall": (9, 10, 11), "winter": (12, 1, 2)}


class Period(NamedTuple):
    """A stretch of time with the name of its file: 2026-02-24, 2026-W09, 2026-02 or 2026-Q1."""

    level: str
    name: str
    first: date
    last: date

    def holds(self, day: date) -> bool:
        return self.first <= day <= self.last

    @property
    def length(self) -> int:
        return (self.last - self.first).days + 1


def month_number(name: str) -> int:
    """Returns the number of a month by its name or the beginning of it, as MONTH finds it.

    >>> month_number("sept"), month_number("May")
    (9, 5)
    """
    return next(n for n, month in enumerate(MONTHS, 1) if month[:3].casefold() == name[:3].casefold())


def short_name(name: str) -> str:
    """Returns what a week or a month is called within its year.

    >>> short_name("2026-W09"), short_name("2026-02"), short_name("2026-02-24")
    ('W09', 'February', '02-24')
    """
    return MONTHS[int(name[5:]) - 1] if name[5:].isdigit() else name[5:]


def find_day(text: str) -> date | None:
    """Returns the day that a name such as 2026-02-24 stands for, if there is such a day."""
    try:
        return date.fromisoformat(text) if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else None
    except ValueError:
        return None


_WRITTEN = (
    rf"(?:(?P<y>\d{{4}})[-/.](?P<m>\d\d?)[-/.](?P<d>\d\d?)|(?P<d2>\d\d?)\.(?P<m2>\d\d?)\.(?P<y2>\d{{4}})"
    rf"|(?P<d3>\d\d?)(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(?P<n3>{MONTH})\.?,?\s+(?P<y3>\d{{4}})"
    rf"|(?P<n4>{MONTH})\.?\s+(?P<d4>\d\d?)(?:st|nd|rd|th)?,?\s+(?P<y4>\d{{4}}))(?!\d)"
)


def written_day(text: str) -> str:
    """Returns the day that a text begins with, as people write days, in the form 2026-02-24; empty when there is none.

    >>> written_day("24 February 2026 (board)"), written_day("Feb 24th, 2026"), written_day("24.2.2026"), written_day("soon")
    ('2026-02-24', '2026-02-24', '2026-02-24', '')
    """
    match = compiled(_WRITTEN, re.IGNORECASE).match(text.lstrip("*_` \t"))
    if not match:
        return ""
    year, day = (next(match[n] for n in match.groupdict() if n[0] == part and match[n]) for part in "yd")
    month = match["m"] or match["m2"] or month_number(match["n3"] or match["n4"])
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return ""


@cache
def day_of(day: date) -> Period:
    return Period("daily", day.isoformat(), day, day)


@cache
def week_of(day: date) -> Period:
    """Returns the ISO week of a day; its year is that of its Thursday.

    >>> week_of(date(2024, 12, 30)).name, week_of(date(2027, 1, 1)).name
    ('2025-W01', '2026-W53')
    """
    year, week, weekday = day.isocalendar()
    # Weeks that reach out of the years that Python can count end with those years.
    first = day - timedelta(days=min(weekday - 1, (day - date.min).days))
    last = day + timedelta(days=min(7 - weekday, (date.max - day).days))
    return Period("weekly", f"{year:04d}-W{week:02d}", first, last)


@cache
def month_of(day: date) -> Period:
    return _months("monthly", f"{day.year:04d}-{day.month:02d}", day.year, day.month, 1)


@cache
def quarter_of(day: date) -> Period:
    number = (day.month - 1) // 3
    return _months("quarterly", f"{day.year:04d}-Q{number + 1}", day.year, 3 * number + 1, 3)


def _months(level: str, name: str, year: int, month: int, count: int) -> Period:
    years, index = divmod(month - 1 + count, 12)
    after = date(year + years, index + 1, 1) if year + years <= date.max.year else date.max
    last = after - timedelta(days=1) if after != date.max else after
    return Period(level, name, date(year, month, 1), last)


_OF = {"daily": day_of, "weekly": week_of, "monthly": month_of, "quarterly": quarter_of}


def period_of(level: str, day: date) -> Period:
    """Returns the period of a level that a day lies in."""
    return _OF[level](day)


def periods_of(level: str, days: Iterable[date]) -> list[Period]:
    """Returns the periods of a level that the days lie in, oldest first."""
    return sorted({period_of(level, day) for day in days}, key=lambda period: period.first)


def before(period: Period) -> Period | None:
    """Returns the period before this one, of the same level; none before the first year."""
    return period_of(period.level, period.first - timedelta(days=1)) if period.first > date.min else None


def parse_period(name: str) -> Period:
    """Returns the period with a name.

    >>> parse_period("2026-W09").first.isoformat(), parse_period("2026-Q1").last.isoformat()
    ('2026-02-23', '2026-03-31')
    """
    match = re.fullmatch(r"(\d{4})(?:-(?:W(\d\d)|Q([1-4])|(\d\d)(?:-(\d\d))?))", name.strip().upper())
    try:
        if match and match[2]:
            return week_of(date.fromisocalendar(int(match[1]), int(match[2]), 4))
        if match and match[3]:
            return quarter_of(date(int(match[1]), 3 * int(match[3]), 1))
        if match and match[5]:
            return day_of(date(int(match[1]), int(match[4]), int(match[5])))
        if match:
            return month_of(date(int(match[1]), int(match[4]), 1))
    except ValueError:
        pass
    raise BadValue(f"no period {name[:40]!r}", "2026-Q1, 2026-02, 2026-W09 or 2026-02-24")


def span_text(first: date, last: date) -> str:
    """Returns a stretch of days as people write it.

    >>> span_text(date(2026, 2, 23), date(2026, 3, 1)), span_text(date(2026, 2, 3), date(2026, 2, 8))
    ('23 February to 1 March 2026', '3 to 8 February 2026')
    """
    end = f"{last.day} {MONTHS[last.month - 1]} {last.year}"
    if first == last:
        return end
    month = f" {MONTHS[first.month - 1]}" if (first.year, first.month) != (last.year, last.month) else ""
    year = f" {first.year}" if first.year != last.year else ""
    return f"{first.day}{month}{year} to {end}"


def mentioned(question: str, years: Iterable[int]) -> list[tuple[date, date]]:
    """Returns the stretches of time that a question names: dates, weeks, quarters, months, seasons. Without a year,
    those of every year.

    >>> mentioned("what did we sign in March?", [2026])
    [(datetime.date(2026, 3, 1), datetime.date(2026, 3, 31))]
    """
    found: list[tuple[date, date]] = []
    for name in re.findall(r"\b\d{4}-(?:[Ww]\d\d|[Qq][1-4]|\d\d(?:-\d\d)?)\b", question):
        try:
            found.append(parse_period(name)[2:4])
        except BadValue:
            continue
    if found:
        return found
    known = sorted(set(years))
    # A number is a year if there are logs of it, or if it stands behind a word of time: 2000 EUR is none.
    numbers = re.findall(r"\b((?:19|20)\d\d)\b(?!-)", question)
    time = rf"(?:{_BEFORE}|(?i:{'|'.join([*MONTHS, *SEASONS, 'Q[1-4]'])}))"
    behind = re.findall(rf"{time} ((?:19|20)\d\d)\b(?!-)", question) if numbers else []
    named = [int(year) for year in numbers if int(year) in known or year in behind]
    found = [span for year in (named or known) for span in _in_year(question, year)]
    return found or [(date(year, 1, 1), date(year, 12, 31)) for year in named]


def _in_year(question: str, year: int) -> list[tuple[date, date]]:
    found = [quarter_of(date(year, 3 * int(q), 1))[2:4] for q in re.findall(r"\b[Qq]([1-4])\b", question)]
    for number, month in enumerate(MONTHS, 1):
        # "may" and "march" are words of their own: months are taken as people write them.
        # And short forms, which are names too, only where a time is meant.
        short = rf"(?:{month[:3]}|{month[:4]})" if month == "September" else month[:3]
        if month[:3] in question and re.search(rf"\b{month}\b|{_BEFORE} {short}\b|\b{short}\.? \d", question):
            month_first = date(year, number, 1)
            days = re.findall(
                rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?:{month}|{short})\b|\b(?:{month}|{short})\.? (\d{{1,2}})(?:st|nd|rd|th)?\b",
                question,
            )
            numbers = [int(before or behind) for before, behind in days]
            last = month_of(month_first).last.day
            spans = [day_of(month_first.replace(day=day))[2:4] for day in numbers if 1 <= day <= last]
            found += spans or [month_of(month_first)[2:4]]
    for season, months in SEASONS.items():
        if re.search(rf"\b{season}\b", question.casefold()):
            start = date(max(1, year - (months[0] > months[-1])), months[0], 1)
            found.append((start, month_of(date(year, months[-1], 1)).last))
    return found


def written_date(text: str, *, is_end: bool = False) -> str:
    """Returns the day that a text begins with, or the first or the last one of the month, the quarter or the season that it
    names; empty when it names none, or several.

    >>> written_date("30 Sep 2026"), written_date("end of Q3 2026", is_end=True), written_date("soon")
    ('2026-09-30', '2026-09-30', '')
    """
    day = written_day(text)
    spans = mentioned(text, ()) if not day and len(text) <= 40 else []
    return spans[0][is_end].isoformat() if len(spans) == 1 else day


def is_summary(path: str) -> bool:
    """Returns whether a file of an agent sums up others: a week, a month or a quarter.

    >>> is_summary("memory/weekly/2026-W09.md"), is_summary("memory/2026-02-24.md")
    (True, False)
    """
    return path.startswith(_SUMMARIES)
