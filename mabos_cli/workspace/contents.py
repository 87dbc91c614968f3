"""Reads items and passages for an index from the files of an agent; of a file that only grows, the new end."""

import os
import re
from _blake2 import blake2b
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from zlib import crc32

from mabos_cli.core import BadValue
from mabos_cli.core.language.clock import format_time, parse_time
from mabos_cli.core.language.ids import stamp_of
from mabos_cli.core.language.patterns import compiled, compiled_bytes
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.memory.trust import Ruling, claim_trust, lowered, needs_voucher
from mabos_cli.core.search.documents import Content, Held, Piece, Record
from mabos_cli.errors import MabosError
from mabos_cli.formats.json.text import parse_json
from mabos_cli.formats.markdown.escape import without_seal
from mabos_cli.formats.memory.items import StoreFile, departure_from_dict, line_id, parse_item, parse_store, render_item
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import explained, read_bytes
from mabos_cli.workspace.layout import DAY, LEGACY
from mabos_cli.workspace.locate import render_template
from mabos_cli.workspace.memory.store import read_deferred
from mabos_cli.workspace.sources import OBSERVED, clean, is_store

_LOG = rf"memory/{DAY}\.md"
# In a log, what may reach into entries below it, or changes the title that they stand under.
_REACHING = rb"\n(?:[^A-Za-z\\\n]*(?:```|~~~|<)| {0,3}(?:#[ \t]|=+[ \t]*\r?\n))"
Rulings = Callable[[], Mapping[str, Ruling]]


def load_source(agent: Agent, shown: str, path: str) -> Content:
    """Reads what a file holds now; a file that cannot be read is an error to report, and no reason to stop."""
    try:
        limit = agent.settings["index.max_file_bytes"]
        with explained(Path(path), "read"), suppress(FileNotFoundError):
            stat = os.stat(path)
            if stat.st_size > limit and not is_store(shown) and not shown.startswith("archive/"):
                return Content(stamp_of(stat), error=f"{shown} is larger than {limit:,} bytes and is left out")
        data = read_bytes(Path(path))
        if data is None:
            return Content()
        digest = blake2b(data + _harvested(agent, shown), digest_size=16).hexdigest()
        return _loader(agent, shown)(agent, shown, data)._replace(hash=digest, size=len(data))
    except MabosError as error:
        return Content(error=error.message)


def grow_source(agent: Agent, shown: str, path: str, size: int, digest: str) -> Content | None:
    """Reads what was appended to a file that only grows; None when what was there before changed, or ended within a line, or
    when what follows cannot be read without it."""
    read = _find_more(shown)
    with suppress(MabosError):
        data, ledger = read_bytes(Path(path)) or b"", _harvested(agent, shown)
        if not read or len(data) > agent.settings["index.max_file_bytes"] or data[size - 1 : size] != b"\n":
            return None
        old = blake2b(memoryview(data)[:size], digest_size=16)  # a log may hold megabytes: each byte is hashed once
        new = old.copy()
        new.update(memoryview(data)[size:])
        for digests in (old, new):
            digests.update(ledger)
        if old.hexdigest() == digest:
            more = read(agent, shown, data[:size], data[size:])
            return more and more._replace(hash=new.hexdigest(), size=len(data), is_more=True)
    return None


def _harvested(agent: Agent, shown: str) -> bytes:
    """Returns the ledger of a file of observations; nothing for other files."""
    if not shown.startswith(OBSERVED):
        return b""
    return read_bytes(agent.paths.harvest_ledger(shown.removeprefix(OBSERVED))) or b""


def _loader(agent: Agent, shown: str) -> Callable[[Agent, str, bytes], Content]:
    if is_store(shown):
        return _stored
    if is_archive(shown):
        return _archived
    if shown == agent.paths.relative(agent.paths.queue):
        return _queued
    return _spoken if shown.endswith(".jsonl") else _written


