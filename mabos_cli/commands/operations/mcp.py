"""mcp: the tools of this program for hosts that speak the Model Context Protocol."""

import sys
from typing import Annotated

import typer

from mabos_cli.commands.call import Call
from mabos_cli.core.language.text import plural
from mabos_cli.errors import UsageFault
from mabos_cli.terminal.emit import columns, note
from mabos_cli.workspace.locate import find_agent

app = typer.Typer()


@app.command()
def mcp(
    ctx: typer.Context,
    tools: Annotated[
        str,
        typer.Option(metavar="FAMILY,...", help="Only these families of tools, or tools by name; --list shows both."),
    ] = "",
    read_only: Annotated[bool, typer.Option("--read-only", help="Only tools that change nothing.")] = False,
    list_only: Annotated[bool, typer.Option("--list", help="Print the tools instead of serving them.")] = False,
) -> None:
    """Serve tools and memory to an agent host, by the Model Context Protocol.

    A host starts it and speaks to it over standard input and output; it ends with the host. With --agent, tools and resources
    are that agent's unless a call names another.

    Example: mabos mcp --tools memory,context
    """
    from mabos_cli.serve.mcp import choose_tools, serve

    call: Call = ctx.obj
    wanted = [name for name in (word.strip() for word in tools.split(",")) if name]
    chosen = choose_tools(wanted, read_only=read_only)
    if list_only:
        rows = [{"name": tool.name, "family": tool.family, "reads_only": tool.effect.reads} for tool in chosen]
        shown = columns([(tool.family, tool.name, "" if tool.effect.reads else "writes") for tool in chosen])
        call.emit("mcp", {"tools": rows}, [*shown, plural(len(rows), "tool")])
        return
    workspace = call.open_workspace()
    if call.agent:
        find_agent(workspace, call.agent)
    if sys.stdin is None or sys.stdout is None:
        raise UsageFault("standard input or output is closed", "a host starts this, and speaks to it over both")
    if sys.stdin.isatty():
        note("waiting for an agent host on standard input; Ctrl-C ends it")
    serve(call, chosen)
