"""read: lines of a memory file."""

import os
import re
from typing import Annotated

import typer

from mabos_cli.commands.call import Call
from mabos_cli.core import BadValue
from mabos_cli.core.language.text import plural
from mabos_cli.errors import InvalidFile, NotFound
from mabos_cli.workspace.files import explained, read_text, resolve_inside
from mabos_cli.workspace.layout import DAY
from mabos_cli.workspace.memory.logs import where_log_is

app = typer.Typer()
_RANGE = re.compile(r"(.+?):(\d+)(?:-(\d*))?")


@app.command()
def read(
    ctx: typer.Context,
    place: Annotated[
        str, typer.Argument(metavar="PATH[:A-B]", help="A file below the agent's folder, as recall cites it.")
    ],
) -> None:
    """Print lines of a file of the agent.

    Example: mabos read memory/2026-02-24.md:3-9
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    name, first, last = _parse(place, agent.paths.root)
    path = agent.paths.root / name
    if os.path.isabs(name) or ".." in name.split("/") or "\0" in name:
        raise BadValue(
            f"{name!r} is not below the agent's folder", "give a path as recall prints it: memory/2026-02-24.md:3-9"
        )
    log = re.fullmatch(rf"memory/({DAY})\.md", name)
    if log and not path.exists():  # a daily log goes by its first name for ever
        path = where_log_is(agent.paths, log[1])
        name = agent.paths.relative(path)
    real = resolve_inside(path, agent.paths.workspace.root)
    with explained(path, "read"):
        is_folder, is_file = real.is_dir(), real.is_file()
    if is_folder:
        raise NotFound(f"{name} is a folder", "recall cites files in it, with lines")
    if not is_file:
        raise NotFound(
            f"no file {name} for agent {agent.id}", "recall cites paths; mabos agent show lists the main files"
        )
    if real.stat().st_size > 64 << 20:
        raise InvalidFile(f"{name} is larger than 64 MiB", "read it with another tool")
    lines = read_text(real, name).removesuffix("\n").split("\n")
    if first > len(lines):
        raise NotFound(f"{name} has {plural(len(lines), 'line')}, not {first}", f"mabos read {name}")
    chosen = lines[first - 1 : last or None]
    data = {"path": name, "lines": [first, first + len(chosen) - 1], "total": len(lines), "content": "\n".join(chosen)}
    call.emit("read", data, chosen)


def _parse(place: str, root: os.PathLike[str]) -> tuple[str, int, int]:
    """Path, first and last line (0: to the end). A colon may be part of a file's name."""
    match = _RANGE.fullmatch(place)
    if not match or os.path.exists(os.path.join(root, place)):
        return place, 1, 0
    first = int(match[2])
    last = int(match[3]) if match[3] else first if match[3] is None else 0
    if first < 1 or (last and last < first):
        raise BadValue(f"bad line range in {place!r}", "PATH:3, PATH:3-9 or PATH:3-")
    return match[1], first, last
