"""Whether a text that a model wrote keeps to what it was told: nothing invented, nobody left out."""

import re
from collections.abc import Sequence

from mabos_cli.core.language.similar import count_negations
from mabos_cli.core.language.text import stems, terms, words
from mabos_cli.core.mind.claims.numbers import NUMBER_WORDS, write_digits

_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
# Half of the words may be the writer's own; beyond that it talks about something else.
_OWN_WORDS = 0.5


def numbers_of(text: str) -> frozenset[str]:
    """The numbers in a text, however they are written; the word one, which is mostly none, does not count.

    >>> sorted(numbers_of("1,000 seats at 2.50, twenty-one of them by 2026-02-03"))
    ['1000', '2', '2.5', '2026', '21', '3']
    """
    plain = write_digits(text)
    found = {_plain(digits) for digits in _DIGITS.findall(plain)}
    spelled = (word for word in words(plain) if word in NUMBER_WORDS and word != "one")
    return frozenset(found | {f"{NUMBER_WORDS[word]:g}" for word in spelled})


def _plain(digits: str) -> str:
    """A number without thousands marks and needless zeros."""
    whole, point, part = _THOUSANDS.sub("", digits).partition(".")
    part = part.rstrip("0") if part.isdigit() else part
    return (whole.lstrip("0") or "0") + (point + part if part else "")


def find_fault(text: str, sources: Sequence[str], keep: float = 0.0) -> str:
    """Why a text must not stand for those it was written from, in a few words; nothing when it may.

    keep is the share of the words of each source that it must hold, also of those that not all sources have in common:
    their subject alone says little.

    >>> find_fault("Seats cost 20 EUR", ["a seat costs 20 EUR a month", "EUR only"])
    ''
    >>> find_fault("Seats cost 30 EUR", ["a seat costs 20 EUR a month"])
    'its text has a number that is not in what it was told'
    """
    if not numbers_of(text) <= frozenset().union(*map(numbers_of, sources)):
        return "its text has a number that is not in what it was told"
    if count_negations(text) and not any(map(count_negations, sources)):
        return "its text denies something that was not denied"
    said = set(terms(text))
    told = [set(terms(source)) for source in sources]
    if not said or len(said & set().union(*told)) < _OWN_WORDS * len(said):
        return "its text is about something else"
    common, held = set.intersection(*told), {*stems(text)}
    if any(len(held & each) < keep * len(each) for source in told for each in (source, source - common)):
        return "its text leaves out something of what it was told"
    return ""


def may_be_one(a: str, b: str, same_numbers: bool) -> bool:
    """Whether it is worth asking if two texts say the same: not when one denies what the other does not."""
    return bool(count_negations(a)) == bool(count_negations(b)) and (not same_numbers or numbers_of(a) == numbers_of(b))


def find_merge_fault(text: str, a: str, b: str) -> str:
    """Why a text must not take the place of two others: besides inventing nothing, it must lose no number and no denial."""
    if not numbers_of(a) | numbers_of(b) <= numbers_of(text):
        return "its text leaves out a number"
    if fault := find_fault(text, (a, b), keep=0.5):
        return fault
    if bool(count_negations(text)) != bool(count_negations(a) or count_negations(b)):
        return "its text does not deny what was denied"
    return ""
