"""Sentences read as claims: what they are about, whether they deny it, and their numbers, dates and names."""

import re
from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from itertools import groupby, pairwise

from mabos_cli.core.language.moments import Moment, take_moments
from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.language.periods import MONTH, WEEKDAYS
from mabos_cli.core.language.quantities import Quantity, take_frequencies, take_quantities
from mabos_cli.core.language.text import STOP_WORDS, stem
from mabos_cli.core.mind.claims.words import irregular, join_phrases, opposites, root
from mabos_cli.core.records import NamedTuple

# A belief is a sentence or a few; what comes after so many characters or clauses is no longer compared.
_LONGEST = 2000
_CLAIMS = 12
_BREAK = (
    r"[.;!?](?=\s|$)|\n+|:\s|\s[-–—]\s|[()]"
    r"|,\s(?=(?:(?!and\b|or\b)\w+\s){1,3}(?:is|are|was|were|has|have|will|can|does|do|gets?)\b)"
    r"|,\s(?=(?:and|but|while|whereas|so|though|although|because|which|who|not|otherwise|as|since|they|we"
    r"|it|our|he|she|measured|only|when|with|without)\b)"
    r"|,\s(?=(?:\w{3,}ed|bought|built|made|led|held|kept|paid|run) (?:by|in|on|at|with|from|for)\b)"
    r"|\s(?=(?:but|because|whereas|although|though|due to|thanks to|otherwise)\b)"
    r"|\s(?=and (?:is|are|was|were|has|have|had|will|can|does|do|did)\b)"
    # Who says so is no part of it.
    r"|,\s(?=(?:\w+ ){1,4}(?:insist|confirm|report|said|say|told|wrote|write|think)(?:s|ed)?\b[^,]*$)"
)
# What begins like this is a reason or an aside, and claims nothing of its own that another belief could deny.
_ASIDE = (
    r"(?:so|because|which|who|not|when|only|otherwise|as|since (?:we|it|they|the)\b|due to|thanks to|although"
    r"|though|with|without)\b"
)
# When somebody wrote it down is no part of it.
_NOTED = r"(?i)\b(?:added|created|recorded|updated|noted|(?:last )?(?:reviewed|updated|checked)):? \d{4}-\d\d-\d\d\b"
_ABBREVIATED = r"\b(Mr|Ms|Mrs|Dr|St|vs|No|Inc|Ltd|Co|approx|ca|e\.g|i\.e)\."
# A cell of a table gives the value first and then, behind a comma, what else there is to say about it.
_CELL = r"^((?:[a-z\d€$£][^\s,;:.]*)(?: [^\s,;:.]+){0,4}),(?= )(?! (?:and|or)\b)"
# A label and its value: what the label names is so much, and another label is about something else.
_LABEL = r"^(?!(?:Note|Update|Updated|Decision|Important|Warning|Info|Now|Today|Correction|Reminder|Fact)\b)"
_LABEL += r"([^\W\d_][\w'-]*(?: [\w'-]+){0,5}): (?=(?:\S*[^\s,;.:] ){0,3}\S*[^\s,;.:](?:[.,;]?$|[.,;]\s))"
# Where or when it holds belongs to what holds, if it comes first.
_LEAD = r"^((?:On|In|At|For|With|Under|During|Among|Within|Between|From|Since|Until|(?:Even )?(?:[Aa]fter|[Bb]efore))"
_LEAD += r"(?: [^\s,.;]+){1,4}), "
# What must occur in a text for the pattern to be tried, the pattern, and what to write instead.
_FORMS = (
    ("than before", r"\b(?:fewer|less) ((?:[a-z]+ ){1,3})than before\b", r"declining \1"),
    ("than before", r"\bmore ((?:[a-z]+ ){1,3})than before\b", r"growing \1"),
    # What has been replaced is over; what replaced it is something else to say.
    (" replaced ", r"\b((?:is|are|was|were|been) replaced) (?:by|with) (?=(?:an? |the |our )?[a-z])", r"\1 retired; "),
    ("-free", r"\b([a-z]+)-free\b", r"without \1"),
    (" now that ", r" now that ", " now; "),
    # A condition belongs to what it conditions.
    (",", r"\b((?:[Ii]f|[Ww]hen|[Ww]henever|[Uu]nless|[Ww]hile|[Aa]s soon as) [^,.;]*),", r"\1"),
)
# Words before which a number belongs to a date, and to no name.
_DATED = rf"{MONTH}|Q[1-4]|FY|[Ww]eek|CW|KW|Spring|Summer|Easter|Christmas|(?:{'|'.join(WEEKDAYS)})s?"
_NUMBERED = r"\b([A-Z][\w-]*) #?(\d+(?:\.\d+)*[a-f]?)\b(?![,:]\d|\s?[%°$€£]|-[a-z])"
_TOKEN = r"[\ue000-\uf8ff]|[^\W_][\w.+#/&'-]*"
_RELATIONS = {word: word for word in "before after during above below inside outside more less".split()}
_RELATIONS |= {"until": "before", "since": "after", "once": "after", "beyond": "above", "fewer": "less"}
# What is no longer what it was, or not at all.
_CHANGES = frozenset(
    "moved migrated switched transferred converted outsourced rebuilt rewritten renamed merged sold closed cancelled "
    "stopped dropped ended discontinued retired abolished removed terminated dissolved gone scrapped resigned withdrawn "
    "automated digitised digitized privatised privatized centralised centralized consolidated shut demolished abandoned "
    "repealed overhauled shelved decommissioned disbanded rerouted relocated diverted".split()
)
# Words by which a claim says that something is over, or that it is new.
_CUES = frozenset(
    "nolonger anylonger stopped abolished discontinued retired replaced formerly left lost now nowadays migrated moved "
    "switched changed rewritten since new renamed added converted transferred became instead rebuilt cancelled dropped".split()
)
_UNNEGATED = ("under", "uni", "unless", "until", "unto", "uncle", "unload", "unpack", "unveil", "unlock")
_ARTICLES = frozenset("the a an our my its their his her your this that new only own".split())
_CURRENCIES = frozenset("eur usd gbp chf jpy sek nok dkk pln euro euros dollar dollars pounds".split())
# Words without a claim of their own: a sentence says the same with and without them.
_LIGHT = frozenset(
    "currently now nowadays today still already really quite typically usually generally overall actually basically "
    "officially simply exactly mostly mainly largely especially recently finally once own available have has had "
    "having be been being is are was were do does did done get gets got will shall would can could may must should "
    "going go goes went become becomes became remain remains seem seems there here come comes came also too ever even "
    "yet give gives again ago much many several various per each every any all both total roughly about approximately "
    "around circa nearly almost least most than up true yes ok left via using by-hand move moved switch switched "
    "change changed replace replaced part whole one ones thing things way kind sort case rate level amount number "
    "value".split()
)
# Words that say nothing in a claim.
_SILENT = (
    STOP_WORDS | _LIGHT | {"us", "let", "s", "t", "re", "ll", "ve", "d", "m", "anylonger", "among", "upon", "towards"}
)
_SILENT |= {f"{first}{second}" for first in ("every", "any", "some") for second in ("one", "body", "thing")}
# Words that lead to a name or a value.
_SLOTS = frozenset("by with through via under to from using on as in at within for into onto across over of".split())
_COPULAS = frozenset("is are was were be been being becomes became remains equals = called named".split())
NEGATIONS = frozenset(
    "nicht kein keine keinen keiner keinem nie niemals not no never none cannot without nobody nothing neither nor "
    "nowhere nolonger lack lacks lacking refuses refuse refused refusing isnt arent wasnt werent dont doesnt didnt "
    "cant couldnt wont wouldnt shouldnt hasnt havent hadnt mustnt false untrue formerly".split()
)
HEDGES = frozenset(
    "might perhaps maybe possibly probably potentially could seems appears rumoured rumored unclear unsure "
    "unconfirmed tentatively tentative considering consider evaluating evaluate exploring explore discussing "
    "sometimes occasionally likely unlikely suppose supposedly reportedly allegedly whether guess think some several "
    "other another".split()
)
_MODES = frozenset(
    "if unless when whenever assuming provided depending plan plans planned want wants wanted should hope hopes aim "
    "aims target targets propose proposed would many ideally originally initially previously past intend intends goal".split()
)
FINITE = frozenset("is are was were has have had do does did will can must should".split())


