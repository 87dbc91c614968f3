"""hook, skill and mcp: what agent hosts use. The calls of hooks themselves are answered in serve/hook.py."""

import sys
from difflib import unified_diff
from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.commands.options import DryRun
from mabos_cli.core.language.text import plural
from mabos_cli.errors import UsageFault
from mabos_cli.services.operations.hosts import HookChange, hook_warnings, install_hooks, make_skill, uninstall_hooks
from mabos_cli.terminal.emit import columns, note
from mabos_cli.workspace.locate import find_agent

app = typer.Typer()
hook = new_group(
    "hook", "Answer the hooks of agent hosts; put ours into their settings and out again.", no_args_is_help=True
)
_NOTES = {"codex": ["Codex runs new hooks once you trust them: /hooks"]}
_NEXT = "next: mabos index sync, for prompts are looked up in the index; mabos schedule install keeps it fresh"

Host = Annotated[str, typer.Option(help="claude, codex, gemini or cursor.")]
Scope = Annotated[str, typer.Option(help="project: settings below this folder; user: those in your home.")]
File = Annotated[str, typer.Option(metavar="FILE", help="The settings file, where the host has it elsewhere.")]


@hook.command()
def install(
    ctx: typer.Context, host: Host, scope: Scope = "project", settings: File = "", dry_run: DryRun = False
) -> None:
    """Make a host call us when sessions start and end, before it compacts, with each prompt. All else in its settings stays.

    With -w and -a the hooks are about that workspace and agent; without, about those of the folder that a session is in. The host
    runs `mabos hook EVENT`: session-start, user-prompt, pre-compact, stop, session-end.

    Example: mabos hook install --host claude --scope user --dry-run
    """
    call: Call = ctx.obj
    change = install_hooks(call, host, scope, settings, dry_run=dry_run)
    lines = [f"{change.path}: hooks for {', '.join(change.events)}", *_NOTES.get(host, []), _NEXT]
    _emit_change(call, "hook.install", host, change, dry_run, lines, hook_warnings(call, scope))


@hook.command()
def uninstall(
    ctx: typer.Context, host: Host, scope: Scope = "project", settings: File = "", dry_run: DryRun = False
) -> None:
    """Take our hooks out of a host's settings: the file is as it was before, to the byte, and gone if it was ours alone.

    Example: mabos hook uninstall --host claude --dry-run
    """
    change = uninstall_hooks(host, scope, settings, dry_run=dry_run)
    lines = [f"{change.path}: {'removed' if change.new is None else 'hooks taken out'}"]
    _emit_change(ctx.obj, "hook.uninstall", host, change, dry_run, lines, [])


def _emit_change(
    call: Call, name: str, host: str, change: HookChange, dry_run: bool, lines: list[str], warnings: list[str]
) -> None:
    """Prints what became of a settings file: the lines, or its difference for a dry run."""
    path, is_changed = str(change.path), change.old != change.new
    data: dict[str, Any] = {
        "path": path,
        "host": host,
        "events": list(change.events),
        "changed": is_changed,
        "removed": is_changed and change.new is None,
        "dry_run": dry_run,
    }
    if not is_changed:
        lines = [f"{path}: unchanged"]
    elif dry_run:
        old, new = (text.removesuffix("\n").split("\n") if text else [] for text in (change.old, change.new))
        lines = data["diff"] = [*unified_diff(old, new, path, path, lineterm="")]
    call.emit(name, data, lines, warnings)


@app.command()
def skill(
    ctx: typer.Context,
    format: Annotated[
        str, typer.Option(help="skill: a SKILL.md; agents: a section for AGENTS.md, between marks.")
    ] = "skill",
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Write it there; other text in AGENTS.md stays.")
    ] = "",
) -> None:
    """Print what tells an agent how to use its memory here.

    Example: mabos skill --format agents -o AGENTS.md
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    text, is_written = make_skill(agent, format, output)
    data: dict[str, Any] = {"format": format, "agent": agent.id, "path": output or None, "text": text}
    if is_written is None:
        return call.emit("skill", data, text.rstrip("\n").split("\n"))
    lines = [f"{output}: {'written' if is_written else 'unchanged'}"]
    call.emit("skill", data | {"written": is_written}, lines)


@app.command()
def mcp(
    ctx: typer.Context,
    tools: Annotated[
        str,
        typer.Option(
            metavar="FAMILY,...",
            help="List these families of tools, tools by name, or all; else a dozen for every day.",
        ),
    ] = "",
    read_only: Annotated[bool, typer.Option("--read-only", help="Only tools that change nothing.")] = False,
    structured: Annotated[
        bool, typer.Option("--structured", help="Answer with structured content in place of text, for programs.")
    ] = False,
    list_only: Annotated[bool, typer.Option("--list", help="Print the tools instead of serving them.")] = False,
) -> None:
    """Serve tools and memory to an agent host, by the Model Context Protocol.

    A host starts it and speaks to it over standard input and output; it ends with the host. Without --tools every tool answers,
    and a dozen are listed. With --agent, tools and resources are that agent's unless a call names another.

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
    others = () if wanted else choose_tools(["all"], read_only=read_only)
    serve(call, chosen, others=others, structured=structured)
