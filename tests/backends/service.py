"""A real embedding service on loopback that does what each test tells it to."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Call(NamedTuple):
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: Any


class Answer(NamedTuple):
    """What to say. claimed is a Content-Length that is not true; wait is before anything is said."""

    body: Any
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    claimed: int | None = None
    wait: float = 0.0
    drip: float = 0.0


class Service:
    """The address, the calls so far, and the plan: one Answer or function of the call for each request."""

    def __init__(self, *plan: Answer | Callable[[Call], Answer]) -> None:
        self.plan = [*plan]
        self.calls: list[Call] = []
        self.url = ""
        self.closing = threading.Event()

    def answer(self, call: Call) -> Answer:
        self.calls.append(call)
        # The last step of the plan goes on for ever.
        step = self.plan.pop(0) if len(self.plan) > 1 else self.plan[0]
        return step if isinstance(step, Answer) else step(call)


def vector_of(text: str, width: int = 3) -> list[float]:
    """A vector that tells which text it belongs to: the number in it."""
    return [float(text.split()[-1]), 1.0, *[0.0] * (width - 2)]


def speak_openai(call: Call) -> Answer:
    """Vectors in reverse order with their index: order must come from it."""
    texts = call.body["input"]
    data = [{"index": place, "embedding": vector_of(text)} for place, text in enumerate(texts)]
    return Answer({"data": data[::-1]})


@contextmanager
def serving(*plan: Answer | Callable[[Call], Answer]) -> Iterator[Service]:
    service = Service(*plan)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            said = service.answer(Call(self.path, dict(self.headers.items()), body))
            if said.wait and service.closing.wait(said.wait):
                return
            raw = said.body if isinstance(said.body, bytes) else json.dumps(said.body).encode()
            self.send_response(said.status)
            for name, value in said.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(said.claimed or len(raw)))
            self.end_headers()
            self._write(raw, said.drip)

        def _write(self, raw: bytes, drip: float) -> None:
            try:
                if not drip:
                    self.wfile.write(raw)
                for byte in raw if drip else b"":
                    self.wfile.write(bytes([byte]))
                    time.sleep(drip)
            except OSError:
                pass  # the client has had enough

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    service.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield service
    finally:
        service.closing.set()
        server.shutdown()
        server.server_close()
