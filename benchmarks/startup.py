"""Start-up cost: CPU time of whole commands as ratios to `python -c pass`, medians of interleaved runs.

python benchmarks/startup.py [--runs 20] [--items 100] [--against FOLDER]

FOLDER is another checkout, run in turn with this one; the last column is the ratio of this to that.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from timing import BARE, MABOS, compile_package, cpu_at_terminal, cpu_seconds, of_checkout
from workspaces import item_rows, make_items

EMPTY_TYPER = (
    "import typer\n"
    "app = typer.Typer(add_completion=False, rich_markup_mode=None)\n"
    "@app.command()\n"
    "def hello(name: str = 'x') -> None:\n"
    "    print(name)\n"
    "app()\n"
)


def list_calls(root: Path, items: int) -> dict[str, list[str]]:
    """Makes a workspace with so many items; the commands on it, by what they are called."""
    make_items(root, item_rows(items))
    at = [MABOS, "-w", str(root)]
    return {
        "python -c pass": BARE,
        "empty Typer program": [sys.executable, "-c", EMPTY_TYPER],
        "mabos --version": [MABOS, "--version"],
        "mabos status": [*at, "status"],
        "mabos store": [*at, "store", "A new note about the release", "--tag", "t1"],
        "mabos store --defer": [*at, "store", "A queued note", "--defer"],
        "mabos recall": [*at, "recall", "sensor 5"],
        "mabos context pack": [*at, "context", "pack", "sensor 5"],
        "mabos belief list": [*at, "belief", "list"],
        "mabos reason list": [*at, "reason", "list"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--against", type=Path)
    options = parser.parse_args()
    compile_package()
    here = of_checkout(Path(__file__).parent.parent)
    other = of_checkout(options.against) if options.against else None
    with tempfile.TemporaryDirectory() as folder:
        # Each program has a workspace: an index that the other one wrote would be rebuilt at every recall.
        programs: list[tuple[dict[str, str], dict[str, list[str]], dict[str, list[float]]]] = []
        for environment in (here, other) if other else (here,):
            programs.append((environment, list_calls(Path(folder) / f"ws{len(programs)}", options.items), {}))
        for environment, calls, _ in programs:
            for argv in calls.values():
                cpu_seconds(argv, environment)
        for _ in range(options.runs):
            # A command pays for what the one before it left to be done, so a round is run by one program alone.
            for environment, calls, found in programs:
                for name, argv in calls.items():
                    found.setdefault(name, []).append(cpu_seconds(argv, environment))
        # Tables and colours at a terminal, against plain lines.
        status = programs[0][1]["mabos status"]
        pairs = [(cpu_seconds(status, here), cpu_at_terminal(status)) for _ in range(options.runs)]
    times, theirs = programs[0][2], programs[-1][2]
    base = statistics.median(times["python -c pass"])
    print(
        f"CPU time relative to python -c pass ({base * 1000:.1f} ms here), medians of {options.runs}, {options.items} items"
    )
    for name, found in times.items():
        compared = f"  {statistics.median(found) / statistics.median(theirs[name]):5.2f}" if other else ""
        print(f"{statistics.median(found) / base:6.2f}x  {name:20}{compared}")
    piped, shown = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"{shown / piped:6.2f}x  mabos status at a terminal, against the same piped")


if __name__ == "__main__":
    main()
