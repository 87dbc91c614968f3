"""trust: how far items may be relied on, why, and who says so."""

from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call
from mabos_cli.commands.memory.item import Found, find_item, not_live
from mabos_cli.commands.options import Limit, more_line
from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_span, format_time, parse_time
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import TRUSTS, MemoryItem, check_choice, check_word
from mabos_cli.core.memory.stores import Memory, locate, plan_update
from mabos_cli.core.memory.trust import CLAIMED, Decision, Judgement, mark_text, trust_rank
from mabos_cli.errors import UsageFault
from mabos_cli.formats.memory.item_records import decision_to_dict
from mabos_cli.services.inputs import refuse_secrets
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.memory.trust_log import Judge, find_doubtful, load_decisions, note_decision

app = typer.Typer()
_LONGEST_REASON = 1000


@app.command()
def trust(
    ctx: typer.Context,
    item_id: Annotated[str, typer.Argument(metavar="[ID]", help="An item's id: M-...")] = "",
    to: Annotated[str, typer.Option("--set", metavar="TRUST", help="trusted, agent or untrusted from now on.")] = "",
    by: Annotated[str, typer.Option(metavar="NAME", help="Who decides; needed with --set.")] = "",
    reason: Annotated[str, typer.Option(help="Why; kept in the log.")] = "",
    quarantine: Annotated[bool, typer.Option("--quarantine", help="List the untrusted items, newest first.")] = False,
    log: Annotated[bool, typer.Option("--log", help="List what was decided, about ID or all.")] = False,
    limit: Limit = 20,
) -> None:
    """Show how far an item is trusted and why, or decide it.

    An item is trusted no more than what it derives from, unless a person vouches for its text.

    Example: mabos trust M-1708800000000-a3f2 --set trusted --by ada --reason "checked with the bank"
    """
    call: Call = ctx.obj
    _check_words(item_id, to, by, reason, quarantine, log)
    agent = call.open_agent()
    refuse_secrets(agent.settings, by=by, reason=reason)
    if quarantine:
        _quarantine(call, agent, limit)
    elif log:
        _log(call, agent, item_id, limit)
    elif to:
        _set(call, agent, item_id, to, by.strip(), reason.strip())
    else:
        _show(call, agent, item_id)


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
    if item_id.startswith("F-"):
        raise BadValue(
            f"{item_id} is a fact", "mabos trust is about items; a fact gets its trust from fact assert --trust"
        )


def _show(call: Call, agent: Agent, item_id: str) -> None:
    memory = agent.memory()
    judge = Judge(agent.paths, memory)
    found = find_item(agent, memory, item_id)
    judged = _decisive(judge, found.item)
    said = [decision for decision in load_decisions(agent.paths)[0] if decision.id == item_id]
    data = {
        "id": item_id,
        "state": "live" if found.live else "archived",
        "trust": found.item.trust,
        "effective": judged.trust,
        "why": judged.why,
        "lineage": [_step(judge, source) for source in judged.path],
        "decisions": [decision_to_dict(decision) for decision in said],
    }
    call.emit("trust", data, _told(found, judged, data["lineage"], said))


def _decisive(judge: Judge, item: MemoryItem) -> Judgement:
    """What decides about an item: also what would, had it not been stored as little trusted as that."""
    judged, bound = judge.judge(item), judge.judge(item._replace(trust=TRUSTS[-1]))
    is_bound = trust_rank(bound.trust) <= trust_rank(judged.trust)
    by_itself = len(bound.path) == 1 and bound.why == CLAIMED
    return bound if judged.why == CLAIMED and is_bound and not by_itself else judged


def _step(judge: Judge, item_id: str) -> dict[str, Any]:
    """A step on the way to what decides."""
    item = judge.find(item_id)
    return {
        "id": item_id,
        "trust": item.trust if item else None,
        "source": item.source if item else None,
        "content": item.content if item else None,
    }


