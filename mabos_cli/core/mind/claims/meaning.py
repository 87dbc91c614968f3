"""Claims in other words: whether two clauses are about one thing, and hold values of a kind that exclude each other."""

from collections.abc import Iterator
from itertools import pairwise

from mabos_cli.core.language.quantities import Quantity, can_agree
from mabos_cli.core.mind.claims.claim import NEGATIONS, Claim, Name
from mabos_cli.core.mind.claims.disagreement import LEFT_OUT, Disagreement, are_cases_apart, find_other, is_claimed, is_done, is_other_time
from mabos_cli.core.mind.claims.match import ALONE, is_same_name, leads
from mabos_cli.core.mind.claims.moments import FIRST_MOMENT, same_time
from mabos_cli.core.mind.claims.words import compare_words, denies, is_same_event, root, roots, word_class

# So much must two clauses share to be about one thing, a name counting for two, and such a part of the shorter one.
_SHARED, _PART = 3, 0.6
_ENOUGH, _HALF = 2, 0.5
_CLEAR = 4
_LEADING = roots("lead manage head run chair direct own supervise coordinate")
_PLACES = frozenset("in at on behind beside under above inside outside near".split())
_STANDING = roots("hang stand lie keep find store hold sit house serve park place land locate")
_BE = frozenset("is are".split())
_PERSON = root('people')
_ADDED = frozenset(('both', 'also', 'too'))
_EVERY = frozenset(('all', 'every', 'each'))
# What is said of most or some leaves room for others.
_PARTIAL = frozenset("most many some several few often usually mostly mainly average".split())
# Two claims that go on with other words behind the same one of these are about two cases.
_SCOPES = frozenset("in at on for during under with".split())
# A limit, an aim or a guess is another number than what came of it.
_AIMS = roots("limit ceiling maximum minimum largest smallest target goal aim estimate budget plan quota forecast expect allow accept")
_WEAK = roots("take cost count present time start get need put run make go hold give come keep happen do bring let set use live sit stand lie locate say")
Heads = tuple[frozenset[str], ...]


def join_claims(head: Claim, value: Claim) -> Claim:
    """Returns what a heading and its value say together."""
    return value._replace(
        terms=head.terms | value.terms,
        names=head.names + value.names,
        quantities=head.quantities + value.quantities,
        moments=head.moments + value.moments,
        negative=head.negative != value.negative,
        hedged=head.hedged or value.hedged,
        words=(*head.words, "is", *value.words),
    )


class Overlap:
    """Two claims side by side: the roots and names that both have, with their headings, and those that only one has."""

    def __init__(self, a: Claim, b: Claim, heads: Heads) -> None:
        self.a, self.b = a, b
        known = [
            {*claim.terms, *head}.union(*(roots(name.key) for name in claim.names))
            for claim, head in zip((a, b), heads, strict=True)
        ]
        pairs = [(x, y, compare_words(x, y)[0] if x != y else "same") for x in known[0] for y in known[1]]
        self.same = {(x, y) for x, y, how in pairs if how == "same"}
        self.opposed = [(x, y) for x, y, how in pairs if how == "opposed" and x in a.terms and y in b.terms]
        self.excluded = [(x, y) for x, y, how in pairs if how == "excluded" and x in a.terms and y in b.terms]
        both = {x for x, _ in self.same}, {y for _, y in self.same}
        self.rest = tuple(
            {term for term in claim.terms if term not in each} for claim, each in zip((a, b), both, strict=True)
        )
        self.plain = tuple({term for term in rest if not denies(term)} - _WEAK for rest in self.rest)
        self.names = tuple(
            [
                name
                for name in claim.names
                if not roots(name.key) <= each and not any(is_same_name(name.key, x.key) for x in other.names)
            ]
            for claim, each, other in ((a, both[0], b), (b, both[1], a))
        )
        shared = sum(name not in self.names[0] for name in a.names)
        for at, claim in enumerate((a, b)):
            other = (b, a)[at]
            if claim.first in self.plain[at] and not self.names[at] and (self.names[1 - at] or other.first in self.plain[1 - at]):
                self.names[at].append(Name(claim.first, claim.terms[claim.first], "first", "", 0, 1))
        for names, plain, rest in zip(self.names, self.plain, self.rest, strict=True):
            plain -= {name.key for name in names}
            rest -= {name.key for name in names}
        self.agreed = sum(any(can_agree(x, y) for y in b.quantities) for x in a.quantities)
        self.common = len(both[0]) + shared + self.agreed

    def is_about_one(self, least: int = _SHARED, part: float = _PART) -> bool:
        """Returns whether the claims share enough, and no word before a shared one tells two things apart."""
        size = min(len(claim.terms) + 2 * len(claim.names) for claim in (self.a, self.b))
        values = min(2 * len(names) for names in self.names)
        if self.common < least or self.common < part * (size - values):
            return False
        only = [rest.union(*(roots(n.key) for n in names)) for rest, names in zip(self.rest, self.names, strict=True)]
        leading = [{*_leads(claim, rest)} for claim, rest in zip((self.a, self.b), only, strict=True)]
        scopes = [{*_scopes(claim, rest)} for claim, rest in zip((self.a, self.b), self.rest, strict=True)]
        if scopes[0] & scopes[1] or any(x in leading[0] and y in leading[1] for x, y in self.same):
            return False
        firsts = [next((root(word) for word in side.words if root(word) in {*side.terms} | rest), "") for side, rest in zip((self.a, self.b), only, strict=True)]
        named = all(first not in rest for first, rest in zip(firsts, self.rest, strict=True))
        return named or not all(first in each for first, each in zip(firsts, only, strict=True))


