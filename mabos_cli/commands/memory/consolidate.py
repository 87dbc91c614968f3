"""consolidate: short-term memories become long-term ones."""

from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call
from mabos_cli.commands.options import DryRun
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.trust import is_untrusted
from mabos_cli.core.memory.upkeep import Consolidation
from mabos_cli.services.inputs import option
from mabos_cli.services.memory.upkeep import consolidate as consolidate_memory

app = typer.Typer()


@app.command()
def consolidate(
    ctx: typer.Context,
    min_importance: Annotated[
        float | None, typer.Option(help="Take items at least this important (default 0.6).")
    ] = None,
    min_access: Annotated[int | None, typer.Option(help="Or recalled at least this often (default 2).")] = None,
    no_summarize: Annotated[
        bool, typer.Option("--no-summarize", help="Move items one by one, without grouping.")
    ] = False,
    dry_run: DryRun = False,
    llm: Annotated[
        bool, typer.Option("--llm", help="Let the language model word the groups; a dry run does not ask it.")
    ] = False,
) -> None:
    """Compress related short-term memories into long-term ones.

    Example: mabos consolidate --dry-run
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    limits = agent.settings.limits(
        option("consolidation.min_importance", min_importance), option("consolidation.min_access", min_access)
    )
    done = consolidate_memory(agent, limits, summarize=not no_summarize, llm=llm, dry_run=dry_run)
    data = _summary(done.planned, dry_run) | ({"llm": done.llm} if done.llm else {})
    call.emit("consolidate", data, _lines(done.planned, dry_run), done.warnings)


def _summary(planned: Consolidation, dry_run: bool) -> dict[str, Any]:
    groups = [
        {
            "id": None if dry_run and len(members) > 1 else item.id,
            "type": item.type,
            "importance": item.importance,
            "content": item.content,
            "tags": list(item.tags),
            "trust": item.trust,
            "derived_from": list(item.derived_from),
            "members": [member.id for member in members],
        }
        for item, members in planned.groups
    ]
    return {
        "dry_run": dry_run,
        "candidates": planned.candidates,
        "consolidated": len(groups),
        "untrusted": planned.untrusted,
        "groups": groups,
        "archived": [d.item.id for d in planned.changes.archive],
    }


def _lines(planned: Consolidation, dry_run: bool) -> list[str]:
    if not planned.groups:
        return ["nothing to consolidate"]
    would = "would make" if dry_run else "made"
    lines = [f"{would} {plural(len(planned.groups), 'long-term item')} of {plural(planned.candidates, 'memory')}"]
    for item, members in planned.groups:
        label = "(new)" if dry_run and len(members) > 1 else item.id
        marked = "untrusted " if is_untrusted(item) else ""
        lines.append(f"  {label} <- {len(members)}: {marked}{one_line(item.content, 100)}")
    if planned.untrusted:
        lines.append(f"{plural(planned.untrusted, 'untrusted item')} kept out of MEMORY.md")
    return lines
