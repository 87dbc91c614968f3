"""init: make a workspace."""

import os
import shlex
from typing import Annotated

import typer

from mabos_cli.commands.call import Call
from mabos_cli.core.language.text import plural
from mabos_cli.workspace.create import create_agent, create_workspace
from mabos_cli.workspace.locate import check_agent_id, list_agents, place_named
from mabos_cli.workspace.transaction import write_receipt

app = typer.Typer()


@app.command()
def init(
    ctx: typer.Context,
    folder: Annotated[str, typer.Argument(metavar="[FOLDER]", help="Where; the current folder by default.")] = "",
    role: Annotated[str, typer.Option(help="What the first agent is for.")] = "",
) -> None:
    """Make a workspace, with a first agent.

    Files that are there already are left alone. The agent is called main unless --agent names it; a
    workspace that has agents gets a new one only if --agent names it.

    Example: mabos init ./team --agent cfo --role "finance lead"
    """
    call: Call = ctx.obj
    place = folder or call.workspace or "."
    root = place_named(place)
    if call.agent:
        check_agent_id(call.agent)
    workspace, made = create_workspace(root)
    known = list_agents(workspace)
    agent_id = call.agent or (known[0] if known else "main")
    if agent_id not in known:
        made += create_agent(workspace, agent_id, role)
    if made:
        write_receipt(call.agent_of(workspace.agent(agent_id)), "init", {"files": len(made)}, part="agent")
    where = "" if os.path.samefile(root, os.curdir) else f"-w {shlex.quote(place)} "
    lines = [
        f"workspace {root} with agent {agent_id}: {plural(len(made), 'file')} made",
        f'next: mabos {where}store "..."',
    ]
    if not made:
        lines = [f"{root} is a workspace already, with {plural(len(known), 'agent')}: {', '.join(known)}"]
    call.emit("init", {"workspace": str(root), "agent": agent_id, "created": made}, lines)
