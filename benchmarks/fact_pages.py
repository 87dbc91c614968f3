"""Measures what a change costs by the number of facts: assert, query by subject, and inference after one change, as ratios to the smallest.

    python benchmarks/fact_pages.py [10000 1000000] [--runs 5] [--keep FOLDER]

Each size has a workspace of its own, whose pages are written by this script; five facts for each subject, a third of which say what it
is part of, so that two rules derive about two facts for three subjects. All sizes take turns; the best run of each counts, in wall
seconds of whole commands. The first `infer forward --persist` derives everything and is shown apart, with its memory.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mabos_cli.core.knowledge.fact import Fact
from mabos_cli.formats.knowledge.fact_text import page_of
from mabos_cli.formats.knowledge.facts import render_fact

RULES = ("if ?x partOf ?y then ?x within ?y", "if ?x partOf ?y and ?y within ?z then ?x within ?z")
PER_SUBJECT = 5
SPLIT = 10_000


def run(root: Path, *words: str) -> tuple[float, str]:
    """Wall seconds of a command, and what it prints."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "mabos_cli", *words], cwd=root, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    return time.perf_counter() - start, done.stdout


def facts(count: int) -> list[Fact]:
    """Facts about count / 5 things in groups of three, each of which is part of the next."""
    made = []
    for number in range(count):
        thing, at = divmod(number, PER_SUBJECT)
        predicate, obj = f"p{at}", f"o{number % 1000}"
        if at == 0 and thing % 3:
            predicate, obj = "partOf", f"t{thing - 1}"
        own = f"F-{1_700_000_000_000 + number}-0000"
        made.append(Fact(own, f"t{thing}", predicate, obj, 1.0, "bulk", created_at="2026-01-01T00:00:00.000Z"))
    return made


def fill(root: Path, count: int) -> None:
    """Writes a workspace with so many facts, on pages if there are many."""
    root.mkdir(parents=True)
    run(root, "init", ".")
    agent = root / "agents" / "main"
    files: dict[str, list[bytes]] = {}
    for fact in facts(count):
        files.setdefault(page_of(fact.subject) if count >= SPLIT else "", []).append(render_fact(fact))
    text = lambda lines: b'  "facts": [\n    ' + b",\n    ".join(lines) + b"\n  ]"  # noqa: E731
    head = b'  "facts": []' if count >= SPLIT else text(files[""])
    last = f'  "last_id": "F-{1_700_000_000_000 + count}-0000"'.encode()
    parts = [head, last]
    if count >= SPLIT:
        (agent / "facts").mkdir()
        for name, lines in files.items():
            (agent / "facts" / f"{name}.json").write_bytes(b"{\n" + text(lines) + b"\n}\n")
        parts.append(b'  "pages": ' + json.dumps({name: len(files[name]) for name in sorted(files)}).encode())
    (agent / "facts.json").write_bytes(b"{\n" + b",\n".join([*parts, b'  "version": 1']) + b"\n}\n")
    for rule in RULES:
        run(root, "rule", "create", rule)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=[10_000, 1_000_000])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    folder = given.keep or Path(tempfile.mkdtemp(prefix="mabos-fact-pages-"))
    best: dict[int, dict[str, float]] = {}
    for size in given.sizes:
        root = folder / str(size)
        if not root.exists():
            fill(root, size)
            first = run(root, "infer", "forward", "--persist", "--limit", "1", "--max-facts", "1000000")
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
            print(
                f"{size:,}: everything derived in {first[0]:.1f} s, {peak:,} MiB: {first[1].splitlines()[-1]}",
                flush=True,
            )
    for number in range(given.runs):
        for size in given.sizes:
            root, thing = folder / str(size), f"t{3 * number + 6}"
            calls = {
                "start": ("--version",),
                "assert": ("fact", "assert", thing, "partOf", f"new{time.time_ns()}"),
                "infer": ("infer", "forward", "--persist", "--limit", "1", "--max-facts", "1000000", "--json"),
                "query": ("fact", "query", thing),
                "current": ("fact", "current", thing),
            }
            for name, words in calls.items():
                took, said = run(root, *words)
                if name == "infer" and not json.loads(said)["data"]["renewed"]:
                    sys.exit(f"not renewed: {said[:300]}")
                best.setdefault(size, {})[name] = min(took, best.get(size, {}).get(name, took))
    low = best[given.sizes[0]]
    for size, took in best.items():
        print(f"{size:>9,}  " + "  ".join(f"{n} {t:.3f} s ({t / low[n]:.1f}x)" for n, t in took.items()))


if __name__ == "__main__":
    main()
