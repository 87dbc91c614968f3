"""Cognitive files (Beliefs.md, Goals.md, ...): what stands in sections, tables and lists, and where, to the character.

A file is its lines; what is understood of it are entries with fields, each with the span of its value. Whatever else there
is (prose, quotes, comments, code, odd spacing) is not looked at and so not touched: a file comes back as it was.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

from mabos_cli.core.memory.trust import Claim, needs_voucher, trust_rank
from mabos_cli.core.records import NamedTuple
from mabos_cli.formats.markdown.escape import BULLET, TABLE_DELIMITER, unescape_block
from mabos_cli.formats.markdown.scan import hidden_lines
from mabos_cli.formats.mind.cells import row_fields, split_cells
from mabos_cli.formats.mind.cognitive_fields import (
    NAMES,
    TITLES,
    Field,
    bare,
    fields_of,
    find_stars,
    is_only_fields,
    is_placeholder,
    marks_of,
    plain,
    split_head,
    split_key,
)
from mabos_cli.formats.mind.entries import ANY, HEADING, ITEM, VOUCHED, Entry, Heading, Table
from mabos_cli.formats.mind.lists import Lists, end_of_item

_CLOSING = re.compile(r"(?:^|[ \t])#+[ \t]*$")
CODE = re.compile(r" {4}|\t")
# What begins another block, and so is no row of a table, whatever pipes it has.
_BLOCK = re.compile(rf" {{0,3}}(?:#{{1,6}}[ \t]|{BULLET}[ \t]|>|`{{3}}|~{{3}}|<!--)")
_LOG = re.compile(r"(?i)\b(?:log|history|revisions?|changes)\b")
_ROW_ID = re.compile(r"[A-Za-z]{1,8}(?:[-._/][A-Za-z0-9]+)*[-._/]?\d+[A-Za-z]?")
_REFERS = re.compile(r"(?i)\b(?:hierarchy|legend|references?|links|see also|how to)\b")


class CognitiveFile(NamedTuple):
    """A file as lines, with what was understood of them; hidden are the lines of code and comments."""

    lines: tuple[str, ...]
    entries: tuple[Entry, ...]
    tables: tuple[Table, ...]
    headings: tuple[Heading, ...]
    hidden: frozenset[int]

    def render(self) -> str:
        """Returns the file as it was."""
        return "\n".join(self.lines)

    def end_of(self, heading: Heading) -> int:
        """Returns the line behind a heading and all that stands below it."""
        at = bisect_right(self.headings, heading.line, key=lambda h: h.line)
        while at < len(self.headings) and self.headings[at].level > heading.level:
            at += 1
        return self.headings[at].line if at < len(self.headings) else len(self.lines)

    def untrusted_lines(self) -> set[int]:
        """Returns the lines of untrusted entries, counted from one."""
        low = (entry for entry in self.entries if not trust_rank(entry.trust))
        return {number + 1 for entry in low for number in range(entry.first, entry.last + 1)}

    def find_items(self, within: range) -> list[int]:
        """Returns the lines in a range that begin an item of a list."""
        return [n for n in within if n not in self.hidden and ITEM.fullmatch(bare(self.lines[n]))]

    def end_of_item(self, first: int) -> int:
        """Returns the last line of the item that begins on a line."""
        return end_of_item(self.lines, first, self.hidden)


@lru_cache(maxsize=2)  # an edit reads the text before it and the text behind it, each several times
def parse_cognitive(text: str) -> CognitiveFile:
    """Returns what stands in a cognitive file. Any text will do."""
    lines = tuple(text.split("\n"))
    hidden = frozenset(hidden_lines(lines))
    headings = tuple(_headings(lines, hidden))
    groups = [heading for heading in headings if heading.level > 1]
    tables = tuple(_tables(lines, hidden, groups))
    rows = list(_rows(lines, tables))
    named = {entry.get("id") for entry in rows} | {split_head(heading.title, ANY)[0] for heading in groups}
    items = list(Lists(lines, hidden, headings, tables).items())
    taken = {number for item in items for number in range(item.first, item.last + 1)}
    # An item that only names an entry which stands elsewhere in the file, as in a ranking, is no other one.
    items = [item for item in items if item.fields or (split_head(item.title, ANY)[0] or None) not in named]
    entries = [*rows, *items, *_sections(lines, hidden | taken, headings, tables)]
    return CognitiveFile(lines, tuple(sorted(entries, key=lambda entry: entry.first)), tables, headings, hidden)


def render_trust(trust: str, source: str, by: str = "") -> str:
    """Returns the trust of an entry as its field has it; empty where it need not be said.

    >>> render_trust("agent", "manual"), render_trust("agent", "web:a", "ada"), render_trust("untrusted", "web:a")
    ('', 'agent (vouched by ada)', 'untrusted')
    """
    if by and trust_rank(trust):
        return f"{trust} {VOUCHED}{by})"
    return "" if trust == "agent" and not needs_voucher(trust, source) else trust


def find_vouchers(old: str, new: str) -> list[tuple[str, Claim, str]]:
    """Returns the entries that a person vouches for in a new text and not in the old one: the name, the claim and the words."""
    if VOUCHED not in new:
        return []
    known = {_voucher(entry) for entry in parse_cognitive(old).entries}
    return [each for entry in parse_cognitive(new).entries if (each := _voucher(entry))[0] and each not in known]


def _voucher(entry: Entry) -> tuple[str, Claim, str]:
    by = entry.get("trust").partition(VOUCHED)[2].removesuffix(")")
    return by, entry.claim, f"{entry.title}\n{entry.text}"


def _headings(lines: Sequence[str], hidden: AbstractSet[int]) -> Iterator[Heading]:
    found = [
        (n, match)
        for n, line in enumerate(lines)
        if "#" in line and n not in hidden and (match := HEADING.match(bare(line)))
    ]
    above: list[tuple[int, int, str]] = [(0, -1, "")]
    for (number, match), after in zip(found, [*(n for n, _ in found[1:]), len(lines)], strict=False):
        level, title = len(match[1]), _CLOSING.sub("", match[2].strip()).strip()
        while above[-1][0] >= level:
            above.pop()
        yield Heading(number, level, title, after - 1, *above[-1][1:])
        above.append((level, number, title if level > 1 else ""))


def is_log(heading: Heading) -> bool:
    """Returns whether a heading says that a record of changes stands below it."""
    return bool(_LOG.search(heading.title))


def is_aside(heading: Heading) -> bool:
    """Returns whether what stands below a heading is about the entries, and none itself."""
    return is_log(heading) or bool(_REFERS.search(heading.title))


def _group_of(groups: Sequence[Heading], line: int) -> str:
    """Returns the nearest heading above a line, of those that are not the title of the file."""
    at = bisect_right(groups, line, key=lambda h: h.line)
    return groups[at - 1].title if at else ""


# Tables.


def _tables(lines: Sequence[str], hidden: AbstractSet[int], groups: Sequence[Heading]) -> Iterator[Table]:
    number = 1
    while number < len(lines):
        above, line = bare(lines[number - 1]), bare(lines[number])
        is_table = "|" in above and "-" in line and "|" in line and bool(TABLE_DELIMITER.fullmatch(line))
        if not is_table or hidden & {number, number - 1} or _BLOCK.match(above) or CODE.match(above):
            number += 1
            continue
        last = number
        while last + 1 < len(lines) and last + 1 not in hidden and _is_row(bare(lines[last + 1])):
            last += 1
        names = [cell.value.strip("*_ ").casefold() for cell in split_cells(above)]
        group, columns = _group_of(groups, number - 1), _meanings(names)
        if (
            "id" not in columns
            and names[0] not in NAMES
            and _are_ids([bare(each) for each in lines[number + 1 : last + 1]])
        ):
            columns = ("id", *columns[1:])
        kept = bool(_LOG.search(group)) and not {"certainty", "priority"} & set(columns)
        columns = columns if kept else _titled(columns)
        yield Table(group, columns, number - 1, number + 1, last, kept)
        number = last + 1


def _is_row(line: str) -> bool:
    return "|" in line and not _BLOCK.match(line)


def _are_ids(rows: Sequence[str]) -> bool:
    """Returns whether the first cells of some rows are ids, whatever their column is called."""
    cells = [cell.value.strip("*_` ") for row in rows for cell in split_cells(row)[:1]]
    return bool(cells) and len({*cells}) == len(cells) and all(_ROW_ID.fullmatch(cell) for cell in cells)


def _meanings(names: list[str]) -> tuple[str, ...]:
    """Returns what the columns of a table are. Of two that could be the title the one that says what stands in the file
    is: an Agent Beliefs table has About and Belief."""
    named = [n for n in names if NAMES.get(n) == "title" and (n != "lesson" or "reason" not in names)]
    title = next((name for name in named if name in TITLES), named[0] if named else "")
    if {"goal", "intention"} <= set(named):
        title = "intention"
    columns: dict[str, None] = {}
    for name in names:
        if name == "state" and "status" not in names and title not in ("belief", "subject") and len(names) > 2:
            name = "status"
        meaning = NAMES.get(name, name) if NAMES.get(name) != "title" or name == title else name
        while meaning in columns:
            meaning += f" {len(columns)}"
        columns[meaning] = None
    return tuple(columns)


def _titled(columns: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the columns of a table with one that is the title: what the rows are about, or the first of its words."""
    if "title" in columns:
        return columns
    if len(columns) == 2 and "id" not in columns and (columns[1] == "text" or columns[1] not in NAMES.values()):
        return ("title", "text")
    words = [name for name in columns if name not in {*NAMES.values(), "reason", "outcome", "lesson", "note"}]
    # What the rows are about heads their text; where there is none, it tells whom their words are about.
    words = ["about", *words] if "text" in columns else [*words, "about"]
    title = next((name for name in words if name in columns), "")
    return tuple("title" if name == title else name for name in columns)


