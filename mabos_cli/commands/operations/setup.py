"""init, agent, config, allow, deny, git, completion and demo: sets up workspaces and agents, and shows the program."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from shutil import which
from typing import Annotated, Any

from mabos_cli.commands.call import Answer, Argument, Call, Commands, Context, DryRun, Option
from mabos_cli.config import SETTINGS, Setting, check_setting
from mabos_cli.core.language.clock import format_span
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import check_choice
from mabos_cli.core.operations.hook_hosts import HOSTS
from mabos_cli.services.inputs import NO_AGENTS
from mabos_cli.services.operations import setup
from mabos_cli.services.operations.merging import DRIVER_COMMAND, install_driver, merge_versions
from mabos_cli.terminal.emit import columns, emit

app = Commands()
agent = Commands("agent", "Create, list and show agents.")


@app.command()
def init(
    ctx: Context,
    folder: Annotated[str, Argument(metavar="[FOLDER]", help="The folder; by default the current one.")] = "",
    role: Annotated[str, Option(help="What the first agent is for.")] = "",
) -> None:
    """Create a workspace and its first agent.

    Existing files stay as they are. The agent is called main unless --agent names it; a workspace
    that has agents gets another one only if --agent names it.

    Example: mabos init ./team --agent cfo --role "finance lead"
    """
    place = folder or ctx.obj.workspace or "."
    created = setup.init_workspace(ctx.obj, place, role)
    where = "" if os.path.samefile(created.root, os.curdir) else f"-w {shlex.quote(place)} "
    lines = [
        f"workspace {created.root} created, with agent {created.agent}: {plural(len(created.files), 'file')}",
        f'next: mabos {where}store "..."  stores a memory, mabos {where}recall "..." finds it',
        f"      mabos {where}connect HOST  connects an agent host: {', '.join(HOSTS)}",
        f"      mabos {where}schedule install --user  schedules maintenance",
    ]
    if not created.files:
        agents = f"{plural(len(created.known), 'agent')}: {', '.join(created.known)}"
        lines = [f"{created.root} is a workspace already, with {agents}"]
    data = {"workspace": str(created.root), "agent": created.agent, "created": created.files}
    ctx.obj.emit("init", data, lines)


@agent.command()
def create(
    ctx: Context,
    agent_id: Annotated[str, Argument(metavar="ID", help="A short name, which becomes the name of a folder.")],
    role: Annotated[str, Option(help="What the agent is for.")] = "",
    name: Annotated[str, Option(help="What people call it.")] = "",
) -> None:
    """Add an agent to the workspace.

    Example: mabos agent create cfo --role "finance lead"
    """
    files = setup.add_agent(ctx.obj, agent_id, role, name)
    lines = [f"agent {agent_id} created: {plural(len(files), 'file')}"]
    ctx.obj.emit("agent.create", {"agent": agent_id, "created": files}, lines)


@agent.command("list")
def list_command(ctx: Context) -> None:
    """List the agents of the workspace.

    Example: mabos agent list
    """
    rows, warnings = setup.list_described(ctx.obj)
    text = columns([(row["id"], str(row["role"] or row["name"])) for row in rows]) or [NO_AGENTS]
    ctx.obj.emit("agent.list", {"agents": rows}, text, warnings)


@agent.command()
def show(
    ctx: Context, agent_id: Annotated[str, Argument(metavar="[ID]", help="The agent; by default that of --agent.")] = ""
) -> None:
    """Show one agent: manifest, files, counts.

    Example: mabos agent show cfo
    """
    data, warnings = setup.describe_agent(ctx.obj, agent_id)
    rows = [
        ("id", data["id"]),
        ("name", str(data["manifest"].get("name", data["id"]))),
        ("role", str(data["manifest"].get("role", ""))),
        ("folder", data["path"]),
        ("memory", ", ".join(f"{n} {name}" for name, n in data["memory"].items())),
        ("files", ", ".join(data["files"])),
    ]
    ctx.obj.emit("agent.show", data, columns(rows), warnings)


@app.command()
def config(
    ctx: Context, name: Annotated[str, Argument(metavar="[NAME]", help="A setting or a section; all by default.")] = ""
) -> None:
    """Show the settings in effect and their origin.

    Example: mabos config memory.short_term_ttl
    """
    settings = setup.effective_settings(ctx.obj)
    chosen = [s for s in SETTINGS if not name or s.name == name or s.name.startswith(name + ".")]
    if not chosen:
        check_setting(name, None)  # raises, with the nearest name
    rows = [
        {"name": s.name, "value": settings[s.name], "origin": settings.origins[s.name], "default": s.default,
         "about": s.about}
        for s in chosen
    ]  # fmt: skip
    text = columns([(s.name, _format_value(s, settings[s.name]), settings.origins[s.name], s.about) for s in chosen])
    ctx.obj.emit("config", {"settings": rows}, text, settings.warnings)


def _format_value(setting: Setting, value: Any) -> str:
    if setting.kind == "span":
        return format_span(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


@app.command()
def completion(ctx: Context, shell: Annotated[str, Argument(metavar="[bash|zsh|fish]", help="The shell.")]) -> None:
    """Print a completion script for bash, zsh or fish.

    At each TAB the script calls the program, which answers from its own table and the files of the workspace.

    Example: mabos completion bash
    """
    check_choice(shell, setup.SHELLS, "shell")
    text = setup.completion_script(shell)
    ctx.obj.emit("completion", {"shell": shell, "text": text}, text.splitlines())


@app.command()
def demo(
    ctx: Context,
    folder: Annotated[
        str, Argument(metavar="[FOLDER]", help="A folder for the workspace; by default nothing is kept.")
    ] = "",
) -> None:
    """Run a tour on three months of a small company's memories.

    It runs in a temporary folder that is removed at the end. With FOLDER, which must be empty or not exist, the workspace is
    kept for you to explore. Without git, the chapters about it are skipped.

    Example: mabos demo ./harbourline
    """
    steps: list[dict[str, Any]] = []
    with setup.open_sandbox(folder) as root:
        for chapter in setup.load_tour():
            _print_now(ctx.obj, ["", chapter.about])
            for command in chapter.commands:
                _print_now(ctx.obj, ["", f"$ {command}"])
                answer = _run(ctx.obj, root, command)
                _print_now(ctx.obj, answer.lines, answer.warnings)
                output = {"output": answer.lines, "warnings": answer.warnings}
                steps.append({"about": chapter.about, "command": command, **output})
    data = {"folder": str(root) if folder else None, "steps": steps}
    ctx.obj.with_changes(commit=False).emit("demo", data, ["", *_next_steps(folder)])


def _print_now(call: Call, lines: Sequence[str], warnings: Sequence[str] = ()) -> None:
    """Prints a part of the tour as it goes; JSON has all of it at the end."""
    if not call.as_json:
        emit("mabos.demo.v1", {}, lines, as_json=False, quiet=call.quiet, warnings=warnings)


def _run(call: Call, root: Path, command: str) -> Answer:
    """Runs a command of the tour. One that fails ends the tour with its error."""
    program, *words = shlex.split(command.replace("\\\n", " "))
    if program == "git":
        return Answer({}, setup.run_git(root, words), [])
    assert call.parse is not None and call.run is not None, "app parses and runs lines"
    answers: list[Answer] = []
    parsed, rest = call.parse(words)
    call.run(parsed.with_changes(take=answers.append), rest)
    return answers[-1]


def _next_steps(place: str) -> list[str]:
    if place:
        return [
            f"All of it is in {place}. Look around: cd {shlex.quote(place)}, then",
            "mabos timeline 2026-01-17, mabos reason list, mabos config, mabos --help.",
        ]
    return [
        'Try next, in a folder of your own: mabos init && mabos store "The first thing to remember" --tag start',
        "Or keep this one to play with: mabos demo ./harbourline. Or look around: mabos reason list, mabos --help.",
    ]


@app.command()
def allow(
    ctx: Context,
    show: Annotated[bool, Option("--show", help="Only list these settings, and whether they are allowed.")] = False,
) -> None:
    """Permit this workspace's settings that run programs, send data or weaken checks.

    Such settings in mabos.yaml and agent.json are ignored until you allow them on this machine; when they
    change, they need permission again. Settings in your environment need none.

    Example: mabos allow --show
    """
    workspace = ctx.obj.open_workspace()
    found = setup.list_risky(workspace) if show else setup.allow_settings(workspace)
    lines = _risky_lines(found) or ["no setting here needs permission"]
    if any(not row.allowed for row in found):
        lines.append("allow them: mabos allow")
    ctx.obj.emit("allow", {"settings": [row._asdict() for row in found]}, lines)


@app.command()
def deny(ctx: Context) -> None:
    """Withdraw the permission given by mabos allow.

    Example: mabos deny
    """
    withdrawn, found = setup.deny_settings(ctx.obj.open_workspace())
    lines = ["permission withdrawn" if withdrawn else "nothing was allowed here", *_risky_lines(found)]
    ctx.obj.emit("deny", {"withdrawn": withdrawn, "settings": [row._asdict() for row in found]}, lines)


def _risky_lines(found: list[setup.RiskySetting]) -> list[str]:
    rows = [
        (row.file, row.name, str(row.value), row.risk, "allowed" if row.allowed else "not allowed") for row in found
    ]
    return columns(rows)


git = Commands("git", "Merge the memories of two branches with git.")
_VERBS = {(False, False): "wrote", (False, True): "would write", (True, False): "removed", (True, True): "would remove"}


@git.command()
def install(
    ctx: Context,
    uninstall: Annotated[bool, Option("--uninstall", help="Remove the driver.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Register the merge driver in this clone, and list its files in .gitattributes.

    Every clone must do this once; .gitattributes is committed. Without the driver, git merges these files as text.

    Example: mabos git install
    """
    changed = install_driver(ctx.obj.open_workspace(), uninstall=uninstall, dry_run=dry_run)
    lines = [f"{_VERBS[uninstall, dry_run]} {what}" for what in changed]
    if not changed:
        lines = ["the merge driver is not installed" if uninstall else "the merge driver is installed"]
    elif not (dry_run or uninstall):
        lines.append("commit .gitattributes; every other clone needs mabos git install once")
    warnings = [] if uninstall or which("mabos") else ["mabos is not on PATH: git will merge as text"]
    data = {"installed": not uninstall, "changed": changed, "dry_run": dry_run, "driver": DRIVER_COMMAND}
    ctx.obj.emit("git.install", data, lines, warnings)


@git.command()
def merge(
    ctx: Context,
    base: Annotated[Path, Argument(metavar="BASE", help="The file before.")],
    ours: Annotated[Path, Argument(metavar="OURS", help="Our version; the merged one replaces it.")],
    theirs: Annotated[Path, Argument(metavar="THEIRS", help="Their version.")],
    path: Annotated[str, Argument(metavar="PATH", help="The path of the file, which determines its kind.")],
) -> None:
    """Merge three versions of a file by content; called by git.

    Nothing is lost: contradictory texts are both kept, each under an id. Unreadable files are left to a person.

    Example: mabos git merge base.json ours.json theirs.json agents/cfo/memory-store.json
    """
    kind, notes = merge_versions(base, ours, theirs, path)
    data = {"path": path, "kind": kind, "notes": notes}
    ctx.obj.emit("git.merge", data, [f"{one_line(path)}: {note}" for note in notes])
