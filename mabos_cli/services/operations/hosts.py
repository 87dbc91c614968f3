"""The files of each agent host, and what mabos adds to them: hooks, an MCP server, a skill or a section of instructions."""

import json
import os
import shlex
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from shutil import which
from typing import NamedTuple

from mabos_cli.core.memory.item import check_choice
from mabos_cli.errors import InvalidFile, UsageFault
from mabos_cli.formats.context.prompt_md import drop_section, fill_in, is_generated_skill, put_section
from mabos_cli.formats.json.text import dump_document
from mabos_cli.formats.operations.host_settings import Entry, Settings, add_entries, hook_entries, remove_entries
from mabos_cli.formats.operations.host_toml import add_table, remove_table
from mabos_cli.services.inputs import find_target
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import decode_text, read_bytes, read_text, replace_file
from mabos_cli.workspace.layout import template_file

_TEMPLATES = {"skill": "SKILL.md", "agents": "AGENTS.md"}
_TABLE = "mcp_servers.mabos"


class HostFile(NamedTuple):
    """A file of a host, with functions that add our part to its text and remove it again (None: there is no file, or nothing else in
    it), the folder that links must not lead out of, and whether the file is ours alone."""

    path: Path
    root: Path
    about: str
    add: Callable[[str | None], str]
    remove: Callable[[str], str | None]
    is_ours: bool = False


class Target(NamedTuple):
    """The connection of a host in the settings of a project or a user: the program, the workspace and the agent. One that was made
    also has its time, and the folders that were created for it."""

    host: str
    is_user: bool
    folder: Path
    program: tuple[str, ...]
    workspace: str = ""
    agent: str = ""
    at: str = ""
    made: tuple[str, ...] = ()

    @property
    def where(self) -> tuple[str, bool, str]:
        """Returns what distinguishes one connection from another."""
        return self.host, self.is_user, str(self.folder)

    @property
    def scope(self) -> str:
        return "user" if self.is_user else "project"

    @property
    def options(self) -> list[str]:
        """Returns the options that name workspace and agent."""
        return ["-w", self.workspace, "-a", self.agent]

    def place(self, variable: str, usual: str) -> Path:
        """Returns the folder of a host's settings: below the project, or for a user where a variable points."""
        named = os.environ.get(variable, "") if self.is_user else ""
        return Path(os.path.abspath(os.path.expanduser(named))) if named else self.folder / usual


def host_files(target: Target) -> list[HostFile]:
    """Returns the files of a host that its connection consists of."""
    return _FILES[target.host](target)


def _claude(target: Target) -> list[HostFile]:
    home = target.place("CLAUDE_CONFIG_DIR", ".claude")
    entries = hook_entries("claude", shlex.join(target.program), shlex.join(target.options))
    # A server of a project must be approved by name, unless the project's settings approve it.
    approval = (Entry(("enabledMcpjsonServers",), "mabos", True),)
    if not target.is_user:
        server = target.folder / ".mcp.json"
    else:
        server = (home if os.environ.get("CLAUDE_CONFIG_DIR") else target.folder) / ".claude.json"
    return [
        _settings(target, home / "settings.json", "hooks", entries + (() if target.is_user else approval)),
        # Without alwaysLoad, a model sees only the names of tools, and has to search for their descriptions.
        _settings(
            target, server, "MCP server", (Entry(("mcpServers", "mabos"), _server(target) | {"alwaysLoad": True}),)
        ),
        _skill(target, home / "skills"),
    ]


def _codex(target: Target) -> list[HostFile]:
    home = target.place("CODEX_HOME", ".codex")
    entries = hook_entries("codex", shlex.join(target.program), shlex.join(target.options))
    return [
        _settings(target, home / "hooks.json", "hooks", entries),
        _table(target, home / "config.toml", "MCP server"),
        _skill(target, target.folder / ".agents" / "skills"),
    ]


