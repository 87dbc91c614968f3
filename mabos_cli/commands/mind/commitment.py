"""commitment: what an agent has promised to others, in Commitments.md."""

from typing import Annotated

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.commands.mind.attitude import add_attitude, day_text, list_attitudes, title_of
from mabos_cli.core.memory.item import check_word
from mabos_cli.formats.mind.mind_edit import Draft
from mabos_cli.services.inputs import line_argument

app = new_group("commitment", "Add and list what an agent has promised to others.", no_args_is_help=True)


@app.command()
def add(
    ctx: typer.Context,
    title: Annotated[str, typer.Argument(help="What is promised; - reads standard input.")],
    to: Annotated[str, typer.Option(metavar="WHOM", help="To whom.")] = "",
    deadline: Annotated[str, typer.Option("--deadline", "--due", metavar="DATE", help="Until when.")] = "",
    status: Annotated[str, typer.Option(help="open, kept, broken, ...")] = "open",
    group: Annotated[str, typer.Option(help="The heading that it goes under.")] = "",
) -> None:
    """Add a commitment to Commitments.md, in the shape that the file has.

    Example: mabos commitment add "Send the annual accounts" --to "the bank" --due 2026-04-30
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    fields = {
        "owner": check_word(to, "name"),
        "status": check_word(status, "status"),
        "deadline": day_text(deadline, agent),
    }
    draft = Draft("commitment", "", title_of(line_argument(title, call.literal_dash), "commitment"), fields=fields)
    add_attitude(call, agent, draft, group=group)


@app.command("list")
def list_command(
    ctx: typer.Context, status: Annotated[str, typer.Option(help="Only those with this status: open, kept, ...")] = ""
) -> None:
    """List the commitments in the order of the file, with their places.

    Example: mabos commitment list --status open
    """
    list_attitudes(ctx.obj, "commitment", status)
