"""Adds, revises and lists beliefs."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.knowledge.fact import holds_at
from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory.item import check_content, check_word
from mabos_cli.core.memory.trust import needs_voucher, trust_by_source, trust_rank
from mabos_cli.core.mind.deliberation import find_unsupported
from mabos_cli.core.mind.mind import Belief, status_word
from mabos_cli.errors import NotFound
from mabos_cli.formats.mind.attitudes import find_entry, parse_beliefs
from mabos_cli.formats.mind.cognitive import parse_cognitive, render_trust
from mabos_cli.formats.mind.cognitive_edit import Change, count_revision, log_change
from mabos_cli.formats.mind.mind_edit import add_entry, belief_draft, change_entry
from mabos_cli.formats.mind.mind_md import added_line, belief_line, belief_row
from mabos_cli.services.inputs import check_trust, check_voucher
from mabos_cli.services.mind import attitudes
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.git import has_clones
from mabos_cli.workspace.knowledge.facts import find_fact_departures, load_facts
from mabos_cli.workspace.mind import edit_mind, load_beliefs

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

    warnings = edit_mind(agent, "belief add", "belief", edit, lambda: [added.id])[1]
    return attitudes.Result(belief_row(added), [added_line(added.id, added.place, added.statement)], warnings + unknown)


class Revision(NamedTuple):
    """What is to change in a belief, None or empty where it stays; why, and who vouches for more trust."""

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
        raise BadValue(f"{name} holds more than plain text", f"edit it by hand: {place}; --certainty works")
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
            gone[name] = f"holds no more since {fact.valid_until[:10] or fact.valid_from[:10]}"
        elif left:
            why = f": {one_line(left[-1].reason, 60)}" if left[-1].reason else ""
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
