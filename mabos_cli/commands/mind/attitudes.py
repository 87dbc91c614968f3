"""desire, goal, intention, plan, commitment and learning: an agent's attitudes, each kind in a cognitive file of its own."""

from collections.abc import Mapping
from typing import Annotated, Any

from mabos_cli.commands.call import Argument, Call, Commands, Context, Every, Option, Trust, Voucher
from mabos_cli.services.inputs import line_argument, text_argument
from mabos_cli.services.mind import attitudes, overview

Group = Annotated[str, Option(help="The heading that it goes under.")]
Priority = Annotated[
    str, Option(metavar="[critical|high|medium|low|NUMBER]", help="The priority; a number is from 0 to 1.")
]
Deadline = Annotated[str, Option(metavar="DATE", help="The deadline.")]
NewDeadline = Annotated[str, Option(metavar="DATE", help="The new deadline.")]
Why = Annotated[str, Option(help="Why; kept in the revision log of the file, if it has one.")]
Intention = Annotated[str, Argument(metavar="INTENTION", help="Its id, or its title.")]
Commitment = Annotated[str, Argument(metavar="COMMITMENT", help="Its id, or its title.")]

desire = Commands("desire", "Add, change and list the desires of an agent.")
goal = Commands("goal", "Add, change, close, delegate and list goals, and show how they are related.")
intention = Commands("intention", "Add, complete, drop and list intentions, and record progress.")
plan = Commands("plan", "Add plans and steps, mark steps as done, and list plans.")
commitment = Commands("commitment", "Add, change, end and list what an agent has promised.")
learning = Commands("learning", "Add and list lessons, and adopt them as instructions.")


def _add(call: Call, kind: str, title: str, fields: Mapping[str, Any], **more: Any) -> None:
    title = line_argument(title, call.literal_dash)
    call.emit(f"{kind}.add", *attitudes.add_attitude(call.open_agent(), kind, title, fields, **more))


def _add_list_command(app: Commands, kind: str, usual: str, other: str) -> None:
    """Gives a group the command that lists its entries; two of their statuses are named in its help."""

    def list_entries(
        ctx: Context, status: Annotated[str, Option(help=f"Only those with this status: {usual}, {other}, ...")] = ""
    ) -> None:
        ctx.obj.emit(f"{kind}.list", *attitudes.list_attitudes(ctx.obj.open_agent(), kind, status))

    about = f"List the {kind}s with file and line."
    app.command("list", help=f"{about}\n\nExample: mabos {kind} list --status {usual}")(list_entries)


@desire.command("add")
def add_desire(
    ctx: Context,
    title: Annotated[str, Argument(help="What is wanted; - reads standard input.")],
    priority: Priority = "medium",
    motivates: Annotated[list[str] | None, Option(metavar="GOAL", help="A goal that it motivates; may repeat.")] = None,
    status: Annotated[str, Option(help="active, dormant, withdrawn, ...")] = "active",
    group: Group = "",
) -> None:
    """Add a desire to Desires.md, in the format of the file.

    Example: mabos desire add "Never lose a batch" --priority high --motivates G-001
    """
    _add(ctx.obj, "desire", title, {"priority": priority, "status": status, "motivates": motivates}, group=group)


@desire.command("update")
def update_desire(
    ctx: Context,
    name: Annotated[str, Argument(metavar="DESIRE", help="Its id, or its title.")],
    status: Annotated[str, Option(help="active, dormant, withdrawn, ...")] = "",
    priority: Priority = "",
    motivates: Annotated[
        list[str] | None, Option(metavar="GOAL", help="The goals that it motivates; may repeat.")
    ] = None,
    reason: Why = "",
) -> None:
    """Change a desire in place. If it is withdrawn, goals that only it motivates lose their reason.

    Example: mabos desire update D-001 --status withdrawn --reason "the market is gone"
    """
    fields = {"status": status, "priority": priority, "motivates": motivates}
    ctx.obj.emit("desire.update", *attitudes.update_attitude(ctx.obj.open_agent(), "desire", name, fields, reason))


_add_list_command(desire, "desire", "active", "dormant")


