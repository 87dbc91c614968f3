"""memory/INDEX.md, the memory index as an agent reads it; and the digests that it is made from, as they are cached."""

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache, partial
from typing import NamedTuple
from zlib import crc32

from mabos_cli.core.context.memory_index import Digest, Domain, Headline, Lines, MemoryIndex, Part, Share
from mabos_cli.core.language.ids import day_of
from mabos_cli.core.language.text import plural
from mabos_cli.core.memory.item import MemoryItem, priority_of
from mabos_cli.formats.markdown.escape import escape_behind, indent, inline
from mabos_cli.formats.markdown.scan import split_head
from mabos_cli.formats.markdown.seal import is_as_generated, seal, unsealed

# Common types are a letter, which is explained; others are a word.
_MARKS = {"preference": "P", "instruction": "I", "fact": "F", "decision": "D", "lesson": "L"}
_VERSION = 2  # of the digests: another one means that all are made anew


def render_index(index: MemoryIndex) -> str:
    """INDEX.md with its front matter and seal."""
    out = index.left_out()
    sections = [
        (
            "Critical (always relevant)",
            [f"- [{_mark(line.type)}] {_text(line)}" for line in index.critical],
            [
                *_note(out["critical"], "more", "mabos recall --priority-min critical --limit 0"),
                *_note(out["untrusted"], "not shown, untrusted", "mabos trust --quarantine"),
            ],
        ),
        (
            "Active projects",
            [f"- {_text(line)}" for line in index.projects],
            _note(out["projects"], "more", "mabos recall --type project --limit 0"),
        ),
        ("Domains", [_domain(domain) for domain in index.domains], _note(out["domains"], "more", "mabos index status")),
    ]
    blocks = [_block(title, [*lines, *notes]) for title, lines, notes in sections if lines or notes]
    body = "".join(blocks) or "\nNothing is remembered for long yet.\n"
    return seal(
        f'---\nagent: "{index.agent}"\ntags: [mabos/index]\n{render_until(index.until)}---\n\n'
        f"# Memory index — {index.agent}\n\n> Derived from memory; edits here are set aside.{_legend(index)}\n"
        f"{body}{_block('Recall', _how(index.agent))}"
    )


def _block(title: str, lines: list[str]) -> str:
    return "\n".join(["", f"## {title}", "", *lines, ""])


def _how(agent: str) -> list[str]:
    return [
        "- `mabos recall WORDS` searches everything, `--type project` one kind; `mabos get ID` shows one item.",
        "- `mabos store TEXT --type preference --priority critical` puts a line here.",
        f"- Where there are several agents, add `--agent {agent}`.",
    ]


def _legend(index: MemoryIndex) -> str:
    used = {line.type for line in index.critical}
    told = [f"[{mark}] {name}" for name, mark in _MARKS.items() if name in used]
    return f" {', '.join(told)}." if told else ""


@cache
def _mark(name: str) -> str:
    return _MARKS.get(name) or inline(name)


@lru_cache(maxsize=1024)  # an index that is too long is rendered some ten times before it fits
def _text(line: Headline) -> str:
    return inline(line.text) if line.text else f"{line.size:,} characters: `mabos get {inline(line.id)}`"


def _note(count: int, what: str, command: str) -> list[str]:
    """A list item, for a line below a list would be part of the entry above it."""
    return [f"- {count} {what}: `{command}`"] if count else []


def _domain(domain: Domain) -> str:
    told = f"- {domain.name}: {plural(domain.items, 'item')}, {domain.tokens} tokens"
    if domain.pages:
        return f"{told} on {plural(domain.pages, 'page')}: `mabos recall WORDS --type {domain.type}`"
    return f"{told}: `mabos read memory/domains/{domain.name}.md`"


class KnownPart(NamedTuple):
    """A part of memory as the cache knows it: the key of what it was made from, its digest, and its lines in the file."""

    key: str
    part: Part
    text: bytes


def keep_part(name: str, key: str, digest: Digest, lines: Lines) -> KnownPart:
    """A part that the cache is to know: its digest on one line, what may be shown of it on another."""
    text = f"{json.dumps([name, key, digest])}\n{json.dumps(lines)}".encode()
    return KnownPart(key, Part(digest, lambda: lines), text)


def render_parts(parts: Iterable[KnownPart], room: int) -> bytes:
    """A cache file."""
    body = b"\n".join([f"{_VERSION} {room}".encode(), *(part.text for part in parts)])
    return b"%08x\n%s" % (crc32(body), body)


