"""Derived Markdown of memory items. Small memories are one file; large ones an index and pages, of which only the changed are written."""

from collections.abc import Callable, Iterable, Iterator
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


def materialize_items(home: AgentHome, memory: Memory, shelf: Shelf, dirty: set[str] | None = None) -> list[str]:
    """Writes the derived files that changed and names them.

    dirty says which pages may have changed, so that only those are rendered; None rebuilds everything and removes
    pages that are no longer needed.
    """
    settings, paths = home.settings, home.paths
    counts = {"working": len(memory.working), "short_term": len(memory.short_term), "long_term": len(shelf)}
    folder = paths.items_page("x").parent
    there = {name.removesuffix(".md") for name in list_names(folder) if name.endswith(".md")}
    recent = [("working", memory.working), ("short_term", memory.short_term)]
    pages: dict[str, Callable[[], list[bytes]]] = {}
    # Once in pages, always in pages, until somebody asks for a full rebuild: no flapping around the limit.
    if sum(counts.values()) > settings["memory.materialize_split_above"] or (dirty is not None and there):
        pages = shelf.pages(settings["memory.page_items"])
        text = render_items(home.id, recent, counts, {name: shelf.head.pages.get(name) or len(pages[name]()) for name in pages})
    else:
        text = render_items(home.id, [*recent, ("long_term", _decode(shelf.lines()))], counts)
    changed = []
    for name, lines in pages.items():
        if dirty is None or name in dirty or name not in there:
            changed += _write(home, paths.items_page(name), render_item_page(home.id, name, _decode(lines())))
    changed += _write(home, paths.items_md, text)
    for name in there - pages.keys() if dirty is None else ():
        remove_file(paths.items_page(name))
        changed.append(paths.relative(paths.items_page(name)))
    return changed


def _decode(lines: Iterable[bytes]) -> Iterator[MemoryItem]:
    return (parse_item(line, "memory-store.json") for line in lines)


def _write(home: AgentHome, path: Path, text: str) -> list[str]:
    """Replaces a derived file if it differs. What a person changed in it is set aside, never overwritten."""
    data, paths = text.encode("utf-8"), home.paths
    for _ in range(20):
        old = read_bytes(path)
        if old == data:
            return []
        if old is not None and not is_as_generated(old.decode("utf-8", "replace")):
            stamp = format_time(home.now()).translate(str.maketrans("", "", "-:."))
            _keep_edited(paths, path, old, stamp)
        with suppress(Moved):
            replace_file(path, data, root=paths.workspace.root, expect=old)
            return [paths.relative(path)]
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
