"""get, update, forget, revive, reinforce: one item by its id."""

from collections.abc import Iterator
from typing import Annotated, Any

from mabos_cli.commands.call import AllowSecret, Argument, Call, Commands, Context, Option, Redact
from mabos_cli.core import BadValue
from mabos_cli.core.language.text import one_line, plural
from mabos_cli.core.memory.item import STORES, check_choice, check_word
from mabos_cli.core.memory.trust import trust_rank
from mabos_cli.formats.json.text import dump_line
from mabos_cli.formats.memory.items import item_to_dict
from mabos_cli.services.inputs import importance_of, refuse_secrets, secrets_mode, text_argument
from mabos_cli.services.memory.items import (
    Found,
    find_chain,
    forget_item,
    get_fact,
    get_item,
    get_observation,
    reinforce_item,
    revive_item,
    update_item,
)
from mabos_cli.terminal.emit import columns
from mabos_cli.workspace.agent import Agent

app = Commands()
Id = Annotated[str, Argument(metavar="ID", ids="items", help="An item's id: M-...")]
AnyId = Annotated[
    str,
    Argument(
        metavar="ID",
        ids="items facts observations",
        help="The id of an item, a fact or an observation: M-, F-, O-...; of an item that another agent shares: cfo/M-...",
    ),
]


@app.command()
def get(
    ctx: Context,
    item_id: AnyId,
    tree: Annotated[bool, Option("--tree", help="Also show what it was derived from, recursively.")] = False,
    no_use: Annotated[bool, Option("--no-use", help="Do not count it as used.")] = False,
) -> None:
    """Show an item by its id, live or archived.

    Example: mabos get M-1708800000000-a3f2 --tree
    """
    home = agent = ctx.obj.open_agent()
    if item_id.partition("/")[2][:2] in ("M-", "F-"):  # cfo/M-1, as a shared recall names it
        from mabos_cli.services.search.shared_agents import find_sharing

        agent, item_id = find_sharing(ctx.obj, home, item_id)
    if item_id.startswith("F-"):
        return _emit_fact(ctx.obj, agent, item_id)
    if item_id.startswith("O-"):
        return _emit_observation(ctx.obj, agent, item_id)
    is_home = agent.id == home.id  # what another agent shares is the item alone, and is not used by its owner
    found, trust, sources = get_item(agent, item_id, tree=tree and is_home, count_use=is_home and not no_use)
    history = [{"reason": d.reason, "at": d.at, "into": d.into or None, "store": d.store} for d in found.history]
    data: dict[str, Any] = {
        "state": "live" if found.is_live else "archived",
        "store": found.store,
        "item": item_to_dict(found.item),
        "effective_trust": trust,
        "history": history,
    }
    lines = list(_describe(found))
    if trust_rank(trust) < trust_rank(found.item.trust):
        lines.append(f"{trust} in effect: mabos trust {item_id}")
    if is_home and (chain := find_chain(agent, found.item)):
        data["chain"] = [{"id": one.item.id, "content": one.item.content, "at": one.item.happened_at} for one in chain]
        lines += [
            f"{'>' if one.item.id == item_id else ' '} {one.item.happened_at[:10]} {one.item.id}"
            f"{'' if one.is_live else ' (archived)'}: {one_line(one.item.content, 100)}"
            for one in chain
        ]
    if sources:
        data["tree"] = sources
        lines += ["", *_draw(sources, "")]
    ctx.obj.emit("get", data, lines)


def _emit_fact(call: Call, agent: Agent, fact_id: str) -> None:
    from mabos_cli.formats.knowledge.fact_text import fact_line
    from mabos_cli.formats.knowledge.facts import fact_to_dict

    fact, is_live, left = get_fact(agent, fact_id)
    lines = [fact_line(fact)]
    lines += [] if is_live else [f"archived {left[-1].at}: {left[-1].reason}"]
    lines += [f"derived from {', '.join(fact.derived_from)}"] if fact.derived_from else []
    lines += [f"before: {fact_line(d.fact)} [{d.reason} {d.at[:10]}]" for d in left if d.reason == "updated"]
    history = [{"reason": d.reason, "at": d.at} for d in left]
    state = "live" if is_live else "archived"
    call.emit("get", {"state": state, "fact": fact_to_dict(fact), "history": history}, lines)


def _emit_observation(call: Call, agent: Agent, observation_id: str) -> None:
    from mabos_cli.formats.memory.observations import observation_to_dict

    observation, place, state, items = get_observation(agent, observation_id)
    record = observation_to_dict(observation)
    about = {**record, "place": place, **({"items": items} if items else {})}
    rows = [
        (name, ", ".join(value) if isinstance(value, list) else str(value))
        for name, value in about.items()
        if name not in ("id", "kind", "text")
    ]
    lines = [f"{observation.id} [{state}] {observation.kind or 'observation'}", observation.text, *columns(rows)]
    call.emit("get", {"state": state, "place": place, "observation": record, "items": items}, lines)


def _describe(found: Found) -> Iterator[str]:
    item, last = found.item, found.history[-1] if found.history else None
    joined = "" if last and last.reason == "superseded" else "part of "
    into = f", now {joined}{last.into}" if last and last.into and not found.is_live else ""
    yield f"{item.id} [{found.store}] {item.type} {item.importance:.2f}"
    if not found.is_live and last:
        yield f"archived {last.at}: {last.reason}{into}"
    yield item.content
    facts = item_to_dict(item)
    rows = [
        (name, _value_text(value))
        for name, value in facts.items()
        if name not in ("id", "content", "type", "importance") and value not in ("", [], 0)
    ]
    yield from columns(rows)
    versions = [d for d in found.history if d.reason in ("updated", "trust")]
    if versions:
        yield f"{plural(len(versions), 'earlier version')} in the archive"


