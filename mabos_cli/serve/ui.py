"""Serves the page of `mabos ui` to browsers of this machine: the files of templates/ui, the calls of ui_calls.txt, a stream of changes.

The standard library's server is enough for one person. It listens on loopback only, all paths begin with a random token for each run,
and Host and Origin must be its own. It sets no cookies, which other ports of this machine would share.
"""

import gc
import hmac
import json
import secrets
import signal
import sys
import time
from collections.abc import Callable
from contextvars import copy_context
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, HTTPServer
from select import select
from socketserver import TCPServer, ThreadingMixIn
from threading import BoundedSemaphore, Event, Lock
from typing import Any, NoReturn

from mabos_cli import __version__
from mabos_cli.commands.call import Answer, Call
from mabos_cli.core.memory.item import TYPES
from mabos_cli.errors import Conflict, MabosError, UsageFault
from mabos_cli.formats.json.text import dump_line
from mabos_cli.serve.calling import answer_tool
from mabos_cli.serve.tool import Tool
from mabos_cli.serve.tools import load_tools
from mabos_cli.workspace.entries import stamp_entries
from mabos_cli.workspace.files import read_text
from mabos_cli.workspace.layout import template_file

# The only calls that the page may make.
CALLS = load_tools("ui_calls.txt")
_ADDRESS = "127.0.0.1"
_KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_LONGEST = 256 * 1024  # bytes of a request's body
_PATIENCE = 10  # seconds that a client may take for its request, or to read its answer
_THREADS = 32  # requests at a time; others wait to be accepted
_STREAMS = 12  # of these, at most so many that wait for changes
_PAUSE = 0.7  # seconds between two looks at the files, and more where a look takes long
_STATUS = {2: 400, 3: 404, 4: 422, 5: 409, 6: 503}  # of an answer, by the exit code that the command would have
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Refused(Exception):
    """Raised for a request that is refused, with the status and the reason."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


class Door:
    """Runs the calls of the page, one command at a time, and notices when files change."""

    def __init__(self, call: Call, *, read_only: bool) -> None:
        self._call, self._turn, self._looking = call, Lock(), Lock()
        self._stamp, self._next_look = "", 0.0
        self.is_read_only, self.ending = read_only, Event()
        self.streams = BoundedSemaphore(_STREAMS)

    def answer(self, name: str, arguments: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Returns the status and the answer of a call: data as `--json` has it, the lines of text, warnings; or an error."""
        tool = CALLS.get(name)
        if tool is None:
            raise Refused(HTTPStatus.NOT_FOUND, "no such call")
        if self.is_read_only and not tool.effect.reads:
            raise Refused(HTTPStatus.FORBIDDEN, "this page is read-only: it was started with --read-only")
        confirm = self._confirm(arguments.pop("seen")) if "seen" in arguments else None
        with self._turn:
            found = self._run(tool, arguments, confirm)
            if confirm and isinstance(found, MabosError):
                try:
                    confirm()  # the command may have failed because another page removed something
                except Conflict as conflict:
                    found = conflict
        if isinstance(found, MabosError):
            error = {"code": found.code, "message": found.message, "hint": found.hint}
            return _STATUS.get(found.exit_code, 500), {"error": error}
        return 200, found._asdict()

    def _confirm(self, seen: Any) -> Callable[[], None]:
        """Returns a function that raises Conflict if what the page showed has changed since, by another page or an editor.

        The command calls it under its lock, between planning and writing.
        """
        tool = CALLS.get(str(seen.get("call"))) if isinstance(seen, dict) else None
        if (
            tool is None
            or not tool.effect.reads
            or not all(isinstance(seen.get(key), dict) for key in ("arguments", "has"))
        ):
            raise Refused(
                HTTPStatus.BAD_REQUEST, "seen names a call that reads, its arguments, and what its answer has"
            )

        def check() -> None:
            # In a separate context, so that the list of files that the command wrote is not touched.
            found = copy_context().run(self._run, tool, dict(seen["arguments"]))
            if isinstance(found, MabosError) or not _has(json.loads(dump_line(found.data)), seen["has"]):
                raise Conflict(
                    "this has changed since the page showed it; nothing was written", "look at it again, then decide"
                )

        return check

    def _run(
        self, tool: Tool, arguments: dict[str, Any], confirm: Callable[[], None] | None = None
    ) -> Answer | MabosError:
        return answer_tool(self._call.with_changes(confirm=confirm), tool, arguments)

    def about(self) -> dict[str, Any]:
        """Returns the data that the page starts with."""
        workspace = self._call.open_workspace()
        return {
            "workspace": workspace.root.name,
            "agent": self._call.agent or "",
            "read_only": self.is_read_only,
            "types": TYPES,
            "version": __version__,
        }

    def stamp(self) -> str:
        """Returns a text that changes whenever a file of an agent or an ontology does; streams share the result for a moment."""
        with self._looking:
            start = time.monotonic()
            if start >= self._next_look:
                workspace = self._call.open_workspace()
                self._stamp = stamp_entries(workspace.agents, workspace.ontologies)
                self._next_look = time.monotonic() + max(_PAUSE, 10 * (time.monotonic() - start))
            return self._stamp

    def close(self) -> None:
        """Ends the streams, and waits for the command that runs."""
        self.ending.set()
        self._turn.acquire()


