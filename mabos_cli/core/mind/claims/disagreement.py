"""Decides whether two claims about one thing disagree, and in which words."""

from functools import reduce
from itertools import pairwise

from mabos_cli.core.language.moments import same_time
from mabos_cli.core.language.quantities import FREQUENCY, Quantity, can_agree
from mabos_cli.core.mind.claims.cases import (
    ADDED,
    BE,
    EVERY,
    PAST,
    are_cases_apart,
    are_conditions_apart,
    find_other,
    is_about_all,
    is_number,
    is_other_time,
    is_partial,
)
from mabos_cli.core.mind.claims.claim import HEDGES, NEGATIONS, Claim, Name
from mabos_cli.core.mind.claims.overlap import Heads, Overlap, followers, is_same_name, leads, scopes_of
from mabos_cli.core.mind.claims.words import compare_words, denies, is_same_event, root, roots, word_class
from mabos_cli.core.records import NamedTuple

_PERSONS = frozenset("i we you he she they".split())
_OWNING = roots(
    "own lead manage head run chair approve sign handle host serve maintain win supply operate preside teach represent coach "
    "conduct direct edit supervise oversee coordinate organise organize treat prosecute audit insure cater print publish "
    "develop manufacture make build produce design deliver fund finance sponsor hold"
)
_ADDING = roots("integrate work partner meet comply compatible talk compete share depend support")
_LOCATING = roots(
    "live base locate headquarter host store happen hold register incorporate reside write publish domicile seat situate "
    "settle keep want pay invoice denominate quote run work sit place build implement rewrite manage track record document"
)
# Where there is only one, another one excludes it.
_ALONE = frozenset("only sole single exclusive exclusively".split())
# Words for some of some things, and words that leave some out.
_SOME = frozenset("some several".split())
_LEFT_OUT = frozenset("except excluding besides apart unless".split())
# Cues that do not say that things are done in another way than before.
_MILD = frozenset("formerly left lost since new added became".split()) | {""}
_GONE = frozenset(("nolonger", "anylonger"))
_PREPOSITIONS = frozenset("by with in on via through at to from".split())
# A limit, an aim or a guess is another number than what came of it.
_AIMS = roots(
    "limit ceiling maximum minimum largest smallest target goal aim estimate budget plan quota forecast expect"
)
# What a number is of, where both say it in another word: 24 metres long, 9 metres high.
_SIZES = roots("long wide high tall deep thick heavy old")


class Disagreement(NamedTuple):
    """Holds what kind of disagreement it is, and the words that differ."""

    kind: str
    reason: str


class Context(NamedTuple):
    """The headings of two claims: their roots, and what short ones name; whether they are one, whether one of them names something
    unique or a quantity, whether each adds something to the claims; and which claim is later (-1, 1, or 0 when unknown)."""

    heads: Heads = (frozenset(), frozenset())
    lasts: tuple[str, str] = ("", "")
    is_one: bool = False
    has_single: bool = False
    is_measure: bool = False
    is_apart: bool = False
    later: int = 0


def join_claims(heading: tuple[Claim, ...], value: Claim) -> Claim:
    """Returns what a heading and its value say together."""
    return reduce(_join, (*heading, value))


def _join(head: Claim, value: Claim) -> Claim:
    return value._replace(
        terms=head.terms | value.terms,
        names=head.names + value.names,
        quantities=head.quantities + value.quantities,
        moments=head.moments + value.moments,
        negative=head.negative != value.negative,
        hedged=head.hedged or value.hedged,
        words=(*head.words, "is", *value.words),
    )


def disagree(a: Claim, b: Claim, context: Context = Context()) -> Disagreement | None:
    """Returns how two claims about one thing disagree; None when both can be right.

    >>> from mabos_cli.core.mind.claims.claim import read_claims
    >>> one, two = read_claims("Market demand is growing"), read_claims("Market demand is declining")
    >>> disagree(one[0], two[0])
    Disagreement(kind='antonym', reason='growing against declining')
    >>> one = read_claims("The free plan allows up to three projects per account")[0]
    >>> disagree(one, read_claims("An account on the free plan may hold five projects at most")[0])
    Disagreement(kind='number', reason='up to three projects per account against five')
    """
    if _LEFT_OUT & {*a.words, *b.words}:
        return None
    found = Overlap(a, b, context.heads)
    if exception := _find_exception(found, context):
        return exception
    if a.hedged or b.hedged or (is_partial(a) != is_partial(b) and not context.is_measure):
        return None
    if are_conditions_apart(found):
        return None
    contradiction = None if are_cases_apart(a, b) else _find_contradiction(found, context)
    if contradiction and contradiction.kind != "antonym" and a.cues ^ b.cues:
        return contradiction._replace(kind="superseded")
    return contradiction or _find_succession(found, context)


