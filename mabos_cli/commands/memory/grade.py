"""grade: importance where nobody gave one."""

from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call
from mabos_cli.commands.options import DryRun
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import band
from mabos_cli.core.memory.upkeep import Grading
from mabos_cli.errors import UsageFault
from mabos_cli.services.memory.upkeep import grade_items
from mabos_cli.workspace.agent import Agent

app = typer.Typer()


@app.command()
def grade(
    ctx: typer.Context,
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID...]", help="Items, or observations to see their grade.")
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="Every item whose importance nobody gave.")] = False,
    dry_run: DryRun = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say how each number comes about.")] = False,
) -> None:
    """Fill in the importance that nobody gave, by heuristic-v1.

    Example: mabos grade --all --explain
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    if bool(ids) == all:
        raise UsageFault("give ids, or --all", "mabos grade --all --dry-run shows what is missing")
    done = grade_items(agent, ids or (), every=all, dry_run=dry_run)
    rows = [_row(agent, one, explain) for one in done.done]
    observed = [_row(agent, one, explain) | {"id": i} for i, one in done.observed]
    data = {
        "graded": rows,
        "kept": [{"id": item.id, "importance": item.importance} for item in done.kept],
        "observations": observed,
        "dry_run": dry_run,
    }
    lines = (
        [f"{'would grade' if dry_run else 'graded'} {plural(len(rows), 'item')}"]
        if len(observed) < len(ids or ()) or all
        else []
    )
    lines += [_line(row) for row in rows]
    lines += [f"  {item.id} {item.importance:.2f} is given, and stays" for item in done.kept]
    lines += [f"{_line(row)} (what harvest will give it)" for row in observed]
    call.emit("grade", data, lines, done.warnings)


def _row(agent: Agent, done: Grading, explain: bool) -> dict[str, Any]:
    must, nice = agent.settings["grade.must_remember"], agent.settings["grade.nice_to_have"]
    item = done.item
    row: dict[str, Any] = {
        "id": item.id,
        "importance": item.importance,
        "band": band(item.importance, must, nice),
        "content": item.content,
    }
    return row | {"parts": {name: round(value, 4) for name, value in done.parts}} if explain else row


def _line(row: dict[str, Any]) -> str:
    parts = row.get("parts", {})
    added = " + ".join(f"{name} {value:g}" for name, value in parts.items() if value and name != "age")
    why = f" = {added}" + (f", x {parts['age']:g} for age" if parts.get("age", 1) != 1 else "") if parts else ""
    return f"  {row['id']} {row['importance']:.2f}{why}: {one_line(row['content'], 60)}"
