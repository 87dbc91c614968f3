"""grade: importance where nobody gave one."""

from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call
from mabos_cli.commands.memory.item import not_live
from mabos_cli.commands.options import DryRun
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import band, is_ungraded
from mabos_cli.core.memory.stores import Memory, locate
from mabos_cli.core.memory.upkeep import Grading, draft_observation, grade_item, plan_grading
from mabos_cli.errors import NotFound, UsageFault
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.memory.observations import find_observation

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
    seen = [_observed(agent, i) for i in ids or () if i.startswith("O-")]
    wanted = [i for i in dict.fromkeys(ids or ()) if not i.startswith("O-")]

    def plan(memory: Memory, fresh: object) -> Any:
        found = [(i, locate(memory, i)) for i in wanted]
        missing = next((i for i, live in found if live is None), None)
        if missing:
            raise not_live(agent, missing)
        kept = [live[1] for _, live in found if live and not is_ungraded(live[1])]
        changes, done = plan_grading(memory, wanted, now=agent.now(), limits=agent.settings.limits())
        return changes, (done, kept)

    nothing: tuple[Any, list[str]] = (((), []), [])
    if wanted or all:
        nothing = (agent.preview(plan), []) if dry_run else agent.change("grade", plan)
    (done, kept), warnings = nothing
    rows = [_row(agent, one, explain) for one in done]
    observed = [_row(agent, one, explain) | {"id": i} for i, one in seen]
    data = {
        "graded": rows,
        "kept": [{"id": item.id, "importance": item.importance} for item in kept],
        "observations": observed,
        "dry_run": dry_run,
    }
    lines = [f"{'would grade' if dry_run else 'graded'} {plural(len(rows), 'item')}"] if wanted or all else []
    lines += [_line(row) for row in rows]
    lines += [f"  {item.id} {item.importance:.2f} is given, and stays" for item in kept]
    lines += [f"{_line(row)} (what harvest will give it)" for row in observed]
    call.emit("grade", data, lines, warnings)


def _observed(agent: Agent, observation_id: str) -> tuple[str, Grading]:
    """The grade that an observation will get, or the importance that it says."""
    found = find_observation(agent.paths, observation_id)
    if found is None:
        raise NotFound(f"no observation {observation_id!r} for agent {agent.id}", "mabos recall finds ids")
    draft = draft_observation(found.observation, agent.settings["harvest.store"])
    if draft.graded:
        return observation_id, Grading(draft.item, (("given", draft.item.importance),))
    return observation_id, grade_item(draft.item, agent.now(), agent.settings.limits())


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
