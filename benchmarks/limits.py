"""How far the main commands are from what they cannot do without: the bare reads, writes and SQL, measured in the same run.

    python benchmarks/limits.py [--sizes 1000,10000] [--runs 15]

For each command three figures: the CPU milliseconds of its bare work in this process, and how many times that the command takes in
process (warm, as behind MCP) and as a whole process. Texts have 20 to 80 words. Beneath it stand the targets of the two source
documents, met or not, by the clock, warm and cold.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from timing import BARE, MABOS, compile_package, cpu_seconds
from workspaces import english, init, item_rows, questions, tell

from mabos_cli.commands.call import Call
from mabos_cli.core.language.text import asked_words
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.memory.stores import FINDABLE, Draft
from mabos_cli.core.search.recall import Filters, recall
from mabos_cli.index import tables
from mabos_cli.index.restriction import Restriction
from mabos_cli.services.memory.items import get_item
from mabos_cli.services.memory.remember import remember
from mabos_cli.services.memory.status import describe_status
from mabos_cli.services.search.agent_search import AgentSearch, SearchOptions
from mabos_cli.workspace.agent import Agent

# What the source documents expect, in milliseconds by the clock: the row below it is about, and the most that is said.
TARGETS = {"`store`": 15, "`recall`": 50, "`get`": 50, "`status`": 50}


def say_long(rnd: random.Random) -> str:
    """Returns a text of 20 to 80 words with three names, as long as real memories are."""
    count = rnd.randint(20, 80)
    start = rnd.randrange(len(english()) - count)
    return f"{' '.join(english()[start : start + count])} {tell(rnd).rpartition(' ')[2]}"


def make(root: Path, size: int) -> None:
    init(root)
    batch = root.parent / f"{size}.ndjson"
    batch.write_text("".join(json.dumps(row) + "\n" for row in item_rows(size, say_long)))
    subprocess.run([MABOS, "-w", str(root), "store", "--batch", str(batch), "--quiet"], check=True)
    subprocess.run([MABOS, "-w", str(root), "index", "sync", "--quiet"], check=True)


class Job(NamedTuple):
    """A command: its bare work, the service behind it, and its words."""

    name: str
    bare: Callable[[], object]
    service: Callable[[], object]
    words: Callable[[], list[str]]


def rewrite(path: Path) -> None:
    """The least that a durable change of a file takes: read, write beside it, fsync, rename, fsync of the folder."""
    temp = path.with_name(".limit")
    with temp.open("wb") as file:
        file.write(path.read_bytes())
        os.fsync(file.fileno())
    os.replace(temp, path)
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def list_jobs(root: Path) -> Iterator[Job]:
    def opened() -> Agent:
        return Call(workspace=str(root)).open_agent()

    home, rnd = opened(), random.Random(3)
    search = AgentSearch([home], SearchOptions(Filters(), FINDABLE, 10))
    index, pool = search._indexes()[0], home.settings["recall.pool"]
    asked = questions(50)
    vectors = [(tables.match_any(asked_words(text)), index.embedder.embed_query(text)) for text in asked]
    item_id = home.load().long_term.head.long_term[0][8:].split(b'"')[0].decode()

    def two_statements() -> None:
        match, vector = rnd.choice(vectors)
        words = "SELECT rowid, bm25(passages_fts) FROM passages_fts WHERE passages_fts MATCH ? ORDER BY rank LIMIT ?"
        index.db.execute(words, (match, pool)).fetchall()
        index.lanes.nearest(vector, pool, Restriction(), 0)

    def draft() -> Draft:
        return Draft(MemoryItem("", say_long(rnd), "event"), "short_term")

    def recall_once() -> None:
        found = AgentSearch([opened()], SearchOptions(Filters(), FINDABLE, 10))
        recall(found, rnd.choice(asked), 10)

    yield Job("`status`", lambda: os.stat(home.paths.store), lambda: describe_status(opened()), lambda: ["status"])
    yield Job("`get`", home.paths.store.read_bytes, lambda: get_item(opened(), item_id), lambda: ["get", item_id])
    yield Job(
        "`store`",
        lambda: rewrite(home.paths.store),
        lambda: remember(opened(), [draft()]),
        lambda: ["store", say_long(rnd)],
    )
    yield Job("`recall`", two_statements, recall_once, lambda: ["recall", rnd.choice(asked)])


def cost(job: Callable[[], object]) -> tuple[float, float]:
    """CPU seconds and seconds by the clock of one run."""
    cpu, clock = time.process_time(), time.perf_counter()
    job()
    return time.process_time() - cpu, time.perf_counter() - clock


def measure(root: Path, runs: int) -> None:
    found: dict[str, list[list[float]]] = {}
    bare: list[float] = []
    for run in range(runs + 1):
        for job in list_jobs(root):
            bare.append(cpu_seconds(BARE))
            least, _ = cost(job.bare)
            warm, clock = cost(job.service)
            words = [MABOS, "-w", str(root), *job.words()]
            start = time.perf_counter()
            whole = cpu_seconds(words)
            row = [least, warm, whole, clock, time.perf_counter() - start]
            found.setdefault(job.name, []).append(row) if run else None
    for name, rows in found.items():
        least, warm, whole, clock, cold = (statistics.median(each) for each in zip(*rows, strict=True))
        start = statistics.median(bare)
        told = [f"{least * 1000:.2f} ms", f"{warm / least:.1f}", f"{whole / least:.0f}", f"{whole / start:.1f}"]
        most = TARGETS[name]
        met = [f"{1000 * each:.0f} ms {'met' if 1000 * each <= most else 'missed'}" for each in (clock, cold)]
        print(f"| {name} | {' | '.join(told)} | {most} ms | {' | '.join(met)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default="1000,10000")
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    compile_package()
    for size in map(int, options.sizes.split(",")):
        with tempfile.TemporaryDirectory(prefix="mabos-bench-") as folder:
            make(Path(folder) / "ws", size)
            print(f"\n{size:,} memories\n")
            print(
                "| | bare work | warm, times that | whole process, times that | and of `python -c pass` | target | warm | cold |"
            )
            print("|---|---:|---:|---:|---:|---:|---|---|")
            measure(Path(folder) / "ws", options.runs)


if __name__ == "__main__":
    main()