def _value_text(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    return value if isinstance(value, str) else dump_line(value)


def _draw(node: dict[str, Any], margin: str) -> Iterator[str]:
    yield f"{margin}{node['id']} ({node['state']}) {one_line(node['content'], 80)}".rstrip()
    for source in node["sources"]:
        yield from _draw(source, margin + "  ")


@app.command()
def update(
    ctx: Context,
    item_id: Id,
    content: Annotated[str | None, Option("--content", "-c", help="The new text; - reads standard input.")] = None,
    type: Annotated[str | None, Option("--type", "-t", help="The new type.")] = None,
    importance: Annotated[float | None, Option("--importance", "-i", help="0 to 1.")] = None,
    priority: Annotated[
        str | None, Option(metavar="[critical|high|medium|low]", help="The importance by name.")
    ] = None,
    tag: Annotated[
        list[str] | None, Option(help="The new tags, replacing the old; may repeat. An empty one clears them.")
    ] = None,
    store: Annotated[
        str | None, Option(metavar="[working|short_term|long_term]", help="Move it to this store.")
    ] = None,
    context: Annotated[str | None, Option(help="Why it is stored.")] = None,
    related_to: Annotated[
        list[str] | None, Option(metavar="ID", ids="items", help="Related items, replacing the old.")
    ] = None,
    expires: Annotated[str | None, Option(help="A date, or how long from now: 30d. Empty: never.")] = None,
    supersedes: Annotated[
        list[str] | None,
        Option(metavar="ID", ids="items", help="An older item that this one replaces; it is archived. May repeat."),
    ] = None,
    redact: Redact = False,
    allow_secret: AllowSecret = False,
) -> None:
    """Edit an item; the previous version is archived.

    Example: mabos update M-1708800000000-a3f2 --priority high --tag pricing
    """
    agent = ctx.obj.open_agent()
    text = text_argument(content, ctx.obj.literal_dash) if content is not None else None
    given = {
        "content": text,
        "type": type,
        "context": context,
        "tags": tag,
        "related_to": related_to,
        "expires_at": expires,
    }
    secrets, level = secrets_mode(redact, allow_secret, agent.settings), importance_of(importance, priority)
    agent = agent._replace(admits_secrets=secrets == "allow")
    done = update_item(agent, item_id, given, secrets, level=level, store=store or "", supersedes=supersedes or ())
    item, changed = done.item, list(done.changed)
    line = f"{item.id} unchanged: nothing given to change"
    if changed:
        line = f"updated {item.id} in {done.store}: {', '.join(changed)}"
    data = {"id": item.id, "store": done.store, "changed": changed, "item": item_to_dict(item)}
    ctx.obj.emit("update", data, [line], done.warnings)


@app.command()
def forget(ctx: Context, item_id: Id, reason: Annotated[str, Option(help="Why; kept in the archive.")] = "") -> None:
    """Archive an item and hide it from every search; revive undoes it.

    Items that were consolidated from it are hidden too. Only a search of the archive finds them; summaries are rebuilt without them.

    Example: mabos forget M-1708800000000-a3f2 --reason "superseded"
    """
    agent = ctx.obj.open_agent()
    refuse_secrets(agent.settings, reason=reason)
    reason = check_word(reason, "reason")
    item, where, warnings, _ = forget_item(agent, item_id, reason)
    line = f"archived {item.id} from {where}; undo: mabos revive {item.id}"
    line += f"; what was so before stays archived: mabos revive {item.supersedes[-1]}" if item.supersedes else ""
    ctx.obj.emit("forget", {"id": item.id, "store": where, "reason": reason}, [line], warnings)


@app.command()
def revive(
    ctx: Context,
    item_id: Id,
    store: Annotated[
        str, Option(metavar="[working|short_term|long_term]", help="The store (default: the one it was in).")
    ] = "",
) -> None:
    """Bring an archived item back.

    Example: mabos revive M-1708800000000-a3f2
    """
    agent = ctx.obj.open_agent()
    if store:
        check_choice(store, STORES, "store")
    item, where, warnings, _ = revive_item(agent, item_id, store)
    ctx.obj.emit("revive", {"id": item.id, "store": where}, [f"revived {item.id} in {where}"], warnings)


@app.command()
def reinforce(
    ctx: Context, item_id: Id, by: Annotated[float, Option(help="Raise the importance by this much, up to 1.")] = 0.0
) -> None:
    """Record a use of an item, and raise its importance if asked.

    Example: mabos reinforce M-1708800000000-a3f2 --by 0.1
    """
    agent = ctx.obj.open_agent()
    if not 0 <= by <= 1:
        raise BadValue(f"--by {by:g} is outside 0..1", "as in --by 0.1")
    item, _, warnings, _ = reinforce_item(agent, item_id, by)
    line = f"reinforced {item.id}: {plural(item.access_count, 'use')}, importance {item.importance:.2f}"
    ctx.obj.emit(
        "reinforce", {"id": item.id, "access_count": item.access_count, "importance": item.importance}, [line], warnings
    )
