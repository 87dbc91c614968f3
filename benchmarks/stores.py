"""Whether a store costs the same however large memory is: CPU time of whole processes, while an agent stores and recalls in turn.

    python benchmarks/stores.py [--sizes 1000,9900,12000,100000] [--runs 100] [--searched 100000] [--keep FOLDER]

The workspaces are written as files, with texts of 20 to 80 words. All sizes take turns with `python -c pass` in one run. For each
size: the median of a store of an event and of one of a decision (which is compared with all of long-term memory) as multiples of
`python -c pass` and of the smallest size, and the slowest of all as a multiple of its median. Memories above --searched have no
search index: there `get` takes the place of recall.
"""

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from limits import say_long
from timing import BARE, MABOS, compile_package, cpu_seconds
from workspaces import init, questions

from mabos_cli.core.language.clock import epoch_ms, format_time
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.formats.memory.items import StoreFile, render_item, render_page, render_store
from mabos_cli.workspace.layout import WorkspacePaths

PAGE = 1000
YEARS = 3


def make_items(size: int) -> Iterator[tuple[str, MemoryItem]]:
    """Yields long-term items, oldest first, each with its month, evenly spread over three years; each was used in the last four weeks,
    or it would have left."""
    rnd, start, today = random.Random(size), datetime(2023, 1, 1, tzinfo=UTC), datetime.now(UTC)
    for n in range(size):
        at = start + timedelta(days=365 * YEARS) * (n / size)
        item_id, kind = f"M-{epoch_ms(at)}-{n % 0xFFFF:04x}", rnd.choice(("fact", "decision", "event", "lesson"))
        said = MemoryItem(item_id, f"{say_long(rnd)} {n}", kind, round(rnd.random(), 2), created_at=format_time(at))
        yield (
            f"{at:%Y-%m}",
            said._replace(accessed_at=format_time(today - timedelta(hours=n * 7 % 670)), access_count=1),
        )


def write_workspace(root: Path, size: int, searched: bool) -> list[str]:
    """Writes a workspace of so many items as files, with what is derived from them; returns some of the ids."""
    init(root)
    paths = WorkspacePaths(root).agent("main")
    pages: dict[str, int] = {}
    held: list[bytes] = []
    month, ids = "", list[str]()

    def put_page() -> None:
        count = sum(name[:7] == month for name in pages)
        name = f"{month}-{count + 1}" if count else month
        paths.store_page(name).parent.mkdir(exist_ok=True)
        paths.store_page(name).write_bytes(render_page(held))
        pages[name] = len(held)
        held.clear()

    for n, (name, item) in enumerate(make_items(size)):
        if held and (name != month or len(held) == PAGE):
            put_page()
        month = name
        held.append(render_item(item))
        ids += [item.id] if n % max(1, size // 1000) == 0 else []
    put_page()
    paths.store.write_bytes(render_store(StoreFile(pages=pages, version=1, last_id=item.id)))
    words = ["store", "The first decision after the move", "--type", "decision"], ["materialize"], ["index", "sync"]
    for each in words[: 3 if searched else 2]:
        subprocess.run([MABOS, "-w", str(root), *each, "--quiet"], check=True)
    return ids


def measure(places: dict[int, tuple[Path, list[str]]], runs: int, searched: int) -> None:
    """Prints a row for each size and kind of store."""
    rnd, bare = random.Random(1), list[float]()
    asked, times = questions(200), dict[tuple[str, int], list[float]]()
    for run in range(runs + 3):
        bare.append(cpu_seconds(BARE))
        for size, (root, ids) in places.items():
            at = [MABOS, "-w", str(root)]
            for kind in ("event", "decision"):
                look = ["recall", rnd.choice(asked)] if size <= searched else ["get", rnd.choice(ids)]
                cpu_seconds([*at, *look])
                spent = cpu_seconds([*at, "store", say_long(rnd), "--type", kind])
                if run >= 3:
                    times.setdefault((kind, size), []).append(spent)
    base = statistics.median(bare)
    print(f"| store of | memories | of `python -c pass` ({base * 1000:.1f} ms) | of the smallest | slowest of {runs} |")
    print("|---|---:|---:|---:|---:|")
    for kind in ("event", "decision"):
        medians = {size: statistics.median(times[kind, size]) for size in places}
        for size, median in medians.items():
            slowest = max(times[kind, size]) / median
            least = medians[min(places)]
            print(f"| {kind} | {size:,} | {median / base:.1f} | {median / least:.2f} | {slowest:.1f} medians |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,9900,12000,100000")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--searched", type=int, default=100_000)
    parser.add_argument("--keep", type=Path, help="where the workspaces stay for the next time")
    options = parser.parse_args()
    compile_package()
    with tempfile.TemporaryDirectory(prefix="mabos-bench-") as temporary:
        places = {}
        for size in map(int, options.sizes.split(",")):
            root = (options.keep or Path(temporary)) / str(size)
            known = root.with_suffix(".ids")
            if not known.exists():
                print(f"writing {size:,} memories", file=sys.stderr)
                known.parent.mkdir(parents=True, exist_ok=True)
                known.write_text("\n".join(write_workspace(root, size, size <= options.searched)))
            places[size] = root, known.read_text().split()
        measure(places, options.runs, options.searched)


if __name__ == "__main__":
    main()
