"""How commands grow: CPU time of store, recall, get and status at 100 to 100,000 long-term items, interleaved in one run.

    python benchmarks/growth.py [--sizes 100,1000,10000,100000] [--runs 7] [--one-month]

Items are spread over three years unless --one-month puts all of them into the current month.
"""

import argparse
import compileall
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from startup import cpu_seconds

WORDS = [
    "".join(random.Random(n).choices("bcdfghklmnprstvz", k=3)) + suffix
    for n in range(700)
    for suffix in ("a", "ero", "ion")
]


def make_workspace(
    mabos: str, root: Path, items: int, one_month: bool, say: Callable[[random.Random], str] | None = None
) -> str:
    """A workspace with that many long-term items; gives the id of one in the middle. say makes the text of an item."""
    rnd = random.Random(items)
    say = say or (lambda rnd: " ".join(rnd.choices(WORDS, k=18)))
    subprocess.run([mabos, "init", str(root), "--quiet"], check=True)
    rows = []
    for n in range(items):
        row = {"content": f"{say(rnd)} {n}", "type": "fact", "importance": round(rnd.random(), 2),
               "tags": rnd.choices(WORDS[:40], k=2), "store": "long_term"}  # fmt: skip
        if not one_month:
            month = n * 36 // items
            row["created_at"] = f"{2023 + month // 12}-{month % 12 + 1:02d}-{n % 28 + 1:02d}T12:00:00Z"
        rows.append(json.dumps(row) + "\n")
    command = [mabos, "-w", str(root), "store", "--batch", "-", "--json"]
    done = subprocess.run(command, input="".join(rows), capture_output=True, text=True, check=True)
    stored = json.loads(done.stdout)["data"]["items"]
    return stored[len(stored) // 2]["id"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="100,1000,10000,100000")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--one-month", action="store_true")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    compileall.compile_dir(Path(__file__).parent.parent / "mabos_cli", quiet=2)
    mabos, env = str(Path(sys.executable).with_name("mabos")), dict(os.environ)
    times: dict[str, dict[int, list[float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        ids = {
            size: make_workspace(mabos, Path(folder) / str(size), size, options.one_month) for size in sizes
        }
        for run in range(options.runs + 1):
            for size in sizes:
                at = [mabos, "-w", str(Path(folder) / str(size))]
                cases = {
                    "store": [*at, "store", f"A new note {run} about the release"],
                    "store --store long_term": [
                        *at,
                        "store",
                        f"Note {run} zebra quokka {run * 17} lives long",
                        "--store",
                        "long_term",
                    ],
                    "get": [*at, "get", ids[size]],
                    "status": [*at, "status"],
                    "recall": [*at, "recall", "release note"],
                }
                for name, argv in cases.items():
                    if name == "recall" and run > 3:
                        continue
                    spent = cpu_seconds(argv, env)
                    if run:
                        times.setdefault(name, {}).setdefault(size, []).append(spent)
    base = sizes[1] if len(sizes) > 1 else sizes[0]
    print(
        f"CPU time relative to the same command at {base:,} items, medians of {options.runs} interleaved runs"
    )
    print(f"{'':26}" + "".join(f"{size:>10,}" for size in sizes))
    for name, found in times.items():
        unit = statistics.median(found[base])
        print(f"{name:26}" + "".join(f"{statistics.median(found[size]) / unit:9.2f}x" for size in sizes))


if __name__ == "__main__":
    main()
