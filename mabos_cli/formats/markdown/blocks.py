"""The blocks of a Markdown text whose structure is known, and the words of its headings."""

from collections.abc import Container, Sequence

from mabos_cli.core.language.patterns import compiled
from mabos_cli.formats.markdown.escape import BULLET
from mabos_cli.formats.markdown.scan import BLOCK_ID

LONGEST_TITLE = 120
_LINK = compiled(
    r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]|!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])"
    r"|<((?:https?|mailto):[^<>\s]*)>|</?[A-Za-z!][^<>]*>"
)
_MARK = compiled(r"`+([^`]+)`+|\\([!-/:-@\[-`{-~])|`+|~~|==|\*+(?=\S)|(?<=\S)\*+|(?<!\w)_+(?=\S)|(?<=\S)_+(?!\w)")
_HEADING = compiled(r"#{1,6}(?=[ \t\r]|$)")
_ITEM = compiled(rf" ?{BULLET}(?:[ \t]|$)")


def find_blocks(
    lines: Sequence[str], whole: dict[int, tuple[int, bool]], ends: Container[int], first: int, last: int
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


def plain_title(title: str) -> str:
    """Returns the words of a heading without marks, cut where a title would not end: every passage below repeats it."""
    words = BLOCK_ID.sub("", title)[: 4 * LONGEST_TITLE]
    words = " ".join(_MARK.sub(r"\1\2", _LINK.sub(r"\1\2\3", words)).split())
    return words if len(words) <= LONGEST_TITLE else words[: LONGEST_TITLE - 1] + "…"


def is_only_headings(text: str) -> bool:
    """Returns whether there is nothing to read below the headings."""
    return all(not line.strip() or _HEADING.match(line) for line in text.split("\n"))
