"""goal: what an agent is after, in Goals.md, and how it hangs together."""

from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.core import BadValue
from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory.item import check_choice, check_word
from mabos_cli.core.mind.goal_tree import Branch, build_tree
from mabos_cli.core.mind.mind import LEVELS
from mabos_cli.formats.mind.attitude_text import attitude_row
from mabos_cli.formats.mind.attitudes import goal_group
from mabos_cli.services.inputs import line_argument
from mabos_cli.services.mind.attitudes import (
    add_attitude,
    change_attitude,
    check_day,
    check_percent,
    check_priority,
    join_ids,
    list_attitudes,
)
from mabos_cli.workspace.mind import load_attitudes, load_beliefs, read_mind

app = new_group("goal", "Add and list goals, and show how they hang together.", no_args_is_help=True)


@app.command()
def add(
    ctx: typer.Context,
    title: Annotated[str, typer.Argument(help="What is to be reached; - reads standard input.")],
    level: Annotated[str, typer.Option(help="strategic, tactical or operational.")] = "tactical",
    priority: Annotated[str, typer.Option(help="0 to 1, or critical, high, medium, low.")] = "",
    deadline: Annotated[str, typer.Option(metavar="DATE", help="Until when.")] = "",
    parent: Annotated[str, typer.Option(metavar="GOAL", help="The goal that it is a part of.")] = "",
    desire: Annotated[list[str] | None, typer.Option(metavar="DESIRE", help="A desire behind it; may repeat.")] = None,
    requires: Annotated[
        list[str] | None, typer.Option(metavar="PLAN", help="A plan that it requires; may repeat.")
    ] = None,
    group: Annotated[str, typer.Option(help="The heading that it goes under; else that of its level.")] = "",
) -> None:
    """Add a goal to Goals.md, in the shape that the file has.

    Example: mabos goal add "Renew the largest customer" --level tactical --deadline 2026-03-31
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    level = check_choice(level, LEVELS, "level")
    group = group or goal_group(read_mind(agent, "goal"), level)
    fields = {"type": level, "priority": check_priority(priority), "status": "active"}
    fields |= {"deadline": check_day(deadline, agent), "parent": join_ids([parent])}
    fields |= {"desire": join_ids(desire), "requires": join_ids(requires)}
    added = add_attitude(agent, "goal", line_argument(title, call.literal_dash), fields, group=group)
    call.emit("goal.add", added.as_dict(), added.lines(), added.warnings)


@app.command()
def update(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="GOAL", help="Its id, or its title.")],
    status: Annotated[str, typer.Option(help="active, achieved, abandoned, ...")] = "",
    progress: Annotated[float | None, typer.Option(metavar="PERCENT", help="How far it is.")] = None,
    priority: Annotated[str, typer.Option(help="0 to 1, or critical, high, medium, low.")] = "",
    deadline: Annotated[str, typer.Option(metavar="DATE", help="The new deadline.")] = "",
    reason: Annotated[str, typer.Option(help="Why; kept in the revision log of the file, if it has one.")] = "",
) -> None:
    """Change a goal in its place. An achieved or abandoned goal ends the intentions for it in the next cycle.

    Example: mabos goal update G-001 --status achieved
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    fields = {"status": check_word(status, "status"), "progress": check_percent(progress)}
    fields |= {"priority": check_priority(priority), "deadline": check_day(deadline, agent)}
    changes = {field: value for field, value in fields.items() if value}
    if not changes:
        raise BadValue("nothing given to change", "--status, --progress, --priority or --deadline")
    note = check_word(reason, "reason", 2000)
    found = change_attitude(agent, "goal", "update", name, lambda *_: changes, note)
    call.emit("goal.update", found.as_dict(), found.lines(), found.warnings)


@app.command("list")
def list_command(
    ctx: typer.Context,
    status: Annotated[str, typer.Option(help="Only those with this status: active, achieved, ...")] = "",
) -> None:
    """List the goals in the order of the file, with their places.

    Example: mabos goal list --status active
    """
    call: Call = ctx.obj
    found = list_attitudes(call.open_agent(), "goal", status)
    call.emit("goal.list", found.as_dict(), found.lines(), found.warnings)


@app.command()
def tree(ctx: typer.Context) -> None:
    """Show goals below the goals that they are part of, with the desires, plans and beliefs behind each.

    Example: mabos goal tree
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    goals, problems = load_attitudes(agent, "goal")
    desires, plans = load_attitudes(agent, "desire")[0], load_attitudes(agent, "plan")[0]
    branches = build_tree(goals, desires, plans, load_beliefs(agent)[0])
    lines = [line for branch in branches for line in _tree_lines(branch, "")]
    data = {"goals": [_row(branch) for branch in branches]}
    call.emit("goal.tree", data, lines or ["no goals yet"], [str(p) for p in problems])


def _row(branch: Branch) -> dict[str, Any]:
    links = {"motivated_by": branch.desires, "plans": branch.plans, "supported_by": branch.beliefs}
    row = attitude_row(branch.goal) | {name: list(ids) for name, ids in links.items()}
    return row | {"below": [_row(each) for each in branch.below]}


def _tree_lines(branch: Branch, indent: str) -> list[str]:
    goal = branch.goal
    facts = [goal.level, goal.status, "" if goal.progress is None else f"{goal.progress:g} %"]
    facts += [f"due {goal.deadline}"] if goal.deadline else []
    away = [parent for parent in goal.linked("parent") if branch.is_root]
    facts += [f"part of {', '.join(away)}"] if away else []
    lines = [f"{indent}{goal.name} {one_line(goal.title, 80)} ({', '.join(f for f in facts if f)})"]
    links = (("motivated by", branch.desires), ("requires", branch.plans), ("supported by", branch.beliefs))
    lines += [f"{indent}  {what} {', '.join(ids)}" for what, ids in links if ids]
    return lines + [line for each in branch.below for line in _tree_lines(each, indent + "  ")]
