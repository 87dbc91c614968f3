"""belief: adds, revises and lists beliefs."""

from typing import Annotated

from mabos_cli.commands.call import Argument, Commands, Context, Option, Trust, Voucher
from mabos_cli.services.inputs import text_argument
from mabos_cli.services.mind.beliefs import Revision, add_belief, list_beliefs, revise_belief

app = Commands("belief", "Add, revise and list the beliefs of an agent.")


@app.command()
def add(
    ctx: Context,
    subject: Annotated[str, Argument(help="What it is about.")],
    text: Annotated[str, Argument(metavar="[TEXT]", help="The belief; - reads standard input.")] = "",
    certainty: Annotated[float, Option(help="0 to 1.")] = 0.8,
    source: Annotated[str, Option(help="Where it comes from.")] = "manual",
    supports: Annotated[list[str] | None, Option(metavar="GOAL", help="A goal it supports; may repeat.")] = None,
    group: Annotated[str, Option(help="The heading that it goes under.")] = "",
    rests_on: Annotated[
        list[str] | None, Option(metavar="ID", ids="facts beliefs", help="A fact or belief it rests on; may repeat.")
    ] = None,
    trust: Trust = "",
    by: Voucher = "",
) -> None:
    """Add a belief to Beliefs.md, as a table row if beliefs are in tables, else as a section.

    Example: mabos belief add "Market demand" "growing" --certainty 0.8 --source report
    """
    value = text_argument(text, ctx.obj.literal_dash) if text else None
    links = {"supports": supports or (), "rests_on": rests_on or ()}
    added = add_belief(
        ctx.obj.open_agent(), subject, value, certainty, source, group=group, trust=trust, by=by, **links
    )
    ctx.obj.emit("belief.add", *added)


@app.command()
def revise(
    ctx: Context,
    name: Annotated[str, Argument(metavar="BELIEF", help="Its id, or its subject.")],
    certainty: Annotated[float | None, Option(help="The new certainty, 0 to 1.")] = None,
    value: Annotated[str | None, Option(help="The new value or text.")] = None,
    source: Annotated[str | None, Option(help="The new source.")] = None,
    status: Annotated[str, Option(help="retracted, superseded by B-002, active, ...; its certainty stays.")] = "",
    reason: Annotated[str, Option(help="Why; kept in the revision log of the file, or with the belief.")] = "",
    trust: Trust = "",
    by: Voucher = "",
) -> None:
    """Change a belief in place; no other lines change.

    Example: mabos belief revise B-001 --certainty 0.4 --reason "two customers left"
    """
    revised = revise_belief(ctx.obj.open_agent(), name, Revision(certainty, value, source, reason, trust, by, status))
    ctx.obj.emit("belief.revise", *revised)


@app.command("list")
def list_command(
    ctx: Context,
    min_certainty: Annotated[float, Option(help="Only beliefs at least this certain.")] = 0.0,
    status: Annotated[str, Option(help="Only those with this status: active, superseded, ...")] = "",
) -> None:
    """List the beliefs with file and line.

    Example: mabos belief list --min-certainty 0.6
    """
    found = list_beliefs(ctx.obj.open_agent(), min_certainty, status)
    ctx.obj.emit("belief.list", *found)
