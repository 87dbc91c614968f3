"""Decides whether two claims disagree, and in which words."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

from mabos_cli.core.language.moments import Moment, same_time
from mabos_cli.core.language.quantities import Quantity, can_agree
from mabos_cli.core.mind.claims.claim import HEDGES, Claim, Name
from mabos_cli.core.mind.claims.match import (
    ALONE,
    Match,
    Side,
    Topic,
    fits,
    fits_date,
    fits_number,
    is_same_name,
    leads,
    match_claims,
    shares,
)
from mabos_cli.core.mind.claims.words import compare_words, denies, irregular, root, roots

_CONDITIONS = frozenset("if when whenever".split())
_PERSONS = frozenset("i we you he she they".split())
_PAST = frozenset("was were had did".split())
_BE = frozenset("is are was were be been being am".split())
_PEOPLE = ("person", "child")  # what irregular plurals stand for, where other irregular words are verbs
_OWNING = roots(
    "own lead manage head run chair approve sign handle host serve maintain win supply operate preside teach represent coach "
    "conduct direct edit supervise oversee coordinate organise organize treat prosecute audit insure cater print publish "
    "develop manufacture make build produce design deliver fund finance sponsor hold"
)
_ADDING = roots("integrate work partner meet comply compatible talk compete share depend support")
_SOURCING = roots("buy source order import supply get obtain tune fine-tuned train derive distil lease rent belong")
_LOCATING = roots(
    "live base locate headquarter host store happen hold register incorporate reside write publish domicile seat situate "
    "settle keep want pay invoice denominate quote run work sit place build implement rewrite manage track record document"
)
# Words for every one of some things, for none of them, and for some of them; and words that leave some out.
_ALL = frozenset("all every each any both everyone everybody".split())
_NONE = frozenset("no none nobody neither".split())
_SOME = frozenset("some several".split())
LEFT_OUT = frozenset("except excluding besides apart unless".split())
# Cues that do not say that things are done in another way than before.
_MILD = frozenset("formerly left lost since new added became".split()) | {""}
_GONE = frozenset(("nolonger", "anylonger"))
_PREPOSITIONS = frozenset("by with in on via through at to from".split())
T = TypeVar("T", Quantity, Moment)


class Disagreement(NamedTuple):
    """Holds what kind of disagreement it is, and the words that differ."""

    kind: str
    reason: str


def disagree(a: Claim, b: Claim, topic: Topic | None = None) -> Disagreement | None:
    """Returns how two claims disagree, or None. The topic is their subject, if they have one: it need not be said.

    >>> from mabos_cli.core.mind.claims.claim import read_claims
    >>> one, two = read_claims("Market demand is growing"), read_claims("Market demand is declining")
    >>> disagree(one[0], two[0])
    Disagreement(kind='antonym', reason='growing against declining')
    """
    # What never happens does not happen under a condition either.
    never = any("never" in claim.words for claim in (a, b))
    if any(LEFT_OUT & {*claim.words} for claim in (a, b)):
        return None
    if exception := _find_exception(a, b, topic):
        return exception
    if a.hedged or b.hedged or (a.modes ^ b.modes) - (_CONDITIONS if never else frozenset()):
        return None
    match = match_claims(a, b, topic)
    found = _find_contradiction(match)
    if found and found.kind != "antonym" and a.cues ^ b.cues:
        return found._replace(kind="superseded")
    return found or _find_succession(match)


def _find_exception(a: Claim, b: Claim, topic: Topic | None) -> Disagreement | None:
    """Returns how one claim says of all what the other says is not so of one or some of them."""
    if a.negative == b.negative or a.modes != b.modes or is_other_time(a, b):
        return None
    match = match_claims(a, b, topic)
    for every, other in match.sides:
        # Of what the first says nothing may be missing in the second, which may say more: which one it is.
        if not is_about_all(every.claim) or every.rest or every.names or match.opposed or match.excluded:
            continue
        if {*other.claim.words} & HEDGES - _SOME or _has_other_bounds(a, b) or is_about_all(other.claim):
            continue
        if match.shared > 1 or (match.shared and match.topic):
            words = [*every.claim.terms.values(), *(name.text for name in every.claim.names)]
            kind = "none" if every.claim.negative else "all"
            return Disagreement("negation", f"said of {kind}, and not so of one: {' '.join(words[:4])}")
    return None


def is_about_all(claim: Claim) -> bool:
    """Returns whether a claim is about every one of some things, or about none of them."""
    if claim.negative:
        return bool(_NONE & {*claim.words[:1]})
    at = next((n for n, word in enumerate(claim.words) if word in _ALL), None)
    return at is not None and "not" not in claim.words[max(0, at - 2) : at] and at <= 2


def is_restated(one: Claim, other: Claim) -> bool:
    """Returns whether another claim says all that one says, and maybe more."""
    if one.negative != other.negative or one.modes != other.modes or one.relations - other.relations or other.over:
        return False
    terms = {*one.terms} <= {*other.terms}
    names = all(any(x.key == y.key for y in other.names) for x in one.names)
    numbers = all(any(can_agree(x, y) for y in other.quantities) for x in one.quantities)
    return terms and names and numbers and all(any(same_time(x, y) for y in other.moments) for x in one.moments)


def _find_contradiction(match: Match) -> Disagreement | None:
    """Returns the one thing that differs, if it excludes the other; claims that differ in two speak of two things."""
    a, b = match.a.claim, match.b.claim
    moments = find_other(a.moments, b.moments, same_time)
    if are_cases_apart(a, b):
        return None
    # To end something is to deny it.
    kept = [[term for term in side.rest if not denies(term)] for side, _ in match.sides]
    denied = [side.claim.negative ^ (rest != side.rest) for rest, (side, _) in zip(kept, match.sides, strict=True)]
    match = match._replace(a=match.a._replace(rest=kept[0]), b=match.b._replace(rest=kept[1]))
    related = bool(a.relations and b.relations and not a.relations & b.relations)
    opposing = (denied[0] != denied[1]) + len(match.opposed) + related
    if opposing == 0:
        return _find_other_value(match, moments)
    named = match.a.names and match.b.names
    if opposing % 2 == 0 or moments or named or match.excluded or _has_other_bounds(a, b):
        return None
    if denied[0] != denied[1] and not match.opposed:
        return _find_denial(match, *(match.sides[0] if denied[0] else match.sides[1]))
    return _find_opposition(match) if fits(match) else None


def _find_opposition(match: Match) -> Disagreement | None:
    """Returns the opposite words or relations, unless they only tell which thing each claim is about."""
    a, b = match.a.claim, match.b.claim
    if match.opposed:
        x, y = match.opposed[0]
        apart = compare_words(x, y)[1] and (leads(a, x) or leads(b, y))
        return None if apart else Disagreement("antonym", f"{a.terms[x]} against {b.terms[y]}")
    return Disagreement("antonym", f"{min(a.relations)} against {min(b.relations)}")


def _find_denial(match: Match, no: Side, yes: Side) -> Disagreement | None:
    """Returns the denial, if what is denied is what the other states: a narrower denial leaves the rest standing."""
    narrower = match.topic and match.topic.roots and not match.beyond and (no.rest or yes.rest)
    if no.names or no.rest or narrower or not shares(match):
        return None
    text = " ".join([*no.claim.terms.values()][:4]) or " ".join(name.text for name in no.claim.names)
    return Disagreement("negation", f"denied by one, stated by the other: {text}")


def _find_other_value(match: Match, moments: tuple[str, str] | None) -> Disagreement | None:
    """Returns the number, date, name or word of which only one can be right."""
    a, b = match.a.claim, match.b.claim
    quantities = find_other(a.quantities, b.quantities, can_agree)
    named = bool(match.a.names and match.b.names)
    count = bool(moments) + bool(quantities) + named + bool(match.excluded)
    if count != 1:
        return None
    if quantities:
        return Disagreement("number", " against ".join(quantities)) if fits_number(match) else None
    if moments:
        is_date = fits_date(match) and not is_done(a)
        return Disagreement("date", " against ".join(moments)) if is_date else None
    if match.excluded:
        x, y = match.excluded[0]
        return Disagreement("value", f"{a.terms[x]} against {b.terms[y]}") if fits(match) else None
    if not len(match.a.names) == len(match.b.names) == 1:
        return None
    alone = bool(ALONE & {*a.words, *b.words})
    claimed = alone or all(is_claimed(side.claim, side.names[0], bool(match.topic)) for side, _ in match.sides)
    if not (fits(match) and claimed):
        return None
    return Disagreement("value", f"{match.a.names[0].text} against {match.b.names[0].text}")


def is_claimed(claim: Claim, name: Name, same_subject: bool) -> bool:
    """Returns whether a name is what is claimed: the place, owner or tool, where another one would exclude it."""
    head, after = root(name.head), claim.words[name.end : name.end + 3]
    if name.slot in ("be", "by", "through", "via", "under", "as", "per"):
        return True
    if name.slot == "first":
        owning = not ("by" in after and after[0] in _BE) and any(root(word) in _OWNING for word in after)
        definite = after[:1] in (("is",), ("are",)) and after[1:2] in (("our",), ("the",), ("my",), ("their",))
        return owning or definite or (same_subject and not after)
    if name.slot in ("of", "in", "at", "within", "on", "into"):
        # Things go on in many places and regions at once, but are kept, held or written in one.
        led = bool({"by", "under"} & {*claim.words[max(0, name.at - 4) : name.at]})
        return led or (name.slot != "of" and (head in _LOCATING or name.head in _BE or name.head.endswith("ed")))
    if name.slot == "with":
        return head not in _ADDING
    return name.slot in ("to", "from") and (same_subject or head in _SOURCING or name.head in ("come", "comes"))


def find_other(ones: Sequence[T], twos: Sequence[T], agree: Callable[[T, T], bool | None]) -> tuple[str, str] | None:
    """Returns two numbers, or two points in time, that exclude each other, where neither agrees with any other."""
    apart, agreed = [], []
    for x in ones:
        for y in twos:
            can_be = agree(x, y)
            agreed += [x, y] if can_be else []
            apart += [(x, y)] if can_be is False else []
    return next(((x.text, y.text) for x, y in apart if x not in agreed and y not in agreed), None)


def _has_other_bounds(a: Claim, b: Claim) -> bool:
    """Returns whether the numbers differ, even if both can be right: above 20 and above 40 tell two cases apart."""
    pairs = [(x, y) for x in a.quantities for y in b.quantities if can_agree(x, y) is not None]
    return bool(pairs) and not any(can_agree(x, y) and x.bound == y.bound for x, y in pairs)


def is_past(claim: Claim) -> bool:
    """Returns whether a claim tells what happened, rather than how things are."""
    before = ""
    for word in claim.words:
        if word in ("was", "were", "did", "had"):
            return True
        is_verb = (word.endswith("ed") and len(word) > 4) or irregular().get(word, word) not in (word, *_PEOPLE)
        if is_verb and before.removesuffix("nt") not in _BE and not before.endswith("ly"):
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
    """Returns whether the claims are about different times that they do not disagree on, or about two ways."""
    return (not find_other(a.moments, b.moments, same_time) and is_other_time(a, b)) or _is_other_direction(a, b)


def is_done(claim: Claim) -> bool:
    """Returns whether somebody did something once, who may have done so at other times, too: we visited Kappa in April."""
    return any(x in _PERSONS and y.endswith("ed") for x, y in pairwise(claim.words))


def _is_other_direction(a: Claim, b: Claim) -> bool:
    """Returns whether one claim is about what goes to somewhere, and the other about what comes from there."""
    directions = [{(name.key, name.slot) for name in claim.names if name.slot in ("to", "from")} for claim in (a, b)]
    return any((key, "from" if slot == "to" else "to") in directions[1] for key, slot in directions[0])


def _find_succession(match: Match) -> Disagreement | None:
    """Returns how one claim says that things changed from what the other says."""
    if any(leads(match.a.claim, x) and leads(match.b.claim, y) for x, y in match.opposed):
        # The large kiln says nothing about the small one.
        return None
    for order, (new, old) in zip((-1, 1), match.sides, strict=True):
        if old.claim.negative or old.claim.over or "until" in old.claim.words:
            continue
        ended = [name.text for name in old.claim.names if any(is_same_name(name.key, x) for x in new.claim.over)]
        ended += [key for key in new.claim.over if key and {*key.split()} <= {*old.claim.terms}]
        if ended and (match.topic or match.shared):
            after = [name.text for name in new.claim.names] or [*new.claim.terms.values()]
            return Disagreement("superseded", f"{ended[0]} against {' '.join(after[:3]) or 'its end'}")
        is_later = match.topic is not None and match.topic.later in (order, 0)
        if is_later and not is_other_time(old.claim, new.claim._replace(moments=())) and _is_redone(new, old):
            before = [*old.claim.terms.values(), *(name.text for name in old.claim.names)]
            after = [new.claim.change] if new.claim.change else [*new.claim.terms.values()][:4]
            return Disagreement("superseded", f"{' '.join(after)} against {' '.join(before)}")
    return None


def _is_redone(new: Side, old: Side) -> bool:
    """Returns whether the later claim says that something is no longer so, or that it is done elsewhere or in another way."""
    claim = new.claim
    cues = (claim.cues | {claim.change}) - _MILD
    if not cues or old.claim.cues or old.claim.change or _PAST & {*old.claim.words}:
        return False
    at = claim.words.index(claim.change) if claim.change else 0
    # "The shop is closed" tells how it is, "it was closed" that it is over.
    is_over = at and not claim.negative and not new.names and claim.words[at - 1] not in ("is", "are")
    if _GONE & cues or (is_over and {*claim.terms} - {root(claim.change)} <= {*old.claim.terms}):
        return True
    has_prepositions = _PREPOSITIONS & {*old.claim.words} and _PREPOSITIONS & {*claim.words}
    return bool(has_prepositions and (new.rest or new.names) and (old.rest or old.names))
