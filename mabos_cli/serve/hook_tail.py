"""The end of a transcript, as a hook reads it: no more of it than there is time for."""

import os
import stat
from typing import NamedTuple


class Tail(NamedTuple):
    """The last complete lines of a file, and how large it is."""

    lines: tuple[bytes, ...] = ()
    size: int = 0


def read_tail(path: str, most: int) -> Tail:
    """The end of a transcript; nothing of what is no plain file, or cannot be read."""
    try:
        if not path or not stat.S_ISREG(os.stat(path).st_mode):
            return Tail()
        with open(path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - most))
            data = file.read(most)
    except (OSError, ValueError):
        return Tail()
    if size > most:
        data = data.partition(b"\n")[2]  # its first line began before
    return Tail(tuple(line for line in data.split(b"\n") if line.strip()), size)
