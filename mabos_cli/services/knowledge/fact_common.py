"""What fact commands share: the plan that asserts facts, and a fact on a line."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from mabos_cli.core.knowledge.asserting import FactChanges, plan_assert
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import one_line
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.knowledge.facts import Facts, Fresh, Plan
from mabos_cli.workspace.knowledge.rulebook import load_rules

Told = tuple[list[tuple[Fact, str]], list[str]]


def asserting(agent: Agent, given: list[Fact]) -> Plan[Told]:
    """A plan that asserts facts: what became of each, and notes about those that rules had derived."""

    def plan(facts: Facts, fresh: Fresh) -> tuple[FactChanges, Told]:
        find = facts.asserted.find_triple if len(given) < 20 else facts.by_triple().get
        changes, told = plan_assert(given, find, fresh.new_id, format_time(agent.now()))
        known = [fact for fact, state in told[:20] if state == "added" and facts.derived.find_triple(fact.triple)]
        return changes, (told, [f"{one_line(' '.join(f.triple), 80)} was derived before" for f in known])

    return plan


def stale_warning(agent: Agent, facts: Facts) -> list[str]:
    """A warning when facts or rules changed since the derived facts were made."""
    if not len(facts.derived):
        return []
    made = {name: facts.derived.extra.get(name) for name in ("facts_version", "rules_version")}
    now = {"facts_version": facts.asserted.version, "rules_version": load_rules(agent).version}
    return [] if made == now else ["derived facts are older than facts or rules: mabos infer forward --persist"]


@contextmanager
def without_gc() -> Iterator[None]:
    """Leaves out the search for cycles, of which there are none among facts: a fifth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def fact_line(fact: Fact) -> str:
    """A fact on a line."""
    told = [f"{fact.confidence:.2f}", f"by {fact.rule_id}" if fact.rule_id else fact.source]
    told += [fact.trust] if fact.trust != "agent" else []
    told += [f"from {fact.valid_from}"] if fact.valid_from else []
    told += [f"until {fact.valid_until}"] if fact.valid_until else []
    return f"{fact.id} {one_line(' '.join(fact.triple), 160)} ({', '.join(told)})"
