"""Claims in other words: whether two clauses about one thing hold values of a kind that exclude each other."""

from functools import reduce
from typing import NamedTuple

from mabos_cli.core.language.moments import FIRST_MOMENT, same_time
from mabos_cli.core.language.quantities import FREQUENCY, Quantity, can_agree
from mabos_cli.core.mind.claims.claim import NEGATIONS, Claim
from mabos_cli.core.mind.claims.disagreement import (
    LEFT_OUT,
    Disagreement,
    are_cases_apart,
    find_other,
    is_claimed,
    is_done,
    is_other_time,
)
from mabos_cli.core.mind.claims.match import ALONE, leads
from mabos_cli.core.mind.claims.overlap import Heads, Overlap, followers, scopes_of
from mabos_cli.core.mind.claims.words import denies, is_same_event, root, roots, word_class

# What was moved to another day, or is another number now, is that instead.
_MOVED = frozenset("moved changed migrated switched now new".split())
# What is said of most or some leaves room for others.
_PARTIAL = frozenset("most many some several few often usually mostly mainly average".split())
_EVERY = frozenset("all every each".split())
_MEMBERS = frozenset("the our these those them".split())
_ADDED = frozenset("both also too".split())
# A limit, an aim or a guess is another number than what came of it.
_AIMS = roots(
    "limit ceiling maximum minimum largest smallest target goal aim estimate budget plan quota forecast expect"
)
# What a number is of, where both say it in another word: 24 metres long, 9 metres high.
_SIZES = roots("long wide high tall deep thick heavy old")
_PERSON = root("people")


class Context(NamedTuple):
    """The headings of two claims: their roots, whether one names something unique, and whether each adds something to the claims."""

    heads: Heads = (frozenset(), frozenset())
    has_one: bool = False
    is_apart: bool = False


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


def differ(a: Claim, b: Claim, context: Context = Context()) -> Disagreement | None:
    """Returns how two claims about one thing disagree; None when both can be right.

    >>> from mabos_cli.core.mind.claims.claim import read_claims
    >>> one = read_claims("The free plan allows up to three projects per account")[0]
    >>> differ(one, read_claims("An account on the free plan may hold five projects at most")[0])
    Disagreement(kind='number', reason='up to three projects per account against five')
    """
    modifiers = a.modes ^ b.modes | (a.cues ^ b.cues) - _MOVED | a.relations ^ b.relations | a.over | b.over
    if a.hedged or b.hedged or modifiers - {"when"} or _is_partial(a) or _is_partial(b):
        return None
    if are_cases_apart(a, b) or LEFT_OUT & {*a.words, *b.words}:
        return None
    found = Overlap(a, b, context.heads)
    if (context.is_apart and all(found.plain)) or (modifiers and _is_case(found)):
        return None
    numbers, dates = _find_numbers(a, b), _find_dates(found)
    if dates is None or (numbers and bool(a.moments) != bool(b.moments)):
        return None
    denied = [side.negative ^ any(map(denies, rest)) for side, rest in zip((a, b), found.rest, strict=True)]
    named = bool(found.names[0] and found.names[1])
    if numbers or dates:
        is_one_thing = _is_one_number(found, context.heads) if numbers else _is_one_event(found)
        is_other = (numbers and dates) or named or found.opposed or a.negative != b.negative or not is_one_thing
        kind = "number" if numbers else "date"
        return None if is_other else Disagreement(kind, " against ".join(numbers or dates))
    if named and (found.opposed or denied[0] != denied[1]):
        return None
    if denied[0] != denied[1]:
        return None if found.opposed else _find_denial(found, denied[0])
    if found.opposed or (found.excluded and not named):
        return _find_opposition(found)
    return _find_other_name(found, context.has_one) if named else None


