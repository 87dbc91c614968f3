"""Locks: one holder, whose intent outlives it."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mabos_cli.errors import Conflict, InvalidFile
from mabos_cli.workspace.lock import Lock, locked

HOLD = (
    "import sys, time\n"
    "from pathlib import Path\n"
    "from mabos_cli.workspace.lock import Lock\n"
    "lock = Lock(Path(sys.argv[1]), Path(sys.argv[1]).parent)\n"
    "lock.acquire(5, 'mabos consolidate')\n"
    "lock.declare(b'{\"version\": 7}')\n"
    "print('held', flush=True)\n"
    "time.sleep(60)\n"
)


def test_a_lock_names_its_holder_and_a_killed_holder_blocks_nobody(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "main.lock"
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    holder.stdout.readline()
    started = time.monotonic()
    with pytest.raises(Conflict, match=f"main is locked by mabos consolidate, process {holder.pid}"):
        Lock(path, tmp_path).acquire(0.2, "mabos store")
    assert time.monotonic() - started < 5
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    lock = Lock(path, tmp_path)
    lock.acquire(0.2, "mabos store")
    assert b'{"version": 7}' in lock.left_behind
    # An intent stays until it is settled, even if this process ends without looking at it.
    lock.release()
    again = Lock(path, tmp_path)
    again.acquire(0.2, "mabos store")
    assert b'{"version": 7}' in again.left_behind
    again.settled = True
    again.release()
    assert path.read_bytes() == b""


def test_a_lock_that_could_not_be_written_is_free_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server lives on after a full disk: it must not keep a lock that it never got."""
    path, open_files = tmp_path / "main.lock", len(os.listdir("/proc/self/fd"))
    with monkeypatch.context() as full:
        full.setattr(os, "ftruncate", lambda fd, size: os.write(-1, b""))
        with pytest.raises(InvalidFile, match="cannot lock"):
            Lock(path, tmp_path).acquire(0.1, "mabos store")
    assert len(os.listdir("/proc/self/fd")) == open_files
    with locked(path, tmp_path, 0, "mabos store"):
        pass


def test_an_intent_is_written_whole_or_refused(tmp_path: Path) -> None:
    """Where the disk takes only a part of it, the writer must not go on."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with locked(tmp_path / "main.lock", tmp_path, 0, "mabos store") as lock:
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
            with pytest.raises(InvalidFile, match="cannot write"):
                lock.declare(b"x" * 200)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("link", ["locks/main.lock", "locks"])
def test_a_lock_that_leads_out_of_the_workspace_is_refused(tmp_path: Path, link: str) -> None:
    """A workspace may come from anywhere: its locks must not empty files of ours."""
    root, outside = tmp_path / "ws", tmp_path / "outside"
    (root / link).parent.mkdir(parents=True)
    outside.mkdir()
    mine = outside / "main.lock"
    mine.write_bytes(b"mine")
    (root / link).symlink_to(mine if link.endswith(".lock") else outside)
    with pytest.raises(InvalidFile, match="leads out of the workspace"):
        Lock(root / "locks/main.lock", root).acquire(0, "mabos store")
    assert mine.read_bytes() == b"mine"
