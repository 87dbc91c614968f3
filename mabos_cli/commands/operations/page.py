"""ui: the page over the commands, which serve/ui.py serves."""

from typing import Annotated

from mabos_cli.commands.call import Commands, Context, Option
from mabos_cli.core.language.text import plural
from mabos_cli.terminal.emit import columns
from mabos_cli.workspace.locate import find_agent

app = Commands()


@app.command()
def ui(
    ctx: Context,
    port: Annotated[int, Option(min=0, max=65535, help="Listen on this port of 127.0.0.1; 0 takes a free one.")] = 0,
    read_only: Annotated[bool, Option("--read-only", help="Only look: nothing on the page writes.")] = False,
    list_only: Annotated[bool, Option("--list", help="Print what the page may call instead of serving it.")] = False,
) -> None:
    """Open a page in a browser of this machine: search, look, decide.

    Prints an address that holds a secret of this run, and serves it until Ctrl-C. Every change on the page is the command's own.

    Example: mabos ui --read-only
    """
    from mabos_cli.serve.ui import CALLS, open_server, serve

    if list_only:
        shown = [call for call in CALLS.values() if call.effect.reads or not read_only]
        rows = [{"name": c.name, "command": " ".join(c.command), "reads_only": c.effect.reads} for c in shown]
        lines = columns([(c.name, " ".join(c.command), "" if c.effect.reads else "writes") for c in shown])
        return ctx.obj.emit("ui", {"calls": rows}, [*lines, plural(len(rows), "call")])
    if ctx.obj.agent:
        find_agent(ctx.obj.open_workspace(), ctx.obj.agent)
    server = open_server(ctx.obj, port, read_only=read_only)
    data = {"url": server.url, "read_only": read_only}
    ctx.obj.emit("ui", data, [server.url, "open it in a browser of this machine; Ctrl-C ends it"])
    serve(server)
