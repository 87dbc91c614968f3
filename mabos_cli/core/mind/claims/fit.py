"""Whether two claims are about the same thing, so that what differs between them excludes one."""

from collections.abc import Collection

from mabos_cli.core.mind.claims.claim import FINITE
from mabos_cli.core.mind.claims.headings import happening, measures, measuring, same_event, same_role
from mabos_cli.core.mind.claims.match import Match, Side
from mabos_cli.core.mind.claims.roles import ALONE, is_claimed
from mabos_cli.core.mind.claims.words import root

_OPENING = frozenset("the a an our its their this that when if".split())
_BELONGING = frozenset("of at in for from on".split())
_SLOT_KINDS = dict.fromkeys(("by", "first", "be"), "who") | dict.fromkeys(("in", "on", "at", "to", "from"), "where")
_SLOT_KINDS |= dict.fromkeys(("with", "through", "via", "using", "object"), "how")


def shares(match: Match) -> bool:
    """Whether the claims have enough in common to be about one thing."""
    if match.topic:
        return match.own >= 1 or not (match.a.rest and match.b.rest)
    if match.shared != 1 or match.a.rest or match.b.rest:
        return match.shared > 1
    slots = {name.slot for side, _ in match.sides for name in side.names}
    if slots:
        return len(slots) == 1 and "first" not in slots
    return bool(match.opposed) or match.a.claim.negative != match.b.claim.negative


def fits(match: Match) -> bool:
    """Whether apart from what differs, one claim says no more than the other, and not much less."""
    # A name in whose place the other claim has one too is what differs.
    more = (len(side.rest) + max(0, len(side.names) - len(other.names)) for side, other in match.sides)
    small, large = sorted(more)
    if not shares(match):
        return False
    if not match.topic:
        return small == 0 and large <= (match.shared - 1) // 2 and _equally_told(match)
    if small:
        told = match.own >= 2 and large == 1
        return (told or (bool(match.opposed) and large <= 2 and not match.a.claim.modes)) and not in_same_place(match)
    if match.own:
        return large <= 5 and not is_narrowed(match)
    if any(not side.claim.terms and not side.claim.names for side, _ in match.sides):
        # A bare value, as tables have it: what the other one adds tells more about its own.
        return large <= 3
    if match.opposed:
        return large <= (4 if match.shared > 2 else 3)
    if ALONE & {*match.a.claim.words, *match.b.claim.words}:
        return large <= 2
    first = any(side.claim.first in side.rest for side, _ in match.sides)
    return large <= (0 if match.a.names or match.shared < 2 or first else 1) and not is_narrowed(match)


def fits_number(match: Match) -> bool:
    """Whether two claims with different numbers are about the same quantity."""
    if fits(match):
        return True
    pairs = [(x, y) for x in match.a.rest for y in match.b.rest if same_event(x, y) or same_role(x, y)]
    told = [{*side.claim.terms} & measures() for side, _ in match.sides]
    # The height and the width are two things; what is so wide and the width are not.
    little = measuring() if told[0] and told[1] else measuring() | measures()
    plain = _without(match, little | {x for x, _ in pairs}, little | {y for _, y in pairs})
    if plain != match and shares(plain) and fits(plain):
        return True
    return bool(match.topic and match.topic.measure) and _is_headed(plain)


def fits_name(match: Match) -> bool:
    """Whether two claims with different names are about the same thing, whatever verbs lead to the names."""
    if fits(match):
        return True
    kinds = [{_SLOT_KINDS.get(name.slot, "") for name in side.names} for side, _ in match.sides]
    if kinds[0] != kinds[1]:
        return False
    pairs = [(x, y) for x in match.a.rest for y in match.b.rest if same_role(x, y)]
    verbs = [{x for x in side.rest if any(same_role(x, y) for y in other.claim.terms)} for side, other in match.sides]
    plain = _without(match, {x for x, _ in pairs} | verbs[0], {y for _, y in pairs} | verbs[1])
    return plain != match and shares(plain) and fits(plain)


