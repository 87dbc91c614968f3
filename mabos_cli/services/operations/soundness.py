"""Checks memory and texts, page by page and file by file; files that were in order and have not changed are not read again."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from mabos_cli.core.language.ids import parse_id
from mabos_cli.core.language.text import plural
from mabos_cli.formats.json.text import parse_ledger
from mabos_cli.formats.memory.items import line_id, parse_archive, parse_item, parse_page
from mabos_cli.formats.memory.observations import parse_observations
from mabos_cli.workspace import archive
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import list_stems, read_bytes, stamp_of
from mabos_cli.workspace.memory.derived_pages import note_pages, sound_pages, stale_derived, stale_domains
from mabos_cli.workspace.memory.observations import observation_files
from mabos_cli.workspace.memory.store import LongTermStore
from mabos_cli.workspace.memory.trust_log import is_plain, load_decisions, load_rulings, overrated_items
from mabos_cli.workspace.seen import Seen
from mabos_cli.workspace.sources import find_sources

_CONFLICT = re.compile(rb"^(?:<{7}|>{7}) .*$", re.MULTILINE)


class Finding(NamedTuple):
    """A finding: a problem (memory is at risk), a flaw (--repair fixes it), or a note (nothing to do)."""

    level: str
    place: str
    message: str


class _Page(NamedTuple):
    """A page of long-term memory when it was last checked: the number of items, their lowest and highest id as numbers (empty if one is
    foreign), and whether each has the trust that it claims."""

    size: int
    low: list[int]
    high: list[int]
    is_plain: bool


def _find_page(agent: Agent, seen: Seen, name: str) -> _Page | None:
    """Returns the last check of a page that was in order and has not changed; None otherwise."""
    known = seen.find("page", name, [agent.paths.store_page(name)], stamp_of(agent.paths.trust_log))
    return _Page(*known) if known else None


def _read_page(agent: Agent, lines: list[bytes]) -> _Page:
    """Checks the lines of a page and returns the result."""
    rulings = load_rulings(agent.paths)
    for line in lines:
        parse_item(line, "memory-store.json")
    numbers = [list(parse_id(line_id(line)) or ()) for line in lines]
    is_plain_page = all(is_plain(line) and line_id(line) not in rulings for line in lines)
    return _Page(len(lines), min(numbers, default=[]), max(numbers, default=[]), is_plain_page)


def _check_store(agent: Agent, seen: Seen) -> Iterator[Finding]:
    """Decodes items and looks for duplicate ids; unchanged pages are read only if their range of ids overlaps with others."""
    loaded = agent.load()
    head, store = loaded.head, loaded.long_term
    for line in head.long_term:
        parse_item(line, "memory-store.json")
    held = {line_id(line) for line in head.long_term}
    ids = Counter([*(item.id for item in (*head.working, *head.short_term)), *map(line_id, head.long_term)])
    known = {name: _find_page(agent, seen, name) for name in head.pages}
    fresh = {name: _read_page(agent, store.page(name)) for name, page in known.items() if page is None}
    for name in fresh:
        ids.update(_ids_on(store, name, held))
    asked = sorted(list(parse_id(item_id) or ()) for item_id in ids)
    for name, page in known.items():
        if page and bisect_left(asked, page.low) < bisect_right(asked, page.high):
            ids.update(_ids_on(store, name, held))
    doubled = [(item_id, count) for item_id, count in ids.items() if count > 1]
    for item_id, count in doubled:
        yield Finding("problem", "memory-store.json", f"{item_id} occurs {count} times")
    for name, page in fresh.items() if not doubled else ():
        seen.note("page", name, page)


def _ids_on(store: LongTermStore, name: str, held: Collection[str]) -> Iterator[str]:
    """Yields the ids on a page that are not in memory-store.json."""
    return (item_id for item_id in map(line_id, store.page(name)) if item_id not in held)


def _check_pages(agent: Agent, seen: Seen) -> Iterator[Finding]:
    head = agent.load().head
    level = "note" if is_writing(agent) else "flaw"
    for name, size in page_sizes(agent, seen):
        if size != head.pages.get(name, 0):
            message = f"has {size} items; memory-store.json lists {head.pages.get(name, 0)}"
            yield Finding(level, f"memory-store/{name}.json", message)


def page_sizes(agent: Agent, seen: Seen | None = None) -> Iterator[tuple[str, int]]:
    """Yields the pages of long-term memory with their numbers of items."""
    for name in list_stems(agent.paths.store_pages, ".json"):
        path = agent.paths.store_page(name)
        known = _find_page(agent, seen, name) if seen else None
        yield name, known.size if known else len(parse_page(read_bytes(path) or b"", agent.paths.relative(path)))


def _check_trust(agent: Agent, seen: Seen) -> Iterator[Finding]:
    """Finds items that claim more trust than their lineage allows: they do not have it, but their lines mislead."""
    loaded = agent.load()
    plain = {name for name in loaded.head.pages if (page := _find_page(agent, seen, name)) and page.is_plain}
    for _, item, trust in overrated_items(agent, loaded.memory(), plain):
        message = f"{item.id} claims {item.trust}, but is {trust} by its lineage; --repair lowers it"
        yield Finding("note", "memory-store.json", message)
    skipped = load_decisions(agent.paths)[1]
    if skipped:
        yield Finding("note", agent.paths.relative(agent.paths.trust_log), f"{skipped} torn lines are skipped")


def _each_file(
    seen: Seen, kind: str, paths: Iterable[Path], check: Callable[[Path, bytes], Iterator[Finding]]
) -> Iterator[Finding]:
    """Yields the findings about files; those that were in order and have not changed are not read."""
    for path in paths:
        if seen.find(kind, path.as_posix(), [path]) is None:
            findings = list(check(path, read_bytes(path) or b""))
            yield from findings
            if not findings:
                seen.note(kind, path.as_posix())


def _check_archive(agent: Agent, seen: Seen) -> Iterator[Finding]:
    def check(path: Path, data: bytes) -> Iterator[Finding]:
        shown = f"archive/{path.name}"
        parse_archive(data, shown)
        skipped = parse_ledger(data).skipped
        if skipped:
            yield Finding("note", shown, f"{skipped} torn lines, never acknowledged, are skipped")
        if data and not data.endswith(b"\n"):
            yield Finding("flaw", shown, "does not end with a complete line")

    files = (agent.paths.archive / name for name in archive.archive_files(agent.paths))
    return _each_file(seen, "archive", files, check)


def _check_observations(agent: Agent, seen: Seen) -> Iterator[Finding]:
    def check(path: Path, data: bytes) -> Iterator[Finding]:
        shown = f"observations/{path.name}"
        faults = [line.number for line in parse_observations(data, path.name) if line.fault]
        if faults:
            message = f"{plural(len(faults), 'line')} without an observation, skipped"
            yield Finding("note", f"{shown}:{faults[0]}", message)
        if parse_ledger(data.rpartition(b"\n")[2].rstrip(b"\0")).skipped:
            yield Finding("note", shown, "its last line is torn, or being written")

    files = (agent.paths.observations / name for name in observation_files(agent.paths))
    return _each_file(seen, "observations", files, check)


def _check_texts(agent: Agent, seen: Seen) -> Iterator[Finding]:
    root = agent.paths.root

    def check(path: Path, data: bytes) -> Iterator[Finding]:
        shown = path.relative_to(root).as_posix()
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as error:
            yield Finding("problem", f"{shown}:{_line(data, error.start)}", "not valid UTF-8")
        if b"\0" in data:
            yield Finding("problem", f"{shown}:{_line(data, data.index(0))}", "contains NUL bytes")
        marker = _CONFLICT.search(data)
        if marker:
            yield Finding("problem", f"{shown}:{_line(data, marker.start())}", "git conflict markers")

    files = (root / source.path for source in find_sources(agent) if source.path.endswith((".md", ".txt")))
    return _each_file(seen, "text", files, check)


def _line(data: bytes, position: int) -> int:
    return data[:position].count(b"\n") + 1


def is_writing(agent: Agent) -> bool:
    """Returns whether a write is in progress or was interrupted."""
    return bool((read_bytes(agent.paths.lock) or b"").partition(b"\n")[2].strip(b"\0\n"))


def _check_derived(agent: Agent, seen: Seen) -> Iterator[Finding]:
    level = "note" if is_writing(agent) else "flaw"
    known = sound_pages(agent, seen)
    stale = [*stale_derived(agent, known), *stale_domains(agent, known)]
    for path in stale:
        yield Finding(level, path, "does not match the store")
    if not stale:
        note_pages(seen)


CHECKS = (_check_store, _check_pages, _check_trust, _check_archive, _check_observations, _check_texts, _check_derived)
