"""Safe files: atomic, durable, and never over somebody else's change."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path
from struct import pack

import pytest

from mabos_cli.errors import InvalidFile
from mabos_cli.workspace import files, plain_files
from mabos_cli.workspace.files import (
    REPLACE_BELOW,
    Moved,
    append_bytes,
    append_text,
    find_temps,
    list_names,
    read_text,
    remove_file,
    replace_file,
    sweep_temps,
)
from mabos_cli.workspace.layout import TEMP_PREFIX


def test_replacing_keeps_the_mode_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    path.chmod(0o664)
    replace_file(path, b"new", root=tmp_path, expect=b"old")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o664


def test_a_new_file_follows_the_umask_not_the_habits_of_temporary_files(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        replace_file(tmp_path / "a.md", b"x", root=tmp_path, expect=None)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.md").stat().st_mode) == 0o644


def test_a_symbolic_link_inside_the_workspace_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.md").write_bytes(b"old")
    (tmp_path / "link.md").symlink_to("real.md")
    replace_file(tmp_path / "link.md", b"new", root=tmp_path, expect=b"old")
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "real.md").read_bytes() == b"new"


def test_a_symbolic_link_out_of_the_workspace_is_refused(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_bytes(b"mine")
    root = tmp_path / "ws"
    root.mkdir()
    (root / "link.md").symlink_to(outside)
    with pytest.raises(InvalidFile, match="leads out of the workspace"):
        replace_file(root / "link.md", b"new", root=root, expect=b"mine")
    assert outside.read_bytes() == b"mine"


def test_a_file_that_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"edited by a person")
    with pytest.raises(Moved):
        replace_file(path, b"new", root=tmp_path, expect=b"old")
    assert path.read_bytes() == b"edited by a person"
    assert not find_temps(tmp_path)


def test_a_file_that_appeared_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"edited by a person")
    with pytest.raises(Moved):
        replace_file(path, b"new", root=tmp_path, expect=None)
    assert path.read_bytes() == b"edited by a person"


def test_appending_closes_a_torn_line_first(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": 1}\n{"b": ')
    append_bytes(path, b'{"c": 3}\n', root=tmp_path)
    assert path.read_bytes() == b'{"a": 1}\n{"b": \n{"c": 3}\n'


def test_a_failed_append_is_taken_back(tmp_path: Path) -> None:
    """The file size limit of a child cuts the write in the middle of a line."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": 1}\n')
    script = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from mabos_cli.errors import InvalidFile\n"
        "from mabos_cli.workspace.files import append_bytes\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))\n"
        "try:\n"
        "    append_bytes(Path(sys.argv[1]), b'x' * 100 + b'\\n', root=Path(sys.argv[1]).parent)\n"
        "except InvalidFile as error:\n"
        "    print(error.message)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    assert "cannot append to" in done.stdout
    assert path.read_bytes() == b'{"a": 1}\n'


def test_a_log_is_given_its_header_and_loses_nul_bytes_of_a_power_cut(tmp_path: Path) -> None:
    path = tmp_path / "2026-02-24.md"
    append_text(path, "\n## one\n", root=tmp_path, header="# 2026-02-24\n")
    path.write_bytes(path.read_bytes() + b"\0\0\0")
    append_text(path, "\n## two\n", root=tmp_path, header="# ignored\n")
    assert path.read_text() == "# 2026-02-24\n\n## one\n\n## two\n"


def test_a_large_log_is_appended_to_in_place(tmp_path: Path) -> None:
    path = tmp_path / "2026-02-24.md"
    path.write_bytes(b"x" * REPLACE_BELOW + b"\n")
    inode = path.stat().st_ino
    append_text(path, "more\n", root=tmp_path)
    append_text(path, "and more\n", root=tmp_path)
    assert path.stat().st_ino == inode
    assert path.read_bytes().endswith(b"x\nmore\nand more\n")


def test_text_that_is_not_utf8_is_cited_by_line(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"fine\ncaf\xe9\n")
    with pytest.raises(InvalidFile, match=r"a\.md:2: not valid UTF-8"):
        read_text(tmp_path / "a.md", "a.md")


