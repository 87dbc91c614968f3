"""The one gate for reading: files of a workspace are opened beneath its root, if they are regular, up to a size.

No symbolic link leads out of a workspace that was entered, and nothing waits for a pipe or reads a device without end.
Plain paths and few imports: hooks of agent hosts load this module too. Errors are those of the operating system; files.py
explains them.
"""

import errno
import os
import stat

from mabos_cli.workspace.platform import CLOSE_ON_EXEC, NO_FOLLOW

# More than a million facts take. What is larger is no file that this program wrote.
LARGEST = 1 << 30
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_roots: dict[str, str] = {}  # the folder of each workspace that was entered, as it was named and as it is


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
