"""trust: how far items may be relied on, why, and who says so."""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any

from mabos_cli.commands.call import Argument, Call, Commands, Context, Limit, Option, more_line
from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_span, parse_time
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import TRUSTS, MemoryItem, check_choice, check_word
from mabos_cli.core.memory.trust import Decision, Judgement, trust_rank
from mabos_cli.errors import UsageFault
from mabos_cli.formats.memory.items import decision_to_dict
from mabos_cli.services.inputs import refuse_secrets
from mabos_cli.services.memory.items import decide_trust, explain_trust, list_decisions, list_untrusted
from mabos_cli.workspace.agent import Agent

app = Commands()
# What else has a trust, by how its ids begin, and the command that sets it.
_OTHERS = {"F-": ("fact", "assert"), "C-": ("case", "revise"), "B-": ("belief", "revise")}
_LONGEST_REASON = 1000


@app.command()
def trust(
    ctx: Context,
    item_id: Annotated[str, Argument(metavar="[ID]", ids="items", help="An item's id: M-...")] = "",
    to: Annotated[
        str, Option("--set", metavar="[trusted|agent|untrusted]", help="How far to trust it from now on.")
    ] = "",
    by: Annotated[str, Option(metavar="NAME", help="The person who decides; required with --set.")] = "",
    reason: Annotated[str, Option(help="Why; kept in the log.")] = "",
    quarantine: Annotated[bool, Option("--quarantine", help="List the untrusted items, newest first.")] = False,
    log: Annotated[bool, Option("--log", help="List the decisions about ID, or all decisions.")] = False,
    limit: Limit = 20,
) -> None:
    """Show or set how far an item is trusted.

    An item is trusted no more than what it derives from, unless a person vouches for its text.

    Example: mabos trust M-1708800000000-a3f2 --set trusted --by ada --reason "checked with the bank"
    """
    _check_words(item_id, to, by, reason, quarantine, log)
    agent = ctx.obj.open_agent()
    refuse_secrets(agent.settings, by=by, reason=reason)
    if quarantine:
        _quarantine(ctx.obj, agent, limit)
    elif log:
        _log(ctx.obj, agent, item_id, limit)
    elif to:
        decision, warnings = decide_trust(agent, item_id, to, by.strip(), reason.strip())
        line = f"{item_id}: {decision.before} -> {to} by {decision.by}"
        ctx.obj.emit("trust.set", decision_to_dict(decision), [line], warnings)
    else:
        _show(ctx.obj, agent, item_id)


def _check_words(item_id: str, to: str, by: str, reason: str, quarantine: bool, log: bool) -> None:
    """Refuses words that do not go together."""
    if sum((quarantine, log, bool(to))) > 1:
        raise UsageFault("--set, --quarantine and --log are three things to do", "give one of them")
    if (by or reason) and not to:
        raise UsageFault("--by and --reason say who decides and why", "add --set trusted, agent or untrusted")
    if quarantine and item_id:
        raise UsageFault("--quarantine lists all untrusted items", "leave the id out")
    if not item_id and not (quarantine or log):
        raise UsageFault("no id given", "mabos trust ID, or --quarantine, or --log")
    if to:
        check_choice(to, TRUSTS, "trust")
        if not check_word(by, "name"):
            raise UsageFault("--set needs --by NAME", "a decision is logged with who made it")
        check_word(reason, "reason", _LONGEST_REASON)
    noun, verb = _OTHERS.get(item_id[:2], ("", ""))
    if noun:
        raise BadValue(
            f"{item_id} is a {noun}", f"mabos trust is about items; a {noun} gets its trust from {noun} {verb} --trust"
        )


def _show(call: Call, agent: Agent, item_id: str) -> None:
    view = explain_trust(agent, item_id)
    lineage = [
        {
            "id": source,
            "trust": item.trust if item else None,
            "source": item.source if item else None,
            "content": item.content if item else None,
        }
        for source, item in view.lineage
    ]
    data = {
        "id": item_id,
        "state": "live" if view.found.is_live else "archived",
        "trust": view.found.item.trust,
        "effective": view.judged.trust,
        "why": view.judged.why,
        "lineage": lineage,
        "decisions": [decision_to_dict(decision) for decision in view.decisions],
    }
    call.emit("trust", data, _trust_lines(view.found.item, view.judged, lineage, view.decisions))


def _trust_lines(
    item: MemoryItem, judged: Judgement, lineage: list[dict[str, Any]], decisions: list[Decision]
) -> Iterator[str]:
    margin = "  "
    less = trust_rank(judged.trust) < trust_rank(item.trust)
    effect = f", {judged.trust} in effect" if less else ""
    why = f" ({judged.why})" if len(judged.path) == 1 else ""
    yield f"{item.id} {item.trust}{effect}{why}: {one_line(item.content, 100)}"
    for step in lineage[1:]:
        last = f" ({judged.why})" if step is lineage[-1] else ""
        known = f"{step['trust']}{last}: {one_line(step['content'], 100)}" if step["trust"] else judged.why
        yield f"{margin}from {step['id']} {known}"
        margin += "  "
    yield from map(_line, decisions)


def _line(decision: Decision) -> str:
    reason = f": {one_line(decision.reason, 100)}" if decision.reason else ""
    return f"{decision.at[:16]}Z {decision.id} {decision.before} -> {decision.to} by {decision.by}{reason}"


def _quarantine(call: Call, agent: Agent, limit: int) -> None:
    held = list_untrusted(agent)
    sources = dict(sorted(Counter(item.source for _, item in held).items()))
    shown = held[:limit] if limit else held
    data = {"count": len(held), "sources": sources, "items": [_held_row(store, item) for store, item in shown]}
    counted = ", ".join(f"{one_line(name, 40)} {count}" for name, count in sources.items())
    lines = [f"{plural(len(held), 'untrusted item')}: {counted}" if held else "no untrusted items"]
    lines += [_held_line(agent, item) for _, item in shown]
    lines += more_line(len(held), len(shown))
    call.emit("trust.quarantine", data, lines)


def _held_row(store: str, item: MemoryItem) -> dict[str, Any]:
    shown = ("trust", "source", "session", "created_at", "content")
    return {"id": item.id, "store": store} | {name: getattr(item, name) for name in shown}


def _held_line(agent: Agent, item: MemoryItem) -> str:
    about = " ".join(part for part in (item.source, item.session, _age(agent, item)) if part)
    return f"{item.id} {one_line(about, 80)}: {one_line(item.content, 100)}"


def _age(agent: Agent, item: MemoryItem) -> str:
    """Returns how old an item is, in the largest unit that fits; nothing when it is not dated."""
    try:
        seconds = (agent.now() - parse_time(item.created_at)).total_seconds()
    except BadValue:
        return ""
    units = (unit for unit in (86400, 3600, 60, 1) if seconds >= unit)
    unit = next(units, 1)
    return format_span(max(0, int(seconds // unit) * unit))


def _log(call: Call, agent: Agent, item_id: str, limit: int) -> None:
    decisions, warnings = list_decisions(agent, item_id)
    shown = decisions[:limit] if limit else decisions
    data = {"count": len(decisions), "decisions": [decision_to_dict(decision) for decision in shown]}
    lines = [*map(_line, shown)] or [f"nothing was decided{f' about {item_id}' if item_id else ''}"]
    lines += more_line(len(decisions), len(shown))
    call.emit("trust.log", data, lines, warnings)
