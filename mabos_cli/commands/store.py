"""store: remember something."""

from datetime import timedelta
from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call
from mabos_cli.commands.inputs import draft_from, read_batch, text_argument
from mabos_cli.config import Settings
from mabos_cli.core.clock import parse_time
from mabos_cli.core.grade import band
from mabos_cli.core.stores import qualifies
from mabos_cli.core.storing import Draft, Stored, plan_store
from mabos_cli.core.text import one_line, plural, token_cost
from mabos_cli.errors import UsageFault
from mabos_cli.workspace.home import AgentHome
from mabos_cli.workspace.receipts import write_receipt

app = typer.Typer()


@app.command()
def store(
    ctx: typer.Context,
    text: Annotated[
        str, typer.Argument(metavar="[TEXT]", help="What to remember; - reads standard input.")
    ] = "",
    type: Annotated[
        str,
        typer.Option(
            "--type",
            "-t",
            help="event decision outcome lesson fact observation preference instruction project person insight plan.",
        ),
    ] = "",
    importance: Annotated[
        float | None, typer.Option("--importance", "-i", help="0 to 1; graded by heuristic-v1 when left out.")
    ] = None,
    priority: Annotated[
        str | None, typer.Option(help="critical, high, medium or low: a name for an importance.")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag; repeat it, or separate with commas.")] = None,
    store: Annotated[str, typer.Option(help="working, short_term or long_term.")] = "",
    source: Annotated[str, typer.Option(help="Where it comes from (default manual).")] = "",
    context: Annotated[str, typer.Option(help="Why it is stored.")] = "",
    related_to: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="A related item; may repeat.")
    ] = None,
    expires: Annotated[str, typer.Option(help="A date, or how long from now: 30d.")] = "",
    observed_at: Annotated[str, typer.Option(help="When it happened, if not now.")] = "",
    author: Annotated[str, typer.Option(help="Who said it.")] = "",
    session: Annotated[str, typer.Option(help="The conversation it was said in.")] = "",
    trust: Annotated[str, typer.Option(help="trusted, agent or untrusted (default agent).")] = "",
    if_new: Annotated[
        bool, typer.Option("--if-new", help="Store only when nothing similar is there.")
    ] = False,
    defer: Annotated[
        bool, typer.Option("--defer", help="Queue it at once; the next write stores it.")
    ] = False,
    batch: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Store each line of an NDJSON file, or - for standard input; options hold where a line is silent.",
        ),
    ] = None,
) -> None:
    """Remember something.

    Example: mabos store "We bill per seat" --type decision --tag pricing
    """
    call: Call = ctx.obj
    home = call.open_home()
    fields = {
        "type": type,
        "importance": importance,
        "priority": priority,
        "tags": tag,
        "store": store,
        "source": source,
        "context": context,
        "related_to": related_to,
        "expires_at": expires,
        "observed_at": observed_at,
        "author": author,
        "session": session,
        "trust": trust,
    }
    if batch is not None:
        if text:
            raise UsageFault("--batch takes the content from the file", "leave the text out, or --batch")
        given = {name: value for name, value in fields.items() if value not in (None, "", [])}
        drafts = list(read_batch(batch, given, home.settings, home.now()))
    else:
        fields["content"] = text_argument(text, call.literal_dash)
        drafts = [draft_from(fields, home.settings, home.now())]
    if defer:
        if if_new:
            raise UsageFault("--defer cannot look for similar items", "leave one of --defer and --if-new out")
        queued = home.defer(drafts)
        write_receipt(home, "store --defer", {"queued": len(queued)}, [d.item.id for d in queued])
        _emit(call, home, [Stored(d.item, d.store) for d in queued], batch is not None, deferred=True)
        return
    results, warnings = store_drafts(home, drafts, if_new=if_new)
    _emit(call, home, results, batch is not None, warnings=warnings)


def store_drafts(
    home: AgentHome, drafts: list[Draft], *, if_new: bool = False
) -> tuple[list[Stored], list[str]]:
    """Stores drafts under one lock: what became of each, and warnings."""
    return home.change(
        "store",
        lambda memory, means: plan_store(
            memory,
            drafts,
            now=home.now(),
            mint=means.mint,
            limits=home.settings.limits(),
            relatives=means,
            if_new=if_new,
        ),
    )


def _emit(
    call: Call,
    home: AgentHome,
    results: list[Stored],
    batch: bool,
    *,
    deferred: bool = False,
    warnings: list[str] | None = None,
) -> None:
    rows = [_row(result, home.settings, deferred) for result in results]
    if batch:
        merged = sum(result.deduplicated for result in results)
        verb = "queued" if deferred else "stored"
        data: dict[str, Any] = {"stored": len(rows) - merged, "deduplicated": merged, "items": rows}
        call.emit(
            "store.batch",
            data,
            [
                f"{verb} {plural(len(rows) - merged, 'item')}"
                + (f", merged or known {merged}" if merged else "")
            ],
            warnings or [],
        )
    else:
        call.emit("store", rows[0], [_sentence(results[0], deferred, home)], warnings or [])


def _row(result: Stored, settings: Settings, deferred: bool) -> dict[str, Any]:
    item, per_token = result.item, settings["text.chars_per_token"]
    must, nice = settings["grade.must_remember"], settings["grade.nice_to_have"]
    return {
        "id": item.id,
        "stored": result.stored,
        "deduplicated": result.deduplicated,
        "deferred": deferred,
        "store": result.store,
        "type": item.type,
        "importance": item.importance,
        "band": band(item.importance, must, nice),
        "graded": result.graded,
        "related_to": list(item.related_to),
        "token_cost": token_cost(item.content, per_token),
    }


def _sentence(result: Stored, deferred: bool, home: AgentHome) -> str:
    item = result.item
    if deferred:
        return f"queued {item.id} for {result.store}"
    if not result.stored:
        return f"not stored: {item.id} says it already: {one_line(item.content, 60)}"
    verb = "merged into" if result.deduplicated else "stored"
    graded = " graded" if result.graded else ""
    related = f", related to {', '.join(item.related_to)}" if item.related_to else ""
    return f"{verb} {item.id} in {result.store} ({item.type}, {item.importance:.2f}{graded}){related}{_lifetime(result, home)}"


def _lifetime(result: Stored, home: AgentHome) -> str:
    """How long a short-term item lives, if nothing keeps it."""
    limits = home.settings.limits()
    if (
        result.store != "short_term"
        or qualifies(result.item, result.store, limits)
        or limits.ttl_seconds > 1e9
    ):
        return ""
    until = parse_time(result.item.created_at) + timedelta(seconds=limits.ttl_seconds)
    return f", until {until:%Y-%m-%d %H:%M} UTC"
