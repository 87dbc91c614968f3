"""Plans.md as plans with steps, whether they stand in tables or lists; new and finished steps in the shape that a plan has."""

import re
from collections.abc import Iterator

from mabos_cli.core.mind import ACTIVE, DONE, Attitude, Problem, Step, status_word
from mabos_cli.core.text import one_line
from mabos_cli.formats.attitudes import read_attitude
from mabos_cli.formats.cognitive import (
    ITEM,
    CognitiveFile,
    Entry,
    Heading,
    Table,
    end_of_item,
    parse_cognitive,
)
from mabos_cli.formats.cognitive_edit import add_item, add_row, insert_block, set_field
from mabos_cli.formats.cognitive_fields import bare, fields_of, is_only_fields, marks_of, plain, split_cells
from mabos_cli.formats.markdown import escape_block
from mabos_cli.formats.mind_edit import find_entry
from mabos_cli.formats.outline import hidden_lines

_STEP = re.compile(r"[*_`]*(S-?\d+[a-z]?)\b[*_`]*[.:)]?\s+(?=\S)|")
_NAME = re.compile(r"(?:[A-Za-z]{1,3}-?)?\d+[a-z]?\.?")
_FINISHED = re.compile(r"\(\s*(?:done|completed|finished)\b[^()]*\)\s*$", re.IGNORECASE)
_WORDS = DONE | ACTIVE | {"pending", "open", "todo", "late", "blocked", "yes", "no"}


def read_plans(text: str, path: str) -> tuple[list[Attitude], list[Problem]]:
    """The plans of a file in order, with their steps; and ids that stand there twice."""
    file = parse_cognitive(text)
    hidden = hidden_lines(file.lines)
    plans, problems, seen = [], [], {}
    for heading in file.headings:
        steps = tuple(_steps(file, heading, hidden))
        entry = _entry(file, heading, hidden)
        plan = read_attitude(file, entry, "plan")[0]._replace(path=path, line=heading.line + 1, steps=steps)
        if heading.level == 1 and not steps:
            continue
        if steps or plan.id or plan.links:
            if plan.id in seen:
                told = f"{plan.id} is also the id of line {seen[plan.id]}"
                problems.append(Problem(path, plan.line, told))
            seen |= {plan.id: plan.line} if plan.id else {}
            plans.append(plan)
    return plans, problems


def find_plan(file: CognitiveFile, name: str) -> Heading | None:
    """The heading of the plan with an id or a title, in whatever case."""
    entry = find_entry(file, "plan", name)
    return next((h for h in file.headings if entry and h.line == entry.first), None)


def _entry(file: CognitiveFile, heading: Heading, hidden: set[int]) -> Entry:
    """A plan as an entry: its heading, and the fields that stand before its steps."""
    fields = {}
    for number in range(heading.line + 1, heading.last + 1):
        if number not in hidden and is_only_fields(file.lines[number]):
            fields = fields_of(file.lines[number], number) | fields
    return Entry(
        "section", heading.group, heading.title, "", fields, heading.line, heading.last, heading.level
    )


def _table(file: CognitiveFile, heading: Heading) -> Table | None:
    return next((t for t in file.tables if heading.line < t.header <= heading.last and not t.is_log), None)


def _steps(file: CognitiveFile, heading: Heading, hidden: set[int]) -> Iterator[Step]:
    """The steps of a plan: the rows of its table, or the items of its lists."""
    table = _table(file, heading)
    if table:
        for number in range(table.first, table.last + 1):
            cells = [cell.value for cell in split_cells(file.lines[number])]
            marked = {name: field.value for name, field in marks_of(file.lines[number], number).items()}
            yield _row_step(marked | dict(zip(table.columns, cells, strict=False)), number)
        return
    for number in range(heading.line + 1, heading.last + 1):
        line = bare(file.lines[number])
        match = ITEM.fullmatch(line)
        if match and number not in hidden and not is_only_fields(line):
            yield _item_step(match, number)


def _row_step(cells: dict[str, str], number: int) -> Step:
    title = plain(cells.get("title", ""))
    named = bool(_NAME.fullmatch(title))
    name = title if named else next((c for c in cells.values() if _NAME.fullmatch(c)), "")
    told = cells.get("text") or cells.get("what", "") if named else title
    said = [cells.get("status", ""), cells.get("done", ""), "" if named else cells.get("text", "")]
    status = next((each for each in said if each), "")
    word = status_word(status)
    return Step(name, plain(told), word in DONE | {"yes"} if word in _WORDS else None, status, number + 1)


def _item_step(match: re.Match[str], number: int) -> Step:
    box = re.search(r"\[([ xX])\]", match[1])
    lead = _STEP.match(match[2])
    count = re.match(r"\d+", match[1])
    name = (lead[1] if lead else "") or (count[0] if count else "")
    told = match[2][lead.end() :] if lead else match[2]
    finished = bool(_FINISHED.search(told))
    done = box[1] != " " or finished if box else True if finished else None
    return Step(name, _FINISHED.sub("", told).strip(), done, "done" if done else "", number + 1)


def add_step(text: str, plan: Heading, told: str) -> str:
    """The file with a step behind the last one of a plan: a row, an item, or the first of a list."""
    file = parse_cognitive(text)
    hidden, table = hidden_lines(file.lines), _table(file, plan)
    steps = list(_steps(file, plan, hidden))
    name = _next_name([step.name for step in steps])
    line = one_line(escape_block(told))
    if table:
        own = next((c for c in table.columns if c in ("no", "#", "id")), "")
        named = "title" in table.columns and not own
        body = next((c for c in ("text", "what") if c in table.columns), "title") if named else "title"
        values = {own or "title": name, body: line, "status": "pending"}
        known = {k: v for k, v in values.items() if k in table.columns}
        return add_row(file, table, known)
    if not steps:
        return insert_block(file, plan.last + 1, [f"1. [ ] {line}"])
    last = steps[-1].line - 1
    match = ITEM.fullmatch(bare(file.lines[last]))
    prefixed = bool(match and (lead := _STEP.match(match[2])) and lead[1])
    return add_item(file, last, end_of_item(file.lines, last), [f"{name} {line}" if prefixed else line])


def _next_name(names: list[str]) -> str:
    """The name of the step behind others: S-3 behind S-2."""
    match = re.fullmatch(r"(.*?)(\d+)\D*", names[-1]) if names else None
    return f"{match[1]}{int(match[2]) + 1}" if match else str(len(names) + 1)


def finish_step(text: str, step: Step, day: str) -> str:
    """The file with a step marked as done: its box, its cell, or a word behind it."""
    file = parse_cognitive(text)
    lines, number = list(file.lines), step.line - 1
    match = ITEM.fullmatch(bare(lines[number]))
    if not match:
        entry = next((e for e in file.entries if e.first == number), None)
        if entry is None:
            return text
        column = next((n for n in ("status", "done") if n in entry.fields), "status")
        told = "yes" if column == "done" else "done"
        # A table that keeps its states in the column which elsewhere is the text.
        if column not in entry.fields and status_word(entry.get("text")) in _WORDS:
            column = "text"
        return set_field(file, entry, column, told)
    end = "\r" if lines[number].endswith("\r") else ""
    if re.search(r"\[ \]", match[1]):
        lines[number] = lines[number].replace("[ ]", "[x]", 1)
    else:
        lines[number] = f"{lines[number].rstrip()} (done {day}){end}"
    return "\n".join(lines)
