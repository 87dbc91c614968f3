"""Plans.md as plans with steps, whether they stand in tables or lists; new and finished steps in the shape that a plan has."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, takewhile

from mabos_cli.core.language.text import one_line
from mabos_cli.core.mind.mind import ACTIVE, DONE, Attitude, Problem, Step, status_word
from mabos_cli.formats.markdown.escape import escape_block
from mabos_cli.formats.markdown.outline import hidden_lines
from mabos_cli.formats.mind.attitudes import note_id, read_attitude
from mabos_cli.formats.mind.cognitive import ITEM, CognitiveFile, Entry, Heading, Table, end_of_item, parse_cognitive
from mabos_cli.formats.mind.cognitive_edit import add_item, add_row, insert_block, set_field
from mabos_cli.formats.mind.cognitive_fields import (
    NAMES,
    bare,
    fields_of,
    inert_item,
    is_only_fields,
    plain,
    row_fields,
)
from mabos_cli.formats.mind.mind_edit import find_entry

_STEP = re.compile(r"[*_`]*(S-?\d+[a-z]?)\b[*_`]*[.:)]?\s+(?=\S)|")
_NAME = re.compile(r"(?:[A-Za-z]{1,3}-?)?\d+[a-z]?\.?")
_FINISHED = re.compile(r"\(\s*(?:done|completed|finished)\b[^()]*\)\s*$", re.IGNORECASE)
_WORDS = DONE | ACTIVE | {"pending", "open", "todo", "late", "blocked", "yes", "no"}
# Columns that number the steps, and those that do not say what is to be done.
_NUMBERS = ("no", "no.", "nr", "nr.", "#", "id")
_NO_WORDS = {*NAMES.values(), *_NUMBERS, "done", "who", "depends on", "note", "notes"}


def parse_plans(text: str, path: str) -> tuple[list[Attitude], list[Problem]]:
    """The plans of a file in order, with their steps; and what in it makes no sense."""
    file = parse_cognitive(text)
    hidden = hidden_lines(file.lines)
    plans: list[Attitude] = []
    problems: list[Problem] = []
    seen: dict[str, int] = {}
    for heading in file.headings:
        steps = tuple(_steps(file, heading, hidden))
        plan, troubles = read_attitude(file, _entry(file, heading, hidden), "plan")
        plan = plan._replace(path=path, line=heading.line + 1, steps=steps)
        if not steps and (heading.level == 1 or not (plan.id or plan.links)):
            continue
        troubles += note_id(seen, plan.id, plan.line)
        problems += [Problem(path, plan.line, trouble) for trouble in troubles]
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
    return Entry("section", heading.group, heading.title, "", fields, heading.line, heading.last, heading.level)


def _table(file: CognitiveFile, heading: Heading) -> Table | None:
    """The first table below a heading that has a column for words, and is no log."""
    at = bisect_right(file.tables, heading.line, key=lambda table: table.header)
    below = takewhile(lambda table: table.header <= heading.last, islice(file.tables, at, None))
    worded = (t for t in below if not t.is_log and {"title", *_words(t.columns)} & set(t.columns))
    return next(worded, None)


def _words(columns: Iterable[str]) -> list[str]:
    """The columns that may say what is to be done, besides the title."""
    said = [c for c in ("text", "what") if c in columns]
    return said + [c for c in columns if c not in _NO_WORDS and c not in said]


def _steps(file: CognitiveFile, heading: Heading, hidden: set[int]) -> Iterator[Step]:
    """The steps of a plan: the rows of its table, or the items of its lists."""
    table = _table(file, heading)
    if table:
        for number in range(table.first, table.last + 1):
            fields = row_fields(file.lines[number], number, table.columns)
            if any(field.value for field in fields.values()):
                yield _row_step({name: field.value for name, field in fields.items()}, number)
        return
    for number in range(heading.line + 1, heading.last + 1):
        line = bare(file.lines[number])
        match = ITEM.fullmatch(line)
        if match and number not in hidden and not is_only_fields(line):
            yield _item_step(match, number)


def _row_step(cells: dict[str, str], number: int) -> Step:
    """A row as a step. Its first words are its title, unless that is no more than a name."""
    title = plain(cells.get("title", ""))
    named = not title or bool(_NAME.fullmatch(title))
    name = title if title and named else next((c for c in cells.values() if _NAME.fullmatch(c)), "")
    told = plain(next((cells[c] for c in _words(cells) if cells[c]), "")) if named else title
    status = cells.get("status") or cells.get("done") or _state(cells)
    word = status_word(status)
    return Step(name, told, word in DONE | {"yes"} if word in _WORDS else None, status, number + 1)


def _state(cells: Mapping[str, str]) -> str:
    """The state of a step in a table that keeps states in the column which elsewhere is the text."""
    text, title = cells.get("text", ""), plain(cells.get("title", ""))
    return text if title and not _NAME.fullmatch(title) and status_word(text) in _WORDS else ""


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
    if table:
        last = steps[-1].line - 1 if steps else 0
        cells = row_fields(file.lines[last], last, table.columns) if steps else {}
        like = {column: field.value for column, field in cells.items()}
        return add_row(file, table, _new_row(table.columns, name, told, like))
    line = inert_item(one_line(escape_block(told)))
    if not steps:
        return insert_block(file, plan.last + 1, [f"1. [ ] {line}"])
    last = steps[-1].line - 1
    match = ITEM.fullmatch(bare(file.lines[last]))
    prefixed = bool(match and (lead := _STEP.match(match[2])) and lead[1])
    end = end_of_item(file.lines, last, hidden)
    return add_item(file, last, end, [f"{name} {line}" if prefixed else line])


def _new_row(columns: Sequence[str], name: str, told: str, like: Mapping[str, str]) -> dict[str, str]:
    """The cells of a new step: its name, what is to be done, and that it is not done yet, each where the last step has it."""
    own = next((c for c in columns if c in _NUMBERS), "")
    words = _words(columns)
    in_title = not _NAME.fullmatch(plain(like.get("title", ""))) if like else bool(own or not words)
    body = "title" if "title" in columns and in_title else (words or ["title"])[0]
    in_text = bool(_state(like)) and not {"status", "done"} & set(columns)
    state = {"text": "pending"} if in_text else {"status": "pending", "done": "no"}
    values = state | {own or "title": name, body: told}
    return {column: value for column, value in values.items() if column in columns}


def _next_name(names: list[str]) -> str:
    """The name of the step behind others: S-3 behind S-2."""
    match = re.fullmatch(r"(.*?)(\d+)\D*", names[-1]) if names else None
    return f"{match[1]}{int(match[2]) + 1}" if match else str(len(names) + 1)


def finish_step(text: str, step: Step, day: str) -> str:
    """The file with a step marked as done: its box, its cell, or a word behind it."""
    if step.done:
        return text
    file = parse_cognitive(text)
    lines, number = list(file.lines), step.line - 1
    match = ITEM.fullmatch(bare(lines[number]))
    if not match:
        at = bisect_right(file.tables, number, key=lambda table: table.header)
        fields = row_fields(lines[number], number, file.tables[at - 1].columns)
        entry = Entry("row", "", "", "", fields, number, number)
        column = next((n for n in ("status", "done") if n in fields), "status")
        if column not in fields and _state({name: field.value for name, field in fields.items()}):
            column = "text"
        return set_field(file, entry, column, "yes" if column == "done" else "done")
    end = "\r" if lines[number].endswith("\r") else ""
    if re.search(r"\[ \]", match[1]):
        lines[number] = lines[number].replace("[ ]", "[x]", 1)
    else:
        lines[number] = f"{lines[number].rstrip()} (done {day}){end}"
    return "\n".join(lines)
