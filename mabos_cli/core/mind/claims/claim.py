"""Sentences read as claims: what they are about, whether they deny it, and their numbers, dates and names."""

import re
from datetime import date
from itertools import pairwise
from typing import NamedTuple

from mabos_cli.core.language.moments import Moment, take_moments
from mabos_cli.core.language.periods import MONTH, WEEKDAYS
from mabos_cli.core.language.quantities import Quantity, take_quantities
from mabos_cli.core.language.text import STOP_WORDS, stem
from mabos_cli.core.mind.claims.names import Name, find_names
from mabos_cli.core.mind.claims.opposites import opposites
from mabos_cli.core.mind.claims.over import CUES, find_over
from mabos_cli.core.mind.claims.wording import plain_text
from mabos_cli.core.mind.claims.words import (
    COPULAS,
    CURRENCIES,
    HEDGES,
    LIGHT,
    MODES,
    NEGATIONS,
    SILENT,
    SLOTS,
    irregular,
    join_phrases,
    root,
)

# A belief is a sentence or a few; what comes after so many characters or clauses is no longer compared.
_LONGEST = 2000
_CLAIMS = 12
_BREAK = (
    r"[.;!?](?=\s|$)|\n+|:\s|\s[-–—]\s|[()]"
    r"|,\s(?=(?:(?!and\b|or\b)\w+\s){1,3}(?:is|are|was|were|has|have|will|can|does|do|gets?)\b)"
    r"|,\s(?=(?:and|but|while|whereas|so|though|although|because|which|who|not|otherwise|as|since|they|we"
    r"|it|our|he|she|measured|only|when|with|without)\b)"
    r"|\sand (?=(?:the|our|its|their|we|they|it|he|she)\s(?:\w+\s){0,3}(?:is|are|was|were|has|have|will|does|do|goes)\b)"
    r"|,\s(?=(?:\w{3,}ed|bought|built|made|led|held|kept|paid|run) (?:by|in|on|at|with|from|for)\b)"
    r"|\s(?=(?:but|because|whereas|although|though|due to|thanks to|otherwise)\b)"
)
# What begins like this is a reason or an aside, and claims nothing of its own that another belief could deny.
_ASIDE = (
    r"(?:so|because|which|who|not|when|only|otherwise|as|since (?:we|it|they|the)\b|due to|thanks to|although"
    r"|though|with|without)\b"
)
# An hour without a word for it: the shop opens at 7.
_HOUR = (
    r"\b((?:open|clos|start|begin|end|leav|arriv|depart|meet|serv|finish)\w*(?: \w+){0,3} at \d{1,2})"
    r"(?=$|[.,;]| (?:and|on|in|every)\b)"
)
# Words before which a number belongs to a date, and to no name.
_DATED = rf"{MONTH}|Q[1-4]|FY|[Ww]eek|CW|KW|Spring|Summer|Easter|Christmas|(?:{'|'.join(WEEKDAYS)})s?"
_TOKEN = r"[\ue000-\uf8ff]|[^\W_][\w.+#/&'-]*"
_RELATIONS = dict(
    pair.split(":")
    for pair in (
        "before:before until:before after:after since:after during:during above:above beyond:above "
        "once:after below:below inside:inside outside:outside more:more less:less fewer:less"
    ).split()
)
# What is no longer what it was, or not at all.
_CHANGES = frozenset(
    "moved migrated switched transferred converted outsourced rebuilt rewritten renamed merged sold "
    "closed cancelled stopped dropped ended discontinued retired abolished removed terminated dissolved "
    "gone scrapped resigned withdrawn automated digitised digitized computerised computerized electrified privatised "
    "privatized centralised centralized consolidated shut demolished abandoned repealed overhauled shelved "
    "decommissioned disbanded handed passed rerouted relocated diverted".split()
)
_UNNEGATED = ("under", "uni", "unless", "until", "unto", "uncle", "unload", "unpack", "unveil")
_LABELS = frozenset(
    "phase stage step level tier sprint round series room floor version port ticket issue chapter section "
    "article milestone iteration wave batch invoice order line incident sku release rfc iso gate bay "
    "building slot ward switch gate track platform field barn greenhouse year grade class theatre house unit block "
    "zone district route bus train flight lot plot pen stall dock pier pump well reactor turbine server node rack "
    "shard cluster channel pool team group cohort form exhibit clause paragraph appendix act episode quest map "
    "world patch lab hall studio plant site warehouse store branch account project court chamber panel sector "
    "signal bridge tunnel hangar station lane terminal wing apartment flat option variant plan part volume".split()
)
FINITE = frozenset("is are was were has have had do does did will can must should".split())