def _is_partial(claim: Claim) -> bool:
    """Returns whether a claim is about some of the things that it names: most, not all, two of them; at most five is a bound."""
    words = ("", *claim.words, "", "")
    for before, word, after, last in zip(words, words[1:], words[2:], words[3:], strict=False):
        if word in _PARTIAL and before != "at":
            return True
        if before == "not" and word in _EVERY | _ADDED:
            return True
        if _is_number(word) and after == "of" and last in _MEMBERS:
            return True
    return False


def _is_number(word: str) -> bool:
    return "\ue000" <= word < chr(FIRST_MOMENT)


def _is_case(found: Overlap) -> bool:
    """Returns whether one claim is about when something happens of which the other does not speak."""
    for claim, rest in zip(found.claims, found.rest, strict=True):
        after = claim.words[claim.words.index("when") + 1 :] if "when" in claim.words else ()
        if any(root(word) in rest for word in after) or "when" in claim.words[:1]:
            return True
    return False


def _find_numbers(a: Claim, b: Claim) -> tuple[str, str] | None:
    """Returns two numbers of one measure that exclude each other; without a unit, of the same things."""
    claims = a, b
    counted = [_counted(claim) for claim in claims]

    def agree(x: Quantity, y: Quantity) -> bool | None:
        things = counted[0].get(x, set()), counted[1].get(y, set())
        if {x.unit, y.unit} == {"", FREQUENCY} and x.per and y.per:
            # One newsletter a month, and the newsletter comes weekly.
            is_alike = things[bool(x.unit)] & {*claims[not x.unit].terms}
            return can_agree(x._replace(unit=FREQUENCY), y._replace(unit=FREQUENCY)) if is_alike else None
        apart = all(things) and things[0].isdisjoint(things[1]) and _PERSON not in things[0] | things[1]
        return None if not x.unit and apart else can_agree(x, y)

    return find_other(a.quantities, b.quantities, agree)


def _counted(claim: Claim) -> dict[Quantity, set[str]]:
    """Returns the roots of the words behind each number that name what it counts."""
    places = [n for n, word in enumerate(claim.words) if _is_number(word)]
    behind = [{root(word) for word in claim.words[n + 1 : n + 3]} & {*claim.terms} for n in places]
    return dict(zip(claim.quantities, behind, strict=False))


def _is_one_number(found: Overlap, heads: Heads) -> bool:
    """Returns whether two numbers of one measure are of one thing, and neither is only what was wanted."""
    aims = [bool(_AIMS & {*claim.terms, *head}) for claim, head in zip(found.claims, heads, strict=True)]
    sizes = [rest & _SIZES for rest in found.plain]
    if aims[0] != aims[1] or is_other_time(found.a, found.b) or all(sizes):
        return False
    rests = [rest - word_class("happening") for rest in found.plain]
    measuring = [rest - word_class("measuring") - word_class("measures") for rest in rests]
    if all(rests) and (any(measuring) or rests[0] != rests[1]):
        counted = [set[str]().union(*_counted(claim).values()) for claim in found.claims]
        is_alike = bool(counted[0] & counted[1]) and all(len(rest) == 1 for rest in rests)
        return is_alike and found.is_about_one(3)
    is_measured = all(claim.quantities[0].unit for claim in found.claims) or not any(rests)
    least = 1 if not any(measuring) and is_measured else 2
    if any(rest & head for rest, head in zip(measuring, heads, strict=True)):
        # The battery of the sensor, under that heading, is not any battery.
        least = 3
    return found.is_about_one(least, 0.5) and not any(found.names)


def _find_dates(found: Overlap) -> tuple[str, ...] | None:
    """Returns the two dates that exclude each other, nothing if there are none; None when they are of two events."""
    a, b = found.a.moments, found.b.moments
    if sum(any(same_time(x, y) is False for y in b) and not any(same_time(x, y) for y in b) for x in a) > 1:
        return None
    dates = find_other(a, b, same_time) if not is_done(found.a) else None
    events = [rest - word_class("occurring") for rest in found.rest]
    if dates and all(events) and not any(is_same_event(x, y) for x in events[0] for y in events[1]):
        return None
    return dates or ()