def _gemini(target: Target) -> list[HostFile]:
    entries = hook_entries("gemini", shlex.join(target.program), shlex.join(target.options))
    home = target.place("GEMINI_CLI_HOME", "") / ".gemini"
    entries += (Entry(("mcpServers", "mabos"), _server(target)),)
    return [
        _settings(target, home / "settings.json", "hooks, MCP server", entries, has_comments=True),
        _skill(target, home / "skills"),
    ]


def _cursor(target: Target) -> list[HostFile]:
    home = target.folder / ".cursor"
    entries = hook_entries("cursor", shlex.join(target.program), shlex.join(target.options))
    server = (Entry(("mcpServers", "mabos"), _server(target)),)
    rule = home / "rules" / "mabos-memory.mdc"
    head = f"---\ndescription: Memory of {target.agent}. Written by mabos connect\nalwaysApply: true\n---\n\n"
    return [
        _settings(target, home / "hooks.json", "hooks", entries, head=(("version", 1),)),
        _settings(target, home / "mcp.json", "MCP server", server),
        # Only projects have rules as files; those of a user are kept by the program.
        _skill(target, home / "skills")
        if target.is_user
        else _whole(target, rule, "rule", head + _template("AGENTS.md", target)),
    ]


def _openclaw(target: Target) -> list[HostFile]:
    home = target.place("OPENCLAW_STATE_DIR", "") if os.environ.get("OPENCLAW_STATE_DIR") else None
    home = home or target.place("OPENCLAW_HOME", "") / ".openclaw"
    named = os.environ.get("OPENCLAW_CONFIG_PATH", "")
    settings = Path(os.path.abspath(os.path.expanduser(named))) if named else home / "openclaw.json"
    plugin, hook = home / "extensions" / "mabos", home / "hooks" / "mabos"
    entries = (
        Entry(("plugins", "entries", "mabos"), {"enabled": True, "hooks": {"allowConversationAccess": True}}),
        Entry(("plugins", "allow"), "mabos", is_element=True, if_there=True),
        Entry(("hooks", "internal", "entries", "mabos"), {"enabled": True}),
        Entry(("mcp", "servers", "mabos"), _server(target)),
    )
    about = "Written by mabos connect"
    schema = {"type": "object", "additionalProperties": False}
    manifest = {"id": "mabos", "name": "mabos", "description": about, "activation": {"onStartup": True}}
    package = {"name": "mabos", "version": "1.0.0", "description": about, "type": "module", "private": True}
    scripts = {"sessions": json.dumps(str(home / "mabos"))}
    return [
        _settings(target, settings, "plugin, hooks, MCP server", entries, has_comments=True),
        _whole(target, plugin / "openclaw.plugin.json", "plugin", dump_document(manifest | {"configSchema": schema})),
        _whole(
            target,
            plugin / "package.json",
            "plugin",
            dump_document(package | {"openclaw": {"extensions": ["./index.js"]}}),
        ),
        _whole(target, plugin / "index.js", "plugin", _template("openclaw-plugin.js", target, **scripts)),
        _whole(target, hook / "HOOK.md", "hooks", _template("HOOK.md", target)),
        _whole(target, hook / "handler.js", "hooks", _template("openclaw-hook.js", target, **scripts)),
        _skill(target, home / "skills"),
    ]


def _opencode(target: Target) -> list[HostFile]:
    home = target.place("XDG_CONFIG_HOME", ".config") / "opencode" if target.is_user else target.folder / ".opencode"
    base = home if target.is_user else target.folder
    named = base / "opencode.jsonc"
    settings = named if named.exists() else base / "opencode.json"
    words = [*target.program, "mcp", *target.options]
    server = Entry(("mcp", "mabos"), {"type": "local", "command": words, "enabled": True})
    head = (("$schema", "https://opencode.ai/config.json"),)
    rules, section = base / "AGENTS.md", _template("AGENTS.md", target)
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    kept = json.dumps(os.path.join(data, "opencode", "mabos"))
    return [
        _settings(target, settings, "MCP server", (server,), head, has_comments=True),
        _whole(target, home / "plugins" / "mabos.js", "plugin", _template("opencode-plugin.js", target, sessions=kept)),
        HostFile(rules, _root(target, rules), "instructions", lambda text: put_section(text, section), drop_section),
    ]


