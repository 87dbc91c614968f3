"""Derived Markdown of memory, sealed so that edits are noticed: INDEX.md as an agent reads it, domains and items; and the digests
that they are made from, as they are cached."""

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
from mabos_cli.formats.markdown.escape import (
    escape_behind,
    escape_block,
    indent,
    inline,
    is_as_generated,
    seal,
    unsealed,
)
from mabos_cli.formats.markdown.scan import split_head

# Common types are a letter, which is explained; others are a word.
_LETTERS = {"preference": "P", "instruction": "I", "fact": "F", "decision": "D", "lesson": "L"}
_NOTHING = "\nNothing is remembered for long yet.\n"
_VERSION = 3  # of the digests: another one means that all are made anew


def fit_index(whole: MemoryIndex, room: int) -> MemoryIndex:
    """Returns the index with as much as its text has room for: critical items first, then projects. Room for the domains is kept
    throughout; only an index too small for all of them offers fewer. Entries stand whole or not at all, the foremost first."""
    fitted = whole._replace(critical=(), projects=())
    for kind in ("domains", "critical", "projects"):
        entries = getattr(whole, kind)
        fits, over, count = 0, len(entries) + 1, len(entries)  # all are tried first, for usually they fit
        while over - fits > 1:
            if len(render_index(fitted._replace(**{kind: entries[:count]}))) <= room:
                fits = count
            else:
                over = count
            count = (fits + over) // 2
        fitted = fitted._replace(**{kind: entries[:fits]})
    return fitted


def render_index(index: MemoryIndex) -> str:
    """Returns INDEX.md with its front matter and seal."""
    out = index.left_out()
    critical = [f"- [{_letter(line.type)}] {_text(line)}" for line in index.critical]
    critical += _note(out["critical"], "more", "mabos recall --priority-min critical --limit 0")
    critical += _note(out["untrusted"], "not shown, untrusted", "mabos trust --quarantine")
    projects = [f"- {_text(line)}" for line in index.projects]
    projects += _note(out["projects"], "more", "mabos recall --type project --limit 0")
    domains = [*map(_domain, index.domains), *_note(out["domains"], "more", "mabos index status")]
    sections = {"Critical (always relevant)": critical, "Active projects": projects, "Domains": domains}
    body = "".join(_block(title, lines) for title, lines in sections.items() if lines)
    return seal(
        f'---\nagent: "{index.agent}"\ntags: [mabos/index]\n{render_until(index.until)}---\n\n'
        f"# Memory index — {index.agent}\n\n> Derived from memory; edits here are set aside.{_legend(index)}\n"
        f"{body or _NOTHING}{_block('Recall', _how(index.agent))}"
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
    told = [f"[{letter}] {name}" for name, letter in _LETTERS.items() if name in used]
    return f" {', '.join(told)}." if told else ""


@cache
def _letter(name: str) -> str:
    return _LETTERS.get(name) or inline(name)


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
    return KnownPart(key, Part.of(digest, lines), text)


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


def render_items(
    agent: str, entries: Iterable[str], counts: dict[str, int], pages: dict[str, int] | None = None
) -> str:
    """mabos-memory-items.md: the entries of every item, or of the recent stores with links to the monthly pages."""
    body = [
        f"# MABOS Memory Items — {agent}\n\n> Auto-materialized from memory-store.json. {counts['long_term']} long-term, "
        f"{counts['short_term']} short-term, {counts['working']} working items. {_NOTE}\n"
    ]
    if pages:
        body.append("\n## Pages\n\n")
        body += [
            f"- [{name}](mabos-memory-items/{name}.md): {plural(count, 'item')}\n"
            for name, count in sorted(pages.items())
        ]
    return seal("".join([*body, *entries]))


def split_entries(text: str) -> dict[tuple[str, str], str]:
    """The entries of a text that is still as it was generated, by store and id; none of one that somebody edited."""
    if not text or not is_as_generated(text):
        return {}
    found = {}
    for part in unsealed(text).split("\n## [")[1:]:
        start = part.find("- **ID:** ") + len("- **ID:** ")
        found[part[: part.index("]")], part[start : part.index("\n", start)]] = f"\n## [{part}"
    return found


def render_item_page(agent: str, name: str, entries: Iterable[str]) -> str:
    """A monthly page of entries of long-term items."""
    body = "".join(entries)
    return seal(f"# MABOS Memory Items — {agent} — {name}\n\n> Auto-materialized from memory-store. {_NOTE}\n{body}")


def render_entry(store: str, item: MemoryItem) -> str:
    """The section of one item."""
    free = (
        ("Source", item.source),
        ("Trust", item.trust if item.trust != "agent" else ""),
        ("Author", item.author),
        ("Session", item.session),
        ("Tags", ", ".join(item.tags)),
        ("Derived from", ", ".join(item.derived_from)),
        ("Related to", ", ".join(item.related_to)),
        ("Context", item.context),
        ("Created", item.created_at),
        ("Observed", item.observed_at),
        ("Expires", item.expires_at),
    )
    bullets = "".join([f"- **{name}:** {inline(value)}\n" for name, value in free if value])
    kind = inline(item.type)
    return (
        f"\n## [{store}] {kind}: {inline(item.content, 60)}\n\n- **ID:** {inline(item.id)}\n- **Store:** {store}\n"
        f"- **Type:** {kind}\n- **Importance:** {item.importance:g}\n{bullets}\n{escape_block(item.content)}\n"
    )
