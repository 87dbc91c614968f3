"""connect, disconnect, hook, skill, mcp and ui: what agent hosts and browsers use. The calls of hooks are answered in serve/hook.py."""

import sys
from collections.abc import Iterator
from difflib import unified_diff
from typing import Annotated, Any

from mabos_cli.commands.call import Argument, Commands, Context, DryRun, Option
from mabos_cli.core.language.text import plural
from mabos_cli.core.operations.hook_hosts import HOSTS
from mabos_cli.errors import UsageFault
from mabos_cli.services.operations import connect as connecting
from mabos_cli.services.operations.connect import Connected, FileChange, Trial
from mabos_cli.services.operations.hosts import make_skill
from mabos_cli.terminal.emit import columns, note
from mabos_cli.workspace.locate import find_agent

app = Commands()
_SHOWN = 12  # lines of what a model would see

Host = Annotated[str, Argument(metavar="HOST", help=f"{', '.join(HOSTS[:-1])} or {HOSTS[-1]}.")]
User = Annotated[bool, Option("--user", help="Use the settings in your home folder, for all projects.")]
Project = Annotated[
    str,
    Option("--project", metavar="DIR", help="The folder of the project (default: the repository or workspace here)."),
]


@app.command()
def connect(ctx: Context, host: Host, user: User = False, project: Project = "", dry_run: DryRun = False) -> None:
    """Connect an agent host with hooks, MCP server and skill, and test the connection.

    The rest of the host's files stays unchanged, and a second run changes nothing. At the end, the events of a session are
    played through the new commands, and what a model would see is printed.

    Example: mabos connect claude --dry-run
    """
    done = connecting.connect(ctx.obj, host, user=user, project=project, dry_run=dry_run)
    data = _described(done) | {"dry_run": dry_run, "self_test": [trial._asdict() for trial in done.trials]}
    verb = "would be" if dry_run else "is"
    lines = [f"{host} {verb} connected to agent {done.target.agent} of {done.target.workspace}, {_scope(done)}"]
    lines += [line for change in done.changes for line in _change_lines(done, change)]
    lines += [line for trial in done.trials for line in _trial_lines(trial)]
    ctx.obj.emit("connect", data, [*lines, *done.notes], done.warnings)


