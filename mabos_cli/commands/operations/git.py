"""git: registers the merge driver, and merges what two branches remember."""

from pathlib import Path
from shutil import which
from typing import Annotated

from mabos_cli.commands.call import Commands, Context
from mabos_cli.commands.options import Argument, DryRun, Option
from mabos_cli.core.language.text import one_line
from mabos_cli.services.operations.git import DRIVER_COMMAND, install_driver
from mabos_cli.services.operations.merging import merge_versions

app = Commands("git", "Merge what two branches remember, by git itself.")
_VERBS = {(False, False): "wrote", (False, True): "would write", (True, False): "removed", (True, True): "would remove"}


@app.command()
def install(
    ctx: Context,
    uninstall: Annotated[bool, Option("--uninstall", help="Take it out again.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Register the merge driver in this clone, and say in .gitattributes what it merges.

    Each clone registers for itself; .gitattributes is committed. Without a driver git merges these files as text.

    Example: mabos git install
    """
    changed = install_driver(ctx.obj.open_workspace(), uninstall=uninstall, dry_run=dry_run)
    lines = [f"{_VERBS[uninstall, dry_run]} {what}" for what in changed]
    if not changed:
        lines = ["the merge driver is not installed" if uninstall else "the merge driver is installed"]
    elif not (dry_run or uninstall):
        lines.append("commit .gitattributes; every other clone needs mabos git install once")
    warnings = [] if uninstall or which("mabos") else ["mabos is not on PATH: git will merge as text"]
    data = {"installed": not uninstall, "changed": changed, "dry_run": dry_run, "driver": DRIVER_COMMAND}
    ctx.obj.emit("git.install", data, lines, warnings)


@app.command()
def merge(
    ctx: Context,
    base: Annotated[Path, Argument(metavar="BASE", help="The file before.")],
    ours: Annotated[Path, Argument(metavar="OURS", help="Our version; the merged one replaces it.")],
    theirs: Annotated[Path, Argument(metavar="THEIRS", help="Their version.")],
    path: Annotated[str, Argument(metavar="PATH", help="Where the file belongs; tells its kind.")],
) -> None:
    """Merge three versions of a file by what they hold. Git calls this.

    Nothing is lost: texts that contradict each other stay, each under an id. What cannot be read is left to a person.

    Example: mabos git merge base.json ours.json theirs.json agents/cfo/memory-store.json
    """
    kind, notes = merge_versions(base, ours, theirs, path)
    data = {"path": path, "kind": kind, "notes": notes}
    ctx.obj.emit("git.merge", data, [f"{one_line(path)}: {note}" for note in notes])
