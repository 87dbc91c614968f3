"""Records which files were checked and found in order, so that maintenance reads again only what changed since.

It is known by the stamps of the files that decide it, each of which changes with any edit. The records are local and disposable.
"""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from mabos_cli import __version__
from mabos_cli.errors import MabosError
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import read_bytes, replace_file, stamp_of
from mabos_cli.workspace.sources import UNSETTLED

Record = dict[str, list[Any]]  # for each name the state of what decides it, and what is known of it


class Seen:
    """Findings by kind and name: one file per kind, which keeps what the last run looked up or noted."""

    def __init__(self, agent: Agent, *, forgets: bool = False) -> None:
        """Opens the records. One that forgets knows nothing of them, and is kept all the same."""
        self._agent, self._forgets = agent, forgets
        self._data: dict[str, bytes | None] = {}
        self._had: dict[str, Record] = {}
        self._now: dict[str, Record] = {}
        self._asked: dict[str, dict[str, str]] = {}

    def find(self, kind: str, name: str, files: Sequence[Path], beside: str = "") -> Any:
        """Returns what was noted while all files, and what else decides it, were as they are now; None when that is not known."""
        stamps = [stamp_of(path) for path in files]
        settled = time.time_ns() - UNSETTLED
        if any(int(stamp.split(":")[2]) > settled for stamp in stamps if stamp):
            return None  # a file that changed just now may change again with the same stamp
        return self.find_state(kind, name, f"{' '.join(stamps)} {beside}")

    def find_state(self, kind: str, name: str, state: str) -> Any:
        """Returns what was noted in a state; None when that is not known."""
        if kind not in self._had:
            self._load(kind)
        self._asked[kind][name] = state
        found = self._had[kind].get(name)
        if not isinstance(found, list) or found[:1] != [state]:
            return None
        self._now[kind][name] = found
        return found[1]

    def _load(self, kind: str) -> None:
        self._had[kind], self._now[kind], self._asked[kind], self._data[kind] = {}, {}, {}, None
        with suppress(MabosError, ValueError, TypeError, KeyError):  # nothing of a damaged record
            self._data[kind] = read_bytes(self._path(kind))
            found = json.loads(self._data[kind] or b"{}")
            self._had[kind] = dict(found["seen"]) if found["by"] == __version__ and not self._forgets else {}

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
            data = json.dumps({"by": __version__, "seen": now}, separators=(",", ":"), sort_keys=True).encode()
            if data != self._data[kind]:
                root = self._agent.paths.workspace.root
                with suppress(MabosError):
                    replace_file(self._path(kind), data, root=root, expect=self._data[kind])
