"""context build: all messages for a request, within the window of a model. context compress: a conversation within a budget."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call
from mabos_cli.config import Settings
from mabos_cli.core import BadValue
from mabos_cli.core.context.conversation import Compressed, apply_plan, plan_compression, quote_turns
from mabos_cli.core.context.texts import END_TOKENS, Turn, total_cost
from mabos_cli.core.context.window import PARTS, Budget, Given, Section, Window, build_window
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.errors import UsageFault
from mabos_cli.formats.context.context_pack import inert
from mabos_cli.formats.context.history import parse_history
from mabos_cli.formats.context.prompt_md import split_sections
from mabos_cli.formats.json.text import dump_line
from mabos_cli.formats.memory.checkpoint_md import render_flush_prompt
from mabos_cli.services.context.audited import load_prompt_files
from mabos_cli.services.context.pack import Bounds, open_counter, pack_for
from mabos_cli.services.inputs import option, read_given, text_argument
from mabos_cli.terminal.emit import columns
from mabos_cli.workspace.agent import Agent

_ADVICE = {
    "ok": "ok",
    "compact": "compact: the conversation should be compacted soon",
    "flush": "flush: save memory now, then compact; mabos context flush-prompt says what to tell the agent",
}
_LONGEST_SUMMARY = 4_000  # characters that a model may write about a conversation

History = Annotated[
    str, typer.Option(metavar="FILE", help="The conversation: JSON, or a host's JSON lines; - reads standard input.")
]
MessagesOnly = Annotated[
    bool, typer.Option("--messages-only", help="Print just the JSON array of messages, to pipe into a provider.")
]


def build(
    ctx: typer.Context,
    request: Annotated[str, typer.Option(help="What the agent is asked; - reads standard input.")],
    system: Annotated[
        str,
        typer.Option(metavar="FILE", help="What the agent is told first (default: its persona files and INDEX.md)."),
    ] = "",
    skills: Annotated[str, typer.Option(metavar="FILE", help="A skill in Markdown, or a folder of them.")] = "",
    history: History = "",
    window: Annotated[int | None, typer.Option(help="Tokens of the model's window (default 200000).")] = None,
    messages_only: MessagesOnly = False,
) -> None:
    """Build the messages for a request: persona, skills, memory, conversation, each within its share of the window.

    Example: mabos context build --request "Draft the renewal for Acme" --history chat.json --messages-only
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    _check_doors(call, messages_only, "" if call.literal_dash else request, system, history, skills)
    counter = open_counter(agent)
    request = text_argument(request, call.literal_dash)
    given, budget = _gather(agent, request, system, skills, history), _budget(agent.settings, window)
    warnings: list[str] = []

    def pack(limit: int) -> str:
        if limit < 1:
            return ""
        packed = pack_for(call, agent, given.request, Bounds(limit))
        agent.note_uses(packed.used())
        warnings.extend(packed.warnings)
        return packed.pack.text

    made = build_window(given, budget, counter.count, pack, inert)
    data = _window_data(agent, made, budget, counter.name)
    lines = [dump_line(data["messages"])] if messages_only else _window_lines(made, data)
    call.emit("context.build", data, lines, [*warnings, *made.notes])