class Name(NamedTuple):
    """A proper name, a code word, or whatever else stands where one would, with the word that leads to it."""

    key: str
    text: str
    slot: str = ""
    head: str = ""
    at: int = 0
    end: int = 0


class Claim(NamedTuple):
    """One clause. Terms are the roots of its words, with the words; names and values are not among them."""

    terms: dict[str, str]
    names: tuple[Name, ...] = ()
    quantities: tuple[Quantity, ...] = ()
    moments: tuple[Moment, ...] = ()
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
    """Returns the words of a subject that tell it from others; all words when there are only stop words."""
    found = re.findall(r"\w+", subject.casefold().replace("'s", ""))
    return [word for word in found if word not in STOP_WORDS] or found


def fold_subject(subject: str) -> str:
    """Returns the words of a subject in one form and order, so that headings that say the same meet.

    >>> fold_subject("The Session Stores") == fold_subject("session store")
    True
    """
    return " ".join(sorted({stem(irregular().get(word, word)) for word in subject_words(subject)}))


def is_statement(heading: str) -> bool:
    """Returns whether a heading says something, rather than naming what its text is about.

    >>> is_statement("Trade fairs do not bring leads"), is_statement("Trade fairs")
    (True, False)
    """
    found = heading.casefold().replace("'", "").split()
    return len(found) > 2 and any(word in FINITE or word in NEGATIONS for word in found[1:])


