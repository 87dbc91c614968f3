"""What searching costs as memory grows: whole processes, one question in process, and keeping the index.

    python benchmarks/search.py [--sizes 1000,10000,100000] [--runs 9] [--files 10000]

Every figure is a ratio of two things measured in turn in the same run:
- `mabos recall` against `python -c pass`, CPU time of whole processes, nothing changed since the last one, and after a store;
- one hybrid recall in process against the two bare SQL statements that it must run (FTS5 and sqlite-vec, same pools);
- `index sync` of many files of which none changed against a bare walk that calls stat;
- and the passages a second of a full sync, embedding included, which is no ratio.
"""

import argparse
import compileall
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from pydoc_data.topics import topics

sys.path.insert(0, str(Path(__file__).parent))
from growth import make_workspace
from startup import cpu_seconds

from mabos_cli.commands.agent_index import AgentIndex
from mabos_cli.commands.agent_search import AgentSearch, Way
from mabos_cli.commands.call import Call
from mabos_cli.core.recall import Filters, recall
from mabos_cli.core.text import asked_words
from mabos_cli.index import lanes


def medians(*jobs: Callable[[], object], runs: int) -> list[float]:
    """The median CPU seconds of jobs, run in turn."""
    times: list[list[float]] = [[] for _ in jobs]
    for _ in range(runs):
        for job, found in zip(jobs, times, strict=True):
            start = time.process_time()
            job()
            found.append(time.process_time() - start)
    return [statistics.median(found) for found in times]


@cache
def english() -> list[str]:
    """Running English text, as frequent and as rare in its words as text is: the manual that Python brings along."""
    return re.findall("[a-z]{2,}", " ".join(topics.values()).lower())


def say(rnd: random.Random) -> str:
    """Eighteen words of it."""
    start = rnd.randrange(len(english()) - 18)
    return " ".join(english()[start : start + 18])


def questions(count: int) -> list[str]:
    """Questions about four words that stand together, as people ask: with words around them."""
    rnd = random.Random(7)
    return [f"what did we decide about {' '.join(say(rnd).split()[:4])}?" for _ in range(count)]


def whole_process(root: Path, runs: int) -> tuple[float, float]:
    """recall as a multiple of `python -c pass`: nothing changed, and right after a store."""
    mabos, env = str(Path(sys.executable).with_name("mabos")), dict(os.environ)
    ask = [mabos, "-w", str(root), "recall", questions(1)[0], "--limit", "10", "--json"]
    store = [mabos, "-w", str(root), "store", "one more thing", "--store", "long_term", "--quiet"]
    cpu_seconds(ask, env)
    bare, same, changed = [], [], []
    for _ in range(runs):
        bare.append(cpu_seconds([sys.executable, "-c", "pass"], env))
        same.append(cpu_seconds(ask, env))
        cpu_seconds(store, env)
        changed.append(cpu_seconds(ask, env))
        cpu_seconds(ask, env)
    base = statistics.median(bare)
    return statistics.median(same) / base, statistics.median(changed) / base


def in_process(root: Path, runs: int) -> tuple[float, float]:
    """One hybrid recall as a multiple of its two bare SQL statements, and the milliseconds of those."""
    home = Call(workspace=str(root)).open_home()
    search = AgentSearch([home], Way(Filters(), False, 10))
    index = search._indexes()[0]
    pool = home.settings["recall.pool"]
    asked = questions(runs * 4)
    prepared = [(lanes.match_any(asked_words(q)), index.embedder.embed_query(q)) for q in asked]
    turns = [iter(asked * 2), iter(prepared * 2)]

    def hybrid() -> None:
        recall(search, next(turns[0]), 10)

    def bare() -> None:
        match, vector = next(turns[1])
        sql = "SELECT rowid, bm25(passages_fts) FROM passages_fts WHERE passages_fts MATCH ? ORDER BY rank LIMIT ?"
        index.db.execute(sql, (match, pool)).fetchall()
        near = "SELECT rowid, distance FROM passages_vec WHERE embedding MATCH ? AND k = ? AND live = 1"
        index.db.execute(near, (vector, pool)).fetchall()

    hybrid(), bare()
    one, two = medians(hybrid, bare, runs=runs * 4)
    return one / two, two * 1000


def full_sync(root: Path) -> float:
    """Passages a second of a sync from nothing, embedding included."""
    searching = AgentIndex(Call(workspace=str(root)).open_home())
    start = time.process_time()
    searching.refresh(rebuild=True)
    return searching.stats.embedded / (time.process_time() - start)


def stat_walk(folder: str) -> int:
    """The least that finding a change costs: every name and its stat."""
    count = 0
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            count += stat_walk(entry.path)
        else:
            entry.stat()
            count += 1
    return count


def idle_sync(files: int, runs: int) -> float:
    """A sync of that many unchanged files as a multiple of the bare walk."""
    with tempfile.TemporaryDirectory() as folder:
        mabos, root = str(Path(sys.executable).with_name("mabos")), Path(folder) / "ws"
        subprocess.run([mabos, "init", str(root), "--quiet"], check=True)
        rnd = random.Random(3)
        for n in range(files):
            path = root / "agents" / "main" / "memory" / "notes" / f"{n // 500}" / f"{n}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"# Note {n}\n\n{say(rnd)}\n", "utf-8")
        home = Call(workspace=str(root)).open_home()
        AgentIndex(home).refresh()
        time.sleep(0.1)
        AgentIndex(home).refresh()
        walked, synced = medians(
            lambda: stat_walk(str(home.paths.root)), lambda: AgentIndex(home).refresh(), runs=runs
        )
        return synced / walked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--files", type=int, default=10_000)
    options = parser.parse_args()
    compileall.compile_dir(Path(__file__).parent.parent / "mabos_cli", quiet=2)
    mabos = str(Path(sys.executable).with_name("mabos"))
    print(
        "| items | recall / python -c pass | after a store | in process / two SQL statements | passages a second |"
    )
    print("|---|---|---|---|---|")
    for size in (int(part) for part in options.sizes.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "ws"
            make_workspace(mabos, root, size, False, say)
            rate = full_sync(root)
            ratio, sql = in_process(root, options.runs)
            same, changed = whole_process(root, options.runs)
            print(
                f"| {size:,} | {same:.1f}x | {changed:.1f}x | {ratio:.2f}x of {sql:.1f} ms | {rate:,.0f} |",
                flush=True,
            )
    ratio = idle_sync(options.files, options.runs)
    print(f"\nindex sync of {options.files:,} unchanged files: {ratio:.2f}x of a bare stat walk")


if __name__ == "__main__":
    main()
