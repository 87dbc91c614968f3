"""Numbers with their units, as sentences give them, and whether two of them can both be true."""

import re
from functools import cache
from math import inf
from typing import NamedTuple

from mabos_cli.core.language.measures import MONEY, PARTS, SCALES, UNITS
from mabos_cli.core.mind.claims.numbers import NUMBER_WORDS, write_digits


class Quantity(NamedTuple):
    """A number or a range of numbers, in a unit that others can be converted to."""

    low: float
    high: float
    unit: str
    text: str
    slack: float = 0.0
    bound: str = ""
    per: float = 0.0
    each: str = ""


_BOUNDS = (
    ("min", r"(?:at least|minimum(?: of)?|min\.?|no (?:fewer|less) than|not less than|>=|≥|starting at)"),
    (
        "max",
        r"(?:at most|up to|maximum(?: of)?|max\.?|no(?:t)? more than|<=|≤|within"
        r"|(?<=limited )to|(?<=capped )at)",
    ),
    ("over", r"(?:more than|over|above|>|exceed(?:s|ing)?|upwards of|(?:larg|long|bigg|high|great|heavi|old)er than)"),
    ("under", r"(?:(?:less|fewer) than|under|below|<)"),
    ("about", r"(?:about|around|roughly|approximately|approx\.?|~|circa|ca\.?|some|nearly|almost|close to)"),
)


_OF = r"(?:vacation|holiday|paid|sick|leave|training|full|consecutive|extra|free) (?=(?:day|week|hour)s?\b)"
_LONG = r"\b(?:long|wide|high|tall|deep|length|width|height|depth|distance|away|apart)\b"


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """The patterns, made when a sentence first needs them: compiling takes longer than many commands."""
    units = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
    money = r"US\$|[$€£¥]|\b(?:USD|EUR|GBP|CHF|JPY)\b"
    number = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,15}(?:[.,]\d{1,9})?"
    words = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
    scale = r"(?:\s?(?:k|mn|bn|m|b|M|B|K)\b(?!\s?²)|\s(?:hundred|thousand|million|billion|trillion|dozen)\b)"
    spoken = r"(?:euro|dollar|pound|franc)s?\b"
    tail = rf"(?P<scale@>{scale})?(?:[\s-]?(?:{_OF})?(?P<unit@>(?:{units})s?)(?![\w°]))?"
    tail += rf"(?:\s?(?P<after@>{money}|{spoken}))?"
    value = rf"(?P<money@>{money})?\s?(?P<n@>{number}|\b(?:{words})\b)"
    one, two = (f"{value}{tail}".replace("@", which) for which in ("", "2"))
    return {
        "number": re.compile(rf"\d|\b(?:{words}|hundred|thousand)\b", re.IGNORECASE),
        "part": re.compile(
            r"\b(?:(?P<times>an?|one|two|three|four|five|six|seven|eight|nine)[\s-])?"
            r"(?P<part>half|third|quarter|fifth|sixth|eighth|tenth)s?(?= of\b)"
            rf"|\b(?P<x>\d+|{words}) (?:in|out of) (?:every )?(?P<y>\d+|{words})\b",
            re.IGNORECASE,
        ),
        "range": re.compile(rf"(?:\b(?:between|from)\s)?{one}\s?(?:-|–|—|\bto\b|\band\b)\s?{two}", re.IGNORECASE),
        "one": re.compile(one, re.IGNORECASE),
        "span": re.compile(
            r"\b(?P<n>half an?|an?|one)\s(?P<unit>second|minute|hour|day|week|month|year)\b", re.IGNORECASE
        ),
        "often": re.compile(r"\b(?P<n>once|twice)(?=\s(?:a|per|every|each)\b)", re.IGNORECASE),
        "every": re.compile(
            rf"\b(?:every|each)\s(?:(?P<n>\d{{1,3}}|{words}|second|other|half(?: an)?)\s)?"
            r"(?P<unit>seconds|minute|hour|day|night|week|month|quarter|year)s?\b",
            re.IGNORECASE,
        ),
        "rate": re.compile(
            rf"(?P<gap>(?:\s[a-z]+)?)\s?(?:/|\b(?:per|an?|each|every)\b)\s?(?P<unit>(?:{units})|[a-z]+)\b"
        ),
    }


# Where a quantity stood, one character is left: the words around it keep their places.
_FIRST, _MOST = 0xE000, 0x1000


def take_quantities(text: str) -> tuple[str, dict[str, Quantity]]:
    """The text with a mark in place of each number with its unit, and the quantities by mark.

    >>> [(q.high, q.unit, q.bound) for q in take_quantities("Refunds take up to 2 weeks")[1].values()]
    [(1209600.0, 'time', 'max')]
    """
    quantities: dict[str, Quantity] = {}
    text = write_digits(text)
    numbers = ("range", "one") if _patterns()["number"].search(text) else ()
    for kind in ("part", "every", *numbers[:1], "often", *numbers[1:], "span"):
        text = _take(text, kind, quantities)
    return text, quantities


