"""Whether two claims disagree, and in which words."""

from typing import NamedTuple

from mabos_cli.core.claim_match import Match, Side, Topic, match_claims, same_name
from mabos_cli.core.claim_roles import ALONE, is_claimed, is_dated
from mabos_cli.core.claim_words import opposites, root
from mabos_cli.core.claims import Claim
from mabos_cli.core.moments import same_time
from mabos_cli.core.quantities import can_agree

# Words for ending, losing, forbidding, rarely: what the other claim states without their opposite, they deny.
DENYING = [opposites()[root(word)][:2] for word in ("retire", "lose", "forbid", "rarely")]
_UNDOING = frozenset(map(root, "free delete erase waive exempt".split()))
_TREND = opposites()[root("grow")][0]
_PAST = frozenset("was were had did".split())
_MOVED = frozenset("moved migrated switched transferred".split())
_USING = frozenset(map(root, "need use accept offer exist require".split()))
_HAVING = frozenset("been was were has have".split())
_PLACING = frozenset("in at on with through by from via to as a an".split())


class Disagreement(NamedTuple):
    """What kind of disagreement it is, and the words that differ."""

    kind: str
    reason: str


def disagree(a: Claim, b: Claim, topic: Topic | None = None) -> Disagreement | None:
    """How two claims disagree, or nothing. The topic is their subject, if they have one: it need not be said.

    >>> from mabos_cli.core.claims import read_claims
    >>> one, two = read_claims("Market demand is growing"), read_claims("Market demand is declining")
    >>> disagree(one[0], two[0])
    Disagreement(kind='antonym', reason='growing against declining')
    """
    if a.hedged or b.hedged or a.modes != b.modes:
        return None
    match = match_claims(a, b, topic)
    found = _contradiction(match)
    if found and found.kind != "antonym" and (a.cues ^ b.cues) - {"left", "lost", "new"}:
        return found._replace(kind="superseded")
    return found or _succession(match)


def _contradiction(match: Match) -> Disagreement | None:
    """The one thing that differs, if it excludes the other; claims that differ in two speak of two things."""
    a, b = match.a.claim, match.b.claim
    moments, quantities = _other_moment(a, b), _other_quantity(a, b)
    if not moments and _other_time(a, b):
        return None
    named = bool(match.a.names and match.b.names)
    match, denied = _denied(match)
    related = bool(a.relations and b.relations and not a.relations & b.relations)
    opposing = (denied[0] != denied[1]) + len(match.opposed) + related + _turned_round(a, b)
    if opposing % 2:
        trend = any(opposites().get(x, (-1,))[0] == _TREND for x, _ in match.opposed)
        apart = moments or named or match.excluded or (_other_bounds(a, b) and not trend)
        return None if apart else _opposition(match, denied)
    if opposing or bool(moments) + bool(quantities) + named + bool(match.excluded) != 1 or not _fits(match):
        return None
    if quantities:
        return Disagreement("number", f"{quantities[0]} against {quantities[1]}")
    if moments:
        dated = is_dated(a) and is_dated(b)
        return Disagreement("date", f"{moments[0]} against {moments[1]}") if dated else None
    if match.excluded:
        x, y = match.excluded[0]
        return Disagreement("value", f"{a.terms[x]} against {b.terms[y]}")
    if _is_value(match) and not _other_bounds(a, b):
        return Disagreement("value", f"{match.a.names[0].text} against {match.b.names[0].text}")
    return None


def _denied(match: Match) -> tuple[Match, tuple[bool, bool]]:
    """The match without the words that deny, and whether each claim does; to end something is to deny it."""
    sides, denied = [], []
    for side, _ in match.sides:
        over = [term for term in side.rest if opposites().get(term, ())[:2] in DENYING]
        sides.append(side._replace(rest=tuple(term for term in side.rest if term not in over)))
        denied.append(side.claim.negative ^ bool(over))
    return match._replace(a=sides[0], b=sides[1]), (denied[0], denied[1])


def _other_time(a: Claim, b: Claim) -> bool:
    """Whether the claims are about different times: they name no common one, or only one looks back."""
    if a.moments and b.moments:
        return not any(same_time(x, y) for x, _ in a.moments for y, _ in b.moments)
    for claim in (a, b):
        before = {claim.words[at - 1] for _, at in claim.moments if at}
        if claim.moments and ("until" in before or _PAST & {*claim.words}):
            return True
    return False


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
    if not _fits(match):
        return None
    if match.opposed:
        x, y = match.opposed[0]
        classes = opposites().get(x, (0, 0, False))[2]
        apart = classes and (_leads(a, x) or _leads(b, y))
        return None if apart else Disagreement("antonym", f"{a.terms[x]} against {b.terms[y]}")
    if a.relations and b.relations:
        # What is so during something and after it are two things.
        apart = "during" in a.relations | b.relations
        return None if apart else Disagreement("antonym", f"{min(a.relations)} against {min(b.relations)}")
    return Disagreement("antonym", "each side of the comparison against the other")


