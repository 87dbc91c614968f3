"""Finds secrets by the words around them: in sentences, columns of tables, lists of codes, phrases of a wallet."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from mabos_cli.core.language.secret_shapes import (
    KEY_NAMES,
    PASSWORDS,
    after,
    compiled,
    is_bearer,
    is_card,
    is_guess,
    is_key,
    is_password,
    is_place,
    is_random,
    is_strong,
)
from mabos_cli.core.language.seed_words import SEED_WORDS

Spans = Iterator[tuple[int, int, str]]  # where a secret starts and ends, and its kind

# Words that lead from the name of a secret to the secret.
_LINKS = frozenset(
    "is was are be to now just still it as use this following type enter remains equals from ist lautet auf war es est en era in è é a para com"
    " con jest je on är er este to".split()
)
# The names of secrets, by the letters at which they are looked for.
_NAMES = {
    "pass": r"(?P<password>passwor[dt]|passwd|passphrase|passcode|passord|(?<=mot de )passe|(?<=palavra-)passe"
    r"|(?:(?<=store)|(?<=key)|(?<=require))pass(?![a-z]))",
    "pw": r"(?P<password>(?:(?<=bind)|(?<=root))pw|(?<![a-z0-9_])pwd?(?![a-z]))",
    "psk": "(?P<password>psk)",
    "secret": "(?P<key>secret)",
    "key": rf"(?P<password>(?:(?<=wi-fi[ -])|(?<=wifi[ -])|(?<=wlan[ -]))key)|(?P<key>{after(KEY_NAMES)}key)"
    r"|(?P<token>(?<![a-z])(?<!public[ _-])key(?![a-z]))",
    "token": r"(?P<token>(?<!page)(?<!page[_ -])token)",
    "credential": "(?P<token>credential)",
    "pat": "(?P<token>(?<![a-z])pat(?![a-z]))",
    "wif": "(?P<token>(?<![a-z])wif(?![a-z]))",
    # Some languages add an ending: lösenordet.
    **{word: f"(?P<password>{word}[a-zäöåéí]{{0,3}})" for word in PASSWORDS},
}
# A name in code is no label: password_hash, token.go, secret(...), "password" in a list.
_LABEL_ENDS = r"(?:s|['’]s)?(?=[\s:=\"'`*),;-]|[.?!]?(?:\s|$)|[^\x00-\x7f])(?!-\w|:-|\\?[\"'`]\s*(?:[\w,)\]}]|$))"
_LABELS = {key: f"(?:{name}){_LABEL_ENDS}" for key, name in _NAMES.items()}
# A password has letters beside digits or signs, or letters of both cases in a row; keys are long.
_HINTS = {
    "password": r"[A-Za-z][0-9!@#$%^&*+=~_]|[0-9][A-Za-z]|[a-z][A-Z]|[a-z]-\d",
    "key": "[!-~]{10}",
    "token": "[!-~]{16}",
}
_OPENING, _CLOSING = "\"'`([{<", "\"'`)]}>,.;:"
_SIGNS = ":=>*-"
_REACH, _WORDS, _LONGEST = 120, 8, 2048
_STOP = r"[a-z][.?!](?:\s|$)|\||\n\s*\n\s*\n"
# What leads back from the name of a secret to the secret before it.
_BACK = (" as ", " is ", " was ", " still ", " als ", " como ", " comme ", " come ", " jako ", " som ", " - ", " (")
_BACK_LOOSELY = (" for ", " when ")


def find_in_sentences(text: str, lowered: str, keys: Iterable[str]) -> Spans:
    """Yields values that the words around them call a password, a key or a token.

    >>> list(find_in_sentences(*["please use sunset2017$x as the password"] * 2, ["pass"]))
    [(11, 23, 'password')]
    """
    for key, place in _places(lowered, keys):
        if match := compiled(_LABELS[key]).match(lowered, place):
            kind = match.lastgroup or ""
            found = _find_behind(text, match.end(), kind)
            before = lowered[max(0, place - _REACH // 2) : place]
            if not found and any(link in before for link in _BACK):
                found = _find_ahead(text, place, _BACK, _judges(kind)[0])
            if not found and kind == "password" and any(link in before for link in _BACK_LOOSELY):
                found = _find_ahead(text, place, _BACK_LOOSELY, is_strong)
            if found:
                yield *found, "secret" if kind == "key" else kind


def _judges(kind: str) -> tuple[Callable[[str], bool], Callable[[str], bool], Callable[[str], bool]]:
    """Returns how a value is judged that is linked to a label, that directly follows it, and that is only near it."""
    if kind == "password":
        return is_password, is_guess, is_strong
    return (is_key if kind == "key" else is_bearer), is_random, is_random


def _find_behind(text: str, place: int, kind: str) -> tuple[int, int] | None:
    """Finds the value behind a label, over a few words at most: `password for the router is X`, `the new key (X)`."""
    hints = compiled(_HINTS[kind])
    limit = _end_of_sentence(text, place)
    hint = hints.search(text, place, limit)
    while hint:
        start, end = _word_around(text, hint.start(), place)
        words = text[place:start].split()
        if start == place or len(words) > _WORDS or compiled(_STOP).search(text, place, start):
            return None
        if span := _judge_word(text, start, end, words, kind):
            return span
        hint = hints.search(text, end, limit)
    return None


def _end_of_sentence(text: str, place: int) -> int:
    """Returns how far a value may be from its label: on the same line, or on the next ones if it ends in a sign."""
    end = text.find("\n", place, place + _REACH)
    return end if end > place and text[end - 1] not in ":=*{ " else place + _REACH


def _word_around(text: str, place: int, first: int) -> tuple[int, int]:
    """Returns where the run of printable ASCII around a place starts, not before `first`, and where it ends."""
    start = place
    while start > first and "!" <= text[start - 1] <= "~":
        start -= 1
    match = compiled(f"[!-~]{{0,{_LONGEST}}}").match(text, place)
    return start, match.end() if match else place


def _judge_word(text: str, start: int, end: int, words: list[str], kind: str) -> tuple[int, int] | None:
    """Returns where the value in a word stands, if there is one, by the words that lead from a label to it."""
    linked, follows, near = _judges(kind)
    word = text[start:end]
    opening = len(word) - len(word.lstrip(_OPENING))
    value = word.strip(_OPENING + _CLOSING)
    link = words[-1].lower() if words else ""
    # A value in quotes or brackets is as good as linked.
    particle = len(link) == 1 and not link.isascii()  # as in Chinese and Japanese
    is_sign = link[-1:] in _SIGNS or link[:1] == "-" or link.isdigit()
    if (link and (particle or is_sign or link in _LINKS)) or (not words and opening):
        judge = linked
    else:
        judge = follows if words in ([], [","]) else near
    if value and judge(value) and not is_place(value):
        return start + opening, start + opening + len(value)
    return None


def _find_ahead(text: str, place: int, links: tuple[str, ...], judge: Callable[[str], bool]) -> tuple[int, int] | None:
    """Finds the value before a label in the same sentence: `use X as the password`, `is X still the right token`."""
    first = max(0, place - _REACH)
    first = max(first, text.rfind("\n", first, place) + 1)
    leads_back = compiled(f"(?:{'|'.join(map(re.escape, links))})[^.?!;]*$")
    for link in leads_back.finditer(text, first, place):
        start, end = _word_around(text, link.start() - 1, first)
        value = text[start:end].strip(_OPENING + _CLOSING)
        if value and judge(value) and not is_place(value):
            start += text[start:end].index(value)
            return start, start + len(value)
    return None


def _places(lowered: str, keys: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yields each of the keys with each place where it stands."""
    for key in keys:
        place = lowered.find(key)
        while place >= 0:
            yield key, place
            place = lowered.find(key, place + len(key))


