"""get, update, forget, revive, reinforce: one item by its id."""

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import typer

from mabos_cli.commands.call import Call
from mabos_cli.commands.options import AllowSecret, Redact
from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import STORES, MemoryItem, check_choice, check_word, touch
from mabos_cli.core.memory.stores import Departure, Memory, locate, plan_forget, plan_revive, plan_update
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.errors import NotFound
from mabos_cli.formats.json.text import dump_line
from mabos_cli.formats.memory.items import item_to_dict
from mabos_cli.services.inputs import (
    draft_from,
    importance_of,
    redacted_note,
    refuse_secrets,
    secrets_way,
    text_argument,
)
from mabos_cli.terminal.emit import columns
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.memory.observations import find_observation
from mabos_cli.workspace.memory.trust_log import Judge

app = typer.Typer()
_DEEPEST = 100
Id = Annotated[str, typer.Argument(metavar="ID", help="An item's id: M-...")]
AnyId = Annotated[str, typer.Argument(metavar="ID", help="The id of an item, a fact or an observation: M-, F-, O-...")]


class Found(NamedTuple):
    """An item with the store that holds or held it, and its archive records."""

    item: MemoryItem
    store: str
    live: bool
    history: tuple[Departure, ...]


def find_item(agent: Agent, memory: Memory, item_id: str) -> Found:
    """The item with an id, live or archived; NotFound for an id that was never issued here."""
    live = locate(memory, item_id)
    history = tuple(agent.departures(item_id))
    if live:
        return Found(live[1], live[0], True, history)
    if history:
        store = history[-1].store if history[-1].store in STORES else "long_term"
        return Found(history[-1].item, store, False, history)
    raise _never_issued(agent, item_id)


