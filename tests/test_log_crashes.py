"""mabos log, killed, cut off or refused at every single change: nothing is lost or doubled, and the next run finishes it."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from forked import Fault, places, run, tree

NOW = "2026-03-04T12:00:00Z"
MEMORY = "agents/main/MEMORY.md"
LEDGER = "agents/main/memory/archive/consolidated.jsonl"
OTHERS = ("powerloss", "ENOSPC", "EIO")


def log(root: Path, name: str, *lines: str) -> None:
    path = root / "agents/main/memory" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# {path.stem} — Agent Log\n\n" + "".join(f"- {line}\n" for line in lines), "utf-8")


def seeded(root: Path) -> None:
    """Old logs, one of a day that has an archived part, links to them, and a line of a person's own in MEMORY.md."""
    assert run("init", str(root), MABOS_NOW=NOW).code == 0
    for number in (3, 4):
        log(root, f"2026-01-0{number}", f"Decision: number {number}", f"an aside {number}")
    log(root, "archive/2026/2026-01-05", "Decision: the first part")
    log(root, "2026-01-05", "Decision: the second part")
    log(root, "2026-02-20", "Decision: a young one", "Fact: remember the vault")
    (root / MEMORY).write_text("# Mine\n\n[Monday](memory/2026-01-05.md#x), [before](memory/2026-01-04.md)")


def told(root: Path) -> Counter:
    """Every line of every log."""
    folder = root / "agents/main/memory"
    texts = [path.read_text("utf-8") for path in folder.rglob("2026-*.md")]
    return Counter(line for text in texts for line in text.split("\n") if line.startswith("- "))


def bullets(root: Path) -> Counter:
    return Counter(line for line in (root / MEMORY).read_text("utf-8").split("\n") if line.startswith("- "))


@pytest.fixture
def seed(quick: Path) -> Path:
    seeded(quick / "seed")
    return quick / "seed"


def files(root: Path) -> dict[str, bytes]:
    """Every file but temporary ones: those of a power cut are left to doctor."""
    return {name: data for name, data in tree(root).items() if ".mabos-tmp-" not in name}


def faults(seed: Path, root: Path, *words: str):
    """A kill at every second change of a command, and one other fault in turn; each on a fresh copy."""
    shutil.copytree(seed, root)
    calls = run(*words, "-w", str(root), MABOS_NOW=NOW).calls
    assert calls > 15
    for turn, at in enumerate(places(calls, 2)):
        for kind in ("kill", OTHERS[turn % len(OTHERS)]):
            shutil.rmtree(root)
            shutil.copytree(seed, root)
            done = run(*words, "-w", str(root), fault=Fault(kind, at), MABOS_NOW=NOW)
            assert "Traceback" not in done.stderr
            yield kind, at, done


def test_archive(seed: Path, quick: Path) -> None:
    clean, root = quick / "clean", quick / "ws"
    shutil.copytree(seed, clean)
    assert run("log", "archive", "-w", str(clean), MABOS_NOW=NOW).code == 0
    expected, lines = files(clean), told(seed)
    assert told(clean) == lines
    for kind, at, done in faults(seed, root, "log", "archive"):
        here = told(root)
        assert here.keys() == lines.keys(), (kind, at)
        if done.code == 0 and "warning" not in done.stderr:
            assert files(root) == expected, (kind, at)
        again = run("log", "archive", "-w", str(root), MABOS_NOW=NOW)
        assert again.code == 0, again.stderr
        assert files(root) == expected, (kind, at)


def test_consolidate(seed: Path, quick: Path) -> None:
    clean, root = quick / "clean", quick / "ws"
    shutil.copytree(seed, clean)
    assert run("log", "consolidate", "-w", str(clean), MABOS_NOW=NOW).code == 0
    expected = files(clean)
    assert len(bullets(clean)) == 6
    for kind, at, done in faults(seed, root, "log", "consolidate"):
        if done.code == 0:
            assert files(root) == expected, (kind, at)
        again = run("log", "consolidate", "-w", str(root), MABOS_NOW=NOW)
        assert again.code == 0, again.stderr
        assert files(root)[MEMORY] == expected[MEMORY], (kind, at)
        (root / MEMORY).write_text("# Mine\n")
        third = run("log", "consolidate", "--json", "-w", str(root), MABOS_NOW=NOW)
        assert json.loads(third.stdout)["data"]["taken"] == [], (kind, at)
        assert bullets(root) == Counter()


def test_facts_of_a_model(seed: Path, quick: Path) -> None:
    """A fact rests on several events: after a kill between MEMORY.md and the ledger, none of them is taken again."""
    clean, root, words = quick / "clean", quick / "ws", ("log", "consolidate", "--llm")
    fact = {"content": "the first part and the second part", "category": "decision", "events": [3, 4]}
    answer = {"facts": [fact | {"importance": 0.8, "confidence": 0.8}], "summary": ""}
    (quick / "facts.json").write_text(json.dumps(answer))
    model = {"MABOS_LLM_COMMAND": f"cat {quick / 'facts.json'}", "MABOS_NOW": NOW}
    shutil.copytree(seed, clean)
    calls = run(*words, "-w", str(clean), **model).calls
    expected = files(clean)[MEMORY]
    assert len(bullets(clean)) == 5 and b"; llm:command:cat)" in expected
    for at in places(calls, 2):
        shutil.rmtree(root, ignore_errors=True)
        shutil.copytree(seed, root)
        assert "Traceback" not in run(*words, "-w", str(root), fault=Fault("kill", at), **model).stderr
        assert run(*words, "-w", str(root), **model).code == 0
        assert files(root)[MEMORY] == expected, at
