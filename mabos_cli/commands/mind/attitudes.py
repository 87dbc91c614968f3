"""desire, commitment and learning: what an agent wants, has promised, and has learned, in Desires.md, Commitments.md and Learnings.md."""

from typing import Annotated

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.core.memory.item import check_content, check_word
from mabos_cli.services.inputs import line_argument, text_argument
from mabos_cli.services.mind.attitudes import add_attitude, check_day, check_priority, join_ids, list_attitudes, today

Group = Annotated[str, typer.Option(help="The heading that it goes under.")]
desire = new_group("desire", "Add and list what an agent wants.", no_args_is_help=True)
commitment = new_group("commitment", "Add and list what an agent has promised to others.", no_args_is_help=True)
learning = new_group("learning", "Add and list lessons.", no_args_is_help=True)


@desire.command("add")
def add_desire(
    ctx: typer.Context,
    title: Annotated[str, typer.Argument(help="What is wanted; - reads standard input.")],
    priority: Annotated[str, typer.Option(help="0 to 1, or critical, high, medium, low.")] = "medium",
    motivates: Annotated[
        list[str] | None, typer.Option(metavar="GOAL", help="A goal that it motivates; may repeat.")
    ] = None,
    status: Annotated[str, typer.Option(help="active, dormant, withdrawn, ...")] = "active",
    group: Group = "",
) -> None:
    """Add a desire to Desires.md, in the shape that the file has.

    Example: mabos desire add "Never lose a batch" --priority high --motivates G-001
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    fields = {"priority": check_priority(priority), "status": check_word(status, "status")}
    fields["motivates"] = join_ids(motivates)
    added = add_attitude(agent, "desire", line_argument(title, call.literal_dash), fields, group=group)
    call.emit("desire.add", added.as_dict(), added.lines(), added.warnings)


@desire.command("list")
def list_desires(
    ctx: typer.Context,
    status: Annotated[str, typer.Option(help="Only those with this status: active, dormant, ...")] = "",
) -> None:
    """List the desires in the order of the file, with their places.

    Example: mabos desire list --status active
    """
    call: Call = ctx.obj
    found = list_attitudes(call.open_agent(), "desire", status)
    call.emit("desire.list", found.as_dict(), found.lines(), found.warnings)


@commitment.command("add")
def add_commitment(
    ctx: typer.Context,
    title: Annotated[str, typer.Argument(help="What is promised; - reads standard input.")],
    to: Annotated[str, typer.Option(metavar="WHOM", help="To whom.")] = "",
    deadline: Annotated[str, typer.Option("--deadline", "--due", metavar="DATE", help="Until when.")] = "",
    status: Annotated[str, typer.Option(help="open, kept, broken, ...")] = "open",
    group: Group = "",
) -> None:
    """Add a commitment to Commitments.md, in the shape that the file has.

    Example: mabos commitment add "Send the annual accounts" --to "the bank" --due 2026-04-30
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    fields = {"owner": check_word(to, "name"), "status": check_word(status, "status")}
    fields["deadline"] = check_day(deadline, agent)
    added = add_attitude(agent, "commitment", line_argument(title, call.literal_dash), fields, group=group)
    call.emit("commitment.add", added.as_dict(), added.lines(), added.warnings)


@commitment.command("list")
def list_commitments(
    ctx: typer.Context, status: Annotated[str, typer.Option(help="Only those with this status: open, kept, ...")] = ""
) -> None:
    """List the commitments in the order of the file, with their places.

    Example: mabos commitment list --status open
    """
    call: Call = ctx.obj
    found = list_attitudes(call.open_agent(), "commitment", status)
    call.emit("commitment.list", found.as_dict(), found.lines(), found.warnings)


@learning.command("add")
def add_learning(
    ctx: typer.Context,
    lesson: Annotated[str, typer.Argument(help="The lesson, in a line; - reads standard input.")],
    text: Annotated[str, typer.Argument(metavar="[TEXT]", help="More about it; - reads standard input.")] = "",
    source: Annotated[str, typer.Option(help="What taught it.")] = "",
) -> None:
    """Add a lesson to Learnings.md, dated, in the shape that the file has.

    Example: mabos learning add "Ask the night shift first" --source "S2 launch"
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    limit = agent.settings["memory.max_content_bytes"]
    more = check_content(text_argument(text, call.literal_dash), limit).strip("\n") if text else ""
    fields = {"source": check_word(source, "source"), "updated": today(agent)}
    added = add_attitude(agent, "learning", line_argument(lesson, call.literal_dash), fields, text=more)
    call.emit("learning.add", added.as_dict(), added.lines(), added.warnings)


@learning.command("list")
def list_learnings(ctx: typer.Context) -> None:
    """List the lessons in the order of the file, with their places.

    Example: mabos learning list
    """
    call: Call = ctx.obj
    found = list_attitudes(call.open_agent(), "learning")
    call.emit("learning.list", found.as_dict(), found.lines(), found.warnings)
