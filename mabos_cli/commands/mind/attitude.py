"""What the commands about desires, goals, intentions, plans, commitments and lessons have in common."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from mabos_cli.commands.call import Call
from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory.item import PRIORITIES, check_word
from mabos_cli.core.mind.mind import Attitude, status_word
from mabos_cli.errors import NotFound
from mabos_cli.formats.mind.attitudes import KINDS, find_entry, read_attitude, split_id
from mabos_cli.formats.mind.cognitive import parse_cognitive
from mabos_cli.formats.mind.cognitive_edit import Change, log_change
from mabos_cli.formats.mind.mind_edit import Draft, add_entry, add_note, change_entry
from mabos_cli.services.inputs import parse_ahead
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.mind import edit_mind, load_attitudes

_LONGEST_TITLE = 300
# What to change in an entry, given how it is and the day; and what a list says of one.
Changes = Callable[[Attitude, str], Mapping[str, str]]
Details = Callable[[Attitude], Iterable[str]]


def today(agent: Agent) -> str:
    return format_time(agent.now())[:10]


def title_of(text: str, what: str) -> str:
    """A title as it was given, or BadValue when it is empty or more than a line."""
    said = check_word(text, what, _LONGEST_TITLE)
    if not said:
        raise BadValue(f"the {what} is empty", f"say what the {what} is")
    return said


def ids_of(given: Sequence[str] | None) -> str:
    """Ids of links as they stand in a file."""
    return ", ".join(check_word(each, "id", 80) for each in given or ())


def priority_text(given: str) -> str:
    """A priority as it was given, a word or a number in 0..1; BadValue for anything else."""
    word = given.strip().lower()
    if not word or word in PRIORITIES:
        return word
    try:
        number = float(word)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise BadValue(f"bad priority {given[:40]!r}", "0 to 1, or critical, high, medium, low")
    return f"{number:g}"


def day_text(given: str, agent: Agent) -> str:
    """A day to come as it stands in a file, from `2026-03-31`, `tomorrow` or `14d`; or nothing."""
    return format_time(parse_ahead(given.strip(), agent.now()))[:10] if given.strip() else ""


def percent_text(given: float | None) -> str:
    """Progress as it stands in a file, or BadValue outside 0..100."""
    if given is None:
        return ""
    if not 0 <= given <= 100:
        raise BadValue(f"progress {given:g} is outside 0..100", "give percent")
    return f"{given:g}%"


def add_attitude(
    call: Call, agent: Agent, draft: Draft, links: Mapping[str, str] | None = None, group: str = ""
) -> None:
    """Adds an entry and says so; links are the kinds that fields lead to, and ids that are not there are warned about."""
    made, line = draft, 0
    kind, group = draft.kind, check_word(group, "group")
    # Looked up first: behind the edit nothing should fail any more.
    unknown = _unknown(agent, draft, links or {})

    def edit(old: str) -> str:
        nonlocal made, line
        start = old or f"# {KINDS[kind].file.removesuffix('.md')}\n"
        new, own = add_entry(start, draft, today(agent), group)
        own, line = find_added(new, kind, own, draft.title)
        made = draft._replace(id=own)
        return new

    warnings = edit_mind(agent, f"{kind} add", kind, edit, lambda: [made.id] if made.id else [])[1] + unknown
    place = f"{KINDS[kind].file}:{line}" if line else KINDS[kind].file
    data = {"id": made.id or None, "title": made.title, "place": place, **{n: v for n, v in made.fields.items() if v}}
    call.emit(
        f"{kind}.add", data, [f"added {f'{made.id} ' if made.id else ''}{place}: {one_line(made.title, 100)}"], warnings
    )


def find_added(text: str, kind: str, own: str, title: str) -> tuple[str, int]:
    """The id and the line of an entry that was just written. A table without a column for ids keeps none."""
    file = parse_cognitive(text)
    entry = find_entry(file, kind, own) if own else None
    if entry:
        return own, entry.first + 1
    return "", next((e.first + 1 for e in reversed(file.entries) if e.title == title), 0)


def _unknown(agent: Agent, draft: Draft, links: Mapping[str, str]) -> list[str]:
    """Warnings about links to what is not there; it may be another agent's, or come later."""
    told = []
    for name, kind in links.items():
        given = [part.strip() for part in draft.fields.get(name, "").split(",") if part.strip()]
        known = {each.id.casefold() for each in load_attitudes(agent, kind)[0]} if given else set()
        told += [f"no {kind} {g} in {KINDS[kind].file}" for g in given if g.casefold() not in known]
    return told


