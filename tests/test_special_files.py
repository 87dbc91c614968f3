"""Pipes, sockets, devices, folders and endless files in every place of a workspace, and all commands: none of them waits.

FULL=1 tries every command on every special file in every place; otherwise a part is drawn, the same at every run.
"""

import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

import pytest
from conftest import quick_folder
from every_command import Bench, Place, furnish
from forked import Outcome
from test_damaged_files import BESIDE, DERIVED, FILES, FULL

STEP = 41
PATIENCE = 10  # seconds; the slowest command takes one
HUGE = 1 << 40

# Places that no test of damaged files needs: they hold nothing that can be lost, or are made on demand.
MORE = (
    ".gitignore",
    ".gitattributes",
    "ontologies/README.md",
    *(f"agents/main/memory/{name}" for name in ("monthly/2026-02.md", "quarterly/2026-Q1.md", "mabos-beliefs.md")),
    *(f"agents/main/memory/{name}" for name in ("domains/decisions.md", "mabos-cases.md", "2026-02-25.md")),
    *(f"agents/main/memory/{name}" for name in ("bdi-conflicts/resolved.jsonl", "checkpoints/2026-02-24-1431.md")),
    *(f"agents/main/{name}" for name in ("Memory.md", "Capabilities.md", "skills/pump/SKILL.md", "sessions/s1.md")),
    *(f"agents/main/{name}" for name in ("memory-store/2026-02.json", "archive/2026-01.jsonl")),
    *("agents/other/memory-store.json", "agents/other/Beliefs.md", "agents/other/agent.json"),
    *(f".mabos/locks/main.{name}.lock" for name in ("queue", "capture", "harvest", "ingest", "hooks", "typedb")),
    *(".mabos/index/main.lock", ".mabos/ontologies.lock", ".mabos/git.lock", ".mabos/schedule/cycle.lock"),
    *(".mabos/hook.log", ".mabos/queue/main.hooks.jsonl", ".mabos/queue/main.flush", ".mabos/beliefs/main.cache"),
    *(
        ".mabos/typedb/main.jsonl",
        ".mabos/typedb/rest",
        ".mabos/hierarchy/main/themes.cache",
        ".mabos/seen/main/logs.json",
    ),
)
PLACES = (*FILES, *MORE)


def _make_huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(HUGE)


KINDS: dict[str, Callable[[Path], None]] = {
    "a pipe": os.mkfifo,
    "a socket": lambda path: os.mknod(path, stat.S_IFSOCK | 0o600),
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "an endless file": _make_huge,
    "a folder": Path.mkdir,
}


def put_special(place: Place, file: str, kind: str) -> None:
    path = place.root / file
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    KINDS[kind](path)


def drawn(file: str) -> Iterator[tuple[str, list[str]]]:
    """Yields the kinds to try in a place, each with the commands to try: all of them, or one kind with a few."""
    number = PLACES.index(file)
    if FULL:
        yield from ((kind, BESIDE) for kind in KINDS)
    else:
        yield [*KINDS][number % len(KINDS)], BESIDE[7 * number % STEP :: STEP]


def faults(bench: Bench, file: str, call: str) -> Iterator[str]:
    """Yields what is wrong with one command beside a special file."""
    place = bench.fresh()
    path = place.root / file
    before = os.lstat(path)
    started = time.monotonic()
    try:
        done = place.call(call)
    except TimeoutError:
        yield "it hangs"
        return
    took = time.monotonic() - started
    if took > PATIENCE:
        yield f"it took {took:.0f} seconds"
    yield from _bad_end(done)
    if file not in DERIVED and call != "doctor repair" and not _is_there(place, path, before):
        yield f"the special file is gone or changed, exit {done.code}"


def _bad_end(done: Outcome) -> Iterator[str]:
    if done.code not in (0, 3, 4, 6) or "Traceback" in done.stderr:
        yield f"exit {done.code}: {done.stderr[-1500:]}"


def _is_there(place: Place, path: Path, before: os.stat_result) -> bool:
    """Whether it is where it was; an old log may have been moved to the archive as it is."""
    kept = [os.lstat(each) for each in (path, *place.root.rglob(path.name)) if os.path.lexists(each)]
    return any((after.st_mode, after.st_ino) == (before.st_mode, before.st_ino) for after in kept)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with quick_folder() as found:
        yield found


@pytest.fixture(scope="module")
def seed(folder: Path) -> Place:
    return furnish(folder / "seed")


@pytest.mark.parametrize("file", PLACES)
def test_no_command_waits_for_a_special_file(folder: Path, seed: Place, file: str) -> None:
    wrong = []
    for kind, calls in drawn(file):
        bench = Bench(seed, folder / "ill", lambda place, kind=kind: put_special(place, file, kind))
        for call in calls:
            wrong += [f"{file}, {kind}: {call}: {fault}" for fault in faults(bench, file, call)]
    assert not wrong, "\n".join(wrong)


def test_every_file_of_a_workspace_has_a_place_like_it(seed: Place) -> None:
    known = {_like(name) for name in PLACES}
    found = [path.relative_to(seed.root).as_posix() for path in seed.root.rglob("*") if path.is_file()]
    assert not [name for name in found if not name.startswith(".git/") and _like(name) not in known]


def _like(name: str) -> tuple[str, str]:
    """Returns what files of one kind have in common: their folder, for any agent, and the end of their name."""
    path = PurePosixPath(name.replace("agents/other", "agents/main"))
    return str(path.parent), path.suffix
