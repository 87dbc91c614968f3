"""An agent's files as records for the knowledge graph: each with a key, attributes, and links to other records."""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple

from mabos_cli.core.knowledge.case import Case, KeptResult, render_number
from mabos_cli.core.knowledge.rule import Rule, pattern_text
from mabos_cli.core.language.clock import find_time
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.mirror.schema import fields_of, mirror_schema

Value = str | int | float | bool | Decimal | date | datetime
Key = tuple[str, str]  # type and uid: a goal and a plan may go by the same id


class Links(NamedTuple):
    """The links of a record in one relation: its role, the role and type of the others, and their keys; possibly none."""

    relation: str
    role: str
    other: str
    type: str
    uids: tuple[str, ...]


class Statement(NamedTuple):
    """Holds what a fact says in the words of an ontology: a relation, and the class and key of its subject and of its object."""

    relation: str
    subject: Key
    object: Key


class Record(NamedTuple):
    """An entity of the graph, with what it has and every relation that it speaks for: what was said once and is not said now
    can so be taken back. `label` is its type below `type`, where an ontology, or what it is about, knows better."""

    uid: str
    type: str
    attributes: tuple[tuple[str, Value | tuple[Value, ...]], ...]
    links: tuple[Links, ...] = ()
    label: str = ""
    statement: Statement | None = None

    def get(self, name: str) -> Any:
        """Returns the value of an attribute, None where there is none."""
        return next((value for attribute, value in self.attributes if attribute == name), None)

    def linked(self, relation: str) -> tuple[str, ...]:
        """Returns the keys of those that it is linked with by a relation which it speaks for."""
        return tuple(uid for links in self.links if links.relation == relation for uid in links.uids)


def record_hash(record: Record) -> str:
    """Returns a text that changes whenever a record does, the same on every machine."""
    text = json.dumps(record, ensure_ascii=True, default=str, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:32]


def uid_of(agent: str, local_id: str) -> str:
    """Returns the key of something that an agent has."""
    return f"{agent}/{local_id}"


def agent_record(agent: str, **fields: str | bool) -> Record:
    """Returns the agent itself: its name, agent_role, department and commitment_strategy, as far as they are known, and whether
    others may read what it has: is_shared."""
    return make_record("agent", agent, {"name": agent} | fields)


def memory_records(
    agent: str, item: MemoryItem, store: str = "", known: Collection[str] = (), goals: Collection[str] = ()
) -> Iterator[Record]:
    """Yields a memory item, which comes from those of the known ones that it names, and the decision that it is about, which is
    related to some of the goals. How often it was used changes at every recall, and is not mirrored."""
    origins = (item_id for item_id in item.derived_from if item_id in known and item_id != item.id)
    yield record_of("memory_item", agent, item, (derived_links(agent, "memory_item", origins),), store_name=store)
    if item.type == "decision":
        origin = derived_links(agent, "memory_item", (item.id,))
        resolved = tuple(uid_of(agent, item_id) for item_id in item.related_to if item_id in goals)
        links = (origin, Links("decision_resolves_goal", "resolver", "resolved", "goal", resolved))
        yield record_of("decision", agent, item, links)


def rule_record(agent: str, rule: Rule) -> Record:
    """Returns a rule, with a line for each of its conditions."""
    conclusion = pattern_text(rule.conclusion) if rule.conclusion else ""
    conditions = "\n".join(map(pattern_text, rule.conditions))
    return record_of("knowledge_rule", agent, rule, condition_text=conditions, conclusion_text=conclusion)


def case_record(agent: str, case: Case, known: Collection[str] = ()) -> Record:
    """Returns a case, which was perhaps adapted from one of the known ones. How often it was used is not mirrored."""
    metrics = "\n".join(f"{name}={render_number(value)}" for name, value in case.metrics)
    origins = derived_links(agent, "cbr_case", (one for one in (case.adapted_from,) if one in known and one != case.id))
    texts = {"action_text": "\n".join(case.actions), "metric_text": metrics}
    return record_of("cbr_case", agent, case, (origins,), **texts)


def derived_links(agent: str, kind: str, origins: Iterable[str]) -> Links:
    """Returns the links from something to the records that it derives from."""
    return Links("derivation", "derived", "origin", kind, tuple(dict.fromkeys(uid_of(agent, each) for each in origins)))


def trait_record(agent: str, kind: str, local_id: str, relation: str, role: str, **fields: Any) -> Record:
    """Returns a persona or a skill, which an agent bears in a relation."""
    borne = Links(relation, role, "bearer", "agent", (agent,))
    return make_record(kind, uid_of(agent, local_id), fields, (*owned_by_agent(agent), borne))


def record_of(
    kind: str, agent: str, held: Any, links: tuple[Links, ...] = (), uid: str = "", **computed: Any
) -> Record:
    """Returns the record of something that an agent has, by its fields and what is computed from them."""
    values = {
        name: None if (value := getattr(held, field, None)) is None else convert(value)
        for name, field, convert in _conversions(kind)
        if name not in computed
    }
    return make_record(kind, uid or uid_of(agent, held.id), values | computed, (*owned_by_agent(agent), *links))


