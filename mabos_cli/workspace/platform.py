"""What differs between operating systems, once: locks, durable folders, exchanging files, rights, living processes.

Each function is chosen by what the platform has; the portable fallback stands beside it. Plain paths and few imports: hooks of
agent hosts load this module too.
"""

import os
import sys
import time
from contextlib import suppress

# Flags that a platform may lack. Files are opened as bytes everywhere.
CLOSE_ON_EXEC = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = getattr(os, "O_DIRECTORY", None)
_STUCK = 60  # seconds
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
    """As _flock, with the locks that Windows has; they end with the process, too."""
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


class OwnerFiles:
    """Locks where the platform has none: a file beside the locked one, made by its holder alone and named after its process, so
    that one of a process that is gone can be taken away."""

    def __init__(self) -> None:
        self._held: dict[int, str] = {}

    def lock(self, fd: int, path: str) -> bool:
        """Makes the owner's file of a path; whether nobody who lives has made it."""
        owner = f"{path}.owner"
        for _ in range(2):
            with suppress(FileExistsError):
                made = os.open(owner, os.O_WRONLY | os.O_CREAT | os.O_EXCL | CLOSE_ON_EXEC, 0o666)
                try:
                    os.write(made, str(os.getpid()).encode())
                finally:
                    os.close(made)
                self._held[fd] = owner
                return True
            if not self._is_left_behind(owner):
                return False
            self._take_away(owner)
        return False

    @staticmethod
    def _is_left_behind(owner: str) -> bool:
        """Returns whether the process that made an owner's file is gone. One that holds no number yet is being written."""
        try:
            with open(owner, "rb") as file:
                number = file.read()
        except OSError:
            return False
        return number.isdigit() and not is_running(int(number))

    @staticmethod
    def _take_away(owner: str) -> None:
        """Removes an owner's file that was left behind. One process does so at a time: of two that saw it, the slower one would
        remove that of the next holder."""
        guard = f"{owner}.gone"
        with suppress(OSError):
            if time.time() - os.stat(guard).st_mtime > _STUCK:  # who made it was killed on these few lines
                os.unlink(guard)
        with suppress(OSError):
            os.close(os.open(guard, os.O_WRONLY | os.O_CREAT | os.O_EXCL | CLOSE_ON_EXEC, 0o666))
            try:
                if OwnerFiles._is_left_behind(owner):
                    os.unlink(owner)
            finally:
                os.unlink(guard)

    def unlock(self, fd: int) -> None:
        """Removes the owner's file of a descriptor that is about to be closed."""
        if owner := self._held.pop(fd, ""):
            with suppress(OSError):
                os.unlink(owner)


owner_files = OwnerFiles()


def try_lock(fd: int, path: str) -> bool:
    """Takes the lock of an open side file; whether it was free. Released by `unlock`, and when the process ends."""
    if fcntl is not None:
        return _flock(fd)
    return _lock_byte(fd) if os.name == "nt" else owner_files.lock(fd, path)


def unlock(fd: int) -> None:
    """Gives a lock back and closes its file."""
    owner_files.unlock(fd)
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