def find_in_columns(text: str, lowered: str, keys: Iterable[str]) -> Spans:
    """Yields the cells of Markdown tables under a heading that calls them secret."""
    if "|" not in text or not compiled(r"(?m)^[\s|:-]*-[\s|:-]*$").search(text):
        return
    place = 0
    heads: list[bool] = []
    previous = ""
    for line in text.splitlines(keepends=True):
        if "|" not in line:
            heads = []
        elif re.fullmatch(r"[\s|:-]+", line) and "-" in line:
            heads = [_is_secret_heading(cell.strip(), keys) for cell in _cells(previous.lower())]
        elif any(heads):
            yield from _secret_cells(line, place, heads)
        previous = line
        place += len(line)


def _is_secret_heading(cell: str, keys: Iterable[str]) -> bool:
    return cell not in ("key", "keys") and len(cell) < 40 and any(compiled(_NAMES[key]).search(cell) for key in keys)


def _cells(line: str) -> list[str]:
    return line.strip().strip("|").split("|")


def _secret_cells(line: str, place: int, heads: list[bool]) -> Spans:
    """Yields the cells of a row that stand under a secret heading and look like a secret."""
    place += len(line) - len(line.lstrip())
    place += line.lstrip().startswith("|")
    for cell, secret in zip(_cells(line), heads, strict=False):
        value = cell.strip().strip("`*\"'")
        if secret and (is_password(value) or is_key(value)):
            start = place + cell.index(value)
            yield start, start + len(value), "password" if is_password(value) else "secret"
        place += len(cell) + 1


