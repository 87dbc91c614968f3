"""The daily log: `# 2026-02-24 — Agent Log`, then one `## <type> (HH:MM UTC)` entry per memory, ended by its block id.

People and other agents write between the entries: headings, list items, paragraphs. All of it is read as events.
Entries are written by formats/memory/derived_md.py: a store loads nothing of what reads them.
"""

import re
from collections.abc import Collection, Iterator

from mabos_cli.core.hierarchy import log_event
from mabos_cli.core.records import NamedTuple
from mabos_cli.formats.markdown import escape
from mabos_cli.formats.markdown.scan import count_head, hidden_lines, scan

_HEADING = r"## (\S+) \((\d\d:\d\d) UTC\)"
# The end of an entry: `[tags] (source) 0.80 ^id`, or `0.80 untrusted ^id`. Those of earlier versions and other tools do not say
# how important they are.
_TRAILER_END = re.compile(r"\)(?: ([01]\.\d\d)( untrusted)?)? \^(\S+)$")
_TITLE = re.compile(r"(#{1,6})[ \t]+(.*)")
_TIMED = re.compile(r"(\d{1,2}:\d\d)(?: UTC)?\s*[-–—:]?\s+(.*)")
_ITEM = re.compile(rf"\s*{escape.BULLET}\s+(?:\[[ xX]\]\s+)?(.*)")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_IMPORTANCE = re.compile(r"\bimportance:\s*(\d+(?:\.\d+)?)")
_TAG = re.compile(r"(?<!\S)#([^\W\d_][\w/-]*)")
_BLOCK_ID = re.compile(r"\s\^([A-Za-z0-9-]+)\s*$")


class LogEntry(NamedTuple):
    """One entry as it stands in a log, with the lines of its heading and its end."""

    line: int
    type: str
    time: str
    content: str
    tags: tuple[str, ...]
    source: str
    id: str
    importance: float | None = None
    last: int = 0
    untrusted: bool = False


def parse_log(text: str) -> list[LogEntry]:
    """Returns the entries of a log that carry a block id; what people wrote between them is left alone."""
    return list(_entries(_lines(text)))


def _lines(text: str) -> list[str]:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")


class _Trailer(NamedTuple):
    tags: str
    source: str
    importance: str
    untrusted: bool
    id: str


def _trailer(line: str) -> _Trailer | None:
    """Parses the last line of an entry, from its end, because tags and sources may hold anything."""
    end = _TRAILER_END.search(line) if "^" in line else None
    if end is None:
        return None
    before, rest = line[: end.start()], (end[1] or "", bool(end[2]), end[3])
    if before.startswith("(") and "] (" not in before:
        return _Trailer("", before[1:], *rest)
    tags, found, source = before.rpartition("] (")
    if found and tags.startswith("["):
        return _Trailer(tags[1:], source, *rest)
    return _Trailer("", before[1:], *rest) if before.startswith("(") else None


