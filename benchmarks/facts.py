"""Facts as they grow: a query against loading the file, what asserting one more takes, and a run of rules that changes nothing.

    python benchmarks/facts.py [--facts 100000] [--runs 5]

Facts are generated: five to a subject, six predicates, a tenth of them with a time. `load` reads and decodes facts.json with
the json module and makes nothing of it; `query` is the whole command `fact query SUBJECT`, in this process, without start-up.
`assert` adds a fact. `infer` runs three rules with --persist: at first (writing a derived fact for each sixth asserted one),
then settled. All take turns, and the best of the runs counts: the machine may be busy with other things.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from timing import best

from mabos_cli.app import main as mabos
from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.formats.knowledge.facts import FactFile, render_fact, render_facts

PREDICATES = ("owns", "locatedIn", "hasRevenue", "reportsTo", "uses", "status")
RULES = (
    "if ?x owns ?y then ?y ownedBy ?x",
    "if ?x reportsTo ?y and ?y reportsTo ?z then ?x under ?z",
    "if ?x hasRevenue ?y and ?x status active then ?x isBig true",
)
BORN = "2026-02-20T10:00:00.000Z"


def facts_file(count: int) -> bytes:
    """facts.json with so many facts."""
    draw = random.Random(5)
    lines = []
    for number in range(count):
        fact = Fact(
            f"F-{1770000000000 + number}-0000",
            f"customer-{number // 5}",
            PREDICATES[number % 6],
            f"thing {draw.randrange(count)}",
            round(draw.uniform(0.5, 1), 2),
            "crm",
            valid_from="2026-01-01" if number % 10 == 0 else "",
            created_at=BORN,
            updated_at=BORN,
        )
        lines.append(render_fact(fact))
    return render_facts(FactFile(lines, 1, f"F-{1770000000000 + count}-0000"))


class Agent:
    """A workspace with so many facts."""

    def __init__(self, root: Path, count: int) -> None:
        self.root, self.asserted = root, 0
        mabos(["init", "-q", os.fspath(root)])
        self.whole = root / "whole.json"  # many facts move to pages; what is loaded is what they are as one file
        self.whole.write_bytes(facts_file(count))
        (root / "agents/main/facts.json").write_bytes(self.whole.read_bytes())

    def run(self, *words: str) -> None:
        code = mabos(["-w", os.fspath(self.root), "-q", *words])
        assert code == 0, words

    def load(self) -> None:
        assert json.loads(self.whole.read_bytes())["facts"]

    def add(self) -> None:
        self.asserted += 1
        self.run("fact", "assert", f"new {self.asserted} {time.time_ns()}", "uses", "redis")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mabos-bench-") as folder:
        big = Agent(Path(folder) / "big", given.facts)
        load, query = best(given.runs, big.load, lambda: big.run("fact", "query", "customer-77"))
        told = f"query {query:.3f} s, load {load:.3f} s: {query / load:.2f}x (at most 1.3x)"
        print(f"{given.facts:,} facts, by subject: {told}")
        for count in (1_000, 10_000, given.facts):
            agent = big if count == given.facts else Agent(Path(folder) / f"{count}", count)
            agent.add()  # the first one also writes every page
            load, added = best(given.runs, agent.load, agent.add)
            print(f"{count:,} facts, assert: {added:.3f} s, {added / load:.1f}x of loading")
        for rule in RULES:
            big.run("rule", "create", rule)
        load, first = best(1, big.load, lambda: big.run("infer", "forward", "--persist"))
        print(f"{given.facts:,} facts, infer forward --persist: first {first:.2f} s, {first / load:.1f}x of loading")
        load, again = best(given.runs, big.load, lambda: big.run("infer", "forward", "--persist"))
        print(f"{given.facts:,} facts, infer forward --persist: settled {again:.2f} s, {again / load:.1f}x of loading")


if __name__ == "__main__":
    main()
