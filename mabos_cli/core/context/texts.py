"""Turns of a conversation: what they cost, and how a text is fitted into what room there is."""

from collections.abc import Iterable
from typing import Protocol

from mabos_cli.core.records import NamedTuple

# What a provider adds: tokens around each message, and a few that open its answer.
MESSAGE_TOKENS, END_TOKENS = 4, 2


class Count(Protocol):
    """Counts the tokens of a text."""

    def __call__(self, text: str, /) -> int: ...


class Turn(NamedTuple):
    """Holds what one message says. role is system, user, assistant or tool; at is ISO time, name the speaker or tool."""

    role: str
    content: str
    at: str = ""
    name: str = ""

    @property
    def sent_as(self) -> str:
        """Returns the role in a message to any provider: what a tool gave back comes from the user's side."""
        return "user" if self.role == "tool" else self.role


def turn_cost(turn: Turn, count: Count) -> int:
    """Returns tokens of a turn as a message.

    >>> turn_cost(Turn("user", "12345678"), lambda text: len(text) // 4)
    7
    """
    return MESSAGE_TOKENS + count(turn.sent_as) + count(turn.content)


def total_cost(turns: Iterable[Turn], count: Count) -> int:
    """Returns tokens of messages together, without those that open the answer."""
    return sum(turn_cost(turn, count) for turn in turns)


def fit_text(text: str, room: int, count: Count) -> str:
    """Returns the text if it costs at most `room`; else its start and end around a mark, empty if that is too much.

    >>> fit_text("a" * 60 + "z" * 60, 80, len)
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa … [70 characters left out] … zzzzzzzzzzzzzzzz'
    """
    total = count(text)
    if total <= room:
        return text
    keep = len(text) * room // total if room > 0 else 0
    while keep > 0:
        head = keep - keep // 3
        left_out = f" … [{len(text) - keep:,} characters left out] … "
        short = text[:head] + left_out + text[len(text) - keep // 3 :]
        cost = count(short)
        if cost <= room:
            return short
        keep = min(keep - 1, keep * room // cost)
    return ""
