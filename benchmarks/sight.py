"""Measures whether what was stored stays in sight: shares of texts that are found hours and a night after they were stored.

    python benchmarks/sight.py [--cost] [--live 10000] [--archived 50000] [--runs 15]

The texts and the questions about them are in fixtures/sight.json. Eight plain texts and one of each type, as `mabos skill` says,
are stored by the program itself; each is then asked for by recall (the first ten) and by a context pack of 600 tokens, hours later,
and again after a night of every scheduled job.

--cost measures what is in sight instead: a recall where so many items are live and so many expired against one where only those are
live, as a whole command and in process, in turn.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

from timing import MABOS, compile_package, cpu_seconds, medians, take_turns
from workspaces import item_rows, make_items, questions

from mabos_cli.commands.call import Call
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.memory.stores import FINDABLE, Departure
from mabos_cli.core.operations.schedule import JOBS
from mabos_cli.core.search.recall import Filters, recall
from mabos_cli.formats.memory.items import render_departure
from mabos_cli.services.search.agent_search import AgentSearch, SearchOptions

STORIES = json.loads((Path(__file__).parent.parent / "fixtures/sight.json").read_text("utf-8"))
MOMENTS = {"5 hours later": "2026-03-02T13:00:00Z", "a night later": "2026-03-03T08:00:00Z"}


def run(root: Path, now: str, *words: str) -> str:
    """Runs a command as cron does, at a moment; it must end 0. Returns what it printed."""
    env = {**os.environ, "LC_ALL": "C", "MABOS_NOW": now}
    return subprocess.run([MABOS, "-w", str(root), *words], env=env, capture_output=True, check=True).stdout.decode()


def tell(root: Path, name: str, stored: list[tuple[list[str], str, str]]) -> None:
    """Stores texts in the morning and prints how many of them are found later."""
    run(root, "2026-03-02T08:00:00Z", "init", str(root))
    for options, text, _ in stored:
        run(root, "2026-03-02T08:00:00Z", "store", text, *options)
    for when, now in MOMENTS.items():
        if when == "a night later":
            for job in JOBS:
                run(root, "2026-03-03T03:10:00Z", "schedule", "run", job.name)
        run(root, now, "store", "Somebody stored one more thing")
        found = [
            (
                text in [row["content"] for row in json.loads(run(root, now, "recall", asked, "--limit", "10", "--json"))["data"]["results"]],
                text in run(root, now, "context", "pack", asked, "--budget", "600", "--no-use"),
            )
            for _, text, asked in stored
        ]  # fmt: skip
        recalled, packed = (sum(column) for column in zip(*found, strict=True))
        print(f"{name:14}{when:16}recall {recalled} of {len(stored)}   pack {packed} of {len(stored)}", flush=True)


def add_archived(root: Path, count: int) -> None:
    """Puts so many items that expired into the archive, and brings the index up to date."""
    months: dict[str, list[bytes]] = {}
    for n, row in enumerate(item_rows(count)):
        at = str(row["created_at"])
        item = MemoryItem(f"M-{1600000000000 + n}-{n % 65536:04x}", f"{row['content']} x", "event", row["importance"], created_at=at, accessed_at=at)  # fmt: skip
        months.setdefault(at[:7], []).append(render_departure(Departure(item, "short_term", "expired", at)))
    folder = root / "agents/main/archive"
    folder.mkdir(exist_ok=True)
    for month, lines in months.items():
        (folder / f"{month}.jsonl").write_bytes(b"".join(lines))
    subprocess.run([MABOS, "-w", str(root), "index", "sync", "-q"], check=True)


def measure(folder: Path, live: int, archived: int, runs: int) -> None:
    """Prints the ratios of a recall with and without what is archived."""
    roots = [folder / "live", folder / "both"]
    make_items(roots[0], item_rows(live))
    subprocess.run([MABOS, "-w", str(roots[0]), "index", "sync", "-q"], check=True)
    shutil.copytree(roots[0], roots[1])
    add_archived(roots[1], archived)
    asked = questions(runs)

    def in_process(root: Path) -> Callable[[], object]:
        search = AgentSearch([Call(workspace=str(root)).open_agent()], SearchOptions(Filters(), FINDABLE, 10))
        turns = cycle(asked)
        return lambda: recall(search, next(turns), 10)

    def command(root: Path) -> Callable[[], object]:
        turns = cycle(asked)
        return lambda: spent[root].append(cpu_seconds([MABOS, "-w", str(root), "recall", next(turns)]))

    spent: dict[Path, list[float]] = {root: [] for root in roots}
    jobs = [in_process(root) for root in roots]
    for job in jobs * 3:
        job()
    alone, both = medians(*jobs, runs=4 * runs)
    print(f"recall in process: {both / alone:.2f}x ({alone * 1000:.1f} and {both * 1000:.1f} ms)", flush=True)
    take_turns(time.process_time, runs, *map(command, roots))
    alone, both = (statistics.median(spent[root]) for root in roots)
    print(f"recall as a command: {both / alone:.2f}x ({alone * 1000:.0f} and {both * 1000:.0f} ms)", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--live", type=int, default=10_000)
    parser.add_argument("--archived", type=int, default=50_000)
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    compile_package()
    if options.cost:
        with tempfile.TemporaryDirectory() as folder:
            return measure(Path(folder), options.live, options.archived, options.runs)
    stories = {
        "eight stores": [([], text, asked) for text, asked in STORIES["eight"]],
        "skill": [(["--type", kind], text, asked) for kind, text, asked in STORIES["skill"]],
    }
    for name, stored in stories.items():
        with tempfile.TemporaryDirectory() as folder:
            tell(Path(folder), name, stored)


if __name__ == "__main__":
    main()
