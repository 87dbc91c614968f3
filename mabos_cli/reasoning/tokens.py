"""Texts in small languages, such as formulas and constraints, cut into tokens and read one by one."""

import re
from collections.abc import Iterator, Sequence
from typing import Generic, Protocol, TypeVar

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


class Placed(Protocol):
    """Something that stands at a place in a text."""

    @property
    def at(self) -> int: ...


Token = TypeVar("Token", bound=Placed)


class TokenReader(Generic[Token]):
    """Tokens that are looked at and taken in order; the last one stands for the end of the text."""

    def __init__(self, text: str, tokens: Sequence[Token], place: str) -> None:
        self.text, self.tokens, self.place = text, tokens, place
        self.next = 0

    def peek(self) -> Token:
        return self.tokens[self.next]

    def take(self) -> Token:
        self.next += 1
        return self.tokens[self.next - 1]

    def fault(self, said: str, hint: str) -> BadValue:
        """What is wrong at the token that comes next."""
        at = self.peek().at
        where = f"at {self.text[at : at + 20]!r}" if at < len(self.text) else "at its end"
        return BadValue(f"{self.place}: {said} {where}", hint)
