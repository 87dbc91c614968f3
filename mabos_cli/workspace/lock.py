"""Locks: flock on a side file that is never replaced. A killed holder leaves no lock behind, only its intent in that file."""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mabos_cli.errors import Conflict
from mabos_cli.workspace.files import explained, make_folder, resolve_inside
from mabos_cli.workspace.plain_files import LARGEST, write_all
from mabos_cli.workspace.platform import CLOSE_ON_EXEC, read_at, sync_folder, try_lock, unlock


class Lock:
    """An exclusive lock on a side file below a root. The file's text names the holder and what it is about to do."""

    def __init__(self, path: Path, root: Path) -> None:
        self._path = path
        self._root = root
        self._fd = -1
        self.left_behind = b""
        self.settled = True

    def acquire(self, timeout: float, holder: str = "") -> None:
        """Takes the lock, or raises Conflict naming the holder when it is not free in time.

        Without a holder's name the text of the file is left alone: it remembers something else.
        """
        place = resolve_inside(self._path, self._root)
        make_folder(place.parent)
        is_new = not place.exists()
        with explained(self._path, "lock"):
            self._fd = os.open(place, os.O_RDWR | os.O_CREAT | CLOSE_ON_EXEC, 0o666)
            try:
                self._wait(timeout)
                if is_new:
                    sync_folder(place.parent)
                self._enter(holder)
            except BaseException:  # a process that lives on must not keep what it was not given
                unlock(self._fd)
                raise

    def _wait(self, timeout: float) -> None:
        deadline, pause = time.monotonic() + timeout, 0.002
        while not try_lock(self._fd):
            if time.monotonic() >= deadline:
                first = self._text().split(b"\n")[0].decode("utf-8", "replace").strip("\0")
                raise Conflict(
                    f"{self._path.stem} is locked by {first or 'another process'}; gave up after {timeout:g} s",
                    "try again, or wait longer with --lock-timeout",
                )
            time.sleep(min(pause, max(0.0, deadline - time.monotonic())))
            pause = min(pause * 1.5, 0.05)

    def _enter(self, holder: str) -> None:
        """Reads what the holder before left, and writes down who holds the lock now."""
        self.left_behind = self._text()
        if not holder:
            self.settled = False
            return
        pending = self.left_behind.partition(b"\n")[2].strip(b"\0\n")
        self.settled = not pending
        self._rewrite(f"{holder}, process {os.getpid()}\n".encode() + pending)

    def _text(self) -> bytes:
        size = os.fstat(self._fd).st_size
        if size > LARGEST:  # no intent is that long: somebody put it there
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        return read_at(self._fd, size, 0)

    def _rewrite(self, data: bytes) -> None:
        # Written before it is cut: a kill in between must not lose an intent that is still pending.
        os.lseek(self._fd, 0, os.SEEK_SET)
        write_all(self._fd, data)
        os.ftruncate(self._fd, len(data))

    def declare(self, intent: bytes) -> None:
        """Writes down durably what is about to happen, so that the next holder can finish it after a crash."""
        with explained(self._path, "write"):
            self.settled = False
            self._rewrite(self._text().split(b"\n")[0] + b"\n" + intent + b"\n")
            os.fsync(self._fd)

    def note(self, text: bytes, *, durable: bool = False) -> None:
        """Replaces the file's text, for side files that remember something between holders."""
        with explained(self._path, "write"):
            self.settled = False
            self._rewrite(text)
            if durable:
                os.fsync(self._fd)

    def release(self) -> None:
        """Gives the lock back. A declared intent stays in the file until it is settled."""
        with suppress(OSError):
            if self.settled:
                os.ftruncate(self._fd, 0)
        unlock(self._fd)


@contextmanager
def locked(path: Path, root: Path, timeout: float, holder: str = "") -> Iterator[Lock]:
    """A lock for as long as a block runs; Conflict when it is not free in time."""
    lock = Lock(path, root)
    lock.acquire(timeout, holder)
    try:
        yield lock
    finally:
        lock.release()
