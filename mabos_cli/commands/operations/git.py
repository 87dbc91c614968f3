"""git: what two branches remember, put together by git itself."""

from pathlib import Path
from shutil import which
from typing import Annotated

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.commands.options import DryRun
from mabos_cli.core.language.text import one_line
from mabos_cli.errors import Conflict, NotFound
from mabos_cli.formats.operations.git_merge import DRIVER, add_rules, kind_of, merge_file, remove_rules
from mabos_cli.workspace.files import read_bytes, read_text, remove_file, replace_file
from mabos_cli.workspace.git import Repository, ask_git, open_repository
from mabos_cli.workspace.layout import WorkspacePaths

app = new_group("git", "Merge what two branches remember, by git itself.", no_args_is_help=True)
_COMMAND = "git merge %O %A %B %P"
# Where mabos is not found, git merges the text and marks what conflicts: our side alone must not pass for a merge.
_DRIVER = f"command -v mabos >/dev/null || exec git merge-file %A %O %B; exec mabos {_COMMAND}"
_CONFIG = {"name": "memories, facts, rules and cases by their ids", "driver": _DRIVER}


@app.command()
def install(
    ctx: typer.Context,
    uninstall: Annotated[bool, typer.Option("--uninstall", help="Take it out again.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Register the merge driver in this clone, and say in .gitattributes what it merges.

    Each clone registers for itself; .gitattributes is committed. Without a driver git merges these files as text.

    Example: mabos git install
    """
    call: Call = ctx.obj
    workspace = call.open_workspace()
    repository = open_repository(workspace.root)
    changed = [*_change_config(repository, uninstall, dry_run), *_change_rules(workspace, uninstall, dry_run)]
    verb = {
        (False, False): "wrote",
        (False, True): "would write",
        (True, False): "removed",
        (True, True): "would remove",
    }
    lines = [f"{verb[uninstall, dry_run]} {what}" for what in changed]
    if not changed:
        lines = ["the merge driver is not installed" if uninstall else "the merge driver is installed"]
    elif not (dry_run or uninstall):
        lines.append("commit .gitattributes; every other clone needs mabos git install once")
    warnings = [] if uninstall or which("mabos") else ["mabos is not on PATH: git will merge as text"]
    data = {"installed": not uninstall, "changed": changed, "dry_run": dry_run, "driver": _DRIVER}
    call.emit("git.install", data, lines, warnings)


def _change_config(repository: Repository, uninstall: bool, dry_run: bool) -> list[str]:
    """Brings the repository's own configuration up to date: what had to change. Another way to call mabos is left as it is."""
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
    """Brings .gitattributes up to date: its name if it had to change. What people wrote there stays."""
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


@app.command()
def merge(
    ctx: typer.Context,
    base: Annotated[Path, typer.Argument(metavar="BASE", help="The file before.")],
    ours: Annotated[Path, typer.Argument(metavar="OURS", help="Our version; the merged one replaces it.")],
    theirs: Annotated[Path, typer.Argument(metavar="THEIRS", help="Their version.")],
    path: Annotated[str, typer.Argument(metavar="PATH", help="Where the file belongs; tells its kind.")],
) -> None:
    """Merge three versions of a file by what they hold. Git calls this.

    Nothing is lost: texts that contradict each other stay, each under an id. What cannot be read is left to a person.

    Example: mabos git merge base.json ours.json theirs.json agents/cfo/memory-store.json
    """
    call: Call = ctx.obj
    sides = (_load(base), _load(ours), _load(theirs))
    merged = merge_file(kind_of(path), path, sides)
    if merged is None:
        _merge_text(base, ours, theirs, path)
    elif merged.data != sides[1]:
        replace_file(ours, merged.data, root=ours.absolute().parent, expect=sides[1])
    notes = list(merged.notes) if merged else []
    data = {"path": path, "kind": kind_of(path) or "text", "notes": notes}
    call.emit("git.merge", data, [f"{one_line(path)}: {note}" for note in notes])


def _load(path: Path) -> bytes:
    data = read_bytes(path)
    if data is None:
        raise NotFound(f"no file {path}", "git calls this with three files; see mabos git install")
    return data


def _merge_text(base: Path, ours: Path, theirs: Path, path: str) -> None:
    """Merges text as git does, with marks where the sides contradict each other."""
    files = [str(each.absolute()) for each in (ours, base, theirs)]
    answer = ask_git(Path.cwd(), "merge-file", "-L", "ours", "-L", "base", "-L", "theirs", *files)
    if answer.code:
        raise Conflict(f"{path}: both sides changed the same lines", "settle them by hand, then git add it")
