"""What merges of our JSON files share: the three versions, ids in order, and new ids for what lost its own."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple
from zlib import crc32

from mabos_cli.core.language.ids import parse_id
from mabos_cli.core.operations.three_way import merge_maps


class Merged(NamedTuple):
    """The merged file, and what somebody should know about it."""

    data: bytes
    notes: tuple[str, ...] = ()


Sides = tuple[bytes, bytes, bytes]  # the file before, ours, theirs; nothing where there was none


def read_sides(parse: Callable[[bytes, str], Any], empty: Callable[[], Any], path: str, sides: Sides) -> list[Any]:
    """The three files. Git gives an empty base where there is none; a side that is empty is malformed."""
    base = parse(sides[0], f"{path} (base)") if sides[0] else empty()
    return [base, parse(sides[1], f"{path} (ours)"), parse(sides[2], f"{path} (theirs)")]


def age_of_id(own: str) -> tuple[tuple[int, int], str]:
    """Ids in the order in which they were given out; those of other tools behind."""
    return parse_id(own) or (1 << 60, 0), own


def latest_id(ids: Iterable[str]) -> str:
    """The id that was given out last; those of other tools do not count."""
    return max((own for own in ids if parse_id(own)), key=lambda own: parse_id(own) or (0, 0), default="")


def free_id(own: str, text: bytes, taken: set[str]) -> str:
    """An id near another one, drawn from what the record says: both clones of a merge draw the same."""
    ms, draw, number = parse_id(own), crc32(text), 1
    while True:
        made = f"{own[0]}-{ms[0]}-{2 * draw % 0x10000:04x}" if ms else f"{own}-{number + 1}"
        if made not in taken:
            taken.add(made)
            return made
        draw, number = draw + 1, number + 1


def merge_extras(files: list[Any]) -> dict[str, Any]:
    """The keys of other tools, at the top of a file."""
    _, a, b = files
    newer = max(a, b, key=lambda file: (file.version, repr(file.extra)))
    return merge_maps(*(file.extra for file in files), newer.extra)
