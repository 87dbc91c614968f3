"""Twelve kinds of damage to every kind of file, and all commands: no traceback, the file stays as it is, the rest can be used.

FULL=1 tries every command on every damaged file; otherwise a part is drawn, the same at every run.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from conftest import quick_folder
from every_command import CALLS, Bench, Place, furnish
from forked import Outcome

FULL = bool(os.environ.get("FULL"))
STEP = 37

# What only a person, or nobody, can make again.
OWN = (
    "mabos.yaml",
    "ontologies/saas.jsonld",
    "ontologies/proposals/shop-proposals.json",
    *(
        f"agents/main/{name}"
        for name in (
            *(
                "agent.json",
                "memory-store.json",
                "facts.json",
                "rules.json",
                "cases.json",
                "MEMORY.md",
                "Persona.md",
            ),
            *(
                "Beliefs.md",
                "Desires.md",
                "Goals.md",
                "Intentions.md",
                "Plans.md",
                "Commitments.md",
                "Learnings.md",
            ),
            *(
                "archive/2026-02.jsonl",
                "observations/2026-02-24.jsonl",
                "observations/harvested/2026-02-24.jsonl",
            ),
            *("observations/transcripts.jsonl", "trust.jsonl", "reasoning.jsonl", "memory/2026-02-24.md"),
            *("memory/2026-01-05.md", "memory/notes.md", "memory/checkpoints/2026-02-24-1430.md"),
            *("memory/archive/consolidated.jsonl", "memory/archive/migrated.jsonl"),
        )
    ),
    ".mabos/queue/main.jsonl",
)
# What is made from that, and may be made again.
DERIVED = (
    *(f"agents/main/{name}" for name in ("facts-derived.json", "memory/INDEX.md", "memory/mabos-memory-items.md")),
    *(f"agents/main/memory/{name}" for name in ("mabos-facts.md", "weekly/2026-W09.md", "bdi-conflicts/2026-02-24.md")),
    *(".mabos/index/main.sqlite", ".mabos/index/main.similar.sqlite", ".mabos/settings.cache"),
    *(".mabos/survey/main.cache", ".mabos/hierarchy/main/2026-02.cache", ".mabos/locks/main.lock"),
    *(".mabos/queue/main.access.jsonl", ".mabos/receipts/2026-02-24.jsonl"),
)
FILES = (*OWN, *DERIVED)
BESIDE = [name for name in CALLS if name != "demo"]  # which goes through a workspace of its own


def _marked(data: bytes) -> bytes:
    """As git leaves a file that two branches changed."""
    lines = data.split(b"\n")
    at = len(lines) // 2
    sides = [b"<<<<<<< HEAD", lines[at], b"=======", lines[at], b">>>>>>> theirs"]
    return b"\n".join([*lines[:at], *sides, *lines[at + 1 :]])


def _with_odd_numbers(data: bytes) -> bytes:
    odd = iter([b"NaN", b"1e999", b"9" * 5000, b"-Infinity", b"1e-9999"] * len(data))
    return re.sub(rb"(?<=: )\d[\d.]*", lambda _: next(odd), data)


def _doubled(data: bytes) -> bytes:
    """Every key of an object of JSON twice; a text twice."""
    return re.sub(rb'("[a-z_]+": )', rb"\1null, \1", data) if data.startswith(b"{") else data + data


KINDS: dict[str, Callable[[bytes], bytes] | None] = {
    "emptied": lambda data: b"",
    "cut in the middle": lambda data: data[: len(data) // 2],
    "not text": lambda data: Random(len(data)).randbytes(600),
    "NUL bytes": lambda data: data[: len(data) // 2] + bytes(len(data) - len(data) // 2),
    "conflict marks": _marked,
    "another type": lambda data: b'[1, "two", null]\n',
    "nested deeply": lambda data: b"[" * 100_000,
    "odd numbers": _with_odd_numbers,
    "doubled keys": _doubled,
    "another editor": lambda data: b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"),
    "a folder": None,
    "a link to nowhere": None,
}
# What is no damage to some: any text is Markdown, lines of JSON may be none at all, JSON-LD may be a list.
HARMLESS = {
    ".md": (
        "emptied",
        "cut in the middle",
        "another type",
        "nested deeply",
        "odd numbers",
        "doubled keys",
        "another editor",
    ),
    ".yaml": ("emptied", "another editor"),
    ".jsonl": ("emptied", "doubled keys", "another editor"),
    ".jsonld": ("another type", "another editor"),
}


def damage(path: Path, kind: str) -> None:
    change = KINDS[kind]
    if change:
        path.write_bytes(change(path.read_bytes()))
        return
    path.unlink()
    if kind == "a folder":
        path.mkdir()
        (path / "precious").write_text("kept")
    else:
        path.symlink_to(path.parent / "nowhere" / path.name)


def state(path: Path) -> tuple[str, bytes]:
    """What is there: the bytes of a file, where a link leads, what a folder holds."""
    if path.is_symlink():
        return "link", os.fsencode(os.readlink(path))
    if path.is_dir():
        return "folder", b"\n".join(sorted(os.fsencode(name) for name in os.listdir(path)))
    return ("file", path.read_bytes()) if path.exists() else ("gone", b"")


class Case(NamedTuple):
    """A file, what happened to it, and the command that comes next."""

    file: str
    kind: str
    call: str

    def __str__(self) -> str:
        return f"{self.file}, {self.kind}: {self.call}"


def drawn(file: str) -> Iterator[tuple[str, list[str]]]:
    """The kinds of damage to try on a file, each with the commands to try: all of them, or one kind with a few."""
    number = FILES.index(file)
    if FULL:
        yield from ((kind, BESIDE) for kind in KINDS)
    else:
        yield [*KINDS][5 * number % len(KINDS)], BESIDE[7 * number % STEP :: STEP]


class Clinic:
    """Furnished workspaces: one to damage, and one that is well to compare with."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.seed = folder, furnish(folder / "seed")
        self._well = Bench(self.seed, folder / "well")
        self._lost: dict[tuple[str, str], tuple[int, bool]] = {}

    def bench(self, file: str, kind: str) -> Bench:
        return Bench(self.seed, self._folder / "ill", lambda place: damage(place.root / file, kind))

    def usual_loss(self, file: str, call: str) -> tuple[int, bool]:
        """How many lines of a file a command replaces when all is well, and whether it changes the file."""
        if (file, call) not in self._lost:
            place = self._well.fresh()
            before = state(place.root / file)[1]
            place.call(call)
            after = state(place.root / file)[1]
            self._lost[file, call] = _lost(before, after), before != after
        return self._lost[file, call]

    def faults(self, case: Case, bench: Bench) -> Iterator[str]:
        """What is not as promised, of one command on a damaged file."""
        place = bench.fresh()
        path = place.root / case.file
        before = state(path)
        done = place.call(case.call)
        yield from _bad_end(done)
        if state(path) != before and not self._may_change(case, place, before):
            yield f"the file was changed (exit {done.code}): {before[0]} to {state(path)[0]}"
        if before[0] == "folder" and not [*place.root.rglob("precious")]:
            yield "what the folder held is gone"
        if bench.changed() or case.call == "doctor":
            yield from _unusable(case, place)

    def _may_change(self, case: Case, place: Place, before: tuple[str, bytes]) -> bool:
        after = state(place.root / case.file)
        if case.file in DERIVED or case.call == "doctor repair":
            return True
        if after[0] == "gone":  # moved, as it was
            return any(state(path) == before for path in place.root.rglob(f"*{Path(case.file).suffix}"))
        usual, is_edited = self.usual_loss(case.file, case.call)
        if case.kind in HARMLESS.get(Path(case.file).suffix, ()):
            # Its own lines are the command's to edit: both copies of them, and a date that is odd as well.
            usual = 2 * usual + is_edited
        # NUL bytes behind a file are what a power cut leaves of a line: whoever appends leaves them, or puts the next line in their place.
        lost = min(_lost(held, after[1]) for held in (before[1], before[1].rstrip(b"\0")))
        return before[0] == after[0] == "file" and lost <= usual


