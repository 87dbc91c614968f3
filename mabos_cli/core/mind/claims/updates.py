"""Decides whether a later statement replaces an earlier one: the same subject and relation with another value.

Two statements are laid over each other word by word. They must have the same words in the same order around one place that
differs, and that must be where a value stands of which there is one at a time. Claims that exclude each other are found as
those of beliefs are, and words of change allow another verb: who lived somewhere has moved. When in doubt, both stay.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from mabos_cli.core.language.moments import same_time, take_moments
from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.language.periods import MONTH, WEEKDAYS
from mabos_cli.core.language.quantities import NUMBER_WORDS, can_agree
from mabos_cli.core.language.similar import LONGEST_STATEMENT
from mabos_cli.core.mind.claims.cases import is_past
from mabos_cli.core.mind.claims.claim import Claim, plain_text, read_claims
from mabos_cli.core.mind.claims.disagreement import disagree, is_restated
from mabos_cli.core.mind.claims.words import root, roots, word_class
from mabos_cli.core.records import NamedTuple

# A value that was set to something is that now.
_SET = (
    r"\b(?:(?:is|are|was|were|(?:has|have) been|got|gets) )?(?:raised|lowered|increased|decreased|reduced|cut|extended"
    r"|shortened|postponed|delayed|rescheduled|moved|shifted|pushed back|brought forward|changed|set|updated|upgraded|rose"
    r"|fell|grew|dropped|went (?:up|down))(?: from (?:[^\s,.;]+ ){1,4}?| )(?:to|until)"
    rf"(?= (?:the |[A-Z]{{3}} )?(?:[€$£]?\d|(?:{MONTH}|{'|'.join(WEEKDAYS)})\b))"
)
# Somebody set it: then it is that now.
_ACTIVE = (
    r"^(?:we|I|they|[A-Z][\w-]+)(?: have| has)? (?:raised|lowered|increased|decreased|reduced|cut|extended|shortened|postponed|delayed"
    r"|rescheduled|moved|shifted|pushed back|brought forward|changed|set|updated|upgraded) ((?:the|our|my) [^,;.]+?)"
    r"(?: from (?:[^\s,.;]+ ){1,4}?| )(?:to|until) (?=(?:the |[A-Z]{3} )?(?:[€$£]?\d|"
    rf"(?:{MONTH}|{'|'.join(WEEKDAYS)})\b))"
)
_WHEN = r"(?:now|today|(?:next |this )?[\w.-]+(?: [\w.-]+)?)"
# From when something holds is no part of it.
_SINCE = (
    rf"^(?:as of|effective|starting(?: in| on| from)?|beginning(?: in| on| with)?|from) {_WHEN}(?: on(?:wards?)?)?,? "
    rf"(?=(?:the|our|my|we|[A-Z])\b)|,? \b(?:as of {_WHEN}|from {_WHEN} on(?:wards?)?)(?=[.,;]|$)"
    rf"|,? \bsince (?:(?:last|this|early|late|the|spring|summer|autumn|winter|week|month|year|quarter|yesterday|{MONTH}|{'|'.join(WEEKDAYS)}|\d[\d-]*)[ ,]*)+(?=[.;]|$)"
)
# Who took something over does what the one did who had it.
_HANDOVER = compiled(
    r"(.+?) (?:took|takes|has taken|is taking) over (.+?)(?: (?:from|for) (.+?))?(?: (?:in|on|as of) .+)?[.!]?$",
    re.IGNORECASE,
)
_CUES = compiled(r"(?i)\b(?:now|nowadays|no longer|any ?more|instead|new|replace[sd]?)\b")
_ADDED = compiled(r"(?i)\b(?:also|too|as well|additional\w*|another|besides|again|both|still|one of|some|other)\b")
_AT_MOMENT = r"(?: (?:in|on|at|since|from|by))?\s+[\ue000-\uf8ff]"
_DROPPED = frozenset("a an the now nowadays currently already just new recently finally then".split())
_BE = frozenset("is are be been being am".split())
_PASSED_OVER = _DROPPED | _BE | frozenset("was were has have had our my".split())
_FINITE = _BE | frozenset("was were has have had can may must will needs should does do".split())
_PREPOSITIONS = frozenset(
    "in at on to into onto for with near by from as over of under via through within until every per after".split()
)
_DEFINITE = compiled(r"(?i)(?:the|our|my|your|their|his|her)\b|[\w -]+['\u2019]s?\b")
_ABOUT = frozenset("only about around almost most least than me us you him her it them".split())
_UNSURE = frozenset("he she they it this that these those a an one some many most several there".split())
_MANY = roots("son daughter brother sister child cousin friend colleague neighbour neighbor")
# There is one place, one employer, one superior at a time; and of the others one that is told of as the present one.
_SINGLE = roots("live reside base locate headquarter belong report marry call name work")
_CURRENT = _SINGLE | roots(
    "use run meet sit stay drive cost start end open close want pay bill charge deploy ship own lead manage need require take last"
)
_HOLDING = roots("lead manage own run handle head chair do organize maintain coordinate look take hold")
_ROLE = compiled(r"[\w.' -]+? (?:is|are) (?:now )?(?:the|our|my|their|his|her) ")
_NAMED = roots("call name")
_WANTED = roots("prefer favour favor want")
# Verbs of change, what may lead to the new value, the verbs of what is over, and what may lead to the old value.
_CHANGES = (
    ("moved relocated", "to into in", "live reside stay base locate situate house sit stand keep be", "in at on near"),
    (
        "switched changed migrated transferred converted",
        "to over onto",
        "use run host keep store write do manage track be base",
        "on in with at by to",
    ),
    ("joined", "", "work employ be", "at for with by"),
    ("left quit", "", "work employ be", "at for with by in"),
    ("rewritten rebuilt ported rewrote", "in to with on", "write build implement be", "in with on"),
    ("renamed rebranded", "to as", "call name be", "as"),
    ("became", "", "be work", "as"),
    ("promoted appointed elected", "to as", "be work", "as"),
)
_ENDS = frozenset("left quit".split())


class _Frame(NamedTuple):
    """Two statements laid over each other: what both begin with, the place that differs on each side, what both end with."""

    before: list[str]
    old: list[str]
    new: list[str]
    after: list[str]
    kind: str = ""
    is_definite: bool = False
    is_role: bool = False

    @property
    def reason(self) -> str:
        return f"{' '.join(self.old)} against {' '.join(self.new)}"


class _Change(NamedTuple):
    """How a kind of change is told: what leads to the new value, the verbs of what is over, what led to the old one."""

    to: frozenset[str]
    states: frozenset[str]
    at: frozenset[str]


def find_update(older: str, newer: str, *, measured: bool = False) -> str:
    """Returns what differs when a later statement takes the place of an earlier one; empty when both can stay.

    measured says that numbers may be those of different moments.

    >>> find_update("Dana lives in Berlin", "Dana moved to Lisbon"), find_update("We sell in Spain", "We sell in Italy")
    ('Berlin against Lisbon', '')
    """
    if max(len(older), len(newer)) > LONGEST_STATEMENT or _ADDED.search(newer):
        return ""
    (_, old_text, old), (new_text, set_text, new) = _read(older), _read(newer)
    if any(claim.hedged for claim in (*old, *new)):
        return ""
    is_change = new_text != newer.strip() or bool(_CUES.search(newer))
    left = [claim for claim in old if len(old) == 1 or not any(is_restated(claim, other) for other in new)]
    if len(left) != 1 or not new:
        return ""
    laid = _lay_over(old_text, set_text) if len(old) == 1 else None
    is_change |= set_text != new_text
    found = (_compare(left[0], claim, laid, is_change, measured) for claim in new)
    reason = next(filter(None, found), "")
    if reason or len(old) > 1:
        return reason
    if set_text != new_text:
        return _find_set_value(old_text, set_text, left[0], new[0])
    if laid and _can_differ(left[0], new[0], is_change) and _is_one_at_a_time(laid, is_change, measured):
        return laid.reason
    return _find_change(old_text, new_text) or _find_handover(old_text, new_text)


@lru_cache(maxsize=4096)  # a statement of a change is compared with several others, and those with several changes
def _read(text: str) -> tuple[str, str, tuple[Claim, ...]]:
    """Returns a statement without its start date, the same in the form `is now`, and the claims of that."""
    plain = compiled(_SINCE, re.IGNORECASE).sub("", text.strip())
    current = compiled(_SET).sub("is now", compiled(_ACTIVE).sub(r"\1 is now ", plain))
    return plain, current, read_claims(current)


def _find_handover(older: str, newer: str) -> str:
    """Returns who has something and who had it before, when the newer statement is about a handover."""
    handover = _HANDOVER.match(newer)
    if not handover:
        return ""
    thing, was = (
        [word.casefold() for word in _words(part or "") if word.casefold() not in _PASSED_OVER]
        for part in handover.groups()[1:]
    )
    old = _words(older)
    plain = [word.casefold() for word in old]
    behind = len(thing) and plain[-len(thing) :] == thing and old[:1] != handover[1].split()[:1]
    has_holder = plain[: len(was)] == was if was else old[0][0].isupper()
    behind = behind and any(root(word) in _HOLDING for word in plain[1 : len(plain) - len(thing)])
    return f"{old[0]} against {handover[1]}" if behind and has_holder else ""


def _can_differ(old: Claim, new: Claim, is_change: bool) -> bool:
    """Returns whether two claims are of one form, tell how things are, and name no number or time in two ways."""
    if old.negative or old.modes != new.modes or (not is_change and (is_past(old) or is_past(new))):
        return False
    same = any(same_time(x, y) for x in old.moments for y in new.moments)
    return not same and not any(can_agree(x, y) for x in old.quantities for y in new.quantities)


def _compare(old: Claim, new: Claim, laid: "_Frame | None", is_change: bool, measured: bool) -> str:
    """Returns what differs between two claims that exclude each other."""
    if not is_change and (is_past(old) or is_past(new)):
        return ""
    found = disagree(old, new)
    if (
        found is None
        or {*old.words[:1], *new.words[:1]} & _UNSURE
        or (found.kind == "number" and measured and not is_change)
    ):
        return ""
    if found.kind in ("negation", "antonym", "superseded") or is_change:
        return found.reason
    # A day may be one of several: it must be what is told.
    is_value = laid and (_is_one_at_a_time(laid, is_change, measured) if found.kind == "date" else _is_value(laid))
    return found.reason if is_value else ""


def _align(old: Sequence[str], new: Sequence[str]) -> _Frame | None:
    """Lays two statements over each other; None unless they differ in one place, with something there on both sides."""
    old, new = ([word for word in words if word.casefold() not in _DROPPED] for words in (old, new))
    keys = [[root(word.casefold()) for word in words] for words in (old, new)]
    most = min(len(old), len(new))
    start = next((n for n in range(most) if keys[0][n] != keys[1][n]), most)
    end = next((n for n in range(most - start) if keys[0][-1 - n] != keys[1][-1 - n]), most - start)
    slots = old[start : len(old) - end], new[start : len(new) - end]
    # What both have in another order, or apart from where they differ, is no other value.
    if not all(slots) or {*keys[0][start : len(old) - end]} & {*keys[1][start : len(new) - end]}:
        return None
    return _Frame(old[:start], *slots, old[len(old) - end :])


def _lay_over(older: str, newer: str) -> _Frame | None:
    """Lays two statements over each other; None unless they differ in one value of one kind."""
    words = _words(older), _words(newer)
    frame = _align(*words)
    if frame is None:
        # Somebody who prefers one thing over another now prefers it the other way round.
        (_, verb, *one), (_, _, *two) = ([*each, "", ""] for each in words)
        turned = root(verb.casefold()) in _WANTED and one != two and sorted(one) == sorted(two)
        return _Frame([*words[0][:2]], words[0][2:], words[1][2:], [], "turned") if turned else None
    kinds = [_kind(each) for each in (frame.old, frame.new)]
    if not frame.before and all(each[0][0].isupper() for each in (frame.old, frame.new)):
        kinds = ["name", "name"]
    if kinds[0] != kinds[1]:
        kinds = ["name" if each[-1][0].isupper() else "word" for each in (frame.old, frame.new)]
    is_many = _MANY & {*map(root, map(str.casefold, (*frame.before, *frame.after)))} and kinds[0] != "number"
    is_phrase = (_PREPOSITIONS - {"of"}) & {*map(str.casefold, (*frame.old, *frame.new))}
    is_unsure = _UNSURE & {*map(str.casefold, (*words[0][:1], *words[1][:1]))}
    if kinds[0] != kinds[1] or is_many or is_phrase or is_unsure:
        return None
    return frame._replace(kind=kinds[0], is_definite=bool(_DEFINITE.match(newer)), is_role=bool(_ROLE.match(newer)))


def _is_value(frame: _Frame) -> bool:
    """Returns whether what differs stands where a value does: behind the verb, or as who is the one that is something."""
    if not frame.before:
        return frame.kind == "name" and frame.is_role
    before = [word.casefold() for word in frame.before]
    if {*map(str.casefold, frame.after)} & _FINITE:
        return False
    # The number of a room or a release is part of its name, unless that is what runs now.
    if frame.kind == "number" and _is_numbered(frame, before):
        return any(root(word) in roots("run use") for word in before[-3:-1])
    if not _has_verb(frame.before):
        return False
    is_place = len(before) > 1 and before[-2] in _BE and before[-1] in _PREPOSITIONS
    return frame.kind != "word" or frame.is_definite or not is_place


def _is_numbered(frame: _Frame, before: Sequence[str]) -> bool:
    """Returns whether a number names what stands before it: order 12, customer number 4, but 12 orders, a limit of 4."""
    noun = before[-1]
    if len(before) == 1 or noun in _FINITE:
        return False
    if not frame.before[-1].islower():
        return True
    has_unit = bool(frame.after) and frame.after[0].casefold() not in _PREPOSITIONS
    return not (has_unit or noun in _PREPOSITIONS or noun in _ABOUT or noun.endswith(("ly", "s"))) and _has_verb(
        before[:-1]
    )


def _is_one_at_a_time(frame: _Frame, is_change: bool, measured: bool) -> bool:
    """Returns whether the place that differs is one for a value of which there is one at a time."""
    if not _is_value(frame):
        return False
    if not frame.before or frame.kind == "turned":
        return True
    before = [word.casefold() for word in frame.before]
    bare = [word for word in before if word not in _PREPOSITIONS]
    behind = before[-1] if before[-1] in _PREPOSITIONS else ""
    verb, is_being = root(bare[-1]) if bare else "", bare[-1:] != [] and bare[-1] in _BE
    if frame.kind == "number":
        return len(frame.old) == len(frame.new) == 1 and (is_change or not measured)
    if frame.kind == "date":
        return is_being or verb in word_class("happening") or (is_change and verb in _CURRENT)
    if is_being:
        return frame.is_definite and (frame.kind != "word" or (is_change and not behind))
    if _WANTED & {root(word) for word in before[1:3]}:
        return bool(frame.after) or verb not in _WANTED
    if verb in _NAMED:
        return True
    if not behind and before[0] in ("we", "i") and not frame.after:
        return False  # much else may be used beside it
    return verb in _CURRENT if is_change else verb in _SINGLE and behind in ("in", "at", "for", "to")


def _has_verb(words: Sequence[str]) -> bool:
    """Returns whether some words hold more than a subject, as far as their forms tell."""
    plain = [word.casefold() for word in words]
    if {*plain} & _FINITE or plain[-1] in _PREPOSITIONS or (plain[0] in ("we", "i", "you") and len(plain) > 1):
        return True
    return len(plain) > 1 and (plain[-1].endswith("s") or root(plain[-1]) in _CURRENT)


def _kind(words: Sequence[str]) -> str:
    """Returns what kind of value some words are: date, number, code, name or word."""
    text = " ".join(words)
    if any(mark in text for mark in "@/") or compiled(r"\w\.\w*[a-z]").search(text):
        return "code"
    if take_moments(text)[1]:
        return "date"
    if words[0][:1].isdigit() or words[0].casefold() in NUMBER_WORDS or words[0][:1] in "€$£":
        return "number"
    return "name" if words[-1][0].isupper() else "word"


def _find_set_value(older: str, newer: str, old: Claim, new: Claim) -> str:
    """Returns what differs when a number or a date was set to another one: ends in March, was extended to May."""
    subject = [word for word in newer.partition(" is now")[0].split() if word.casefold() not in _PASSED_OVER]
    if not _behind(_words(older), subject):
        return ""
    for ones, twos in ((old.moments, new.moments), (old.quantities, new.quantities)):
        if len(ones) == len(twos) == 1 and ones[0].text != twos[0].text:
            return f"{ones[0].text} against {twos[0].text}"
    return ""


@cache
def _changes() -> dict[str, _Change]:
    """Returns the verbs of change."""
    found: dict[str, _Change] = {}
    for verbs, to, states, at in _CHANGES:
        # What was changed before may be changed again.
        change = _Change(frozenset(to.split()), roots(f"{states} {verbs}"), frozenset(f"{at} {to}".split()))
        found |= {verb: change for verb in verbs.split()}
    return found


def _find_change(older: str, newer: str) -> str:
    """Returns what differs when the newer statement tells of a change from what the older says: lives in, moved to."""
    new = _timeless_words(newer)
    at = next((n for n, word in enumerate(new) if word.casefold() in _changes()), 0)
    subject = [word for word in new[:at] if word.casefold() not in _PASSED_OVER]
    is_sure = subject and subject[0].casefold() not in _UNSURE
    if not is_sure or not (rest := _behind(_timeless_words(older), subject)):
        return ""
    change = _changes()[new[at].casefold()]
    state = next((n for n, word in enumerate(rest) if root(word.casefold()) in change.states), -1)
    if state < 0 or any(word.casefold() not in _PASSED_OVER for word in rest[:state]):
        if "be" not in change.states or rest[0].casefold() not in _BE:
            return ""
        state = 0
    if change.to and not change.to & {word.casefold() for word in new[at + 1 : at + 2]}:
        return ""  # something else was moved there
    was, was_for = _split(rest[state + 1 :], change.at)
    now, now_for = _split(new[at + 1 :], change.to)
    same = [*map(str.casefold, was)] == [*map(str.casefold, now)]
    if not was or not now or was_for != now_for or same != (new[at].casefold() in _ENDS):
        return ""
    is_vague = subject[0].casefold() in ("we", "i") and root(rest[state].casefold()) in roots("use run") and not was_for
    if was[-1][0].isupper() != now[-1][0].isupper() or is_vague:
        return ""
    return f"{' '.join(was)} against {'its end' if same else ' '.join(now)}"


@lru_cache(maxsize=4096)
def _timeless_words(text: str) -> list[str]:
    """Returns the words of a statement, without when."""
    return _words(compiled(_AT_MOMENT).sub("", take_moments(text)[0]))


def _words(text: str) -> list[str]:
    """Returns the words of a statement."""
    return [word.rstrip(".,;:'") for word in compiled(r"[€$£]?[^\W_][^\s;()]*").findall(plain_text(text).rstrip(" .!"))]


def _behind(words: Sequence[str], subject: Sequence[str]) -> list[str]:
    """Returns the words behind a subject, or none when they are about something else."""
    left = [word.casefold() for word in subject]
    for n, word in enumerate(words):
        if not left:
            return [*words[n:]]
        if word.casefold() == left[0]:
            left.pop(0)
        elif word.casefold() not in _PASSED_OVER:
            return []
    return []


def _split(words: Sequence[str], leading: frozenset[str]) -> tuple[list[str], list[str]]:
    """Returns a value and what it is for, without the words that lead to it; no value when something else leads there."""
    rest = [word for word in words if word.casefold() not in ("a", "an", "the", "our", "my")]
    while rest and rest[0].casefold() in _PREPOSITIONS:
        if rest[0].casefold() not in leading:
            return [], []
        rest = rest[1:]
    end = next((n for n, word in enumerate(rest) if word.casefold() in _PREPOSITIONS), len(rest))
    return rest[:end], [word.casefold() for word in rest[end:]]
