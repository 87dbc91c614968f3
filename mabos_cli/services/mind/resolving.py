"""Settling a conflict: the belief that is not kept is marked where it stands, and the decision is kept for good."""

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import one_line
from mabos_cli.core.mind.conflicts import Conflict
from mabos_cli.core.mind.mind import Belief
from mabos_cli.errors import Conflict as Moved
from mabos_cli.errors import MabosError
from mabos_cli.formats.mind.attitudes import parse_beliefs
from mabos_cli.formats.mind.cognitive import parse_cognitive
from mabos_cli.formats.mind.cognitive_edit import Change, log_change
from mabos_cli.formats.mind.mind_edit import change_entry
from mabos_cli.formats.mind.mind_md import Resolution, render_resolution
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.conflicts import note_resolved
from mabos_cli.workspace.memory.logs import plan_edit
from mabos_cli.workspace.mind import refresh_mind
from mabos_cli.workspace.transaction import Fresh, Write, transact

_COMMAND = "bdi resolve"


def resolve_conflict(agent: Agent, conflict: Conflict, keep: str, reason: str) -> tuple[bool, list[str]]:
    """Marks the belief that is not kept, with all that say the same, and notes the decision: whether a file changed, and
    warnings."""
    stamp = format_time(agent.now())
    kept, lost = {"a": (conflict.a, conflict.b), "b": (conflict.b, conflict.a)}.get(keep, (None, None))
    first, second = (belief.id or belief.statement for belief in (conflict.a, conflict.b))
    decision = Resolution(conflict.key, keep, first, second, reason, stamp)

    def planned(fresh: Fresh) -> tuple[Write, bool]:
        file = None
        if kept and lost:
            file = plan_edit(agent.paths.beliefs, lambda old: _supersede(old, kept, lost, stamp[:10], reason))
        line = (agent.paths.conflict_ledger, render_resolution(decision))
        write = Write(part="mind", ids=[conflict.key], counts={"conflicts": 1})
        if file is None:
            return write._replace(lines=[line]), False
        # The beliefs themselves settle it by then: trouble with the ledger is only a warning.
        return write._replace(files=[file], follow=lambda: [*_note(agent, decision), *refresh_mind(agent)[1]]), True

    return transact(agent, _COMMAND, planned)


def _note(agent: Agent, decision: Resolution) -> list[str]:
    """Notes the decision: a warning when that cannot be done."""
    try:
        note_resolved(agent, decision)
    except MabosError as error:
        return [f"the decision is not in the ledger: {error.message}"]
    return []


def _supersede(text: str, kept: Belief, lost: Belief, day: str, reason: str) -> str:
    """Beliefs.md with a belief, and what says the same, held no more: its certainty is zero, and its status says why."""
    said = (lost.subject, lost.text)
    places = [b.line for b in parse_beliefs(text, lost.path)[0] if (b.subject, b.text) == said]
    if not places:
        raise Moved(f"{lost.place} was changed meanwhile", "look at it again: mabos bdi conflicts")
    by = kept.id or f"“{one_line(kept.statement, 80)}”"
    changes = {"certainty": "0", "status": f"superseded by {by} ({day})", "updated": day}
    entries = [entry for entry in parse_cognitive(text).entries if entry.first + 1 in places]
    for entry in reversed(entries):
        text = change_entry(text, entry, changes) or text
    # Only now: a log may stand above what it is about, and moves it.
    for entry in entries:
        told = Change(f"superseded by {by}", reason, entry.get("certainty"), "0")
        text = log_change(text, entry.get("id"), entry.title, day, told)
    return text
