"""Two clones that both learned, merged by plain git.

    python benchmarks/git_merge.py [--stores 50] [--facts 20] [--large 10000]

Each clone stores and asserts, a fifth of it committed by --commit, then one pulls from the other with the driver that `git install`
registered. Items, facts and entries of the log are counted, and doctor is asked after `materialize`. Then the driver alone: a store of
`--large` items in which each side added 50, as a ratio to reading and writing that store once.
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
from mabos_cli.formats.operations.git_merge import merge_file

BIN = Path(sys.executable).parent


def run(root: Path, *words: str) -> str:
    """A command in a folder; it must not fail."""
    variables = {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "GIT_CONFIG_NOSYSTEM": "1",
        "HOME": str(root.parent),
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
    run(ours, "mabos", "materialize")
    healthy = "is healthy" in run(ours, "mabos", "doctor")
    print(f"items {items} of {2 * stores}, facts {held} of {2 * facts}, log entries {entries} of {2 * stores}")
    print(f"files that git left open: {unmerged}; doctor: {'clean' if healthy else 'NOT CLEAN'}")


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


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--stores", type=int, default=50)
    options.add_argument("--facts", type=int, default=20)
    options.add_argument("--large", type=int, default=10_000)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        merge_clones(Path(folder).resolve(), given.stores, given.facts)
    large_store(given.large)


if __name__ == "__main__":
    main()
