"""Shows results on a terminal: tables, trees and wrapped lines with short ids, relative times and colours; the only importer of
rich. Content is never markup, and control characters are shown as symbols."""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from io import StringIO
from typing import Any

from rich.console import Console, ConsoleOptions, ConsoleRenderable, Group, RenderResult
from rich.text import Text
from rich.tree import Tree

from mabos_cli.core.language.clock import find_time
from mabos_cli.core.language.text import one_line, plural, visible

# Colours with a contrast of at least 3.8 to white and to black.
STYLES = {
    "id": "color(31)",
    "kind": "color(97)",
    "good": "color(28)",
    "bad": "color(161)",
    "warn": "color(130)",
    "faint": "color(243)",
    "head": "bold",
}
# Words for states, coloured where they stand apart in a line.
_STATES = {
    "bad": "FAILED conflict conflicts problem CANNOT_PROVE error",
    "warn": "untrusted stale stalled expired overdue flaw behind missing POTENTIALLY_DERIVABLE unknown edited",
    "good": "healthy trusted fresh current achieved done worked PROVEN yes",
    "faint": "archived superseded consolidated merged forgotten dropped disabled note",
}
_SIGNS = {"+": "good", "~": "warn", "-": "bad"}
_STATE = {word: style for style, words in _STATES.items() for word in words.split()} | _SIGNS
_MARKS = re.compile(
    r"(?P<id>\b[MFOT]-\d{9,16}-[0-9a-f]{4}\b|\bF-inf-[0-9a-f]{6,}\b)"
    r"|(?P<time>\b\d{4}-\d\d-\d\dT[\d:.]+Z)"
    r"|(?P<name>\b[A-Z]-\d{3}(?:-[a-z]{3})?\b)"
    r"|(?P<place>\b[\w/.-]+\.(?:md|jsonl?|yaml)(?::\d+(?:-\d+)?)?)"
    r"|(?P<sign>^[+~-](?= \w))"
    r"|(?P<command>\bmabos [a-z][^;,)]*)"
    r"|(?:(?<=[\[(])|^|(?<=: )|(?<=  )|(?<= is (?=healthy$))|(?<=-\d{3} )|(?<=\d\.\d\d (?=untrusted )))(?P<state>\w+)(?=[\]):,;]|$|  |(?<=untrusted) )"
)
_ROW = re.compile(r"(\S.*?\s{2,})(\S.*)")
_NARROW = 60  # columns below which lines are easier to read than tables
_SPANS = ((60, "s"), (60, "min"), (24, "h"), (7, "day"), (4.35, "week"), (12, "month"), (1e9, "year"))


def join(*texts: Text) -> Text:
    """Joins texts, each in its style."""
    return Text("", overflow="fold").join(texts)


class Screen:
    """Settings for showing results: the time that ages are counted from, and how ids are shortened."""

    def __init__(
        self, now: datetime, shorten: Callable[[str], str], is_whole: bool = False, is_exact: bool = False
    ) -> None:
        self.now = now
        self.shorten = shorten
        self.is_whole = is_whole  # contents are not cut
        self.is_exact = is_exact  # full ids and times, as `get` shows them

    def age(self, at: str) -> str:
        """Returns how long ago a time was, or how far ahead it is; other texts unchanged."""
        moment = find_time(at)
        if moment is None:
            return one_line(at)
        size: float = (self.now - moment).total_seconds()
        is_ahead, size = size < 0, abs(size)
        spans = iter(_SPANS)
        count, unit = next(spans)
        while size >= count:
            size, (count, unit) = size / count, next(spans)
        if unit == "s":
            return "now"
        span = f"{size:.0f} {unit}" if len(unit) < 3 or unit == "min" else plural(round(size), unit)
        return f"in {span}" if is_ahead else f"{span} ago"

    def text(self, content: object, style: str = "") -> Text:
        """Returns a text in one style, safe to show."""
        return Text(visible(str(content)), style=STYLES.get(style, style), overflow="fold")

    def id(self, name: str) -> Text:
        """Returns an id in short."""
        return self.line(name, "id")

    def line(self, content: str, style: str = "") -> Text:
        """Returns a line with colours, short ids, and times as ages."""
        content = visible(content)
        found, at = Text(style=STYLES.get(style, style), overflow="fold"), 0
        for match in _MARKS.finditer(content):
            found.append(content[at : match.start()])
            kind = match.lastgroup or ""
            style = _STATE.get(match[0], "") if kind in ("state", "sign") else _MARKED.get(kind, kind)
            found.append(self._mark(kind, match[0]), STYLES.get(style))
            at = match.end()
        found.append(content[at:])
        return found

    def _mark(self, kind: str, text: str) -> str:
        if kind == "id" and not self.is_exact:
            return self.shorten(text)
        if kind == "time":
            return f"{text[:16].replace('T', ' ')}Z ({self.age(text)})" if self.is_exact else self.age(text)
        return text


_MARKED = {"name": "id", "time": "faint", "place": "faint", "command": "head"}


