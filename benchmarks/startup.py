"""Start-up cost: CPU time of whole commands as ratios to `python -c pass`, medians of interleaved runs.

python benchmarks/startup.py [--runs 20] [--items 100]
"""

import argparse
import compileall
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

EMPTY_TYPER = (
    "import typer\n"
    "app = typer.Typer(add_completion=False, rich_markup_mode=None)\n"
    "@app.command()\n"
    "def hello(name: str = 'x') -> None:\n"
    "    print(name)\n"
    "app()\n"
)


def cpu_seconds(argv: list[str], env: dict[str, str]) -> float:
    """User and system time of one run, which must end 0."""
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    pid = os.posix_spawn(argv[0], argv, env, file_actions=quiet)
    _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"ended {os.waitstatus_to_exitcode(status)}: {' '.join(argv)}")
    return usage.ru_utime + usage.ru_stime


def make_workspace(mabos: str, root: Path, items: int) -> None:
    """A workspace with that many items: most long-term, the last thirty short-term."""
    subprocess.run([mabos, "init", str(root), "--quiet"], check=True)
    rows = (
        {"content": f"note {n}: the value of sensor {n % 17} is {n * 7}", "tags": [f"t{n % 9}"], "importance": 0.5,
         "store": "short_term" if n >= items - 30 else "long_term"}
        for n in range(items)
    )  # fmt: skip
    text = "".join(json.dumps(row) + "\n" for row in rows)
    subprocess.run(
        [mabos, "-w", str(root), "store", "--batch", "-", "--quiet"], input=text, text=True, check=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--items", type=int, default=100)
    options = parser.parse_args()
    compileall.compile_dir(
        Path(__file__).parent.parent / "mabos_cli", quiet=2
    )  # as pip does when it installs a wheel
    python, mabos = sys.executable, str(Path(sys.executable).with_name("mabos"))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "ws"
        make_workspace(mabos, root, options.items)
        at = [mabos, "-w", str(root)]
        cases = {
            "python -c pass": [python, "-c", "pass"],
            "empty Typer program": [python, "-c", EMPTY_TYPER],
            "mabos --version": [mabos, "--version"],
            "mabos status": [*at, "status"],
            "mabos store": [*at, "store", "A new note about the release", "--tag", "t1"],
            "mabos store --defer": [*at, "store", "A queued note", "--defer"],
            "mabos recall": [*at, "recall", "sensor 5"],
            "mabos reason list": [*at, "reason", "list"],
        }
        for argv in cases.values():
            cpu_seconds(argv, dict(os.environ))
        times: dict[str, list[float]] = {name: [] for name in cases}
        for _ in range(options.runs):
            for name, argv in cases.items():
                times[name].append(cpu_seconds(argv, dict(os.environ)))
    base = statistics.median(times["python -c pass"])
    print(
        f"CPU time relative to python -c pass ({base * 1000:.1f} ms here), medians of {options.runs}, {options.items} items"
    )
    for name, found in times.items():
        print(f"{statistics.median(found) / base:6.2f}x  {name}")


if __name__ == "__main__":
    main()
