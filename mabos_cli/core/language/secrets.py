"""Secrets in text: keys, tokens and passwords that must not be remembered. Found by rules, replaced by markers."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from mabos_cli.core.language.secret_rules import RULES, Rule

_BLOCK = 16_384  # characters of a private key, at most; the longest in use have about 13,000
_BEGIN = r"-----BEGIN(?:[ +]|%20)(?:[A-Z0-9]{1,12}(?:[ +]|%20)){0,3}PRIVATE(?:[ +]|%20)KEY(?:(?:[ +]|%20)BLOCK)?-----"
# Lines of a key whose end is missing, with what wraps them in JSON, code, diffs and quotes.
_LINES = (
    r"(?:(?:[\s\"'`+,>|#*]|\\+[nr])*+"
    r"(?:[A-Za-z0-9+/]{16,}+={0,2}|[A-Za-z0-9+/]{1,15}+={1,2}|(?:Proc-Type|DEK-Info|Version|Comment|Hash): ?[^\n\\]{0,80}))*+"
)
KINDS = frozenset(("private_key", *(rule.kind for rule in RULES)))
# A rule without keys looks at every text; the others only where one of their keys stands.
_KEYLESS = tuple(rank for rank, rule in enumerate(RULES) if not rule.keys)
_KEYS = tuple((key, rank) for rank, rule in enumerate(RULES) for key in rule.keys)
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
    # The one letter that becomes two in lower case would shift what follows.
    lowered = plain.replace("\u0130", "i").lower()
    found = [(start, end, -1) for start, end in _private_keys(plain)] if "-----begin" in lowered else []
    for rank in sorted({*_KEYLESS, *(rank for key, rank in _KEYS if key in lowered)}):
        rule = RULES[rank]
        spans = _anywhere(rule, plain, lowered) if rule.anywhere else _at_keys(rule, plain, lowered)
        found += ((start, end, rank) for start, end in spans)
    return tuple(_merged(found))


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """Returns the text with each secret replaced by a marker that names its kind, and the kinds, sorted.

    >>> redact("export DB_PASSWORD=hunter2x")
    ('export DB_PASSWORD=[redacted:password]', ('password',))
    """
    kinds: set[str] = set()
    # What a marker cuts off may look like a secret only now. Each round leaves less text, and two are the rule.
    while found := find_secrets(text):
        kinds.update(secret.kind for secret in found)
        text = _replace(text, found)
    return text, tuple(sorted(kinds))


def _replace(text: str, found: tuple[Secret, ...]) -> str:
    parts: list[str] = []
    start = 0
    for secret in found:
        parts += (text[start : secret.start], f"[redacted:{secret.kind}]")
        start = secret.end
    return "".join((*parts, text[start:]))


def _merged(found: list[tuple[int, int, int]]) -> Iterator[Secret]:
    """Yields the secrets in order. Where several overlap, one covers them all and has the kind of the first rule."""
    start = end = rank = -1
    for match in sorted(found):
        if match[0] >= end:
            if end > start:
                yield _secret(start, end, rank)
            start, end, rank = match
        end, rank = max(end, match[1]), min(rank, match[2])
    if end > start:
        yield _secret(start, end, rank)


def _secret(start: int, end: int, rank: int) -> Secret:
    return Secret("private_key" if rank < 0 else RULES[rank].kind, start, end)


def _at_keys(rule: Rule, text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """Yields where a rule finds a secret that starts at one of its keys. In most texts there is none, and no pattern
    runs."""
    for key in rule.keys:
        place = lowered.find(key)
        while place >= 0:
            if match := re.compile(rule.pattern).match(text, place):
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


def _anywhere(rule: Rule, text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """Yields where a rule finds a secret in a text that holds one of its keys somewhere."""
    if not rule.keys or any(key in lowered for key in rule.keys):
        for match in re.finditer(rule.pattern, text):
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