def _stored(agent: Agent, shown: str, data: bytes) -> Content:
    """Reads the items of memory-store.json or one of its pages."""
    store: StoreFile = parse_store(data, agent.paths.cited(agent.paths.root / shown))
    recent = [(item, name) for name in ("working", "short_term") for item in getattr(store, name)]
    rulings = cache(partial(_rulings, agent))
    records = [_record(item, name, rulings) for item, name in recent]
    records += [
        Record(line_id(line), crc32(line), partial(_decode, agent, shown, line, rulings)) for line in store.long_term
    ]
    return Content(records=tuple(records))


def _record(item: MemoryItem, store: str, rulings: Rulings) -> Record:
    line = render_item(item)
    return Record(item.id, crc32(store.encode(), crc32(line)), partial(_hold, item, line, store, rulings))


def _decode(agent: Agent, shown: str, line: bytes, rulings: Rulings) -> Held:
    return _hold(parse_item(line, agent.paths.cited(agent.paths.root / shown)), line, "long_term", rulings)


def _hold(item: MemoryItem, line: bytes, store: str, rulings: Rulings) -> Held:
    """Returns an item for the index, trusted no more than its source is where nobody vouches for it; its line stays as it is."""
    if needs_voucher(item.trust, item.source):
        item = lowered(item, claim_trust(item, rulings())[0])
    return Held(item, line.decode("utf-8"), store)


def _rulings(agent: Agent) -> Mapping[str, Ruling]:
    from mabos_cli.workspace.memory.trust_log import load_rulings

    return load_rulings(agent.paths)


def is_archive(shown: str) -> bool:
    """Returns whether a path is a file of the archive."""
    return shown.startswith("archive/") and shown.endswith(".jsonl")


def _find_more(shown: str) -> Callable[[Agent, str, bytes, bytes], Content | None] | None:
    """Returns what reads the end of a file that only grows, behind what was there before; None for other files."""
    if is_archive(shown):
        return lambda agent, shown, _, more: _archived(agent, shown, more)
    if shown.startswith(OBSERVED):
        return _spoken_more
    return _logged_more if compiled(_LOG).fullmatch(shown) else None


def _archived(agent: Agent, shown: str, data: bytes) -> Content:
    """Reads the items of an archive file; torn lines were never acknowledged."""
    records, rulings = [], cache(partial(_rulings, agent))
    for line in data.split(b"\n"):
        if line.startswith(b'{"id": "') and b'"kind": "item"' in line:
            with suppress(ValueError):
                records.append(Record(line_id(line), crc32(line), partial(_departed, line, rulings)))
    return Content(records=tuple(records))


def _departed(line: bytes, rulings: Rulings) -> Held | None:
    """Returns an item as the archive holds it; a line that is torn or of another kind holds none."""
    with suppress(MabosError):
        departure = departure_from_dict(parse_json(line, "archive"), "archive")
        if departure:
            held = _hold(departure.item, render_item(departure.item), departure.store, rulings)
            return held._replace(archived=departure.reason, away_at=departure.at, into=departure.into)
    return None


def _queued(agent: Agent, shown: str, data: bytes) -> Content:
    """Reads the items that wait in the queue."""
    rulings = cache(partial(_rulings, agent))
    return Content(records=tuple(_record(d.item, d.store, rulings) for d in read_deferred(agent.paths)))


def _written(agent: Agent, shown: str, data: bytes) -> Content:
    """Reads the passages of a text file, without what the template put there."""
    from mabos_cli.core.language.periods import is_summary
    from mabos_cli.core.language.secrets import hide_secrets
    from mabos_cli.formats.markdown.blocks import is_only_headings
    from mabos_cli.formats.search import passages

    s = agent.settings
    per_token = s["text.chars_per_token"]
    size, overlap = s["index.passage_tokens"] * per_token, s["index.overlap_tokens"] * per_token
    day = re.match(DAY, shown.rpartition("/")[2])
    at = f"{day[0]}T00:00:00.000Z" if day else ""
    untouched = _template_passages(agent, shown, size, overlap)
    whole = data.decode("utf-8", "replace")
    text = hide_secrets(passages.without_legacy_lines(whole) if shown == LEGACY else without_seal(whole))
    if shown.startswith("memory/domains/") and len(without_seal(whole)) < len(whole):
        return Content()  # our own file of a topic: its items are a source themselves
    found = passages.split_passages(text, size, overlap)
    marked, low = passages.find_untrusted(text), passages.find_untrusted_lines(shown, text)
    if is_summary(shown) and text.startswith("---\n"):
        found = found[1:]  # what a summary says about itself is nothing to recall
    pieces = (piece._replace(at=at) for passage in found for piece in _split_by_trust(passage, marked, low))
    return Content(pieces=tuple(p for p in pieces if p.text not in untouched and not is_only_headings(p.text)))


