"""Markdown files as passages: a heading's section cut at paragraphs, with line numbers, for searching without an index."""

import re
from typing import NamedTuple

_BLOCK_ID = re.compile(r"(?<= )\^(M-\d+-[0-9a-f]{4})\s*$")
_HEADING = re.compile(r"#{1,6} ")


class Passage(NamedTuple):
    """Some lines of a file, the headings above them, and the memory id they are a copy of, if any."""

    text: str
    first: int
    last: int
    item_id: str = ""


def split_passages(text: str, size: int = 1600) -> list[Passage]:
    """The passages of a Markdown text, each at most about `size` characters, never across a heading."""
    passages, block, start, length = [], [], 1, 0
    for number, line in enumerate(text.split("\n"), 1):
        full = length > size and not line.strip()
        if (_HEADING.match(line) or full or length > 4 * size) and any(part.strip() for part in block):
            passages.append(_passage(block, start))
            block, start, length = [], number, 0
        block.append(line)
        length += len(line) + 1
        if _BLOCK_ID.search(line):
            passages.append(_passage(block, start))
            block, start, length = [], number + 1, 0
    if any(part.strip() for part in block):
        passages.append(_passage(block, start))
    return passages


def is_only_headings(text: str) -> bool:
    """Whether there is nothing to read below the headings."""
    return all(not line.strip() or _HEADING.match(line) for line in text.split("\n"))


def _passage(block: list[str], start: int) -> Passage:
    written = [n for n, line in enumerate(block) if line.strip()]
    first, last = written[0], written[-1]
    mark = _BLOCK_ID.search(block[last])
    return Passage("\n".join(block[first : last + 1]), start + first, start + last, mark[1] if mark else "")
