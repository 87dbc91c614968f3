"""Cases under many hands: several processes, and kills; nothing that was acknowledged is lost, and no case occurs twice."""

import json
import shutil
import threading
from itertools import cycle
from pathlib import Path

import pytest
from forked import Fault, run

NOW = {"MABOS_NOW": "2026-02-24T12:00:00Z"}


@pytest.fixture
def root(quick: Path) -> Path:
    """A workspace with four cases, of which no more are kept."""
    root = quick / "ws"
    assert run("init", str(root), **NOW).code == 0
    (root / "mabos.yaml").write_text("cbr:\n  max_cases: 4\n")
    for number in range(4):
        call(root, "store", "--belief", f"b{number}", "--action", "wait")
    return root


def call(root: Path, *words: str) -> None:
    done = run("case", *words, "-w", str(root), **NOW)
    assert done.code == 0 and "Traceback" not in done.stderr, f"{words}: {done.code} {done.stderr}"


def live(root: Path) -> dict[str, dict]:
    cases = json.loads((root / "agents/main/cases.json").read_text("utf-8"))
    found = {case["situation"]["beliefs"][0]: case for case in cases}
    assert len(found) == len(cases) == len({case["case_id"] for case in cases})
    return found


def left(root: Path) -> set[str]:
    lines = [line for path in (root / "agents/main/archive").glob("*.jsonl") for line in path.read_text().split("\n")]
    return {
        json.loads(line)["case"]["situation"]["beliefs"][0]
        for line in lines
        if line.startswith('{"id": "C-') and line.endswith("}")
    }


def test_many_writers_lose_nothing(root: Path) -> None:
    (root / "mabos.yaml").write_text("cbr:\n  max_cases: 8\n")
    problems: list[BaseException] = []

    def writer(number: int) -> None:
        try:
            for n in range(4):
                call(root, "store", "--belief", f"W{number}N{n}", "--action", "wait")
                call(root, "store", "--belief", "shared", "--action", "wait")  # all say the same
        except AssertionError as error:
            problems.append(error)

    threads = [threading.Thread(target=writer, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems, problems[0]
    told = {*(f"W{w}N{n}" for w in range(3) for n in range(4)), "shared", *(f"b{n}" for n in range(4))}
    assert len(live(root)) == 8 and live(root).keys() | left(root) == told
    assert live(root)["shared"]["merged"] == 11


COMMANDS = {
    "store": ("store", "--belief", "new", "--action", "wait"),
    "merge": ("store", "--belief", "b3", "--action", "wait", "--lessons", "Learned"),
    "revise": ("revise", "C-004", "--lessons", "Learned"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_fault_anywhere_loses_nothing(root: Path, command: str) -> None:
    """A few of the points, each with another fault; crashpoint takes all of them."""
    seed = shutil.copytree(root, root.parent / "seed")
    words = ("case", *COMMANDS[command], "-w", str(root))
    clean = run(*words, **NOW)
    assert clean.code == 0 and clean.calls > 10
    for at, fault in zip(range(1, clean.calls + 1, 7), cycle(("kill", "powerloss", "ENOSPC")), strict=False):
        shutil.rmtree(root)
        shutil.copytree(seed, root)
        outcome = run(*words, fault=Fault(fault, at), **NOW)
        assert "Traceback" not in outcome.stderr, outcome.stderr
        where = f"{fault} at change {at} of {clean.calls} (exit {outcome.code}, {outcome.stderr})"
        found, gone = live(root), left(root)
        assert {"b0", "b1", "b2", "b3"} <= found.keys() | gone, where
        if outcome.code == 0:
            assert command != "store" or "new" in found, where
            assert command == "store" or found["b3"]["outcome"]["lessons"] == "Learned", where
        call(root, "store", "--belief", "later", "--action", "wait")  # the next one works, and mends what is derived
        text = (root / "agents/main/memory/mabos-cases.md").read_text("utf-8")
        assert all(f"**Beliefs:** {own}\n" in text for own in live(root)), where
        assert text.count("## [case]") == len(live(root)) == 4, where
