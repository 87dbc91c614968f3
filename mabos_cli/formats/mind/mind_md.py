"""mabos-beliefs.md: what an agent holds true, wants and aims at, in one form whatever its files look like. Entries as rows and lines."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.core.mind.conflicts import Conflict
from mabos_cli.core.mind.mind import Attitude, Belief, Branch, status_word
from mabos_cli.core.records import NamedTuple
from mabos_cli.formats.json.text import dump_record, parse_ledger
from mabos_cli.formats.markdown.escape import escape_block, inline, seal, unsealed
from mabos_cli.formats.mind.attitudes import KINDS


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


def insert_belief(page: str, before: Belief, added: Belief) -> str | None:
    """Returns a sealed page with a belief added behind another one; None where that is not there just once."""
    counted = re.search(r"(?<=: )(\d+) beliefs?(?=, )", page[:1000])
    text, section = unsealed(page), _belief(before)
    at = text.find(section)
    end = at + len(section)
    if counted is None or at < 0 or text.find(section, at + 1) >= 0 or text[end : end + 5] not in ("", "\n## ["):
        return None
    count = plural(int(counted[1]) + 1, "belief")
    return seal("".join((text[: counted.start()], count, text[counted.end() : end], _belief(added), text[end:])))


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


if TYPE_CHECKING:
    from mabos_cli.core.mind.deliberation import Proposal


def attitude_row(each: Attitude) -> dict[str, Any]:
    """Returns an entry as JSON; what its kind never has is left out."""
    row: dict[str, Any] = {"id": each.id or None, "title": each.title, "text": each.text, "status": each.status}
    row |= {"priority": each.priority, "progress": each.progress}
    row |= {"deadline": each.deadline or None, "updated": each.updated or None}
    row |= {"level": each.level} if each.kind == "goal" else {}
    row |= {"to": each.owner} if each.kind == "commitment" else {}
    row |= {"trust": each.trust} if each.kind == "learning" else {}
    row |= {name: list(each.links.get(name, ())) for name in KINDS[each.kind].links}
    row |= (
        {"needs": list(each.needs), "delegated": each.delegated or None, "owner": each.owner}
        if each.kind == "goal"
        else {}
    )
    if each.kind == "plan":
        row["steps"] = [step._asdict() for step in each.steps]
    return row | {"group": each.group, "place": each.place}


def belief_row(belief: Belief) -> dict[str, Any]:
    """Returns a belief as JSON."""
    return belief._asdict() | {"supports": list(belief.supports)}


def attitude_line(each: Attitude) -> str:
    """Returns a line about an entry in a list."""
    found = [plan_progress(each), *each.linked("goal")] if each.kind == "plan" else _details(each)
    details = ", ".join(part for part in found if part)
    return f"{each.id or '-'} {one_line(each.title, 90)} ({each.place}){f': {details}' if details else ''}"


def _details(each: Attitude) -> Iterable[str]:
    yield "" if trust_rank(each.trust) else each.trust
    yield each.level
    yield each.status
    yield "" if each.priority is None else f"priority {each.priority:g}"
    yield "" if each.progress is None else f"{each.progress:g} %"
    yield f"to {each.owner}" if each.owner else ""
    yield f"due {each.deadline}" if each.deadline else ""
    yield f"updated {each.updated}" if each.updated else ""
    yield from (f"{name} {', '.join(ids)}" for name, ids in each.links.items())
    yield f"needs {', '.join(each.needs)}" if each.needs else ""
    yield f"delegated by {each.delegated}" if each.delegated else ""


def belief_line(belief: Belief, doubt: str = "") -> str:
    """Returns a line about a belief in a list."""
    details = [f"certainty {belief.certainty:.2f}", *([belief.status] if belief.status else [])]
    details += [] if trust_rank(belief.trust) else [belief.trust]
    details += [doubt] if doubt else []
    return f"{belief.id or '-'} {one_line(belief.statement, 100)} ({belief.place}): {', '.join(details)}"


def proposal_row(each: "Proposal") -> dict[str, Any]:
    """Returns a proposal as JSON."""
    row = {"id": each.key} | {name: getattr(each, name) for name in ("action", "kind", "name", "title", "becomes")}
    means = each.means._asdict() if each.means else None
    return row | {"reasons": [*each.reasons], "cites": [*each.cites], "means": means, "intentions": [*each.intentions]}


def proposal_lines(each: "Proposal") -> list[str]:
    """Returns the lines about a proposal: what, why with places, and by which means."""
    name = each.name if each.name == each.title else f"{each.name} {one_line(each.title, 60)}"
    head = f"{each.key} {each.action} {name}: {'; '.join(each.reasons)} ({', '.join(each.cites)})"
    means = each.means
    return [
        head,
        *([f"  by {means}"] if means else []),
        *(f"    waits: {each}" for each in (means.waiting if means else ())),
    ]


def added_line(entry_id: str, place: str, text: str) -> str:
    """Returns a line that says what was added where."""
    return f"added {f'{entry_id} ' if entry_id else ''}{place}: {one_line(text, 100)}"


def changed_line(each: Attitude, changed: bool) -> str:
    """Returns a line about an entry that was to change: its state, or how far a plan is."""
    state = f" ({status_word(each.status)})" if each.status else ""
    state = f": {plan_progress(each)}" if each.kind == "plan" else state
    return f"{'' if changed else 'unchanged '}{each.name} {each.place}: {one_line(each.title, 80)}{state}"


def plan_progress(plan: Attitude) -> str:
    """Returns how many steps of a plan are done, in words."""
    done = sum(bool(each.done) for each in plan.steps)
    return f"{done} of {plural(len(plan.steps), 'step')} done" if plan.steps else "no steps"


def plan_lines(plan: Attitude) -> Iterator[str]:
    """Returns a line about a plan and one about each of its steps."""
    yield f"{plan.name} {one_line(plan.title, 80)} ({plan.place}): {plan_progress(plan)}"
    yield from (f"  {'x' if each.done else ' '} {each.name} {one_line(each.text, 90)}" for each in plan.steps)


def branch_row(branch: Branch) -> dict[str, Any]:
    """Returns a goal as JSON, with what stands behind it and the goals below it."""
    links = {"motivated_by": branch.desires, "plans": branch.plans, "supported_by": branch.beliefs}
    row = attitude_row(branch.goal) | {name: list(ids) for name, ids in links.items()}
    return row | {"below": [branch_row(each) for each in branch.below]}


def branch_lines(branch: Branch, indent: str = "") -> list[str]:
    """Returns the lines about a goal, what stands behind it, and the goals below it."""
    goal = branch.goal
    facts = [goal.level, goal.status, "" if goal.progress is None else f"{goal.progress:g} %"]
    facts += [f"due {goal.deadline}"] if goal.deadline else []
    away = [parent for parent in goal.linked("parent") if branch.is_root]
    facts += [f"part of {', '.join(away)}"] if away else []
    lines = [f"{indent}{one_line(goal.label, 90)} ({', '.join(fact for fact in facts if fact)})"]
    links = (("motivated by", branch.desires), ("requires", branch.plans), ("supported by", branch.beliefs))
    lines += [f"{indent}  {label} {', '.join(ids)}" for label, ids in links if ids]
    return lines + [line for each in branch.below for line in branch_lines(each, f"{indent}  ")]
