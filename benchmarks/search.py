"""What searching costs as memory grows: one question in process, and keeping the index.

    python benchmarks/search.py [--sizes 1000,10000,100000] [--runs 9] [--files 10000]

Every figure is a ratio of two things measured in turn in the same run:
- one hybrid recall in process against the two bare SQL statements that it must run (FTS5 and sqlite-vec, same pools);
- `index sync` of many files of which none changed against a bare walk that calls stat;
- and the passages a second of a full sync, embedding included, which is no ratio.

Whole processes are measured by speed.py.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from timing import compile_package, medians
from workspaces import item_rows, make_items, make_notes, questions

from mabos_cli.commands.call import Call
from mabos_cli.core.language.text import asked_words
from mabos_cli.core.memory.stores import FINDABLE
from mabos_cli.core.search.recall import Filters, recall
from mabos_cli.index.tables import match_any
from mabos_cli.services.search.agent_search import AgentIndex, AgentSearch, SearchOptions


def in_process(root: Path, runs: int) -> tuple[float, float]:
    """One hybrid recall as a multiple of its two bare SQL statements, and the milliseconds of those."""
    home = Call(workspace=str(root)).open_agent()
    search = AgentSearch([home], SearchOptions(Filters(), FINDABLE, 10))
    index = search._indexes()[0]
    pool = home.settings["recall.pool"]
    asked = questions(runs * 4)
    prepared = [(match_any(asked_words(q)), index.embedder.embed_query(q)) for q in asked]
    turns = [iter(asked * 2), iter(prepared * 2)]

    def hybrid() -> None:
        recall(search, next(turns[0]), 10)

    def bare() -> None:
        match, vector = next(turns[1])
        sql = "SELECT rowid, bm25(passages_fts) FROM passages_fts WHERE passages_fts MATCH ? ORDER BY rank LIMIT ?"
        index.db.execute(sql, (match, pool)).fetchall()
        near = "SELECT rowid, distance FROM passages_vec WHERE embedding MATCH ? AND k = ? AND away = 0"
        index.db.execute(near, (vector, pool)).fetchall()

    hybrid(), bare()
    one, two = medians(hybrid, bare, runs=runs * 4)
    return one / two, two * 1000


def full_sync(root: Path) -> float:
    """Passages a second of a sync from nothing, embedding included."""
    searching = AgentIndex(Call(workspace=str(root)).open_agent())
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
        root = Path(folder) / "ws"
        make_notes(root, files)
        home = Call(workspace=str(root)).open_agent()
        AgentIndex(home).refresh()
        time.sleep(0.1)
        AgentIndex(home).refresh()
        walked, synced = medians(lambda: stat_walk(str(home.paths.root)), lambda: AgentIndex(home).refresh(), runs=runs)
        return synced / walked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--files", type=int, default=10_000)
    options = parser.parse_args()
    compile_package()
    print("| items | in process / two SQL statements | passages a second |")
    print("|---|---|---|")
    for size in (int(part) for part in options.sizes.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "ws"
            make_items(root, item_rows(size))
            rate = full_sync(root)
            ratio, sql = in_process(root, options.runs)
            print(f"| {size:,} | {ratio:.2f}x of {sql:.1f} ms | {rate:,.0f} |", flush=True)
    ratio = idle_sync(options.files, options.runs)
    print(f"\nindex sync of {options.files:,} unchanged files: {ratio:.2f}x of a bare stat walk")


if __name__ == "__main__":
    main()
