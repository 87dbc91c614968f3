"""Judging statements: a linear model that says whether a sentence is worth keeping, and as what.

It counts words, their neighbours, stems and endings, and the class of each word: words that are used alike share one, so that
what was learned about `chose` holds for `picked`. Names, numbers and days count as such. benchmarks/learning.py trains it.

The model knows English best. In another language it is believed only where it is sure; what asks to be remembered, is labelled, was
decided, holds always or never, or tells a preference or a name is told by its words, language by language.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import exp
from zlib import crc32

from mabos_cli.core import read_table
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


_SURE = 0.25, 0.6  # at most so likely noise, and so likely of its type where it is none
_TALK = read_table("memory/talk.txt")
# Words that are frequent in a language and none of English.
_FREQUENT = frozenset(_TALK["frequent"].split()) - frozenset(_TALK["also english"].split())
_ENGLISH = frozenset(_TALK["english"].split())
_ASKS, _QUESTION = re.compile(_TALK["asks to keep"], re.IGNORECASE), re.compile(_TALK["question"])
# By type, in the order in which they are tried: a label in front, and words that may stand anywhere.
_LABEL = {
    name.removeprefix("labelled "): re.compile(rf"(?:{names})\s*[:：]\s*(?P<rest>\S.*)", re.IGNORECASE)
    for name, names in _TALK.items()
    if name.startswith("labelled ")
}
_CUES = {
    name.removeprefix("says "): re.compile(words, re.IGNORECASE)
    for name, words in _TALK.items()
    if name.startswith("says ")
}
_NARRATED = re.compile(_TALK["narrated"], re.IGNORECASE)  # who tells of somebody gives no rule


def is_other_language(text: str) -> bool:
    """Returns whether a statement is in another language than English: by its script, or its frequent words.

    >>> [is_other_language(text) for text in ("Wir nutzen Postgres", "Ana met Jürgen at the café", "短い回答が好きです")]
    [True, False, True]
    """
    letters = [c for c in text if c.isalpha()]
    if sum(c > "\u02ff" for c in letters) * 3 > len(letters):
        return True
    words: list[str] = re.findall(r"[^\W\d_]+", text)
    accents = sum(word[0].islower() and not word.isascii() for word in words)
    return accents + sum(word.lower() in _FREQUENT for word in words) > _count_english(text)


def _count_english(text: str) -> int:
    return sum(word in _ENGLISH for word in re.findall(r"[a-z]+", text.lower()))


def read_cue(text: str) -> tuple[str, str] | None:
    """Returns the type and text of a statement in another language that says outright that it is to be kept, or None.

    >>> read_cue("Bitte merk dir: wir deployen nie freitags"), read_cue("Décision : nous gardons Stripe"), read_cue("Das sieht gut aus")
    (('instruction', 'wir deployen nie freitags'), ('decision', 'nous gardons Stripe'), None)
    """
    asked = _ASKS.match(text)
    rest = text[asked.end() :].strip() if asked else text
    if _QUESTION.search(text) or len(rest) < 4 or (_count_english(text) and not is_other_language(text)):
        return None
    rest = text if re.match("(?i:dass|dat) ", rest) else rest  # where the order of words depends on it
    for kind, label in _LABEL.items():
        if match := label.fullmatch(rest):
            return kind, match["rest"]
    for kind, words in _CUES.items():
        if words.search(rest) and (asked or kind != "instruction" or not _NARRATED.search(rest)):
            return kind, rest
    return ("fact", rest) if asked else None


def is_sure(shares: dict[str, float], noise: str) -> bool:
    """Returns whether a model is sure enough of a statement in another language, by how likely each type is."""
    kept = {kind: share for kind, share in shares.items() if kind != noise}
    return shares[noise] <= _SURE[0] and max(kept.values()) >= _SURE[1] * sum(kept.values())
