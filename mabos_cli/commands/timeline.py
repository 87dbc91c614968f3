"""timeline: what happened when."""

import re
from typing import Annotated

import typer

from mabos_cli.commands.call import Call
from mabos_cli.commands.item import find_item
from mabos_cli.core import BadValue
from mabos_cli.core.clock import format_time, parse_when
from mabos_cli.core.item import STORES
from mabos_cli.core.recall import Candidate, TermSearch
from mabos_cli.core.recall import recall as find
from mabos_cli.core.text import one_line
from mabos_cli.workspace.home import AgentHome

app = typer.Typer()


@app.command()
def timeline(
    ctx: typer.Context,
    around: Annotated[
        str, typer.Argument(metavar="[QUERY]", help="An id, a date, or words; empty: the latest.")
    ] = "",
    before: Annotated[int, typer.Option("--before", "-B", help="Entries before it.")] = 5,
    after: Annotated[int, typer.Option("--after", "-A", help="Entries after it.")] = 5,
    live: Annotated[bool, typer.Option("--live", help="Leave archived items out.")] = False,
) -> None:
    """Show what happened around an id, a date or a query, in order.

    Example: mabos timeline 2026-02-24 --before 3 --after 10
    """
    call: Call = ctx.obj
    home = call.open_home()
    if before < 0 or after < 0:
        raise BadValue("--before and --after cannot be negative")
    entries = sorted(_entries(home, live), key=lambda c: (c.at, c.ref))
    center = _center(home, around, entries)
    chosen = entries[max(0, center - before) : center + after + 1] if center is not None else []
    focus = entries[center].ref if around and center is not None else None
    rows = [
        {
            "id": c.ref,
            "at": c.at,
            "type": c.item.type if c.item else "",
            "store": c.store,
            "archived": c.archived or None,
            "content": c.text,
            "focus": c.ref == focus,
        }
        for c in chosen
    ]
    lines = [
        f"{'>' if row['focus'] else ' '} {row['at'][:16]}Z {row['id']} {row['type']}"
        f"{' (archived)' if row['archived'] else ''}: {one_line(str(row['content']), 100)}"
        for row in rows
    ]
    call.emit(
        "timeline",
        {"query": around, "focus": focus, "entries": rows},
        lines or [f"nothing found for {around}" if around and entries else "no memories yet"],
    )


def _entries(home: AgentHome, live: bool) -> list[Candidate]:
    memory = home.memory()
    found = {
        item.id: Candidate(item.content, item.importance, item.happened_at, item, store)
        for store in STORES
        for item in getattr(memory, store)
    }
    if not live:
        for d in home.all_departures():
            if d.item.id not in found or found[d.item.id].archived:
                found[d.item.id] = Candidate(
                    d.item.content, d.item.importance, d.item.happened_at, d.item, d.store, d.reason
                )
    return list(found.values())


def _center(home: AgentHome, around: str, entries: list[Candidate]) -> int | None:
    """The position that the question is about; None when nothing fits it."""
    if not around.strip():
        return len(entries) - 1 if entries else None
    if re.fullmatch(r"M-\d+-[0-9a-f]{4}", around):
        item = find_item(home, home.memory(), around).item
        return next((n for n, c in enumerate(entries) if c.ref == item.id), 0)
    try:
        moment = format_time(parse_when(around, home.now()))
    except BadValue:
        hits = find(TermSearch(entries), around, limit=1)
        return entries.index(hits[0].candidate) if hits else None
    return min((n for n, c in enumerate(entries) if c.at >= moment), default=None)
