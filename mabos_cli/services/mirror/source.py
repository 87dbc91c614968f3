"""The records that an agent's files hold for the mirror: all of a part, or only those with some ids.

A part is what comes out of one file or one set of files that belong together.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.knowledge.rule import reach
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.memory.stores import Memory, locate
from mabos_cli.core.memory.trust import PRIVATE, Sharing
from mabos_cli.core.mirror import records as mirror_records
from mabos_cli.core.mirror.fact_records import fact_records, memory_of
from mabos_cli.core.mirror.mind_records import AgentMind, conflict_records, mind_records
from mabos_cli.errors import MabosError
from mabos_cli.formats.memory.items import line_id, parse_item
from mabos_cli.formats.mind.attitudes import parse_beliefs
from mabos_cli.services.mind.deliberation import strategy_of
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import read_saved
from mabos_cli.workspace.knowledge.cases import load_cases
from mabos_cli.workspace.knowledge.facts import Facts, load_facts
from mabos_cli.workspace.knowledge.ontologies import load_ontology
from mabos_cli.workspace.knowledge.reasoning import load_past
from mabos_cli.workspace.knowledge.rules import load_rules
from mabos_cli.workspace.locate import list_agents
from mabos_cli.workspace.memory.store import LongTermView
from mabos_cli.workspace.mind import compare_beliefs, load_attitudes, load_beliefs, read_resolved

# Part: the types of its records.
PARTS = {
    "agent": ("agent", "persona", "skill"),
    "mind": ("belief", "desire", "goal", "plan", "plan_step", "intention", "task", "conflict"),
    "rules": ("knowledge_rule",),
    "facts": ("individual", "spo_fact"),
    "cases": ("cbr_case",),
    "reasoning": ("reasoning_method", "reasoning_result"),
    "memory": ("memory_item", "decision"),
}
Ids = Collection[str]
_ABOUT = ("Persona", "Capabilities")  # files about an agent itself
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
    stated = {field: value for key, field in names.items() if isinstance(value := manifest.get(key), str) and value}
    known = {"commitment_strategy": strategy_of(agent)[0], "is_shared": agent.settings["memory.shared"]}
    yield mirror_records.agent_record(agent.id, **(known | stated))
    persona, skills = (
        (read_saved(agent.paths.root / f"{name}.md") or b"").decode("utf-8", "replace") for name in _ABOUT
    )
    if persona:
        name = stated.get("name", "") or agent.id
        relation = ("agent_has_persona", "character")
        yield mirror_records.trait_record(agent.id, "persona", "persona", *relation, name=name, content=persona)
    for name, each in {each.subject: each for each in parse_beliefs(skills, "")[0] if each.subject}.items():
        has = {"name": name, "content": each.text, "proficiency": each.certainty}
        yield mirror_records.trait_record(agent.id, "skill", name, "agent_has_skill", "ability", **has)


def load_mind(agent: Agent) -> AgentMind:
    """Returns what an agent holds true, wants and does. What makes no sense in its files is for `bdi` and `doctor` to tell."""
    kinds = ("desire", "goal", "plan", "intention", "commitment")
    return AgentMind(agent.id, load_beliefs(agent)[0], *(load_attitudes(agent, kind)[0] for kind in kinds))


def _mind(agent: Agent) -> Iterator[mirror_records.Record]:
    mind, withheld = load_mind(agent), _withheld(agent)
    mind = mind._replace(beliefs=[belief for belief in mind.beliefs if withheld.isdisjoint(belief.rests)])
    named = {fact_id for belief in mind.beliefs for fact_id in belief.rests if fact_id.startswith("F-")}
    facts = load_facts(agent) if named else None
    known = [fact_id for fact_id in named if facts and facts.find(fact_id)]
    others = []
    for name in list_agents(agent.paths.workspace):
        # What cannot be read of another mind is no reason not to mirror this one, and links to nothing.
        with suppress(MabosError):
            others += [load_mind(agent._replace(paths=agent.paths.workspace.agent(name)))] if name != agent.id else []
    yield from mind_records(mind, others, known)
    settled = {key: (each.reason, each.at) for key, each in read_resolved(agent).items()}
    yield from conflict_records(agent.id, compare_beliefs(agent, mind.beliefs).conflicts, settled)


def _fact_records(agent: Agent, facts: Iterable[Fact], wanted: Ids | None = None) -> list[mirror_records.Record]:
    ontology, rules = load_ontology(agent.paths.workspace)[0], {rule.id for rule in load_rules(agent).rules}
    facts = [*facts]
    memories = _memory_ids(agent.memory()) if any(map(memory_of, facts)) else ()
    return list(fact_records(agent.id, facts, ontology, rules, memories, wanted))


def _facts(agent: Agent) -> list[mirror_records.Record]:
    return _fact_records(agent, _open_facts(agent, load_facts(agent)))


def _open_facts(agent: Agent, held: Facts) -> list[Fact]:
    """Returns the facts that the mirror may hold: none was read from a private memory, or derived from such a fact."""
    withheld = _withheld(agent)
    return [fact for fact in held.all() if fact.id not in withheld]


def _named_facts(agent: Agent, ids: Ids, known: Ids) -> Held:
    held = load_facts(agent)
    facts = _open_facts(agent, held)
    wanted: Ids | None = None
    if {*ids} <= {fact.id for fact in facts}:  # of one that is gone nobody knows what it was about
        # Where derived facts follow from the facts as they are, they may have changed with them.
        is_current = held.derived.head.extra.get("facts_version") == held.asserted.version
        wanted = {*ids, *((fact.id for fact in held.derived.facts()) if is_current else ())}
    records = _fact_records(agent, facts, wanted)
    individuals = ((record.type, record.uid) for record in records if record.type == "individual")
    return Held(records, frozenset(individuals) | _keys(agent, "spo_fact", (fact.id for fact in facts)))


def _cases(agent: Agent) -> Iterator[mirror_records.Record]:
    file = load_cases(agent)
    return (mirror_records.case_record(agent.id, case, file.places) for case in file.cases())


def _named_cases(agent: Agent, ids: Ids, known: Ids) -> Held:
    file = load_cases(agent)
    found = [file.case(file.places[case_id]) for case_id in ids if case_id in file.places]
    records = [mirror_records.case_record(agent.id, case, file.places) for case in found]
    return Held(records, _keys(agent, "cbr_case", file.places))


def _stored(memory: Memory) -> Iterator[tuple[str, MemoryItem]]:
    for store in ("working", "short_term", "long_term"):
        yield from ((store, item) for item in getattr(memory, store))


def _memory_ids(memory: Memory) -> dict[str, bytes]:
    """Returns the ids of all items, with the lines of those in long-term memory."""
    view = memory.long_term
    assert isinstance(view, LongTermView)
    recent = (item.id for item in (*memory.working, *memory.short_term))
    return dict.fromkeys((*recent, *view.put), b"") | {line_id(line): line for line in view.store.lines()}


def _withheld(agent: Agent) -> set[str]:
    """Returns the ids that stay out of the mirror: private items, items derived from them, and facts extracted or derived from those.
    Unless there is a private item, only lines that may hold one are decoded."""
    memory, mark = agent.memory(), PRIVATE.encode()
    lines = [line for line in _memory_ids(memory).values() if line]
    recent = [*memory.working, *memory.short_term]
    assert isinstance(memory.long_term, LongTermView)
    recent += memory.long_term.put.values()
    marked = (parse_item(line, "memory-store.json") for line in lines if mark in line.lower())
    found = {item.id for item in (*recent, *marked) if not Sharing(True).admits(item.tags)}
    if not found:
        return found
    items = (*recent, *(parse_item(line, "memory-store.json") for line in lines))
    made = [(item.id, item.derived_from) for item in items]
    made += [(fact.id, (*fact.derived_from, memory_of(fact))) for fact in load_facts(agent).all()]
    return reach(found, [(origins, {record_id}) for record_id, origins in made])


def with_made_of_private(agent: Agent, touched: Mapping[str, Ids | None]) -> Mapping[str, Ids | None]:
    """Returns what was touched; where a memory among it is withheld, all that may have been made of it as well."""
    withheld = _withheld(agent) if "memory" in touched else set()
    ids = touched.get("memory")
    if not withheld or (ids is not None and withheld.isdisjoint(ids)):
        return touched
    return {**touched, "facts": None, "mind": None}


def _memory(agent: Agent) -> Iterator[mirror_records.Record]:
    memory = agent.memory()
    withheld = _withheld(agent)
    stored = ((store, item) for store, item in _stored(memory) if item.id not in withheld)
    yield from _item_records(agent, stored, _memory_ids(memory).keys() - withheld)


def _item_records(agent: Agent, items: Iterable[tuple[str, MemoryItem]], known: Ids) -> Iterator[mirror_records.Record]:
    goals = {goal.id for goal in load_attitudes(agent, "goal")[0]}
    for store, item in items:
        yield from mirror_records.memory_records(agent.id, item, store, known, goals)


def _named_memory(agent: Agent, ids: Ids, known: Ids) -> Held:
    memory, withheld = agent.memory(), _withheld(agent)
    alive = {item_id: line for item_id, line in _memory_ids(memory).items() if item_id not in withheld}
    recent = [item.id for item in (*memory.working, *memory.short_term)]
    # What is made of one that goes, or comes back, is linked with it no more, or again.
    marks = [item_id.encode() for item_id in ids]
    made = (item_id for item_id, line in alive.items() if len(marks) <= _MANY and any(mark in line for mark in marks))
    wanted = dict.fromkeys((*ids, *(item_id for item_id in recent if item_id in known), *made))
    if len(wanted) > _MANY:
        found = [pair for pair in _stored(memory) if pair[1].id in wanted and pair[1].id in alive]
    else:
        found = [pair for item_id in wanted if item_id in alive and (pair := locate(memory, item_id))]
    records = [*_item_records(agent, found, alive)]
    others = [item_id for item_id in alive if item_id not in wanted]
    kept = _keys(agent, "memory_item", others) | _keys(agent, "decision", others)
    return Held(records, kept | {(record.type, record.uid) for record in records})


def _keys(agent: Agent, kind: str, ids: Iterable[str]) -> frozenset[mirror_records.Key]:
    return frozenset((kind, mirror_records.uid_of(agent.id, local_id)) for local_id in ids)


_WHOLE: dict[str, Callable[[Agent], Iterable[mirror_records.Record]]] = {
    "agent": _agent,
    "mind": _mind,
    "rules": lambda agent: (mirror_records.rule_record(agent.id, rule) for rule in load_rules(agent).rules),
    "facts": _facts,
    "cases": _cases,
    "reasoning": lambda agent: mirror_records.result_records(agent.id, load_past(agent)[0]),
    "memory": _memory,
}
_NAMED: dict[str, Callable[[Agent, Ids, Ids], Held]] = {
    "facts": _named_facts,
    "cases": _named_cases,
    "memory": _named_memory,
}
