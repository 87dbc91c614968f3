"""Adds, changes and lists the attitudes of an agent: desires, goals, intentions, plans, commitments and lessons."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time
from mabos_cli.core.language.ids import counted_id
from mabos_cli.core.language.periods import written_date
from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory.item import PRIORITIES, check_choice, check_content, check_word
from mabos_cli.core.memory.trust import needs_voucher, trust_rank
from mabos_cli.core.mind import mind
from mabos_cli.core.records import NamedTuple
from mabos_cli.errors import NotFound
from mabos_cli.formats.markdown.escape import escape_block
from mabos_cli.formats.mind import attitudes, plans
from mabos_cli.formats.mind.cognitive import parse_cognitive, render_trust
from mabos_cli.formats.mind.cognitive_edit import Change, log_change
from mabos_cli.formats.mind.entries import Entry
from mabos_cli.formats.mind.mind_edit import Draft, add_entry, add_note, change_entry
from mabos_cli.formats.mind.mind_md import (
    added_line,
    attitude_line,
    attitude_row,
    branch_lines,
    branch_row,
    changed_line,
    plan_lines,
)
from mabos_cli.formats.mind.shortened import shorten
from mabos_cli.services.inputs import check_trust, check_voucher, draft_from, parse_ahead
from mabos_cli.services.memory.remember import remember
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.git import has_clones
from mabos_cli.workspace.mind import edit_mind, load_attitudes, load_beliefs, read_mind

_LONGEST_TITLE = 300
# The kinds that fields of an entry lead to.
_LINKS = {
    "desire": {"motivates": "goal"},
    "goal": {"parent": "goal", "desire": "desire", "requires": "plan", "excludes": "goal"},
    "intention": {"goal": "goal", "plan": "plan"},
    "plan": {"goal": "goal"},
}
# Fields that hold a word, by what a message calls it.
_WORDS = {"status": "status", "owner": "name", "source": "source", "trust": "trust"}
# What a thing becomes by a command that ends it.
_ENDED = {
    **{("intention", "complete"): "completed", ("intention", "drop"): "dropped", ("goal", "close"): "achieved"},
    **{("commitment", "complete"): "kept", ("commitment", "break"): "broken"},
}
_OUTCOMES = ("achieved", "abandoned", "failed", "impossible")
# Decides what to change in an entry, given how it is and the day.
Changes = Callable[[mind.Attitude, str], Mapping[str, str]]


class Result(NamedTuple):
    """Holds what a command shows: the data of its JSON, its lines of text, and warnings."""

    data: dict[str, Any]
    lines: list[str]
    warnings: list[str]


def today(agent: Agent) -> str:
    """Returns the day on which an entry is added or changed."""
    return format_time(agent.now())[:10]


def check_title(text: str, noun: str) -> str:
    """Returns a title; BadValue when it is empty or more than a line."""
    title = check_word(text, noun, _LONGEST_TITLE)
    if not title:
        hint = "say what the belief is about" if noun == "subject" else f"say what the {noun} is"
        raise BadValue(f"the {noun} is empty", hint)
    return title


def check_text(agent: Agent, text: str | None) -> str:
    """Returns the text of an entry, if it has one; BadValue when that is empty or too long."""
    return "" if text is None else check_content(text, agent.settings["memory.max_content_bytes"]).strip("\n")


def _check_fields(agent: Agent, fields: Mapping[str, Any]) -> dict[str, str]:
    """Returns the fields of an entry as a file has them; BadValue for a value that makes no sense."""
    checked = {}
    for name, value in fields.items():
        if name == "type":
            checked[name] = check_choice(value, mind.LEVELS, "level")
        elif name == "priority":
            checked[name] = _check_priority(value)
        elif name == "deadline":
            day, text = written_date(value, is_end=True), value.strip()
            checked[name] = day or (format_time(parse_ahead(text, agent.now()))[:10] if text else "")
        elif name == "progress":
            checked[name] = _check_percent(value)
        elif name in _WORDS:
            checked[name] = check_word(value, _WORDS[name])
        else:
            checked[name] = ", ".join(check_word(each, "id", 80) for each in value or () if each)
    return checked


def _check_priority(text: str) -> str:
    """Returns a priority, a word or a number in 0..1; BadValue for anything else."""
    word = text.strip().lower()
    if not word or word in PRIORITIES:
        return word
    try:
        number = float(word)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise BadValue(f"bad priority {text[:40]!r}", "0 to 1, or critical, high, medium, low")
    return f"{number:g}"


def _check_percent(number: float | None) -> str:
    """Returns progress as a file has it; BadValue outside 0..100."""
    if number is None:
        return ""
    if not 0 <= number <= 100:
        raise BadValue(f"progress {number:g} is outside 0..100", "give percent")
    return f"{number:g}%"


def add_attitude(
    agent: Agent,
    kind: str,
    title: str,
    fields: Mapping[str, Any],
    *,
    group: str = "",
    text: str | None = None,
    steps: Sequence[str] = (),
    by: str = "",
) -> Result:
    """Adds an entry to the file of its kind; links to what is not there are warned about. `by` vouches for one from outside."""
    checked = _check_fields(agent, fields)
    if "source" in checked:
        voucher, source = check_voucher(agent.settings, by), checked["source"]
        level = check_trust(checked["trust"], source, voucher)
        checked["trust"] = render_trust(level, source, voucher if needs_voucher(level, source) else "")
    if kind in ("intention", "learning"):
        checked["updated"] = today(agent)
    boxes = [f"{number}. [ ] {one_line(escape_block(check_title(s, 'step')))}" for number, s in enumerate(steps, 1)]
    title = check_title(title, "lesson" if kind == "learning" else kind)
    draft = Draft(kind, "", title, check_text(agent, text), checked, tuple(boxes))
    line, group = 0, check_word(group, "group")
    # Looked up first: after the edit nothing should fail any more.
    draft, unknown = _resolve_links(agent, draft)
    is_cloned = has_clones(agent.paths.workspace)
    added = draft

    def edit(old: str) -> str:
        nonlocal added, line
        old = old or f"# {attitudes.KINDS[kind].file.removesuffix('.md')}\n"
        below = group or (attitudes.goal_group(old, checked["type"]) if kind == "goal" else "")
        new, entry_id = add_entry(old, draft, today(agent), below, is_cloned=is_cloned)
        entry_id, line = find_added(new, kind, entry_id, draft.title)
        added = draft._replace(id=entry_id)
        return new

    warnings = edit_mind(agent, f"{kind} add", kind, edit, lambda: [added.id] if added.id else [])[1] + unknown
    place = f"{attitudes.KINDS[kind].file}:{line}" if line else attitudes.KINDS[kind].file
    data = {"id": added.id or None, "title": title, "place": place}
    data |= {name: value for name, value in added.fields.items() if value}
    return Result(data, [added_line(added.id, place, title)], warnings)


def find_added(text: str, kind: str, entry_id: str, title: str) -> tuple[str, int]:
    """Returns the id and the line of an entry that was just written. A table without a column for ids keeps none."""
    short = shorten(text)
    file = parse_cognitive(short.text if short else text)
    entry = attitudes.find_entry(file, kind, entry_id) if entry_id else None
    name, entry = (
        (entry_id, entry) if entry else ("", next((e for e in reversed(file.entries) if e.title == title), None))
    )
    if entry is None:
        return name, 0
    return name, short.line(text, entry.first) if short else entry.first + 1


def _resolve_links(agent: Agent, draft: Draft) -> tuple[Draft, list[str]]:
    """Returns an entry with whole ids where it is linked with others, and warnings about those that are not there."""
    fields, warnings = dict(draft.fields), []
    for name, kind in _LINKS.get(draft.kind, {}).items():
        ids = [part.strip() for part in draft.fields.get(name, "").split(",") if part.strip()]
        found, unknown = resolve_ids(agent, kind, ids)
        fields |= {name: ", ".join(found)} if ids else {}
        warnings += unknown
    return draft._replace(fields=fields), warnings


def resolve_ids(agent: Agent, kind: str, ids: Sequence[str]) -> tuple[list[str], list[str]]:
    """Returns ids of entries of a kind, those given by number alone with their letters, and a warning about each that no
    entry has: it may be another agent's, or come later."""
    known = [each.id for each in load_attitudes(agent, kind)[0]] if ids else []
    there = {each.casefold() for each in known}
    by_number = {counted_id(each).casefold(): each for each in reversed(known)}
    found = [each if each.casefold() in there else by_number.get(each.casefold(), each) for each in ids]
    return found, [
        f"no {kind} {each} in {attitudes.KINDS[kind].file}" for each in found if each.casefold() not in there
    ]


