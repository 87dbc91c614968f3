"""intention: what an agent is committed to do, in Intentions.md."""

from collections.abc import Mapping
from typing import Annotated

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.core import BadValue
from mabos_cli.core.memory.item import check_word
from mabos_cli.core.mind.mind import DONE, GONE, Attitude, status_word
from mabos_cli.services.inputs import line_argument
from mabos_cli.services.mind.attitudes import (
    Changed,
    add_attitude,
    change_attitude,
    check_day,
    check_percent,
    join_ids,
    list_attitudes,
    today,
)

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
    fields = {"status": "active", "goal": join_ids([goal]), "plan": join_ids([plan])}
    fields |= {"deadline": check_day(deadline, agent), "updated": today(agent)}
    added = add_attitude(agent, "intention", line_argument(title, call.literal_dash), fields, group=group)
    call.emit("intention.add", added.as_dict(), added.lines(), added.warnings)


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
    text, done = check_word(line_argument(note, call.literal_dash), "note", 2000), check_percent(percent)
    due = check_day(deadline, agent)

    def change(each: Attitude, day: str) -> Mapping[str, str]:
        word = status_word(each.status)
        if word in DONE | GONE:
            raise BadValue(f"{each.name} is {word} ({each.place})", "mabos intention add starts a new one")
        if word == "expired" and not due:
            raise BadValue(f"{each.name} is expired ({each.place})", "--deadline DATE gives it more time")
        status = "" if word == "active" or word not in ("", "stalled", "expired") else "active"
        fields = {"status": status, "updated": day, "progress": done, "deadline": due}
        return {field: value for field, value in fields.items() if value}

    _emit(call, "progress", change_attitude(agent, "intention", "progress", name, change, text))


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
    text = check_word(why, "reason", 2000)

    def change(each: Attitude, day: str) -> Mapping[str, str]:
        if status_word(each.status) == status:
            return {}
        return {"status": f"{status} ({day}{f': {text}' if text else ''})"}

    _emit(call, verb, change_attitude(call.open_agent(), "intention", verb, name, change, text))


def _emit(call: Call, verb: str, found: Changed) -> None:
    call.emit(f"intention.{verb}", found.as_dict(), found.lines(), found.warnings)


@app.command("list")
def list_command(
    ctx: typer.Context,
    status: Annotated[str, typer.Option(help="Only those with this status: active, expired, ...")] = "",
) -> None:
    """List the intentions in the order of the file, with their places.

    Example: mabos intention list --status active
    """
    call: Call = ctx.obj
    found = list_attitudes(call.open_agent(), "intention", status)
    call.emit("intention.list", found.as_dict(), found.lines(), found.warnings)
