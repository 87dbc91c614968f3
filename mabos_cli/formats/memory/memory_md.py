"""MEMORY.md: curated long-term memory. Consolidation adds dated sections; everything else belongs to people."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from mabos_cli.core.hierarchy.log_event import split_kind
from mabos_cli.core.hierarchy.log_taking import Candidate, LogFact
from mabos_cli.core.language.text import fold
from mabos_cli.core.memory.condensing import consolidated_parts
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.formats.markdown import escape
from mabos_cli.formats.markdown.scan import Heading, find_headings

# A block id of ours stands behind a blank; one that is only mentioned is escaped by a backslash.
_OUR_BLOCK_ID = r"(?m)(?<= )\^(\S+)\s*$"
_TOP_HEADING = r"(?m)^##? .*$"


def render_memory_header(agent: str) -> str:
    """Returns the first line of a new MEMORY.md."""
    return f"# MEMORY.md - Long-Term Memory ({agent})\n"


def find_block_ids(text: str) -> set[str]:
    """Returns the block ids that stand at the ends of lines."""
    return set(re.findall(_OUR_BLOCK_ID, text))


def add_consolidated(text: str, items: tuple[MemoryItem, ...], day: str) -> str:
    """MEMORY.md with the items under `## Consolidated (DATE)`: the last section if it is of that day, a new one otherwise."""
    there = find_block_ids(text)
    fresh = [item for item in items if item.id not in there]
    if not fresh:
        return text
    heading = f"## Consolidated ({day})"
    sections = re.findall(_TOP_HEADING, text)
    body = text if not text or text.endswith("\n") else text + "\n"
    if not sections or sections[-1].rstrip() != heading:
        body += f"\n{heading}\n\n"
    return body + "".join(_bullet(item) for item in fresh)


def _bullet(item: MemoryItem) -> str:
    tags = f" [{escape.inline(', '.join(item.tags))}]" if item.tags else ""
    content = escape.indent(escape.escape_behind(item.content))
    return f"- **{escape.inline(item.type)}** ({item.importance:.2f}): {content}{tags} ^{item.id}\n"


WIDTH = 300  # characters of an event's text; the link leads to the rest
_ITEM = re.compile(rf"\s*{escape.BULLET}\s+(?:\[[ xX]\]\s+)?")
_RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}\s*")
_HEADING = re.compile(r"\s*#{1,6}\s")
# What our own bullets carry behind the text: tags, the place in a log, a block id.
_BLOCK_ID = re.compile(r"(?:^|\s)\^\S+$")
_LINK = r"\[\d{4}-\d\d-\d\d:\d+\]\([^()]*\)"
_PLACE = re.compile(rf" \({_LINK}(?:, {_LINK})*(?:; llm:[^()\s]*)?\)$")
_CITED = re.compile(r"\[\d{4}-\d\d-\d\d:\d+\]\([^()\s#]*#\^([^()\s]+)\)")
_TAGS = re.compile(r"(?:^| )\[[^\[\]]*\]$")
# And before it: a type with importance, or what the entries of domains have. Lines about an entry stand below it.
_RANK = re.compile(r"\*\*[\w ]+\*\*(?: \([^()\n]*\))?: |(?:\(untrusted\) )?(?:\[[a-z]+\] )?(?:\d{4}-\d\d-\d\d: )?")
_ABOUT = re.compile(r"(?i)(?:context: |related: \[\[|until \d)")


def render_log_bullet(candidate: Candidate, path: str) -> str:
    """Returns the line of an event: its text, a link to its day and line, and a block id by which it is known again."""
    event, key = candidate.event, candidate.key
    target = f"{path}#^{key}" if key == event.id else path
    text = escape.escape_links(escape.inline(event.text, WIDTH))
    return f"- {text} ([{event.day}:{event.line}]({target})) ^{key}"


def render_fact_bullet(fact: LogFact, paths: Mapping[str, str]) -> str:
    """Returns the line of a fact: its text, a link to each event by the event's key, who worded it, and a block id of its own.

    paths has where each log is now, by where it was read.
    """
    links = (f"[{c.event.day}:{c.event.line}]({paths[c.path]}#^{c.key})" for c in fact.events)
    text = escape.escape_links(escape.inline(fact.content, WIDTH))
    return f"- {text} ({', '.join(links)}; {fact.author}) ^{fact.key}"


def find_cited(text: str) -> set[str]:
    """Returns the keys of events that links to daily logs name."""
    return set(_CITED.findall(text))


def add_to_sections(text: str, bullets: Mapping[str, Sequence[str]]) -> str:
    """Returns the file with bullets at the ends of their sections; sections that it does not have yet come last, in order.

    Every line that was there stays as it was.
    """
    end = escape.newline_of(text)
    if text and not text.endswith("\n"):
        text += end
    lines = text.split("\n")
    headings = find_headings(lines)
    spots: list[tuple[int, list[str]]] = []
    missing: list[str] = []
    for title, found in bullets.items():
        places = [n for n, h in enumerate(headings) if h.level == 2 and fold(h.title) == fold(title)]
        if places:
            spots.append(_insertion(lines, headings, places[0], found))
        elif found:
            missing += ["", f"## {title}", "", *found]
    for spot, new in sorted(spots, reverse=True):
        lines[spot:spot] = [line + end[:-1] for line in new]
    new = missing if text.strip() else missing[1:]
    return "\n".join(lines) + "".join(line + end for line in new)


def _insertion(
    lines: Sequence[str], headings: Sequence[Heading], number: int, bullets: Sequence[str]
) -> tuple[int, list[str]]:
    """Returns where the bullets of a section go, and they, with blank lines where Markdown wants them."""
    first = headings[number].last
    behind = headings[number + 1].first if number + 1 < len(headings) else len(lines)
    last = _last_written(lines, first, behind)
    # A rule at the end of a section parts it from the next one.
    if last > first + 1 and _RULE.fullmatch(lines[last]) and not lines[last - 1].strip():
        last = _last_written(lines, first, last)
    goes_on = last > first and (_ITEM.match(lines[last]) or lines[last].startswith(("  ", "\t")))
    closes = last + 1 < len(lines) and lines[last + 1].strip()
    return last + 1, [*([] if goes_on else [""]), *bullets, *([""] if closes else [])]


def _last_written(lines: Sequence[str], first: int, behind: int) -> int:
    return next((n for n in range(behind - 1, first, -1) if lines[n].strip()), first)


def without_marks(line: str) -> str:
    """Returns the last line of a bullet without the block id and the place in a log that ours carry behind the text."""
    return _PLACE.sub("", _BLOCK_ID.sub("", line))


class Texts:
    """Holds what the list items and paragraphs of a file say, folded; a consolidated memory also says each of its parts. The file is
    taken apart for a text whose words it has."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __contains__(self, folded: object) -> bool:
        return fold(str(folded).replace("\\", "")) in self._words and folded in self._texts

    @cached_property
    def _words(self) -> str:
        return fold(self._text.replace("\\", ""))

    @cached_property
    def _texts(self) -> set[str]:
        found: set[str] = set()
        for _, (*above, last) in _blocks(self._text):
            last = without_marks(last)
            for end in {last, _TAGS.sub("", last)}:
                whole = " ".join(escape.unescape_block(line) for line in (*above, end))
                # Some lines have their links escaped, and some are as they were given: both readings count.
                for phrase in {
                    variant for text in (whole, escape.unescape_links(whole)) for variant in (text, split_kind(text)[1])
                }:
                    found.update(map(fold, (phrase, *consolidated_parts(phrase))))
        return found


def find_statements(text: str) -> Iterator[tuple[int, str]]:
    """Yields the list items and paragraphs of a file, each with the line on which it begins, without what our own bullets carry before
    and behind their text."""
    for line, block in _blocks(text):
        lines = [part for part in block if not _ABOUT.match(part)] or block
        *above, last = *lines[:-1], without_marks(lines[-1])
        yield line, _RANK.sub("", escape.unescape_block("\n".join([*above, _TAGS.sub("", last)])), count=1)


def _blocks(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yields the lines of each list item and paragraph, and where it begins. Blank lines inside our own bullets are indented."""
    block: list[str] = []
    first = 0
    for number, line in enumerate(text.split("\n"), 1):
        item, heading, blank = _ITEM.match(line), _HEADING.match(line), not line.strip()
        if block and (item or heading or (blank and not line.startswith("  "))):
            yield first, block
            block = []
        if not blank and not heading:
            first = first if block else number
            block.append((line[item.end() :] if item else line).strip())
    if block:
        yield first, block
