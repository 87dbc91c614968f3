"""Daily logs: where they are, and old ones into memory/archive/YEAR/, as they are, with the links to them.

Every step of archiving can be done again: a killed run leaves each log whole at one of its places, and links that the next run mends.
"""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, date
from pathlib import Path

from mabos_cli.core.hierarchy.log_taking import is_past
from mabos_cli.core.language.ids import stamp_of
from mabos_cli.core.language.periods import LEVELS, find_day
from mabos_cli.core.records import NamedTuple
from mabos_cli.errors import MabosError
from mabos_cli.formats.hierarchy.daily_log import relink_logs
from mabos_cli.formats.memory.derived_md import render_log_header
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import (
    Moved,
    attempts,
    edit_text,
    list_stems,
    move_files,
    read_bytes,
    remove_file,
    replace_file,
    resolve_inside,
)
from mabos_cli.workspace.layout import AgentPaths
from mabos_cli.workspace.sources import UNSETTLED
from mabos_cli.workspace.transaction import Fresh, Write, transact


class LogFile(NamedTuple):
    """A log of a day. The stamp tells whether it changed; it is empty while the file may still change unnoticed."""

    day: str
    place: str
    stamp: str
    archived: bool

    @property
    def path(self) -> Path:
        return Path(self.place)


def state_of(logs: Sequence[LogFile]) -> str:
    """Returns what changes with the logs of a day; empty while one may still change unnoticed."""
    return " ".join(log.stamp for log in logs) if all(log.stamp for log in logs) else ""


def find_logs(paths: AgentPaths) -> dict[str, tuple[LogFile, ...]]:
    """Returns the logs of each day, oldest day first; a day may have an archived part and a newer one, in this order."""
    settled = time.time_ns() - UNSETTLED
    found: dict[str, list[LogFile]] = {}
    for year in (*_years(paths), ""):
        for entry in _files(paths.archived_log(year).parent if year else paths.memory):
            day = entry.name.removesuffix(".md")
            if day.startswith(year) and find_day(day):
                stat = entry.stat()
                stamp = stamp_of(stat) if stat.st_ctime_ns < settled else ""
                found.setdefault(day, []).append(LogFile(day, entry.path, stamp, bool(year)))
    return {day: tuple(found[day]) for day in sorted(found)}


def _years(paths: AgentPaths) -> list[str]:
    try:
        names = sorted(os.listdir(paths.old_logs))
    except OSError:
        return []
    return [name for name in names if name.isdigit() and len(name) == 4]


