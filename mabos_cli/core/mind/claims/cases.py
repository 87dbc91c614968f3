"""Decides for which cases claims hold: at which times, under which conditions, for all or for a part of what they name."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from mabos_cli.core.language.moments import FIRST_MOMENT, Moment, same_time
from mabos_cli.core.language.quantities import Quantity
from mabos_cli.core.mind.claims.claim import Claim
from mabos_cli.core.mind.claims.overlap import Overlap
from mabos_cli.core.mind.claims.words import irregular, root

PAST = frozenset("was were had did".split())
BE = frozenset("is are was were be been being am".split())
EVERY = frozenset("all every each".split())
ADDED = frozenset("both also too".split())
_PEOPLE = ("person", "child")  # what irregular plurals stand for, where other irregular words are verbs
# Words for every one of some things, for none of them, and for a part of them.
_ALL = frozenset("all every each any both everyone everybody".split())
_NONE = frozenset("no none nobody neither".split())
_PARTIAL = frozenset("most many some several few often usually mostly mainly average".split())
_MEMBERS = frozenset("the our these those them".split())
_CONDITIONS = frozenset("if when whenever".split())
T = TypeVar("T", Quantity, Moment)


def is_about_all(claim: Claim) -> bool:
    """Returns whether a claim is about every one of some things, or about none of them."""
    if claim.negative:
        return bool(_NONE & {*claim.words[:1]})
    at = next((n for n, word in enumerate(claim.words) if word in _ALL), None)
    return at is not None and "not" not in claim.words[max(0, at - 2) : at] and at <= 2


def is_partial(claim: Claim) -> bool:
    """Returns whether a claim is about some of the things that it names: most, not all, two of them; at most five is a bound."""
    words = ("", *claim.words, "", "")
    for before, word, after, last in zip(words, words[1:], words[2:], words[3:], strict=False):
        if (word in _PARTIAL and before != "at" and not is_number(after)) or (
            before == "not" and word in EVERY | ADDED
        ):
            return True
        if is_number(word) and after == "of" and last in _MEMBERS:
            return True
    return False


def is_number(word: str) -> bool:
    return "\ue000" <= word < chr(FIRST_MOMENT)


def are_conditions_apart(found: Overlap) -> bool:
    """Returns whether the claims hold under other conditions; what never happens does not happen under any."""
    never = any("never" in claim.words for claim in found.claims)
    apart = (found.a.modes ^ found.b.modes) - {"when"}
    if apart and not (never and apart <= {"if", "whenever"}):
        return True
    for claim, rest in zip(found.claims, found.rest, strict=True):
        at = next((n for n, word in enumerate(claim.words) if word in _CONDITIONS), -1)
        if at == 0 or any(root(word) in rest for word in claim.words[at + 1 :] if at > 0):
            return not never
    return False


def is_past(claim: Claim) -> bool:
    """Returns whether a claim tells what happened, rather than how things are."""
    before = ""
    for word in claim.words:
        if word in PAST:
            return True
        is_verb = (word.endswith("ed") and len(word) > 4) or irregular().get(word, word) not in (word, *_PEOPLE)
        if is_verb and before.removesuffix("nt") not in BE and not before.endswith("ly"):
            return True
        before = word if word not in ("not", "never", "nolonger") else before
    return False


def is_other_time(a: Claim, b: Claim) -> bool:
    """Returns whether the claims are about different times: they name no common one, or only one looks back."""
    leads = [{claim.words[moment.at - 1] for moment in claim.moments if moment.at} for claim in (a, b)]
    if any("until" in x and {"since", "from", "after"} & y for x, y in (leads, leads[::-1])):
        return True
    if any(claim.words[:1] == ("before",) for claim in (a, b)):
        return True
    if a.moments and b.moments:
        # What is not before the end of next year need not be so then.
        plain = [[moment._replace(is_earliest=False) for moment in claim.moments] for claim in (a, b)]
        return not any(same_time(x, y) for x in plain[0] for y in plain[1])
    was = ["ago" in claim.words and not claim.cues for claim in (a, b)]
    return any(claim.moments and is_past(claim) for claim in (a, b)) or was[0] != was[1]


def are_cases_apart(a: Claim, b: Claim) -> bool:
    """Returns whether the claims are about different times that they do not disagree on, or about two ways: to and from."""
    ways = [{(name.key, name.slot) for name in claim.names if name.slot in ("to", "from")} for claim in (a, b)]
    is_return = any((key, "from" if slot == "to" else "to") in ways[1] for key, slot in ways[0])
    return is_return or (not find_other(a.moments, b.moments, same_time) and is_other_time(a, b))


def find_other(ones: Sequence[T], twos: Sequence[T], agree: Callable[[T, T], bool | None]) -> tuple[str, ...]:
    """Returns two numbers, or two points in time, that exclude each other, where neither agrees with any other."""
    apart, agreed = [], []
    for x in ones:
        for y in twos:
            can_be = agree(x, y)
            agreed += [x, y] if can_be else []
            apart += [(x, y)] if can_be is False else []
    return next(((x.text, y.text) for x, y in apart if x not in agreed and y not in agreed), ())
