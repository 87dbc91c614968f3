"""materialize: derived Markdown, rebuilt."""

import typer

from mabos_cli.commands.call import Call
from mabos_cli.services.operations.rebuild import rebuild_derived

app = typer.Typer()


@app.command()
def materialize(ctx: typer.Context) -> None:
    """Rewrite the Markdown that is derived from memory.

    Example: mabos materialize
    """
    call: Call = ctx.obj
    changed, warnings = rebuild_derived(call.open_agent())
    lines = [f"wrote {path}" for path in changed] or ["everything is up to date"]
    call.emit("materialize", {"changed": changed}, lines, warnings)
