"""Trials of the settings of what is outside: timers, git, and a TypeDB server."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import pytest
from settings_search import held
from settings_trial import Trial, effect

from mabos_cli.workspace.layout import WorkspacePaths


def _crontab(t: Trial) -> str:
    return t.ok("schedule", "show", "--format", "cron")["files"]["crontab"]


def _units(t: Trial) -> dict[str, str]:
    return t.ok("schedule", "show", "--format", "systemd")["files"]


@effect("schedule.cycle", "10m", (True, False), (False, True))
def _(t: Trial):
    return "*/30 * * * *" in _crontab(t), "*/10 * * * *" in _crontab(t)


@effect("schedule.sync", "off", True, False)
def _(t: Trial):
    return "schedule run sync" in _crontab(t)


@effect("schedule.nightly", "04:20", (True, False), (False, True))
def _(t: Trial):
    return "\n10 3 * * *" in _crontab(t), "\n20 4 * * *" in _crontab(t)


@effect("schedule.weekly", "Mon 05:15", False, True)
def _(t: Trial):
    return "\n15 5 * * 1" in _crontab(t)


@effect("schedule.delay", "10m", False, True)
def _(t: Trial):
    return any("RandomizedDelaySec=600" in text or "RandomizedDelaySec=10m" in text for text in _units(t).values())


@effect("schedule.patience", 0.1, True, False, base=1)
def _(t: Trial):
    t.ok("intention", "add", "Send the offer", "--deadline", "2026-02-20")
    with held(t, WorkspacePaths(t.root).agent("main").lock):
        said = t.run("schedule", "run", "cycle", "--json")
    return "gave up after 1 s" in said.stdout + said.stderr


@effect("schedule.name", "harbour", False, True)
def _(t: Trial):
    return all("harbour" in name for name in _units(t))


@effect("git.commit", True, 0, 1)
def _(t: Trial):
    if not shutil.which("git"):
        pytest.skip("no git here")
    own = {"GIT_CONFIG_GLOBAL": os.devnull} | {
        f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    with mock.patch.dict(os.environ, own):
        subprocess.run(["git", "init", "-q", t.root], check=True)
        t.store("We bill per seat")
        said = subprocess.run(["git", "-C", t.root, "log", "--oneline"], capture_output=True, text=True, check=False)
    return len(said.stdout.splitlines())


@contextmanager
def _server(**who: str) -> Iterator[Any]:
    """A TypeDB server with the databases that are asked for, and the password in the environment."""
    pytest.importorskip("grpc")
    pytest.importorskip("typedb.driver")
    from typedb_server.server import Server

    with Server(**who) as server, mock.patch.dict(os.environ, MABOS_TYPEDB_PASSWORD="password"):
        yield server


def _status(t: Trial, **settings: Any) -> dict[str, Any]:
    t.also(**settings)
    return t.ok("typedb", "status")


@effect("typedb.address", "127.0.0.1:9", (False, None), (True, False))
def _(t: Trial):
    with _server():
        found = _status(t)
    return found["configured"], found.get("reachable")


@effect("typedb.database", "berths", ["mabos_"], ["berths"])
def _(t: Trial):
    with _server() as server:
        t.also(typedb__address=server.address)
        assert t.run("typedb", "sync-schema").code == 0
        return [name[:6] for name in server.schemas]


@effect("typedb.user", "kim", False, True)
def _(t: Trial):
    with _server(user="kim") as server:
        return _status(t, typedb__address=server.address)["reachable"]


@effect("typedb.tls", True, True, False)
def _(t: Trial):
    with _server() as server:
        return _status(t, typedb__address=server.address)["reachable"]


@effect("typedb.tls_ca", "certs/none.pem", False, True)
def _(t: Trial):
    with _server() as server:
        return "certs/none.pem" in _status(t, typedb__address=server.address, typedb__tls=True)["error"]


def _silence(t: Trial, **settings: Any) -> float:
    """How long a server that says nothing is waited for."""
    from typedb_server.faults import silent_port

    with _server(), silent_port() as address:
        began = time.monotonic()
        assert not _status(t, typedb__address=address, **settings)["reachable"]
        return time.monotonic() - began


@effect("typedb.connect_timeout", 0.3, False, True, base=1.2)
def _(t: Trial):
    return _silence(t) < 1


@effect("typedb.timeout", 0.3, False, True, base=1.2)
def _(t: Trial):
    from typedb_server.faults import Fault

    with _server() as server:
        server.schemas["mabos_after"] = server.schemas["mabos_before"] = ""
        server.answer(lambda query: Fault.SILENT)
        t.also(typedb__address=server.address)
        began = time.monotonic()
        assert t.run("typedb", "query", "match $g isa goal;").code == 6
        return time.monotonic() - began < 1
