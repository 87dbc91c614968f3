"""Adds, revises and lists beliefs. Lists the conflicts among them, and settles them: the belief that is not kept is marked where it
stands, and the decision is kept for good."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.fact import holds_at
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import check_choice, check_content, check_word
from mabos_cli.core.memory.trust import needs_voucher, trust_by_source, trust_rank
from mabos_cli.core.mind.conflicts import Conflict, find_conflicts
from mabos_cli.core.mind.deliberation import find_unsupported
from mabos_cli.core.mind.mind import Belief, status_word
from mabos_cli.core.records import NamedTuple
from mabos_cli.errors import Conflict as Moved
from mabos_cli.errors import MabosError, NotFound, UsageFault
from mabos_cli.formats.mind.attitudes import find_entry, parse_beliefs
from mabos_cli.formats.mind.cognitive import parse_cognitive, render_trust
from mabos_cli.formats.mind.cognitive_edit import Change, count_revision, log_change
from mabos_cli.formats.mind.mind_edit import add_entry, belief_draft, change_entry
from mabos_cli.formats.mind.mind_md import Resolution, added_line, belief_line, belief_row, render_resolution
from mabos_cli.services.inputs import check_trust, check_voucher, option, refuse_secrets
from mabos_cli.services.mind import attitudes
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import plan_edit
from mabos_cli.workspace.git import has_clones
from mabos_cli.workspace.knowledge.facts import find_fact_departures, load_facts
from mabos_cli.workspace.mind import (
    compare_beliefs,
    edit_mind,
    load_beliefs,
    note_resolved,
    read_resolved,
    refresh_mind,
)
from mabos_cli.workspace.transaction import Fresh, Write, transact

_FACT = re.compile(r"F-[A-Za-z0-9-]+")


def _check_certainty(number: float) -> float:
    """Returns a certainty; BadValue outside 0..1."""
    if not 0 <= number <= 1:
        raise BadValue(f"certainty {number:g} is outside 0..1", "as in --certainty 0.8")
    return number


def add_belief(
    agent: Agent,
    subject: str,
    text: str | None,
    certainty: float,
    source: str,
    supports: Sequence[str],
    group: str,
    trust: str = "",
    by: str = "",
    rests_on: Sequence[str] = (),
) -> attitudes.Result:
    """Adds a belief; goals that it supports and that are not there are warned about. `by` vouches for one from outside."""
    goals, unknown = attitudes.resolve_ids(agent, "goal", [check_word(goal, "id") for goal in supports])
    voucher, source = check_voucher(agent.settings, by), check_word(source, "source")
    belief = Belief(
        attitudes.check_title(subject, "subject"),
        attitudes.check_text(agent, text),
        _check_certainty(certainty),
        attitudes.today(agent),
        source=source,
        supports=tuple(goals),
        trust=check_trust(trust, source, voucher),
        rests=tuple(check_word(each, "id", 80) for each in rests_on),
    )
    vouched = voucher if needs_voucher(belief.trust, source) else ""
    added, draft = belief, belief_draft(belief, render_trust(belief.trust, source, vouched))
    below, is_cloned = check_word(group, "group"), has_clones(agent.paths.workspace)

    def edit(old: str) -> str:
        nonlocal added
        new, entry_id = add_entry(old or "# Beliefs\n", draft, belief.updated, below, is_cloned=is_cloned)
        entry_id, line = attitudes.find_added(new, "belief", entry_id, belief.subject)
        added = belief._replace(id=entry_id, path=agent.paths.beliefs.name, line=line)
        return new

    warnings = edit_mind(agent, "belief add", "belief", edit, lambda: [added.id], is_adding=True)[1]
    return attitudes.Result(belief_row(added), [added_line(added.id, added.place, added.statement)], warnings + unknown)


class Revision(NamedTuple):
    """Holds what is to change in a belief, None or empty where it stays; why, and who vouches for more trust."""

    certainty: float | None = None
    value: str | None = None
    source: str | None = None
    reason: str = ""
    trust: str = ""
    by: str = ""
    status: str = ""


def revise_belief(agent: Agent, name: str, given: Revision) -> attitudes.Result:
    """Changes the fields of a belief that are given, in place."""
    certainty, value, source, reason, trust = given[:5]
    changes = {} if certainty is None else {"certainty": f"{_check_certainty(certainty):g}"}
    changes |= {} if value is None else {"text": check_content(value, agent.settings["memory.max_content_bytes"])}
    changes |= {} if source is None else {"source": check_word(source, "source")}
    changes |= {"status": check_word(given.status, "status")} if given.status else {}
    if not changes and not trust:
        raise BadValue("nothing given to change", "--certainty, --value, --source, --status or --trust")
    voucher = check_voucher(agent.settings, given.by)
    found: list[Belief] = []
    others: list[str] = []

    def edit(old: str) -> str:
        changes.pop("trust", None)
        changes.update(_change_trust(_wanted_belief(agent, old, name), changes, trust, voucher))
        new = _revise(agent, old, name, changes, check_word(reason, "reason"))
        found[:] = [belief for belief in (_find_belief(new, name), _find_belief(old, name)) if belief]
        others[:] = attitudes.find_namesakes(new, "belief", name)
        return new

    changed, warnings = edit_mind(agent, "belief revise", "belief", edit, lambda: [name])
    belief, verb = found[0], "revised" if changed else "unchanged"
    line = f"{verb} {belief.id or belief.subject} {belief.place}: {_name_fields(changes)}"
    return attitudes.Result(belief_row(belief) | {"changed": sorted(changes)}, [line], warnings + others)


def _revise(agent: Agent, old: str, name: str, changes: Mapping[str, str], reason: str) -> str:
    """Returns the text of Beliefs.md with fields of a belief changed, and a line about it in its log if it has one."""
    entry = find_entry(parse_cognitive(old), "belief", name)
    assert entry
    new = change_entry(old, entry, {**changes, "updated": attitudes.today(agent)})
    if new is None:
        place = f"{agent.paths.beliefs.name}:{entry.first + 1}"
        raise BadValue(f"{name} contains more than plain text", f"edit it by hand: {place}; --certainty works")
    if new == old:
        return old
    field = "text" if "text" in changes else next(iter(changes))
    before = entry.text if field == "text" else entry.get(field)
    change, day = Change(f"revised {_name_fields(changes)}", reason, before, changes[field]), attitudes.today(agent)
    logged = log_change(new, entry.get("id"), entry.title, day, change)
    if reason and logged == new:  # a file without a log keeps the last reason with the belief
        logged = change_entry(new, entry, {"reason": f"{day}: {reason}"}) or new
    return count_revision(logged, day)


def _change_trust(belief: Belief, changes: Mapping[str, str], trust: str, by: str) -> dict[str, str]:
    """Returns the field of trust where a revision touches it: another text is not what somebody vouched for, and another source
    does not make trusted what was not."""
    if not trust and not changes.keys() & {"text", "source"}:
        return {}
    kept = trust_by_source(belief.trust, belief.source) if "text" in changes else belief.trust
    source = changes.get("source", belief.source)
    level = check_trust(trust, source, by, kept)
    is_raised = needs_voucher(level, source) or trust_rank(level) > trust_rank(kept) == 0
    new = render_trust(level, source, by if is_raised else "")
    return {"trust": new or level} if new or level != belief.trust else {}


def find_doubts(agent: Agent, beliefs: Sequence[Belief]) -> dict[str, str]:
    """Returns the beliefs that rest on facts or beliefs which hold no more, by id or place, with what that is."""
    return find_unsupported(beliefs, gone_facts(agent, beliefs)) if any(belief.rests for belief in beliefs) else {}


def gone_facts(agent: Agent, beliefs: Sequence[Belief]) -> dict[str, str]:
    """Returns the facts that beliefs rest on and that hold no more, with what became of them."""
    named = sorted({rest for belief in beliefs for rest in belief.rests if _FACT.fullmatch(rest)})
    facts, gone = load_facts(agent) if named else None, {}
    for name in named if facts else ():
        fact = facts.find(name) if facts else None
        left = [] if fact else find_fact_departures(agent.paths, name.encode())
        if fact and not holds_at(fact, agent.now()):
            gone[name] = f"no longer holds since {fact.valid_until[:10] or fact.valid_from[:10]}"
        elif left:
            reason = one_line(left[-1].reason, 60)
            why = f": {reason}" if reason not in ("", "retracted") else ""
            gone[name] = f"was retracted on {left[-1].at[:10]}{why}"
        elif not fact:
            gone[name] = "is not known"
    return gone


def list_beliefs(agent: Agent, min_certainty: float, status: str) -> attitudes.Result:
    """Lists the beliefs that are certain enough, in the order of the file; with a status, only those that have it."""
    beliefs, problems = load_beliefs(agent)
    wanted = status.strip().casefold()
    chosen = [b for b in beliefs if b.certainty >= min_certainty and wanted in ("", status_word(b.status))]
    nothing = "no belief passes the filters" if beliefs else "no beliefs yet"
    doubts = find_doubts(agent, beliefs)
    lines = [belief_line(belief, doubts.get(belief.id or belief.place, "")) for belief in chosen] or [nothing]
    return attitudes.Result(
        {"beliefs": [belief_row(b) | {"doubt": doubts.get(b.id or b.place)} for b in chosen]},
        lines,
        [str(problem) for problem in problems],
    )


def _wanted_belief(agent: Agent, text: str, name: str) -> Belief:
    """Returns the belief with an id or a subject; NotFound when there is none."""
    found = _find_belief(text, name)
    if found is None:
        raise NotFound(f"no belief {name!r} for agent {agent.id}", "mabos belief list shows them")
    return found


def _find_belief(text: str, name: str) -> Belief | None:
    """Returns the belief with an id or a subject, as it is in the text of its file."""
    entry = find_entry(parse_cognitive(text), "belief", name)
    beliefs = parse_beliefs(text, "Beliefs.md")[0] if entry else []
    return next((b for b in beliefs if entry and b.line == entry.first + 1), None)


def _name_fields(names: Iterable[str]) -> str:
    """Returns the names of changed fields as users know them."""
    return ", ".join("value" if name == "text" else name for name in names)


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
            predicate = " ".join(re.sub(r"(?<=[a-z])(?=[A-Z])|[_-]", " ", fact.predicate).casefold().split())
            text, day = f"{fact.subject} {predicate} {fact.object}", (fact.updated_at or fact.created_at)[:10]
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
