"""Derived files from scratch, under the agent's lock."""

import time

from mabos_cli.core.memory.stores import Changes
from mabos_cli.errors import MabosError
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.derived import DerivedFiles
from mabos_cli.workspace.knowledge.cases import load_cases, materialize_cases
from mabos_cli.workspace.knowledge.facts import load_facts, materialize_facts
from mabos_cli.workspace.memory.derived_pages import Survey, materialize_domains, materialize_items
from mabos_cli.workspace.memory.observation_log import materialize_observations, survey_observations
from mabos_cli.workspace.merging import forget_merge, pages_after_merge
from mabos_cli.workspace.mind import materialize_mind
from mabos_cli.workspace.transaction import holding_lock, write_receipt


def rebuild_derived(agent: Agent) -> tuple[list[str], list[str]]:
    """Writes every derived file that is not as it should be: their names, and warnings.

    Deferred items are stored first.
    """
    started = time.monotonic()
    _drain(agent, "materialize")
    with holding_lock(agent, "materialize"):
        loaded = agent.load()
        items = materialize_items(agent, loaded.memory(), loaded.long_term)
        domains = materialize_domains(agent, loaded.memory(), loaded.long_term)[1]
        log = materialize_observations(agent, loaded.memory())
        changed, warnings = (
            items.changed + domains.changed + log.changed,
            items.warnings + domains.warnings + log.warnings,
        )
        cases = materialize_cases(agent, load_cases(agent))
        for names, notes in (materialize_mind(agent), materialize_facts(agent, load_facts(agent)), cases):
            changed, warnings = changed + names, warnings + notes
        if changed:
            write_receipt(agent, "materialize", {"files": len(changed)}, [], started)
    return changed, warnings


def finish_merge(agent: Agent) -> list[str]:
    """Rebuilds what is derived from files that git merged, and that git did not ask the merge driver about: lists what.

    A page that came to the same on both sides, as a number of items may, is not the page of what both have together.
    """
    if not pages_after_merge(agent.paths).exists():
        return []
    try:
        done = [f"rewrote {path} after a merge" for path in rebuild_derived(agent)[0]]
        forget_merge(agent.paths)
    except MabosError:
        return []  # what is wrong is told by the checks
    return done


def refresh_index(agent: Agent) -> tuple[Survey, DerivedFiles]:
    """Writes the memory index and the domain files as far as they differ, and returns what they say.

    Deferred items are stored first: they may be critical.
    """
    _drain(agent, "context index")
    with holding_lock(agent, "context index"):
        loaded = agent.load()
        return materialize_domains(agent, loaded.memory(), loaded.long_term, rebuild=False)


def refresh_observations(agent: Agent) -> tuple[str, DerivedFiles]:
    """Writes observations.md as far as it differs, and returns what it says. Deferred items are stored first."""
    _drain(agent, "context observations")
    with holding_lock(agent, "context observations"):
        text, files = survey_observations(agent, agent.memory()), DerivedFiles(agent)
        files.write(agent.paths.observations_md, text)
    return text, files


def _drain(agent: Agent, command: str) -> None:
    """Stores what waits in the queue."""
    agent.change(command, lambda memory, _: (Changes(memory.working, memory.short_term), None))
