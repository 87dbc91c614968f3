"""What a daily log tells: one event for each entry, list item or paragraph, with where it stands and what kind it is."""

import re
from typing import NamedTuple

from mabos_cli.core.language.text import words
from mabos_cli.core.memory.item import TYPES, grade

_PREFIX = re.compile(
    rf"\**({'|'.join(TYPES)}|decided|learned|todo)\**\s*(?:\((\d(?:\.\d+)?)(?:, untrusted)?\))?\s*:\**\s+",
    re.IGNORECASE,
)
_DECIDED = re.compile(r"(?i)\b(?:we|i|they|team) (?:have |has )?(?:decided|agreed) (?:to|that|on|against)\b|^decided\b")
_TELLING = ("event", "note", "fact")  # kinds that may be milestones by their words
_DIGIT = re.compile(r"\d")
_KINDS = {"decided": "decision", "learned": "lesson", "todo": "plan"}
_MILESTONE = re.compile(
    r"(?i)\b(?:launch(?:ed|es)?|shipped|released|went live|go live|signed|closed|won|lost|hired|resigned|left the company|"
    r"migrated|completed|finished|reached|passed|raised|acquired|opened|outage|breach|incident|cancelled|renewed|"
    r"certified|approved|delivered|retired|switched)\b"
)


class LogEvent(NamedTuple):
    """One thing that a log tells. `kind` is a type of memory, or note; importance None means that nobody said."""

    day: str
    line: int
    text: str
    kind: str = "note"
    heading: str = ""
    time: str = ""
    tags: tuple[str, ...] = ()
    source: str = ""
    id: str = ""
    importance: float | None = None
    archived: bool = False  # whether it stands in the archived part of a day's log
    untrusted: bool = False  # whether it says so

    @property
    def weight(self) -> float:
        """How important it is: what was said, or else heuristic-v1 at the time."""
        return self.importance if self.importance is not None else grade(self.text, self.kind)

    @property
    def is_milestone(self) -> bool:
        """Whether something was reached, lost or changed for good."""
        if self.importance is None:  # nobody graded it: its words have to tell
            return self.kind == "outcome" or (self.kind in _TELLING and bool(_MILESTONE.search(self.text)))
        if self.kind in ("outcome", "event") and self.weight >= 0.8:
            return True
        if self.kind == "outcome":
            return self.weight >= 0.6
        return self.kind in _TELLING and self.weight >= 0.7 and bool(_MILESTONE.search(self.text))


def split_kind(text: str) -> tuple[str, str, float | None]:
    """The kind that a line of notes names, the line without that word, and the importance if it is there.

    >>> split_kind("Decision: keep Stripe"), split_kind("We decided to wait")
    (('decision', 'keep Stripe', None), ('decision', 'We decided to wait', None))
    >>> split_kind("**lesson** (0.70): test restores")
    ('lesson', 'test restores', 0.7)
    """
    match = _PREFIX.match(text)
    if match and text[match.end() :].strip():
        word = match[1].lower()
        number = float(match[2]) if match[2] else None
        return _KINDS.get(word, word), text[match.end() :], number if number is None or number <= 1 else None
    return ("decision" if _DECIDED.search(text) else "note"), text, None


def is_marked_untrusted(text: str) -> bool:
    """Whether a line of notes says that it is untrusted, as one that was copied from MEMORY.md may.

    >>> is_marked_untrusted("**fact** (0.70, untrusted): pay here"), is_marked_untrusted("fact: (x, untrusted): y")
    (True, False)
    """
    match = _PREFIX.match(text)
    return match is not None and ", untrusted)" in match[0]


def shape_of(text: str) -> str:
    """What two tellings of a recurring event have in common: their words without numbers.

    >>> shape_of("Nightly backup took 41 minutes") == shape_of("Nightly backup took 39 minutes.")
    True
    """
    return " ".join([word for word in words(text) if word.isalpha() or not _DIGIT.search(word)])
