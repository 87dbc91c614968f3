"""memory/INDEX.md, the memory index as an agent reads it; and the digests that it is made from, as they are cached."""

import json
from collections.abc import Iterable
from functools import cache, lru_cache, partial
from typing import NamedTuple
from zlib import crc32

from mabos_cli.core.context.memory_index import Digest, Domain, Headline, Lines, MemoryIndex, Part, Share
from mabos_cli.core.language.text import plural
from mabos_cli.formats.context.domain_md import render_until
from mabos_cli.formats.markdown.escape import inline
from mabos_cli.formats.markdown.seal import seal

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
