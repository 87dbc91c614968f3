"""An agent's rhythm beside neighbours: recall, store, recall, pack, store, and a note that changed, at thousands of real memories.

    python benchmarks/rhythm.py [--texts 10000] [--rounds 15] [--tools DIR] [--against CHECKOUT]

The texts are sentences that people wrote: the manual and the docstrings that Python brings along, in an order that is the same
at every run. Every call is a process of its own; the tools take turns step by step, and `python -c pass` with them. Figures are
medians of CPU time, of a process and its children, against that of `python -c pass`. Where a tool has no such step there is none.

    mabos           memories as items; `sync` is `index sync` after a note was edited
    mabos, notes    the same texts as one Markdown file each
    openclaw-mem    `pip install openclaw-context-pack`: recall, store and pack of its SQLite file; it reads no files
    qmd             `npm install @tobilu/qmd`: search; a store is a new file and `qmd update`, as is a sync; it has no packs

Neighbours are looked for as in neighbours.py. --against measures the program of another checkout beside this one.
"""

import argparse
import ast
import json
import os
import random
import re
import shutil
import statistics
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from pydoc_data.topics import topics
from typing import NamedTuple

from neighbours import environment, keywords, run, search_path, told
from timing import BARE, MABOS, compile_package, of_checkout

Env = dict[str, str]
ROUND = ("recall", "store after recall", "recall after store", "pack", "store after pack", "sync")


class Neighbour(NamedTuple):
    """A tool with the texts in it: what each step of a round runs, with a text or a question."""

    name: str
    env: Env
    recall: Callable[[str], list[str]]
    store: Callable[[str], list[str]]
    pack: Callable[[str], list[str]] | None
    sync: Callable[[str], list[str]] | None

    def argv(self, step: str, text: str) -> list[str] | None:
        """Returns the command of a step, or None where the tool has none."""
        make = {"recall": self.recall, "store": self.store, "pack": self.pack, "sync": self.sync}[step.split()[0]]
        return make(text) if make else None


def sentences() -> Iterator[str]:
    """Yields sentences of 60 to 400 characters from the manual and the docstrings of the standard library."""
    folder = Path(sysconfig.get_path("stdlib"))
    files = sorted(path for path in folder.rglob("*.py") if not {"test", "site-packages"} & set(path.parts))
    for text in (*topics.values(), *(doc for path in files for doc in docstrings(path))):
        for paragraph in re.split(r"\n\s*\n", text):
            for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", " ".join(paragraph.split())):
                if 60 <= len(sentence) <= 400 and sentence.isprintable():
                    yield sentence


def docstrings(path: Path) -> Iterator[str]:
    """Yields the docstrings of a file; one that is no Python has none."""
    try:
        tree = ast.parse(path.read_text("utf-8"))
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield ast.get_docstring(node) or ""


def real_texts(count: int) -> list[str]:
    """Returns as many different sentences as are there, at most `count`, shuffled the same way every time."""
    found = list(dict.fromkeys(sentences()))
    random.Random(1).shuffle(found)
    return found[:count]


def question(text: str) -> str:
    """Returns a question of four words of a text, as an agent asks."""
    return f"what do we know about {' '.join(keywords(text).split()[:4])}?"


def mabos_items(folder: Path, texts: list[str], env: Env, name: str) -> Neighbour:
    root = folder / "items"
    told([MABOS, "init", str(root), "--quiet"], env)
    rows = "".join(json.dumps({"content": text, "store": "long_term"}) + "\n" for text in texts)
    told([MABOS, "-w", str(root), "store", "--batch", "-", "--allow-secret", "--quiet"], env, rows)
    return mabos_calls(root, env, name)


def mabos_notes(folder: Path, texts: list[str], env: Env, name: str) -> Neighbour:
    root = folder / "notes"
    told([MABOS, "init", str(root), "--quiet"], env)
    write_notes(root / "agents" / "main" / "memory" / "notes", texts)
    return mabos_calls(root, env, f"{name}, notes")


def mabos_calls(root: Path, env: Env, name: str) -> Neighbour:
    note = root / "agents" / "main" / "memory" / "edited.md"

    def sync(text: str) -> list[str]:
        note.write_text(f"# Edited\n\n{text}\n", "utf-8")
        return [MABOS, "-w", str(root), "index", "sync"]

    told([MABOS, "-w", str(root), "index", "sync"], env)
    return Neighbour(
        name,
        env,
        lambda text: [MABOS, "-w", str(root), "recall", text, "--json"],
        lambda text: [MABOS, "-w", str(root), "store", text, "--type", "decision", "--allow-secret", "--json"],
        lambda text: [MABOS, "-w", str(root), "context", "pack", text, "--json"],
        sync,
    )


