"""Clones that all learned, merged and rebased by plain git.

    python benchmarks/git_merge.py [--stores 50] [--facts 20] [--large 10000]

Each of two clones stores and asserts, a fifth of it committed by --commit, then one pulls from the other with the driver that
`git install` registered. Items, facts and entries of the log are counted, and doctor is asked. Then three clones each add an entry of
every kind: they are merged, and rebased, in both orders, and entries, ids that are there twice and links that lead elsewhere are
counted. Then the driver alone: a store of `--large` items and a Goals.md of a tenth of that, in which each side added 50, as a ratio to
reading and writing the file once.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.formats.hierarchy.daily_log import parse_log
from mabos_cli.formats.memory.items import StoreFile, parse_store, render_item, render_store
from mabos_cli.formats.mind.cognitive import parse_cognitive
from mabos_cli.formats.operations.git_merge import merge_file

BIN = Path(sys.executable).parent
WHO = ("ada", "bob", "cyd")
KINDS = ("belief", "desire", "goal", "intention", "plan", "commitment")


def run(root: Path, *words: str) -> str:
    """A command in a folder; it must not fail."""
    variables = {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "GIT_CONFIG_NOSYSTEM": "1",
        "HOME": str(root.parent),
        **{name: value for name, value in os.environ.items() if name == "MABOS_NOW"},
    }
    variables |= {
        f"GIT_{who}_{what}": "ada@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    done = subprocess.run(
        words, cwd=root, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(words)} ended with {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


def learn(root: Path, who: str, stores: int, facts: int) -> None:
    for n in range(stores):
        where = "long_term" if n % 2 else "short_term"
        word = ("--commit",) if n % 5 == 0 else ()
        run(root, "mabos", "store", f"{who} saw {who}{n * 7919 % 997} near {who}{n}", "--store", where, *word)
    for n in range(facts):
        run(
            root,
            "mabos",
            "fact",
            "assert",
            who,
            "likes",
            f"thing {n}",
            *(("--commit",) if n % 5 == 0 else ()),
        )
    run(root, "git", "add", "-A")
    run(root, "git", "commit", "-qm", who)


def merge_clones(folder: Path, stores: int, facts: int) -> None:
    ours, theirs = folder / "ours", folder / "theirs"
    run(folder, "mabos", "init", "-q", "ours")
    run(ours, "git", "init", "-q", "-b", "main")
    run(ours, "mabos", "git", "install", "-q")
    run(ours, "git", "add", "-A")
    run(ours, "git", "commit", "-qm", "start")
    run(folder, "git", "clone", "-q", "ours", "theirs")
    run(theirs, "mabos", "git", "install", "-q")
    learn(ours, "ada", stores, facts)
    learn(theirs, "bob", stores, facts)
    run(ours, "git", "pull", "-q", "--no-rebase", "--no-edit", str(theirs), "main")
    unmerged = run(ours, "git", "status", "--porcelain").count("\n")
    agent = ours / "agents" / "main"
    store = json.loads((agent / "memory-store.json").read_bytes())
    items = sum(len(store[name]) for name in ("working", "short_term", "long_term"))
    held = len(json.loads((agent / "facts.json").read_bytes())["facts"])
    logs = [path.read_text("utf-8") for path in (agent / "memory").glob("20*.md")]
    entries = sum(len(parse_log(text)) for text in logs)
    healthy = "is healthy" in run(ours, "mabos", "doctor", "--check")
    print(f"items {items} of {2 * stores}, facts {held} of {2 * facts}, log entries {entries} of {2 * stores}")
    print(f"files that git left open: {unmerged}; doctor: {'clean' if healthy else 'NOT CLEAN'}")


def think(root: Path, who: str) -> None:
    """Adds an entry of every kind, with links by their numbers."""
    calls = f"""goal add|Goal of {who}
