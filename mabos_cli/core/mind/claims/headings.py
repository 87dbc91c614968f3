"""Tells what headings and answers tell: whether two headings name two things, and what a text that is an answer says."""

import re

from mabos_cli.core.language.text import words
from mabos_cli.core.mind.claims.claim import subject_words
from mabos_cli.core.mind.claims.words import root

_SIDES = frozenset("before after above below inside outside with without to from until since within beyond".split())


def truth_of(text: str) -> bool | None:
    """Returns what a text that is an answer says, yes or no; None for other texts.

    >>> truth_of("Yes, since May"), truth_of("false"), truth_of("No shop sells it")
    (True, False, None)
    """
    match = re.match(r"(?i)\W*(?:(yes|true)|no|false)(?=\W*$|[,;.:]\s)", text)
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


def is_thing(heading: str, texts: str) -> bool:
    """Returns whether a heading names a thing or a way of doing it, rather than somebody of whom much can be told.

    >>> is_thing("Milking", ""), is_thing("Ticket sales", ""), is_thing("Nadia", "Nadia lives in Ghent.")
    (True, True, False)
    """
    *more, last = heading.split() or [""]
    if more or not last.replace("-", "").isalpha():
        return last.replace("-", "").isalpha() and last[0].islower()
    return last.endswith(("ing", "tion", "ment", "ance")) or bool(re.search(rf"\b{last.casefold()}", texts))


def tells_apart(one: str, two: str, content: frozenset[str]) -> bool:
    """Returns whether two headings tell apart texts with these roots: by their form, or by names that the texts do not
    repeat.

    >>> content = frozenset(map(root, "temperature limit vaccine boxes arrival".split()))
    >>> tells_apart("Vaccine transport", "Cold chain", content), tells_apart("Line 2", "Cold chain", content)
    (False, True)
    >>> tells_apart("Apple block", "Pear block", content), tells_apart("Kiel", "Flensburg", content)
    (True, True)
    """
    listed = [{*map(root, subject_words(each))} for each in (one, two)]
    if listed[0] & listed[1] or len(listed[0]) == len(listed[1]) == 1:
        # The same form with another word in it: the Berlin office, the Kiel office.
        return True
    for heading in (one, two):
        words = re.findall(r"\w+", heading)
        is_named = any(re.search(r"\d", word) or (n and word[0].isupper()) for n, word in enumerate(words))
        if is_named and content.isdisjoint(root(word.casefold()) for word in words if word[0].isupper()):
            return True
    return False
