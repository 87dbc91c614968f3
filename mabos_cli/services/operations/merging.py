"""Merges three versions of a file for git, together with the files around it; installs the merge driver; commits what a command wrote.

Derived files are rebuilt from the merged data in a temporary folder, because git has not written anything yet. A failed commit becomes
a warning.
"""

import os
import re
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any

from mabos_cli.core.memory.stores import locate
from mabos_cli.core.operations.review import Wrote, render_commit
from mabos_cli.errors import Conflict, MabosError, NotFound
from mabos_cli.formats.json.text import check_format, dump_document, parse_json
from mabos_cli.formats.markdown.escape import is_untouched
from mabos_cli.formats.mind.attitudes import KINDS
from mabos_cli.formats.operations.git_merge import DRIVER, add_rules, kind_of, merge_file, remove_rules
from mabos_cli.formats.operations.merge_minds import NO_RENAMES, find_renames
from mabos_cli.formats.operations.merge_records import Merged, Renames, find_item_renames
from mabos_cli.services.inputs import Session
from mabos_cli.services.memory.upkeep import rebuild_derived
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import read_bytes, read_text, remove_file, replace_file, temporary_folder
from mabos_cli.workspace.git import Repository, ask_git, changed_paths, commit_paths, open_repository
from mabos_cli.workspace.knowledge.facts import load_facts
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.lock import locked
from mabos_cli.workspace.merging import Merge, Versions, find_merge, pages_after_merge
from mabos_cli.workspace.plain_files import LOCAL, workspace_above
from mabos_cli.workspace.transaction import last_runs

_COMMAND = "git merge %O %A %B %P"
# Without mabos on the PATH, git merges the text and marks conflicts: our side alone must not count as the merge.
DRIVER_COMMAND = f"command -v mabos >/dev/null || exec git merge-file %A %O %B; exec mabos {_COMMAND}"
_CONFIG = {"name": "what an agent knows, by ids and entries", "driver": DRIVER_COMMAND}


