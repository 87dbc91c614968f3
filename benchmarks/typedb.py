"""What a mirror in TypeDB costs a command: a store with a server that is down, against the same store with none configured.

    python benchmarks/typedb.py [--runs 15] [--items 1000]

Each store is a process of its own, on its own copy of a workspace with so many long-term items; the ways take turns, so that a
busy machine is busy for all of them, and medians count. `down` finds nobody at the address and writes the change
into the queue; `resting` has found that out a moment ago, and does not ask again; `none again` shows how much the figures
wander by themselves. At most 1.3x is wanted. Last, a server that takes the connection and says nothing: what it costs in seconds,
against `typedb.connect_timeout`, which is the most that it may cost.

With a server: `python benchmarks/typedb.py --address localhost:1729 --items 20000`, and MABOS_TYPEDB_PASSWORD set, also times stores
that are mirrored, and `typedb sync-agent` of all items and as many facts in the words of the business ontology: once into an empty
database, and once over what is there. 20,000 records a minute are wanted. The database is `mabos_benchmark`; it should be empty, and is
left there.
"""

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from mabos_cli.app import main as mabos
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.core.memory.item import MemoryItem
from mabos_cli.formats.knowledge.facts import FactFile, render_fact, render_facts
from mabos_cli.formats.memory.items import StoreFile, render_item, render_store

NOBODY = "127.0.0.1:9"  # the discard port: nothing listens there


class Way:
    """A workspace of its own, and the environment in which its stores run."""

    def __init__(self, seed: Path, name: str, prepare: Callable[[Path], None] = lambda root: None, **settings: str):
        self.root, self.name, self.prepare = seed.parent / name, name, prepare
        shutil.copytree(seed, self.root)
        clean = {key: value for key, value in os.environ.items() if not key.startswith("MABOS_TYPEDB")}
        self.environment = clean | {f"MABOS_TYPEDB_{key.upper()}": value for key, value in settings.items()}
        self.times: list[tuple[float, float]] = []

    def run(self, *words: str) -> tuple[float, float]:
        """Seconds of CPU time, and seconds that passed."""
        start, before = time.perf_counter(), os.times()
        program = [sys.executable, "-m", "mabos_cli", "-w", os.fspath(self.root), *words]
        self.said = subprocess.run(program, env=self.environment, check=True, capture_output=True).stdout
        after = os.times()
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        return spent, time.perf_counter() - start

    def store(self) -> None:
        self.prepare(self.root)
        self.times.append(self.run("store", f"Number {len(self.times)} of the notes of {self.name}"))

    def typical(self) -> tuple[float, float]:
        """The median of both, without the first run."""
        spent, passed = zip(*self.times[1:], strict=True)
        return median(spent), median(passed)


def make_seed(root: Path, items: int) -> Path:
    """A workspace with long-term items."""
    mabos(["init", "-q", os.fspath(root)])
    lines = [
        render_item(MemoryItem(f"M-{1770000000000 + n}-0000", f"Note {n} about subject {n * 7 % 101}", "fact"))
        for n in range(items)
    ]
    (root / "agents/main/memory-store.json").write_bytes(render_store(StoreFile((), (), lines)))
    return root


def add_facts(root: Path, count: int) -> None:
    """Customers, what they buy, whom they report to, what they earn, and what no ontology knows."""
    mabos(["ontology", "scaffold", "business", "-q", "-w", os.fspath(root)])
    said = (("isA", "Customer"), ("buys", "p{}"), ("reportsTo", "c{}"), ("hasRevenue", "{}"), ("mood", "m{}"))
    triples = ((f"c{n // 5}", said[n % 5][0], said[n % 5][1].format(n // 5 % 97)) for n in range(count))
    lines = [render_fact(Fact(f"F-{1770000000000 + n}-0000", *triple)) for n, triple in enumerate(triples)]
    (root / "agents/main/facts.json").write_bytes(render_facts(FactFile(lines=lines)))


def time_sync(way: Way, what: str) -> None:
    """Prints how many records a minute are written."""
    took = way.run("typedb", "sync-agent", "--json")[1]
    written = json.loads(way.said)["data"]["agents"][0]["written"]
    print(f"sync-agent, {what}: {written:,} records in {took:.1f} s, {written / took * 60:,.0f} a minute")


def forget_rest(root: Path) -> None:
    (root / ".mabos/typedb/rest").unlink(missing_ok=True)


def time_silence(seed: Path, wall: float, limit: float = 1.0) -> None:
    """Prints what a silent server costs a store, against the time that it is given."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        asked = {"address": address, "password": "x", "connect_timeout": str(limit)}
        way = Way(seed, "silent", forget_rest, **asked)
        for _ in range(6):
            way.store()
    print(f"  silent: {way.typical()[1] - wall:.2f} s more than none, of {limit:g} s that it is given")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--items", type=int, default=1_000)
    parser.add_argument("--address", default="")
    given = parser.parse_args()
    password = os.environ.get("MABOS_TYPEDB_PASSWORD", "")
    with tempfile.TemporaryDirectory(prefix="mabos-bench-") as folder:
        seed = make_seed(Path(folder) / "seed", given.items)
        ways = [
            Way(seed, "none"),
            Way(seed, "none again"),
            Way(seed, "resting", address=NOBODY),
            Way(seed, "down", forget_rest, address=NOBODY),
        ]
        if given.address:
            there = {"address": given.address, "password": password, "database": "mabos_benchmark"}
            ways.append(Way(seed, "mirrored", **there))
            add_facts(ways[-1].root, given.items)
            ways[-1].run("typedb", "sync-schema")
            time_sync(ways[-1], "into an empty database")
            shutil.rmtree(ways[-1].root / ".mabos/typedb")
            time_sync(ways[-1], "over what is there")
        for _ in range(given.runs + 1):
            for way in ways:
                way.store()
        cpu, wall = ways[0].typical()
        print(f"store with nothing configured: {cpu * 1000:.0f} ms of CPU time, {wall * 1000:.0f} ms in all")
        for way in ways[1:]:
            own_cpu, own_wall = way.typical()
            print(f"  {way.name}: {own_cpu / cpu:.2f}x of the CPU time, {own_wall / wall:.2f}x in all")
        time_silence(seed, wall)


if __name__ == "__main__":
    main()
