"""Derived files from scratch, under the agent's lock."""

import time

from mabos_cli.core.stores import Changes
from mabos_cli.workspace.cases import load_cases
from mabos_cli.workspace.cases_md import materialize_cases
from mabos_cli.workspace.home import AgentHome
from mabos_cli.workspace.knowledge import rebuild_facts_md
from mabos_cli.workspace.materialize import materialize_items
from mabos_cli.workspace.mind import materialize_mind
from mabos_cli.workspace.receipts import write_receipt
from mabos_cli.workspace.recovery import holding_lock


def rebuild_derived(home: AgentHome) -> tuple[list[str], list[str]]:
    """Writes every derived file that is not as it should be: their names, and warnings. Deferred items are stored first."""
    started = time.monotonic()
    home.change("materialize", lambda memory, _: (Changes(memory.working, memory.short_term), None))
    with holding_lock(home, "materialize"):
        loaded = home.load()
        changed, warnings = materialize_items(home, loaded.memory(), loaded.shelf)
        cases = materialize_cases(home, load_cases(home))
        for names, notes in (materialize_mind(home), rebuild_facts_md(home), cases):
            changed, warnings = changed + names, warnings + notes
        if changed:
            write_receipt(home, "materialize", {"files": len(changed)}, [], started)
    return changed, warnings
