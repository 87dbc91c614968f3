"""The archive: append-only, one file per month, everything that ever left a store."""

import re
from collections.abc import Iterable, Iterator

from mabos_cli.core.language.ids import month_of, parse_id
from mabos_cli.core.memory.stores import Departure
from mabos_cli.formats.memory.items import lines_naming, parse_archive
from mabos_cli.workspace.files import append_bytes, list_names, read_bytes
from mabos_cli.workspace.layout import AgentPaths

_IDS = rb'(?m)^\{"id": "(M-\d+-[0-9a-f]{4})"'


def archive_files(paths: AgentPaths) -> list[str]:
    """The names of the archive's files, oldest first."""
    return [name for name in list_names(paths.archive) if name.endswith(".jsonl")]


def append_records(paths: AgentPaths, records: Iterable[tuple[str, bytes]]) -> None:
    """Adds lines to the files of the months in which what they tell of left."""
    months: dict[str, list[bytes]] = {}
    for at, line in records:
        months.setdefault(at[:7], []).append(line)
    for month, lines in months.items():
        append_bytes(paths.archive / f"{month}.jsonl", b"".join(lines), root=paths.workspace.root)


def find_departures(paths: AgentPaths, item_id: str) -> list[Departure]:
    """All records about an id, oldest first. An item cannot have left before the month it was made in."""
    earliest = month_of(item_id, "") if parse_id(item_id) else ""
    return find_all_departures(paths, [item_id], earliest)[item_id]


def find_all_departures(paths: AgentPaths, ids: Iterable[str], earliest: str = "") -> dict[str, list[Departure]]:
    """All records about each of some ids, oldest first; each file from a month on is read once."""
    found: dict[str, list[Departure]] = {item_id: [] for item_id in ids}
    for name in archive_files(paths) if found else ():
        data = read_bytes(paths.archive / name) or b"" if name[:7] >= earliest else b""
        for item_id, left in found.items():
            left += parse_archive(lines_naming(data, item_id), f"archive/{name}")[0]
    for left in found.values():  # git puts the lines of two branches behind one another
        left.sort(key=lambda departure: departure.at)
    return found


def all_departures(paths: AgentPaths) -> Iterator[Departure]:
    """Every record, oldest file first."""
    for name in archive_files(paths):
        yield from parse_archive(read_bytes(paths.archive / name) or b"", f"archive/{name}")[0]


def archived_ids(paths: AgentPaths) -> Iterator[str]:
    """Every id in the archive, by text."""
    for name in archive_files(paths):
        for match in re.finditer(_IDS, read_bytes(paths.archive / name) or b""):
            yield match[1].decode()
