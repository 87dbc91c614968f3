"""The official MCP client for tests that wait: a real `mabos mcp` at the other end of real pipes."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from anyio.from_thread import BlockingPortal, start_blocking_portal
from conftest import NOW
from mcp import Client
from mcp.client.stdio import StdioServerParameters


def environment(root: Path, **more: str) -> dict[str, str]:
    """A world that stands still, without settings of whoever runs the tests."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MABOS_")}
    return clean | {"HOME": os.fspath(root.parent), "MABOS_NOW": NOW} | more


class Got(NamedTuple):
    """What a call of a tool gave."""

    is_error: bool
    text: str
    data: Any


class Speaker(NamedTuple):
    """A client whose calls wait for the answer."""

    portal: BlockingPortal
    client: Client

    def call(self, tool: str, /, **arguments: Any) -> Got:
        """What a tool answers."""
        done = self.portal.call(self.client.call_tool, tool, arguments)
        return Got(done.is_error, "".join(part.text for part in done.content), done.structured_content)

    def do(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """The data of a call that must succeed."""
        got = self.call(tool, **arguments)
        assert not got.is_error, got.text
        return got.data


@contextmanager
def speaking(root: Path, *words: str, **more: str) -> Iterator[Speaker]:
    """A server on a workspace, and a client that is connected to it."""
    line = ["-m", "mabos_cli", "-w", os.fspath(root), "mcp", *words]
    server = StdioServerParameters(command=sys.executable, args=line, env=environment(root, **more))
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server)) as client,
    ):
        yield Speaker(portal, client)
