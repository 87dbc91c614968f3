"""capture and harvest, killed, cut off or refused along the way: nothing acknowledged is lost, and nothing is doubled."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from forked import Fault, places, run

NOW = "2026-03-04T12:00:00Z"
LATER = "2026-03-04T12:00:01Z"
MUCH_LATER = "2026-03-04T13:00:00Z"
DAY = "agents/main/observations/2026-03-04.jsonl"
OTHERS = ("powerloss", "ENOSPC", "EIO", "powerloss")
TEXTS = ("one apple fell", "two pears hang", "one apple fell", "three figs are ripe")
SETTINGS = {"MABOS_HARVEST_CHUNK": "2", "MABOS_MEMORY_SPLIT_ABOVE": "1", "MABOS_MEMORY_PAGE_ITEMS": "2"}


@pytest.fixture
def seed(quick: Path) -> Path:
    """A workspace with observations that wait."""
    root = quick / "seed"
    assert run("init", str(root), MABOS_NOW=NOW).code == 0
    for text in TEXTS:
        assert run("capture", text, "-w", str(root), MABOS_NOW=NOW).code == 0
    return root


def told(root: Path) -> list[str]:
    """The texts of all complete observations."""
    found = []
    for line in (root / DAY).read_bytes().split(b"\n"):
        try:
            found.append(json.loads(line)["text"])
        except ValueError:
            continue
    return found


def lineages(root: Path) -> Counter:
    """How many items, live or archived, each observation became."""
    folder = root / "agents/main"
    stores = [folder / "memory-store.json", *folder.glob("memory-store/*.json")]
    held = [json.loads(path.read_text()) for path in stores if path.exists()]
    items = [item for each in held for name in ("working", "short_term", "long_term") for item in each.get(name, ())]
    lines = [line for path in folder.glob("archive/*.jsonl") for line in path.read_text().split("\n") if line]
    items += [json.loads(line)["item"] for line in lines]
    return Counter(source for item in items for source in item.get("derived_from", ()))


def faults(seed: Path, root: Path, *words: str, step: int = 1):
    """A kill at each step-th change of a command, and at every third of them another fault; each on a fresh copy."""
    shutil.copytree(seed, root)
    calls = run(*words, "-w", str(root), MABOS_NOW=LATER, **SETTINGS).calls
    assert calls > 5
    for turn, at in enumerate(places(calls, step), 1):
        for kind in ("kill", OTHERS[turn // 3 % len(OTHERS)])[: 1 if turn % 3 else 2]:
            shutil.rmtree(root)
            shutil.copytree(seed, root)
            done = run(*words, "-w", str(root), fault=Fault(kind, at), MABOS_NOW=LATER, **SETTINGS)
            assert "Traceback" not in done.stderr
            yield kind, at, done


def test_capture(seed: Path, quick: Path) -> None:
    root, before = quick / "ws", told(seed)
    for kind, at, done in faults(seed, root, "capture", "the new one"):
        here = told(root)
        assert here[: len(before)] == before, (kind, at)
        assert here[len(before) :] in ([], ["the new one"]), (kind, at)
        if done.code == 0:
            assert here[-1] == "the new one", (kind, at)
        again = run("capture", "the next one", "-w", str(root), MABOS_NOW=LATER)
        assert again.code == 0, again.stderr
        assert told(root)[-1] == "the next one", (kind, at)
        ids = [json.loads(line)["id"] for line in (root / DAY).read_bytes().split(b"\n") if line.endswith(b"}")]
        assert len(ids) == len(set(ids)), (kind, at)


def test_harvest(seed: Path, quick: Path) -> None:
    """Where the writer that was killed left no intent behind, .mabos goes too: a clone has none."""
    root, cut_off = quick / "ws", 0
    for kind, at, _ in faults(seed, root, "harvest", step=4):
        lock = root / ".mabos/locks/main.lock"
        stored = sum(lineages(root).values())
        if not lock.exists() or b'"version"' not in lock.read_bytes():
            shutil.rmtree(root / ".mabos", ignore_errors=True)
        again = run("harvest", "--json", "-w", str(root), MABOS_NOW=MUCH_LATER, **SETTINGS)
        assert again.code == 0, again.stderr
        data = json.loads(again.stdout)["data"]
        cut_off += bool(data["known"])
        assert data["known"] <= stored, (kind, at)
        assert set(lineages(root).values()) == {1} and len(lineages(root)) == len(TEXTS), (kind, at)
        before = (root / "agents/main/memory-store.json").read_bytes()
        third = json.loads(run("harvest", "--json", "-w", str(root), MABOS_NOW=MUCH_LATER, **SETTINGS).stdout)["data"]
        assert (third["harvested"], third["merged"], third["known"]) == (0, 0, 0), (kind, at)
        assert (root / "agents/main/memory-store.json").read_bytes() == before, (kind, at)
    assert cut_off, cut_off  # between items and ledger
