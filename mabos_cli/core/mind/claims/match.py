"""Two claims laid over each other: what both say, what only one says, and whether they are about the same thing; and what headings tell."""

import re
from typing import NamedTuple

from mabos_cli.core.language.text import words
from mabos_cli.core.mind.claims.claim import Claim, Name, subject_words
from mabos_cli.core.mind.claims.words import compare_words, is_same_event, root, roots, word_class

# Where there is only one, another one excludes it.
ALONE = frozenset("only sole single exclusive exclusively".split())
# Words of a heading that tell on which side of something it is.
_SIDES = frozenset("before after above below inside outside with without to from until since within beyond".split())


class Side(NamedTuple):
    """A claim with the terms and names that the other does not have."""

    claim: Claim
    rest: list[str]
    names: list[Name]


class Match(NamedTuple):
    """Two claims laid over each other; `shared` counts what both say."""

    a: Side
    b: Side
    opposed: list[tuple[str, str]]
    excluded: list[tuple[str, str]]
    shared: int

    @property
    def sides(self) -> tuple[tuple[Side, Side], tuple[Side, Side]]:
        """Returns each side with the other."""
        return (self.a, self.b), (self.b, self.a)


def match_claims(a: Claim, b: Claim) -> Match:
    """Lays two claims over each other."""
    one, two = _open_side(a, b), _open_side(b, a)
    pairs: dict[str, list[tuple[str, str]]] = {"same": [], "opposed": [], "excluded": []}
    for x in list(one.rest):
        y = next((y for y in two.rest if compare_words(x, y)[0]), None)
        if y is not None:
            one.rest.remove(x)
            two.rest.remove(y)
            pairs[compare_words(x, y)[0]].append((x, y))
    shared = len({*a.terms} & {*b.terms} | {x for x, _ in pairs["same"]}) + len(a.names) - len(one.names)
    for side in (one, two):
        side.rest[:] = [term for term in side.rest if term not in word_class("weak")]
    _take_first_words(one, two)
    return Match(one, two, pairs["opposed"], pairs["excluded"], shared)


def _open_side(claim: Claim, other: Claim) -> Side:
    """Returns a side with the terms and names that the other claim does not have in any form."""
    named = {term for name in other.names for term in roots(name.key)}
    rest = [term for term in claim.terms if term not in other.terms and term not in named]
    names = [
        name
        for name in claim.names
        if not any(is_same_name(name.key, each.key) for each in other.names)
        and not roots(name.key) <= {*other.terms}
    ]
    return Side(claim, rest, names)


def is_same_name(a: str, b: str) -> bool:
    """Returns whether two names can be of one thing: a part of the other, its beginning, or its initials.

    >>> is_same_name("anna", "anna schmidt"), is_same_name("aws", "amazon web services"), is_same_name("redis", "mysql")
    (True, True, False)
    """
    short, long = sorted((a, b), key=len)
    one, two = short.split(), long.split()
    if {*one} <= {*two} or long == f"{short}s" or (len(one) == 1 and len(short) >= 4 and long.startswith(short)):
        return True
    return len(two) > 1 and short == "".join(word[0] for word in two)


def _take_first_words(one: Side, two: Side) -> None:
    """Takes the first word of a sentence for a name where the other claim has one, or such a word."""
    both = not one.names and not two.names and all(side.claim.first in side.rest for side in (one, two))
    for side, other in ((one, two), (two, one)):
        first = side.claim.first
        if first in side.rest and not side.names and (other.names or both):
            side.names.append(Name(first, side.claim.terms[first], "first", "", 0, 1))
            side.rest.remove(first)


def leads(claim: Claim, term: str) -> bool:
    """Returns whether a word stands right before another with content: it tells which one, not how it is."""
    word = claim.terms[term].casefold()
    after = claim.words[claim.words.index(word) + 1 :][:1] if word in claim.words else ()
    return bool(after) and root(after[0]) in claim.terms


def shares(match: Match) -> bool:
    """Returns whether the claims have enough in common to be about one thing."""
    if match.shared != 1 or match.a.rest or match.b.rest:
        return match.shared > 1
    slots = {name.slot for side, _ in match.sides for name in side.names}
    if slots:
        # Ada is the chair, and the chair is Bo.
        return slots == {"first", "be"} or (len(slots) == 1 and "first" not in slots)
    return bool(match.opposed) or match.a.claim.negative != match.b.claim.negative


def fits(match: Match) -> bool:
    """Returns whether apart from what differs, one claim says no more than the other, and not much less."""
    # A name in whose place the other claim has one too is what differs.
    more = (len(side.rest) + max(0, len(side.names) - len(other.names)) for side, other in match.sides)
    small, large = sorted(more)
    a, b = match.a.claim, match.b.claim
    is_same_form = len(a.quantities) == len(b.quantities) and len(a.moments) == len(b.moments)
    return shares(match) and small == 0 and large <= (match.shared - 1) // 2 and is_same_form


def fits_number(match: Match) -> bool:
    """Returns whether two claims with different numbers are about the same quantity."""
    return fits(match) or fits(_ignore_words(match)) or _is_same_measure(match)


def _is_same_measure(match: Match) -> bool:
    """Returns whether two claims measure one thing in one unit, and say little else about it."""
    plain = _ignore_words(match, word_class("measuring"))
    if match.shared > 2 and fits(plain):
        return True
    if any(side.rest or side.names for side, _ in plain.sides):
        return False
    (one, *more), (two, *others) = match.a.claim.quantities, match.b.claim.quantities
    is_alike = not more and not others and (one.unit, one.each) == (two.unit, two.each)
    is_alike = is_alike and len(match.a.claim.moments) == len(match.b.claim.moments)
    return is_alike and (match.shared > 1 or (match.shared == 1 and bool(one.unit)))


def fits_date(match: Match) -> bool:
    """Returns whether two claims with different dates are about the same event."""
    told = [{*side.rest} - word_class("occurring") for side, _ in match.sides]
    if all(told) and not any(is_same_event(x, y) for x in told[0] for y in told[1]):
        return False
    return fits(_ignore_words(match, word_class("happening")))


def _ignore_words(match: Match, ignored: frozenset[str] = frozenset()) -> Match:
    """Returns the match without words that make no difference to it, or that tell of the same event on both sides."""
    pairs = [(x, y) for x in match.a.rest for y in match.b.rest if is_same_event(x, y)]
    left = [x for x in match.a.rest if x not in ignored and all(x != same for same, _ in pairs)]
    right = [y for y in match.b.rest if y not in ignored and all(y != same for _, same in pairs)]
    return match._replace(a=match.a._replace(rest=left), b=match.b._replace(rest=right))


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
    lasts = [root(subject_words(each)[-1]) for each in (one, two)]
    crossed = (lasts[0] in listed[1]) != (lasts[1] in listed[0])
    if (listed[0] & listed[1] and not crossed):
        # The same form with another word in it: the Berlin office, the Kiel office.
        return True
    for heading in (one, two):
        words = re.findall(r"\w+", heading)
        is_named = any(re.search(r"\d", word) or (n and word[0].isupper()) for n, word in enumerate(words))
        if is_named and content.isdisjoint(root(word.casefold()) for word in words if word[0].isupper()):
            return True
    return False
