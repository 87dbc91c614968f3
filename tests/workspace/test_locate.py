"""Agents and workspaces by name, on disks that tell case apart and on disks that do not."""

import os
import stat
from pathlib import Path

import pytest

from mabos_cli.errors import NotFound, UsageFault
from mabos_cli.workspace import locate
from mabos_cli.workspace.locate import create_agent, create_workspace


def test_no_agent_beside_one_that_differs_in_case(tmp_path: Path) -> None:
    workspace, _ = create_workspace(tmp_path / "ws")
    create_agent(workspace, "a1")
    with pytest.raises(UsageFault, match="the ids A1 and a1 differ only in case"):
        create_agent(workspace, "A1")
    assert create_agent(workspace, "a1") == []
    assert locate.list_agents(workspace) == ["a1"]


def test_an_agent_is_found_as_it_is_spelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace, _ = create_workspace(tmp_path / "ws")
    create_agent(workspace, "a1")
    monkeypatch.setattr(locate, "is_agent_folder", lambda folder: True)  # as on a disk that ignores case
    assert locate.find_agent(workspace, "a1").id == "a1"
    with pytest.raises(NotFound, match="no agent 'A1'"):
        locate.find_agent(workspace, "A1")


def test_a_new_workspace_is_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        create_workspace(tmp_path / "above" / "new")
        (tmp_path / "old").mkdir()
        create_workspace(tmp_path / "old")
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(os.stat(tmp_path / name).st_mode) for name in ("above/new", "above", "old")]
    assert modes == [0o700, 0o755, 0o755]