def _files(folder: Path) -> "list[os.DirEntry[str]]":
    """Returns the Markdown files of a folder. Links that lead out of it are not followed here: they are nobody's log."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return []
    return [entry for entry in entries if entry.name.endswith(".md") and entry.is_file(follow_symlinks=False)]


def read_log(paths: AgentPaths, log: LogFile) -> str:
    """Returns the text of a log. Bytes that are not UTF-8 are shown as such: one bad byte does not hide a day."""
    return (read_bytes(resolve_inside(log.path, paths.workspace.root)) or b"").decode("utf-8", "replace")


class Archiving(NamedTuple):
    """Holds what was archived, as pairs of paths, how many links were changed, and warnings."""

    moved: tuple[tuple[str, str], ...]
    links: int
    warnings: list[str]


def archive_logs(agent: Agent, older_than: float, *, dry_run: bool = False) -> Archiving:
    """Moves old logs to the archive and mends the links to all that are there. A dry run writes nothing."""
    if dry_run:
        due, archived, warnings = _look(agent, older_than)
        texts = ((_read_text(path), to_memory) for path, to_memory in _linking_files(agent.paths))
        links = sum(relink_logs(text, archived, to_memory)[1] for text, to_memory in texts)
        return Archiving(_pairs(agent.paths, due), links, warnings)

    def planned(fresh: Fresh) -> tuple[Write | None, Archiving]:
        due, archived, warnings = _look(agent, older_than)
        there = [log for log in due if agent.paths.archived_log(log.day).exists()]
        moves = [(log.path, agent.paths.archived_log(log.day)) for log in due if log not in there]
        move_files(moves, root=agent.paths.workspace.root)
        for log in there:
            _merge(agent.paths, log)
        links, more = relink_logs_of(agent.paths, archived)
        write = Write(counts={"logs": len(due), "links": links}) if due or links else None
        return write, Archiving(_pairs(agent.paths, due), links, [*warnings, *more])

    done, notes = transact(agent, "log archive", planned)
    return done._replace(warnings=[*notes, *done.warnings])


def _read_text(path: Path) -> str:
    return (read_bytes(path) or b"").decode("utf-8", "surrogateescape")


def _look(agent: Agent, older_than: float) -> tuple[list[LogFile], frozenset[str], list[str]]:
    """Returns the active logs that are due, the days that will then be in the archive alone, and warnings."""
    today = agent.now().astimezone(UTC).date()
    due, warnings, archived = [], [], set()
    for day, logs in find_logs(agent.paths).items():
        active = [log for log in logs if log.path.parent == agent.paths.memory]
        if not active:
            archived.add(day)
        elif is_past(date.fromisoformat(day), today, older_than):
            goal = agent.paths.archived_log(day)
            if goal.is_symlink() or (goal.exists() and not goal.is_file()):
                warnings.append(f"{agent.paths.relative(goal)} is no file; the log of {day} stays where it is")
            else:
                due += active
    return due, frozenset(archived | {log.day for log in due}), warnings


def _pairs(paths: AgentPaths, logs: list[LogFile]) -> tuple[tuple[str, str], ...]:
    return tuple((paths.relative(log.path), paths.relative(paths.archived_log(log.day))) for log in logs)


def _merge(paths: AgentPaths, log: LogFile) -> None:
    """Puts what a newer log of an archived day adds behind the archived one, then removes it."""
    goal, root = paths.archived_log(log.day), paths.workspace.root
    for _ in attempts(f"{paths.relative(log.path)} keeps changing"):
        old, added = read_bytes(goal) or b"", read_bytes(log.path)
        if added is None:
            return
        new = _merged(old, added, log.day)
        with suppress(Moved):
            if new != old:
                replace_file(goal, new, root=root, expect=old, shared=True)
            if read_bytes(log.path) == added:
                return remove_file(log.path, root=root)
            if new != old:  # somebody saved it meanwhile: all of it again, and nothing twice
                replace_file(goal, old, root=root, expect=new)


def _merged(old: bytes, added: bytes, day: str) -> bytes:
    """Returns an archived log with what a newer one of that day adds, set apart by a blank line, so that blocks stay apart."""
    if added.startswith(old):  # an editor that still had it open saved all of it again
        return added
    first, found, rest = added.partition(b"\n")
    header = render_log_header(day).encode("utf-8").strip()
    body = (rest if found and first.strip() == header else added).lstrip(b"\r\n")
    gap = b"\n" * (2 - (len(old) - len(old.rstrip(b"\n")))) if old and not old.endswith(b"\n\n") else b""
    # A killed run may have come this far: then the archived one ends with just this, set apart.
    return old if old.endswith(b"\n\n" + body) or not body else old + gap + body


def _linking_files(paths: AgentPaths) -> list[tuple[Path, str]]:
    """Returns the files in which links to logs are kept working, each with its way to the folder of logs."""
    levels = [level for level in LEVELS if level != "daily"]
    summaries = [paths.summary(level, n) for level in levels for n in list_stems(paths.summaries(level), ".md")]
    return [(paths.memory_md, "memory/"), *((path, "../") for path in summaries)]


def relink_logs_of(
    paths: AgentPaths, archived: frozenset[str], active: frozenset[str] = frozenset()
) -> tuple[int, list[str]]:
    """Mends the links to logs that were archived, or came back: how many, and warnings about files that cannot be mended."""
    total, warnings = 0, []
    for path, to_memory in _linking_files(paths) if archived or active else ():
        count = 0

        def edit(text: str, to_memory: str = to_memory) -> str:
            nonlocal count
            new, count = relink_logs(text, archived, to_memory, active)
            return new

        try:
            edit_text(path, edit, root=paths.workspace.root)
            total += count
        except MabosError as error:
            warnings.append(f"links in {paths.relative(path)} are left as they are: {error.message}")
    return total, warnings
