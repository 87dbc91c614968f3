"""Faults for a child to die of.

A Fault strikes at the n-th system call that changes something: `kill` ends the child there, `powerloss` also takes back
every byte that was not synced, an errno name makes that one call fail, `readonly` makes all of them fail.
"""

import errno
import os
import signal
from typing import Any, NamedTuple

from mabos_cli.workspace.layout import TEMP_PREFIX

_CALLS = ("open", "write", "pwrite", "ftruncate", "fsync", "rename", "replace", "link", "mkdir", "unlink", "fchmod")


class Fault(NamedTuple):
    """What goes wrong, and at which changing call (counted from 1)."""

    kind: str
    at: int = 0


def places(calls: int, step: int, first: int = 1) -> range:
    """The changing calls at which faults strike: every step-th from the first on, or each in turn with FULL=1."""
    return range(1, calls + 1) if os.environ.get("FULL") else range(first, calls + 1, step)


class Disk:
    """Stands between the program and the system calls that change files, and counts, fails or cuts them off."""

    def __init__(self, fault: Fault | None, report_to: int) -> None:
        self.fault = fault
        self.report_to = report_to
        self.count = 0
        self.real = {name: getattr(os, name) for name in _CALLS}
        self.names: dict[int, str] = {}
        self.unsynced: dict[str, int] = {}

    def install(self) -> None:
        for name in _CALLS:
            setattr(os, name, self._wrapped(name))

    def report(self) -> None:
        self.real["write"](self.report_to, str(self.count).encode())

    def _wrapped(self, name: str) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            if not self._changes(name, args):
                return self.real[name](*args, **kwargs)
            self.count += 1
            self._strike()
            result = self.real[name](*args, **kwargs)
            self._follow(name, args, result)
            return result

        return call

    def _changes(self, name: str, args: tuple[Any, ...]) -> bool:
        if name == "open":
            return (
                bool(args[1] & (os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_RDWR)) and os.fspath(args[0]) != os.devnull
            )
        if name in ("write", "pwrite", "ftruncate"):
            return args[0] in self.names  # and not a stream, or a pipe to another program
        return name != "fsync" or args[0] > 2

    def _strike(self) -> None:
        if self.fault is None or (self.count != self.fault.at and self.fault.kind != "readonly"):
            return
        if self.fault.kind == "readonly":
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        if self.fault.kind == "powerloss":
            for path, size in self.unsynced.items():
                if os.path.exists(path):
                    os.truncate(path, size)
        if self.fault.kind in ("kill", "powerloss"):
            os.kill(os.getpid(), signal.SIGKILL)
        number = getattr(errno, self.fault.kind)
        raise OSError(number, os.strerror(number))

    def _follow(self, name: str, args: tuple[Any, ...], result: Any) -> None:
        """Keeps track of what a power cut would take: how long each file was when it was last on the disk."""
        if name == "open":
            self.names[result] = os.path.abspath(os.fspath(args[0]))
        elif name in ("write", "pwrite", "ftruncate"):
            path = self.names[args[0]]
            written = result if name != "ftruncate" else 0
            self.unsynced.setdefault(path, max(0, os.path.getsize(path) - written) if TEMP_PREFIX not in path else 0)
        elif name == "fsync":
            self.unsynced.pop(self.names.get(args[0], ""), None)
        elif name in ("rename", "replace", "link"):
            source, target = (os.path.abspath(os.fspath(arg)) for arg in args[:2])
            if source in self.unsynced:
                self.unsynced[target] = self.unsynced[source]
                if name != "link":
                    del self.unsynced[source]