def compress(
    ctx: typer.Context,
    history: History,
    budget: Annotated[
        int | None, typer.Option("--budget", "-b", help="Tokens (default: the conversation's share of the window).")
    ] = None,
    keep: Annotated[int | None, typer.Option(help="Last messages that stay as they are (default 6).")] = None,
    llm: Annotated[bool, typer.Option("--llm", help="Let the language model write the summary.")] = False,
    messages_only: MessagesOnly = False,
) -> None:
    """Shorten a conversation to a budget: the last messages whole, what is critical kept, the rest summed up.

    Example: mabos context compress --history chat.json --budget 8000
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    _check_doors(call, messages_only)
    s, counter = agent.settings, open_counter(agent)
    budget = int(s["context.window"] * s["context.history_share"]) if budget is None else budget
    keep = option("context.recent_messages", keep) or s["context.recent_messages"]
    if budget < 1:
        raise BadValue(f"--budget must be above 0, not {budget}", "as in --budget 8000")
    turns = _read_history(history)
    plan = plan_compression(turns, budget - END_TOKENS, keep, counter.count)
    told, by, warnings = _ask_model(agent, plan.rest) if llm else ("", "", [])
    made = apply_plan(plan, counter.count, inert, told, by)
    before = total_cost(turns, counter.count) + END_TOKENS
    data = {
        "messages": _messages(made.turns),
        "budget": budget,
        "tokens": made.tokens + END_TOKENS if made.turns else 0,
        "tokens_before": before if turns else 0,
        "counted_by": counter.name,
        "turns": len(turns),
        **_counts(made),
        "summarized_by": by if told else "quotes" if made.summarized else "",
    }
    warnings += [f"{plural(made.left_out, 'turn')} left out for want of room"] if made.left_out else []
    lines = [dump_line(data["messages"])] if messages_only else _compressed_lines(made, data)
    call.emit("context.compress", data, lines, warnings)


def _check_doors(call: Call, messages_only: bool, *given: str) -> None:
    """UsageFault when two things are wanted of one stream."""
    if messages_only and call.as_json:
        raise UsageFault("both --json and --messages-only given", "--json has the messages under data.messages")
    if given.count("-") > 1:
        raise UsageFault("standard input can be read once", "give one of them as a file")


def _gather(agent: Agent, request: str, system: str, skills: str, history: str) -> Given:
    """What the window is built of, read and checked."""
    from mabos_cli.services.context.skill_files import load_skills

    asked = request.encode("utf-8", "replace").decode("utf-8")
    if not asked.strip():
        raise BadValue("the request is empty", "say what the agent is asked, or - to read it from standard input")
    turns = _read_history(history) if history else ()
    # A host that recorded the request already would have it answered twice.
    if turns and turns[-1].role == "user" and turns[-1].content.strip() == asked.strip():
        turns = turns[:-1]
    texts = {system: read_given(system)} if system else load_prompt_files(agent)
    sections: list[Section] = []
    for name, text in texts.items():
        sections += split_sections("standard input" if name == "-" else name, text)
    return Given(asked, tuple(sections), load_skills(skills) if skills else (), turns)


def _read_history(path: str) -> tuple[Turn, ...]:
    return parse_history(read_given(path), "standard input" if path == "-" else path)


def _budget(settings: Settings, window: int | None) -> Budget:
    shares = (settings[f"context.{part}_share"] for part in (*PARTS, "reserve"))
    ends = (settings[f"context.{name}"] for name in ("compact_at", "flush_at", "recent_messages"))
    return Budget(option("context.window", window) or settings["context.window"], *shares, *ends)


def _ask_model(agent: Agent, rest: Sequence[tuple[int, Turn]]) -> tuple[str, str, list[str]]:
    """What the model tells of some turns, its name, and warnings; nothing when it fails, or when there is nothing to tell."""
    from mabos_cli.core.language.secrets import redact
    from mabos_cli.formats.search.llm_answers import LARGEST, parse_text, render_conversation_prompt
    from mabos_cli.services.search.llm_ask import Asker

    asker = Asker(agent, "summary")
    if not rest:
        return "", "", []
    prompt = render_conversation_prompt(quote_turns(rest, LARGEST, len))
    told = asker.ask(prompt, lambda answer: parse_text(answer, _LONGEST_SUMMARY))
    return inert(redact(told or "")[0]), asker.name, asker.warnings()


def _messages(turns: Sequence[Turn]) -> list[dict[str, str]]:
    return [{"role": turn.sent_as, "content": turn.content} for turn in turns]


def _counts(made: Compressed) -> dict[str, int]:
    names = ("recent", "kept", "summarized", "quoted", "left_out", "shortened")
    return {name: getattr(made, name) for name in names}


def _window_data(agent: Agent, made: Window, budget: Budget, counted_by: str) -> dict[str, Any]:
    now = agent.now()
    prompt = render_flush_prompt(agent.id, f"{now:%Y-%m-%d}", f"{now:%H%M}") if made.action == "flush" else ""
    return {
        "messages": _messages(made.messages),
        "window": budget.window,
        "reserve": budget.share("reserve"),
        "tokens": made.tokens | {"total": made.total},
        "limits": made.limits,
        "utilization": round(made.total / budget.window, 4),
        "demand": round(made.demand / budget.window, 4),
        "action": made.action,
        "flush_prompt": prompt,
        "history": _counts(made.history),
        "notes": list(made.notes),
        "counted_by": counted_by,
    }


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
