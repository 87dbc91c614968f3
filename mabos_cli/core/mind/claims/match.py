"""Matches two claims: what both say, what only one says, and whether they are about the same thing; also compares headings."""

import re
from typing import NamedTuple

from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.language.text import words
from mabos_cli.core.mind.claims.claim import Claim, Name, subject_words
from mabos_cli.core.mind.claims.words import compare_words, is_same_event, root, roots, word_class

# Words that lead to a name, and so to what stands in its place.
_LEADING = ("by", "with", "through", "via", "to", "in", "on", "at", "per", "of")
# Where there is only one, another one excludes it.
ALONE = frozenset("only sole single exclusive exclusively".split())
# Words of a heading that tell on which side of something it is.
_SIDES = frozenset("before after above below inside outside with without to from until since within beyond".split())


class Side(NamedTuple):
    """A claim with the terms and names that the other does not have."""

    claim: Claim
    rest: list[str]
    names: list[Name]


class Topic(NamedTuple):
    """The subject of two claims: its roots, which claim is later (-1, 1, or 0 when unknown), and whether it names a quantity."""

    roots: frozenset[str]
    later: int = 0
    is_measure: bool = False


class Match(NamedTuple):
    """Two claims laid over each other; `shared` counts what both say, `beyond` what of that their subject does not say."""

    a: Side
    b: Side
    opposed: list[tuple[str, str]]
    excluded: list[tuple[str, str]]
    shared: int
    beyond: int
    topic: Topic | None

    @property
    def sides(self) -> tuple[tuple[Side, Side], tuple[Side, Side]]:
        """Returns each side with the other."""
        return (self.a, self.b), (self.b, self.a)


def match_claims(a: Claim, b: Claim, topic: Topic | None) -> Match:
    """Lays two claims over each other; the words of a subject that both have need not be said."""
    known = topic.roots if topic else frozenset[str]()
    one, two = _open_side(a, b, known), _open_side(b, a, known)
    pairs: dict[str, list[tuple[str, str]]] = {"same": [], "opposed": [], "excluded": []}
    for x in list(one.rest):
        y = next((y for y in two.rest if compare_words(x, y)[0]), None)
        if y is not None:
            one.rest.remove(x)
            two.rest.remove(y)
            pairs[compare_words(x, y)[0]].append((x, y))
    common = {*a.terms} & {*b.terms} | {x for x, _ in pairs["same"]}
    for side in (one, two):
        side.rest[:] = [term for term in side.rest if term not in known and term not in word_class("weak")]
    names = [name for name in a.names if name not in one.names]
    _take_first_words(one, two)
    _take_standing_words(one, two)
    shared = len(common) + len(names)
    beyond = len(common - known) + sum(not roots(name.key) <= known for name in names)
    return Match(one, two, pairs["opposed"], pairs["excluded"], shared, beyond, topic)


