"""Where long-term items stand: found on the page of their month without reading the others."""

from pathlib import Path

import pytest

from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.formats.memory.items import StoreFile, line_id, render_item, render_page
from mabos_cli.workspace.layout import AgentPaths, WorkspacePaths
from mabos_cli.workspace.memory import store as stored
from mabos_cli.workspace.memory.store import LongTermStore, page_of

BORN = 1_770_000_000_000  # in February 2026


def put_lines(root: Path, ids: list[str], page_items: int = 5) -> tuple[AgentPaths, StoreFile]:
    """Pages on disk with these items in this order, and the head that lists them."""
    paths = WorkspacePaths(root).agent("main")
    pages: dict[str, list[bytes]] = {}
    for n, line in enumerate(render_item(MemoryItem(i, f"note {i}")) for i in ids):
        part = n // page_items + 1
        pages.setdefault(page_of(line) + (f"-{part}" if part > 1 else ""), []).append(line)
    for name, lines in pages.items():
        paths.store_page(name).parent.mkdir(parents=True, exist_ok=True)
        paths.store_page(name).write_bytes(render_page(lines))
    return paths, StoreFile(pages={name: len(lines) for name, lines in pages.items()})


def ids(count: int) -> list[str]:
    return [f"M-{BORN + n // 3}-{n % 3 * 7:04x}" for n in range(count)]


def count_reads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    read: list[Path] = []
    real = stored.read_bytes
    monkeypatch.setattr(stored, "read_bytes", lambda path: read.append(path) or real(path))
    return read


def test_an_item_is_found_on_its_page_and_no_other_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths, head = put_lines(tmp_path, ids(103))
    assert len(head.pages) == 21
    read = count_reads(monkeypatch)
    for item_id in ids(103):
        assert LongTermStore(paths, head).find(item_id) == render_item(MemoryItem(item_id, f"note {item_id}"))
        assert len(set(read)) == 1
        read.clear()


def test_an_item_out_of_order_is_found_as_well(tmp_path: Path) -> None:
    own = ids(60)
    mixed = [
        *own[3:30],
        own[1],
        *own[40:],
        own[0],
        *own[30:40],
        own[2],
        "M-1769900000000-0001",
        "mem-from-elsewhere",
    ]
    paths, head = put_lines(tmp_path, mixed)
    found = [LongTermStore(paths, head).find_place(item_id) for item_id in mixed]
    assert None not in found and len(set(found)) == len(mixed)
    lines = [LongTermStore(paths, head).find(item_id) for item_id in mixed]
    assert [line_id(line) for line in lines if line] == mixed and LongTermStore(paths, head).find("M-1-0000") is None
    assert LongTermStore(paths, head).find_place(f"M-{BORN + 5}-ffff") is None
    assert LongTermStore(paths, head).find_place("M-1-0000") is None


def test_an_empty_page_that_is_not_there_hinders_nobody(tmp_path: Path) -> None:
    paths, head = put_lines(tmp_path, ids(40))
    for name in ("2026-02-4", "2026-02-99"):
        lost = paths.store_page(name)
        lost.unlink(missing_ok=True)
        head.pages[name] = 0
    found = [LongTermStore(paths, head).find_place(item_id) for item_id in ids(40)]
    assert sum(place is None for place in found) == 5
