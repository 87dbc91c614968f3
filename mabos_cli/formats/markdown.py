"""Text inside Markdown: content that looks like structure is escaped, so that a later read sees only our structure."""

import re

from mabos_cli.core.text import visible

# What may start a block: headings, fences, lists, quotes, tables, rules, setext underlines, HTML, comments, front matter,
# footnotes, math, block ids; and a backslash, so that unescaping is exact.
_BLOCK_START = re.compile(r"(\s*)(?=[#`~>|<\\=_*+%$^:\[\-]|\d{1,9}[.)](?:\s|$))")
_ESCAPED_START = re.compile(r"(\s*)\\(?=[#`~>|<\\=_*+%$^:\[\-]|\d{1,9}[.)](?:\s|$))")
# What may hide or end things in the middle of a line: comments of HTML and Obsidian, and a block id at the end.
_INLINE = re.compile(r"(\\*)(<!--|-->|%%|\^(?=M-))")
_INLINE_ESCAPED = re.compile(r"(\\*)\\(<!--|-->|%%|\^(?=M-))")


def escape_block(text: str) -> str:
    """Content as Markdown paragraphs that render as the text they are.

    >>> escape_block("note\\n## Fake ^M-1-aaaa")
    'note\\n\\\\## Fake \\\\^M-1-aaaa'
    """
    plain = visible(text.replace("\r\n", "\n").replace("\r", "\n"))
    return "\n".join(_escape_line(line) for line in plain.split("\n"))


def unescape_block(text: str) -> str:
    """The text that escape_block was given (line endings and control characters as they were drawn)."""
    return "\n".join(_unescape_line(line) for line in text.split("\n"))


def _escape_line(line: str) -> str:
    line = _INLINE.sub(lambda m: m[1] * 2 + "\\" + m[2], line)
    match = _BLOCK_START.match(line)
    return f"{match[1]}\\{line[match.end() :]}" if match else line


def _unescape_line(line: str) -> str:
    match = _ESCAPED_START.match(line)
    if match:
        line = match[1] + line[match.end() :]
    return _INLINE_ESCAPED.sub(lambda m: "\\" * (len(m[1]) // 2) + m[2], line)


def indent(text: str, by: int = 2) -> str:
    """The text with its second and later lines moved right, so that they stay inside a list item."""
    return text.replace("\n", "\n" + " " * by)
