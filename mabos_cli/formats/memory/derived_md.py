"""Markdown that is made of memory: INDEX.md as an agent reads it, domains and items, sealed so that edits are noticed; the digests
that they are made from, as they are cached; and what logs get of an item."""

import json
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Any
from zlib import crc32

from mabos_cli.core.context.memory_index import (
    LONGEST,
    SHORTEST,
    Digest,
    Domain,
    Foremost,
    Headline,
    Lines,
    MemoryIndex,
    Share,
)
from mabos_cli.core.language.patterns import compiled
from mabos_cli.core.language.text import one_line, plural, words
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.memory.trust import is_untrusted, trust_rank
from mabos_cli.core.records import NamedTuple
from mabos_cli.formats.markdown.escape import (
    escape_behind,
    escape_block,
    indent,
    inline,
    is_as_generated,
    seal,
    unsealed,
)

# Common types are a letter, which is explained; others are a word.
_LETTERS = {"preference": "P", "instruction": "I", "fact": "F", "decision": "D", "lesson": "L"}
_VERSION = 7  # of the digests: those of another version are not read
# The widths of lines that are tried until every critical item and instruction has its place, with the share kept for projects.
_WIDTHS = ((LONGEST, 0.25), (150, 0.25), (110, 0.2), (80, 0.15), (60, 0.1), (50, 0.07), (40, 0.05), (SHORTEST, 0.03))
_LATEST = 3  # decisions and plans that come before what is known
_MORE = {
    "critical": "mabos recall --priority-min critical --limit 0",
    "instructions": "mabos recall --type instruction --type preference --limit 0",
    "projects": "mabos recall --type project --limit 0",
    "domains": "mabos index status",
}


def fit_index(whole: MemoryIndex, room: int) -> MemoryIndex:
    """Returns the index with as much as its text has room for, the foremost first: all domains, some projects, critical items,
    instructions and preferences, the latest decisions, what is known, and more of each. Lines are shortened where that gives every
    critical item and instruction its place."""
    for width, share in _WIDTHS:
        if width > SHORTEST and _is_too_wide(whole, width, room):
            continue
        cut = _narrowed(whole, width)
        fitted = _most(cut._replace(lines=Lines(), domains=()), "domains", cut.domains, room)
        some = min(room, len(render_index(fitted)) + round(room * share))
        for name, limit in (("projects", some), ("critical", room), ("instructions", room)):
            fitted = _most(fitted, name, getattr(cut.lines, name), limit)
        fitted = _most(fitted, "lately", cut.lines.lately[:_LATEST], room)
        for name in ("known", "lately", "projects"):
            fitted = _most(fitted, name, getattr(cut.lines, name), room)
        left = whole.lines.instructions[len(fitted.lines.instructions) :]
        if not fitted.left_out()["critical"] and not any(line.type == "instruction" for line in left):
            break
    return fitted


def _is_too_wide(whole: MemoryIndex, width: int, room: int) -> bool:
    """Returns whether some critical item has no place at a width, whatever else is left out."""
    critical = whole.lines.critical
    return whole.left_out()["critical"] > 0 or sum(min(len(line.text), width) for line in critical) > room


def _narrowed(index: MemoryIndex, width: int) -> MemoryIndex:
    """Returns the index with its lines cut at a width."""
    lines = (tuple(line._replace(text=one_line(line.text, width)) for line in section) for section in index.lines)
    return index._replace(lines=Lines(*lines)) if width < LONGEST else index


def _most(index: MemoryIndex, name: str, entries: tuple[Any, ...], room: int) -> MemoryIndex:
    """Returns the index with as many of the first entries of a section as there is room for."""

    def put(count: int) -> MemoryIndex:
        if name == "domains":
            return index._replace(domains=entries[:count])
        return index._replace(lines=index.lines._replace(**{name: entries[:count]}))

    fits, over, count = 0, len(entries) + 1, len(entries)  # all are tried first, for usually they fit
    while over - fits > 1:
        if len(render_index(put(count))) <= room:
            fits = count
        else:
            over = count
        count = (fits + over) // 2
    return put(fits)


def render_index(index: MemoryIndex) -> str:
    """Returns INDEX.md with its seal."""
    out, lines = index.left_out(), index.lines
    more = {name: _note(out[name], "more", command) for name, command in _MORE.items()}
    texts = []
    for section in lines:
        texts.append([*map(_text, section)])
    critical, instructions, projects, lately, known = texts
    critical = [f"- [{_letter(line.type)}] {text}" for line, text in zip(lines.critical, critical, strict=True)]
    critical += more["critical"] + _note(out["untrusted"], "not shown, untrusted", "mabos trust --quarantine")
    sections = {
        "Critical (always relevant)": critical,
        "Instructions and preferences": [f"- {text}" for text in instructions] + more["instructions"],
        "Active projects": [f"- {text}" for text in projects] + more["projects"],
        "Lately": [
            f"- {line.at[:10]} {inline(line.type)}: {text}" for line, text in zip(lines.lately, lately, strict=True)
        ],
        "Known": [f"- {text}" for text in known],
        "Domains": [*map(_domain, index.domains), *more["domains"]],
        "Recall": _how(index),
    }
    body = "".join(_block(title, lines) for title, lines in sections.items() if lines)
    if not (index.items or index.untrusted or any(index.counts.values())):
        body = "\nNothing is remembered yet: `mabos store TEXT`.\n" + body
    return seal(
        f"{_head(index.until)}# Memory index — {index.agent}\n\n> Derived from memory; edits here are set aside.{_legend(index)}\n"
        f"{body}"
    )


