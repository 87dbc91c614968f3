"""Finds the weights of the default ranking (core/search/scoring.py) on questions whose evidence is known.

    python benchmarks/fusion.py DATA.json.gz... [--without NAME...] [--rounds 2]

Data is laid out as for retrieval.py. The candidates of every question, with their signals, are collected once through a real
index; then one weight after the other is moved as long as the questions are answered better: recall@10, and a quarter each of
recall@5 and of the reciprocal rank of the first evidence, as a mean over the sets. Sets given with --without are only measured:
they tell how far the weights hold for other kinds of text. Few steps, coarse weights and a price on each keep it from learning
single questions. Put what it prints into scoring.py.
"""

import argparse
import gzip
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from retrieval import make_workspace, measure

from mabos_cli.commands.call import Call
from mabos_cli.core.memory.stores import FINDABLE
from mabos_cli.core.search import scoring
from mabos_cli.core.search.recall import Filters
from mabos_cli.core.search.scoring import Weighing, score
from mabos_cli.index import ask
from mabos_cli.index.packing import unpack_text
from mabos_cli.services.search.agent_search import AgentSearch, SearchOptions

WEIGHTS = (
    "MEANING",
    "NEAR",
    "FAR",
    "SESSION",
    "NAMED",
    "DATED",
    "ASKING",
    "RULE",
)  # WORDS are what the rest is measured by
STEPS = (0.1, 0.05)
PRICE = 0.002
Asked = tuple[Any, Any, Weighing, set[str]]


def collect(agent: dict[str, Any], folder: str) -> list[Asked]:
    """Returns candidates, their neighbours, how they are weighed, and the evidence of each question."""
    make_workspace(agent, folder)
    call = Call(workspace=folder)
    search = AgentSearch([call.open_agent()], SearchOptions(Filters(), FINDABLE, 10), call.progress)
    index = search._indexes()[0]
    rows = index.db.execute("SELECT id, line FROM items WHERE shown")
    ids = {index.decode(unpack_text(line)).source.removeprefix("eval:"): ref for ref, line in rows}
    found: list[Asked] = []

    def keep(candidates: Any, how: Weighing, count: int, rings: Any = None) -> Any:
        found.append((candidates, rings, how._replace(importance=0.0), gold))
        return score(candidates, how, count, rings)

    ask.score = keep
    for question in agent["queries"]:
        gold = {ids[ref] for ref in question["gold"] if ref in ids}
        if gold:
            search(question["q"])
    ask.score = score
    return found


def worth(asked: list[Asked]) -> tuple[float, float]:
    """Returns what the weights of the moment are worth, and recall@10."""
    rows = []
    for candidates, rings, how, gold in asked:
        best = score(candidates, how, 10, rings)
        rows.append(measure([one.ref for one in best], gold))
    means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    return means[1] + (means[0] + means[3]) / 4, means[1]


def total(sets: dict[str, list[Asked]]) -> float:
    """Returns what the weights are worth over all sets, less what they cost."""
    price = PRICE * sum(abs(getattr(scoring, name)) for name in WEIGHTS)
    return sum(worth(asked)[0] for asked in sets.values()) / len(sets) - price


def ascend(sets: dict[str, list[Asked]], rounds: int) -> None:
    """Moves one weight after the other as long as that helps."""
    best = total(sets)
    for step in STEPS * rounds:
        for name in WEIGHTS:
            for move in (step, -step):
                while True:
                    before = getattr(scoring, name)
                    setattr(scoring, name, round(before + move, 3))
                    value = total(sets)
                    if value <= best + 0.0005:
                        setattr(scoring, name, before)
                        break
                    best = value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--without", nargs="*", default=[], help="sets that are only measured")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    sets: dict[str, list[Asked]] = {}
    for file in options.data:
        data = json.loads(gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes())
        with tempfile.TemporaryDirectory() as temp:
            folders = [os.path.join(temp, str(n)) for n in range(len(data["agents"]))]
            pairs = zip(data["agents"], folders, strict=True)
            sets[file.name.partition(".")[0]] = [one for agent, folder in pairs for one in collect(agent, folder)]
    show(sets, "before")
    ascend({name: asked for name, asked in sets.items() if name not in options.without}, options.rounds)
    show(sets, "after")


def show(sets: dict[str, list[Asked]], label: str) -> None:
    """Prints the weights, and recall@10 of each set."""
    print(label, {name: getattr(scoring, name) for name in ("WORDS", *WEIGHTS)})
    print("  recall@10", {name: round(worth(asked)[1], 3) for name, asked in sets.items()}, flush=True)


if __name__ == "__main__":
    main()
