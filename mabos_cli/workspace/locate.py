"""Finding the workspace and the agent that a call is about."""

import os
import re
from pathlib import Path

from mabos_cli.core import BadValue
from mabos_cli.errors import NotFound, UsageFault
from mabos_cli.workspace.files import list_names, resolve_inside
from mabos_cli.workspace.layout import AGENT_ID, LEGACY, AgentPaths, WorkspacePaths
from mabos_cli.workspace.plain_files import is_agent_folder, is_workspace, workspace_above


def place_named(named: str) -> Path:
    """The folder or file that a person means by a name; NotFound when that depends on a current folder that is gone."""
    try:
        return Path(os.path.abspath(os.path.expanduser(named)))
    except FileNotFoundError:
        raise NotFound(
            "the current folder is gone", "cd to one that exists, or name a workspace with --workspace"
        ) from None


def find_workspace(given: str | None) -> WorkspacePaths:
    """The workspace: as given, from MABOS_WORKSPACE, or the nearest parent that holds mabos.yaml."""
    named = given or os.environ.get("MABOS_WORKSPACE")
    if named:
        root = place_named(named)
        if not is_workspace(os.fspath(root)):
            raise NotFound(f"no workspace at {root}", f"make one: mabos init {named}")
        return WorkspacePaths(root)
    here = place_named(".")
    if found := workspace_above(os.fspath(here)):
        return WorkspacePaths(Path(found))
    raise NotFound(f"no workspace in {here} or above", "make one with mabos init, or name one with --workspace")


def check_agent_id(agent_id: str) -> str:
    """The id if it can be the name of a folder and nothing more."""
    if not re.fullmatch(AGENT_ID, agent_id) or ".." in agent_id:
        raise BadValue(f"bad agent id {agent_id[:60]!r}", "letters, digits, dot, dash and underscore; at most 64")
    return agent_id


def find_other_case(workspace: WorkspacePaths, agent_id: str) -> str:
    """Returns a name below agents/ that differs from an id only in case; empty when there is none. Many disks take both for one
    folder, and locks and journals would be shared as well."""
    folded = agent_id.casefold()
    return next((n for n in list_names(workspace.agents) if n != agent_id and n.casefold() == folded), "")


def is_agent(agent: AgentPaths) -> bool:
    """Whether a folder is an agent: it holds Persona.md or Beliefs.md."""
    return is_agent_folder(os.fspath(agent.root))


def list_agents(workspace: WorkspacePaths) -> list[str]:
    """The agents: folders of agents/ that hold Persona.md or Beliefs.md."""
    names = (name for name in list_names(workspace.agents) if re.fullmatch(AGENT_ID, name))
    return [name for name in names if is_agent(workspace.agent(name))]


def find_agent(workspace: WorkspacePaths, given: str | None) -> AgentPaths:
    """The agent: as given, from MABOS_AGENT, or the only one."""
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
    """Whether Memory.md and MEMORY.md are one file here."""
    legacy = agent.root / LEGACY
    return legacy.exists() and agent.memory_md.exists() and legacy.samefile(agent.memory_md)
