"""How much code a command runs through: modules whose functions are called, and how deep the calls go.

python benchmarks/call_path.py [--against FOLDER]

FOLDER is another checkout, measured in the same run. Modules are those of the package of which at least one function runs;
depth counts the package's own functions on the stack. Loading modules and making classes is left out.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CALLS = {
    "store": ["store", "The office moves to Brno in May", "--type", "decision"],
    "recall": ["recall", "bill per seat"],
    "context pack": ["context", "pack", "bill per seat"],
}
# Runs in the checkout that is measured, so it knows nothing but the program's entry.
TRACER = """
import json, os, sys
from mabos_cli.app import main
package = os.sep + "mabos_cli" + os.sep
modules, deepest = set(), 0

def is_function(frame):
    # Code with the flag CO_OPTIMIZED is a function's. A comprehension that a module runs while it loads has that flag too.
    code = frame.f_code
    return bool(code.co_flags & 1) and (not code.co_name.endswith(("comp>", "expr>")) or is_function(frame.f_back))

def watch(frame, event, argument):
    global deepest
    name = frame.f_code.co_filename
    if event != "call" or package not in name or not is_function(frame):
        return
    modules.add(name.split(package)[1])
    depth = 0
    while frame is not None:
        depth += package in frame.f_code.co_filename and is_function(frame)
        frame = frame.f_back
    deepest = max(deepest, depth)

sys.setprofile(watch)
code = main(sys.argv[1:])
sys.setprofile(None)
assert code == 0
print(json.dumps({"modules": sorted(modules), "depth": deepest}), file=sys.stderr)
"""


def run(checkout: Path, folder: str, *words: str, code: str = "") -> str:
    """Runs the program of a checkout in a workspace and returns what it wrote to stderr."""
    start = ["-c", code] if code else ["-m", "mabos_cli"]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MABOS_")}
    done = subprocess.run(
        [sys.executable, *start, *words],
        cwd=folder,
        env=clean | {"PYTHONPATH": os.fspath(checkout)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr


def measure(checkout: Path) -> dict[str, tuple[int, int]]:
    """Modules and depth of each call in a fresh workspace with a few memories, a fact, a belief, a checkpoint and an index."""
    with tempfile.TemporaryDirectory() as folder:
        run(checkout, folder, "init", ".")
        for number in range(6):
            text = f"We bill customer number {number} per seat and month"
            run(checkout, folder, "store", text, "--type", "decision", "--tag", "pricing")
        run(checkout, folder, "fact", "assert", "Acme", "billsPer", "seat")
        run(checkout, folder, "belief", "add", "Acme bills per seat", "--certainty", "0.9")
        run(checkout, folder, "checkpoint", "-c", "Pricing: bill per seat or per month")
        run(checkout, folder, "recall", "bill per seat")
        found = {}
        for name, words in CALLS.items():
            traced = json.loads(run(checkout, folder, *words, code=TRACER).strip().split("\n")[-1])
            found[name] = (len(traced["modules"]), traced["depth"])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=Path, help="another checkout to compare with")
    options = parser.parse_args()
    here = measure(ROOT)
    before = measure(options.against.resolve()) if options.against else {}
    for name, (modules, depth) in here.items():
        line = f"{name:14} {modules:4} modules, {depth:3} deep"
        if before:
            line += f"   before: {before[name][0]:4} modules, {before[name][1]:3} deep"
        print(line)


if __name__ == "__main__":
    main()
