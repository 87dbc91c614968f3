"""recall, timeline and read: find memories, show what happened when, and print the lines that both cite."""

from collections.abc import Iterator
from typing import Annotated, Any

from mabos_cli.commands.call import Argument, Commands, Context, Option
from mabos_cli.core.language.text import one_line, token_cost
from mabos_cli.core.memory.item import check_choice
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.core.search.recall import Hit
from mabos_cli.formats.memory.items import item_to_dict
from mabos_cli.services.inputs import importance_of, line_argument, text_argument
from mabos_cli.services.search.recall import Recalled, Request, find_timeline, read_lines
from mabos_cli.services.search.recall import recall as find_memories

app = Commands()


@app.command()
def recall(
    ctx: Context,
    words: Annotated[
        list[str] | None,
        Argument(
            metavar="[QUERY]", help="Words to look for; - reads standard input. Empty: the most important and recent."
        ),
    ] = None,
    depth: Annotated[
        str,
        Option(
            "--depth",
            "-d",
            help="0 to 3: search again with words of the best hits; auto: only if they leave something open.",
        ),
    ] = "0",
    limit: Annotated[
        int | None, Option("--limit", "-n", min=0, help="Show at most this many; 0 for all (default 20).")
    ] = None,
    type: Annotated[list[str] | None, Option("--type", "-t", help="Only this type; may repeat.")] = None,
    category: Annotated[
        list[str] | None,
        Option(metavar="[episodic|semantic|procedural|TYPE]", help="Only this kind of memory; may repeat."),
    ] = None,
    store: Annotated[
        str, Option(metavar="[working|short_term|long_term|all]", help="Only items in this store.")
    ] = "all",
    min_importance: Annotated[float | None, Option(help="Only memories at least this important.")] = None,
    priority_min: Annotated[
        str | None, Option(metavar="[critical|high|medium|low]", help="Only memories at least this important.")
    ] = None,
    min_trust: Annotated[
        str,
        Option(
            metavar="[trusted|agent|untrusted]",
            help="Only what is at least this trusted; files count as agent at most.",
        ),
    ] = "",
    since: Annotated[str, Option(metavar="DATE", help="Only what happened since a date, or an age such as 7d.")] = "",
    until: Annotated[str, Option(metavar="DATE", help="Only what happened until this date, inclusive.")] = "",
    tag: Annotated[list[str] | None, Option(help="Only items with this tag; repeat it to require several.")] = None,
    token_budget: Annotated[int, Option(help="Stop at this many tokens.")] = 0,
    format: Annotated[str, Option(metavar="[brief|detailed]", help="One line per result, or all details.")] = "brief",
    live: Annotated[bool, Option("--live", help="Leave out archived items that expired or went unused.")] = False,
    archived: Annotated[
        bool, Option("--archived", help="Include items that were forgotten, merged, consolidated or superseded.")
    ] = False,
    shared: Annotated[bool, Option("--shared", help="Include memory that other agents share.")] = False,
    preset: Annotated[
        str | None, Option(metavar="[default|seed|balanced|rrf]", help="How signals are weighted.")
    ] = None,
    mmr: Annotated[bool, Option("--mmr", help="Prefer results that differ from one another.")] = False,
    decay: Annotated[bool, Option("--decay", help="Halve scores for every 30 days of age.")] = False,
    explain: Annotated[bool, Option("--explain", help="Explain why each result was found.")] = False,
    all_about: Annotated[
        bool, Option("--all-about", help="Gather everything from all sessions, without repetition, in order of time.")
    ] = False,
    llm: Annotated[
        bool, Option("--llm", help="Let the language model rephrase the question and help with ranking.")
    ] = False,
) -> None:
    """Find memories and passages of files, by words and by meaning.

    Example: mabos recall "pricing decision" --depth 1 --since 30d
    """
    agent = ctx.obj.open_agent()
    request = Request(
        text_argument(" ".join(words or []), ctx.obj.literal_dash),
        depth,
        limit,
        tuple(type or ()),
        tuple(category or ()),
        store,
        importance_of(min_importance, priority_min, "--min-importance", "--priority-min") or 0.0,
        min_trust,
        since,
        until,
        tuple(tag or ()),
        token_budget,
        archived,
        live,
        shared,
        preset,
        mmr,
        decay,
        llm,
        all_about,
        with_words=ctx.obj.as_json or explain,
    )
    check_choice(format, ["brief", "detailed"], "format")
    found = find_memories(ctx.obj, agent, request)
    rows = [_row(hit, agent.settings["text.chars_per_token"], explain) for hit in found.hits]
    data = {
        "query": request.query,
        "depth": found.depth,
        "count": len(rows),
        "candidates": found.candidates,
        "stale": found.is_stale,
        "results": rows,
        "token_count": sum(row["token_cost"] for row in rows),
        **({"llm": found.llm} if found.llm else {}),
    }
    is_whole = format == "detailed"
    ctx.obj.emit("recall", data, [*_recall_lines(found, is_whole, explain)], found.warnings, is_whole=is_whole)


