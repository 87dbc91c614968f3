"""Conflicts among beliefs: what comparing them came to, the reports, and the ledger of resolved conflicts."""

import re
from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from mabos_cli import __version__
from mabos_cli.core.mind.conflicts import Conflict, Show, distinct_conflicts
from mabos_cli.core.mind.mind import Belief
from mabos_cli.errors import MabosError
from mabos_cli.formats.json.text import dump_line, parse_json
from mabos_cli.formats.mind.mind_md import (
    Resolution,
    parse_report_keys,
    parse_resolutions,
    render_report,
    render_resolution,
)
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.derived import write_derived
from mabos_cli.workspace.files import append_bytes, list_names, read_bytes, replace_file
from mabos_cli.workspace.layout import DAY


class Comparison(NamedTuple):
    """The conflicts among beliefs, what they were compared by, and whether that was news."""

    conflicts: list[Conflict]
    beliefs: Sequence[Belief]
    of: str
    is_new: bool


def compare_beliefs(
    agent: Agent,
    beliefs: Sequence[Belief],
    floor: float | None = None,
    show: Show | None = None,
    known: Comparison | None = None,
) -> Comparison:
    """The conflicts among an agent's beliefs. Those that the last cycle compared, or that are known, word for word, are not
    compared again."""
    s = agent.settings
    floor = s["bdi.certainty_floor"] if floor is None else floor
    told = f"{__version__} {floor} {[*beliefs]!r}"
    of = blake2b(told.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    if known is not None and known.of == of:
        return known
    found = _known_conflicts(agent, of, beliefs)
    if found is not None:
        return Comparison(found, beliefs, of, False)
    return Comparison(distinct_conflicts(beliefs, floor, max(1, s["bdi.chunk"]), show), beliefs, of, True)


def _known_conflicts(agent: Agent, of: str, beliefs: Sequence[Belief]) -> list[Conflict] | None:
    with suppress(MabosError, ValueError, TypeError, LookupError):
        found = parse_json(read_bytes(agent.paths.compared) or b"{}", "the comparison of beliefs")
        if isinstance(found, dict) and found.get("of") == of:
            return [Conflict(beliefs[a], beliefs[b], *rest) for a, b, *rest in found["conflicts"]]
    return None


def keep_comparison(agent: Agent, compared: Comparison) -> None:
    """Keeps what a comparison came to for the next one. Under the agent's lock; best effort."""
    place = {id(belief): n for n, belief in enumerate(compared.beliefs)}
    rows = [[place[id(c.a)], place[id(c.b)], *c[2:]] for c in compared.conflicts]
    data = dump_line({"of": compared.of, "conflicts": rows}).encode("utf-8", "replace") + b"\n"
    path = agent.paths.compared
    with suppress(MabosError):
        replace_file(path, data, root=agent.paths.workspace.root, expect=read_bytes(path))


def read_resolved(agent: Agent) -> dict[str, Resolution]:
    """The conflicts that somebody resolved, by key."""
    return parse_resolutions(read_bytes(agent.paths.conflict_ledger) or b"")


def note_resolved(agent: Agent, resolution: Resolution) -> None:
    """Remembers how a conflict was resolved, for good. Under the agent's lock."""
    line = render_resolution(resolution)
    append_bytes(agent.paths.conflict_ledger, line, root=agent.paths.workspace.root)


def latest_report(agent: Agent) -> tuple[Path, list[str]] | None:
    """The latest conflict report, and the keys that it lists."""
    folder = agent.paths.conflict_reports
    names = [name for name in list_names(folder) if re.fullmatch(rf"{DAY}\.md", name)]
    if not names:
        return None
    text = (read_bytes(folder / names[-1]) or b"").decode("utf-8", "replace")
    return folder / names[-1], parse_report_keys(text)


def due_report(agent: Agent, day: str, conflicts: Sequence[Conflict]) -> Path | None:
    """The report to be written: none when the latest one tells of the same conflicts, and is not today's."""
    path, latest = agent.paths.conflict_reports / f"{day}.md", latest_report(agent)
    if latest is None:
        return path if conflicts else None
    return path if latest[0] == path or set(latest[1]) != {c.key for c in conflicts} else None


def write_report(agent: Agent, day: str, conflicts: Sequence[Conflict]) -> tuple[str, list[str]]:
    """Writes the report of a day if there is news: its path, or nothing, and warnings. Under the agent's lock."""
    path = due_report(agent, day, conflicts)
    if path is None:
        return "", []
    text = render_report(day, conflicts).encode("utf-8", "replace").decode("utf-8")
    written, warnings = write_derived(agent, path, text)
    return (agent.paths.relative(path) if written else ""), warnings
