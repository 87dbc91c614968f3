"""learning: lessons that should change what an agent does next time, in Learnings.md."""

from typing import Annotated

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.commands.mind.attitude import add_attitude, list_attitudes, title_of, today
from mabos_cli.core.memory.item import check_content, check_word
from mabos_cli.formats.mind.mind_edit import Draft
from mabos_cli.services.inputs import line_argument, text_argument

app = new_group("learning", "Add and list lessons.", no_args_is_help=True)


@app.command()
def add(
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
    told = check_content(text_argument(text, call.literal_dash), limit).strip("\n") if text else ""
    fields = {"source": check_word(source, "source"), "updated": today(agent)}
    add_attitude(
        call, agent, Draft("learning", "", title_of(line_argument(lesson, call.literal_dash), "lesson"), told, fields)
    )


@app.command("list")
def list_command(ctx: typer.Context) -> None:
    """List the lessons in the order of the file, with their places.

    Example: mabos learning list
    """
    list_attitudes(ctx.obj, "learning")