class Claim(NamedTuple):
    """One clause. Terms are the roots of its words, with the words; names and values are not among them."""

    terms: dict[str, str]
    names: tuple[Name, ...] = ()
    quantities: tuple[tuple[Quantity, str], ...] = ()
    moments: tuple[tuple[Moment, int], ...] = ()
    negative: bool = False
    hedged: bool = False
    modes: frozenset[str] = frozenset()
    relations: frozenset[str] = frozenset()
    cues: frozenset[str] = frozenset()
    over: frozenset[str] = frozenset()
    change: str = ""
    words: tuple[str, ...] = ()
    first: str = ""


def subject_words(subject: str) -> list[str]:
    """The words of a subject that tell it from others; all words when there are only stop words."""
    found = re.findall(r"\w+", subject.casefold().replace("'s", ""))
    return [word for word in found if word not in STOP_WORDS] or found


def fold_subject(subject: str) -> str:
    """The words of a subject in one form and order, so that headings that say the same meet.

    >>> fold_subject("The Session Stores") == fold_subject("session store")
    True
    """
    return " ".join(sorted({stem(irregular().get(word, word)) for word in subject_words(subject)}))


def is_statement(heading: str) -> bool:
    """Whether a heading says something, rather than naming what its text is about.

    >>> is_statement("Trade fairs do not bring leads"), is_statement("Trade fairs")
    (True, False)
    """
    found = heading.casefold().replace("'", "").split()
    return len(found) > 2 and any(word in FINITE or word in NEGATIONS for word in found[1:])


def read_claims(text: str, now: date | None = None) -> tuple[Claim, ...]:
    """The clauses of a text, said on some day, as claims; clauses without content are left out."""
    plain = plain_text(text[:_LONGEST])
    parts = [part.strip(" ,") for part in re.split(_BREAK, plain)]
    kept = [part for n, part in enumerate(parts) if part and not (n and re.match(_ASIDE, part))]
    found = [_read(part, now) for part in kept[:_CLAIMS]]
    return tuple(claim for claim in found if claim.terms or claim.names or claim.quantities or claim.moments)


def _read(clause: str, now: date | None) -> Claim:
    """One clause as a claim."""
    clause = re.sub(r"(?<=\w)n't\b", "nt", join_phrases(clause))
    clause, moments = take_moments(re.sub(_HOUR, r"\1 o'clock", _labelled(clause)), now)
    clause, quantities = take_quantities(clause)
    tokens = [token.rstrip(".'-/&") for token in re.findall(_TOKEN, clause)]
    names = find_names(tokens)
    taken = {at for name in names for at in range(name.at, name.end)}
    words = tuple(token.casefold() for token in tokens)
    taken |= {at for at, word in enumerate(words) if word in moments or word in quantities}
    terms, negations = _read_terms(tokens, words, taken)
    timed, early = _bounded(words, moments, negations % 2 == 1)
    negations += early
    over = find_over(words, names) if negations % 2 == 0 else frozenset()
    return Claim(
        terms={term: word for term, word in terms.items() if term not in over},
        names=tuple(name for name in names if name.key not in over),
        quantities=tuple((quantities[t], _after(words, n)) for n, t in enumerate(words) if t in quantities),
        moments=timed,
        negative=negations % 2 == 1,
        hedged=any(word in HEDGES for word in words)
        or bool(re.search(r"\bmay (?:be|have|become)\b(?!\s+(?:[\ue000-\uf8ff]|\w+(?:ed|en|nt)\b))", clause)),
        modes=frozenset(MODES & {*words}),
        relations=_relations(words),
        cues=frozenset(CUES & {*words}),
        over=over,
        change=next((word for word in words if word in _CHANGES and words[0] != word), ""),
        words=words,
        first=_term(words[0])[1] if words and tokens[0][0].isupper() and 0 not in taken else "",
    )


