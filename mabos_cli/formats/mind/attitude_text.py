"""Renders desires, goals, intentions, plans, commitments, lessons and beliefs as JSON rows and as lines of text."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.core.mind.mind import Attitude, Belief, Branch, status_word
from mabos_cli.formats.mind.attitudes import KINDS

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
    lines = [f"{indent}{goal.name} {one_line(goal.title, 80)} ({', '.join(fact for fact in facts if fact)})"]
    links = (("motivated by", branch.desires), ("requires", branch.plans), ("supported by", branch.beliefs))
    lines += [f"{indent}  {label} {', '.join(ids)}" for label, ids in links if ids]
    return lines + [line for each in branch.below for line in branch_lines(each, f"{indent}  ")]
