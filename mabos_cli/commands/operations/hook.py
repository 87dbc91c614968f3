"""hook install and uninstall: what makes an agent host call us. The calls themselves are answered in serve/hook.py."""

import os
import shlex
import sys
from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.commands.options import DryRun
from mabos_cli.core.memory.item import check_choice
from mabos_cli.core.operations.hook_hosts import HOSTS
from mabos_cli.errors import NotFound, UsageFault
from mabos_cli.formats.operations import hook_settings
from mabos_cli.formats.operations.hook_settings import Hook, hooks_of
from mabos_cli.workspace.files import Moved, decode_text, read_bytes, remove_file, replace_file
from mabos_cli.workspace.locate import check_agent_id, list_agents, place_named

app = new_group(
    "hook", "Answer the hooks of agent hosts; put ours into their settings and out again.", no_args_is_help=True
)
_SCOPES = ("project", "user")
_FILES = {
    "claude": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/hooks.json",
}
_NOTES = {"codex": ["Codex runs new hooks once you trust them: /hooks"]}
_NEXT = "next: mabos index sync, for prompts are looked up in the index; mabos schedule install keeps it fresh"

Host = Annotated[str, typer.Option(help="claude, codex, gemini or cursor.")]
Scope = Annotated[str, typer.Option(help="project: settings below this folder; user: those in your home.")]
File = Annotated[str, typer.Option(metavar="FILE", help="The settings file, where the host has it elsewhere.")]


@app.command()
def install(
    ctx: typer.Context, host: Host, scope: Scope = "project", settings: File = "", dry_run: DryRun = False
) -> None:
    """Make a host call us when sessions start and end, before it compacts, with each prompt. All else in its settings stays.

    With -w and -a the hooks are about that workspace and agent; without, about those of the folder that a session is in. The host
    runs `mabos hook EVENT`: session-start, user-prompt, pre-compact, stop, session-end.

    Example: mabos hook install --host claude --scope user --dry-run
    """
    call: Call = ctx.obj
    path = _settings_file(host, scope, settings)
    hooks = hooks_of(host, _program(), _about(call))
    old = read_bytes(path)
    text = None if old is None else decode_text(old, str(path))
    head = {"version": 1} if host == "cursor" else {}
    new = hook_settings.add_hooks(text, hooks, host, str(path), head)
    _apply(path, old, new.encode("utf-8"), dry_run)
    _tell(call, "hook.install", path, host, (text, new), hooks, dry_run, _warnings(call, scope))


@app.command()
def uninstall(
    ctx: typer.Context, host: Host, scope: Scope = "project", settings: File = "", dry_run: DryRun = False
) -> None:
    """Take our hooks out of a host's settings: the file is as it was before, to the byte, and gone if it was ours alone.

    Example: mabos hook uninstall --host claude --dry-run
    """
    call: Call = ctx.obj
    path = _settings_file(host, scope, settings)
    old = read_bytes(path)
    text = None if old is None else decode_text(old, str(path))
    new = None if text is None else hook_settings.remove_hooks(text, host, str(path))
    _apply(path, old, None if new is None else new.encode("utf-8"), dry_run)
    _tell(call, "hook.uninstall", path, host, (text, new), [], dry_run)


def _settings_file(host: str, scope: str, given: str) -> Path:
    """The file that a host reads, links followed: people keep their settings elsewhere and link to them."""
    check_choice(host, HOSTS, "host")
    check_choice(scope, _SCOPES, "scope")
    base = place_named("~" if scope == "user" else ".")
    if host == "codex" and scope == "user" and os.environ.get("CODEX_HOME"):
        path = os.path.join(os.environ["CODEX_HOME"], "hooks.json")
    else:
        path = os.path.join(base, _FILES[host])
    path = os.path.realpath(os.path.expanduser(given) if given else path)
    if os.path.exists(path) and not os.path.isfile(path):
        raise UsageFault(f"{given or path} is no plain file", "name the settings file of the host")
    return Path(path)


def _program() -> str:
    """How a host calls us: by name where any shell finds it, by path from an environment that only this shell is in."""
    from shutil import which

    found = which("mabos")
    if found is None:
        return shlex.join([sys.executable, "-m", "mabos_cli"])
    is_inside = sys.prefix != sys.base_prefix and os.path.dirname(found) == os.path.dirname(sys.executable)
    return shlex.quote(found) if is_inside else "mabos"


def _about(call: Call) -> str:
    """The options that make hooks be about the workspace and the agent that were named, checked now."""
    words = ["-w", str(call.open_workspace().root)] if call.workspace else []
    if call.agent:
        words += ["-a", call.open_agent().id if call.workspace else check_agent_id(call.agent)]
    return shlex.join(words)


def _warnings(call: Call, scope: str) -> list[str]:
    """Why the hooks of a project would find nothing to be about."""
    if scope == "user" and not call.workspace:
        return []
    try:
        agents = list_agents(call.open_workspace())
    except NotFound:
        return ["there is no workspace here or above: the hooks do nothing until there is, or name one with -w"]
    if len(agents) > 1 and not call.agent:
        return ["there are several agents: the hooks need -a AGENT here, or MABOS_AGENT where the host runs"]
    return []


def _apply(path: Path, old: bytes | None, new: bytes | None, dry_run: bool) -> None:
    if dry_run or old == new:
        return
    if new is None:
        if read_bytes(path) != old:
            raise Moved(path)
        remove_file(path, root=path.parent)
    else:
        replace_file(path, new, root=path.parent, expect=old, shared=True)


def _tell(
    call: Call,
    name: str,
    path: Path,
    host: str,
    texts: tuple[str | None, str | None],
    hooks: list[Hook],
    dry_run: bool,
    warnings: Sequence[str] = (),
) -> None:
    old, new = texts
    changed = old != new
    data: dict[str, Any] = {
        "path": str(path),
        "host": host,
        "events": [hook.event for hook in hooks],
        "changed": changed,
        "removed": changed and new is None,
        "dry_run": dry_run,
    }
    if not changed:
        return call.emit(name, data, [f"{path}: unchanged"], warnings)
    if dry_run:
        before, after = (text.removesuffix("\n").split("\n") if text else [] for text in texts)
        data["diff"] = [*unified_diff(before, after, str(path), str(path), lineterm="")]
        return call.emit(name, data, data["diff"], warnings)
    told = f"hooks for {', '.join(data['events'])}" if hooks else "hooks taken out"
    call.emit(
        name,
        data,
        [f"{path}: {'removed' if new is None else told}", *([*_NOTES.get(host, []), _NEXT] if hooks else [])],
        warnings,
    )
