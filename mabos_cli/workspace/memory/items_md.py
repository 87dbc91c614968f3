"""Derived Markdown of memory items. Small memories are one file; large ones an index and pages, of which only the changed are written."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from mabos_cli.core.memory.stores import Memory
from mabos_cli.formats.memory.items import line_id, parse_item
from mabos_cli.formats.memory.items_md import render_entry, render_item_page, render_items, split_entries
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.derived import DerivedFiles, list_pages
from mabos_cli.workspace.files import read_bytes
from mabos_cli.workspace.layout import PAGE
from mabos_cli.workspace.memory.long_term import LongTermStore

# Pages of long-term memory, with loaders of their lines.
Pages = dict[str, Callable[[], list[bytes]]]


def materialize_items(
    agent: Agent,
    memory: Memory,
    long_term: LongTermStore,
    dirty: set[str] | None = None,
    unchanged: frozenset[str] | set[str] = frozenset(),
    pages: Pages | None = None,
) -> tuple[list[str], list[str]]:
    """Writes the derived files that changed, removes pages that stand for nothing any more, and names them all; also warnings
    about files that somebody had edited.

    dirty says which pages may have changed, so that only those are rendered; None renders everything. The entries of
    items in `unchanged` are taken from the files as they are. Whoever has the pages gives them.
    """
    pages, there = (
        derived_pages(agent, long_term) if pages is None else pages,
        list_pages(agent.paths.items_pages, PAGE),
    )
    maybe = None if dirty is None else dirty | (pages.keys() - there)
    files = DerivedFiles(agent)
    for path, text in _render(agent, memory, long_term, pages, maybe, unchanged):
        files.write(path, text)
    for name in sorted(there - pages.keys()):
        files.remove(agent.paths.items_page(name))
    return files.changed, files.warnings


def stale_derived(agent: Agent) -> list[str]:
    """The derived files that a rebuild would change."""
    loaded = agent.load()
    pages = derived_pages(agent, loaded.long_term)
    rendered = _render(agent, loaded.memory(), loaded.long_term, pages, None)
    stale = [path for path, text in rendered if read_bytes(path) != text.encode("utf-8")]
    stale += [agent.paths.items_page(name) for name in sorted(list_pages(agent.paths.items_pages, PAGE) - pages.keys())]
    return [agent.paths.relative(path) for path in stale]


def derived_pages(agent: Agent, long_term: LongTermStore) -> Pages:
    """The pages to be written, with loaders; none while memory is small. Short-term memory comes and goes: it does not count."""
    if len(long_term) <= agent.settings["memory.materialize_split_above"]:
        return {}
    return long_term.pages(agent.settings["memory.page_items"])


def _render(
    agent: Agent,
    memory: Memory,
    long_term: LongTermStore,
    pages: Pages,
    dirty: set[str] | None,
    unchanged: frozenset[str] | set[str] = frozenset(),
) -> Iterator[tuple[Path, str]]:
    """Paths and texts of the derived files that may have changed."""
    for name, lines in pages.items():
        if dirty is None or name in dirty:
            path = agent.paths.items_page(name)
            entries = _lasting(lines(), _known_entries(path, unchanged))
            yield path, render_item_page(agent.id, name, entries)
    counts = {"working": len(memory.working), "short_term": len(memory.short_term), "long_term": len(long_term)}
    sizes = {name: long_term.head.pages.get(name) or len(lines()) for name, lines in pages.items()}
    if any(counts.values()) or agent.paths.items_md.exists():
        entries = _entries(agent, memory, () if pages else long_term.lines(), unchanged)
        yield agent.paths.items_md, render_items(agent.id, entries, counts, sizes)


def _entries(
    agent: Agent, memory: Memory, lines: Iterable[bytes], unchanged: frozenset[str] | set[str]
) -> Iterator[str]:
    """The entries of the recent stores and of long-term lines; those that did not change are not rendered again."""
    known = _known_entries(agent.paths.items_md, unchanged)
    for store in ("working", "short_term"):
        for item in getattr(memory, store):
            yield known.get((store, item.id)) or render_entry(store, item)
    yield from _lasting(lines, known)


def _known_entries(path: Path, unchanged: frozenset[str] | set[str]) -> dict[tuple[str, str], str]:
    """The entries of unchanged items in a file as it is, by store and id."""
    old = (read_bytes(path) or b"").decode("utf-8", "replace") if unchanged else ""
    return {key: text for key, text in split_entries(old).items() if key[1] in unchanged}


def _lasting(lines: Iterable[bytes], known: dict[tuple[str, str], str]) -> Iterator[str]:
    """The entries of long-term lines."""
    for line in lines:
        text = known.get(("long_term", line_id(line)))
        yield text or render_entry("long_term", parse_item(line, "memory-store.json"))
