"""checkpoint: the state of a session, before its context is compacted."""

from typing import Annotated

from mabos_cli.commands.call import Commands, Context, Option
from mabos_cli.core.language.text import one_line
from mabos_cli.errors import UsageFault
from mabos_cli.services.inputs import text_argument
from mabos_cli.services.memory.checkpoints import (
    latest_checkpoint,
    list_checkpoints,
    restore_checkpoint,
    save_checkpoint,
)

app = Commands("checkpoint", "")


@app.callback()
def checkpoint(
    ctx: Context,
    context: Annotated[str, Option("--context", "-c", help="What you are doing; - reads standard input.")] = "",
    decision: Annotated[list[str] | None, Option(help="A decision that holds; may repeat.")] = None,
    finding: Annotated[list[str] | None, Option(help="Something found out; may repeat.")] = None,
    question: Annotated[list[str] | None, Option(help="An open question; may repeat.")] = None,
    next: Annotated[list[str] | None, Option(help="A next step; may repeat.")] = None,
) -> None:
    """Save the state of a session, or show or restore one.

    Example: mabos checkpoint -c "Migrating billing" --decision "Keep Stripe" --next "Port webhooks"
    """
    if ctx.invoked_subcommand:
        if context or decision or finding or question or next:
            raise UsageFault(f"{ctx.invoked_subcommand} writes nothing", "leave the options out, or the word")
        return
    if not context:
        raise UsageFault(
            "a checkpoint needs --context", 'mabos checkpoint -c "what you are doing"; or latest, list, restore'
        )
    text = text_argument(context, ctx.obj.literal_dash)
    path, kinds = save_checkpoint(
        ctx.obj.open_agent(), text, (decision or (), finding or (), question or (), next or ())
    )
    notes = [f"secrets replaced: {', '.join(kinds)}"] if kinds else []
    ctx.obj.emit("checkpoint", {"path": path, "redacted": kinds}, [f"wrote {path}"], notes)


@app.command()
def latest(ctx: Context) -> None:
    """Print the latest checkpoint.

    Example: mabos checkpoint latest
    """
    path, text = latest_checkpoint(ctx.obj.open_agent())
    ctx.obj.emit("checkpoint.latest", {"path": path, "content": text}, text.rstrip("\n").split("\n"))


@app.command("list")
def list_command(ctx: Context) -> None:
    """List the checkpoints, oldest first.

    Example: mabos checkpoint list
    """
    rows = list_checkpoints(ctx.obj.open_agent())
    low = {"untrusted": " (untrusted)"}
    lines = [f"{row['path']}{low.get(row['trust'], '')}  {one_line(row['context'], 80)}" for row in rows]
    ctx.obj.emit("checkpoint.list", {"checkpoints": rows}, lines or ["no checkpoint yet"])


@app.command()
def restore(ctx: Context) -> None:
    """Copy the latest checkpoint into Beliefs.md, once.

    Example: mabos checkpoint restore
    """
    path, restored = restore_checkpoint(ctx.obj.open_agent())
    line = f"restored {path} into Beliefs.md" if restored else f"{path} is in Beliefs.md already"
    ctx.obj.emit("checkpoint.restore", {"path": path, "restored": restored}, [line])
