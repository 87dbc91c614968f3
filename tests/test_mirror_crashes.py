"""Killed while it mirrors, at any change that it makes to its own files: run again, ledger and mirror agree, and nothing is doubled."""

import json
import shutil
import signal
from collections.abc import Iterator
from copy import deepcopy
from itertools import count
from pathlib import Path

import pytest

pytest.importorskip("grpc", reason="the TypeDB server of the tests needs grpcio")
pytest.importorskip("typedb.driver", reason="needs the official driver, typedb-driver")

from commands.desk import Desk, note
from commands.mirrored import Mirror
from forked import Fault, Outcome, places, run

from mabos_cli.backends.typedb import Session
from mabos_cli.services.mirror import sync as typedb_sync
from mabos_cli.workspace.layout import WorkspacePaths
from mabos_cli.workspace.mirror_ledger import load_ledger

NOW = "2026-02-24T14:30:00Z"
LEDGER = ".mabos/typedb/main.jsonl"


@pytest.fixture
def desk(quick: Path, still_world: None) -> Desk:
    """An agent with something of most kinds."""
    desk = Desk(quick / "ws")
    desk.write("Persona.md", "")
    desk.put([note(number, f"Thing {number}") for number in range(6)])
    desk.run("goal", "add", "Grow")
    desk.run("belief", "add", "Market grows", "--supports", "G-001")
    desk.run("fact", "assert", "acme", "supplies", "us")
    return desk


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch, still_world: None) -> Iterator[Mirror]:
    mirror = Mirror()
    for name, value in mirror.environment().items():
        monkeypatch.setenv(name, value)
    yield mirror
    mirror.server.stop()


def check(desk: Desk, mirror: Mirror) -> None:
    """Ledger and mirror agree with one another, and nothing occurs twice."""
    held = mirror.held()
    assert all(len(uids) == len({*uids}) for uids in held.values())
    entries = load_ledger(WorkspacePaths(desk.root).agent("main")).values()
    there = {(kind, uid) for kind, uids in held.items() for uid in uids}
    assert {entry.key for entry in entries if entry.state == "ok"} == there
    assert {entry.state for entry in entries} <= {"ok", "gone"}
    relations = mirror.engine.state()[1]
    assert len(relations) == len({json.dumps(each) for each in relations})


def sync(desk: Desk, mirror: Mirror, fault: Fault | None = None) -> Outcome:
    words = ("typedb", "sync-agent", "--json", "-w", str(desk.root))
    return run(*words, fault=fault, MABOS_NOW=NOW, **mirror.environment())


def test_killed_at_any_change_and_run_again(desk: Desk, mirror: Mirror) -> None:
    whole = sync(desk, mirror)
    assert whole.code == 0 and whole.calls > 5, whole.stderr
    check(desk, mirror)
    wanted = mirror.engine.state()
    assert len(wanted[0]) == 10
    for at in places(whole.calls, 2):
        mirror.wipe()
        shutil.rmtree(desk.root / ".mabos")
        assert sync(desk, mirror, Fault("kill", at)).code == -signal.SIGKILL
        assert desk.run("typedb", "sync-agent").code == 0
        check(desk, mirror)
        assert mirror.engine.state() == wanted


class Killed(BaseException):
    """The end of the process, for tests that go on behind it."""


def kill_at_write(monkeypatch: pytest.MonkeyPatch, at: int, *, behind: bool) -> None:
    """The process ends at the n-th transaction, before it or behind it."""
    real, calls = Session.write, count(1)

    def write(session: Session, queries: list[str]) -> None:
        number = next(calls)
        if number == at and not behind:
            raise Killed
        real(session, queries)
        if number == at:
            raise Killed

    monkeypatch.setattr(Session, "write", write)


@pytest.mark.parametrize("behind", [False, True])
def test_killed_between_batches(desk: Desk, mirror: Mirror, monkeypatch: pytest.MonkeyPatch, behind: bool) -> None:
    """Records that change, one that is new and one that goes, in batches of two."""
    monkeypatch.setattr(typedb_sync, "_BATCH", 2)
    desk.put([note(number, f"Thing {number}") for number in range(4)])
    assert desk.run("typedb", "sync-agent").code == 0
    before, known = deepcopy(mirror.engine), (desk.root / LEDGER).read_bytes()
    desk.put([note(number, f"Changed {number}") for number in range(1, 5)])
    for at in (1, 2, 3):
        with monkeypatch.context() as patch:
            kill_at_write(patch, at, behind=behind)
            with pytest.raises(Killed):
                desk.run("typedb", "sync-agent")
        assert desk.run("typedb", "sync-agent").code == 0
        check(desk, mirror)
        assert mirror.held()["memory_item"] == [f"main/{note(number, '').id}" for number in range(1, 5)]
        assert mirror.value(f"main/{note(4, '').id}", "content") == ["Changed 4"]
        mirror.engine = deepcopy(before)
        (desk.root / LEDGER).write_bytes(known)


def test_what_has_no_links_is_done_with_the_first_pass(
    desk: Desk, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who is killed before all things are there need not write them all once more."""
    monkeypatch.setattr(typedb_sync, "_BATCH", 2)
    with monkeypatch.context() as patch:
        kill_at_write(patch, 5, behind=False)
        with pytest.raises(Killed):
            desk.run("typedb", "sync-agent")
    states = [entry.state for entry in load_ledger(WorkspacePaths(desk.root).agent("main")).values()]
    assert states.count("ok") == 7 and states.count("queued") == 3
    assert desk.run("typedb", "sync-agent").code == 0
    check(desk, mirror)


def test_killed_behind_the_commit_of_a_store_and_then_forgotten(
    desk: Desk, mirror: Mirror, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger knew of it before it was written: whoever deletes it deletes it there."""
    with monkeypatch.context() as patch:
        kill_at_write(patch, 1, behind=True)
        with pytest.raises(Killed):
            desk.run("store", "A thing that nobody wanted")
    [uid] = mirror.held()["memory_item"]
    assert desk.run("forget", uid.removeprefix("main/")).code == 0
    assert "memory_item" not in mirror.held()
    check(desk, mirror)
