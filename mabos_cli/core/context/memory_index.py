"""The memory index: what an agent has before it at all times, and what it can load. Made from digests, so that no memory is too
large for it."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import Any, TypeVar

from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.language.text import one_line, words
from mabos_cli.core.memory.item import DOMAINS, PRIORITIES, Glance, MemoryItem, has_expired, priority_of
from mabos_cli.core.memory.trust import is_outside, trust_of_item, trust_rank
from mabos_cli.core.records import NamedTuple

CRITICAL = PRIORITIES["critical"]
# A longer text is cut, and the index says how to read the rest. Where very many have to be named, each is cut at the least width.
LONGEST, SHORTEST = 240, 32
# The sections of lines in the index, and the types that stand in each however important they are.
SECTIONS = ("critical", "instructions", "projects", "lately", "known")
_TYPES = {
    "instructions": ("instruction", "preference"),
    "projects": ("project",),
    "lately": ("decision", "plan", "outcome", "lesson", "event", "observation"),
    "known": ("person", "fact", "insight"),
}
_SECTION = {type: name for name, types in _TYPES.items() for type in types}
_PASSING = ("event", "observation")  # shown behind what was decided, planned and learned
# Types whose items stand by topic, a file for each tag that this many of them have; all others stand by type.
_BY_TOPIC = frozenset(("fact", "insight", "lesson", "plan"))
_FEWEST, _MOST_TOPICS = 5, 12
_RESERVED = frozenset((*DOMAINS, *DOMAINS.values(), "index", "con", "prn", "aux", "nul"))


class Headline(NamedTuple):
    """An item as the index shows it: its text on one line, cut where it is too long, and how long it is."""

    id: str
    type: str
    importance: float
    at: str
    text: str
    size: int
    part: str = ""  # of the memory: a page


_Ranked = TypeVar("_Ranked", Headline, MemoryItem)


class Share(NamedTuple):
    """Holds what a domain holds of some items: how many, the characters of their file, and when the first of them expires, if any."""

    items: int
    size: int
    until: str = ""


class Digest(NamedTuple):
    """Holds what some items come to, in numbers.

    shown counts what the index may show, by section. until is when the first of the items expires, used_at when one was last recalled. derived says that the trust of what may be
    shown depends on other items too, or on whether a person vouches for it.
    """

    types: dict[str, int]
    priorities: dict[str, int]
    size: int
    domains: dict[str, Share]
    shown: dict[str, int]
    untrusted: int
    until: str
    used_at: str
    derived: bool


class Lines(NamedTuple):
    """Returns what the index may show of some items, by section, foremost first, and no more than it has room for."""

    critical: tuple[Headline, ...] = ()
    instructions: tuple[Headline, ...] = ()
    projects: tuple[Headline, ...] = ()
    lately: tuple[Headline, ...] = ()
    known: tuple[Headline, ...] = ()


class Domain(NamedTuple):
    """A domain as the index offers it; pages is 0 when it is a single file, and the type is empty when it is a topic."""

    name: str
    type: str
    items: int
    tokens: int
    pages: int = 0


class MemoryIndex(NamedTuple):
    """Holds what the index says. The numbers count everything, shown or not; untrusted items are never shown."""

    agent: str
    lines: Lines
    domains: tuple[Domain, ...]
    counts: dict[str, int]
    items: int = 0
    untrusted: int = 0
    until: str = ""

    def left_out(self) -> dict[str, int]:
        """Returns how many of each kind there are and are not shown."""
        shown = {**self.lines._asdict(), "domains": self.domains}
        return {name: self.counts.get(name, 0) - len(shown[name]) for name in shown} | {"untrusted": self.untrusted}


def section_of(seen: Glance | MemoryItem | Headline) -> str:
    """Returns the section of the index that an item may stand in; empty when it is neither critical nor of a known type."""
    return "critical" if seen.importance >= CRITICAL else _SECTION.get(seen.type, "")


def may_be_shown(seen: Glance | MemoryItem) -> bool:
    """Returns whether an item is one that the index shows where there is room."""
    return bool(section_of(seen))


def in_order(found: Iterable[_Ranked]) -> list[_Ranked]:
    """Returns items or lines, the most important first, then the newest; those of one moment in the order of their ids."""
    return sorted(sorted(found, key=attrgetter("id")), key=_rank, reverse=True)


def _rank(seen: Headline | MemoryItem) -> tuple[float, str]:
    """Returns what orders lines: importance, then time. In the index what happened lately stands by time alone, and preferences stand
    behind instructions."""
    if not isinstance(seen, Headline):
        return seen.importance, seen.happened_at
    section = section_of(seen)
    if section == "lately":
        return float(seen.type not in _PASSING), seen.at
    return seen.importance + (section == "instructions" and seen.type == "instruction"), seen.at


def find_topics(items: Sequence[MemoryItem], taken: Collection[str] = ()) -> dict[str, str]:
    """Returns the topics of items that have one, by id: the first tag that enough items share, as the name of a file that is not
    taken.

    >>> facts = [MemoryItem(f"M-{n}", "x", "fact", tags=("all", "Kiln")) for n in range(5)]
    >>> set(find_topics(facts).values()), find_topics(facts[:4])
    ({'all'}, {})
    """
    tags = {item.id: [topic for tag in item.tags if (topic := _topic(tag))] for item in items if item.type in _BY_TOPIC}
    counts = Counter(topic for found in tags.values() for topic in set(found))
    topics = {topic for topic, count in counts.most_common(_MOST_TOPICS) if count >= _FEWEST}.difference(taken)
    chosen = {item: next((topic for topic in found if topic in topics), "") for item, found in tags.items()}
    held = Counter(chosen.values())  # some are fewer now, where most of their items have another topic before it
    return {item: topic for item, topic in chosen.items() if topic and held[topic] >= _FEWEST}


def _topic(tag: str) -> str:
    name = "-".join(words(tag))
    return name if name not in _RESERVED and 1 < len(name) <= 60 and not name.isdigit() else ""


def digest_items(
    seen: Iterable[Glance],
    decoded: Iterable[MemoryItem],
    domains: dict[str, Share],
    now: str,
    room: int,
    trust_of: Callable[[MemoryItem], str] = trust_of_item,
) -> tuple[Digest, Lines]:
    """Returns what items come to, and what of them may be shown. decoded are at least those that may be shown or expire; room is how many
    characters of critical items, and of projects, are kept."""
    glances = [*seen]
    live = [item for item in decoded if not has_expired(item, now)]
    shown = [item for item in live if may_be_shown(item)]
    found: dict[str, list[Headline]] = {name: [] for name in SECTIONS}
    for item in shown:
        if trust_rank(trust_of(item)):
            found[section_of(item)].append(_headline(item))
    found = {name: in_order(lines) for name, lines in found.items()}
    digest = Digest(
        Counter(glance.type for glance in glances),
        Counter(priority_of(glance.importance) for glance in glances),
        sum(glance.size for glance in glances),
        domains,
        {name: len(lines) for name, lines in found.items() if lines},
        len(shown) - sum(map(len, found.values())),
        min((item.expires_at for item in live if item.expires_at), default=""),
        max((glance.used_at for glance in glances), default=""),
        any(item.derived_from or is_outside(item.source) for item in shown),
    )
    return digest, Lines(*(tuple(lines[: _fitting(lines, room)]) for lines in found.values()))


def _headline(item: MemoryItem) -> Headline:
    text = compiled(r"([.:;!?]?)\n+[-*] ").sub(lambda found: f"{found[1] or ';'} ", item.content)
    return Headline(item.id, item.type, item.importance, item.happened_at, one_line(text, LONGEST), len(one_line(text)))


def _fitting(lines: Sequence[Headline], room: int) -> int:
    """Returns how many of the first lines an index with that much room could hold at most."""
    for count, line in enumerate(lines):
        room -= min(len(line.text), SHORTEST) + 1
        if room < 0:
            return count
    return len(lines)


_SPARE = 60  # lines that are known beyond those that there is room for


class Foremost:
    """The foremost lines of all parts of a memory, by section, as the parts change one by one. Where there were more, those from
    the floor of their section on are not known."""

    def __init__(self, lines: Lines = Lines(), floors: Mapping[str, Sequence[Any]] = MappingProxyType({})) -> None:
        self.lines = lines
        self.floors = dict(floors)

    def put(self, part: str, lines: Lines, room: int) -> None:
        """Takes these lines for all that there is of a part."""
        kept = []
        for name, old, new in zip(SECTIONS, self.lines, lines, strict=True):
            floor, known = self.floors.get(name), [line for line in old if line.part != part]
            found = in_order((*known, *(line._replace(part=part) for line in new)))
            found = [line for line in found if _is_above(line, floor)]
            most = _fitting(found, room) + _SPARE
            if len(found) > most:
                self.floors[name] = (*_rank(found[most]), found[most].id)
            kept.append(tuple(found[:most]))
        self.lines = Lines(*kept)

    def choose(self, more: Lines, room: int) -> Lines | None:
        """Returns the foremost of these and some more lines; None when too few are known, after others left."""
        chosen = []
        for name, known, others in zip(SECTIONS, self.lines, more, strict=True):
            found = in_order((*known, *others))
            count = _fitting(found, room)
            floor = self.floors.get(name)
            if floor and (count == len(found) or not all(_is_above(line, floor) for line in found[:count][-1:])):
                return None
            chosen.append(tuple(found[:count]))
        return Lines(*chosen)


def _is_above(line: Headline, floor: Sequence[Any] | None) -> bool:
    """Returns whether a line comes before the one that a section was cut at: its rank, and its id among those of one rank."""
    if floor is None:
        return True
    rank = _rank(line)
    return rank > tuple(floor[:2]) or (rank == tuple(floor[:2]) and line.id < floor[2])


def add_digests(digests: Sequence[Digest]) -> Digest:
    """Returns what several digests come to together."""
    parts = [digest.domains for digest in digests]
    names = dict.fromkeys(name for part in parts for name in part)
    return Digest(
        sum((Counter(digest.types) for digest in digests), Counter()),
        sum((Counter(digest.priorities) for digest in digests), Counter()),
        sum(digest.size for digest in digests),
        {name: add_shares([part[name] for part in parts if name in part]) for name in names},
        sum((Counter(digest.shown) for digest in digests), Counter()),
        sum(digest.untrusted for digest in digests),
        min((digest.until for digest in digests if digest.until), default=""),
        max((digest.used_at for digest in digests), default=""),
        any(digest.derived for digest in digests),
    )


def add_shares(shares: Sequence[Share]) -> Share:
    """Returns what a domain holds of several parts."""
    until = min((share.until for share in shares if share.until), default="")
    return Share(sum(share.items for share in shares), sum(share.size for share in shares), until)
