"""Points in time as sentences name them, from years to hours, and whether two of them can be one."""

import re
from functools import cache
from typing import NamedTuple

from mabos_cli.core.periods import MONTHS, WEEKDAYS

COUNTS = "zero one two three four five six seven eight nine ten eleven twelve".split()
COUNTS += "thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split()
_NTH = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_SEASONS = ["spring", "summer", "autumn", "winter"]
_TURNS = {
    "last": 0,
    "previous": 0,
    "this": 1,
    "current": 1,
    "next": 2,
    "yesterday": 0,
    "today": 1,
    "tomorrow": 2,
}
# Where a moment stood, one character is left: the words around it keep their places.
FIRST_MOMENT, MOST = 0xF000, 0x800


class Moment(NamedTuple):
    """As much of a point in time as a sentence names; what it leaves open is -1."""

    year: int = -1
    half: int = -1
    quarter: int = -1
    month: int = -1
    day: int = -1
    weekday: int = -1
    minute: int = -1
    turn: int = -1
    season: int = -1
    text: str = ""


@cache
def _pattern() -> re.Pattern[str]:
    """The pattern of all forms, made when a sentence first needs it, as compiling takes long."""
    month = "|".join(rf"{name[:3]}(?:{name[3:]})?" if name != "May" else "May" for name in MONTHS)
    month = month.replace("Sep(?:tember)?", "Sept?(?:ember)?")
    nth = r"(?:st|nd|rd|th)"
    words = "|".join(COUNTS[1:13])
    year = r"(?:,? (?P<y%s>\d{4})\b)?"
    return re.compile(
        rf"\b(?P<iy>\d{{4}})-(?P<im>\d\d)(?:-(?P<id>\d\d)(?:T[\d:.]+Z?)?)?\b"
        rf"|\b(?:the )?(?:\d{{1,2}}{nth}?\s?(?:-|–|to|and)\s?)?"
        rf"(?P<d1>\d{{1,2}}){nth}?(?: of)? (?P<m1>{month})\b\.?"
        + year % 1
        + rf"|\b(?P<m2>{month})\.? (?P<d2>\d{{1,2}})(?:{nth}\b|\b(?![\d,.]*\d|%))"
        + year % 2
        + rf"|\b(?P<m3>{month})\b\.?"
        + year % 3
        + r"|\b(?:(?P<yq>\d{4})[- ]?)?Q(?P<q>[1-4])\b(?:[ -]?(?:of |in |FY)?(?P<yq2>\d{4})\b)?"
        r"|\b(?P<qn>[Ff]irst|[Ss]econd|[Tt]hird|[Ff]ourth) quarter\b(?:(?: of| in)? (?P<yq3>\d{4})\b)?"
        r"|\b(?:H(?P<h>[12])|(?P<hn>[Ff]irst|[Ss]econd) half)\b(?:(?: of| in)? (?P<yh>\d{4})\b)?"
        r"|\bFY ?'?(?P<fy>\d{4}|\d\d)\b"
        rf"|\b(?P<wd>{'|'.join(WEEKDAYS)}|[Ww]eekday|[Ww]eekend)s?\b"
        r"|\b(?P<hh>\d{1,2})(?::(?P<mm>\d\d)\b|\.(?P<mm2>\d\d)(?=\s?[ap]m\b))"
        r"(?:\s?(?P<ap>[ap])\.?m\b\.?)?(?: UTC| CET| EST)?"
        r"|\b(?P<hh2>\d{1,2})\s?(?:(?P<ap2>[ap])\.?m\b\.?|o'clock)"
        rf"|\bhalf past (?P<hp>\d{{1,2}}|{words})\b(?: in the (?P<part>morning|afternoon|evening))?"
        r"|\b(?P<noon>noon|midnight)\b"
        rf"|\bthe (?P<dd>\d{{1,2}}){nth}\b"
        r"|\b(?P<turn>[Ll]ast|[Tt]his|[Nn]ext|[Pp]revious|[Cc]urrent)"
        r" (?:year|quarter|month|week|summer|winter|spring|autumn)\b"
        r"|\b(?P<season>[Ss]pring|[Ss]ummer|[Aa]utumn|[Ww]inter)\b(?=\s*(?:$|[,.;]|\d{4}|and\b))"
        r"|\b(?P<near>[Yy]esterday|[Tt]oday|[Tt]omorrow)\b"
        r"|(?<![\d.,$€£#-])\b(?P<year>19[5-9]\d|20[0-4]\d)\b(?![.,]?\d|[-:]\d|\s?(?:[%$€£]|k\b))"
    )


