"""The table of README.md: what commands cost as an agent grows, as multiples of `python -c pass`.

    python benchmarks/speed.py [--sizes 1000,10000,100000] [--runs 5] [--only recall,bdi] [--keep FOLDER]
                               [--against CHECKOUT]

CPU time (user and system) of the whole process; all rows and sizes take turns with `python -c pass` in the same run, and medians
count. Workspaces are made first, which takes minutes at 100,000; with --keep they stay in FOLDER for the next time. --only takes
words that a row must contain. With --against, the program of another checkout takes turns with this one on copies of the same
workspaces, and what is printed is the ratio of this to that.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from cycle import beliefs_file
from facts import RULES, facts_file
from stores import write_workspace
from timing import BARE, MABOS, compile_package, cpu_seconds, of_checkout
from workspaces import init, make_logs, make_notes, questions

SLOW = 3.0  # seconds; what takes longer is run three times only


class Place(NamedTuple):
    """A workspace that was made, and the thing in it that rows ask for or change."""

    root: Path
    mark: str
    environment: Mapping[str, str] = os.environ

    def run(self, *words: str) -> None:
        subprocess.run([MABOS, "-w", str(self.root), *words, "--quiet"], env=self.environment, check=True)

    def write_line(self, text: str) -> None:
        with Path(self.mark).open("a") as file:
            file.write(f"\n- {text}\n")


def items(root: Path, size: int) -> Place:
    ids = write_workspace(root, size, searched=True)
    return Place(root, ids[len(ids) // 2])


def notes(root: Path, size: int) -> Place:
    place = Place(root, str(make_notes(root, size)))
    place.run("index", "sync")
    return place


def entries(root: Path, size: int) -> Place:
    place = Place(root, str(make_logs(root, size)))
    place.run("hierarchy", "build")
    return place


def beliefs(root: Path, size: int) -> Place:
    init(root)
    (root / "agents/main/Beliefs.md").write_text(beliefs_file(size), "utf-8")
    place = Place(root, "")
    place.run("bdi", "cycle")
    return place


def facts(root: Path, size: int) -> Place:
    init(root)
    (root / "agents/main/facts.json").write_bytes(facts_file(size))
    place = Place(root, "")
    for rule in RULES:
        place.run("rule", "create", rule)
    return place


MAKERS = {"items": items, "notes": notes, "log entries": entries, "beliefs": beliefs, "facts": facts}


class Row(NamedTuple):
    """A command over so many of something. `words` are made for each run; `before` comes first, and does not count."""

    name: str
    of: str
    words: Callable[[Place, int], list[str]]
    before: Callable[[Place, int], None] = lambda place, run: None


def asked(run: int) -> str:
    return questions(run + 1)[run]


def synced(place: Place, run: int) -> None:
    place.run("index", "sync")


LASTING = ("--store", "long_term")


def stored(place: Place, run: int) -> None:
    place.run("store", f"One more thing {run * 31}", *LASTING)


ROWS = (
    Row("start-up: `status`", "items", lambda place, run: ["status"]),
    Row("`store --defer`", "items", lambda place, run: ["store", f"Note {run} for later", "--defer"]),
    Row("`store`", "items", lambda place, run: ["store", f"A new note {run} about the release"],
        before=lambda place, run: place.run("store", "The queue is empty now")),
    Row("`store --store long_term`", "items",
        lambda place, run: ["store", f"Note {run} zebra quokka {run * 17} lives long", *LASTING]),
    Row("`get ID`", "items", lambda place, run: ["get", place.mark]),
    Row("`recall`", "items", lambda place, run: ["recall", asked(run)], before=synced),
    Row("`recall` right after a store", "items", lambda place, run: ["recall", asked(run)],
        before=stored),
    Row("`context pack`", "items", lambda place, run: ["context", "pack", asked(run)]),
    Row("`timeline` of words", "items", lambda place, run: ["timeline", asked(run)]),
    Row("`doctor`, one item stored", "items", lambda place, run: ["doctor"], before=stored),
    Row("`materialize`, one item stored", "items", lambda place, run: ["materialize"], before=stored),
    Row("`lifecycle run`, one item stored", "items", lambda place, run: ["lifecycle", "run"], before=stored),
    Row("`context audit`, one item stored", "items", lambda place, run: ["context", "audit"], before=stored),
    Row("`index search`", "items", lambda place, run: ["index", "search", asked(run)]),
    Row("`log consolidate`, one day changed", "log entries", lambda place, run: ["log", "consolidate"],
        before=lambda place, run: place.write_line(f"Decision: consolidate the day once more, {run}")),
    Row("`index sync`, nothing changed", "notes", lambda place, run: ["index", "sync"], before=synced),
    Row("`index sync`, one changed", "notes", lambda place, run: ["index", "sync"],
        before=lambda place, run: place.write_line(f"and one more, {run}")),
    Row("`status` beside notes", "notes", lambda place, run: ["status"], before=synced),
    Row("`recall` in notes, one changed", "notes", lambda place, run: ["recall", asked(run)],
        before=lambda place, run: place.write_line(f"and one more, {run}")),
    Row("`hierarchy build`, nothing changed", "log entries", lambda place, run: ["hierarchy", "build"]),
    Row("`hierarchy build`, one day changed", "log entries", lambda place, run: ["hierarchy", "build"],
        before=lambda place, run: place.write_line(f"Decision: change the day once more, {run}")),
    Row("`fact query SUBJECT`", "facts", lambda place, run: ["fact", "query", "customer-77"]),
    Row("`infer forward`", "facts", lambda place, run: ["infer", "forward"]),
    Row("`bdi cycle`, settled", "beliefs", lambda place, run: ["bdi", "cycle"]),
)  # fmt: skip


def open_place(folder: Path, kind: str, size: int) -> Place:
    """The workspace in a folder; made now, unless it was made before, to its end."""
    root = folder / f"{kind.replace(' ', '-')}-{size}"
    mark = root.with_suffix(".mark")
    if not mark.exists():
        print(f"making {size:,} {kind}", file=sys.stderr)
        mark.write_text(MAKERS[kind](root, size).mark)
    return Place(root, mark.read_text(), of_checkout(Path(__file__).parent.parent))


def copied(place: Place, folder: Path, environment: Mapping[str, str]) -> Place:
    """The same workspace once more, for the program of another checkout."""
    shutil.copytree(place.root, root := folder / place.root.name)
    return Place(root, place.mark.replace(str(place.root), str(root)), environment)


def measure(rows: list[Row], places: dict[tuple[str, int], list[Place]], runs: int) -> dict[tuple[Row, int], float]:
    """The ratio of each row at each size: to `python -c pass`, or to the other checkout where there is one."""
    kinds = {row: [key for key in places if key[0] == row.of] for row in rows}
    times: dict[tuple[Row, int], list[list[float]]] = {(row, size): [] for row in rows for _, size in kinds[row]}
    bare: list[float] = []
    for run in range(runs + 1):
        print(f"run {run} of {runs}" if run else "warming up", file=sys.stderr)
        for (row, size), found in times.items():
            if run > 3 and found[0][0] > SLOW:
                continue
            spent = []
            for place in places[row.of, size]:
                row.before(place, run)
                bare.append(cpu_seconds(BARE))
                words = row.words(place, run)
                spent.append(cpu_seconds([MABOS, "-w", str(place.root), *words], place.environment))
            found += [spent] if run else []
    base = statistics.median(bare)
    return {key: _ratio([*zip(*found, strict=True)], base) for key, found in times.items()}


def _ratio(times: list[tuple[float, ...]], bare: float) -> float:
    ours, *theirs = map(statistics.median, times)
    return ours / (theirs[0] if theirs else bare)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--against", type=Path)
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    wanted = options.only.split(",")
    rows = [row for row in ROWS if any(word in row.name for word in wanted)]
    compile_package()
    with tempfile.TemporaryDirectory(prefix="mabos-bench-") as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        kinds = [kind for kind in MAKERS if any(row.of == kind for row in rows)]
        places = {(kind, size): [open_place(folder, kind, size)] for size in sizes for kind in kinds}
        if options.against:
            other = of_checkout(options.against)
            for pair in places.values():
                pair.append(copied(pair[0], Path(temporary) / "other", other))
        ratios = measure(rows, places, options.runs)
    print(f"| | of | {' | '.join(f'{size:,}' for size in sizes)} |\n|---|---|{'---:|' * len(sizes)}")
    for row in rows:
        cells = (ratios[row, size] for size in sizes)
        digits = 2 if options.against else 1
        shown = " | ".join(f"{ratio:.{digits}f}" if ratio < 100 else f"{ratio:,.0f}" for ratio in cells)
        print(f"| {row.name} | {row.of} | {shown} |")


if __name__ == "__main__":
    main()