@app.command()
def disconnect(
    ctx: Context,
    host: Annotated[str, Argument(metavar="[HOST]", help="As in connect.", show_default=False)] = "",
    user: User = False,
    project: Project = "",
    every: Annotated[bool, Option("--all", help="Disconnect every host that was connected from here.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Remove what connect added to the files of an agent host.

    Files and folders that were created for the connection are removed.

    Example: mabos disconnect claude --dry-run
    """
    if bool(host) == every or (every and (user or project)):
        raise UsageFault("name a host, or use --all alone", f"one of: {', '.join(HOSTS)}")
    ends = connecting.disconnect(ctx.obj, host, user=user, project=project, dry_run=dry_run)
    lines = []
    for done in ends:
        verb = "would be" if dry_run else "is"
        lines.append(f"{done.target.host} {verb} disconnected, {_scope(done)}")
        lines += [line for change in done.changes for line in _change_lines(done, change)]
    rows = [_described(done) for done in ends]
    ctx.obj.emit("disconnect", {"disconnected": rows, "dry_run": dry_run}, lines or ["nothing to remove"])


def _scope(done: Connected) -> str:
    return "for this user" if done.target.is_user else f"in the project {done.target.folder}"


def _described(done: Connected) -> dict[str, Any]:
    target = done.target
    rows = [
        {
            "path": str(change.file.path),
            "about": change.file.about,
            "changed": change.is_changed,
            "removed": change.is_changed and change.new is None,
            "diff": [*_diff(change)],
        }
        for change in done.changes
    ]
    return {
        "host": target.host,
        "scope": target.scope,
        "folder": str(target.folder),
        "agent": target.agent,
        "workspace": target.workspace,
        "changed": any(change.is_changed for change in done.changes),
        "files": rows,
    }


def _diff(change: FileChange) -> Iterator[str]:
    if change.is_changed:
        old, new = (data.decode("utf-8").split("\n") if data else [] for data in (change.old, change.new))
        yield from unified_diff(old, new, str(change.file.path), str(change.file.path), n=1, lineterm="")


def _change_lines(done: Connected, change: FileChange) -> list[str]:
    """Returns the planned change of a file, with the lines that differ from an existing one."""
    path, about = change.file.path, change.file.about
    shown = path.relative_to(done.target.folder) if path.is_relative_to(done.target.folder) else path
    if not change.is_changed:
        return [f"  {shown}: {about}, unchanged"] if change.new is not None else []
    if change.old is None or change.new is None:
        return [f"  {shown}: {about}, {'new file' if change.old is None else 'file removed'}"]
    changed = [f"    {line.rstrip()}" for line in [*_diff(change)][2:] if line[:1] in "+-"]
    return [f"  {shown}: {about}", *changed]


def _trial_lines(trial: Trial) -> list[str]:
    """Returns what an event of the self-test showed."""
    name = f'{trial.event} "{trial.asked}"' if trial.asked else trial.event
    if trial.trouble:
        return [f"tested {name}: failed"]
    if trial.event == "mcp":
        return [f"tested mcp: {plural(trial.text.count(',') + 1, 'tool')}: {trial.text}"]
    if not trial.text:
        return [f"tested {name}: ok, nothing for the model"]
    shown = trial.text.rstrip("\n").split("\n")
    rest = [f"  | ... {len(shown) - _SHOWN} more lines"] if len(shown) > _SHOWN else []
    return [f"tested {name}: the model sees", *(f"  | {line}" for line in shown[:_SHOWN]), *rest]


@app.command()
def hook(
    ctx: Context,
    event: Annotated[str, Argument(metavar="EVENT", help="The event.")],
    host: Annotated[
        str, Option(metavar=f"[{'|'.join(HOSTS)}]", help="The calling host; detected if left out.")
    ] = "auto",
) -> None:
    """Handle an event of an agent host; its JSON is read from standard input.

    Hosts call it after mabos connect: session-start, user-prompt, pre-compact, stop, session-end, or their own names for these.
    The exit code is always 0.

    Example: mabos hook session-start --host claude
    """
    from mabos_cli.serve.hook import main

    named = (("--host", host), ("-w", ctx.obj.workspace), ("-a", ctx.obj.agent))
    main([event, *(word for name, value in named if value for word in (name, value))])


@app.command()
def skill(
    ctx: Context,
    format: Annotated[
        str, Option(metavar="[skill|agents]", help="A SKILL.md, or a section for AGENTS.md between markers.")
    ] = "skill",
    output: Annotated[
        str, Option("--output", "-o", metavar="FILE", help="Write it to this file; other text in AGENTS.md stays.")
    ] = "",
) -> None:
    """Print a SKILL.md or AGENTS.md section that explains the memory to an agent.

    Example: mabos skill --format agents -o AGENTS.md
    """
    agent = ctx.obj.open_agent()
    text, is_written = make_skill(agent, format, output)
    data: dict[str, Any] = {"format": format, "agent": agent.id, "path": output or None, "text": text}
    if is_written is None:
        return ctx.obj.emit("skill", data, text.rstrip("\n").split("\n"))
    lines = [f"{output}: {'written' if is_written else 'unchanged'}"]
    ctx.obj.emit("skill", data | {"written": is_written}, lines)


@app.command()
def mcp(
    ctx: Context,
    tools: Annotated[
        str,
        Option(
            metavar="FAMILY,...",
            help="Families of tools, tools by name, or all (default: a dozen common ones).",
        ),
    ] = "",
    read_only: Annotated[bool, Option("--read-only", help="Only offer tools that change nothing.")] = False,
    structured: Annotated[
        bool, Option("--structured", help="Answer with structured content instead of text, for programs.")
    ] = False,
    list_only: Annotated[bool, Option("--list", help="List the tools instead of serving them.")] = False,
) -> None:
    """Serve the tools over the Model Context Protocol.

    A host starts it and talks to it over standard input and output; it ends with the host. Without --tools, a dozen tools are
    listed and all can be called. With --agent, tools and resources are those of that agent unless a call names another.

    Example: mabos mcp --tools memory,context
    """
    from mabos_cli.serve.mcp import choose_tools, serve

    wanted = [name for name in (word.strip() for word in tools.split(",")) if name]
    chosen = choose_tools(wanted, read_only=read_only)
    if list_only:
        rows = [{"name": tool.name, "family": tool.family, "reads_only": tool.effect.reads} for tool in chosen]
        shown = columns([(tool.family, tool.name, "" if tool.effect.reads else "writes") for tool in chosen])
        ctx.obj.emit("mcp", {"tools": rows}, [*shown, plural(len(rows), "tool")])
        return
    workspace = ctx.obj.open_workspace()
    if ctx.obj.agent:
        find_agent(workspace, ctx.obj.agent)
    if sys.stdin is None or sys.stdout is None:
        raise UsageFault("standard input or output is closed", "a host starts this, and speaks to it over both")
    if sys.stdin.isatty():
        note("waiting for an agent host on standard input; Ctrl-C ends it")
    others = () if wanted else choose_tools(["all"], read_only=read_only)
    serve(ctx.obj, chosen, others=others, structured=structured)


@app.command()
def ui(
    ctx: Context,
    port: Annotated[int, Option(min=0, max=65535, help="Listen on this port of 127.0.0.1; 0 takes a free one.")] = 0,
    read_only: Annotated[bool, Option("--read-only", help="Refuse everything that writes.")] = False,
    list_only: Annotated[bool, Option("--list", help="List what the page may call, instead of serving it.")] = False,
) -> None:
    """Serve a local web page to search, browse and decide.

    Prints an address with a secret for this run, and serves the page until Ctrl-C. Changes on the page run the same
    commands.

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
    ctx.obj.emit("ui", data, [server.url, "open it in a browser on this machine; Ctrl-C ends it"])
    serve(server)
