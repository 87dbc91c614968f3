"""timeline: what happened when."""

import re
from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call
from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time, parse_when
from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory.item import STORES
from mabos_cli.core.search.recall import Filters
from mabos_cli.core.search.recall import recall as find
from mabos_cli.services.inputs import line_argument
from mabos_cli.services.memory.items import find_item
from mabos_cli.services.search.agent_search import AgentSearch, SearchOptions
from mabos_cli.workspace.agent import Agent

app = typer.Typer()
_END = ("~", "")  # behind every moment
_LOOKED = 20  # hits, which may be passages of files; the best item among them is what is meant


@app.command()
def timeline(
    ctx: typer.Context,
    around: Annotated[
        str, typer.Argument(metavar="[QUERY]", help="An id, a date, or words, - for standard input; empty: the latest.")
    ] = "",
    before: Annotated[int, typer.Option("--before", "-B", help="Entries before it.")] = 5,
    after: Annotated[int, typer.Option("--after", "-A", help="Entries after it.")] = 5,
    live: Annotated[bool, typer.Option("--live", help="Leave archived items out.")] = False,
) -> None:
    """Show what happened around an id, a date or a query, in order.

    Example: mabos timeline 2026-02-24 --before 3 --after 10
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    if before < 0 or after < 0:
        raise BadValue("--before and --after cannot be negative", "0 for no entry on that side")
    search = AgentSearch([agent], SearchOptions(Filters(), not live, _LOOKED), call.progress)
    around = line_argument(around, call.literal_dash)
    if around:
        place = _find_place(agent, search, around)
        earlier, later = search.around(place, before, after + 1) if place else ([], [])
        named = place[1] if place else ""
        chosen = [*earlier, *later] if later or named else []
        focus = named or (later[0].ref if later else None)
    else:
        chosen, focus = search.around(_END, before + 1, 0)[0], None
    rows: list[dict[str, Any]] = [
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
    is_known = bool(lines or search.around(_END, 1, 0)[0])
    call.emit(
        "timeline",
        {"query": around, "focus": focus, "entries": rows},
        lines or [f"nothing found for {around}" if is_known else "no memories yet"],
        search.warnings(),
    )


def _find_place(agent: Agent, search: AgentSearch, around: str) -> tuple[str, str] | None:
    """The moment that the question is about, with the id if it is about an item; None when nothing fits it."""
    if re.fullmatch(r"M-\d+-[0-9a-f]{4}", around):
        item = find_item(agent, agent.memory(), around).item
        return item.happened_at, item.id
    try:
        return format_time(parse_when(around, agent.now())), ""
    except BadValue:
        hits = [hit.candidate for hit in find(search, around, _LOOKED) if hit.candidate.item]
    if not hits:  # files alone answer better; asking for items only takes longer
        search.options = search.options._replace(filters=Filters(stores=STORES), limit=1)
        hits = [hit.candidate for hit in find(search, around, 1)]
    return (hits[0].at, hits[0].ref) if hits else None
