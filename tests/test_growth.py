"""A memory as it grows: files of version 0.1.0, a large single file, batches that are cut off, uses that wait."""

import json
import shutil
from pathlib import Path

import pytest
from agent import Agent
from forked import Fault, run_here

FIXTURE = Path(__file__).parent.parent / "fixtures/version_0_1_0"


def lines_of(root: Path) -> dict[str, list[dict]]:
    """The long-term items of each file of the store."""
    home = next((root / "agents").iterdir())
    files = [home / "memory-store.json", *(home / "memory-store").glob("*.json")]
    return {file.stem: json.loads(file.read_text())["long_term"] for file in files}


def by_id(root: Path) -> dict[str, dict]:
    """All long-term items; no id stands in two files."""
    found = [item for items in lines_of(root).values() for item in items]
    assert len({item["id"] for item in found}) == len(found)
    return {item["id"]: item for item in found}


def test_a_workspace_of_version_0_1_0_opens_grows_and_loses_nothing(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    shutil.copytree(FIXTURE, root)
    (root / ".mabos").mkdir()
    (root / "queue").rename(root / ".mabos/queue")
    agent, before = Agent(root, MABOS_MEMORY_SPLIT_ABOVE="10", MABOS_MEMORY_PAGE_ITEMS="6"), by_id(root)
    uses = sum(len(json.loads(line).get("ids", ())) for line in (root / ".mabos/queue/old.access.jsonl").open())
    assert len(before) == 26 and uses
    assert agent.do("status")["due"]["journalled_uses"] == uses
    for n in range(12):
        agent.minutes = n
        agent.do("store", f"Crane {n * 7} was greased", "--store", "long_term", "--type", "event")
    after = by_id(root)
    assert before.keys() < after.keys() and len(after) == 26 + 12
    assert all(after[i]["content"] == item["content"] for i, item in before.items())
    assert any(
        "A queued note about the crane" in item["content"]
        for item in agent.do("recall", "crane", "--limit", "50")["results"]
    )
    counted = sum(item["access_count"] for item in after.values()) + agent.do("status")["due"]["journalled_uses"]
    assert counted >= uses
    archived = json.loads((root / "agents/old/archive/2026-02.jsonl").read_text())["id"]
    assert agent.run("get", archived).code == 0
    assert agent.do("doctor", "--repair") and agent.do("doctor")["healthy"]


def test_a_large_single_file_moves_to_pages_in_several_writes(tmp_path: Path) -> None:
    agent = Agent(
        tmp_path / "ws", MABOS_MEMORY_SPLIT_ABOVE="100000", MABOS_MEMORY_MATERIALIZE_SPLIT_ABOVE="100000"
    ).init()
    agent.batch(
        [{"content": f"entry {n} of ledger {n * 31}", "store": "long_term", "importance": 0.5} for n in range(300)]
    )
    assert len(lines_of(agent.root)["memory-store"]) == 300
    agent.settings |= {
        "MABOS_MEMORY_SPLIT_ABOVE": "20",
        "MABOS_MEMORY_MATERIALIZE_SPLIT_ABOVE": "20",
        "MABOS_MEMORY_PAGE_ITEMS": "50",
    }
    held = []
    for n in range(4):
        agent.do("store", f"something short {n}", "--store", "working")
        held.append(len(lines_of(agent.root)["memory-store"]))
    assert held == [200, 100, 10, 10] and len(by_id(agent.root)) == 300
    assert agent.do("materialize")["changed"] == [] and agent.do("doctor")["healthy"]


def test_uses_are_exact_and_a_write_touches_few_pages(tmp_path: Path) -> None:
    settings = {
        "MABOS_MEMORY_SPLIT_ABOVE": "10",
        "MABOS_MEMORY_PAGE_ITEMS": "5",
        "MABOS_MEMORY_ACCESS_JOURNAL_LINES": "3",
    }
    agent = Agent(tmp_path / "ws", **settings).init()
    made = agent.batch([{"content": f"entry {n} of ledger {n * 31}", "store": "long_term"} for n in range(60)])["items"]
    ids = [row["id"] for row in made][:40]
    for item_id in ids:
        agent.do("get", item_id)
    for n in range(3):
        before = lines_of(agent.root)
        agent.do("store", f"something short {n}", "--store", "working")
        after = lines_of(agent.root)
        assert sum(before[name] != after[name] for name in before if name != "memory-store") <= 2
    assert [agent.do("get", item_id, "--no-use")["item"]["access_count"] for item_id in ids] == [1] * 40
    for n in range(20):
        agent.do("store", f"something short again {n}", "--store", "working")
    counts = by_id(agent.root)
    assert sum(counts[item_id]["access_count"] for item_id in ids) + agent.do("status")["due"]["journalled_uses"] == 40
    assert agent.do("status")["due"]["journalled_uses"] <= 3


def test_a_batch_that_was_cut_off_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mabos_cli.services.memory.remember._CHUNK", 10)
    agent = Agent(tmp_path / "ws").init()
    rows = [{"content": f"entry {n} of ledger {n * 31}", "store": "long_term", "importance": 0.5} for n in range(35)]
    path, words = tmp_path / "rows.ndjson", ("store", "--batch", str(tmp_path / "rows.ndjson"), "-w", str(agent.root))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows[:24]) + '{"content": ""}\n')
    failed = run_here(*words)
    assert failed.code == 4 and ":25:" in failed.stderr and not agent.store.exists()
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for at in range(20, 1000, 40):  # killed at a later place each time, until it gets through
        done = run_here(*words, fault=Fault("kill", at))
        if done.code == 0:
            break
    assert done.code == 0 and at > 60
    assert sorted(item["content"] for item in by_id(agent.root).values()) == sorted(row["content"] for row in rows)
    assert "batches" not in json.loads(agent.store.read_text())
    assert agent.do("doctor")["healthy"]
