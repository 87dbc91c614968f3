"""What a method of reasoning takes from the agent's own files when its input does not give it."""

import random
from collections.abc import Iterable, Mapping
from typing import Any

from mabos_cli.core.fact_time import holds_at
from mabos_cli.core.reasoning.catalog import Method
from mabos_cli.core.reasoning.own import Own, Past
from mabos_cli.core.trust import lowest_trust
from mabos_cli.workspace.home import AgentHome


def load_own(
    home: AgentHome, method: Method, given: Mapping[str, Any], warnings: list[str]
) -> tuple[Own, dict[str, int]]:
    """What the method draws from the agent's files and the input does not give, and how much that is."""
    loaded = {name: _LOADERS[name](home, warnings) for name in method.draws if given.get(name) is None}
    drawn = {name: len(values) for name, values in loaded.items()}
    own = Own(**loaded, now=home.now(), chance=random.Random)
    return (_with_likeness(home, own, given, warnings) if "cases" in method.draws else own), drawn


def trust_drawn(home: AgentHome, drawn: Iterable[Mapping[str, int]]) -> str:
    """How far a result is trusted that was drawn from the agent's files: as the least of the facts, which all had a say."""
    facts = _own_facts(home, []) if any(each.get("facts") for each in drawn) else ()
    return lowest_trust(("agent", *(fact.trust for fact in facts)))


def _with_likeness(home: AgentHome, own: Own, given: Mapping[str, Any], warnings: list[str]) -> Own:
    """What cases are compared by, as in case retrieve: the weights of the settings, and the ontologies."""
    from mabos_cli.commands.case_common import case_weights, open_taxonomy

    features = [*(given.get("beliefs") or own.beliefs), *(given.get("desires") or own.desires)]
    alike, notes = open_taxonomy(home, features)
    warnings += notes
    return own._replace(weights=case_weights(home), alike=alike)


def _own_facts(home: AgentHome, warnings: list[str]) -> tuple[Any, ...]:
    from mabos_cli.workspace.knowledge import load_facts

    return tuple(fact for fact in load_facts(home).all() if holds_at(fact, home.now()))


def _own_rules(home: AgentHome, warnings: list[str]) -> tuple[Any, ...]:
    from mabos_cli.workspace.rulebook import load_rules

    return tuple(rule for rule in load_rules(home).rules if rule.enabled)


def _own_beliefs(home: AgentHome, warnings: list[str]) -> tuple[str, ...]:
    from mabos_cli.commands.case_common import held_now
    from mabos_cli.workspace.mind import load_beliefs

    held, problems = load_beliefs(home)
    warnings += map(str, problems)
    return tuple(held_now(held))


def _own_desires(home: AgentHome, warnings: list[str]) -> tuple[str, ...]:
    from mabos_cli.commands.case_common import held_now
    from mabos_cli.workspace.mind import load_attitudes

    held, problems = load_attitudes(home, "desire")
    warnings += map(str, problems)
    return tuple(held_now(held))


def _own_past(home: AgentHome, warnings: list[str]) -> tuple[Past, ...]:
    from mabos_cli.workspace.reasoning import load_past

    found, notes = load_past(home)
    warnings += notes
    return tuple(past for past, _ in found)


def _own_cases(home: AgentHome, warnings: list[str]) -> tuple[Any, ...]:
    from mabos_cli.workspace.cases import load_cases

    return tuple(load_cases(home).cases())


_LOADERS = {
    "facts": _own_facts,
    "rules": _own_rules,
    "beliefs": _own_beliefs,
    "desires": _own_desires,
    "past": _own_past,
    "cases": _own_cases,
}
