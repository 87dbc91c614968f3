"""Desires.md, Goals.md, Intentions.md, Commitments.md and Learnings.md as values, and what is wrong in them."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, takewhile
from typing import NamedTuple

from mabos_cli.core.language.clock import find_time
from mabos_cli.core.language.ids import counted_id
from mabos_cli.core.language.periods import find_day
from mabos_cli.core.language.text import one_line
from mabos_cli.core.memory.item import PRIORITIES, TRUSTS
from mabos_cli.core.mind import mind
from mabos_cli.formats.markdown.escape import escape_block, unescape_block
from mabos_cli.formats.mind import cognitive_fields
from mabos_cli.formats.mind.cognitive import ITEM, CognitiveFile, Entry, Heading, Table, parse_cognitive
from mabos_cli.formats.mind.cognitive_edit import add_item, add_row, insert_block, set_field

_CERTAINTIES = {
    "certain": 1.0,
    "very high": 0.95,
    "high": 0.85,
    "medium": 0.6,
    "moderate": 0.6,
    "low": 0.3,
    "very low": 0.1,
}
_UNSAID = 0.5
# Beliefs and facts that a source names.
_EVIDENCE = re.compile(r"\b[BF][A-Z]?-[A-Za-z0-9-]*\d[A-Za-z0-9-]*")


class Kind(NamedTuple):
    """How a kind of attitude is written: its file, its ids, and the names of its links with what they lead to."""

    file: str
    prefix: str
    links: tuple[str, ...] = ()


KINDS = {
    "belief": Kind("Beliefs.md", "B", ("supports",)),
    "desire": Kind("Desires.md", "D", ("motivates", "serves")),
    "goal": Kind("Goals.md", "G", ("requires", "parent", "desire", "excludes")),
    "intention": Kind("Intentions.md", "I", ("goal", "plan")),
    "plan": Kind("Plans.md", "PL", ("goal",)),
    "commitment": Kind("Commitments.md", "C"),
    "learning": Kind("Learnings.md", "L"),
}
# Dates that are none, but say so: people write them where a date is asked for.
_OPEN_END = re.compile(r"(?i)ongoing|always|never|none|open|continuous|at once|asap|each .*|every .*|n/?a|tbd|[-—–]+")
_VIA = re.compile(rf"({cognitive_fields.ID.pattern})(?:\s+via\s+({cognitive_fields.ID.pattern}))?")
_WORDS = PRIORITIES | {"very high": 0.9, "very low": 0.1, "urgent": 0.95, "normal": 0.5}


def parse_attitudes(text: str, kind: str, path: str) -> tuple[list[mind.Attitude], list[mind.Problem]]:
    """Returns the attitudes of a file in order, and what in it makes no sense; one bad value does not hide the
    others."""
    found: list[mind.Attitude] = []
    problems: list[mind.Problem] = []
    seen: dict[str, int] = {}
    file = parse_cognitive(text)
    for entry in file.entries:
        if kind in ("goal", "intention") and _is_prose(entry, kind):
            continue
        each, troubles = read_attitude(file, entry, kind)
        each = each._replace(path=path, line=entry.first + 1)
        troubles += note_id(seen, each.id, each.line)
        problems += [mind.Problem(path, each.line, trouble) for trouble in troubles]
        found.append(each)
    return found, problems


def note_id(seen: dict[str, int], entry_id: str, line: int) -> list[str]:
    """Notes where an id stands, and tells if it stood before."""
    known = seen.setdefault(entry_id, line) if entry_id else line
    return [f"{entry_id} is also the id of line {known}"] if known != line else []


def _is_prose(entry: Entry, kind: str) -> bool:
    """Returns whether a section is only what somebody wrote below the heading of a group."""
    return entry.shape == "section" and not entry.fields and not split_id(entry, KINDS[kind].prefix)[0]


def read_attitude(file: CognitiveFile, entry: Entry, kind: str) -> tuple[mind.Attitude, list[str]]:
    """Returns an entry as an attitude, without its place, and what is wrong with it."""
    entry_id, title = split_id(entry, KINDS[kind].prefix)
    priority, trouble = mind.parse_level(entry.get("priority"), _WORDS, "priority")
    troubles = [trouble] if trouble else []
    for name in ("deadline", "updated"):
        date = entry.get(name)
        vague = _OPEN_END.fullmatch(date) or (kind == "commitment" and not re.search(r"\d", date))
        if date and not find_time(date) and not vague:
            troubles.append(f"{name} {date[:40]!r} is no date")
    links = {name: _linked(entry, name) for name in KINDS[kind].links}
    via = _VIA.fullmatch(title) if kind == "intention" else None
    if via:
        links = {"goal": links["goal"] or (via[1],), "plan": links["plan"] or tuple(filter(None, via.groups()[1:]))}
    elif kind in ("intention", "plan") and not links["goal"]:
        aside = re.search(rf"\((?:goal:?\s*)?({cognitive_fields.ID.pattern})\)", title)
        links["goal"] = (aside[1],) if aside else ()
    attitude = mind.Attitude(
        kind,
        entry_id,
        title,
        entry.text,
        _status(file, entry),
        priority,
        _progress(entry.get("progress")),
        entry.get("deadline"),
        entry.get("updated"),
        _level(file, entry) if kind == "goal" else "",
        entry.get("owner"),
        {name: ids for name, ids in links.items() if ids},
        group=entry.group,
        trust=entry.trust,
        needs=tuple(filter(None, (cognitive_fields.plain(each) for each in re.split(r"[,;]", entry.get("needs"))))),
        delegated=entry.get("delegated"),
    )
    return attitude, [*troubles, *check_trust(entry)]


def check_trust(entry: Entry) -> list[str]:
    """Returns what is wrong with the trust that an entry names; a word that is not known counts as untrusted."""
    word = entry.claim.trust
    return [f"trust {word[:40]!r} is none of {', '.join(TRUSTS)}"] if word and word not in TRUSTS else []


def split_id(entry: Entry, prefix: str) -> tuple[str, str]:
    """Returns the id of an entry and its title: the id may be a field of its own, or the first word of the title."""
    if entry.get("id"):
        return entry.get("id").strip("*_` "), entry.title
    # TypeScript MABOS has BE-001 and DI-001 besides B-001 and D-001.
    match = re.match(rf"[*_`\s]*({prefix}[A-Z]?-[A-Za-z0-9-]*\d[A-Za-z0-9-]*)\b[*_`:]*", entry.title)
    if not match:
        return "", entry.title
    title = entry.title[match.end() :].strip(" :—–*_")
    # Behind an id, the title of an item is written as if it began a line.
    return match[1], (unescape_block(title) if entry.shape == "item" else title) or match[1]


def goal_group(file: str, level: str) -> str:
    """Returns the heading for goals of a level, or for those that are pursued, if the text of a file has one."""
    titles = [heading.title for heading in parse_cognitive(file).headings if heading.level > 1]
    named = [t for t in titles if level in t.casefold()] or [t for t in titles if "active" in t.casefold()]
    return named[0] if named else ""


def priority_of(entry: Entry) -> float | None:
    """Returns the priority that an entry names, as a number, or None when it names none."""
    return mind.parse_level(entry.get("priority"), _WORDS, "priority")[0]


def _linked(entry: Entry, name: str) -> tuple[str, ...]:
    """Returns the ids in a field of links; what is said behind a full stop is prose."""
    return tuple(dict.fromkeys(cognitive_fields.ID.findall(re.split(r"\.\s", entry.get(name))[0])))


def _progress(text: str) -> float | None:
    """Returns progress in percent, if that is what a field says."""
    match = re.match(r"(\d+(?:\.\d+)?)\s*(?:%|$|[,;(])", text)
    return float(match[1]) if match else None


def _status(file: CognitiveFile, entry: Entry) -> str:
    """Returns how things stand: as the entry says, as its box says, or as the heading above it says."""
    status = entry.get("status")
    if status:
        return status
    if entry.shape == "item" and re.match(r"\S+\s+\[[xX]\]", file.lines[entry.first]):
        return "completed"
    heading = entry.group.casefold()
    words = [*heading.split(), heading.strip()]
    return next((word for word in words if word in mind.ACTIVE | mind.DONE | mind.GONE | {"expired", "stalled"}), "")


def _level(file: CognitiveFile, entry: Entry) -> str:
    """Returns whether a goal is strategic, tactical or operational: by its own field, its first line, or the heading
    above."""
    texts = [entry.get("type"), entry.group]
    texts += [file.lines[entry.first]] if entry.shape == "item" else []
    return next((level for text in texts for level in mind.LEVELS if level in text.casefold()), "")


def parse_beliefs(text: str, path: str) -> tuple[list[mind.Belief], list[mind.Problem]]:
    """Returns the beliefs of a file in order, and what in it makes no sense; one bad value does not hide the others."""
    beliefs: list[mind.Belief] = []
    problems: list[mind.Problem] = []
    seen: dict[str, int] = {}
    for entry in parse_cognitive(text).entries:
        line = entry.first + 1
        certainty, trouble = mind.parse_level(entry.get("certainty"), _CERTAINTIES, "certainty")
        problems += [mind.Problem(path, line, trouble)] if trouble else []
        updated = entry.get("updated")
        if updated and not find_day(updated[:10]):
            problems.append(mind.Problem(path, line, f"{updated[:40]!r} is no date"))
        belief_id, subject = split_id(entry, KINDS["belief"].prefix)
        problems += [mind.Problem(path, line, each) for each in (*check_trust(entry), *note_id(seen, belief_id, line))]
        supports = tuple(part for part in re.split(r"[,;\s]+(?:and\s+)?", entry.get("supports")) if part)
        sure = _UNSAID if certainty is None else certainty
        fields = (sure, updated, belief_id, entry.get("source"), supports)
        rests = (*cognitive_fields.ID.findall(entry.get("rests")), *_EVIDENCE.findall(entry.get("source")))
        beliefs.append(mind.Belief(subject, entry.text, *fields, path, line, entry.get("status"), entry.trust, rests))
    return beliefs, problems


def find_entry(file: CognitiveFile, kind: str, name: str) -> Entry | None:
    """Returns the entry with an id, or else with a title, in whatever case. Without the letters that a clone puts behind
    the number of an id, it means the first entry with that number."""
    wanted = {name.strip().casefold(), cognitive_fields.plain(name).casefold()} - {""}
    entries = [headed(heading) for heading in file.headings] if kind == "plan" else file.entries
    named = [(entry, *split_id(entry, KINDS[kind].prefix)) for entry in entries]
    by_id = [entry for entry, entry_id, _ in named if entry_id and entry_id.casefold() in wanted]
    by_title = [e for e, _, title in named if wanted & {title.casefold(), e.title.casefold()}]
    by_number = [entry for entry, entry_id, _ in named if counted_id(entry_id).casefold() in wanted]
    return next(iter(by_id or by_title or by_number), None)


def headed(heading: Heading) -> Entry:
    """Returns a heading as an entry, whatever stands below it."""
    return Entry("section", heading.group, heading.title, "", {}, heading.line, heading.last, heading.level)


_STEP_NAME = re.compile(r"[*_`]*(S-?\d+[a-z]?)\b[*_`]*[.:)]?\s+(?=\S)|")
_ONLY_NAME = re.compile(r"(?:[A-Za-z]{1,3}-?)?\d+[a-z]?\.?")
_FINISHED = re.compile(r"\(\s*(?:done|completed|finished)\b[^()]*\)\s*$", re.IGNORECASE)
_STATES = mind.DONE | mind.ACTIVE | {"pending", "open", "todo", "late", "blocked", "yes", "no"}
# Columns that number the steps, and those that do not say what is to be done.
_NUMBERS = ("no", "no.", "nr", "nr.", "#", "id")
_NO_WORDS = {*cognitive_fields.NAMES.values(), *_NUMBERS, "done", "who", "depends on", "note", "notes"}


def parse_plans(text: str, path: str) -> tuple[list[mind.Attitude], list[mind.Problem]]:
    """Returns the plans of a file in order, with their steps; and what in it makes no sense."""
    file = parse_cognitive(text)
    plans: list[mind.Attitude] = []
    problems: list[mind.Problem] = []
    seen: dict[str, int] = {}
    for heading in file.headings:
        steps = tuple(_steps(file, heading))
        plan, troubles = read_attitude(file, _plan_entry(file, heading), "plan")
        plan = plan._replace(path=path, line=heading.line + 1, steps=steps)
        if not steps and (heading.level == 1 or not (plan.id or plan.links)):
            continue
        troubles += note_id(seen, plan.id, plan.line)
        problems += [mind.Problem(path, plan.line, trouble) for trouble in troubles]
        plans.append(plan)
    return plans, problems


def _plan_entry(file: CognitiveFile, heading: Heading) -> Entry:
    """Returns a plan as an entry: its heading, and the fields that stand before its steps."""
    fields: dict[str, cognitive_fields.Field] = {}
    for number in range(heading.line + 1, heading.last + 1):
        if number not in file.hidden and cognitive_fields.is_only_fields(file.lines[number]):
            fields = cognitive_fields.fields_of(file.lines[number], number) | fields
    return Entry("section", heading.group, heading.title, "", fields, heading.line, heading.last, heading.level)


def _steps_table(file: CognitiveFile, heading: Heading) -> Table | None:
    """Returns the first table below a heading that has a column for words, and is no log."""
    at = bisect_right(file.tables, heading.line, key=lambda table: table.header)
    below = takewhile(lambda table: table.header <= heading.last, islice(file.tables, at, None))
    worded = (t for t in below if not t.is_log and {"title", *_word_columns(t.columns)} & set(t.columns))
    return next(worded, None)


def _word_columns(columns: Iterable[str]) -> list[str]:
    """Returns the columns that may say what is to be done, besides the title."""
    usual = [c for c in ("text", "what") if c in columns]
    return usual + [c for c in columns if c not in _NO_WORDS and c not in usual]


def _steps(file: CognitiveFile, heading: Heading) -> Iterator[mind.Step]:
    """Yields the steps of a plan: the rows of its table, or the items of its lists."""
    table = _steps_table(file, heading)
    if table:
        for number in range(table.first, table.last + 1):
            fields = cognitive_fields.row_fields(file.lines[number], number, table.columns)
            if any(field.value for field in fields.values()):
                yield _row_step({name: field.value for name, field in fields.items()}, number)
        return
    for number in range(heading.line + 1, heading.last + 1):
        line = cognitive_fields.bare(file.lines[number])
        match = ITEM.fullmatch(line)
        if match and number not in file.hidden and not cognitive_fields.is_only_fields(line):
            yield _item_step(match, number)


def _row_step(cells: dict[str, str], number: int) -> mind.Step:
    """Returns a row as a step. Its first words are its title, unless that is no more than a name."""
    title = cognitive_fields.plain(cells.get("title", ""))
    named = not title or bool(_ONLY_NAME.fullmatch(title))
    name = title if title and named else next((c for c in cells.values() if _ONLY_NAME.fullmatch(c)), "")
    text = cognitive_fields.plain(next((cells[c] for c in _word_columns(cells) if cells[c]), "")) if named else title
    status = cells.get("status") or cells.get("done") or _state_in_text(cells)
    word = mind.status_word(status)
    return mind.Step(name, text, word in mind.DONE | {"yes"} if word in _STATES else None, status, number + 1)


def _state_in_text(cells: Mapping[str, str]) -> str:
    """Returns the state of a step in a table that keeps states in the column which elsewhere is the text."""
    text, title = cells.get("text", ""), cognitive_fields.plain(cells.get("title", ""))
    return text if title and not _ONLY_NAME.fullmatch(title) and mind.status_word(text) in _STATES else ""


def _item_step(match: re.Match[str], number: int) -> mind.Step:
    box = re.search(r"\[([ xX])\]", match[1])
    lead = _STEP_NAME.match(match[2])
    count = re.match(r"\d+", match[1])
    name = (lead[1] if lead else "") or (count[0] if count else "")
    text = match[2][lead.end() :] if lead else match[2]
    finished = bool(_FINISHED.search(text))
    done = box[1] != " " or finished if box else True if finished else None
    return mind.Step(name, _FINISHED.sub("", text).strip(), done, "done" if done else "", number + 1)


def find_plan(file: CognitiveFile, name: str) -> Heading | None:
    """Returns the heading of the plan with an id or a title, in whatever case."""
    entry = find_entry(file, "plan", name)
    return next((h for h in file.headings if entry and h.line == entry.first), None)


def add_step(text: str, plan: Heading, new: str) -> str:
    """Returns the file with a step behind the last one of a plan: a row, an item, or the first of a list."""
    file = parse_cognitive(text)
    table, steps = _steps_table(file, plan), list(_steps(file, plan))
    name = _next_name([step.name for step in steps])
    if table:
        last = steps[-1].line - 1 if steps else 0
        cells = cognitive_fields.row_fields(file.lines[last], last, table.columns) if steps else {}
        like = {column: field.value for column, field in cells.items()}
        return add_row(file, table, _new_row(table.columns, name, new, like))
    line = cognitive_fields.inert_item(one_line(escape_block(new)))
    if not steps:
        return insert_block(file, plan.last + 1, [f"1. [ ] {line}"])
    last = steps[-1].line - 1
    match = ITEM.fullmatch(cognitive_fields.bare(file.lines[last]))
    prefixed = bool(match and (lead := _STEP_NAME.match(match[2])) and lead[1])
    return add_item(file, last, file.end_of_item(last), [f"{name} {line}" if prefixed else line])


def _new_row(columns: Sequence[str], name: str, text: str, like: Mapping[str, str]) -> dict[str, str]:
    """Returns the cells of a new step: its name, what is to be done, and that it is not done yet, each where the last
    step has it."""
    number = next((c for c in columns if c in _NUMBERS), "")
    words = _word_columns(columns)
    in_title = (
        not _ONLY_NAME.fullmatch(cognitive_fields.plain(like.get("title", ""))) if like else bool(number or not words)
    )
    body = "title" if "title" in columns and in_title else (words or ["title"])[0]
    in_text = bool(_state_in_text(like)) and not {"status", "done"} & set(columns)
    state = {"text": "pending"} if in_text else {"status": "pending", "done": "no"}
    values = state | {number or "title": name, body: text}
    return {column: value for column, value in values.items() if column in columns}


def _next_name(names: list[str]) -> str:
    """Returns the name of the step behind others: S-3 behind S-2."""
    match = re.fullmatch(r"(.*?)(\d+)\D*", names[-1]) if names else None
    return f"{match[1]}{int(match[2]) + 1}" if match else str(len(names) + 1)


def finish_step(text: str, step: mind.Step, day: str) -> str:
    """Returns the file with a step marked as done: its box, its cell, or a word behind it."""
    if step.done:
        return text
    file = parse_cognitive(text)
    lines, number = list(file.lines), step.line - 1
    match = ITEM.fullmatch(cognitive_fields.bare(lines[number]))
    if not match:
        at = bisect_right(file.tables, number, key=lambda table: table.header)
        fields = cognitive_fields.row_fields(lines[number], number, file.tables[at - 1].columns)
        entry = Entry("row", "", "", "", fields, number, number)
        column = next((n for n in ("status", "done") if n in fields), "status")
        if column not in fields and _state_in_text({name: field.value for name, field in fields.items()}):
            column = "text"
        return set_field(file, entry, column, "yes" if column == "done" else "done")
    end = "\r" if lines[number].endswith("\r") else ""
    if re.search(r"\[ \]", match[1]):
        lines[number] = lines[number].replace("[ ]", "[x]", 1)
    else:
        lines[number] = f"{lines[number].rstrip()} (done {day}){end}"
    return "\n".join(lines)
