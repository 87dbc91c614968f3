"""context flush-check and flush-prompt: when to save memory before the window is compacted, and what to say."""

from typing import Annotated

import typer

from mabos_cli.commands.call import Call
from mabos_cli.core import BadValue
from mabos_cli.core.memory.checkpoint import should_flush
from mabos_cli.core.memory.item import check_word
from mabos_cli.formats.memory.checkpoint_md import render_flush_prompt
from mabos_cli.services.inputs import option
from mabos_cli.services.memory.checkpoints import note_flush, read_flushes


def flush_check(
    ctx: typer.Context,
    total_tokens: Annotated[int, typer.Option(help="Tokens in the context now.")],
    window: Annotated[int, typer.Option(help="Size of the context window.")],
    compaction_count: Annotated[
        int | None, typer.Option(help="Compactions so far; answers yes at most once for each.")
    ] = None,
    session: Annotated[str, typer.Option(help="The session whose compactions are counted.")] = "",
    soft: Annotated[
        int | None, typer.Option(help="Tokens before the reserve at which to flush (default 4000).")
    ] = None,
    reserve: Annotated[int | None, typer.Option(help="Tokens kept free for the answer (default 8000).")] = None,
) -> None:
    """Say whether memory should be flushed now, before the context is compacted.

    Example: mabos context flush-check --total-tokens 189000 --window 200000 --compaction-count 2
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    if total_tokens < 0 or window <= 0 or (compaction_count or 0) < 0:
        raise BadValue(
            "token counts cannot be negative, and the window must be above 0",
            "as in --total-tokens 189000 --window 200000",
        )
    session = check_word(session, "session")
    soft = agent.settings["flush.soft_tokens"] if soft is None else option("flush.soft_tokens", soft)
    reserve = agent.settings["flush.reserve_tokens"] if reserve is None else option("flush.reserve_tokens", reserve)
    flushed = read_flushes(agent).get(session)
    flush = should_flush(
        total_tokens, window, soft=soft, reserve=reserve, compaction=compaction_count, flushed_at=flushed
    )
    warnings = note_flush(agent, session, compaction_count) if flush and compaction_count is not None else []
    threshold = max(0, window - reserve - soft)
    done = compaction_count is not None and compaction_count == flushed
    data = {
        "flush": flush,
        "threshold": threshold,
        "total_tokens": total_tokens,
        "remaining": window - total_tokens,
        "already_flushed": done,
    }
    why = (
        f"compaction {compaction_count} was flushed already"
        if done
        else f"{total_tokens} tokens, threshold {threshold}"
    )
    call.emit("context.flush-check", data, [f"{'flush' if flush else 'wait'}: {why}"], warnings)


def flush_prompt(ctx: typer.Context) -> None:
    """Print what to tell the agent before its context is compacted.

    Example: mabos context flush-prompt --agent cfo
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    now = agent.now()
    prompt = render_flush_prompt(agent.id, f"{now:%Y-%m-%d}", f"{now:%H%M}")
    call.emit("context.flush-prompt", {"prompt": prompt}, prompt.rstrip("\n").split("\n"))
