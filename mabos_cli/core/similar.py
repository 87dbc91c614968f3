"""How alike two texts are, by their words, and which words suffice to find all that are alike enough."""

import re
from hashlib import blake2b

from mabos_cli.core.text import words

_NEGATION = frozenset(
    ("no not never none without cannot dont doesnt isnt arent wasnt werent wont cant didnt").split()
)
_APOSTROPHE = re.compile(r"(?<=\w)['\u2019](?=\w)")


def word_set(text: str) -> frozenset[str]:
    """The distinct words of a text."""
    return frozenset(words(_APOSTROPHE.sub("", text)))


def likeness(a: frozenset[str], b: frozenset[str]) -> float:
    """Shared words over all words (Jaccard), in 0..1.

    >>> likeness(word_set("the key is in the vault"), word_set("The key is in the vault!"))
    1.0
    """
    return len(a & b) / len(a | b) if a or b else 1.0


def says_the_same(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether two near-equal texts may be merged: a different number or a negation makes them different claims.

    >>> says_the_same(word_set("limit is 50"), word_set("limit is 500"))
    False
    """
    return not any(word in _NEGATION or any(c.isdigit() for c in word) for word in a ^ b)


def probe(word_list: frozenset[str], threshold: float) -> list[str]:
    """The few words of which any text with likeness >= threshold must share at least one.

    Words are put in one fixed order, long (rare) ones first. If two sets overlap that much, their leading parts
    overlap too, so an index over leading parts misses nothing.
    """
    ordered = sorted(word_list, key=lambda word: (-len(word), word))
    keep = len(ordered) - -(-round(threshold * len(ordered) * 1000) // 1000) + 1
    return ordered[: max(1, keep)]


def fingerprint(word: str) -> int:
    """A stable 63-bit number for a word."""
    return int.from_bytes(blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()) >> 1