def take_moments(text: str) -> tuple[str, dict[str, Moment]]:
    """The text with a mark in place of each point in time, and the moments by mark.

    >>> [moment[:4] for moment in take_moments("since March 2026")[1].values()]
    [(2026, 1, 1, 3)]
    """
    moments: dict[str, Moment] = {}

    def mark(match: re.Match[str]) -> str:
        found = _moment(match) if len(moments) < MOST else None
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


def _moment(match: re.Match[str]) -> Moment | None:
    """The point in time of a match, or nothing when there is no such day or hour."""
    got, text = match.groupdict(), " ".join(match.group().split())
    if got["iy"]:
        month, day = int(got["im"]), int(got["id"] or 0) or -1
        return _dated(int(got["iy"]), month, day, text) if 1 <= month <= 12 and day <= 31 else None
    for number in "123":
        if got[f"m{number}"]:
            month = next(n for n, name in enumerate(MONTHS, 1) if name.startswith(got[f"m{number}"][:3]))
            return _dated(_year(got[f"y{number}"]), month, int(got.get(f"d{number}") or -1), text)
    if got["q"] or got["qn"]:
        quarter = int(got["q"] or _NTH[got["qn"].casefold()])
        return Moment(_year(got["yq"] or got["yq2"] or got["yq3"]), (quarter + 1) // 2, quarter, text=text)
    if got["h"] or got["hn"]:
        return Moment(_year(got["yh"]), int(got["h"] or _NTH[got["hn"].casefold()]), text=text)
    if got["fy"] or got["year"]:
        return Moment(_year(got["fy"] or got["year"]), text=text)
    if got["turn"] or got["near"]:
        return Moment(turn=_TURNS[(got["turn"] or got["near"]).casefold()], text=text)
    if got["season"]:
        return Moment(season=_SEASONS.index(got["season"].casefold()), text=text)
    if got["wd"]:
        return Moment(weekday=[*WEEKDAYS, "Weekday", "Weekend"].index(got["wd"].capitalize()), text=text)
    if got["dd"]:
        return Moment(day=int(got["dd"]), text=text) if int(got["dd"]) <= 31 else None
    return _clock(got, text)


def _clock(got: dict[str, str | None], text: str) -> Moment | None:
    if got["noon"]:
        return Moment(minute=720 if got["noon"] == "noon" else 0, text=text)
    said = got["hh"] or got["hh2"] or got["hp"] or "99"
    hour = COUNTS.index(said) if said in COUNTS else int(said)
    minute = 30 if got["hp"] else int(got["mm"] or got["mm2"] or 0)
    half = (
        got["ap"] or got["ap2"] or {"morning": "a", "afternoon": "p", "evening": "p"}.get(got["part"] or "")
    )
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return Moment(minute=hour * 60 + minute, text=text) if hour <= 24 and minute < 60 else None


def _dated(year: int, month: int, day: int, text: str) -> Moment:
    return Moment(year, (month + 5) // 6, (month + 2) // 3, month, day, text=text)


def same_time(a: Moment, b: Moment) -> bool | None:
    """Whether two points in time agree as far as both say; nothing when they speak of different things.

    >>> same_time(Moment(year=2027), Moment(2027, 1, 2, 4, 1)), same_time(Moment(month=4), Moment(weekday=1))
    (True, None)
    """
    both = [(x, y) for x, y in zip(a[:-1], b[:-1], strict=True) if x != -1 and y != -1]
    return all(x == y for x, y in both) if both else None
