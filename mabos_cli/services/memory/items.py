"""Items by their ids: found live or archived, shown with their history, edited, and how far they are trusted."""

import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.memory.item import STORES, TRUSTS, MemoryItem, check_choice, touch
from mabos_cli.core.memory.stores import (
    EVERYTHING,
    Changes,
    Departure,
    Memory,
    locate,
    plan_forget,
    plan_revive,
    plan_update,
    reach_of,
    supersede,
)
from mabos_cli.core.memory.trust import CLAIMED, Decision, Judgement, mark_text, trust_rank
from mabos_cli.core.records import NamedTuple
from mabos_cli.errors import NotFound
from mabos_cli.formats.memory.items import render_decision
from mabos_cli.services.inputs import draft_from
from mabos_cli.services.memory.remember import redacted_note
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.archive import find_all_departures
from mabos_cli.workspace.memory.trust_log import Judge

if TYPE_CHECKING:
    from mabos_cli.core.knowledge.fact import Fact, FactDeparture
    from mabos_cli.core.memory.observation import Observation

_DEEPEST = 100  # steps of a tree of sources


class Found(NamedTuple):
    """An item with the store that holds or held it, and its archive records."""

    item: MemoryItem
    store: str
    is_live: bool
    history: tuple[Departure, ...]


def find_item(agent: Agent, memory: Memory, item_id: str) -> Found:
    """Returns the item with an id, live or archived; NotFound for an id that was never issued here."""
    live = locate(memory, item_id)
    history = tuple(agent.departures(item_id, is_live=bool(live)))
    if live:
        return Found(live[1], live[0], True, history)
    if history:
        store = history[-1].store if history[-1].store in STORES else "long_term"
        return Found(history[-1].item, store, False, history)
    raise _never_issued(agent, item_id)


def not_live(agent: Agent, item_id: str) -> NotFound:
    """Returns why an id is not live: archived, or never issued."""
    history = agent.departures(item_id)
    if history:
        return NotFound(f"{item_id} is archived ({history[-1].reason})", f"bring it back first: mabos revive {item_id}")
    return _never_issued(agent, item_id)


def _never_issued(agent: Agent, item_id: str) -> NotFound:
    hint = "mabos recall finds ids; another agent may have it (--agent)"
    if item_id.replace(" ", "").isalpha():
        hint = f"to find its id: mabos recall {shlex.quote(item_id)}"
    return NotFound(f"no item {item_id!r} for agent {agent.id}", hint)


def get_item(
    agent: Agent, item_id: str, *, tree: bool = False, count_use: bool = True
) -> tuple[Found, str, dict[str, Any] | None]:
    """Returns the item with an id, live or archived, its effective trust and, if asked for, the tree of what it derives from.

    Opening a live item counts as a use of it.
    """
    memory = agent.memory()
    found = find_item(agent, memory, item_id)
    agent.note_uses([item_id] if found.is_live and count_use else [])
    trust = Judge(agent.paths, memory)(found.item)
    return found, trust, _tree(agent, memory, item_id, set()) if tree else None


def _tree(agent: Agent, memory: Memory, item_id: str, shown: set[str], depth: int = 0) -> dict[str, Any]:
    """Returns the item and its sources, each with its state. An id is opened once, and not endlessly deep."""
    try:
        found = find_item(agent, memory, item_id)
    except NotFound:
        from mabos_cli.workspace.memory.observations import find_observation

        seen = find_observation(agent.paths, item_id) if item_id.startswith("O-") else None
        state, text = ("observed", seen.observation.text) if seen else ("unknown", "")
        return {"id": item_id, "state": state, "content": text, "sources": []}
    again = item_id in shown or depth >= _DEEPEST
    shown.add(item_id)
    sources = () if again else found.item.derived_from
    return {
        "id": item_id,
        "state": "live" if found.is_live else "archived",
        "content": found.item.content,
        "sources": [_tree(agent, memory, source, shown, depth + 1) for source in sources],
    }


