"""trust.jsonl of an agent, append-only and under git: what persons decided about items. And what follows for all others."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.ids import day_of
from mabos_cli.core.language.patterns import compiled_bytes
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.memory.stores import Memory, locate
from mabos_cli.core.memory.trust import (
    OBSERVATION,
    OUTSIDE,
    Claim,
    Decision,
    Judgement,
    Ruling,
    TrustJudge,
    find_rulings,
    is_untrusted,
    judge,
    lowest_trust,
    needs_voucher,
    trust_by_source,
    trust_rank,
    vouch,
)
from mabos_cli.formats.memory import items
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.archive import find_departures
from mabos_cli.workspace.files import read_bytes
from mabos_cli.workspace.layout import AgentPaths
from mabos_cli.workspace.memory.store import LongTermView

if TYPE_CHECKING:
    from mabos_cli.formats.memory.observations import NamedLines

_OUTSIDE = rb'(?i)"source": "\s*(?:%s)' % "|".join(OUTSIDE).encode()
_PLAIN = (b'"trust": "agent"', b'"trust": "trusted"')
_DERIVED, _UNTRUSTED = b'"derived_from": ', b'"untrusted"'


def load_decisions(paths: AgentPaths) -> tuple[list[Decision], int]:
    """Returns the decisions on an agent's items, oldest first, and how many lines cannot be read."""
    return items.parse_decisions(read_bytes(paths.trust_log) or b"")


def load_rulings(paths: AgentPaths) -> dict[str, Ruling]:
    """Returns what persons decided about an agent's items, by id."""
    return find_rulings(load_decisions(paths)[0])


def voucher_lines(agent: Agent, by: str, entries: Iterable[tuple[Claim, str]]) -> list[tuple[Path, bytes]]:
    """Returns the lines of the log by which a person vouches for entries, each given with its text; none without a name."""
    at = format_time(agent.now())
    return [(agent.paths.trust_log, items.render_decision(vouch(*entry, by, at))) for entry in entries if by]


class Observed:
    """The observations that their records trust, for the lineage of items. The file of a day is read when one of it is asked for."""

    def __init__(self, paths: AgentPaths) -> None:
        self._paths = paths
        self._days: dict[str, NamedLines] = {}

    def find(self, observation_id: str) -> MemoryItem | None:
        """Returns an item that represents an observation in a lineage; None for one that is untrusted or not in the file of its day.

        A day may have ten thousand: only the lines that name the id are decoded, and the least of them counts.
        """
        if not (day := day_of(observation_id)):
            return None
        from mabos_cli.formats.memory.observations import NamedLines, parse_observations

        if day not in self._days:
            self._days[day] = NamedLines(read_bytes(self._paths.observations / f"{day}.jsonl") or b"")
        named = parse_observations(self._days[day].find(observation_id), day)
        observations = [line.observation for line in named if line.id == observation_id]
        trusts = [trust_by_source(one.trust, one.source) for one in observations if one]
        trust = lowest_trust(trusts) if observations else ""
        return MemoryItem(observation_id, "", trust=trust) if trust_rank(trust) else None


class Judge(TrustJudge):
    """How far an agent's items are trusted, all that they derive from considered. Files are read when somebody asks."""

    def __init__(self, paths: AgentPaths, memory: Memory) -> None:
        self._paths = paths
        self._memory = memory
        self._observed = Observed(paths)
        self._found: dict[str, MemoryItem | None] = {}

    @cached_property
    def rulings(self) -> dict[str, Ruling]:
        return find_rulings(items.parse_decisions(read_bytes(self._paths.trust_log) or b"")[0])

    def __call__(self, item: MemoryItem) -> str:
        """Returns the effective trust of an item."""
        return judge(item, self.find, self.rulings).trust

    def judge(self, item: MemoryItem) -> Judgement:
        """Returns the effective trust of an item, with what decides it."""
        return judge(item, self.find, self.rulings)

    def find(self, item_id: str) -> MemoryItem | None:
        """Returns an item, live or as it was when it left, or an observation that is trusted."""
        if item_id.startswith(OBSERVATION):
            return self._observed.find(item_id)
        if item_id not in self._found:
            live = locate(self._memory, item_id)
            gone = None if live else find_departures(self._paths, item_id)
            self._found[item_id] = live[1] if live else gone[-1].item if gone else None
        return self._found[item_id]


def find_doubtful(
    memory: Memory, rulings: Mapping[str, Ruling], without: Collection[str] = ()
) -> Iterator[tuple[str, MemoryItem]]:
    """Yields the live items that may be trusted less than they say, or not at all, with their stores, but for those of some pages.

    In long-term memory the others are known by their lines, and not even decoded.
    """
    for store in ("working", "short_term"):
        yield from ((store, item) for item in getattr(memory, store))
    view = memory.long_term
    assert isinstance(view, LongTermView)
    for line in view.store.lines(without):
        item_id = items.line_id(line)
        if item_id not in view.put and (item_id in rulings or not is_plain(line)):
            yield "long_term", items.parse_item(line, "memory-store.json")
    yield from (("long_term", item) for item in view.put.values())


def overrated_items(
    agent: Agent, memory: Memory, without: Collection[str] = ()
) -> Iterator[tuple[str, MemoryItem, str]]:
    """Yields the live items that say that they are trusted more than they are, each with its store and the trust that it has, but
    for those of some pages."""
    judge = Judge(agent.paths, memory)
    for store, item in find_doubtful(memory, judge.rulings, without):
        trust = judge(item)
        if trust_rank(trust) < trust_rank(item.trust):
            yield store, item, trust


def is_plain(line: bytes) -> bool:
    """Returns whether the line of an item says that it is trusted, derives from nothing and comes from no outside source;
    another tool's keys make it doubtful."""
    is_stated = line.count(b'"trust": "') == 1 and any(word in line for word in _PLAIN)
    return is_stated and _DERIVED not in line and not compiled_bytes(_OUTSIDE).search(line)


def untrusted_in_store(path: Path) -> list[tuple[str, str]]:
    """Returns the untrusted items of memory-store.json or one of its pages, each with the day that it was stored on."""
    found = _select(path, lambda data: _UNTRUSTED in data)
    return [(item.id, item.created_at[:10]) for item in found if is_untrusted(item)]


def outside_in_store(path: Path) -> list[tuple[str, str]]:
    """Returns the items of such a file that claim more trust than their outside source has, as untrusted_in_store does."""
    found = _select(path, lambda data: bool(compiled_bytes(_OUTSIDE).search(data)))
    return [(item.id, item.created_at[:10]) for item in found if needs_voucher(item.trust, item.source)]


def _select(path: Path, is_candidate: Callable[[bytes], bool]) -> list[MemoryItem]:
    """Decodes the recent items of a file and the others whose lines are candidates; none where the whole file is no candidate."""
    data = read_bytes(path)
    if not data or not is_candidate(data):
        return []
    held = items.parse_store(data, path.name)
    lasting = [items.parse_item(line, path.name) for line in held.long_term if is_candidate(line)]
    return [*held.working, *held.short_term, *lasting]


def untrusted_in_archive(path: Path) -> list[tuple[str, str]]:
    """Returns the items of an archive file that left it untrusted, each with the day that it was stored on."""
    lines = [line for line in (read_bytes(path) or b"").split(b"\n") if _UNTRUSTED in line]
    departures = items.parse_archive(b"\n".join(lines), path.name)[0]
    return [(d.item.id, d.item.created_at[:10]) for d in departures if is_untrusted(d.item)]
