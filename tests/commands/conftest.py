"""A desk for each test, in memory where there is a place for that: the disk is not what is tested here."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from .desk import NOW, Desk


@pytest.fixture(autouse=True)
def same_world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Time stands still, the environment says nothing, and nobody waits for the disk."""
    for name in [name for name in os.environ if name.startswith("MABOS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("MABOS_NOW", NOW)
    monkeypatch.setenv("XDG_CACHE_HOME", os.fspath(tmp_path / "cache"))
    monkeypatch.setattr(os, "fsync", lambda fd: None)


@pytest.fixture
def desk() -> Iterator[Desk]:
    """A fresh workspace with agent main."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="mabos-test-", dir=memory if os.access(memory, os.W_OK) else None))
    yield Desk(folder / "ws")
    shutil.rmtree(folder, ignore_errors=True)
