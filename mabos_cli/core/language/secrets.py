"""Secrets in text: keys, tokens and passwords that must not be remembered. Found by rules, replaced by markers.

The rules are in secret_rules.txt, which also says how to write one.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from mabos_cli.core import read_data
from mabos_cli.core.language import secret_context, secret_shapes
from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.records import NamedTuple

Match = tuple[int, int, int, str]  # where a secret starts and ends, the rank of its rule, its kind
_BLOCK = 16_384  # characters of a private key, at most; the longest in use have about 13,000
_SPACE = "(?:[ +]|%20)"
_BEGIN = rf"-----BEGIN{_SPACE}(?:(?:[A-Z0-9]{{1,12}}{_SPACE}){{0,3}}PRIVATE{_SPACE}KEY(?:{_SPACE}BLOCK)?|OpenVPN Static key V1)-----"
# Lines of a key whose end is missing, with what wraps them in JSON, code, diffs and quotes.
_LINES = (
    r"(?:(?:[\s\"'`+,>|#*]|\\+[nr])*+"
    r"(?:[A-Za-z0-9+/]{16,}+={0,2}|[A-Za-z0-9+/]{1,15}+={1,2}|(?:Proc-Type|DEK-Info|Version|Comment|Hash): ?[^\n\\]{0,80}))*+"
)
_REST, _WORD_END = r"(?:[\w-]|[.%%$:+/=](?=[\w-])){%s,}={0,2}", r"(?![A-Za-z0-9])"

_MARKS = ("exact", "anywhere")


class Rule(NamedTuple):
    """One way to find secrets of a kind. The secret is the group of the pattern that matched, or else all of it."""

    kind: str
    keys: tuple[str, ...]  # in lower case; the pattern starts at one of them
    pattern: str
    judge: Callable[[str], bool]
    anywhere: bool  # the pattern may start elsewhere; the text only has to hold a key


def _read_rules(lines: list[str]) -> Iterator[Rule]:
    """Yields the rules of some lines, in their order."""
    names: dict[str, str] = {}
    kind, marks, keys, pattern = "", [""], dict.fromkeys([""]), ""
    for line in [*lines, "end"]:
        for name, value in names.items() if "<" in line else ():
            line = line.replace(f"<{name}>", value)
        if line[:1] == " ":
            pattern += line[4:]
            continue
        if pattern:
            judge = next((mark for mark in marks if mark not in _MARKS), "is_token")
            pattern = f"(?:{pattern}){_WORD_END}" if "exact" in marks else pattern
            yield Rule(kind, tuple(filter(None, keys)), pattern, getattr(secret_shapes, judge), "anywhere" in marks)
            pattern = ""
        name, equals, value = line.partition(" = ")
        if equals:
            names[name] = value
        elif line and line[0] != "#":
            (kind, *marks), keys, pattern = _read_head(line)


def _read_head(line: str) -> tuple[list[str], dict[str, None], str]:
    """Returns kind and marks of a rule, its keys, and its pattern if that is made of beginnings and a length."""
    head, plus, starts = line.partition("+ ")
    if plus and "|" not in head:
        *words, length = head.split()
        begins = starts.split()
        pattern = f"(?:{'|'.join(map(re.escape, begins))}){_REST % length}"
        return words, dict.fromkeys(begin.lower() for begin in begins), pattern
    head, *keys = line.split("|")
    return head.split(), dict.fromkeys(keys), ""


_tokens, _named = (part.split("\n") for part in read_data("language/secret_rules.txt").split("\n---\n"))
# Each key of a token is the beginning of it; the last rule is for those of any vendor. The others go by what stands around a secret.
TOKENS = tuple(_read_rules(_tokens))
RULES = tuple(_read_rules(_named))
ISSUED = len(TOKENS) - 1
_ALL = (*TOKENS, *RULES)
KINDS = frozenset("private_key password secret token recovery_code card seed_phrase".split()).union(
    r.kind for r in _ALL
)
# Where tokens may start: in a long run, after anything but a letter or digit, or after one that ends an escape: \n, %3D,
# \u003d, ESC[32m.
_RUN = r"[a-z0-9_$./+%:=~-]{20,}+"
_PLAIN_RUN = "[0-9a-f./_:=-]+"  # a hash or a number
_LONG = r"[_-][a-z0-9]{32}|\.[\w-]{25}"  # what tokens of any vendor have
_HEAD = r"(?:%[0-9a-f]{2}|\\(?:u[0-9a-f]{4}|[bfnrt])|[\[;][0-9]{1,2}m|[^a-z0-9])([a-z0-9][a-z0-9/])"
_LETTERS = bytes(code if chr(code).isalpha() and code < 128 else 32 for code in range(256))
_KEYS: dict[str, list[int]] = {key: [] for key in (*secret_context.NAMES, *secret_context.CODE_KEYS)}
for _rank, _rule in enumerate(RULES, len(TOKENS)):
    for _key in _rule.keys:
        _KEYS.setdefault(_key, []).append(_rank)


_TOKEN_HEADS: dict[str, list[int]] = {}
for _rank, _rule in enumerate(TOKENS):
    for _head in {key[:2] for key in _rule.keys}:
        _TOKEN_HEADS.setdefault(_head, []).append(_rank)
# Soft hyphens, joiners, marks of direction and the like: nothing that a reader would see.
_HIDDEN = r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
_WIDE = {**{0xFF01 + place: 0x21 + place for place in range(94)}, 0x3000: 0x20, 0xA0: 0x20, 0x202F: 0x20}
_WIDE_FORMS, _OTHER_LETTERS = "[\uff01-\uff5e\u3000\xa0\u202f]", "[\u0370-\u052f]"
# Cyrillic and Greek letters that are drawn like Latin ones.
_LOOKALIKES = str.maketrans(
    "авеһіјкмнорстухѕԁԛԝгАВЕЗНІЈКМОРСТУХЅԚԜαβγεηικνορτυχωΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "abehijkmhopctyxsdqwrABE3HIJKMOPCTYXSQWaByenikvoptuxwABEZHIKMNOPTYX",
)
# A word of Latin letters and others.
_MIXED = r"\b(?:[A-Za-z]+[^\W\x00-\x7f]|[^\W\x00-\x7f]+[A-Za-z])\w*"
_MARKER = r"\[redacted:[a-z0-9_-]{1,40}\]"


class Secret(NamedTuple):
    """Where a secret stands in a text, and what kind it is. It does not hold the secret."""

    kind: str
    start: int
    end: int


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Returns the secrets in a text, in order, none overlapping another. What was redacted before is none.

    >>> find_secrets("export DB_PASSWORD=hunter2x")
    (Secret(kind='password', start=19, end=27),)
    """
    # Line breaks in their place keep markers out of every value, and every place where it is.
    plain = re.sub(_MARKER, lambda marker: "\n" * len(marker[0]), text) if "[redacted:" in text else text
    if plain.isascii():
        return tuple(_find(plain))
    plain, places = _normalize(plain)
    return tuple(Secret(kind, places[start], places[end - 1] + 1) for kind, start, end in _find(plain))