def commit_written(
    command: str, opened: Sequence[Agent], written: Collection[Path], answer: str = ""
) -> tuple[str, list[str]]:
    """Commits the files that a command wrote in the workspace, and no others.

    Returns the short name of the commit, empty if there is none, and warnings. Its message says what was written, or quotes the
    answer of the command.
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

    Files that a command writes elsewhere, such as a report or the settings of a host, may be in a repository that must not be
    touched.
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
    """Holds a lock for our commits: git itself gives up at once if another one runs."""
    if not opened:
        return nullcontext()
    workspace, timeout = opened[0].paths.workspace, opened[0].settings["lock.timeout"]
    return locked(workspace.git_lock, workspace.root, timeout, "mabos --commit")


def _commit(paths: list[Path], message: str) -> str:
    common = Path(os.path.commonpath([path.parent for path in paths]))
    while not common.is_dir():  # the folder may have gone with its last file
        common = common.parent
    repository = open_repository(common)
    changed = changed_paths(repository, [common])
    ours = [name for name in map(repository.inside, paths) if name in changed]
    if not ours:
        return ""
    staged = next((name for name in ours if changed[name][0] not in " ?"), "")
    if staged:  # a commit takes whole files, and would include what somebody staged for another commit
        raise Conflict(f"{staged} has staged changes; commit or unstage them first")
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
    """Registers the merge driver in this clone and in .gitattributes, or removes it; returns what changed."""
    repository = open_repository(workspace.root)
    return [*_change_config(repository, uninstall, dry_run), *_change_rules(workspace, uninstall, dry_run)]


def _change_config(repository: Repository, uninstall: bool, dry_run: bool) -> list[str]:
    """Updates the configuration of the repository. A driver that calls mabos in another way stays as it is."""
    known = repository.read_config(f"merge.{DRIVER}.driver", local_only=uninstall)
    if known.endswith(_COMMAND) != uninstall:
        return []
    if not dry_run and uninstall:
        repository.run("config", "--local", "--remove-section", f"merge.{DRIVER}")
    elif not dry_run:
        for name, value in _CONFIG.items():
            repository.run("config", "--local", f"merge.{DRIVER}.{name}", value)
    return [f"merge.{DRIVER} in the repository's configuration"]


def _change_rules(workspace: WorkspacePaths, uninstall: bool, dry_run: bool) -> list[str]:
    """Updates .gitattributes; other lines stay."""
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


# The kinds whose ids other files refer to, and the kinds of those files.
_LINKED = ("belief", "desire", "goal", "intention", "plan")
_FOLLOWING = ("mind", "cases")
# The sources of derived files.
_SOURCES = ("store", "page", "facts", "fact page", "cases", "mind")
_REBUILT = re.compile(r"memory/(?:INDEX\.md|observations\.md|domains/|mabos-)")
_NEEDLESS = re.compile(r"observations/|memory/(?:weekly/|monthly/|quarterly/|archive/|checkpoints/|\d{4}-)")
_HOME = re.compile(r"((?:.*/)?)agents/([^/]+)/")
_PARAGRAPHS = re.compile(rb"(?m)^(?=## |- )")  # entries of a log, items of MEMORY.md
_ITEM_ID = re.compile(rb"\bM-\d+-[0-9a-f]{4}\b")


def merge_versions(base: Path, ours: Path, theirs: Path, path: str) -> tuple[str, list[str]]:
    """Merges three versions of a file into ours; returns the kind of the file, and notes about the merge."""
    versions = (_load(base), _load(ours), _load(theirs))
    for version in versions:
        check_format(Path(path), version)
    kind, home = kind_of(path), _HOME.match(path)
    merge = find_merge(path, versions) if home and kind in (*_SOURCES, "derived", "log") else None
    renames = _find_renames(merge, home[0], path, versions) if merge and home else NO_RENAMES
    merged = merge_file(kind, path, versions, renames)
    if home and kind in (*_SOURCES, "derived"):
        pages = _rebuild_pages(merge, home[1], home[2])
        if kind == "derived" and path in pages and all(map(is_untouched, versions[1:])):
            merged = Merged(pages[path].encode("utf-8"))
    if merged is None:
        _merge_text(base, ours, theirs, path)
        return kind or "text", []
    if merged.data != versions[1]:
        replace_file(ours, merged.data, root=ours.absolute().parent, expect=versions[1])
    return kind, list(merged.notes)


def _load(path: Path) -> bytes:
    data = read_bytes(path)
    if data is None:
        raise NotFound(f"no file {path}", "git calls this with three files; see mabos git install")
    return data


def _merge_text(base: Path, ours: Path, theirs: Path, path: str) -> None:
    """Merges text as git does, with conflict markers where both sides changed the same lines."""
    files = [str(each.absolute()) for each in (ours, base, theirs)]
    answer = ask_git(Path.cwd(), "merge-file", "-L", "ours", "-L", "base", "-L", "theirs", *files)
    if answer.code:
        raise Conflict(f"{path}: both sides changed the same lines", "edit the file, then git add it")


def _find_renames(merge: Merge, folder: str, path: str, versions: Versions) -> Renames:
    """Returns the ids that are changed in other files, if this one may refer to them."""
    found: Renames = ({}, {}, {})
    kind = kind_of(path)
    names = [name for name in _LINKED if f"{folder}{KINDS[name].file}" != path] if kind in _FOLLOWING else []
    for name, texts in zip(names, merge.versions([f"{folder}{KINDS[name].file}" for name in names]), strict=True):
        decoded = [text.decode("utf-8", "surrogateescape") for text in texts]
        for side, renames in zip(found, find_renames(name, decoded), strict=True):
            side.update(renames)
    if kind in ("log", "mind") and _share_new_items(versions):
        place = f"{folder}memory-store.json"
        for side, renames in zip(found, find_item_renames(place, merge.versions([place])[0]), strict=True):
            side.update(renames)
    return found


def _share_new_items(versions: Versions) -> bool:
    """Returns whether both sides added text with the same id of a memory: it may stand for two memories."""
    base, ours, theirs = ({*_PARAGRAPHS.split(data)} for data in versions)
    new = [{found for part in side - base for found in _ITEM_ID.findall(part)} for side in (ours, theirs)]
    return bool(new[0] & new[1])


def _rebuild_pages(merge: Merge | None, above: str, agent: str) -> dict[str, str]:
    """Returns the derived files of an agent after the merge, by path; none if the merge is not known.

    They are saved for the next call during this merge. As long as that file exists, doctor rebuilds the files that git merged itself.
    """
    workspace = WorkspacePaths(Path.cwd() / above)
    kept = pages_after_merge(workspace.agent(agent))
    if not workspace.agent(agent).root.is_dir():
        return {}
    key, known = list(merge.commits) if merge else [], read_bytes(kept)
    if known and key:
        with suppress(MabosError, LookupError, TypeError):  # a damaged one is made again
            found = parse_json(known, kept.name)
            if found["commits"] == key:
                return {str(name): str(text) for name, text in found["pages"].items()}
    pages: dict[str, str] = {}
    if merge:
        try:
            pages = _rebuild(merge, above, agent)
        except (MabosError, OSError):  # derived files can wait: their sources are merged
            pages = {}
    data = dump_document({"commits": key, "pages": pages}).encode("utf-8")
    if known != data:
        replace_file(kept, data, root=workspace.root, expect=known)
    return pages


def _rebuild(merge: Merge, above: str, agent: str) -> dict[str, str]:
    """Merges all files of an agent in a temporary folder, and rebuilds the derived ones there."""
    folder = f"{above}agents/{agent}/"
    blobs = {path: three for path, three in merge.blobs(folder).items() if not _NEEDLESS.match(path[len(folder) :])}
    blobs |= merge.blobs(f"{above}mabos.yaml")
    contents = merge.load(name for three in blobs.values() for name in three)
    with temporary_folder("mabos-merge-") as place:
        for path, three in blobs.items():
            data = _chosen(merge, folder, path, (contents[three[0]], contents[three[1]], contents[three[2]]))
            if data:
                replace_file(place / path.removeprefix(above), data, root=place, expect=None)
        home = Session(str(place), agent).open_agent(fallback=True)
        rebuild_derived(home)
        found = sorted(home.paths.root.glob("memory/**/*.md"))
        names = {file: file.relative_to(home.paths.root).as_posix() for file in found}
        return {
            f"{folder}{name}": (read_bytes(file) or b"").decode("utf-8")
            for file, name in names.items()
            if _REBUILT.match(name)
        }


def _chosen(merge: Merge, folder: str, path: str, versions: Versions) -> bytes:
    """Returns the merged contents of a file."""
    base, ours, theirs = versions
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    kind = kind_of(path)
    if kind == "union":
        known = {*ours.split(b"\n")}
        return ours + b"".join(line + b"\n" for line in theirs.split(b"\n") if line not in known)
    if not ours or not theirs:
        return ours or theirs
    merged = merge_file(kind, path, versions, _find_renames(merge, folder, path, versions))
    return merged.data if merged else ours
