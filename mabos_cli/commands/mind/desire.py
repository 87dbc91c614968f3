"""desire: what an agent wants, in Desires.md."""

from typing import Annotated

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.commands.mind.attitude import add_attitude, ids_of, list_attitudes, priority_text, title_of
from mabos_cli.core.memory.item import check_word
from mabos_cli.formats.mind.mind_edit import Draft
from mabos_cli.services.inputs import line_argument

app = new_group("desire", "Add and list what an agent wants.", no_args_is_help=True)


@app.command()
def add(
    ctx: typer.Context,
    title: Annotated[str, typer.Argument(help="What is wanted; - reads standard input.")],
    priority: Annotated[str, typer.Option(help="0 to 1, or critical, high, medium, low.")] = "medium",
    motivates: Annotated[
        list[str] | None, typer.Option(metavar="GOAL", help="A goal that it motivates; may repeat.")
    ] = None,
    status: Annotated[str, typer.Option(help="active, dormant, withdrawn, ...")] = "active",
    group: Annotated[str, typer.Option(help="The heading that it goes under.")] = "",
) -> None:
    """Add a desire to Desires.md, in the shape that the file has.

    Example: mabos desire add "Never lose a batch" --priority high --motivates G-001
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    fields = {
        "priority": priority_text(priority),
        "status": check_word(status, "status"),
        "motivates": ids_of(motivates),
    }
    draft = Draft("desire", "", title_of(line_argument(title, call.literal_dash), "desire"), fields=fields)
    add_attitude(call, agent, draft, {"motivates": "goal"}, group)


@app.command("list")
def list_command(
    ctx: typer.Context,
    status: Annotated[str, typer.Option(help="Only those with this status: active, dormant, ...")] = "",
) -> None:
    """List the desires in the order of the file, with their places.

    Example: mabos desire list --status active
    """
    list_attitudes(ctx.obj, "desire", status)
