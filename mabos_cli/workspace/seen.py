"""What of an agent was looked at and found to be in order, so that upkeep reads again only what changed since.

It is known by the stamps of the files that decide it, each of which changes with any edit. The record is local and disposable.
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


class Seen:
    """What is known by kind and name. A kind that was asked for is kept as it was found in this run, and no more."""

    def __init__(self, agent: Agent, *, forgets: bool = False) -> None:
        """Opens the record. One that forgets knows nothing of it, and is kept all the same."""
        self._agent = agent
        self._data = read_bytes(agent.paths.seen)
        self._had: dict[str, dict[str, Any]] = {}
        self._now: dict[str, dict[str, Any]] = {}
        self._asked: dict[tuple[str, str], str] = {}
        with suppress(ValueError, AttributeError, TypeError, KeyError):
            found = json.loads(self._data or b"{}")
            self._had = (
                {kind: dict(found[kind]) for kind in found.keys() - {"by"}} if found["by"] == __version__ else {}
            )
        self._forgets = forgets

    def find(self, kind: str, name: str, files: Sequence[Path], beside: str = "") -> Any:
        """Returns what was noted while all files, and what else decides it, were as they are now; None when that is not known."""
        now = self._now.setdefault(kind, {})
        stamps = [stamp_of(path) for path in files]
        settled = time.time_ns() - UNSETTLED
        if any(int(stamp.split(":")[2]) > settled for stamp in stamps if stamp):
            return None  # a file that changed just now may change again with the same stamp
        self._asked[kind, name] = f"{' '.join(stamps)} {beside}"
        known = {} if self._forgets else self._had.get(kind, {})
        found = known.get(name)
        if not isinstance(found, list) or found[:1] != [self._asked[kind, name]]:
            return None
        now[name] = found
        return found[1]

    def note(self, kind: str, name: str, value: Any = True) -> None:
        """Notes what was found out since it was asked for."""
        if stamp := self._asked.get((kind, name)):
            self._now[kind][name] = [stamp, value]

    def asked(self, kind: str) -> Iterator[str]:
        """Yields the names of a kind that were asked for."""
        return (name for of, name in [*self._asked] if of == kind)

    def save(self) -> None:
        """Keeps what is known. Best effort: without it everything is read again."""
        found = {**self._had, **self._now, "by": __version__}
        data = json.dumps(found, separators=(",", ":"), sort_keys=True).encode()
        if data != self._data:
            with suppress(MabosError):
                replace_file(self._agent.paths.seen, data, root=self._agent.paths.workspace.root, expect=self._data)
