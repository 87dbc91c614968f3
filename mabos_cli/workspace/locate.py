"""Finds the workspace and the agent that a call is about, or creates them from workspace-template/."""

import os
import re
from pathlib import Path
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.language.text import one_line
from mabos_cli.errors import InvalidFile, NotFound, UsageFault
from mabos_cli.formats.json.text import dump_document
from mabos_cli.workspace.files import Moved, list_names, make_folder, read_bytes, replace_file, resolve_inside
from mabos_cli.workspace.layout import AGENT_ID, LEGACY, TEMP_PREFIX, AgentPaths, WorkspacePaths, template_folder
from mabos_cli.workspace.plain_files import is_agent_folder, is_workspace, workspace_above


def place_named(named: str) -> Path:
    """Returns the folder or file that a person means by a name; NotFound when that depends on a current folder that is gone."""
    try:
        return Path(os.path.abspath(os.path.expanduser(named)))
    except FileNotFoundError:
        raise NotFound(
            "the current folder is gone", "cd to one that exists, or name a workspace with --workspace"
        ) from None


def find_workspace(given: str | None) -> WorkspacePaths:
    """Returns the workspace: as given, from MABOS_WORKSPACE, or the nearest parent that holds mabos.yaml."""
    named = given or os.environ.get("MABOS_WORKSPACE")
    if named:
        root = place_named(named)
        if not is_workspace(os.fspath(root)):
            if os.path.isdir(root) and not os.access(root, os.R_OK | os.X_OK):
                raise InvalidFile(f"cannot read {root}: Permission denied", "run as the user who owns it")
            raise NotFound(f"no workspace at {root}", f"make one: mabos init {named}")
        return WorkspacePaths(root)
    here = place_named(".")
    if found := workspace_above(os.fspath(here)):
        return WorkspacePaths(Path(found))
    raise NotFound(f"no workspace in {here} or above", "make one with mabos init, or name one with --workspace")


def check_agent_id(agent_id: str) -> str:
    """Returns the id if it can be the name of a folder and nothing more."""
    if not re.fullmatch(AGENT_ID, agent_id) or ".." in agent_id:
        raise BadValue(f"bad agent id {agent_id[:60]!r}", "letters, digits, dot, dash and underscore; at most 64")
    return agent_id


def find_other_case(workspace: WorkspacePaths, agent_id: str) -> str:
    """Returns a name below agents/ that differs from an id only in case; empty when there is none. Many disks take both for one
    folder, and locks and journals would be shared as well."""
    folded = agent_id.casefold()
    return next((n for n in list_names(workspace.agents) if n != agent_id and n.casefold() == folded), "")


def is_agent(agent: AgentPaths) -> bool:
    """Returns whether a folder is an agent: it holds Persona.md or Beliefs.md."""
    return is_agent_folder(os.fspath(agent.root))


def list_agents(workspace: WorkspacePaths) -> list[str]:
    """Returns the agents: folders of agents/ that hold Persona.md or Beliefs.md."""
    names = (name for name in list_names(workspace.agents) if compiled(AGENT_ID).fullmatch(name))
    return [name for name in names if is_agent(workspace.agent(name))]


def find_agent(workspace: WorkspacePaths, given: str | None) -> AgentPaths:
    """Returns the agent: as given, from MABOS_AGENT, or the only one."""
    named = given or os.environ.get("MABOS_AGENT")
    if not named:
        agents = list_agents(workspace)
        if len(agents) != 1:
            known = f"agents here: {', '.join(agents[:20])}" if agents else "make one: mabos agent create ID"
            raise (
                UsageFault("which agent? there are several", f"--agent ID or MABOS_AGENT; {known}")
                if agents
                else NotFound("this workspace has no agent", known)
            )
        named = agents[0]
    agent = workspace.agent(check_agent_id(named))
    if not is_agent(agent) or named not in list_names(workspace.agents):  # a disk may find a1 under the name A1
        known = ", ".join(list_agents(workspace)[:20]) or "none"
        raise NotFound(
            f"no agent {named!r} in {workspace.root}", f"agents here: {known}; or mabos agent create {named}"
        )
    resolve_inside(agent.root, workspace.root)
    return agent


