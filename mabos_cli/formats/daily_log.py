"""The daily log: `# 2026-02-24 — Agent Log`, then one `## <type> (HH:MM UTC)` entry per memory, ended by its block id."""

import re
from typing import NamedTuple

from mabos_cli.core.item import MemoryItem
from mabos_cli.core.text import one_line
from mabos_cli.formats.markdown import escape_block, unescape_block

_HEADING = r"## (\S+) \((\d\d:\d\d) UTC\)"
_TRAILER = r"(?:\[(?P<tags>.*)\] )?\((?P<source>.*)\) \^(?P<id>\S+)"


class LogEntry(NamedTuple):
    """One entry as it stands in a log, with the line of its heading."""

    line: int
    type: str
    time: str
    content: str
    tags: tuple[str, ...]
    source: str
    id: str


def render_log_header(day: str) -> str:
    """The first line of a day's log."""
    return f"# {day} — Agent Log\n"


def render_log_entry(item: MemoryItem) -> str:
    """The entry of an item, starting with a blank line."""
    tags = f"[{escape_block(one_line(', '.join(item.tags)))}] " if item.tags else ""
    return (
        f"\n## {one_line(item.type)} ({item.created_at[11:16]} UTC)\n\n{escape_block(item.content)}\n\n"
        f"{tags}({escape_block(one_line(item.source))}) ^{item.id}\n"
    )


def parse_log(text: str) -> list[LogEntry]:
    """The entries of a log that carry a block id; what people wrote between them is left alone."""
    lines = text.split("\n")
    starts = [n for n, line in enumerate(lines) if line.startswith("## ")]
    entries = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        heading = re.fullmatch(_HEADING, lines[start])
        trailers = [n for n in range(start + 1, end) if re.fullmatch(_TRAILER, lines[n])]
        if heading and trailers:
            entries.append(_entry(lines, start, trailers[-1], heading))
    return entries


def _entry(lines: list[str], start: int, end: int, heading: re.Match[str]) -> LogEntry:
    trailer = re.fullmatch(_TRAILER, lines[end])
    assert trailer is not None
    body = lines[start + 1 : end]
    body = body[1:] if body and not body[0] else body
    body = body[:-1] if body and not body[-1] else body
    tags = tuple(unescape_block(trailer["tags"]).split(", ")) if trailer["tags"] else ()
    return LogEntry(
        start + 1,
        heading[1],
        heading[2],
        unescape_block("\n".join(body)),
        tags,
        unescape_block(trailer["source"]),
        trailer["id"],
    )
