"""Text inside Markdown: content that looks like structure is escaped, so that a later read sees only our structure."""

import re

from mabos_cli.core.text import visible

# What may start a block. A backslash counts, so that unescaping is exact.
_ALWAYS = "#`~>|<\\$^%"  # headings, fences, quotes, tables, HTML, comments, math, block ids
_SOMETIMES = re.compile(
    r"[-+*](?:\s|$)"  # list items
    r"|([-*_=])(?:\s*\1)*\s*$"  # rules, setext underlines, front matter
    r"|\d{1,9}[.)](?:\s|$)"  # numbered items
    r"|\[[^\]]*\]:|:\s"  # link targets, footnotes, definitions
)
# What may hide or end things in the middle of a line: comments of HTML and Obsidian, and a block id.
_INLINE = r"(\\*)(<!--|-->|%%|\^(?=M-))"
_INLINE_ESCAPED = r"(\\*)\\(<!--|-->|%%|\^(?=M-))"


def escape_block(text: str) -> str:
    """Content as Markdown paragraphs that render as the text they are.

    >>> escape_block("note\\n## Fake ^M-1-aaaa")
    'note\\n\\\\## Fake \\\\^M-1-aaaa'
    """
    plain = text if text.isprintable() else visible(text.replace("\r\n", "\n").replace("\r", "\n"))
    if "\n" not in plain:
        return _escape_line(plain)
    return "\n".join(_escape_line(line) for line in plain.split("\n"))


def unescape_block(text: str) -> str:
    """The text that escape_block was given (line endings and control characters as they were drawn)."""
    return "\n".join(_unescape_line(line) for line in text.split("\n"))


def _starts_block(text: str) -> bool:
    return text[0] in _ALWAYS or (not text[0].isalpha() and bool(_SOMETIMES.match(text)))


def _escape_line(line: str) -> str:
    if "<!--" in line or "-->" in line or "%%" in line or "^M-" in line:
        line = re.sub(_INLINE, lambda m: m[1] * 2 + "\\" + m[2], line)
    body = line.lstrip()
    return f"{line[: len(line) - len(body)]}\\{body}" if body and _starts_block(body) else line


def _unescape_line(line: str) -> str:
    body = line.lstrip()
    if body[:1] == "\\" and len(body) > 1 and _starts_block(body[1:]):
        line = line[: len(line) - len(body)] + body[1:]
    if "\\" in line:
        line = re.sub(_INLINE_ESCAPED, lambda m: "\\" * (len(m[1]) // 2) + m[2], line)
    return line


def indent(text: str, by: int = 2) -> str:
    """The text with its second and later lines moved right, so that they stay inside a list item."""
    return text.replace("\n", "\n" + " " * by)