@app.command()
def get(
    ctx: typer.Context,
    item_id: AnyId,
    tree: Annotated[bool, typer.Option("--tree", help="Also show what it was derived from, all the way down.")] = False,
) -> None:
    """Show the item with an id, live or archived.

    Example: mabos get M-1708800000000-a3f2 --tree
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    if item_id.startswith("F-"):
        from mabos_cli.services.memory.fact_get import get_fact

        return get_fact(call, agent, item_id)
    if item_id.startswith("O-"):
        from mabos_cli.services.memory.observation_get import get_observation

        return get_observation(call, agent, item_id)
    memory = agent.memory()
    found = find_item(agent, memory, item_id)
    state = "live" if found.live else "archived"
    history = [{"reason": d.reason, "at": d.at, "into": d.into or None, "store": d.store} for d in found.history]
    trust = Judge(agent.paths, memory)(found.item)
    data: dict[str, Any] = {
        "state": state,
        "store": found.store,
        "item": item_to_dict(found.item),
        "effective_trust": trust,
        "history": history,
    }
    lines = list(_describe(found))
    if trust_rank(trust) < trust_rank(found.item.trust):
        lines.append(f"{trust} in effect: mabos trust {item_id}")
    if tree:
        data["tree"] = _tree(agent, memory, item_id, set())
        lines += ["", *_draw(data["tree"], "")]
    call.emit("get", data, lines)


def _describe(found: Found) -> Iterator[str]:
    item, last = found.item, found.history[-1] if found.history else None
    into = f", now part of {last.into}" if last and last.into and not found.live else ""
    yield f"{item.id} [{found.store}] {item.type} {item.importance:.2f}"
    if not found.live and last:
        yield f"archived {last.at}: {last.reason}{into}"
    yield item.content
    facts = item_to_dict(item)
    rows = [
        (name, _shown(value))
        for name, value in facts.items()
        if name not in ("id", "content", "type", "importance") and value not in ("", [], 0)
    ]
    yield from columns(rows)
    versions = [d for d in found.history if d.reason in ("updated", "trust")]
    if versions:
        yield f"{plural(len(versions), 'earlier version')} in the archive"


def _shown(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    return value if isinstance(value, str) else dump_line(value)


def _tree(agent: Agent, memory: Memory, item_id: str, shown: set[str], depth: int = 0) -> dict[str, Any]:
    """The item and its sources, each with its state. An id is opened once, and not endlessly deep."""
    try:
        found = find_item(agent, memory, item_id)
    except NotFound:
        seen = find_observation(agent.paths, item_id) if item_id.startswith("O-") else None
        state, text = ("observed", seen.observation.text) if seen else ("unknown", "")
        return {"id": item_id, "state": state, "content": text, "sources": []}
    again = item_id in shown or depth >= _DEEPEST
    shown.add(item_id)
    sources = () if again else found.item.derived_from
    return {
        "id": item_id,
        "state": "live" if found.live else "archived",
        "content": found.item.content,
        "sources": [_tree(agent, memory, source, shown, depth + 1) for source in sources],
    }


def _draw(node: dict[str, Any], margin: str) -> Iterator[str]:
    yield f"{margin}{node['id']} ({node['state']}) {one_line(node['content'], 80)}".rstrip()
    for source in node["sources"]:
        yield from _draw(source, margin + "  ")


def not_live(agent: Agent, item_id: str) -> NotFound:
    """Why an id is not live: archived, or never issued."""
    history = agent.departures(item_id)
    if history:
        return NotFound(f"{item_id} is archived ({history[-1].reason})", f"bring it back first: mabos revive {item_id}")
    return _never_issued(agent, item_id)


def _never_issued(agent: Agent, item_id: str) -> NotFound:
    hint = "mabos recall finds ids; another agent may have it (--agent)"
    return NotFound(f"no item {item_id!r} for agent {agent.id}", hint)


@app.command()
def update(
    ctx: typer.Context,
    item_id: Id,
    content: Annotated[
        str | None, typer.Option("--content", "-c", help="The new text; - reads standard input.")
    ] = None,
    type: Annotated[str | None, typer.Option("--type", "-t", help="The new type.")] = None,
    importance: Annotated[float | None, typer.Option("--importance", "-i", help="0 to 1.")] = None,
    priority: Annotated[str | None, typer.Option(help="critical, high, medium or low.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="The new tags, replacing the old; may repeat. An empty one clears them.")
    ] = None,
    store: Annotated[str | None, typer.Option(help="Move it to working, short_term or long_term.")] = None,
    context: Annotated[str | None, typer.Option(help="Why it is stored.")] = None,
    related_to: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Related items, replacing the old.")
    ] = None,
    expires: Annotated[str | None, typer.Option(help="A date, or how long from now: 30d. Empty: never.")] = None,
    redact: Redact = False,
    allow_secret: AllowSecret = False,
) -> None:
    """Edit an item; the version before is archived.

    Example: mabos update M-1708800000000-a3f2 --priority high --tag pricing
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    text = text_argument(content, call.literal_dash) if content is not None else None
    given = {
        "content": text,
        "type": type,
        "context": context,
        "tags": tag,
        "related_to": related_to,
        "expires_at": expires,
    }
    fields, notes = _checked(agent, given, secrets_way(redact, allow_secret, agent.settings))
    level = importance_of(importance, priority)
    if level is not None:
        fields["importance"] = level
    target = check_choice(store, STORES, "store") if store else ""
    (item, where, fell), warnings = agent.change("update", _updating(agent, item_id, fields, target))
    warnings += notes
    if fell:
        warnings.append(f"{item.id} is {item.trust} now: nobody vouched for this text")
    changed = sorted([*fields, *(["store"] if target else [])])
    line = (
        f"updated {item.id} in {where}: {', '.join(changed)}"
        if changed
        else f"{item.id} unchanged: nothing given to change"
    )
    call.emit(
        "update", {"id": item.id, "store": where, "changed": changed, "item": item_to_dict(item)}, [line], warnings
    )


