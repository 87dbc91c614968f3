"""One transaction: requests come in, messages go out, and what was written counts once it is committed."""

import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

import grpc

from typedb_server import messages
from typedb_server.faults import Fault, abort, suffer, wait_until_gone
from typedb_server.messages import KINDS, Answer, Documents, Failure, Ok, Request, Rows, kind_of
from typedb_server.wire import bytes_in, number_in, read, text_in

if TYPE_CHECKING:
    from typedb_server.server import Server

_SECONDS = 300.0  # where the driver does not say how long a transaction may take


@dataclass(slots=True)
class Asked:
    """A query as it arrived, the kind and number (from 1) of its transaction, and whether that was committed."""

    text: str
    database: str
    kind: str
    transaction: int
    given: tuple[dict[str, Any], ...] = ()
    committed: bool = False


class Transaction:
    """One transaction: its requests in order, and when its time is up."""

    def __init__(self, server: "Server", number: int, requests: Iterator[bytes], context: grpc.ServicerContext) -> None:
        self._server, self._number, self._context = server, number, context
        self._inbox: SimpleQueue[Request | None] = SimpleQueue()
        self._ends = time.monotonic() + _SECONDS
        self._asked: list[Asked] = []
        self._waiting: dict[bytes, tuple[Answer, list[bytes], int]] = {}
        self._is_over = False
        threading.Thread(target=self._listen, args=(requests,), daemon=True).start()

    def messages(self) -> Iterator[bytes]:
        """What is said to the driver. When time is up the stream just ends: the real server says no more either."""
        while not self._is_over and (request := self._next()):
            yield from getattr(self, f"_{request.name}")(request)

    def _listen(self, requests: Iterator[bytes]) -> None:
        with suppress(grpc.RpcError):  # a driver that went away
            for message in requests:
                for request in messages.requests_in(message):
                    self._inbox.put(request)
        self._inbox.put(None)

    def _next(self) -> Request | None:
        with suppress(Empty):
            return self._inbox.get(timeout=max(0.0, self._ends - time.monotonic()))
        return None

    def _open(self, request: Request) -> Iterator[bytes]:
        options = read(bytes_in(request.body, 3))
        self._ends = time.monotonic() + number_in(options, 2, int(_SECONDS * 1000)) / 1000
        self._database = text_in(request.body, 1)
        self._kind = KINDS[number_in(request.body, 2)]
        if self._database not in self._server.schemas:
            abort(self._context, messages.no_database("TSV1", self._database))
        yield messages.opened(request.id)

    def _query(self, request: Request) -> Iterator[bytes]:
        text = text_in(request.body, 2)
        asked = Asked(text, self._database, self._kind, self._number, messages.given_in(request.body))
        self._server.queries.append(asked)
        kind = kind_of(text)
        answer = self._answer_to(text, kind)
        if isinstance(answer, Fault):
            # Nothing is kept before the commit: lost after it was done is the same as never done.
            self._suffer(Fault.DROP if answer is Fault.LOST else answer)
            return
        if isinstance(answer, Failure) and (kind != "read" if answer.fatal is None else answer.fatal):
            abort(self._context, answer)
        yield messages.query_head(request.id, answer, kind)
        if isinstance(answer, Rows | Documents):
            items = messages.query_items(answer)
            self._waiting[request.id] = answer, items, messages.prefetch_in(request.body)
            yield from self._stream(request)
        if kind != "read" and not isinstance(answer, Failure):
            self._asked.append(asked)

    def _answer_to(self, text: str, kind: str) -> Answer | Fault:
        answer = self._server.fault_at("query") or self._refusal(kind) or self._server.script(text)
        if answer is not None:
            return answer
        # Definitions say nothing. Whatever writes data gives rows, as reading does.
        return Ok() if kind == "schema" else Rows()

    def _refusal(self, kind: str) -> Failure | None:
        """Why a query may not run in a transaction of this kind."""
        if kind == "schema" and self._kind != "schema":
            needed = "Schema modification queries require schema transactions."
            return Failure("TSV8", needed, "Transaction service", fatal=False)
        if kind == "write" and self._kind == "read":
            needed = "Data modification queries require either write or schema transactions."
            return Failure("TSV9", needed, "Transaction service", fatal=False)
        return None

    def _stream(self, request: Request) -> Iterator[bytes]:
        """The next answers, as many as the driver takes at once."""
        answer, items, size = self._waiting.pop(request.id)
        if items:
            yield messages.query_part(request.id, answer, items[:size])
        if len(items) > size:
            self._waiting[request.id] = answer, items[size:], size
            yield messages.query_pause(request.id)
        else:
            yield messages.query_end(request.id)

    def _commit(self, request: Request) -> Iterator[bytes]:
        if self._kind == "read":
            text = "Read transactions cannot be committed."
            abort(self._context, Failure("TSV2", text, "Transaction service"))
        fault = self._server.fault_at("commit")
        self._suffer(fault)
        if self._is_over:
            return
        for asked in self._asked:
            asked.committed = True
            self._define(asked.text)
        if fault is Fault.LOST:
            self._server.drop_connections()
        self._is_over = True
        yield messages.committed(request.id)

    def _define(self, text: str) -> None:
        """What was defined is added to the schema of the database, which is one `define` whatever came how often."""
        keyword, _, body = text.strip().partition("define")
        schema = self._server.schemas[self._database] or "define\n"
        if not keyword and body.strip() not in schema:
            self._server.schemas[self._database] = schema + body.strip() + "\n"

    def _rollback(self, request: Request) -> Iterator[bytes]:
        if self._kind == "read":
            text = "Read transactions cannot be rolled back, since they never contain writes."
            abort(self._context, Failure("TSV3", text, "Transaction service"))
        self._suffer(self._server.fault_at("rollback"))
        self._asked.clear()
        if not self._is_over:
            yield messages.rolled_back(request.id)

    def _close(self, request: Request) -> Iterator[bytes]:
        self._is_over = True
        yield from ()

    def _suffer(self, what: Fault | Failure | None) -> None:
        """The same as for a call, but that a transaction which is slow ends in time."""
        if what is Fault.SLOW:
            wait_until_gone(self._context, max(0.0, self._ends - time.monotonic()))
            self._is_over = True
        else:
            suffer(what, self._context, self._server.drop_connections)