def change_attitude(call: Call, kind: str, verb: str, name: str, decide: Changes, *, note: str = "") -> None:
    """Changes fields of an entry in place; what to change is decided by what it is in the moment of writing."""
    agent = call.open_agent()
    day = today(agent)
    seen: list[Attitude] = []
    others: list[str] = []

    def edit(old: str) -> str:
        entry, each = find_entry(parse_cognitive(old), kind, name), _named(old, kind, name)
        if entry is None or each is None:
            raise NotFound(f"no {kind} {name!r} for agent {agent.id}", f"mabos {kind} list shows them")
        changes = decide(each, day)
        new = change_entry(old, entry, changes) or old
        new = add_note(new, entry, day, note) if note and verb == "progress" else new
        seen[:] = [each]
        if new == old:
            return old
        # A log says what a thing was and is by its status, or else by what was set first.
        name_of = "status" if "status" in changes else next(iter(changes))
        said = Change(verb, note, entry.get(name_of), changes[name_of])
        new = log_change(new, each.id, each.title, day, said)
        # As it is written, whatever others make of the file in the next moment, and wherever its log moved it.
        seen[:] = [_named(new, kind, name) or each]
        others[:] = namesakes(new, kind, name)
        return new

    changed, warnings = edit_mind(agent, f"{kind} {verb}", kind, edit, lambda: [seen[0].id])
    found = seen[0]
    state = f" ({status_word(found.status)})" if found.status else ""
    line = f"{found.name} {found.place}: {one_line(found.title, 80)}{state}"
    told = [line if changed else f"unchanged {line}"]
    call.emit(f"{kind}.{verb}", attitude_row(found) | {"changed": changed}, told, warnings + others)


def _named(text: str, kind: str, name: str) -> Attitude | None:
    """The attitude with an id or a title, as it stands in the text of its file."""
    file = parse_cognitive(text)
    entry = find_entry(file, kind, name)
    if entry is None:
        return None
    return read_attitude(file, entry, kind)[0]._replace(path=KINDS[kind].file, line=entry.first + 1)


def namesakes(text: str, kind: str, name: str) -> list[str]:
    """A warning when a name could mean several entries: the first one is meant."""
    wanted = name.strip().casefold()
    named = [(e, *split_id(e, KINDS[kind].prefix)) for e in parse_cognitive(text).entries]
    same = [e for e, own, _ in named if own.casefold() == wanted]
    same = same or [e for e, _, title in named if wanted in (title.casefold(), e.title.casefold())]
    if len(same) < 2:
        return []
    places = ", ".join(f"{KINDS[kind].file}:{entry.first + 1}" for entry in same[:5])
    return [f"{len(same)} {kind}s go by {one_line(name, 60)!r}; the first was meant ({places})"]


def list_attitudes(call: Call, kind: str, status: str = "", details: Details | None = None) -> None:
    """Lists what a file holds, in its order; with a status, only what has it."""
    found, problems = load_attitudes(call.open_agent(), kind)
    wanted = status.strip().casefold()
    shown = [a for a in found if not wanted or status_word(a.status) == wanted]
    lines = []
    for each in shown:
        told = ", ".join(part for part in (details or _details)(each) if part)
        lines.append(f"{each.id or '-'} {one_line(each.title, 90)} ({each.place}){f': {told}' if told else ''}")
    nothing = f"no {kind}s{f' with status {wanted}' if wanted else ' yet'}"
    rows = {f"{kind}s": [attitude_row(each) for each in shown]}
    call.emit(f"{kind}.list", rows, lines or [nothing], [str(p) for p in problems])


def _details(each: Attitude) -> list[str]:
    """What a list says about an entry."""
    return [
        each.level,
        each.status,
        "" if each.priority is None else f"priority {each.priority:g}",
        "" if each.progress is None else f"{each.progress:g} %",
        f"to {each.owner}" if each.owner else "",
        f"due {each.deadline}" if each.deadline else "",
        f"updated {each.updated}" if each.updated else "",
        *(f"{name} {', '.join(ids)}" for name, ids in each.links.items()),
    ]


def attitude_row(each: Attitude) -> dict[str, Any]:
    """An entry as JSON; what its kind never has is left out."""
    row: dict[str, Any] = {"id": each.id or None, "title": each.title, "text": each.text, "status": each.status}
    row |= {"priority": each.priority, "progress": each.progress}
    row |= {"deadline": each.deadline or None, "updated": each.updated or None}
    row |= {"level": each.level} if each.kind == "goal" else {}
    row |= {"to": each.owner} if each.kind == "commitment" else {}
    row |= {name: list(each.links.get(name, ())) for name in KINDS[each.kind].links}
    if each.kind == "plan":
        row["steps"] = [step._asdict() for step in each.steps]
    return row | {"group": each.group, "place": each.place}
