"""The one scanner of Markdown: front matter, headings, code, comments, HTML and blocks, with the lines that they take.

It follows CommonMark with tables, in one pass over the lines, with one deliberate difference for every reader alike: a fence or
a comment that is never closed hides nothing. Somebody forgot to close it, and a belief or a note below it must neither
disappear from the mind nor from search.
"""

import re
from collections.abc import Callable, Sequence

from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.records import NamedTuple
from mabos_cli.formats.markdown.escape import TABLE_DELIMITER

# Quotes and list items within one another; what is nested deeper is text.
_DEEPEST = 64

# The id of a memory at the end of a line: what stands there is a copy of it.
BLOCK_ID = compiled(r"(?m)(?<= )\^(M-\d+-[0-9a-f]{4})[^\S\n]*$")
_KEY = compiled(r"[\w\"'][^:]*:(?:\s|$)")
# What a line may begin with that is no plain text, and lines in which something may begin or end.
_BEGINNINGS = frozenset("#`~<>=*_+-0123456789\ufeff")
_MARKED = compiled(r"\s*(?:[#`~<>=*_+-]|\d{1,9}[.)])|.*\|")
_PLAIN_ITEM = compiled(r"[-*+] (?:\*\*)?[^\W\d_]")
_QUOTE = compiled(r" {0,3}> ?")
_LIST_ITEM = compiled(r"( {0,3})([-+*]|\d{1,9}[.)])( +|$)")
_ATX = compiled(r" {0,3}(#{1,6})(?=[ \t]|$)")
_UNDERLINE = compiled(r" {0,3}(=+|-+)[ \t]*")
_RULE = compiled(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*")
_FENCE = compiled(r" {0,3}(?:(`{3,})[^`]*|(~{3,}).*)")
_CLOSING_MARKS = compiled(r"(?:^|[ \t])#+$")
_PIPE = compiled(r"(?<!\\)\|")
# HTML that a mark ends, and HTML that the next blank line ends: elements that stand as blocks, and any tag alone on its line.
_ENDED_HTML = (
    (compiled(r"<!--"), compiled("-->")),
    (compiled(r"(?i)<(?:script|pre|style|textarea)(?=[\s>]|$)"), compiled("(?i)</(?:script|pre|style|textarea)>")),
    (compiled(r"<\?"), compiled(r"\?>")),
    (compiled(r"<![A-Z]"), compiled(">")),
    (compiled(r"<!\[CDATA\["), compiled(r"\]\]>")),
)
_ELEMENT = compiled(
    r"(?i)</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    r"fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|"
    r"nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)"
    r"(?=\s|/?>|$)"
)
_TAG = compiled(
    r"(?:<[A-Za-z][A-Za-z0-9-]*(?:\s+[A-Za-z_:][\w:.-]*+(?:\s*=\s*(?:[^\"'=<>`\x00-\x20]++|'[^']*'|\"[^\"]*\"))?)*+\s*/?>"
    r"|</[A-Za-z][A-Za-z0-9-]*\s*>)\s*"
)


def count_head(lines: Sequence[str], is_sure: bool = False) -> int:
    """Returns how many lines the front matter takes. Two rules with prose between them are none, unless it is sure
    that there is some."""
    if lines[0].rstrip() != "---":
        return 0
    end = next((n for n in range(1, len(lines)) if lines[n].rstrip() in ("---", "...")), 0)
    written = (line for line in lines[1:end] if line.strip() and not line.startswith("#"))
    return end + 1 if end and (is_sure or _KEY.match(next(written, "empty:"))) else 0


def split_head(text: str, is_sure: bool = False) -> tuple[str, str]:
    """Returns the front matter of a file without its lines of dashes, and the rest. Line ends stay as they are.

    >>> split_head("---\\nname: a\\n---\\nText\\n"), split_head("---\\nJust a rule above.\\n---\\n")
    (('name: a\\n', 'Text\\n'), ('', '---\\nJust a rule above.\\n---\\n'))
    """
    lines = text.removeprefix("\ufeff").split("\n")
    count = count_head(lines, is_sure)
    if not count:
        return "", text
    return "".join(f"{line}\n" for line in lines[1 : count - 1]), "\n".join(lines[count:])


class Heading(NamedTuple):
    """A heading that is in no list or quote: its first line, its last, its level and its words."""

    first: int
    last: int
    level: int
    title: str


class Hidden(NamedTuple):
    """Lines that must not be looked into: what they are (fence, comment, html), and whether they are in no list or quote."""

    first: int
    last: int
    kind: str
    is_outer: bool


class Structure(NamedTuple):
    """The headings of a text, its hidden lines, and the lines of fences and comments that are never closed."""

    headings: list[Heading]
    hidden: list[Hidden]
    unclosed: set[int]

    @property
    def whole(self) -> dict[int, tuple[int, bool]]:
        """Returns what is one block whatever it looks like: by its first line the last one, and whether it stands alone."""
        found = {h.first: (h.last, h.is_outer) for h in self.hidden if h.kind == "fence" or h.is_outer}
        return found | {heading.first: (heading.last, True) for heading in self.headings}


def scan(lines: Sequence[str], first: int = 0) -> Structure:
    """Returns the structure of a text from a line on: behind the front matter, if it has any. Lines count from zero."""
    scanner = _Scanner(lines)
    number, count = first, len(lines)
    while number < count:
        number = scanner.skip_text(number, count) or scanner.read(number)
    return Structure(scanner.headings, scanner.hidden, scanner.unclosed)


def find_headings(lines: Sequence[str]) -> list[Heading]:
    """Returns the headings of level 1 and 2, which part a file into sections; front matter has none."""
    head = count_head([lines[0].removeprefix("\ufeff"), *lines[1:]])
    return [heading for heading in scan(lines, head).headings if heading.level < 3]


def hidden_lines(lines: Sequence[str]) -> set[int]:
    """Returns the lines of fenced code and comments that begin on a line of their own."""
    if not any("```" in line or "~~~" in line or "<!--" in line for line in lines):
        return set()
    found = (h for h in scan(lines).hidden if h.kind != "html" and lines[h.first].lstrip(" \t\ufeff")[:1] in "`~<")
    return {number for hidden in found for number in range(hidden.first, hidden.last + 1)}


class _Scanner:
    """Where the reader is: the quotes (-1) and list items (the width of their indentation) that are open, and in which leaf."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.headings: list[Heading] = []
        self.hidden: list[Hidden] = []
        self.unclosed: set[int] = set()
        self._lines = [line.rstrip("\r") for line in lines] if any("\r" in line for line in lines) else lines
        self._open: list[int] = []
        self._paragraph: int | None = None  # its first line
        self._in_table = False
        self._empty_item = -1  # the line of an item that has nothing behind its mark
        self._shortest: dict[
            tuple[object, ...], int
        ] = {}  # mark that nothing closes, by what it is and in which container
        self._opened = 0  # how many containers were opened, to tell one from another
        self._serials: list[int] = []

    def skip_text(self, number: int, count: int) -> int:
        """Returns the number of the line behind blank lines, prose, headings and simple list items; zero if there are
        none here. Most lines are
        such, and need no closer look."""
        if self._in_table or self._empty_item == number - 1 or self._open not in ([], [2]):
            return 0
        start, lines = number, self._lines
        while number < count:
            line = lines[number]
            if not line:
                self._paragraph = None
            elif line[0] == "#" and (heading := _ATX.match(line)):
                self._leave(0)
                self._add_heading(number, line, heading)
            elif "|" in line:
                break
            elif _PLAIN_ITEM.match(line):
                self._leave(0)
                self._push(2)
                self._paragraph = number
            elif self._open and line[:2] == "  " and line[2:3].isalpha():
                self._paragraph = number if self._paragraph is None else self._paragraph
            elif line[0] in _BEGINNINGS or line[0].isspace():
                break
            elif self._paragraph is None:
                self._leave(0)
                self._paragraph = number
            number += 1
        return number if number > start else 0

    def read(self, number: int) -> int:
        """Reads a line, with what begins on it, and returns the number of the next one."""
        line = self._line(number)
        matched, rest = self._match(line)
        if not rest.strip():
            self._leave(matched - (self._empty_item == number - 1 and matched == len(self._open) and matched > 0))
            return number + 1
        if self._goes_on(number, rest, matched):
            return number + 1
        self._leave(matched)
        while (inner := self._enter(rest)) is not None:
            rest = inner
        if not rest.strip():
            self._empty_item = number
            return number + 1
        return self._read_leaf(number, rest)

    def _line(self, number: int) -> str:
        line = self._lines[number] if number else self._lines[0].removeprefix("\ufeff")
        return line.expandtabs(4) if "\t" in line else line

    def _match(self, line: str, depth: int | None = None) -> tuple[int, str]:
        """Returns how many of the open containers a line is in, and what is left of it."""
        matched = 0
        for width in self._open[:depth]:
            if width < 0:
                quote = _QUOTE.match(line)
                if not quote:
                    break
                line = line[quote.end() :]
            elif line.strip():
                if not line.startswith(" " * width):
                    break
                line = line[width:]
            matched += 1
        return matched, line

    def _leave(self, depth: int) -> None:
        """Closes the containers below a depth, and whatever leaf is open."""
        del self._open[depth:], self._serials[depth:]
        self._paragraph, self._in_table = None, False

    def _goes_on(self, number: int, rest: str, matched: int) -> bool:
        """Returns whether a line continues a paragraph or a table; an underline ends the paragraph as a heading."""
        inside = matched == len(self._open)
        if self._in_table:
            return inside and not rest.startswith("    ") and not self._begins(number, rest, matched)
        if self._paragraph is None:
            return False
        if rest.startswith("    "):
            return True
        underline = _UNDERLINE.fullmatch(rest) if inside else None
        if underline:
            self._end_with_underline(number, underline[1][0])
            return True
        return not self._begins(number, rest, matched) and not (inside and self._begins_table(number, rest))

    def _end_with_underline(self, number: int, mark: str) -> None:
        first, self._paragraph = self._paragraph, None
        assert first is not None
        above = self._lines[first:number]
        # A rule that a person drew right below an entry does not make a heading of its last line.
        if not self._open and not any(map(BLOCK_ID.search, above)):
            title = " ".join(part.strip() for part in above)
            self.headings.append(Heading(first, number, 1 if mark == "=" else 2, title))

    def _begins(self, number: int, rest: str, depth: int) -> bool:
        """Returns whether a line begins a block that interrupts a paragraph."""
        if not _MARKED.match(rest):
            return False
        if _QUOTE.match(rest) or _RULE.fullmatch(rest) or _ATX.match(rest):
            return True
        item = _LIST_ITEM.match(rest)
        if item:
            is_free = depth < len(self._open) or self._paragraph is None
            return is_free or bool(rest[item.end() :].strip() and (not item[2][0].isdigit() or int(item[2][:-1]) == 1))
        return self._find_hidden(number, rest, depth, interrupts=True) is not None

    def _enter(self, rest: str) -> str | None:
        """Opens the quote or list item that begins here and returns what is left of the line; None when none does."""
        if len(self._open) >= _DEEPEST or rest.startswith("    ") or not _MARKED.match(rest):
            return None
        quote = _QUOTE.match(rest)
        item = None if quote or _RULE.fullmatch(rest) else _LIST_ITEM.match(rest)
        if quote:
            width, end = -1, quote.end()
        elif item:
            blanks = len(item[3]) if rest[item.end() :].strip() else 1
            width = end = len(item[1]) + len(item[2]) + (blanks if blanks < 5 else 1)
        else:
            return None
        self._push(width)
        return rest[end:]

    def _push(self, width: int) -> None:
        self._opened += 1
        self._open.append(width)
        self._serials.append(self._opened)

    def _read_leaf(self, number: int, rest: str) -> int:
        """Reads the heading, code, HTML, table or paragraph that begins on a line, and returns the number of the next line."""
        if rest.startswith("    ") or _RULE.fullmatch(rest):
            return number + 1
        heading = _ATX.match(rest)
        if heading:
            if not self._open:
                self._add_heading(number, rest, heading)
            return number + 1
        hidden = self._find_hidden(number, rest, len(self._open))
        if hidden:
            self.hidden.append(hidden)
            return hidden.last + 1
        if self._begins_table(number, rest):
            self._in_table = True
            return number + 2
        self._paragraph = number
        return number + 1

    def _add_heading(self, number: int, line: str, heading: re.Match[str]) -> None:
        title = _CLOSING_MARKS.sub("", line[heading.end() :].strip()).strip()
        self.headings.append(Heading(number, number, len(heading[1]), title))
        self._paragraph = None

    def _begins_table(self, number: int, rest: str) -> bool:
        if "|" not in rest or number + 1 >= len(self._lines):
            return False
        matched, row = self._match(self._line(number + 1))
        bare = row.strip()
        if matched < len(self._open) or row.startswith("    ") or len(bare) < 2 or bare[:2] in ("- ", "-\t"):
            return False
        if not TABLE_DELIMITER.fullmatch(row):
            return False
        return _count_cells(rest) == _count_cells(row)

    def _find_hidden(self, number: int, rest: str, depth: int, interrupts: bool = False) -> Hidden | None:
        """Returns the fenced code or HTML that begins on a line, if it is closed."""
        fence = _FENCE.fullmatch(rest)
        if fence:
            mark = fence[1] or fence[2]
            closing = re.compile(rf" {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$")
            return self._find_end(Hidden(number, number, "fence", not depth), mark, closing.match, depth)
        bare = rest.lstrip(" ")
        if bare[:1] != "<" or len(rest) - len(bare) > 3:
            return None
        for opening, closing in _ENDED_HTML:
            if opening.match(bare):
                kind = "comment" if bare.startswith("<!--") else "html"
                found = Hidden(number, number, kind, not depth)
                if closing.search(bare):
                    return found
                # Browsers and Obsidian hide a comment to its end, even where that is behind the list that it begins in.
                return self._find_end(found, closing.pattern, closing.search, 0 if kind == "comment" else depth)
        if not _ELEMENT.match(bare) and (interrupts or not _TAG.fullmatch(bare)):
            return None
        last = number
        while last + 1 < len(self._lines) and (self._rest_in(last + 1, depth) or "").strip():
            last += 1
        return Hidden(number, last, "html", not depth)

    def _rest_in(self, number: int, depth: int) -> str | None:
        """Returns what is left of a line behind the marks of the outer containers; None when it is not in them."""
        matched, rest = self._match(self._line(number), depth)
        return rest if matched == depth else None

    def _find_end(self, begun: Hidden, mark: str, closes: Callable[[str], object], depth: int) -> Hidden | None:
        """Returns what begins here up to the line that closes it, in the container that it is in. A mark that is not
        closed is remembered:
        those behind it that are as long are not, either."""
        key = (mark[0] if begun.kind == "fence" else mark, *self._serials[depth - 1 : depth])
        if len(mark) < self._shortest.get(key, 1 << 30):
            for number in range(begun.first + 1, len(self._lines)):
                rest = self._rest_in(number, depth)
                if rest is None:
                    break
                if closes(rest):
                    return begun._replace(last=number)
            self._shortest[key] = len(mark)
        self.unclosed.add(begun.first)
        return None


def _count_cells(row: str) -> int:
    cells = _PIPE.split(row.strip())
    return len(cells) - (not cells[0].strip()) - (len(cells) > 1 and not cells[-1].strip())
