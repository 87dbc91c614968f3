"""Claims in other words: whether two clauses are about one thing, and hold values of a kind that exclude each other."""

from collections.abc import Iterator
from itertools import pairwise

from mabos_cli.core.language.quantities import Quantity, can_agree
from mabos_cli.core.mind.claims.claim import NEGATIONS, Claim, Name
from mabos_cli.core.mind.claims.disagreement import LEFT_OUT, Disagreement, are_cases_apart, find_other, is_done
from mabos_cli.core.mind.claims.match import ALONE, is_same_name
from mabos_cli.core.mind.claims.moments import FIRST_MOMENT, same_time
from mabos_cli.core.mind.claims.words import compare_words, is_same_event, root, roots, word_class

# So much must two clauses share to be about one thing, a name counting for two, and such a part of the shorter one.
_SHARED, _PART = 3, 0.6
# What is said of most or some leaves room for others.
_PARTIAL = frozenset("most many some several few often usually mostly mainly average".split())
# Two claims that go on with other words behind the same one of these are about two cases.
_SCOPES = frozenset("in at on for during under with".split())


class Overlap:
    """Two claims side by side: the roots and names that both have, and those that only one has."""

    def __init__(self, a: Claim, b: Claim) -> None:
        self.a, self.b = a, b
        pairs = [(x, y, compare_words(x, y)[0] if x != y else "same") for x in a.terms for y in b.terms]
        self.same = {(x, y) for x, y, how in pairs if how == "same"}
        self.opposed = [(x, y) for x, y, how in pairs if how == "opposed"]
        named = [{part for name in claim.names for part in roots(name.key)} for claim in (a, b)]
        taken = ({x for x, _ in self.same} | named[1], {y for _, y in self.same} | named[0])
        self.rest = tuple(
            {term for term in claim.terms if term not in known} for claim, known in zip((a, b), taken, strict=True)
        )
        self.names = _unmatched(a, b), _unmatched(b, a)
        agreed = sum(any(can_agree(x, y) for y in b.quantities) for x in a.quantities)
        self.common = len({x for x, _ in self.same}) + 2 * (len(a.names) - len(self.names[0])) + agreed

    @property
    def is_about_one(self) -> bool:
        """Returns whether the claims share enough, and no word before a shared one tells two things apart."""
        least = min(len(claim.terms) + 2 * len(claim.names) for claim in (self.a, self.b))
        values = min(2 * len(names) for names in self.names)
        if self.common < _SHARED or self.common < _PART * (least - values):
            return False
        only = [rest.union(*(roots(n.key) for n in names)) for rest, names in zip(self.rest, self.names, strict=True)]
        leads = [{*_leads(claim, rest)} for claim, rest in zip((self.a, self.b), only, strict=True)]
        scopes = [{*_scopes(claim, rest)} for claim, rest in zip((self.a, self.b), self.rest, strict=True)]
        return not scopes[0] & scopes[1] and not any(x in leads[0] and y in leads[1] for x, y in self.same)


def _unmatched(claim: Claim, other: Claim) -> list[Name]:
    words = {*other.terms}.union(*(roots(name.key) for name in other.names))
    return [
        name
        for name in claim.names
        if not roots(name.key) <= words and not any(is_same_name(name.key, each.key) for each in other.names)
    ]


def _leads(claim: Claim, rest: set[str]) -> Iterator[str]:
    """Yields the roots of words that stand right behind one which only this claim has: that tells which one it is."""
    return (root(word) for before, word in pairwise(claim.words) if root(before) in rest)


def _scopes(claim: Claim, rest: set[str]) -> Iterator[str]:
    """Yields the words that lead to something which only this claim names."""
    for at, word in enumerate(claim.words):
        if word in _SCOPES and any(root(each) in rest for each in claim.words[at + 1 : at + 3]):
            yield word


def differ(a: Claim, b: Claim, is_close: bool = False) -> Disagreement | None:
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
    found = Overlap(a, b)
    if not found.is_about_one or (is_close and all(found.rest)) or (told and _is_case(found)):
        return None
    numbers, dates = _find_numbers(a, b), _find_dates(found)
    if dates is None or (numbers and bool(a.moments) != bool(b.moments)):
        return None
    named = bool(found.names[0] and found.names[1])
    denied = a.negative != b.negative
    if found.opposed or bool(numbers) + bool(dates) + named > 1:
        return None
    if denied:
        return None if numbers or dates or named else _find_denial(found)
    if numbers or dates:
        x, y = numbers or dates
        return Disagreement("number" if numbers else "date", f"{x} against {y}")
    return _find_other_name(found)


def _find_denial(found: Overlap) -> Disagreement | None:
    """Returns the denial of what the other claim states; a narrower one leaves the rest standing, and where only one does
    something others do not."""
    side = 0 if found.a.negative else 1
    no, yes = (found.a, found.b) if side == 0 else (found.b, found.a)
    rest = found.rest[side]
    if found.names[side] or len(rest) > 1 or any(_scopes(no, rest)) or _denied(no) in rest:
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
    return any(word in _PARTIAL and before != "at" for before, word in pairs) or any(
        before == "not" and word in ("all", "every", "each", "both") for before, word in pairs
    )


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
        things = counted[0].get(x, ""), counted[1].get(y, "")
        return None if not x.unit and all(things) and things[0] != things[1] else can_agree(x, y)

    return find_other(a.quantities, b.quantities, agree)


def _counted(claim: Claim) -> dict[Quantity, str]:
    """Returns the root of the word behind each number."""
    behind = [y for x, y in pairwise((*claim.words, "")) if "\ue000" <= x < chr(FIRST_MOMENT)]
    return {quantity: root(word) for quantity, word in zip(claim.quantities, behind, strict=False)}


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


def _find_other_name(found: Overlap) -> Disagreement | None:
    """Returns the names that stand in one place, or another one beside the only one."""
    for (one, other), (known, more) in (((found.a, found.b), found.names), ((found.b, found.a), found.names[::-1])):
        only = [name.text for name in one.names if ALONE & {*one.words[max(0, name.at - 1) : name.at]}]
        if only and more and not known and not other.negative:
            return Disagreement("value", f"only {only[0]} against {more[0].text}")
    if len(found.names[0]) != 1 or len(found.names[1]) != 1:
        return None
    first, second = found.names[0][0], found.names[1][0]
    is_same_slot = first.slot == second.slot and first.slot in ("in", "at", "on", "be", "by")
    if not is_same_slot and not ALONE & {*found.a.words, *found.b.words}:
        return None
    return Disagreement("value", f"{first.text} against {second.text}")
