"""Adds and revises beliefs."""

from collections.abc import Mapping
from typing import NamedTuple

from mabos_cli.core import BadValue
from mabos_cli.core.memory.item import check_word
from mabos_cli.core.mind.mind import Belief
from mabos_cli.errors import NotFound
from mabos_cli.formats.mind.attitudes import find_entry, parse_beliefs
from mabos_cli.formats.mind.cognitive import parse_cognitive
from mabos_cli.formats.mind.cognitive_edit import Change, log_change
from mabos_cli.formats.mind.mind_edit import add_entry, belief_draft, change_entry
from mabos_cli.services.mind.attitudes import find_added, find_namesakes, today, unknown_ids
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.mind import edit_mind


class Held(NamedTuple):
    """A belief as it is after an edit, whether the file changed, and warnings."""

    belief: Belief
    changed: bool
    warnings: list[str]


def add_belief(agent: Agent, belief: Belief, group: str = "") -> Held:
    """Adds a belief; goals that it supports and that are not there are warned about."""
    added, draft = belief, belief_draft(belief)
    unknown = unknown_ids(agent, "goal", belief.supports)

    def edit(old: str) -> str:
        nonlocal added
        new, entry_id = add_entry(old or "# Beliefs\n", draft, belief.updated, check_word(group, "group"))
        entry_id, line = find_added(new, "belief", entry_id, belief.subject)
        added = belief._replace(id=entry_id, path=agent.paths.beliefs.name, line=line)
        return new

    changed, warnings = edit_mind(agent, "belief add", "belief", edit, lambda: [added.id])
    return Held(added, changed, warnings + unknown)


def revise_belief(agent: Agent, name: str, changes: Mapping[str, str], reason: str) -> Held:
    """Changes fields of a belief in place."""
    day = today(agent)
    found: list[Belief] = []
    others: list[str] = []

    def edit(old: str) -> str:
        entry = find_entry(parse_cognitive(old), "belief", name)
        if entry is None or _find_belief(old, name) is None:
            raise NotFound(f"no belief {name!r} for agent {agent.id}", "mabos belief list shows them")
        new = change_entry(old, entry, {**changes, "updated": day})
        if new is None:
            place = f"{agent.paths.beliefs.name}:{entry.first + 1}"
            raise BadValue(f"{name} holds more than plain text", f"edit it by hand: {place}; --certainty works")
        if new != old:
            field = "text" if "text" in changes else next(iter(changes))
            before = entry.text if field == "text" else entry.get(field)
            change = Change(f"revised {name_fields(changes)}", check_word(reason, "reason"), before, changes[field])
            new = log_change(new, entry.get("id"), entry.title, day, change)
        found[:] = [belief for belief in (_find_belief(new, name), _find_belief(old, name)) if belief]
        others[:] = find_namesakes(new, "belief", name)
        return new

    changed, warnings = edit_mind(agent, "belief revise", "belief", edit, lambda: [name])
    return Held(found[0], changed, warnings + others)


def _find_belief(text: str, name: str) -> Belief | None:
    """Returns the belief with an id or a subject, as it is in the text of its file."""
    entry = find_entry(parse_cognitive(text), "belief", name)
    beliefs = parse_beliefs(text, "Beliefs.md")[0] if entry else []
    return next((b for b in beliefs if entry and b.line == entry.first + 1), None)


def name_fields(changes: Mapping[str, str]) -> str:
    """Returns the names of changed fields as users know them."""
    return ", ".join("value" if name == "text" else name for name in changes)
