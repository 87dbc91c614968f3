"""The writers on a platform that has the locks of Windows, and neither folders that can be synced nor files that can be exchanged."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from mabos_cli.workspace import platform
from mabos_cli.workspace.lock import Lock

WRITERS, ROUNDS = 4, 4
# What macOS or Windows lack, taken away before anything of the program is loaded.
BARE = """
import os, subprocess, sys
from fcntl import LOCK_EX, LOCK_NB, flock
from types import SimpleNamespace
from mabos_cli.workspace import platform
platform.fcntl = None
sys.modules["msvcrt"] = SimpleNamespace(LK_NBLCK=LOCK_EX | LOCK_NB, locking=lambda fd, mode, count: flock(fd, mode))
platform._DIRECTORY = None
platform.exchange_files = lambda one, other: False
for name in ("pread", "fchown", "fchmod", "listxattr"):
    delattr(os, name)
def refuse(one, other):
    raise OSError(1, "Operation not permitted")  # a disk that knows one name for each file
os.link = refuse
"""
WRITE = (
    BARE
    + """
from mabos_cli.app import main
root, mark, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
for number in range(rounds):
    word = f"{mark}{number}"
    for words in (["store", f"note {word} is kept"], ["belief", "add", f"Sky {word}", f"the sky is {word}"],
                  ["fact", "assert", word, "is", "kept"], ["case", "store", "--belief", word, "--desire", word, "--action", word],
                  ["capture", f"seen {word}"], ["store", "--defer", f"later {word}"]):
        code = main(["--workspace", root, "--agent", "main", "--quiet", "--lock-timeout", "60", *words])
        if code:
            sys.exit(f"{words}: {code}")
"""
)


def run(script: str, *words: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", script, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_many_writers_lose_nothing_on_a_bare_platform(tmp_path: Path) -> None:
    made = subprocess.run([sys.executable, "-m", "mabos_cli", "init", str(tmp_path)], capture_output=True)
    assert made.returncode == 0, made.stderr
    writers = [run(WRITE, str(tmp_path), "abcdefgh"[n] * 3, str(ROUNDS)) for n in range(WRITERS)]
    for writer in writers:
        _, err = writer.communicate(timeout=300)
        assert writer.returncode == 0, err.decode()
    agent = tmp_path / "agents" / "main"
    main = [sys.executable, "-m", "mabos_cli", "--workspace", str(tmp_path), "--agent", "main"]
    assert subprocess.run([*main, "store", "the last one"], capture_output=True).returncode == 0  # drains the queue
    store, beliefs = (agent / "memory-store.json").read_text(), (agent / "Beliefs.md").read_text()
    facts, cases = (agent / "facts.json").read_text(), (agent / "cases.json").read_text()
    seen = "".join(path.read_text() for path in (agent / "observations").glob("*.jsonl"))
    for word in (f"{'abcdefgh'[n] * 3}{number}" for n in range(WRITERS) for number in range(ROUNDS)):
        assert f"note {word} is kept" in store and f"later {word}" in store
        assert f"Sky {word}" in beliefs and f'"{word}"' in facts and f'"{word}"' in cases and f"seen {word}" in seen
    assert not list(tmp_path.rglob(".mabos-tmp-*"))


def test_a_killed_holder_leaves_no_lock_behind(tmp_path: Path) -> None:
    script = BARE + (
        "from pathlib import Path\nfrom mabos_cli.workspace.lock import Lock\n"
        "Lock(Path(sys.argv[1]) / 'a.lock', Path(sys.argv[1])).acquire(0, 'killed')\nos.kill(os.getpid(), 9)\n"
    )
    holder = run(script, str(tmp_path))
    holder.communicate(timeout=60)
    lock = Lock(tmp_path / "a.lock", tmp_path)
    lock.acquire(5, "next")
    assert lock.left_behind.startswith(b"killed, process")
    lock.release()


def test_windows_locks_a_byte_far_behind_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = []

    def locking(fd: int, mode: int, count: int) -> None:
        places.append((os.lseek(fd, 0, os.SEEK_CUR), count))
        fcntl.flock(fd, mode)

    monkeypatch.setattr(platform, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=fcntl.LOCK_EX | fcntl.LOCK_NB))
    one, other = (os.open(tmp_path / "a.lock", os.O_RDWR | os.O_CREAT) for _ in range(2))
    os.write(one, b"holder")
    assert platform.try_lock(one)
    assert not platform.try_lock(other)
    assert os.lseek(one, 0, os.SEEK_CUR) == 6 and places == [(1 << 30, 1)] * 2
    platform.unlock(one)
    platform.unlock(other)
