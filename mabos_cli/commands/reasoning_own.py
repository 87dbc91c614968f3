"""What a method of reasoning takes from the agent's own files when its input does not give it."""

import random
from collections.abc import Mapping
from typing import Any

from mabos_cli.core.fact_time import holds_at
from mabos_cli.core.mind import is_active
from mabos_cli.core.reasoning.catalog import Method
from mabos_cli.core.reasoning.own import Own, Past
from mabos_cli.workspace.home import AgentHome


def load_own(
    home: AgentHome, method: Method, given: Mapping[str, Any], warnings: list[str]
) -> tuple[Own, dict[str, int]]:
    """What the method draws from the agent's files and the input does not give, and how much that is."""
    loaded = {name: _LOADERS[name](home, warnings) for name in method.draws if given.get(name) is None}
    drawn = {name: len(values) for name, values in loaded.items()}
    return Own(**loaded, now=home.now(), chance=random.Random), drawn


def _own_facts(home: AgentHome, warnings: list[str]) -> tuple[Any, ...]:
    from mabos_cli.workspace.knowledge import load_facts

    return tuple(fact for fact in load_facts(home).all() if holds_at(fact, home.now()))


def _own_rules(home: AgentHome, warnings: list[str]) -> tuple[Any, ...]:
    from mabos_cli.workspace.rulebook import load_rules

    return tuple(rule for rule in load_rules(home).rules if rule.enabled)


def _own_beliefs(home: AgentHome, warnings: list[str]) -> tuple[str, ...]:
    from mabos_cli.workspace.mind import load_beliefs

    floor = home.settings["bdi.certainty_floor"]
    return tuple(one.id for one in load_beliefs(home)[0] if one.id and one.certainty > floor)


def _own_desires(home: AgentHome, warnings: list[str]) -> tuple[str, ...]:
    from mabos_cli.workspace.mind import load_attitudes

    return tuple(one.id for one in load_attitudes(home, "desire")[0] if one.id and is_active(one))


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
