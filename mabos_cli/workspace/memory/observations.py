"""Observations on disk: appended to the file of their day, without waiting for anybody who writes memory, and read again."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.ids import month_of, parse_id
from mabos_cli.core.memory.observation import Observation
from mabos_cli.formats.memory.items import line_id, opening
from mabos_cli.formats.memory.observations import (
    BLOCK,
    Cover,
    HarvestLedger,
    Line,
    complete_size,
    crc_before,
    last_cover,
    names_any,
    numbered_ids,
    opening_ids,
    parse_harvests,
    parse_observations,
    render_chosen,
    render_cover,
    render_observation,
    render_taken,
)
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.archive import archive_files
from mabos_cli.workspace.files import append_bytes, list_names, read_bytes, read_end
from mabos_cli.workspace.layout import DAY, AgentPaths
from mabos_cli.workspace.lock import locked
from mabos_cli.workspace.runtime import IdSource

_TAIL = 1 << 16


class Found(NamedTuple):
    """An observation and the file and line that hold it."""

    observation: Observation
    name: str
    line: int


def observation_files(paths: AgentPaths) -> list[str]:
    """Returns the names of the files of observations, oldest day first. What is noted of transcripts lies beside them, and is none."""
    names = list_names(paths.observations)
    return [name for name in names if name.endswith(".jsonl") and name != paths.transcript_ledger.name]


def append_observations(agent: Agent, observations: Sequence[Observation]) -> list[Observation]:
    """Appends observations durably to the file of this day, all or none. They come back with their ids."""
    if not observations:
        return []
    paths, day = agent.paths, format_time(agent.now())[:10]
    with locked(paths.capture_lock, paths.workspace.root, agent.settings["lock.timeout"]) as lock:
        last = lock.left_behind.strip(b"\0\n").decode("ascii", "replace")
        mint = IdSource(agent.now(), last if parse_id(last) else _last_id(paths), letter="O")
        kept = [observation._replace(id=mint()) for observation in observations]
        lock.note(mint.last.encode())
        data = b"".join(map(render_observation, kept))
        append_bytes(paths.observations / f"{day}.jsonl", data, root=paths.workspace.root)
    return kept


def _last_id(paths: AgentPaths) -> str:
    """Returns the last id in the newest file, for a clone in which nothing was captured yet."""
    days = [name for name in observation_files(paths) if re.match(DAY, name)]
    ids = opening_ids(read_end(paths.observations / days[-1], _TAIL)) if days else []
    return max((i for i in ids if parse_id(i)), key=lambda i: parse_id(i) or (0, 0), default="")


def find_observation(paths: AgentPaths, observation_id: str) -> Found | None:
    """Returns the observation with an id, or None. Files are searched as text; only one that has the id is decoded."""
    mark = f'"{observation_id}"'.encode()
    is_random = parse_id(observation_id) is None  # made from the line, which does not hold it
    for name in reversed(observation_files(paths)):
        data = read_bytes(paths.observations / name) or b""
        if not is_random and mark not in data:
            continue
        for line in parse_observations(data, name):
            if line.id == observation_id and line.observation:
                return Found(line.observation, name, line.number)
    return None


def stored_already(paths: AgentPaths, ids: Sequence[str]) -> set[str]:
    """Returns which observations stand in the lineage of an item, live or archived, by the text of the files.

    An item is not older than its observation: earlier pages and archives are passed over.
    """
    months = [month_of(i, "") if parse_id(i) else "" for i in ids]
    earliest = min(months, default="")
    pages = paths.store_pages
    places = [paths.store]
    places += [pages / n for n in list_names(pages) if n[:7] >= earliest or not n[:1].isdigit()]
    places += [paths.archive / n for n in archive_files(paths) if n[:7] >= earliest]
    wanted, found = set(ids), set()
    for place in places:
        found |= names_any(read_bytes(place) or b"", wanted)
    return found


def items_of(agent: Agent, observation_id: str) -> list[str]:
    """Returns the ids of the items that an observation became part of, live or archived."""
    loaded = agent.load()
    recent = (*loaded.head.working, *loaded.head.short_term)
    found = [item.id for item in recent if observation_id in item.derived_from]
    found += [line_id(line) for line in loaded.long_term.lines() if _derives(line, observation_id)]
    for name in archive_files(agent.paths):
        lines = (read_bytes(agent.paths.archive / name) or b"").split(b"\n")
        items = (line for line in lines if line.startswith(opening("")[:8]))
        found += [line_id(line) for line in items if _derives(line, observation_id)]
    return sorted(dict.fromkeys(found))


def _derives(line: bytes, observation_id: str) -> bool:
    """Returns whether the item on a line derives from an observation."""
    return observation_id.encode() in line and bool(names_any(line, (observation_id,)))


_LEDGER_TAIL = 512


class Waiting(NamedTuple):
    """A file with lines that no harvest has settled: those that wait, those that say nothing, and the cover once all is settled."""

    name: str
    lines: tuple[Line, ...]
    faults: tuple[Line, ...]
    cover: Cover
    is_noted: bool  # the ledger has that cover already
    ledger: HarvestLedger = HarvestLedger()


def load_ledger(paths: AgentPaths, name: str) -> HarvestLedger:
    """Returns what is known about a file of observations."""
    return parse_harvests(read_bytes(paths.harvest_ledger(name)) or b"")


def find_waiting(paths: AgentPaths, floor: float) -> Iterator[Waiting]:
    """Yields the files that hold something to settle, oldest day first. A file that was settled is not read again."""
    seen: set[str] = set()
    for name in _unsettled(paths, floor, check=True):
        data, ledger = read_bytes(paths.observations / name) or b"", load_ledger(paths, name)
        size, settled = complete_size(data), ledger.find_cover(data, floor)
        found = list(parse_observations(data, name, min(settled.size, size)))
        lines = []
        for line in found:
            if line.observation and line.id not in ledger.ids and line.id not in seen:
                lines.append(line)
                seen.add(line.id)
        cover = Cover(size, crc_before(data, size), settled.floor)
        noted = any(c[:2] == cover[:2] and c.floor <= floor for c in ledger.covers)
        yield Waiting(name, tuple(lines), tuple(line for line in found if line.fault), cover, noted, ledger)


def _unsettled(paths: AgentPaths, floor: float, *, check: bool) -> Iterator[str]:
    """Yields the files of which the ledger does not end by saying that all is settled; with check, the end of the file must also be what
    it was. There may be years of files: a look at one costs little more than the calls that it takes."""
    folder, ledgers = os.fspath(paths.observations), os.fspath(paths.harvest_ledgers)
    for name in observation_files(paths):
        cover, path = last_cover(read_end(f"{ledgers}/{name}", _LEDGER_TAIL)), f"{folder}/{name}"
        settled = cover is not None and cover.floor <= floor and cover.size == _size(path)
        if settled and check:
            block = read_end(path, BLOCK)
            settled = cover is not None and crc_before(block, len(block)) == cover.crc
        if not settled:
            yield name


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def count_waiting(paths: AgentPaths, floor: float) -> int:
    """Returns how many observations wait. A file that was settled costs no more than a look at its size, and of one that holds
    nothing but lines of ours no line is decoded."""
    waiting: set[str] = set()
    for name in _unsettled(paths, floor, check=False):
        data, ledger = read_bytes(paths.observations / name) or b"", load_ledger(paths, name)
        start = min(ledger.find_cover(data, floor).size, complete_size(data))
        waiting.update(i for _, i in numbered_ids(data, name, start) if i not in ledger.ids)
    return len(waiting)


def taken_lines(paths: AgentPaths, taken: Iterable[tuple[str, str]], at: str) -> list[tuple[Path, bytes]]:
    """Returns the lines for the ledgers that say which observations, by their files and ids, were taken."""
    return [(paths.harvest_ledger(name), render_taken(ids, at)) for name, ids in _by_file(taken).items()]


def chosen_lines(paths: AgentPaths, chosen: Sequence[tuple[str, str, str]], at: str) -> list[tuple[Path, bytes]]:
    """Returns the lines for the ledgers that say which candidates, by their files, observations and ids, were taken or left."""
    of = _by_file((name, seen) for name, seen, _ in chosen)
    ids = _by_file((name, candidate) for name, _, candidate in chosen)
    return [(paths.harvest_ledger(name), render_chosen(ids[name], of[name], at)) for name in ids]


def _by_file(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, each in pairs:
        found.setdefault(name, []).append(each)
    return found


def settled_lines(paths: AgentPaths, files: Sequence[Waiting]) -> list[tuple[Path, bytes]]:
    """Returns the lines for the ledgers that say how far files were looked through, as far as that is news."""
    news = (waiting for waiting in files if not waiting.is_noted and waiting.cover.size)
    return [(paths.harvest_ledger(waiting.name), render_cover(waiting.cover)) for waiting in news]


def harvested_lines(paths: AgentPaths, name: str, data: bytes) -> frozenset[int]:
    """Returns the numbers of the lines of a file that became items: whoever searches finds those."""
    ids = load_ledger(paths, name).ids
    return frozenset(number for number, i in (numbered_ids(data, name) if ids else ()) if i in ids)
