"""Whether two claims disagree, and in which words."""

from functools import cache
from itertools import pairwise
from typing import NamedTuple

from mabos_cli.core.language.quantities import can_agree
from mabos_cli.core.mind.claims.claim import Claim, Name
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
from mabos_cli.core.mind.claims.moments import same_time
from mabos_cli.core.mind.claims.words import compare_words, opposites, root, roots, word_class

# Words for ending, losing, forbidding, rarely: what the other claim states without their opposite, they deny.
_DENYING = {group[:2] for word in ("retire", "lose", "forbid", "rarely") for group in opposites()[root(word)]}
_CONDITIONS = frozenset("if when whenever".split())
_PAST = frozenset("was were had did".split())
_SET = frozenset("held due scheduled planned".split())
_BE = frozenset("is are was were be been".split())
_OWNING = roots(
    "own lead manage head run chair approve sign handle host serve maintain win supply operate preside teach represent coach "
    "conduct direct edit supervise oversee coordinate organise organize treat prosecute audit insure cater print publish "
    "develop manufacture make build produce design deliver fund finance sponsor hold"
)
_ADDING = roots("integrate work partner meet comply compatible talk compete share depend support")
_CHOOSING = roots("use run prefer choose select pick want adopt deploy")
_CLEARED = roots("cleared approved certified licensed authorised authorized admitted")
_SOURCING = roots("buy source order import supply get obtain tune fine-tuned train derive distil")
_LOCATING = roots(
    "live base locate headquarter host store happen hold register incorporate reside write publish domicile seat situate "
    "settle keep want pay invoice denominate quote run work sit place build implement rewrite manage track record document"
)
# Words by which a claim says that things are done in another way than before.
_STRONG = frozenset(
    "now nowadays instead replaced switched moved migrated transferred converted outsourced automated nolonger "
    "anylonger stopped abolished discontinued retired rewritten rebuilt renamed changed dropped cancelled".split()
)
_GONE = frozenset(("nolonger", "anylonger"))
_WAYS = frozenset("by with in on via through at to from".split())


class Disagreement(NamedTuple):
    """What kind of disagreement it is, and the words that differ."""

    kind: str
    reason: str


class _Difference(NamedTuple):
    """What differs between two claims besides their words: points in time, numbers, names; and whether each denies."""

    moments: tuple[str, str] | None
    quantities: tuple[str, str] | None
    named: bool
    denied: tuple[bool, bool]


@cache
def denies(term: str) -> bool:
    """Whether a root says that something is over, lost, forbidden or rare."""
    return any(group[:2] in _DENYING for group in opposites().get(term, ()))


def disagree(a: Claim, b: Claim, topic: Topic | None = None) -> Disagreement | None:
    """Returns how two claims disagree, or None. The topic is their subject, if they have one: it need not be said.

    >>> from mabos_cli.core.mind.claims.claim import read_claims
    >>> one, two = read_claims("Market demand is growing"), read_claims("Market demand is declining")
    >>> disagree(one[0], two[0])
    Disagreement(kind='antonym', reason='growing against declining')
    """
    # What never happens does not happen under a condition either.
    never = any("never" in claim.words for claim in (a, b))
    if a.hedged or b.hedged or (a.modes ^ b.modes) - (_CONDITIONS if never else frozenset()):
        return None
    match = match_claims(a, b, topic)
    found = _find_contradiction(match)
    if found and found.kind != "antonym" and a.cues ^ b.cues:
        return found._replace(kind="superseded")
    return found or _find_succession(match)


def is_restated(one: Claim, other: Claim) -> bool:
    """Whether another claim says all that one says, and maybe more."""
    if one.negative != other.negative or one.modes != other.modes or one.relations - other.relations or other.over:
        return False
    if one.change != other.change or one.cues - other.cues:
        return False
    terms = {*one.terms} <= {*other.terms}
    names = all(any(x.key == y.key for y in other.names) for x in one.names)
    numbers = all(any(can_agree(x, y) for y in other.quantities) for x in one.quantities)
    return terms and names and numbers and all(any(same_time(x, y) for y, _ in other.moments) for x, _ in one.moments)


