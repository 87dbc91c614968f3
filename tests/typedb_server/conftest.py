"""What the tests of the TypeDB server share: a watchdog, a server, and drivers that are closed in time."""

import faulthandler
from collections.abc import Callable, Iterator
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def watchdog() -> Iterator[None]:
    """Ends the process where a test waits: a native call that waits for a server cannot be interrupted."""
    faulthandler.dump_traceback_later(60, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture
def server() -> Iterator[Any]:
    """A server with one empty database."""
    from typedb_server.server import Server

    with Server() as server:
        server.schemas["mabos_x"] = ""
        yield server


@pytest.fixture
def connect() -> Iterator[Callable[..., Any]]:
    """Opens drivers. They are closed before their server stops: only that frees what still waits in them."""
    from typedb_server.driving import open_driver

    opened = []

    def connect(*args: Any, **options: Any) -> Any:
        opened.append(open_driver(*args, **options))
        return opened[-1]

    yield connect
    for driver in opened:
        driver.close()


@pytest.fixture
def driver(server: Any, connect: Callable[..., Any]) -> Any:
    """A driver that is connected to the server."""
    return connect(server.address)
