"""A small TypeDB 3 server on loopback, for the real driver to talk to.

It speaks the protocol and keeps databases, transactions and who committed what. It does not understand TypeQL: answers
are scripted by the test, and what can go wrong is switched on.
"""

import os
import socket
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import count

import grpc

from typedb_server import messages
from typedb_server.faults import Fault, abort, suffer
from typedb_server.messages import PROTOCOL, Answer, Failure, no_database
from typedb_server.transaction import Asked, Transaction
from typedb_server.wire import Fields, bytes_in, field, number_in, read, repeated, text_in

_CALLS_AT_ONCE = 16
# The driver pings while it waits, which gRPC for Python takes for an attack after a while; a TypeDB server does not.
_OPTIONS = (
    ("grpc.so_reuseport", 0),
    ("grpc.http2.max_ping_strikes", 0),
    ("grpc.http2.min_ping_interval_without_data_ms", 0),
)
_CALLS = frozenset(
    "connection_open authentication_token_create servers_all server_version databases_all databases_get"
    " databases_contains databases_create database_schema database_type_schema database_delete".split()
)
_NEED_NO_TOKEN = ("connection_open", "authentication_token_create")

Script = Callable[[str], Answer | Fault | None]


class Server:
    """The address, the queries and the names of the calls so far, and the schema texts by database."""

    def __init__(self, user: str = "admin", password: str = "password") -> None:
        self.queries: list[Asked] = []
        self.calls: list[str] = []
        self.schemas: dict[str, str] = {}
        self.address = ""
        self.script: Script = lambda query: None
        self._credentials = user, password
        self._faults: dict[str, Fault | Failure] = {}
        self._transactions = count(1)

    def start(self) -> "Server":
        """Listens on a free port of loopback."""
        pool = ThreadPoolExecutor(_CALLS_AT_ONCE, thread_name_prefix="typedb-server")
        self._grpc = grpc.server(pool, handlers=[_Handlers(self)], options=_OPTIONS)
        self.address = f"127.0.0.1:{self._grpc.add_insecure_port('127.0.0.1:0')}"
        self._grpc.start()
        return self

    def stop(self) -> None:
        """Nobody listens any more, and whoever still waits for an answer is refused."""
        self._grpc.stop(grace=None).wait()

    def __enter__(self) -> "Server":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def answer(self, script: Script) -> None:
        """From now on the script says what a query gets: an answer, a fault, or None for the usual."""
        self.script = script

    def fail(self, place: str, what: Fault | Failure) -> None:
        """From now on this happens at a place: a call by its name, `*` for all calls, `query`, `commit`, `rollback`."""
        self._faults[place] = what

    def heal(self) -> None:
        """Nothing goes wrong any more."""
        self._faults.clear()

    def fault_at(self, *places: str) -> Fault | Failure | None:
        """What happens at the first of these places where something does."""
        return next((self._faults[place] for place in places if place in self._faults), None)

    def committed(self) -> list[str]:
        """The texts of the queries that were committed."""
        return [asked.text for asked in self.queries if asked.committed]

    def drop_connections(self) -> None:
        """Every connection ends as networks end them, without a farewell. The server goes on listening."""
        port = int(self.address.rpartition(":")[2])
        for number in map(int, os.listdir("/dev/fd")):
            # gRPC does not hand out its sockets, but whoever holds a copy of one can shut it down.
            with suppress(OSError):
                if stat.S_ISSOCK(os.fstat(number).st_mode):
                    with socket.socket(fileno=os.dup(number)) as copy:
                        if copy.getsockname()[1:2] == (port,) and copy.getpeername():
                            copy.shutdown(socket.SHUT_RDWR)

    def call(self, name: str, request: bytes, context: grpc.ServicerContext) -> bytes:
        """The answer to any call but a transaction."""
        self.enter(name, context)
        answer = getattr(self, f"_{name}")(read(request))
        if isinstance(answer, Failure):
            abort(context, answer)
        if self.fault_at(name, "*") is Fault.LOST:
            self.drop_connections()
        return answer

    def enter(self, name: str, context: grpc.ServicerContext) -> None:
        """Who may come in and finds the server well passes."""
        self.calls.append(name)
        suffer(self.fault_at(name, "*"), context, self.drop_connections)
        shown = dict(context.invocation_metadata()).get("authorization")
        if name not in _NEED_NO_TOKEN and shown != f"Bearer {self._token}":
            abort(context, Failure("AUT3", "Invalid token supplied.", "Authentication"))

    def transact(self, requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
        """The messages of one transaction, from its opening to its end."""
        self.enter("transaction", context)
        yield from Transaction(self, next(self._transactions), requests, context).messages()

    @property
    def _token(self) -> str:
        return f"token-of-{self._credentials[0]}"

    def _authentication_token_create(self, request: Fields) -> bytes | Failure:
        if messages.credentials_in(request) != self._credentials:
            return Failure("AUT1", "Invalid credential supplied.", "Authentication")
        return messages.token(self._token)

    def _connection_open(self, request: Fields) -> bytes | Failure:
        spoken = number_in(request, 1)
        if spoken != PROTOCOL:
            return Failure("GSR0", f"This server speaks protocol {PROTOCOL}, the driver {spoken}.", "Protocol")
        token = self._authentication_token_create(read(bytes_in(request, 4)))
        return token if isinstance(token, Failure) else messages.connection_opened(token, self.address)

    def _servers_all(self, request: Fields) -> bytes:
        return messages.servers(self.address)

    def _server_version(self, request: Fields) -> bytes:
        return field(1, "TypeDB for tests") + field(2, "3.14.0")

    def _databases_all(self, request: Fields) -> bytes:
        return repeated(1, (field(1, name) for name in self.schemas))

    def _databases_get(self, request: Fields) -> bytes | Failure:
        name = text_in(request, 1)
        return field(1, field(1, name)) if name in self.schemas else no_database("SRV3", name)

    def _databases_contains(self, request: Fields) -> bytes:
        return field(1, text_in(request, 1) in self.schemas)

    def _databases_create(self, request: Fields) -> bytes | Failure:
        # A database that exists is left as it is: so does a real server.
        self.schemas.setdefault(text_in(request, 1), "")
        return self._databases_get(request)

    def _database_schema(self, request: Fields) -> bytes | Failure:
        name = text_in(request, 1)
        return field(1, self.schemas[name]) if name in self.schemas else no_database("SRV3", name)

    _database_type_schema = _database_schema

    def _database_delete(self, request: Fields) -> bytes | Failure:
        name = text_in(request, 1)
        return b"" if self.schemas.pop(name, None) is not None else no_database("SRV3", name)


class _Handlers(grpc.GenericRpcHandler):
    """Takes calls by name. Without serializers, messages come and go as bytes."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def service(self, call: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler | None:
        name = call.method.removeprefix("/typedb.protocol.TypeDB/")
        if name == "transaction":
            return grpc.stream_stream_rpc_method_handler(self._server.transact)
        if name in _CALLS:
            return grpc.unary_unary_rpc_method_handler(partial(self._server.call, name))
        return None
