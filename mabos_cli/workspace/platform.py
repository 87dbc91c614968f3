"""The differences between operating systems: locks, durable folders, exchanging files, rights, living processes.

Each function is chosen by what the platform has; the portable fallback stands beside it. Plain paths and few imports: hooks of
agent hosts load this module too.
"""

import os
import sys
from contextlib import suppress

# Flags that a platform may lack. Files are opened as bytes everywhere.
CLOSE_ON_EXEC = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = getattr(os, "O_DIRECTORY", None)
_LOCKED_BYTE = 1 << 30  # far behind what a lock file holds: Windows bars others from reading the bytes that are locked

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def _flock(fd: int) -> bool:
    """Locks a file until its descriptor is closed or the process ends; whether it was free."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lock_byte(fd: int) -> bool:
    """Locks a file as _flock does, with the locks that Windows has; they end with the process, too."""
    import msvcrt

    place = os.lseek(fd, 0, os.SEEK_CUR)
    os.lseek(fd, _LOCKED_BYTE, os.SEEK_SET)
    try:
        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]  # known on Windows only
    except OSError:
        return False
    finally:
        os.lseek(fd, place, os.SEEK_SET)
    return True


def try_lock(fd: int) -> bool:
    """Takes the lock of an open side file; whether it was free. Given back by `unlock`, and when the process ends."""
    return _lock_byte(fd) if fcntl is None else _flock(fd)


def unlock(fd: int) -> None:
    """Gives a lock back: closing its file does."""
    os.close(fd)


def read_at(fd: int, size: int, offset: int) -> bytes:
    """Bytes from the middle of an open file."""
    if hasattr(os, "pread"):
        return os.pread(fd, size, offset)
    place = os.lseek(fd, 0, os.SEEK_CUR)
    os.lseek(fd, offset, os.SEEK_SET)
    try:
        return os.read(fd, size)
    finally:
        os.lseek(fd, place, os.SEEK_SET)


def sync_folder(folder: "str | os.PathLike[str]") -> None:
    """Makes renames and new names in a folder survive a power cut, where folders can be synced."""
    if _DIRECTORY is None:
        return
    fd = os.open(folder, os.O_RDONLY | _DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def exchange_files(one: "os.PathLike[str]", other: "os.PathLike[str]") -> bool:
    """Makes two files trade places in one step; False where the system cannot."""
    import ctypes

    if sys.platform == "win32":
        return False
    library = ctypes.CDLL(None)
    first, second = os.fsencode(one), os.fsencode(other)
    if trade := getattr(library, "renameat2", None):
        here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
        return bool(trade(here, first, here, second, exchange) == 0)
    if trade := getattr(library, "renamex_np", None):  # macOS
        return bool(trade(first, second, 2) == 0)  # RENAME_SWAP
    return False


def keep_rights(fd: int, target: "os.PathLike[str]") -> None:
    """Gives a new file the group, owner, mode and access lists of the one that it replaces, as far as we may and there are any."""
    try:
        old = os.stat(target)
    except FileNotFoundError:
        return
    if hasattr(os, "fchown"):
        if old.st_gid != os.getegid():
            with suppress(OSError):  # a group that we are not in
                os.fchown(fd, -1, old.st_gid)
        if old.st_uid != os.geteuid():
            with suppress(OSError):  # only root may give files away
                os.fchown(fd, old.st_uid, -1)
    if hasattr(os, "fchmod"):
        os.fchmod(fd, old.st_mode & 0o7777)
    if hasattr(os, "listxattr"):
        with suppress(OSError):  # a disk that knows none
            for name in os.listxattr(target):
                with suppress(OSError):
                    os.setxattr(fd, name, os.getxattr(target, name))


def is_running(process: int) -> bool:
    """Returns whether a process lives, as far as can be told. On Windows a signal would end it: there nothing is taken for dead."""
    if sys.platform == "win32":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def end_process_group(leader: int) -> None:
    """Ends a process that was started in a session of its own, with all that it started."""
    import signal

    with suppress(ProcessLookupError):
        if hasattr(os, "killpg"):
            os.killpg(leader, signal.SIGKILL)
        else:
            os.kill(leader, signal.SIGTERM)
