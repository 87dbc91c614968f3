"""A real TypeDB server for tests: MABOS_TEST_TYPEDB names it, as in localhost:1729, and MABOS_TEST_TYPEDB_PASSWORD its password."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands.desk import Desk

from mabos_cli.core.mirror.schema import mirror_schema

ADDRESS = os.environ.get("MABOS_TEST_TYPEDB", "")
PASSWORD = os.environ.get("MABOS_TEST_TYPEDB_PASSWORD", "password")


class Live:
    """A database of its own on the server, which is there only for one test."""

    def __init__(self, name: str) -> None:
        from mabos_cli.backends.typedb import Place, open_session

        self.place = Place(ADDRESS, name, connect_timeout=10.0, timeout=60.0)
        self.session = open_session(self.place, PASSWORD)

    def environment(self) -> dict[str, str]:
        names = {"ADDRESS": ADDRESS, "PASSWORD": PASSWORD, "DATABASE": self.place.database}
        names |= {"CONNECT_TIMEOUT": "10", "TIMEOUT": "60"}
        return {f"MABOS_TYPEDB_{name}": value for name, value in names.items()}

    def rows(self, query: str) -> list[Any]:
        return self.session.read(query)[0]

    def graph(self) -> tuple[list[Any], list[Any]]:
        """All that is there: things with their attributes, and relations with those who play in them."""
        values = self.rows("match $e isa! $t, has uid $u, has $a; select $t, $u, $a;")
        things = sorted((r["t"]["type"], r["u"]["value"], r["a"]["type"], str(r["a"]["value"])) for r in values)
        relations = []
        for relation in mirror_schema().relations:
            if relation.name != "statement":
                found = self._relations(relation.name, "", relation.roles)
                assert not self.rows(f"match $r isa {relation.name}; not {{ $r links ($e); }}; select $r;")
                relations += [[relation.name, *ends] for _, *ends in found]
        relations += self._relations("statement", "$t sub statement; $r isa! $t;", ("evidence", "subject", "object"))
        return things, sorted(relations)

    def _relations(self, name: str, more: str, roles: tuple[str, ...]) -> list[Any]:
        links = ", ".join(f"{role}: ${role}" for role in roles)
        ends = " ".join(f"${role} isa! ${role}_t, has uid ${role}_u;" for role in roles)
        rows = self.rows(f"match $r isa {name}, links ({links}); {more} {ends}")
        return [
            [
                row["t"]["type"] if "t" in row else name,
                *sorted((role, row[f"{role}_t"]["type"], row[f"{role}_u"]["value"]) for role in roles),
            ]
            for row in rows
        ]

    def wipe(self) -> None:
        """Deletes the database, if it is there."""
        if self.place.database in self.session.databases():
            self.session._driver.databases.get(self.place.database).delete()


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> Iterator[Live]:
    """An empty database, or a skip that says what is missing."""
    if not ADDRESS:
        pytest.skip("no TypeDB server: set MABOS_TEST_TYPEDB to the address of one, as in localhost:1729")
    pytest.importorskip("typedb.driver", reason="needs the official driver, typedb-driver")
    live = Live(f"mabos_test_{os.getpid()}_{time.monotonic_ns()}")
    yield live
    live.wipe()
    live.session.close()


@pytest.fixture
def desk(quick: Path, still_world: None, live: Live, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A workspace with the business ontology, which knows of the server."""
    desk = Desk(quick / "ws")
    for words in (("ontology", "scaffold", "business"), ("ontology", "scaffold", "saas")):
        assert desk.run(*words).code == 0
    for name, value in live.environment().items():
        monkeypatch.setenv(name, value)
    assert desk.run("typedb", "sync-schema").code == 0
    return desk
