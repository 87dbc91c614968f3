"""Where a session stands, told from the end of its talk: what was asked last, what was answered, what was decided on the way."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from mabos_cli.core.language.text import one_line

_DECIDED = re.compile(
    r"\b(?:we|i)(?:'ve| have)? (?:decided|agreed|chose|settled on)\b|\b(?:decision|decided|agreed):"
    r"|\blet'?s (?:go with|use|keep)\b|\bwe(?:'ll| will) (?:go with|use|keep)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_WIDTH, _MOST = 240, 5


class Standing(NamedTuple):
    """The last request, the last answer, and the latest decisions, oldest first."""

    request: str = ""
    answer: str = ""
    decisions: tuple[str, ...] = ()


def sum_up(turns: Iterable[tuple[str, str]]) -> Standing:
    """Where a session stands, by what user and assistant said, the latest turn first. A question is no decision.

    >>> sum_up([("assistant", "Done. We decided to keep Stripe."), ("user", "Which provider?")]).decisions
    ('We decided to keep Stripe.',)
    """
    request = answer = ""
    decisions: dict[str, None] = {}
    for author, text in turns:
        if author == "user":
            request = request or text
        else:
            answer = answer or text
        for sentence in reversed(_SENTENCE.split(text)):
            if len(decisions) < _MOST and _DECIDED.search(sentence) and not sentence.rstrip().endswith("?"):
                decisions.setdefault(one_line(sentence.lstrip("-*> \t"), _WIDTH))
    return Standing(request, answer, tuple(reversed(decisions)))
