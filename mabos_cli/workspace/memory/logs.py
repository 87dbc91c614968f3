"""Markdown that grows with memory: daily logs and MEMORY.md. Appending again what is there already changes nothing."""

from collections.abc import Callable, Iterable
from pathlib import Path

from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.memory.trust import is_untrusted
from mabos_cli.formats.hierarchy.daily_log import render_log_entry, render_log_header
from mabos_cli.workspace.files import FileWrite, append_text, read_bytes, read_saved, redo_when_moved, replace_file
from mabos_cli.workspace.layout import AgentPaths


def append_to_logs(paths: AgentPaths, items: Iterable[MemoryItem], *, again: bool = False) -> None:
    """Adds each item to the log of its day; with again, only those that the log does not name yet."""
    days: dict[str, list[MemoryItem]] = {}
    for item in items:
        days.setdefault(item.created_at[:10] or "undated", []).append(item)
    for day, found in sorted(days.items()):
        path = paths.daily_log(day)
        if again:
            # The log may have been archived since.
            parts = (read_bytes(place) or b"" for place in (path, paths.archived_log(day)))
            there = b"\n".join(parts).decode("utf-8", "replace")
            found = [item for item in found if f" ^{item.id}\n" not in there]
        if found:
            text = "".join(render_log_entry(item) for item in found)
            append_text(path, text, root=paths.workspace.root, header=render_log_header(day))


def append_promoted(paths: AgentPaths, items: tuple[MemoryItem, ...], day: str) -> None:
    """Adds consolidated items to MEMORY.md, behind whatever people wrote there meanwhile.

    Untrusted ones stay items only: what stands in MEMORY.md is read as the agent's own words.
    """
    items = tuple(item for item in items if not is_untrusted(item))
    if items:
        from mabos_cli.formats.memory.memory_md import (  # late: only consolidation does
            add_consolidated,
            render_memory_header,
        )

        header = render_memory_header(paths.id)
        edit_text(paths, paths.memory_md, lambda text: add_consolidated(text or header, items, day))


def plan_edit(path: Path, edit: Callable[[str], str | None]) -> FileWrite | None:
    """The Markdown file that a function makes of the text of one; None when it leaves it as it is."""
    old = read_saved(path)
    # Bytes that are not UTF-8 pass through as they are: a person's file is not ours to refuse or to mend.
    text = (old or b"").decode("utf-8", "surrogateescape")
    new = edit(text)
    return None if new is None or new == text else FileWrite(path, new.encode("utf-8", "surrogateescape"), old, True)


def edit_text(paths: AgentPaths, path: Path, edit: Callable[[str], str | None]) -> bool:
    """Rewrites a Markdown file by a function of its text, again when somebody saved it meanwhile; whether it changed."""

    def attempt() -> bool:
        file = plan_edit(path, edit)
        if file:
            replace_file(path, file.data, root=paths.workspace.root, expect=file.read_as, shared=True)
        return file is not None

    return redo_when_moved(attempt, f"{paths.relative(path)} keeps changing")


def where_log_is(paths: AgentPaths, day: str) -> Path:
    """The place of a day's log now: in the archive if it was moved there, else in memory/."""
    active, archived = paths.daily_log(day), paths.archived_log(day)
    return archived if archived.exists() and not active.exists() else active
