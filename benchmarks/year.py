"""Measures whether a year of daily use leaves everything in sight: 5,000 memories, with every scheduled job of every night.

    python benchmarks/year.py [--memories 5000] [--days 365] [--misses]

fixtures/daily_use.py lives through it, in this process. At the end every id is opened, every text is asked for by its own words and has
to be among the first ten of recall, and INDEX.md has to show every instruction and every critical item in less than 1,500 tokens.
A command that fails ends it.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "fixtures"))
import daily_use


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=5000)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--misses", action="store_true", help="print what was not found")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        judge(Path(folder) / "ws", options)


def judge(root: Path, options: argparse.Namespace) -> None:
    start = time.perf_counter()
    lived = daily_use.live(root, options.memories, options.days)
    kinds = Counter(row["type"] for row in lived.rows.values())
    print(", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))
    print(f"{lived.commands} commands, none failed; {time.perf_counter() - start:.0f} s")
    ids = [*lived.rows, *lived.groups]
    opened = sum(daily_use.run(root, lived.end, "get", id)["item"]["id"] == id for id in ids)
    print(f"ids that resolve: {opened} of {len(ids)}")
    found = daily_use.find(root, lived)
    print(f"found by their own words: {len(found)} of {len(lived.rows)} ({dict(Counter(found.values()))})")
    for id, row in lived.rows.items() if options.misses else ():
        if id not in found:
            print(f"  {id} {row['type']} {row['content']}")
    text, missing = daily_use.read_index(root, lived)
    print(f"INDEX.md: {len(text) // 4} tokens; instructions and critical items that it does not name: {len(missing)}")


if __name__ == "__main__":
    main()
