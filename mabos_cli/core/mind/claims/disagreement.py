"""Whether two claims disagree, and in which words."""

from functools import cache
from itertools import pairwise

from mabos_cli.core.language.moments import same_time
from mabos_cli.core.language.quantities import can_agree
from mabos_cli.core.mind.claims.change import EXISTING, Disagreement, find_succession
from mabos_cli.core.mind.claims.claim import Claim
from mabos_cli.core.mind.claims.fit import fits, fits_date, fits_name, fits_number, is_inserted, shares
from mabos_cli.core.mind.claims.match import Match, Side, Topic, leads, match_claims, same_name
from mabos_cli.core.mind.claims.opposites import compare_words, opposites
from mabos_cli.core.mind.claims.roles import ALONE, is_claimed, is_dated
from mabos_cli.core.mind.claims.values import (
    find_other_moment,
    find_other_quantity,
    has_other_bounds,
    is_looking_back,
    is_other_time,
)
from mabos_cli.core.mind.claims.words import root, roots

# Words for ending, losing, forbidding, rarely: what the other claim states without their opposite, they deny.
_DENYING = {group[:2] for word in ("retire", "lose", "forbid", "rarely") for group in opposites()[root(word)]}
_UNDOING = roots("free delete erase waive exempt")
_CONDITIONS = frozenset("if when whenever".split())
_GOALS = roots("goal target aim plan objective")
_NOW = frozenset("is are has have isnt arent hasnt havent".split())
_POSSIBLE = roots("possible allow permit")
_PLANS = frozenset("plan plans planned intend intends aim aims propose proposed target targets goal".split())
_ENDED = frozenset("retired cancelled scrapped dropped abandoned shelved stopped withdrawn".split())
_OWN = frozenset("its their his her our".split())
_CLEARED = roots("cleared approved certified licensed authorised authorized admitted")
_TREND = opposites()[root("grow")][0].line


@cache
def denies(term: str) -> bool:
    """Whether a root says that something is over, lost, forbidden or rare."""
    return any(group[:2] in _DENYING for group in opposites().get(term, ()))


def disagree(a: Claim, b: Claim, topic: Topic | None = None) -> Disagreement | None:
    """How two claims disagree, or nothing. The topic is their subject, if they have one: it need not be said.

    >>> from mabos_cli.core.mind.claims.claim import read_claims
    >>> one, two = read_claims("Market demand is growing"), read_claims("Market demand is declining")
    >>> disagree(one[0], two[0])
    Disagreement(kind='antonym', reason='growing against declining')
    """
    if a.hedged or b.hedged:
        return None
    match = match_claims(a, b, topic)
    if _modes(a, b, topic):
        # What was planned is out of date when it has been called off.
        return find_succession(match) if not (a.modes ^ b.modes) - _PLANS and _ENDED & {a.change, b.change} else None
    found = _contradiction(match)
    if found and found.kind != "antonym" and (a.cues ^ b.cues) - {"left", "lost", "new"}:
        return found._replace(kind="superseded")
    return found or find_succession(match)


def _modes(a: Claim, b: Claim, topic: Topic | None) -> frozenset[str]:
    """The words by which only one of two claims is a plan, a wish or conditional."""
    apart = a.modes ^ b.modes
    if topic:
        apart = frozenset(word for word in apart if root(word) not in topic.roots)
        apart -= _PLANS | {"want", "wants", "wanted"} if topic.roots & _GOALS else frozenset()
    if any("never" in x.words and {*x.terms} <= {*y.terms} and not y.negative for x, y in ((a, b), (b, a))):
        # What never happens does not happen under a condition either.
        apart -= _CONDITIONS
    # "With failing tests" and "when tests fail" are one condition.
    return apart - _CONDITIONS if {*a.terms} == {*b.terms} else apart


def is_restated(one: Claim, other: Claim) -> bool:
    """Whether another claim says all that one says, and maybe more."""
    if one.negative != other.negative or one.modes != other.modes or one.relations - other.relations or other.over:
        return False
    if one.change != other.change or one.cues - other.cues:
        return False
    terms = {*one.terms} <= {*other.terms}
    names = all(any(x.key == y.key for y in other.names) for x in one.names)
    numbers = all(any(can_agree(x, y) for y, _ in other.quantities) for x, _ in one.quantities)
    return terms and names and numbers and all(any(same_time(x, y) for y, _ in other.moments) for x, _ in one.moments)


