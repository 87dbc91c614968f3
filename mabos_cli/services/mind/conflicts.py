"""Lists the conflicts among beliefs, and settles them: the belief that is not kept is marked where it stands, and the decision is
kept for good."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.fact import holds_at
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import check_choice, check_word
from mabos_cli.core.mind.conflicts import Conflict, find_conflicts
from mabos_cli.core.mind.mind import Belief
from mabos_cli.errors import Conflict as Moved
from mabos_cli.errors import MabosError, NotFound, UsageFault
from mabos_cli.formats.mind.attitudes import parse_beliefs
from mabos_cli.formats.mind.cognitive import parse_cognitive
from mabos_cli.formats.mind.cognitive_edit import Change, count_revision, log_change
from mabos_cli.formats.mind.mind_edit import change_entry
from mabos_cli.formats.mind.mind_md import Resolution, render_resolution
from mabos_cli.services.inputs import option, refuse_secrets
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import plan_edit
from mabos_cli.workspace.knowledge.facts import load_facts
from mabos_cli.workspace.mind import compare_beliefs, load_beliefs, note_resolved, read_resolved, refresh_mind
from mabos_cli.workspace.transaction import Fresh, Write, transact

_REMEMBERED = 0.7  # how sure a memory is, as a belief without a certainty


class ListedConflicts(NamedTuple):
    """How many beliefs there are, the conflicts among them, the keys of those that are resolved, and warnings."""

    beliefs: int
    conflicts: list[Conflict]
    resolved: set[str]
    warnings: list[str]


class Resolved(NamedTuple):
    """A conflict that was settled: the side that is kept, whether a file changed, and warnings."""

    conflict: Conflict
    keep: str
    changed: bool
    warnings: list[str]


def list_conflicts(agent: Agent, floor: float | None, every: bool, beside: str = "") -> ListedConflicts:
    """Lists the conflicts among beliefs that are more certain than a floor, resolved ones only if all are wanted; and those
    with facts and memories, if these are named."""
    named = [check_choice(word.strip(), ("facts", "memory"), "kind") for word in beside.split(",") if word.strip()]
    beliefs, problems = load_beliefs(agent)
    known, least = read_resolved(agent), option("bdi.certainty_floor", floor)
    compared = compare_beliefs(agent, beliefs, least)
    conflicts = compared.conflicts
    if named:
        least = agent.settings["bdi.certainty_floor"] if least is None else least
        conflicts = find_conflicts(beliefs, least, witnesses=[*_witnesses(agent, named)])
    chosen = [conflict for conflict in conflicts if every or conflict.key not in known]
    return ListedConflicts(len(beliefs), chosen, {*known}, [*map(str, problems), *compared.warnings])


def _witnesses(agent: Agent, named: list[str]) -> Iterator[Belief]:
    """Yields the facts that hold now, and the memories, as beliefs."""
    for fact in load_facts(agent).all() if "facts" in named else ():
        if holds_at(fact, agent.now()):
            said = " ".join(re.sub(r"(?<=[a-z])(?=[A-Z])|[_-]", " ", fact.predicate).casefold().split())
            text, day = f"{fact.subject} {said} {fact.object}", (fact.updated_at or fact.created_at)[:10]
            yield Belief(fact.subject, text, fact.confidence, day, fact.id, fact.source, path="fact", trust=fact.trust)
    memory = agent.memory() if "memory" in named else None
    for item in (*memory.working, *memory.short_term, *memory.long_term) if memory else ():
        if not item.superseded_by:
            where = Belief("", item.content, _REMEMBERED, item.happened_at[:10], item.id, item.source)
            yield where._replace(path="memory", trust=item.trust)


def resolve_conflict(agent: Agent, key: str, keep: str, reason: str) -> Resolved:
    """Settles the conflict with a key, or the start of one: marks the belief that is not kept, with all that say the same, and
    notes the decision."""
    keep = check_choice(keep.strip().lower(), ("a", "b", "both", "stronger"), "side")
    conflict = _find_conflict(agent, key.strip().lower())
    if keep == "stronger":
        keep, why = conflict.stronger
        if not keep:
            raise BadValue(f"neither side of {key} is entrenched more firmly", "decide: --keep a, b or both")
        reason = reason or f"it is {why}"
    reason = check_word(reason, "reason", 2000)
    refuse_secrets(agent.settings, reason=reason)  # the ledger is written behind the commit point
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

    return Resolved(conflict, keep, *transact(agent, "bdi resolve", planned))


def _find_conflict(agent: Agent, key: str) -> Conflict:
    """Returns the open conflict with a key, or the start of one."""
    known = read_resolved(agent)
    found = compare_beliefs(agent, load_beliefs(agent)[0]).conflicts
    named = {c.key: c for c in found if len(key) >= 4 and c.key.startswith(key)}
    if len(named) > 1:
        raise UsageFault(f"{key} could be {plural(len(named), 'conflict')}", f"one of: {', '.join(named)}")
    if not named:
        earlier = [k for k in known if len(key) >= 4 and k.startswith(key)]
        if earlier:
            raise NotFound(f"conflict {key} was resolved already", f"on {known[earlier[0]].at[:10]}")
        raise NotFound(f"no conflict {key!r} for agent {agent.id}", "mabos bdi conflicts lists them")
    return next(iter(named.values()))


def _note(agent: Agent, decision: Resolution) -> list[str]:
    """Notes the decision; returns a warning when that cannot be done."""
    try:
        note_resolved(agent, decision)
    except MabosError as error:
        return [f"the decision is not in the ledger: {error.message}"]
    return []


def _supersede(text: str, kept: Belief, lost: Belief, day: str, reason: str) -> str:
    """Returns Beliefs.md with a belief, and those that say the same, superseded: the status says by what, the certainty
    that it had stays."""
    beliefs = parse_beliefs(text, lost.path)[0]
    places = [belief.line for belief in beliefs if (belief.subject, belief.text) == (lost.subject, lost.text)]
    if not places:
        raise Moved(f"{lost.place} was changed meanwhile", "look at it again: mabos bdi conflicts")
    by = kept.id or f"“{one_line(kept.statement, 80)}”"
    status = f"superseded by {by} ({day})"
    changes = {"status": status, "updated": day}
    entries = [entry for entry in parse_cognitive(text).entries if entry.first + 1 in places]
    for entry in reversed(entries):
        text = change_entry(text, entry, changes) or text
    # Only now: a log may stand above what it is about, and moves it.
    for entry in entries:
        change = Change(f"superseded by {by}", reason, entry.get("status"), status)
        text = log_change(text, entry.get("id"), entry.title, day, change)
    return count_revision(text, day)
