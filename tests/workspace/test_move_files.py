import os
from pathlib import Path

import pytest

from mabos_cli.errors import InvalidFile
from mabos_cli.workspace.files import move_files


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws/a.md").write_bytes(b"a\r\n\xff")
    (tmp_path / "ws/b.md").write_bytes(b"b")
    return tmp_path / "ws"


def test_files_move_with_their_bytes_into_new_folders(root: Path) -> None:
    before = (root / "a.md").stat()
    move_files([(root / "a.md", root / "x/y/a.md"), (root / "b.md", root / "x/b.md")], root=root)
    after = (root / "x/y/a.md").stat()
    assert (root / "x/y/a.md").read_bytes() == b"a\r\n\xff" and (root / "x/b.md").exists()
    assert (after.st_ino, after.st_mode, after.st_mtime_ns) == (
        before.st_ino,
        before.st_mode,
        before.st_mtime_ns,
    )
    assert sorted(os.listdir(root)) == ["x"]


@pytest.mark.parametrize("way", ["file", "folder", "link"])
def test_nothing_is_moved_onto_something(root: Path, way: str) -> None:
    goal = root / "goal.md"
    {
        "file": lambda: goal.write_bytes(b"mine"),
        "folder": goal.mkdir,
        "link": lambda: goal.symlink_to(root / "b.md"),
    }[way]()
    with pytest.raises(InvalidFile, match="cannot move"):
        move_files([(root / "a.md", goal)], root=root)
    assert (root / "a.md").exists() and (root / "b.md").read_bytes() == b"b"


def test_what_was_moved_before_a_failure_is_synced(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced = []
    monkeypatch.setattr("mabos_cli.workspace.files.sync_folder", synced.append)
    (root / "x").mkdir()
    with pytest.raises(InvalidFile):
        move_files([(root / "a.md", root / "x/a.md"), (root / "none.md", root / "x/n.md")], root=root)
    assert (root / "x/a.md").exists()
    assert synced == [root / "x", root], "new places first"


def test_nothing_leaves_the_root(root: Path) -> None:
    (root / "out").symlink_to(root.parent)
    for goal in (root.parent / "a.md", root / "out/a.md"):
        with pytest.raises(InvalidFile, match="leads out"):
            move_files([(root / "a.md", goal)], root=root)
    assert (root / "a.md").exists()
