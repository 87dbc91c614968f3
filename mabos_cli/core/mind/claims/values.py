"""The numbers and points in time of two claims: which of them differ, and whether the claims are of one time."""

from mabos_cli.core.language.moments import same_time
from mabos_cli.core.language.quantities import can_agree
from mabos_cli.core.mind.claims.claim import Claim

_THEN = (("since",), ("from",), ("after",))
PAST = frozenset("was were had did".split())


def find_other_quantity(a: Claim, b: Claim) -> tuple[str, str] | None:
    """Two numbers of the same thing that cannot both be right, where neither agrees with any other."""
    pairs = [
        (n, m, can_agree(x, y))
        for n, (x, noun) in enumerate(a.quantities)
        for m, (y, other) in enumerate(b.quantities)
        if x.unit or not noun or not other or _is_same_noun(noun, other)
    ]
    fine = {n for n, _, agree in pairs if agree}, {m for _, m, agree in pairs if agree}
    apart = [(n, m) for n, m, agree in pairs if agree is False and n not in fine[0] and m not in fine[1]]
    if len({a.quantities[n][0].unit for n, _ in apart}) > 1:
        # One seat for 20 euros, ten seats for 150: what differs in two numbers is about two things.
        return None
    return next(((a.quantities[n][0].text, b.quantities[m][0].text) for n, m in apart), None)


def _is_same_noun(a: str, b: str) -> bool:
    """Whether two nouns count the same: dimensions, dimensional."""
    short, long = sorted((a, b), key=len)
    return long in (short, f"{short}s") or (len(short) >= 5 and long.startswith(short))


def has_other_bounds(a: Claim, b: Claim) -> bool:
    """Whether the numbers differ, even if both can be right: above 20 and above 40 tell two cases apart."""
    pairs = [(x, y) for x, _ in a.quantities for y, _ in b.quantities if can_agree(x, y) is not None]
    same = any(can_agree(x, y) and x.bound == y.bound and x[:2] == y[:2] for x, y in pairs)
    return bool(find_other_quantity(a, b)) or (bool(pairs) and not same)


def find_other_moment(a: Claim, b: Claim) -> tuple[str, str] | None:
    """Two points in time that exclude each other, where neither agrees with any other."""
    pairs = [(n, m, same_time(x, y)) for n, (x, _) in enumerate(a.moments) for m, (y, _) in enumerate(b.moments)]
    fine = {n for n, _, same in pairs if same}, {m for _, m, same in pairs if same}
    apart = [(n, m) for n, m, same in pairs if same is False and n not in fine[0] and m not in fine[1]]
    if any(_is_when(a, n) and _is_when(b, m) for n, m in apart):
        # On weekdays it opens at 7, on Sundays at 9.
        return None
    return next(((a.moments[n][0].text, b.moments[m][0].text) for n, m in apart), None)


def _is_when(claim: Claim, number: int) -> bool:
    """Whether a claim begins with the weekday or season for which it holds."""
    moment, at = claim.moments[number]
    return at <= 2 and at < len(claim.words) - 1 and (moment.weekday != -1 or moment.season != -1)


def is_other_time(a: Claim, b: Claim) -> bool:
    """Whether the claims are about different times: they name no common one, or only one looks back."""
    leads = [{claim.words[at - 1] for _, at in claim.moments if at} for claim in (a, b)]
    if any("until" in x and {"since", "from", "after"} & y for x, y in (leads, leads[::-1])):
        return True
    if any(x.words[:1] == ("before",) and y.words[:1] in _THEN for x, y in ((a, b), (b, a))):
        return True
    if a.moments and b.moments:
        # What is so by the end of next year need not be so before.
        pairs = [(n, m) for n in range(len(a.moments)) for m in range(len(b.moments))]
        when = [(n, m) for n, m in pairs if _is_when(a, n) and _is_when(b, m)]
        if any(same_time(a.moments[n][0], b.moments[m][0]) is False for n, m in when):
            return True
        return not any(
            same_time(x._replace(bound=""), y._replace(bound="")) for x, _ in a.moments for y, _ in b.moments
        )
    for claim, other in ((a, b), (b, a)):
        before = {claim.words[at - 1] for _, at in claim.moments if at}
        ended = "until" in before and not {"nolonger", "anylonger"} & other.cues
        if claim.moments and (ended or PAST & {*claim.words}):
            return True
    return False


def is_looking_back(a: Claim, b: Claim) -> bool:
    """Whether one claim says how things were or will be, and the other how they are."""
    for claim, other in ((a, b), (b, a)):
        if "will" in claim.words and claim.moments and not other.moments and "will" not in other.words:
            return True
    was, now = ({*PAST}, {"is", "are", "has", "have", "now"})
    times = [(bool(was & {*claim.words}), bool(now & {*claim.words})) for claim in (a, b)]
    return times in ([(True, False), (False, True)], [(False, True), (True, False)])
