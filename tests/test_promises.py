"""Promises about the world around: nothing outside the workspace is written, nobody is called, no other program is run."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import quick_folder
from every_command import CALLS, UNAVAILABLE, Bench, Place, furnish
from forked import Outcome, tree
from test_house import CALLABLE

WATCHING = Path(__file__).parent / "watching"
ASKING = "typedb status of a server that the settings name"
RUNNING = ("subprocess.Popen", "os.posix_spawn", "os.exec", "os.system")
# Who may run another program, and which. A job of the schedule is mabos itself.
RUNS = {
    name: "git" for name in ("git install", "git merge", "review", "demo", "doctor", "doctor repair", "doctor security")
}
RUNS |= {"schedule run": Path(sys.executable).name, "connect": "sh"}
# What this machine knows apart from any workspace: what was allowed, and a word that hooks sign with.
STATE = ".local/state/mabos"
CACHE = ".cache/mabos/patterns"  # what the program's patterns compile to: nothing of a user or a workspace
KEEPS_STATE = ("allow", "deny", "hook SessionEnd", "hook PreCompact", "connect")


class Seen(NamedTuple):
    """How a call ended, what it asked of the world, and which files beside the workspace are other than before."""

    outcome: Outcome
    events: list[tuple[str, str]]
    beside: set[str]


class Watched(NamedTuple):
    place: Place
    calls: dict[str, Seen]


@pytest.fixture(scope="module")
def watched() -> Iterator[Watched]:
    """Every command on a furnished workspace, with its home, its folder and its temporary files beside that."""
    with quick_folder() as folder:
        bench, notes = Bench(furnish(folder / "seed"), folder / "tried"), folder / "notes"
        calls = {name: _see(bench.fresh(), name, notes) for name in CALLS}
        calls[ASKING] = _see(bench.fresh(), "typedb status", notes, MABOS_TYPEDB_ADDRESS="127.0.0.1:9")
        yield Watched(bench.place, calls)


def _see(place: Place, name: str, notes: Path, **variables: str) -> Seen:
    """One call in a process that is watched."""
    before = tree(place.side)
    notes.write_text("")
    watching = {"WATCHED": str(notes), "PYTHONPATH": os.fspath(WATCHING), "PYTHONDONTWRITEBYTECODE": "1"}
    done = place.call(name, TMPDIR=str(place.side), **watching, **variables)
    after = tree(place.side)
    changed = {path for path in {*before, *after} if before.get(path) != after.get(path)}
    return Seen(done, [tuple(json.loads(line)) for line in notes.read_text().split("\n")[:-1]], changed)


def test_every_command_is_tried_and_ends_well(watched: Watched) -> None:
    assert {*CALLABLE} <= {*CALLS}
    ended = {name: (seen.outcome.code, seen.outcome.stderr) for name, seen in watched.calls.items()}
    wrong = {name: end for name, end in ended.items() if end[0] != (6 if name in UNAVAILABLE else 0)}
    assert not wrong


def test_nothing_outside_the_workspace_is_written(watched: Watched) -> None:
    """But for files that the call names, the cache of patterns, and the state folder of who allows something or ends a session."""
    place, wrong = watched.place, []
    for name, words in CALLS.items():
        _, events, beside = watched.calls[name]
        named = [place.fill(word) for word in words]
        named += [str(place.side / CACHE)]
        named += [str(place.side / Path(STATE).parts[0])] if name in KEEPS_STATE else []
        wrong += [f"{name}: changed {path}" for path in beside if not _is_named(str(place.side / path), named)]
        for event, path in events:
            if event.startswith("socket.") or event in RUNNING or path == os.devnull:
                continue
            if not Path(path).is_relative_to(place.root) and not _is_named(path, named):
                wrong.append(f"{name}: {event} {path}")
    assert not wrong, "\n".join(wrong)


def _is_named(path: str, named: list[str]) -> bool:
    """Whether a path is that of a file that was named, of a temporary one that will take its place, or in a folder that was."""
    files = [word for word in named if word.startswith("/")]
    beside = any(os.path.dirname(path) == os.path.dirname(file) for file in files) and ".mabos-tmp-" in path
    return beside or any(Path(path).is_relative_to(file) for file in files)


def test_no_command_opens_a_connection(watched: Watched) -> None:
    wrong = [
        f"{name}: {event} {what}"
        for name, seen in watched.calls.items()
        for event, what in seen.events
        if event.startswith("socket.") and name != ASKING
    ]
    assert not wrong, "\n".join(wrong)


def test_no_other_program_is_run_but_git_where_it_is_asked_for(watched: Watched) -> None:
    found = {
        (name, os.path.basename(what))
        for name, seen in watched.calls.items()
        for event, what in seen.events
        if event in RUNNING and (name, os.path.basename(what)) != ("connect", "mabos")  # its own MCP server
    }
    assert found == {*RUNS.items()}


def test_who_watches_sees(watched: Watched) -> None:
    """A store changes files of the workspace, and a command that names a server asks for it."""
    events = watched.calls["store"].events
    assert ("os.rename", str(watched.place.root / "agents/main/memory-store.json")) in events
    assert ("socket.connect", "('127.0.0.1', 9)") in watched.calls[ASKING].events
