"""status: what an agent remembers, and what is due."""

import typer

from mabos_cli.commands.call import Call
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.memory.stores import Memory, is_expired, qualifies
from mabos_cli.terminal.emit import columns
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.index_place import index_state
from mabos_cli.workspace.memory.journal import read_deferred, read_uses
from mabos_cli.workspace.receipts import last_runs

app = typer.Typer()
# What waits, as people call it where its name does not say it.
DUE_NAMES = {"to_consolidate": "to consolidate", "observations": "to harvest", "journalled_uses": "recalls to count in"}


@app.command()
def status(ctx: typer.Context) -> None:
    """Show counts, what is due and the last runs.

    Example: mabos status --json
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    memory, limits = agent.memory(), agent.settings.limits()
    stores = {"working": len(memory.working), "short_term": len(memory.short_term), "long_term": len(memory.long_term)}
    due = count_due(agent, memory)
    runs = {name: run["at"] for name, run in sorted(last_runs(agent).items())}
    index = index_state(agent)
    data = {"agent": agent.id, "stores": stores, "due": due, "index": index, "last_runs": runs}
    caps = {"working": f" of {limits.working}", "short_term": f" of {limits.short_term}", "long_term": ""}
    rows = [("agent", agent.id), *((name, f"{count}{caps[name]}") for name, count in stores.items())]
    rows += [(DUE_NAMES.get(name, name), str(count)) for name, count in due.items() if count]
    rows.append(("index", index))
    if agent.settings["typedb.address"]:
        data["typedb"] = _mirrored(agent)
        rows.append(("typedb", _mirror_line(data["typedb"])))
    rows += [(f"last {name}", at) for name, at in runs.items()]
    call.emit("status", data, columns(rows))


def _mirrored(agent: Agent) -> dict[str, int]:
    """How far the agent is mirrored, as its ledger says: the files themselves are compared by typedb status."""
    from mabos_cli.core.mirror.records import count_states
    from mabos_cli.workspace.mirror_ledger import load_ledger

    return count_states(load_ledger(agent.paths))


def _mirror_line(counts: dict[str, int]) -> str:
    if not any(counts.values()):
        return "nothing mirrored yet: see mabos typedb sync-agent"
    wrong = [f"{counts[name]} {name}" for name in ("queued", "failed") if counts[name]]
    return f"{', '.join(wrong)}: see mabos typedb status" if wrong else f"{counts['ok']} mirrored"


def _count_observations(agent: Agent) -> int:
    """How many observations wait to be harvested; where nothing was ever captured, nothing is loaded to count it."""
    if not agent.paths.observations.is_dir():
        return 0
    from mabos_cli.workspace.memory.observations import count_waiting

    return count_waiting(agent.paths, agent.settings["harvest.min_importance"])


def count_due(agent: Agent, memory: Memory) -> dict[str, int]:
    """What waits to be done for an agent, by name."""
    limits, now = agent.settings.limits(), format_time(agent.now())
    held = [(item, store) for store in ("working", "short_term") for item in getattr(memory, store)]
    return {
        "to_consolidate": sum(qualifies(item, store, limits) for item, store in held),
        "expired": sum(is_expired(item, store, now, limits) for item, store in held),
        "deferred": len(read_deferred(agent.paths)),
        "observations": _count_observations(agent),
        "journalled_uses": sum(count for count, _ in read_uses(agent.paths).touches.values()),
    }
