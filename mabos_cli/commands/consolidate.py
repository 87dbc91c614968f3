"""consolidate: short-term memories become long-term ones."""

from typing import Annotated

import typer

from mabos_cli.commands.call import Call
from mabos_cli.commands.inputs import option
from mabos_cli.core.consolidate import Consolidation, plan_consolidation
from mabos_cli.core.stores import Memory
from mabos_cli.core.text import one_line, plural
from mabos_cli.workspace.home import Means

app = typer.Typer()


@app.command()
def consolidate(
    ctx: typer.Context,
    min_importance: Annotated[
        float | None, typer.Option(help="Take items at least this important (default 0.6).")
    ] = None,
    min_access: Annotated[
        int | None, typer.Option(help="Or recalled at least this often (default 2).")
    ] = None,
    no_summarize: Annotated[
        bool, typer.Option("--no-summarize", help="Move items one by one, without grouping.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would happen.")] = False,
) -> None:
    """Compress related short-term memories into long-term ones.

    Example: mabos consolidate --dry-run
    """
    call: Call = ctx.obj
    home = call.open_home()
    limits = home.settings.limits(
        option("consolidation.min_importance", min_importance), option("consolidation.min_access", min_access)
    )

    def plan(memory: Memory, means: Means):
        planned = plan_consolidation(
            memory,
            limits,
            now=home.now(),
            mint=means.mint,
            jaccard=home.settings["consolidation.jaccard"],
            summarize=not no_summarize,
            keep=home.settings.limits(),
        )
        return planned.changes, planned

    planned, warnings = (home.preview(plan), []) if dry_run else home.change("consolidate", plan)
    call.emit("consolidate", _summary(planned, dry_run), _lines(planned, dry_run), warnings)


def _summary(planned: Consolidation, dry_run: bool) -> dict:
    groups = [
        {
            "id": None if dry_run and len(members) > 1 else item.id,
            "type": item.type,
            "importance": item.importance,
            "content": item.content,
            "tags": list(item.tags),
            "derived_from": list(item.derived_from),
            "members": [member.id for member in members],
        }
        for item, members in planned.groups
    ]
    return {
        "dry_run": dry_run,
        "candidates": planned.candidates,
        "consolidated": len(groups),
        "groups": groups,
        "archived": [d.item.id for d in planned.changes.archive],
    }


def _lines(planned: Consolidation, dry_run: bool) -> list[str]:
    if not planned.groups:
        return ["nothing to consolidate"]
    would = "would make" if dry_run else "made"
    lines = [
        f"{would} {plural(len(planned.groups), 'long-term item')} of {plural(planned.candidates, 'memory')}"
    ]
    for item, members in planned.groups:
        label = "(new)" if dry_run and len(members) > 1 else item.id
        lines.append(f"  {label} <- {len(members)}: {one_line(item.content, 100)}")
    return lines
