"""Harvesting many observations twice, and looking for secrets that were captured.

    python benchmarks/harvest.py [--observations 10000]

Observations are generated, one in a hundred is malformed, and captured by other means than mabos: straight into the file of a
day, as a tool would write them. `first` and `second` are whole runs of `harvest` in this process, without start-up; the second
has nothing to do. Then secrets of fixtures/secrets.json are captured by `capture --batch`, harvested, recalled, materialized and
summed up, and every byte below the workspace is searched for them.
"""

import argparse
import io
import json
import os
import random
import sys
import tempfile
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from mabos_cli.app import main as mabos

FIXTURES = Path(__file__).parent.parent / "fixtures"
TOOLS = ("bash", "pytest", "git", "curl", "kubectl", "psql")
PARTS = (
    "in voi ce de ploy pipe line cus to mer con tract out age al ert ser ver ca na ry tic ket sche ma dex lo ad".split()
)
MOVES = "passed failed was-retried timed-out rose fell stood-still moved".split()
BROKEN = ("torn {", "[]", '{"tool": 5}', '{"text": "x", "at": "noon"}', '{"text": "x", "importance": 7}')


def run(root: Path, *words: str, stdin: bytes = b"") -> dict:
    """A command in this process: its data."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    try:
        with redirect_stdout(out), redirect_stderr(io.TextIOWrapper(io.BytesIO(), "utf-8")):
            code = mabos(["-w", os.fspath(root), "--json", *words])
    finally:
        sys.stdin = before
    assert code == 0, f"mabos {' '.join(words)} ended with {code}"
    return json.loads(out.buffer.getvalue())["data"]


def write_observations(root: Path, count: int, draw: random.Random) -> int:
    """Writes observations over ten days, and says how many of the lines are malformed."""
    folder = root / "agents/main/observations"
    folder.mkdir(exist_ok=True)
    broken = 0
    days: dict[str, list[str]] = {}
    for number in range(count):
        day = f"2026-02-{1 + number * 10 // count:02d}"
        if number % 100 == 99:
            broken += 1
            days.setdefault(day, []).append(BROKEN[broken % len(BROKEN)])
            continue
        words = " ".join(_word(draw) for _ in range(draw.randrange(4, 16)))
        text = f"{words} {number} {draw.choice(MOVES)}"
        record = {
            "id": f"O-{1769990400000 + number * 1000}-{number % 65536:04x}",
            "at": f"{day}T10:00:00.000Z",
        }
        record |= {"kind": "tool", "text": text, "source": f"tool:{draw.choice(TOOLS)}", "trust": "untrusted"}
        days.setdefault(day, []).append(json.dumps(record))
    for day, lines in days.items():
        (folder / f"{day}.jsonl").write_text("".join(line + "\n" for line in lines))
    return broken


def _word(draw: random.Random) -> str:
    """One of some thousand words; a few come up much more often than the others, as in any language."""
    return "".join(PARTS[min(27, int(draw.paretovariate(0.6)) - 1)] for _ in range(3))


def measure(root: Path, count: int) -> None:
    """Harvests twice."""
    broken = write_observations(root, count, random.Random(9))
    figures = []
    for name in ("first", "second"):
        start = time.process_time()
        done = run(root, "harvest")
        figures.append(time.process_time() - start)
        stored = done["harvested"] + done["merged"]
        print(
            f"{name:<8} {stored:>6} of {count - broken} taken, {done['merged']} merged, {done['linked']} linked, ",
            end="",
        )
        print(f"{done['malformed_total']} of {broken} malformed, {done['chunks']} chunks, {figures[-1]:.2f} s CPU")
    print(f"second / first {figures[1] / figures[0]:.4f}")


def plant(root: Path) -> None:
    """Captures secrets, works with what was captured, and looks for them."""
    path = FIXTURES / "secrets.json"
    if not path.exists():
        print("fixtures/secrets.json is not there: no secrets were planted")
        return
    planted = json.loads(path.read_text("utf-8"))["secrets"]
    planted = [sample for sample in planted if len("".join(sample["parts"])) >= 8]  # a PIN stands in many a time of day
    values = ["".join(sample["parts"]) for sample in planted]
    texts = [sample["line"].replace("{secret}", value) for sample, value in zip(planted, values, strict=True)]
    shapes = (
        lambda text: {"text": text},
        lambda text: {"tool": "bash", "input": {"command": "env"}, "output": text},
        lambda text: {"tool": "curl", "input": {"command": text}, "output": "done"},
    )
    lines = [json.dumps(shapes[n % 3](text)) + "\n" for n, text in enumerate(texts)]
    taken = run(root, "capture", "--batch", "-", stdin="".join(lines).encode())
    run(root, "harvest")
    run(root, "recall", "token password key secret")
    run(root, "materialize")
    run(root, "hierarchy", "build")
    files = [found for found in root.rglob("*") if found.is_file()]
    held = {found: found.read_bytes() for found in files}
    left = [sample["kind"] for sample, value in zip(planted, values, strict=True) if _is_there(value, held)]
    print(f"secrets  {len(values)} planted in {taken['captured']} captured texts, {taken['redacted']} of them redacted")
    print(f"         {len(left)} found in {len(files)} files {sorted(set(left)) or ''}")


def _is_there(value: str, held: dict[Path, bytes]) -> bool:
    """Whether a value stands in one of the files, as it is or as JSON writes it."""
    forms = {value.encode(), json.dumps(value)[1:-1].encode()}
    return any(form in data for form in forms for data in held.values())


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--observations", type=int, default=10_000)
    count = parser.parse_args().observations
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "team"
        run(root.parent, "init", os.fspath(root))
        measure(root, count)
        plant(root)


if __name__ == "__main__":
    main()
