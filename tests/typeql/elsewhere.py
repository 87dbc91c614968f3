"""What the questions about other agents should answer, from the records themselves."""

from collections.abc import Callable, Iterable

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.mirror.mind_records import RecordGraph, Row
from mabos_cli.core.mirror.records import Record


def owner(record: Record) -> str:
    return next(iter(record.linked("agent_owns")), "")


def facts_elsewhere(
    graph: RecordGraph, agent: str, subject: str = "", predicate: str = "", object: str = "", limit: int = 200
) -> list[Row]:
    """Facts of agents other than one that share what they have, with this subject, predicate and object as far as they are given."""
    given = {"subject_val": subject, "predicate_val": predicate, "object_val": object}

    def is_meant(fact: Record) -> bool:
        return all(value in ("", fact.get(name)) for name, value in given.items())

    names = ("confidence", "source", "trust", "valid_from", "valid_until")
    return [
        {
            "agent": owner(fact),
            "fact": fact.uid,
            **{name.removesuffix("_val"): fact.get(name) for name in given},
            **{name: fact.get(name) for name in names},
            "rule": fact.get("rule_ref"),
        }
        for fact in _elsewhere(graph, "spo_fact", agent, is_meant)[:limit]
    ]


def memories_elsewhere(graph: RecordGraph, agent: str, words: Iterable[str] = (), limit: int = 200) -> list[Row]:
    """Memories of agents other than one that share what they have, with all of some words."""
    wanted = [word.casefold() for word in words]

    def is_meant(memory: Record) -> bool:
        text = (memory.get("content") or "").casefold()
        return bool(text) and all(word in text for word in wanted)

    return [
        {
            "agent": owner(memory),
            "memory": memory.uid,
            "content": memory.get("content"),
            "type": memory.get("item_type"),
            **{name: memory.get(name) for name in ("importance", "source", "trust")},
            "tags": sorted(memory.get("tag") or ()),
            **{name: format_time(at) if (at := memory.get(name)) else None for name in ("created_at", "expires_at")},
        }
        for memory in _elsewhere(graph, "memory_item", agent, is_meant)[:limit]
    ]


def _elsewhere(graph: RecordGraph, kind: str, agent: str, is_meant: Callable[[Record], bool]) -> list[Record]:
    open_to_all = {each.uid for each in graph.all("agent") if each.get("is_shared")} - {agent}
    return [each for each in graph.all(kind) if owner(each) in open_to_all and is_meant(each)]
