"""How well recall finds what a question needs: recall@5, recall@10, nDCG@10, MRR, all gold in the top 10.

    python benchmarks/retrieval.py DATA.json.gz... [--model wordllama none minilm] [--depth 0 2 auto] [--path FOLDER] [--keep FOLDER]

Each file holds agents with items and questions whose evidence is known: {dataset, agents: [{agent, items: [{id, text,
timestamp, speaker, session}], queries: [{q, gold: [ids]}]}]}. Every agent becomes a workspace of its own through
`mabos store --batch`; questions are asked with a limit of 10, as a user would. The row `plain FTS5` is the usual way
in the same run: one table, porter, the words of the question OR-ed, stop words dropped. With --keep the workspaces and the vectors in
their indexes stay for the next time: a slow model embeds once.
"""

import argparse
import gzip
import json
import math
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mabos_cli.commands.call import Call
from mabos_cli.core.language.text import asked_words
from mabos_cli.core.memory.stores import FINDABLE
from mabos_cli.core.search.recall import Filters, recall
from mabos_cli.services.search.agent_search import AgentSearch, SearchOptions
from mabos_cli.services.search.recall import parse_depth

Search = Callable[[str], list[str]]
METRICS = ("recall@5", "recall@10", "nDCG@10", "MRR", "all@10")


def measure(found: list[str], gold: set[str]) -> list[float]:
    """The metrics of one question."""
    hits = [ref in gold for ref in found[:10]]
    gain = sum(hit / math.log2(n + 2) for n, hit in enumerate(hits))
    ideal = sum(1 / math.log2(n + 2) for n in range(min(10, len(gold))))
    first = next((1 / n for n, hit in enumerate(hits, 1) if hit), 0.0)
    return [
        sum(hits[:5]) / len(gold),
        sum(hits) / len(gold),
        gain / ideal,
        first,
        float(sum(hits) == len(gold)),
    ]


def make_workspace(agent: dict[str, Any], folder: str) -> None:
    """Stores the items of an agent as a user would; their own ids are kept as the source."""
    run = [sys.executable, "-m", "mabos_cli", "-q"]
    subprocess.run([*run, "init", folder], check=True)
    lines = [
        json.dumps(
            {
                "content": item["text"],
                "store": "long_term",
                "source": f"eval:{item['id']}",
                **({"author": item["speaker"]} if item.get("speaker") else {}),
                **({"session": str(item["session"])} if item.get("session") else {}),
                **({"observed_at": item["timestamp"]} if item.get("timestamp") else {}),
            }
        )
        for item in agent["items"]
    ]
    batch = Path(folder) / "batch.ndjson"
    batch.write_text("\n".join(lines) + "\n", "utf-8")
    # Evaluation items are what they are: near duplicates must not be merged, or their ids would be gone.
    settings = os.environ | {
        "MABOS_MEMORY_DUPLICATE_THRESHOLD": "1",
        "MABOS_MEMORY_RELATED_THRESHOLD": "1",
        "MABOS_MEMORY_MAX_CONTENT_BYTES": "1000000",
    }
    subprocess.run([*run, "-w", folder, "store", "--allow-secret", "--batch", str(batch)], check=True, env=settings)
    batch.unlink()


def open_mabos(folder: str, model: str, path: str, depth: str) -> Search:
    """recall, in process."""
    os.environ["MABOS_EMBEDDINGS_PROVIDER"] = model
    os.environ["MABOS_EMBEDDINGS_BACKGROUND"] = "false"  # a slow model answers itself here
    os.environ["MABOS_EMBEDDINGS_PATH"] = path if model != "none" else ""
    call = Call(workspace=folder)
    home = call.open_agent()
    search = AgentSearch([home], SearchOptions(Filters(), FINDABLE, 10), call.progress)

    def ask(question: str) -> list[str]:
        hits = recall(search, question, 10, parse_depth(depth, home.settings)[0])
        return [hit.candidate.item.source.removeprefix("eval:") for hit in hits if hit.candidate.item]

    return ask


def open_plain(agent: dict[str, Any]) -> Search:
    """Plain FTS5: one table, OR, stop words dropped."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE plain USING fts5 (id UNINDEXED, text, tokenize = 'porter')")
    db.executemany("INSERT INTO plain VALUES (?, ?)", [(item["id"], item["text"]) for item in agent["items"]])

    def ask(question: str) -> list[str]:
        match = " OR ".join(f'"{word}"' for word in asked_words(question))
        rows = (
            db.execute("SELECT id FROM plain WHERE plain MATCH ? ORDER BY rank LIMIT 10", (match,)).fetchall()
            if match
            else []
        )
        return [row[0] for row in rows]

    return ask


def evaluate(
    data: dict[str, Any], open_search_of: Callable[[dict[str, Any], str], Search], folders: list[str]
) -> list[float]:
    """The mean of every metric over all questions of a data set."""
    rows = []
    for agent, folder in zip(data["agents"], folders, strict=True):
        ask = open_search_of(agent, folder)
        rows += [measure(ask(q["q"]), set(q["gold"])) for q in agent["queries"] if q["gold"]]
    return [sum(column) / len(rows) for column in zip(*rows, strict=True)] + [len(rows)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--model", nargs="+", default=["wordllama", "none"])
    parser.add_argument("--depth", nargs="+", default=["0", "2"], help="0 to 3, or auto")
    parser.add_argument("--path", default="", help="folder of a local model, for minilm and onnx")
    parser.add_argument("--keep", type=Path, help="folder in which the workspaces stay")
    options = parser.parse_args()
    print(f"| set | questions | search | depth | {' | '.join(METRICS)} |")
    print("|---|---|---|---|" + "---|" * len(METRICS))
    for file in options.data:
        data = json.loads(gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes())
        name = file.name.partition(".")[0]
        with tempfile.TemporaryDirectory() as temp:
            folders = [os.path.join(options.keep or temp, name, str(n)) for n in range(len(data["agents"]))]
            for agent, folder in zip(data["agents"], folders, strict=True):
                if not os.path.exists(folder):
                    make_workspace(agent, folder)
            show(name, "plain FTS5", "0", evaluate(data, lambda agent, _: open_plain(agent), folders))
            for model in options.model:
                for depth in options.depth:
                    opened = lambda _, folder, m=model, d=depth: open_mabos(folder, m, options.path, d)  # noqa: E731
                    show(name, f"mabos, {model}", depth, evaluate(data, opened, folders))


def show(name: str, search: str, depth: str, values: list[float]) -> None:
    print(
        f"| {name} | {values[-1]} | {search} | {depth} | " + " | ".join(f"{v:.3f}" for v in values[:-1]) + " |",
        flush=True,
    )


if __name__ == "__main__":
    main()
