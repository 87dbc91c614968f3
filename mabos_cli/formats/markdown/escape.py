"""Text that we write into Markdown: content that looks like structure is escaped, so that a later read sees only our structure, and
what is derived ends with a seal, which tells whether anybody changed it since."""

import re
from zlib import crc32

from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.language.text import one_line, visible

# What begins an item of a list, without the blank behind it.
BULLET = r"(?:[-+*]|\d{1,9}[.)])"
# What may start a block. A backslash counts, so that unescaping is exact.
_STARTS = (
    r"[#`~>|<\\$^%]"  # headings, fences, quotes, tables, HTML, comments, math, block ids
    rf"|{BULLET}(?:\s|$)"  # list items
    r"|([-*_=])(?:\s*\1)*\s*$"  # rules, setext underlines, front matter
    r"|[-:](?=[-:\s]*\|)[-:|\s]*$"  # the row that makes a table
    r"|\[[^\]]*\]:|:\s"  # link targets, footnotes, definitions
)
# The row that makes a table, with one column or more. Blanks are never tried twice: a long run of them costs its length.
TABLE_DELIMITER = compiled(r"\s*+(?:\|\s*+)?+:?-++:?\s*+(?:\|\s*+:?-++:?\s*+)*+\|?\s*+")
# What may hide or end things anywhere in a line: comments of HTML and Obsidian, block ids. Backslashes before a mark are
# doubled and one is added, so that the text reads the same and the way back is exact.
_MARK = r"<!--|-->|\^(?=M-|[\w-]+\s*$)"
_RUN = r"\\*%(?:\\*%)+"
# A run of backslashes is looked at from its start only, or a long one would cost the square of its length.
_HIDING = rf"(?<!\\)(?:(\\*)({_MARK})|({_RUN}))"
_HIDDEN = rf"(?<!\\)(?:(\\*)\\({_MARK})|(\\+%(?:\\+%)+))"


def escape_block(text: str) -> str:
    """Content as Markdown paragraphs that render as the text they are.

    >>> escape_block("note\\n## Fake ^M-1-aaaa")
    'note\\n\\\\## Fake \\\\^M-1-aaaa'
    """
    plain = text if text.isprintable() else visible(text.replace("\r\n", "\n").replace("\r", "\n"))
    if "\n" not in plain:
        return _escape_line(plain)
    return "\n".join(_escape_line(line) for line in plain.split("\n"))


def inline(text: str, width: int = 0) -> str:
    """Content on one line that renders as the text it is, cut at a width if one is given."""
    return text if text.isalnum() and not width else _escape_line(one_line(text, width))


def escape_behind(text: str) -> str:
    """Content behind other words on a line, where it cannot start a block: a letter in front of it keeps the escaping honest."""
    return escape_block(f"x{text}")[1:]


def unescape_block(text: str) -> str:
    """Returns the text that escape_block was given (line endings and control characters as they were drawn)."""
    return "\n".join(_unescape_line(line) for line in text.split("\n"))


def _escape_line(line: str) -> str:
    body = line.lstrip()
    if body and not body[0].isalpha() and compiled(_STARTS).match(body) and not compiled(_HIDING).match(body):
        line = f"{line[: len(line) - len(body)]}\\{body}"
    if "<!--" in line or "-->" in line or "%" in line or "^" in line:
        line = compiled(_HIDING).sub(_hide, line)
    return line


def _hide(match: re.Match[str]) -> str:
    if match[3]:
        return compiled(r"(\\*)%").sub(lambda m: m[1] * 2 + r"\%", match[3])
    return match[1] * 2 + "\\" + match[2]


def _unescape_line(line: str) -> str:
    if "\\" not in line:
        return line
    body = line.lstrip()
    if body[0] == "\\" and len(body) > 1 and not compiled(_HIDDEN).match(body) and compiled(_STARTS).match(body[1:]):
        line = line[: len(line) - len(body)] + body[1:]
    return compiled(_HIDDEN).sub(_reveal, line)


def _reveal(match: re.Match[str]) -> str:
    if match[3]:
        return compiled(r"(\\*)\\%").sub(lambda m: "\\" * (len(m[1]) // 2) + "%", match[3])
    return "\\" * (len(match[1]) // 2) + match[2]


def escape_links(text: str) -> str:
    """Escaped text in which brackets make no link: one that is copied to another folder would lead nowhere.

    >>> escape_links("see [notes](notes.md)")
    'see \\\\[notes\\\\](notes.md)'
    """
    return compiled(r"(?<!\\)([\[\]])").sub(r"\\\1", text)


def unescape_links(text: str) -> str:
    """Returns the text without the backslashes of escape_links."""
    return text.replace("\\[", "[").replace("\\]", "]")


def newline_of(text: str) -> str:
    """Returns what ends the lines of a file: what ends its first one, which is the file's own."""
    return "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"


def indent(text: str, by: int = 2) -> str:
    """Returns the text with its second and later lines moved right, so that they stay inside a list item."""
    return text.replace("\n", "\n" + " " * by)


_SEAL = "\n<!-- mabos generated {:08x} -->\n"
SEAL_SIZE = len(_SEAL.format(0))


def seal(text: str) -> str:
    """Returns the text with a last line that tells whether anybody changed it since."""
    return text + _SEAL.format(crc32(text.encode("utf-8", "surrogatepass")))


def unsealed(text: str) -> str:
    """Returns a sealed text without its last line."""
    return text[:-SEAL_SIZE]


def without_seal(text: str) -> str:
    """Returns a text without the seal at its end, if there is one, whether or not it still fits."""
    start = len(text) - SEAL_SIZE
    return text[:start] if start >= 0 and text.startswith(_SEAL[:20], start) else text


def is_as_generated(text: str) -> bool:
    """Returns whether a sealed text is still what was written; empty text is, text without a seal is not."""
    return is_untouched(text.encode("utf-8", "surrogatepass"))


def is_untouched(data: bytes) -> bool:
    """Returns whether the bytes of a sealed file are still what was written."""
    size = max(0, len(data) - SEAL_SIZE)
    return not data or data[size:] == _SEAL.format(crc32(memoryview(data)[:size])).encode()


def derived_title(kind: str, agent: str, name: str = "", state: str = "", more: str = "") -> str:
    """Returns the heading of a derived file and what it was made from: a state, and more about it.

    >>> print(derived_title("Facts", "main", "a7"))
    # MABOS Facts — main — a7
    <BLANKLINE>
    > Auto-materialized from facts.
    """
    made = f"Auto-materialized from {kind.lower()}{f' {state}' if state else ''}{f': {more}' if more else ''}."
    return f"# MABOS {kind} — {agent}{f' — {name}' if name else ''}\n\n> {made}"
