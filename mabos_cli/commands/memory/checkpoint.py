"""checkpoint: the state of a session, before its context is compacted."""

from typing import Annotated

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.core.language.secrets import redact
from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory.checkpoint import Checkpoint
from mabos_cli.core.memory.item import check_content
from mabos_cli.errors import NotFound, UsageFault
from mabos_cli.formats.memory.checkpoint_md import checkpoint_context, checkpoint_title
from mabos_cli.services.inputs import text_argument
from mabos_cli.workspace.memory.checkpoints import (
    latest_checkpoint,
    list_checkpoints,
    restore_checkpoint,
    write_checkpoint,
)

app = new_group("checkpoint", "", invoke_without_command=True)


@app.callback()
def checkpoint(
    ctx: typer.Context,
    context: Annotated[str, typer.Option("--context", "-c", help="What you are doing; - reads standard input.")] = "",
    decision: Annotated[list[str] | None, typer.Option(help="A decision that holds; may repeat.")] = None,
    finding: Annotated[list[str] | None, typer.Option(help="Something found out; may repeat.")] = None,
    question: Annotated[list[str] | None, typer.Option(help="An open question; may repeat.")] = None,
    next: Annotated[list[str] | None, typer.Option(help="A next step; may repeat.")] = None,
) -> None:
    """Write down the state of a session, or show and restore one.

    Example: mabos checkpoint -c "Migrating billing" --decision "Keep Stripe" --next "Port webhooks"
    """
    call: Call = ctx.obj
    if ctx.invoked_subcommand:
        if context or decision or finding or question or next:
            raise UsageFault(f"{ctx.invoked_subcommand} writes nothing", "leave the options out, or the word")
        return
    if not context:
        raise UsageFault(
            "a checkpoint needs --context", 'mabos checkpoint -c "what you are doing"; or latest, list, restore'
        )
    agent = call.open_agent()
    limit = agent.settings["memory.max_content_bytes"]
    kinds: set[str] = set()

    def kept(text: str) -> str:
        # A session that ends cannot say it again: a secret is left out, and no reason to refuse the rest.
        hidden, found = redact(text) if agent.settings["secrets.refuse"] else (text, ())
        kinds.update(found)
        return check_content(hidden, limit)

    lists = [tuple(map(kept, entries or ())) for entries in (decision, finding, question, next)]
    state = Checkpoint(agent.now(), kept(text_argument(context, call.literal_dash)), *lists)
    path = write_checkpoint(agent, state)
    notes = [f"secrets replaced: {', '.join(sorted(kinds))}"] if kinds else []
    call.emit("checkpoint", {"path": path, "redacted": sorted(kinds)}, [f"wrote {path}"], notes)


@app.command()
def latest(ctx: typer.Context) -> None:
    """Print the latest checkpoint.

    Example: mabos checkpoint latest
    """
    call: Call = ctx.obj
    found = latest_checkpoint(call.open_agent())
    if found is None:
        raise NotFound("no checkpoint yet", 'write one: mabos checkpoint -c "what you are doing"')
    call.emit("checkpoint.latest", {"path": found[0], "content": found[1]}, found[1].rstrip("\n").split("\n"))


@app.command("list")
def list_command(ctx: typer.Context) -> None:
    """List the checkpoints, oldest first.

    Example: mabos checkpoint list
    """
    call: Call = ctx.obj
    rows = [
        {"path": path, "title": checkpoint_title(text), "context": checkpoint_context(text)}
        for path, text in list_checkpoints(call.open_agent())
    ]
    call.emit(
        "checkpoint.list",
        {"checkpoints": rows},
        [f"{row['path']}  {one_line(row['context'], 80)}" for row in rows] or ["no checkpoint yet"],
    )


@app.command()
def restore(ctx: typer.Context) -> None:
    """Put the latest checkpoint into Beliefs.md, once.

    Example: mabos checkpoint restore
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    found = latest_checkpoint(agent)
    if found is None:
        raise NotFound("no checkpoint yet", 'write one: mabos checkpoint -c "what you are doing"')
    restored = restore_checkpoint(agent, *found)
    line = f"restored {found[0]} into Beliefs.md" if restored else f"{found[0]} is in Beliefs.md already"
    call.emit("checkpoint.restore", {"path": found[0], "restored": restored}, [line])
