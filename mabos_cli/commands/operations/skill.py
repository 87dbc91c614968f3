"""skill: what tells an agent how to use its memory here."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call
from mabos_cli.core.memory.item import check_choice
from mabos_cli.errors import UsageFault
from mabos_cli.formats.context.prompt_md import fill_in, is_own_skill, put_section
from mabos_cli.workspace.files import read_text, replace_file

app = typer.Typer()
_TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
_FORMATS = {"skill": "SKILL.md", "agents": "AGENTS.md"}


@app.command()
def skill(
    ctx: typer.Context,
    format: Annotated[
        str, typer.Option(help="skill: a SKILL.md; agents: a section for AGENTS.md, between marks.")
    ] = "skill",
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Write it there; other text in AGENTS.md stays.")
    ] = "",
) -> None:
    """Print what tells an agent how to use its memory here.

    Example: mabos skill --format agents -o AGENTS.md
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    check_choice(format, list(_FORMATS), "format")
    template = read_text(_TEMPLATES / _FORMATS[format])
    made = fill_in(template, os.fspath(agent.paths.workspace.root), agent.id)
    text = made if format == "skill" else put_section("", made)
    data: dict[str, Any] = {"format": format, "agent": agent.id, "path": output or None, "text": text}
    if not output:
        return call.emit("skill", data, text.rstrip("\n").split("\n"))
    data["written"] = _write(output, format, made)
    call.emit("skill", data, [f"{output}: {'written' if data['written'] else 'unchanged'}"])


def _write(output: str, format: str, made: str) -> bool:
    """Writes a skill, or the section into what is there; whether that changed anything."""
    target = Path(os.path.realpath(os.path.expanduser(output)))
    if target.exists() and not target.is_file():
        raise UsageFault(f"{output} is no plain file", "name a file")
    old = read_text(target, output)
    if format == "skill" and not is_own_skill(old):
        raise UsageFault(f"{output} is no skill as mabos wrote it", "name another file, or remove that one")
    new = made if format == "skill" else put_section(old, made)
    if new == old:
        return False
    data = old.encode("utf-8") if target.exists() else None
    replace_file(target, new.encode("utf-8"), root=target.parent, expect=data, shared=True)
    return True
