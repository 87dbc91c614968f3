"""What of the observations waits to be harvested, and the ledger that says what does not.

The ledger lies beside the observations, under git: a clone harvests nothing twice. It is written behind the items, so that a
crash in between leaves items that it does not know; those are found by the observations that they derive from.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from mabos_cli.core.memory.observation import Observation
from mabos_cli.formats.memory.observations import (
    BLOCK,
    Cover,
    HarvestLedger,
    Line,
    complete_size,
    crc_before,
    last_cover,
    numbered_ids,
    parse_harvests,
    parse_observations,
    render_cover,
    render_taken,
)
from mabos_cli.workspace.files import append_bytes, read_bytes, read_end
from mabos_cli.workspace.layout import AgentPaths
from mabos_cli.workspace.memory.observations import observation_files

_TAIL = 512


class Waiting(NamedTuple):
    """A file with lines that no harvest has settled: those that wait, those that say nothing, and the cover once all is settled."""

    name: str
    lines: tuple[Line, ...]
    faults: tuple[Line, ...]
    cover: Cover
    is_noted: bool  # the ledger has that cover already


def load_ledger(paths: AgentPaths, name: str) -> HarvestLedger:
    """What is known about a file of observations."""
    return parse_harvests(read_bytes(paths.harvest_ledger(name)) or b"")


def find_waiting(paths: AgentPaths, floor: float) -> Iterator[Waiting]:
    """The files that hold something to settle, oldest day first. A file that was settled is not read again."""
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
        yield Waiting(name, tuple(lines), tuple(line for line in found if line.fault), cover, noted)


def _unsettled(paths: AgentPaths, floor: float, *, check: bool) -> Iterator[str]:
    """The files of which the ledger does not end by saying that all is settled; with check, the end of the file must also be what
    it was. There may be years of files: a look at one costs little more than the calls that it takes."""
    folder, ledgers = os.fspath(paths.observations), os.fspath(paths.harvest_ledgers)
    for name in observation_files(paths):
        cover, path = last_cover(read_end(f"{ledgers}/{name}", _TAIL)), f"{folder}/{name}"
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
    """How many observations wait. A file that was settled costs no more than a look at its size, and of one that holds
    nothing but lines of ours no line is decoded."""
    waiting: set[str] = set()
    for name in _unsettled(paths, floor, check=False):
        data, ledger = read_bytes(paths.observations / name) or b"", load_ledger(paths, name)
        start = min(ledger.find_cover(data, floor).size, complete_size(data))
        waiting.update(i for _, i in numbered_ids(data, name, start) if i not in ledger.ids)
    return len(waiting)


def note_taken(paths: AgentPaths, taken: Iterable[tuple[str, Observation]], at: str) -> None:
    """Notes durably which observations of which files were taken."""
    by_file: dict[str, list[str]] = {}
    for name, observation in taken:
        by_file.setdefault(name, []).append(observation.id)
    for name, ids in by_file.items():
        append_bytes(paths.harvest_ledger(name), render_taken(ids, at), root=paths.workspace.root)


def note_settled(paths: AgentPaths, files: Sequence[Waiting]) -> None:
    """Notes how far files were looked through, as far as that is news."""
    for waiting in files:
        if not waiting.is_noted and waiting.cover.size:
            data = render_cover(waiting.cover)
            append_bytes(paths.harvest_ledger(waiting.name), data, root=paths.workspace.root)


def harvested_lines(paths: AgentPaths, name: str, data: bytes) -> frozenset[int]:
    """The numbers of the lines of a file that became items: whoever searches finds those."""
    ids = load_ledger(paths, name).ids
    return frozenset(number for number, i in (numbered_ids(data, name) if ids else ()) if i in ids)
