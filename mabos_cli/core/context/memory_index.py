"""The memory index: what an agent has before it at all times, and what it can load. Made from digests, so that no memory is too
large for it."""

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory.item import PRIORITIES, Glance, MemoryItem, has_expired, priority_of
from mabos_cli.core.memory.trust import is_outside, trust_of_item, trust_rank

CRITICAL = PRIORITIES["critical"]
# A longer text does not stand in the index: it is never cut, the index says how to read it.
LONGEST = 240


class Headline(NamedTuple):
    """An item as the index shows it: its text on one line, which is empty when it is too long, and how long it is."""

    id: str
    type: str
    importance: float
    at: str
    text: str
    size: int


class Share(NamedTuple):
    """What a domain holds of some items: how many, the characters of their file, and when the first of them expires, if any."""

    items: int
    size: int
    until: str = ""


class Digest(NamedTuple):
    """What some items come to, in numbers.

    first_critical and first_project are the ranks of the foremost of what the index may show, empty when there is nothing.
    until is when the first of the items expires, used_at when one was last recalled. derived says that the trust of what may be
    shown depends on other items too, or on whether a person vouches for it.
    """

    types: dict[str, int]
    priorities: dict[str, int]
    size: int
    domains: dict[str, Share]
    critical: int
    projects: int
    first_critical: tuple[float | str, ...]
    first_project: tuple[str, ...]
    untrusted: int
    until: str
    used_at: str
    derived: bool


class Lines(NamedTuple):
    """What the index may show of some items, foremost first, and no more than it has room for."""

    critical: tuple[Headline, ...]
    projects: tuple[Headline, ...]


class Part(NamedTuple):
    """The digest of some items; their lines are looked at only when it is their turn."""

    digest: Digest
    load: Callable[[], Lines]

    @classmethod
    def of(cls, digest: Digest, lines: Lines) -> "Part":
        """Returns a part whose lines are there already."""
        return cls(digest, lambda: lines)


class Domain(NamedTuple):
    """A domain as the index offers it; pages is 0 when it is a single file."""

    name: str
    type: str
    items: int
    tokens: int
    pages: int = 0


class MemoryIndex(NamedTuple):
    """What the index says. The numbers count everything, shown or not; untrusted items are never shown."""

    agent: str
    critical: tuple[Headline, ...]
    all_critical: int
    projects: tuple[Headline, ...]
    all_projects: int
    domains: tuple[Domain, ...]
    all_domains: int
    untrusted: int
    until: str = ""

    def left_out(self) -> dict[str, int]:
        """How many of each kind there are and are not shown."""
        return {
            "critical": self.all_critical - len(self.critical),
            "projects": self.all_projects - len(self.projects),
            "domains": self.all_domains - len(self.domains),
            "untrusted": self.untrusted,
        }


def may_be_shown(seen: Glance | MemoryItem) -> bool:
    """Whether an item is one that the index shows: critical, or a project."""
    return seen.importance >= CRITICAL or seen.type == "project"


def domain_order(seen: Glance) -> tuple[float, str, str]:
    """What items of a domain are sorted by, the greatest first: importance, then time."""
    return seen.importance, seen.at, seen.id


