"""Files on plain paths: what tells a workspace and an agent from any other folder, the one gate for reading, and lines behind the
lines of a file. files.py and locate.py build on it, and hooks of agent hosts can afford nothing else.

Reading: a file of a workspace is opened beneath its root, if it is regular, up to a size. No symbolic link leads out of a
workspace that was entered, and nothing waits for a pipe or reads a device without end.
It knows nothing of paths but their names: importing pathlib alone takes as long as all else that a hook loads. Errors are those of
the operating system; files.py explains them.
"""

import errno
import os
import stat
import time
from contextlib import suppress

from mabos_cli.workspace.platform import CLOSE_ON_EXEC, NO_FOLLOW, read_at, sync_folder, try_lock, unlock

SETTINGS = "mabos.yaml"
AGENTS = "agents"
LOCAL = ".mabos"
QUEUE = "queue"
LOCKS = "locks"
_MARKS = ("Persona.md", "Beliefs.md")
# More than a million facts take. What is larger is no file that this program wrote.
LARGEST = 1 << 30
_PAUSE = 0.005
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_roots: dict[str, str] = {}  # the folder of each workspace that was entered, as it was named and as it is


def is_workspace(folder: str) -> bool:
    """Returns whether a folder that somebody named is a workspace."""
    return os.path.isfile(os.path.join(folder, SETTINGS)) or os.path.isdir(os.path.join(folder, AGENTS))


def workspace_above(folder: str) -> str:
    """Returns the nearest folder, this one or above, that holds mabos.yaml; empty when there is none."""
    while True:
        if os.path.isfile(os.path.join(folder, SETTINGS)):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return ""
        folder = above


def is_agent_folder(folder: str) -> bool:
    """Returns whether a folder is an agent: it holds Persona.md or Beliefs.md."""
    return any(os.path.isfile(os.path.join(folder, mark)) for mark in _MARKS)


def state_folder() -> str:
    """Returns the folder for what this machine knows apart from any workspace; empty where there is no home."""
    base = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(base, "mabos") if os.path.isabs(base) else ""


def cache_folder() -> str:
    """Returns the folder for what this machine can make again, apart from any workspace; empty where there is no home."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "mabos") if os.path.isabs(base) else ""


def hook_spool(root: str, agent: str) -> str:
    """Returns what hooks note down for harvest."""
    return os.path.join(root, LOCAL, QUEUE, f"{agent}.hooks.jsonl")


def hook_lock(root: str, agent: str) -> str:
    """Held for a moment, by a hook that notes something down and by who empties the spool."""
    return os.path.join(root, LOCAL, LOCKS, f"{agent}.hooks.lock")


def hook_log(root: str) -> str:
    """Returns what went wrong in hooks."""
    return os.path.join(root, LOCAL, "hook.log")


def hook_answers(root: str) -> str:
    """Returns what hooks answered: a line each with the time, the agent, the host, the event, and told, silent, noted, late or failed."""
    return os.path.join(root, LOCAL, "hook-answers.log")


class LeadsOut(OSError):
    """A path of a workspace that leads out of it."""

    def __init__(self, path: str, real: str) -> None:
        super().__init__(errno.ELOOP, f"leads out of the workspace to {real}", path)


def enter_root(root: str) -> None:
    """From now on no path below this folder leads out of it."""
    real = os.path.realpath(root)
    _roots[os.path.abspath(root) + os.sep] = _roots[real + os.sep] = real + os.sep


def real_path(path: str) -> str:
    """Returns the real place of a path, links followed; LeadsOut when it is named below a workspace and is not there."""
    real, named = os.path.realpath(path), os.path.abspath(path)
    for root, real_root in _roots.items():
        if named.startswith(root) and not (real + os.sep).startswith(real_root):
            raise LeadsOut(path, real)
    return real


def open_regular(path: str) -> int:
    """Opens a file for reading, without waiting: its descriptor. OSError when it is no regular file, or too large."""
    fd = os.open(real_path(path), os.O_RDONLY | CLOSE_ON_EXEC | NO_FOLLOW | _NO_WAIT)
    try:
        found = os.fstat(fd)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", path)
        if found.st_size > LARGEST:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    except OSError:
        os.close(fd)
        raise
    return fd


def read_regular(path: str, most: int = -1) -> bytes:
    """Returns the bytes of a regular file, the first `most` of them where that is not negative."""
    with open(open_regular(path), "rb", buffering=0) as file:
        return file.readall() if most < 0 else _read_up_to(file.fileno(), most)


def _read_up_to(fd: int, most: int) -> bytes:
    parts = []
    while most and (part := os.read(fd, most)):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


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
        while not try_lock(fd) and time.monotonic() < deadline:
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


def drop_folders(folders: list[str]) -> None:
    """Removes those of some folders that are empty, the deepest first."""
    for folder in sorted({*folders}, key=len, reverse=True):
        with suppress(OSError):
            os.rmdir(folder)


def machine_token() -> str:
    """Returns a word that only this machine and user know, made when it is first asked for; empty where it cannot be kept.

    What a hook notes down in a workspace carries it: a workspace from elsewhere cannot name files of this machine to be read.
    """
    folder = state_folder()
    path = os.path.join(folder, "machine")
    for _ in range(2):
        try:
            return read_regular(path, 64).decode("ascii", "replace").strip()
        except OSError:
            if not folder:
                break
        try:
            os.makedirs(folder, 0o700, exist_ok=True)
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | CLOSE_ON_EXEC, 0o600)
            try:
                write_all(fd, os.urandom(16).hex().encode())
            finally:
                os.close(fd)
        except FileExistsError:
            time.sleep(_PAUSE)  # somebody else makes it just now
        except OSError:
            break
    return ""
