"""Points in time as sentences name them, from years to hours, and whether two of them can be one."""

import re
from datetime import date
from functools import cache

from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.language.periods import MONTH, WEEKDAYS, month_number
from mabos_cli.core.records import NamedTuple

_NTH = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 9}
_SEASONS = ["spring", "summer", "autumn", "winter", "easter", "christmas"]
# Where seasons meet, a month belongs to both.
_SEASON_MONTHS = ({3, 4, 5, 6}, {6, 7, 8, 9}, {9, 10, 11, 12}, {12, 1, 2, 3}, {3, 4}, {12})
_DAYS: dict[str, tuple[int, ...]] = {name: (number,) for number, name in enumerate(WEEKDAYS)}
_DAYS |= {"Weekday": (0, 1, 2, 3, 4), "weekday": (0, 1, 2, 3, 4), "Weekend": (5, 6), "weekend": (5, 6)}
_TURNS = {
    word: turn
    for turn, words in enumerate(("last previous yesterday", "this current today", "next coming tomorrow"))
    for word in words.split()
}
# Where a moment stood, one character is left: the words around it keep their places.
FIRST_MOMENT, MOST = 0xF000, 0x800


class Moment(NamedTuple):
    """As much of a point in time as a sentence names; what it leaves open is -1.

    The turn is 0 for last year, 1 for this and 2 for the next; the rest then says when that was or will be. The
    weekdays are those on which it is, the nth which of them in a month, 9 for the last one. What is not before it has it as
    the earliest; `at` is its place among the words of a clause.
    """

    year: int = -1
    half: int = -1
    quarter: int = -1
    month: int = -1
    day: int = -1
    minute: int = -1
    turn: int = -1
    season: int = -1
    text: str = ""
    is_earliest: bool = False
    nth: int = -1
    weekdays: frozenset[int] = frozenset()
    at: int = 0


@cache
def _pattern() -> re.Pattern[str]:
    """Returns the pattern of all forms, made when a sentence first needs it, as compiling takes long."""
    nth = r"(?:st|nd|rd|th)"
    year = r"(?:,? (?P<y%s>\d{4})\b)?"
    weekday = rf"(?:{'|'.join(_DAYS)})s?\b"
    return compiled(
        rf"\b(?P<iy>\d{{4}})-(?P<im>\d\d)(?:-(?P<id>\d\d)(?:T[\d:.]+Z?)?)?\b"
        rf"|\b(?:the )?(?:\d{{1,2}}{nth}?\s?(?:-|–|to|and)\s?)?"
        rf"(?P<d1>\d{{1,2}}){nth}?(?: of)? (?P<m1>{MONTH})\b\.?"
        + year % 1
        + rf"|\b(?P<m2>{MONTH})\.? (?P<d2>\d{{1,2}})(?:{nth}\b|\b(?![\d,.]*\d|%))"
        + year % 2
        + rf"|\b(?:(?:the )?(?:[Ee]nd|[Ss]tart|[Bb]eginning|[Mm]iddle) of |(?:[Ee]arly|[Ll]ate|[Mm]id)[ -])?"
        rf"(?P<m3>{MONTH})\b\.?"
        + year
        % 3
        + r"|\b(?:(?P<yq>\d{4})[- ]?)?Q(?P<q>[1-4])\b(?:[ -]?(?:of |in |FY)?(?P<yq2>\d{4})\b)?"
        r"|\b(?P<qn>[Ff]irst|[Ss]econd|[Tt]hird|[Ff]ourth) quarter\b(?:(?: of| in)? (?P<yq3>\d{4})\b)?"
        r"|\b(?:H(?P<h>[12])|(?P<hn>[Ff]irst|[Ss]econd) half)\b(?:(?: of| in)? (?P<yh>\d{4})\b)?"
        r"|\bFY ?'?(?P<fy>\d{4}|\d\d)\b"
        rf"|\b(?:(?P<nth>[Ff]irst|[Ss]econd|[Tt]hird|[Ff]ourth|[Ll]ast) (?=\w+ (?:of|in)\b))?(?P<wd>{weekday}(?:(?:,? (?:and|or|to|until|till|through) |, |\s?[-–]\s?)(?:on )?{weekday})*)"
        r"|\b(?P<hh>\d{1,2})(?::(?P<mm>\d\d)\b|\.(?P<mm2>\d\d)(?=\s?[ap]m\b))"
        r"(?:\s?(?P<ap>[ap])\.?m\b\.?)?(?: UTC| CET| EST)?"
        r"|\b(?P<hh2>\d{1,2})\s?(?:(?P<ap2>[ap])\.?m\b\.?|o'clock)"
        r"|\b(?P<noon>noon|midnight)\b"
        rf"|\bthe (?P<dd>\d{{1,2}}){nth}\b"
        r"|\b(?P<turn>[Ll]ast|[Tt]his|[Nn]ext|[Pp]revious|[Cc]urrent|[Cc]oming|end of the)"
        r" (?P<unit>year|quarter|month|week|summer|winter|spring|autumn)\b"
        r"|\b(?P<season>[Ss]pring|[Ss]ummer|[Aa]utumn|[Ww]inter)\b(?:(?: of)? (?P<ys>\d{4})\b"
        r"|(?=\s*(?:$|[,.;]|and\b)))"
        r"|\b(?P<feast>Easter|Christmas) (?P<yf>\d{4})\b"
        r"|\b(?P<near>[Yy]esterday|[Tt]oday|[Tt]omorrow)\b"
        r"|(?<![\d.,$€£#-])\b(?:(?P<when>[Ee]arly|[Ll]ate|end of|start of|beginning of)[ -])?(?P<year>19[5-9]\d|20[0-4]\d)\b(?![.,]?\d|[-:]\d|\s?(?:[%$€£]|k\b))"
    )


