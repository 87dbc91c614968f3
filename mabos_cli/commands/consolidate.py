"""consolidate: short-term memories become long-term ones."""

from typing import TYPE_CHECKING, Annotated

import typer

from mabos_cli.commands.call import Call
from mabos_cli.commands.inputs import option
from mabos_cli.commands.options import DryRun
from mabos_cli.core.consolidate import Consolidation, plan_consolidation
from mabos_cli.core.stores import Memory
from mabos_cli.core.text import one_line, plural
from mabos_cli.core.trust import is_untrusted
from mabos_cli.workspace.home import AgentHome, Means
from mabos_cli.workspace.trust_log import Judge

if TYPE_CHECKING:
    from mabos_cli.commands.llm_consolidate import GroupAuthor

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
    dry_run: DryRun = False,
    llm: Annotated[
        bool, typer.Option("--llm", help="Let the language model word the groups; a dry run does not ask it.")
    ] = False,
) -> None:
    """Compress related short-term memories into long-term ones.

    Example: mabos consolidate --dry-run
    """
    call: Call = ctx.obj
    home = call.open_home()
    limits = home.settings.limits(
        option("consolidation.min_importance", min_importance), option("consolidation.min_access", min_access)
    )
    author = _open_author(home) if llm else None

    def plan(memory: Memory, means: Means):
        planned = plan_consolidation(
            memory,
            limits,
            now=home.now(),
            mint=means.mint,
            jaccard=home.settings["consolidation.jaccard"],
            summarize=not no_summarize,
            keep=home.settings.limits(),
            trust_of=Judge(home.paths, memory),
            prose=author.prose if author else {},
        )
        return planned.changes, planned

    if author and not dry_run:
        author.write(home.preview(plan).groups)
    planned, warnings = (home.preview(plan), []) if dry_run else home.change("consolidate", plan)
    data = _summary(planned, dry_run) | ({"llm": author.told(planned.groups)} if author else {})
    call.emit("consolidate", data, _lines(planned, dry_run), warnings + (author.warnings() if author else []))


def _open_author(home: AgentHome) -> "GroupAuthor":
    """The model that words groups; nothing of it is loaded unless somebody asks for it."""
    from mabos_cli.commands.llm_consolidate import GroupAuthor

    return GroupAuthor(home)


def _summary(planned: Consolidation, dry_run: bool) -> dict:
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
    lines = [
        f"{would} {plural(len(planned.groups), 'long-term item')} of {plural(planned.candidates, 'memory')}"
    ]
    for item, members in planned.groups:
        label = "(new)" if dry_run and len(members) > 1 else item.id
        marked = "untrusted " if is_untrusted(item) else ""
        lines.append(f"  {label} <- {len(members)}: {marked}{one_line(item.content, 100)}")
    if planned.untrusted:
        lines.append(f"{plural(planned.untrusted, 'untrusted item')} kept out of MEMORY.md")
    return lines
