"""Pages of which nothing leaves yet are passed over by the lifecycle, and old logs that did not change by log consolidation."""

import shutil
import time

import pytest

from mabos_cli.services.hierarchy import log_consolidation
from mabos_cli.services.memory import upkeep

from ..desk import Desk

SPLIT = "memory: {split_above: 4, materialize_split_above: 4, page_items: 4}\nlifecycle: {fuse: 1}\n"


def at(monkeypatch: pytest.MonkeyPatch, day: int) -> None:
    monkeypatch.setenv("MABOS_NOW", f"2026-{1 + day // 28:02}-{1 + day % 28:02}T10:00:00Z")


def leaving(desk: Desk) -> tuple[list[str], int, int]:
    found = upkeep.run_lifecycle(desk.home(), dry_run=True, is_confirmed=False)[0]
    return sorted(away.departure.item.id for away in found.leaving), found.fading, found.live


def test_the_lifecycle_finds_what_it_would_find_on_all_pages(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.settle(SPLIT)
    ids = []
    for day in range(20):
        at(monkeypatch, day)
        more = ["--expires", f"{day * 3}d"] if day % 5 == 4 else ["--priority", ("low", "high", "critical")[day % 3]]
        said = desk.run("store", f"Observed thing {day} at the pier", "--store", "long_term", "--json", *more)
        assert said.code == 0, said.stderr
        ids.append(said.data["id"])
    time.sleep(0.03)  # what was just written is not settled yet
    kinds = set()
    for day in range(20, 200, 3):
        at(monkeypatch, day)
        if day == 41:
            assert desk.run("reinforce", ids[0]).code == 0
        found = leaving(desk)
        shutil.rmtree(desk.root / ".mabos/seen", ignore_errors=True)
        assert found == leaving(desk) == leaving(desk)
        kinds.add((bool(found[0]), bool(found[1])))
    assert kinds == {(True, False), (True, True)}
    assert leaving(desk)[2] == 20
    at(monkeypatch, 25)
    fading = leaving(desk)[1]
    desk.settle(SPLIT.replace("{fuse: 1}", "{fuse: 1, notice: 20d}"))
    assert leaving(desk)[1] > fading


def test_pages_that_rest_are_not_read(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.settle(SPLIT)
    for number in range(20):
        at(monkeypatch, 1)
        desk.run("store", f"Observed thing {number} at the pier", "--store", "long_term")
    time.sleep(0.03)
    parsed: list[bytes] = []
    parse = upkeep.parse_item
    monkeypatch.setattr(upkeep, "parse_item", lambda line, where: parsed.append(line) or parse(line, where))
    assert leaving(desk) == ([], 0, 20)
    assert len(parsed) >= 12
    parsed.clear()
    monkeypatch.setattr(upkeep.LongTermView, "_decode", lambda self, line: parsed.append(line) or parse(line, ""))
    assert leaving(desk) == ([], 0, 20)
    assert len(parsed) <= 8


def test_logs_that_did_not_change_are_not_read(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    at(monkeypatch, 0)
    for day in range(1, 10):
        desk.write(f"memory/2025-11-0{day}.md", f"# 2025-11-0{day}\n\n## Decision (10:00 UTC)\n\nWe chose port {day}\n")
    read: list[str] = []
    real = log_consolidation.read_log
    monkeypatch.setattr(log_consolidation, "read_log", lambda paths, log: read.append(log.day) or real(paths, log))

    time.sleep(0.03)
    assert desk.run("log", "consolidate").code == 0
    assert {*read} == {f"2025-11-0{day}" for day in range(1, 10)}
    read.clear()
    text = (desk.folder() / "MEMORY.md").read_text()
    assert desk.run("log", "consolidate").code == 0
    assert read == [] and "We chose port 9" in text
    with (desk.folder() / "memory/2025-11-09.md").open("a") as file:
        file.write("\n## Decision (11:00 UTC)\n\nWe decided to keep the quay\n")
    assert desk.run("log", "consolidate").code == 0
    assert "2025-11-09" in read and "keep the quay" in (desk.folder() / "MEMORY.md").read_text()


def test_a_use_that_is_not_counted_in_yet_puts_fading_off(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.settle(SPLIT)
    at(monkeypatch, 1)
    said = [desk.run("store", f"Observed thing {n} at the pier", "--store", "long_term", "--json") for n in range(12)]
    time.sleep(0.03)
    at(monkeypatch, 28)
    assert leaving(desk) == ([], 12, 12)
    desk.home().note_uses([said[0].data["id"], said[-1].data["id"]])
    assert leaving(desk) == leaving(desk) == ([], 10, 12)


def test_an_id_from_a_clock_that_was_ahead_resolves_when_it_has_left(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MABOS_NOW", "2027-03-22T07:00:00Z")
    desk.run("store", "The clock is a year ahead", "--store", "long_term")
    monkeypatch.setenv("MABOS_NOW", "2026-03-22T07:00:00Z")
    item = desk.run("store", "The clock is right again", "--json").data["id"]
    assert desk.run("forget", item, "--reason", "over").code == 0
    monkeypatch.setenv("MABOS_NOW", "2027-05-01T07:00:00Z")
    assert "forgotten" in desk.run("get", item).stdout