@lru_cache(maxsize=4096)  # a statement of a change is compared with several others, and those with several changes
def read_claims(text: str, now: date | None = None) -> tuple[Claim, ...]:
    """Returns the clauses of a text, said on some day, as claims; clauses without content are left out."""
    parts = [part.strip(" ,") for part in compiled(_BREAK).split(plain_text(text[:_LONGEST]))]
    kept = [part for n, part in enumerate(parts) if part and not (n and compiled(_ASIDE).match(part))]
    found = [_read_claim(part, now) for part in kept[:_CLAIMS]]
    return tuple(claim for claim in found if claim.terms or claim.names or claim.quantities or claim.moments)


def plain_text(text: str) -> str:
    """Returns the text without marks that say nothing, and with one form for what can be written in several.

    >>> plain_text("Scones: 12 minutes.")
    'Scones is 12 minutes.'
    """
    plain = compiled(_NOTED).sub("", text) if ":" in text else text
    plain = compiled(r"[\ue000-\uf8ff*`\"“”_]").sub(" ", plain)
    plain = "\n".join(" ".join(line.split()) for line in plain.replace("\u2019", "'").strip().split("\n"))
    if "'s" in plain:
        plain = compiled(r"'s(?=[\s.,;:!?)]|$)").sub("", plain)
    if "." in plain:
        plain = compiled(_ABBREVIATED).sub(r"\1", plain)
    for sign, pattern, form in _FORMS:
        if sign in plain:
            plain = compiled(pattern).sub(form, plain)
    if ", " in plain:
        plain = compiled(_CELL).sub(r"\1;", compiled(_LEAD).sub(r"\1 ", plain))
    return compiled(_LABEL).sub(r"\1 is ", plain) if ": " in plain else plain


def _read_claim(clause: str, now: date | None) -> Claim:
    """Returns one clause as a claim."""
    clause = compiled(r"(?i)(?<=\w)n't\b").sub("nt", join_phrases(clause))
    clause = compiled(_NUMBERED).sub(_join_number, clause)
    clause, rates = take_frequencies(clause)
    clause, moments = take_moments(clause, now)
    clause, quantities = take_quantities(clause)
    quantities |= rates
    tokens = [token.rstrip(".'-/&") for token in compiled(_TOKEN).findall(clause)]
    words = tuple(token.casefold() for token in tokens)
    names = _find_names(tokens)
    taken = {at for name in names for at in range(name.at, name.end)}
    taken |= {at for at, word in enumerate(words) if word in moments or word in quantities}
    terms, negations = _read_terms(tokens, words, taken)
    timed = [moments[word]._replace(at=at) for at, word in enumerate(words) if word in moments]
    if negations % 2 and any(words[moment.at - 1] == "before" for moment in timed if moment.at):
        # It only says that something is not before then.
        timed = [moment._replace(is_earliest=True) for moment in timed]
        negations += 1
    over = _find_over(words, names) if negations % 2 == 0 else frozenset[str]()
    return Claim(
        terms={term: word for term, word in terms.items() if term not in over},
        names=tuple(name for name in names if name.key not in over),
        quantities=tuple(quantities[word] for word in words if word in quantities),
        moments=tuple(timed),
        negative=negations % 2 == 1,
        hedged=any(word in HEDGES for word in words),
        modes=frozenset(_MODES & {*words}),
        relations=frozenset(_RELATIONS[x] for x, y in pairwise(words) if x in _RELATIONS and y[0].isalpha()),
        cues=frozenset(_CUES & {*words}),
        over=over,
        change=next((word for word in words if word in _CHANGES and words[0] != word), ""),
        words=words,
        first=_read_term(words[0])[1] if words and tokens[0][0].isupper() and 0 not in taken else "",
    )


