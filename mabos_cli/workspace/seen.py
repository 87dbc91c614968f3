"""Records what was found out about files, so that commands read again only what changed since.

It is known by the stamps of the files that decide it, each of which changes with any edit. The records are local and disposable.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from zlib import crc32

from mabos_cli import __version__
from mabos_cli.errors import MabosError
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import read_bytes, replace_file, stamp_of
from mabos_cli.workspace.sources import UNSETTLED

Record = dict[str, list[Any]]  # for each name the state of what decides it, and what is known of it


class Seen:
    """Findings by kind and name: one file per kind, which keeps what the last run looked up or noted."""

    def __init__(self, agent: Agent, *, forgets: bool = False, keeps: bool = False) -> None:
        """Opens the records. One that forgets knows nothing of them, and writes them all the same; one that keeps them does not drop
        what nobody looks up."""
        self._agent, self._forgets, self._keeps = agent, forgets, keeps
        self._data: dict[str, bytes | None] = {}
        self._had: dict[str, Record] = {}
        self._now: dict[str, Record] = {}
        self._asked: dict[str, dict[str, str]] = {}

    def find(self, kind: str, name: str, files: Sequence[Path], beside: str = "") -> Any:
        """Returns what was noted while all files, and what else decides it, were as they are now; None when that is not known."""
        return self.find_state(kind, name, self._state(files, beside))

    def look(self, kind: str, name: str, files: Sequence[Path], look: Callable[[], Any], beside: str = "") -> Any:
        """Returns the same, or what a look at the files finds out, which is noted."""
        return self.look_state(kind, name, self._state(files, beside), look)

    def _state(self, files: Sequence[Path], beside: str) -> str:
        """Returns the state of files; none while one that changed just now may change again with the same stamp."""
        stamps, settled = [stamp_of(path) for path in files], time.time_ns() - UNSETTLED
        is_settled = all(int(stamp.split(":")[2]) <= settled for stamp in stamps if stamp)
        return f"{' '.join(stamps)} {beside}" if is_settled else ""

    def find_state(self, kind: str, name: str, state: str) -> Any:
        """Returns what was noted in a state; None when that is not known."""
        if kind not in self._had:
            self._load(kind)
        self._asked[kind][name] = state
        found = self._had[kind].get(name)
        if not state or not isinstance(found, list) or found[:1] != [state]:
            return None
        self._now[kind][name] = found
        return found[1]

    def look_state(self, kind: str, name: str, state: str, look: Callable[[], Any]) -> Any:
        """Returns the same, or what a look finds out, which is noted."""
        found = self.find_state(kind, name, state)
        if found is None:
            found = look()
            self.note(kind, name, found)
        return found

    def _load(self, kind: str) -> None:
        self._had[kind], self._now[kind], self._asked[kind], self._data[kind] = {}, {}, {}, None
        with suppress(MabosError, ValueError, TypeError, KeyError):  # nothing of a damaged record
            self._data[kind] = read_bytes(self._path(kind))
            sum_of, _, body = (self._data[kind] or b"").partition(b"\n")
            found = json.loads(body) if sum_of == _checksum(body) else {}
            self._had[kind] = dict(found["seen"]) if found["by"] == __version__ and not self._forgets else {}
        if self._keeps:
            self._now[kind] = dict(self._had[kind])

    def _path(self, kind: str) -> Path:
        return self._agent.paths.seen / f"{kind}.json"

    def note(self, kind: str, name: str, value: Any = True) -> None:
        """Notes what was found out since it was asked for."""
        if state := self._asked.get(kind, {}).get(name):
            self._now[kind][name] = [state, value]

    def asked(self, kind: str) -> Iterator[str]:
        """Yields the names of a kind that were asked for."""
        yield from self._asked.get(kind, ())

    def save(self) -> None:
        """Keeps what is known. Best effort: without it everything is read again."""
        for kind, now in self._now.items():
            body = json.dumps({"by": __version__, "seen": now}, separators=(",", ":"), sort_keys=True).encode()
            data = _checksum(body) + b"\n" + body
            if (now or self._data[kind]) and data != self._data[kind]:
                root = self._agent.paths.workspace.root
                with suppress(MabosError):
                    replace_file(self._path(kind), data, root=root, expect=self._data[kind])
                    self._data[kind] = data


def _checksum(body: bytes) -> bytes:
    return b"%08x" % crc32(body)