def _open_side(claim: Claim, other: Claim, known: frozenset[str]) -> Side:
    """Returns a side with the terms and names that the other claim does not have in any form."""
    named = {term for name in other.names for term in roots(name.key)}
    rest = [term for term in claim.terms if term not in other.terms and term not in named]
    names = [
        name
        for name in claim.names
        if not any(is_same_name(name.key, each.key) for each in other.names)
        and not roots(name.key) <= {*other.terms}
        and not roots(name.key) <= known
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


def _take_standing_words(one: Side, two: Side) -> None:
    """Takes words for names that stand where the other claim has a name: by the head of the department."""
    for slot in _LEADING if one.rest or two.rest else ():
        for side, other in ((one, two), (two, one)):
            name = None if side.names else _find_standing(side, slot)
            if name is None:
                continue
            twin = _find_standing(other, slot)
            if other.names:
                fitting = [name.slot] == [each.slot for each in other.names]
            else:
                fitting = twin is not None and name.head == twin.head
            if fitting:
                side.names.append(name)
                side.rest.clear()


def _find_standing(side: Side, slot: str) -> Name | None:
    """Returns the words that only this claim has as one name, if all of them follow the slot."""
    words = side.claim.words
    places = [n for n, word in enumerate(words) if root(word) in side.rest]
    at = max((n for n, word in enumerate(words) if word == slot and n < min(places, default=0)), default=-1)
    if at < 0 or any(root(word) in side.claim.terms for word in words[at + 1 : min(places)]):
        return None
    head = root(words[at - 1]) if at else ""
    if not {*side.rest} <= {root(word) for word in words[at + 1 : at + 6]}:
        return None
    text = " ".join(side.claim.terms[term] for term in side.rest)
    return Name(" ".join(side.rest), text, slot, head, at + 1, len(words))


def leads(claim: Claim, term: str) -> bool:
    """Returns whether a word stands right before another with content: it tells which one, not how it is."""
    word = claim.terms[term].casefold()
    after = claim.words[claim.words.index(word) + 1 :][:1] if word in claim.words else ()
    return bool(after) and root(after[0]) in claim.terms


def shares(match: Match) -> bool:
    """Returns whether the claims have enough in common to be about one thing."""
    if match.topic:
        return match.beyond >= 1 or not (match.a.rest and match.b.rest)
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
    if not shares(match):
        return False
    if not match.topic:
        a, b = match.a.claim, match.b.claim
        is_same_form = len(a.quantities) == len(b.quantities) and len(a.moments) == len(b.moments)
        return small == 0 and large <= (match.shared - 1) // 2 and is_same_form
    if small:
        is_close = match.beyond >= 2 and large == 1
        is_close = is_close or (bool(match.opposed) and large <= 2 and not match.a.claim.modes)
        return is_close and not _is_same_place(match)
    if match.beyond:
        return large <= 5
    if match.opposed:
        return large <= 4
    if ALONE & {*match.a.claim.words, *match.b.claim.words}:
        return large <= 2
    return large <= (0 if match.a.names or match.shared < 2 else 1)


def fits_number(match: Match) -> bool:
    """Returns whether two claims with different numbers are about the same quantity."""
    if fits(match) or _is_same_measure(match):
        return True
    # Under a heading that names a quantity, a number in the same unit is that, whatever else is said.
    one, two = ({quantity.unit for quantity in side.claim.quantities} for side, _ in match.sides)
    if not (match.topic and match.topic.is_measure and one & two - {""}):
        return False
    # Claims of two things are told alike: debug logs are kept for 7 days, audit logs are kept for 10 years.
    rests = [side.rest for side, _ in _ignore_words(match).sides]
    firsts = [next(iter(side.claim.terms), "") for side, _ in match.sides]
    return not all(rest[:1] == [first] for rest, first in zip(rests, firsts, strict=True)) and min(map(len, rests)) <= 3


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
    rests = [{*side.rest} - word_class("occurring") for side, _ in match.sides]
    if all(rests) and not any(is_same_event(x, y) for x in rests[0] for y in rests[1]):
        return False
    return fits(_ignore_words(match, word_class("happening")))


def _ignore_words(match: Match, ignored: frozenset[str] = frozenset()) -> Match:
    """Returns the match without words that make no difference to it, or that tell of the same event on both sides."""
    pairs = [(x, y) for x in match.a.rest for y in match.b.rest if is_same_event(x, y)]
    left = [x for x in match.a.rest if x not in ignored and all(x != same for same, _ in pairs)]
    right = [y for y in match.b.rest if y not in ignored and all(y != same for _, same in pairs)]
    return match._replace(a=match.a._replace(rest=left), b=match.b._replace(rest=right))


def _is_same_place(match: Match) -> bool:
    """Returns whether the words that only one claim has stand in one place: they tell what each claim is about."""
    if not match.a.rest or not match.b.rest:
        return True
    around = []
    for number, (side, _) in enumerate(match.sides):
        terms = [f"<{number}", *side.claim.terms, f">{number}"]
        at = terms.index(side.rest[0])
        around.append((terms[at - 1], terms[at + 1]))
    return around[0][0] == around[1][0] or around[0][1] == around[1][1]


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
