"""belief: what an agent holds true, in Beliefs.md."""

from typing import Annotated, Any

import typer

from mabos_cli.commands.call import Call, new_group
from mabos_cli.commands.mind.attitude import find_added, namesakes
from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory.item import check_content, check_word
from mabos_cli.core.mind.mind import Belief, status_word
from mabos_cli.errors import NotFound
from mabos_cli.formats.mind.attitudes import find_entry, parse_beliefs
from mabos_cli.formats.mind.cognitive import parse_cognitive
from mabos_cli.formats.mind.cognitive_edit import Change, log_change
from mabos_cli.formats.mind.mind_edit import add_entry, belief_draft, change_entry
from mabos_cli.services.inputs import text_argument
from mabos_cli.workspace.mind import edit_mind, load_attitudes, load_beliefs

app = new_group("belief", "Add, revise and list what an agent holds true.", no_args_is_help=True)


@app.command()
def add(
    ctx: typer.Context,
    subject: Annotated[str, typer.Argument(help="What it is about.")],
    text: Annotated[str, typer.Argument(metavar="[TEXT]", help="What holds; - reads standard input.")] = "",
    certainty: Annotated[float, typer.Option(help="0 to 1.")] = 0.8,
    source: Annotated[str, typer.Option(help="Where it comes from.")] = "manual",
    supports: Annotated[list[str] | None, typer.Option(metavar="GOAL", help="A goal it supports; may repeat.")] = None,
    group: Annotated[str, typer.Option(help="The heading that it goes under.")] = "",
) -> None:
    """Add a belief to Beliefs.md, as a row where beliefs stand in tables, else as a section.

    Example: mabos belief add "Market demand" "growing" --certainty 0.8 --source report
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    limit = agent.settings["memory.max_content_bytes"]
    told = check_content(text_argument(text, call.literal_dash), limit).strip("\n") if text else ""
    fields = {"source": check_word(source, "source"), "supports": tuple(check_word(g, "id") for g in supports or ())}
    made = Belief(_subject(subject), told, _certainty(certainty), format_time(agent.now())[:10], **fields)
    draft, name = belief_draft(made), agent.paths.beliefs.name
    known = {goal.id.casefold() for goal in load_attitudes(agent, "goal")[0]} if made.supports else set()
    unknown = [f"no goal {g} in Goals.md" for g in made.supports if g.casefold() not in known]

    def edit(old: str) -> str:
        nonlocal made
        new, own = add_entry(old or "# Beliefs\n", draft, made.updated, check_word(group, "group"))
        own, line = find_added(new, "belief", own, made.subject)
        made = made._replace(id=own, path=name, line=line)
        return new

    warnings = edit_mind(agent, "belief add", "belief", edit, lambda: [made.id])[1] + unknown
    told = [f"added {f'{made.id} ' if made.id else ''}{made.place}: {one_line(made.statement, 100)}"]
    call.emit("belief.add", _row(made), told, warnings)


def _subject(subject: str) -> str:
    said = check_word(subject, "subject", 300)
    if not said:
        raise BadValue("the subject is empty", "say what the belief is about")
    return said


def _certainty(value: float) -> float:
    if not 0 <= value <= 1:
        raise BadValue(f"certainty {value:g} is outside 0..1", "as in --certainty 0.8")
    return value


@app.command()
def revise(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="BELIEF", help="Its id, or its subject.")],
    certainty: Annotated[float | None, typer.Option(help="The new certainty, 0 to 1.")] = None,
    value: Annotated[str | None, typer.Option(help="What holds now, in place of its value or text.")] = None,
    source: Annotated[str | None, typer.Option(help="The new source.")] = None,
    reason: Annotated[str, typer.Option(help="Why; kept in the revision log of the file, if it has one.")] = "",
) -> None:
    """Change a belief in its place; only its own lines change.

    Example: mabos belief revise B-001 --certainty 0.4 --reason "two customers left"
    """
    call: Call = ctx.obj
    agent = call.open_agent()
    day = format_time(agent.now())[:10]
    changes = {} if certainty is None else {"certainty": f"{_certainty(certainty):g}"}
    changes |= {} if value is None else {"text": check_content(value, agent.settings["memory.max_content_bytes"])}
    changes |= {} if source is None else {"source": check_word(source, "source")}
    if not changes:
        raise BadValue("nothing given to change", "--certainty, --value or --source")

    seen: list[Belief] = []
    others: list[str] = []

    def edit(old: str) -> str:
        entry = find_entry(parse_cognitive(old), "belief", name)
        if entry is None or _at(old, name) is None:
            raise NotFound(f"no belief {name!r} for agent {agent.id}", "mabos belief list shows them")
        new = change_entry(old, entry, changes | {"updated": day})
        if new is None:
            place = f"{agent.paths.beliefs.name}:{entry.first + 1}"
            raise BadValue(f"{name} holds more than plain text", f"edit it by hand: {place}; --certainty works")
        if new != old:
            field = "text" if "text" in changes else next(iter(changes))
            was = entry.text if field == "text" else entry.get(field)
            told = Change(f"revised {_named(changes)}", check_word(reason, "reason"), was, changes[field])
            new = log_change(new, entry.get("id"), entry.title, day, told)
        seen[:] = [belief for belief in (_at(new, name), _at(old, name)) if belief]
        others[:] = namesakes(new, "belief", name)
        return new

    changed, warnings = edit_mind(agent, "belief revise", "belief", edit, lambda: [name])
    found = seen[0]
    line = f"{'revised' if changed else 'unchanged'} {found.id or found.subject} {found.place}: {_named(changes)}"
    call.emit("belief.revise", _row(found) | {"changed": sorted(changes)}, [line], warnings + others)


def _at(text: str, name: str) -> Belief | None:
    """The belief with an id or a subject, as it stands in the text of its file."""
    entry = find_entry(parse_cognitive(text), "belief", name)
    beliefs = parse_beliefs(text, "Beliefs.md")[0] if entry else []
    return next((b for b in beliefs if entry and b.line == entry.first + 1), None)


def _named(changes: dict[str, str]) -> str:
    return ", ".join("value" if name == "text" else name for name in changes)


@app.command("list")
def list_command(
    ctx: typer.Context,
    min_certainty: Annotated[float, typer.Option(help="Only beliefs at least this certain.")] = 0.0,
    status: Annotated[str, typer.Option(help="Only those with this status: active, superseded, ...")] = "",
) -> None:
    """List the beliefs in the order of the file, with their places.

    Example: mabos belief list --min-certainty 0.6
    """
    call: Call = ctx.obj
    beliefs, problems = load_beliefs(call.open_agent())
    wanted = status.strip().casefold()
    shown = [b for b in beliefs if b.certainty >= min_certainty and wanted in ("", status_word(b.status))]
    lines = [_line(belief) for belief in shown]
    warnings = [str(problem) for problem in problems]
    nothing = "no belief passes the filters" if beliefs else "no beliefs yet"
    call.emit("belief.list", {"beliefs": [_row(b) for b in shown]}, lines or [nothing], warnings)


def _line(belief: Belief) -> str:
    """A belief on a line, in the order of what the other lists of the mind say."""
    told = [f"certainty {belief.certainty:.2f}", *([belief.status] if belief.status else [])]
    return f"{belief.id or '-'} {one_line(belief.statement, 100)} ({belief.place}): {', '.join(told)}"


def _row(belief: Belief) -> dict[str, Any]:
    return belief._asdict() | {"supports": list(belief.supports)}