def _contradiction(match: Match) -> Disagreement | None:
    """The one thing that differs, if it excludes the other; claims that differ in two speak of two things."""
    a, b = match.a.claim, match.b.claim
    moments, quantities = find_other_moment(a, b), find_other_quantity(a, b)
    if not moments and is_other_time(a, b) and not (match.opposed and _has_turned(match)):
        return None
    named = bool(match.a.names and match.b.names)
    plain, denied = _denied(match)
    if quantities and a.negative == b.negative and match.topic and match.topic.measure:
        # Whoever can withdraw within 14 days denies nothing.
        plain, denied = match, (a.negative, b.negative)
    match = plain
    related = bool(a.relations and b.relations and not a.relations & b.relations)
    opposing = (denied[0] != denied[1]) + len(match.opposed) + related + _turned_round(a, b)
    if is_inserted(match) or (opposing and _is_to_come(a, b)):
        return None
    if opposing % 2:
        trend = any(group.line == _TREND for x, _ in match.opposed for group in opposites().get(x, ()))
        apart = moments or named or match.excluded or (has_other_bounds(a, b) and not trend)
        return None if apart else _opposition(match, denied)
    if not (opposing or moments or quantities or named or match.excluded) and _are_values(match):
        return Disagreement("value", " against ".join(_told(side) for side, _ in match.sides))
    if opposing or bool(moments) + bool(quantities) + named + bool(match.excluded) != 1:
        return None
    if quantities:
        fit = fits_number(match) and not is_looking_back(a, b)
        return Disagreement("number", f"{quantities[0]} against {quantities[1]}") if fit else None
    if moments:
        fit = is_dated(a) and is_dated(b) and fits_date(match)
        return Disagreement("date", f"{moments[0]} against {moments[1]}") if fit else None
    if named and _is_role(match):
        return Disagreement("value", f"{match.a.names[0].text} against {match.b.names[0].text}")
    if not (fits_name(match) if named else fits(match)):
        return None
    if match.excluded:
        x, y = match.excluded[0]
        if leads(a, x) and leads(b, y):
            return None
        return Disagreement("value", f"{a.terms[x]} against {b.terms[y]}")
    if _is_value(match) and not has_other_bounds(a, b):
        return Disagreement("value", f"{match.a.names[0].text} against {match.b.names[0].text}")
    return None


def _denied(match: Match) -> tuple[Match, tuple[bool, bool]]:
    """The match without the words that deny, and whether each claim does; to end something is to deny it."""
    sides, denied = [], []
    for side, _ in match.sides:
        over = [term for term in side.rest if denies(term)]
        sides.append(side._replace(rest=tuple(term for term in side.rest if term not in over)))
        denied.append(side.claim.negative ^ bool(over))
    return match._replace(a=sides[0], b=sides[1]), (denied[0], denied[1])


def _is_to_come(a: Claim, b: Claim) -> bool:
    """Whether one claim says what will be, and the other what is not so yet."""
    return any("will" in x.words and "will" not in y.words and _NOW & {*y.words} for x, y in ((a, b), (b, a)))


def _has_turned(match: Match) -> bool:
    """Whether the later claim tells what was done: since then it is so."""
    if not match.topic or not match.topic.later:
        return False
    words = (match.a if match.topic.later < 0 else match.b).claim.words
    return any(x in ("was", "were", "been") and y.endswith("ed") for x, y in pairwise(words))


def _turned_round(a: Claim, b: Claim) -> bool:
    """Whether two comparisons have their sides swapped: X is cheaper than we are, we are cheaper than X."""
    if "than" not in a.words or "than" not in b.words:
        return False
    at_a, at_b = a.words.index("than"), b.words.index("than")
    common = [word for word in a.words if word in b.words and {root(word)} & {*a.terms, *b.terms}]
    places = [(a.words.index(word) < at_a, b.words.index(word) < at_b) for word in common]
    places += [(x.at < at_a, y.at < at_b) for x in a.names for y in b.names if same_name(x.key, y.key)]
    return bool(places) and all(x != y for x, y in places)


def _opposition(match: Match, denied: tuple[bool, bool]) -> Disagreement | None:
    """The opposite words or the denial, if the rest of the claims fits."""
    a, b = match.a.claim, match.b.claim
    if denied[0] != denied[1] and not match.opposed:
        return _denial(match, *(match.sides[0] if denied[0] else match.sides[1]))
    if not fits(match):
        return None
    if match.opposed:
        x, y = match.opposed[0]
        apart = compare_words(x, y)[1] and (leads(a, x) or leads(b, y))
        return None if apart else Disagreement("antonym", f"{a.terms[x]} against {b.terms[y]}")
    if a.relations and b.relations:
        # What is so during something and after it are two things.
        apart = "during" in a.relations | b.relations
        return None if apart else Disagreement("antonym", f"{min(a.relations)} against {min(b.relations)}")
    return Disagreement("antonym", "each side of the comparison against the other")


