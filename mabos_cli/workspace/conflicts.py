"""Conflict reports and the ledger of resolved conflicts."""

import re
from collections.abc import Sequence
from pathlib import Path

from mabos_cli.core.conflicts import Conflict
from mabos_cli.formats.conflict_report import (
    Resolution,
    parse_report_keys,
    parse_resolutions,
    render_report,
    render_resolution,
)
from mabos_cli.workspace.files import append_bytes, list_names, read_bytes
from mabos_cli.workspace.home import AgentHome
from mabos_cli.workspace.layout import DAY
from mabos_cli.workspace.materialize import write_derived


def read_resolved(home: AgentHome) -> dict[str, Resolution]:
    """The conflicts that somebody resolved, by key."""
    return parse_resolutions(read_bytes(home.paths.conflict_ledger) or b"")


def note_resolved(home: AgentHome, resolution: Resolution) -> None:
    """Remembers how a conflict was resolved, for good. Under the agent's lock."""
    line = render_resolution(resolution).encode("utf-8")
    append_bytes(home.paths.conflict_ledger, line, root=home.paths.workspace.root)


def latest_report(home: AgentHome) -> tuple[Path, list[str]] | None:
    """The latest conflict report, and the keys that it lists."""
    folder = home.paths.conflict_reports
    names = [name for name in list_names(folder) if re.fullmatch(rf"{DAY}\.md", name)]
    if not names:
        return None
    text = (read_bytes(folder / names[-1]) or b"").decode("utf-8", "replace")
    return folder / names[-1], parse_report_keys(text)


def due_report(home: AgentHome, day: str, conflicts: Sequence[Conflict]) -> Path | None:
    """The report to be written: none when the latest one tells of the same conflicts, and is not today's."""
    path, latest = home.paths.conflict_reports / f"{day}.md", latest_report(home)
    if latest is None:
        return path if conflicts else None
    return path if latest[0] == path or set(latest[1]) != {c.key for c in conflicts} else None


def write_report(home: AgentHome, day: str, conflicts: Sequence[Conflict]) -> tuple[str, list[str]]:
    """Writes the report of a day if there is news: its path, or nothing, and warnings. Under the agent's lock."""
    path = due_report(home, day, conflicts)
    if path is None:
        return "", []
    text = render_report(day, conflicts).encode("utf-8", "replace").decode("utf-8")
    written, warnings = write_derived(home, path, text)
    return (home.paths.relative(path) if written else ""), warnings