def _lost(before: bytes, after: bytes) -> int:
    """How many lines are gone, a line that stood there twice counted twice."""
    return (Counter(before.split(b"\n")) - Counter(after.split(b"\n"))).total()


def _bad_end(done: Outcome) -> Iterator[str]:
    if done.code not in (0, 3, 4, 6) or "Traceback" in done.stderr:
        yield f"exit {done.code}: {done.stderr[-1500:]}"


def _unusable(case: Case, place: Place) -> Iterator[str]:
    """Whether another agent can go on. Settings that nobody can read stop everybody, and say so; what is cut may still be read."""
    done = place.do("store", "The rest can be used", "-a", "other")
    is_cut = case.file == "mabos.yaml" and case.kind == "cut in the middle" and "unknown setting" in done.stderr
    if done.code != (4 if _stops_all(case) and not is_cut else 0):
        yield f"another agent cannot store: exit {done.code}: {done.stderr}"


def _stops_all(case: Case) -> bool:
    return case.file == "mabos.yaml" and case.kind not in HARMLESS[".yaml"]


@pytest.fixture(scope="module")
def clinic() -> Iterator[Clinic]:
    with quick_folder() as folder:
        yield Clinic(folder)


@pytest.mark.parametrize("file", FILES)
def test_all_commands_beside_a_damaged_file(clinic: Clinic, file: str) -> None:
    wrong = []
    for kind, calls in drawn(file):
        bench = clinic.bench(file, kind)
        for call in calls:
            case = Case(file, kind, call)
            wrong += [f"{case}: {fault}" for fault in clinic.faults(case, bench)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("file", OWN)
def test_doctor_names_a_damaged_file(clinic: Clinic, file: str) -> None:
    silent = []
    whole = (clinic.seed.root / file).read_bytes()
    for kind, _ in drawn(file):
        change = KINDS[kind]
        if kind in HARMLESS.get(Path(file).suffix, ()) or (change and change(whole) == whole):
            continue
        done = clinic.bench(file, kind).fresh().do("doctor")
        if done.code != 0 or Path(file).name not in done.stdout:
            silent.append(f"{kind}: exit {done.code} {done.stdout}{done.stderr}")
    assert not silent, "\n".join(silent)