def _block(title: str, lines: list[str]) -> str:
    return "\n".join(["", f"## {title}", "", *lines, ""])


def _how(index: MemoryIndex) -> list[str]:
    is_cut = any(line.text.endswith("…") for section in index.lines for line in section)
    return [
        *(["- `mabos read memory/domains/NAME.md` loads a domain."] if any(not d.pages for d in index.domains) else []),
        f"- `mabos recall WORDS` finds everything{', also the rest of lines that end with …' if is_cut else ''};"
        " `mabos get ID` shows one item.",
        "- `mabos store TEXT --type instruction` puts a line here, `--priority critical` any type;"
        f" with several agents, add `--agent {index.agent}`.",
    ]


def _legend(index: MemoryIndex) -> str:
    used = {line.type for line in index.lines.critical}
    entries = [f"[{letter}] {name}" for name, letter in _LETTERS.items() if name in used]
    return f" {', '.join(entries)}." if entries else ""


@cache
def _letter(name: str) -> str:
    return _LETTERS.get(name) or inline(name)


@lru_cache(maxsize=1024)  # an index that is too long is rendered some ten times before it fits
def _text(line: Headline) -> str:
    is_long = line.size > LONGEST and len(line.text) > _WIDTHS[1][0]
    text = escape_block(line.text)  # it is one line
    return f"{text} `mabos get {inline(line.id)}`" if is_long else text


def _note(count: int, what: str, command: str) -> list[str]:
    """Returns a list item, for a line below a list would be part of the entry above it."""
    return [f"- {count} {what}: `{command}`"] if count else []


def _domain(domain: Domain) -> str:
    line = f"- {domain.name}: {plural(domain.items, 'item')}, {domain.tokens} tokens"
    if domain.pages:
        return f"{line} on {plural(domain.pages, 'page')}: `mabos recall WORDS --type {domain.type}`"
    return line


class Known(NamedTuple):
    """Holds what is known of a memory: of each part the key of what it was made from and its digest, and the foremost lines of all."""

    parts: dict[str, tuple[str, Digest]]
    foremost: Foremost


def render_known(known: Known, room: int) -> bytes:
    """Returns a cache file."""
    rows = (known.parts, known.foremost.lines, known.foremost.floors)
    body = "\n".join([f"{_VERSION} {room}", *map(json.dumps, rows)]).encode()
    return b"%08x\n%s" % (crc32(body), body)


def parse_known(data: bytes, room: int) -> Known:
    """Returns what a cache file holds; nothing when it is not what was written, or was written for another room."""
    sum_of, _, body = data.partition(b"\n")
    head, *rows = body.split(b"\n")
    if sum_of != b"%08x" % crc32(body) or head != f"{_VERSION} {room}".encode():
        return Known({}, Foremost())
    parts, lines, floors = map(json.loads, rows)
    foremost = Lines(*(tuple(Headline(*line) for line in section) for section in lines))
    found = {name: (key, _parse_digest(fields)) for name, (key, fields) in parts.items()}
    return Known(found, Foremost(foremost, floors))


def _parse_digest(fields: list[Any]) -> Digest:
    digest = Digest(*fields)
    return digest._replace(domains={domain: Share(*share) for domain, share in digest.domains.items()})


_NOTE = "Edits here are set aside: change memory with `mabos update`."
_UNTIL = r'(?m)^valid_until: "(.+)"$'


def render_domain(
    name: str, entries: Sequence[str], until: str = "", page: str = "", pages: Sequence[tuple[str, int, int]] = ()
) -> str:
    """Returns a domain as one file, or one page of it, of entries in their order. The file of a large domain lists its pages, given
    with their items and tokens, the newest first, before the entries that are on none yet."""
    title = f"{name.replace('-', ' ').capitalize()}{f' — {page}' if page else ''} (derived)"
    listed = sorted(pages, reverse=True)
    summary = f"> {plural(sum(items for _, items, _ in listed), 'item')} on {plural(len(listed), 'page')}, newest first"
    summary = f"{summary}{'; those that came since are below' if entries else ''}.\n\n"
    lines = (f"- [{at}]({name}/{at}.md): {plural(items, 'item')}, {tokens} tokens\n" for at, items, tokens in listed)
    index = summary + "".join(lines) + "\n" * bool(entries) if listed else ""
    return seal(f"{_head(until)}# {title}\n\n{index}" + "".join(entries))


