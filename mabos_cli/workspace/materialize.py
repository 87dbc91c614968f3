"""Derived Markdown of memory items. Small memories are one file; large ones an index and pages, of which only the changed are written."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from mabos_cli.core.clock import format_time
from mabos_cli.core.item import MemoryItem
from mabos_cli.core.stores import Memory
from mabos_cli.errors import Conflict
from mabos_cli.formats.items import parse_item
from mabos_cli.formats.materialized import is_as_generated, render_item_page, render_items
from mabos_cli.workspace.files import Moved, list_names, read_bytes, remove_file, replace_file
from mabos_cli.workspace.home import AgentHome
from mabos_cli.workspace.layout import AgentPaths
from mabos_cli.workspace.long_term import Shelf


def materialize_items(
    home: AgentHome, memory: Memory, shelf: Shelf, dirty: set[str] | None = None
) -> list[str]:
    """Writes the derived files that changed and names them.

    dirty says which pages may have changed, so that only those are rendered; None rebuilds everything and removes
    pages that are no longer needed.
    """
    changed = [
        home.paths.relative(path)
        for path, text in _render(home, memory, shelf, dirty)
        if _write(home, path, text)
    ]
    for path in _superfluous(home, shelf, memory) if dirty is None else ():
        remove_file(path)
        changed.append(home.paths.relative(path))
    return changed


def stale_derived(home: AgentHome) -> list[str]:
    """The derived files that a rebuild would change."""
    loaded = home.load()
    memory = loaded.memory()
    stale = [
        path
        for path, text in _render(home, memory, loaded.shelf, None)
        if read_bytes(path) != text.encode("utf-8")
    ]
    return [home.paths.relative(path) for path in [*stale, *_superfluous(home, loaded.shelf, memory)]]


def _render(
    home: AgentHome, memory: Memory, shelf: Shelf, dirty: set[str] | None
) -> Iterator[tuple[Path, str]]:
    """Paths and texts of the derived files that may have changed."""
    paths, there = home.paths, _pages_there(home.paths)
    counts = {"working": len(memory.working), "short_term": len(memory.short_term), "long_term": len(shelf)}
    recent = [("working", memory.working), ("short_term", memory.short_term)]
    # Once in pages, always in pages, until somebody asks for a full rebuild: no flapping around the limit.
    if not _is_paged(home, shelf, memory) and (dirty is None or not there):
        if any(counts.values()) or paths.items_md.exists():
            yield (
                paths.items_md,
                render_items(home.id, [*recent, ("long_term", _decode(shelf.lines()))], counts),
            )
        return
    pages = shelf.pages(home.settings["memory.page_items"])
    for name, lines in pages.items():
        if dirty is None or name in dirty or name not in there:
            yield paths.items_page(name), render_item_page(home.id, name, _decode(lines()))
    sizes = {name: shelf.head.pages.get(name) or len(lines()) for name, lines in pages.items()}
    yield paths.items_md, render_items(home.id, recent, counts, sizes)


def _is_paged(home: AgentHome, shelf: Shelf, memory: Memory) -> bool:
    return (
        len(memory.working) + len(memory.short_term) + len(shelf)
        > home.settings["memory.materialize_split_above"]
    )


def _pages_there(paths: AgentPaths) -> set[str]:
    return {
        name.removesuffix(".md") for name in list_names(paths.items_page("x").parent) if name.endswith(".md")
    }


def _superfluous(home: AgentHome, shelf: Shelf, memory: Memory) -> list[Path]:
    """Pages of derived Markdown that no longer stand for anything."""
    paged = _is_paged(home, shelf, memory)
    wanted = shelf.pages(home.settings["memory.page_items"]).keys() if paged else set()
    return [home.paths.items_page(name) for name in sorted(_pages_there(home.paths) - wanted)]


def _decode(lines: Iterable[bytes]) -> Iterator[MemoryItem]:
    return (parse_item(line, "memory-store.json") for line in lines)


def _write(home: AgentHome, path: Path, text: str) -> bool:
    """Replaces a derived file if it differs; whether it did. What a person changed in it is set aside, never overwritten."""
    data, paths = text.encode("utf-8"), home.paths
    for _ in range(20):
        old = read_bytes(path)
        if old == data:
            return False
        if old is not None and not is_as_generated(old.decode("utf-8", "replace")):
            stamp = format_time(home.now()).translate(str.maketrans("", "", "-:."))
            _keep_edited(paths, path, old, stamp)
        with suppress(Moved):
            replace_file(path, data, root=paths.workspace.root, expect=old)
            return True
    raise Conflict(f"{paths.relative(path)} keeps changing", "somebody is writing it; try again")


def _keep_edited(paths: AgentPaths, path: Path, data: bytes, stamp: str) -> None:
    for number in range(1, 1000):
        copy = paths.set_aside / f"{path.stem}-{stamp}{f'-{number}' if number > 1 else ''}.md"
        kept = read_bytes(copy)
        if kept == data:
            return
        if kept is None:
            with suppress(Moved):
                return replace_file(copy, data, root=paths.workspace.root, expect=None)