def _find_contradiction(match: Match) -> Disagreement | None:
    """Returns the one thing that differs, if it excludes the other; claims that differ in two speak of two things."""
    a, b = match.a.claim, match.b.claim
    moments = _find_other_moment(a, b)
    if not moments and _is_other_time(a, b):
        return None
    match, denied = _without_denials(match)
    found = _Difference(moments, _find_other_quantity(a, b), bool(match.a.names and match.b.names), denied)
    related = bool(a.relations and b.relations and not a.relations & b.relations)
    opposing = (denied[0] != denied[1]) + len(match.opposed) + related + _is_turned_round(a, b)
    if opposing % 2:
        apart = moments or found.named or match.excluded or _has_other_bounds(a, b)
        return None if apart else _find_opposition(match, denied)
    return None if opposing else _find_other_value(match, found)


def _without_denials(match: Match) -> tuple[Match, tuple[bool, bool]]:
    """Returns the match without the words that deny, and whether each claim denies; to end something is to deny it."""
    sides, denied = [], []
    for side, _ in match.sides:
        kept = tuple(term for term in side.rest if not denies(term))
        sides.append(side._replace(rest=kept))
        denied.append(side.claim.negative ^ (kept != side.rest))
    return match._replace(a=sides[0], b=sides[1]), (denied[0], denied[1])


def _is_turned_round(a: Claim, b: Claim) -> bool:
    """Whether two comparisons have their sides swapped: X is cheaper than we are, we are cheaper than X."""
    if "than" not in a.words or "than" not in b.words:
        return False
    at_a, at_b = a.words.index("than"), b.words.index("than")
    common = [word for word in a.words if word in b.words and root(word) in {*a.terms, *b.terms}]
    places = [(a.words.index(word) < at_a, b.words.index(word) < at_b) for word in common]
    places += [(x.at < at_a, y.at < at_b) for x in a.names for y in b.names if is_same_name(x.key, y.key)]
    return bool(places) and all(x != y for x, y in places)


def _find_opposition(match: Match, denied: tuple[bool, bool]) -> Disagreement | None:
    """Returns the opposite words or the denial, if the rest of the claims fits."""
    a, b = match.a.claim, match.b.claim
    if denied[0] != denied[1] and not match.opposed:
        return _find_denial(match, *(match.sides[0] if denied[0] else match.sides[1]))
    if not fits(match):
        return None
    if match.opposed:
        x, y = match.opposed[0]
        apart = compare_words(x, y)[1] and (leads(a, x) or leads(b, y))
        return None if apart else Disagreement("antonym", f"{a.terms[x]} against {b.terms[y]}")
    if a.relations and b.relations:
        return Disagreement("antonym", f"{min(a.relations)} against {min(b.relations)}")
    return Disagreement("antonym", "each side of the comparison against the other")


def _find_denial(match: Match, no: Side, yes: Side) -> Disagreement | None:
    """Returns the denial, if what is denied is what the other states: a narrower denial leaves the rest standing."""
    narrower = match.topic and match.topic.roots and not match.beyond and (no.rest or yes.rest)
    weekdays = any(moment.weekday != -1 for moment, _ in no.claim.moments) and not yes.claim.moments
    # What something is cleared for may be done there, whatever it is that is done.
    done = {root(y) for x, y in pairwise(no.claim.words) if x == "be" and _CLEARED & {*yes.claim.terms}}
    if no.names or {*no.rest} - done or weekdays or narrower or not shares(match):
        return None
    text = " ".join([*no.claim.terms.values()][:4]) or " ".join(name.text for name in no.claim.names)
    return Disagreement("negation", f"denied by one, stated by the other: {text}")