def _recall_lines(found: Recalled, detailed: bool, explain: bool) -> Iterator[str]:
    if found.llm and explain:
        also = ", ".join(f'"{text}"' for text in found.llm["expansions"]) or "nothing"
        order = "helped to order them" if found.llm["reranked"] else "did not order them"
        yield f"{found.llm['model']} asked for {also} too, and {order}"
    for hit in found.hits:
        yield from _lines(hit, detailed, explain)
    if found.nothing:
        yield found.nothing


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
    if c.was:
        row["was"] = [{"id": item_id, "content": text} for item_id, text in c.was]
    if c.newer:
        row["newer"] = c.newer
    if explain:
        row["signals"] = dict(hit.parts)
    if c.item:
        return row | {"store": c.store, "archived": c.archived or None} | item_to_dict(c.item)
    return (
        row
        | {"path": c.path, "lines": list(c.lines), "trust": c.trust}
        | ({"author": c.by} if c.by else {})
        | {"content": c.text}
    )


def _lines(hit: Hit, detailed: bool, explain: bool) -> Iterator[str]:
    c = hit.candidate
    found = f" (depth {hit.depth} via {', '.join(hit.via)})" if hit.depth else ""
    gone = f" [archived: {c.archived}]" if c.archived else ""
    gone = f" [outdated by {c.newer}]{gone}" if c.newer else gone
    gone = " untrusted" + gone if trust_rank(c.trust) == 0 else gone
    if c.item:
        yield f"{c.ref} [{c.store}] {c.item.type} {c.item.importance:.2f}{gone}{found} {one_line(c.text, 0 if detailed else 160)}"
    else:
        by = f" {c.by}:" if c.by else ""
        yield f"{c.ref}{gone}{found}{by} {one_line(c.text, 0 if detailed else 160)}"
    for item_id, text in c.was:
        yield f"  was: {one_line(text, 0 if detailed else 120)} ({item_id})"
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


@app.command()
def timeline(
    ctx: Context,
    around: Annotated[
        str,
        Argument(
            metavar="[QUERY]",
            ids="items",
            help="An id, a date or words; - reads standard input. Empty: the latest entries.",
        ),
    ] = "",
    before: Annotated[int, Option("--before", "-B", help="Entries before it.")] = 5,
    after: Annotated[int, Option("--after", "-A", help="Entries after it.")] = 5,
    live: Annotated[bool, Option("--live", help="Leave archived items out.")] = False,
    archived: Annotated[bool, Option("--archived", help="Include forgotten items.")] = False,
) -> None:
    """Show what happened around an item, a date or a match, in order of time.

    Example: mabos timeline 2026-02-24 --before 3 --after 10
    """
    around = line_argument(around, ctx.obj.literal_dash)
    found = find_timeline(ctx.obj, ctx.obj.open_agent(), around, before, after, live=live, archived=archived)
    rows: list[dict[str, Any]] = [
        {
            "id": c.ref,
            "at": c.at,
            "type": c.item.type if c.item else "",
            "store": c.store,
            "archived": c.archived or None,
            "content": c.text,
            "focus": c.ref == found.focus,
        }
        for c in found.entries
    ]
    lines = [
        f"{'>' if row['focus'] else ' '} {row['at'][:16]}Z {row['id']} {row['type']}"
        f"{' (archived)' if row['archived'] else ''}: {one_line(str(row['content']), 100)}"
        for row in rows
    ]
    lines = lines or [f"nothing found for {around}" if found.is_known else "no memories yet"]
    ctx.obj.emit("timeline", {"query": around, "focus": found.focus, "entries": rows}, lines, found.warnings)


@app.command()
def read(
    ctx: Context,
    place: Annotated[
        str, Argument(metavar="PATH[:A-B]", help="A file in the agent's folder, with lines as recall cites them.")
    ],
    raw: Annotated[bool, Option("--raw", help="Print secrets too, instead of replacing them.")] = False,
) -> None:
    """Print a file of the agent, or some of its lines.

    Example: mabos read memory/2026-02-24.md:3-9
    """
    path, first, lines, total = read_lines(ctx.obj.open_agent(), place, raw=raw)
    data = {"path": path, "lines": [first, first + len(lines) - 1], "total": total, "content": "\n".join(lines)}
    ctx.obj.emit("read", data, lines)
