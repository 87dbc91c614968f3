"""Temporary files: made beside what they are to replace, named after their process, and swept when it was killed."""

import errno
import os
from contextlib import suppress
from pathlib import Path

from mabos_cli.workspace.layout import TEMP_PREFIX


def open_temp(folder: Path) -> tuple[int, Path]:
    """A new temporary file in a folder, open for writing, and its path. Its name says whose it is."""
    for attempt in range(100):
        temp = folder / f"{TEMP_PREFIX}{os.getpid()}-{attempt}"
        with suppress(FileExistsError):
            return os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), temp
    raise OSError(errno.EEXIST, "no free temporary name")


def find_temps(folder: Path) -> list[Path]:
    """Temporary files below a folder."""
    walk = os.walk(folder)
    return [Path(here) / name for here, _, names in walk for name in names if name.startswith(TEMP_PREFIX)]


def _is_running(temp_name: str) -> bool:
    """Whether the process that a temporary file is named after still lives."""
    try:
        os.kill(int(temp_name.removeprefix(TEMP_PREFIX).partition("-")[0]), 0)
    except (ValueError, ProcessLookupError):
        return False
    except OSError:
        pass
    return True


def sweep_temps(folder: Path, *, locked: bool) -> int:
    """Removes temporary files that killed processes left below a folder.

    Below an agent's folder only the holder of its lock writes, so that everything there is left over; elsewhere only
    the files of processes that are gone.
    """
    found = [temp for temp in find_temps(folder) if locked or not _is_running(temp.name)]
    for temp in found:
        with suppress(OSError):
            temp.unlink()
    return len(found)
