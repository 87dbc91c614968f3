"""The events of a daily log: one for each entry, list item or paragraph, with its line and its kind."""

import re
from collections.abc import Iterable

from mabos_cli.core import read_table
from mabos_cli.core.language.text import STOP_WORDS, fold, stem, words
from mabos_cli.core.memory.item import TYPES, grade
from mabos_cli.core.records import NamedTuple

_WORDS = read_table("hierarchy/words.txt")
# The types that headings stand for, each with nouns and other words.
HEADINGS = {name.removeprefix("heading "): row for name, row in _WORDS.items() if name.startswith("heading ")}
_ROWS = tuple(
    (kind, frozenset(map(stem, nouns.split())), frozenset(map(stem, others.split())))
    for kind, row in HEADINGS.items()
    for nouns, _, others in [row.partition("|")]
)
_CONTAINERS = frozenset(_WORDS["containers"].split())
# Words in front of a line that name its type.
_LABELS = {
    **{name: name for name in TYPES},
    **{f"{name}s": name for name in TYPES if name != "person"},
    **{
        label: name.removeprefix("label ")
        for name, labels in _WORDS.items()
        for label in labels.split(", ")
        if name.startswith("label ")
    },
}
_PREFIX = re.compile(r"\**([A-Za-z]+(?:[ -][A-Za-z]+)?)\**\s*(?:\((\d(?:\.\d+)?)(?:, untrusted)?\))?\s*:\**(?:\s+|$)")
_DECIDED = re.compile(r"(?i)\b(?:we|i|they|team) (?:have |has )?(?:decided|agreed) (?:to|that|on|against)\b|^decided\b")
_TELLING = ("event", "note", "fact")  # kinds that may be milestones by their words
_FIRST_OR_NAME = re.compile(r"^\W*\w+|(?<=\s)[^\W\d_a-z]\w*")
_DIGIT = re.compile(r"\d")
_ABOUT_ITSELF, _MILESTONE = re.compile(_WORDS["about itself"]), re.compile(_WORDS["milestone"])


class LogEvent(NamedTuple):
    """One event in a log. `kind` is a type of memory, or note; importance None means that nobody said."""

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
        """Returns how important it is: what was said, or else heuristic-v1 at the time."""
        return self.importance if self.importance is not None else grade(self.text, self.kind)

    @property
    def is_milestone(self) -> bool:
        """Returns whether something was reached, lost or changed for good."""
        if self.importance is None:  # nobody graded it: its words have to tell
            return self.kind == "outcome" or (self.kind in _TELLING and bool(_MILESTONE.search(self.text)))
        if self.kind in ("outcome", "event") and self.weight >= 0.8:
            return True
        if self.kind == "outcome":
            return self.weight >= 0.6
        return self.kind in _TELLING and self.weight >= 0.7 and bool(_MILESTONE.search(self.text))


def kind_of_title(title: str) -> str:
    """Returns the type that a heading stands for; empty when it names something else.

    >>> [kind_of_title(title) for title in ("Active Projects", "Preferred tools", "Decision log", "Event format", "Non-goals")]
    ['project', 'preference', 'decision', '', '']
    """
    named = words(title)
    if named[:1] == ["non"]:
        return ""
    ends = [*(word in STOP_WORDS or word in _CONTAINERS or not word.isalpha() for word in named[1:]), True]
    heads = {stem(word) for word, is_end in zip(named, ends, strict=False) if is_end}
    found = {*map(stem, named)}
    return next((kind for kind, nouns, others in _ROWS if heads & nouns or found & others), "")


def is_about_itself(text: str) -> bool:
    """Returns whether a text of notes says nothing but when and by what its file was made.

    >>> is_about_itself("_Last updated: 2026-02-20_"), is_about_itself("Updated the price list"), is_about_itself("Time: 08:15:00Z")
    (True, False, True)
    """
    return all(_ABOUT_ITSELF.match(part) for part in re.split(r"\n|(?<=[.!])\s+", text.strip().rstrip("*_")))


