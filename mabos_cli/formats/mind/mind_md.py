"""mabos-beliefs.md: what an agent holds true, wants and aims at, in one form whatever its files look like."""

from collections.abc import Sequence

from mabos_cli.core.language.text import plural
from mabos_cli.core.mind.mind import Attitude, Belief
from mabos_cli.formats.markdown.escape import escape_block, inline
from mabos_cli.formats.markdown.seal import seal


def render_mind(agent: str, beliefs: Sequence[Belief], desires: Sequence[Attitude], goals: Sequence[Attitude]) -> str:
    """The whole file, sealed."""
    told = [
        f"# MABOS Beliefs — {agent}\n\n> Auto-materialized from Beliefs.md, Desires.md and Goals.md: "
        f"{plural(len(beliefs), 'belief')}, {plural(len(desires), 'desire')}, {plural(len(goals), 'goal')}. "
        "Edits here are set aside: change those files.\n"
    ]
    told += [_belief(belief) for belief in beliefs]
    told += [_attitude(attitude) for attitude in (*desires, *goals)]
    return seal("".join(told))


def _belief(belief: Belief) -> str:
    rows = (
        ("ID", belief.id),
        ("Certainty", f"{belief.certainty:g}"),
        ("Status", belief.status),
        ("Source", belief.source),
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
    """A section. Line numbers are left out: they change with every line added above."""
    bullets = "".join(f"- **{name}:** {inline(value)}\n" for name, value in rows if value)
    body = f"\n{escape_block(text)}\n" if text else ""
    return f"\n## [{kind}] {inline(title)}\n\n{bullets}{body}"
