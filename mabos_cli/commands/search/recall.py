"""recall: find memories."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mabos_cli.commands.call import Call
from mabos_cli.config import PRESETS
from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time, parse_when
from mabos_cli.core.language.text import one_line, plural, token_cost
from mabos_cli.core.memory.item import CLASSES, STORES, TRUSTS, TYPES, check_choice, check_tags
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.core.search.recall import Depth, Filters, Hit, fit_budget, with_words
from mabos_cli.core.search.recall import recall as find
from mabos_cli.formats.memory.items import item_to_dict
from mabos_cli.services.inputs import importance_of, text_argument
from mabos_cli.services.search.agent_search import MOST, AgentSearch, SearchOptions, open_search
from mabos_cli.workspace.agent import Agent

if TYPE_CHECKING:
    from mabos_cli.services.search.llm_recall import AidedRecall

app = typer.Typer()


@app.command()
def recall(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[QUERY]", help="Words to look for; - reads standard input. Empty: the most important and recent."
        ),
    ] = None,
    depth: Annotated[int, typer.Option("--depth", "-d", help="0 to 3: also follow what the best hits mention.")] = 0,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=0, help="Show at most this many; 0 for all (default 20).")
    ] = None,
    type: Annotated[list[str] | None, typer.Option("--type", "-t", help="Only this type; may repeat.")] = None,
    category: Annotated[
        list[str] | None, typer.Option(help="Only episodic, semantic or procedural memories, or a type.")
    ] = None,
    store: Annotated[str, typer.Option(help="working, short_term, long_term or all.")] = "all",
    min_importance: Annotated[float | None, typer.Option(help="Only memories at least this important.")] = None,
    priority_min: Annotated[
        str | None, typer.Option(help="Only memories at least critical, high, medium or low.")
    ] = None,
    min_trust: Annotated[
        str, typer.Option(help="Only what is at least agent or trusted; files are the agent's own words at best.")
    ] = "",
    since: Annotated[
        str, typer.Option(metavar="DATE", help="Only what happened since: a date, or an age such as 7d.")
    ] = "",
    until: Annotated[str, typer.Option(metavar="DATE", help="Only what happened until then, that day included.")] = "",
    tag: Annotated[list[str] | None, typer.Option(help="Only with this tag; repeat for all of several.")] = None,
    token_budget: Annotated[int, typer.Option(help="Stop at this many tokens.")] = 0,
    format: Annotated[str, typer.Option(help="brief (a line each) or detailed.")] = "brief",
    archived: Annotated[bool, typer.Option("--archived", help="Search the archive too.")] = False,
    shared: Annotated[
        bool, typer.Option("--shared", help="Search the other agents that share their memory too.")
    ] = False,
    preset: Annotated[str | None, typer.Option(help="How signals are weighed: default, seed, balanced or rrf.")] = None,
    mmr: Annotated[bool, typer.Option("--mmr", help="Prefer results that differ from one another.")] = False,
    decay: Annotated[bool, typer.Option("--decay", help="Let scores halve with age, every 30 days.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say why each result is here.")] = False,
    llm: Annotated[
        bool, typer.Option("--llm", help="Let the language model rephrase the question and help to order.")
    ] = False,
) -> None:
    """Find memories and passages of memory files.

    Example: mabos recall "pricing decision" --depth 1 --since 30d
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    s = agent.settings
    query = text_argument(" ".join(words or []), call.literal_dash)
    least = importance_of(min_importance, priority_min, "--min-importance", "--priority-min")
    filters = _filters(agent, type, category, store, least, min_trust, since, until, tag, archived)
    check_choice(format, ["brief", "detailed"], "format")
    limit = s["recall.limit"] if limit is None else limit
    if token_budget < 0 or depth < 0:
        raise BadValue("--token-budget and --depth cannot be negative", "0 for no budget, and no depth")
    passes = Depth(min(depth, 3), s["recall.depth_hits"], s["recall.depth_terms"], s["recall.depth_reserved"])
    options = SearchOptions(
        filters,
        archived,
        min(limit or MOST, MOST),
        check_choice(preset or s["recall.preset"], PRESETS, "preset"),
        s["recall.mmr_lambda"] if mmr else None,
        s["recall.half_life"] if decay else 0.0,
    )
    aid = _open_aid(agent) if llm else None
    search = open_search(call, agent, options, shared=shared)
    hits = (aid or find)(search, query, options.limit, passes) if query.strip() else search.best()
    total = len(hits)
    hits = fit_budget(hits, token_budget, s["text.chars_per_token"])
    if query.strip():
        agent.note_uses(_used(hits))
    if call.as_json or explain:
        hits = [with_words(hit, query) for hit in hits]
    rows = [_row(hit, s["text.chars_per_token"], explain) for hit in hits]
    data = _data(query, passes, search, rows) | ({"llm": aid.told()} if aid else {})
    warnings = search.warnings() + (aid.warnings() if aid else [])
    warnings += ["depth is at most 3"] if depth > 3 else []
    if token_budget and len(hits) < total:
        warnings.append(f"{plural(total - len(hits), 'result')} did not fit the token budget")
    lines = [line for hit in hits for line in _lines(hit, format == "detailed", explain)]
    head = aid.lines() if aid and explain else []
    call.emit("recall", data, head + (lines or [_nothing(search, query, options, total)]), warnings)


