"""Creates workspaces and agents, describes them, and finds the settings in effect."""

from pathlib import Path
from typing import Any, NamedTuple

from mabos_cli.config import Settings
from mabos_cli.errors import MabosError, NotFound, UsageFault
from mabos_cli.services.session import Session
from mabos_cli.workspace.create import create_agent, create_workspace, shares_a_file
from mabos_cli.workspace.locate import check_agent_id, find_agent, list_agents, place_named
from mabos_cli.workspace.settings import load_settings
from mabos_cli.workspace.transaction import write_receipt


class Created(NamedTuple):
    """A workspace with its first agent: the files that were created, and the agents that it had before."""

    root: Path
    agent: str
    files: list[str]
    known: list[str]


def init_workspace(session: Session, folder: str, role: str) -> Created:
    """Creates a workspace with an agent; files that exist are left alone."""
    root = place_named(folder)
    if session.agent:
        check_agent_id(session.agent)
    workspace, files = create_workspace(root)
    known = list_agents(workspace)
    agent_id = session.agent or (known[0] if known else "main")
    if agent_id not in known:
        files += create_agent(workspace, agent_id, role)
    if files:
        write_receipt(session.agent_of(workspace.agent(agent_id)), "init", {"files": len(files)}, part="agent")
    return Created(root, agent_id, files, known)


def add_agent(session: Session, agent_id: str, role: str, name: str) -> list[str]:
    """Adds an agent to a workspace and returns the files that were created for it."""
    workspace = session.open_workspace()
    if agent_id in list_agents(workspace):
        raise UsageFault(f"agent {agent_id} exists already", f"mabos agent show {agent_id}")
    files = create_agent(workspace, agent_id, role, name)
    write_receipt(session.agent_of(workspace.agent(agent_id)), "agent create", {"files": len(files)}, part="agent")
    return files


def list_described(session: Session) -> tuple[list[dict[str, str]], list[str]]:
    """Returns id, name and role of every agent, and warnings about those that cannot be read."""
    workspace = session.open_workspace()
    rows, warnings = [], []
    for agent_id in list_agents(workspace):
        try:
            manifest = session.agent_of(workspace.agent(agent_id)).manifest()
        except MabosError as error:  # one damaged agent must not hide the others
            manifest = {}
            warnings.append(error.message)
        rows.append({"id": agent_id, "name": manifest.get("name", agent_id), "role": manifest.get("role", "")})
    return rows, warnings


def describe_agent(session: Session, agent_id: str) -> tuple[dict[str, Any], list[str]]:
    """Returns the manifest, the files and the number of memories of an agent, and warnings."""
    agent = session.agent_of(find_agent(session.open_workspace(), agent_id or session.agent))
    memory = agent.memory()
    files = {path.name: path.stat().st_size for path in sorted(agent.paths.root.iterdir()) if path.is_file()}
    counts = {"working": len(memory.working), "short_term": len(memory.short_term), "long_term": len(memory.long_term)}
    is_shared = shares_a_file(agent.paths)
    warnings = ["Memory.md and MEMORY.md are one file on this disk; only MEMORY.md is used"] if is_shared else []
    described = {"id": agent.id, "path": str(agent.paths.root), "manifest": agent.manifest(), "files": files}
    return described | {"memory": counts}, warnings


def effective_settings(session: Session) -> Settings:
    """Returns the settings of the agent, or of the workspace alone when no agent is named and there is not just one."""
    workspace = session.open_workspace()
    try:
        agent = find_agent(workspace, session.agent)
    except (NotFound, UsageFault):
        if session.agent:
            raise
        agent = None
    return load_settings(workspace, agent, {"lock.timeout": session.lock_timeout})
