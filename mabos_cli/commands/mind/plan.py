"""plan: how goals are to be reached, in Plans.md."""

from collections.abc import Iterator
from typing import Annotated

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.core import BadValue
from mabos_cli.core.language.text import one_line
from mabos_cli.core.mind.mind import Attitude
from mabos_cli.formats.mind.attitude_text import plan_progress
from mabos_cli.services.inputs import line_argument
from mabos_cli.services.mind.attitudes import add_attitude, change_steps, check_title, join_ids, list_attitudes

app = new_group("plan", "Add plans and steps, finish steps, and list plans.", no_args_is_help=True)


@app.command()
def add(
    ctx: typer.Context,
    title: Annotated[str, typer.Argument(help="What the plan is for; - reads standard input.")],
    goal: Annotated[list[str] | None, typer.Option(metavar="GOAL", help="A goal that requires it; may repeat.")] = None,
    step: Annotated[list[str] | None, typer.Option(help="A step, in order; may repeat.")] = None,
) -> None:
    """Add a plan to Plans.md, with its steps as a list of boxes.

    Example: mabos plan add "Renew Pagel" --goal G-001 --step "Visit them" --step "Send the offer"
    """
    call: Call = ctx.obj
    title = line_argument(title, call.literal_dash)
    added = add_attitude(call.open_agent(), "plan", title, {"goal": join_ids(goal)}, steps=step or ())
    call.emit("plan.add", added.as_dict(), added.lines(), added.warnings)


@app.command()
def step(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="PLAN", help="Its id, or its title.")],
    text: Annotated[str, typer.Argument(metavar="[TEXT]", help="A new last step; - reads standard input.")] = "",
    done: Annotated[str, typer.Option(metavar="STEP", help="A step that is done: its name or number.")] = "",
) -> None:
    """Add a step to a plan, or mark one as done, in the shape that the plan has.

    Example: mabos plan step PL-001 --done 1
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    if bool(text) == bool(done):
        raise BadValue("give a new step or --done, one of them", 'mabos plan step PL-001 "Send the offer"')
    new = check_title(line_argument(text, call.literal_dash), "step") if text else ""
    found = change_steps(agent, name, new, done)
    call.emit("plan.step", found.as_dict(), found.lines(), found.warnings)


@app.command("list")
def list_command(
    ctx: typer.Context, steps: Annotated[bool, typer.Option("--steps", help="With all steps.")] = False
) -> None:
    """List the plans in the order of the file, with how far they are.

    Example: mabos plan list --steps
    """
    call: Call = ctx.obj
    found = list_attitudes(call.open_agent(), "plan")
    lines = [line for plan in found.entries for line in _plan_lines(plan)] if steps else []
    call.emit("plan.list", found.as_dict(), lines or found.lines(), found.warnings)


def _plan_lines(plan: Attitude) -> Iterator[str]:
    yield f"{plan.name} {one_line(plan.title, 80)} ({plan.place}): {plan_progress(plan)}"
    yield from (f"  {'x' if each.done else ' '} {each.name} {one_line(each.text, 90)}" for each in plan.steps)
