"""The ledger files of a mirror, and the mark that a server does not answer."""

import os
import time
from pathlib import Path

import pytest

from mabos_cli.core.mirror_plan import Entry
from mabos_cli.errors import Conflict
from mabos_cli.workspace.layout import AgentPaths, WorkspacePaths
from mabos_cli.workspace.mirror_ledger import (
    REST_SECONDS,
    compact,
    end_rest,
    is_resting,
    let_rest,
    load_ledger,
    mirroring,
    note_entries,
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
    note_entries(paths, live * 3)
    assert not compact(paths)
    note_entries(paths, [*live, *(entry(n, "gone") for n in range(50))])
    before = load_ledger(paths)
    assert compact(paths) and not compact(paths)
    assert load_ledger(paths) == {key: each for key, each in before.items() if each.state != "gone"}
    assert paths.mirror_ledger.read_bytes().count(b"\n") == 50


def test_a_small_ledger_is_left_alone(paths: AgentPaths) -> None:
    note_entries(paths, [entry(1)] * 20)
    assert not compact(paths)


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