def is_restated(one: Claim, other: Claim) -> bool:
    """Returns whether another claim says all that one says, and maybe more."""
    if one.negative != other.negative or one.modes != other.modes or one.relations - other.relations or other.over:
        return False
    terms = {*one.terms} <= {*other.terms}
    names = all(any(x.key == y.key for y in other.names) for x in one.names)
    numbers = all(any(can_agree(x, y) for y in other.quantities) for x in one.quantities)
    return terms and names and numbers and all(any(same_time(x, y) for y in other.moments) for x in one.moments)


# For which cases a claim holds.


def _find_exception(found: Overlap, context: Context) -> Disagreement | None:
    """Returns how one claim says of all what the other says is not so of one or some of them."""
    a, b = found.claims
    if a.negative == b.negative or a.modes != b.modes or is_other_time(a, b) or found.opposed or found.excluded:
        return None
    for at, every in enumerate(found.claims):
        other = found.claims[1 - at]
        # Of what the first says nothing may be missing in the second, which may say more: which one it is.
        if not is_about_all(every) or found.rest[at] or found.names[at] or is_about_all(other):
            continue
        if {*other.words} & HEDGES - _SOME:
            continue
        if found.common > 1 or (found.common and context.is_one):
            words = [*every.terms.values(), *(name.text for name in every.names)]
            kind = "none" if every.negative else "all"
            return Disagreement("negation", f"said of {kind}, and not so of one: {' '.join(words[:4])}")
    return None


# What excludes the other.


def _find_contradiction(found: Overlap, context: Context) -> Disagreement | None:
    """Returns the one thing that differs, if it excludes the other; claims that differ in two speak of two things."""
    a, b = found.claims
    if context.is_apart and all(found.plain):
        return None
    numbers, dates = _find_numbers(a, b), _find_dates(found)
    if dates is None or (numbers and bool(a.moments) != bool(b.moments) and not context.is_measure):
        return None
    named = bool(found.names[0] and found.names[1])
    related = bool(a.relations and b.relations and not a.relations & b.relations)
    judged = {word for pair in found.opposed for word in pair}
    denied = [side.negative ^ any(map(denies, rest - judged)) for side, rest in zip((a, b), found.rest, strict=True)]
    opposing = (denied[0] != denied[1]) + len(found.opposed) + related
    if opposing:
        if opposing % 2 == 0 or numbers or dates or named:
            return None
        return _find_denial(found, context, denied[0]) if denied[0] != denied[1] else _find_opposition(found, context)
    if bool(numbers) + bool(dates) + named > 1:
        return None
    if numbers:
        return Disagreement("number", " against ".join(numbers)) if _is_one_number(found, context) else None
    if dates:
        return Disagreement("date", " against ".join(dates)) if _is_one_event(found) else None
    if named:
        return _find_other_name(found, context)
    return _find_opposition(found, context) if found.excluded else None


def _find_numbers(a: Claim, b: Claim) -> tuple[str, ...]:
    """Returns two numbers of one measure that exclude each other; without a unit, of the same things."""
    claims = a, b
    counted = [_counted(claim) for claim in claims]

    def agree(x: Quantity, y: Quantity) -> bool | None:
        things = counted[0].get(x, set()), counted[1].get(y, set())
        if {x.unit, y.unit} == {"", FREQUENCY} and x.per and y.per:
            # One newsletter a month, and the newsletter comes weekly.
            is_alike = things[bool(x.unit)] & {*claims[not x.unit].terms}
            return can_agree(x._replace(unit=FREQUENCY), y._replace(unit=FREQUENCY)) if is_alike else None
        apart = all(things) and things[0].isdisjoint(things[1])
        return None if not x.unit and apart else can_agree(x, y)

    return find_other(a.quantities, b.quantities, agree)


def _counted(claim: Claim) -> dict[Quantity, set[str]]:
    """Returns the roots of the words behind each number that name what it counts."""
    places = [n for n, word in enumerate(claim.words) if is_number(word)]
    behind = [{root(word) for word in claim.words[n + 1 : n + 3]} & {*claim.terms} for n in places]
    return dict(zip(claim.quantities, behind, strict=False))


