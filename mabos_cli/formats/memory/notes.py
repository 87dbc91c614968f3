"""Notes that people write, as entries with their lines: a list item with what is nested in it, a paragraph, a row of a table, a
block of code. Every written line is in an entry, is a heading, or has a label that says why it is neither."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from mabos_cli.core.hierarchy.log_event import is_about_itself
from mabos_cli.core.language.text import cut_text
from mabos_cli.core.memory.migration import Note
from mabos_cli.formats.hierarchy.daily_log import parse_log
from mabos_cli.formats.json.text import dump_record, parse_ledger
from mabos_cli.formats.markdown.blocks import find_blocks, plain_title
from mabos_cli.formats.markdown.escape import BULLET, TABLE_DELIMITER, unescape_block, unescape_links
from mabos_cli.formats.markdown.scan import count_head, scan
from mabos_cli.formats.memory.memory_md import without_marks

ENTRY, HEADING = "entry", "heading"
# Why a line is neither: front matter, a copy of an item, what the template put there, what the file says about itself, a comment, a
# table of contents, the head of a table, a rule, marks without words, less text than was asked for.
SKIPPED = (
    "front_matter",
    "copy",
    "template",
    "boilerplate",
    "comment",
    "contents",
    "table_head",
    "rule",
    "empty",
    "short",
)

_STEP = re.compile(r" {0,3}\d+[.)][ \t]")
# A line that stands for a heading where a list follows: bold as a whole, or ending with a colon.
_LEAD_IN = re.compile(r"\*\*(?:(?!\*\*).){3,}\*\*:?|[^|>`]{3,80}:")
_LOWEST = 7  # the level of such a heading: below every other
_ITEM = re.compile(rf"^[ \t]*{BULLET}(?:[ \t]+(?:\[([ xX])\](?:[ \t]+|$))?|$)")
_NESTED = re.compile(rf"[ \t]+{BULLET}(?:[ \t]|$)")
_QUOTE = re.compile(r"^ {0,3}> ?")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_RULE = re.compile(r" {0,3}([-*_=])(?:[ \t]*\1){2,}[ \t]*")
_WRITTEN = re.compile(r"[^\s\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\x7f]")  # what is neither blank nor a mark of ASCII
_CONTENTS = re.compile(r"!?\[[^\[\]]*\]\(#[^()]*\)|\[\[#[^\[\]]*\]\]|\[TOC\]", re.IGNORECASE)
_WORD_CONTENTS = re.compile(r"(?i)(?:table of )?contents|\d+|[·•]")
_BLOCK_ID = re.compile(r"(?:^|\s)\^[A-Za-z0-9-]+\s*$")
_COPY = re.compile(r" \^M-\d+-[0-9a-f]{4}\s*$")
_CELL = re.compile(r"(?<!\\)\|")
_OF_PAIRS = (
    "value",
    "setting",
    "meaning",
    "means",
)  # the second column of a table in which the first names what it says
_KEYS = r"importance|priority|triggers?|tags?|observed|date|status"
# A comment of nothing but known keys: `importance: 7`, or several, parted by bars. Any other is somebody's text and stays.
_MARKS = re.compile(
    rf"(?<![ \t])[ \t]*<!--\s*((?:{_KEYS})\s*:[^|<>]{{0,500}}(?:\|\s*(?:{_KEYS})\s*:[^|<>]{{0,500}}){{0,9}})-->",
    re.IGNORECASE,
)

Marks = tuple[tuple[str, str], ...]


class Notes(NamedTuple):
    """The entries of a file in order, and a label for each of its lines; blank ones have none."""

    entries: tuple[Note, ...]
    labels: tuple[str, ...]


class _Page:
    """A file on its way to entries: lines, their labels, and where the reader is in the structure."""

    def __init__(self, lines: list[str], size: int, least: int) -> None:
        self.lines = lines
        self.size, self.least = size, least
        self.labels = [""] * len(lines)
        self.entries: list[Note] = []
        self.trail: list[tuple[int, str]] = []
        self.marks: Marks = ()  # what comments on a heading and right below it say of all up to the next
        self.title = ""  # of the whole: its only heading of the first level

    @property
    def titles(self) -> tuple[str, ...]:
        """Returns the headings above, without the title of the whole file where there are others."""
        titles = tuple(title for _, title in self.trail)
        return titles[1:] or titles if self.title and titles[:1] == (self.title,) else titles

    def leave(self, level: int) -> None:
        """Goes above the headings of a level and those below it."""
        while self.trail and self.trail[-1][0] >= level:
            self.trail.pop()

    def label(self, numbers: Sequence[int], name: str) -> None:
        for number in numbers:
            self.labels[number] = name if self.lines[number].strip() else ""


def parse_notes(text: str, size: int, *, least: int = 0, template: str = "") -> Notes:
    """Returns the entries of a file. One of more than `size` characters is cut at its paragraphs; shorter than `least`, it is left out.

    >>> found = parse_notes("# Me\\n## Rules\\n- Never guess <!-- importance: 9 -->\\n  - ask\\n\\n---\\n", 1600)
    >>> found.entries[0][:5]
    (3, 4, 'Never guess\\n- ask', ('Rules',), (('importance', '9'),))
    >>> found.labels
    ('heading', 'heading', 'entry', 'entry', '', 'rule', '')
    """
    lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
    page, body = _Page(lines, size, least), count_head(lines)
    page.label(range(body), "front_matter")
    for entry in parse_log("\n".join(lines)):
        if entry.id.startswith("M-") and entry.line > body:
            page.label(range(entry.line - 1, entry.last), "copy")
    structure = scan(lines, body)
    headings = {heading.first: heading for heading in structure.headings}
    ends = {number for number, line in enumerate(lines) if _BLOCK_ID.search(line)}
    first_level = [plain_title(heading.title) for heading in structure.headings if heading.level == 1]
    page.title = first_level[0] if len(first_level) == 1 else ""
    untouched = {line.strip() for line in template.split("\n") if line.strip()}
    blocks = find_blocks(lines, structure.whole, ends, body, len(lines) - 1)
    before_lists = {first for (first, _), (following, _) in pairwise(blocks) if _ITEM.match(lines[following])}
    for first, last in blocks:
        numbers = [n for n in range(first, last + 1) if lines[n].strip() and not page.labels[n]]
        if len(numbers) > 1 and _RULE.fullmatch(lines[first]) and not structure.whole.get(first):
            page.label(numbers[:1], "rule")
            del numbers[0]
        if numbers and first in headings:
            _enter(page, numbers, headings[first].level, headings[first].title)
        elif len(numbers) == 1 and first in before_lists and _is_lead_in(lines[first]):
            _enter(page, numbers, _LOWEST, lines[first].strip().strip("*:"))
        elif numbers:
            _take(page, numbers, untouched)
    return Notes(tuple(page.entries), tuple(page.labels))


def _is_lead_in(line: str) -> bool:
    return bool(_LEAD_IN.fullmatch(line.strip())) and not _ITEM.match(line)


def _enter(page: _Page, numbers: list[int], level: int, title: str) -> None:
    """Goes below a heading."""
    page.leave(level)
    page.trail += [(level, plain)] if (plain := plain_title(title)) else []
    page.marks = find_marks(" ".join(page.lines[n] for n in numbers))
    page.label(numbers, HEADING)


def _take(page: _Page, numbers: list[int], untouched: set[str]) -> None:
    """Makes entries of a block, or labels its lines."""
    lines = [page.lines[n] for n in numbers]
    if not _ITEM.match(lines[0]):
        page.leave(_LOWEST)
    reason = _why_not(lines, untouched)
    if reason == "comment":
        comment = " ".join(lines)
        _heed(page, numbers, () if _MARKS.sub("", comment).strip() else find_marks(comment))
    elif reason:
        page.label(numbers, reason)
    elif len(lines) > 2 and "|" in lines[1] and TABLE_DELIMITER.fullmatch(lines[1]):
        page.label(numbers[:2], "table_head")
        for number in numbers[2:]:
            _add(page, [number], _row_text(page.lines[numbers[0]], page.lines[number]))
    elif _FENCE.match(lines[0]) and _introduces(page, numbers[0]):
        before = page.entries.pop()
        _add_parts(page, [*(n for n in range(before.first - 1, before.last) if page.lines[n].strip()), *numbers])
    else:
        _add_parts(page, numbers)


def _why_not(lines: list[str], untouched: set[str]) -> str:
    """Returns why a block is no entry; empty when it is one."""
    if _COPY.search(lines[-1]):
        return "copy"
    if untouched.issuperset(line.strip() for line in lines):
        return "template"
    if all(_RULE.fullmatch(line) for line in lines):
        return "rule"
    block = "\n".join(map(_bare, lines)).strip()
    if _CONTENTS.search(block) and not _WRITTEN.search(_WORD_CONTENTS.sub("", _CONTENTS.sub("", block))):
        return "contents"
    if is_about_itself(block):
        return "boilerplate"
    block = "\n".join(lines).strip()
    if block.startswith("<!--") and block.endswith("-->") and block.find("-->") == len(block) - 3:
        return "comment"
    return "" if any(_WRITTEN.search(_bare(line)) for line in lines) else "empty"


def _bare(line: str) -> str:
    return _MARKS.sub("", _ITEM.sub("", _QUOTE.sub("", line)))


def _heed(page: _Page, numbers: list[int], marks: Marks) -> None:
    """Takes what a comment on lines of its own says: of the entry right above it, or below a heading of all that follows."""
    above = numbers[0] - 1
    if marks and page.entries and page.entries[-1].last == above + 1:
        last = page.entries[-1]
        page.entries[-1] = last._replace(last=numbers[-1] + 1, marks=(*last.marks, *marks))
        page.label(numbers, ENTRY)
        return
    page.label(numbers, "comment")
    while above >= 0 and not page.lines[above].strip():
        above -= 1
    if above < 0 or page.labels[above] == HEADING:
        page.marks += marks


def _introduces(page: _Page, number: int) -> bool:
    """Returns whether the entry before a block of code ends with a colon, with nothing but blank lines between them.

    A row of a table does not, nor does a piece of a line that was cut.
    """
    if not page.entries or not page.entries[-1].text.endswith(":"):
        return False
    before = page.entries[-1]
    is_piece = len(page.entries) > 1 and page.entries[-2].last >= before.first
    if is_piece or page.lines[before.first - 1].lstrip().startswith("|"):
        return False
    return not any(line.strip() for line in page.lines[before.last : number])


def find_marks(text: str) -> Marks:
    """Returns what the comments in a text say of it, key by key."""
    parts = (part for comment in _MARKS.findall(text) for part in comment.split("|"))
    pairs = (part.partition(":") for part in parts)
    return tuple((key.strip().casefold(), " ".join(value.split())) for key, _, value in pairs)


def _row_text(head: str, row: str) -> str:
    """Returns a row of a table as text, each cell behind the name of its column.

    >>> _row_text("| Name | Role |", "| Ada | CFO |")
    'Name: Ada; Role: CFO'
    """
    names, cells = _cells(head), _cells(_MARKS.sub("", row))
    if len(cells) == len(names) == 2 and names[1].casefold() in _OF_PAIRS and all(cells):
        return ": ".join(cells)
    named = zip((*names, *[""] * len(cells)), cells, strict=False)
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in _CELL.split(line.strip().removeprefix("|").removesuffix("|"))]


def _add_parts(page: _Page, numbers: list[int]) -> None:
    """Adds a block as an entry, or as several where it is long; all have the marks of the whole."""
    marks = find_marks("\n".join(page.lines[n] for n in numbers))
    for part in _cut(page, numbers):
        written = range(part[0], part[-1] + 1)
        _add(page, part, _plain_text([page.lines[n] for n in written if n in part or not page.lines[n].strip()]), marks)


def _add(page: _Page, numbers: list[int], text: str, marks: Marks | None = None) -> None:
    lines = [page.lines[n] for n in numbers]
    if not _WRITTEN.search(text):
        page.label(numbers, "empty")
        return
    if len(text) < page.least:
        page.label(numbers, "short")
        return
    page.label(numbers, ENTRY)
    found = find_marks("\n".join(lines)) if marks is None else marks
    item = _ITEM.match(lines[0])
    box = {"x": "x", " ": "-"}.get((item[1] or "").lower(), "") if item else ""
    for piece in cut_text(text, page.size):
        if piece.strip():
            note = Note(numbers[0] + 1, numbers[-1] + 1, piece.strip(), page.titles, (*page.marks, *found), box)
            note = note._replace(is_step=bool(_STEP.match(lines[0])), page=page.title)
            page.entries.append(note)


def _plain_text(lines: list[str]) -> str:
    """Returns the text of a block without the mark of its list or quote, its comments, and what our own bullets carry behind theirs."""
    if all(_QUOTE.match(line) for line in lines if line.strip()):
        lines = [_QUOTE.sub("", line) for line in lines]
    first = lines[0] if _RULE.fullmatch(lines[0]) else _ITEM.sub("", lines[0])
    indents = (len(line) - len(line.lstrip()) for line in lines[1:] if line.strip())
    margin = min(indents, default=0)
    text = "\n".join([first.lstrip(), *(line[margin:] for line in lines[1:])]).rstrip()
    text = _MARKS.sub("", text).rstrip()
    above, end, last = text.rpartition("\n")
    if not _BLOCK_ID.search(last):
        return text
    return unescape_links(unescape_block(f"{above}{end}{without_marks(last)}")).rstrip()


def _cut(page: _Page, numbers: list[int]) -> Iterator[list[int]]:
    """Yields the lines of a block in parts of at most the size: cut before paragraphs and nested items, or else before any line."""
    if sum(len(page.lines[n]) + 1 for n in numbers) <= page.size:
        yield numbers
        return
    part: list[int] = []
    held = 0
    for piece in _pieces(page, numbers):
        length = sum(len(page.lines[n]) + 1 for n in piece)
        if part and held + length > page.size:
            yield part
            part, held = [], 0
        part, held = part + piece, held + length
    if part:
        yield part


def _pieces(page: _Page, numbers: list[int]) -> Iterator[list[int]]:
    """Paragraphs and nested items of a block; the lines of one that is too long, each alone."""
    pieces: list[list[int]] = []
    for number in numbers:
        if not pieces or pieces[-1][-1] + 1 != number or _NESTED.match(page.lines[number]):
            pieces.append([])
        pieces[-1].append(number)
    for piece in pieces:
        is_long = sum(len(page.lines[n]) + 1 for n in piece) > page.size
        yield from ([number] for number in piece) if is_long else [piece]


# An item that a note became names the key of it, in whatever layout somebody saved it.
_NAMED = re.compile(rb'"migrated"\s*:\s*"([0-9a-f]{16})"')
_ID = re.compile(rb'"id"\s*:\s*"([^"\\]+)"')


def parse_migrated(data: bytes) -> dict[str, str]:
    """Returns the ids of items by the keys of entries. Torn lines are passed over: what is missing is looked up in the items."""
    found: dict[str, str] = {}
    for record in parse_ledger(data).records:
        if isinstance(taken := record.get("taken"), dict):
            found |= {key: item_id for key, item_id in taken.items() if isinstance(item_id, str)}
    return found


def render_migrated(path: str, taken: Mapping[str, str], at: str) -> bytes:
    """Returns a line that says what the entries of a file became."""
    return dump_record({"at": at, "path": path, "taken": dict(taken)})


def named_keys(data: bytes) -> dict[str, str]:
    """Returns the keys that items in a file of the store or the archive name, each with the id on its line."""
    found: dict[str, str] = {}
    for line in data.split(b"\n") if b'"migrated"' in data else ():
        if named := _NAMED.search(line):
            item_id = _ID.search(line)
            found[named[1].decode()] = item_id[1].decode("utf-8", "replace") if item_id else ""
    return found