def _is_one_event(found: Overlap) -> bool:
    """Returns whether two dates are of one event."""
    rests = [rest - word_class("happening") - word_class("occurring") for rest in found.plain]
    if any(found.names) or bool(found.a.quantities) != bool(found.b.quantities):
        return found.is_about_one()
    return found.is_about_one(2 if any(rests) else 1, 0.5)


def _find_denial(found: Overlap, is_first: bool) -> Disagreement | None:
    """Returns the denial of what the other claim states; a narrower one leaves the rest standing, and where only one does
    something others do not."""
    side, other = (0, 1) if is_first else (1, 0)
    no, yes = found.claims[side], found.claims[other]
    rest, more = found.plain[side], found.plain[other]
    is_every = bool(_EVERY & {*yes.words})
    if (rest and more and found.common < 4) or len(rest) > 1 or (found.names[side] and not is_every):
        return None
    # A word such as "ended" may be meant in another way than a plain "not".
    is_negated = no.negative != yes.negative
    if not found.is_about_one(2 + found.agreed if is_negated else 3):
        return None
    if any(scopes_of(no, rest)) or _denied(no) in rest or bool(no.moments) != bool(yes.moments):
        return None
    which = {*followers(no, rest), *followers(yes, found.rest[other])}
    if ALONE & {*no.words, *yes.words} or any(which & {*pair} for pair in found.same):
        return None
    return Disagreement("negation", f"denied by one, stated by the other: {' '.join(sorted(x for x, _ in found.same))}")


def _denied(claim: Claim) -> str:
    """Returns the root of the first word with content behind one that denies."""
    at = next((n for n, word in enumerate(claim.words) if word in NEGATIONS), -1)
    return next((root(word) for word in claim.words[at + 1 :] if root(word) in claim.terms), "") if at >= 0 else ""


def _find_opposition(found: Overlap) -> Disagreement | None:
    """Returns the words that exclude each other, unless they only tell which thing each claim is about."""
    x, y = (found.opposed or found.excluded)[0]
    a, b = found.claims
    if a.negative or b.negative or max(map(len, found.rest)) > 4 or is_other_time(a, b):
        return None
    is_which = leads(a, x) or leads(b, y)
    if (is_which and found.excluded) or not found.is_about_one(1, 0.5):
        return None
    return Disagreement("antonym" if found.opposed else "value", f"{a.terms[x]} against {b.terms[y]}")


def _find_other_name(found: Overlap, has_one: bool) -> Disagreement | None:
    """Returns the names that stand in one place: of who leads or does it, of where it is, of what there is one of."""
    numbers = {len(claim.quantities) for claim in found.claims}
    if [len(names) for names in found.names] != [1, 1] or len(numbers) > 1 or (max(numbers) and not found.agreed):
        return None
    if any(_ADDED & {*claim.words} for claim in found.claims):
        return None
    (first,), (second,) = found.names
    plain = found.plain
    claimed = is_claimed(found.a, first, True) and is_claimed(found.b, second, True)
    slots = {"in", "at", "on", "be", "by"} | ({"from", "with"} if claimed and not any(found.plain) else set())
    if {first.slot, second.slot} <= {"be", "first", "by"} and not any(plain):
        is_one = found.is_about_one(2)
    elif (
        has_one
        and "to" not in (first.slot, second.slot)
        and not all(plain)
        and max(map(len, plain)) <= 1
        and found.is_about_one(1, 0.5)
    ):
        is_one = True
    else:
        is_same_slot = first.slot == second.slot and first.slot in slots and not all(found.plain)
        is_alone = any(ALONE & {*claim.words} for claim in found.claims)
        is_one = (is_same_slot or is_alone) and found.is_about_one(1 if claimed else 2)
    return Disagreement("value", f"{first.text} against {second.text}") if is_one else None
