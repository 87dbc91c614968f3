"""Receipts: one line in .mabos/receipts/ for each write, so that one can see what ran, on what, and how long it took."""

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.memory.stores import Changes
from mabos_cli.errors import MabosError
from mabos_cli.formats.json.text import dump_record, parse_lines
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import append_bytes, list_stems, read_end
from mabos_cli.workspace.layout import WorkspacePaths

_TAIL = 1 << 16


def write_receipt(
    agent: Agent, command: str, counts: dict[str, int], ids: list[str], started: float | None = None
) -> None:
    """Adds a receipt, and notes on the home what was touched. Best effort: the write itself is done."""
    note_touched(agent, command, ids)
    at = format_time(agent.now())
    add_receipt(agent.paths.workspace, at, command, counts, ids, started, agent=agent.id)


def add_receipt(
    workspace: WorkspacePaths,
    at: str,
    command: str,
    counts: dict[str, int],
    ids: list[str],
    started: float | None = None,
    agent: str = "",
) -> None:
    """Adds a receipt about an agent, or about what the workspace has in common."""
    record = {
        "at": at,
        "agent": agent,
        "command": command,
        "ids": ids[:20],
        "counts": {name: count for name, count in counts.items() if count},
        "ms": round((time.monotonic() - started) * 1000) if started else 0,
    }
    with suppress(MabosError):
        append_bytes(workspace.receipts(at[:10]), dump_record(record), root=workspace.root)


def note_touched(agent: Agent, command: str, ids: list[str]) -> None:
    """Notes on the home what was touched, for who mirrors it."""
    if agent.touched is not None:
        agent.touched.append((command, ids))


def count_changes(changes: Changes) -> dict[str, int]:
    """How much of each kind a change wrote, and what the command itself counted."""
    return {
        "put": len(changes.put),
        "dropped": len(changes.drop),
        "archived": len(changes.archive),
        "logged": len(changes.log),
    } | dict(changes.tally)


def last_runs(agent: Agent) -> dict[str, dict[str, Any]]:
    """The latest receipt of each command for this agent, from the end of the two latest days: the cost stays flat."""
    latest = latest_receipts(agent.paths.workspace)
    return {str(record.get("command")): record for record in latest if record.get("agent") == agent.id}


def latest_receipts(workspace: WorkspacePaths) -> Iterator[dict[str, Any]]:
    """The receipts at the end of the two latest days, oldest first."""
    for day in list_stems(workspace.receipts_folder, ".jsonl")[-2:]:
        for record in parse_lines(read_end(workspace.receipts(day), _TAIL))[0]:
            if isinstance(record, dict) and isinstance(record.get("at"), str):
                yield record