def find_chain(agent: Agent, item: MemoryItem) -> list[Found]:
    """Returns what an item supersedes and what supersedes it, oldest first, the item among them; empty when there is none."""
    memory, chain = agent.memory(), [item.id]
    ids = [*item.supersedes]
    while ids and len(chain) < _DEEPEST:
        chain.insert(0, ids.pop())
        ids += [each for each in find_item(agent, memory, chain[0]).item.supersedes if each not in chain]
    while (newer := find_item(agent, memory, chain[-1]).item.superseded_by) and newer not in chain:
        chain.append(newer)
    return [find_item(agent, memory, item_id) for item_id in chain] if len(chain) > 1 else []


def get_fact(agent: Agent, fact_id: str) -> "tuple[Fact, bool, list[FactDeparture]]":
    """Returns the fact with an id, any ever asserted, whether it is live, and its archive records, oldest first."""
    from mabos_cli.formats.json.text import dump_line
    from mabos_cli.workspace.knowledge.facts import find_fact_departures, load_facts

    live = load_facts(agent).find(fact_id)
    left = find_fact_departures(agent.paths, b'{"id": %s, "kind": "fact"' % dump_line(fact_id).encode())
    if not live and not left:
        raise NotFound(f"{fact_id} was never issued for agent {agent.id}", "mabos fact query lists facts")
    return live or left[-1].fact, bool(live), left


def get_observation(agent: Agent, observation_id: str) -> "tuple[Observation, str, str, list[str]]":
    """Returns the observation with an id, without secrets, where it stands, whether it was harvested, and the items that came of it."""
    from mabos_cli.core.language.secrets import hide_in
    from mabos_cli.workspace.memory.observations import find_observation, items_of, load_ledger

    found = find_observation(agent.paths, observation_id)
    if found is None:
        raise NotFound(f"no observation {observation_id!r} for agent {agent.id}", "mabos recall finds ids")
    items = items_of(agent, observation_id)
    taken = bool(items) or observation_id in load_ledger(agent.paths, found.name).ids
    place = f"{agent.paths.relative(agent.paths.observations / found.name)}:{found.line}"
    return hide_in(found.observation), place, "harvested" if taken else "waiting", items


class Edited(NamedTuple):
    """An item after a command changed it, the store that holds or held it, the fields that changed, and warnings."""

    item: MemoryItem
    store: str
    warnings: list[str]
    changed: tuple[str, ...] = ()


def update_item(
    agent: Agent,
    item_id: str,
    given: dict[str, Any],
    secrets: str,
    *,
    level: float | None = None,
    store: str = "",
    supersedes: Sequence[str] = (),
) -> Edited:
    """Edits an item by new values of fields (None: unchanged), an importance and a store; the version before is archived, and so
    is what it supersedes. A new text that nobody vouched for is trusted less."""
    fields, notes = _checked(agent, given, secrets)
    if level is not None:
        fields["importance"] = level
    if store:
        check_choice(store, STORES, "store")

    def plan(memory: Memory, _: object) -> tuple[Changes, tuple[MemoryItem, str, bool]]:
        limits, judge = agent.settings.limits(), Judge(agent.paths, memory)
        before, now = locate(memory, item_id), agent.now()
        if before is None:
            raise not_live(agent, item_id)
        olds = [_superseded(agent, memory, judge, old_id, before[1]) for old_id in supersedes]
        if olds:
            fields["supersedes"] = tuple(dict.fromkeys((*before[1].supersedes, *supersedes)))
        planned = plan_update(memory, item_id, fields, store=store, now=now, limits=limits, trust_of=judge)
        assert planned is not None
        changes, item, where = planned
        if olds:
            live = frozenset(old.item.id for old in olds if old.is_live)
            changes = supersede(changes, item_id, [(old.store, old.item) for old in olds], format_time(now), live)
        return changes, (item, where, trust_rank(item.trust) < trust_rank(before[1].trust))

    (item, where, fell), warnings = agent.change("update", plan)
    warnings += [*notes, *([f"{item.id} is {item.trust} now: nobody vouched for this text"] if fell else [])]
    return Edited(item, where, warnings, tuple(sorted([*fields, *(["store"] if store else [])])))