def _join_number(match: re.Match[str]) -> str:
    """Returns a number that belongs to a name joined to it: Line 3, Python 3.9."""
    word = match[1].casefold()
    apart = (
        word in _SILENT
        or word in _SLOTS
        or word in _RELATIONS
        or word in _CURRENCIES
        or compiled(_DATED).fullmatch(match[1])
    )
    return match.group() if apart else f"{match[1]}_{match[2]}"


def _read_terms(tokens: list[str], words: tuple[str, ...], taken: set[int]) -> tuple[dict[str, str], int]:
    """Returns the roots of the words that no name or value has taken, with the words, and how often they deny something."""
    terms: dict[str, str] = {}
    negations = 0
    for at, token in enumerate(words):
        if at in taken:
            continue
        if token.replace("'", "") in NEGATIONS and (len(words) > 1 or not token.startswith("refuse")):
            negations += 1
            continue
        for part in compiled(r"(?<=-\w\w)s$").sub("", token.replace("non-", "non")).split("-"):
            is_denied, term = _read_term(part)
            negations += is_denied
            if term:
                terms.setdefault(term, tokens[at])
    return terms, negations


def _read_term(word: str) -> tuple[bool, str]:
    """Returns whether a word denies something, and the root of what it says; no root for words that say nothing."""
    word = word.replace("'", "")
    if word in _SILENT or word in _RELATIONS or irregular().get(word) in _LIGHT or len(word) < 2:
        return False, ""
    plain = root(word)
    if plain in opposites():
        return False, plain
    for prefix in ("un", "non"):
        rest = root(word.removeprefix(prefix))
        if word.startswith(prefix) and len(rest) >= 3 and not word.startswith(_UNNEGATED):
            return True, rest
    return False, plain


def _find_names(tokens: list[str]) -> list[Name]:
    """Returns the names of a clause, with neighbours that belong together joined."""
    marked = [_is_name(token) for token in tokens]
    if marked[:1] == [True] and not _is_code(tokens[0]) and marked[1:2] != [True]:
        # A sentence begins with a capital anyway.
        marked[0] = False
    found: list[Name] = []
    for is_named, group in groupby(range(len(tokens)), key=marked.__getitem__):
        places = [*group]
        if is_named:
            at, end = places[0], places[-1] + 1
            text = " ".join(tokens[at:end]).replace("_", " ")
            slot, head = _find_slot([token.casefold() for token in tokens[:at]])
            found.append(Name(text.casefold(), text, slot, head, at, end))
    return found


def _is_name(token: str) -> bool:
    word = token.casefold()
    if not word[:1].isalpha() or word in NEGATIONS or (word in _SILENT and token not in ("US", "Go")):
        return False
    return _is_code(token) or token[0].isupper()


def _is_code(token: str) -> bool:
    """Returns whether a word is a name wherever it stands: PostgreSQL, S3, Line_3."""
    return any(c.isdigit() or c == "_" for c in token) or any(c.isupper() for c in token[1:])


def _find_slot(before: Sequence[str]) -> tuple[str, str]:
    """Returns how a name is led up to (the preposition, be, object or first), and the word before that."""
    left = [word for word in before if word not in _ARTICLES]
    if not left:
        return "first", ""
    if left[-1] in _SLOTS:
        return left[-1], left[-2] if left[1:] else ""
    return ("be", "") if left[-1] in _COPULAS else ("object", left[-1])


def _find_over(words: tuple[str, ...], names: list[Name]) -> frozenset[str]:
    """Returns what a clause says is over: instead of X, from X to Y, replaced X, X replaced by Y, cancelled X."""
    over = {name.key for name in names if name.slot == "object" and name.head in _CHANGES | {"left", "lost"}}
    for at in (n for n, pair in enumerate(pairwise(words)) if pair == ("instead", "of")):
        over |= {name.key for name in names if at + 2 <= name.at <= at + 3}
        over |= {root(word) for word in words[at + 2 : at + 4] if word not in _SILENT}
    if "replaced" in words:
        at = words.index("replaced")
        passive = "by" in words[at + 1 : at + 3]
        over |= {name.key for name in names if (name.at < at if passive else name.at > at and name.slot != "with")}
    if "from" in words and "to" in words[words.index("from") :] and _CUES & {*words}:
        at = words.index("from")
        over |= {name.key for name in names if name.slot == "from"} or {_read_phrase(words[at + 1 :])}
    return frozenset(over)


def _read_phrase(words: Sequence[str]) -> str:
    """Returns the roots of the things that come first, up to a word that leads to something else."""
    end = next((n for n, word in enumerate(words) if word in _SLOTS), len(words))
    return " ".join(root(word) for word in words[:end] if word not in _SILENT)
