"""intention: what an agent is committed to do, in Intentions.md."""

from collections.abc import Mapping
from typing import Annotated

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.commands.mind.attitude import (
    add_attitude,
    change_attitude,
    day_text,
    ids_of,
    list_attitudes,
    percent_text,
    title_of,
    today,
)
from mabos_cli.core import BadValue
from mabos_cli.core.memory.item import check_word
from mabos_cli.core.mind.mind import DONE, GONE, Attitude, status_word
from mabos_cli.formats.mind.mind_edit import Draft
from mabos_cli.services.inputs import line_argument

app = new_group("intention", "Add intentions, note progress, complete, drop and list them.", no_args_is_help=True)


@app.command()
def add(
    ctx: typer.Context,
    title: Annotated[str, typer.Argument(help="What is to be done; - reads standard input.")],
    goal: Annotated[str, typer.Option(metavar="GOAL", help="The goal that it serves.")] = "",
    plan: Annotated[str, typer.Option(metavar="PLAN", help="The plan that it follows.")] = "",
    deadline: Annotated[str, typer.Option(metavar="DATE", help="Until when.")] = "",
    group: Annotated[str, typer.Option(help="The heading that it goes under.")] = "",
) -> None:
    """Add an intention to Intentions.md, in the shape that the file has.

    Example: mabos intention add "Send the offer" --goal G-001 --deadline 2026-03-06
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    fields = {
        "status": "active",
        "goal": ids_of([goal] if goal else []),
        "plan": ids_of([plan] if plan else []),
        "deadline": day_text(deadline, agent),
        "updated": today(agent),
    }
    draft = Draft("intention", "", title_of(line_argument(title, call.literal_dash), "intention"), fields=fields)
    add_attitude(call, agent, draft, {"goal": "goal", "plan": "plan"}, group)


@app.command()
def progress(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="INTENTION", help="Its id, or its title.")],
    note: Annotated[str, typer.Argument(metavar="[NOTE]", help="What was done; - reads standard input.")] = "",
    percent: Annotated[float | None, typer.Option(metavar="PERCENT", help="How far it is now.")] = None,
    deadline: Annotated[str, typer.Option(metavar="DATE", help="The new deadline.")] = "",
) -> None:
    """Note progress: the date of the last update, how far it is, and a word about it. What stood still is active again.

    Example: mabos intention progress I-001 "two of three signed" --percent 60
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    told, done = check_word(line_argument(note, call.literal_dash), "note", 2000), percent_text(percent)
    due = day_text(deadline, agent)

    def change(each: Attitude, day: str) -> Mapping[str, str]:
        word = status_word(each.status)
        if word in DONE | GONE:
            raise BadValue(f"{each.name} is {word} ({each.place})", "mabos intention add starts a new one")
        if word == "expired" and not due:
            raise BadValue(f"{each.name} is expired ({each.place})", "--deadline DATE gives it more time")
        status = "" if word == "active" or word not in ("", "stalled", "expired") else "active"
        fields = {"status": status, "updated": day, "progress": done, "deadline": due}
        return {field: value for field, value in fields.items() if value}

    change_attitude(call, "intention", "progress", name, change, note=told)


@app.command()
def complete(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="INTENTION", help="Its id, or its title.")],
    outcome: Annotated[str, typer.Option(help="What came of it.")] = "",
) -> None:
    """Mark an intention as completed, in its place and dated.

    Example: mabos intention complete I-001 --outcome "signed for three years"
    """
    _end(ctx.obj, name, "complete", "completed", outcome)


@app.command()
def drop(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="INTENTION", help="Its id, or its title.")],
    reason: Annotated[str, typer.Option(help="Why it is given up.")] = "",
) -> None:
    """Mark an intention as dropped, in its place and dated.

    Example: mabos intention drop I-001 --reason "the customer went elsewhere"
    """
    _end(ctx.obj, name, "drop", "dropped", reason)


def _end(call: Call, name: str, verb: str, status: str, why: str) -> None:
    told = check_word(why, "reason", 2000)

    def change(each: Attitude, day: str) -> Mapping[str, str]:
        if status_word(each.status) == status:
            return {}
        return {"status": f"{status} ({day}{f': {told}' if told else ''})"}

    change_attitude(call, "intention", verb, name, change, note=told)


@app.command("list")
def list_command(
    ctx: typer.Context,
    status: Annotated[str, typer.Option(help="Only those with this status: active, expired, ...")] = "",
) -> None:
    """List the intentions in the order of the file, with their places.

    Example: mabos intention list --status active
    """
    list_attitudes(ctx.obj, "intention", status)