def _find(text: str) -> Iterator[Secret]:
    """Yields the secrets in a text without hidden or disguised characters."""
    # The one letter that becomes two in lower case would shift what follows.
    lowered = text.replace("\u0130", "i").lower()
    spaced = lowered.replace("\\n", "  ")
    words = spaced.encode("ascii", "replace").translate(_LETTERS).split()
    held = [key for key in _KEYS if key in lowered]
    found = [(start, end, -1, "private_key") for start, end in _private_keys(text)] if "-----begin" in lowered else []
    _match_at(_token_starts(lowered), text, found)
    for key in held:
        if ranks := [rank for rank in _KEYS[key] if not _ALL[rank].anywhere]:
            _match_at(((place, ranks) for place in secret_context.places_of(lowered, key)), text, found)
    for rank in {rank for key in held for rank in _KEYS[key] if _ALL[rank].anywhere}:
        spans = (match.span(match.lastindex or 0) for match in compiled(_ALL[rank].pattern).finditer(text))
        found += [(*span, rank, _ALL[rank].kind) for span in spans if _ALL[rank].judge(text[slice(*span)])]
    for start, end, kind in (
        *secret_context.find_named(text, lowered, [key for key in held if key in secret_context.NAMES]),
        *secret_context.find_codes(text, lowered, [key for key in held if key in secret_context.CODE_KEYS]),
        *secret_context.find_cards(text, lowered),
        *secret_context.find_seed_phrases(spaced, words),
    ):
        found.append((start, end, len(_ALL), kind))
    return _merged(found)


def _token_starts(lowered: str) -> Iterator[tuple[int, list[int]]]:
    """Yields the places where tokens may start, with the rules for such. Most texts have no run that is long enough."""
    for run in compiled(_RUN).finditer(lowered):
        if compiled(_PLAIN_RUN).fullmatch(run[0]):
            continue
        issued = [ISSUED] if compiled(_LONG).search(run[0]) else []
        heads = [head.start(1) for head in compiled(_HEAD).finditer(lowered, max(0, run.start() - 1), run.end())]
        for place in heads if run.start() else (0, *heads):
            if ranks := _TOKEN_HEADS.get(lowered[place : place + 2], []) + issued:
                yield place, ranks