def shares_a_file(agent: AgentPaths) -> bool:
    """Returns whether Memory.md and MEMORY.md are one file here."""
    legacy = agent.root / LEGACY
    return legacy.exists() and agent.memory_md.exists() and legacy.samefile(agent.memory_md)


_AGENT_TEMPLATE = "agents/_agent"


def create_workspace(root: Path) -> tuple[WorkspacePaths, list[str]]:
    """Returns the workspace at root and the files that had to be made for it."""
    if os.path.exists(root) and not root.is_dir():
        raise InvalidFile(f"{root} is a file", "name a folder")
    make_folder(root, 0o700)  # what an agent remembers is for nobody else; a folder that is there keeps its mode
    workspace = WorkspacePaths(root)
    made = _copy(template_folder(), root, root, skip=_AGENT_TEMPLATE)
    made += ensure_ignored(workspace)
    make_folder(workspace.agents)
    return workspace, made


def create_agent(workspace: WorkspacePaths, agent_id: str, role: str = "", name: str = "") -> list[str]:
    """Returns the files that had to be made for an agent."""
    agent = workspace.agent(check_agent_id(agent_id))
    other = find_other_case(workspace, agent_id)
    if other:
        raise UsageFault(
            f"the ids {agent_id} and {other} differ only in case, which many disks ignore", "choose another id"
        )
    make_folder(workspace.agents)
    resolve_inside(agent.root, workspace.root)
    manifest = {
        "id": agent_id,
        "name": one_line(name) or agent_id,
        "role": one_line(role) or "general assistant",
        "bdi": {"commitmentStrategy": "open-minded", "cycleFrequency": "30m"},
        "reasoningMethods": [],
    }
    made = _copy(template_folder() / _AGENT_TEMPLATE, agent.root, workspace.root, manifest=manifest)
    return made + _write_new(agent.manifest, dump_document(manifest), workspace.root)


def render_template(agent_id: str, manifest: dict[str, Any], name: str) -> str:
    """Returns what a file of the agent was when it was created; empty when it is not of the template."""
    source = template_folder() / _AGENT_TEMPLATE / name
    return _fill(source.read_text("utf-8"), {"id": agent_id, **manifest}) if source.is_file() else ""


def _fill(text: str, manifest: dict[str, Any]) -> str:
    for mark, key in (("{{agent}}", "id"), ("{{name}}", "name"), ("{{role}}", "role")):
        text = text.replace(mark, str(manifest.get(key, "")))
    return text


def _copy(
    source: Path, target: Path, root: Path, *, skip: str = "", manifest: dict[str, Any] | None = None
) -> list[str]:
    made = []
    for here, folders, names in os.walk(source):
        folders.sort()
        relative = Path(here).relative_to(source)
        if skip and relative.as_posix() == skip:
            folders.clear()
            continue
        for name in sorted(names):
            text = (Path(here) / name).read_text("utf-8")
            made += _write_new(target / relative / name, _fill(text, manifest) if manifest else text, root)
    return made


def _write_new(path: Path, text: str, root: Path) -> list[str]:
    """Writes a file unless there is one. On disks that ignore case, Memory.md and MEMORY.md are one file: MEMORY.md stays."""
    if os.path.lexists(path):
        return []
    try:
        replace_file(path, text.encode("utf-8"), root=root, expect=None)
    except Moved:
        return []
    return [path.relative_to(root).as_posix()]


def missing_rules(workspace: WorkspacePaths) -> list[str]:
    """Returns the lines that .gitignore lacks to keep derived and temporary files out of git."""
    lines = (read_bytes(workspace.gitignore) or b"").decode("utf-8", "replace").split("\n")
    return [rule for rule in (".mabos/", f"{TEMP_PREFIX}*") if rule not in lines]


def ensure_ignored(workspace: WorkspacePaths) -> list[str]:
    """Adds what .gitignore lacks, behind what people wrote there."""
    missing = missing_rules(workspace)
    if not missing:
        return []
    old = read_bytes(workspace.gitignore)
    gap = b"" if not old or old.endswith(b"\n") else b"\n"
    data = (old or b"") + gap + "".join(f"{rule}\n" for rule in missing).encode()
    replace_file(workspace.gitignore, data, root=workspace.root, expect=old, shared=True)
    return [".gitignore"]
