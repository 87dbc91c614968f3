"""Numbers with their units, as sentences give them, and whether two of them can both be true."""

import re
from functools import cache
from math import inf
from typing import NamedTuple

SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6, "bn": 1e9, "b": 1e9, "billion": 1e9}
SCALES |= {"hundred": 1e2, "dozen": 12.0, "tn": 1e12, "trillion": 1e12}
MONEY = {"$": "usd", "us$": "usd", "usd": "usd", "dollar": "usd", "€": "eur", "eur": "eur", "euro": "eur"}
MONEY |= {"£": "gbp", "gbp": "gbp", "pound": "gbp", "chf": "chf", "franc": "chf", "¥": "jpy", "jpy": "jpy"}
# By dimension the units, each with its other names, and its size among those that can be converted to it.
_UNITS = """
%: %/percent 1; points: percentage point/pp 1; workdays: working day/business day/workday 1; cents: cent 1; degrees: °c/degree 1;
time: ms/millisecond .001, s/sec/second 1, min/minute 60, h/hr/hour 3600, d/day/calendar day 86400, w/week 604800, mo/month 2629800,
quarter 7889400, y/yr/year 31557600; bytes: byte 1, kb 1e3, mb 1e6, gb 1e9, tb 1e12, pb 1e15, kib 1024, mib 1048576, gib 1073741824,
tib 1099511627776; metres: km/kilometre/kilometer 1000, metre/meter 1, cm/centimetre .01, mm/millimetre/millimeter .001, mile 1609.34;
grams: kg/kilo/kilogram 1000, g/gram 1, ton/tonne/t 1e6, mg/milligram .001; litres: l/litre/liter 1, ml/millilitre/milliliter .001;
square metres: ha/hectare 1e4, m²/sqm/square metre/square meter 1, acre 4046.86; watts: watt 1, kw 1e3, mw 1e6, gw 1e9;
watt hours: kwh 1e3, mwh 1e6, gwh 1e9; hertz: hz 1, khz 1e3, mhz 1e6, ghz 1e9; °f: °f 1; fps: fps 1; rpm: rpm 1; mph: mph 1;
volt: volt 1; bar: bar 1; psi: psi 1; px: px 1; kcal: kcal 1; dpi: dpi 1
"""
UNITS: dict[str, tuple[str, float]] = {
    name: (dimension, float(size))
    for dimension, units in (group.split(": ") for group in " ".join(_UNITS.split()).split("; "))
    for names, size in (unit.rsplit(" ", 1) for unit in units.split(", "))
    for name in names.split("/")
}
# Parts of a whole, in percent.
PARTS = {"half": 50.0, "third": 100 / 3, "quarter": 25.0, "fifth": 20.0, "tenth": 10.0}
PARTS |= {"halve": 50.0, "sixth": 100 / 6, "eighth": 12.5}
COUNTS = "zero one two three four five six seven eight nine ten eleven twelve".split()
COUNTS += "thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBER_WORDS = {word: float(number) for number, word in enumerate(COUNTS)}
NUMBER_WORDS |= {word: 10.0 * number for number, word in enumerate(_TENS, 2)}
_HALVED = "percent million billion tonne ton kilo litre metre mile degree".split()
_SPANS = frozenset("second minute hour day week month quarter year metre mile tonne ton kilo litre".split())


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


@cache
def _word_patterns() -> dict[str, re.Pattern[str]]:
    """The patterns, made when a sentence first needs them."""
    words = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
    tens = "|".join(_TENS)
    return {
        "number": re.compile(rf"\d|\b(?:{words}|hundred|thousand|half)\b", re.IGNORECASE),
        "half": re.compile(rf"\b(an?|\d+|{words})( [a-z]+)? and a half\b", re.IGNORECASE),
        "halved": re.compile(rf"\bhalf an? (?={'|'.join(_HALVED)})", re.IGNORECASE),
        "spelled": re.compile(
            rf"\b(?:(?:an?|{words}|\d{{1,3}}) (?:hundred|thousand)(?:(?: and)? (?:{words}) hundred)?"
            rf"(?:(?: and)? (?:(?:{tens})(?:[- ](?:{words}))?|{words})(?! hundred))?"
            rf"|(?:{tens})[- ](?:{words}))\b",
            re.IGNORECASE,
        ),
        "joined": re.compile(
            rf"(?<![\w.,-])(\d[\d,.]*|{words})-(?!off\b|time|factor|way|fold|sided|tier|step|on\b|in\b|to\b)"
            r"(?=[a-z]{3})",
            re.IGNORECASE,
        ),
    }


def write_digits(text: str) -> str:
    """The text with digits in place of several words for one number, and without hyphens behind numbers.

    >>> write_digits("thirty-two beds, a hundred and twenty cows, two thousand five hundred euros")
    '32 beds, 120 cows, 2500 euros'
    >>> write_digits("a day and a half, 768-dimensional, two-factor")
    '1.5 day, 768 dimensional, two-factor'
    """
    patterns = _word_patterns()
    if not patterns["number"].search(text):
        return text
    text = patterns["halved"].sub("0.5 ", patterns["half"].sub(_half, text))
    return patterns["joined"].sub(r"\1 ", patterns["spelled"].sub(_spelled, text))


def _spelled(match: re.Match[str]) -> str:
    """A number of several words in digits."""
    total = part = 0.0
    for word in re.split(r"[\s-]+", match.group().casefold()):
        if word == "hundred":
            part = (part or 1.0) * 100
        elif word == "thousand":
            total, part = total + (part or 1.0) * 1000, 0.0
        elif word not in ("a", "an", "and"):
            part += NUMBER_WORDS[word] if word in NUMBER_WORDS else float(word)
    return f"{total + part:.0f}"


def _half(match: re.Match[str]) -> str:
    """One and a half of something in digits, unless it is of something else."""
    said, unit = match[1].casefold(), (match[2] or "").strip()
    if unit and unit.rstrip("s") not in _SPANS:
        return match.group()
    number = 1.0 if said in ("a", "an") else NUMBER_WORDS[said] if said in NUMBER_WORDS else float(said)
    return f"{number + 0.5:g} {unit}".rstrip()