def _take(text: str, kind: str, quantities: dict[str, Quantity]) -> str:
    """The text without the quantities that one pattern finds; they are added to those given."""
    done, at = "", 0
    for match in _patterns()[kind].finditer(text):
        if match.start() < at or len(quantities) >= _MOST or _inside_word(text, match):
            continue
        found = _read(kind, match, text[at : match.start()])
        if found is None:
            continue
        before, after = text[at : match.start()], text[match.end() : match.end() + 12]
        lead, bound = _bound(before)
        said = " ".join(f"{before[len(lead) :]} {found.text}".split())
        bounded = _bounded(found._replace(text=said), bound, after)
        quantity, end, gap = _with_rate(bounded, text, match.end())
        mark = chr(_FIRST + len(quantities))
        quantities[mark] = quantity
        done += f"{lead} {mark} {gap} "
        at = end
    return done + text[at:]


def _inside_word(text: str, match: re.Match[str]) -> bool:
    """Whether the number is a part of something else: a version, a code, an address."""
    start, end = match.start("n") if match.groupdict().get("n") else match.start(), match.end()
    before, after = text[max(0, start - 1) : start], text[end : end + 2]
    if before and (before.isalnum() or before in "_#/.:"):
        return True
    return (
        bool(after)
        and (after[0].isalnum() or after[0] in "_/" or bool(re.match(r"[.:]\d|-[a-zA-Z]", after)))
        and not (after[0] == "/" and after[1:].isalpha())
    )


def _number(text: str) -> tuple[float, float]:
    """A number and half of its last written place."""
    word = text.casefold()
    if word in NUMBER_WORDS:
        return NUMBER_WORDS[word], 0.5
    grouped = re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", text)
    plain = text.replace(",", "") if grouped else text.replace(",", ".")
    return float(plain), 0.5 * 10.0 ** -len(plain.partition(".")[2])


def _read(kind: str, match: re.Match[str], before: str) -> Quantity | None:
    """The quantity that a match of a kind stands for."""
    text = " ".join(match.group().split())
    if kind == "one":
        return _one(match, "", text)
    if kind == "range":
        return _range(match, before, text)
    return {"part": _part, "often": _often, "every": _every, "span": _span}[kind](match, text)


def _exactly(size: float, unit: str, text: str, slack: float = 0.0) -> Quantity:
    return Quantity(size, size, unit, text, slack)


def _part(match: re.Match[str], text: str) -> Quantity | None:
    """A share in words: two thirds of, three out of four."""
    if match["part"]:
        times = NUMBER_WORDS.get((match["times"] or "one").casefold(), 1.0)
        return _exactly(times * PARTS[match["part"].casefold()], "%", text, 1.0)
    of = _number(match["y"])[0]
    return _exactly(100 * _number(match["x"])[0] / of, "%", text, 0.5) if of else None


def _often(match: re.Match[str], text: str) -> Quantity:
    return _exactly(1.0 if match["n"].casefold() == "once" else 2.0, "times", text)


def _every(match: re.Match[str], text: str) -> Quantity:
    """A rhythm: every day, every second week, every 5 minutes."""
    said = (match["n"] or "one").casefold()
    half = 0.5 if said.startswith("half") else 0.0
    times = half or (2.0 if said in ("second", "other") else _number(said)[0] or 1.0)
    span = UNITS[match["unit"].casefold().rstrip("s").replace("night", "day")][1]
    return _exactly(1.0, "times", text)._replace(per=times * span)


def _span(match: re.Match[str], text: str) -> Quantity:
    """A time with its number in words: an hour, half a day."""
    dimension, factor = UNITS[match["unit"].casefold()]
    return _exactly(0.5 * factor if match["n"].casefold().startswith("half") else factor, dimension, text)


def _range(match: re.Match[str], before: str, text: str) -> Quantity | None:
    """From one number to another, or the second one where the first is only where it came from."""
    first, second = _one(match, "", text), _one(match, "2", text)
    opening = match.group().casefold()
    if " and " in opening and not opening.startswith("between "):
        return None
    if not first.unit:
        # "3 to 5 days", "$1 to 2 million": what the second says holds for the first.
        ratio = second.high / (_number(match["n2"])[0] or 1.0)
        first = first._replace(unit=second.unit, low=_number(match["n"])[0] * (ratio or 1.0))
    if opening.startswith("from ") and not re.search(r"\b(?:rang\w+|var\w+|is|are|costs?|takes?)\s*$", before):
        return second
    if first.low > second.high or first.unit != (second.unit or first.unit):
        return None
    return Quantity(first.low, second.high, first.unit, text, bound="range")


