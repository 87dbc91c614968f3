"""PostgreSQL beside SQLite: the same questions to both, in one run.

    python benchmarks/postgres.py URL [DATA.json.gz...] [--passages 100000,1000000] [--agents 100] [--questions 200]

With data sets (see retrieval.py): recall@10 of both, and how many questions get the same ten answers. With --passages: an agent with
that many made-up memories (vectors made up too, for a load test: no model could embed them in time), the seconds of sending them, and p50
and p95 of a recall in a warm process, the two taken in turn. With --agents: a fleet of that many agents with 1,000 passages each in the one
database; p50 and p95 of one agent's recall, and of a recall over what all of them share. Size of the database at the end.
"""

import argparse
import gzip
import hashlib
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from retrieval import make_workspace, measure
from workspaces import make_items, questions

from mabos_cli.commands.call import Call
from mabos_cli.core.memory.stores import FINDABLE
from mabos_cli.core.search.recall import Filters, recall
from mabos_cli.services.search.agent_search import AgentIndex, AgentSearch, SearchOptions
from mabos_cli.services.search.shared_memories import SharedSearch

OPTIONS = SearchOptions(Filters(), FINDABLE, 10)


class MadeUp:
    """A model whose vectors are random numbers that the text decides: they cost nothing and lie about as words do."""

    model, costly, is_slow, floor, width = "made-up-256", False, False, 0.0, 256

    def __init__(self) -> None:
        import numpy as np

        self._np = np
        self._words: dict[str, Any] = {}

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        return [*map(self.embed_query, texts)]

    def embed_query(self, text: str) -> bytes:
        total = self._np.zeros(256, self._np.float32)
        for word in text.lower().split():
            if word not in self._words:
                seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest())
                self._words[word] = self._np.random.default_rng(seed).standard_normal(256).astype(self._np.float32)
            total += self._words[word]
        norm = float(self._np.linalg.norm(total)) or 1.0
        return (total / norm).tobytes()


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


def load_test(count: int, url: str, number: int) -> None:
    """Prints what a large agent costs."""
    model = MadeUp()
    AgentIndex._embedder = lambda self: model  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        make_items(Path(folder), count)
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
        vectors = [model.embed_query(q) for q in asked]
        shares = []
        from mabos_cli.index.restriction import Restriction

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
    model = MadeUp()
    AgentIndex._embedder = lambda self: model  # type: ignore[method-assign]
    os.environ["MABOS_MEMORY_SHARED"] = "true"
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        for n in range(agents):
            make_items(Path(folder) / f"host-{n}", 1000, seed=n)
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
