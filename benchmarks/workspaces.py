"""Workspaces to measure in, made up: memories, notes and daily logs, as many as are asked for, the same ones every time."""

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from pydoc_data.topics import topics

sys.path.insert(0, str(Path(__file__).parent.parent / "fixtures"))
from timing import MABOS
from year import AGENT, make_year, write_year

Say = Callable[[random.Random], str]
WORDS = [
    "".join(random.Random(n).choices("bcdfghklmnprstvz", k=3)) + suffix
    for n in range(700)
    for suffix in ("a", "ero", "ion")
]


@cache
def english() -> list[str]:
    """Running English text, as frequent and as rare in its words as text is: the manual that Python brings along."""
    return re.findall("[a-z]{2,}", " ".join(topics.values()).lower())


def say(rnd: random.Random) -> str:
    """Eighteen words of it."""
    start = rnd.randrange(len(english()) - 18)
    return " ".join(english()[start : start + 18])


def questions(count: int) -> list[str]:
    """Questions about four words that stand together, as people ask: with words around them."""
    rnd = random.Random(7)
    return [f"what did we decide about {' '.join(say(rnd).split()[:4])}?" for _ in range(count)]


def tell(rnd: random.Random) -> str:
    """Eighteen words of it and three names, as memories have them: no two texts are nearly the same."""
    return f"{say(rnd)} {' '.join(rnd.choice(WORDS).title() + rnd.choice(WORDS) for _ in range(3))}"


def babble(rnd: random.Random, count: int = 18) -> str:
    """Words of no language, each as frequent as the others."""
    return " ".join(rnd.choices(WORDS, k=count))


def init(root: Path) -> None:
    subprocess.run([MABOS, "init", str(root), "--quiet"], check=True)


def item_rows(items: int, say: Say = tell) -> Iterator[dict[str, object]]:
    """Long-term items as a batch takes them, spread over three years."""
    rnd = random.Random(items)
    for n in range(items):
        month = n * 36 // items
        yield {
            "content": f"{say(rnd)} {n}",
            "type": "fact",
            "importance": round(rnd.random(), 2),
            "tags": rnd.choices(WORDS[:40], k=2),
            "store": "long_term",
            "created_at": f"{2023 + month // 12}-{month % 12 + 1:02d}-{n % 28 + 1:02d}T12:00:00Z",
        }


def make_items(root: Path, rows: Iterator[dict[str, object]]) -> str:
    """A workspace with these items; gives the id of one in the middle."""
    init(root)
    command = [MABOS, "-w", str(root), "store", "--batch", "-", "--json"]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    stored = json.loads(done.stdout)["data"]["items"]
    return stored[len(stored) // 2]["id"]


def make_notes(root: Path, files: int) -> Path:
    """A workspace with so many notes, 500 to a folder; gives one of them."""
    init(root)
    rnd = random.Random(3)
    for n in range(files):
        path = root / f"agents/main/memory/notes/{n // 500}/{n}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Note {n}\n\n{say(rnd)}\n", "utf-8")
    return path


def make_logs(root: Path, entries: int) -> Path:
    """A workspace with daily logs of so many entries, about 17 a day, up to the end of 2025; gives the log of a day."""
    year, left = 2025, entries
    while left > 0:
        made = make_year(year, planted=False)
        days = {}
        for day in sorted(made.days, reverse=True):
            if left <= 0:
                break
            days[day] = made.days[day][:left]
            left -= len(days[day])
        notes = {day: note for day, note in made.notes.items() if day in days}
        write_year(root, made._replace(days=days, notes=notes))
        year -= 1
    return root / f"agents/{AGENT}/memory/2025-12-16.md"