def _head(until: str) -> str:
    """Returns front matter where there is something to say in it, for a file is read often."""
    return f"---\n{render_until(until)}---\n\n" if until else ""


def render_until(until: str) -> str:
    """Returns the line of front matter that says when the first entry expires, if any does."""
    return f'valid_until: "{until}"\n' if until else ""


def has_lapsed(text: str, now: str) -> bool:
    """Returns whether a file is still as it was generated, and only time has passed since: it was valid until some moment before now."""
    from mabos_cli.formats.markdown.scan import split_head  # late: what is written is not read

    found = compiled(_UNTIL).search(split_head(text)[0])
    return found is not None and found[1] <= now and is_as_generated(text)


def render_domain_entry(item: MemoryItem, topic: str = "", trust: str = "") -> str:
    """Returns the list item of an item: what it says, as briefly as that can be. mabos-memory-items.md has all that is known of it.

    In the file of a topic it says what it is, and does not name the topic again.
    """
    content, day = item.content, item.happened_at[:10]
    subject, colon, rest = content.partition(": ")
    if topic and colon and "-".join(words(subject)) == topic:
        content = rest
    marks = [] if trust_rank(trust or item.trust) else ["(untrusted)"]
    marks += [f"[{inline(item.type)}]"] if topic and item.type != "fact" else []
    is_migrated = item.source.startswith("migrate:")  # such an item was made on a day that says nothing about it
    is_dated = (item.observed_at or (item.type == "decision" and not is_migrated)) and day not in content
    marks += [f"{inline(day)}:"] if day and is_dated else []
    text = indent(escape_behind(content) if marks else escape_block(content)).replace("\n  \\- ", "\n  - ")
    about = [f"context: {inline(item.context)}"] if item.context and not is_migrated else []
    about += [f"until {inline(item.expires_at[:10])}"] if item.expires_at else []
    lines = [f"- {' '.join([*marks, text])}", *(["  " + "; ".join(about)] if about else [])]
    return "\n".join([*lines, ""])


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
    """Returns the entries of a text that is still as it was generated, by store and id; none of one that somebody edited."""
    if not text or not is_as_generated(text):
        return {}
    found = {}
    for part in unsealed(text).split("\n## [")[1:]:
        start = part.find("- **ID:** ") + len("- **ID:** ")
        found[part[: part.index("]")], part[start : part.index("\n", start)]] = f"\n## [{part}"
    return found


def render_item_page(agent: str, name: str, entries: Iterable[str]) -> str:
    """Returns a monthly page of entries of long-term items."""
    body = "".join(entries)
    return seal(f"# MABOS Memory Items — {agent} — {name}\n\n> Auto-materialized from memory-store. {_NOTE}\n{body}")


def render_entry(store: str, item: MemoryItem) -> str:
    """Returns the section of one item."""
    free = (
        ("Source", item.source),
        ("Trust", item.trust if item.trust != "agent" else ""),
        ("Author", item.author),
        ("Session", item.session),
        ("Tags", ", ".join(item.tags)),
        ("Derived from", ", ".join(item.derived_from)),
        ("Related to", ", ".join(item.related_to)),
        ("Supersedes", ", ".join(item.supersedes)),
        ("Context", item.context),
        ("Created", item.created_at),
        ("Observed", item.observed_at),
        ("Expires", item.expires_at),
    )
    kind, bullets = inline(item.type), ""
    for name, value in free:
        bullets += f"- **{name}:** {inline(value)}\n" if value else ""
    return (
        f"\n## [{store}] {kind}: {inline(item.content, 60)}\n\n- **ID:** {inline(item.id)}\n- **Store:** {store}\n"
        f"- **Type:** {kind}\n- **Importance:** {item.importance:g}\n{bullets}\n{escape_block(item.content)}\n"
    )


def render_log_header(day: str) -> str:
    """Returns the first line of a day's log."""
    return f"# {day} — Agent Log\n"


def render_log_entry(item: MemoryItem) -> str:
    """Returns the entry of an item, starting with a blank line. Importance and trust are what they were on that day."""
    tags = f"[{inline(', '.join(item.tags))}] " if item.tags else ""
    source = inline(item.source)
    return (
        f"\n## {one_line(item.type)} ({item.created_at[11:16]} UTC)\n\n{escape_block(item.content)}\n\n"
        f"{tags}({source}) {item.importance:.2f}{' untrusted' if is_untrusted(item) else ''} ^{item.id}\n"
    )


def render_legacy_line(item: MemoryItem) -> str:
    """Returns the line of an item in Memory.md, which is a log for people."""
    return f"- {item.created_at[:10]} {one_line(item.type)} ({item.importance:.2f}): {inline(item.content, 200)} ^{item.id}\n"
