"""Clones that all learned, merged and rebased by plain git: nothing is lost, nothing conflicts, and doctor finds nothing."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import NOW, Mabos, quick_folder
from repositories import commit_all, git, settle_git, start_repository

from mabos_cli.formats.hierarchy.daily_log import parse_log

STORES, FACTS = 8, 3


@pytest.fixture
def settled(quick: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which git finds the mabos of this Python."""
    settle_git(monkeypatch, quick)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("MABOS_NOW", NOW)
    return quick


@pytest.fixture
def clones(settled: Path, mabos: Mabos) -> tuple[Path, Path]:
    """A workspace with a driver, and a clone of it that has one too."""
    quick = settled
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
    assert "everything is up to date" in mabos("materialize", cwd=ours).stdout
    assert "agent main is healthy" in mabos("doctor", "--check", cwd=ours).stdout

    # The other way round: the same memory, byte for byte.
    git(theirs, "fetch", "-q", str(ours), "main")
    git(theirs, "merge", "-q", "--no-edit", git(ours, "rev-parse", "HEAD^1").strip())
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


WHO = ("ada", "bob", "cyd")


@pytest.fixture(scope="module")
def kept() -> Iterator[Path]:
    """Where what several tests start from is kept: each takes a copy."""
    with quick_folder() as folder:
        yield folder


@pytest.fixture
def three(settled: Path, kept: Path, request: pytest.FixtureRequest) -> dict[str, Path]:
    """Three clones of one workspace in which something of every kind happened, in the same millisecond."""
    if not any(kept.iterdir()):
        for who, root in make_three(request.getfixturevalue("clones")[0], request.getfixturevalue("mabos")).items():
            shutil.copytree(root, kept / who)
            shutil.rmtree(root)
    return {who: Path(shutil.copytree(kept / who, settled / who)) for who in WHO}


def make_three(hub: Path, mabos: Mabos) -> dict[str, Path]:
    for words in (
        ("goal", "add", "Grow"),
        ("belief", "add", "Billing", "We bill per seat"),
        ("ontology", "scaffold", "ecommerce"),
    ):
        assert mabos(*words, cwd=hub).code == 0
    commit_all(hub, "more")
    found = {}
    for who in WHO:
        found[who] = hub.parent / who
        git(hub.parent, "clone", "-q", str(hub), who)
        assert mabos("git", "install", cwd=found[who]).code == 0
        think(mabos, found[who], who)
        commit_all(found[who], who)
    return found


def think(mabos: Mabos, root: Path, who: str) -> None:
    """Adds an entry of every kind, with links to others by their numbers."""
    calls = [
        ("goal", "add", f"Goal of {who}", "--level", "tactical"),
        ("belief", "add", f"Terms of {who}", f"{who} pays within 14 days", "--supports", "G-002"),
        ("desire", "add", f"Desire of {who}", "--motivates", "G-002"),
        ("plan", "add", f"Plan of {who}", "--goal", "G-002", "--step", f"Ask {who}", "--step", "Go"),
        ("intention", "add", f"Intention of {who}", "--goal", "G-002", "--plan", "PL-001"),
        ("commitment", "add", f"Promise of {who}", "--to", "dan"),
        ("learning", "add", f"Lesson of {who}"),
        ("checkpoint", "-c", f"Work of {who}", "--next", f"Ask {who}"),
        ("ontology", "propose", f"{who} fulfillment", "--domain", "ecommerce", "--parent", "Fulfillment"),
        ("store", f"{who} decided to keep it", "--store", "short_term", "--importance", "0.9"),
        ("store", f"{who} saw a heron", "--type", "lesson", "--store", "long_term"),
        ("fact", "assert", who, "likes", "tea"),
        ("rule", "create", f"if ?x likes {who} then ?x knows {who}"),
        ("case", "store", "--context", f"{who} was asked", "--action", f"answered {who}"),
        ("consolidate",),
    ]
    for words in calls:
        more = ("--definition", f"fulfillment by {who}", "--rationale", "needed") if words[1:2] == ("propose",) else ()
        done = mabos(*words, *more, cwd=root)
        assert done.code == 0, done.stderr
    item = json.loads(mabos("store", f"{who} forgets this", "--json", cwd=root).stdout)["data"]["id"]
    assert mabos("forget", item, cwd=root).code == 0