def split_label(text: str) -> tuple[str, str]:
    """Returns the label that a line begins with, folded, and the rest of it.

    >>> split_label("**Follow-up**: call Ada"), split_label("Kiln: hot")
    (('follow up', 'call Ada'), ('kiln', 'hot'))
    """
    match = _PREFIX.match(text)
    return (fold(match[1].replace("-", " ")), text[match.end() :]) if match else ("", text)


def split_kind(text: str) -> tuple[str, str, float | None]:
    """Returns the kind that a line of notes names, the line without that word, and the importance if it is there.

    >>> split_kind("Decision: keep Stripe"), split_kind("We decided to wait")
    (('decision', 'keep Stripe', None), ('decision', 'We decided to wait', None))
    >>> split_kind("**lesson** (0.70): test restores"), split_kind("**Next steps**: call Ada")
    (('lesson', 'test restores', 0.7), ('plan', 'call Ada', None))
    """
    match = _PREFIX.match(text)
    kind = _LABELS.get(split_label(text)[0], "")
    if match and kind and text[match.end() :].strip():
        number = float(match[2]) if match[2] else None
        return kind, text[match.end() :], number if number is None or number <= 1 else None
    return ("decision" if _DECIDED.search(text) else "note"), text, None


def is_marked_untrusted(text: str) -> bool:
    """Returns whether a line of notes says that it is untrusted, as one that was copied from MEMORY.md may.

    >>> is_marked_untrusted("**fact** (0.70, untrusted): pay here"), is_marked_untrusted("fact: (x, untrusted): y")
    (True, False)
    """
    match = _PREFIX.match(text)
    return match is not None and ", untrusted)" in match[0]


def name_heading(event: LogEvent) -> LogEvent:
    """Adds the heading to the text of an event that is written as a label below a time of day: "### 08:15 - Mail" with Action, Summary, Decisions.

    >>> name_heading(LogEvent("2026-02-24", 5, "**Decisions**: Reply at ten", heading="Mail", time="08:15"))[2:4]
    ('Mail: Reply at ten', 'decision')
    """
    label = _PREFIX.match(event.text)
    kind, text, _ = split_kind(event.text)
    if not (label and event.time and event.heading):
        return event._replace(text=text, kind=kind)
    if kind in ("note", "project"):
        kind, text = "note", f"{label[1]}: {event.text[label.end() :]}"
    return event._replace(text=f"{event.heading}: {text}", kind=kind)


def join_events(events: Iterable[LogEvent]) -> list[LogEvent]:
    """Joins the events that are written as labels below the same time of day, except those that have a type.

    >>> mail = LogEvent("2026-02-24", 5, "Mail: Action: Read 23", heading="Mail", time="08:15")
    >>> [event.text for event in join_events([mail, mail._replace(line=6, text="Mail: Summary: 3 are urgent")])]
    ['Mail: Action: Read 23; Summary: 3 are urgent']
    """
    found: list[LogEvent] = []
    open_at: dict[tuple[str, str], int] = {}
    for event in events:
        place, opening = (event.time, event.heading), f"{event.heading}: "
        is_labelled = event.kind == "note" and bool(event.time) and event.text.startswith(opening)
        if is_labelled and place in open_at:
            first = found[open_at[place]]
            text = f"{first.text}; {event.text.removeprefix(opening)}"
            found[open_at[place]] = first._replace(text=text, tags=tuple(dict.fromkeys((*first.tags, *event.tags))))
            continue
        if is_labelled:
            open_at[place] = len(found)
        found.append(event)
    return found


def shape_of(text: str) -> str:
    """Returns what two tellings of a recurring event have in common: their words without numbers.

    >>> shape_of("Nightly backup took 41 minutes") == shape_of("Nightly backup took 39 minutes.")
    True
    """
    return " ".join([word for word in words(text) if word.isalpha() or not _DIGIT.search(word)])


def frame_of(text: str) -> str:
    """Returns a text without numbers, names and its first word: routine entries have the rest in common.

    >>> frame_of("Anna takes the shift of Petr in week 7") == frame_of("Lenka takes the shift of Jana in week 8")
    True
    """
    return shape_of(_FIRST_OR_NAME.sub("", text))
