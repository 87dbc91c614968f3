"""init: make a workspace."""

from pathlib import Path
from typing import Annotated

import typer

from mabos_cli.commands.call import Call
from mabos_cli.workspace.create import create_agent, create_workspace

app = typer.Typer()


@app.command()
def init(
    ctx: typer.Context,
    folder: Annotated[str, typer.Argument(help="Where; the current folder by default.")] = "",
    role: Annotated[str, typer.Option(help="What the first agent is for.")] = "",
) -> None:
    """Make a workspace, with a first agent.

    Files that are there already are left alone. The agent is called main unless --agent names it.

    Example: mabos init ./team --agent cfo --role "finance lead"
    """
    call: Call = ctx.obj
    root = Path(folder or call.workspace or ".").expanduser().absolute()
    workspace, made = create_workspace(root)
    agent_id = call.agent or "main"
    made += create_agent(workspace, agent_id, role)
    next_step = f'mabos -w {folder or call.workspace or "."} store "..."'
    lines = [f"workspace {root} with agent {agent_id}: {len(made)} files made", f"next: {next_step}"]
    call.emit(
        "init",
        {"workspace": str(root), "agent": agent_id, "created": made},
        lines if made else [f"{root} is complete already"],
    )
