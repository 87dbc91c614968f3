"""Numbers with their units, as sentences give them, and whether two of them can both be true."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from math import inf

from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.records import NamedTuple

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
PARTS |= {"sixth": 100 / 6, "eighth": 12.5}
COUNTS = "zero one two three four five six seven eight nine ten eleven twelve".split()
COUNTS += "thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBER_WORDS = {word: float(number) for number, word in enumerate(COUNTS)}
NUMBER_WORDS |= {word: 10.0 * number for number, word in enumerate(_TENS, 2)}
# Words that make the number behind them, or before them, a bound.
_BOUNDS = {
    "min": r"(?:at least|minimum(?: of)?|min\.?|no (?:fewer|less) than|not less than|>=|≥|starting at)",
    "max": r"(?:at most|up to|maximum(?: of)?|max\.?|not? more than|<=|≤|within|(?<=limited )to|(?<=capped )at)",
    "over": r"(?:more than|over|above|>|exceed(?:s|ing)?|upwards of|(?:larg|long|bigg|high|great|heavi|old)er than)",
    "under": r"(?:(?:less|fewer) than|under|below|<)",
    "about": r"(?:about|around|roughly|approximately|approx\.?|~|circa|ca\.?|some|nearly|almost|close to)",
}
_BOUNDS_BEHIND = {"min": r"\s?\+|\s(?:or more|or longer)\b", "max": r"\s(?:or less|or fewer)\b"}
# Where a quantity stood, one character is left: the words around it keep their places.
_FIRST, _MOST = 0xE000, 0x1000


# How often something happens; the marks of that lie behind those of moments.
FREQUENCY, _FIRST_RATE, _MOST_RATES = "frequency", 0xF800, 0x100
_PERIODS = "hourly/hour daily/day nightly/day weekly/week monthly/month quarterly/quarter yearly/year annually/year"
_ADVERBS = {word: UNITS[unit][1] for word, unit in (pair.split("/") for pair in _PERIODS.split())}
_ADVERBS |= {"continuously": 1.0, "fortnightly": 2 * UNITS["week"][1]}
_TURNS = {"other": 2.0, "second": 2.0, "third": 3.0, "fourth": 4.0, "fifth": 5.0}
_TIMES = {"once": 1.0, "twice": 2.0, "thrice": 3.0}


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


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """Returns the patterns, made when a sentence first needs them."""
    units = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
    money = r"US\$|[$€£¥]|\b(?:USD|EUR|GBP|CHF|JPY)\b"
    number = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,15}(?:[.,]\d{1,9})?"
    words = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
    scale = r"(?:\s?(?:k|mn|bn|m|b|M|B|K)\b(?!\s?²)|\s(?:hundred|thousand|million|billion|trillion|dozen)\b)"
    spoken = r"(?:euro|dollar|pound|franc)s?\b"
    tail = rf"(?P<scale@>{scale})?(?:[\s-]?(?P<unit@>(?:{units})s?)(?![\w°]))?"
    tail += rf"(?:\s?(?P<after@>{money}|{spoken}))?"
    value = rf"(?P<money@>{money})?\s?(?P<n@>{number}|\b(?:{words})\b)"
    one, two = (f"{value}{tail}".replace("@", which) for which in ("", "2"))
    return {
        "part": compiled(
            r"\b(?:(?P<times>an?|one|two|three|four|five|six|seven|eight|nine)[\s-])?"
            r"(?P<part>half|third|quarter|fifth|sixth|eighth|tenth)s?(?= of\b)"
            rf"|\b(?P<x>\d+|{words}) (?:in|out of) (?:every )?(?P<y>\d+|{words})\b",
            re.IGNORECASE,
        ),
        "range": compiled(rf"(?:\b(?:between|from)\s)?{one}\s?(?:-|–|—|\bto\b|\band\b)\s?{two}", re.IGNORECASE),
        "one": compiled(one, re.IGNORECASE),
        "rate": compiled(
            rf"(?P<gap>(?:\s[A-Za-z]+){{0,2}})\s?(?:/|\b(?:per|an?|each|every)\b)\s?(?P<unit>(?:{units})|[a-z]+)\b"
        ),
    }


@cache
def _rate_pattern() -> re.Pattern[str]:
    """Returns the pattern of how often something happens, made when a sentence first needs it."""
    words = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
    period = rf"(?:(?P<turn>{'|'.join(_TURNS)}|\d{{1,3}}|{words})[ -])?(?P<unit>minute|hour|day|night|week|fortnight|month|quarter|year)s?\b"
    times = rf"(?P<times>{'|'.join(_TIMES)}|(?:\d{{1,3}}|{words}) times)"
    # Before a noun an adverb tells which one it is: the weekly report.
    behind = (
        r"(?=\s*(?:$|[,.;:)]|(?:and|or|by|at|on|in|for|with|to|from|since|until|via|after|before|during|but|so)\b))"
    )
    return compiled(
        rf"\b{times} (?:an?|per|each|every|in an?|in every) {period}|\b(?P<each>every|each) {period.replace('<turn>', '<turn2>').replace('<unit>', '<unit2>')}"
        rf"|\b(?P<adverb>{'|'.join(_ADVERBS)}){behind}",
        re.IGNORECASE,
    )


def take_frequencies(text: str) -> tuple[str, dict[str, Quantity]]:
    """Returns the text with a mark in place of each word on how often something happens, and the quantities by mark.

    >>> def read(text): return next(iter(take_frequencies(text)[1].values()))
    >>> can_agree(read("twice a year"), read("every six months")), can_agree(read("once a year"), read("every 6 months"))
    (True, False)
    >>> take_frequencies("the weekly report, 3 % each year")[1]
    {}
    """
    found: dict[str, Quantity] = {}

    def mark(match: re.Match[str]) -> str:
        # Behind a number it is what that is per: 300 sheets every hour.
        before = match.string[: match.start()]
        if len(found) >= _MOST_RATES or re.search(r"(?:\d|%|[$€£])\S*(?:\s[A-Za-z]+){0,2}\s*$", before):
            return match.group()
        got = {name: (value or "").casefold() for name, value in match.groupdict().items()}
        number = got["times"].removesuffix(" times")
        times = _TIMES.get(number) or (_read_number(number)[0] if number else 1.0)
        turn, unit = got["turn"] or got["turn2"], got["unit"] or got["unit2"]
        size = 2 * UNITS["week"][1] if unit == "fortnight" else UNITS["day" if unit == "night" else unit or "day"][1]
        size *= _TURNS.get(turn) or (_read_number(turn)[0] if turn else 1.0)
        size = _ADVERBS[got["adverb"]] if got["adverb"] else size
        if not size or not times:
            return match.group()
        name = chr(_FIRST_RATE + len(found))
        found[name] = Quantity(times, times, FREQUENCY, match.group(), per=size)
        return f" {name} "

    return _rate_pattern().sub(mark, text), found


def take_quantities(text: str) -> tuple[str, dict[str, Quantity]]:
    """Returns the text with a mark in place of each number with its unit, and the quantities by mark.

    >>> [(q.high, q.unit, q.bound) for q in take_quantities("Refunds take up to 2 weeks")[1].values()]
    [(1209600.0, 'time', 'max')]
    """
    quantities: dict[str, Quantity] = {}
    text = write_digits(text)
    for kind, read in _READERS.items():
        done, at = "", 0
        for match in _patterns()[kind].finditer(text):
            before = text[at : match.start()]
            is_free = match.start() >= at and len(quantities) < _MOST and not _is_inside_word(text, match)
            found = read(match, before) if is_free else None
            if found is None:
                continue
            lead, bound, end = _find_bound(before, text, match.end())
            words = " ".join(f"{before[len(lead) :]} {text[match.start() : end]}".split())
            quantity, end, gap = _add_rate(_set_bound(found._replace(text=words), bound), text, end)
            mark = chr(_FIRST + len(quantities))
            quantities[mark] = quantity
            done += f"{lead} {mark} {gap} "
            at = end
        text = done + text[at:]
    return text, quantities


def _is_inside_word(text: str, match: re.Match[str]) -> bool:
    """Returns whether the number is a part of something else: a version, a code, an address."""
    start, end = match.start("n") if match.groupdict().get("n") else match.start(), match.end()
    before, after = text[max(0, start - 1) : start], text[end : end + 2]
    if before and (before.isalnum() or before in "_#/.:"):
        return True
    return bool(re.match(r"\w|/(?![a-zA-Z]$)|[.:]\d|-[a-zA-Z]", after))


def _read_number(text: str) -> tuple[float, float]:
    """Returns a number and half of its last written place."""
    word = text.casefold()
    if word in NUMBER_WORDS:
        return NUMBER_WORDS[word], 0.5
    grouped = re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", text)
    plain = text.replace(",", "") if grouped else text.replace(",", ".")
    return float(plain), 0.5 * 10.0 ** -len(plain.partition(".")[2])


def _make_exact(size: float, unit: str, slack: float = 0.0) -> Quantity:
    return Quantity(size, size, unit, "", slack)


def _read_part(match: re.Match[str], before: str) -> Quantity | None:
    """Reads a share in words: two thirds of, three out of four."""
    if match["part"]:
        times = NUMBER_WORDS.get((match["times"] or "one").casefold(), 1.0)
        return _make_exact(times * PARTS[match["part"].casefold()], "%", 1.0)
    whole = _read_number(match["y"])[0]
    return _make_exact(100 * _read_number(match["x"])[0] / whole, "%", 0.5) if whole else None


def _read_range(match: re.Match[str], before: str) -> Quantity | None:
    """Reads what goes from one number to another, or the second one where the first is only where it came from."""
    first, second = _read_one(match, before), _read_one(match, before, "2")
    opening = match.group().casefold()
    if " and " in opening and not opening.startswith("between "):
        return None
    if not first.unit:
        # "3 to 5 days", "$1 to 2 million": what the second says holds for the first.
        ratio = second.high / (_read_number(match["n2"])[0] or 1.0)
        first = first._replace(unit=second.unit, low=_read_number(match["n"])[0] * (ratio or 1.0))
    if opening.startswith("from ") and not re.search(r"\b(?:rang\w+|var\w+|is|are|costs?|takes?)\s*$", before):
        return second
    if first.low > second.high or first.unit != (second.unit or first.unit):
        return None
    return Quantity(first.low, second.high, first.unit, "", bound="range")


def _read_one(match: re.Match[str], before: str, which: str = "") -> Quantity:
    """Reads a number with its scale and unit, or the second of two that a match has."""
    number, slack = _read_number(match[f"n{which}"])
    scale, unit = (match[f"scale{which}"] or "").strip(), (match[f"unit{which}"] or "").casefold()
    money = match[f"money{which}"] or match[f"after{which}"]
    factor = SCALES.get(scale.casefold(), 1.0)
    if money:
        name = money.casefold()
        unit = MONEY.get(name, MONEY.get(name.rstrip("s"), name))
    elif unit:
        unit, size = UNITS[unit if unit in UNITS else unit.rstrip("s")]
        factor *= size
    return _make_exact(number * factor, unit, slack * factor)


_READERS: dict[str, Callable[[re.Match[str], str], Quantity | None]] = {
    "part": _read_part,
    "range": _read_range,
    "one": _read_one,
}


def _find_bound(before: str, text: str, end: int) -> tuple[str, str, int]:
    """Returns the text before a number without the words that make it a bound, which bound that is, and where the number
    ends, with such words behind it."""
    for bound, pattern in _BOUNDS.items():
        match = compiled(rf"(?:^|(?<=[\s(]))(?:a |an |the )?{pattern}\s*(?:a |an )?$", re.IGNORECASE).search(before)
        if match:
            return before[: match.start()], bound, end
    for bound, pattern in _BOUNDS_BEHIND.items():
        if match := compiled(pattern).match(text, end):
            return before, bound, match.end()
    return before, "", end


def _set_bound(quantity: Quantity, bound: str) -> Quantity:
    if bound in ("min", "over"):
        return quantity._replace(high=inf, bound=bound)
    if bound in ("max", "under"):
        return quantity._replace(low=-inf, bound=bound)
    if bound == "about":
        return quantity._replace(slack=max(quantity.slack, 0.1 * abs(quantity.high)), bound=quantity.bound or bound)
    return quantity


def _add_rate(quantity: Quantity, text: str, end: int) -> tuple[Quantity, int, str]:
    """Returns the quantity with what it is per (month, seat), where the text goes on, and the words in between."""
    between = ""
    for _ in range(2):
        match = _patterns()["rate"].match(text, end)
        dimension, size = UNITS.get(match["unit"].rstrip("s"), ("", 0.0)) if match else ("", 0.0)
        if not match or not (dimension == "time" or re.search(r"/|\bper\b", match.group())):
            break
        quantity = quantity._replace(text=f"{quantity.text}{match.group()}")
        quantity = quantity._replace(**{"per": size} if dimension == "time" else {"each": match["unit"].rstrip("s")})
        between, end = f"{between}{match['gap']}", match.end()
    return quantity, end, between.strip()


def can_agree(a: Quantity, b: Quantity) -> bool | None:
    """Returns whether two quantities can both be right, or None when they measure different things.

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
    """Returns how far two numbers may be apart and still be one number, rounded or converted."""
    size = max(map(abs, {*a[:2], *b[:2]} - {inf, -inf}))
    if "about" in (a.bound, b.bound):
        return max(a.slack, b.slack)
    if a.slack == b.slack:
        return 1e-9 * size
    # A month has no fixed number of days; a coarse figure stands for the fine one that rounds to it.
    converted = {"time": 0.09, "bytes": 0.03}.get(a.unit, 0.0) * size
    return max(converted, min(max(a.slack, b.slack), 0.045 * size)) + 1e-9 * size


