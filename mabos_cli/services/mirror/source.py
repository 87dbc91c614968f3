"""The records that an agent's files hold for the mirror: all of a part, or only those with some ids.

A part is what comes out of one file or one set of files that belong together.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.memory.stores import Memory, locate
from mabos_cli.core.mirror import records as mirror_records
from mabos_cli.core.mirror.mind_records import AgentMind, leans_on, mind_records
from mabos_cli.errors import MabosError
from mabos_cli.formats.memory.items import line_id
from mabos_cli.services.mind.deliberation import strategy_of
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.knowledge.cases import load_cases
from mabos_cli.workspace.knowledge.facts import load_facts, load_rules
from mabos_cli.workspace.knowledge.reasoning import load_past
from mabos_cli.workspace.locate import list_agents
from mabos_cli.workspace.memory.store import LongTermView
from mabos_cli.workspace.mind import load_attitudes, load_beliefs

# Part: the types of its records.
PARTS = {
    "agent": ("agent",),
    "mind": ("belief", "desire", "goal", "plan", "plan_step", "intention"),
    "rules": ("knowledge_rule",),
    "facts": ("spo_fact",),
    "cases": ("cbr_case",),
    "reasoning": ("reasoning_method", "reasoning_result"),
    "memory": ("memory_item",),
}
Ids = Collection[str]
_MANY = 50  # ids above which all of a file is decoded instead of looking for each


class Held(NamedTuple):
    """Records of a part, and the keys of all that the part holds: what is not among them is gone."""

    records: list[mirror_records.Record]
    alive: frozenset[mirror_records.Key]


def load_part(agent: Agent, part: str, ids: Ids | None = None, known: Ids = ()) -> Held:
    """Returns the records of a part, or only those with some ids, where the part can be looked up by id. Of what moves between
    working and short-term memory no command names the ids: those that the mirror knows come along."""
    if ids is None or part not in _NAMED:
        records = list(_WHOLE[part](agent))
        return Held(records, frozenset((record.type, record.uid) for record in records))
    return _NAMED[part](agent, dict.fromkeys(ids), known)


def _agent(agent: Agent) -> Iterator[mirror_records.Record]:
    manifest = agent.manifest()
    names = {"name": "name", "role": "agent_role", "department": "department"}
    told = {own: said for key, own in names.items() if isinstance(said := manifest.get(key), str) and said}
    known = {"commitment_strategy": strategy_of(agent)[0], "is_shared": agent.settings["memory.shared"]}
    yield mirror_records.agent_record(agent.id, **(known | told))


def _other_minds(agent: Agent, but: Ids = ()) -> list[AgentMind]:
    """Returns the minds of the other agents. What cannot be read there is no reason not to mirror this one, and links to
    nothing."""
    minds = []
    for name in list_agents(agent.paths.workspace):
        if name != agent.id and name not in but:
            with suppress(MabosError):
                minds.append(load_mind(agent._replace(paths=agent.paths.workspace.agent(name))))
    return minds


def find_leaning(agent: Agent, but: Ids) -> list[str]:
    """Returns the other agents, but for some, whose records may have changed with the mind of this one: they are linked, or now
    could be."""
    others = _other_minds(agent, but)
    mind = load_mind(agent) if others else AgentMind(agent.id)
    return [other.agent for other in others if leans_on(other, mind)]


def load_mind(agent: Agent) -> AgentMind:
    """Returns what an agent holds true, wants and does. What makes no sense in its files is for `bdi` and `doctor` to tell."""
    kinds = ("desire", "goal", "plan", "intention")
    return AgentMind(agent.id, load_beliefs(agent)[0], *(load_attitudes(agent, kind)[0] for kind in kinds))


def _named_facts(agent: Agent, ids: Ids, known: Ids) -> Held:
    facts = load_facts(agent)
    if len(ids) > _MANY:
        found = [fact for fact in facts.all() if fact.id in ids]
    else:
        found = [fact for own in ids if (fact := facts.find(own))]
    records = [mirror_records.fact_record(agent.id, fact) for fact in found]
    # Where derived facts follow from the facts as they are, they may have changed with them.
    if facts.derived.extra.get("facts_version") == facts.asserted.version:
        records += [mirror_records.fact_record(agent.id, fact) for fact in facts.derived.facts()]
    alive = (line_id(line) for file in facts for line in file.lines)
    return Held(records, _keys(agent, "spo_fact", alive))


def _named_cases(agent: Agent, ids: Ids, known: Ids) -> Held:
    file = load_cases(agent)
    found = [file.case(file.places[own]) for own in ids if own in file.places]
    return Held([mirror_records.case_record(agent.id, case) for case in found], _keys(agent, "cbr_case", file.places))


def _stored(memory: Memory) -> Iterator[tuple[str, MemoryItem]]:
    for store in ("working", "short_term", "long_term"):
        yield from ((store, item) for item in getattr(memory, store))


def _named_memory(agent: Agent, ids: Ids, known: Ids) -> Held:
    memory = agent.memory()
    view = memory.long_term
    assert isinstance(view, LongTermView)
    recent = [item.id for item in (*memory.working, *memory.short_term)]
    wanted = dict.fromkeys((*ids, *(own for own in recent if own in known)))
    if len(wanted) > _MANY:
        found = [pair for pair in _stored(memory) if pair[1].id in wanted]
    else:
        found = [pair for own in wanted if (pair := locate(memory, own))]
    alive = (*recent, *view.put, *(line_id(line) for line in view.store.lines()))
    records = [mirror_records.memory_record(agent.id, item, store) for store, item in found]
    return Held(records, _keys(agent, "memory_item", alive))


def _keys(agent: Agent, kind: str, ids: Iterable[str]) -> frozenset[mirror_records.Key]:
    return frozenset((kind, mirror_records.uid_of(agent.id, own)) for own in ids)


_WHOLE: dict[str, Callable[[Agent], Iterable[mirror_records.Record]]] = {
    "agent": _agent,
    "mind": lambda agent: mind_records(load_mind(agent), _other_minds(agent)),
    "rules": lambda agent: (mirror_records.rule_record(agent.id, rule) for rule in load_rules(agent).rules),
    "facts": lambda agent: (mirror_records.fact_record(agent.id, fact) for fact in load_facts(agent).all()),
    "cases": lambda agent: (mirror_records.case_record(agent.id, case) for case in load_cases(agent).cases()),
    "reasoning": lambda agent: mirror_records.result_records(agent.id, load_past(agent)[0]),
    "memory": lambda agent: (
        mirror_records.memory_record(agent.id, item, store) for store, item in _stored(agent.memory())
    ),
}
_NAMED: dict[str, Callable[[Agent, Ids, Ids], Held]] = {
    "facts": _named_facts,
    "cases": _named_cases,
    "memory": _named_memory,
}
