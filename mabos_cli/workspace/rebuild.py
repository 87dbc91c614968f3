"""Derived files from scratch, under the agent's lock."""

import time

from mabos_cli.core.stores import Changes
from mabos_cli.workspace.cases import load_cases
from mabos_cli.workspace.cases_md import materialize_cases
from mabos_cli.workspace.domains import Survey, materialize_domains
from mabos_cli.workspace.home import AgentHome
from mabos_cli.workspace.knowledge import rebuild_facts_md
from mabos_cli.workspace.materialize import DerivedFiles, materialize_items
from mabos_cli.workspace.mind import materialize_mind
from mabos_cli.workspace.receipts import write_receipt
from mabos_cli.workspace.recovery import holding_lock


def rebuild_derived(home: AgentHome) -> tuple[list[str], list[str]]:
    """Writes every derived file that is not as it should be: their names, and warnings. Deferred items are stored first."""
    started = time.monotonic()
    _drain(home, "materialize")
    with holding_lock(home, "materialize"):
        loaded = home.load()
        changed, warnings = materialize_items(home, loaded.memory(), loaded.shelf)
        domains = materialize_domains(home, loaded.memory(), loaded.shelf)[1]
        cases = materialize_cases(home, load_cases(home))
        told = (domains.changed, domains.warnings)
        for names, notes in (told, materialize_mind(home), rebuild_facts_md(home), cases):
            changed, warnings = changed + names, warnings + notes
        if changed:
            write_receipt(home, "materialize", {"files": len(changed)}, [], started)
    return changed, warnings


def refresh_index(home: AgentHome) -> tuple[Survey, DerivedFiles]:
    """What the memory index says now; the index and the domain files are written as far as they differ. Deferred items are stored
    first: they may be critical."""
    _drain(home, "context index")
    with holding_lock(home, "context index"):
        loaded = home.load()
        return materialize_domains(home, loaded.memory(), loaded.shelf, unchanged=frozenset())


def _drain(home: AgentHome, command: str) -> None:
    """Stores what waits in the queue."""
    home.change(command, lambda memory, _: (Changes(memory.working, memory.short_term), None))
