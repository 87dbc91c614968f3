"""What tests share: the program in a process of its own, and a fresh workspace to run it on."""

import gc
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import postgres_server as postgres_server_module
import pytest
from forked import START, execute, start
from hypothesis import HealthCheck, settings

NOW = "2026-02-24T14:30:00Z"
# How many examples a property is tried with where it does not say. A busy machine is no failure: none has to be quick.
_UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("part", _UNHURRIED, max_examples=60)
settings.register_profile("full", _UNHURRIED, max_examples=500)
settings.load_profile("full" if os.environ.get("FULL") else "part")


class Done(NamedTuple):
    """What a run of the program gave."""

    code: int
    stdout: str
    stderr: str


Mabos = Callable[..., Done]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that fork come first: a process that has loaded models and numbers forks ten times slower. They are the longest too, so
    that no worker waits for another at the end."""
    items.sort(key=lambda item: item.path.parent != Path(__file__).parent)


def pytest_collection_finish() -> None:
    """Ten thousand tests and their modules stay to the end: nobody need look through them for garbage."""
    gc.freeze()


@pytest.fixture
def mabos(tmp_path: Path) -> Mabos:
    """Runs mabos with the given words; `cwd`, `stdin` and environment variables by keyword. Time stands still at NOW."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MABOS_")}
    environment |= {"HOME": str(tmp_path), "MABOS_NOW": NOW}

    def run(*words: str, cwd: Path = tmp_path, stdin: str = "", **variables: str) -> Done:
        # Who sets what an interpreter reads when it starts wants to see it start.
        way = start if any(name.startswith(START) for name in variables) else execute
        code, out, err, _ = way(words, environment | variables, cwd, stdin.encode("utf-8"))
        return Done(code, out.decode("utf-8"), err.decode("utf-8"))

    return run


@pytest.fixture
def workspace(tmp_path: Path, mabos: Mabos) -> Path:
    """A fresh workspace with agent main."""
    root = tmp_path / "workspace"
    done = mabos("init", str(root))
    assert done.code == 0, done.stderr
    return root


@pytest.fixture
def still_world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """For tests in this process: time stands still, the environment says nothing, and nobody waits for the disk."""
    for name in [name for name in os.environ if name.startswith("MABOS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("MABOS_NOW", NOW)
    monkeypatch.setenv("XDG_CACHE_HOME", os.fspath(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", os.fspath(tmp_path / "state"))
    monkeypatch.setattr(os, "fsync", lambda fd: None)


@contextmanager
def quick_folder() -> Iterator[Path]:
    """A folder in memory, or else on the disk."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="mabos-test-", dir=memory if os.access(memory, os.W_OK) else None))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def quick() -> Iterator[Path]:
    """Such a folder for one test."""
    with quick_folder() as folder:
        yield folder


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Any]:
    """A real PostgreSQL with pgvector."""
    yield from postgres_server_module.serve()


@pytest.fixture
def postgres(postgres_server: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty database that answers all searches of a test."""
    url: str = postgres_server.new_database()
    monkeypatch.setenv("MABOS_INDEX_BACKEND", "postgres")
    monkeypatch.setenv("MABOS_INDEX_POSTGRES", url)
    return url
