"""belief: what an agent holds true, in Beliefs.md."""

from typing import Annotated

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.core import BadValue
from mabos_cli.core.memory.item import check_content, check_word
from mabos_cli.core.mind.mind import Belief, status_word
from mabos_cli.formats.mind.attitude_text import added_line, belief_line, belief_row
from mabos_cli.services.inputs import text_argument
from mabos_cli.services.mind.attitudes import check_certainty, today
from mabos_cli.services.mind.beliefs import add_belief, name_fields, revise_belief
from mabos_cli.workspace.mind import load_beliefs

app = new_group("belief", "Add, revise and list what an agent holds true.", no_args_is_help=True)


@app.command()
def add(
    ctx: typer.Context,
    subject: Annotated[str, typer.Argument(help="What it is about.")],
    text: Annotated[str, typer.Argument(metavar="[TEXT]", help="What holds; - reads standard input.")] = "",
    certainty: Annotated[float, typer.Option(help="0 to 1.")] = 0.8,
    source: Annotated[str, typer.Option(help="Where it comes from.")] = "manual",
    supports: Annotated[list[str] | None, typer.Option(metavar="GOAL", help="A goal it supports; may repeat.")] = None,
    group: Annotated[str, typer.Option(help="The heading that it goes under.")] = "",
) -> None:
    """Add a belief to Beliefs.md, as a row where beliefs stand in tables, else as a section.

    Example: mabos belief add "Market demand" "growing" --certainty 0.8 --source report
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    limit = agent.settings["memory.max_content_bytes"]
    value = check_content(text_argument(text, call.literal_dash), limit).strip("\n") if text else ""
    word, goals = check_word(source, "source"), tuple(check_word(goal, "id") for goal in supports or ())
    belief = Belief(_subject(subject), value, check_certainty(certainty), today(agent), source=word, supports=goals)
    added = add_belief(agent, belief, group)
    line = added_line(added.belief.id, added.belief.place, added.belief.statement)
    call.emit("belief.add", belief_row(added.belief), [line], added.warnings)


def _subject(text: str) -> str:
    subject = check_word(text, "subject", 300)
    if not subject:
        raise BadValue("the subject is empty", "say what the belief is about")
    return subject


@app.command()
def revise(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="BELIEF", help="Its id, or its subject.")],
    certainty: Annotated[float | None, typer.Option(help="The new certainty, 0 to 1.")] = None,
    value: Annotated[str | None, typer.Option(help="What holds now, in place of its value or text.")] = None,
    source: Annotated[str | None, typer.Option(help="The new source.")] = None,
    reason: Annotated[str, typer.Option(help="Why; kept in the revision log of the file, if it has one.")] = "",
) -> None:
    """Change a belief in its place; only its own lines change.

    Example: mabos belief revise B-001 --certainty 0.4 --reason "two customers left"
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    changes = {} if certainty is None else {"certainty": f"{check_certainty(certainty):g}"}
    changes |= {} if value is None else {"text": check_content(value, agent.settings["memory.max_content_bytes"])}
    changes |= {} if source is None else {"source": check_word(source, "source")}
    if not changes:
        raise BadValue("nothing given to change", "--certainty, --value or --source")
    found = revise_belief(agent, name, changes, reason)
    belief, verb = found.belief, "revised" if found.changed else "unchanged"
    line = f"{verb} {belief.id or belief.subject} {belief.place}: {name_fields(changes)}"
    call.emit("belief.revise", belief_row(belief) | {"changed": sorted(changes)}, [line], found.warnings)


@app.command("list")
def list_command(
    ctx: typer.Context,
    min_certainty: Annotated[float, typer.Option(help="Only beliefs at least this certain.")] = 0.0,
    status: Annotated[str, typer.Option(help="Only those with this status: active, superseded, ...")] = "",
) -> None:
    """List the beliefs in the order of the file, with their places.

    Example: mabos belief list --min-certainty 0.6
    """
    call: Call = ctx.obj
    beliefs, problems = load_beliefs(call.open_agent())
    wanted = status.strip().casefold()
    chosen = [b for b in beliefs if b.certainty >= min_certainty and wanted in ("", status_word(b.status))]
    lines = [belief_line(belief) for belief in chosen]
    warnings = [str(problem) for problem in problems]
    nothing = "no belief passes the filters" if beliefs else "no beliefs yet"
    call.emit("belief.list", {"beliefs": [belief_row(b) for b in chosen]}, lines or [nothing], warnings)
