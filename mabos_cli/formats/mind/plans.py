"""Parses Plans.md and Playbooks.md: plans as sections, items or rows, and their steps."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, takewhile

from mabos_cli.core import BadValue
from mabos_cli.core.language.text import one_line
from mabos_cli.core.mind import mind
from mabos_cli.formats.markdown.escape import escape_block
from mabos_cli.formats.mind import cognitive_fields
from mabos_cli.formats.mind.cells import row_fields, split_cells
from mabos_cli.formats.mind.cognitive import CognitiveFile, parse_cognitive
from mabos_cli.formats.mind.cognitive_edit import add_item, add_row, insert_block, insert_lines, set_field
from mabos_cli.formats.mind.entries import ANY, ITEM, Entry, Heading, Table

_STEP_NAME = re.compile(r"[*_`]*(S-?\d+[a-z]?)\b[*_`]*[.:)]?\s+(?=\S)|")
_ONLY_NAME = re.compile(r"(?:[A-Za-z]{1,3}-?)?\d+[a-z]?\.?")
_FINISHED = re.compile(r"\(\s*(?:done|completed|finished)\b[^()]*\)\s*$", re.IGNORECASE)
_STATES = mind.DONE | mind.ACTIVE | {"pending", "open", "todo", "late", "blocked", "yes", "no"}
# How a step stands, in brackets before its words.
_STATE = re.compile(
    rf"\[\s*({'|'.join(sorted((re.escape(w) for w in _STATES | mind.GONE), key=len, reverse=True))})\s*\]\s+", re.I
)
# Columns that number the steps, and those that do not say what is to be done.
_NUMBERS = ("no", "no.", "nr", "nr.", "#", "id")
_NO_WORDS = {*cognitive_fields.NAMES.values(), *_NUMBERS, "done", "who", "depends on", "note", "notes"}
# Headings below that of a plan: those that hold its steps, and those that hold something else.
_STEPS = re.compile(r"(?i)\b(?:steps?|actions?|tasks?|milestones?|phases?|procedure|stages?)\b")
_NO_STEPS = re.compile(
    r"(?i)\b(?:risks?|notes?|decisions?|criteria|context|background|resources?|lessons?|assumptions?|log)\b"
)
_PLANS = re.compile(r"(?i)\bplans\b")


def find_plans(file: CognitiveFile) -> list[Entry]:
    """Returns the plans of a file in order. A heading below that of a plan, without an id, is part of it."""
    plans = [entry for entry in file.entries if entry.shape != "section" and _is_plan(file, entry)]
    lines = {entry.first for entry in plans}
    named: list[Heading] = []
    for heading in file.headings:
        named = [above for above in named if above.level < heading.level]
        if named and _is_part(file, heading):
            continue
        has_id = bool(cognitive_fields.split_head(heading.title, ANY)[0])
        entry = _plan_entry(file, heading)
        is_one = any(cognitive_fields.ID.search(entry.get(name)) for name in ("goal", "intention"))
        if not has_id and not lines.isdisjoint(range(heading.line, heading.last + 1)):
            continue
        if has_id or (heading.level > 1 and is_one) or any(steps_of(file, entry)):
            plans.append(entry)
            named += [heading]
    return sorted(plans, key=lambda entry: entry.first)


def _is_part(file: CognitiveFile, heading: Heading) -> bool:
    """Returns whether a heading below that of a plan is part of it, and no plan itself."""
    if cognitive_fields.split_head(heading.title, ANY)[0] or heading.title.casefold().startswith("plan "):
        return False
    is_known = _STEPS.search(heading.title) or _NO_STEPS.search(heading.title)
    return bool(is_known) or not (_fields_before(file, heading) or cognitive_fields.MARK.search(heading.title))


def _is_plan(file: CognitiveFile, entry: Entry) -> bool:
    """Returns whether an item or a row is a plan, and no step of one: below a heading for plans, or in a table of them."""
    at = bisect_right(file.headings, entry.first, key=lambda h: h.line) - 1
    heading = file.headings[at] if at >= 0 else None
    if heading and cognitive_fields.split_head(heading.title, ANY)[0]:
        return False
    if entry.shape == "item":
        named = cognitive_fields.split_head(entry.title, "P")[0]
        title = entry.fields.get("title")  # of a block: `- **Plan:** Mend the roof`
        key = cognitive_fields.find_key(file.lines[title.line], title.line) if title else None
        if key and key.name == "plan":
            return True
        return bool(named) or bool(heading and heading.level > 1 and _PLANS.search(heading.title))
    table = file.tables[bisect_right(file.tables, entry.first, key=lambda table: table.header) - 1]
    return "plan" in [cell.value.strip("*_ ").casefold() for cell in split_cells(file.lines[table.header])]


def _fields_before(file: CognitiveFile, heading: Heading) -> dict[str, cognitive_fields.Field]:
    """Returns the fields on lines of their own below a heading."""
    fields: dict[str, cognitive_fields.Field] = {}
    for number in range(heading.line + 1, heading.last + 1):
        nested = _width(file.lines[number]) and file.lines[number].lstrip()[:1] in ("-", "*", "+")
        if number not in file.hidden and not nested and cognitive_fields.is_only_fields(file.lines[number]):
            fields = cognitive_fields.fields_of(file.lines[number], number) | fields
    return fields


def _plan_entry(file: CognitiveFile, heading: Heading) -> Entry:
    """Returns a plan as an entry: its heading, and the fields that stand before its steps."""
    fields = _fields_before(file, heading)
    return Entry("section", heading.group, heading.title, "", fields, heading.line, heading.last, heading.level)


def _bodies(file: CognitiveFile, plan: Entry) -> list[range]:
    """Returns the lines that hold the steps of a plan: below headings for steps, else below its own, else below others."""
    if plan.shape != "section":
        return [range(plan.first + 1, plan.last + 1)]
    at = bisect_right(file.headings, plan.first, key=lambda h: h.line)
    below = list(takewhile(lambda h: h.level > plan.level, islice(file.headings, at, None)))
    below = list(takewhile(lambda h: _is_part(file, h), below))
    titled = [h for h in below if _STEPS.search(h.title) and not _NO_STEPS.search(h.title)]
    body = range(plan.first + 1, plan.last + 1)
    if titled and plan.level > 1:
        return [range(h.line + 1, h.last + 1) for h in titled]
    has_id = bool(cognitive_fields.split_head(plan.title, ANY)[0])
    others = [range(h.line + 1, h.last + 1) for h in below if not _NO_STEPS.search(h.title)] if has_id else []
    return [body] if any(_steps(file, body)) or not others else others[:1]


def steps_of(file: CognitiveFile, plan: Entry) -> Iterator[mind.Step]:
    """Yields the steps of a plan: the rows of its table, or the items of its lists."""
    if plan.shape != "row":
        for body in _bodies(file, plan):
            yield from _steps(file, body)


def _steps_table(file: CognitiveFile, body: range) -> Table | None:
    """Returns the first table in some lines that has a column for words, and is no log."""
    at = bisect_right(file.tables, body.start - 1, key=lambda table: table.header)
    below = takewhile(lambda table: table.header < body.stop, islice(file.tables, at, None))
    worded = (t for t in below if not t.is_log and {"title", *_word_columns(t.columns)} & set(t.columns))
    return next(worded, None)


def _steps(file: CognitiveFile, body: range) -> Iterator[mind.Step]:
    """Yields the steps in some lines. Items that name something in bold are about the plan, where there are others."""
    table = _steps_table(file, body)
    if table:
        for number in range(table.first, table.last + 1):
            fields = row_fields(file.lines[number], number, table.columns)
            if any(field.value for field in fields.values()):
                yield _row_step({name: field.value for name, field in fields.items()}, number)
        return
    items: list[tuple[int, re.Match[str]]] = []
    width, is_described = None, False
    for number in body:
        line = cognitive_fields.bare(file.lines[number])
        match = ITEM.fullmatch(line.lstrip()) if number not in file.hidden else None
        if match and cognitive_fields.is_only_fields(line):
            is_described = True
        elif match and not line.rstrip(" *_").endswith(":"):  # `- **Steps:**` is none
            width = _width(line) if width is None else width
            items += [(number, match)] if _width(line) <= width else []
    keyed = [number for number, match in items if not match[1][0].isdigit() and cognitive_fields.split_key(match[2])[0]]
    if is_described or len(keyed) < len(items):
        items = [(number, match) for number, match in items if number not in keyed]
    yield from (_item_step(match, number) for number, match in items)


def _word_columns(columns: Iterable[str]) -> list[str]:
    """Returns the columns that may say what is to be done, besides the title."""
    usual = [c for c in ("text", "what") if c in columns]
    return usual + [c for c in columns if c not in _NO_WORDS and c not in usual]


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
    state = _STATE.match(match[2])
    words = match[2][state.end() :] if state else match[2]
    lead = _STEP_NAME.match(words)
    count = re.match(r"\d+", match[1])
    name = (lead[1] if lead else "") or (count[0] if count else "")
    text = words[lead.end() :] if lead else words
    finished = bool(_FINISHED.search(text))
    done = box[1] != " " or finished if box else True if finished else None
    status = "done" if done else ""
    if state and not done:
        status = state[1].strip()
        done = mind.status_word(status) in mind.DONE
    return mind.Step(name, _FINISHED.sub("", text).strip(), done, status, number + 1)


def add_step(text: str, plan: Entry, new: str) -> str:
    """Returns the file with a step behind the last one of a plan: a row, an item, or the first of a list."""
    if plan.shape == "row":
        raise BadValue("a plan that is a row of a table has no place for steps", "write it as a section")
    file = parse_cognitive(text)
    body, steps = _bodies(file, plan)[-1], list(steps_of(file, plan))
    table, name = _steps_table(file, body), _next_name([step.name for step in steps])
    if table:
        last = steps[-1].line - 1 if steps else 0
        cells = row_fields(file.lines[last], last, table.columns) if steps else {}
        like = {column: field.value for column, field in cells.items()}
        return add_row(file, table, _new_row(table.columns, name, new, like))
    line = cognitive_fields.inert_item(one_line(escape_block(new)))
    if not steps and plan.shape == "item":
        return insert_lines(file, plan.last + 1, [f"  1. [ ] {line}"])
    if not steps:
        return insert_block(file, body.stop, [f"1. [ ] {line}"])
    last = steps[-1].line - 1
    match = ITEM.fullmatch(cognitive_fields.bare(file.lines[last]).lstrip())
    prefixed = bool(match and (lead := _STEP_NAME.match(match[2])) and lead[1])
    mark = "[pending] " if match and _STATE.match(match[2]) else ""
    return add_item(file, last, _end_of_step(file, last), [mark + (f"{name} {line}" if prefixed else line)])


def _end_of_step(file: CognitiveFile, first: int) -> int:
    """Returns the last line of a step, which may be nested in an item."""
    width = _width(file.lines[first])
    if not width:
        return file.end_of_item(first)
    last = first
    while last + 1 < len(file.lines) and _width(file.lines[last + 1]) > width:
        last += 1
    return last


def _width(line: str) -> int:
    """Returns how far a line is indented; a blank one is not."""
    return len(line) - len(line.lstrip()) if line.strip() else 0


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
    match = ITEM.fullmatch(cognitive_fields.bare(lines[number]).lstrip())
    if not match:
        at = bisect_right(file.tables, number, key=lambda table: table.header)
        fields = row_fields(lines[number], number, file.tables[at - 1].columns)
        entry = Entry("row", "", "", "", fields, number, number)
        column = next((n for n in ("status", "done") if n in fields), "status")
        if column not in fields and _state_in_text({name: field.value for name, field in fields.items()}):
            column = "text"
        return set_field(file, entry, column, "yes" if column == "done" else "done")
    end = "\r" if lines[number].endswith("\r") else ""
    if re.search(r"\[ \]", match[1]):
        lines[number] = lines[number].replace("[ ]", "[x]", 1)
    elif state := _STATE.match(match[2]):
        lines[number] = lines[number].replace(state[0].rstrip(), "[done]", 1)
    else:
        lines[number] = f"{lines[number].rstrip()} (done {day}){end}"
    return "\n".join(lines)
