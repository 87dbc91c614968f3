"""Where the index lies: in the workspace, in the cache folder when that cannot be written, in memory when nothing can."""

import fcntl
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

import forked
import pytest
from forked import NOBODY, Outcome, tree
from forked import run_here as run

from mabos_cli.index.vectors import Engine

from .lab import Lab, close, settle
from .world import QUESTIONS, fill, page


def block(lab: Lab) -> None:
    """A file stands where the folder of the index should be: the workspace cannot hold one."""
    folder = lab.index.parent
    if folder.is_dir():
        folder.rename(lab.root.parent / "old-index")
    folder.parent.mkdir(exist_ok=True)
    folder.write_text("not a folder")


def place(lab: Lab) -> Path | None:
    searching = lab.open()
    assert searching.index is not None
    searching.index.close()
    return searching.index.path


def test_without_a_place_in_the_workspace_the_cache_folder_serves(little: Lab, tmp_path: Path) -> None:
    answers = little.tops(QUESTIONS[:4])
    block(little)
    files = tree(little.root)
    assert little.tops(QUESTIONS[:4]) == answers
    found = place(little)
    assert found is not None and found.is_relative_to(tmp_path / "cache/mabos") and found.is_file()
    settle()
    little.sync()
    before = found.stat()
    assert little.sync().added == 0
    assert found.stat().st_mtime_ns == before.st_mtime_ns
    little.write("notes/new.md", "marzipan\n")
    assert little.refs("marzipan")[0] == "notes/new.md:1-1"
    (little.agent / "notes/new.md").unlink()
    assert tree(little.root) == files


def test_two_workspaces_of_one_name_do_not_share_a_cache(quick: Path) -> None:
    labs = [Lab(quick / name / "ws") for name in "ab"]
    for number, lab in enumerate(labs):
        lab.write("notes/a.md", f"The quince number {number}\n")
        block(lab)
    assert [lab.ask("quince")[0].candidate.text for lab in labs * 2] == [
        "The quince number 0",
        "The quince number 1",
    ] * 2
    assert place(labs[0]) != place(labs[1])