def _change_attitude(agent: Agent, kind: str, verb: str, name: str, decide: Changes, note: str) -> Result:
    """Changes fields of an entry in place; what to change is decided by what it is in the moment of writing."""
    day = today(agent)
    found: list[mind.Attitude] = []
    others: list[str] = []

    def edit(old: str) -> str:
        entry, each = attitudes.find_entry(parse_cognitive(old), kind, name), _find_attitude(old, kind, name)
        if entry is None or each is None:
            raise NotFound(f"no {kind} {name!r} for agent {agent.id}", f"mabos {kind} list shows them")
        changes = decide(each, day)
        new = (change_entry(old, entry, changes) or old) if changes else old
        new = add_note(new, entry, day, note) if note and verb == "progress" else new
        found[:] = [each]
        if new == old:
            return old
        # A log says what a thing was and is by its status, or else by what was set first.
        field = "status" if "status" in changes else next(iter(changes))
        new = log_change(new, each.id, each.title, day, Change(verb, note, entry.get(field), changes[field]))
        # As it is written, whatever others make of the file in the next moment, and wherever its log moved it.
        found[:] = [_find_attitude(new, kind, name) or each]
        others[:] = find_namesakes(new, kind, name)
        return new

    changed, warnings = edit_mind(agent, f"{kind} {verb}", kind, edit, lambda: [found[0].id])
    return _show_change(found[0], changed, warnings + others)