def _read_terms(tokens: list[str], words: tuple[str, ...], taken: set[int]) -> tuple[dict[str, str], int]:
    """The roots of the words that no name or value has taken, with the words, and how often they deny something."""
    terms: dict[str, str] = {}
    negations = 0
    for at, token in enumerate(words):
        if at in taken:
            continue
        if token in NEGATIONS or token.replace("'", "") in NEGATIONS:
            negations += 1
            continue
        denied = token.startswith("non-") and not _is_attribute(words, at)
        negations += token.endswith("-free") + denied
        token = token.removeprefix("non-") if denied else token.replace("non-", "non")
        joined = re.sub(r"(?<=-\w\w)s$", "", token.removesuffix("-free"))
        for part in joined.split("-"):
            flip, term = _term(part)
            if flip and _is_attribute(words, at):
                # Unused vacation is another thing than used vacation, and nothing is denied about it.
                flip, term = False, root(part)
            negations += flip
            if term:
                terms.setdefault(term, tokens[at])
    return terms, negations


def _bounded(
    words: tuple[str, ...], moments: dict[str, Moment], negative: bool
) -> tuple[tuple[tuple[Moment, int], ...], bool]:
    """The points in time with where they stand, and whether a denial only says that one is not before them."""
    found, early = [], False
    for at, word in enumerate(words):
        if word not in moments:
            continue
        lead = [each for each in words[max(0, at - 4) : at] if each not in ("the", "end", "of", "start")][-1:]
        # Before Easter something will be; what was before Easter, in the first place, is another matter.
        bound = "max" if lead == ["by"] or (lead == ["before"] and at > 2) else ""
        denied = words[max(0, at - 2) : at] and words[max(0, at - 2)] in NEGATIONS
        if negative and lead and (lead[0] == "before" or (lead[0] == "until" and denied)):
            bound, early = "min", True
        found.append((moments[word]._replace(bound=bound), at))
    return tuple(found), early


def _labelled(clause: str) -> str:
    """The clause with numbers that belong to a name joined to it: Line 3, Python 3.9, phase 2."""

    def join(match: re.Match[str]) -> str:
        word, number, after = match[1], match[2], match[3]
        named = word[0].isupper() and word.casefold() not in SILENT and word.casefold() not in SLOTS
        if word.casefold() in CURRENCIES:
            return match.group()
        if number[-1].isalpha() and word.casefold() not in _LABELS:
            return match.group()
        if match.start() == 0 and after[:1].isalpha() and after not in SILENT:
            named = False
        return f"{word}_{number}" if word.casefold() in _LABELS or named else match.group()

    pattern = r"\b([A-Za-z][\w-]*) #?(\d+(?:\.\d+)*[a-f]?)\b(?![,:]\d|\s?[%°$€£]|-[a-z])(?=\s?(\w*))"
    clause = re.sub(
        r"\b([A-Za-z]{3,}) ([A-Z])\b(?!')",
        lambda m: f"{m[1]}_{m[2]}" if m[1].casefold() in _LABELS else m.group(),
        clause,
    )
    return re.sub(pattern, lambda m: m.group() if re.fullmatch(_DATED, m[1]) else join(m), clause)


def _is_attribute(words: tuple[str, ...], at: int) -> bool:
    """Whether a word stands before the noun that it tells more about."""
    after = words[at + 1 : at + 2]
    if not after or not after[0][:1].isalpha() or (words[at - 1 : at] and words[at - 1] in COPULAS):
        return False
    return after[0] not in SILENT and after[0] not in SLOTS and after[0] not in ("and", "or")


def _term(word: str) -> tuple[bool, str]:
    """Whether a word denies something, and the root of what it says; no root for words that say nothing."""
    word = word.replace("'", "")
    if word in SILENT or word in _RELATIONS or irregular().get(word) in LIGHT or len(word) < 2:
        return False, ""
    plain = root(word)
    if plain in opposites():
        return False, plain
    for prefix in ("un", "non"):
        rest = root(word.removeprefix(prefix))
        if word.startswith(prefix) and len(rest) >= 3 and not word.startswith(_UNNEGATED):
            return True, rest
    return False, plain


def _relations(words: tuple[str, ...]) -> frozenset[str]:
    """Before, after, above and the like, where they lead to words rather than to a point in time."""
    last = {_RELATIONS[x] for x in words[-1:] if x in ("more", "less", "fewer")}
    return last | frozenset(_RELATIONS[x] for x, y in pairwise(words) if x in _RELATIONS and y[0].isalpha())


def _after(words: tuple[str, ...], at: int) -> str:
    """The root of the thing counted: the next word with content, if it follows closely."""
    for word in words[at + 1 : at + 4]:
        if word in STOP_WORDS or not word[:1].isalpha():
            return ""
        if word in ("people", "person", "persons"):
            return ""
        if word not in SILENT:
            return root(word)
    return ""
