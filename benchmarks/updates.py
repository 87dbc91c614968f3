"""Measures what storing makes of statements that are alike: merged, superseded or kept apart. And what recall and packs show first.

    python benchmarks/updates.py [--type fact] [--misses]

The sets are in fixtures/updates.json; a third of each is blind: no word of the method was chosen by it. `fresh` was written
last, and nothing was changed after. Each pair is stored in a workspace of its own; the updates go into one, in order, with the
siblings between them, and then each is asked for. Reversals count as wrong when merged, siblings when merged or superseded.
--misses prints what was not as expected, except of the blind parts.
"""

import argparse
import io
import json
import os
import tempfile
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from mabos_cli.app import main as mabos

SETS = json.loads((Path(__file__).parent.parent / "fixtures" / "updates.json").read_text("utf-8"))
EXPECTED = {"same": "merged", "newer": "supersedes"}


def run(root: Path, *words: str) -> dict[str, Any]:
    """Runs a command in this process and returns its data."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with redirect_stdout(out), redirect_stderr(io.TextIOWrapper(io.BytesIO(), "utf-8")):
        code = mabos(["-w", os.fspath(root), "--json", *words])
    assert code == 0, f"mabos {' '.join(words)} ended with {code}"
    return json.loads(out.buffer.getvalue())["data"]


def store(root: Path, text: str, kind: str) -> str:
    """Stores a text and returns what became of it: new, linked, merged or supersedes."""
    outcome = run(root, "store", text, *(("--type", kind, "--store", "long_term") if kind else ()))["outcome"]
    return "apart" if outcome in ("new", "linked") else outcome


def try_pair(a: str, b: str, kind: str) -> str:
    """Stores two texts in a new workspace and returns what became of the second."""
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder), "init", folder)
        store(Path(folder), a, kind)
        return store(Path(folder), b, kind)


def try_pairs(kind: str, misses: bool) -> None:
    """Prints what became of reversals and labelled pairs, by split."""
    rows = [row | {"label": "reversed"} for row in SETS["reversals"]] + SETS["pairs"] + SETS.get("fresh", [])
    counts: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        outcome = try_pair(row["a"], row["b"], kind)
        counts[row["split"], row["label"], outcome] += 1
        expected = EXPECTED.get(row["label"], "apart")
        if misses and row["split"] != "blind" and outcome != expected and row["label"] != "reversed":
            print(f"  {row['label']}: {row['a']} | {row['b']}: {outcome}")
    for split, label, outcome in sorted(counts):
        print(f"{split:6} {label:9} {outcome:10} {counts[split, label, outcome]}")


def try_updates(kind: str, misses: bool) -> None:
    """Prints how many updates are shown first, with the older one marked, and how many siblings were taken for updates."""
    counts: Counter[str] = Counter()
    noise = iter(SETS["siblings"])
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        run(root, "init", folder)
        for row in SETS["updates"]:
            store(root, row["older"], kind)
            counts.update(f"siblings {store(root, next(noise), kind)}" for _ in range(2))
        for row in SETS["updates"]:
            store(root, row["newer"], kind)
            counts.update(f"siblings {store(root, next(noise), kind)}" for _ in range(1))
        counts.update(f"siblings {store(root, text, kind)}" for text in noise)
        for row in SETS["updates"]:
            found = run(root, "recall", row["ask"], "--limit", "10")["results"]
            places = {each["content"]: n for n, each in reversed([*enumerate(found)])}
            new, old = places.get(row["newer"], 99), places.get(row["older"], 99)
            is_first, was = new < old, found[new].get("was", []) if new < 99 else []
            is_marked = any(each["content"] == row["older"] for each in was) or (old < 99 and "newer" in found[old])
            counts[f"{row['split']} asked"] += 1
            counts[f"{row['split']} newer before older"] += is_first
            counts[f"{row['split']} newer first of all"] += new == 0
            counts[f"{row['split']} older marked"] += is_marked
            packed = run(root, "context", "pack", row["ask"], "--budget", "600", "--no-use")["items"]
            texts = [each["text"] for each in packed]
            led = texts.index(row["newer"]) if row["newer"] in texts else 99
            behind = texts.index(row["older"]) if row["older"] in texts else 99
            marked = led < 99 and (
                packed[led].get("was") == row["older"] or (behind < 99 and "newer" in packed[behind])
            )
            counts[f"{row['split']} packs with newer before older"] += led < behind
            counts[f"{row['split']} packs with older marked"] += marked
            if misses and row["split"] != "blind" and not (led < behind and marked):
                print(f"  pack: {row['older']} | {row['newer']}: at {led} and {behind}, marked {marked}")
            if misses and row["split"] != "blind" and not (is_first and is_marked):
                print(f"  {row['older']} | {row['newer']}: at {new} and {old}, marked {is_marked}")
    for name in sorted(counts):
        print(f"{name:36} {counts[name]}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--type", default="fact", help="the type of what is stored; empty for the default")
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    try_pairs(options.type, options.misses)
    try_updates(options.type, options.misses)


if __name__ == "__main__":
    main()
