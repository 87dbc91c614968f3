"""Lines behind the lines of a file, on plain paths: what files.py appends with, and all that a hook of an agent host can afford.

Besides files.py the only module that writes. It knows nothing of paths but their names: importing pathlib alone takes as long as all else that a hook loads. Errors are those of the operating system; files.py explains them.
"""

import errno
import os
import stat
import time
from contextlib import suppress

from mabos_cli.workspace.platform import CLOSE_ON_EXEC, NO_FOLLOW, read_at, sync_folder, try_lock, unlock

_PAUSE = 0.005


def write_all(fd: int, data: bytes) -> None:
    """Writes everything, however many calls that takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def append_lines(path: str, data: bytes, *, durable: bool = True) -> None:
    """Appends complete lines behind the last complete line: a torn tail is closed first, a failed write taken back."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | CLOSE_ON_EXEC, 0o666)
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", path)
        size = found.st_size
        # Before the first line: one that is there says that the file's name is on the disk, too.
        if durable and not size:
            sync_folder(os.path.dirname(path))
        torn = size > 0 and read_at(fd, 1, size - 1) != b"\n"
        try:
            write_all(fd, (b"\n" if torn else b"") + data)
            if durable:
                os.fsync(fd)
        except OSError:
            with suppress(OSError):
                os.ftruncate(fd, size)
            raise
    finally:
        os.close(fd)


def append_guarded(path: str, lock: str, data: bytes, *, root: str, wait: float) -> None:
    """Appends lines to a journal below the root that others shorten under a lock. Both may be new.

    A lock that is not free in time is passed over: its holder keeps it for a moment, and a line must not be lost for good
    because somebody was stopped in that moment.
    """
    for place in (path, lock):
        if not os.path.realpath(place).startswith(os.path.realpath(root) + os.sep):
            raise OSError(f"{place} leads out of the workspace")
        os.makedirs(os.path.dirname(place), exist_ok=True)
    fd = os.open(lock, os.O_RDWR | os.O_CREAT | CLOSE_ON_EXEC, 0o666)
    try:
        deadline = time.monotonic() + wait
        while not try_lock(fd, lock) and time.monotonic() < deadline:
            time.sleep(_PAUSE)
        append_lines(path, data)
    finally:
        unlock(fd)


def append_bounded(path: str, line: bytes, most: int) -> None:
    """Appends a line to a log that never holds more than `most` bytes: when it would, its older half goes first."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | CLOSE_ON_EXEC | NO_FOLLOW, 0o666)
    try:
        size = os.fstat(fd).st_size
        if size + len(line) > most:
            kept = read_at(fd, most // 2, max(0, size - most // 2)).partition(b"\n")[2]
            os.ftruncate(fd, 0)
            line, size = kept + line, 0
        os.lseek(fd, size, os.SEEK_SET)
        write_all(fd, line)
    finally:
        os.close(fd)
