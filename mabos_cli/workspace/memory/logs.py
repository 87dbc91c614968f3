"""Markdown that people write, too: edited by a function of its text, whatever they saved meanwhile; and where daily logs are."""

from collections.abc import Callable
from pathlib import Path

from mabos_cli.workspace.files import FileWrite, read_saved, redo_when_moved, replace_file
from mabos_cli.workspace.layout import AgentPaths


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
