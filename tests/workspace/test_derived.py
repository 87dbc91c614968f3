"""Derived files and the people who edit them."""

import os
from pathlib import Path

import pytest

from mabos_cli.commands.call import Call
from mabos_cli.workspace import files
from mabos_cli.workspace.agent import Agent
from mabos_cli.workspace.derived import DerivedFiles
from mabos_cli.workspace.locate import create_agent, create_workspace


@pytest.fixture
def home(still_world: None, quick: Path) -> Agent:
    workspace, _ = create_workspace(quick / "ws")
    create_agent(workspace, "main")
    return Call(workspace=os.fspath(quick / "ws")).open_agent()


def test_every_edit_of_a_derived_file_is_kept_also_one_saved_while_it_is_written(
    home: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, exchange, late = home.paths.items_md, files.exchange_files, [b"edited once more\n"]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"edited\n")

    def save_late(one: Path, other: Path) -> bool:
        if late:
            path.write_bytes(late.pop())
        return exchange(one, other)

    monkeypatch.setattr(files, "exchange_files", save_late)
    derived = DerivedFiles(home)
    derived.write(path, "derived\n")
    assert derived.changed and path.read_bytes() == b"derived\n"
    kept = sorted(copy.read_bytes() for copy in home.paths.set_aside.iterdir())
    assert kept == [b"edited\n", b"edited once more\n"] and len(derived.warnings) == 2
