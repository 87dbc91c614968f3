"""The archive: append-only, one file per month, everything that ever left a store."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from mabos_cli.core.language.ids import month_of, parse_id
from mabos_cli.core.language.patterns import compiled_bytes
from mabos_cli.core.memory.stores import Departure
from mabos_cli.errors import MabosError
from mabos_cli.formats.memory.items import lines_naming, parse_archive
from mabos_cli.workspace.files import append_bytes, list_names, list_stems, read_bytes, replace_file, stamp_of
from mabos_cli.workspace.layout import AgentPaths

_IDS = rb'(?m)^\{"id": "(M-\d+-[0-9a-f]{4})"'
_REASONS = _IDS + rb', "kind": "item", "reason": "(\w+)'
_RECEIPT = rb'(?m)^\{"at": "([^"]+)", "agent": "([^"]*)", "command": "([^"]+)", "ids": \[([^]]*)\]'
_ANYWAY = 4  # files that change from one day to the next
_LOOKED_AT = 20
_VERSIONS = ("updated", "trust")  # an earlier form of an item that stays


def archive_files(paths: AgentPaths) -> list[str]:
    """Returns the names of the archive's files, oldest first."""
    return [name for name in list_names(paths.archive) if name.endswith(".jsonl")]


def append_records(paths: AgentPaths, records: Iterable[tuple[str, bytes]]) -> None:
    """Adds lines to the files of the months in which what they tell of left."""
    months: dict[str, list[bytes]] = {}
    for at, line in records:
        months.setdefault(at[:7], []).append(line)
    for month, lines in months.items():
        append_bytes(paths.archive / f"{month}.jsonl", b"".join(lines), root=paths.workspace.root)


def find_departures(paths: AgentPaths, item_id: str, *, is_live: bool = False) -> list[Departure]:
    """Returns all records about an id, oldest first. An item leaves after it was made, but a clock that was ahead dates ids into the
    future: where later files have nothing of an item that is gone, those of earlier months are read too."""
    earliest = month_of(item_id, "") if parse_id(item_id) else ""
    left = find_all_departures(paths, [item_id], earliest)[item_id]
    return left if left or is_live else find_all_departures(paths, [item_id])[item_id]


def find_all_departures(paths: AgentPaths, ids: Iterable[str], earliest: str = "") -> dict[str, list[Departure]]:
    """Returns all records about each of some ids, oldest first; each file from a month on is read once."""
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


class Known:
    """Counts of the archive, the stores and the receipts of an agent by file; only files that changed are read again."""

    def __init__(self, paths: AgentPaths) -> None:
        self._paths, self._path = paths, paths.status_cache
        self._data = read_bytes(self._path)
        self._had: dict[str, Any] = {}
        self._now: dict[str, Any] = {}
        self._counted = 0
        with suppress(ValueError, AttributeError):
            self._had = dict(json.loads(self._data or b"{}"))

    def _of(self, path: Path, count: Callable[[bytes], Any]) -> Any:
        """Returns what a file comes to: as it is known, or counted now."""
        name, stamp = f"{path.parent.name}/{path.name}", stamp_of(path)
        known = self._had.get(name)
        if not (isinstance(known, list) and known[0] == stamp):
            known = [stamp, count(read_bytes(path) or b"")]
            self._counted += 1
        self._now[name] = known
        return known[1]

    def left(self, revived: Iterable[str], is_live: Callable[[str], bool]) -> Counter[str]:
        """Returns how many items left and are not live, by the reason. An item may have left in several months: of those that were
        revived or forgotten, some are looked at one by one; for the others, the last reason of their month counts."""
        total, again = Counter[str](), set(revived)
        for name in archive_files(self._paths):
            counts, forgotten = self._of(self._paths.archive / name, _count_reasons)
            total.update(counts)
            again |= {*forgotten}
        for item_id, records in find_all_departures(self._paths, sorted(again)[-_LOOKED_AT:]).items():
            months = {left.at[:7]: word for left in records if (word := _word(left.reason)) not in _VERSIONS}
            total.subtract(months.values())
            total.update([*months.values()][-1:] if not is_live(item_id) else ())
        return total

    def untrusted(self) -> int:
        """Returns how many live items are untrusted."""
        pages = [self._paths.store_page(page) for page in list_stems(self._paths.store_pages, ".json")]
        stores = (self._paths.store, *pages)
        return sum(self._of(path, lambda data: data.count(b'"trust": "untrusted"')) for path in stores)

    def runs(self) -> tuple[dict[str, str], set[str]]:
        """Returns when each command last wrote anything, and the items that were ever revived."""
        workspace, agent = self._paths.workspace, self._paths.id.encode()
        last, revived = dict[str, str](), set[str]()
        for day in list_stems(workspace.receipts_folder, ".jsonl"):
            runs, ids = self._of(workspace.receipts(day), lambda data: _count_runs(data, agent))
            last |= runs
            revived |= {*ids}
        return last, revived

    def save(self) -> None:
        """Keeps what is known, if that saves much: store, archive and receipts of the day are counted again anyway. Best effort."""
        if self._counted > _ANYWAY:
            data = json.dumps(self._now, separators=(",", ":")).encode()
            with suppress(MabosError):
                replace_file(self._path, data, root=self._paths.workspace.root, expect=self._data)


def _word(reason: str) -> str:
    return reason.partition(":")[0]


def _count_reasons(data: bytes) -> tuple[dict[str, int], list[str]]:
    last = {item_id.decode(): word.decode() for item_id, word in compiled_bytes(_REASONS).findall(data)}
    kept = {item_id: word for item_id, word in last.items() if word not in _VERSIONS}
    return dict(Counter(kept.values())), [item_id for item_id, word in kept.items() if word == "forgotten"]


def _count_runs(data: bytes, agent: bytes) -> tuple[dict[str, str], list[str]]:
    found = [(at, command, ids) for at, name, command, ids in compiled_bytes(_RECEIPT).findall(data) if name == agent]
    revived = [each for _, command, ids in found if command == b"revive" for each in re.findall(rb"M-[\w-]+", ids)]
    return {command.decode(): at.decode() for at, command, _ in found}, [each.decode() for each in revived]
