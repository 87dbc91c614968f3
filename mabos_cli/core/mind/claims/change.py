"""Whether one claim says that things changed from what another says."""

from typing import NamedTuple

from mabos_cli.core.mind.claims.claim import Claim
from mabos_cli.core.mind.claims.headings import single_valued
from mabos_cli.core.mind.claims.match import Match, Side, Topic, leads, same_name
from mabos_cli.core.mind.claims.roles import is_claimed
from mabos_cli.core.mind.claims.values import PAST, is_other_time
from mabos_cli.core.mind.claims.words import root, roots

_MOVED = frozenset("moved migrated switched transferred rerouted relocated diverted".split())
_USING = roots("need use accept offer exist require")
# What is not there is not used, run or offered either.
EXISTING = _USING | roots("run operate work apply go take have happen serve sell support make give provide buy")
# Words by which a claim says that things are done in another way than before.
_STRONG = frozenset(
    "now nowadays instead replaced switched moved migrated transferred converted outsourced automated nolonger "
    "anylonger stopped abolished discontinued retired rewritten rebuilt renamed changed dropped cancelled".split()
)
_OVER = frozenset("ended expired closed stopped folded lapsed dissolved collapsed".split())
_WAYS = frozenset("by with in on via through at to from".split())
_GONE = frozenset("left retired resigned".split())
_HOLDING = single_valued() | roots("own lead manage head run work handle answer responsible")
_HAVING = frozenset("been was were has have".split())
_PLACING = frozenset("in at on with through by from via to as a an".split())


class Disagreement(NamedTuple):
    """What kind of disagreement it is, and the words that differ."""

    kind: str
    reason: str


def find_succession(match: Match) -> Disagreement | None:
    """Whether one claim says that things changed from what the other says."""
    if any(leads(match.a.claim, x) and leads(match.b.claim, y) for x, y in match.opposed):
        # The large kiln says nothing about the small one.
        return None
    for order, (new, old) in zip((-1, 1), match.sides, strict=True):
        if old.claim.negative or old.claim.over or _is_already_there(new, old):
            continue
        ended = [name.text for name in old.claim.names if any(same_name(name.key, x) for x in new.claim.over)]
        named = {part for key in new.claim.over for part in (key, root(key))}
        ended += [word for term, word in old.claim.terms.items() if term in named]
        phrases = (key.split() for key in new.claim.over if " " in key)
        ended += [" ".join(parts) for parts in phrases if {*parts} <= {*old.claim.terms}]
        if new.claim.cues & _GONE and not _HOLDING & {*old.claim.terms, *map(root, old.claim.words)}:
            ended = []
        # What was so until then was said of another time.
        past = old.claim.moments and PAST & {*old.claim.words}
        if ended and (match.topic or match.shared) and not past and not _are_two(match):
            said = [name.text for name in new.claim.names] or [*new.claim.terms.values()]
            return Disagreement("superseded", f"{ended[0]} against {' '.join(said[:3]) or 'its end'}")
        if match.topic and not old.claim.cues and not is_other_time(old.claim, new.claim._replace(moments=())):
            found = _succeeds(match, new, old, match.topic)
            if found:
                return found
            if match.topic.later in (order, 0) and (
                _changes(new, old.claim, match.topic) or _is_gone(new, old, match.topic) or _redoes(match, new, old)
            ):
                before = [*old.claim.terms.values(), *(name.text for name in old.claim.names)]
                said = new.claim.change or " ".join([*new.claim.terms.values()][:4])
                return Disagreement("superseded", f"{said} against {' '.join(before)}")
    return None


def _are_two(match: Match) -> bool:
    """Whether each claim begins with something that the other does not speak of: card payments, bank transfers."""
    return match.own == 0 and all(side.rest[:1] == tuple(side.claim.terms)[:1] != () for side, _ in match.sides)


def _is_already_there(new: Side, old: Side) -> bool:
    """Whether the older claim has what things were changed to."""
    known = [name for name in new.claim.names if name.slot == "to" and name not in new.names]
    return bool(new.claim.over and known) and not new.names and not old.names