@goal.command("add")
def add_goal(
    ctx: Context,
    title: Annotated[str, Argument(help="The goal; - reads standard input.")],
    level: Annotated[
        str, Option(metavar="[strategic|tactical|operational]", help="The level of the goal.")
    ] = "tactical",
    priority: Priority = "",
    deadline: Deadline = "",
    parent: Annotated[str, Option(metavar="GOAL", help="The goal that it is part of.")] = "",
    desire: Annotated[list[str] | None, Option(metavar="DESIRE", help="A desire behind it; may repeat.")] = None,
    requires: Annotated[list[str] | None, Option(metavar="PLAN", help="A plan that it requires; may repeat.")] = None,
    resource: Annotated[list[str] | None, Option(help="A resource that it needs exclusively; may repeat.")] = None,
    excludes: Annotated[list[str] | None, Option(metavar="GOAL", help="A goal that it excludes; may repeat.")] = None,
    group: Annotated[str, Option(help="The heading that it goes under; else that of its level.")] = "",
) -> None:
    """Add a goal to Goals.md, in the format of the file.

    Example: mabos goal add "Renew the largest customer" --level tactical --deadline 2026-03-31
    """
    fields = {"type": level, "priority": priority, "status": "active", "deadline": deadline}
    links = {"parent": [parent], "desire": desire, "requires": requires, "needs": resource, "excludes": excludes}
    _add(ctx.obj, "goal", title, fields | links, group=group)


@goal.command("update")
def update(
    ctx: Context,
    name: Annotated[str, Argument(metavar="GOAL", help="Its id, or its title.")],
    status: Annotated[str, Option(help="active, achieved, abandoned, ...")] = "",
    progress: Annotated[float | None, Option(metavar="PERCENT", help="The progress in percent.")] = None,
    priority: Priority = "",
    deadline: NewDeadline = "",
    reason: Why = "",
) -> None:
    """Change a goal in place. If it is achieved, impossible or abandoned, the next cycle ends its intentions.

    Example: mabos goal update G-001 --status achieved
    """
    fields = {"status": status, "progress": progress, "priority": priority, "deadline": deadline}
    ctx.obj.emit("goal.update", *attitudes.update_attitude(ctx.obj.open_agent(), "goal", name, fields, reason))


@goal.command()
def close(
    ctx: Context,
    name: Annotated[str, Argument(metavar="GOAL", help="Its id, or its title.")],
    outcome: Annotated[
        str, Option("--as", metavar="[achieved|abandoned|failed|impossible]", help="How it ended.")
    ] = "achieved",
    reason: Annotated[str, Option(help="The outcome or the reason.")] = "",
) -> None:
    """Close a goal, in place and dated; the next cycle ends its intentions if the commitment strategy says so.

    Example: mabos goal close G-001 --as impossible --reason "the permit was refused"
    """
    ctx.obj.emit("goal.close", *attitudes.end_attitude(ctx.obj.open_agent(), "goal", "close", name, reason, outcome))


@goal.command("list")
def list_goals(
    ctx: Context,
    status: Annotated[str, Option(help="Only those with this status: active, achieved, ...")] = "",
    level: Annotated[str, Option(metavar="[strategic|tactical|operational]", help="Only goals of this level.")] = "",
    behind: Annotated[bool, Option("--behind", help="Only goals that are late or behind schedule.")] = False,
    every: Every = False,
) -> None:
    """List the goals with file and line, including progress reported by other agents.

    Example: mabos goal list --level strategic --behind --all
    """
    ctx.obj.check_all(every)
    ctx.obj.emit("goal.list", *overview.list_goals(ctx.obj, status, level, behind=behind, every=every))


@goal.command()
def delegate(
    ctx: Context,
    name: Annotated[str, Argument(metavar="GOAL", help="Its id, or its title.")],
    to: Annotated[str, Option(metavar="AGENT", help="The agent that takes it over.")],
) -> None:
    """Delegate a goal to another agent; its progress there is reported here.

    Example: mabos goal delegate G-001 --to cto
    """
    ctx.obj.emit("goal.delegate", *overview.delegate_goal(ctx.obj, name, to))


@goal.command()
def tree(ctx: Context) -> None:
    """Show goals as a tree, with their desires, plans and beliefs.

    Example: mabos goal tree
    """
    ctx.obj.emit("goal.tree", *attitudes.build_goal_tree(ctx.obj.open_agent()))


