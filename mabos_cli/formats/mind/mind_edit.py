"""New and changed entries of cognitive files, in the shape that the file has."""

import re
from collections.abc import Mapping, Sequence

from mabos_cli.core.language.ids import counted_id, distinct_id
from mabos_cli.core.language.text import one_line
from mabos_cli.core.mind.mind import DONE, GONE, Belief
from mabos_cli.core.records import NamedTuple
from mabos_cli.formats.markdown.escape import escape_block
from mabos_cli.formats.mind import cognitive, cognitive_edit
from mabos_cli.formats.mind.attitudes import KINDS, entries_of, split_id
from mabos_cli.formats.mind.cognitive_fields import bare, fields_of, find_key, inert, inert_item, split_head, split_key
from mabos_cli.formats.mind.entries import ANY, ITEM, Entry, Table
from mabos_cli.formats.mind.plans import find_plans, steps_of
from mabos_cli.formats.mind.shortened import shorten

_PAST = DONE | GONE | {"expired"}


class Draft(NamedTuple):
    """An entry to be written. Beliefs are headed by what they are about, everything else by its id and title; a plan has
    steps, as lines."""

    kind: str
    id: str
    title: str
    text: str = ""
    fields: Mapping[str, str] = {}
    steps: tuple[str, ...] = ()


def belief_draft(belief: Belief, trust: str = "") -> Draft:
    """Returns a belief as an entry to be written; with its trust where that must be said."""
    fields = {
        "certainty": f"{belief.certainty:g}",
        "source": belief.source,
        "trust": trust,
        "supports": ", ".join(belief.supports),
        "rests": ", ".join(belief.rests),
        "updated": belief.updated,
    }
    return Draft("belief", belief.id, belief.subject, belief.text, fields)


def next_id(file: cognitive.CognitiveFile, kind: str, siblings: Sequence[Entry] = ()) -> str:
    """Returns the id behind the highest of the siblings' pattern, else of the file's; one that the file names anywhere,
    as that of something removed, is not given again. Lessons are given none, unless the file does so."""
    named = (split_id(entry, KINDS[kind].prefix)[0] for entry in (*entries_of(file, kind), *siblings))
    ids = [counted_id(found) for found in named if found]
    if not ids and kind == "learning":
        return ""
    match = re.fullmatch(r"(.*?)(\d+)", ids[-1]) if ids else None
    prefix, width = (match[1], len(match[2])) if match else (f"{KINDS[kind].prefix}-", 3)
    pattern, text = re.compile(rf"{re.escape(prefix)}(\d{{1,18}})"), file.render()
    number = max((int(seen[1]) for each in ids if (seen := pattern.fullmatch(each))), default=0) + 1
    used = {int(n) for n in re.findall(rf"(?<![\w-]){pattern.pattern}(?!\w)", text)}
    while number in used:
        number += 1
    return f"{prefix}{number:0{width}d}"


class Place(NamedTuple):
    """Where a new entry goes: into a table, or behind one that it should look like, or below a heading; and its siblings."""

    table: Table | None
    like: Entry | None
    siblings: tuple[Entry, ...]


def add_entry(text: str, draft: Draft, day: str, group: str = "", *, is_cloned: bool = False) -> tuple[str, str]:
    """Returns the file with a new entry, and the id that it got: a row where its like stand in tables, an item in
    lists, else a section. In a clone the id has letters behind its number, because other clones count as well."""
    short = None if group else shorten(text)
    if short:
        new, name = _add_entry(short.text, draft, day, "", is_cloned)
        is_taken = bool(name) and not draft.id and counted_id(name) in text
        whole = None if is_taken else short.restore(text, new)
        if whole is not None:
            return whole, name
    return _add_entry(text, draft, day, group, is_cloned)


