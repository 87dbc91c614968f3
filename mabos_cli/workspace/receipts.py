"""Receipts read again: what ran, on what, and how long it took. transaction.py writes them."""

from collections.abc import Iterator
from typing import Any

from mabos_cli.formats.json.text import parse_ledger
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import list_stems, read_end
from mabos_cli.workspace.layout import WorkspacePaths

_TAIL = 1 << 16


def last_runs(agent: Agent) -> dict[str, dict[str, Any]]:
    """The latest receipt of each command for this agent, from the end of the two latest days: the cost stays flat."""
    latest = latest_receipts(agent.paths.workspace)
    return {str(record.get("command")): record for record in latest if record.get("agent") == agent.id}


def latest_receipts(workspace: WorkspacePaths) -> Iterator[dict[str, Any]]:
    """The receipts at the end of the two latest days, oldest first."""
    for day in list_stems(workspace.receipts_folder, ".jsonl")[-2:]:
        records = parse_ledger(read_end(workspace.receipts(day), _TAIL)).records
        yield from (record for record in records if isinstance(record.get("at"), str))