def _find_other_value(match: Match, found: _Difference) -> Disagreement | None:
    """Returns the number, date, name or word of which only one can be right."""
    a, b = match.a.claim, match.b.claim
    count = bool(found.moments) + bool(found.quantities) + found.named + bool(match.excluded)
    if not count and _are_values(match):
        return Disagreement("value", " against ".join(_words_of(side) for side, _ in match.sides))
    if count != 1:
        return None
    if found.quantities:
        return Disagreement("number", " against ".join(found.quantities)) if fits_number(match) else None
    if found.moments:
        fit = _is_dated(a) and _is_dated(b) and fits_date(match)
        return Disagreement("date", " against ".join(found.moments)) if fit else None
    if match.excluded:
        x, y = match.excluded[0]
        return Disagreement("value", f"{a.terms[x]} against {b.terms[y]}") if fits(match) else None
    if _is_role(match) or (fits(match) and _is_claimed_by_both(match)):
        return Disagreement("value", f"{match.a.names[0].text} against {match.b.names[0].text}")
    return None


def _is_claimed_by_both(match: Match) -> bool:
    """Whether one name on each side is what is claimed, rather than what the claims are about."""
    if len(match.a.names) != 1 or len(match.b.names) != 1:
        return False
    if ALONE & {*match.a.claim.words, *match.b.claim.words}:
        return True
    return all(_is_claimed(side.claim, side.names[0], bool(match.topic)) for side, _ in match.sides)


def _is_role(match: Match) -> bool:
    """Whether each claim gives a name for what their heading says there is one of."""
    if not match.topic or not match.topic.single or (match.a.rest and match.b.rest):
        return False
    if len(match.a.names) != 1 or len(match.b.names) != 1:
        return False
    names = [(side.claim, side.names[0]) for side, _ in match.sides]
    plain = [name.slot == "be" or not claim.terms for claim, name in names]
    placed = [name.slot in ("in", "at", "on") or _is_claimed(claim, name, True) for claim, name in names]
    return any(plain) and all(x or y for x, y in zip(plain, placed, strict=True))


def _are_values(match: Match) -> bool:
    """Whether each claim is no more than a value of what their heading says there is one of."""
    if not match.topic or not match.topic.single or match.beyond:
        return False
    return all((side.rest and len(side.claim.words) <= 3) or side.names for side, _ in match.sides)


def _words_of(side: Side) -> str:
    return " ".join([*(side.claim.terms[term] for term in side.rest), *(name.text for name in side.names)])


def _is_dated(claim: Claim) -> bool:
    """Whether the point in time is what is claimed, rather than the time that the claim is about."""
    if (
        not claim.terms
        or word_class("events") & {*map(root, claim.words)}
        or "will" in claim.words
        or claim.words[0] in _SET
    ):
        return True
    leads = [
        next((word for word in claim.words[max(0, at - 4) : at][::-1] if word in _BE), "") for _, at in claim.moments
    ]
    return any(word and word not in ("was", "were") for word in leads)


def _is_claimed(claim: Claim, name: Name, same_subject: bool) -> bool:
    """Whether a name is what is claimed: the place, owner or tool, where another one would exclude it."""
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
    if name.slot in ("to", "from"):
        return same_subject or head in _SOURCING or name.head in ("come", "comes")
    return name.slot in ("object", "using") and head in _CHOOSING and (same_subject or "for" in claim.words[name.end :])


def _find_other_quantity(a: Claim, b: Claim) -> tuple[str, str] | None:
    """Returns two numbers of the same thing that cannot both be right, where neither agrees with any other."""
    agree = [[can_agree(x, y) for y in b.quantities] for x in a.quantities]
    return next(
        (
            (x.text, y.text)
            for n, x in enumerate(a.quantities)
            for m, y in enumerate(b.quantities)
            if agree[n][m] is False and not any(agree[n]) and not any(row[m] for row in agree)
        ),
        None,
    )


def _has_other_bounds(a: Claim, b: Claim) -> bool:
    """Whether the numbers differ, even if both can be right: above 20 and above 40 tell two cases apart."""
    pairs = [(x, y) for x in a.quantities for y in b.quantities if can_agree(x, y) is not None]
    return bool(pairs) and not any(can_agree(x, y) and x.bound == y.bound for x, y in pairs)