def _add_entry(text: str, draft: Draft, day: str, group: str, is_cloned: bool) -> tuple[str, str]:
    file = cognitive.parse_cognitive(text)
    if group and not cognitive_edit.find_heading(file, group):
        group = _heading(group)
        text = (
            text
            if cognitive_edit.find_heading(file, group)
            else cognitive_edit.insert_block(file, len(file.lines), [f"## {group}"])
        )
        file = cognitive.parse_cognitive(text)
    place = _place(file, draft, group)
    names = place.table.columns if place.table else place.like.fields if place.like else ()
    if "created" in names and "updated" not in names:  # the file says when things began
        draft = draft._replace(fields={"created" if n == "updated" else n: v for n, v in draft.fields.items()})
    if draft.kind == "belief" and draft.text and place.like and _names_key(file, place.like):
        draft = draft._replace(id="")  # `- **Season:** May to October`
    elif not draft.id:
        counted = next_id(file, draft.kind, place.siblings)
        draft = draft._replace(id=distinct_id(counted, draft.title) if counted and is_cloned else counted)
    if place.table:
        new = _as_row(file, place, draft)
    elif place.like and place.like.is_block:
        new = _add_block(file, place.like, draft)
    elif place.like and place.like.shape == "item":
        new = cognitive_edit.add_item(file, place.like.first, place.like.last, _as_item(file, place.like, draft))
    else:
        new = _as_section(file, place.like, draft, group)
    source = draft.fields.get("source", "")
    change = cognitive_edit.Change("added", "" if source == "manual" else source, "", draft.text or draft.title)
    return cognitive_edit.log_change(new, draft.id, draft.title, day, change), draft.id


def _heading(text: str) -> str:
    """Returns a text as a heading that says no more than it."""
    return inert(re.sub(r"(?<!\S)(#+)$", r"\\\1", one_line(text)))


def _place(file: cognitive.CognitiveFile, draft: Draft, group: str) -> Place:
    """Returns where a new entry goes. Plans are sections or items: a row has no place for steps."""
    if draft.kind == "plan":
        plans = [plan for plan in find_plans(file) if plan.shape != "row" and (plan.shape == "item" or plan.level > 1)]
        near = [plan for plan in plans if not group or plan.group.casefold() == group.casefold()]
        live = [plan for plan in near if not _PAST & set(plan.group.casefold().split())]
        return Place(None, (live or near)[-1] if near else None, ())
    table = _table_for(file, group)
    if table:
        near = [e for e in file.entries if table.first <= e.first <= table.last]
    else:
        like = _like(file, group)
        near = [e for e in file.entries if like and e.group == like.group and e.shape == like.shape]
    level = draft.fields.get("type", "")
    same = [e for e in near if level and e.get("type").casefold() == level]
    return Place(table, None if table else like, tuple(same or near))


def _table_for(file: cognitive.CognitiveFile, group: str) -> Table | None:
    """Returns the table that a new entry goes into: that of the group, or else the first that is not of things past."""
    tables = [table for table in file.tables if not table.is_log and "title" in table.columns]
    if group:
        return next((table for table in tables if table.group.casefold() == group.casefold()), None)
    return next((table for table in tables if not _PAST & set(table.group.casefold().split())), None)


def _like(file: cognitive.CognitiveFile, group: str) -> Entry | None:
    """Returns the entry that a new one should look like: the last of its group, else of the file; any item of a plain
    list if nothing else is there."""
    others = [e for e in file.entries if e.shape != "row"]
    entries = [e for e in others if e.group.casefold() == group.casefold()] if group else others
    live = [e for e in entries if not _PAST & set(e.group.casefold().split())]
    if live or entries:
        return (live or entries)[-1]
    if group or any(heading.level > 1 for heading in file.headings):
        return None
    items = file.find_items(range(len(file.lines)))
    return Entry("item", "", "", "", {}, items[-1], file.end_of_item(items[-1])) if items else None


def _as_row(file: cognitive.CognitiveFile, place: Place, draft: Draft) -> str:
    """Returns the file with a row, whose words are written as those of the row above are."""
    values = {"id": draft.id, "title": draft.title, "text": draft.text}
    if place.table and "about" in place.table.columns and draft.kind == "belief" and draft.text:
        values |= {"about": draft.title, "title": draft.text, "text": ""}
    above = place.siblings[-1] if place.siblings else None
    fields = {name: _cased(value, above.get(name) if above else "") for name, value in draft.fields.items()}
    assert place.table
    return cognitive_edit.add_row(file, place.table, values | fields)


def _cased(value: str, other: str) -> str:
    """Returns a word with a capital where another has one: High and active, as the file does it."""
    return value.capitalize() if value.isalpha() and value.islower() and other.istitle() else value


def _written_fields(draft: Draft, group: str) -> dict[str, str]:
    """Returns the fields to write, without those that the heading above implies."""
    level = draft.fields.get("type", "")
    fields = {name: inert(one_line(value)) for name, value in draft.fields.items() if value}
    return {n: v for n, v in fields.items() if n != "type" or level not in group.casefold()}


