"""context pack: a small, cited bundle of memory for a request, within a token budget."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mabos_cli.commands.call import Call
from mabos_cli.commands.options import Limit
from mabos_cli.core import BadValue
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import TRUSTS, check_choice
from mabos_cli.services.inputs import read_given, text_argument
from mabos_cli.workspace.agent import Agent

if TYPE_CHECKING:
    from mabos_cli.core.context.candidates import Placed, Receipt
    from mabos_cli.core.context.texts import Turn
    from mabos_cli.services.context.pack import Bounds, Packed


def pack(
    ctx: typer.Context,
    words: Annotated[
        list[str], typer.Argument(metavar="QUERY", help="What is asked, also a whole request; - reads standard input.")
    ],
    budget: Annotated[
        int | None, typer.Option("--budget", "-b", help="At most this many tokens (default 1200).")
    ] = None,
    history: Annotated[
        str,
        typer.Option(metavar="FILE", help="A conversation (JSON, or a host's JSON lines) whose last turns are kept."),
    ] = "",
    tail: Annotated[int | None, typer.Option(help="How many last turns of --history are kept (default 4).")] = None,
    min_trust: Annotated[
        str, typer.Option(help="Only what is at least agent or trusted; turns of user and assistant are always kept.")
    ] = "",
    limit: Limit = 0,
    trace: Annotated[
        bool, typer.Option("--trace", help="Say of each candidate why it is in or out, without its content.")
    ] = False,
    no_use: Annotated[bool, typer.Option("--no-use", help="Do not count what is packed as used.")] = False,
) -> None:
    """Pack what memory knows about a request: cited lines in a frame, never over budget.

    Example: mabos context pack "how do we price seats" --budget 600 --trace
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    query = " ".join(words)
    if history == "-" and query == "-" and not call.literal_dash:
        raise BadValue("QUERY and --history cannot both be -", "give one of them as a file or an argument")
    query = text_argument(query, call.literal_dash)
    bounds = _bounds(agent, budget, tail, history, min_trust, limit)
    from mabos_cli.services.context.pack import pack_for

    packed = pack_for(call, agent, query, bounds, _read_turns(history))
    refreshed = [] if no_use else packed.used()
    agent.note_uses(refreshed)
    data = {"query": query, "budget": bounds.budget, **_pack_data(packed), "refreshed": refreshed}
    if trace:
        data["trace"] = [receipt._asdict() for receipt in packed.pack.receipts]
    lines = [*packed.pack.text.split("\n")[:-1], *(_trace_lines(packed.pack.receipts) if trace else ())]
    call.emit("context.pack", data, lines, packed.warnings)


def _bounds(agent: Agent, budget: int | None, tail: int | None, history: str, min_trust: str, limit: int) -> "Bounds":
    if tail is not None and not history:
        raise BadValue("--tail needs a conversation", "add --history FILE")
    if (tail or 0) < 0:
        raise BadValue("--tail cannot be negative", "0 keeps no turn")
    if budget is not None and budget < 1:
        raise BadValue("--budget must be above 0", "the frame and one line take about 50 tokens")
    from mabos_cli.services.context.pack import Bounds

    return Bounds(
        agent.settings["context.pack_budget"] if budget is None else budget,
        agent.settings["context.tail_turns"] if tail is None else tail,
        check_choice(min_trust, list(TRUSTS), "trust") if min_trust else "",
        limit,
    )


def _read_turns(path: str) -> "tuple[Turn, ...]":
    if not path:
        return ()
    from mabos_cli.formats.context.history import parse_history

    return parse_history(read_given(path), "standard input" if path == "-" else path)


def _pack_data(packed: "Packed") -> dict[str, Any]:
    """The pack as one shallow object."""
    p = packed.pack
    tail = [placed.entry.ref for placed in p.tail]
    return {
        "tokens": p.tokens,
        "counted_by": packed.counted_by,
        "bundle_text": p.text,
        "items": [_row(placed) for placed in p.placed],
        "citations": [*(placed.entry.ref for placed in p.placed), *tail],
        "tail": tail,
        "contradiction": p.contradiction._asdict() if p.contradiction else None,
        "left_out": sum(not receipt.included for receipt in p.receipts),
    }


def _row(placed: "Placed") -> dict[str, Any]:
    from mabos_cli.formats.context.context_pack import inert

    entry = placed.entry
    return {
        "ref": entry.ref,
        "kind": entry.kind,
        "lane": entry.lane,
        "layer": placed.layer,
        "type": entry.type,
        "trust": entry.trust,
        "importance": entry.importance,
        "score": entry.score,
        "at": entry.at,
        "tokens": placed.tokens,
        "text": inert(placed.told),
    }


def _trace_lines(receipts: "Sequence[Receipt]") -> list[str]:
    """A line for each candidate: in or out, its marks, its reference and why."""
    return [
        f"{'+' if r.included else '-'} {one_line(r.ref)} {r.kind} {r.lane} {r.layer or '--'} score {r.score:.4f} "
        f"{r.trust} importance {r.importance:.2f} {plural(r.tokens, 'token')}: {one_line(r.reason)}"
        for r in receipts
    ]
