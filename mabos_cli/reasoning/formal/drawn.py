"""The facts and rules that a solver works with: those of the input, or else the agent's own."""

from collections.abc import Mapping
from typing import Any

from mabos_cli.core.knowledge.fact import Fact, holds_at
from mabos_cli.core.knowledge.rule import Rule
from mabos_cli.reasoning.own import Own


def drawn_facts(given: Mapping[str, Any], own: Own) -> tuple[list[Fact], tuple[str, ...]]:
    """The facts that hold now, and a caveat if some do not."""
    facts = own.facts if given["facts"] is None else given["facts"]
    if own.now is None:
        return [*facts], ()
    held = [fact for fact in facts if holds_at(fact, own.now)]
    gone = len(facts) - len(held)
    return held, (f"{gone} of {len(facts)} facts do not hold now and were left out",) if gone else ()


def drawn_rules(given: Mapping[str, Any], own: Own) -> tuple[Rule, ...]:
    """The rules of the input, or the agent's own."""
    return own.rules if given["rules"] is None else tuple(given["rules"])