belief add|Terms of {who}|{who} pays in 14 days|--supports|G-001
desire add|Desire of {who}|--motivates|G-001
plan add|Plan of {who}|--goal|G-001|--step|Ask {who}
intention add|Intention of {who}|--goal|G-001|--plan|PL-001
commitment add|Promise of {who}|--to|dan
learning add|Lesson of {who}
checkpoint|-c|Work of {who}
ontology propose|{who} fulfillment|--domain|ecommerce|--parent|Fulfillment|--definition|by {who}|--rationale|needed
store|{who} decided to keep it|--type|decision|--importance|0.9
store|{who} saw a heron|--type|lesson|--store|long_term
fact assert|{who}|likes|tea
rule create|if ?x likes {who} then ?x knows {who}
case store|--context|{who} was asked|--action|answered {who}
consolidate"""
    for line in calls.split("\n"):
        words, *values = line.split("|")
        run(root, "mabos", *words.split(), *values)
    run(root, "git", "add", "-A")
    run(root, "git", "commit", "-qm", who)


def merge_minds(folder: Path) -> None:
    """Three clones, merged and rebased in both orders; all at the same moment, so that ids of memories collide, too."""
    os.environ["MABOS_NOW"] = "2026-02-24T15:00:00Z"
    run(folder, "mabos", "init", "-q", "hub")
    run(folder / "hub", "git", "init", "-q", "-b", "main")
    run(folder / "hub", "mabos", "git", "install", "-q")
    run(folder / "hub", "mabos", "ontology", "scaffold", "-q", "ecommerce")
    run(folder / "hub", "git", "add", "-A")
    run(folder / "hub", "git", "commit", "-qm", "start")
    for who in WHO:
        run(folder, "git", "clone", "-q", "hub", who)
        run(folder / who, "mabos", "git", "install", "-q")
        think(folder / who, who)
    for way in ("--no-rebase", "--rebase"):
        for order in (WHO[1:], WHO[:0:-1]):
            root = folder / "-".join((way.strip("-"), *order))
            run(folder, "git", "clone", "-q", WHO[0], root.name)
            run(root, "mabos", "git", "install", "-q")
            for who in order:
                run(root, "git", "pull", "-q", way, "--no-edit", str(folder / who), "main")
            report_minds(root, way, order)


def report_minds(root: Path, way: str, order: tuple[str, ...]) -> None:
    open_files = run(root, "git", "status", "--porcelain").count("\n")
    healthy = "is healthy" in run(root, "mabos", "doctor", "--check")
    rows = {kind: json.loads(run(root, "mabos", kind, "list", "--json"))["data"][f"{kind}s"] for kind in KINDS}
    found = sum(len(each) for each in rows.values())
    ids = [row["id"] for each in rows.values() for row in each]
    goals = {row["id"]: row["title"][-3:] for row in rows["goal"]}
    astray = sum(goals.get(row["goal"][0]) != row["title"][-3:] for row in (*rows["intention"], *rows["plan"]))
    agent = root / "agents" / "main"
    others = [json.loads((agent / name).read_bytes()) for name in ("facts.json", "rules.json", "cases.json")]
    kept = len(others[0]["facts"]) + len(others[1]["rules"]) + len(others[2])
    kept += len(json.loads((agent / "memory-store.json").read_bytes())["long_term"])
    kept += len(json.loads((root / "ontologies/proposals/ecommerce-proposals.json").read_bytes())["proposals"])
    kept += sum(path.read_text("utf-8").count("Work of") for path in (agent / "memory" / "checkpoints").iterdir())
    kept += (agent / "Learnings.md").read_text("utf-8").count("Lesson of")
    print(
        f"three clones, {way.strip('-')} {' '.join(order)}: entries {found} of {3 * len(KINDS)}, records {kept} of 24, "
        f"ids twice {len(ids) - len({*ids})}, links astray {astray}; open files {open_files}; "
        f"doctor: {'clean' if healthy else 'NOT CLEAN'}"
    )


def item(number: int) -> MemoryItem:
    at = "2026-02-24T14:30:00.000Z"
    return MemoryItem(f"M-{1771943400000 + number}-0002", f"note {number} about billing", created_at=at, accessed_at=at)


def large_store(size: int) -> None:
    lines = [render_item(item(n)) for n in range(size + 100)]
    base, ours, theirs = (
        render_store(StoreFile(long_term=lines[:size] + more, version=1)) for more in ([], lines[size:-50], lines[-50:])
    )
    started = time.process_time()
    merged = merge_file("store", "memory-store.json", (base, ours, theirs))
    took, started = time.process_time() - started, time.process_time()
    once = render_store(parse_store(ours, "x"))
    ratio = took / (time.process_time() - started)
    assert merged and len(once) == len(ours)
    print(
        f"{size} items and 50 on each side: {len(parse_store(merged.data, 'x').long_term)}, {ratio:.1f} x one read and write"
    )


def large_mind(size: int) -> None:
    rows = [f"| G-{n:04d} | Goal {n} | 0.5 | active |" for n in range(size + 100)]
    head = ["# Goals", "", "| ID | Goal | Priority | Status |", "|---|---|---|---|"]
    base, ours, theirs = (
        "\n".join([*head, *rows[:size], *more, ""]).encode() for more in ([], rows[size:-50], rows[-50:])
    )
    started = time.process_time()
    merged = merge_file("mind", "agents/main/Goals.md", (base, ours, theirs))
    took, started = time.process_time() - started, time.process_time()
    once = parse_cognitive(ours.decode())
    ratio = took / (time.process_time() - started)
    assert merged and len(once.entries) == size + 50
    found = len(parse_cognitive(merged.data.decode()).entries)
    print(f"{size} goals and 50 on each side: {found}, {ratio:.1f} x one read")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--stores", type=int, default=50)
    options.add_argument("--facts", type=int, default=20)
    options.add_argument("--large", type=int, default=10_000)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        merge_clones(Path(folder).resolve(), given.stores, given.facts)
    with tempfile.TemporaryDirectory() as folder:
        merge_minds(Path(folder).resolve())
    large_store(given.large)
    large_mind(given.large // 10)


if __name__ == "__main__":
    main()