def _superseded(agent: Agent, memory: Memory, judge: Judge, old_id: str, newer: MemoryItem) -> Found:
    """Returns the item that a newer one is to supersede; BadValue when that is trusted less, or comes later in the chain."""
    old = find_item(agent, memory, old_id)
    if old_id == newer.id or newer.id in old.item.supersedes:
        raise BadValue(f"{newer.id} cannot supersede {old_id}", "name the item that was so before")
    if trust_rank(judge(newer)) < trust_rank(judge(old.item)):
        raise BadValue(f"{old_id} is trusted more than {newer.id}", f"raise that first: mabos trust {newer.id}")
    return old


def _checked(agent: Agent, given: dict[str, Any], secrets: str) -> tuple[dict[str, Any], list[str]]:
    """Returns the fields that were given, checked as those of a new item are, and a warning if secrets were replaced."""
    values = {name: value for name, value in given.items() if value or (name == "content" and value is not None)}
    draft = draft_from({"content": "-"} | values, agent.settings, agent.now(), secrets)
    fields = {name: getattr(draft.item, name) for name, value in given.items() if value is not None}
    return fields, redacted_note([draft])


def forget_item(agent: Agent, item_id: str, reason: str) -> Edited:
    """Puts an item out of sight, archived or not, and with it what was consolidated into it; summaries no longer tell it."""

    def plan(memory: Memory, _: object) -> tuple[Changes, tuple[MemoryItem, str, tuple[Departure, ...]]]:
        found, now = find_item(agent, memory, item_id), agent.now()
        if not found.is_live and reach_of(found.history[-1].reason) == EVERYTHING:
            raise NotFound(f"{item_id} is forgotten already", f"to bring it back: mabos revive {item_id}")
        changes = plan_forget(memory, found.item, found.store, reason, now=now)
        below = _members(agent, memory, found.item, "consolidated")
        gone = [left._replace(reason="forgotten", at=format_time(now)) for left in below]
        changes = changes._replace(archive=(*changes.archive, *gone))
        return changes, (found.item, found.store, changes.archive)

    (item, store, gone), warnings = agent.change("forget", plan)
    return Edited(item, store, warnings + _retell(agent, (left.item.created_at[:10] for left in gone)))


def _members(agent: Agent, memory: Memory, item: MemoryItem, reason: str) -> list[Departure]:
    """Returns the last departures of what went into an item and has left for a reason, and of what went into that."""
    found = find_all_departures(agent.paths, (each for each in item.derived_from if not locate(memory, each)))
    gone = [left[-1] for left in found.values() if left and left[-1].reason == reason and left[-1].into == item.id]
    return [*gone, *(below for left in gone for below in _members(agent, memory, left.item, reason))]


def _retell(agent: Agent, days: Iterable[str]) -> list[str]:
    """Rebuilds the summaries that tell, or no longer tell, of items of some days; returns warnings."""
    from mabos_cli.services.hierarchy.build import retell_days

    return retell_days(agent, frozenset(days))


def revive_item(agent: Agent, item_id: str, store: str = "") -> Edited:
    """Brings an archived item back, to a store or to where it came from."""

    def plan(memory: Memory, _: object) -> tuple[Changes, tuple[MemoryItem, str, list[Departure]]]:
        found, judge = find_item(agent, memory, item_id), Judge(agent.paths, memory)
        target, limits, now = store or found.store, agent.settings.limits(), agent.now()
        changes, alive = plan_revive(memory, found.item, target, now=now, limits=limits, trust_of=judge)
        was_forgotten = [left for left in found.history[-1:] if reach_of(left.reason) == EVERYTHING]
        below = _members(agent, memory, found.item, "forgotten") if was_forgotten else []
        back = [left._replace(reason="consolidated", at=format_time(now)) for left in below]
        return changes._replace(archive=(*changes.archive, *back)), (*alive, [*was_forgotten, *back])

    (item, store, moved), warnings = agent.change("revive", plan)
    return Edited(item, store, warnings + _retell(agent, (left.item.created_at[:10] for left in moved)))


