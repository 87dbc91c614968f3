"""report: one page that shows what agents remember, hold true and are after."""

import os
from pathlib import Path
from typing import Annotated

import typer

from mabos_cli.commands.call import Call
from mabos_cli.core.language.text import plural
from mabos_cli.errors import UsageFault
from mabos_cli.formats.operations.report_html import is_own_page, render_page
from mabos_cli.services.operations.report import Gathering
from mabos_cli.workspace.files import read_bytes, read_text, replace_file
from mabos_cli.workspace.locate import find_agent, list_agents
from mabos_cli.workspace.runtime import now

app = typer.Typer()
_STYLE = Path(__file__).resolve().parents[2] / "templates" / "report.css"


@app.command()
def report(
    ctx: typer.Context,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where the page goes; - prints it.")
    ] = "report.html",
    every: Annotated[bool, typer.Option("--all", help="All agents, even if MABOS_AGENT names one.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is no report of ours.")] = False,
) -> None:
    """Write a page of HTML that shows memory, mind and facts of one agent or of all.

    The page needs nothing else: no network, no script. Without --agent it is about all agents of the workspace.

    Example: mabos report -o report.html
    """
    call: Call = ctx.obj
    call.check_all(every)
    workspace = call.open_workspace()
    named = call.agent or ("" if every else os.environ.get("MABOS_AGENT"))
    names = [find_agent(workspace, named).id] if named else list_agents(workspace)
    target, old = (None, None) if output == "-" else _check_target(output, force)
    gathering = Gathering(call, workspace, names, now())
    found = gathering.report(named or workspace.root.name or "workspace")
    page = render_page(found, read_text(_STYLE))
    data = {"path": output if target else None, "agents": names, "bytes": len(page.encode("utf-8"))}
    if target is None:
        return call.emit("report", data | {"html": page}, page.rstrip("\n").split("\n"), found.troubles.rows)
    data["written"] = page.encode("utf-8") != old
    if data["written"]:
        replace_file(target, page.encode("utf-8"), root=target.parent, expect=old)
    told = f"{'wrote' if data['written'] else 'nothing new in'} {output}: {plural(len(names), 'agent')}"
    call.emit("report", data, [told], found.troubles.rows)


def _check_target(output: str, force: bool) -> tuple[Path, bytes | None]:
    """The place of the page, links followed, and what is there; UsageFault when that must not be replaced."""
    target = Path(os.path.realpath(os.path.expanduser(output)))
    if target.exists() and not target.is_file():
        raise UsageFault(f"{output or 'an empty name'} is no plain file", "name a file, or - for standard output")
    if not target.parent.is_dir():
        raise UsageFault(f"there is no folder {os.path.dirname(output)}", "make it, or name another place")
    old = read_bytes(target)
    if not (force or is_own_page((old or b"").decode("utf-8", "replace"))):
        raise UsageFault(f"{output} is no report as mabos wrote it", "name another file, or replace it with --force")
    return target, old