class Hanging:
    """Shows a text with a hanging indent: further lines start below the text after the head."""

    def __init__(self, text: Text, indent: int = 2) -> None:
        self.text = text
        self.indent = indent

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.text.cell_len <= options.max_width or "\n" in self.text.plain:
            yield self.text
            return
        head, rest = self.text.divide([self.indent])
        for number, line in enumerate(rest.wrap(console, options.max_width - self.indent)):
            yield join(Text(" " * self.indent) if number else head, line)


def wrap_lines(screen: Screen, lines: Iterable[str]) -> Iterator[ConsoleRenderable]:
    """Yields lines for display: indented lines become a tree, names and values columns."""
    tree: list[tuple[int, Tree]] = []
    for line in lines:
        depth = len(line) - len(line.lstrip(" "))
        if depth and tree:
            while tree[-1][0] >= depth:
                tree.pop()
            tree.append((depth, tree[-1][1].add(_row(screen, line.strip()))))
            continue
        if tree:
            yield tree[0][1] if tree[0][1].children else tree[0][1].label  # type: ignore[misc]
        tree = [(0, Tree(_row(screen, line.strip() if depth else line), guide_style=STYLES["faint"]))]
    if tree:
        yield tree[0][1] if tree[0][1].children else tree[0][1].label  # type: ignore[misc]


def _row(screen: Screen, line: str) -> Hanging:
    """Returns a line with a hanging indent below its value, if it has a name and a value."""
    match = _ROW.fullmatch(line)
    if match is None or "\n" in line or len(match[1]) > 30:
        return Hanging(screen.line(line))
    return Hanging(join(screen.line(match[1], "faint"), screen.line(match[2])), len(match[1]))


def make_table(heads: Sequence[str], rows: Iterable[Sequence[Text]], *, free: Sequence[str] = ()) -> ConsoleRenderable:
    """Returns a table that fits the width: columns in `free` wrap at words, the others only if they must."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=STYLES["faint"])
    for head in heads:
        is_number = head in ("importance", "certainty", "score", "uses", "sure")
        side: Any = "right" if is_number else "left"
        table.add_column(head, no_wrap=head not in free, justify=side, min_width=len(head))
    for row in rows:
        table.add_row(*row)
    return table


def show(name: str, data: Mapping[str, Any], lines: Iterable[str], screen: Screen, has_pager: bool) -> None:
    """Shows a result with its view, or its lines; in a pager if it is longer than the screen."""
    from mabos_cli.terminal import views

    if name in views.VERBATIM:
        return put("".join(visible(line) + "\n" for line in lines), has_pager=has_pager)
    view = views.VIEWS.get(name)
    parts = view(screen, data, lines) if view and screen_size()[0] >= _NARROW else None
    put(render(Group(*(wrap_lines(screen, lines) if parts is None else parts))), has_pager=has_pager)


def render(shown: ConsoleRenderable) -> str:
    """Returns what is shown as text with the colours that this terminal has, as wide as it is."""
    out = StringIO()
    console = Console(
        file=out, force_terminal=True, width=max(20, screen_size()[0]), highlight=False, markup=False, emoji=False
    )
    console.print(shown)
    return "".join(f"{_trimmed(line)}\n" for line in out.getvalue().removesuffix("\n").split("\n"))


def _trimmed(line: str) -> str:
    """Returns a line without blanks at its end, coloured or not."""
    end = re.search(r"(?:\x1b\[[\d;]*m| )*$", line)
    return line[: end.start()] + ("\x1b[0m" if "\x1b" in end[0] else "") if end else line


def put(text: str, *, has_pager: bool) -> None:
    """Writes a text, by a pager if it has more lines than the screen: MABOS_PAGER, PAGER or less."""
    from mabos_cli.terminal.emit import write

    pager = next((os.environ[name] for name in ("MABOS_PAGER", "PAGER") if name in os.environ), "less")
    if text.count("\n") < screen_size()[1] or not has_pager or not _page(text, pager):
        write(sys.stdout, text)


def _page(text: str, pager: str) -> bool:
    """Hands a text to a pager; returns whether there is one."""
    import shlex
    import signal
    import subprocess
    from shutil import which

    words = shlex.split(pager)
    if words[:1] in ([], ["cat"]) or not which(words[0]):
        return False
    environment = {"LESS": "FRX", "LV": "-c"} | os.environ
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the pager's
    try:
        subprocess.run(pager, shell=True, input=text.encode("utf-8", "backslashreplace"), env=environment, check=False)
    finally:
        signal.signal(signal.SIGINT, before)
    return True


def screen_size() -> tuple[int, int]:
    """Returns the columns and lines of the terminal; COLUMNS and LINES say otherwise."""
    found: Sequence[int] = (80, 24)
    with suppress(OSError):
        found = os.get_terminal_size(sys.stdout.fileno())
    given = (os.environ.get("COLUMNS", ""), os.environ.get("LINES", ""))
    columns, lines = (int(text) if text.isdecimal() else size for text, size in zip(given, found, strict=True))
    return columns or 80, lines or 24
