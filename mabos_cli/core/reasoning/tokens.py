"""Texts in small languages, such as formulas and constraints, cut into tokens."""

import re
from collections.abc import Iterator

from mabos_cli.core import BadValue


def read_tokens(pattern: re.Pattern[str], text: str, place: str, hint: str) -> Iterator[re.Match[str]]:
    """The tokens of a text one after the other, blanks between them passed over; BadValue names what is none.

    >>> [token.group() for token in read_tokens(re.compile(r"\\d+|[+*]"), "12 + 3*4", "formula", "")]
    ['12', '+', '3', '*', '4']
    """
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        match = pattern.match(text, at)
        if not match:
            raise BadValue(f"{place}: cannot read {text[at : at + 20]!r}", hint)
        yield match
        at = match.end()
