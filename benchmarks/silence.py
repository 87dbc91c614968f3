"""Measures what packs and prompt hooks tell of small memories: evidence where there is some, and nothing where there is none.

    python benchmarks/silence.py MEMORY.json... [--budget 600] [--verbose]

Each file holds {items: [{id, text, type, created_at, author, tags}], questions: [{q, gold: [ids], kind}]}; a question without gold is
one that the memory does not answer. Every item is stored at its own moment, and questions are asked an hour after the last. Printed
are, for each kind of question, the mean share of its evidence in a pack and in what a hook would tell, the share with all of it, the
mean number of lines, and how often it was said that memory holds nothing, or may hold nothing, about this; where nothing is known, the
share is that of silence.
"""

import argparse
import io
import json
import os
import tempfile
from contextlib import redirect_stdout
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from mabos_cli.app import main as mabos
from mabos_cli.commands.call import Call
from mabos_cli.core.search.prompt import read_prompt
from mabos_cli.services.context.pack import Bounds, pack_memory
from mabos_cli.services.operations.prompt_entries import find_entries

_HOOK = 8  # entries of a hook at most


def run(*words: str) -> bytes:
    """Runs a command in this process and returns what it printed."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with redirect_stdout(out):
        code = mabos([*words])
    assert code == 0, words
    out.flush()
    return out.buffer.getvalue()


def store(root: str, items: list[dict[str, Any]]) -> dict[str, str]:
    """Stores the items at their own moments; returns the ids that they got, by their names."""
    ids = {}
    for item in sorted(items, key=lambda item: item["created_at"]):
        os.environ["MABOS_NOW"] = item["created_at"]
        words = ["store", item["text"], "--type", item["type"], "--json"]
        words += ["--author", item["author"]] if item.get("author") else []
        words += [word for tag in item.get("tags", ()) for word in ("--tag", tag)]
        ids[item["id"]] = json.loads(run("-w", root, *words))["data"]["id"]
    return ids


def tell(root: str, question: str, budget: int) -> dict[str, tuple[list[str], bool]]:
    """Returns the references that a pack and a hook tell for a question, and whether it is said that they may be no answer."""
    call = Call(workspace=root)
    home = call.open_agent()
    packed = pack_memory(call, home, question, Bounds(budget), count_uses=False)
    told = find_entries(home.paths, home.settings, read_prompt(question), 3 * _HOOK) or []
    refs = [placed.entry.ref for placed in packed.pack.placed]
    return {"pack": (refs, bool(packed.warnings)), "hook": ([entry.ref for entry in told[:_HOOK]], not told)}


def measure(file: Path, budget: int, verbose: bool) -> list[tuple[str, str, float, int, bool]]:
    """Returns door, kind, share of the evidence (of silence where there is none), lines and doubt, of each question."""
    data, rows = json.loads(file.read_text("utf-8")), []
    with tempfile.TemporaryDirectory() as root:
        run("init", root)
        ids = store(root, data["items"])
        last = max(item["created_at"] for item in data["items"])
        os.environ["MABOS_NOW"] = (datetime.fromisoformat(last) + timedelta(hours=1)).isoformat()
        for each in data["questions"]:
            for door, (refs, is_doubtful) in tell(root, each["q"], budget).items():
                gold = {ids[name] for name in each["gold"]}
                share = len(gold.intersection(refs)) / len(gold) if gold else float(not refs)
                rows.append((door, each["kind"].partition("-")[0], share, len(refs), is_doubtful))
                if verbose and share < 1:
                    names = {ref: name for name, ref in ids.items()}
                    print(
                        f"  {door} {each['kind']}: {each['q']} {each['gold']} {[names.get(ref, ref) for ref in refs]}"
                    )
        del os.environ["MABOS_NOW"]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("memories", nargs="+", type=Path)
    parser.add_argument("--budget", type=int, default=600)
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    rows = [row for file in given.memories for row in measure(file, given.budget, given.verbose)]
    for door in ("pack", "hook"):
        for kind in dict.fromkeys(row[1] for row in rows):
            found = [row for row in rows if row[:2] == (door, kind)]
            share, whole, lines, doubt = (
                sum(values) / len(found)
                for values in zip(*((row[2], row[2] == 1, row[3], row[4]) for row in found), strict=True)
            )
            print(
                f"{door} {kind:9} {len(found):3} questions: {share:.3f}, all {whole:.3f}, lines {lines:.1f}, doubt {doubt:.3f}"
            )


if __name__ == "__main__":
    main()