def _show_change(entry: mind.Attitude, changed: bool, warnings: list[str]) -> Result:
    return Result(attitude_row(entry) | {"changed": changed}, [changed_line(entry, changed)], warnings)


def _find_attitude(text: str, kind: str, name: str) -> mind.Attitude | None:
    """Returns the attitude with an id or a title, as it is in the text of its file."""
    file = parse_cognitive(text)
    entry = attitudes.find_entry(file, kind, name)
    if entry is None:
        return None
    return attitudes.read_attitude(file, entry, kind)[0]._replace(path=attitudes.KINDS[kind].file, line=entry.first + 1)


def find_namesakes(text: str, kind: str, name: str) -> list[str]:
    """Returns a warning when a name could mean several entries: the first one is meant."""
    found = attitudes.find_entries(parse_cognitive(text), kind, name)
    same = list({entry.first: entry for entry in found}.values())  # a heading may be a plan as well
    if len(same) < 2:
        return []
    places = ", ".join(f"{attitudes.KINDS[kind].file}:{entry.first + 1}" for entry in same[:5])
    return [f"{len(same)} {kind}s go by {one_line(name, 60)!r}; the first was meant ({places})"]


def update_attitude(agent: Agent, kind: str, name: str, fields: Mapping[str, Any], reason: str) -> Result:
    """Changes the fields of an entry that have a value."""
    checked = _check_fields(agent, fields)
    for field, linked in _LINKS.get(kind, {}).items():
        if checked.get(field):
            checked[field] = ", ".join(resolve_ids(agent, linked, checked[field].split(", "))[0])
    changes = {field: value for field, value in checked.items() if value}
    if not changes:
        options = [f"--{'to' if field == 'owner' else field}" for field in fields]
        raise BadValue("nothing given to change", f"{', '.join(options[:-1])} or {options[-1]}")
    return _change_attitude(agent, kind, "update", name, lambda *_: changes, check_word(reason, "reason", 2000))


def note_progress(agent: Agent, name: str, note: str, percent: float | None, deadline: str) -> Result:
    """Notes progress of an intention; one that stood still is active again."""
    note = check_word(note, "note", 2000)
    checked = _check_fields(agent, {"progress": percent, "deadline": deadline})

    def decide(each: mind.Attitude, day: str) -> Mapping[str, str]:
        word = mind.status_word(each.status)
        if word in mind.DONE | mind.GONE:
            raise BadValue(f"{each.name} is {word} ({each.place})", "mabos intention add starts a new one")
        if word == "expired" and not checked["deadline"]:
            raise BadValue(f"{each.name} is expired ({each.place})", "--deadline DATE gives it more time")
        status = "active" if word in ("", "stalled", "expired") else ""
        fields = {"status": status, "updated": day, **checked}
        return {field: value for field, value in fields.items() if value}

    return _change_attitude(agent, "intention", "progress", name, decide, note)


def end_attitude(agent: Agent, kind: str, verb: str, name: str, reason: str, outcome: str = "") -> Result:
    """Marks an intention, a goal or a commitment as ended, dated, with what came of it or why."""
    status = check_choice(outcome, _OUTCOMES, "outcome") if outcome else _ENDED[kind, verb]
    reason = check_word(reason, "reason", 2000)

    def decide(each: mind.Attitude, day: str) -> Mapping[str, str]:
        if mind.status_word(each.status) == status:
            return {}
        return {"status": f"{status} ({day}{f': {reason}' if reason else ''})"}

    return _change_attitude(agent, kind, verb, name, decide, reason)


def change_status(agent: Agent, kind: str, name: str, status: str, reason: str) -> Result:
    """Gives an entry another status, dated and with the reason behind it."""
    fields = {"status": f"{status} ({today(agent)}: {reason})"}
    return _change_attitude(agent, kind, status, name, lambda *_: fields, reason)