def _lead(file: cognitive.CognitiveFile, like: Entry, name: str) -> str:
    """Returns what stands before the value of a field on a line of its own, as `- **Level:** `; empty when there is no
    such line."""
    field = like.fields.get(name)
    lead = file.lines[field.line][: field.start] if field and field.line > like.first else ""
    return lead if lead.rstrip(" *_").endswith(":") and "[" not in lead else ""


def _field_line(file: cognitive.CognitiveFile, like: Entry | None, other: str, field: tuple[str, str]) -> str:
    """Returns a line for a field: as another entry has it, or else as a line for another field looks."""
    name, value = field
    lead = _lead(file, like, name) if like else ""
    return (
        lead + value if lead and name in fields_of(lead + value, 0) else cognitive_edit.field_line(name, value, other)
    )


def _as_item(file: cognitive.CognitiveFile, like: Entry, draft: Draft) -> list[str]:
    """Returns the lines of an item that looks like another one: fields among its words, or as items below it."""
    title = inert_item(one_line(escape_block(draft.title)))
    match = ITEM.fullmatch(bare(file.lines[like.first]))
    words = match[2] if match else ""
    bold = "**" if words.startswith("**") and draft.id else ""
    colon = ":" if re.match(r"[*_]*[\w-]+[*_]*:", words) or not like.fields else ""
    head = f"{bold}{draft.id}{bold}{colon} {title}" if draft.id else title
    if not draft.id and draft.text and _names_key(file, like):
        head, draft = f"**{title}:** {inert_item(one_line(draft.text))}", draft._replace(text="")
    fields = _written_fields(draft, like.group)
    below = [f.line for f in like.fields.values() if f.line > like.first]
    notes = [f"  {line}" for line in cognitive_edit.inert_lines(draft.text)] if draft.text else []
    notes += [f"  {inert(step)}" for step in draft.steps]
    if below:
        cased = {name: _cased(value, like.get(name)) for name, value in fields.items()}
        lines = [_field_line(file, like, file.lines[min(below)], field) for field in cased.items()]
        return [head, *lines, *notes]
    spoken = "".join(f", {name}: {value}" for name, value in fields.items() if cognitive_edit.is_spoken(name, value))
    marks = "".join(
        f" {cognitive_edit.bracketed(name, value)}"
        for name, value in fields.items()
        if not cognitive_edit.is_spoken(name, value)
    )
    return [head + spoken + marks, *notes]


def _add_block(file: cognitive.CognitiveFile, like: Entry, draft: Draft) -> str:
    """Returns the file with a block of keys behind another one: the same keys in the same order, then what else is said."""
    values = {"id": draft.id, "title": draft.title, "text": draft.text, **_written_fields(draft, like.group)}
    if draft.kind == "belief" and draft.text and "about" in like.fields and "text" not in like.fields:
        values |= {"about": draft.title, "title": draft.text, "text": ""}
    values = {name: inert(one_line(value)) for name, value in values.items() if value}
    new: list[str] = []
    for name, field in sorted(like.fields.items(), key=lambda each: each[1].line):
        line = bare(file.lines[field.line])
        if name in values and find_key(line, 0):
            number = re.match(r"\d+", line)
            lead = f"{int(number[0]) + 1}{line[number.end() : field.start]}" if number else line[: field.start]
            closing = re.match(r"[*_:]*", line[field.end :]) if name == "id" else None
            new.append(lead + values.pop(name) + (closing[0] if closing else ""))
    if "title" in values:  # below an id alone
        new.insert(1, inert_item(values.pop("title")))
    other = bare(file.lines[max(field.line for field in like.fields.values())])
    first = find_key(bare(file.lines[like.first]), 0)
    for name, value in values.items():
        bullet = re.match(r"\s*(?:[-*+]\s+)?", other)
        if bullet and first and first.name == name:  # it would begin another block
            new.append(f"{bullet[0]}{cognitive_edit.bracketed(name, value)}")
        else:
            new.append(cognitive_edit.field_line(name, value, other))
    new += [f"  {inert(step)}" for step in draft.steps]
    before = [e.last for e in file.entries if e.is_block and e.last < like.first and e.group == like.group]
    gap = [bare(line) for line in file.lines[before[-1] + 1 : like.first]] if before else [""]
    return cognitive_edit.insert_lines(file, like.last + 1, [*(gap if len(gap) < 4 else [""]), *new])


