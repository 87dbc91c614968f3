"""The memory index: its tokens and how much of the critical section it holds, what `context index` costs beside a recall, and what
a store costs with and without domain files and index.

    python benchmarks/memory_index.py [--sizes 10,1000,100000] [--runs 7]

Items are of all types, spread over three years; 1.5 % of them are critical, as short sentences.
"""

import argparse
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from timing import compile_package, cpu_seconds
from workspaces import babble, item_rows, make_items

TYPES = "preference instruction project person insight fact decision lesson plan event outcome observation".split()
CRITICAL = 0.015
# The program as it is, and without what a write does for domain files and the index.
WITH = "import sys; from mabos_cli.app import main; sys.exit(main(sys.argv[1:]))"
WITHOUT = (
    "import mabos_cli.workspace.memory.changing as changing\n"
    "class Nothing: warnings = []\n"
    "changing.materialize_domains = lambda *_, **_how: (None, Nothing)\n" + WITH
)


def make_rows(items: int) -> list[dict[str, object]]:
    """Items of all types as a batch takes them, the critical ones short."""
    rnd, rows = random.Random(items), []
    for n, row in enumerate(item_rows(items, babble)):
        critical = n % round(1 / CRITICAL) == 0
        importance = 0.95 if critical else round(rnd.random() * 0.9, 2)
        row |= {"type": TYPES[n % len(TYPES)], "importance": importance}
        rows.append(row | {"content": f"{babble(rnd, 8)} {n}"} if critical else row)
    return rows


def run(root: Path, code: str, *words: str) -> str:
    argv = [sys.executable, "-c", code, "-w", str(root), *words]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def measure(root: Path, code: str, *words: str) -> float:
    return cpu_seconds([sys.executable, "-c", code, "-w", str(root), *words])


def make_workspace(root: Path, items: int) -> None:
    """A workspace with that many long-term items, its index of the search made."""
    make_items(root, iter(make_rows(items)))
    run(root, WITH, "recall", "release note")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="10,1000,100000")
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    compile_package()
    print("CPU times as ratios, medians of interleaved runs")
    print(f"{'items':>9}{'tokens':>8}{'critical':>12}{'index/recall':>14}{'store':>7}{'store --store long_term':>25}")
    for size in map(int, options.sizes.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            print(describe(Path(folder), size, options.runs), flush=True)


def describe(folder: Path, size: int, runs: int) -> str:
    """One row of the table."""
    root, bare = folder / "with", folder / "without"
    make_workspace(root, size)
    shutil.copytree(root, bare)
    found = json.loads(run(root, WITH, "context", "index", "--json"))["data"]
    times: dict[str, list[float]] = {}
    for n in range(runs + 1):
        cases = {
            "index": (root, WITH, "context", "index"),
            "recall": (root, WITH, "recall", "release note"),
        }
        for name, text, more in (("short", f"Note {n} about the release", ()), ("long", f"Lasting {n * 17} zebra", ("--store", "long_term", "--type", "fact"))):  # fmt: skip
            cases[f"{name} with"] = (root, WITH, "store", text, *more)
            cases[f"{name} without"] = (bare, WITHOUT, "store", text, *more)
        for name, call in cases.items():
            spent = measure(*call)
            if n:  # the first run warms up
                times.setdefault(name, []).append(spent)
    took = {name: statistics.median(found) for name, found in times.items()}
    shown, left = len(found["critical"]), found["left_out"]["critical"]
    ratios = [took[a] / took[b] for a, b in (("index", "recall"), ("short with", "short without"), ("long with", "long without"))]  # fmt: skip
    return (
        f"{size:9,}{found['tokens']:8}{f'{shown} of {shown + left}':>12}"
        f"{ratios[0]:13.2f}x{ratios[1]:6.2f}x{ratios[2]:24.2f}x"
    )


if __name__ == "__main__":
    main()
