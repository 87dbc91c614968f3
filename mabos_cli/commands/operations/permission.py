"""allow and deny: whether the settings of a workspace may run programs, send data or lower guards."""

from typing import Annotated

import typer

from mabos_cli.commands.call import Call
from mabos_cli.services.operations import permission
from mabos_cli.services.operations.permission import RiskySetting
from mabos_cli.terminal.emit import columns

app = typer.Typer()


@app.command()
def allow(
    ctx: typer.Context,
    show: Annotated[bool, typer.Option("--show", help="Only list them, and whether they are allowed.")] = False,
) -> None:
    """Allow settings of a workspace that run programs, send data or lower guards.

    Such settings in mabos.yaml and agent.json are ignored until you allow them on this machine; when they
    change, they need permission again. What your environment sets needs none.

    Example: mabos allow --show
    """
    call: Call = ctx.obj
    workspace = call.open_workspace()
    found = permission.list_risky(workspace) if show else permission.allow(workspace)
    lines = _lines(found) or ["no setting here needs permission"]
    if any(not row.allowed for row in found):
        lines.append("allow them: mabos allow")
    call.emit("allow", {"settings": [row._asdict() for row in found]}, lines)


@app.command()
def deny(ctx: typer.Context) -> None:
    """Withdraw what mabos allow permitted.

    Example: mabos deny
    """
    call: Call = ctx.obj
    withdrawn, found = permission.deny(call.open_workspace())
    lines = ["permission withdrawn" if withdrawn else "nothing was allowed here", *_lines(found)]
    call.emit("deny", {"withdrawn": withdrawn, "settings": [row._asdict() for row in found]}, lines)


def _lines(found: list[RiskySetting]) -> list[str]:
    rows = [
        (row.file, row.name, str(row.value), row.risk, "allowed" if row.allowed else "not allowed") for row in found
    ]
    return columns(rows)
