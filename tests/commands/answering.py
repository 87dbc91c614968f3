"""A mirror that also answers what the program asks it, and what other workspaces wrote there."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from typedb_server.messages import Documents

from commands.mirrored import Mirror
from mabos_cli.core.mirror.records import Record
from mabos_cli.formats.mirror.typeql import render_links, render_upsert


class Answering(Mirror):
    """Runs questions on what is there."""

    def _answer(self, query: str) -> Any:
        if "fetch" in query and not self.poison:
            self.catch_up()
            return Documents(tuple(map(_plain, self.engine.run(query))))
        return super()._answer(query)

    def put(self, records: Iterable[Record]) -> None:
        """Another workspace writes into the same database."""
        for record in records:
            for query in (*render_upsert(record), *render_links(record)):
                self.engine.run(query)


def _plain(value: Any) -> Any:
    """A value as the server gives it: moments as text."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.isoformat() if isinstance(value, datetime) else value