def _denial(match: Match, no: Side, yes: Side) -> Disagreement | None:
    """The denial, if what is denied is what the other states: a narrower denial leaves the rest standing."""
    if no.names or no.claim.relations != yes.claim.relations or _UNDOING & {*yes.rest}:
        return None
    narrower = len(no.claim.moments) > len(yes.claim.moments) or (
        match.topic and match.topic.roots and not match.own
    )
    if no.claim.negative != yes.claim.negative and narrower:
        return None
    most = 5 if match.topic else 1 + match.shared // 2
    spare = 1 if match.own >= 3 and not yes.rest and not yes.names else 0
    said = no.claim.terms or match.shared > 1
    if len(no.rest) > spare or len(yes.rest) > most or not said or not _shares(match):
        return None
    text = " ".join([*no.claim.terms.values()][:4]) or " ".join(name.text for name in no.claim.names)
    return Disagreement("negation", f"denied by one, stated by the other: {text}")


def _leads(claim: Claim, term: str) -> bool:
    """Whether a word stands right before another with content: it tells which one, not how it is."""
    word = claim.terms[term].casefold()
    if word not in claim.words:
        return False
    after = claim.words[claim.words.index(word) + 1 :][:1]
    return bool(after) and root(after[0]) in claim.terms


def _shares(match: Match) -> bool:
    """Whether the claims have enough in common to be about one thing."""
    if match.topic:
        return match.own >= 1 or not (match.a.rest and match.b.rest)
    if match.shared != 1 or match.a.rest or match.b.rest:
        return match.shared > 1
    slots = {name.slot for side, _ in match.sides for name in side.names}
    if slots:
        return len(slots) == 1 and "first" not in slots
    return bool(match.opposed) or match.a.claim.negative != match.b.claim.negative


def _fits(match: Match) -> bool:
    """Whether apart from what differs, one claim says no more than the other, and not much less."""
    # A name in whose place the other claim has one too is what differs.
    more = (len(side.rest) + max(0, len(side.names) - len(other.names)) for side, other in match.sides)
    small, large = sorted(more)
    if not _shares(match):
        return False
    if not match.topic:
        return small == 0 and large <= (match.shared - 1) // 2 and _equally_told(match)
    if small:
        return match.own >= 2 and large == 1 and not _same_place(match)
    if match.own:
        return large <= 5 and not _narrowed(match)
    if any(not side.claim.terms and not side.claim.names for side, _ in match.sides):
        # A bare value, as tables have it: what the other one adds tells more about its own.
        return large <= 3
    if match.opposed:
        return large <= (4 if match.shared > 2 else 3)
    if ALONE & {*match.a.claim.words, *match.b.claim.words}:
        return large <= 2
    first = any(side.claim.first in side.rest for side, _ in match.sides)
    return large <= (0 if match.a.names or match.shared < 2 or first else 1) and not _narrowed(match)


def _equally_told(match: Match) -> bool:
    """Whether neither has a number or a time too many: with different subjects, that makes another claim."""
    a, b = match.a.claim, match.b.claim
    return len(a.quantities) == len(b.quantities) and len(a.moments) == len(b.moments)


def _narrowed(match: Match) -> bool:
    """Whether only one claim has a name that tells what it is about: with Orion, in Spain, for Kappa."""
    return any(
        side.names and not other.names and not any(is_claimed(side.claim, n, True) for n in side.names)
        for side, other in match.sides
    )


def _same_place(match: Match) -> bool:
    """Whether the words that only one claim has stand in one place: they tell what each claim is about."""
    if not match.a.rest or not match.b.rest:
        return True
    around = []
    for side, _ in match.sides:
        terms = ["", *side.claim.terms, ""]
        at = terms.index(side.rest[0])
        around.append((terms[at - 1], terms[at + 1]))
    return around[0][0] == around[1][0] or around[0][1] == around[1][1]


def _other_quantity(a: Claim, b: Claim) -> tuple[str, str] | None:
    """Two numbers of the same thing that cannot both be right, where neither agrees with any other."""
    pairs = [
        (n, m, can_agree(x, y))
        for n, (x, noun) in enumerate(a.quantities)
        for m, (y, other) in enumerate(b.quantities)
        if x.unit or not noun or not other or noun == other
    ]
    fine = {n for n, _, agree in pairs if agree}, {m for _, m, agree in pairs if agree}
    apart = ((n, m) for n, m, agree in pairs if agree is False and n not in fine[0] and m not in fine[1])
    return next(((a.quantities[n][0].text, b.quantities[m][0].text) for n, m in apart), None)


def _other_bounds(a: Claim, b: Claim) -> bool:
    """Whether the numbers differ, even if both can be right: above 20 and above 40 tell two cases apart."""
    pairs = [(x, y) for x, _ in a.quantities for y, _ in b.quantities if can_agree(x, y) is not None]
    same = any(can_agree(x, y) and x.bound == y.bound and x[:2] == y[:2] for x, y in pairs)
    return bool(_other_quantity(a, b)) or (bool(pairs) and not same)


