"""Settling a conflict: the belief that is not kept is marked where it stands, and the decision is kept for good."""

import time

from mabos_cli.core.clock import format_time
from mabos_cli.core.conflicts import Conflict
from mabos_cli.core.mind import Belief
from mabos_cli.core.text import one_line
from mabos_cli.errors import Conflict as Moved
from mabos_cli.formats.beliefs import read_beliefs
from mabos_cli.formats.cognitive import parse_cognitive
from mabos_cli.formats.conflict_report import Resolution
from mabos_cli.formats.mind_edit import Change, change_entry, log_change
from mabos_cli.workspace.conflicts import note_resolved
from mabos_cli.workspace.home import AgentHome
from mabos_cli.workspace.logs import edit_text
from mabos_cli.workspace.mind import materialize_mind
from mabos_cli.workspace.receipts import write_receipt
from mabos_cli.workspace.recovery import holding_lock

_COMMAND = "bdi resolve"


def resolve_conflict(home: AgentHome, conflict: Conflict, keep: str, reason: str) -> tuple[bool, list[str]]:
    """Marks the belief that is not kept, with all that say the same, and notes the decision: whether a file changed, and
    warnings."""
    started, stamp = time.monotonic(), format_time(home.now())
    kept, lost = {"a": (conflict.a, conflict.b), "b": (conflict.b, conflict.a)}.get(keep, (None, None))
    with holding_lock(home, _COMMAND) as holding:
        changed, warnings = False, list(holding.warnings)
        if kept and lost:
            edit = lambda old: _supersede(old, kept, lost, stamp[:10], reason)  # noqa: E731
            changed = edit_text(home.paths, home.paths.beliefs, edit)
            warnings += materialize_mind(home)[1]
        told = [belief.id or belief.statement for belief in (conflict.a, conflict.b)]
        note_resolved(home, Resolution(conflict.key, keep, *told, reason, stamp))
        write_receipt(home, _COMMAND, {"conflicts": 1}, [conflict.key], started)
    return changed, warnings


def _supersede(text: str, kept: Belief, lost: Belief, day: str, reason: str) -> str:
    """Beliefs.md with a belief, and what says the same, held no more: its certainty is zero, and its status says why."""
    said = (lost.subject, lost.text)
    places = [b.line for b in read_beliefs(text, lost.path)[0] if (b.subject, b.text) == said]
    if not places:
        raise Moved(f"{lost.place} was changed meanwhile", "look at it again: mabos bdi conflicts")
    by = kept.id or f"“{one_line(kept.statement, 80)}”"
    for line in reversed(places):
        entry = next(e for e in parse_cognitive(text).entries if e.first == line - 1)
        changes = {"certainty": "0", "status": f"superseded by {by} ({day})", "updated": day}
        text = change_entry(text, entry, changes) or text
        said = Change(f"superseded by {by}", reason, entry.get("certainty"), "0")
        text = log_change(text, entry.get("id"), entry.title, day, said)
    return text
