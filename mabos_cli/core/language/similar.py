"""How alike two texts are, by their words, and which words suffice to find all that are alike enough."""

import re
from collections import Counter
from math import ceil

from mabos_cli.core.language.text import words

# Without its apostrophe a negation looks like the end of many words (payment), so that those verbs are named.
_NEGATION = (
    r"(?i)\b(?:no|not|never|none|nor|neither|nobody|nothing|without|cannot|\w+n['\u2019]t"
    r"|(?:do|does|did|is|are|was|were|wo|would|should|could|ca|has|have|had|must|need)nt)\b"
)
_NUMBER = r"[-+]?\d[\d.,:/%-]*"
_APOSTROPHES = str.maketrans("", "", "'\u2019")


def word_set(text: str) -> frozenset[str]:
    """The distinct words of a text."""
    return frozenset(words(text.translate(_APOSTROPHES)))


def likeness(a: frozenset[str], b: frozenset[str]) -> float:
    """What two sets share over all that they hold (Jaccard), in 0..1.

    >>> likeness(word_set("the key is in the vault"), word_set("The key is in the vault!"))
    1.0
    """
    return len(a & b) / len(a | b) if a or b else 0.0


def says_the_same(a: str, b: str) -> bool:
    """Whether two near-equal texts may be merged: another number, or a negation, makes them different claims.

    >>> says_the_same("The limit is 50", "the limit is 50!"), says_the_same("limit is 1.2", "limit is 2.1")
    (True, False)
    >>> says_the_same("We should ship", "We shouldn't ship")
    False
    """
    negated = [count_negations(text) for text in (a, b)]
    numbers = [[number.rstrip(".,:/-") for number in re.findall(_NUMBER, text)] for text in (a, b)]
    return negated[0] == negated[1] and numbers[0] == numbers[1] and bool(word_set(a))


def count_negations(text: str) -> int:
    """How often a text says no.

    >>> count_negations("We won't pay, and nobody asked"), count_negations("The payment is important")
    (2, 0)
    """
    return len(re.findall(_NEGATION, text))


# Texts that are alike enough share this many of their leading words; more makes candidates fewer and the index larger.
_SHARED = 3


def probe(text: frozenset[str], threshold: float) -> list[str]:
    """The leading words of a text: any other with likeness >= threshold has at least `shared` of them among its own.

    Words are put in one fixed order, long (rare) ones first. Two sets that overlap in c words cannot hide that from
    their leading parts of n - c + k words: k of the common words must be in both.
    """
    ordered = sorted(text, key=lambda word: (-len(word), word))
    return ordered[: len(ordered) - _overlap(len(ordered), threshold) + _SHARED]


def shared(text: frozenset[str], threshold: float) -> int:
    """How many leading words a text must have in common with another to be worth comparing."""
    return max(1, min(_SHARED, _overlap(len(text), threshold)))


def _overlap(size: int, threshold: float) -> int:
    """Words that a set of this size has at least in common with any set that is alike enough."""
    return ceil(threshold * size - 1e-9)


class WordIndex:
    """Texts by their leading words, in memory: finds all that are alike enough without comparing all."""

    def __init__(self, floor: float) -> None:
        self._floor = floor
        self._texts: dict[str, frozenset[str]] = {}
        self._holders: dict[str, list[str]] = {}

    def add(self, key: str, text: frozenset[str]) -> None:
        """Makes a text findable under a key."""
        self._texts[key] = text
        for word in probe(text, self._floor):
            self._holders.setdefault(word, []).append(key)

    def find(self, text: frozenset[str], threshold: float) -> list[tuple[float, str]]:
        """Keys of texts with at least this likeness (not below the floor), most alike first."""
        threshold = max(threshold, self._floor)
        counts: Counter[str] = Counter()
        for word in probe(text, threshold):
            counts.update(self._holders.get(word, ()))
        need = shared(text, threshold)
        scored = [(likeness(text, self._texts[key]), key) for key, count in counts.items() if count >= need]
        return sorted((hit for hit in scored if hit[0] >= threshold), key=lambda hit: (-hit[0], hit[1]))