def _leads(claim: Claim, rest: set[str]) -> Iterator[str]:
    """Yields the roots of words that stand right behind one which only this claim has: that tells which one it is."""
    return (root(word) for before, word in pairwise(claim.words) if root(before) in rest)


def _scopes(claim: Claim, rest: set[str]) -> Iterator[str]:
    """Yields the words that lead to something which only this claim names."""
    for at, word in enumerate(claim.words):
        if word in _SCOPES and any(root(each) in rest for each in claim.words[at + 1 : at + 3]):
            yield word


def differ(a: Claim, b: Claim, heads: Heads = (frozenset(), frozenset()), is_close: bool = False, single: bool = False) -> Disagreement | None:
    """Returns how two claims about one thing disagree; None when both can be right. Where they must be close, one of them
    says all that the other says.

    >>> from mabos_cli.core.mind.claims.claim import read_claims
    >>> one = read_claims("The free plan allows up to three projects per account")[0]
    >>> differ(one, read_claims("An account on the free plan may hold five projects at most")[0])
    Disagreement(kind='number', reason='up to three projects per account against five')
    """
    told = a.modes ^ b.modes | a.cues ^ b.cues | a.relations ^ b.relations | a.over | b.over
    if a.hedged or b.hedged or told - {"when"} or _is_partial(a) or _is_partial(b):
        return None
    if are_cases_apart(a, b) or LEFT_OUT & {*a.words, *b.words}:
        return None
    found = Overlap(a, b, heads)
    if (is_close and all(found.plain)) or (told and _is_case(found)):
        return None
    numbers, dates = _find_numbers(a, b), _find_dates(found)
    if dates is None or (numbers and bool(a.moments) != bool(b.moments)):
        return None
    named = bool(found.names[0] and found.names[1])
    if bool(numbers) + bool(dates) + named > 1:
        return None
    if numbers or dates:
        if a.negative != b.negative or found.opposed:
            return None
        x, y = numbers or dates
        is_one = _is_one_number(found, heads) if numbers else _is_one_event(found)
        return Disagreement("number" if numbers else "date", f"{x} against {y}") if is_one else None
    denied = [side.negative ^ any(denies(term) for term in rest) for side, rest in zip((a, b), found.rest, strict=True)]
    if denied[0] != denied[1]:
        return None if named or found.opposed else _find_denial(found, denied[0])
    if found.opposed:
        return None if named else _find_opposition(found)
    if len(found.excluded) == 1 and not named:
        (x, y), *_ = found.excluded
        apart = leads(a, x) or leads(b, y)
        return None if apart or not found.is_about_one(_ENOUGH, _HALF) else Disagreement("value", f"{a.terms[x]} against {b.terms[y]}")
    return _find_other_name(found, single)


