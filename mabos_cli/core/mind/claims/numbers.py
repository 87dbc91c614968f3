"""Numbers in words: one word each, and several words written as digits."""

import re
from functools import cache

from mabos_cli.core.language.moments import COUNTS

_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBER_WORDS = {word: float(number) for number, word in enumerate(COUNTS)}
NUMBER_WORDS |= {word: 10.0 * number for number, word in enumerate(_TENS, 2)}
_HALVED = "percent million billion tonne ton kilo litre metre mile degree".split()
_SPANS = frozenset("second minute hour day week month quarter year metre mile tonne ton kilo litre".split())


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
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
    patterns = _patterns()
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