def _logged_more(agent: Agent, shown: str, before: bytes, more: bytes) -> Content | None:
    """Reads entries at the end of a daily log: below its title, as if they came first, and then with the lines where they are."""
    head = before.find(b"\n## ") + 1
    is_entry = more.lstrip(b"\n").startswith(b"## ")
    if not head or not is_entry or b"-----BEGIN" in before or compiled_bytes(_REACHING).search(before, head - 1):
        return None
    title, skipped = before.count(b"\n", 0, head), before.count(b"\n", head)
    pieces = _written(agent, shown, before[:head] + more).pieces
    moved = (p._replace(first=p.first + skipped, last=p.last + skipped) for p in pieces if p.first > title)
    return Content(pieces=tuple(moved))


def _split_by_trust(passage: Piece, marked: set[str], low: AbstractSet[int]) -> Iterator[Piece]:
    """Yields a passage with what it says of its trust. A copy of an item that is long says it at its end only; of lines that
    are trusted differently, each run is a passage of its own."""
    from mabos_cli.formats.search.passages import has_untrusted_bullet

    if not low.isdisjoint(range(passage.first, passage.last + 1)):
        lines = enumerate(passage.text.split("\n"), passage.first)
        for is_low, run in groupby(lines, lambda numbered: numbered[0] in low):
            numbers, texts = zip(*run, strict=True)
            lines_of = {"text": "\n".join(texts), "first": numbers[0], "last": numbers[-1]}
            yield passage._replace(**lines_of, trust="untrusted" if is_low else "")
        return
    item_id = passage.copy_of
    is_low = bool(item_id) and (item_id in marked or has_untrusted_bullet(passage.text))
    yield passage._replace(trust="untrusted" if is_low else "")


def _template_passages(agent: Agent, shown: str, size: int, overlap: int) -> frozenset[str]:
    """Returns the passages that a file had when the agent was created: nobody wants to recall those."""
    from mabos_cli.formats.search.passages import split_passages

    if "/" in shown:
        return frozenset()
    text = render_template(agent.id, agent.manifest(), shown)
    return frozenset(passage.text for passage in split_passages(text, size, overlap))


def _moment(text: str) -> str:
    """Returns a time as we write it, empty when it is none."""
    with suppress(BadValue):
        return format_time(parse_time(text)) if text else ""
    return ""


def _spoken(agent: Agent, shown: str, data: bytes) -> Content:
    """Reads the text of a transcript or a log of JSON lines, line by line. An observation that became an item is left to the item."""
    return _spoken_more(agent, shown, b"", data)


def _spoken_more(agent: Agent, shown: str, before: bytes, more: bytes) -> Content:
    """Reads lines that were appended to others."""
    from mabos_cli.core.language.secrets import hide_secrets
    from mabos_cli.formats.memory.observations import parse_line_texts
    from mabos_cli.formats.search.passages import split_passages
    from mabos_cli.workspace.memory.observations import harvested_lines

    size = agent.settings["index.passage_tokens"] * agent.settings["text.chars_per_token"]
    name, pieces, skipped = shown.removeprefix(OBSERVED), [], before.count(b"\n")
    taken = harvested_lines(agent.paths, name, before + more) if name != shown else frozenset()
    for entry in parse_line_texts(more):
        line = entry.line + skipped
        for part in split_passages(hide_secrets(clean(entry.text)), size, 0) if line not in taken else ():
            pieces.append(Piece(part.text, line, line, "", "", _moment(entry.at), clean(entry.author)))
    return Content(pieces=tuple(pieces))
