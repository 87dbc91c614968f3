"""New workspaces and agents, copied from workspace-template/. Whatever exists is left as it is."""

import os
from pathlib import Path
from typing import Any

from mabos_cli.core.language.text import one_line
from mabos_cli.errors import InvalidFile, UsageFault
from mabos_cli.formats.json.text import dump_document
from mabos_cli.workspace.files import Moved, make_folder, read_bytes, replace_file, resolve_inside
from mabos_cli.workspace.layout import TEMP_PREFIX, WorkspacePaths, template_folder
from mabos_cli.workspace.locate import check_agent_id, find_other_case

_AGENT_TEMPLATE = "agents/_agent"


def create_workspace(root: Path) -> tuple[WorkspacePaths, list[str]]:
    """The workspace at root and the files that had to be made for it."""
    if os.path.exists(root) and not root.is_dir():
        raise InvalidFile(f"{root} is a file", "name a folder")
    make_folder(root, 0o700)  # what an agent remembers is for nobody else; a folder that is there keeps its mode
    workspace = WorkspacePaths(root)
    made = _copy(template_folder(), root, root, skip=_AGENT_TEMPLATE)
    made += ensure_ignored(workspace)
    make_folder(workspace.agents)
    return workspace, made


def create_agent(workspace: WorkspacePaths, agent_id: str, role: str = "", name: str = "") -> list[str]:
    """The files that had to be made for an agent."""
    agent = workspace.agent(check_agent_id(agent_id))
    other = find_other_case(workspace, agent_id)
    if other:
        raise UsageFault(f"agent {agent_id} beside {other}: many disks take both for one folder", "choose another id")
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
    """What a file of the agent was when it was created; empty when it is not of the template."""
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
    """The lines that .gitignore lacks to keep derived and temporary files out of git."""
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
