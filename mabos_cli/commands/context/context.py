"""context: the memory index, packs of memory, and when to flush memory; windows have their own module."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from mabos_cli.commands.call import Argument, Commands, Context, Limit, Option
from mabos_cli.core import BadValue
from mabos_cli.core.language.text import one_line, plural, token_cost
from mabos_cli.errors import InvalidFile
from mabos_cli.services.inputs import text_argument
from mabos_cli.workspace.agent import Agent

if TYPE_CHECKING:
    from mabos_cli.core.context.candidates import Placed, Receipt
    from mabos_cli.core.context.memory_index import Headline
    from mabos_cli.workspace.memory.derived_pages import Survey

_PLACES = {
    "index": "context.context:index",
    "observations": "context.context:observations",
    "pack": "context.context:pack",
    "build": "context.window:build",
    "compress": "context.window:compress",
    "audit": "context.window:audit",
    "flush-check": "context.context:flush_check",
    "flush-prompt": "context.context:flush_prompt",
}

app = Commands("context", "Build what an agent reads: memory index, packs, context windows.", late=_PLACES)


def index(
    ctx: Context, no_write: Annotated[bool, Option("--no-write", help="Only print it; do not update files.")] = False
) -> None:
    """Print the memory index, and update INDEX.md and the domain files.

    Critical items, instructions, active projects, and the domains that can be loaded: always under context.index_tokens tokens.

    Example: mabos context index --agent cfo
    """
    from mabos_cli.formats.markdown.escape import without_seal
    from mabos_cli.workspace.memory.derived_pages import survey_memory

    agent = ctx.obj.open_agent()
    survey, changed, warnings = (survey_memory(agent, agent.load()), [], []) if no_write else _refresh(agent)
    path = agent.paths.relative(agent.paths.index_md)
    per_token, found = agent.settings["text.chars_per_token"], survey.memory_index
    data = {
        "text": survey.text,
        "tokens": token_cost(survey.text, per_token),
        "counted_by": f"estimate: {per_token} characters a token",
        **{name: [_headline_row(line) for line in lines] for name, lines in found.lines._asdict().items()},
        "domains": [
            {
                "name": d.name,
                "path": agent.paths.relative(agent.paths.domain(d.name)),
                "items": d.items,
                "tokens": d.tokens,
            }
            for d in found.domains
        ],
        "left_out": found.left_out(),
        "path": path,
        "changed": changed,
    }
    ctx.obj.emit("context.index", data, without_seal(survey.text).rstrip("\n").split("\n"), warnings)


def observations(
    ctx: Context,
    no_write: Annotated[bool, Option("--no-write", help="Only print it; leave the file as it is.")] = False,
) -> None:
    """Print recent memories as an append-only log, and keep it in memory/observations.md.

    Once that file is there, every write adds to it: lines only at its end, and whole days leave at the front when it grows
    too large, so that a host's cache of prompts keeps most of it. Delete the file to end that.

    Example: mabos context observations
    """
    from mabos_cli.formats.markdown.escape import without_seal
    from mabos_cli.services.memory.upkeep import refresh_observations
    from mabos_cli.workspace.memory.observation_log import survey_observations

    agent = ctx.obj.open_agent()
    text, files = (survey_observations(agent, agent.memory()), None) if no_write else refresh_observations(agent)
    data = {
        "text": text,
        "tokens": token_cost(text, agent.settings["text.chars_per_token"]),
        "path": agent.paths.relative(agent.paths.observations_md),
        "changed": files.changed if files else [],
    }
    lines = without_seal(text).rstrip("\n").split("\n")
    ctx.obj.emit("context.observations", data, lines, files.warnings if files else [])


def _refresh(agent: Agent) -> "tuple[Survey, list[str], list[str]]":
    """Returns the survey, the files that changed for it, and warnings. What cannot be written can still be read."""
    from mabos_cli.services.memory.upkeep import refresh_index
    from mabos_cli.workspace.memory.derived_pages import survey_memory

    try:
        survey, files = refresh_index(agent)
    except InvalidFile as error:
        return survey_memory(agent, agent.load()), [], [f"INDEX.md is not up to date: {error.message}"]
    return survey, files.changed, files.warnings


def _headline_row(line: "Headline") -> dict[str, Any]:
    return {"id": line.id, "type": line.type, "importance": line.importance, "text": line.text or None}


def pack(
    ctx: Context,
    words: Annotated[list[str], Argument(metavar="QUERY", help="The question or request; - reads standard input.")],
    budget: Annotated[int | None, Option("--budget", "-b", help="At most this many tokens (default 1200).")] = None,
    history: Annotated[
        str, Option(metavar="FILE", help="A conversation (JSON, or a host's JSON lines) whose last turns are kept.")
    ] = "",
    tail: Annotated[int | None, Option(help="How many last turns of --history are kept (default 4).")] = None,
    min_trust: Annotated[
        str,
        Option(
            metavar="[trusted|agent|untrusted]",
            help="Only what is at least this trusted; turns of the conversation are always kept.",
        ),
    ] = "",
    limit: Limit = 0,
    live: Annotated[bool, Option("--live", help="Leave out archived items that expired or went unused.")] = False,
    shared: Annotated[bool, Option("--shared", help="Include what other agents share.")] = False,
    trace: Annotated[
        bool, Option("--trace", help="Show why each candidate is included or not, without its content.")
    ] = False,
    no_use: Annotated[bool, Option("--no-use", help="Do not count what is packed as used.")] = False,
) -> None:
    """Print cited memories for a request, within a token budget.

    Example: mabos context pack "how do we price seats" --budget 600 --trace
    """
    agent = ctx.obj.open_agent()
    query = " ".join(words)
    if history == "-" and query == "-" and not ctx.obj.literal_dash:
        raise BadValue("QUERY and --history cannot both be -", "give one of them as a file or an argument")
    from mabos_cli.services.context.pack import check_bounds, pack_memory, read_history

    query = text_argument(query, ctx.obj.literal_dash)
    bounds = check_bounds(agent, budget, tail, history, min_trust, limit, live, shared)
    turns = read_history(history) if history else ()
    made, counted_by, used, warnings = pack_memory(ctx.obj, agent, query, bounds, turns, count_uses=not no_use)
    tail_refs = [placed.entry.ref for placed in made.tail]
    data = {
        "query": query,
        "budget": bounds.budget,
        "tokens": made.tokens,
        "counted_by": counted_by,
        "bundle_text": made.text,
        "items": [_pack_row(number, placed) for number, placed in enumerate(made.placed, 1)],
        "citations": [*(placed.entry.ref for placed in made.placed), *tail_refs],
        "tail": tail_refs,
        "contradiction": made.contradiction._asdict() if made.contradiction else None,
        "left_out": sum(not receipt.included for receipt in made.receipts),
        "refreshed": used,
    }
    if trace:
        data["trace"] = [receipt._asdict() for receipt in made.receipts]
    lines = [*made.text.split("\n")[:-1], *(_trace_lines(made.receipts) if trace else ())]
    ctx.obj.emit("context.pack", data, lines, warnings)


def _pack_row(number: int, placed: "Placed") -> dict[str, Any]:
    from mabos_cli.formats.context.context_pack import inert

    entry = placed.entry
    return {
        "mark": f"[{number}]",
        "ref": entry.ref,
        "kind": entry.kind,
        "lane": entry.lane,
        "layer": placed.layer,
        "type": entry.type,
        "trust": entry.trust,
        "importance": entry.importance,
        "score": entry.score,
        "at": entry.at,
        "archived": entry.state or None,
        "tokens": placed.tokens,
        "text": inert(placed.text),
        **({"author": entry.author} if entry.author else {}),
        **({"was": inert(entry.was)} if entry.was else {}),
        **({"newer": entry.newer} if entry.newer else {}),
    }


def _trace_lines(receipts: "Sequence[Receipt]") -> list[str]:
    """Returns a line for each candidate: in or out, its reference and why."""
    return [
        f"{'+' if r.included else '-'} {one_line(r.ref)} {r.kind} {r.lane} {r.layer or '--'} score {r.score:.4f} "
        f"{r.trust} importance {r.importance:.2f} {plural(r.tokens, 'token')}: {one_line(r.reason)}"
        for r in receipts
    ]


def flush_check(
    ctx: Context,
    total_tokens: Annotated[int, Option(help="Tokens in the context now.")],
    window: Annotated[int, Option(help="Size of the context window.")],
    compaction_count: Annotated[
        int | None, Option(help="Compactions so far; the answer is flush at most once for each.")
    ] = None,
    session: Annotated[str, Option(help="The session whose compactions are counted.")] = "",
    soft: Annotated[int | None, Option(help="Tokens before the reserve at which to flush (default 4000).")] = None,
    reserve: Annotated[int | None, Option(help="Tokens kept free for the answer (default 8000).")] = None,
) -> None:
    """Check whether memory should be saved before the context is compacted.

    Example: mabos context flush-check --total-tokens 189000 --window 200000 --compaction-count 2
    """
    from mabos_cli.services.context.window import check_flush

    agent = ctx.obj.open_agent()
    found = check_flush(agent, total_tokens, window, session, compaction_count, soft, reserve)
    data = {
        "flush": found.flush,
        "threshold": found.threshold,
        "total_tokens": total_tokens,
        "remaining": window - total_tokens,
        "already_flushed": found.already_flushed,
    }
    why = f"{total_tokens} tokens, threshold {found.threshold}"
    if found.already_flushed:
        why = f"compaction {compaction_count} was flushed already"
    ctx.obj.emit("context.flush-check", data, [f"{'flush' if found.flush else 'wait'}: {why}"], found.warnings)


def flush_prompt(ctx: Context) -> None:
    """Print the instructions for saving memory before a compaction.

    Example: mabos context flush-prompt --agent cfo
    """
    from mabos_cli.services.context.window import flush_prompt as render_prompt

    prompt = render_prompt(ctx.obj.open_agent())
    ctx.obj.emit("context.flush-prompt", {"prompt": prompt}, prompt.rstrip("\n").split("\n"))