def _is_one_number(found: Overlap, context: Context) -> bool:
    """Returns whether two numbers of one measure are of one thing, and neither is only what was wanted."""
    aims = [bool(_AIMS & {*claim.terms, head}) for claim, head in zip(found.claims, context.lasts, strict=True)]
    sizes = [rest & _SIZES for rest in found.plain]
    if aims[0] != aims[1] or is_other_time(found.a, found.b) or all(sizes) or any(found.names):
        return False
    if context.is_measure and {each.unit for each in found.a.quantities} & {each.unit for each in found.b.quantities}:
        # Under a heading that names a quantity, a number in the same unit is that, whatever else is said. But claims of two
        # things are told alike: debug logs are kept for 7 days, audit logs are kept for 10 years.
        firsts = [next(iter(claim.terms), "") for claim in found.claims]
        is_alike = all(first in rest for first, rest in zip(firsts, found.rest, strict=True))
        is_said = any(first in head for first, head in zip(firsts, context.heads, strict=True))
        if not is_alike and (is_said or not all(found.plain)):
            return True
    rests = [rest - word_class("happening") for rest in found.plain]
    measuring = [rest - word_class("measuring") - word_class("measures") for rest in rests]
    if all(rests) and (any(measuring) or rests[0] != rests[1]):
        counted = [set[str]().union(*_counted(claim).values()) for claim in found.claims]
        is_alike = bool(counted[0] & counted[1]) and all(len(rest) == 1 for rest in rests)
        is_alike = is_alike or (context.is_measure and min(map(len, rests)) <= 1)
        return is_alike and found.is_about_one(3)
    is_measured = all(claim.quantities[0].unit for claim in found.claims) or not any(rests)
    least = 1 if not any(measuring) and is_measured else 2
    if any(rest & head for rest, head in zip(measuring, context.heads, strict=True)):
        # The battery of the sensor, under that heading, is not any battery.
        least = 3
    return found.is_about_one(least, 0.5)


def _find_dates(found: Overlap) -> tuple[str, ...] | None:
    """Returns the two dates that exclude each other, nothing if there are none; None when they are of two events."""
    a, b = found.a.moments, found.b.moments
    others = [x for x in a if any(same_time(x, y) is False for y in b) and not any(same_time(x, y) for y in b)]
    if any(y.at - x.at > 1 for x, y in pairwise(others)):  # a weekday and its date are one
        return None
    dates = find_other(a, b, same_time) if not _is_done(found.a) else ()
    events = [rest - word_class("occurring") for rest in found.rest]
    if dates and all(events) and not any(is_same_event(x, y) for x in events[0] for y in events[1]):
        return None
    return dates


def _is_done(claim: Claim) -> bool:
    """Returns whether somebody did something once, who may have done so at other times, too: we visited Kappa in April."""
    return any(x in _PERSONS and y.endswith("ed") for x, y in pairwise(claim.words))


def _is_one_event(found: Overlap) -> bool:
    """Returns whether two dates are of one event."""
    rests = [rest - word_class("happening") - word_class("occurring") for rest in found.plain]
    if any(found.names) or bool(found.a.quantities) != bool(found.b.quantities):
        return found.is_about_one()
    return found.is_about_one(2 if any(rests) else 1, 0.5)


def _find_denial(found: Overlap, context: Context, is_first: bool) -> Disagreement | None:
    """Returns the denial of what the other claim states; a narrower one leaves the rest standing, and where only one does
    something others do not."""
    side, other = (0, 1) if is_first else (1, 0)
    no, yes = found.claims[side], found.claims[other]
    rest, more = found.plain[side], found.plain[other]
    is_every = bool(EVERY & {*yes.words})
    if (rest and more and found.common < 4) or len(rest) > 1 + context.is_one or (found.names[side] and not is_every):
        return None
    # A word such as "ended" may be meant in another way than a plain "not".
    is_negated = no.negative != yes.negative
    least = 2 if is_negated or context.is_one or not rest else 3
    if not found.is_about_one(least + found.agreed):
        return None
    if any(scopes_of(no, rest)) or _denied(no) in rest or bool(no.moments) != bool(yes.moments):
        return None
    # Who begins with a word of its own before one that both have is narrower: old members.
    first = {*[*yes.terms][:1]} & found.rest[other]
    if any({*pair} & {*followers(yes, first)} for pair in found.same):
        return None
    text = " ".join([*no.terms.values()][:4]) or " ".join(name.text for name in no.names)
    return Disagreement("negation", f"denied by one, stated by the other: {text}")


def _denied(claim: Claim) -> str:
    """Returns the root of the first word with content behind one that denies."""
    at = next((n for n, word in enumerate(claim.words) if word in NEGATIONS), -1)
    return next((root(word) for word in claim.words[at + 1 :] if root(word) in claim.terms), "") if at >= 0 else ""


def _find_opposition(found: Overlap, context: Context) -> Disagreement | None:
    """Returns the words that exclude each other, unless they only tell which thing each claim is about."""
    a, b = found.claims
    if a.negative or b.negative or max(map(len, found.rest)) > 4 + context.is_one or is_other_time(a, b):
        return None
    others = [rest - {word for pair in found.opposed for word in pair} for rest in found.plain]
    if not found.is_about_one(1, 0.5) or (all(others) and not context.is_one):
        return None
    if not found.opposed and not found.excluded:
        return Disagreement("antonym", f"{min(a.relations)} against {min(b.relations)}")
    x, y = (found.opposed or found.excluded)[0]
    if (leads(a, x) or leads(b, y)) and (found.excluded or compare_words(x, y)[1]):
        return None
    return Disagreement("antonym" if found.opposed else "value", f"{a.terms[x]} against {b.terms[y]}")


