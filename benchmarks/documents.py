"""How often a pack over a tree of documents holds the answer to a question, beside plain FTS5 passages in the same run.

    python benchmarks/documents.py FOLDER [--questions fixtures/documents.json] [--limit N]

FOLDER holds the Markdown pages that the questions were written about. Each question has a file and an answer (any one of
several spellings); questions without an answer are about something that the pages do not say, and the pack should say so.
Printed are the shares of questions whose answer stands in a pack of each budget; how often the file comes first by each preset;
and how many packs mark something as contradicting. The rival pastes passages of at most 800 characters, found by FTS5 with the
words of the question OR-ed, stop words dropped, best first, until the budget is spent.
"""

import argparse
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mabos_cli.commands.call import Call
from mabos_cli.core.language.text import asked_words, token_cost
from mabos_cli.core.memory.stores import FINDABLE
from mabos_cli.core.search.recall import Filters, recall
from mabos_cli.services.context.pack import Bounds, pack_memory
from mabos_cli.services.search.agent_search import AgentSearch, SearchOptions

ROOT = Path(__file__).parent.parent
BUDGETS = (600, 1200, 3000)
PRESETS = ("default", "seed", "balanced", "rrf")


def plain(text: str) -> str:
    """Returns a text as answers are compared: no marks of Markdown, no case, single spaces."""
    text = re.sub(r"\{\{.*?text=\"(.*?)\".*?\}\}", r"\1", text)
    text = re.sub(r"\]\([^)]*\)|[*_`\[\]>#|\"'‘’“”‹<]", "", text)
    return " ".join(text.casefold().split())


def holds(text: str, answers: list[str]) -> bool:
    """Returns whether one of the spellings of an answer stands in a text."""
    flat = plain(text)
    return any(plain(answer) in flat for answer in answers)


def cut(text: str, size: int = 800) -> Iterator[str]:
    """Yields paragraphs joined up to a size, as simple retrieval scripts do."""
    held = ""
    for part in re.split(r"\n\s*\n", text):
        if held and len(held) + len(part) > size:
            yield held
            held = ""
        held = f"{held}\n\n{part}" if held else part
        while len(held) > size:
            yield held[:size]
            held = held[size:]
    if held:
        yield held


def open_plain(pages: dict[str, str]) -> sqlite3.Connection:
    """Returns one FTS5 table of passages."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE passages USING fts5(text, path UNINDEXED, tokenize='porter')")
    rows = [(part, path) for path, text in pages.items() for part in cut(text)]
    db.executemany("INSERT INTO passages VALUES (?, ?)", rows)
    return db


def ask_plain(db: sqlite3.Connection, question: str, budget: int) -> tuple[str, str]:
    """Returns the best passages that fit a budget, and the file of the first."""
    asked = " OR ".join(f'"{word}"' for word in asked_words(question))
    rows = db.execute("SELECT text, path FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT 60", (asked,))
    found, spent, first = [], 0, ""
    for text, path in rows if asked else ():
        first, cost = first or path, token_cost(text)
        if spent + cost > budget:
            break
        found.append(text)
        spent += cost
    return "\n".join(found), first


def make_workspace(folder: Path, source: Path) -> dict[str, str]:
    """Copies the pages into the notes of a workspace and indexes them; returns them by path."""
    run = [sys.executable, "-m", "mabos_cli", "-q"]
    subprocess.run([*run, "init", os.fspath(folder)], check=True)
    notes = folder / "agents" / "main" / "memory" / "pages"
    pages = {}
    for path in sorted(source.rglob("*.md")):
        name = path.relative_to(source)
        (notes / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, notes / name)
        pages[os.fspath(name)] = path.read_text("utf-8", "replace")
    subprocess.run([*run, "-w", os.fspath(folder), "index", "sync"], check=True)
    return pages


def measure(folder: Path, pages: dict[str, str], questions: list[dict[str, Any]], verbose: bool) -> None:
    """Asks every question both ways and prints the shares."""
    call = Call(workspace=os.fspath(folder))
    home, db = call.open_agent(), open_plain(pages)
    asked = [each for each in questions if each["answer"]]
    for budget in BUDGETS:
        ours, theirs, marks, by_kind = [], [], 0, {}
        for each in asked:
            made = pack_memory(call, home, each["q"], Bounds(budget), count_uses=False).pack
            ours.append(holds(made.text, each["answer"]))
            theirs.append(holds(ask_plain(db, each["q"], budget)[0], each["answer"]))
            marks += "contradicts [" in made.text
            by_kind.setdefault(each["kind"], []).append((ours[-1], theirs[-1]))
            if verbose and not ours[-1] and budget == 1200:
                print(
                    f"    missed{'' if theirs[-1] else ' by both'}: {each['q']} -> {each['answer'][0]} ({each['file']})"
                )
        kinds = ", ".join(
            f"{kind} {sum(a for a, _ in v)}/{sum(b for _, b in v)}" for kind, v in sorted(by_kind.items())
        )
        print(
            f"{budget:5} tokens: pack {sum(ours)} of {len(asked)}, plain FTS5 {sum(theirs)} ({kinds}); marked {marks}"
        )
    for preset in PRESETS:
        search = AgentSearch([home], SearchOptions(Filters(), FINDABLE, 10, preset), call.progress)
        first = [next((hit.candidate.path for hit in recall(search, each["q"], 10)), "") for each in asked]
        hits = sum(path.endswith(each["file"]) for path, each in zip(first, asked, strict=True))
        print(f"file first, {preset}: {hits} of {len(asked)}")
    hits = sum(ask_plain(db, each["q"], 600)[1] == each["file"] for each in asked)
    print(f"file first, plain FTS5: {hits} of {len(asked)}")
    empty = [each["q"] for each in questions if not each["answer"]]
    silent = [not pack_memory(call, home, q, Bounds(1200), count_uses=False).pack.text for q in empty]
    print(f"nothing said where nothing is known: {sum(silent)} of {len(empty)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--questions", type=Path, default=ROOT / "fixtures" / "documents.json")
    parser.add_argument("--workspace", type=Path, help="kept between runs")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    questions = json.loads(given.questions.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.workspace or Path(temporary) / "w"
        if (folder / "mabos.yaml").exists():
            pages = {
                os.fspath(p.relative_to(given.folder)): p.read_text("utf-8", "replace")
                for p in sorted(given.folder.rglob("*.md"))
            }
        else:
            pages = make_workspace(folder, given.folder)
        print(f"{len(pages)} pages, {len(questions)} questions")
        measure(folder, pages, questions, given.verbose)


if __name__ == "__main__":
    main()
