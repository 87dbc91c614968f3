"""plan: how goals are to be reached, in Plans.md."""

from typing import Annotated

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.commands.mind.attitude import add_attitude, attitude_row, ids_of, list_attitudes, title_of, today
from mabos_cli.core import BadValue
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import check_word
from mabos_cli.core.mind.mind import Attitude, Step, find_step
from mabos_cli.errors import NotFound
from mabos_cli.formats.markdown.escape import escape_block
from mabos_cli.formats.mind.attitudes import KINDS, add_step, find_plan, finish_step, parse_plans
from mabos_cli.formats.mind.cognitive import Heading, parse_cognitive
from mabos_cli.formats.mind.mind_edit import Draft
from mabos_cli.services.inputs import line_argument
from mabos_cli.workspace.mind import edit_mind, load_attitudes

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
    agent = call.open_agent()
    steps = [one_line(escape_block(title_of(each, "step"))) for each in step or ()]
    text = [f"{number}. [ ] {each}" for number, each in enumerate(steps, 1)]
    draft = Draft(
        "plan", "", title_of(line_argument(title, call.literal_dash), "plan"), "", {"goal": ids_of(goal)}, tuple(text)
    )
    add_attitude(call, agent, draft, {"goal": "goal"})


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
    told = title_of(line_argument(text, call.literal_dash), "step") if text else ""

    seen: list[Attitude] = []

    def edit(old: str) -> str:
        heading = find_plan(parse_cognitive(old), name)
        if heading is None:
            raise NotFound(f"no plan {name!r} for agent {agent.id}", "mabos plan list shows them")
        if told:
            new = add_step(old, heading, told)
        else:
            new = finish_step(old, _named(_at(old, heading), check_word(done, "step")), today(agent))
        seen[:] = [plan for plan in [_at(new, heading)] if plan]
        return new

    changed, warnings = edit_mind(agent, "plan step", "plan", edit, lambda: [name])
    plan = seen[0]
    line = f"{plan.name} {plan.place}: {one_line(plan.title, 80)}: {_progress(plan)}"
    shown = line if changed else f"unchanged {line}"
    call.emit("plan.step", attitude_row(plan) | {"changed": changed}, [shown], warnings)


def _named(plan: Attitude | None, name: str) -> Step:
    """The step that is meant; NotFound lists those that there are."""
    steps = plan.steps if plan else ()
    found = find_step(steps, name)
    if found is None:
        known = ", ".join(each.name or str(n) for n, each in enumerate(steps, 1)) or "it has none"
        raise NotFound(f"no step {name!r}", f"steps: {known}")
    return found


def _at(text: str, heading: Heading) -> Attitude | None:
    """The plan below a heading; steps do not move it."""
    return next((p for p in parse_plans(text, KINDS["plan"].file)[0] if p.line == heading.line + 1), None)


@app.command("list")
def list_command(
    ctx: typer.Context, steps: Annotated[bool, typer.Option("--steps", help="With all steps.")] = False
) -> None:
    """List the plans in the order of the file, with how far they are.

    Example: mabos plan list --steps
    """
    if not steps:
        return list_attitudes(ctx.obj, "plan", details=lambda plan: [_progress(plan), *plan.linked("goal")])
    call: Call = ctx.obj
    plans, problems = load_attitudes(call.open_agent(), "plan")
    lines = []
    for plan in plans:
        lines.append(f"{plan.name} {one_line(plan.title, 80)} ({plan.place}): {_progress(plan)}")
        lines += [f"  {'x' if each.done else ' '} {each.name} {one_line(each.text, 90)}" for each in plan.steps]
    rows = {"plans": [attitude_row(plan) for plan in plans]}
    call.emit("plan.list", rows, lines or ["no plans yet"], [str(p) for p in problems])


def _progress(plan: Attitude) -> str:
    done = sum(bool(each.done) for each in plan.steps)
    return f"{done} of {plural(len(plan.steps), 'step')} done" if plan.steps else "no steps"
