"""store: remember something."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Annotated, Any, BinaryIO

from mabos_cli.commands.call import (
    AllowSecret,
    Argument,
    Call,
    Commands,
    Context,
    Option,
    Redact,
    Trust,
    Voucher,
)
from mabos_cli.config import Settings
from mabos_cli.core.language.clock import parse_time
from mabos_cli.core.language.text import one_line, plural, token_cost
from mabos_cli.core.memory.item import band
from mabos_cli.core.memory.stores import qualifies
from mabos_cli.core.memory.storing import Stored
from mabos_cli.errors import UsageFault
from mabos_cli.services.inputs import BatchLines, check_voucher, draft_from, open_lines, secrets_mode, text_argument
from mabos_cli.services.memory.remember import Remembered, check_related, queue_drafts, remember, remember_batch
from mabos_cli.workspace.agent import Agent

app = Commands()


@app.command()
def store(
    ctx: Context,
    text: Annotated[str, Argument(metavar="[TEXT]", help="What to remember; - reads standard input.")] = "",
    type: Annotated[
        str,
        Option(
            "--type",
            "-t",
            help="event decision outcome lesson fact observation preference instruction project person insight plan.",
        ),
    ] = "",
    importance: Annotated[
        float | None, Option("--importance", "-i", help="0 to 1; graded by heuristic-v1 when left out.")
    ] = None,
    priority: Annotated[
        str | None, Option(metavar="[critical|high|medium|low]", help="The importance by name.")
    ] = None,
    tag: Annotated[list[str] | None, Option(help="A tag; repeat it, or separate with commas.")] = None,
    store: Annotated[
        str,
        Option(
            metavar="[working|short_term|long_term]",
            help="Where to put it (default short_term; for types that last, long_term).",
        ),
    ] = "",
    source: Annotated[str, Option(help="The source (default manual).")] = "",
    context: Annotated[str, Option(help="Why it is stored.")] = "",
    related_to: Annotated[
        list[str] | None, Option(metavar="ID", ids="items", help="A related item; may repeat.")
    ] = None,
    expires: Annotated[str, Option(help="A date, or how long from now: 30d.")] = "",
    observed_at: Annotated[str, Option(help="When it happened, if not now.")] = "",
    author: Annotated[str, Option(help="Who said it.")] = "",
    session: Annotated[str, Option(help="The conversation it was said in.")] = "",
    trust: Trust = "",
    by: Voucher = "",
    if_new: Annotated[bool, Option("--if-new", help="Store it only if there is nothing similar.")] = False,
    llm: Annotated[
        bool, Option("--llm", help="Let the language model merge near duplicates in long-term memory.")
    ] = False,
    redact: Redact = False,
    allow_secret: AllowSecret = False,
    defer: Annotated[bool, Option("--defer", help="Queue it without waiting; the next write stores it.")] = False,
    batch: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="Store each line of an NDJSON file, or - for standard input; options fill in what a line leaves out.",
        ),
    ] = None,
) -> None:
    """Store a memory.

    Example: mabos store "We bill per seat" --type decision --tag pricing
    """
    agent = ctx.obj.open_agent()
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
    secrets, by = secrets_mode(redact, allow_secret, agent.settings), check_voucher(agent.settings, by)
    agent = agent._replace(admits_secrets=secrets == "allow")
    if defer:
        _check_deferred(if_new, llm, by)
    if batch is not None:
        if text:
            raise UsageFault("--batch takes the content from the file", "leave the text out, or --batch")
        given = {name: value for name, value in fields.items() if value not in (None, "", [])}
        shown = "standard input" if batch == "-" else batch
        lines = BatchLines(shown, given, agent.settings, agent.now(), secrets, by)
        with open_lines(batch) as file:
            return _emit_batch(ctx.obj, agent, _store_lines(agent, file, lines, defer, if_new, llm), defer)
    fields["content"] = text_argument(text, ctx.obj.literal_dash)
    drafts = [draft_from(fields, agent.settings, agent.now(), secrets, by)]
    if by and not drafts[0].vouched_by:
        raise UsageFault(
            "--by says who vouches for what comes from outside", "add --source and --trust, or leave --by out"
        )
    check_related(agent, drafts[0].item.related_to)
    done = queue_drafts(agent, drafts) if defer else remember(agent, drafts, if_new=if_new, llm=llm)
    _emit_one(ctx.obj, agent, done, defer)


def _store_lines(
    agent: Agent, file: BinaryIO, lines: BatchLines, defer: bool, if_new: bool, llm: bool
) -> Iterable[Remembered]:
    """Stores or queues the lines of a batch; yields the outcomes, piece by piece."""
    if defer:
        return [queue_drafts(agent, list(lines.read(file)))]
    return remember_batch(agent, file, lines, if_new=if_new, llm=llm)


def _check_deferred(if_new: bool, llm: bool, by: str) -> None:
    """Refuses options that need what the next write will know."""
    if if_new or llm:
        other = "--if-new" if if_new else "--llm"
        raise UsageFault("--defer cannot look for similar items", f"leave one of --defer and {other} out")
    if by:
        raise UsageFault("--defer cannot log who vouches for it", "leave one of --defer and --by out")


_MOST_SHOWN = 10_000  # items of a batch that the answer lists


def _emit_batch(call: Call, agent: Agent, parts: Iterable[Remembered], deferred: bool) -> None:
    rows: list[dict[str, Any]] = []
    older: list[str] = []
    count = merged = resumed = 0
    warnings: dict[str, None] = {}
    data: dict[str, Any] = {}
    for done in parts:
        rows += [_row(result, agent.settings, deferred) for result in done.results[: _MOST_SHOWN - len(rows)]]
        count, resumed = count + len(done.results), done.resumed
        merged += sum(result.deduplicated for result in done.results)
        older += [old.id for result in done.results for old in result.replaced]
        warnings |= dict.fromkeys(done.warnings)
        data |= {"llm": done.llm} if done.llm else {}
    data = {"stored": count - merged, "deduplicated": merged, "items": rows} | data
    data |= {"superseded": older[:_MOST_SHOWN]} if older else {}
    data |= {"items_left_out": count - len(rows)} if count > len(rows) else {}
    data |= {"resumed_behind": resumed} if resumed else {}
    line = f"{'queued' if deferred else 'stored'} {plural(count - merged, 'item')}"
    line += f" behind the {resumed} lines that an earlier call stored" if resumed else ""
    line += f", merged or known {merged}" if merged else ""
    line += (
        f", superseding {', '.join(older[:5])}{', ...' if older[5:] else ''} (mabos revive ID undoes it)"
        if older
        else ""
    )
    call.emit("store.batch", data, [line], [*warnings])


def _emit_one(call: Call, agent: Agent, done: Remembered, deferred: bool) -> None:
    [result] = done.results
    data = _row(result, agent.settings, deferred) | ({"llm": done.llm} if done.llm else {})
    call.emit("store", data, [_sentence(result, deferred, agent)], done.warnings)


def _row(result: Stored, settings: Settings, deferred: bool) -> dict[str, Any]:
    item, per_token = result.item, settings["text.chars_per_token"]
    must, nice = settings["grade.must_remember"], settings["grade.nice_to_have"]
    return {
        "id": item.id,
        "stored": result.stored,
        "deduplicated": result.deduplicated,
        "outcome": "queued" if deferred else result.outcome,
        "deferred": deferred,
        "store": result.store,
        "type": item.type,
        "importance": item.importance,
        "band": band(item.importance, must, nice),
        "graded": result.graded,
        "trust": item.trust,
        "related_to": list(item.related_to),
        **(
            {"supersedes": [{"id": old.id, "content": old.content} for old in result.replaced]}
            if result.replaced
            else {}
        ),
        "token_cost": token_cost(item.content, per_token),
    }


def _sentence(result: Stored, deferred: bool, agent: Agent) -> str:
    item = result.item
    if deferred:
        return f"queued {item.id} for {result.store}"
    if not result.stored:
        return f"not stored: {item.id} already says this: {one_line(item.content, 60)}"
    verb = "merged into" if result.deduplicated else "stored"
    graded = " graded" if result.graded else ""
    given = [item_id for item_id in item.related_to if item_id not in result.linked]
    related = f", related to {', '.join(given)}" if given else ""
    related += f", linked to {', '.join(result.linked)}" if result.linked else ""
    olds = "".join(f"; supersedes {old.id}: was {one_line(old.content, 60)}" for old in result.replaced)
    olds += f"; undo: mabos revive {result.replaced[0].id}" if olds else ""
    return f"{verb} {item.id} in {result.store} ({item.type}, {item.importance:.2f}{graded}){related}{_lifetime(result, agent)}{olds}"


def _lifetime(result: Stored, agent: Agent) -> str:
    """Returns how long a short-term item lives, if nothing keeps it."""
    limits = agent.settings.limits()
    if result.store != "short_term" or qualifies(result.item, result.store, limits) or limits.ttl_seconds > 1e9:
        return ""
    until = parse_time(result.item.created_at) + timedelta(seconds=limits.ttl_seconds)
    return f", until {until:%Y-%m-%d %H:%M} UTC"