def _names_key(file: cognitive.CognitiveFile, like: Entry) -> bool:
    """Returns whether an item names in bold what it is about, and has no id."""
    match = ITEM.fullmatch(bare(file.lines[like.first])) if like.shape == "item" else None
    return match is not None and bool(split_key(match[2])[0]) and not split_head(match[2], ANY)[0]


def _as_section(file: cognitive.CognitiveFile, like: Entry | None, draft: Draft, group: str) -> str:
    """Returns the file with a section that looks like another one, or as we write them."""
    heading_line = next((h.above for h in file.headings if like and h.line == like.first), -1)
    beside = next((h for h in file.headings if h.line == heading_line and h.level > 1), None)
    above = cognitive_edit.find_heading(file, group) if group else beside
    level = like.level if like else above.level + 1 if above else 2
    inner = range(like.first + 1, like.last + 1) if like else range(0)
    bold = next((file.lines[n] for n in inner if re.match(r"\s*[-*+]\s+\*\*[^*]+:", file.lines[n])), "")
    where = group or (like.group if like else "")
    fields = _written_fields(draft, where)
    if draft.kind == "belief" or (like and like.get("id")):
        title, fields = draft.title, {"id": draft.id, **fields}
    else:
        title = f"{draft.id}: {draft.title}" if draft.id else draft.title
    lines = [_field_line(file, like, bold, field) for field in fields.items()]
    text = [*(cognitive_edit.inert_lines(draft.text) if draft.text else []), *_as_steps(file, like, draft)]
    tight = like is not None and like.last > like.first and bool(file.lines[like.first + 1].strip())
    body = [*([] if tight or not lines else [""]), *lines, *(["", *text] if text else [])]
    return cognitive_edit.add_section(file, f"{'#' * level} {_heading(title)}", body, above)


def _as_steps(file: cognitive.CognitiveFile, like: Entry | None, draft: Draft) -> list[str]:
    """Returns the steps of a plan as lines: below a heading and with marks for how they stand, as another plan has them."""
    steps = [inert(step) for step in draft.steps]
    others = list(steps_of(file, like)) if like and draft.kind == "plan" else []
    if not steps or not like or not others:
        return steps
    if any(step.status == "pending" for step in others):
        steps = [step.replace("[ ]", "[pending]", 1) for step in steps]
    heading = next((h for h in reversed(file.headings) if like.first < h.line < others[0].line), None)
    return [f"{'#' * heading.level} {heading.title}", "", *steps] if heading else steps


def add_note(text: str, entry: Entry, day: str, note: str) -> str:
    """Returns the file with a dated word about an entry: an item at its end, or in brackets in a table, which has room
    for one."""
    file = cognitive.parse_cognitive(text)
    here = _again(file, entry)
    dated = f"{day}: {inert_item(one_line(note))}"
    if here.shape == "row":
        return cognitive_edit.set_field(file, here, "note", dated)
    others = {n for e in file.entries if e.first > here.first for n in range(e.first, e.last + 1)}
    apart = file.hidden | others
    below = [] if here.last in apart else range(here.first + 1, here.last + 1)
    bullets = [m[0] for n in below if n not in apart and (m := re.match(r"\s*[-*+]\s+", file.lines[n]))]
    is_list = bool(bullets) and not here.is_block and re.match(r"\s*[-*+]\s+|\s{2}", file.lines[here.last])
    # Where there is only prose an item could be taken for an entry.
    is_prose = here.shape == "section" and not here.fields and not bullets
    lead = min(bullets, key=len) if is_list else "  - " if here.shape == "item" else "" if is_prose else "- "
    gap = [] if is_list or here.shape == "item" else [""]
    return cognitive_edit.insert_lines(file, here.last + 1, [*gap, f"{lead}{dated}"])


def _again(file: cognitive.CognitiveFile, entry: Entry) -> Entry:
    """Returns an entry as it stands in the file now, where it began before."""
    same = (e for e in file.entries if (e.first, e.shape) == (entry.first, entry.shape))
    return next(same, entry)


def change_entry(text: str, entry: Entry, changes: Mapping[str, str]) -> str | None:
    """Returns the file with fields of an entry changed, each in its place; None when the text of a section is too much
    to replace."""
    for name, value in changes.items():
        file = cognitive.parse_cognitive(text)
        here = _again(file, entry)
        is_prose = name == "text" and here.shape == "section" and "text" not in here.fields
        set_prose, set_field = cognitive_edit.set_text, cognitive_edit.set_field
        new = set_prose(file, here, value) if is_prose else set_field(file, here, name, value)
        if new is None:
            return None
        text = new
    return text
