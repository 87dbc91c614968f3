"""What a method of reasoning takes from the agent's own files when its input does not give it."""

import random
from collections.abc import Iterable, Mapping
from typing import Any

from mabos_cli.core.knowledge.fact import holds_at
from mabos_cli.core.knowledge.reasoning import KeptResult
from mabos_cli.core.memory.trust import lowest_trust
from mabos_cli.reasoning.catalog import Method
from mabos_cli.reasoning.inputs import Own
from mabos_cli.workspace.agent import Agent


def load_own(agent: Agent, method: Method, given: Mapping[str, Any], warnings: list[str]) -> tuple[Own, dict[str, int]]:
    """What the method draws from the agent's files and the input does not give, and how much that is."""
    loaded = {name: _LOADERS[name](agent, warnings) for name in method.draws if given.get(name) is None}
    drawn = {name: len(values) for name, values in loaded.items()}
    own = Own(**loaded, now=agent.now(), chance=random.Random)
    return (_with_likeness(agent, own, given, warnings) if "cases" in method.draws else own), drawn


def trust_drawn(agent: Agent, drawn: Iterable[Mapping[str, int]]) -> str:
    """How far a result is trusted that was drawn from the agent's files: as the least of the facts, which all had a say."""
    facts = _own_facts(agent, []) if any(each.get("facts") for each in drawn) else ()
    return lowest_trust(("agent", *(fact.trust for fact in facts)))


def _with_likeness(agent: Agent, own: Own, given: Mapping[str, Any], warnings: list[str]) -> Own:
    """What cases are compared by, as in case retrieve: the weights of the settings, and the ontologies."""
    from mabos_cli.services.knowledge.case_common import case_weights, open_taxonomy

    features = [*(given.get("beliefs") or own.beliefs), *(given.get("desires") or own.desires)]
    alike, notes = open_taxonomy(agent, features)
    warnings += notes
    return own._replace(weights=case_weights(agent), alike=alike)


def _own_facts(agent: Agent, warnings: list[str]) -> tuple[Any, ...]:
    from mabos_cli.workspace.knowledge.facts import load_facts

    return tuple(fact for fact in load_facts(agent).all() if holds_at(fact, agent.now()))


def _own_rules(agent: Agent, warnings: list[str]) -> tuple[Any, ...]:
    from mabos_cli.workspace.knowledge.rulebook import load_rules

    return tuple(rule for rule in load_rules(agent).rules if rule.enabled)


def _own_beliefs(agent: Agent, warnings: list[str]) -> tuple[str, ...]:
    from mabos_cli.services.knowledge.case_common import held_now
    from mabos_cli.workspace.mind import load_beliefs

    held, problems = load_beliefs(agent)
    warnings += map(str, problems)
    return tuple(held_now(held))


def _own_desires(agent: Agent, warnings: list[str]) -> tuple[str, ...]:
    from mabos_cli.services.knowledge.case_common import held_now
    from mabos_cli.workspace.mind import load_attitudes

    held, problems = load_attitudes(agent, "desire")
    warnings += map(str, problems)
    return tuple(held_now(held))


def _own_past(agent: Agent, warnings: list[str]) -> tuple[KeptResult, ...]:
    from mabos_cli.workspace.knowledge.reasoning import load_past

    found, notes = load_past(agent)
    warnings += notes
    return tuple(past for past, _ in found)


def _own_cases(agent: Agent, warnings: list[str]) -> tuple[Any, ...]:
    from mabos_cli.workspace.knowledge.cases import load_cases

    return tuple(load_cases(agent).cases())


_LOADERS = {
    "facts": _own_facts,
    "rules": _own_rules,
    "beliefs": _own_beliefs,
    "desires": _own_desires,
    "past": _own_past,
    "cases": _own_cases,
}