def openclaw_mem(folder: Path, texts: list[str], env: Env, path: str) -> Neighbour:
    db = str(folder / "ocp.db")
    rows = "".join(json.dumps({"kind": "note", "summary": text}) + "\n" for text in texts)
    (folder / "notes.jsonl").write_text(rows, "utf-8")
    told([path, "ingest", "--db", db, "--file", str(folder / "notes.jsonl"), "--json"], env)
    return Neighbour(
        "openclaw-mem",
        env,
        lambda text: [path, "recall", text, "--db", db, "--json"],
        lambda text: [path, "store", text, "--db", db, "--workspace", str(folder), "--json"],
        lambda text: [path, "pack", "--query", text, "--db", db, "--json"],
        None,
    )


def qmd(folder: Path, texts: list[str], env: Env, path: str) -> Neighbour:
    notes = folder / "qmd"
    write_notes(notes, texts)
    told([path, "collection", "add", str(notes), "--name", "notes"], env)
    fresh = iter(range(sys.maxsize))

    def add(text: str) -> list[str]:
        (notes / f"new-{next(fresh)}.md").write_text(f"# Note\n\n{text}\n", "utf-8")
        return [path, "update"]

    return Neighbour("qmd", env, lambda text: [path, "search", text, "-n", "10", "--format", "json"], add, None, add)


def write_notes(folder: Path, texts: list[str]) -> None:
    folder.mkdir(parents=True)
    for number, text in enumerate(texts):
        (folder / f"note-{number:05}.md").write_text(f"# Note {number}\n\n{text}\n", "utf-8")


def set_up(folder: Path, texts: list[str], tools: Path | None, against: Path | None) -> list[Neighbour]:
    """Returns every tool that is here with the texts in it, and says which are not."""
    path = search_path(tools)
    env = environment(path, folder / "home")
    ours = [("mabos", env)] + ([("mabos before", env | of_checkout(against))] if against else [])
    made = []
    for number, (name, each) in enumerate(ours):
        (folder / str(number)).mkdir()
        made += [put(folder / str(number), texts, each, name) for put in (mabos_items, mabos_notes)]
    for tool, prepare in (("openclaw-mem", openclaw_mem), ("qmd", qmd)):
        found = shutil.which(tool, path=path)
        if found is None:
            print(f"{tool} is not here: not measured", file=sys.stderr)
        else:
            made.append(prepare(folder, texts, env, found))
    return made


def measure(tools: list[Neighbour], texts: list[str], rounds: int, output: Path) -> dict[tuple[str, str], float]:
    """Returns the median CPU of each tool and step against `python -c pass`."""
    seconds: dict[tuple[str, str], list[float]] = {}
    rnd = random.Random(2)
    for turn in range(rounds + 1):  # the first round warms up and does not count
        for step in ROUND:
            text = rnd.choice(texts)
            text = f"{text} (again, {turn})" if step.startswith(("store", "sync")) else question(text)
            jobs = [(tool.name, tool.argv(step, text), tool.env) for tool in tools]
            for name, argv, env in [("pass", BARE, dict(os.environ)), *jobs]:
                if argv is None:
                    continue
                _, cpu, status = run(argv, env, output)
                if status:
                    raise SystemExit(f"{name}: {step} ended {os.waitstatus_to_exitcode(status)}")
                seconds.setdefault((name, step), []).extend([cpu] if turn else [])
    bare = statistics.median([cpu for (name, _), each in seconds.items() if name == "pass" for cpu in each])
    return {key: statistics.median(each) / bare for key, each in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--tools", type=Path, help="a folder with neighbours")
    parser.add_argument("--against", type=Path, help="another checkout of mabos")
    options = parser.parse_args()
    compile_package()
    texts = real_texts(options.texts)
    with tempfile.TemporaryDirectory() as folder:
        tools = set_up(Path(folder), texts, options.tools, options.against)
        ratios = measure(tools, texts, options.rounds, Path(folder) / "output")
    print(
        f"{len(texts):,} texts of {round(statistics.mean(map(len, texts)))} characters on average, {options.rounds} rounds"
    )
    print("".join(f"{word:>20}" for word in ("", *ROUND)))
    for tool in tools:
        cells = (ratios.get((tool.name, step)) for step in ROUND)
        print(f"{tool.name:>20}" + "".join(f"{f'{cell:.1f}x' if cell else '-':>20}" for cell in cells))


if __name__ == "__main__":
    main()