def _find_other_moment(a: Claim, b: Claim) -> tuple[str, str] | None:
    """Returns two points in time that exclude each other, where neither agrees with any other."""
    same = [[same_time(x, y) for y, _ in b.moments] for x, _ in a.moments]
    return next(
        (
            (x.text, y.text)
            for n, (x, _) in enumerate(a.moments)
            for m, (y, _) in enumerate(b.moments)
            if same[n][m] is False and not any(same[n]) and not any(row[m] for row in same)
        ),
        None,
    )


def _is_other_time(a: Claim, b: Claim) -> bool:
    """Whether the claims are about different times: they name no common one, or only one looks back."""
    leads = [{claim.words[at - 1] for _, at in claim.moments if at} for claim in (a, b)]
    if any("until" in x and {"since", "from", "after"} & y for x, y in (leads, leads[::-1])):
        return True
    if any(claim.words[:1] == ("before",) for claim in (a, b)):
        return True
    if a.moments and b.moments:
        # What is so by the end of next year need not be so before.
        pairs = ((x._replace(bound=""), y._replace(bound="")) for x, _ in a.moments for y, _ in b.moments)
        return not any(same_time(x, y) for x, y in pairs)
    return any(claim.moments and _PAST & {*claim.words} for claim in (a, b))


def _find_succession(match: Match) -> Disagreement | None:
    """Returns how one claim says that things changed from what the other says."""
    if any(leads(match.a.claim, x) and leads(match.b.claim, y) for x, y in match.opposed):
        # The large kiln says nothing about the small one.
        return None
    for order, (new, old) in zip((-1, 1), match.sides, strict=True):
        known = any(name.slot == "to" and name not in new.names for name in new.claim.names)
        if old.claim.negative or old.claim.over or "until" in old.claim.words or (new.claim.over and known):
            continue
        ended = [name.text for name in old.claim.names if any(is_same_name(name.key, x) for x in new.claim.over)]
        ended += [key for key in new.claim.over if key and {*key.split()} <= {*old.claim.terms}]
        if ended and (match.topic or match.shared):
            after = [name.text for name in new.claim.names] or [*new.claim.terms.values()]
            return Disagreement("superseded", f"{ended[0]} against {' '.join(after[:3]) or 'its end'}")
        if match.topic and not old.claim.cues and not _is_other_time(old.claim, new.claim._replace(moments=())):
            single = match.topic.single and new.claim.cues and not new.claim.negative and not match.opposed
            gone = _GONE & new.claim.cues and match.beyond > len(new.rest)
            later = match.topic.later in (order, 0)
            if single or gone or (later and (_is_over(new, old, match.topic) or _is_redone(new, old, match.topic))):
                before = [*old.claim.terms.values(), *(name.text for name in old.claim.names)]
                after = [new.claim.change] if new.claim.change else [*new.claim.terms.values()][:4]
                return Disagreement("superseded", f"{' '.join(after)} against {' '.join(before)}")
    return None


def _is_over(new: Side, old: Side, topic: Topic) -> bool:
    """Whether the later claim says that something is over or elsewhere of which the other one speaks."""
    claim, words = new.claim, new.claim.words
    at = words.index(claim.change) if claim.change else 0
    if not at or claim.negative or _PAST & {*old.claim.words} or old.claim.moments or old.claim.change:
        return False
    if not new.names and {*claim.terms} - {root(claim.change)} <= {*old.claim.terms}:
        return True
    # "Globex has moved its warehouse" says nothing new about Globex.
    itself = not {*words[at + 1 : at + 2]} & {"its", "their", "his", "her", "our", "the"}
    about = {root(part) for each in words[:at] for part in each.split("_")} & topic.roots
    return bool(about and itself and _WAYS & {*old.claim.words})


def _is_redone(new: Side, old: Side, topic: Topic) -> bool:
    """Whether the later claim says that the thing, or how it is done, is no longer what it was."""
    cues = (new.claim.cues | {new.claim.change}) & _STRONG
    if not topic.thing or not cues or _PAST & {*old.claim.words}:
        return False
    if _GONE & cues:
        return True
    if not (new.rest or new.names) or not (old.rest or old.names):
        return False
    # What is now so says nothing about what else can be said, unless that is how or where it is.
    return bool(_WAYS & {*old.claim.words} or cues - {"now", "nowadays"})