def take_moments(text: str, now: date | None = None) -> tuple[str, dict[str, Moment]]:
    """Returns the text with a mark in place of each point in time, and the moments by mark.

    The day on which it was said tells which year is the next.

    >>> [moment[:4] for moment in take_moments("since March 2026")[1].values()]
    [(2026, 1, 1, 3)]
    >>> [moment.year for moment in take_moments("next year", date(2026, 2, 3))[1].values()]
    [2027]
    """
    moments: dict[str, Moment] = {}

    def mark(match: re.Match[str]) -> str:
        found = _moment(match, now) if len(moments) < MOST else None
        if found is None:
            return match.group()
        name = chr(FIRST_MOMENT + len(moments))
        moments[name] = found
        return f" {name} "

    return _pattern().sub(mark, text), moments


def _year(text: str | None) -> int:
    if not text:
        return -1
    return int(text) + (2000 if len(text) == 2 else 0)


def _moment(match: re.Match[str], now: date | None) -> Moment | None:
    """Returns the point in time of a match, or None when there is no such day or hour."""
    got, text = match.groupdict(), " ".join(match.group().split())
    if got["iy"]:
        month, day = int(got["im"]), int(got["id"] or 0) or -1
        return _dated(int(got["iy"]), month, day, text) if 1 <= month <= 12 and day <= 31 else None
    for number in "123":
        if got[f"m{number}"]:
            month = month_number(got[f"m{number}"])
            return _dated(_year(got[f"y{number}"]), month, int(got.get(f"d{number}") or -1), text)
    if got["q"] or got["qn"]:
        quarter = int(got["q"] or _NTH[got["qn"].casefold()])
        return Moment(_year(got["yq"] or got["yq2"] or got["yq3"]), (quarter + 1) // 2, quarter, text=text)
    if got["h"] or got["hn"]:
        return Moment(_year(got["yh"]), int(got["h"] or _NTH[got["hn"].casefold()]), text=text)
    if got["fy"] or got["year"]:
        half = -1 if not got["when"] else 2 if got["when"].casefold() in ("late", "end of") else 1
        return Moment(_year(got["fy"] or got["year"]), half, text=text)
    if got["turn"] or got["near"]:
        return _relative(got, now)._replace(text=text)
    if season := got["season"] or got["feast"]:
        return Moment(_year(got["ys"] or got["yf"]), season=_SEASONS.index(season.casefold()), text=text)
    if got["wd"]:
        return Moment(weekdays=_weekdays(got["wd"]), text=text, nth=_NTH[got["nth"].casefold()] if got["nth"] else -1)
    if got["dd"]:
        return Moment(day=int(got["dd"]), text=text) if int(got["dd"]) <= 31 else None
    return _clock(got, text)


def _weekdays(text: str) -> frozenset[int]:
    """Returns the days of a list of weekdays, in which a stretch from one to another has all between them.

    >>> sorted(_weekdays("Saturdays")), sorted(_weekdays("Monday to Wednesday and on Fridays"))
    ([5], [0, 1, 2, 4])
    """
    found: set[int] = set()
    first = -1
    for word in re.findall(r"[A-Za-z]+|[-–]", text):
        days = _DAYS.get(word.removesuffix("s").capitalize())
        if days is None:
            first = max(found, default=-1) if word in ("to", "until", "till", "through", "-", "–") else -1
            continue
        if first >= 0:
            found |= {(first + n) % 7 for n in range((days[0] - first) % 7)}
        found |= {*days}
        first = -1
    return frozenset(found)


def _relative(got: dict[str, str | None], now: date | None) -> Moment:
    """Returns a point in time that depends on the day on which it was said, if that is known."""
    word = (got["turn"] or got["near"] or "this").casefold()
    turn = _TURNS.get(word, 1)
    unit = got["unit"] or "day"
    season = _SEASONS.index(unit) if unit in _SEASONS else -1
    if now is None or unit in ("week", "day"):
        return Moment(turn=turn, season=season)
    if unit in ("month", "quarter"):
        size = 1 if unit == "month" else 3
        at = now.year * 12 + now.month - 1 + size * (turn - 1)
        dated = _dated(at // 12, at % 12 + 1, -1, "")
        return dated._replace(turn=turn, month=dated.month if unit == "month" else -1)
    # "Next spring" may be the one of this year, said in winter: only the season is sure then.
    sure = unit == "year" or word == "this"
    return Moment(year=now.year + turn - 1 if sure else -1, turn=turn, season=season)


def _clock(got: dict[str, str | None], text: str) -> Moment | None:
    if got["noon"]:
        return Moment(minute=720 if got["noon"] == "noon" else 0, text=text)
    hour = int(got["hh"] or got["hh2"] or 99)
    minute = int(got["mm"] or got["mm2"] or 0)
    half = got["ap"] or got["ap2"]
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return Moment(minute=hour * 60 + minute, text=text) if hour <= 24 and minute < 60 else None


def _dated(year: int, month: int, day: int, text: str) -> Moment:
    return Moment(year, (month + 5) // 6, (month + 2) // 3, month, day, text=text)


def _months(moment: Moment) -> set[int]:
    """Returns the months that a point in time may lie in; none when it names none."""
    if moment.month != -1:
        return {moment.month}
    if moment.quarter != -1:
        return {3 * moment.quarter - n for n in range(3)}
    if moment.half != -1:
        return {6 * moment.half - n for n in range(6)}
    return _SEASON_MONTHS[moment.season] if moment.season != -1 else set()


def same_time(a: Moment, b: Moment) -> bool | None:
    """Returns whether two points in time agree as far as both say, or None when they speak of different things.

    >>> same_time(Moment(year=2027), Moment(2027, 1, 2, 4, 1)), same_time(Moment(month=4), Moment(minute=540))
    (True, None)
    >>> same_time(Moment(season=0), Moment(month=10))
    False
    """
    one, two = _months(a), _months(b)
    if a.turn != -1 and b.turn != -1:
        return a.turn == b.turn and (a.season == b.season or not one or not two or bool(one & two))
    known = -1 not in (a.year, b.year) or (a.year == b.year and one and two)
    if a.is_earliest != b.is_earliest and known:
        early, other = (a, b) if a.is_earliest else (b, a)
        latest = (other.year, max(_months(other), default=12), other.day if other.day != -1 else 31)
        return latest >= (early.year, min(_months(early), default=1), early.day)
    if one and two and not one & two:
        return False
    if a.weekdays and b.weekdays and not a.weekdays & b.weekdays:
        return False
    fields = ((*each[:6], each.turn, each.season, each.nth) for each in (a, b))
    both = [(x, y) for x, y in zip(*fields, strict=True) if x != -1 and y != -1]
    is_known = bool(both or (one and two) or (a.weekdays and b.weekdays))
    return all(x == y for x, y in both) if is_known else None
