"""Counts what an agent remembers and what is due. A module of its own, so that `mabos status` starts fast."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.memory.stores import FINDABLE, Memory, is_expired, locate, qualifies, reach_of
from mabos_cli.core.operations.hook_hosts import count_answers
from mabos_cli.core.records import NamedTuple
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.archive import Known
from mabos_cli.workspace.entries import find_newer
from mabos_cli.workspace.files import read_bytes
from mabos_cli.workspace.memory.store import read_deferred, read_uses
from mabos_cli.workspace.plain_files import hook_answers
from mabos_cli.workspace.sources import index_state


class Status(NamedTuple):
    """How many items each store holds and how many left them by each reason, how many are untrusted, what is due, the state of the
    index, when each command last ran, hosts, and warnings."""

    stores: dict[str, int]
    left: dict[str, int]
    untrusted: int
    due: dict[str, int]
    index_state: str
    runs: dict[str, str]
    mirrored: dict[str, int] | None
    hosts: list[dict[str, str]]
    hooks: list[dict[str, Any]]
    warnings: list[str]


def describe_status(agent: Agent) -> Status:
    """Returns what an agent remembers, and what is due."""
    memory = agent.memory()
    stores = {"working": len(memory.working), "short_term": len(memory.short_term), "long_term": len(memory.long_term)}
    known = Known(agent.paths)
    runs, revived = known.runs()
    left = known.left(revived, lambda item_id: locate(memory, item_id) is not None)
    untrusted = known.untrusted()
    known.save()
    mirrored = _mirrored(agent) if agent.settings["typedb.address"] else None
    warnings = [f"{agent.paths.cited(path)} {about}" for path, about in find_newer(agent.paths)]
    return Status(
        stores,
        {name: count for name, count in sorted(left.items()) if count > 0},
        untrusted,
        count_due(agent, memory),
        index_state(agent),
        dict(sorted(runs.items())),
        mirrored,
        _hosts(agent),
        describe_answers(agent),
        warnings,
    )


def _hosts(agent: Agent) -> list[dict[str, str]]:
    """Returns the agent hosts that are connected to the workspace; where none ever was, nothing is loaded to look."""
    if not agent.paths.workspace.connections.exists():
        return []
    from mabos_cli.services.operations.connect import describe_connections

    return describe_connections(agent.paths.workspace)


def describe_answers(agent: Agent) -> list[dict[str, Any]]:
    """Returns what hooks answered lately, by host and event, with the last answer of each."""
    data = read_bytes(Path(hook_answers(str(agent.paths.workspace.root)))) or b""
    return count_answers(data.decode("utf-8", "replace").split("\n"), agent.id) if data else []


def answer_line(row: Mapping[str, Any]) -> str:
    """Returns the answers of a hook in words."""
    counts = ", ".join(f"{_ANSWERS.get(name, name)} {count}x" for name, count in row["answers"].items())
    return f"{row['hook']}: {counts}; last {row['at']} {_ANSWERS.get(row['last'], row['last'])}"


_ANSWERS = {"told": "context added", "silent": "nothing to add", "noted": "recorded"}  # others are words already


def describe_left(left: dict[str, int]) -> str:
    """Describes the items that left their stores, and names the command that shows them."""
    found = sum(count for reason, count in left.items() if reach_of(reason) == FINDABLE)
    gone = [f"{count} {reason}" for reason, count in left.items() if reach_of(reason) > FINDABLE]
    parts = [*([f"{found} still found"] if found else []), *gone]
    return ", ".join(parts) + (": mabos recall --archived" if gone else "")


def _mirrored(agent: Agent) -> dict[str, int]:
    """Returns how far the agent is mirrored, as its ledger says: the files themselves are compared by typedb status."""
    from mabos_cli.core.mirror.records import count_states
    from mabos_cli.workspace.mirror_ledger import load_ledger

    return count_states(load_ledger(agent.paths))


def _count_observations(agent: Agent) -> int:
    """Returns how many observations wait to be harvested; where nothing was ever captured, nothing is loaded to count it."""
    if not agent.paths.observations.is_dir():
        return 0
    from mabos_cli.workspace.memory.observations import count_waiting

    return count_waiting(agent.paths, agent.settings["harvest.min_importance"])


def count_due(agent: Agent, memory: Memory) -> dict[str, int]:
    """Returns what waits to be done for an agent, by name."""
    limits, now = agent.settings.limits(), format_time(agent.now())
    held = [(item, store) for store in ("working", "short_term") for item in getattr(memory, store)]
    return {
        "to_consolidate": sum(qualifies(item, store, limits) for item, store in held),
        "expired": sum(is_expired(item, store, now, limits) for item, store in held),
        "deferred": len(read_deferred(agent.paths)),
        "observations": _count_observations(agent),
        "journalled_uses": sum(count for count, _ in read_uses(agent.paths).touches.values()),
    }