def parse_parts(data: bytes, room: int) -> dict[str, KnownPart]:
    """The parts in a cache file; none when it is not what was written, or was written for another room."""
    sum_of, _, body = data.partition(b"\n")
    head, *rows = body.split(b"\n")
    if sum_of != b"%08x" % crc32(body) or head != f"{_VERSION} {room}".encode():
        return {}
    pairs = zip(rows[::2], rows[1::2], strict=True)
    return dict(_parse_part(row, lines) for row, lines in pairs)


def _parse_part(row: bytes, lines: bytes) -> tuple[str, KnownPart]:
    name, key, fields = json.loads(row)
    digest = Digest(*fields)
    digest = digest._replace(
        domains={domain: Share(*share) for domain, share in digest.domains.items()},
        first_critical=tuple(digest.first_critical),
        first_project=tuple(digest.first_project),
    )
    return name, KnownPart(key, Part(digest, cache(partial(_parse_lines, lines))), b"%s\n%s" % (row, lines))


def _parse_lines(text: bytes) -> Lines:
    return Lines(*(tuple(Headline(*line) for line in kind) for kind in json.loads(text)))


_NOTE = "Edits here are set aside: change memory with `mabos update`."
_OPENING = "\n- **"  # what belongs to an entry is indented
_UNTIL = re.compile(r'(?m)^valid_until: "(.+)"$')


def render_domain(agent: str, name: str, entries: Sequence[str], until: str = "", page: str = "") -> str:
    """A domain as one file, or one page of it, of entries in their order."""
    told = f"{plural(len(entries), 'item')} of long-term memory, most important first."
    title = f"{name.capitalize()} — {agent}{f' — {page}' if page else ''}"
    return seal(
        f"{_head(agent, name, len(entries), until)}# {title}\n\n> Derived: {told} {_NOTE}\n\n" + "".join(entries)
    )


def render_domain_index(agent: str, name: str, pages: Iterable[tuple[str, int, int]], until: str = "") -> str:
    """The file that stands for the pages of a large domain, given with their items and tokens; the newest come first."""
    listed = sorted(pages, reverse=True)
    total = sum(items for _, items, _ in listed)
    told = f"{plural(total, 'item')} of long-term memory on {plural(len(listed), 'page')}, newest first."
    lines = "".join(
        f"- [{page}]({name}/{page}.md): {plural(items, 'item')}, {tokens} tokens\n" for page, items, tokens in listed
    )
    return seal(
        f"{_head(agent, name, total, until)}# {name.capitalize()} — {agent}\n\n> Derived: {told} {_NOTE}\n\n{lines}"
    )


def _head(agent: str, name: str, items: int, until: str) -> str:
    """Front matter: flat, so that Obsidian shows it."""
    return f'---\nagent: "{agent}"\nitems: {items}\ntags: [mabos/{name}]\n{render_until(until)}---\n\n'


def render_until(until: str) -> str:
    """The line of front matter that says when the first entry expires, if any does."""
    return f'valid_until: "{until}"\n' if until else ""


def has_lapsed(text: str, now: str) -> bool:
    """Whether a file is still as it was generated, and only time has passed since: it was valid until some moment before now."""
    found = _UNTIL.search(split_head(text)[0])
    return found is not None and found[1] <= now and is_as_generated(text)


def render_domain_entry(item: MemoryItem) -> str:
    """The list item of an item: what it says, what is known about it, and its block id at the end."""
    rank = f"- **{priority_of(item.importance)}** ({item.importance:.2f}, {inline(item.happened_at[:10]) or 'undated'}"
    rank += "): " if item.trust != "untrusted" else ", untrusted): "
    content = indent(escape_behind(item.content))
    tags = f" [{inline(', '.join(item.tags))}]" if item.tags else ""
    told = [f"context: {inline(item.context)}"] if item.context else []
    told += [f"related: {', '.join(map(_link, item.related_to))}"] if item.related_to else []
    told += [f"until {inline(item.expires_at[:10])}"] if item.expires_at else []
    about = f"\n  {'; '.join(told)}" if told else ""
    own = f" ^{item.id}" if re.fullmatch("[A-Za-z0-9-]+", item.id) else f" ({inline(item.id)})"
    return f"{rank}{content}{tags}{about}{own}\n"


def _link(item_id: str) -> str:
    """A link to the entry of an item in the log of the day that its id names; other tools' ids as they are."""
    day = day_of(item_id)
    return f"[[{day}#^{item_id}]]" if day else inline(item_id)


def split_domain(text: str) -> dict[str, str]:
    """The entries of a file that is still as it was generated, by block id; none of one that somebody edited."""
    if not text or not is_as_generated(text):
        return {}
    parts = unsealed(text).removesuffix("\n").split(_OPENING)[1:]
    return {part[part.rfind(" ^") + 2 :]: f"{_OPENING[1:]}{part}\n" for part in parts}
