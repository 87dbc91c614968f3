"""The memory item: what it holds, which values are allowed, where each type is kept, and how important it is when nobody said
(heuristic-v1)."""

import math
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import DAY, as_stamp, format_span, parse_span
from mabos_cli.core.records import NamedTuple

EPISODIC = ("event", "outcome", "observation")
SEMANTIC = ("fact", "decision", "lesson", "preference", "project", "person", "insight")
PROCEDURAL = ("instruction", "plan")
TYPES = tuple(
    "event decision outcome lesson fact observation preference instruction project person insight plan".split()
)
CLASSES = MappingProxyType({"episodic": EPISODIC, "semantic": SEMANTIC, "procedural": PROCEDURAL})
# The types that last get a file each. Events, outcomes and observations are what daily logs are for.
_LASTING = "preference instruction project person insight fact decision lesson plan".split()
_UNFADING = ("instruction", "preference", "person", "decision")  # these stay loaded, used or not
DOMAINS = MappingProxyType({name: "people" if name == "person" else f"{name}s" for name in _LASTING})
# Things that happened at different times; a later one takes no earlier one's place.
HAPPENED = frozenset(("event", "outcome"))
STORES = ("working", "short_term", "long_term")
TRUSTS = ("untrusted", "agent", "trusted")
PRIORITIES = MappingProxyType({"critical": 0.95, "high": 0.8, "medium": 0.5, "low": 0.2})
_WRITTEN_BY = "written_by"  # the key under which an item names the model that worded it
CONSOLIDATION = "consolidation"  # the source of what was made of other memories
_MEMBERS = "members"  # the key under which an item counts the memories it was made of, by their types
# Stands among the foreign keys of an item whose importance nobody has given yet; 0.5 is what it counts as meanwhile.
UNGRADED = ("importance", None)
# One place for the weights; the settings grade.* override them.
WEIGHTS = {
    "base": 0.5,
    "decision": 0.3,
    "important": 0.2,
    "remember": 0.25,
    "recurring": 0.15,
}
BANDS = ("must_remember", "nice_to_have", "ignore")


class Keeping(NamedTuple):
    """How items of a type are kept: the store that they go to unless somebody names one, and the seconds that they may go unused
    before they leave the loaded set."""

    store: str
    unused: float

    def __str__(self) -> str:
        return f"{self.store} {'never' if self.unused == math.inf else format_span(self.unused)}"


KEEPING = MappingProxyType(
    {
        name: Keeping("long_term" if name in _LASTING else "short_term", math.inf if name in _UNFADING else 30.0 * DAY)
        for name in TYPES
    }
)


def parse_keeping(text: str) -> Keeping:
    """Returns how a type is kept, from a store and a span of time; BadValue for other words.

    >>> parse_keeping("long_term never"), str(parse_keeping("short_term 720h"))
    (Keeping(store='long_term', unused=inf), 'short_term 30d')
    """
    store, _, span = text.partition(" ")
    if not span.strip():
        raise BadValue(f"{text[:60]!r} is no store and time", "for example: long_term 30d, long_term never")
    return Keeping(check_choice(store, STORES, "store"), math.inf if span.strip() == "never" else parse_span(span))


def priority_of(importance: float) -> str:
    """Returns the name of a priority that an importance reaches.

    >>> [priority_of(value) for value in (1.0, 0.95, 0.8, 0.5, 0.49)]
    ['critical', 'critical', 'high', 'medium', 'low']
    """
    return next((name for name, least in PRIORITIES.items() if importance >= least), "low")


class MemoryItem(NamedTuple):
    """One memory. Times are ISO-8601 UTC text, as on disk; `extra` holds keys of other tools, kept as they are."""

    id: str
    content: str
    type: str = "observation"
    importance: float = 0.5
    source: str = "manual"
    trust: str = "agent"
    author: str = ""
    session: str = ""
    tags: tuple[str, ...] = ()
    created_at: str = ""
    observed_at: str = ""
    accessed_at: str = ""
    access_count: int = 0
    derived_from: tuple[str, ...] = ()
    related_to: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    superseded_by: str = ""
    context: str = ""
    expires_at: str = ""
    extra: tuple[tuple[str, Any], ...] = ()

    @property
    def happened_at(self) -> str:
        """Returns when the thing was observed, or else stored."""
        return self.observed_at or self.created_at

    @property
    def touched_at(self) -> str:
        """Returns when it was last used or edited, or else stored."""
        return self.accessed_at or self.created_at or self.observed_at


class Prose(NamedTuple):
    """A text that a model wrote, and the name by which the model is known."""

    text: str
    author: str

    def mark(self, extra: tuple[tuple[str, Any], ...]) -> tuple[tuple[str, Any], ...]:
        """Foreign keys of an item with the name of who worded it."""
        return (*(pair for pair in extra if pair[0] != _WRITTEN_BY), (_WRITTEN_BY, self.author))


def is_worded(item: MemoryItem) -> bool:
    """Returns whether a model worded the item."""
    return any(key == _WRITTEN_BY for key, _ in item.extra)


def count_members(item: MemoryItem) -> Counter[str]:
    """Returns how many memories of each type an item was made of: one of its own, unless it was consolidated."""
    for key, value in item.extra:
        if key == _MEMBERS and isinstance(value, dict):
            return Counter({kind: count for kind, count in value.items() if isinstance(count, int)})
    return Counter({item.type: max(1, len(item.derived_from)) if item.source == CONSOLIDATION else 1})


