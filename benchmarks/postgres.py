"""PostgreSQL beside SQLite: the same questions to both, in one run.

    python benchmarks/postgres.py URL [DATA.json.gz...] [--passages 100000,1000000] [--agents 100] [--questions 200]

With data sets (see retrieval.py): recall@10 of both, and how many questions get the same ten answers. With --passages: an agent with
that many made-up memories, embedded by the default model, the seconds of sending them, and p50
and p95 of a recall in a warm process, the two taken in turn. With --agents: a fleet of that many agents with 1,000 passages each in the one
database; p50 and p95 of one agent's recall, and of a recall over what all of them share. Size of the database at the end.
"""

import argparse
import gzip
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from retrieval import make_workspace, measure
from workspaces import init, item_rows, questions

from mabos_cli.commands.call import Call
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.core.memory.stores import FINDABLE
from mabos_cli.core.search.recall import Filters, recall
from mabos_cli.formats.memory.items import render_item, render_page
from mabos_cli.index.restriction import Restriction
from mabos_cli.services.search.agent_search import AgentIndex, AgentSearch, SearchOptions
from mabos_cli.services.search.shared_memories import SharedSearch

OPTIONS = SearchOptions(Filters(), FINDABLE, 10)


def use(backend: str, url: str) -> None:
    os.environ |= {"MABOS_INDEX_BACKEND": backend, "MABOS_INDEX_POSTGRES": url, "MABOS_INDEX_POSTGRES_TIMEOUT": "60"}


def open_both(root: str, url: str) -> list[AgentSearch]:
    """The same memory behind both."""
    found = []
    for backend in ("sqlite", "postgres"):
        use(backend, url)
        call = Call(workspace=root)
        if backend == "postgres":
            AgentIndex(call.open_agent()).refresh(wait=60)
        search = AgentSearch([call.open_agent()], OPTIONS)
        assert not search.warnings(), search.warnings()
        found.append(search)
    return found


def refs(search: AgentSearch, question: str) -> list[str]:
    return [hit.candidate.ref for hit in recall(search, question, 10)]


def compare(path: str, url: str) -> None:
    """Prints recall@10 of both for a data set, and how many questions get the same answers."""
    data = json.loads(gzip.decompress(Path(path).read_bytes()))
    total, same, asked = [0.0, 0.0], 0, 0
    for agent in data["agents"]:
        with tempfile.TemporaryDirectory() as folder:
            make_workspace(agent, folder)
            both = open_both(folder, url)
            for query in (query for query in agent["queries"] if query["gold"]):
                hits = [recall(search, query["q"], 10) for search in both]
                own = [
                    [h.candidate.item.source.removeprefix("eval:") for h in some if h.candidate.item] for some in hits
                ]
                total = [t + measure(found, {*query["gold"]})[1] for t, found in zip(total, own, strict=True)]
                same, asked = same + (own[0] == own[1]), asked + 1
    one, two = (t / asked for t in total)
    print(
        f"{data['dataset']}: recall@10 SQLite {one:.4f}, PostgreSQL {two:.4f}; the same ten in {same} of {asked}",
        flush=True,
    )


def in_turn(works: Sequence[Callable[[str], object]], asked: Sequence[str]) -> list[str]:
    """p50 and p95 of some works in milliseconds, taken in turn."""
    times: list[list[float]] = [[] for _ in works]
    for question in asked:
        for work, held in zip(works, times, strict=True):
            start = time.perf_counter()
            work(question)
            held.append(1000 * (time.perf_counter() - start))
    return [f"p50 {statistics.median(held):.0f} ms, p95 {sorted(held)[int(0.95 * len(held))]:.0f} ms" for held in times]


