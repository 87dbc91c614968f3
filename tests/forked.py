"""The program in a forked child: as isolated as a process of its own, without paying for start-up, and able to die on cue.

A Fault strikes at the n-th system call that changes something: `kill` ends the child there, `powerloss` also takes back
every byte that was not synced, an errno name makes that one call fail, `readonly` makes all of them fail.
"""

import errno
import os
import signal
import sqlite3
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any, NamedTuple

from mabos_cli.app import COMMANDS, load_command, main
from mabos_cli.workspace.layout import TEMP_PREFIX

for _name in COMMANDS:
    load_command(_name)
sqlite3.connect(":memory:").close()

_CALLS = ("open", "write", "pwrite", "ftruncate", "fsync", "rename", "mkdir", "unlink", "fchmod")


class Outcome(NamedTuple):
    """What a child left: exit code (negative: killed by that signal), output, and how many changing calls it made."""

    code: int
    stdout: str
    stderr: str
    calls: int


class Fault(NamedTuple):
    """What goes wrong, and at which changing call (counted from 1)."""

    kind: str
    at: int = 0


def run(*words: str, fault: Fault | None = None, **variables: str) -> Outcome:
    """One command line in a child. Environment variables by keyword."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as calls:
        pid = os.fork()
        if pid == 0:
            _child(words, fault, variables, out.fileno(), err.fileno(), calls.fileno())
        _, status = os.waitpid(pid, 0)
        texts = []
        for stream in (out, err, calls):
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "replace"))
        return Outcome(os.waitstatus_to_exitcode(status), texts[0], texts[1], int(texts[2] or 0))


def _child(
    words: tuple[str, ...], fault: Fault | None, variables: dict[str, str], out: int, err: int, calls: int
) -> None:
    code = 1
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        sys.stdin, sys.stdout, sys.stderr = os.fdopen(0, "r"), os.fdopen(1, "w"), os.fdopen(2, "w")
        for name in [name for name in os.environ if name.startswith("MABOS_")]:
            del os.environ[name]
        os.environ.update(variables)
        disk = Disk(fault, calls)
        disk.install()
        code = main(list(words))
        disk.report()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


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
                bool(args[1] & (os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_RDWR))
                and os.fspath(args[0]) != os.devnull
            )
        return name not in ("write", "pwrite", "ftruncate", "fsync") or args[0] > 2

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
            self.unsynced.setdefault(
                path, max(0, os.path.getsize(path) - written) if TEMP_PREFIX not in path else 0
            )
        elif name == "fsync":
            self.unsynced.pop(self.names.get(args[0], ""), None)
        elif name == "rename":
            source, target = (os.path.abspath(os.fspath(arg)) for arg in args[:2])
            if source in self.unsynced:
                self.unsynced[target] = self.unsynced.pop(source)


def tree(root: Path) -> dict[str, bytes]:
    """Every file of a workspace with its bytes; what is derived and local is left out."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".mabos" not in path.relative_to(root).parts
    }