def _is_gone(new: Side, old: Side, topic: Topic) -> bool:
    """Whether the later claim only says that something is over which the other one needs."""
    claim = new.claim
    at = claim.words.index(claim.change) if claim.change else 0
    before = {*claim.words[max(0, at - 2) : at]}
    done = {"was", "were", "been"} & before or (claim.change == "gone" and {"is", "are"} & before)
    if not at or not (done or claim.words[at] in _OVER) or claim.negative or _is_for_a_while(claim):
        return False
    if PAST & {*old.claim.words} or old.claim.moments:
        return False
    said = {*claim.terms} - {root(claim.change)} - EXISTING
    known = {*old.claim.terms} | (topic.roots if not done else set())
    return bool(said or claim.names) and not new.names and said <= known


def _is_for_a_while(claim: Claim) -> bool:
    """Whether it lasts only so long: closed for two years."""
    return "for" in claim.words and any(quantity.unit == "time" for quantity, _ in claim.quantities)


def _redoes(match: Match, new: Side, old: Side) -> bool:
    """Whether the later claim says that the thing, or how it is done, is no longer what it was."""
    cues = {*new.claim.cues} | ({new.claim.change} if new.claim.change else set())
    since = "since" in cues and bool({"has", "have"} & {*new.claim.words})
    if not match.topic or not match.topic.thing or not (cues & _STRONG or since) or new.claim.negative:
        return False
    if PAST & {*old.claim.words} or any(moment.year != -1 for moment, _ in old.claim.moments):
        return False
    differ = (new.rest or new.names) and (old.rest or old.names)
    # What is now so says nothing about what else can be said, unless that is how or where it is.
    told = _WAYS & {*old.claim.words} or (len(old.rest) == 1 and {"is", "are"} & {*old.claim.words})
    return bool(differ) and match.shared > 0 and bool(match.own or told or cues & _STRONG - {"now", "nowadays"})


def _succeeds(match: Match, new: Side, old: Side, topic: Topic) -> Disagreement | None:
    """How a claim replaces one of the same subject: it says what is new, or there can be only one."""
    terms, before = new.claim.terms.values(), old.claim.terms.values()
    if new.claim.negative:
        left = {*new.rest} - EXISTING
        over = {"nolonger", "anylonger"} & new.claim.cues and (
            match.own > len(left) or (topic.thing and match.shared and not left and not new.names)
        )
        over = over and not old.claim.change and not PAST & {*old.claim.words}
        return Disagreement("superseded", f"no longer: {' '.join(terms)}") if over else None
    if match.opposed or match.excluded:
        return None
    if len(new.names) == len(old.names) == 1 and all(_is_told(side, topic) for side in (new, old)):
        either = f"{old.names[0].text} against {new.names[0].text}"
        if new.claim.cues and (match.shared or topic.single):
            return Disagreement("superseded", either)
        if topic.single and not (new.rest and old.rest) and not is_other_time(new.claim, old.claim):
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
    if not word or new.claim.negative or _is_for_a_while(new.claim) or old.change or old.moments or PAST & {*old.words}:
        return False
    moved = word in _MOVED
    at = words.index(word)
    if (moved and not _PLACING & {*old.words}) or root(word) in old.terms:
        return False
    if any(name.at < at for name in new.names):
        return False
    told = {*old.terms} | {root(part) for name in old.names for part in name.key.split()}
    if (
        _HAVING & {*words[max(0, at - 2) : at]}
        and {root(part) for each in words[:at] for part in each.split("_")} & topic.roots
    ):
        # "Globex has moved its warehouse" says nothing new about Globex.
        itself = "been" in words or not {*words[at + 1 : at + 2]} & {"its", "their", "his", "her", "our", "the"}
        return itself and (bool(told & topic.roots) or not told)
    return words[0] == "we" and bool({*map(root, words[at + 1 : at + 4])} & topic.roots & told)
