"""Facts of this agent, and of others that share theirs, in the files or in the graph."""

from collections.abc import Iterator
from typing import NamedTuple

from mabos_cli.core.knowledge.fact import Fact, Query, select_facts
from mabos_cli.errors import MabosError
from mabos_cli.services.search.shared_agents import NOBODY, TYPEDB, Row, ask_graph, own_id, sharing_homes
from mabos_cli.services.session import Session
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.knowledge.facts import Facts, load_facts

_MOST = 10_000  # facts that the graph is asked for


class SharedFact(NamedTuple):
    """A fact, whose it is when it is another agent's, and whether the graph told so."""

    fact: Fact
    agent: str = ""
    via: str = ""

    @property
    def ref(self) -> str:
        return f"{self.agent}/{self.fact.id}" if self.agent else self.fact.id


def find_facts(facts: Facts, asked: Query) -> Iterator[Fact]:
    """The facts of an agent that a query asks for."""
    literal = next(iter(asked.literals().items()), None)
    return select_facts(facts.where(*literal) if literal else facts.all(), asked)


def find_shared_facts(call: Session, agent: Agent, asked: Query) -> tuple[list[SharedFact], list[str]]:
    """The facts of other agents that a query asks for, and warnings."""
    allowed, warnings = sharing_homes(call, agent)
    found: list[SharedFact] = []
    for other in allowed:
        try:
            found += [SharedFact(fact, other.id) for fact in find_facts(load_facts(other), asked)]
        except MabosError as error:
            warnings.append(f"{other.id}: {error.message}")
    if not agent.settings["typedb.address"]:
        return found, warnings + ([] if allowed else [NOBODY])
    told, notes = _find_in_graph(agent, asked)
    return [*found, *told], warnings + notes


def _find_in_graph(agent: Agent, asked: Query) -> tuple[list[SharedFact], list[str]]:
    from mabos_cli.formats.mirror.typeql import ask_facts_elsewhere

    rows, notes = ask_graph(agent, [ask_facts_elsewhere(agent.id, **asked.literals(), limit=_MOST)])
    if len(rows) >= _MOST:
        notes = [*notes, f"of the facts in the graph only {_MOST:,} were looked at: name a subject or predicate"]
    told = {row["fact"]: SharedFact(_fact(row), row["agent"], TYPEDB) for row in rows}
    return [each for each in told.values() if any(select_facts([each.fact], asked))], notes


def _fact(row: Row) -> Fact:
    """A fact as the graph has it."""
    return Fact(
        own_id(row, "fact"),
        row["subject"],
        row["predicate"],
        row["object"],
        1.0 if row["confidence"] is None else row["confidence"],
        row["source"] or "",
        row["trust"] or "agent",
        row["valid_from"] or "",
        row["valid_until"] or "",
        rule_id=row.get("rule") or "",
    )