def _match_at(starts: Iterable[tuple[int, list[int]]], text: str, found: list[Match]) -> None:
    """Adds what rules find that start at a place."""
    done: dict[int, int] = {}
    for place, ranks in starts:
        for rank in ranks:
            # What a rule looked at before is not looked at again, or a long run would take forever.
            if done.get(rank, 0) > place or not (match := compiled(_ALL[rank].pattern).match(text, place)):
                continue
            start, end = match.span(match.lastindex or 0)
            if _ALL[rank].judge(text[start:end]):
                found.append((start, end, rank, _ALL[rank].kind))
            # A sentence in quotes may hold what the pattern looks for; any other value is done with.
            elif " " in text[start:end]:
                end = start
            done[rank] = end


def _normalize(text: str) -> tuple[str, Sequence[int]]:
    """Returns the text as a reader sees it, in the letters that the rules use, and where each character of it stands.

    Characters without width are left out, wide forms become plain ones, and letters of other alphabets that look Latin
    become Latin in words that would otherwise mix both.
    """
    hidden = compiled(_HIDDEN)
    places: Sequence[int] = range(len(text))
    if hidden.search(text):
        places = [place for place, character in enumerate(text) if not hidden.match(character)]
        text = hidden.sub("", text)
    if compiled(_WIDE_FORMS).search(text):
        text = text.translate(_WIDE)
    if compiled(_OTHER_LETTERS).search(text):
        text = compiled(_MIXED).sub(lambda word: _latin(word[0]), text)
    return text, places


def _latin(word: str) -> str:
    """Returns a word in Latin letters if all that are not Latin look like it."""
    latin = word.translate(_LOOKALIKES)
    return latin if latin.isascii() else word


def redact(text: str, *, keep_lines: bool = False) -> tuple[str, tuple[str, ...]]:
    """Returns the text with each secret replaced by a marker that names its kind, and the kinds, sorted.

    With `keep_lines` a secret of several lines leaves as many, so that what follows is still on the same line.

    >>> redact("export DB_PASSWORD=hunter2x")
    ('export DB_PASSWORD=[redacted:password]', ('password',))
    """
    kinds: set[str] = set()
    # What a marker cuts off may look like a secret only now. Each round leaves less text, and two are the rule.
    while found := find_secrets(text):
        kinds.update(secret.kind for secret in found)
        text = _replace(text, found, keep_lines)
    return text, tuple(sorted(kinds))


def hide_secrets(text: str) -> str:
    """Returns a text that is handed out with its secrets replaced, each line where it was."""
    return redact(text, keep_lines=True)[0]


def hide_in(value: Any) -> Any:
    """Returns a value of lists, tuples, mappings and texts with the secrets in its texts replaced.

    >>> hide_in({"lines": ["DB_PASSWORD=hunter2x"], "count": 1})
    {'lines': ['DB_PASSWORD=[redacted:password]'], 'count': 1}
    """
    if isinstance(value, str):
        return hide_secrets(value)
    if isinstance(value, dict):
        return {name: hide_in(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        parts = [hide_in(each) for each in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


def _replace(text: str, found: tuple[Secret, ...], keep_lines: bool) -> str:
    parts: list[str] = []
    start = 0
    for secret in found:
        breaks = text.count("\n", secret.start, secret.end) if keep_lines else 0
        parts += (text[start : secret.start], f"[redacted:{secret.kind}]" + "\n" * breaks)
        start = secret.end
    return "".join((*parts, text[start:]))


def _merged(found: list[Match]) -> Iterator[Secret]:
    """Yields the secrets in order. Where several overlap, one covers them all and has the kind of the first rule."""
    start = end = rank = -1
    kind = ""
    for match in sorted(found):
        if match[0] >= end:
            if end > start:
                yield Secret(kind, start, end)
            start, end, rank, kind = match
        elif match[2] < rank:
            rank, kind = match[2:]
        end = max(end, match[1])
    if end > start:
        yield Secret(kind, start, end)


def _private_keys(text: str) -> Iterator[tuple[int, int]]:
    """Yields whole PEM blocks. An end is looked for up to the next beginning only, so that many beginnings cost no more."""
    begins = list(re.finditer(_BEGIN, text))
    for number, begin in enumerate(begins):
        follows = begins[number + 1].start() if number + 1 < len(begins) else len(text)
        limit = min(follows, begin.end() + _BLOCK)
        end = text.find("-----END", begin.end(), limit)
        if end >= 0:
            closing = text.find("-----", end + 8, min(limit, end + 80))
            yield begin.start(), closing + 5 if closing >= 0 else min(limit, end + 8)
        else:
            lines = re.compile(_LINES).match(text, begin.end(), limit)
            yield begin.start(), lines.end() if lines else begin.end()
