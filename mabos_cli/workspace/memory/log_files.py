"""The daily logs of an agent: those in memory/, and those that were archived."""

import os
import time
from pathlib import Path
from typing import NamedTuple

from mabos_cli.core.language.periods import find_day
from mabos_cli.core.search import documents
from mabos_cli.workspace.files import read_bytes, resolve_inside
from mabos_cli.workspace.layout import AgentPaths
from mabos_cli.workspace.sources import UNSETTLED


class LogFile(NamedTuple):
    """A log of a day. The stamp tells whether it changed; it is empty while the file may still change unnoticed."""

    day: str
    place: str
    stamp: str
    archived: bool

    @property
    def path(self) -> Path:
        return Path(self.place)


def find_logs(paths: AgentPaths) -> dict[str, tuple[LogFile, ...]]:
    """The logs of each day, oldest day first; a day may have an archived part and a newer one, in this order."""
    settled = time.time_ns() - UNSETTLED
    found: dict[str, list[LogFile]] = {}
    for year in (*_years(paths), ""):
        for entry in _files(paths.archived_log(year).parent if year else paths.memory):
            day = entry.name.removesuffix(".md")
            if day.startswith(year) and find_day(day):
                stat = entry.stat()
                stamp = documents.stamp_of(stat) if stat.st_ctime_ns < settled else ""
                found.setdefault(day, []).append(LogFile(day, entry.path, stamp, bool(year)))
    return {day: tuple(found[day]) for day in sorted(found)}


def _years(paths: AgentPaths) -> list[str]:
    try:
        names = sorted(os.listdir(paths.old_logs))
    except OSError:
        return []
    return [name for name in names if name.isdigit() and len(name) == 4]


def _files(folder: Path) -> "list[os.DirEntry[str]]":
    """The Markdown files of a folder. Links that lead out of it are not followed here: they are nobody's log."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return []
    return [entry for entry in entries if entry.name.endswith(".md") and entry.is_file(follow_symlinks=False)]


def read_log(paths: AgentPaths, log: LogFile) -> str:
    """The text of a log. Bytes that are not UTF-8 are shown as such: one bad byte does not hide a day."""
    return (read_bytes(resolve_inside(log.path, paths.workspace.root)) or b"").decode("utf-8", "replace")


def where_log_is(paths: AgentPaths, day: str) -> Path:
    """The place of a day's log now: in the archive if it was moved there, else in memory/."""
    active, archived = paths.daily_log(day), paths.archived_log(day)
    return archived if archived.exists() and not active.exists() else active