def _one(match: re.Match[str], which: str, text: str) -> Quantity:
    """A number with its scale and unit, or the second of two that a match has."""
    number, slack = _number(match[f"n{which}"])
    scale, unit = (match[f"scale{which}"] or "").strip(), (match[f"unit{which}"] or "").casefold()
    money = match[f"money{which}"] or match[f"after{which}"]
    if scale in ("m", "b") and not money:
        # "30m" is half an hour, "2m users" are many.
        following = match.string[match.end() : match.end() + 2]
        many = following[:1] == " " and following[1:].isalpha()
        metres = scale == "m" and re.search(_LONG, match.string)
        unit, scale = ("metre", "") if metres else ("", scale) if many else ("min", "")
    factor = SCALES.get(scale.casefold(), 1.0)
    if money:
        name = money.casefold()
        currency = MONEY.get(name, MONEY.get(name.rstrip("s"), name))
        return _exactly(number * factor, currency, text, slack * factor)
    if unit:
        unit = unit if unit in UNITS else unit.rstrip("s")
        dimension, size = UNITS.get(unit, (unit, 1.0))
        return _exactly(number * factor * size, dimension, text, slack * factor * size)
    return _exactly(number * factor, "", text, slack * factor)


def _bound(before: str) -> tuple[str, str]:
    """The text without the words that make the next number a bound, and which bound that is."""
    for bound, pattern in _BOUNDS:
        match = re.search(rf"(?:^|(?<=[\s(]))(?:a |an |the )?{pattern}\s*(?:a |an )?$", before, re.IGNORECASE)
        if match:
            lead, outer = before[: match.start()], bound
            if bound == "about":
                lead, outer = _bound(lead) if lead != before else (lead, "")
                outer = outer or "about"
            return lead, outer
    return before, ""


def _bounded(quantity: Quantity, bound: str, after: str) -> Quantity:
    bound = bound or next(
        (
            name
            for name, form in (("min", r"\s?\+|\s(?:or more|or longer)\b"), ("max", r"\s(?:or less|or fewer)\b"))
            if re.match(form, after)
        ),
        "",
    )
    if bound in ("min", "over"):
        return quantity._replace(high=inf, bound=bound)
    if bound in ("max", "under"):
        return quantity._replace(low=-inf, bound=bound)
    if bound == "about":
        return quantity._replace(slack=max(quantity.slack, 0.1 * abs(quantity.high)), bound=quantity.bound or bound)
    return quantity


def _with_rate(quantity: Quantity, text: str, end: int) -> tuple[Quantity, int, str]:
    """The quantity with what it is per (month, seat), where the text goes on, and the words in between."""
    between = ""
    for _ in range(2):
        match = _patterns()["rate"].match(text, end)
        dimension, size = UNITS.get(match["unit"].rstrip("s"), ("", 0.0)) if match else ("", 0.0)
        if not match or not (dimension == "time" or re.search(r"/|\bper\b", match.group())):
            break
        quantity = quantity._replace(text=f"{quantity.text}{match.group()}")
        quantity = quantity._replace(**{"per": size} if dimension == "time" else {"each": match["unit"].rstrip("s")})
        between, end = f"{between}{match['gap']}", match.end()
    adverb = re.match(r"\s(monthly|yearly|annually|weekly|daily)\b", text[end:])
    if adverb and quantity.unit not in ("", "%", "time"):
        unit = {"monthly": "month", "weekly": "week", "daily": "day"}.get(adverb[1], "year")
        return quantity._replace(per=UNITS[unit][1]), end + adverb.end(), between.strip()
    return quantity, end, between.strip()


def can_agree(a: Quantity, b: Quantity) -> bool | None:
    """Whether two quantities can both be right; nothing when they measure different things.

    >>> def read(text): return next(iter(take_quantities(text)[1].values()))
    >>> can_agree(read("1,000 EUR"), read("€1k")), can_agree(read("at least 5"), read("8"))
    (True, True)
    >>> can_agree(read("up to 10"), read("12")), can_agree(read("5 km"), read("3 hours"))
    (False, None)
    """
    if a.unit != b.unit or (a.each and b.each and a.each != b.each):
        return None
    if a.per and b.per:
        a, b = _scaled(a, 1 / a.per), _scaled(b, 1 / b.per)
    if a.bound == b.bound and a.bound in ("min", "max"):
        # A requirement: at least 8 characters is another rule than at least 12.
        one, two = (a.low, b.low) if a.bound == "min" else (a.high, b.high)
        return abs(one - two) <= _slack(a, b)
    slack = _slack(a, b)
    if {a.bound, b.bound} & {"over", "under", "range"}:
        slack = -1e-9 if {a.bound, b.bound} & {"over", "under"} or a.bound == b.bound else slack
        if (a.low, a.high) == (b.low, b.high):
            return True
    return a.low <= b.high + slack and b.low <= a.high + slack


def _slack(a: Quantity, b: Quantity) -> float:
    """How far two numbers may be apart and still be one number, rounded or converted."""
    size = max(abs(x) for x in (*a[:2], *b[:2]) if abs(x) != inf)
    if "about" in (a.bound, b.bound):
        return max(a.slack, b.slack)
    # A month has no fixed number of days; a coarse figure stands for the fine one that rounds to it.
    converted = 0.03 * size if a.unit in ("time", "bytes") and a.slack != b.slack else 0.0
    return max(converted, min(max(a.slack, b.slack), 0.045 * size) if a.slack != b.slack else 0.0) + 1e-9 * size


def _scaled(quantity: Quantity, factor: float) -> Quantity:
    return quantity._replace(low=quantity.low * factor, high=quantity.high * factor, slack=quantity.slack * factor)