@intention.command("add")
def add_intention(
    ctx: Context,
    title: Annotated[str, Argument(help="The intention; - reads standard input.")],
    goal: Annotated[str, Option(metavar="GOAL", help="The goal that it serves.")] = "",
    plan: Annotated[str, Option(metavar="PLAN", help="The plan that it follows.")] = "",
    deadline: Deadline = "",
    group: Group = "",
) -> None:
    """Add an intention to Intentions.md, in the format of the file.

    Example: mabos intention add "Send the offer" --goal G-001 --deadline 2026-03-06
    """
    _add(
        ctx.obj,
        "intention",
        title,
        {"status": "active", "goal": [goal], "plan": [plan], "deadline": deadline},
        group=group,
    )


@intention.command()
def progress(
    ctx: Context,
    name: Intention,
    note: Annotated[str, Argument(metavar="[NOTE]", help="A note on what was done; - reads standard input.")] = "",
    percent: Annotated[float | None, Option(metavar="PERCENT", help="The progress in percent.")] = None,
    deadline: NewDeadline = "",
) -> None:
    """Record progress on an intention, with today's date. A stalled intention becomes active again.

    Example: mabos intention progress I-001 "two of three signed" --percent 60
    """
    note = line_argument(note, ctx.obj.literal_dash)
    ctx.obj.emit("intention.progress", *attitudes.note_progress(ctx.obj.open_agent(), name, note, percent, deadline))


@intention.command()
def complete(ctx: Context, name: Intention, outcome: Annotated[str, Option(help="The outcome.")] = "") -> None:
    """Mark an intention as completed, in place and dated.

    Example: mabos intention complete I-001 --outcome "signed for three years"
    """
    ctx.obj.emit(
        "intention.complete", *attitudes.end_attitude(ctx.obj.open_agent(), "intention", "complete", name, outcome)
    )


@intention.command()
def drop(ctx: Context, name: Intention, reason: Annotated[str, Option(help="The reason.")] = "") -> None:
    """Mark an intention as dropped, in place and dated.

    Example: mabos intention drop I-001 --reason "the customer went elsewhere"
    """
    ctx.obj.emit("intention.drop", *attitudes.end_attitude(ctx.obj.open_agent(), "intention", "drop", name, reason))


_add_list_command(intention, "intention", "active", "expired")


@plan.command("add")
def add_plan(
    ctx: Context,
    title: Annotated[str, Argument(help="What the plan is for; - reads standard input.")],
    goal: Annotated[list[str] | None, Option(metavar="GOAL", help="A goal that requires it; may repeat.")] = None,
    step: Annotated[list[str] | None, Option(help="A step, in order; may repeat.")] = None,
) -> None:
    """Add a plan to Plans.md, with its steps as a checklist.

    Example: mabos plan add "Renew Pagel" --goal G-001 --step "Visit them" --step "Send the offer"
    """
    _add(ctx.obj, "plan", title, {"goal": goal}, steps=step or ())


@plan.command()
def step(
    ctx: Context,
    name: Annotated[str, Argument(metavar="PLAN", help="Its id, or its title.")],
    text: Annotated[str, Argument(metavar="[TEXT]", help="A new last step; - reads standard input.")] = "",
    done: Annotated[str, Option(metavar="STEP", help="A step that is done: its name or number.")] = "",
) -> None:
    """Add a step to a plan, or mark one as done, in the format of the plan.

    Example: mabos plan step PL-001 --done 1
    """
    new = line_argument(text, ctx.obj.literal_dash) if text else None
    ctx.obj.emit("plan.step", *attitudes.change_steps(ctx.obj.open_agent(), name, new, done))


@plan.command("list")
def list_plans(ctx: Context, steps: Annotated[bool, Option("--steps", help="Show all steps.")] = False) -> None:
    """List the plans and their progress.

    Example: mabos plan list --steps
    """
    ctx.obj.emit("plan.list", *attitudes.list_attitudes(ctx.obj.open_agent(), "plan", with_steps=steps))


