"""Judging statements: a linear model that says whether a sentence is worth keeping, and as what.

It counts words, their neighbours, stems and endings, and the class of each word: words that are used alike share one, so that
what was learned about `chose` holds for `picked`. Names, numbers and days count as such. benchmarks/learning.py trains it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import exp
from zlib import crc32

from mabos_cli.core.language.periods import MONTHS, WEEKDAYS
from mabos_cli.core.language.text import stem

NOISE = "-"
_TOKEN = re.compile(r"[$€£]?\d[\d.,:/-]*(?:st|nd|rd|th|am|pm|k|m)?%?|[^\W\d_]+(?:['’][^\W\d_]+)?|[^\w\s]")
_NUMBER = re.compile(
    r"(?P<ordinal>\d+(?:st|nd|rd|th))|(?P<clock>\d[\d:.]*(?:am|pm)|\d\d?:\d\d)|(?P<money>[$€£].*|\d.*k)|(?P<share>.*%)"
    r"|(?P<year>(?:19|20)\d\d)|(?P<small>\d\d?)|(?P<number>.*)",
    re.DOTALL,
)
_SHORT = re.compile(r"(.+?)('(?:s|re|ve|ll|d|m)|n't)")
_ENDS = frozenset('.!?:"“…')
_DAYS = {f"{day.lower()}s": "days" for day in WEEKDAYS}
for _names, _kind in ((WEEKDAYS, "day"), (MONTHS, "month")):
    _DAYS |= {name.lower(): _kind for name in _names} | {name[:3].lower(): _kind for name in _names}
_ALSO_WORDS = frozenset(("may", "march", *(name for name in _DAYS if len(name) == 3)))  # days with a capital only


def features_of(text: str, classes: Mapping[str, tuple[str, str]]) -> set[str]:
    """Returns what the model counts of a statement; `classes` has the broad and the narrow class of words.

    >>> sorted(features_of("Acme pays 120", {"pays": ("b7", "n31")}))[:8]
    ['#number', '#number >', '#number|>', '<', '< @', '< @ pays', '< _ pays', '<|@']
    """
    words = ["<", *_tokens(text.lower() if text.isupper() else text, classes), ">"]
    found = {*words, f"size {min(len(words) // 6, 5)}"}
    broad = []
    for word in words:
        known = classes.get(word)
        broad.append(known[0] if known else "?" if word.isalpha() else word)
        if known:
            found.update(known)
        if word.isalpha():
            found.add(f"{stem(word)}*")
            found.update((f"-{word[-2:]}", f"-{word[-3:]}") if len(word) > 4 else ())
    found.update(f"{a} {b}" for a, b in pairwise(words))
    for a, b, c in zip(words, words[1:], words[2:], strict=False):
        found.update((f"{a} {b} {c}", f"{a} _ {c}"))
    for (a, b), (before, after) in zip(pairwise(words), pairwise(broad), strict=True):
        found.update((f"{before}|{after}", f"{a}|{after}", f"{before}|{b}"))
    return found


def _tokens(text: str, classes: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    """Yields the words of a statement in small letters; names, and who stands for one, as @, numbers and days by their kind, `we're` as two."""
    is_first = True
    for word in _TOKEN.findall(text):
        plain = word.lower().replace("’", "'")
        is_capital = word[0].isupper()
        if any(c.isdigit() for c in word[:2]):
            match = _NUMBER.fullmatch(plain)
            yield f"#{match.lastgroup if match else ''}"
        elif plain in _DAYS and (is_capital or plain not in _ALSO_WORDS):
            yield f"#{_DAYS[plain]}"
        elif is_capital and plain[:2] not in ("i", "i'") and not (is_first and plain.partition("'")[0] in classes):
            yield "@"
        else:
            short = _SHORT.fullmatch(plain)
            for part in short.groups() if short else (plain,):
                yield "@" if part in ("he", "she") else part
        is_first = word in _ENDS


class Judge:
    """A linear model of statements: for each type, and for noise, the weight of each feature."""

    def __init__(
        self, types: Sequence[str], floor: float, weights: Mapping[int, Sequence[float]], classes: Sequence[str]
    ) -> None:
        """Takes weights by the checksum of the feature, and for each narrow class its broad one and its words."""
        self._types, self._floor, self._weights = tuple(types), floor, weights
        self.classes = parse_classes(classes)

    def shares(self, text: str) -> dict[str, float]:
        """Returns how likely a statement is of each type, or noise."""
        rows = filter(None, (self._weights.get(crc32(f.encode())) for f in features_of(text, self.classes)))
        scores = [*map(sum, zip((0.0,) * len(self._types), *rows, strict=True))]
        top = max(scores)
        parts = [exp(score - top) for score in scores]
        return {name: part / sum(parts) for name, part in zip(self._types, parts, strict=True)}

    def judge(self, text: str) -> str:
        """Returns the type of a statement; empty where it is more likely noise than the floor allows."""
        shares = self.shares(text)
        return "" if 1 - shares[NOISE] < self._floor else _most_likely(shares)

    def best(self, text: str) -> str:
        """Returns the most likely type of a statement that is to be kept."""
        return _most_likely(self.shares(text))


def _most_likely(shares: Mapping[str, float]) -> str:
    return max((name for name in shares if name != NOISE), key=lambda name: shares[name])


def parse_classes(lines: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Returns the broad and narrow class of each word; a line is a narrow class: the number of its broad class, and its words."""
    found: dict[str, tuple[str, str]] = {}
    for number, line in enumerate(lines):
        broad, *words = line.split()
        found.update(dict.fromkeys(words, (f"b{broad}", f"n{number}")))
    return found
