"""Two clones that both learned, merged by plain git: nothing is lost, nothing conflicts, and doctor finds nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import NOW, Mabos
from repositories import commit_all, git, settle_git, start_repository

from mabos_cli.formats.hierarchy.daily_log import parse_log

STORES, FACTS = 8, 3


@pytest.fixture
def clones(quick: Path, mabos: Mabos, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A workspace with a driver, and a clone of it that has one too. git finds the mabos of this Python."""
    settle_git(monkeypatch, quick)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("MABOS_NOW", NOW)
    ours, theirs = quick / "ours", quick / "theirs"
    assert mabos("init", str(ours)).code == 0
    assert mabos("store", "We bill per seat", "--store", "long_term", cwd=ours).code == 0
    start_repository(ours)
    assert mabos("git", "install", cwd=ours).code == 0
    commit_all(ours, "driver")
    git(quick, "clone", "-q", str(ours), str(theirs))
    assert mabos("git", "install", cwd=theirs).code == 0
    return ours, theirs


def learn(mabos: Mabos, root: Path, who: str, minute: int) -> None:
    """Stores, facts, a rule, a case and a trace in the archive, a minute apart from the other clone."""
    at = f"2026-02-24T15:{minute:02d}:00Z"
    stores = [
        {
            "content": f"{who} saw {'whale heron otter'.split()[n % 3]} number {n}",
            "store": "long_term" if n % 2 else "short_term",
        }
        for n in range(STORES)
    ]
    calls = [
        ("store", "--batch", "-"),
        *(("fact", "assert", who, "likes", f"thing {n}") for n in range(FACTS)),
        ("fact", "assert", "acme", "owns", "river", "--source", who),
        ("rule", "create", f"if ?x likes {who} then ?x knows {who}"),
        ("case", "store", "--context", f"{who} was asked", "--action", "answered"),
    ]
    for words in calls:
        stdin = "".join(json.dumps(each) + "\n" for each in stores) if "--batch" in words else ""
        done = mabos(*words, cwd=root, stdin=stdin, MABOS_NOW=at)
        assert done.code == 0, done.stderr
    lasting = json.loads((root / "agents" / "main" / "memory-store.json").read_bytes())["long_term"]
    gone = mabos("forget", lasting[-1]["id"], cwd=root, MABOS_NOW=at)
    assert gone.code == 0, gone.stderr
    commit_all(root, who)


def everything(mabos: Mabos, root: Path) -> dict[str, int]:
    folder = root / "agents" / "main"
    store = json.loads((folder / "memory-store.json").read_bytes())
    return {
        "items": sum(len(store[name]) for name in ("working", "short_term", "long_term")),
        "facts": len(json.loads((folder / "facts.json").read_bytes())["facts"]),
        "rules": len(json.loads((folder / "rules.json").read_bytes())["rules"]),
        "cases": len(json.loads((folder / "cases.json").read_bytes())),
        "archived": (folder / "archive" / "2026-02.jsonl").read_bytes().count(b'"kind": "item"'),
        "entries": len(parse_log((folder / "memory" / "2026-02-24.md").read_text("utf-8"))),
    }


def test_two_clones_become_one(clones: tuple[Path, Path], mabos: Mabos):
    ours, theirs = clones
    learn(mabos, ours, "ada", 1)
    learn(mabos, theirs, "bob", 2)
    git(ours, "pull", "-q", "--no-rebase", "--no-edit", str(theirs), "main")
    assert git(ours, "status", "--porcelain") == ""
    both = {
        "items": 2 * STORES - 1,  # the first one, and all but the one that each forgot
        "facts": 2 * FACTS + 1,  # acme owns river is one
        "rules": 2,
        "cases": 2,
        "archived": 2,
        "entries": 1 + 2 * STORES,
    }
    assert everything(mabos, ours) == both
    assert mabos("materialize", cwd=ours).code == 0
    assert "agent main is healthy" in mabos("doctor", "--check", cwd=ours).stdout
    commit_all(ours, "materialized")

    # The other way round: the same memory, byte for byte.
    git(theirs, "fetch", "-q", str(ours), "main")
    git(theirs, "merge", "-q", "--no-edit", git(ours, "rev-parse", "HEAD~1^1").strip())
    for name in ("memory-store.json", "facts.json", "rules.json", "cases.json", "memory/2026-02-24.md"):
        path = Path("agents", "main", name)
        assert (theirs / path).read_bytes() == (ours / path).read_bytes(), name


def test_a_clone_without_the_driver_merges_as_plain_git_does(clones: tuple[Path, Path], mabos: Mabos):
    ours, theirs = clones
    for root, text in ((ours, "ada was here"), (theirs, "bob was here")):
        assert mabos("store", text, "--store", "long_term", cwd=root).code == 0
        commit_all(root, text)
    git(ours, "config", "--remove-section", "merge.mabos")
    done = subprocess.run(
        ["git", "-C", ours, "pull", "-q", "--no-rebase", "--no-edit", theirs, "main"],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1 and b"CONFLICT" in done.stdout
    assert b"<<<<<<<" in (ours / "agents" / "main" / "memory-store.json").read_bytes()
    git(ours, "merge", "--abort")
    assert mabos("git", "install", cwd=ours).code == 0
    git(ours, "pull", "-q", "--no-rebase", "--no-edit", str(theirs), "main")
    assert everything_stored(ours) == {"We bill per seat", "ada was here", "bob was here"}


def everything_stored(root: Path) -> set[str]:
    store = json.loads((root / "agents" / "main" / "memory-store.json").read_bytes())
    return {item["content"] for item in store["long_term"]}


def test_a_malformed_side_is_left_to_a_person(clones: tuple[Path, Path], mabos: Mabos):
    ours, theirs = clones
    assert mabos("store", "ada was here", cwd=ours).code == 0
    commit_all(ours, "ada")
    (theirs / "agents" / "main" / "memory-store.json").write_text("{")
    commit_all(theirs, "broken")
    done = subprocess.run(
        ["git", "-C", ours, "pull", "-q", "--no-rebase", "--no-edit", theirs, "main"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and "agents/main/memory-store.json (theirs):1: not valid JSON" in done.stderr
    assert git(ours, "diff", "--name-only", "--diff-filter=U") == "agents/main/memory-store.json\n"
    assert "ada was here" in (ours / "agents" / "main" / "memory-store.json").read_text()