def _told(found: Found, judged: Judgement, lineage: list[dict[str, Any]], said: list[Decision]) -> Iterator[str]:
    item, margin = found.item, "  "
    less = trust_rank(judged.trust) < trust_rank(item.trust)
    effect = f", {judged.trust} in effect" if less else ""
    why = f" ({judged.why})" if len(judged.path) == 1 else ""
    yield f"{item.id} {item.trust}{effect}{why}: {one_line(item.content, 100)}"
    for step in lineage[1:]:
        last = f" ({judged.why})" if step is lineage[-1] else ""
        known = f"{step['trust']}{last}: {one_line(step['content'], 100)}" if step["trust"] else judged.why
        yield f"{margin}from {step['id']} {known}"
        margin += "  "
    yield from map(_line, said)


def _line(said: Decision) -> str:
    reason = f": {one_line(said.reason, 100)}" if said.reason else ""
    return f"{said.at[:16]}Z {said.id} {said.before} -> {said.to} by {said.by}{reason}"


def _set(call: Call, agent: Agent, item_id: str, to: str, by: str, reason: str) -> None:
    """Changes the trust of a live item. The log is written behind the store: until then a raise is without effect."""

    def plan(memory: Memory, fresh: object):
        here = locate(memory, item_id)
        if here is None:
            raise not_live(agent, item_id)
        before = Judge(agent.paths, memory)(here[1])
        planned = plan_update(
            memory, item_id, {"trust": to}, now=agent.now(), limits=agent.settings.limits(), reason="trust"
        )
        assert planned is not None
        return planned[0], (planned[1], before)

    (item, before), warnings = agent.change("trust", plan)
    said = Decision(format_time(agent.now()), item_id, before, to, by, reason, mark_text(item.content))
    note_decision(agent, said)
    call.emit("trust.set", decision_to_dict(said), [f"{item_id}: {before} -> {to} by {by}"], warnings)


def _quarantine(call: Call, agent: Agent, limit: int) -> None:
    memory = agent.memory()
    judge = Judge(agent.paths, memory)
    held = [(store, i) for store, i in find_doubtful(memory, judge.rulings) if judge(i) == TRUSTS[0]]
    held.sort(key=lambda pair: (pair[1].created_at, pair[1].id), reverse=True)
    sources = dict(sorted(Counter(item.source for _, item in held).items()))
    shown = held[:limit] if limit else held
    data = {"count": len(held), "sources": sources, "items": [_held_row(store, item) for store, item in shown]}
    lines = [f"{plural(len(held), 'untrusted item')}: {_counted(sources)}" if held else "nothing is untrusted"]
    lines += [_held_line(agent, item) for _, item in shown]
    lines += more_line(len(held), len(shown))
    call.emit("trust.quarantine", data, lines)


def _counted(sources: dict[str, int]) -> str:
    return ", ".join(f"{one_line(name, 40)} {count}" for name, count in sources.items())


def _held_row(store: str, item: MemoryItem) -> dict[str, Any]:
    return {
        "id": item.id,
        "store": store,
        "trust": item.trust,
        "source": item.source,
        "session": item.session,
        "created_at": item.created_at,
        "content": item.content,
    }


def _held_line(agent: Agent, item: MemoryItem) -> str:
    about = " ".join(part for part in (item.source, item.session, _age(agent, item)) if part)
    return f"{item.id} {one_line(about, 80)}: {one_line(item.content, 100)}"


def _age(agent: Agent, item: MemoryItem) -> str:
    """How old an item is, in the largest unit that fits; nothing when it is not dated."""
    try:
        seconds = (agent.now() - parse_time(item.created_at)).total_seconds()
    except BadValue:
        return ""
    units = (unit for unit in (86400, 3600, 60, 1) if seconds >= unit)
    unit = next(units, 1)
    return format_span(max(0, int(seconds // unit) * unit))


def _log(call: Call, agent: Agent, item_id: str, limit: int) -> None:
    decisions, skipped = load_decisions(agent.paths)
    said = [decision for decision in decisions if not item_id or decision.id == item_id][::-1]
    shown = said[:limit] if limit else said
    data = {"count": len(said), "decisions": [decision_to_dict(decision) for decision in shown]}
    lines = [*map(_line, shown)] or [f"nothing was decided{f' about {item_id}' if item_id else ''}"]
    lines += more_line(len(said), len(shown))
    cited = agent.paths.cited(agent.paths.trust_log)
    warnings = [f"{cited}: {plural(skipped, 'line')} that cannot be read, passed over"] if skipped else []
    call.emit("trust.log", data, lines, warnings)