def _rows(lines: Sequence[str], tables: Sequence[Table]) -> Iterator[Entry]:
    for table in tables:
        if table.is_log or not {"title", "id"} & set(table.columns):
            continue
        for number in range(table.first, table.last + 1):
            fields = row_fields(lines[number], number, table.columns)
            title = fields["title"].value if "title" in fields else ""
            if any(field.value for field in fields.values()):
                text = fields["text"].value if "text" in fields else ""
                yield Entry("row", table.group, plain(title), plain(text), fields, number, number)


# Sections.


def _sections(
    lines: Sequence[str], hidden: AbstractSet[int], headings: Sequence[Heading], tables: Sequence[Table]
) -> Iterator[Entry]:
    at = [bisect_right(headings, table.header, key=lambda h: h.line) - 1 for table in tables]
    with_table = {headings[n].line for n in at if n >= 0}
    named: list[int] = []  # the levels of the headings above that begin with an id
    for heading, below in zip(headings, [*headings[1:], None], strict=False):
        named = [level for level in named if level < heading.level]
        is_part, has_id = bool(named), bool(split_head(heading.title, ANY)[0])
        named += [heading.level] if has_id else []
        if heading.level < 2 or heading.line in with_table:
            continue
        body = range(heading.line + 1, heading.last + 1)
        fields = marks_of(lines[heading.line], heading.line)
        if stars := find_stars(lines[heading.line]):
            fields["priority"] = Field(stars[0].strip(), heading.line, stars.start() + 1, stars.end())
        prose = []
        for number in body:
            if number in hidden:
                continue
            found = {} if CODE.match(lines[number]) else fields_of(lines[number], number)
            fields = found | fields
            if (not found or not is_only_fields(lines[number])) and not is_placeholder(lines[number]):
                prose.append(unescape_block(_unlisted(bare(lines[number]).strip())))
        is_group = below is not None and below.level > heading.level and not has_id
        sentences = [line for line in prose if line]
        if fields or has_id or (sentences and not is_group and not is_part and not is_aside(heading)):
            last = max((n for n in body if lines[n].strip()), default=heading.line)
            text = fields["text"].value if "text" in fields else " ".join(sentences)
            title, text = plain(heading.title[: -len(stars[0])] if stars else heading.title), plain(text)
            yield Entry("section", heading.group, title, text, fields, heading.line, last, heading.level)


def _unlisted(line: str) -> str:
    """Returns a line of a section without its bullet, and without the emphasis of what it names."""
    match = ITEM.fullmatch(line)
    words = match[2] if match else line
    key, value = split_key(words)
    return f"{key}: {value}" if key else words