def test_without_any_place_the_index_is_in_memory(little: Lab, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answers = little.tops(QUESTIONS[:4])
    block(little)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert place(little) is None
    assert little.tops(QUESTIONS[:4]) == answers
    little.write("notes/new.md", "marzipan\n")
    assert little.refs("marzipan")[0] == "notes/new.md:1-1"


def test_without_any_place_commands_still_answer(busy: Lab, mabos, tmp_path: Path) -> None:
    block(busy)
    (tmp_path / "file").write_text("")
    ways = {"XDG_CACHE_HOME": str(tmp_path / "file"), "cwd": busy.root}
    done = mabos("recall", "ERR_042", "--json", **ways)
    assert (done.code, done.stderr) == (0, "")
    assert "ERR_042" in json.loads(done.stdout)["data"]["results"][0]["content"]
    assert mabos("index", "search", "ERR_042", **ways).code == 0
    assert mabos("index", "status", **ways).code == 0
    done = mabos("index", "sync", **ways)
    assert done.code == 4 and "cannot be written" in done.stderr


def test_without_a_home_recall_answers(busy: Lab, tmp_path: Path) -> None:
    block(busy)
    program = Path(sys.executable).with_name("mabos")
    keep = {name: value for name, value in os.environ.items() if name in ("PATH", "MABOS_NOW")}
    done = subprocess.run(
        [program, "recall", "ERR_042", "-w", busy.root], env=keep | {"XDG_CACHE_HOME": ""}, cwd=tmp_path,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "ERR_042" in done.stdout
    assert not (tmp_path / "~").exists()


@pytest.mark.parametrize(
    "name", ["with space", "100%", "what?", "#1", "ünï 東京", "a%20b?mode=memory&x#y", "quo'te\"s", "-x"]
)
def test_any_name_of_a_workspace_will_do(quick: Path, name: str) -> None:
    lab = Lab(quick / name / "ws")
    lab.write("notes/a.md", "The quince is ripe.\n")
    item_id = lab.store("The pear is ripe", "long_term")
    for _ in range(2):
        assert set(lab.refs("quince pear ripe")) == {item_id, "notes/a.md:1-1"}
        assert place(lab) == lab.index
        settle()
    lab.sync(rebuild=True)
    assert set(lab.refs("quince pear ripe")) == {item_id, "notes/a.md:1-1"}
    assert sorted(os.listdir(quick)) == [name]


def test_a_current_index_is_only_read(little: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index that was made while the workspace could be written serves when it no longer can."""
    answers = little.tops(QUESTIONS[:4])
    settle()
    little.sync()
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    real = Engine.connect
    opened: list[bool] = []

    def connect(self, path: str, *, read_only: bool = False):
        opened.append(read_only)
        return real(self, path, read_only=read_only)

    monkeypatch.setattr(Engine, "connect", connect)
    assert little.tops(QUESTIONS[:4]) == answers
    assert opened and all(opened)


@pytest.fixture
def public():
    """A folder that others may look into, for tests as another user."""
    if os.geteuid() != 0:
        pytest.skip("only root can become somebody else")
    with tempfile.TemporaryDirectory(prefix="mabos-public-") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


def as_nobody(*words: str, **variables: str) -> Outcome:
    """A command by somebody who owns nothing here."""
    now = os.environ["MABOS_NOW"]
    return Outcome(*forked.as_nobody(lambda: run(*words, MABOS_NOW=now, **variables)))


def test_a_workspace_of_somebody_else_alone_is_named_as_closed_not_as_absent(public: Path) -> None:
    lab = Lab(public / "ws")
    os.chmod(lab.root, 0o700)
    lab.ask("warm up")
    done = as_nobody("recall", "anything", "-w", str(lab.root))
    assert (done.code, done.stdout) == (4, "")
    assert f"cannot read {lab.root}: Permission denied" in done.stderr and "mabos init" not in done.stderr


def test_somebody_who_may_only_read_is_answered(public: Path) -> None:
    lab = Lab(public / "ws")
    os.chmod(lab.root, 0o755)  # as who wants others to read it
    fill(lab)
    lab.ask("warm up")  # everything is imported now: others may not read where Python is
    shutil.rmtree(lab.index.parent)
    cache = public / "cache"
    cache.mkdir()
    os.chown(cache, NOBODY, NOBODY)
    where = ("-w", str(lab.root), "--json")

    def refs(**variables: str) -> list[str]:
        done = as_nobody("recall", "ERR_042", *where, **variables)
        assert done.code == 0, done.stderr
        found = json.loads(done.stdout)
        assert found["warnings"] == []
        return [row["ref"] for row in found["data"]["results"]]

    answers = refs(XDG_CACHE_HOME="/nonexistent")  # in memory
    assert not lab.index.exists() and answers
    assert refs(XDG_CACHE_HOME=str(cache)) == answers  # in the cache folder
    assert list(cache.rglob("main.sqlite"))
    settle()
    lab.sync()
    before = lab.index.stat()
    assert refs(XDG_CACHE_HOME="/nonexistent") == answers  # the owner's, which is current
    after = lab.index.stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


def test_somebody_who_may_only_read_sees_what_changed(public: Path) -> None:
    """The owner's index is behind, and may not be written."""
    lab = Lab(public / "ws")
    os.chmod(lab.root, 0o755)  # as who wants others to read it
    lab.write("notes/a.md", "The quince is ripe.\n")
    settle()
    lab.sync()
    lab.write("notes/b.md", "The quince is eaten.\n")
    where = ("-w", str(lab.root), "--json")
    done = as_nobody("recall", "quince", *where, HOME="/nonexistent", XDG_CACHE_HOME="/nonexistent")
    assert done.code == 0, done.stderr
    found = json.loads(done.stdout)
    refs = [row["ref"] for row in found["data"]["results"]]
    assert "notes/a.md:1-1" in refs
    assert "notes/b.md:1-1" in refs or found["data"]["stale"]


@pytest.mark.parametrize("size", [0, 100_000])
@pytest.mark.parametrize("indexed", [False, True])
def test_a_full_disk_is_no_reason_not_to_answer(busy: Lab, size: int, indexed: bool) -> None:
    """Files cannot grow: SQLite fails in the middle of what it writes."""
    if indexed:
        settle()
        busy.sync()
        for number in range(8):
            busy.write(f"notes/{number}.md", page(Random(number)) * 3)
    files = tree(busy.root)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    reading, writing = os.pipe()
    program = [Path(sys.executable).with_name("mabos"), "recall", "ERR_042", "--json", "-w", busy.root]
    done = subprocess.run(program, preexec_fn=limited, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    with os.fdopen(reading) as out:
        answer = out.read()
    assert (done.returncode, done.stderr) == (0, "")
    assert "ERR_042" in json.loads(answer)["data"]["results"][0]["content"]
    assert tree(busy.root) == files
    assert busy.ask("ERR_042")
    assert place(busy) == busy.index


def test_an_index_that_is_being_written_is_stale_not_silent(little: Lab) -> None:
    settle()
    little.sync()
    little.write("notes/new.md", "marzipan\n")
    with open(little.note, "r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        os.environ["MABOS_INDEX_WAIT"] = "0.05"
        try:
            search = little.search()
        finally:
            del os.environ["MABOS_INDEX_WAIT"]
        assert search.stale
        assert any(warning.startswith("stale") for warning in search.warnings())
        assert search(QUESTIONS[0])
        close(search)
    assert little.refs("marzipan")[0] == "notes/new.md:1-1"


def test_while_another_builds_the_first_index_words_are_searched(little: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    little.note.parent.mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("MABOS_INDEX_WAIT", "0.05")
    with open(little.note, "w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        search = little.search()
        assert any("another process" in warning for warning in search.warnings())
        assert "ERR_042" in search("ERR_042")[0].candidate.text
        close(search)
    assert not little.index.exists()


def test_a_rebuild_that_has_to_give_up_leaves_nothing_behind(busy: Lab, mabos) -> None:
    busy.sync()
    with open(busy.note, "r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = mabos("index", "sync", "--rebuild", "--lock-timeout", "0.1", cwd=busy.root)
    assert "Traceback" not in done.stderr
    assert [name for name in os.listdir(busy.index.parent) if "tmp" in name] == []
    assert done.code == 5, done.stderr