def _scaled(quantity: Quantity, factor: float) -> Quantity:
    return quantity._replace(low=quantity.low * factor, high=quantity.high * factor, slack=quantity.slack * factor)


@cache
def _word_patterns() -> dict[str, re.Pattern[str]]:
    """Returns the patterns of numbers in words, made when a sentence first needs them."""
    words = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
    tens = "|".join(_TENS)
    return {
        "number": compiled(rf"\d|\b(?:{words}|hundred|thousand|half|(?:under|within|than) an?)\b", re.IGNORECASE),
        "and half": compiled(rf"\b(an?|\d+|{words})((?: [a-z]+)?) and a half\b", re.IGNORECASE),
        "half": compiled(r"\bhalf an? (?=[a-z])", re.IGNORECASE),
        "one": compiled(r"\b(under|within|than) an? (?=(?:minute|hour|day|week|month|year)\b)", re.IGNORECASE),
        "spelled": compiled(
            rf"\b(?:(?:an?|{words}|\d{{1,3}}) (?:hundred|thousand)(?:(?: and)? (?:{words}) hundred)?"
            rf"(?:(?: and)? (?:(?:{tens})(?:[- ](?:{words}))?|{words})(?! hundred))?"
            rf"|(?:{tens})[- ](?:{words}))\b",
            re.IGNORECASE,
        ),
        "joined": compiled(
            rf"(?<![\w.,-])(\d[\d,.]*|{words})-(?!off\b|time|factor|way|fold|sided|tier|step|on\b|in\b|to\b)"
            r"(?=[a-z]{3})",
            re.IGNORECASE,
        ),
    }


