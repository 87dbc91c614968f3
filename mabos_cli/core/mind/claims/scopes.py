"""Whether two headings say of which thing their texts are, or only where the texts are filed."""

import re
from functools import cache

from mabos_cli.core.language.periods import MONTHS, WEEKDAYS
from mabos_cli.core.language.text import STOP_WORDS
from mabos_cli.core.mind.claims.claim import Claim, subject_words
from mabos_cli.core.mind.claims.opposites import compare_words
from mabos_cli.core.mind.claims.words import CURRENCIES, NAMES, PLACES, root

# Words that pick one of several things of a kind: an environment, a plan, an age, a part of the day or year.
_SCOPES = frozenset(
    "staging production prod development dev test sandbox pilot preview canary enterprise starter premium basic "
    "standard pro plus free trial retail institutional wholesale corporate residential commercial adult child "
    "children infant toddler teenager senior junior men women girl boy summer winter spring autumn easter christmas "
    "ramadan weekend weekday night morning evening old new former legacy left right upper lower".split()
)
# Headings that end so name people of some kind, and what holds for some need not hold for others.
_PEOPLE = re.compile(r"(?:(?:er|or|ee|(?<!m)ent|ant|ist|ian|nurse|pupil|guest)s|men|people|staff)$")
# Headings that end so name what somebody does.
_ACTIVITY = re.compile(r"(?:ing|ics|roll|(?:tion|sion|ment|ance|ence|ity|ship|cy)s?)$")
_LEADING = frozenset("for in at on during before after since until with without under over among between".split())
_DATES = frozenset(name.casefold() for name in (*MONTHS, *WEEKDAYS))
# So many things must a text name to be about something that no heading need tell; a name tells as much as two.
_TOLD = 3


def tells_apart(one: str, two: str, said: frozenset[str]) -> bool:
    """Whether two headings tell apart texts that say these roots: by their form, by names, or by words of scope.

    >>> said = frozenset(map(root, "temperature limit vaccine boxes arrival".split()))
    >>> tells_apart("Vaccine transport", "Cold chain", said), tells_apart("Line 2", "Cold chain", said)
    (False, True)
    >>> tells_apart("Apple block", "Pear block", said), tells_apart("Kiel", "Flensburg", said)
    (True, True)
    """
    words = [subject_words(one), subject_words(two)]
    told = [{*map(root, each)} for each in words]
    if told[0] & told[1]:
        # The same form with another word in it: the Berlin office, the Kiel office.
        return True
    if len(words[0]) == len(words[1]) == 1 and not all(_ACTIVITY.search(each[0]) for each in words):
        return True
    titled = _is_titled(one) and _is_titled(two)
    if titled and not (told[0] | told[1]) & said:
        # Capitals mark no names here, so words of which no text says any may be names.
        return True
    if any(_is_scope(each, said, titled) for each in (one, two)):
        return True
    new = [each - said for each in told]
    return any(compare_words(x, y)[0] in ("opposed", "excluded") for x in new[0] for y in new[1])


def is_told(a: Claim, b: Claim) -> bool:
    """Whether two claims are in nearly the same words, and enough of them to name what they are about."""
    common = {*a.terms} & {*b.terms}
    names = {name.key for name in a.names} & {name.key for name in b.names}
    apart = [{*x.terms} - common for x in (a, b)]
    turned = any(compare_words(x, y)[0] for x in apart[0] for y in apart[1])
    if len(common) + turned + 2 * len(names) < _TOLD or min(len(a.words), len(b.words)) < 4:
        return False
    if apart[0] and apart[1] and not turned:
        # Each tells something else: for staff, for guests.
        return False
    return all(len(each) <= 1 for each in apart) and len(a.names) == len(b.names)


def _is_titled(heading: str) -> bool:
    """Whether every word of a heading has a capital: then that marks no names."""
    found = [word for word in re.findall(r"[^\W\d_]+", heading) if word.casefold() not in STOP_WORDS]
    return len(found) > 1 and all(word[0].isupper() for word in found)


def _is_scope(heading: str, said: frozenset[str], titled: bool) -> bool:
    """Whether a heading has names that the texts do not repeat, or words for which of several things it is."""
    names, scopes = _marks(heading, titled)
    if names and not any(name in said for name in names):
        return True
    return any(word not in said for word in scopes)


@cache
def _marks(heading: str, titled: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The roots of a heading that are names or numbers, and those that are words of scope."""
    names, scopes, led = [], [], False
    listed = re.findall(r"\w+", heading)
    for at, word in enumerate(listed):
        folded = word.casefold()
        led = led or (at > 0 and folded in _LEADING)
        if folded in STOP_WORDS or folded in _LEADING:
            continue
        # An abbreviation is as often a field (HR, FX) as a name.
        coded = any(c.isdigit() for c in word) or (any(c.isupper() for c in word[1:]) and not word.isupper())
        if coded or folded in NAMES | PLACES | CURRENCIES or (at and word[0].isupper() and not titled):
            names.append(root(folded))
        elif (
            led
            or folded.removesuffix("s") in _SCOPES
            or folded in _DATES
            or (at == len(listed) - 1 and _PEOPLE.search(folded))
        ):
            scopes.append(root(folded))
    return tuple(names), tuple(scopes)