# That the order does not matter is proven of each kind of file, in test_merge_records.py and test_merge_minds.py.
@pytest.mark.parametrize(
    ("way", "order"), [("--no-rebase", ("bob", "cyd")), ("--rebase", ("cyd", "bob"))], ids=["merge", "rebase"]
)
def test_three_minds_become_one(three: dict[str, Path], mabos: Mabos, order: tuple[str, str], way: str):
    root = three["ada"]
    for who in order:
        git(root, "pull", "-q", way, "--no-edit", str(three[who]), "main")
    assert git(root, "status", "--porcelain") == ""
    doctor = mabos("doctor", "--check", cwd=root)
    assert doctor.code == 0 and "agent main is healthy" in doctor.stdout, doctor.stdout

    def rows(kind: str) -> list[dict[str, Any]]:
        return entries(mabos, root, kind)

    goals = {row["title"]: row["id"] for row in rows("goal")}
    assert set(goals) == {"Grow", *(f"Goal of {who}" for who in WHO)}
    plans = {row["title"]: row["id"] for row in rows("plan")}
    for who in WHO:
        (intention,) = [row for row in rows("intention") if row["title"] == f"Intention of {who}"]
        assert (intention["goal"], intention["plan"]) == ([goals[f"Goal of {who}"]], [plans[f"Plan of {who}"]])
        (belief,) = [row for row in rows("belief") if row["subject"] == f"Terms of {who}"]
        assert belief["supports"] == [goals[f"Goal of {who}"]]
    for kind, size in {"goal": 4, "belief": 4, "desire": 3, "plan": 3, "intention": 3, "commitment": 3}.items():
        ids = [row["id"] for row in rows(kind)]
        assert len({*ids}) == len(ids) == size, (kind, ids)
    assert everything(mabos, root) == {
        "items": 7, "facts": 3, "rules": 3, "cases": 3, "archived": 3, "entries": 10
    }  # fmt: skip
    check_texts(root)


def entries(mabos: Mabos, root: Path, kind: str) -> list[dict[str, Any]]:
    """What a command lists."""
    found: list[dict[str, Any]] = json.loads(mabos(kind, "list", "--json", cwd=root).stdout)["data"][f"{kind}s"]
    return found


def check_texts(root: Path) -> None:
    """Holds that what each of three said stands in a file once, under the id that it has in the store."""
    agent = root / "agents" / "main"
    store = json.loads((agent / "memory-store.json").read_bytes())
    ids = {item["content"]: item["id"] for item in store["long_term"]}
    log, curated = ((agent / name).read_text("utf-8") for name in ("memory/2026-02-24.md", "MEMORY.md"))
    (checkpoint,) = (path.read_text("utf-8") for path in (agent / "memory" / "checkpoints").iterdir())
    rules = json.loads((agent / "rules.json").read_bytes())["rules"]
    proposals = json.loads((root / "ontologies" / "proposals" / "ecommerce-proposals.json").read_bytes())["proposals"]
    assert all(rule["enabled"] for rule in rules) and len({row["id"] for row in (*rules, *proposals)}) == 6
    for who in WHO:
        assert f"{who} decided to keep it ^{ids[f'{who} decided to keep it']}" in curated
        assert f"{who} saw a heron\n\n(manual) 0.50 ^{ids[f'{who} saw a heron']}" in log
        assert checkpoint.count(f"Work of {who}") == 1 and checkpoint.count(f"- Ask {who}") == 1
        assert (agent / "Learnings.md").read_text("utf-8").count(f"Lesson of {who}") == 1


def write(root: Path, name: str, text: str) -> None:
    (root / "agents" / "main" / name).write_text(text, "utf-8")


def test_ids_that_people_gave_alike_are_followed_in_other_files(clones: tuple[Path, Path], mabos: Mabos):
    for root, who in zip(clones, ("ada", "bob"), strict=True):
        write(root, "Goals.md", f"# Goals\n\n## G-001: Goal of {who}\n\nstatus: active\n")
        write(root, "Intentions.md", f"# Intentions\n\n## I-001: Intention of {who}\n\nstatus: active\nGoal: G-001\n")
        assert (
            mabos(
                "case", "store", "--context", who, "--action", "x", "--belief", "B-009", "--desire", "D-001", cwd=root
            ).code
            == 0
        )
        write(root, "Desires.md", f"# Desires\n\n## D-001: Desire of {who}\n\nmotivates: G-001\n")
        commit_all(root, who)
    ours, theirs = clones
    git(ours, "pull", "-q", "--no-rebase", "--no-edit", str(theirs), "main")
    goals, intentions, desires = (
        {row["title"][-3:]: row for row in entries(mabos, ours, kind)} for kind in ("goal", "intention", "desire")
    )
    cases = {case["situation"]["context"]: case for case in json.loads((ours / "agents/main/cases.json").read_bytes())}
    for who in ("ada", "bob"):
        assert intentions[who]["goal"] == [goals[who]["id"]]
        assert cases[who]["situation"]["desires"] == [desires[who]["id"]]
    assert goals["ada"]["id"] == "G-001" != goals["bob"]["id"]