def digest_items(
    seen: Iterable[Glance],
    decoded: Iterable[MemoryItem],
    domains: dict[str, Share],
    now: str,
    room: int,
    trust_of: Callable[[MemoryItem], str] = trust_of_item,
) -> tuple[Digest, Lines]:
    """What items come to, and what of them may be shown. decoded are at least those that may be shown or expire; room is how many
    characters of critical items, and of projects, are kept."""
    types: dict[str, int] = {}
    priorities: dict[str, int] = {}
    size, used_at = 0, ""
    for glance in seen:
        types[glance.type] = types.get(glance.type, 0) + 1
        priority = priority_of(glance.importance)
        priorities[priority] = priorities.get(priority, 0) + 1
        size += glance.size
        used_at = max(used_at, glance.used_at)
    live = [item for item in decoded if not has_expired(item, now)]
    shown = [item for item in live if may_be_shown(item)]
    critical: list[Headline] = []
    projects: list[Headline] = []
    for item in shown:
        if trust_rank(trust_of(item)):
            (critical if item.importance >= CRITICAL else projects).append(_headline(item))
    critical.sort(key=_critical_rank, reverse=True)
    projects.sort(key=_project_rank, reverse=True)
    digest = Digest(
        types,
        priorities,
        size,
        domains,
        len(critical),
        len(projects),
        _critical_rank(critical[0]) if critical else (),
        _project_rank(projects[0]) if projects else (),
        len(shown) - len(critical) - len(projects),
        min((item.expires_at for item in live if item.expires_at), default=""),
        used_at,
        any(item.derived_from or is_outside(item.source) for item in shown),
    )
    return digest, Lines(*(tuple(lines[: _fitting(lines, room)]) for lines in (critical, projects)))


def _headline(item: MemoryItem) -> Headline:
    text = one_line(item.content)
    return Headline(
        item.id, item.type, item.importance, item.happened_at, text if len(text) <= LONGEST else "", len(text)
    )


def _critical_rank(line: Headline) -> tuple[float | str, ...]:
    """The most important come first, the newest among equals."""
    return line.importance, line.at, line.id


def _project_rank(line: Headline) -> tuple[str, ...]:
    return line.at, line.id


def _fitting(lines: Sequence[Headline], room: int) -> int:
    """How many of the first lines an index with that much room could hold at most."""
    for count, line in enumerate(lines):
        room -= len(line.text) + 1
        if room < 0:
            return count
    return len(lines)


def choose_lines(parts: Sequence[Part], room: int) -> Lines:
    """The foremost lines of all parts together."""
    critical = [(part.digest.first_critical, lambda part=part: part.load().critical) for part in parts]
    projects = [(part.digest.first_project, lambda part=part: part.load().projects) for part in parts]
    return Lines(_choose(critical, _critical_rank, room), _choose(projects, _project_rank, room))


def _choose(parts: Iterable[tuple[Any, Callable[[], Any]]], rank: Callable[[Headline], Any], room: int) -> Any:
    """The foremost lines. Parts are taken by their best; those whose best is behind what there is no room for are not opened."""
    found: list[Headline] = []
    for first, load in sorted((part for part in parts if part[0]), key=itemgetter(0), reverse=True):
        if _fitting(found, room) < len(found) and first < rank(found[-1]):
            break
        found = sorted((*found, *load()), key=rank, reverse=True)
        del found[_fitting(found, room) + 1 :]  # the one that is too much says where to stop
    return tuple(found[: _fitting(found, room)])


def add_digests(digests: Sequence[Digest]) -> Digest:
    """What several digests come to together."""
    return Digest(
        _add_counts(digest.types for digest in digests),
        _add_counts(digest.priorities for digest in digests),
        sum(digest.size for digest in digests),
        _add_domains([digest.domains for digest in digests]),
        sum(digest.critical for digest in digests),
        sum(digest.projects for digest in digests),
        max((digest.first_critical for digest in digests), default=()),
        max((digest.first_project for digest in digests), default=()),
        sum(digest.untrusted for digest in digests),
        min((digest.until for digest in digests if digest.until), default=""),
        max((digest.used_at for digest in digests), default=""),
        any(digest.derived for digest in digests),
    )


def _add_counts(parts: Iterable[dict[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        for name, count in part.items():
            total[name] = total.get(name, 0) + count
    return total


def _add_domains(parts: list[dict[str, Share]]) -> dict[str, Share]:
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: add_shares([part[name] for part in parts if name in part]) for name in names}


def add_shares(shares: Sequence[Share]) -> Share:
    """What a domain holds of several parts."""
    until = min((share.until for share in shares if share.until), default="")
    return Share(sum(share.items for share in shares), sum(share.size for share in shares), until)