def test_temporary_files_are_not_listed_and_those_of_the_dead_are_swept(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", "pass"])
    gone.wait()
    dead, alive = tmp_path / f"{TEMP_PREFIX}{gone.pid}-0", tmp_path / f"{TEMP_PREFIX}{os.getpid()}-0"
    dead.touch()
    alive.touch()
    assert list_names(tmp_path) == []
    assert sweep_temps(tmp_path, locked=False) == 1
    assert (dead.exists(), alive.exists()) == (False, True)
    assert sweep_temps(tmp_path, locked=True) == 1


@pytest.mark.parametrize("saves", [1, 2])
def test_a_save_in_the_last_instant_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, saves: int):
    """Somebody saves the file after it was compared and before it is replaced, and maybe once more after that."""
    path = tmp_path / "Beliefs.md"
    path.write_bytes(b"old")
    exchange, said = files.exchange_files, [b"theirs", b"theirs, again"][:saves]

    def late(one: Path, other: Path) -> bool:
        if said:
            path.write_bytes(said.pop(0))
        return exchange(one, other)

    monkeypatch.setattr(files, "exchange_files", late)
    with pytest.raises(files.Moved):
        files.replace_file(path, b"ours", root=tmp_path, expect=b"old", shared=True)
    assert path.read_bytes() == [b"theirs", b"theirs, again"][saves - 1]
    assert os.listdir(tmp_path) == ["Beliefs.md"]


class Killed(BaseException):
    """What a test ends a process with that has no time for anything else."""


@pytest.mark.parametrize("saved", [b"theirs", b""])
@pytest.mark.parametrize("later", [b"", b"ours, and theirs again"])
def test_a_save_in_the_last_instant_outlives_a_writer_that_was_killed_before_it_looked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, saved: bytes, later: bytes
) -> None:
    path = tmp_path / "Beliefs.md"
    path.write_bytes(b"old")
    exchange = files.exchange_files

    def late(one: Path, other: Path) -> bool:
        with path.open("wb") as file:  # an editor that empties the file first
            file.write(saved)
            file.flush()
            exchange(one, other)
            file.write(b"" if saved else b"theirs")
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(files, "exchange_files", late)
        patch.setattr(files, "remove_temp", lambda temp: None)
        patch.setattr(os, "unlink", lambda path: None)
        with pytest.raises(Killed):
            files.replace_file(path, b"ours", root=tmp_path, expect=b"old", shared=True)
    assert path.read_bytes() == b"ours"
    if later:
        path.write_bytes(later)
    assert sweep_temps(tmp_path, locked=True) == 1
    assert path.read_bytes() == (later or b"theirs")
    beside = [each.read_bytes() for each in tmp_path.glob("Beliefs.saved-*.md")]
    assert beside == ([b"theirs"] if later else []) and len(os.listdir(tmp_path)) == 1 + len(beside)


@pytest.mark.parametrize("held", [b"old", b"ours"])
def test_what_a_killed_writer_left_of_its_own_is_removed(tmp_path: Path, held: bytes) -> None:
    path = tmp_path / "Beliefs.md"
    path.write_bytes(b"old")
    with pytest.raises(Killed), pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "remove_temp", lambda temp: None)
        patch.setattr(files, "exchange_files", lambda one, other: _end(one, held))
        files.replace_file(path, b"ours", root=tmp_path, expect=b"old", shared=True)
    assert sweep_temps(tmp_path, locked=True) == 1
    assert os.listdir(tmp_path) == ["Beliefs.md"]


def _end(temp: Path, held: bytes) -> bool:
    temp.write_bytes(held)
    raise Killed


def test_files_that_cannot_trade_places_are_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "Beliefs.md"
    path.write_bytes(b"old")
    monkeypatch.setattr(files, "exchange_files", lambda one, other: False)
    files.replace_file(path, b"ours", root=tmp_path, expect=b"old", shared=True)
    assert path.read_bytes() == b"ours" and os.listdir(tmp_path) == ["Beliefs.md"]


def test_a_new_file_is_not_put_over_one_that_appeared_in_the_last_instant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, put_new = tmp_path / "MEMORY.md", files._put_new

    def late(temp: Path, target: Path) -> None:
        path.write_bytes(b"theirs")
        put_new(temp, target)

    monkeypatch.setattr(files, "_put_new", late)
    with pytest.raises(Moved):
        replace_file(path, b"ours", root=tmp_path, expect=None)
    assert path.read_bytes() == b"theirs" and os.listdir(tmp_path) == ["MEMORY.md"]


