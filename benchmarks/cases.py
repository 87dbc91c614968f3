"""Cases as they grow: retrieving against loading the file, what storing one more takes, and the whole command against a bare start.

    python benchmarks/cases.py [--cases 10000] [--runs 7]

Cases are generated: six beliefs and three desires of a few hundred, a context of a sentence, two actions, metrics and lessons.
`load` reads and decodes cases.json with the json module and makes nothing of it; `retrieve` is the whole command in this process,
without start-up; so is `store`, of a case that is not known and of one that is, and at the limit, where each store makes a case
leave. `by context` also searches texts through the index, which is made before. All take turns, and the best of the runs counts:
the machine may be busy with other things.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from timing import BARE, MABOS, best

from mabos_cli.app import main as mabos
from mabos_cli.core.knowledge.case import Case
from mabos_cli.formats.knowledge.cases import CaseFile

SUBJECTS = (
    "churn",
    "revenue",
    "support load",
    "hiring",
    "cloud cost",
    "delivery time",
    "a supplier",
    "the price list",
)
MOVES = ("rose", "fell", "stood still", "was disputed", "surprised everybody", "broke down")
REASONS = (
    "after the price change",
    "in the last quarter",
    "because of a competitor",
    "when the office moved",
    "without notice",
)
NOW = ("--belief", "B-001,B-002,B-003,B-004,B-005,B-006", "--desire", "D-001,D-002,D-003")


def make_case(number: int, draw: random.Random) -> Case:
    """A case of a company, made up."""
    about = f"{draw.choice(SUBJECTS)} {draw.choice(MOVES)} {draw.choice(REASONS)}"
    return Case(
        f"C-{number:03d}",
        tuple(f"B-{n:03d}" for n in draw.sample(range(1, 400), 6)),
        tuple(f"D-{n:03d}" for n in draw.sample(range(1, 80), 3)),
        f"In week {number % 52} {about}, and the board asked for a plan within {draw.randrange(2, 30)} days",
        f"P-{number % 90:03d}",
        ("Called everybody who knows about it", f"Moved {draw.randrange(1, 99)} percent of the budget"),
        draw.random() < 0.7,
        (("cost", round(draw.uniform(0, 1000), 2)), ("days", draw.randrange(1, 60))),
        "Ask first, then act; numbers that nobody checked were wrong again",
        f"2026-{1 + number % 9:02d}-{1 + number % 28:02d}T10:00:00.000Z",
    )


class Agent:
    """A workspace with so many cases, of which mabos-cases.md tells."""

    def __init__(self, root: Path, count: int) -> None:
        self.root, self.stored, self.draw = root, 0, random.Random(count)
        mabos(["init", "-q", os.fspath(root)])
        self.path = root / "agents/main/cases.json"
        draw = random.Random(5)
        self.path.write_bytes(CaseFile().changed([make_case(n, draw) for n in range(1, count + 1)], ()).data)

    def run(self, *words: str) -> None:
        with open(os.devnull, "w") as nowhere, redirect_stderr(nowhere):  # warnings about failures
            code = mabos(["-w", os.fspath(self.root), "-q", *words])
        assert code == 0, words

    def load(self) -> None:
        assert json.loads(self.path.read_bytes())

    def retrieve(self, *more: str) -> None:
        self.run("case", "retrieve", *NOW, *more)

    def store(self) -> None:
        self.stored += 1
        self.run("case", "store", "--belief", f"seen {self.stored} {time.time_ns()}", "--action", "Wait")

    def merge(self) -> None:
        self.run("case", "store", "--belief", "known before", "--action", "Wait")


def start(argv: list[str]) -> Callable[[], object]:
    """A process of its own."""
    return lambda: subprocess.run(argv, check=True, capture_output=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=7)
    given = parser.parse_args()
    os.environ["MABOS_CBR_MAX_CASES"] = str(2 * given.cases)
    with tempfile.TemporaryDirectory(prefix="mabos-bench-") as folder:
        for count in sorted({100, 1_000, given.cases}):
            agent = Agent(Path(folder) / f"{count}", count)
            load, found = best(given.runs, agent.load, agent.retrieve)
            size = agent.path.stat().st_size / 1e6
            print(f"{count:,} cases ({size:.1f} MB): retrieve {found:.4f} s, load {load:.4f} s: {found / load:.2f}x")
            agent.store()  # the first one also writes every page
            agent.merge()
            load, stored, merged = best(given.runs, agent.load, agent.store, agent.merge)
            print(f"  store {stored:.4f} s, {stored / load:.1f}x of loading; merge {merged / load:.1f}x")
        print(f"at most 3x for {given.cases:,} cases")
        asked = ("--context", "revenue fell because of a competitor")
        agent.retrieve(*asked)
        load, found = best(given.runs, agent.load, lambda: agent.retrieve(*asked))
        print(f"{given.cases:,} cases, by context: {found:.3f} s, {found / load:.1f}x of loading")
        words = [MABOS, "-w", os.fspath(agent.root), "case", "retrieve", *NOW]
        bare, whole = best(given.runs, start(BARE), start(words))
        print(f"{given.cases:,} cases, the whole command: {whole:.3f} s, {whole / bare:.1f}x of python -c pass")
        os.environ["MABOS_CBR_MAX_CASES"] = str(given.cases)
        agent.store()
        load, stored = best(given.runs, agent.load, agent.store)
        print(f"{given.cases:,} cases, store at the limit: {stored:.3f} s, {stored / load:.1f}x of loading")


if __name__ == "__main__":
    main()