def fits_date(match: Match) -> bool:
    """Whether two claims with different dates are about the same event."""
    if fits(match):
        return True
    pairs = [(x, y) for x in match.a.rest for y in match.b.rest if same_event(x, y)]
    plain = _without(match, {x for x, _ in pairs}, {y for _, y in pairs})
    if pairs and shares(plain) and fits(plain):
        return True
    bare = _without(plain, happening(), happening())
    if bare != plain and not (plain.a.rest and plain.b.rest) and shares(bare) and fits(bare):
        return True
    return bool(match.topic and match.topic.event) and _is_headed(plain)


def is_inserted(match: Match) -> bool:
    """Whether one claim is about a part of what the other is about: the museum is free, the museum shop is not."""
    for side, other in match.sides:
        words, others = side.claim.words, other.claim.words
        for term in side.rest:
            word = side.claim.terms[term].casefold()
            at = words.index(word) if word in words else 0
            if term == next(iter(side.claim.terms)) and _is_part(side, other, at):
                return True
            if not 0 < at < len(words) - 1 or words[at - 1] not in others[:-1] or words[at - 1] in _OPENING:
                continue
            after = others[others.index(words[at - 1]) + 1]
            verb = words[at + 1] in FINITE or (words[at + 1].endswith("s") and _is_shared(words[at + 1], match))
            if verb and (after in FINITE or root(after) in side.claim.terms):
                return True
    return False


def _is_part(side: Side, other: Side, at: int) -> bool:
    """Whether a claim begins with something that belongs to what the other is about: a seat at the gala."""
    words, after = side.claim.words, side.claim.words[at + 1 : at + 4]
    if not after or after[0] not in _BELONGING or root(words[at]) in measures() | measuring():
        return False
    if at and words[at - 1] in FINITE:
        # What is cleared for something is no part of it.
        return False
    of = next((root(word) for word in after[1:] if root(word) in side.claim.terms), "")
    return bool(of) and of == next(iter(other.claim.terms), "") and bool(side.claim.quantities)


def _is_shared(word: str, match: Match) -> bool:
    """Whether a word is one that both claims turn on."""
    turning = {x for pair in (*match.opposed, *match.excluded) for x in pair}
    return root(word) in turning | ({*match.a.claim.terms} & {*match.b.claim.terms})


def _without(match: Match, one: Collection[str], two: Collection[str]) -> Match:
    """The match without words that make no difference to it."""
    rest = [
        tuple(x for x in side.rest if x not in none) for (side, _), none in zip(match.sides, (one, two), strict=True)
    ]
    return match._replace(a=match.a._replace(rest=rest[0]), b=match.b._replace(rest=rest[1]))


def _is_headed(match: Match) -> bool:
    """Whether two claims say in words of their own what their heading names, rather than of what it is the value.

    Claims of two things are told alike: debug logs are kept for 7 days, audit logs are kept for 10 years.
    """
    if match.topic is None or match.topic.agreed or is_narrowed(match) or (match.a.names and match.b.names):
        return False
    small, large = sorted(len(side.rest) for side, _ in match.sides)
    both = all(side.rest[:1] == tuple(side.claim.terms)[:1] for side, _ in match.sides)
    alike = small > 0 and (both or in_same_place(match))
    return not alike and small <= 3 and large <= 6


def _equally_told(match: Match) -> bool:
    """Whether neither has a number or a time too many: with different subjects, that makes another claim."""
    a, b = match.a.claim, match.b.claim
    return len(a.quantities) == len(b.quantities) and len(a.moments) == len(b.moments)


def is_narrowed(match: Match) -> bool:
    """Whether only one claim has a name that tells what it is about: with Orion, in Spain, for Kappa."""
    return any(
        side.names and not other.names and not any(is_claimed(side.claim, n, True) for n in side.names)
        for side, other in match.sides
    )


def in_same_place(match: Match) -> bool:
    """Whether the words that only one claim has stand in one place: they tell what each claim is about."""
    if not match.a.rest or not match.b.rest:
        return True
    around = []
    for number, (side, _) in enumerate(match.sides):
        terms = [f"<{number}", *side.claim.terms, f">{number}"]
        at = terms.index(side.rest[0])
        around.append((terms[at - 1], terms[at + 1]))
    return around[0][0] == around[1][0] or around[0][1] == around[1][1]
