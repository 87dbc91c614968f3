"""The outline of a Markdown file that people write: its top headings, and the lines that only look like structure."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from mabos_cli.formats.markdown.escape import BULLET

_FENCE = re.compile(r" {0,3}(?:(`{3,})[^`]*|(~{3,}).*)")
_COMMENT = re.compile(r" {0,3}<!--")
_HEADING = re.compile(r" {0,3}(#{1,2})(?=[ \t]|$)")
_CLOSING = re.compile(r"(?:^|[ \t])#+$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
# Lines that are no part of a paragraph, so that no underline makes a heading of them.
_NO_PARAGRAPH = re.compile(rf" {{4}}|\t| {{0,3}}(?:{BULLET}(?:\s|$)|[>|#<]|([-*_=])(?:\s*\1)*\s*$)")


class Heading(NamedTuple):
    """A heading of level 1 or 2: its first line, its last, its level and its words."""

    first: int
    last: int
    level: int
    title: str


def hidden_lines(lines: Sequence[str]) -> set[int]:
    """The lines of fenced code and comments. What is never closed hides nothing: somebody forgot to close it."""
    hidden: set[int] = set()
    unclosed: dict[str, int] = {}
    number = 0
    while number < len(lines):
        mark, least = _opener(lines[number])
        end = _end_of(lines, number, mark, least) if mark and least < unclosed.get(mark, 1 << 30) else None
        if end is not None:
            hidden.update(range(number, end + 1))
            number = end
        elif mark:
            unclosed[mark] = min(least, unclosed.get(mark, least))
        number += 1
    return hidden


def _opener(line: str) -> tuple[str, int]:
    """What a line opens, a fence or a comment, and how long its mark is."""
    fence = _FENCE.fullmatch(line.rstrip("\r"))
    if fence:
        mark = fence[1] or fence[2]
        return mark[0], len(mark)
    return ("<!--", 0) if _COMMENT.match(line) else ("", 0)


def _end_of(lines: Sequence[str], start: int, mark: str, least: int) -> int | None:
    """The line that closes what was opened, if any."""
    if mark == "<!--":
        return next((n for n in range(start, len(lines)) if "-->" in lines[n]), None)
    closing = re.compile(rf" {{0,3}}{re.escape(mark)}{{{least},}}\s*")
    return next((n for n in range(start + 1, len(lines)) if closing.fullmatch(lines[n])), None)


def find_headings(lines: Sequence[str]) -> list[Heading]:
    """The headings of level 1 and 2 in order, underlined ones too."""
    hidden = hidden_lines(lines)
    found: list[Heading] = []
    start: int | None = 0  # of the paragraph that stands above, as long as it could become a heading
    for number, raw in enumerate(lines):
        line = raw.rstrip("\r") if number else raw.rstrip("\r").removeprefix("\ufeff")
        heading, underline = _HEADING.match(line), _UNDERLINE.fullmatch(line)
        if number in hidden:
            start = None
        elif heading:
            title = _CLOSING.sub("", line[heading.end() :].strip()).strip()
            found.append(Heading(number, number, len(heading[1]), title))
            start = number + 1
        elif underline and start is not None and start < number:
            title = " ".join(part.strip() for part in lines[start:number])
            found.append(Heading(start, number, 1 if underline[1][0] == "=" else 2, title))
            start = number + 1
        elif not line.strip():
            start = number + 1
        elif _NO_PARAGRAPH.match(line):
            start = None
    return found
