"""A TypeDB server for tests that has read every word: what was committed is run by the small engine of the TypeQL tests."""

from typing import Any

from typedb_server.messages import Attribute, Failure, Rows
from typedb_server.server import Server
from typeql.engine import Engine

from mabos_cli.core.mirror.schema import mirror_schema
from mabos_cli.formats.mirror.typeql import render_define

DATABASE = "mabos_ws"
PASSWORD = "open sesame"


class Mirror:
    """A server with a database that has the schema; `poison` is a text that it refuses to take."""

    def __init__(self) -> None:
        self.server = Server(password=PASSWORD).start()
        self.server.schemas[DATABASE] = render_define(mirror_schema())
        self.server.answer(self._answer)
        self.engine = Engine(mirror_schema())
        self.poison = ""
        self._run = 0

    def environment(self, **more: str) -> dict[str, str]:
        """What points the program at this server."""
        names = {"ADDRESS": self.server.address, "PASSWORD": PASSWORD, "CONNECT_TIMEOUT": "1", "TIMEOUT": "2"}
        return {f"MABOS_TYPEDB_{name}": value for name, value in (names | more).items()}

    def _answer(self, query: str) -> Any:
        if self.poison and self.poison in query:
            return Failure("QEX7", f"cannot take {self.poison}")
        if query.startswith("match") and "select $uid;" in query:
            self.catch_up()
            rows = self.engine.run(query)
            return Rows(("uid",), tuple((Attribute("uid", row["$uid"][1]),) for row in rows))
        return None

    def catch_up(self) -> None:
        """Runs what was committed meanwhile, in order."""
        committed = self.server.committed()
        for query in committed[self._run :]:
            if not query.startswith("define"):
                self.engine.run(query)
        self._run = len(committed)

    def wipe(self) -> None:
        """Somebody deletes all data."""
        self.catch_up()
        self.engine = Engine(mirror_schema())

    def held(self) -> dict[str, list[str]]:
        """The uids in the mirror by type, as often as they are there."""
        self.catch_up()
        found: dict[str, list[str]] = {}
        for kind, attributes in self.engine.state()[0]:
            found.setdefault(kind, []).append(dict(attributes)["uid"])
        return found

    def value(self, uid: str, name: str, kind: str = "") -> list[Any]:
        """The values of an attribute of what has this uid, and is of this kind if one is given."""
        self.catch_up()
        types = self.engine.types
        owners = [held for own, held in self.engine.has.items() if ("uid", uid) in held and kind in ("", types[own])]
        assert len(owners) == 1, uid
        return sorted(value for own, value in owners[0] if own == name)
