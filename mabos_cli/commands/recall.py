"""recall: find memories."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call
from mabos_cli.commands.inputs import importance_of, text_argument
from mabos_cli.core import BadValue
from mabos_cli.core.clock import format_time, parse_when
from mabos_cli.core.item import CLASSES, STORES, TYPES, check_choice, check_tags
from mabos_cli.core.recall import Candidate, Filters, Hit, TermSearch, browse, fit_budget, in_words
from mabos_cli.core.recall import recall as find
from mabos_cli.core.text import one_line, plural, token_cost
from mabos_cli.formats.items import item_to_dict
from mabos_cli.workspace.home import AgentHome
from mabos_cli.workspace.passages import file_passages

app = typer.Typer()


@app.command()
def recall(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[QUERY]",
            help="Words to look for; - reads standard input. Empty: the most important and recent.",
        ),
    ] = None,
    depth: Annotated[
        int, typer.Option("--depth", "-d", help="0 to 3: also follow what the best hits mention.")
    ] = 0,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", help="At most this many results; 0 for all (default 20).")
    ] = None,
    type: Annotated[
        list[str] | None, typer.Option("--type", "-t", help="Only this type; may repeat.")
    ] = None,
    category: Annotated[
        list[str] | None, typer.Option(help="Only episodic, semantic or procedural memories, or a type.")
    ] = None,
    store: Annotated[str, typer.Option(help="working, short_term, long_term or all.")] = "all",
    min_importance: Annotated[float | None, typer.Option(help="At least this important.")] = None,
    priority_min: Annotated[str | None, typer.Option(help="At least critical, high, medium or low.")] = None,
    since: Annotated[str, typer.Option(help="Not before: a date, or an age such as 7d.")] = "",
    until: Annotated[str, typer.Option(help="Not after.")] = "",
    tag: Annotated[
        list[str] | None, typer.Option(help="Only with this tag; repeat for all of several.")
    ] = None,
    token_budget: Annotated[int, typer.Option(help="Stop at this many tokens.")] = 0,
    format: Annotated[str, typer.Option(help="brief (a line each) or detailed.")] = "brief",
    archived: Annotated[bool, typer.Option("--archived", help="Search the archive too.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say why each result is here.")] = False,
) -> None:
    """Find memories and passages of memory files.

    Example: mabos recall "pricing decision" --depth 1 --since 30d
    """
    call: Call = ctx.obj
    home = call.open_home()
    query = text_argument(" ".join(words or []), call.literal_dash)
    least = importance_of(min_importance, priority_min, "--min-importance", "--priority-min")
    filters = _filters(home, type, category, store, least, since, until, tag)
    check_choice(format, ["brief", "detailed"], "format")
    limit = home.settings["recall.limit"] if limit is None else limit
    if limit < 0 or token_budget < 0 or depth < 0:
        raise BadValue("--limit, --token-budget and --depth cannot be negative")
    if archived:  # what is past its date is as good as archived
        filters = filters._replace(now="")
    candidates = [c for c in _candidates(home, archived, files=bool(query.strip())) if filters.admit(c)]
    hits = _search(home, query, candidates, min(depth, 3), limit or len(candidates) or 1)
    hits = hits[: limit or None]
    total = len(hits)
    hits = fit_budget(hits, token_budget, home.settings["text.chars_per_token"])
    hits = [in_words(hit) for hit in hits]
    if query.strip():
        home.note_uses(
            [hit.candidate.item.id for hit in hits if hit.candidate.item and not hit.candidate.archived]
        )
    rows = [_row(hit, home.settings["text.chars_per_token"]) for hit in hits]
    data = {
        "query": query,
        "depth": min(depth, 3),
        "count": len(rows),
        "candidates": len(candidates),
        "results": rows,
        "token_count": sum(row["token_cost"] for row in rows),
    }
    warnings = ["depth is at most 3"] if depth > 3 else []
    if token_budget and len(hits) < total:
        warnings.append(f"{plural(total - len(hits), 'result')} did not fit the token budget")
    weight = home.settings["recall.importance_weight"] if explain else None
    lines = [line for hit in hits for line in _lines(hit, format == "detailed", weight)]
    call.emit("recall", data, lines or [_nothing(home, query, filters, candidates, archived)], warnings)


def _filters(
    home: AgentHome,
    types: list[str] | None,
    categories: list[str] | None,
    store: str,
    least: float | None,
    since: str,
    until: str,
    tags: list[str] | None,
) -> Filters:
    wanted = [check_choice(name, TYPES, "type") for name in types or []]
    for name in categories or []:
        wanted += CLASSES.get(name) or [check_choice(name, [*CLASSES, *TYPES], "category")]
    check_choice(store, [*STORES, "all"], "store")
    now = home.now()
    return Filters(
        tuple(wanted),
        () if store == "all" else (store,),
        check_tags(tags or []),
        least or 0.0,
        format_time(parse_when(since, now)) if since else "",
        format_time(parse_when(until, now, end=True)) if until else "",
        format_time(now),
    )


def _candidates(home: AgentHome, archived: bool, files: bool) -> Iterator[Candidate]:
    """Live items, then archived ones if asked for, then passages of files that are not copies of an item."""
    memory = home.memory()
    known = set()
    for store in STORES:
        for item in getattr(memory, store):
            if item.id not in known:
                known.add(item.id)
                yield Candidate(item.content, item.importance, item.happened_at, item, store)
    latest = {d.item.id: d for d in home.all_departures()} if archived or files else {}
    for departure in latest.values() if archived else ():
        if departure.item.id not in known:
            item = departure.item
            yield Candidate(
                item.content, item.importance, item.happened_at, item, departure.store, departure.reason
            )
    if files:
        yield from (c for c, item_id in file_passages(home) if item_id not in known and item_id not in latest)


def _search(home: AgentHome, query: str, candidates: list[Candidate], depth: int, limit: int) -> list[Hit]:
    if not query.strip():
        return browse(candidates)
    s = home.settings
    search = TermSearch(candidates, s["recall.importance_weight"])
    return find(
        search,
        query,
        depth=depth,
        limit=limit,
        branch=s["recall.depth_hits"],
        new_terms=s["recall.depth_terms"],
        reserved=s["recall.depth_reserved"],
        rarity=search.rarity,
    )


def _row(hit: Hit, per_token: int) -> dict[str, Any]:
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
    if c.item:
        return row | {"store": c.store, "archived": c.archived or None} | item_to_dict(c.item)
    return row | {"path": c.path, "lines": list(c.lines), "content": c.text}


def _lines(hit: Hit, detailed: bool, weight: float | None) -> Iterator[str]:
    c = hit.candidate
    found = f" (depth {hit.depth} via {', '.join(hit.via)})" if hit.depth else ""
    gone = f" [archived: {c.archived}]" if c.archived else ""
    if c.item:
        yield f"{c.ref} [{c.store}] {c.item.type} {c.item.importance:.2f}{gone}{found} {one_line(c.text, 0 if detailed else 160)}"
    else:
        yield f"{c.ref}{found} {one_line(c.text, 0 if detailed else 160)}"
    if detailed and c.item:
        about = [
            f"at {c.item.happened_at}",
            f"source {c.item.source}",
            f"tags {', '.join(c.item.tags)}" if c.item.tags else "",
            f"context {one_line(c.item.context)}" if c.item.context else "",
        ]
        yield "  " + "; ".join(part for part in about if part)
    if weight is not None:
        sum_of = (
            f"{1 - weight:g} x relevance {hit.relevance:.4f} + {weight:g} x importance {c.importance:.2f}"
        )
        yield f"  score {hit.score:.4f} = {sum_of}; matched {', '.join(hit.matched) or 'nothing'}"


def _nothing(
    home: AgentHome, query: str, filters: Filters, candidates: list[Candidate], archived: bool
) -> str:
    """Why there is no answer: never an empty line."""
    if not archived:
        gone = [c for c in _candidates(home, archived=True, files=False) if c.archived and filters.admit(c)]
        found = len(_search(home, query, gone, 0, len(gone) or 1))
        if found:
            return f"nothing live, but {plural(found, 'memory')} in the archive: add --archived"
    if not query.strip():
        return "no memories yet" if filters == Filters(now=filters.now) else "no memory passes the filters"
    return f"nothing found among {plural(len(candidates), 'memory')} and passages"