@commitment.command("add")
def add_commitment(
    ctx: Context,
    title: Annotated[str, Argument(help="What is promised; - reads standard input.")],
    to: Annotated[str, Option(metavar="WHOM", help="To whom.")] = "",
    deadline: Annotated[str, Option("--deadline", "--due", metavar="DATE", help="The deadline.")] = "",
    status: Annotated[str, Option(help="open, kept, broken, ...")] = "open",
    group: Group = "",
) -> None:
    """Add a commitment to Commitments.md, in the format of the file.

    Example: mabos commitment add "Send the annual accounts" --to "the bank" --due 2026-04-30
    """
    _add(ctx.obj, "commitment", title, {"owner": to, "status": status, "deadline": deadline}, group=group)


@commitment.command("update")
def update_commitment(
    ctx: Context,
    name: Commitment,
    status: Annotated[str, Option(help="open, kept, broken, ...")] = "",
    to: Annotated[str, Option(metavar="WHOM", help="To whom.")] = "",
    deadline: Annotated[str, Option("--deadline", "--due", metavar="DATE", help="The new deadline.")] = "",
    reason: Why = "",
) -> None:
    """Change a commitment in place.

    Example: mabos commitment update C-001 --due 2026-05-15 --reason "agreed with the bank"
    """
    fields = {"status": status, "owner": to, "deadline": deadline}
    ctx.obj.emit(
        "commitment.update", *attitudes.update_attitude(ctx.obj.open_agent(), "commitment", name, fields, reason)
    )


def _add_end_command(verb: str, about: str, example: str) -> None:
    """Gives the group of commitments a command that ends one."""

    def end(
        ctx: Context, name: Commitment, reason: Annotated[str, Option(help="The outcome or the reason.")] = ""
    ) -> None:
        done = attitudes.end_attitude(ctx.obj.open_agent(), "commitment", verb, name, reason)
        ctx.obj.emit(f"commitment.{verb}", *done)

    commitment.command(verb, help=f"{about}, in place and dated.\n\nExample: mabos commitment {verb} C-001{example}")(
        end
    )


_add_end_command("complete", "Mark a commitment as kept", "")
_add_end_command("break", "Mark a commitment as broken", ' --reason "the auditor was ill"')


@commitment.command("list")
def list_commitments(
    ctx: Context,
    status: Annotated[str, Option(help="Only those with this status: open, kept, ...")] = "",
    to_me: Annotated[bool, Option("--to-me", help="List what other agents promised to this one.")] = False,
) -> None:
    """List the commitments with file and line.

    Example: mabos commitment list --to-me
    """
    agent = ctx.obj.open_agent()
    found = overview.list_owed_to(agent) if to_me else attitudes.list_attitudes(agent, "commitment", status)
    ctx.obj.emit("commitment.list", *found)


@learning.command("add")
def add_learning(
    ctx: Context,
    lesson: Annotated[str, Argument(help="The lesson, in one line; - reads standard input.")],
    text: Annotated[str, Argument(metavar="[TEXT]", help="More about it; - reads standard input.")] = "",
    source: Annotated[str, Option(help="Where it was learned.")] = "",
    trust: Trust = "",
    by: Voucher = "",
) -> None:
    """Add a dated lesson to Learnings.md, in the format of the file.

    Example: mabos learning add "Ask the night shift first" --source "S2 launch"
    """
    more = text_argument(text, ctx.obj.literal_dash) if text else None
    _add(ctx.obj, "learning", lesson, {"source": source, "trust": trust}, text=more, by=by)


@learning.command("adopt")
def adopt_learning(
    ctx: Context, name: Annotated[str, Argument(metavar="LESSON", help="Its id, or the lesson.")], by: Voucher = ""
) -> None:
    """Turn a lesson into an instruction in long-term memory; the lesson is marked as adopted.

    Example: mabos learning adopt "Ask the night shift first"
    """
    ctx.obj.emit("learning.adopt", *attitudes.adopt_learning(ctx.obj.open_agent(), name, by))


@learning.command("list")
def list_learnings(ctx: Context) -> None:
    """List the lessons with file and line.

    Example: mabos learning list
    """
    ctx.obj.emit("learning.list", *attitudes.list_attitudes(ctx.obj.open_agent(), "learning"))