def _find_other_name(found: Overlap, context: Context) -> Disagreement | None:
    """Returns the names that stand in one place: of who leads or does it, of where it is, of what there is one of."""
    numbers = {len(claim.quantities) for claim in found.claims}
    if [len(names) for names in found.names] != [1, 1] or len(numbers) > 1 or (max(numbers) and not found.agreed):
        return None
    if any(ADDED & {*claim.words} for claim in found.claims):
        return None
    (first,), (second,) = found.names
    plain = found.plain
    claimed = _is_claimed(found.a, first) and _is_claimed(found.b, second)
    is_alone = any(_ALONE & {*claim.words} for claim in found.claims)
    if {first.slot, second.slot} <= {"be", "first", "by"} and not any(plain):
        least = 1 if claimed and context.is_one else 2
    elif context.has_single and "to" not in (first.slot, second.slot) and not all(plain) and max(map(len, plain)) <= 1:
        least = 1
    else:
        is_same_slot = first.slot == second.slot and (claimed or first.slot in ("in", "at", "on", "be", "by"))
        if not (is_alone or (is_same_slot and not all(plain))):
            return None
        least = 1 if claimed else 2
    is_one = found.is_about_one(least, is_claimed=claimed)
    return Disagreement("value", f"{first.text} against {second.text}") if is_one else None


def _is_claimed(claim: Claim, name: Name) -> bool:
    """Returns whether a name is what is claimed: the place, owner or tool, where another one would exclude it."""
    head, after = root(name.head), claim.words[name.end : name.end + 3]
    if name.slot in ("be", "by", "through", "via", "under", "as", "per"):
        return True
    if name.slot == "first":
        owning = not ("by" in after and after[0] in BE) and any(root(word) in _OWNING for word in after)
        return owning or not after
    if name.slot in ("of", "in", "at", "within", "on", "into"):
        # Things go on in many places and regions at once, but are kept, held or written in one.
        return name.slot != "of" and (head in _LOCATING or name.head in BE or name.head.endswith("ed"))
    if name.slot == "with":
        return head not in _ADDING
    return name.slot in ("to", "from")


# What was so before.


def _find_succession(found: Overlap, context: Context) -> Disagreement | None:
    """Returns how one claim says that things changed from what the other says."""
    a, b = found.claims
    if any(leads(a, x) and leads(b, y) for x, y in found.opposed):
        # The large kiln says nothing about the small one.
        return None
    for at, order in ((0, -1), (1, 1)):
        new, old = found.claims[at], found.claims[1 - at]
        if old.negative or old.over or "until" in old.words:
            continue
        ended = [name.text for name in old.names if any(is_same_name(name.key, x) for x in new.over)]
        ended += [key for key in new.over if key and {*key.split()} <= {*old.terms}]
        if ended and (context.is_one or found.common):
            after = [name.text for name in new.names] or [*new.terms.values()]
            return Disagreement("superseded", f"{ended[0]} against {' '.join(after[:3]) or 'its end'}")
        is_later = context.is_one and context.later in (order, 0)
        if is_later and not is_other_time(old, new._replace(moments=())) and _is_redone(found, at):
            before = [*old.terms.values(), *(name.text for name in old.names)]
            after = [new.change] if new.change else [*new.terms.values()][:4]
            return Disagreement("superseded", f"{' '.join(after)} against {' '.join(before)}")
    return None


def _is_redone(found: Overlap, at: int) -> bool:
    """Returns whether the later claim says that something is no longer so, or that it is done elsewhere or in another way."""
    claim, old = found.claims[at], found.claims[1 - at]
    cues = (claim.cues | {claim.change}) - _MILD
    if not cues or old.cues or old.change or PAST & {*old.words}:
        return False
    place = claim.words.index(claim.change) if claim.change else 0
    # "The shop is closed" tells how it is, "it was closed" that it is over.
    is_over = place and not claim.negative and not found.names[at] and claim.words[place - 1] not in ("is", "are")
    if _GONE & cues or (is_over and {*claim.terms} - {root(claim.change)} <= {*old.terms}):
        return True
    has_prepositions = _PREPOSITIONS & {*old.words} and _PREPOSITIONS & {*claim.words}
    more = [bool(rest or names) for rest, names in zip(found.rest, found.names, strict=True)]
    return bool(has_prepositions and all(more))