def _is_one_number(found: Overlap, heads: Heads) -> bool:
    """Returns whether two numbers of one measure are of one thing, and neither is only what was wanted."""
    aims = [bool(_AIMS & {*claim.terms, *head}) for claim, head in zip((found.a, found.b), heads, strict=True)]
    if aims[0] != aims[1] or is_other_time(found.a, found.b):
        return False
    rests = [rest - word_class("happening") for rest in found.plain]
    measuring = [rest - word_class("measuring") - word_class("measures") for rest in rests]
    if all(rests) and (any(measuring) or rests[0] != rests[1]):
        counted = [set().union(*_counted(claim).values()) for claim in (found.a, found.b)]
        is_alike = bool(counted[0] & counted[1]) and all(len(rest) == 1 for rest in rests)
        return is_alike and found.common >= _CLEAR and found.is_about_one()
    least = _ENOUGH if any(measuring) or not all(claim.quantities[0].unit for claim in (found.a, found.b)) else 1
    return found.is_about_one(least, _HALF) and not any(found.names)


def _is_one_event(found: Overlap) -> bool:
    """Returns whether two dates are of one event."""
    rests = [rest - word_class("happening") - word_class("occurring") for rest in found.plain]
    if all(rests) or any(found.names) or bool(found.a.quantities) != bool(found.b.quantities):
        return found.is_about_one()
    return found.is_about_one(_ENOUGH if any(rests) else 1, _HALF)


def _find_opposition(found: Overlap) -> Disagreement | None:
    """Returns the opposite words, unless they only tell which thing each claim is about."""
    (x, y), *more = found.opposed
    a, b = found.a, found.b
    least = _ENOUGH if found.plain[0] - {x} or found.plain[1] - {y} else 1
    if more or not found.is_about_one(least, _HALF) or bool(a.moments) != bool(b.moments):
        return None
    if compare_words(x, y)[1] and (leads(a, x) or leads(b, y)):
        return None
    if a.negative or b.negative or any(len(rest) > 4 for rest in found.rest):
        return None
    return Disagreement("antonym", f"{a.terms[x]} against {b.terms[y]}")


def _find_denial(found: Overlap, first: bool) -> Disagreement | None:
    """Returns the denial of what the other claim states; a narrower one leaves the rest standing, and where only one does
    something others do not."""
    side = 0 if first else 1
    no, yes = (found.a, found.b) if side == 0 else (found.b, found.a)
    rest = found.plain[side]
    if rest and found.plain[1 - side] and found.common < _CLEAR:
        return None
    every = bool(_EVERY & {*yes.words})
    least = _ENOUGH if not rest and (every or not found.plain[1 - side]) else _SHARED
    if not found.is_about_one(least) or (found.names[side] and not every) or len(rest) > 1 or any(_scopes(no, rest)) or _denied(no) in rest:
        return None
    which = {*_leads(no, rest)} | {*_leads(yes, found.rest[1 - side])}
    if any(which & {*pair} for pair in found.same):
        return None
    if bool(no.moments) != bool(yes.moments) or ALONE & {*no.words, *yes.words}:
        return None
    words = " ".join(sorted(x for x, _ in found.same))
    return Disagreement("negation", f"denied by one, stated by the other: {words}")


def _is_partial(claim: Claim) -> bool:
    """Returns whether a claim is about some of the things that it names: most, not all; at most five is a bound."""
    pairs = [*pairwise(("", *claim.words))]
    return (
        any(word in _PARTIAL and before != "at" for before, word in pairs)
        or any(before == "not" and word in ("all", "every", "each", "both") for before, word in pairs)
        or any(_is_number(x) and y == "of" and z in ("the", "our", "these", "those", "them") for x, y, z in _triples(claim.words))
    )