_FILES = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "cursor": _cursor,
    "openclaw": _openclaw,
    "opencode": _opencode,
}


def _server(target: Target) -> dict[str, object]:
    """Returns how a host starts our MCP server."""
    return {"command": target.program[0], "args": [*target.program[1:], "mcp", *target.options]}


def _settings(
    target: Target,
    path: Path,
    about: str,
    entries: tuple[Entry, ...],
    head: tuple[tuple[str, object], ...] = (),
    has_comments: bool = False,
) -> HostFile:
    ours, shown = Settings(target.host, entries, head, has_comments), str(path)
    add, remove = partial(add_entries, settings=ours, shown=shown), partial(remove_entries, settings=ours, shown=shown)
    return HostFile(path, _root(target, path), about, add, remove)


def _table(target: Target, path: Path, about: str) -> HostFile:
    add = partial(add_table, name=_TABLE, values=_server(target), shown=str(path))
    return HostFile(path, _root(target, path), about, add, partial(remove_table, name=_TABLE, shown=str(path)))


def _skill(target: Target, folder: Path) -> HostFile:
    return _whole(target, folder / "mabos-memory" / "SKILL.md", "skill", _template("SKILL.md", target))


def _whole(target: Target, path: Path, about: str, text: str) -> HostFile:
    def add(old: str | None) -> str:
        if old is not None and not is_generated_skill(old):
            raise InvalidFile(
                f"{path} was not written by mabos, or was edited", "nothing was changed; move that file away"
            )
        return text

    return HostFile(
        path, _root(target, path), about, add, lambda old: None if is_generated_skill(old) else old, is_ours=True
    )


def _template(name: str, target: Target, **more: str) -> str:
    """Returns a template, filled in; scripts get the program and its options as arrays."""
    program, options = json.dumps(target.program), json.dumps(["--host", target.host, *target.options])
    text = read_text(template_file(name))
    if "{calls}" in text:
        text = text.replace("{calls}", read_text(template_file("plugin-calls.js")))
    for word, value in {"program": program, "arguments": options, **more}.items():
        text = text.replace(f"{{{word}}}", value)
    return fill_in(text, target.workspace, target.agent)


def _root(target: Target, path: Path) -> Path:
    """Returns the folder that a file must stay in: the project or home, or where a variable puts the settings."""
    return target.folder if path.is_relative_to(target.folder) else path.parent


def find_program() -> tuple[str, ...]:
    """Returns how this program is called from anywhere. A link stays a link: it outlives an upgrade."""
    found = which(sys.argv[0] if os.path.basename(sys.argv[0]) == "mabos" else "mabos")
    return (os.path.abspath(found),) if found else (os.path.abspath(sys.executable), "-P", "-m", "mabos_cli")


def make_skill(agent: Agent, format: str, output: str) -> tuple[str, bool | None]:
    """Returns a SKILL.md, or a section for AGENTS.md, about the use of memory, and writes it to the output.

    The second value says whether that changed the file; it is None if there is no output file.
    """
    check_choice(format, list(_TEMPLATES), "format")
    text = fill_in(read_text(template_file(_TEMPLATES[format])), os.fspath(agent.paths.workspace.root), agent.id)
    shown = text if format == "skill" else put_section(None, text)
    if not output:
        return shown, None
    target = find_target(output, "name a file")
    data = read_bytes(target)
    old = None if data is None else decode_text(data, output)
    if format == "skill" and not is_generated_skill(old or ""):
        raise UsageFault(f"{output} is not a skill written by mabos", "name another file, or remove that one")
    new = text if format == "skill" else put_section(old, text)
    if new != old:
        replace_file(target, new.encode("utf-8"), root=target.parent, expect=data, shared=True)
    return shown, new != old
