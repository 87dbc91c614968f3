"""mabos-beliefs.md: what an agent holds true, wants and aims at, in one form whatever its files look like."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.core.mind.conflicts import Conflict
from mabos_cli.core.mind.mind import Attitude, Belief
from mabos_cli.formats.json.text import dump_record, parse_ledger
from mabos_cli.formats.markdown.escape import escape_block, inline, seal


def render_mind(agent: str, beliefs: Sequence[Belief], desires: Sequence[Attitude], goals: Sequence[Attitude]) -> str:
    """Returns the whole file, sealed."""
    parts = [
        f"# MABOS Beliefs — {agent}\n\n> Auto-materialized from Beliefs.md, Desires.md and Goals.md: "
        f"{plural(len(beliefs), 'belief')}, {plural(len(desires), 'desire')}, {plural(len(goals), 'goal')}. "
        "Edits here are set aside: change those files.\n"
    ]
    parts += [_belief(belief) for belief in beliefs]
    parts += [_attitude(attitude) for attitude in (*desires, *goals)]
    return seal("".join(parts))


def _belief(belief: Belief) -> str:
    rows = (
        ("ID", belief.id),
        ("Certainty", f"{belief.certainty:g}"),
        ("Status", belief.status),
        ("Source", belief.source),
        ("Trust", "" if belief.trust == "agent" else belief.trust),
        ("Supports", ", ".join(belief.supports)),
        ("Updated", belief.updated),
    )
    return _section("belief", belief.subject, rows, belief.text)


def _attitude(attitude: Attitude) -> str:
    links = tuple((name.capitalize(), ", ".join(ids)) for name, ids in attitude.links.items())
    rows = (
        ("ID", attitude.id),
        ("Level", attitude.level),
        ("Priority", "" if attitude.priority is None else f"{attitude.priority:g}"),
        ("Status", attitude.status),
        ("Progress", "" if attitude.progress is None else f"{attitude.progress:g} %"),
        ("Deadline", attitude.deadline),
        *links,
    )
    return _section(attitude.kind, attitude.title, rows, attitude.text)


def _section(kind: str, title: str, rows: Sequence[tuple[str, str]], text: str) -> str:
    """Returns a section. Line numbers are left out: they change with every line added above."""
    bullets = "".join(f"- **{name}:** {inline(value)}\n" for name, value in rows if value)
    body = f"\n{escape_block(text)}\n" if text else ""
    return f"\n## [{kind}] {inline(title)}\n\n{bullets}{body}"


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
    """Returns the report of a day; one without conflicts says that there are none any more."""
    summary = f"{plural(len(conflicts), 'conflict')} detected" if conflicts else "No open conflicts"
    head = f"# BDI Conflict Report — {day}\n\n> {summary} during the maintenance cycle.\n"
    return seal(head + "".join(_conflict_section(n, conflict) for n, conflict in enumerate(conflicts, 1)))


def _conflict_section(number: int, conflict: Conflict) -> str:
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
    low = "" if trust_rank(belief.trust) else f", {belief.trust}"
    details = f"certainty {belief.certainty:g}{dated}{low}{', newer' if newer else ''}"
    where = f"{belief.id}, {belief.place}" if belief.id else belief.place
    return f"- **Belief {name}** ({inline(details)}; {inline(where)}): {inline(belief.statement)}\n"


def parse_report_keys(text: str) -> list[str]:
    """Returns the keys of the conflicts that a report lists."""
    return _KEY.findall(text)


def render_resolution(resolution: Resolution) -> bytes:
    """Returns a line of the ledger."""
    return dump_record(resolution._asdict())


def parse_resolutions(data: bytes) -> dict[str, Resolution]:
    """Returns the ledger by key, the latest word last; lines that are torn or not ours are passed over."""
    resolutions = [
        Resolution(**{name: str(record.get(name) or "") for name in Resolution._fields})
        for record in parse_ledger(data).records
        if isinstance(record.get("key"), str)
    ]
    # Git puts the lines of two branches behind one another.
    return {resolution.key: resolution for resolution in sorted(resolutions, key=lambda each: each.at)}