def _triples(words: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    return zip(words, words[1:], words[2:])


def _is_number(word: str) -> bool:
    return "\ue000" <= word < chr(FIRST_MOMENT)


def _is_case(found: Overlap) -> bool:
    """Returns whether one claim is about when something happens of which the other does not speak."""
    for claim, rest in zip((found.a, found.b), found.rest, strict=True):
        after = claim.words[claim.words.index("when") + 1 :] if "when" in claim.words else ()
        if any(root(word) in rest for word in after) or "when" in claim.words[:1]:
            return True
    return False


def _find_numbers(a: Claim, b: Claim) -> tuple[str, str] | None:
    """Returns two numbers of one measure that exclude each other; without a unit, of the same things."""
    counted = [_counted(claim) for claim in (a, b)]

    def agree(x: Quantity, y: Quantity) -> bool | None:
        things = counted[0].get(x, set()), counted[1].get(y, set())
        apart = all(things) and not set.intersection(*things) and _PERSON not in set.union(*things)
        return None if not x.unit and apart else can_agree(x, y)

    return find_other(a.quantities, b.quantities, agree)


def _counted(claim: Claim) -> dict[Quantity, set[str]]:
    """Returns the roots of the words behind each number that name what it counts."""
    places = [n for n, word in enumerate(claim.words) if _is_number(word)]
    behind = [{root(word) for word in claim.words[n + 1 : n + 3]} & {*claim.terms} for n in places]
    return dict(zip(claim.quantities, behind, strict=False))


def _denied(claim: Claim) -> str:
    """Returns the root of the first word with content behind one that denies."""
    at = next((n for n, word in enumerate(claim.words) if word in NEGATIONS), -1)
    return next((root(word) for word in claim.words[at + 1 :] if root(word) in claim.terms), "") if at >= 0 else ""


def _find_dates(found: Overlap) -> tuple[str, ...] | None:
    """Returns the two dates that exclude each other, nothing if there are none; None when they are of two events."""
    a, b = found.a.moments, found.b.moments
    others = [sum(any(same_time(x, y) is False for y in b) and not any(same_time(x, y) for y in b) for x in a)]
    if max(others) > 1:
        return None
    dates = find_other(a, b, same_time) if not is_done(found.a) else None
    told = [rest - word_class("occurring") for rest in found.rest]
    if dates and all(told) and not any(is_same_event(x, y) for x in told[0] for y in told[1]):
        return None
    return dates or ()


def _find_other_name(found: Overlap, single: bool) -> Disagreement | None:
    """Returns the names that stand in one place, or another one beside the only one."""
    for (one, other), (known, more) in (((found.a, found.b), found.names), ((found.b, found.a), found.names[::-1])):
        only = [name.text for name in one.names if ALONE & {*one.words[max(0, name.at - 1) : name.at]}]
        if only and more and not known and not other.negative:
            return Disagreement("value", f"only {only[0]} against {more[0].text}")
    for one, other, rest, more in ((found.a, found.b, *found.rest), (found.b, found.a, *found.rest[::-1])):
        if one.words[0] == "only" and not rest - _WEAK and more - _WEAK and _ADDED & {*other.words} and not other.negative:
            return Disagreement("value", f"only one against {' '.join(sorted(more))}")
    if len(found.names[0]) != 1 or len(found.names[1]) != 1:
        return _find_other_place(found)
    first, second = found.names[0][0], found.names[1][0]
    differs = Disagreement("value", f"{first.text} against {second.text}")
    plain = [rest - _LEADING for rest in found.plain]
    numbers = len(found.a.quantities), len(found.b.quantities)
    if numbers[0] != numbers[1] or (numbers[0] and not found.agreed) or _ADDED & {*found.a.words, *found.b.words}:
        return None
    if {first.slot, second.slot} <= {"be", "first", "by"} and not any(plain):
        return differs if found.is_about_one(_ENOUGH if found.plain == plain else 1) else None
    if single and found.is_about_one(1, _HALF) and not all(plain) and all(len(rest) <= 1 for rest in plain):
        return differs
    claimed = is_claimed(found.a, first, True) and is_claimed(found.b, second, True)
    if not found.is_about_one(1 if claimed else _ENOUGH):
        return None
    slots = ("in", "at", "on", "be", "by") + (("from", "with") if claimed and not any(found.plain) else ())
    is_same_slot = not all(found.plain) and first.slot == second.slot and first.slot in slots
    return differs if is_same_slot or ALONE & {*found.a.words, *found.b.words} else None


def _find_other_place(found: Overlap) -> Disagreement | None:
    """Returns the two places where one thing is."""
    if any(found.names):
        return None
    places = [_place(claim, rest) for claim, rest in zip((found.a, found.b), found.rest, strict=True)]
    left = [rest - {*map(root, place.split())} - _STANDING for rest, place in zip(found.plain, places, strict=True)]
    return Disagreement("value", f"{places[0]} against {places[1]}") if all(places) and not any(left) and found.common else None


def _place(claim: Claim, rest: set[str]) -> str:
    """Returns where a claim says that something stands, if that is all that only this claim says."""
    for at, word in enumerate(claim.words):
        if at and word in _PLACES and (claim.words[at - 1] in _BE or root(claim.words[at - 1]) in _STANDING):
            behind = [each for each in claim.words[at + 1 :] if root(each) in claim.terms]
            return " ".join(behind) if behind and all(root(each) in rest for each in behind) else ""
    return ""
