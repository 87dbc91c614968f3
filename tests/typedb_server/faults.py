"""What can go wrong with a server, and how it comes to pass."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import NoReturn

import grpc

from typedb_server.messages import Failure, status_details


class Fault(Enum):
    """What can go wrong at a place."""

    SILENT = "nothing is ever said"
    SLOW = "nothing is said until the time of the transaction is up, when it is closed"
    DROP = "the connection is gone before anything is done"
    LOST = "it is done, and the connection is gone before that is said"
    UNAVAILABLE = "the call is refused by what stands before the server"


def suffer(what: Fault | Failure | None, context: grpc.ServicerContext, drop: Callable[[], None]) -> None:
    """Comes back where nothing is wrong, or nothing yet."""
    if isinstance(what, Failure):
        abort(context, what)
    if what is Fault.UNAVAILABLE:
        context.abort(grpc.StatusCode.UNAVAILABLE, "the server is going down")
    if what in (Fault.SILENT, Fault.SLOW, Fault.DROP):
        if what is Fault.DROP:
            drop()
        wait_until_gone(context)
        context.abort(grpc.StatusCode.CANCELLED, "nobody hears this")


def wait_until_gone(context: grpc.ServicerContext, seconds: float | None = None) -> None:
    """Waits until the driver gives up, or so long."""
    gone = threading.Event()
    if context.add_callback(gone.set):
        gone.wait(seconds)


def abort(context: grpc.ServicerContext, failure: Failure) -> NoReturn:
    """Ends the call with an error of the server."""
    is_about_who = failure.code.startswith("AUT")
    code = grpc.StatusCode.UNAUTHENTICATED if is_about_who else grpc.StatusCode.INVALID_ARGUMENT
    text = "Request generated error"
    details = status_details(failure, code.value[0], text)
    context.set_trailing_metadata((("grpc-status-details-bin", details),))
    context.abort(code, text)


@contextmanager
def silent_port() -> Iterator[str]:
    """The address of something that takes connections and never says a word, not even in gRPC."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
