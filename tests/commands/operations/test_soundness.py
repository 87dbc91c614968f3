"""doctor and materialize do not read again what was in order, until something that decides it changes."""

import json
import os
import time
from pathlib import Path

import pytest

from mabos_cli.services.operations import soundness
from mabos_cli.services.operations.doctor import Finding, examine
from mabos_cli.workspace.memory import derived_pages

from ..desk import Desk


def settle() -> None:
    """Waits until what was just written counts as settled."""
    time.sleep(0.03)


@pytest.fixture
def paged(desk: Desk) -> Desk:
    """A workspace with three pages of long-term memory that doctor found in order."""
    desk.settle("memory: {split_above: 4, materialize_split_above: 4, page_items: 4}\n")
    for n in range(16):
        said = desk.run("store", f"Fact number {n} of the harbour", "--type", "fact")
        assert said.code == 0, said.stderr
    desk.write("notes/plan.md", "# Plan\n\nThe quince is ripe.\n")
    settle()
    assert desk.run("materialize").code == 0
    assert serious(desk) == []
    return desk


def serious(desk: Desk, full: bool = False) -> list[Finding]:
    return [finding for finding in examine(desk.home(), full=full) if finding.level != "note"]


def pages(desk: Desk) -> list[Path]:
    return sorted((desk.folder() / "memory-store").iterdir())


def edit(path: Path, old: bytes, new: bytes) -> None:
    """Changes a file in place, to the same size and with its old times."""
    before, data = path.stat(), path.read_bytes()
    assert len(old) == len(new) and old in data
    path.write_bytes(data.replace(old, new, 1))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_what_did_not_change_is_not_read_again(paged: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bytes] = []
    parse = soundness.parse_item
    for module in (soundness, derived_pages):
        monkeypatch.setattr(module, "parse_item", lambda line, where: read.append(line) or parse(line, where))
    assert len(pages(paged)) == 3
    assert serious(paged) == []
    again, _ = len(read), read.clear()
    assert serious(paged, full=True) == []
    assert again <= 3 * 4 < 3 * 16 <= len(read)
    assert paged.run("store", "One more fact of the harbour", "--type", "fact").code == 0
    settle()
    assert paged.run("materialize").code == 0
    read.clear()
    assert paged.run("materialize").code == 0
    assert len(read) <= 2 * 4


@pytest.mark.parametrize("full", [False, True])
def test_an_edit_is_seen_whatever_was_in_order_before(paged: Desk, full: bool) -> None:
    page, root = pages(paged)[0], paged.folder()
    edit(root / "memory/mabos-memory-items" / f"{page.stem}.md", b"harbour", b"HARBOUR")
    edit(root / "memory/domains/facts" / f"{page.stem}.md", b"harbour", b"HARBOUR")
    edit(root / "notes/plan.md", b"quince", b"qui\0ce")
    places = [finding.place for finding in serious(paged, full)]
    assert places == [
        "notes/plan.md:3",
        f"memory/mabos-memory-items/{page.stem}.md",
        f"memory/domains/facts/{page.stem}.md",
    ]
    settle()
    assert [finding.place for finding in serious(paged)] == places
    assert paged.run("materialize").code == 0
    assert [finding.place for finding in serious(paged)] == ["notes/plan.md:3"]


def test_a_page_that_was_edited_is_decoded_again(paged: Desk) -> None:
    edit(pages(paged)[1], b'"content"', b'"c0ntent"')
    assert [finding.level for finding in serious(paged)][:1] == ["problem"]


def test_an_id_that_comes_twice_is_found_on_pages_that_did_not_change(paged: Desk) -> None:
    first, last = pages(paged)[0], pages(paged)[-1]
    [line, *_] = [line for line in first.read_bytes().split(b"\n") if b'"id"' in line]
    data = last.read_bytes()
    last.write_bytes(data.replace(b'{"id"', line.strip().rstrip(b",") + b',\n{"id"', 1))
    item_id = json.loads(line.strip().rstrip(b","))["id"]
    assert f"{item_id} occurs 2 times" in [finding.message for finding in serious(paged)]


def test_a_decision_about_trust_and_a_lost_record_are_no_trouble(paged: Desk) -> None:
    [item_id, *_] = json.loads(paged.run("recall", "fact number 3", "--json").stdout)["data"]["results"]
    assert paged.run("trust", item_id["id"], "--set", "untrusted", "--by", "ada").code == 0
    assert serious(paged) == serious(paged, full=True)
    for record in (paged.root / ".mabos/seen/main").iterdir():
        for damaged in (b"", b"[]", b"{", b'{"by": "0"}', record.read_bytes()[:-20]):
            record.write_bytes(damaged)
            assert serious(paged) == serious(paged, full=True)
