"""Sets up agent hosts: installs and removes our hooks, and writes the skill that explains memory."""

import os
import shlex
import sys
from pathlib import Path
from shutil import which
from typing import NamedTuple

from mabos_cli.core.memory.item import check_choice
from mabos_cli.core.operations.hook_hosts import HOSTS
from mabos_cli.errors import NotFound, UsageFault
from mabos_cli.formats.context.prompt_md import fill_in, is_own_skill, put_section
from mabos_cli.formats.operations.hook_settings import add_hooks, hooks_of, remove_hooks
from mabos_cli.services.inputs import find_target
from mabos_cli.services.session import Session
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import Moved, decode_text, read_bytes, read_text, remove_file, replace_file
from mabos_cli.workspace.layout import template_file
from mabos_cli.workspace.locate import check_agent_id, list_agents, place_named

SCOPES = ("project", "user")
_FILES = {
    "claude": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/hooks.json",
}
_TEMPLATES = {"skill": "SKILL.md", "agents": "AGENTS.md"}


class HookChange(NamedTuple):
    """The settings file of a host before and after, None where there is none, and the events that our hooks are for."""

    path: Path
    old: str | None
    new: str | None
    events: tuple[str, ...] = ()


def install_hooks(session: Session, host: str, scope: str, named: str, *, dry_run: bool) -> HookChange:
    """Puts our hooks into the settings of a host; all else in them stays."""
    path = _settings_file(host, scope, named)
    hooks = hooks_of(host, _program(), _session_options(session))
    old = read_bytes(path)
    text = None if old is None else decode_text(old, str(path))
    new = add_hooks(text, hooks, host, str(path), {"version": 1} if host == "cursor" else {})
    _apply(path, old, new, dry_run)
    return HookChange(path, text, new, tuple(hook.event for hook in hooks))


def uninstall_hooks(host: str, scope: str, named: str, *, dry_run: bool) -> HookChange:
    """Takes our hooks out of the settings of a host; a file that was ours alone is removed."""
    path = _settings_file(host, scope, named)
    old = read_bytes(path)
    text = None if old is None else decode_text(old, str(path))
    new = None if text is None else remove_hooks(text, host, str(path))
    _apply(path, old, new, dry_run)
    return HookChange(path, text, new)


def _settings_file(host: str, scope: str, named: str) -> Path:
    """Returns the file that a host reads, links followed: people keep their settings elsewhere and link to them."""
    check_choice(host, HOSTS, "host")
    check_choice(scope, SCOPES, "scope")
    base = place_named("~" if scope == "user" else ".")
    usual = os.path.join(base, _FILES[host])
    if host == "codex" and scope == "user" and os.environ.get("CODEX_HOME"):
        usual = os.path.join(os.environ["CODEX_HOME"], "hooks.json")
    return find_target(named or usual, "name the settings file of the host")


def _program() -> str:
    """Returns how a host calls us: by name where any shell finds it, by path from a virtual environment."""
    found = which("mabos")
    if found is None:
        return shlex.join([sys.executable, "-m", "mabos_cli"])
    is_inside = sys.prefix != sys.base_prefix and os.path.dirname(found) == os.path.dirname(sys.executable)
    return shlex.quote(found) if is_inside else "mabos"


def _session_options(session: Session) -> str:
    """Returns the options that bind hooks to the workspace and the agent that were named, checked now."""
    words = ["-w", str(session.open_workspace().root)] if session.workspace else []
    if session.agent:
        words += ["-a", session.open_agent().id if session.workspace else check_agent_id(session.agent)]
    return shlex.join(words)


def hook_warnings(session: Session, scope: str) -> list[str]:
    """Returns why the hooks of a project would find no workspace or agent."""
    if scope == "user" and not session.workspace:
        return []
    try:
        agents = list_agents(session.open_workspace())
    except NotFound:
        return ["there is no workspace here or above: the hooks do nothing until there is, or name one with -w"]
    if len(agents) > 1 and not session.agent:
        return ["there are several agents: the hooks need -a AGENT here, or MABOS_AGENT where the host runs"]
    return []


def _apply(path: Path, old: bytes | None, text: str | None, dry_run: bool) -> None:
    new = None if text is None else text.encode("utf-8")
    if dry_run or old == new:
        return
    if new is None:
        if read_bytes(path) != old:
            raise Moved(path)
        remove_file(path, root=path.parent)
    else:
        replace_file(path, new, root=path.parent, expect=old, shared=True)


def make_skill(agent: Agent, format: str, output: str) -> tuple[str, bool | None]:
    """Returns a SKILL.md, or a section for AGENTS.md, about the use of memory, and writes it to the output.

    The second value says whether that changed the file; it is None where nothing is written.
    """
    check_choice(format, list(_TEMPLATES), "format")
    template = read_text(template_file(_TEMPLATES[format]))
    text = fill_in(template, os.fspath(agent.paths.workspace.root), agent.id)
    if not output:
        return text if format == "skill" else put_section("", text), None
    target = find_target(output, "name a file")
    old = read_text(target, output)
    if format == "skill" and not is_own_skill(old):
        raise UsageFault(f"{output} is no skill as mabos wrote it", "name another file, or remove that one")
    new = text if format == "skill" else put_section(old, text)
    if new != old:
        data = old.encode("utf-8") if target.exists() else None
        replace_file(target, new.encode("utf-8"), root=target.parent, expect=data, shared=True)
    return text if format == "skill" else put_section("", text), new != old
