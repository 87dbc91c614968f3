"""Compares the headings of two texts: whether they name one thing, its sides, or two things of a kind."""

import re

from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.language.text import words
from mabos_cli.core.mind.claims.claim import subject_words
from mabos_cli.core.mind.claims.words import root

# Words of a heading that tell on which side of something it is.
_SIDES = frozenset("before after above below inside outside with without to from until since within beyond".split())


def truth_of(text: str) -> bool | None:
    """Returns what a text that is an answer says, yes or no; None for other texts.

    >>> truth_of("Yes, since May"), truth_of("false"), truth_of("No shop sells it")
    (True, False, None)
    """
    match = compiled(r"(?i)\W*(?:(yes|true)|no|false)(?=\W*$|[,;.:]\s)").match(text)
    return bool(match[1]) if match else None


def sides_of(subject: str) -> frozenset[str]:
    """Returns the words of a subject that tell on which side of something it is: before or after it, to or from it."""
    return _SIDES & {*words(subject)}


def are_groups_apart(one: str, two: str) -> bool:
    """Returns whether the headings of two lists name two things of a kind, rather than two sides of one.

    >>> are_groups_apart("Supplier Rossi", "Supplier Verdi"), are_groups_apart("Rossi", "Verdi")
    (True, True)
    >>> are_groups_apart("Financial context", "Current state"), are_groups_apart("Market beliefs", "Other beliefs")
    (False, False)
    """
    first, second = ({*map(root, subject_words(each))} - {"belief"} for each in (one, two))
    if not first or not second or first == second:
        return False
    return bool(first & second) or len(first) == len(second) == 1


def headings_differ(one: str, two: str, content: frozenset[str]) -> bool:
    """Returns whether two headings distinguish texts with these roots: by their form, or by names that the texts do not repeat.

    >>> content = frozenset(map(root, "temperature limit vaccine boxes arrival".split()))
    >>> headings_differ("Vaccine transport", "Cold chain", content), headings_differ("Line 2", "Cold chain", content)
    (False, True)
    >>> headings_differ("Apple block", "Pear block", content), headings_differ("Kiel", "Flensburg", content)
    (True, True)
    """
    listed = [{*map(root, subject_words(each))} for each in (one, two)]
    lasts = [each.split()[-1] for each in (one, two)]
    # What is of the dock, such as its capacity, may be told of the loading dock as well.
    is_of_other = (root(lasts[0]) in listed[1]) != (root(lasts[1]) in listed[0]) and all(map(str.islower, lasts))
    if (listed[0] & listed[1] and not is_of_other) or len(listed[0]) == len(listed[1]) == 1:
        # The same form with another word in it: the Berlin office, the Kiel office.
        return True
    for heading in (one, two):
        words = re.findall(r"\w+", heading)
        is_named = any(re.search(r"\d", word) or (n and word[0].isupper()) for n, word in enumerate(words))
        if is_named and content.isdisjoint(root(word.casefold()) for word in words if word[0].isupper()):
            return True
    return False