def _open_aid(agent: Agent) -> "AidedRecall":
    """The model's part in a recall; nothing of it is loaded unless somebody asks for it."""
    from mabos_cli.services.search.llm_recall import AidedRecall

    return AidedRecall(agent)


def _data(query: str, passes: Depth, search: AgentSearch, rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "query": query,
        "depth": passes.passes,
        "count": len(rows),
        "candidates": search.candidates,
        "stale": search.stale,
        "results": rows,
        "token_count": sum(row["token_cost"] for row in rows),
    }


def _used(hits: list[Hit]) -> list[str]:
    """The ids whose use is counted: live items of this agent."""
    found = (hit.candidate for hit in hits)
    return [c.item.id for c in found if c.item and not c.archived and not c.agent]


def _filters(
    agent: Agent,
    types: list[str] | None,
    categories: list[str] | None,
    store: str,
    least: float | None,
    min_trust: str,
    since: str,
    until: str,
    tags: list[str] | None,
    archived: bool,
) -> Filters:
    wanted = [check_choice(name, TYPES, "type") for name in types or []]
    for name in categories or []:
        wanted += CLASSES.get(name) or [check_choice(name, [*CLASSES, *TYPES], "category")]
    check_choice(store, [*STORES, "all"], "store")
    now = agent.now()
    return Filters(
        tuple(wanted),
        () if store == "all" else (store,),
        check_tags(tags or []),
        least or 0.0,
        format_time(parse_when(since, now)) if since else "",
        format_time(parse_when(until, now, end=True)) if until else "",
        "" if archived else format_time(now),  # what is past its date is as good as archived
        min_trust=check_choice(min_trust, TRUSTS, "trust") if min_trust else "",
    )


def _row(hit: Hit, per_token: int, explain: bool) -> dict[str, Any]:
    c = hit.candidate
    row: dict[str, Any] = {
        "ref": c.ref,
        "kind": "item" if c.item else "passage",
        "score": hit.score,
        "depth": hit.depth,
        "relevance": hit.relevance,
        "matched": list(hit.matched),
        "via": list(hit.via),
        "token_cost": token_cost(c.text, per_token),
    }
    if c.agent:
        row["agent"] = c.agent
    if explain:
        row["signals"] = dict(hit.parts)
    if c.item:
        return row | {"store": c.store, "archived": c.archived or None} | item_to_dict(c.item)
    return row | {"path": c.path, "lines": list(c.lines), "trust": c.trust, "content": c.text}


def _lines(hit: Hit, detailed: bool, explain: bool) -> Iterator[str]:
    c = hit.candidate
    found = f" (depth {hit.depth} via {', '.join(hit.via)})" if hit.depth else ""
    gone = f" [archived: {c.archived}]" if c.archived else ""
    gone = " untrusted" + gone if trust_rank(c.trust) == 0 else gone
    if c.item:
        yield f"{c.ref} [{c.store}] {c.item.type} {c.item.importance:.2f}{gone}{found} {one_line(c.text, 0 if detailed else 160)}"
    else:
        yield f"{c.ref}{gone}{found} {one_line(c.text, 0 if detailed else 160)}"
    if detailed and c.item:
        about = [
            f"at {c.item.happened_at}",
            f"source {c.item.source}",
            f"tags {', '.join(c.item.tags)}" if c.item.tags else "",
            f"context {one_line(c.item.context)}" if c.item.context else "",
        ]
        yield "  " + "; ".join(part for part in about if part)
    if explain:
        parts = ", ".join(f"{name} {value:.4f}" for name, value in hit.parts)
        led = f"; found at depth {hit.depth} through {', '.join(hit.via)}" if hit.depth else ""
        led = led or (f'; asked as "{hit.via[0]}"' if hit.via else "")
        yield f"  score {hit.score:.4f}: {parts or 'by importance'}; matched {', '.join(hit.matched) or 'no word'}{led}"


def _nothing(search: AgentSearch, query: str, options: SearchOptions, total: int) -> str:
    """Why there is no answer: never an empty line."""
    if total:
        return "no result fits the token budget"
    if not options.archived:
        gone = search.count_archived(query)
        if gone:
            return f"nothing live, but {plural(gone, 'memory')} in the archive: add --archived"
    if not query.strip():
        return (
            "no memories yet" if options.filters == Filters(now=options.filters.now) else "no memory passes the filters"
        )
    return f"nothing found among {plural(search.count(), 'memory')} and passages"