def adopt_learning(agent: Agent, name: str, by: str) -> Result:
    """Makes an instruction of a lesson, which memory keeps for good, and marks the lesson as adopted. One from outside needs a
    person who vouches for it: instructions are followed."""
    text = read_mind(agent, "learning")
    entry, each = attitudes.find_entry(parse_cognitive(text), "learning", name), _find_attitude(text, "learning", name)
    if entry is None or each is None:
        raise NotFound(f"no learning {name!r} for agent {agent.id}", "mabos learning list shows them")
    voucher, outside = check_voucher(agent.settings, by), not trust_rank(each.trust)
    if outside and not voucher:
        raise BadValue(
            f"{each.name} is untrusted ({each.place})", "--by NAME vouches for it, once somebody has checked it"
        )
    fields: dict[str, Any] = {
        "content": "\n".join(filter(None, (each.title, each.text))),
        "type": "instruction",
        "tags": ["learning"],
    }
    fields |= {"source": entry.claim.source if outside else "learning", "trust": "agent" if outside else each.trust}
    fields |= {"context": f"adopted from {each.name} ({each.place})", "importance": 0.8}
    done = remember(agent, [draft_from(fields, agent.settings, agent.now(), by=voucher)])
    item = done.results[0].item
    status = {"status": f"adopted ({today(agent)}: {item.id})"}
    is_new = mind.status_word(each.status) != "adopted"
    marked = _change_attitude(agent, "learning", "adopt", name, lambda *_: status if is_new else {}, "")
    lines = [f"{item.id} instruction: {one_line(each.title, 100)}", *marked.lines]
    return Result(marked.data | {"instruction": item.id}, lines, done.warnings + marked.warnings)


def list_attitudes(agent: Agent, kind: str, status: str = "", *, with_steps: bool = False) -> Result:
    """Lists the entries of a kind, in the order of the file; with a status, only those that have it."""
    found, problems = load_attitudes(agent, kind)
    wanted = status.strip().casefold()
    entries = [each for each in found if wanted in ("", mind.status_word(each.status))]
    shown = [plan_lines(each) if with_steps else [attitude_line(each)] for each in entries]
    lines = [line for some in shown for line in some] or [f"no {kind}s{f' with status {wanted}' if wanted else ' yet'}"]
    return Result({f"{kind}s": [attitude_row(each) for each in entries]}, lines, [str(problem) for problem in problems])


def build_goal_tree(agent: Agent) -> Result:
    """Returns the goals of an agent as a tree, with the desires, plans and beliefs behind each."""
    goals, problems = load_attitudes(agent, "goal")
    desires, plans = load_attitudes(agent, "desire")[0], load_attitudes(agent, "plan")[0]
    branches = mind.build_tree(goals, desires, plans, load_beliefs(agent)[0])
    lines = [line for branch in branches for line in branch_lines(branch)] or ["no goals yet"]
    return Result({"goals": [branch_row(branch) for branch in branches]}, lines, [str(problem) for problem in problems])


def change_steps(agent: Agent, name: str, text: str | None, done: str) -> Result:
    """Adds a step to a plan, or else marks one as done, in the shape that the plan has."""
    if (text is not None) == bool(done):
        raise BadValue("give a new step or --done, one of them", 'mabos plan step PL-001 "Send the offer"')
    added = None if text is None else check_title(text, "step")
    found: list[mind.Attitude] = []

    def edit(old: str) -> str:
        entry = attitudes.find_entry(parse_cognitive(old), "plan", name)
        if entry is None:
            raise NotFound(f"no plan {name!r} for agent {agent.id}", "mabos plan list shows them")
        if added:
            new = plans.add_step(old, entry, added)
        else:
            new = plans.finish_step(old, _find_step(_plan_at(old, entry), check_word(done, "step")), today(agent))
        found[:] = [plan for plan in [_plan_at(new, entry)] if plan]
        return new

    changed, warnings = edit_mind(agent, "plan step", "plan", edit, lambda: [name])
    return _show_change(found[0], changed, warnings)


def _find_step(plan: mind.Attitude | None, name: str) -> mind.Step:
    """Returns the step that is meant; NotFound lists those that there are."""
    steps = plan.steps if plan else ()
    found = mind.find_step(steps, name)
    if found is None:
        known = ", ".join(each.name or str(n) for n, each in enumerate(steps, 1)) or "it has none"
        raise NotFound(f"no step {name!r}", f"steps: {known}")
    return found


def _plan_at(text: str, plan: Entry) -> mind.Attitude | None:
    """Returns a plan as it is now; steps do not move it."""
    return next(
        (
            p
            for p in attitudes.parse_attitudes(text, "plan", attitudes.KINDS["plan"].file)[0]
            if p.line == plan.first + 1
        ),
        None,
    )
