"""How far the main commands are from what they cannot do without: the bare reads, writes and SQL, measured in the same run.

    python benchmarks/limits.py [--sizes 1000,10000] [--runs 15]

For each command four figures: the CPU milliseconds of its bare work in this process, how many times that the command takes in
process (warm, as behind MCP) and as a whole process, and the whole process against `python -c pass`. Texts have 20 to 80 words.

Beneath stand the targets of the two source documents, met or not: CPU milliseconds of the same line warm, in a process that has
run it before, and as a whole process. CPU time is what it takes by the clock where nothing else runs, but for waiting for the disk.
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
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from timing import BARE, MABOS, compile_package, cpu_seconds
from workspaces import english, init, item_rows, questions, tell

from mabos_cli.app import main as run_line
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

# What the source documents expect, in milliseconds at most: their words, the line that does it, and one that runs before it
# and does not count. Braces stand for a text, `ten` for a file with ten items.
TARGETS = (
    ("memory_store_item", 15, ["store", "{}", "--type", "event", "--store", "short_term"], []),
    ("daily log write (a deferred store)", 10, ["store", "{}", "--defer"], []),
    ("memory_recall, depth 0; memory search", 50, ["recall", "{?}"], []),
    ("memory_recall, depth 1", 80, ["recall", "{?}", "--depth", "1"], []),
    ("memory_recall, depth 3", 150, ["recall", "{?}", "--depth", "3"], []),
    ("memory_consolidate, 10 items", 50, ["consolidate"], ["store", "--batch", "ten"]),
    ("memory_checkpoint", 5, ["checkpoint", "-c", "{}"], []),
    (
        "memory_build_hierarchy, 30 days",
        300,
        ["hierarchy", "build", "--scope", "all", "--since", "2026-06-01", "--force"],
        [],
    ),
    ("BDI cycle, one agent", 30, ["bdi", "cycle"], ["belief", "add", "{.}"]),
    ("context build", 500, ["context", "build", "--request", "{?}"], []),
)
VECTOR_QUERY = 50  # milliseconds for the nearest vectors


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


def cost(job: Callable[[], object]) -> float:
    """CPU seconds of one run."""
    start = time.process_time()
    job()
    return time.process_time() - start


def measure(root: Path, runs: int) -> None:
    """Prints the bare work of each command, and how many times that it takes."""
    found: dict[str, list[list[float]]] = {}
    bare: list[float] = []
    for run in range(runs + 1):
        for job in list_jobs(root):
            bare.append(cpu_seconds(BARE))
            row = [cost(job.bare), cost(job.service), cpu_seconds([MABOS, "-w", str(root), *job.words()])]
            found.setdefault(job.name, []).append(row) if run else None
    start = statistics.median(bare)
    for name, rows in found.items():
        least, warm, whole = (statistics.median(each) for each in zip(*rows, strict=True))
        print(
            f"| {name} | {least * 1000:.2f} ms | {warm / least:.1f} | {whole / least:.0f} | {whole / start:.1f} |",
            flush=True,
        )


def fill(words: list[str], root: Path, rnd: random.Random) -> list[str]:
    """Returns a line with what its braces stand for; of `ten` the file is written."""
    values = {
        "{}": lambda: say_long(rnd),
        "{.}": lambda: tell(rnd),
        "{?}": lambda: rnd.choice(questions(50)),
        "ten": lambda: str(ten),
    }
    ten = root.parent / "ten.ndjson"
    rows = ({"content": say_long(rnd), "type": "event", "store": "short_term", "importance": 0.7} for _ in range(10))
    ten.write_text("".join(json.dumps({**row, "tags": ["same"]}) + "\n" for row in rows))
    return ["-w", str(root), *(values[word]() if word in values else word for word in words)]


def run_here(words: list[str]) -> float:
    """CPU seconds of a line in this process."""
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        return cost(lambda: run_line(words))


def compare_targets(root: Path, runs: int) -> None:
    """Prints the targets and what the same takes here, warm and cold."""
    rnd = random.Random(4)
    for day in range(1, 31):
        log = root / f"agents/main/memory/2026-06-{day:02}.md"
        entries = "".join(f"\n## event (09:{n:02} UTC)\n\n{say_long(rnd)}\n" for n in range(6))
        log.write_text(f"# 2026-06-{day:02} — Agent Log\n{entries}")
    for name, most, words, before in TARGETS:
        warm: list[float] = []
        cold: list[float] = []
        for _ in range(runs + 2):
            for found, measured in ((warm, run_here), (cold, lambda line: cpu_seconds([MABOS, *line]))):
                if before:
                    run_here(fill(before, root, rnd))
                found.append(measured(fill(words, root, rnd)))
        print_target(name, most, statistics.median(warm[2:]), statistics.median(cold[2:]))
    index = AgentSearch([Call(workspace=str(root)).open_agent()], SearchOptions(Filters(), FINDABLE, 10))._indexes()[0]
    assert index.embedder is not None
    vector, texts = index.embedder.embed_query("what did we decide"), [say_long(rnd) for _ in range(100)]
    nearest = [cost(lambda: index.lanes.nearest(vector, 40, Restriction(), 0)) for _ in range(runs)]
    print_target("vector DB query", VECTOR_QUERY, statistics.median(nearest))
    seconds = cost(lambda: index.embedder.embed(texts))
    tokens = sum(map(len, texts)) / 4
    print(f"| local embedding, tokens a second | 50 | {tokens / seconds:,.0f} met | |")
    tokens = index.db.execute("SELECT sum(size) FROM passages WHERE shown").fetchone()[0] / 4
    size = os.path.getsize(index.path or "")
    print(
        f"| index size, KB for 1,000 tokens | 5 | {size / tokens:.1f} {'met' if size / tokens <= 5 else 'missed'} | |"
    )


def print_target(name: str, most: int, *seconds: float) -> None:
    cells = [f"{1000 * each:.0f} {'met' if 1000 * each <= most else 'missed'}" for each in seconds]
    print(f"| {name} | {most} | {' | '.join(cells)} |{' |' if len(cells) == 1 else ''}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default="1000,10000")
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    compile_package()
    for size in map(int, options.sizes.split(",")):
        with tempfile.TemporaryDirectory(prefix="mabos-bench-") as folder:
            make(Path(folder) / "ws", size)
            root = Path(folder) / "ws"
            print(
                f"\n{size:,} memories\n\n| | bare work | warm, times that | whole process, times that | and of pass |"
            )
            print("|---|---:|---:|---:|---:|")
            measure(root, options.runs)
            print("\n| target | ms | warm | cold |\n|---|---:|---:|---:|")
            compare_targets(root, options.runs)


if __name__ == "__main__":
    main()