def make_memory(root: Path, count: int) -> None:
    """A workspace with so many memories, written as pages of months: a batch of a million would take longer than what is measured."""
    init(root)
    pages: dict[str, list[bytes]] = {}
    for n, row in enumerate(item_rows(count)):
        item = MemoryItem(
            f"M-{1_672_531_200_000 + n}-{n % 65536:04x}",
            row["content"],
            "fact",
            row["importance"],
            "manual",
            "agent",
            tags=tuple(row["tags"]),
            created_at=row["created_at"].replace("Z", ".000Z"),
            accessed_at=row["created_at"].replace("Z", ".000Z"),
        )
        pages.setdefault(row["created_at"][:7], []).append(render_item(item))
    folder = root / "agents/main/memory-store"
    folder.mkdir()
    for month, lines in pages.items():
        (folder / f"{month}.json").write_bytes(render_page(lines))
    time.sleep(0.1)


def load_test(count: int, url: str, number: int) -> None:
    """Prints what a large agent costs."""
    with tempfile.TemporaryDirectory() as folder:
        make_memory(Path(folder), count)
        use("sqlite", url)
        start = time.perf_counter()
        home = Call(workspace=folder).open_agent()
        AgentIndex(home).refresh(wait=60)
        synced = time.perf_counter()
        use("postgres", url)
        AgentIndex(Call(workspace=folder).open_agent()).refresh(wait=60)
        sent = time.perf_counter()
        print(
            f"{count:,}: SQLite built in {synced - start:.0f} s, sent to PostgreSQL in {sent - synced:.0f} s",
            flush=True,
        )
        both = open_both(folder, url)
        asked = questions(number)
        for question in asked[:10]:
            refs(both[0], question), refs(both[1], question)
        shown = in_turn([lambda q: refs(both[0], q), lambda q: refs(both[1], q)], asked)
        print(f"{count:,}: recall, warm: SQLite {shown[0]}; PostgreSQL {shown[1]}", flush=True)
        lanes = [search._indexes()[0].lanes for search in both]
        vectors = [both[0]._opened[0].index.embedder.embed_query(q) for q in asked]
        shares = []
        for vector in vectors[:50]:
            near, exact = (
                {row for row, _ in lane.nearest(vector, 10, Restriction(), 0)} for lane in (lanes[1], lanes[0])
            )
            shares.append(len(near & exact) / max(1, len(exact)))
        print(
            f"{count:,}: of the ten nearest vectors of SQLite, PostgreSQL has {statistics.mean(shares):.3f}", flush=True
        )


def fleet(agents: int, url: str, number: int) -> None:
    """Prints what one agent of many costs, and a question to all of them."""
    os.environ["MABOS_MEMORY_SHARED"] = "true"
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        for n in range(agents):
            make_memory(Path(folder) / f"host-{n}", 1000 + n)
            use("postgres", url)
            AgentIndex(Call(workspace=f"{folder}/host-{n}").open_agent()).refresh(wait=60)
        print(
            f"fleet of {agents:,} agents with 1,000 memories each: made and sent in {time.perf_counter() - start:.0f} s",
            flush=True,
        )
        asked = questions(number)
        both = open_both(f"{folder}/host-0", url)

        def shared(question: str) -> object:
            call = Call(workspace=f"{folder}/host-0")
            return recall(SharedSearch(call, call.open_agent(), OPTIONS), question, 10)

        works = [lambda q: refs(both[0], q), lambda q: refs(both[1], q), shared]
        for work in works:
            work(asked[0])
        for name, shown in zip(("SQLite", "PostgreSQL", "--shared"), in_turn(works, asked), strict=True):
            print(f"fleet of {agents:,}: {name} {shown}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("data", nargs="*")
    parser.add_argument("--passages", default="")
    parser.add_argument("--agents", type=int, default=0)
    parser.add_argument("--questions", type=int, default=200)
    args = parser.parse_args()
    for path in args.data:
        compare(path, args.url)
    for count in filter(None, args.passages.split(",")):
        load_test(int(count), args.url, args.questions)
    if args.agents:
        fleet(args.agents, args.url, args.questions)
    import psycopg

    with psycopg.connect(args.url) as db:
        print("database:", db.execute("SELECT pg_size_pretty(pg_database_size(current_database()))").fetchone()[0])


if __name__ == "__main__":
    main()