def _entries(lines: list[str]) -> Iterator[LogEntry]:
    starts = [n for n, line in enumerate(lines) if line.startswith("## ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        heading = re.fullmatch(_HEADING, lines[start])
        if not heading:
            continue
        trailers = [(n, found) for n in range(start + 1, end) if (found := _trailer(lines[n]))]
        # Content cannot end like a trailer, but a remark below the entry can: ids of ours come first.
        ours = [pair for pair in trailers if pair[1].id.startswith("M-")] or trailers[-1:]
        if ours:
            yield _entry(lines, start, *ours[0], heading)


def _entry(lines: list[str], start: int, end: int, trailer: _Trailer, heading: re.Match[str]) -> LogEntry:
    body = lines[start + 1 : end]
    body = body[1:] if body and not body[0] else body
    body = body[:-1] if body and not body[-1] else body
    return LogEntry(
        start + 1,
        heading[1],
        heading[2],
        escape.unescape_block("\n".join(body)),
        tuple(escape.unescape_block(trailer.tags).split(", ")) if trailer.tags else (),
        escape.unescape_block(trailer.source),
        trailer.id,
        min(1.0, float(trailer.importance)) if trailer.importance else None,
        end + 1,
        trailer.untrusted,
    )


def parse_events(text: str, day: str) -> list[log_event.LogEvent]:
    """Returns the events of a log, in order: its entries, and each list item and paragraph between them."""
    lines = _lines(text)
    events: list[log_event.LogEvent] = []
    done = count_head(lines)
    for entry in _entries(lines):
        if entry.line <= done:
            continue
        events += log_event.join_events(_notes(lines[: entry.line - 1], done, day))
        fields = (entry.content, entry.type, "", entry.time, entry.tags, entry.source, entry.id)
        events.append(log_event.LogEvent(day, entry.line, *fields, entry.importance, untrusted=entry.untrusted))
        done = entry.last
    return [*events, *log_event.join_events(_notes(lines, done, day))]


def _notes(lines: list[str], first: int, day: str) -> Iterator[log_event.LogEvent]:
    """Yields the events of lines that people wrote: each list item, each paragraph, under the heading above it. Code and comments of
    more than a line are skipped."""
    heading, time, start = "", "", 0
    block: list[str] = []
    hidden = _hidden_notes(lines, first)

    def flush() -> Iterator[log_event.LogEvent]:
        event = _note(" ".join(block), day, start + 1, heading, time) if block else None
        block.clear()
        if event:
            yield event

    for number in range(first, len(lines)):
        line = lines[number].rstrip("\r")
        title, item, is_out = _TITLE.match(line), _ITEM.fullmatch(line), number in hidden or _FENCE.match(line)
        if is_out or title or item or not line.strip():
            yield from flush()
        if is_out:
            continue
        if title:
            heading, time = _titled(title) if len(title[1]) > 1 else ("", "")
        elif line.strip() and set(line.strip()) - set("-*_= |:"):
            if not block:
                start = number
            block.append((item[1] if item else line).strip().lstrip("> "))
    yield from flush()


def _hidden_notes(lines: list[str], first: int) -> set[int]:
    """Returns the lines of code, of comments that take more than one line, and between lines of %%, which are
    comments in Obsidian."""
    found = (h for h in scan(lines, first).hidden if h.kind == "fence" or (h.kind == "comment" and h.first < h.last))
    hidden = {number for each in found for number in range(each.first, each.last + 1)}
    marks = [n for n in range(first, len(lines)) if n not in hidden and lines[n].strip() == "%%"]
    for start, end in zip(marks[::2], marks[1::2], strict=False):
        hidden.update(range(start, end + 1))
    return hidden


def _titled(title: re.Match[str]) -> tuple[str, str]:
    text = title[2].rstrip(" \t#")
    timed = _TIMED.fullmatch(text)
    return (escape.unescape_block(timed[2]), timed[1]) if timed else (escape.unescape_block(text), "")


def _split_comments(text: str) -> tuple[str, str]:
    """Returns a text without its comments, and those."""
    plain, comments, start = [], [], 0
    while (opening := text.find("<!--", start)) >= 0 and (closing := text.find("-->", opening)) >= 0:
        plain.append(text[start:opening])
        comments.append(text[opening + 4 : closing])
        start = closing + 3
    return "".join([*plain, text[start:]]).strip(), " ".join(comments)


def _note(text: str, day: str, line: int, heading: str, time: str) -> log_event.LogEvent | None:
    """Returns the event of one block of notes; None when it holds only comments."""
    named = _BLOCK_ID.search(text)
    plain, comments = _split_comments(_BLOCK_ID.sub("", text))
    number = next(iter(_IMPORTANCE.findall(comments)), None)
    if not any(c.isalnum() for c in plain) or log_event.is_about_itself(plain):
        return None
    graded = log_event.split_kind(escape.unescape_block(plain))[2]
    if number is not None:  # other tools count to ten
        graded = min(1.0, float(number) / (10 if float(number) > 1 else 1))
    tags = tuple(dict.fromkeys(_TAG.findall(plain)))
    details = (heading, time, tags, "", named[1] if named else "", graded)
    event = log_event.LogEvent(
        day, line, escape.unescape_block(plain), "note", *details, untrusted=log_event.is_marked_untrusted(plain)
    )
    event = log_event.name_heading(event)
    kind = log_event.kind_of_title(heading) if event.kind == "note" and not time else ""
    return event._replace(kind=kind) if kind else event


_LINK = r"((?<!\\)\]\(<?|^ {{0,3}}\[[^\]]+\]:[ \t]*<?)(\./)?{}(?:archive/\d{{4}}/)?(\d{{4}}-\d\d-\d\d)\.md(?=[)#>\s]|$)"


def relink_logs(text: str, archived: Collection[str], to_memory: str, active: Collection[str] = ()) -> tuple[str, int]:
    """Returns the text with links to archived days leading there, those to active ones to memory/, and how many were changed.

    to_memory is the way to the folder of logs from where the text stands: `memory/` or `../`. A file that is as we
    generated it stays so; one that somebody edited stays recognizable as edited.
    """
    if text and escape.is_as_generated(text):
        new, count = _relink(escape.unsealed(text), archived, to_memory, active)
        return (escape.seal(new), count) if count else (text, 0)
    return _relink(text, archived, to_memory, active)


def _relink(text: str, archived: Collection[str], to_memory: str, active: Collection[str]) -> tuple[str, int]:
    if f"{to_memory}" not in text:
        return text, 0
    link = re.compile(_LINK.format(re.escape(to_memory)))
    count = 0

    def moved(match: re.Match[str]) -> str:
        nonlocal count
        day = match[3]
        if day not in archived and day not in active:
            return match[0]
        folder = f"archive/{day[:4]}/" if day in archived else ""
        new = f"{match[1]}{match[2] or ''}{to_memory}{folder}{day}.md"
        count += new != match[0]
        return new

    lines = text.split("\n")
    hidden = hidden_lines(lines)
    new = [line if number in hidden else link.sub(moved, line) for number, line in enumerate(lines)]
    return "\n".join(new), count