def reinforce_item(agent: Agent, item_id: str, by: float) -> Edited:
    """Counts a use of an item and raises its importance, up to 1."""

    def plan(memory: Memory, _: object) -> tuple[Changes, MemoryItem]:
        found = locate(memory, item_id)
        if found is None:
            raise not_live(agent, item_id)
        used = touch(found[1], format_time(agent.now()))
        fields: dict[str, Any] = {"accessed_at": used.accessed_at, "access_count": used.access_count}
        if by:
            fields["importance"] = round(min(1.0, used.importance + by), 4)
        limits = agent.settings.limits()
        planned = plan_update(memory, item_id, fields, now=agent.now(), limits=limits, keep_version=False)
        assert planned is not None
        return planned[0], planned[1]

    item, warnings = agent.change("reinforce", plan)
    return Edited(item, "", warnings)


class TrustView(NamedTuple):
    """How far an item is trusted, what decides that, the items on the way to it (None: not known), and the decisions."""

    found: Found
    judged: Judgement
    lineage: list[tuple[str, MemoryItem | None]]
    decisions: list[Decision]


def explain_trust(agent: Agent, item_id: str) -> TrustView:
    """Returns how far an item is trusted, and why."""
    from mabos_cli.workspace.memory.trust_log import load_decisions

    memory = agent.memory()
    judge = Judge(agent.paths, memory)
    found = find_item(agent, memory, item_id)
    judged = _decisive(judge, found.item)
    decisions = [decision for decision in load_decisions(agent.paths)[0] if decision.id == item_id]
    return TrustView(found, judged, [(source, judge.find(source)) for source in judged.path], decisions)


def _decisive(judge: Judge, item: MemoryItem) -> Judgement:
    """Returns what decides about an item: also what would, had it not been stored as little trusted as that."""
    judged, bound = judge.judge(item), judge.judge(item._replace(trust=TRUSTS[-1]))
    is_bound = trust_rank(bound.trust) <= trust_rank(judged.trust)
    by_itself = len(bound.path) == 1 and bound.why == CLAIMED
    return bound if judged.why == CLAIMED and is_bound and not by_itself else judged


def decide_trust(agent: Agent, item_id: str, to: str, by: str, reason: str) -> tuple[Decision, list[str]]:
    """Changes the trust of a live item, and logs it. The log comes behind the store: until then a raise is without effect. Summaries
    tell it, or no longer do."""

    def plan(memory: Memory, _: object) -> tuple[Changes, tuple[Decision, str]]:
        here = locate(memory, item_id)
        if here is None:
            raise not_live(agent, item_id)
        before, limits = Judge(agent.paths, memory)(here[1]), agent.settings.limits()
        planned = plan_update(memory, item_id, {"trust": to}, now=agent.now(), limits=limits, reason="trust")
        assert planned is not None
        text = mark_text(planned[1].content)
        decision = Decision(format_time(agent.now()), item_id, before, to, by, reason, text)
        return planned[0], (decision, here[1].created_at[:10])

    (decision, day), warnings = agent.change(
        "trust", plan, ledger=lambda made: [(agent.paths.trust_log, render_decision(made[0]))]
    )
    return decision, warnings + _retell(agent, [day])


def list_untrusted(agent: Agent) -> list[tuple[str, MemoryItem]]:
    """Returns the untrusted items with their stores, newest first."""
    from mabos_cli.workspace.memory.trust_log import find_doubtful

    memory = agent.memory()
    judge = Judge(agent.paths, memory)
    held = [(store, item) for store, item in find_doubtful(memory, judge.rulings) if judge(item) == TRUSTS[0]]
    return sorted(held, key=lambda pair: (pair[1].created_at, pair[1].id), reverse=True)


def list_decisions(agent: Agent, item_id: str) -> tuple[list[Decision], list[str]]:
    """Returns what was decided about an item, or about all without an id, latest first; and warnings."""
    from mabos_cli.core.language.text import plural
    from mabos_cli.workspace.memory.trust_log import load_decisions

    decisions, skipped = load_decisions(agent.paths)
    found = [decision for decision in decisions if not item_id or decision.id == item_id][::-1]
    cited = agent.paths.cited(agent.paths.trust_log)
    return found, [f"{cited}: {plural(skipped, 'line')} that cannot be read, passed over"] if skipped else []
