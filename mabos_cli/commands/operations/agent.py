"""agent: create, list and show agents."""

from typing import Annotated

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.core.language.text import plural
from mabos_cli.errors import MabosError, UsageFault
from mabos_cli.services.session import NO_AGENTS
from mabos_cli.terminal.emit import columns
from mabos_cli.workspace.create import create_agent, shares_a_file
from mabos_cli.workspace.locate import find_agent, list_agents
from mabos_cli.workspace.transaction import write_receipt

app = new_group("agent", "Create, list and show agents.", no_args_is_help=True)


@app.command()
def create(
    ctx: typer.Context,
    agent_id: Annotated[str, typer.Argument(metavar="ID", help="A short name; it becomes a folder.")],
    role: Annotated[str, typer.Option(help="What the agent is for.")] = "",
    name: Annotated[str, typer.Option(help="What people call it.")] = "",
) -> None:
    """Add an agent to the workspace.

    Example: mabos agent create cfo --role "finance lead"
    """
    call: Call = ctx.obj
    workspace = call.open_workspace()
    if agent_id in list_agents(workspace):
        raise UsageFault(f"agent {agent_id} exists already", f"mabos agent show {agent_id}")
    made = create_agent(workspace, agent_id, role, name)
    write_receipt(call.agent_of(workspace.agent(agent_id)), "agent create", {"files": len(made)}, part="agent")
    call.emit(
        "agent.create", {"agent": agent_id, "created": made}, [f"agent {agent_id}: {plural(len(made), 'file')} made"]
    )


@app.command("list")
def list_command(ctx: typer.Context) -> None:
    """List the agents of the workspace.

    Example: mabos agent list
    """
    call: Call = ctx.obj
    workspace = call.open_workspace()
    rows, warnings = [], []
    for agent_id in list_agents(workspace):
        try:
            manifest = call.agent_of(workspace.agent(agent_id)).manifest()
        except MabosError as error:  # one damaged agent must not hide the others
            manifest = {}
            warnings.append(error.message)
        rows.append({"id": agent_id, "name": manifest.get("name", agent_id), "role": manifest.get("role", "")})
    text = columns([(row["id"], str(row["role"] or row["name"])) for row in rows]) or [NO_AGENTS]
    call.emit("agent.list", {"agents": rows}, text, warnings)


@app.command()
def show(
    ctx: typer.Context, agent_id: Annotated[str, typer.Argument(metavar="[ID]", help="The agent; else --agent.")] = ""
) -> None:
    """Show an agent: its manifest, its files, its memory.

    Example: mabos agent show cfo
    """
    call: Call = ctx.obj
    agent = call.agent_of(find_agent(call.open_workspace(), agent_id or call.agent))
    memory, manifest = agent.memory(), agent.manifest()
    files = {path.name: path.stat().st_size for path in sorted(agent.paths.root.iterdir()) if path.is_file()}
    counts = {"working": len(memory.working), "short_term": len(memory.short_term), "long_term": len(memory.long_term)}
    warnings = (
        ["Memory.md and MEMORY.md are one file on this disk; only MEMORY.md is used"]
        if shares_a_file(agent.paths)
        else []
    )
    rows = [
        ("id", agent.id),
        ("name", str(manifest.get("name", agent.id))),
        ("role", str(manifest.get("role", ""))),
        ("folder", str(agent.paths.root)),
        ("memory", ", ".join(f"{n} {name}" for name, n in counts.items())),
        ("files", ", ".join(files)),
    ]
    data = {"id": agent.id, "path": str(agent.paths.root), "manifest": manifest, "files": files, "memory": counts}
    call.emit("agent.show", data, columns(rows), warnings)