def _updating(agent: Agent, item_id: str, fields: dict[str, Any], store: str) -> Any:
    """A plan that edits an item: what became of it, where it is, and whether it is trusted less than before."""

    def plan(memory: Memory, fresh: object):
        planned = plan_update(
            memory,
            item_id,
            fields,
            store=store,
            now=agent.now(),
            limits=agent.settings.limits(),
            trust_of=Judge(agent.paths, memory),
        )
        if planned is None:
            raise not_live(agent, item_id)
        before = locate(memory, item_id)
        fell = bool(before) and trust_rank(planned[1].trust) < trust_rank(before[1].trust)
        return planned[0], (*planned[1:], fell)

    return plan


def _checked(agent: Agent, given: dict[str, Any], secrets: str) -> tuple[dict[str, Any], list[str]]:
    """The fields that were given, checked as those of a new item are, and a warning if secrets were replaced."""
    values = {name: value for name, value in given.items() if value or (name == "content" and value is not None)}
    draft = draft_from({"content": "-"} | values, agent.settings, agent.now(), secrets)
    fields = {name: getattr(draft.item, name) for name, value in given.items() if value is not None}
    return fields, redacted_note([draft])


@app.command()
def forget(
    ctx: typer.Context, item_id: Id, reason: Annotated[str, typer.Option(help="Why; kept in the archive.")] = ""
) -> None:
    """Move an item to the archive; revive undoes it.

    Example: mabos forget M-1708800000000-a3f2 --reason "superseded"
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    refuse_secrets(agent.settings, reason=reason)
    reason = check_word(reason, "reason")

    def plan(memory: Memory, fresh: object):
        planned = plan_forget(memory, item_id, reason, now=agent.now())
        if planned is None:
            raise not_live(agent, item_id)
        return planned[0], planned[1:]

    (item, where), warnings = agent.change("forget", plan)
    line = f"archived {item.id} from {where}; undo: mabos revive {item.id}"
    call.emit("forget", {"id": item.id, "store": where, "reason": reason}, [line], warnings)


@app.command()
def revive(
    ctx: typer.Context,
    item_id: Id,
    store: Annotated[
        str, typer.Option(help="Where to: working, short_term or long_term; else where it came from.")
    ] = "",
) -> None:
    """Bring an archived item back.

    Example: mabos revive M-1708800000000-a3f2
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    if store:
        check_choice(store, STORES, "store")

    def plan(memory: Memory, fresh: object):
        found = find_item(agent, memory, item_id)
        return plan_revive(
            memory,
            found.item,
            store or found.store,
            now=agent.now(),
            limits=agent.settings.limits(),
            trust_of=Judge(agent.paths, memory),
        )

    (item, where), warnings = agent.change("revive", plan)
    call.emit("revive", {"id": item.id, "store": where}, [f"revived {item.id} in {where}"], warnings)


@app.command()
def reinforce(
    ctx: typer.Context,
    item_id: Id,
    by: Annotated[float, typer.Option(help="Raise the importance by this much, up to 1.")] = 0.0,
) -> None:
    """Count a use of an item, and raise its importance if asked.

    Example: mabos reinforce M-1708800000000-a3f2 --by 0.1
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    if not 0 <= by <= 1:
        raise BadValue(f"--by {by:g} is outside 0..1", "as in --by 0.1")

    def plan(memory: Memory, fresh: object):
        found = locate(memory, item_id)
        if found is None:
            raise not_live(agent, item_id)
        used = touch(found[1], format_time(agent.now()))
        fields = {"accessed_at": used.accessed_at, "access_count": used.access_count}
        if by:
            fields["importance"] = round(min(1.0, used.importance + by), 4)
        planned = plan_update(
            memory, item_id, fields, now=agent.now(), limits=agent.settings.limits(), keep_version=False
        )
        assert planned is not None
        return planned[0], planned[1]

    item, warnings = agent.change("reinforce", plan)
    line = f"reinforced {item.id}: {plural(item.access_count, 'use')}, importance {item.importance:.2f}"
    call.emit(
        "reinforce", {"id": item.id, "access_count": item.access_count, "importance": item.importance}, [line], warnings
    )
