"""Creates and describes workspaces and agents, finds the settings in effect, and prepares the tour."""

import os
from collections.abc import Iterator
from contextlib import chdir, contextmanager, nullcontext
from pathlib import Path
from shutil import which
from typing import Any, NamedTuple

from mabos_cli.config import BY_NAME, Settings, layer
from mabos_cli.errors import MabosError, NotFound, UsageFault
from mabos_cli.services.inputs import Session, refuse_secrets
from mabos_cli.workspace import settings
from mabos_cli.workspace.files import list_names, make_folder, read_text, replace_file, temporary_folder
from mabos_cli.workspace.git import GitFailed, ask_git
from mabos_cli.workspace.layout import WorkspacePaths, shipped_folder, template_file
from mabos_cli.workspace.locate import (
    check_agent_id,
    create_agent,
    create_workspace,
    find_agent,
    list_agents,
    place_named,
    shares_a_file,
)
from mabos_cli.workspace.settings import find_risky_settings, load_settings
from mabos_cli.workspace.transaction import write_receipt

SHELLS = ("bash", "zsh", "fish")
_NOW = "2026-02-24T15:00:00Z"  # the day on which the sample data ends
_SAMPLES = ("memories.ndjson", "deal.yaml")
# Git without configuration, and an author for commits.
_GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "demo",
    "GIT_AUTHOR_EMAIL": "demo@example.invalid",
    "GIT_COMMITTER_NAME": "demo",
    "GIT_COMMITTER_EMAIL": "demo@example.invalid",
}


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
    refuse_secrets(layer([]), role=role)
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
    refuse_secrets(load_settings(workspace, None, {}), role=role, name=name)
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


class Chapter(NamedTuple):
    """A part of the tour: a text, and the commands that show it, as they are typed."""

    about: str
    commands: tuple[str, ...]

    @property
    def needs_git(self) -> bool:
        return any(command.startswith("git ") for command in self.commands)


def load_tour() -> list[Chapter]:
    """Returns the chapters of the tour; those that need git only where it is installed."""
    chapters = parse_tour(read_text(shipped_folder("demo") / "tour.txt"))
    return chapters if which("git") else [chapter for chapter in chapters if not chapter.needs_git]


def run_git(root: Path, words: list[str]) -> list[str]:
    """Runs git in the folder of the tour and returns the lines that it prints."""
    answer = ask_git(root, *words)
    if answer.code:
        raise GitFailed(f"git {words[0]}: {answer.reason}")
    return answer.out.decode("utf-8", "replace").splitlines()


@contextmanager
def open_sandbox(folder: str) -> Iterator[Path]:
    """Makes the folder of the tour the current one; without a name, it is temporary and removed at the end."""
    place_named(".")  # fails early if the current folder is gone, because chdir could not return to it
    with nullcontext(_new_folder(folder)) if folder else temporary_folder("mabos-demo-") as place:
        root = place if folder else place / "harbourline"
        make_folder(root)
        for name in _SAMPLES:
            replace_file(root / name, (shipped_folder("demo") / name).read_bytes(), root=root, expect=None)
        with chdir(root), _clean_environment():
            yield root


def _new_folder(named: str) -> Path:
    root = place_named(named)
    if os.path.exists(root) and (not root.is_dir() or list_names(root)):
        raise UsageFault(f"{root} exists already", "name a folder that is empty or does not exist")
    return root


@contextmanager
def _clean_environment() -> Iterator[None]:
    """Removes settings of mabos and git from the environment, and fixes the time."""
    before = dict(os.environ)
    for name in before:
        if name.startswith(("MABOS_", "GIT_")):
            del os.environ[name]
    os.environ.update(_GIT, MABOS_NOW=_NOW)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def parse_tour(text: str) -> list[Chapter]:
    r"""Parses the chapters of a tour. A command goes on in the next line behind a backslash.

    >>> parse_tour("Look.\n$ mabos status\n$ mabos store x \\\n    --tag y\n")
    [Chapter(about='Look.', commands=('mabos status', 'mabos store x \\\n    --tag y'))]
    """
    parts = (f"\n{part}".split("\n$ ") for part in text.strip("\n").split("\n\n"))
    return [Chapter(about.strip("\n"), tuple(commands)) for about, *commands in parts]


class RiskySetting(NamedTuple):
    """A setting that needs permission: where it is, what it can do, and whether it was allowed."""

    file: str
    name: str
    value: Any
    risk: str
    allowed: bool


def list_risky(workspace: WorkspacePaths) -> list[RiskySetting]:
    """Returns every setting of the workspace and its agents that needs permission."""
    rows = []
    for file, values in _find_risky(workspace).items():
        allowed = settings.is_allowed(workspace, file, values)
        rows += [RiskySetting(file, name, value, BY_NAME[name].risk, allowed) for name, value in values.items()]
    return rows


def allow_settings(workspace: WorkspacePaths) -> list[RiskySetting]:
    """Allows all risky settings with their present values, and returns them."""
    found = _find_risky(workspace)
    if found:
        settings.allow_settings(workspace, found)
    return list_risky(workspace)


def deny_settings(workspace: WorkspacePaths) -> tuple[bool, list[RiskySetting]]:
    """Withdraws permissions; returns whether there were any, and the settings that are ignored from now on."""
    return settings.withdraw_permission(workspace), list_risky(workspace)


def _find_risky(workspace: WorkspacePaths) -> dict[str, dict[str, Any]]:
    return find_risky_settings(workspace, (workspace.agent(name) for name in list_agents(workspace)))


def completion_script(shell: str) -> str:
    """Returns the completion script of a shell."""
    return read_text(template_file(f"completion.{shell}"))
