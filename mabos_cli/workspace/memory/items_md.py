"""Derived Markdown of memory items. Small memories are one file; large ones an index and pages, of which only the changed are written."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from mabos_cli.core.language.clock import format_time
from mabos_cli.core.memory.stores import Memory
from mabos_cli.errors import Conflict
from mabos_cli.formats.markdown.seal import is_as_generated
from mabos_cli.formats.memory.items import line_id, parse_item
from mabos_cli.formats.memory.items_md import render_entry, render_item_page, render_items, split_entries
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.files import Moved, list_stems, read_bytes, remove_file, replace_file
from mabos_cli.workspace.layout import PAGE, AgentPaths
from mabos_cli.workspace.memory.long_term import LongTermStore

# Pages of long-term memory, with loaders of their lines.
Pages = dict[str, Callable[[], list[bytes]]]


class DerivedFiles:
    """Derived files of an agent as they are brought up to date: which changed, and warnings about those that somebody had
    edited."""

    def __init__(self, agent: Agent) -> None:
        self._home = agent
        self.changed: list[str] = []
        self.warnings: list[str] = []

    def write(self, path: Path, text: str) -> None:
        """Writes a file if it differs."""
        written, notes = write_derived(self._home, path, text)
        self.changed += [self._home.paths.relative(path)] if written else []
        self.warnings += notes

    def remove(self, path: Path) -> None:
        """Removes a file that stands for nothing any more; what somebody wrote into it is kept aside."""
        self.warnings += set_aside(self._home, path, read_bytes(path) or b"")
        remove_file(path, root=self._home.paths.workspace.root)
        self.changed.append(self._home.paths.relative(path))


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
    pages, there = derived_pages(agent, long_term) if pages is None else pages, _pages_there(agent.paths)
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
    stale += [agent.paths.items_page(name) for name in sorted(_pages_there(agent.paths) - pages.keys())]
    return [agent.paths.relative(path) for path in stale]


def derived_pages(agent: Agent, long_term: LongTermStore) -> Pages:
    """The pages to be written, with loaders; none while memory is small. Short-term memory comes and goes: it does not count."""
    if len(long_term) <= agent.settings["memory.materialize_split_above"]:
        return {}
    return long_term.pages(agent.settings["memory.page_items"])


def _pages_there(paths: AgentPaths) -> set[str]:
    """Our pages in the folder of pages; what else lies there is somebody's own."""
    return {name for name in list_stems(paths.items_pages, ".md") if re.fullmatch(PAGE, name)}


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


def write_derived(agent: Agent, path: Path, text: str) -> tuple[bool, list[str]]:
    """Replaces a derived file if it differs: whether it did, and a warning about what a person had changed in it."""
    data, paths = text.encode("utf-8"), agent.paths
    notes: list[str] = []
    for _ in range(20):
        old = read_bytes(path)
        if old == data:
            return False, notes
        notes = list(dict.fromkeys((*notes, *set_aside(agent, path, old or b""))))
        with suppress(Moved):
            replace_file(path, data, root=paths.workspace.root, expect=old, shared=True)
            return True, notes
    raise Conflict(f"{paths.relative(path)} keeps changing", "somebody is writing it; try again")


def set_aside(agent: Agent, path: Path, old: bytes) -> list[str]:
    """Keeps what a person made of a derived file that is about to change, and says where."""
    if is_as_generated(old.decode("utf-8", "replace")):
        return []
    stamp = format_time(agent.now()).translate(str.maketrans("", "", "-:."))
    copy = _keep_edited(agent.paths, path, old, stamp)
    return [f"{agent.paths.relative(path)} had been edited; the edited copy is {agent.paths.relative(copy)}"]


def _keep_edited(paths: AgentPaths, path: Path, data: bytes, stamp: str) -> Path:
    """Saves what a person made of a derived file under a name of its own."""
    for number in range(1, 1000):
        copy = paths.set_aside / f"{path.stem}-{stamp}{f'-{number}' if number > 1 else ''}.md"
        kept = read_bytes(copy)
        if kept is None:
            with suppress(Moved):
                replace_file(copy, data, root=paths.workspace.root, expect=None)
                return copy
        elif kept == data:
            return copy
    raise Conflict(f"no free name in {paths.relative(paths.set_aside)}", "tidy that folder")
