"""context build, compress and audit: messages for a request, a conversation within a budget, what memory costs."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from mabos_cli.commands.call import Call, Context, Option
from mabos_cli.core import BadValue
from mabos_cli.core.context.audit import ALWAYS, Advice
from mabos_cli.core.context.conversation import Compressed
from mabos_cli.core.context.texts import Turn
from mabos_cli.core.context.window import PARTS, Window
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.errors import CheckFailed, UsageFault
from mabos_cli.formats.json.text import dump_line
from mabos_cli.services.context.window import build_window, compress_history
from mabos_cli.services.inputs import text_argument
from mabos_cli.terminal.emit import columns

if TYPE_CHECKING:
    from mabos_cli.services.context.audit import Audit

_SHOWN = 10  # duplicates and recommendations; more are counted
_ADVICE = {
    "ok": "ok",
    "compact": "compact: the conversation should be compacted soon",
    "flush": "flush: save memory now, then compact; mabos context flush-prompt says what to tell the agent",
}

History = Annotated[
    str, Option(metavar="FILE", help="The conversation: JSON, or a host's JSON lines; - reads standard input.")
]
MessagesOnly = Annotated[
    bool, Option("--messages-only", help="Print just the JSON array of messages, to pipe into a provider.")
]


def build(
    ctx: Context,
    request: Annotated[str, Option(help="The request; - reads standard input.")],
    system: Annotated[
        str, Option(metavar="FILE", help="The system message (default: persona files and INDEX.md).")
    ] = "",
    skills: Annotated[str, Option(metavar="FILE", help="A skill in Markdown, or a folder of them.")] = "",
    history: History = "",
    window: Annotated[int | None, Option(help="Tokens of the model's window (default 200000).")] = None,
    shared: Annotated[bool, Option("--shared", help="Include what other agents share.")] = False,
    messages_only: MessagesOnly = False,
) -> None:
    """Print all messages for a request, within a model's context window.

    Example: mabos context build --request "Draft the renewal for Acme" --history chat.json --messages-only
    """
    agent = ctx.obj.open_agent()
    _check_streams(ctx.obj, messages_only, "" if ctx.obj.literal_dash else request, system, history, skills)
    request = text_argument(request, ctx.obj.literal_dash)
    built = build_window(ctx.obj, agent, request, system, skills, history, window, shared=shared)
    made, budget = built.window, built.budget
    data = {
        "messages": _messages(made.messages),
        "window": budget.window,
        "reserve": budget.share("reserve"),
        "tokens": made.tokens | {"total": made.total},
        "limits": made.limits,
        "utilization": round(made.total / budget.window, 4),
        "demand": round(made.demand / budget.window, 4),
        "action": made.action,
        "flush_prompt": built.flush_prompt,
        "history": _counts(made.history),
        "notes": list(made.notes),
        "counted_by": built.counted_by,
    }
    lines = [dump_line(data["messages"])] if messages_only else _window_lines(made, data)
    ctx.obj.emit("context.build", data, lines, built.warnings)


def compress(
    ctx: Context,
    history: History,
    budget: Annotated[
        int | None, Option("--budget", "-b", help="Tokens (default: the conversation's share of the window).")
    ] = None,
    keep: Annotated[int | None, Option(help="How many last messages to keep unchanged (default 6).")] = None,
    llm: Annotated[bool, Option("--llm", help="Let the language model write the summary.")] = False,
    messages_only: MessagesOnly = False,
) -> None:
    """Shorten a conversation to a token budget: keep the last messages and critical statements, summarize the rest.

    Example: mabos context compress --history chat.json --budget 8000
    """
    agent = ctx.obj.open_agent()
    _check_streams(ctx.obj, messages_only)
    found = compress_history(agent, history, budget, keep, llm=llm)
    data = {
        "messages": _messages(found.made.turns),
        "budget": found.budget,
        "tokens": found.tokens,
        "tokens_before": found.tokens_before,
        "counted_by": found.counted_by,
        "turns": found.turns,
        **_counts(found.made),
        "summarized_by": found.summarized_by,
    }
    lines = [dump_line(data["messages"])] if messages_only else _compressed_lines(found.made, data)
    ctx.obj.emit("context.compress", data, lines, found.warnings)


def _check_streams(call: Call, messages_only: bool, *paths: str) -> None:
    """Raises UsageFault when two things are wanted of one stream."""
    if messages_only and call.as_json:
        raise UsageFault("both --json and --messages-only given", "--json has the messages under data.messages")
    if paths.count("-") > 1:
        raise UsageFault("standard input can be read once", "give one of them as a file")


def _messages(turns: Sequence[Turn]) -> list[dict[str, str]]:
    return [{"role": turn.sent_as, "content": turn.content} for turn in turns]


def _counts(made: Compressed) -> dict[str, int]:
    names = ("recent", "kept", "summarized", "quoted", "left_out", "shortened")
    return {name: getattr(made, name) for name in names}


def _window_lines(made: Window, data: dict[str, Any]) -> Iterator[str]:
    rows = [(part, f"{made.tokens[part]:,}", f"of {made.limits[part]:,}") for part in PARTS]
    yield from columns([*rows, ("reserve", f"{data['reserve']:,}", "kept free")])
    used, whole = f"{data['utilization']:.1%}", f"{data['demand']:.1%}"
    more = "" if used == whole else f", {whole} with the whole conversation"
    yield f"total {made.total:,} of {data['window']:,} tokens: {used}{more} ({data['counted_by']})"
    yield _ADVICE[made.action]


def _compressed_lines(made: Compressed, data: dict[str, Any]) -> Iterator[str]:
    yield (
        f"{plural(data['turns'], 'turn')}, {data['tokens_before']:,} tokens -> {plural(len(made.turns), 'message')}, "
        f"{data['tokens']:,} of {data['budget']:,} ({data['counted_by']})"
    )
    for turn in made.turns:
        first, *rest = turn.content.split("\n")
        yield f"{turn.sent_as}: {one_line(first)}"
        yield from (f"  {line}" for line in rest)


def audit(
    ctx: Context,
    scope: Annotated[str, Option(metavar="[all|memory_md|domains|system_prompt]", help="Which part to audit.")] = "all",
    recommend: Annotated[bool, Option("--recommend", help="Recommend what to do, and say what it saves.")] = False,
    skills: Annotated[
        str, Option(metavar="FILE", help="A skill in Markdown, or a folder of them, that the host loads.")
    ] = "",
    check: Annotated[bool, Option("--check", help="Exit 7 if more than --max-tokens are always loaded.")] = False,
    max_tokens: Annotated[int | None, Option(help="For --check: tokens that may always be loaded.")] = None,
) -> None:
    """Report what memory costs in tokens, duplicates and unused items.

    Example: mabos context audit --recommend
    """
    agent = ctx.obj.open_agent()
    if check != (max_tokens is not None):
        raise BadValue("--check and --max-tokens go together", "like --check --max-tokens 4000")
    if (max_tokens or 0) < 0:
        raise BadValue("--max-tokens cannot be negative", "like --check --max-tokens 4000")
    # Other commands of the module do without what reads and splits all these files.
    from mabos_cli.services.context.audit import audit as audit_memory

    found = audit_memory(agent, scope, skills, recommend=recommend)
    always = found.always_loaded
    data = {
        "scope": scope,
        "analysis": _analysis(found),
        "counted_by": found.counted_by,
        "always_loaded_tokens": always,
        **({"recommendations": [_advice_row(each) for each in found.advice]} if recommend else {}),
    }
    ctx.obj.emit("context.audit", data, _audit_lines(data, found.advice, recommend))
    if check and always > (max_tokens or 0):
        fault = f"{always:,} tokens are always loaded, {always - (max_tokens or 0):,} more than {max_tokens:,}"
        raise CheckFailed(fault, "mabos context audit --recommend says what to do")


def _analysis(found: "Audit") -> dict[str, Any]:
    total = sum(source.tokens for source in found.sources)
    return {
        "total_tokens": total,
        "breakdown": [
            {
                "source": each.name,
                "tokens": each.tokens,
                "percentage": round(100 * each.tokens / total, 1) if total else 0.0,
                "category": each.category,
                "loaded": "always" if each.category in ALWAYS else "on demand",
            }
            for each in found.sources
        ],
        "duplicates": [
            {
                "content_a": pair.kept.text,
                "content_b": pair.extra.text,
                "similarity": pair.similarity,
                "sources": [pair.kept.ref, pair.extra.ref],
            }
            for pair in found.duplicates
        ],
        "stale": [each._asdict() for each in found.stale],
        "daily_logs": {"files": found.logs[0], "tokens": found.logs[1]},
    }


def _advice_row(each: Advice) -> dict[str, Any]:
    return {
        "action": each.action,
        "description": each.description,
        "estimated_savings_tokens": each.savings,
        "risk": each.risk,
    }


def _audit_lines(data: dict[str, Any], advice: Sequence[Advice], recommend: bool) -> Iterator[str]:
    found = data["analysis"]
    yield from columns(
        [
            (row["source"], f"{row['tokens']:,}", f"{row['percentage']:.1f} %", f"{row['category']}, {row['loaded']}")
            for row in found["breakdown"]
        ]
    )
    logs = found["daily_logs"]
    yield f"total {found['total_tokens']:,} tokens, {data['always_loaded_tokens']:,} always loaded ({data['counted_by']})"
    if logs["files"]:
        yield f"apart from that, {plural(logs['files'], 'daily log')}: {logs['tokens']:,} tokens"
    for row in found["duplicates"][:_SHOWN]:
        a, b = row["sources"]
        yield f"{row['similarity']:.2f} alike: {a} and {b}: {one_line(row['content_b'], 80)}"
    if len(found["duplicates"]) > _SHOWN:
        yield f"and {len(found['duplicates']) - _SHOWN} more duplicates"
    for row in found["stale"]:
        yield f"unused for long in {row['domain']}: {plural(row['items'], 'item')}, {row['tokens']:,} tokens"
    for each in advice[:_SHOWN]:
        yield f"saves {each.savings:,} ({each.risk} risk): {each.description}"
    if len(advice) > _SHOWN:
        yield f"and {len(advice) - _SHOWN} more recommendations"
    if recommend and not advice:
        yield "nothing to recommend"