class Server(ThreadingMixIn, HTTPServer):
    """Listens on loopback, with a bounded number of threads."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self, port: int, door: Door) -> None:
        self.door, self.token = door, secrets.token_urlsafe(24)
        self.files = {each.name: each for each in template_file("ui").iterdir() if each.suffix in _KINDS}
        self._room = BoundedSemaphore(_THREADS)
        super().__init__((_ADDRESS, port), Handler)
        self.hosts = {f"{name}:{self.server_port}" for name in (_ADDRESS, "localhost")}

    def server_bind(self) -> None:
        """Binds without asking a name server what this machine is called, as the base class would."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = _ADDRESS, self.socket.getsockname()[1]

    @property
    def url(self) -> str:
        return f"http://{_ADDRESS}:{self.server_port}/{self.token}/"

    def process_request(self, request: Any, client_address: Any) -> None:
        self._room.acquire()
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores clients that leave; anything else is a bug, and its traceback goes to stderr."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """Answers one request of a connection."""

    server: Server
    timeout = _PATIENCE
    server_version, sys_version = "mabos", ""

    def do_GET(self) -> None:
        self._guarded(self._get)

    def do_POST(self) -> None:
        self._guarded(self._post)

    def log_message(self, *words: Any) -> None:
        """Logs nothing: the address contains the token."""

    def _guarded(self, respond: Callable[[str], None]) -> None:
        try:
            respond(self._path())
        except Refused as refused:
            error = {"code": "refused", "message": refused.reason, "hint": ""}
            self._send(refused.status, "application/json", dump_line({"error": error}))

    def _path(self) -> str:
        """Returns the path after the token, if the request comes from the page or a program that knows the token."""
        given = self.headers
        if given.get_all("Host", []) != [host := given.get("Host", "")] or host not in self.server.hosts:
            raise Refused(HTTPStatus.MISDIRECTED_REQUEST, "this is not the host of the page")
        if given.get("Origin", f"http://{host}") != f"http://{host}":
            raise Refused(HTTPStatus.FORBIDDEN, "the request comes from another site")
        if given.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise Refused(HTTPStatus.FORBIDDEN, "the request comes from another site")
        if given.get("Upgrade") or given.get("Transfer-Encoding"):
            raise Refused(HTTPStatus.BAD_REQUEST, "upgrades and transfer encodings are not supported")
        _, token, path = (*self.path.partition("?")[0].split("/", 2), "", "")[:3]
        if not hmac.compare_digest(token.encode("utf-8", "replace"), self.server.token.encode()):
            raise Refused(HTTPStatus.FORBIDDEN, "open the address that mabos ui printed; each run has another one")
        return path

    def _get(self, path: str) -> None:
        if file := self.server.files.get(path or "page.html"):
            return self._send(HTTPStatus.OK, f"{_KINDS[file.suffix]}; charset=utf-8", read_text(file))
        if path == "api/about":
            return self._send(HTTPStatus.OK, "application/json", dump_line(self.server.door.about()))
        if path == "api/changes":
            return self._stream()
        raise Refused(HTTPStatus.NOT_FOUND, "no such page")

    def _post(self, path: str) -> None:
        if self.headers.get_content_type() != "application/json":
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "the body must be application/json")
        size = self.headers.get("Content-Length", "")
        if not (size.isascii() and size.isdigit()):
            raise Refused(HTTPStatus.LENGTH_REQUIRED, "Content-Length is required")
        if len(size) > 9 or int(size) > _LONGEST:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body may have at most {_LONGEST} bytes")
        try:
            arguments = json.loads(self.rfile.read(int(size)), parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            raise Refused(HTTPStatus.BAD_REQUEST, "the body is not valid JSON") from None
        if not isinstance(arguments, dict) or not path.startswith("api/"):
            raise Refused(HTTPStatus.BAD_REQUEST, "the body must be a JSON object")
        status, answer = self.server.door.answer(path.removeprefix("api/"), arguments)
        self._send(status, "application/json", dump_line(answer))

    def _stream(self) -> None:
        """Sends an event whenever files change, until the client leaves or the server ends."""
        door = self.server.door
        if not door.streams.acquire(blocking=False):
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "too many pages are open")
        try:
            self._head(HTTPStatus.OK, "text/event-stream")
            known = ""
            while not door.ending.wait(_PAUSE if known else 0):
                if select([self.connection], [], [], 0)[0]:
                    return  # a waiting client sends nothing: the connection has ended
                if (stamp := door.stamp()) != known:
                    known = stamp
                    self.wfile.write(f"data: {stamp}\n\n".encode())
        finally:
            door.streams.release()

    def _send(self, status: int, kind: str, text: str) -> None:
        body = text.encode("utf-8", "replace")
        self._head(status, kind, len(body))
        if self.command != "HEAD":
            self.wfile.write(body)

    def _head(self, status: int, kind: str, size: int | None = None) -> None:
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        if size is not None:
            self.send_header("Content-Length", str(size))
        self.end_headers()


def _has(value: Any, wanted: dict[str, Any]) -> bool:
    """Returns whether an object with these names and values is anywhere in a value."""
    if isinstance(value, dict) and all(name in value and value[name] == wanted[name] for name in wanted):
        return True
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_has(each, wanted) for each in below)


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(text)


def open_server(call: Call, port: int, *, read_only: bool) -> Server:
    """Returns a listening server; serve() answers its requests."""
    call.open_workspace()
    try:
        return Server(port, Door(call, read_only=read_only))
    except OSError as error:
        raise UsageFault(f"port {port}: {error.strerror}", "leave --port out for any free one") from None


def serve(server: Server) -> None:
    """Answers requests until SIGTERM or Ctrl-C, then waits for the running command."""
    gc.set_threshold(5_000, 10, 10)  # commands hardly collect garbage, because they end soon; this process stays
    signal.signal(signal.SIGTERM, _leave)
    try:
        server.serve_forever(poll_interval=0.2)
    finally:
        server.server_close()
        server.door.close()


def _leave(*_: object) -> NoReturn:
    sys.exit(0)