def test_a_new_file_on_a_disk_without_links_is_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)
    replace_file(tmp_path / "a.md", b"ours", root=tmp_path, expect=None)
    assert (tmp_path / "a.md").read_bytes() == b"ours" and os.listdir(tmp_path) == ["a.md"]


def test_a_line_saved_into_a_log_in_the_last_instant_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "2026-02-24.md"
    path.write_bytes(b"# Log\n")
    exchange, said = files.exchange_files, [b"theirs\n"]

    def late(one: Path, other: Path) -> bool:
        if said:
            path.write_bytes(path.read_bytes() + said.pop())
        return exchange(one, other)

    monkeypatch.setattr(files, "exchange_files", late)
    append_text(path, "ours\n", root=tmp_path)
    assert path.read_bytes() == b"# Log\ntheirs\nours\n"


def test_a_log_that_an_editor_has_just_emptied_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "2026-02-24.md"
    path.touch()
    monkeypatch.setattr(files.time, "sleep", lambda _: path.write_bytes(b"# All that they wrote\n"))
    append_text(path, "ours\n", root=tmp_path, header="# Log\n")
    assert path.read_bytes() == b"# All that they wrote\nours\n"


def test_replacing_keeps_access_lists_and_other_attributes(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"old")
    # Read and write for user 1000, as setfacl -m u:1000:rw writes it.
    entries = ((1, 6, -1), (2, 6, 1000), (4, 4, -1), (16, 6, -1), (32, 4, -1))
    access = pack("<I", 2) + b"".join(pack("<HHi", *entry) for entry in entries)
    os.setxattr(path, "system.posix_acl_access", access)
    os.setxattr(path, "user.origin", b"a person")
    replace_file(path, b"new", root=tmp_path, expect=b"old")
    assert os.getxattr(path, "system.posix_acl_access") == access
    assert os.getxattr(path, "user.origin") == b"a person"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_replacing_the_file_of_another_keeps_the_group_that_both_are_in(quick: Path) -> None:
    path, team = quick / "team" / "a.md", 54_321
    quick.chmod(0o755)
    path.parent.mkdir()
    path.write_bytes(b"old")
    for place, mode in ((path.parent, 0o770), (path, 0o660)):
        os.chown(place, 1001, team)
        place.chmod(mode)
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([team])
            os.setgid(1002)
            os.setuid(1002)
            replace_file(path, b"new", root=path.parent, expect=b"old")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    found = path.stat()
    assert (path.read_bytes(), found.st_gid, stat.S_IMODE(found.st_mode)) == (b"new", team, 0o660)


def test_a_file_behind_a_link_out_of_the_workspace_is_not_removed(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "mine.md").write_bytes(b"mine")
    (tmp_path / "ws" / "folder").symlink_to(tmp_path)
    with pytest.raises(InvalidFile, match="leads out of the workspace"):
        remove_file(tmp_path / "ws/folder/mine.md", root=tmp_path / "ws")
    (tmp_path / "ws" / "link.md").symlink_to(tmp_path / "mine.md")
    remove_file(tmp_path / "ws/link.md", root=tmp_path / "ws")
    assert (tmp_path / "mine.md").read_bytes() == b"mine" and not (tmp_path / "ws/link.md").is_symlink()


def test_the_name_of_a_file_is_on_the_disk_before_its_first_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the process that made the file was killed before it could see to that."""
    path, synced = tmp_path / "a.jsonl", []
    monkeypatch.setattr(plain_files, "sync_folder", lambda folder: synced.append(path.read_bytes()))
    path.touch()
    for line in (b"one\n", b"two\n"):
        append_bytes(path, line, root=tmp_path)
    assert synced == [b""] and path.read_bytes() == b"one\ntwo\n"


@pytest.mark.parametrize("name", ["spool.jsonl", "spool.lock"])
def test_a_journal_that_is_a_link_out_of_the_workspace_is_refused(tmp_path: Path, name: str) -> None:
    root, mine = tmp_path / "ws", tmp_path / "mine.txt"
    root.mkdir()
    mine.write_bytes(b"mine\n")
    (root / name).symlink_to(mine)
    with pytest.raises(OSError, match="leads out of the workspace"):
        plain_files.append_guarded(f"{root}/spool.jsonl", f"{root}/spool.lock", b"{}\n", root=os.fspath(root), wait=0)
    assert mine.read_bytes() == b"mine\n"
