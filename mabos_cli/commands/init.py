"""init: make a workspace."""

from pathlib import Path
from typing import Annotated

import typer

from mabos_cli.commands.call import Call
from mabos_cli.core.text import plural
from mabos_cli.workspace.create import create_agent, create_workspace
from mabos_cli.workspace.locate import list_agents

app = typer.Typer()


@app.command()
def init(
    ctx: typer.Context,
    folder: Annotated[
        str, typer.Argument(metavar="[FOLDER]", help="Where; the current folder by default.")
    ] = "",
    role: Annotated[str, typer.Option(help="What the first agent is for.")] = "",
) -> None:
    """Make a workspace, with a first agent.

    Files that are there already are left alone. The agent is called main unless --agent names it; a
    workspace that has agents gets a new one only if --agent names it.

    Example: mabos init ./team --agent cfo --role "finance lead"
    """
    call: Call = ctx.obj
    root = Path(folder or call.workspace or ".").expanduser().absolute()
    workspace, made = create_workspace(root)
    known = list_agents(workspace)
    agent_id = call.agent or (known[0] if known else "main")
    if agent_id not in known:
        made += create_agent(workspace, agent_id, role)
    where = f"-w {folder or call.workspace} " if root != Path.cwd() else ""
    next_step = f'mabos {where}store "..."'
    lines = [
        f"workspace {root} with agent {agent_id}: {plural(len(made), 'file')} made",
        f"next: {next_step}",
    ]
    call.emit(
        "init",
        {"workspace": str(root), "agent": agent_id, "created": made},
        lines if made else [f"{root} is complete already"],
    )
