"""Observations on disk: appended to the file of their day, without waiting for anybody who writes memory, and read again."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.ids import month_of, parse_id
from mabos_cli.core.memory.observation import Observation
from mabos_cli.formats.memory.items import line_id, opening
from mabos_cli.formats.memory.observations import names_any, opening_ids, parse_observations, render_observation
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.archive import archive_files
from mabos_cli.workspace.files import append_bytes, list_names, read_bytes, read_end
from mabos_cli.workspace.layout import DAY, AgentPaths
from mabos_cli.workspace.lock import locked
from mabos_cli.workspace.world import Mint

_TAIL = 1 << 16


class Found(NamedTuple):
    """An observation and the file and line that hold it."""

    observation: Observation
    name: str
    line: int


def observation_files(paths: AgentPaths) -> list[str]:
    """The names of the files of observations, oldest day first. What is noted of transcripts lies beside them, and is none."""
    names = list_names(paths.observations)
    return [name for name in names if name.endswith(".jsonl") and name != paths.transcript_ledger.name]


def append_observations(agent: Agent, observations: Sequence[Observation]) -> list[Observation]:
    """Appends observations durably to the file of this day, all or none. They come back with their ids."""
    if not observations:
        return []
    paths, day = agent.paths, format_time(agent.now())[:10]
    with locked(paths.capture_lock, paths.workspace.root, agent.settings["lock.timeout"]) as lock:
        last = lock.left_behind.strip(b"\0\n").decode("ascii", "replace")
        mint = Mint(agent.now(), last if parse_id(last) else _last_id(paths), letter="O")
        kept = [observation._replace(id=mint()) for observation in observations]
        lock.note(mint.last.encode())
        data = b"".join(map(render_observation, kept))
        append_bytes(paths.observations / f"{day}.jsonl", data, root=paths.workspace.root)
    return kept


def _last_id(paths: AgentPaths) -> str:
    """The last id in the newest file, for a clone in which nothing was captured yet."""
    days = [name for name in observation_files(paths) if re.match(DAY, name)]
    ids = opening_ids(read_end(paths.observations / days[-1], _TAIL)) if days else []
    return max((i for i in ids if parse_id(i)), key=lambda i: parse_id(i) or (0, 0), default="")


def find_observation(paths: AgentPaths, observation_id: str) -> Found | None:
    """The observation with an id, wherever it stands, or None. Files are searched by text; only one that names it is decoded."""
    mark = f'"{observation_id}"'.encode()
    drawn = parse_id(observation_id) is None  # from a line that does not hold it
    for name in reversed(observation_files(paths)):
        data = read_bytes(paths.observations / name) or b""
        if not drawn and mark not in data:
            continue
        for line in parse_observations(data, name):
            if line.id == observation_id and line.observation:
                return Found(line.observation, name, line.number)
    return None


def stored_already(paths: AgentPaths, ids: Sequence[str]) -> set[str]:
    """Which observations stand in the lineage of an item, live or archived, by the text of the files.

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
    """The ids of the items that an observation became part of, live or archived."""
    loaded = agent.load()
    recent = (*loaded.head.working, *loaded.head.short_term)
    found = [item.id for item in recent if observation_id in item.derived_from]
    found += [line_id(line) for line in loaded.shelf.lines() if _derives(line, observation_id)]
    for name in archive_files(agent.paths):
        lines = (read_bytes(agent.paths.archive / name) or b"").split(b"\n")
        items = (line for line in lines if line.startswith(opening("")[:8]))
        found += [line_id(line) for line in items if _derives(line, observation_id)]
    return sorted(dict.fromkeys(found))


def _derives(line: bytes, observation_id: str) -> bool:
    """Whether the item on a line derives from an observation."""
    return observation_id.encode() in line and bool(names_any(line, (observation_id,)))
