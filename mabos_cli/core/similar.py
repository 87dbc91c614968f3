"""How alike two texts are, by their words, and which words suffice to find all that are alike enough."""

from mabos_cli.core.text import words

_NEGATION = frozenset(
    ("no not never none without cannot dont doesnt isnt arent wasnt werent wont cant didnt").split()
)
_APOSTROPHES = str.maketrans("", "", "'\u2019")


def word_set(text: str) -> frozenset[str]:
    """The distinct words of a text."""
    return frozenset(words(text.translate(_APOSTROPHES)))


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