def _other_moment(a: Claim, b: Claim) -> tuple[str, str] | None:
    """Two points in time that exclude each other, where neither agrees with any other."""
    pairs = [
        (n, m, same_time(x, y)) for n, (x, _) in enumerate(a.moments) for m, (y, _) in enumerate(b.moments)
    ]
    fine = {n for n, _, same in pairs if same}, {m for _, m, same in pairs if same}
    apart = ((n, m) for n, m, same in pairs if same is False and n not in fine[0] and m not in fine[1])
    return next(((a.moments[n][0].text, b.moments[m][0].text) for n, m in apart), None)


def _is_value(match: Match) -> bool:
    """Whether one name on each side is what is claimed, rather than what the claims are about."""
    if len(match.a.names) != 1 or len(match.b.names) != 1:
        return False
    if ALONE & {*match.a.claim.words, *match.b.claim.words}:
        return True
    return all(is_claimed(side.claim, side.names[0], bool(match.topic)) for side, _ in match.sides)


def _succession(match: Match) -> Disagreement | None:
    """Whether one claim says that things changed from what the other says."""
    for order, (new, old) in zip((-1, 1), match.sides, strict=True):
        if old.claim.negative or old.claim.over:
            continue
        ended = [name.text for name in old.claim.names if any(same_name(name.key, x) for x in new.claim.over)]
        ended += [word for term, word in old.claim.terms.items() if term in new.claim.over]
        if ended and (match.topic or match.shared):
            said = [name.text for name in new.claim.names] or [*new.claim.terms.values()]
            return Disagreement("superseded", f"{ended[0]} against {' '.join(said[:3]) or 'its end'}")
        if match.topic and not old.claim.cues and not _other_time(old.claim, new.claim._replace(moments=())):
            found = _succeeds(match, new, old, match.topic)
            if found:
                return found
            if match.topic.later in (order, 0) and _changes(new, old.claim, match.topic):
                before = [*old.claim.terms.values(), *(name.text for name in old.claim.names)]
                return Disagreement("superseded", f"{new.claim.change} against {' '.join(before)}")
    return None


def _succeeds(match: Match, new: Side, old: Side, topic: Topic) -> Disagreement | None:
    """How a claim replaces one of the same subject: it says what is new, or there can be only one."""
    terms, before = new.claim.terms.values(), old.claim.terms.values()
    if new.claim.negative:
        over = {"nolonger", "anylonger"} & new.claim.cues and match.own > len({*new.rest} - _USING)
        return Disagreement("superseded", f"no longer: {' '.join(terms)}") if over else None
    if len(new.names) == len(old.names) == 1 and all(_is_told(side, topic) for side in (new, old)):
        either = f"{old.names[0].text} against {new.names[0].text}"
        if new.claim.cues and (match.shared or topic.single):
            return Disagreement("superseded", either)
        if topic.single and not (new.rest and old.rest) and not _other_time(new.claim, old.claim):
            return Disagreement("value", either)
    if topic.single and new.claim.cues and ((new.rest and old.rest) or not match.own):
        return Disagreement("superseded", f"{' '.join(before)} against {' '.join(terms)}")
    return None


def _is_told(side: Side, topic: Topic) -> bool:
    """Whether the name of a side is what it claims about the topic."""
    name, words = side.names[0], side.claim.words
    if _MOVED & side.claim.cues and name.slot in ("to", "in", "on"):
        return True
    if topic.single and name.slot in ("to", "in", "at", "on"):
        return bool(side.claim.cues) and is_claimed(side.claim, name, True)
    does = root(words[name.end]) if name.at == 0 and name.end < len(words) else ""
    doing = len(does) > 3 and any(each.startswith(does) for each in topic.roots)
    return doing or is_claimed(side.claim, name, True)


def _changes(new: Side, old: Claim, topic: Topic) -> bool:
    """Whether the subject is no longer what it was: what was said about it in the present is out of date."""
    word, words = new.claim.change, new.claim.words
    if not word or new.claim.negative or old.change or old.moments or _PAST & {*old.words}:
        return False
    moved = word in _MOVED
    at = words.index(word)
    if (moved and not _PLACING & {*old.words}) or root(word) in old.terms:
        return False
    if any(name.at < at for name in new.names):
        return False
    told = {*old.terms} | {root(part) for name in old.names for part in name.key.split()}
    if _HAVING & {*words[max(0, at - 2) : at]} and {*map(root, words[:at])} & topic.roots:
        # "Globex has moved its warehouse" says nothing new about Globex.
        itself = "been" in words or not {*words[at + 1 : at + 2]} & {
            "its",
            "their",
            "his",
            "her",
            "our",
            "the",
        }
        return itself and (bool(told & topic.roots) or not told)
    return words[0] == "we" and bool({*map(root, words[at + 1 : at + 4])} & topic.roots & told)
