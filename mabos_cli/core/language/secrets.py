"""Secrets in text: keys, tokens and passwords that must not be remembered. Found by rules, replaced by markers."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from mabos_cli.core.language.secret_context import FINDERS, Finder
from mabos_cli.core.language.secret_rules import RULES
from mabos_cli.core.language.secret_shapes import compiled
from mabos_cli.core.language.secret_tokens import ISSUED, TOKENS, Rule

_BLOCK = 16_384  # characters of a private key, at most; the longest in use have about 13,000
_SPACE = "(?:[ +]|%20)"
_BEGIN = rf"-----BEGIN{_SPACE}(?:(?:[A-Z0-9]{{1,12}}{_SPACE}){{0,3}}PRIVATE{_SPACE}KEY(?:{_SPACE}BLOCK)?|OpenVPN Static key V1)-----"
# Lines of a key whose end is missing, with what wraps them in JSON, code, diffs and quotes.
_LINES = (
    r"(?:(?:[\s\"'`+,>|#*]|\\+[nr])*+"
    r"(?:[A-Za-z0-9+/]{16,}+={0,2}|[A-Za-z0-9+/]{1,15}+={1,2}|(?:Proc-Type|DEK-Info|Version|Comment|Hash): ?[^\n\\]{0,80}))*+"
)
_ALL: tuple[Rule | Finder, ...] = (*TOKENS, *RULES, *FINDERS)
KINDS = frozenset(
    ("private_key", *(rule.kind for rule in (*TOKENS, *RULES)), *(kind for finder in FINDERS for kind in finder.kinds))
)
# Where tokens may start, and the rules for those that start so.
_RUN = r"[a-z0-9_$./+%:=~-]{20,}+"
_PLAIN_RUN = "[0-9a-f./_:=-]+"  # a hash or a number
# Tokens start after anything but a letter or digit, or after one that ends an escape: \n, %3D, \u003d, ESC[32m.
_HEAD = r"(?:%[0-9a-f]{2}|\\(?:u[0-9a-f]{4}|[bfnrt])|[\[;][0-9]{1,2}m|[^a-z0-9])([a-z0-9][a-z0-9/])"


def _heads() -> dict[str, list[int]]:
    """Returns the rules for tokens by the first two characters of their keys."""
    heads: dict[str, list[int]] = {}
    for rank, rule in enumerate(TOKENS):
        for head in {key[:2] for key in rule.keys}:
            heads.setdefault(head, []).append(rank)
    return heads


def _key_trees() -> tuple[dict[str, dict[str, list[int]]], ...]:
    """Returns the other rules for each key, ASCII ones apart, under the shortest key that the key contains.

    A text without the one does not hold the other, so most texts are searched for few keys.
    """
    ranks: dict[str, list[int]] = {}
    for rank, rule in enumerate(_ALL[len(TOKENS) :], len(TOKENS)):
        for key in rule.keys:
            ranks.setdefault(key, []).append(rank)
    plain: dict[str, dict[str, list[int]]] = {}
    other: dict[str, dict[str, list[int]]] = {}
    for key in sorted(ranks, key=len):
        tree = plain if key.isascii() else other
        tree.setdefault(next((root for root in tree if root in key), key), {})[key] = ranks[key]
    return plain, other


def _held(tree: dict[str, dict[str, list[int]]], text: str) -> Iterator[tuple[str, list[int]]]:
    """Yields the keys that a text holds, each with its rules."""
    for root in [root for root in tree if root in text]:
        yield from ((key, ranks) for key, ranks in tree[root].items() if key == root or key in text)


_HEADS = _heads()
_KEYS, _OTHER_KEYS = _key_trees()
# A rule without keys looks at every text; the others only where one of their keys stands.
_KEYLESS = tuple(rank for rank, rule in enumerate(_ALL) if not rule.keys)
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
    found = [(start, end, -1, "private_key") for start, end in _private_keys(text)] if "-----begin" in lowered else []
    found += _tokens(text, lowered)
    held = dict(_held(_KEYS, lowered))
    if not lowered.isascii():
        held.update(_held(_OTHER_KEYS, lowered))
    keys: dict[int, list[str]] = {rank: [] for rank in _KEYLESS}
    for key, ranks in held.items():
        for rank in ranks:
            keys.setdefault(rank, []).append(key)
    for rank in keys:
        rule = _ALL[rank]
        if isinstance(rule, Finder):
            found += ((start, end, rank, kind) for start, end, kind in rule.find(text, lowered, keys[rank]))
        else:
            spans = _anywhere(rule, text) if rule.anywhere else _at_keys(rule, keys[rank], text, lowered)
            found += ((start, end, rank, rule.kind) for start, end in spans)
    return _merged(found)


def _tokens(text: str, lowered: str) -> Iterator[tuple[int, int, int, str]]:
    """Yields the tokens that are known by how they begin. Most texts have no run of letters and digits long enough."""
    done: dict[int, int] = {}
    for run in compiled(_RUN).finditer(lowered):
        if compiled(_PLAIN_RUN).fullmatch(run[0]):
            continue
        heads = [head.start(1) for head in compiled(_HEAD).finditer(lowered, max(0, run.start() - 1), run.end())]
        for place in heads if run.start() else (0, *heads):
            for rank in (*_HEADS.get(lowered[place : place + 2], ()), ISSUED):
                # What a rule looked at before is not looked at again, or a long run would take forever.
                if done.get(rank, 0) <= place and (match := compiled(TOKENS[rank].pattern).match(text, place)):
                    done[rank] = match.end()
                    if TOKENS[rank].judge(match[0]):
                        yield *match.span(), rank, TOKENS[rank].kind


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


def _merged(found: list[tuple[int, int, int, str]]) -> Iterator[Secret]:
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


def _at_keys(rule: Rule, keys: list[str], text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """Yields where a rule finds a secret that starts at one of its keys."""
    pattern = compiled(rule.pattern)
    for key in keys:
        place = lowered.find(key)
        while place >= 0:
            if match := pattern.match(text, place):
                start, end = match.span(match.lastindex or 0)
                if rule.judge(text[start:end]):
                    yield start, end
                # A sentence in quotes may hold what the pattern looks for; any other value is done with.
                elif " " in text[start:end]:
                    end = start
                place = end
            else:
                place += 1
            place = lowered.find(key, place)


def _anywhere(rule: Rule, text: str) -> Iterator[tuple[int, int]]:
    """Yields where a rule finds a secret in a text that holds one of its keys somewhere."""
    for match in compiled(rule.pattern).finditer(text):
        start, end = match.span(match.lastindex or 0)
        if rule.judge(text[start:end]):
            yield start, end


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
