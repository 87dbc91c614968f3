"""Conflict reports, for people and for recall, and the ledger of conflicts that were resolved."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from mabos_cli.core.language.text import plural
from mabos_cli.core.mind.conflicts import Conflict
from mabos_cli.core.mind.mind import Belief
from mabos_cli.formats.json.text import dump_line, parse_lines
from mabos_cli.formats.markdown.escape import inline
from mabos_cli.formats.markdown.seal import seal

_KEY = re.compile(r"^- \*\*Key:\*\* ([0-9a-f]{16})\b", re.MULTILINE)


class Resolution(NamedTuple):
    """How a conflict was resolved: which belief was kept, a, b or both, and why."""

    key: str
    keep: str
    a: str
    b: str
    reason: str
    at: str


def render_report(day: str, conflicts: Sequence[Conflict]) -> str:
    """The report of a day; one without conflicts says that there are none any more."""
    told = f"{plural(len(conflicts), 'conflict')} detected" if conflicts else "No open conflicts"
    head = f"# BDI Conflict Report — {day}\n\n> {told} during the maintenance cycle.\n"
    return seal(head + "".join(_section(n, conflict) for n, conflict in enumerate(conflicts, 1)))


def _section(number: int, conflict: Conflict) -> str:
    goals = f"- **Goals:** {', '.join(conflict.goals)}\n" if conflict.goals else ""
    return (
        f"\n## Conflict {number}: {inline(conflict.subject)}\n\n"
        f"{_side('A', conflict.a, conflict.newer == 'a')}{_side('B', conflict.b, conflict.newer == 'b')}"
        f"- **Disagreement:** {inline(conflict.reason)} ({conflict.kind})\n"
        f"- **Severity:** {conflict.severity:.2f}\n{goals}"
        f"- **Recommended action:** {inline(conflict.action)}\n"
        f"- **Key:** {conflict.key} (mabos bdi resolve {conflict.key[:8]} --keep a, b or both)\n"
    )


def _side(name: str, belief: Belief, newer: bool) -> str:
    dated = f", updated {belief.updated}" if belief.updated else ""
    told = f"certainty {belief.certainty:g}{dated}{', newer' if newer else ''}"
    where = f"{belief.id}, {belief.place}" if belief.id else belief.place
    return f"- **Belief {name}** ({inline(told)}; {inline(where)}): {inline(belief.statement)}\n"


def parse_report_keys(text: str) -> list[str]:
    """The keys of the conflicts that a report lists."""
    return _KEY.findall(text)


def render_resolution(resolution: Resolution) -> str:
    """A line of the ledger."""
    return dump_line(resolution._asdict()) + "\n"


def parse_resolutions(data: bytes) -> dict[str, Resolution]:
    """The ledger by key, the latest word last; lines that are torn or not ours are passed over."""
    told = []
    for record in parse_lines(data)[0]:
        if isinstance(record, dict) and isinstance(record.get("key"), str):
            told.append(Resolution(**{name: str(record.get(name) or "") for name in Resolution._fields}))
    # Git puts the lines of two branches behind one another.
    return {said.key: said for said in sorted(told, key=lambda said: said.at)}
