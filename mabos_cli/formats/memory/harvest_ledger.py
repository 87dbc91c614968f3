"""The ledger of harvests: for each file of observations which of them were taken, and how far it was looked through."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from zlib import crc32

from mabos_cli.formats.json.text import dump_record, parse_lines
from mabos_cli.formats.memory.observations import QUOTED_ID

BLOCK = 4096
_LINEAGE = rb'"derived_from"\s*:\s*\[([^\]]*)\]'


class Cover(NamedTuple):
    """All of a file up to `size` is settled, for harvests that ask for `floor` of importance or more. crc is of its last block."""

    size: int
    crc: int
    floor: float = 0.0

    def fits(self, data: bytes) -> bool:
        """Whether a file still begins as it did."""
        return len(data) >= self.size and crc_before(data, self.size) == self.crc


class Ledger(NamedTuple):
    """What is known about one file."""

    ids: frozenset[str] = frozenset()
    covers: tuple[Cover, ...] = ()

    def find_cover(self, data: bytes, floor: float) -> Cover:
        """What of the file needs no second look: the largest part, for the lowest floor that it is settled for."""
        ordered = sorted(self.covers, key=lambda cover: (-cover.size, cover.floor))
        return next((c for c in ordered if c.floor <= floor and c.fits(data)), Cover(0, 0))


def crc_before(data: bytes, size: int) -> int:
    """A checksum of the last block before a place in a file."""
    return crc32(data[max(0, size - BLOCK) : size])


def parse_ledger(data: bytes) -> Ledger:
    """The ledger in its lines, in whatever order. Torn lines are passed over: what is missing is looked up again."""
    ids: set[str] = set()
    covers: list[Cover] = []
    for record in parse_lines(data)[0]:
        if not isinstance(record, dict):
            continue
        if isinstance(record.get("ids"), list):
            ids.update(part for part in record["ids"] if isinstance(part, str))
        size, crc, floor = (record.get(name, 0) for name in Cover._fields)
        if isinstance(size, int) and isinstance(crc, int) and isinstance(floor, int | float) and size > 0:
            covers.append(Cover(size, crc, float(floor)))
    return Ledger(frozenset(ids), tuple(covers))


def render_taken(ids: Sequence[str], at: str) -> bytes:
    """A line that says which observations were taken."""
    return dump_record({"at": at, "ids": list(ids)})


def render_cover(cover: Cover) -> bytes:
    """A line that says how far a file was looked through."""
    record = cover._asdict()
    if not cover.floor:
        del record["floor"]
    return dump_record(record)


def last_cover(tail: bytes) -> Cover | None:
    """The cover on the last line of a ledger, from its end alone; None when it does not end with one."""
    covers = parse_ledger(tail.rstrip(b"\n").rpartition(b"\n")[2]).covers
    return covers[0] if covers else None


def names_any(data: bytes, ids: Iterable[str]) -> set[str]:
    """Which ids stand in the lineage of an item in the text of a file, whatever its layout. Elsewhere they make nothing of it."""
    found = (match for lineage in re.findall(_LINEAGE, data) for match in QUOTED_ID.findall(lineage))
    return {match.decode() for match in found}.intersection(ids)