_DIGITS = r"\d(?<![\w.+-]\d)(?:\d{12,15}|\d{3}([ -])\d{4}\1\d{4}\1\d{4}|\d{3}[ -]\d{6}[ -]\d{4,5})(?![\w-]|\.\d)"
_CARDS = ("card", "karte", "carte", "tarjeta", "cart", "amex", "visa", "diners", "pan")


def find_cards(text: str, lowered: str, keys: Iterable[str]) -> Spans:
    """Yields the numbers of payment cards. Fewer than sixteen digits in a row need a word that says so."""
    for match in re.finditer(_DIGITS, text):
        written = match[1] or not match[0].isdigit() or len(match[0]) == 16
        around = lowered[max(0, match.start() - 40) : match.start()]
        if is_card(match[0]) and (written or any(word in around for word in _CARDS)):
            yield *match.span(), "card"


_CODES = r"(?:recovery|backup|emergency|scratch|rescue)[ -](?:codes?|keys?|tokens?)"


def find_codes(text: str, lowered: str, keys: Iterable[str]) -> Spans:
    """Yields the one-time codes that stand behind the words recovery codes, backup codes or the like."""
    for _, place in _places(lowered, keys):
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
_BETWEEN = "0123456789.,;:()|*\"'`[]"
_NO_WORD = bytes.maketrans(_BETWEEN.encode(), b" " * len(_BETWEEN))


def find_seed_phrases(text: str, lowered: str, keys: Iterable[str]) -> Spans:
    """Yields runs of twelve words or more, all from the list of which the recovery phrases of wallets are made."""
    words = lowered.encode("ascii", "replace").translate(_NO_WORD).split()
    spans: list[tuple[int, int]] = []
    place = _SEED_LENGTH - 1
    while place < len(words):
        first = place
        while first >= 0 and words[first] in SEED_WORDS:
            first -= 1
        if (
            place - first < _SEED_LENGTH
        ):  # no run of that length ends here, and none starts before the word that broke it
            place = first + _SEED_LENGTH
            continue
        while place + 1 < len(words) and words[place + 1] in SEED_WORDS:
            place += 1
        place += _SEED_LENGTH
        run = words[first + 1 : place - _SEED_LENGTH + 1]
        if len(set(run)) < 0.75 * len(run):  # a list of true and false
            continue
        spans = spans or [word.span() for word in re.finditer(rf"[^ \t\n\r\f\v{re.escape(_BETWEEN)}]+", lowered)]
        start = spans[first + 1][0]
        number = re.search(r"\d{1,2}[.):][ \t]?$", lowered[max(0, start - 5) : start])
        yield start - len(number[0]) if number else start, spans[first + len(run)][1], "seed_phrase"


class Finder(NamedTuple):
    """A way to find secrets that no pattern describes, for texts that hold one of its keys, if it has any."""

    keys: tuple[str, ...]
    kinds: tuple[str, ...]
    find: Callable[[str, str, Iterable[str]], Spans]  # the text, the same in lower case, the keys that it holds


FINDERS = (
    Finder(tuple(_NAMES), ("password", "secret", "token"), find_in_sentences),
    Finder(tuple(_NAMES), ("password", "secret"), find_in_columns),
    Finder(("recovery", "backup", "emergency", "scratch", "rescue"), ("recovery_code",), find_codes),
    Finder((), ("card",), find_cards),
    Finder((), ("seed_phrase",), find_seed_phrases),
)