def write_digits(text: str) -> str:
    """Returns the text with digits in place of several words for one number, and without hyphens behind numbers.

    >>> write_digits("thirty-two beds, a hundred and twenty cows, two thousand five hundred euros")
    '32 beds, 120 cows, 2500 euros'
    >>> write_digits("a day and a half, half an hour, 768-dimensional, two-factor")
    '1.5 day, 0.5 hour, 768 dimensional, two-factor'
    """
    patterns = _word_patterns()
    if not patterns["number"].search(text):
        return text
    text = patterns["and half"].sub(lambda match: f"{_add_words([match[1]]) + 0.5:g}{match[2]}", text)
    text = patterns["half"].sub("0.5 ", text)
    text = patterns["one"].sub(r"\1 1 ", text)
    text = patterns["spelled"].sub(lambda match: f"{_add_words(re.split(r'[ -]+', match.group())):.0f}", text)
    return patterns["joined"].sub(r"\1 ", text)


def _add_words(words: Sequence[str]) -> float:
    """Returns the number that several words make together; an article is one."""
    total = part = 0.0
    for word in map(str.casefold, words):
        if word == "hundred":
            part *= 100
        elif word == "thousand":
            total, part = total + part * 1000, 0.0
        elif word in ("a", "an"):
            part += 1
        elif word != "and":
            part += NUMBER_WORDS[word] if word in NUMBER_WORDS else float(word)
    return total + part
