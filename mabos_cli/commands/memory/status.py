"""status: what an agent remembers, and what is due."""

from mabos_cli.commands.call import Commands, Context
from mabos_cli.core.memory.stores import DUE_COMMANDS, DUE_NAMES
from mabos_cli.services.memory.status import answer_line, describe_left, describe_status
from mabos_cli.terminal.emit import columns

app = Commands()


@app.command()
def status(ctx: Context) -> None:
    """Show counts, what is due and the last runs.

    Example: mabos status --json
    """
    agent = ctx.obj.open_agent()
    found, limits = describe_status(agent), agent.settings.limits()
    data = {
        "agent": agent.id,
        "stores": found.stores,
        "archived": found.left,
        "untrusted": found.untrusted,
        "due": found.due,
        "index": found.index_state,
        "last_runs": found.runs,
        "hosts": found.hosts,
        "hooks": found.hooks,
    }
    caps = {"working": f" of {limits.working}", "short_term": f" of {limits.short_term}", "long_term": ""}
    rows = [("agent", agent.id), *((name, f"{count}{caps[name]}") for name, count in found.stores.items())]
    rows += [("archived", describe_left(found.left))] if found.left else []
    rows += [("untrusted", f"{found.untrusted}: mabos trust --quarantine")] if found.untrusted else []
    for name, count in found.due.items():
        command = DUE_COMMANDS.get(name)
        rows += [(DUE_NAMES.get(name, name), f"{count}: {command}" if command else str(count))] if count else []
    rows.append(("index", found.index_state))
    if found.mirrored is not None:
        data["typedb"] = found.mirrored
        rows.append(("typedb", _mirror_line(found.mirrored)))
    rows += [("host", _host_line(row)) for row in found.hosts]
    rows += [(f"hook of {row['host']}", answer_line(row)) for row in found.hooks]
    rows += [(f"last {name}", at) for name, at in found.runs.items()]
    ctx.obj.emit("status", data, columns(rows), found.warnings)


def _host_line(row: dict[str, str]) -> str:
    place = "this user" if row["scope"] == "user" else row["folder"]
    return f"{row['host']} ({place})" + (f": {row['trouble']}" if row["trouble"] else "")


def _mirror_line(counts: dict[str, int]) -> str:
    if not any(counts.values()):
        return "nothing mirrored yet: see mabos typedb sync-agent"
    wrong = [f"{counts[name]} {name}" for name in ("queued", "failed") if counts[name]]
    return f"{', '.join(wrong)}: see mabos typedb status" if wrong else f"{counts['ok']} mirrored"