def _denial(match: Match, no: Side, yes: Side) -> Disagreement | None:
    """The denial, if what is denied is what the other states: a narrower denial leaves the rest standing."""
    if no.names or (no.claim.relations - yes.claim.relations) or _UNDOING & {*yes.rest}:
        return None
    narrower = len(no.claim.moments) > len(yes.claim.moments) or (
        match.topic and match.topic.roots and not match.own and bool(no.rest or yes.rest)
    )
    weekdays = any(moment.weekday != -1 for moment, _ in no.claim.moments) and not yes.claim.moments
    if weekdays or (no.claim.negative != yes.claim.negative and narrower):
        return None
    most = 5 if match.topic else 1 + match.shared // 2
    spare = 1 if match.own >= 3 and not yes.rest and not yes.names else 0
    said = no.claim.terms or match.shared > 1
    ended = EXISTING - {root("exist")} if match.own or not match.topic else frozenset[str]()
    ended |= _POSSIBLE if not yes.rest else frozenset[str]()
    if _CLEARED & {*yes.claim.terms} and "for" in yes.claim.words:
        # What something is cleared for may be done there, whatever it is that is done.
        ended |= _POSSIBLE | {root(y) for x, y in pairwise(no.claim.words) if x == "be"}
    if len({*no.rest} - ended) > spare or len(yes.rest) > most or not said or not shares(match):
        return None
    text = " ".join([*no.claim.terms.values()][:4]) or " ".join(name.text for name in no.claim.names)
    return Disagreement("negation", f"denied by one, stated by the other: {text}")


def _is_value(match: Match) -> bool:
    """Whether one name on each side is what is claimed, rather than what the claims are about."""
    if len(match.a.names) != 1 or len(match.b.names) != 1:
        return False
    if ALONE & {*match.a.claim.words, *match.b.claim.words}:
        return True
    if _is_active_and_passive(match) or _is_possessed(match):
        return True
    return all(is_claimed(side.claim, side.names[0], bool(match.topic)) for side, _ in match.sides)


def _is_active_and_passive(match: Match) -> bool:
    """Whether one does what the other is said to do: Falk holds it, it is held by Dahl."""
    for side, other in match.sides:
        name, words = side.names[0], side.claim.words
        if name.slot == "first" and other.names[0].slot == "by" and name.end < len(words):
            return root(words[name.end]) in other.claim.terms
    return False


def _is_possessed(match: Match) -> bool:
    """Whether one has something at a place that the other names: its depot is in Lenz, the depot is Kolm."""
    for side, other in match.sides:
        name, words = side.names[0], other.claim.words[: other.names[0].at]
        placed = name.slot in ("in", "at", "with") and _OWN & {*side.claim.words[: name.at]}
        if placed and other.names[0].slot == "be" and root(name.head) in map(root, words):
            return True
    return False


def _is_role(match: Match) -> bool:
    """Whether each claim gives a name for what their heading says there is one of."""
    if not match.topic or not match.topic.single or len(match.a.names) != 1 or len(match.b.names) != 1:
        return False
    said = [{*side.claim.terms} & match.topic.roots for side, _ in match.sides]
    most = 3 if any(x and not side.rest for x, (side, _) in zip(said, match.sides, strict=True)) else 1
    if any(len(side.rest) > most for side, _ in match.sides) or (match.a.rest and match.b.rest):
        return False
    names = [(side.claim, side.names[0]) for side, _ in match.sides]
    plain = [name.slot == "be" or not claim.terms for claim, name in names]
    placed = [name.slot in ("in", "at", "on") or is_claimed(claim, name, True) for claim, name in names]
    return any(plain) and all(x or y for x, y in zip(plain, placed, strict=True))


def _are_values(match: Match) -> bool:
    """Whether each claim is a bare value of what their heading says there is one of, or says what that is."""
    if not match.topic or not match.topic.single or match.own or match.a.claim.modes:
        return False
    values = [_value(side, match.topic) for side, _ in match.sides]
    more = sum(len(side.rest) - len(value) for (side, _), value in zip(match.sides, values, strict=True))
    told = all(value or side.names for (side, _), value in zip(match.sides, values, strict=True))
    return (
        told
        and more <= 1
        and all(len(value) + len(side.names) <= 2 for (side, _), value in zip(match.sides, values, strict=True))
    )


def _value(side: Side, topic: Topic) -> list[str]:
    """The words of a claim that give the value of its topic: all of a bare one, or what the topic is."""
    words = side.claim.words
    if len(words) <= 3 and not {*side.claim.terms} & topic.roots:
        return [*side.rest]
    at = next((n for n, word in enumerate(words) if word in ("is", "are")), 0)
    if not at or not {*map(root, words[:at])} & topic.roots:
        return []
    after = {*map(root, words[at:])}
    return [term for term in side.rest if term in after]


def _told(side: Side) -> str:
    return " ".join([*(side.claim.terms[term] for term in side.rest), *(name.text for name in side.names)])