@cache
def _conversions(kind: str) -> tuple[tuple[str, str, Callable[[Any], Any]], ...]:
    """Returns the attributes of a type, the field that holds the value of each, and how that becomes one of the graph."""
    types, fields = {each.name: each.value_type for each in mirror_schema().attributes}, fields_of(kind)
    known: dict[str, Callable[[Any], Any]] = {"double": float, "datetime-tz": find_time}
    return tuple((name, fields[name], known.get(types[name], lambda value: value)) for name in _owned_by(kind))


def result_records(agent: str, results: Iterable[tuple[KeptResult, str]]) -> list[Record]:
    """Kept results of reasoning, each given with its summary, behind the methods that they come from."""
    found: dict[str, Record] = {}
    for past, summary in results:
        method = uid_of(agent, past.method)
        found.setdefault(method, make_record("reasoning_method", method, {"name": past.method}, owned_by_agent(agent)))
        produced = Links("method_produces_result", "produced", "producer", "reasoning_method", (method,))
        aspects = "\n".join(f"{name}={value}" for name, value in past.classification)
        record = record_of("reasoning_result", agent, past, (produced,), summary=summary, classification=aspects)
        found.setdefault(record.uid, record)
    return list(found.values())


def make_record(kind: str, uid: str, fields: Mapping[str, Any], links: tuple[Links, ...] = ()) -> Record:
    """Returns a record with the attributes of its type; empty texts and lists are left out."""
    owned = _owned_by(kind)
    unknown = fields.keys() - {*owned}
    if unknown:
        raise KeyError(f"{kind} owns no {', '.join(sorted(unknown))}")
    values = [(name, fields.get(name)) for name in owned]
    plain = ((n, tuple(dict.fromkeys(filter(None, v))) if isinstance(v, tuple) else v) for n, v in values)
    return Record(uid, kind, tuple((name, value) for name, value in plain if value not in (None, "", ())), links)


@cache
def _owned_by(kind: str) -> tuple[str, ...]:
    return tuple(owned.attribute for owned in mirror_schema().entity(kind).owns if owned.attribute != "uid")


def owned_by_agent(agent: str) -> tuple[Links, ...]:
    """That something is an agent's."""
    return (Links("agent_owns", "owned", "owner", "agent", (agent,)),)


QUEUED, OK, FAILED, GONE = STATES = ("queued", "ok", "failed", "gone")


class Entry(NamedTuple):
    """Holds what is known about a record in the mirror: its state, and the hash of what was written or refused."""

    type: str
    uid: str
    state: str
    hash: str = ""
    error: str = ""
    at: str = ""

    @property
    def key(self) -> Key:
        return self.type, self.uid


Ledger = Mapping[Key, Entry]


class Todo(NamedTuple):
    """Records to write, and records to delete."""

    put: tuple[Key, ...] = ()
    drop: tuple[Key, ...] = ()


def plan_sync(wanted: Mapping[Key, str], known: Ledger, *, again: bool = True) -> Todo:
    """Returns what to do so that the mirror holds the wanted records, given with their hashes, and no other known one. What was
    refused as it is now is tried once more only with `again`.

    >>> known = {("fact", "a/1"): Entry("fact", "a/1", "ok", "x"), ("fact", "a/2"): Entry("fact", "a/2", "ok", "y")}
    >>> plan_sync({("fact", "a/1"): "x", ("fact", "a/3"): "z"}, known)
    Todo(put=(('fact', 'a/3'),), drop=(('fact', 'a/2'),))
    """
    settled = (OK,) if again else (OK, FAILED)
    done = {key: entry.hash for key, entry in known.items() if entry.state in settled}
    put = [key for key, mark in wanted.items() if done.get(key) != mark]
    drop = [key for key, entry in known.items() if key not in wanted and entry.state != GONE]
    return Todo(tuple(put), tuple(drop))


def compare_found(known: Ledger, found: Collection[Key], bare: Collection[Key] = ()) -> dict[Key, Entry]:
    """Returns a ledger put right by what was found in the mirror: queued is what should be there and is not, or only barely, and
    what is there and should not be, or is unknown.

    >>> known = {("fact", "a/1"): Entry("fact", "a/1", "ok", "x")}
    >>> [(entry.uid, entry.state) for entry in compare_found(known, {("fact", "a/2")}).values()]
    [('a/1', 'queued'), ('a/2', 'queued')]
    """
    missing = (key for key, entry in known.items() if entry.state == OK and (key not in found or key in bare))
    unknown = (key for key in found if key not in known or known[key].state == GONE)
    return {**known, **{key: Entry(*key, QUEUED) for keys in (missing, unknown) for key in keys}}


def count_states(known: Ledger) -> dict[str, int]:
    """Returns how many records are in each state, as the ledger says; what is gone does not count."""
    states = [entry.state for entry in known.values()]
    return {state: states.count(state) for state in (OK, QUEUED, FAILED)}


def count_standing(wanted: Mapping[Key, str], known: Ledger) -> dict[str, int]:
    """Returns how many records are in each state by what the files hold now: what differs, or is to be deleted, is queued."""
    todo = plan_sync(wanted, known, again=False)
    settled = wanted.keys() - {*todo.put}
    counts = count_states({key: known[key] for key in settled})
    return counts | {QUEUED: len(todo.put) + len(todo.drop)}


def last_failure(known: Ledger) -> Entry | None:
    """Returns what was refused last."""
    failed = [entry for entry in known.values() if entry.state == FAILED]
    return max(reversed(failed), key=lambda entry: entry.at, default=None)
