"""The ledger files of a mirror, and the mark that a server does not answer."""

import os
import time
from pathlib import Path

import pytest

from mabos_cli.core.mirror.records import Entry
from mabos_cli.errors import Conflict
from mabos_cli.workspace.layout import AgentPaths, WorkspacePaths
from mabos_cli.workspace.mirror_ledger import (
    REST_SECONDS,
    compact,
    end_rest,
    is_resting,
    ledger_size,
    let_rest,
    load_ledger,
    mirroring,
    note_entries,
    parse_entries,
    queued_since,
    render_entries,
)

HERE = "localhost:1729"


@pytest.fixture
def paths(quick: Path) -> AgentPaths:
    (quick / "agents" / "main").mkdir(parents=True)
    return WorkspacePaths(quick).agent("main")


def entry(number: int, state: str = "ok") -> Entry:
    return Entry("memory_item", f"main/M-{number}", state, "0" * 32)


def test_what_is_noted_is_loaded(paths: AgentPaths) -> None:
    assert load_ledger(paths) == {}
    note_entries(paths, [])
    assert not paths.mirror_ledger.exists()
    note_entries(paths, [entry(1, "queued"), entry(2)])
    note_entries(paths, [entry(1)])
    assert load_ledger(paths) == {entry(n).key: entry(n) for n in (1, 2)}


def test_a_ledger_is_rewritten_when_it_says_much_again(paths: AgentPaths) -> None:
    live = [entry(n) for n in range(100)]
    note_entries(paths, [*live, *live[:99]])
    assert not compact(paths, 100)
    note_entries(paths, [entry(n, "gone") for n in range(50)])
    before = load_ledger(paths)
    assert compact(paths, 100) and not compact(paths, 50)
    assert load_ledger(paths) == {key: each for key, each in before.items() if each.state != "gone"}
    assert paths.mirror_ledger.read_bytes().count(b"\n") == 50


def test_a_small_ledger_is_left_alone(paths: AgentPaths) -> None:
    note_entries(paths, [entry(1)] * 20)
    assert not compact(paths, 1)


def test_a_ledger_that_is_well_is_not_read_again(paths: AgentPaths, monkeypatch: pytest.MonkeyPatch) -> None:
    note_entries(paths, [entry(n) for n in range(1000)])
    monkeypatch.setattr("mabos_cli.workspace.mirror_ledger.parse_entries", None)
    assert not compact(paths, 1000)


def test_what_others_queued_is_told_from_what_the_writer_announced(paths: AgentPaths) -> None:
    note_entries(paths, [entry(0, "queued")._replace(hash="")])
    since = ledger_size(paths)
    assert since > 0 and queued_since(paths, since) == []
    other = Entry("memory_item", "main/M-2", "queued")
    note_entries(paths, [entry(1, "queued"), other, entry(2)])
    assert queued_since(paths, since) == [other]


def test_a_torn_line_spoils_nothing(paths: AgentPaths) -> None:
    note_entries(paths, [entry(1), entry(2)])
    with paths.mirror_ledger.open("r+b") as file:
        file.truncate(paths.mirror_ledger.stat().st_size - 30)
    note_entries(paths, [entry(3)])
    assert [*load_ledger(paths)] == [entry(1).key, entry(3).key]


def test_a_server_rests_for_a_while_and_by_its_address(paths: AgentPaths) -> None:
    workspace = paths.workspace
    assert not is_resting(workspace, HERE)
    let_rest(workspace, HERE)
    assert is_resting(workspace, HERE) and not is_resting(workspace, "elsewhere:1729")
    for age, rests in ((REST_SECONDS - 5, True), (REST_SECONDS + 1, False), (-3600, False)):
        os.utime(workspace.mirror_rest, times=(time.time() - age,) * 2)
        assert is_resting(workspace, HERE) is rests
    let_rest(workspace, HERE)
    assert is_resting(workspace, HERE)
    end_rest(workspace)
    end_rest(workspace)
    assert not is_resting(workspace, HERE)


def test_one_at_a_time_mirrors_an_agent(paths: AgentPaths) -> None:
    with mirroring(paths, 0), pytest.raises(Conflict), mirroring(paths, 0):
        pass
    with mirroring(paths, 0), mirroring(paths.workspace.agent("other"), 0):
        pass


OK = Entry("goal", "main/G-1", "ok", "abc", at="2026-02-24T14:30:00.000Z")
BAD = Entry("goal", "main/G-2", "failed", "def", "[QEX7] no “quote”\u202e", "2026-02-24T14:30:01.000Z")


def test_entries_come_back_as_they_were() -> None:
    assert parse_entries(render_entries([OK, BAD])) == {OK.key: OK, BAD.key: BAD}


def test_a_line_says_only_what_is_to_be_said() -> None:
    line = b'{"type": "plan", "uid": "main/1", "state": "queued"}\n'
    assert render_entries([Entry("plan", "main/1", "queued")]) == line


def test_the_last_line_holds() -> None:
    gone = OK._replace(state="gone", hash="")
    assert parse_entries(render_entries([OK, gone, BAD, BAD._replace(state="ok", error="")])) == {
        OK.key: gone,
        BAD.key: BAD._replace(state="ok", error=""),
    }


def test_lines_that_are_no_entries_are_passed_over() -> None:
    torn = render_entries([BAD])[:-20]
    odd = b'[]\n{"uid": "main/1", "state": "ok"}\n{"type": "goal", "uid": "main/1", "state": "well"}\n\0\0\n'
    assert parse_entries(odd + render_entries([OK]) + b'{"type": 3, "uid": "x", "state": "ok"}\n' + torn) == {
        OK.key: OK
    }
