"""Keeps compiled patterns between processes: compiling them took a quarter of a recall.

The file lies in the user's cache folder, never in a workspace, which may come from somebody else: whoever can write it could change
what counts as a secret. So its folder has to be closed to others. It is disposable, and holds fixed patterns of the program and
nothing of a user. Python has no public way to keep a compiled pattern: where its inner parts are not those that are known, nothing is kept.
"""

import atexit
import marshal
import os
import re
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, AnyStr

from mabos_cli.errors import MabosError
from mabos_cli.workspace.files import make_folder, replace_file
from mabos_cli.workspace.plain_files import cache_folder

_KNOWN_TO_WORK = ((3, 11), (3, 14))  # versions of CPython: from, and below
Key = tuple[str | bytes, int]
# All flags, the code, the number of groups, and their names.
Code = tuple[int, bytes, int, dict[str, int], tuple[str | None, ...]]


class KeptPatterns:
    """Patterns that are compiled already, and those that are compiled now and kept for the next process."""

    def __init__(self) -> None:
        works = sys.implementation.name == "cpython" and _KNOWN_TO_WORK[0] <= sys.version_info[:2] < _KNOWN_TO_WORK[1]
        self._engine: Any = import_module("_sre") if works else None
        folder = Path(cache_folder(), "patterns") if works and cache_folder() else None
        name = f"{sys.implementation.cache_tag}-{getattr(self._engine, 'MAGIC', 0)}"
        self._path = folder / name if folder and _is_private(folder) else None
        self._data: bytes | None = None
        self._known: dict[Key, Code] = {}
        self._new: set[Key] = set()
        with suppress(OSError, ValueError, EOFError, TypeError):  # nothing of a damaged file
            self._data = self._path.read_bytes() if self._path else None
            found = marshal.loads(self._data) if self._data else {}
            self._known = found if isinstance(found, dict) else {}

    def find_compiled(self, pattern: AnyStr, flags: int) -> re.Pattern[AnyStr]:
        """Returns a compiled pattern; one that is not known is kept when the process ends."""
        if code := self._known.get((pattern, int(flags))):
            every, words, groups, names, by_number = code
            with suppress(ValueError, TypeError, RuntimeError, OverflowError):  # whatever is wrong with what was kept
                listed = memoryview(words).cast("I").tolist()
                found: re.Pattern[AnyStr] = self._engine.compile(pattern, every, listed, groups, names, by_number)
                return found
        if self._path and not self._new:
            atexit.register(self.save)
        self._new.add((pattern, int(flags)))
        return re.compile(pattern, flags)

    def save(self) -> None:
        """Keeps the new patterns. Best effort: without them they are compiled again."""
        if self._path and self._engine.CODESIZE == 4:
            data = marshal.dumps({**self._known, **{key: _encode(*key) for key in self._new}})
            with suppress(MabosError, OSError):
                make_folder(self._path.parent, 0o700)
                replace_file(self._path, data, root=self._path.parent, expect=self._data)


def _encode(pattern: str | bytes, flags: int) -> Code:
    """Returns what a pattern compiles to."""
    inner: Any = import_module("re._compiler")
    parsed = import_module("re._parser").parse(pattern, flags)
    words, names = inner._code(parsed, flags), dict(parsed.state.groupdict)
    by_number: list[str | None] = [None] * parsed.state.groups
    for name, number in names.items():
        by_number[number] = name
    data = b"".join(word.to_bytes(4, sys.byteorder) for word in words)
    return flags | parsed.state.flags, data, parsed.state.groups - 1, names, tuple(by_number)


def _is_private(folder: Path) -> bool:
    """Returns whether a folder is this user's and closed to others, or not there yet."""
    try:
        found = folder.stat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return not hasattr(os, "geteuid") or (found.st_uid == os.geteuid() and not found.st_mode & 0o077)
