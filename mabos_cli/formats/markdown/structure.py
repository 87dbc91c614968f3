"""The structure of a Markdown text: its headings, and which lines are one block.

markdown-it says which lines are headings and which must not be looked into (fenced code, HTML). It costs five times a
bare Python start, so a text in which nothing can hide a heading is scanned by regular expressions, to the same end.
"""

import re
from collections.abc import Container
from functools import cache
from typing import Any, NamedTuple

from mabos_cli.formats.markdown.escape import BULLET

# Above this a text is scanned: markdown-it needs a second for a megabyte of prose, ten for one of short list items.
LARGEST_PARSED = 256 << 10
# Lists count twice, quotes once. Beyond the depth markdown-it takes the rest of the text for a part of the innermost.
DEEPEST = 64
LONGEST_TITLE = 120

# The id of a memory at the end of a line: what stands there is a copy of it.
BLOCK_ID = re.compile(r"(?m)(?<= )\^(M-\d+-[0-9a-f]{4})[^\S\n]*$")
_HEADING = re.compile(r"#{1,6}(?=[ \t\r]|$)")
_ITEM = re.compile(rf" ?{BULLET}(?:[ \t]|$)")
_STRUCTURE = re.compile(r"(?m)^ {0,3}(?:(#{1,6})(?=[ \t]|$)|(`{3,})[^`\n]*$|(~{3,})|<!--)")
_END = re.compile(r"(?m)^ {0,3}(`{3,}|~{3,})[ \t]*$|(-->)")
# What could make the scan wrong: an indented heading (it may belong to a list), HTML, an underline below some text.
_HIDING = re.compile(r"(?m)^(?: {1,3}#{1,6}(?:[ \t]|$)| {0,3}<[A-Za-z/!?]|(?<=[^\n]\n) {0,3}(?:=+|-+)[ \t]*$)")
# And a fence that does not stand at the margin: it may belong to a list or a quote, and end with it.
_INNER_FENCE = re.compile(r"(?m)^[-+*>\d.) \t]*[> \t](?:```|~~~)")
# A line that opens more than markdown-it follows is read again at each depth: a second for 64 KiB of it.
_DEEP = re.compile(rf"(?m)^(?:[ \t]*(?:[-+*>]|\d{{1,9}}[.)])){{{DEEPEST // 2}}}")
_LINK = re.compile(
    r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]|!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])"
    r"|<((?:https?|mailto):[^<>\s]*)>|</?[A-Za-z!][^<>]*>"
)
_MARK = re.compile(r"`+([^`]+)`+|\\([!-/:-@\[-`{-~])|`+|~~|==|\*+(?=\S)|(?<=\S)\*+|(?<!\w)_+(?=\S)|(?<=\S)_+(?!\w)")


class Structure(NamedTuple):
    """Headings as (first line, last line, level), and by first line the last of what is one block, at the margin or not."""

    headings: list[tuple[int, int, int]]
    whole: dict[int, tuple[int, bool]]


def find_structure(lines: list[str]) -> Structure:
    """The headings and blocks of a text without front matter, from the cheapest source that is right."""
    # An open fence ends with the last written line, whoever looks.
    body = "\n".join(lines).rstrip()
    if is_plain(body) or len(body) > LARGEST_PARSED or _DEEP.search(body):
        return scan_structure(body)
    return parse_structure(body) or scan_structure(body)


def is_plain(body: str) -> bool:
    """Whether scanning finds what parsing would."""
    fenced = ("```" in body or "~~~" in body) and _INNER_FENCE.search(body)
    return not fenced and not _HIDING.search(body)


def scan_structure(body: str) -> Structure:
    """Headings, fenced code and comments by their marks alone; underlined headings and other HTML are not seen."""
    structure, line, counted, at = Structure([], {}), 0, 0, 0
    while match := _STRUCTURE.search(body, at):
        line += body.count("\n", counted, match.start())
        counted, at = match.start(), match.end()
        if match[1]:
            structure.headings.append((line, line, len(match[1])))
            continue
        fence = match[2] or match[3]
        ends = (m.end() for m in _END.finditer(body, at) if (m[1] or m[2]).startswith(fence or "-->"))
        at = next(ends, len(body))
        first, line = line, line + body.count("\n", counted, at)
        structure.whole[first], counted = (line, True), at
    return structure


def parse_structure(body: str) -> Structure | None:
    """The same by markdown-it, or None if the text is nested deeper than it follows."""
    structure, parser, tokens = Structure([], {}), _parser(), []
    # markdown-it knows spaces and tabs as blanks; here a line of any blanks is empty.
    lines = [line if line.strip() else "" for line in body.split("\n")]
    # Blocks only: the inline rules are where hostile texts take quadratic time, and nothing here needs them.
    parser.block.parse("\n".join(lines), parser, {}, tokens)
    for token in tokens:
        if token.level >= DEEPEST - 1:
            return None
        if not token.map:
            continue
        first, last = token.map[0], token.map[1] - 1
        if token.type == "heading_open" and token.level == 0:
            # A rule that a person drew right below an entry does not make a heading of its last line.
            if first == last or not any(map(BLOCK_ID.search, lines[first:last])):
                structure.headings.append((first, last, int(token.tag[1])))
        elif token.type == "fence" or (token.type == "html_block" and token.level == 0):
            structure.whole[first] = (last, token.level == 0)
    return structure


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt

    # Link targets stay paragraphs, so that every line lies in some block.
    return MarkdownIt("commonmark", {"maxNesting": DEEPEST}).enable("table").disable("reference")


def find_blocks(
    lines: list[str], whole: dict[int, tuple[int, bool]], ends: Container[int], first: int, last: int
) -> list[tuple[int, int]]:
    """Paragraphs, list items with what is indented below them, tables, quotes, code: ranges that cover all written lines."""
    blocks: list[tuple[int, int]] = []
    edge, gap, in_item, before = True, False, False, ""
    line = first
    while line <= last:
        text = lines[line]
        if not text.strip():
            gap, line = True, line + 1
            continue
        end, alone = whole.get(line, (line, False))
        end = min(end, last)
        if edge or alone or _starts_block(text, before, gap, in_item):
            blocks.append((line, end))
            in_item = bool(_ITEM.match(text))
        else:
            blocks[-1] = (blocks[-1][0], end)
        edge = alone or end in ends
        gap, before, line = False, lines[end], end + 1
    return blocks


def _starts_block(text: str, before: str, gap: bool, in_item: bool) -> bool:
    if _ITEM.match(text):
        return True
    if gap:
        return not (in_item and text.startswith(("  ", "\t")))
    return text[0] in ">|" and text[0] != before[:1]


def plain_title(lines: list[str]) -> str:
    """A heading's words without marks, cut where a title would not end: every passage below repeats it."""
    if _HEADING.match(lines[0].lstrip(" ")) and len(lines) == 1:
        words = lines[0].strip().lstrip("#")
        bare = words.rstrip("#")
        words = bare if bare[-1:] in ("", " ", "\t") else words
    else:
        words = " ".join(lines[:-1])
    words = BLOCK_ID.sub("", words)[: 4 * LONGEST_TITLE]
    words = _MARK.sub(r"\1\2", _LINK.sub(r"\1\2\3", words))
    words = " ".join(words.split())
    return words if len(words) <= LONGEST_TITLE else words[: LONGEST_TITLE - 1] + "…"


def is_only_headings(text: str) -> bool:
    """Whether there is nothing to read below the headings."""
    return all(not line.strip() or _HEADING.match(line) for line in text.split("\n"))
