"""Finds secrets by the words around them: in sentences, columns of tables, lists of codes, phrases of a wallet."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from mabos_cli.core import read_data
from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.language.secret_shapes import (
    GRANTS,
    KEY_NAMES,
    KEYS,
    PASSWORDS,
    after,
    is_bearer,
    is_card,
    is_given,
    is_guess,
    is_key,
    is_password,
    is_place,
    is_random,
    is_secret,
    is_strong,
)
from mabos_cli.core.records import NamedTuple

Span = tuple[int, int, str]  # where a secret starts and ends, and its kind
Spans = Iterator[Span]

# Words that lead from the name of a secret to the secret.
_LINKS = frozenset(
    "is was are be to now just still it as use this following type enter remains equals from ist lautet auf war es est en"
    " c'est era in è é a para com con jest je on är er este to".split()
)
# The names of secrets, by the letters at which they are looked for. A `field` is one only where something is given to it.
NAMES = {
    "pass": r"(?P<password>pass[ _-]?(?:phrase|word|code)|passwort|passwd|passord|(?<=mot de )passe|(?<=palavra-)passe|(?<=require)pass)"
    r"|(?P<field>pass(?![a-z]))",
    "pw": r"(?P<password>(?:(?<=bind)|(?<=root))pw|(?<![a-z0-9_])pwd?(?![a-z]))|(?P<field>pwd?(?![a-z]))",
    "psk": "(?P<password>psk)",
    "mdp": r"(?P<password>\bmdp\b)",
    "identified": "(?P<password>identified(?: with [a-z_0-9]{1,40})?(?= (?:by|as) ))",
    "securestring": "(?P<password>securestring)",
    "secret": "(?P<secret>secret)",
    "key": rf"(?P<secret>{after(KEY_NAMES)}key)"
    r"|(?P<token>(?<![a-z])(?<!public[ _-])(?<!did:)key(?![a-z]))",
    "token": rf"(?P<secret>{after(GRANTS)}token)|(?P<token>(?<!page)(?<!page[_ -])(?<!next[_-])(?<!sync[_-])token)",
    "credential": "(?P<token>credential)",
    "auth": "(?P<token>(?<=_)auth(?![a-z_]))",
    "pat": "(?P<token>(?<![a-z])pat(?![a-z]))",
    "wif": "(?P<token>(?<![a-z])wif(?![a-z]))",
    # Some languages add an ending: lösenordet.
    **{word: f"(?P<password>{word}[a-zäöåéí]{{0,3}})" for word in PASSWORDS},
    **{word: f"(?P<token>{word})" for word in KEYS},
}
# What has a key that is a password, and what has one that may look like a hash.
_NEAR = r"\b(?:(?P<password>wi-?fi|wlan|ssid|network)|(?P<secret>(?:en|de)crypt\w*|cipher))\b"
# Where a field starts: dbpass, adminPass, smtp_pass, and not bypass or compass.
_FIELD = r"(?<![A-Za-z])|(?<=[a-z])[A-Z]|" + "|".join(f"(?<={word})" for word in "store key db user root".split())
_QUOTE = r"\\{0,3}[\"'`]"
# What may follow a name before its value, in .env files, YAML, JSON (also inside strings), XML, queries, tables and calls.
_TAIL = r"(?:[_-]?(?:access|key|base|value|string|prod(?:uction)?|dev|staging|live|test|primary|secondary|old|new|\d{1,3})){0,2}"
_IS = (
    rf"(?:(?:{_QUOTE}|\*\*)?\]?[ \t]{{0,8}}(?::[ \t]?[A-Za-z][\w\[\].| ]{{0,20}}?(?=[ \t]?=[^=]))?[ \t]?"
    rf"(?:={{1,3}}>?|:=?(?!/)|->|>|%3[ADad]|\\u003[adAD])(?:[ \t]|%2[027]){{0,8}}(?:\*\* |[\w.]{{1,60}} (?:\|\||\?\?|or) (?=[\"']))?"
    rf"|(?:{_QUOTE})?,?(?:\s|\\n){{1,24}}(?:{_QUOTE})?value(?:{_QUOTE})?[ \t]{{0,4}}[:=][ \t]{{0,4}}"
    rf"|{_QUOTE}(?:,[ \t]{{0,4}}|\)\.\w{{1,20}}\()(?=[\"'])|\([ \t]?(?=[\"'])|(?: by| as)?[ \t]{{1,4}}(?=[\"'])"
    r"|(?:\*\*)?[ \t]{0,12}\|[ \t]{1,12}|</\w{1,10}>\s{0,4}<\w{1,10}>)"
)
# A sign that may end a value does so before a space, a quote, another such sign or the next pair.
_NEXT = r"[\s;,&)}\]\"'`\\]|$|[\w. -]{1,30}[=:]"
_BARE = rf"(?:[^\s\"'`;,&)}}\]<>\\%]|%(?!2[0267C]|3[BE]|0[AD])|[;,&)}}\]](?!{_NEXT})|\\(?![nrt\"'\\u]))"
_VALUE = (
    r"(?:[bru]?\\{0,3}\"((?:[^\"\\\n]|\\(?![\"nrt\\])){4,2048}+)\\{0,3}\"|[bru]?'([^'\n]{4,2048}+)'|`([^`\n]{4,2048}+)`"
    rf"|(?:{_QUOTE})?({_BARE}{{4,2048}}+))"
)
_ASSIGNED = rf"(?i:{_TAIL}{_IS}){_VALUE}"
# No sign is needed after an option or a variable: --password VALUE, --db-password VALUE, ENV DB_PASSWORD VALUE.
_OPTION = "(?<=[A-Z]_)|" + "|".join(rf"(?<=[\s-]-[\w-]{{{length}}})" for length in range(16))
_OPTION_VALUE = rf"(?i:{_TAIL})[ \t]{{1,4}}{_VALUE}"
# A name in code is no label: password_hash, token.go, secret(...), "password" in a list.
_LABEL_ENDS = (
    r"(s?)[0-9]?(?:['’]s)?(?=[\s:=\"'`*),;-]|[.?!]?(?:\s|$)|[^\x00-\x7f])(?!-\w|:-|\\?[\"'`]\s*(?:[\w,)\]}]|$))"
)
# A secret has letters beside digits or signs, or letters of both cases in a row.
_HINT = r"[A-Za-z][0-9!@#$%^&*+=~_]|[0-9][A-Za-z]|[a-z][A-Z]|[a-z]-\d"
_OPENING, _CLOSING = "\"'`([{<", "\"'`)]}>,.;:"
_SIGNS = ":=>*-"
_REACH, _WORDS, _TRIES, _LONGEST, _HEADER = 120, 8, 6, 2048, 400
_STOP = r"[a-z][.?!](?:\s|$)|\||\n\s*\n\s*\n"
# What leads back from the name of a secret to the secret before it: words behind the secret, and words before it.
_BACK = r" (?:as|is|was|still|als|como|comme|come|jako|som|-) | \("
_BACK_LOOSELY = " (?:for|when|at) "
_ENTER = r"\b(?:use|using|enter|type|try|paste|with)$"


class _Judges(NamedTuple):
    """How a value is judged that is linked to a name, that directly follows it, and that is only near it."""

    linked: Callable[[str], bool]
    follows: Callable[[str], bool]
    near: Callable[[str], bool]


_JUDGES = {
    "password": _Judges(is_password, is_guess, is_strong),
    "field": _Judges(is_password, is_guess, is_strong),
    "secret": _Judges(is_secret, is_key, is_random),
    "token": _Judges(is_bearer, is_bearer, is_random),
}


def find_named(text: str, lowered: str, keys: Iterable[str]) -> Spans:
    """Yields values that are secret by the name that they are given to, or that the words around them give them.

    >>> list(find_named(*["please use sunset2017$x as the password"] * 2, ["pass"]))
    [(11, 23, 'password')]
    """
    for key in keys:
        label, done = compiled(NAMES[key]), 0
        for place in places_of(lowered, key):
            if place >= done and (name := label.match(lowered, place)):
                found, done = _find_of(name, text, lowered)
                yield from found


def _find_of(name: re.Match[str], text: str, lowered: str) -> tuple[list[Span], int]:
    """Returns the values of a name, and how far the text is done with."""
    kind = name.lastgroup or ""
    place, end = name.span()
    if kind == "field" and not compiled(_FIELD).match(text, place):
        return [], 0
    if lowered.startswith("key", place) and (
        near := compiled(_NEAR).search(lowered, max(0, place - _REACH // 3), place)
    ):
        kind = near.lastgroup or kind
    value = compiled(_ASSIGNED).match(text, end)
    if not value and compiled("[-_]").search(text, max(0, place - 16), place) and compiled(_OPTION).match(text, place):
        value = compiled(_OPTION_VALUE).match(text, end)
    span = value.span(value.lastindex or 0) if value else (end, end)
    # A secret of a certain kind may be a password: jwtSecret, SESSION_SECRET.
    joined = kind == "secret" and compiled(r"\w|(?<=\w)-").match(text, place - 1)
    judge = is_given if joined else _JUDGES[kind].linked
    if judge(text[slice(*span)]):
        return [(*span, "password" if kind == "field" else kind)], span[1]
    # What is long and no sentence is done with, or a long row of names would take forever.
    done = span[1] if span[1] - span[0] > _HEADER and " " not in text[slice(*span)] else 0
    if kind == "field" or not (close := compiled(_LABEL_ENDS).match(lowered, end)):
        return [], done
    found = list(_find_behind(text, close.end(), kind)) or ([] if close[1] else list(_find_ahead(text, place, kind)))
    if not found:
        found, below = _find_below(text, place)
        done = max(done, below)
    return [(*span, kind) for span in found], done


def _find_behind(text: str, place: int, kind: str) -> Iterator[tuple[int, int]]:
    """Yields the values behind a label, over a few words at most: `password for the router is X`, `the new key (X)`."""
    hints = compiled(_HINT)
    limit = _end_of_sentence(text, place)
    first = place
    for _ in range(_TRIES):
        hint = hints.search(text, place, limit)
        if not hint:
            return
        start, end = _word_around(text, hint.start(), place)
        words = text[first:start].split()
        if start == first or len(words) > _WORDS or compiled(_STOP).search(text, first, start):
            return
        place = end
        if span := _judge_word(text, start, end, words, kind):
            yield span
            if kind != "password":
                return
            first = end  # changed from X to Y


def _end_of_sentence(text: str, place: int) -> int:
    """Returns how far a value may be from its label: on the same line, or on the next ones if it ends in a sign."""
    end = text.find("\n", place, place + _REACH)
    return end if end >= place and text[end - 1] not in ":=*{ " else place + _REACH


def _word_around(text: str, place: int, first: int) -> tuple[int, int]:
    """Returns where the run of printable ASCII around a place starts, not before `first`, and where it ends."""
    start = place
    while start > first and "!" <= text[start - 1] <= "~":
        start -= 1
    match = compiled(f"[!-~]{{0,{_LONGEST}}}").match(text, place)
    return start, match.end() if match else place


def _judge_word(text: str, start: int, end: int, words: list[str], kind: str) -> tuple[int, int] | None:
    """Returns where the value in a word stands, if there is one, by the words that lead from a label to it."""
    judges = _JUDGES[kind]
    word = text[start:end]
    opening = len(word) - len(word.lstrip(_OPENING))
    value = word.strip(_OPENING + _CLOSING)
    if "**" in value:  # set in bold
        value = value.strip("*:")
    link = words[-1].lower() if words else ""
    # A value in quotes or brackets is as good as linked.
    particle = len(link) == 1 and not link.isascii()  # as in Chinese and Japanese
    is_sign = link[-1:] in _SIGNS or link[:1] == "-" or link.isdigit()
    if (link and (particle or is_sign or link in _LINKS)) or (not words and opening):
        judge = judges.linked
    else:
        # So is one that directly follows a label, or a password that ends the line, if it is no short name.
        ends = kind == "password" and not compiled(r"[^\n]{0,80}?[A-Za-z]").match(text, end)
        judge = judges.follows if words in ([], [","]) or ends else judges.near
    if value and judge(value) and not is_place(value):
        start += word.index(value)
        return start, start + len(value)
    return None


def _find_ahead(text: str, place: int, kind: str) -> Iterator[tuple[int, int]]:
    """Yields the value before a label in the same sentence: `use X as the password`, `is X still the right token`."""
    first = max(0, place - _REACH)
    first = max(first, text.rfind("\n", first, place) + 1)
    if not compiled(_HINT).search(text, first, place):
        return
    for link in compiled(f"({_BACK})|{_BACK_LOOSELY}").finditer(text, first, place):
        start, end = _word_around(text, link.start() - 1, first)
        value = text[start:end].strip(_OPENING + _CLOSING)
        entered = link[1] or compiled(_ENTER).search(text[first:start].rstrip().lower())
        judge = _JUDGES[kind].linked if entered else _JUDGES[kind].near
        if value and judge(value) and not is_place(value) and not compiled("[.?!;]").search(text, link.end(), place):
            start += text[start:end].index(value)
            yield start, start + len(value)
            return


def places_of(lowered: str, key: str) -> Iterator[int]:
    """Yields each place where a key stands."""
    place = lowered.find(key)
    while place >= 0:
        yield place
        place = lowered.find(key, place + len(key))


_RULE_ROW = r"[ \t|:-]*-[ \t|:-]*\n?"
_SEPARATED = r"[\w-]{1,30}([,;\t])[\w-]{1,30}(?:\1[\w-]{0,30})*"


def _find_below(text: str, place: int) -> tuple[list[tuple[int, int]], int]:
    """Returns the values in the column of a table, or of separated values, whose heading is a label, and where it ends."""
    found: list[tuple[int, int]] = []
    end = text.find("\n", place, place + _HEADER) + 1
    first = text.rfind("\n", max(0, place - _HEADER), place) + 1
    rows = compiled(r"[^\n]*\n|[^\n]+").finditer(text, end)
    if separated := compiled(_SEPARATED).fullmatch(text, first, max(first, end - 1)):
        sign = separated[1]
    elif text.find("|", first, end) >= 0 and (rule := next(rows, None)) and compiled(_RULE_ROW).fullmatch(rule[0]):
        sign = "|"
    else:
        return found, 0
    column = text.count(sign, first, place)
    for row in rows:
        cells = row[0].split(sign, column + 1)
        if len(cells) <= max(1, column) or compiled(_RULE_ROW).fullmatch(row[0]):
            break
        value = cells[column].strip().strip("`*\"'")
        end = row.end()
        if is_given(value):
            start = row.start() + len(sign.join((*cells[:column], ""))) + cells[column].index(value)
            found.append((start, start + len(value)))
    return found, end


_DIGITS = (
    r"[2-6](?<![\w.+-].)(?:[0-9]{12,15}|[0-9]{3}([ -])[0-9]{4}\1[0-9]{4}\1[0-9]{4}|[0-9]{3}[ -][0-9]{6}[ -][0-9]{4,5})"
    r"(?![\w-]|\.[0-9])"
)
_CARDS = ("card", "karte", "carte", "tarjeta", "cart", "amex", "visa", "diners", "pan")


def find_cards(text: str, lowered: str) -> Spans:
    """Yields the numbers of payment cards. Fewer than sixteen digits in a row need a word that says so."""
    for match in compiled(_DIGITS).finditer(text):
        written = match[1] or not match[0].isdigit() or len(match[0]) == 16
        around = lowered[max(0, match.start() - 40) : match.start()]
        if is_card(match[0]) and (written or any(word in around for word in _CARDS)):
            yield *match.span(), "card"


CODE_KEYS = ("recovery", "backup", "emergency", "scratch", "rescue")
_CODES = r"(?:recovery|backup|emergency|scratch|rescue)[ -](?:codes?|keys?|tokens?)"


def find_codes(text: str, lowered: str, keys: Iterable[str]) -> Spans:
    """Yields the one-time codes that stand behind the words recovery codes, backup codes or the like."""
    for place in (place for key in keys for place in places_of(lowered, key)):
        label = compiled(_CODES).match(lowered, place)
        if not label:
            continue
        first = last = -1
        done = label.end()
        for step, token in enumerate(compiled(r"[A-Za-z0-9:-]+").finditer(text, done, done + 400)):
            value = token[0].strip(":-")
            is_code = len(value) >= 4 and any(map(str.isdigit, value)) and not re.search(r"\d{4}-\d\d-\d\d", value)
            if not compiled(r"[\s,;.:*()#]{0,6}").fullmatch(text, done, token.start()) or step > 3 * _WORDS:
                break
            if is_code:
                first = token.start() if first < 0 else first
                last = token.start() + len(value)
            elif last >= 0 or step > _WORDS:
                break
            elif token[0].endswith(":") or value in _LINKS:
                first = token.end() + 1
            done = token.end()
        if last >= 0:
            yield first, last, "recovery_code"


_SEED_LENGTH = 12


@cache
def _seed_words() -> frozenset[bytes]:
    """Returns the words of which the recovery phrases of wallets are made (BIP-39)."""
    return frozenset(read_data("language/seed_words.txt").encode().split())


def find_seed_phrases(lowered: str, words: list[bytes]) -> Spans:
    """Yields runs of twelve words or more, all from the list of recovery phrases."""
    known = _seed_words() if len(words) >= _SEED_LENGTH else frozenset()
    spans: list[tuple[int, int]] = []
    place = _SEED_LENGTH - 1
    while place < len(words):
        first = place
        while first >= 0 and words[first] in known:
            first -= 1
        # No run of that length ends here, and none starts before the word that broke it.
        if place - first < _SEED_LENGTH:
            place = first + _SEED_LENGTH
            continue
        while place + 1 < len(words) and words[place + 1] in known:
            place += 1
        run = words[first + 1 : place + 1]
        place += _SEED_LENGTH
        if len(set(run)) < 0.75 * len(run):  # a list of true and false
            continue
        spans = spans or [word.span() for word in re.finditer("[a-z]+", lowered)]
        start = spans[first + 1][0]
        number = re.search(r"\d{1,2}[.):][ \t]?$", lowered[max(0, start - 5) : start])
        yield start - len(number[0]) if number else start, spans[first + len(run)][1], "seed_phrase"
