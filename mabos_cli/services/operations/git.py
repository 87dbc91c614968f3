"""Commits what a command wrote, and installs the merge driver.

Git's trouble with a commit is never the command's: it becomes a warning, and the command is done.
"""

import os
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from mabos_cli.core.memory.stores import locate
from mabos_cli.core.operations.review import Wrote, render_commit
from mabos_cli.errors import Conflict, MabosError
from mabos_cli.formats.operations.git_merge import DRIVER, add_rules, remove_rules
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import read_bytes, read_text, remove_file, replace_file
from mabos_cli.workspace.git import Repository, changed_paths, commit_paths, open_repository
from mabos_cli.workspace.knowledge.facts import load_facts
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.lock import locked
from mabos_cli.workspace.plain_files import LOCAL, workspace_above
from mabos_cli.workspace.transaction import last_runs

_COMMAND = "git merge %O %A %B %P"
# Where mabos is not found, git merges the text and marks what conflicts: our side alone must not pass for a merge.
DRIVER_COMMAND = f"command -v mabos >/dev/null || exec git merge-file %A %O %B; exec mabos {_COMMAND}"
_CONFIG = {"name": "what an agent knows, by ids and entries", "driver": DRIVER_COMMAND}


def commit_written(
    command: str, opened: Sequence[Agent], written: Collection[Path], answer: str = ""
) -> tuple[str, list[str]]:
    """Commits the files that a command wrote in the workspace, and no others.

    Returns the short name of the commit, empty when there is none, and warnings. The message says what was written, or what
    the command answered.
    """
    paths = _workspace_files(opened, written)
    if not paths:
        return "", []
    try:
        with _one_at_a_time(opened):
            message = _message(command.replace(".", " "), opened, answer)
            return _commit(paths, message), []
    except MabosError as error:
        return "", [f"not committed: {error.message}"]


def _workspace_files(opened: Sequence[Agent], written: Collection[Path]) -> list[Path]:
    """Returns the files of the workspace among those written, links on the way followed.

    What a command puts elsewhere for a person, such as a page or the settings of a host, may be in a repository that is not
    ours to commit to.
    """
    whole = sorted(Path(os.path.realpath(path.parent), path.name) for path in written)
    known = {os.path.realpath(agent.paths.workspace.root) for agent in opened}
    found = []
    for path in whole:
        roots = known or {workspace_above(os.fspath(path.parent))}
        root = next((each for each in roots if each and path.is_relative_to(each)), "")
        if root and path.relative_to(root).parts[0] != LOCAL:
            found.append(path)
    return found


def _one_at_a_time(opened: Sequence[Agent]) -> AbstractContextManager[Any]:
    """Waits for other commits of ours; git itself gives up at once."""
    if not opened:
        return nullcontext()
    workspace, timeout = opened[0].paths.workspace, opened[0].settings["lock.timeout"]
    return locked(workspace.git_lock, workspace.root, timeout, "mabos --commit")


def _commit(paths: list[Path], message: str) -> str:
    common = Path(os.path.commonpath([path.parent for path in paths]))
    while not common.is_dir():  # the last file of a folder may be gone, and the folder with it
        common = common.parent
    repository = open_repository(common)
    changed = changed_paths(repository, [common])
    ours = [name for name in map(repository.inside, paths) if name in changed]
    if not ours:
        return ""
    staged = next((name for name in ours if changed[name][0] not in " ?"), "")
    if staged:  # a commit takes a file whole, and would take what somebody put by for another one
        raise Conflict(f"somebody staged changes of {staged}; commit or unstage them first")
    new = [name for name in ours if changed[name] == "??"]
    return commit_paths(repository, ours, new, message)


def _message(command: str, opened: Sequence[Agent], answer: str) -> str:
    wrote, about = [], ""
    agents = [agent for agent in opened if agent.changes] or list(opened)
    for agent in agents:
        runs = last_runs(agent) if agent.changes else {}
        for change in agent.changes or ():
            wrote.append(Wrote(change.command, change.ids, runs.get(change.command, {}).get("counts")))
            about = about or (_text_of(agent, change.ids[0]) if change.ids else "")
    return render_commit(command, list(dict.fromkeys(agent.id for agent in agents)), about, wrote, answer)


def _text_of(agent: Agent, record_id: str) -> str:
    """Returns the text of a memory or a fact; empty for anything else."""
    if record_id.startswith("F-"):
        fact = load_facts(agent).find(record_id)
        return " ".join(fact.triple) if fact else ""
    found = locate(agent.memory(), record_id) if record_id.startswith("M-") else None
    return found[1].content if found else ""


def install_driver(workspace: WorkspacePaths, *, uninstall: bool, dry_run: bool) -> list[str]:
    """Registers the merge driver in this clone and in .gitattributes, or takes it out; returns what had to change."""
    repository = open_repository(workspace.root)
    return [*_change_config(repository, uninstall, dry_run), *_change_rules(workspace, uninstall, dry_run)]


def _change_config(repository: Repository, uninstall: bool, dry_run: bool) -> list[str]:
    """Brings the repository's configuration up to date. A driver that calls mabos in another way is left as it is."""
    known = repository.read_config(f"merge.{DRIVER}.driver", own=uninstall)
    if known.endswith(_COMMAND) != uninstall:
        return []
    if not dry_run and uninstall:
        repository.run("config", "--local", "--remove-section", f"merge.{DRIVER}")
    elif not dry_run:
        for name, value in _CONFIG.items():
            repository.run("config", "--local", f"merge.{DRIVER}.{name}", value)
    return [f"merge.{DRIVER} in the repository's configuration"]


def _change_rules(workspace: WorkspacePaths, uninstall: bool, dry_run: bool) -> list[str]:
    """Brings .gitattributes up to date. What people wrote there stays."""
    path = workspace.gitattributes
    old, text = read_bytes(path), read_text(path, path.name)
    new = remove_rules(text) if uninstall else add_rules(text)
    if new == text:
        return []
    if not dry_run and new:
        replace_file(path, new.encode("utf-8"), root=workspace.root, expect=old, shared=True)
    elif not dry_run:
        remove_file(path, root=workspace.root)
    return [path.name]