def with_members(extra: tuple[tuple[str, Any], ...], members: Mapping[str, int]) -> tuple[tuple[str, Any], ...]:
    """Returns foreign keys of an item with how many memories of each type it was made of."""
    return (*extra, (_MEMBERS, dict(sorted(members.items()))))


def types_of(item: MemoryItem) -> tuple[str, ...]:
    """Returns the type of an item and those of the memories it was made of: it is found by each."""
    return tuple(dict.fromkeys((item.type, *count_members(item)))) if item.extra else (item.type,)


def touch(item: MemoryItem, at: str, times: int = 1) -> MemoryItem:
    """Returns the item after being used `times` times, last at `at`."""
    return item._replace(accessed_at=max(item.accessed_at, at), access_count=item.access_count + times)


def has_expired(item: MemoryItem, now: str) -> bool:
    """Returns whether an item's own date has passed; never when it has none, or one that names no moment."""
    expires = as_stamp(item.expires_at) if item.expires_at else ""
    return bool(expires) and expires <= now


def is_ungraded(item: MemoryItem) -> bool:
    """Returns whether nobody has said how important an item is: other tools may leave that open."""
    return bool(item.extra) and UNGRADED in item.extra


def with_importance(item: MemoryItem, importance: float) -> MemoryItem:
    """Returns the item with an importance that somebody gave it."""
    return item._replace(importance=importance, extra=tuple(pair for pair in item.extra if pair != UNGRADED))


class Glance(NamedTuple):
    """Holds the fields of an item that are read without decoding it as a whole."""

    id: str
    type: str
    importance: float
    size: int
    at: str
    used_at: str
    expires: bool


def glance_of(item: MemoryItem) -> Glance:
    """Returns the few fields of an item that lists need."""
    used_at = item.accessed_at if item.access_count else ""
    return Glance(
        item.id, item.type, item.importance, len(item.content), item.happened_at, used_at, bool(item.expires_at)
    )


def check_content(content: str, limit: int) -> str:
    """Returns the content, or BadValue when it is empty, too long, or holds what a text file cannot."""
    if not content.strip():
        raise BadValue("the content is empty", "give the text to remember, or - to read it from standard input")
    if "\0" in content:
        raise BadValue("the content holds a NUL byte", "store text, not binary data")
    try:
        size = len(content.encode("utf-8"))
    except UnicodeEncodeError:
        raise BadValue("the content is not valid UTF-8", "convert it, for example with iconv -t utf-8") from None
    if size > limit:
        raise BadValue(
            f"the content has {size:,} bytes; the limit is {limit:,}",
            "store a summary and keep the file, or raise memory.max_content_bytes",
        )
    return content


def check_choice(value: str, choices: tuple[str, ...] | list[str], what: str) -> str:
    """Returns the value if it is one of the choices."""
    if value not in choices:
        raise BadValue(f"unknown {what} {value[:40]!r}", f"one of: {', '.join(choices)}")
    return value


def check_importance(value: float) -> float:
    """Returns the importance if it is a number in 0..1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise BadValue(
            f"importance {value!r} is outside 0..1", "use 0.0 to 1.0, or --priority critical/high/medium/low"
        )
    return round(float(value), 4)


def check_tags(tags: tuple[str, ...] | list[str]) -> tuple[str, ...]:
    """Returns the tags in first-seen order, once each, without a leading #; commas separate.

    >>> check_tags(["a,b", "#a"])
    ('a', 'b')
    """
    kept = dict.fromkeys(part.strip(" \t#") for tag in tags for part in tag.split(","))
    kept.pop("", None)
    for tag in kept:
        if len(tag) > 100 or not tag.isprintable():
            raise BadValue(f"bad tag {tag[:40]!r}", "a tag is a short printable word or phrase")
    return tuple(kept)


def check_word(value: str, what: str, limit: int = 200) -> str:
    """Returns a short single line such as a source, an author or a session."""
    value = value.strip()
    if len(value) > limit or not value.isprintable():
        raise BadValue(f"bad {what} {value[:40]!r}", f"one printable line of at most {limit} characters")
    return value


def grade(content: str, kind: str, *, recurring: bool = False, weights: Mapping[str, float] = WEIGHTS) -> float:
    """Returns the importance in 0..1 by the words and the kind of a memory. Age does not enter: what a thing is does not fade.

    >>> grade("We ship on Friday", "decision")
    0.8
    >>> grade("Important: remember the vault key", "fact")
    0.95
    """
    return round(min(1.0, sum(dict(grade_parts(content, kind, recurring=recurring, weights=weights)).values())), 4)


def grade_parts(
    content: str, kind: str, *, recurring: bool = False, weights: Mapping[str, float] = WEIGHTS
) -> tuple[tuple[str, float], ...]:
    """Returns what is added for what in a grade.

    >>> grade_parts("Remember the vault key", "decision")
    (('base', 0.5), ('decision', 0.3), ('important', 0.0), ('remember', 0.25), ('recurring', 0.0))
    """
    text = content.casefold()
    holds = {
        "base": True,
        "decision": kind == "decision",
        "important": "important" in text,
        "remember": "remember" in text,
        "recurring": recurring,
    }
    return tuple((name, weights[name] if there else 0.0) for name, there in holds.items())


def band(importance: float, must: float = 0.8, nice: float = 0.5) -> str:
    """Returns the name of a grade: one of BANDS."""
    return BANDS[0] if importance >= must else BANDS[1] if importance >= nice else BANDS[2]
