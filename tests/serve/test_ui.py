"""The page of `mabos ui` over HTTP: who is refused, what a call answers, and that nothing is lost beside other writers."""

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from conftest import Mabos

from mabos_cli.serve.ui_calls import CALLS

KIND = {"Content-Type": "application/json"}


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def value(self) -> Any:
        return json.loads(self.body)


class Page:
    """A server in a process of its own, and its address taken apart."""

    def __init__(self, root: Path, *words: str) -> None:
        given = {name: value for name, value in os.environ.items() if not name.startswith("MABOS_")}
        program = [sys.executable, "-m", "mabos_cli", "-w", os.fspath(root), "--json", "ui", *words]
        self.process = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=given)
        assert self.process.stdout is not None
        self.url: str = json.loads(self.process.stdout.readline())["data"]["url"]
        self.host, self.token = self.url.removeprefix("http://").strip("/").split("/")

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        connection = http.client.HTTPConnection(self.host, timeout=60)
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            found = connection.getresponse()
            return Answer(found.status, dict(found.getheaders()), found.read())
        finally:
            connection.close()

    def get(self, path: str = "", **headers: str) -> Answer:
        return self.ask("GET", f"/{self.token}/{path}", **headers)

    def call(self, name: str, **arguments: Any) -> Answer:
        return self.ask("POST", f"/{self.token}/api/{name}", json.dumps(arguments).encode(), **KIND)

    def end(self, number: int = signal.SIGTERM) -> tuple[int, bytes]:
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=30)
        return self.process.returncode, errors


@contextmanager
def open_page(root: Path, *words: str) -> Iterator[Page]:
    page = Page(root, *words)
    try:
        yield page
    finally:
        page.process.kill()
        page.process.communicate()


@pytest.fixture
def page(workspace: Path) -> Iterator[Page]:
    with open_page(workspace) as found:
        yield found


def store(mabos: Mabos, root: Path, text: str, *words: str) -> str:
    done = mabos("--json", "store", "--store", "long_term", *words, "--", text, cwd=root)
    assert done.code == 0, done.stderr
    return json.loads(done.stdout)["data"]["id"]


def test_only_who_has_the_address_is_answered(page: Page) -> None:
    assert page.get().status == 200 and page.get("ui.js").status == page.get("ui.css").status == 200
    for path in (
        "/",
        "/ui.js",
        "/api/about",
        f"/{page.token[:-1]}/",
        f"/{page.token}x/",
        "/%00/",
        "//",
    ):
        assert page.ask("GET", path).status == 403, path
    assert page.ask("POST", "/api/recall", b"{}", **KIND).status == 403
    assert page.get("../../etc/passwd").status == page.get("ui.html").status == 404
    assert (
        page.get()
        .headers["Content-Security-Policy"]
        .startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    )
    assert "Set-Cookie" not in page.get().headers and page.get().headers["Referrer-Policy"] == "no-referrer"
    assert "Access-Control-Allow-Origin" not in page.get("api/about", Origin=f"http://{page.host}").headers


def test_other_sites_are_refused(page: Page) -> None:
    port = page.host.partition(":")[2]
    assert page.get(Host=f"localhost:{port}").status == 200
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1.evil.example:{port}", ""):
        assert page.get(Host=host).status == 421, host
    for origin in (
        "http://evil.example",
        "null",
        f"https://{page.host}",
        "http://localhost:1",
        f"http://localhost:{port}",
    ):
        assert page.ask("POST", f"/{page.token}/api/status", b"{}", Origin=origin, **KIND).status == 403, origin
        assert page.get("api/about", Origin=origin).status == 403, origin
    assert page.get(Sec_Fetch_Site="cross-site").status == page.get(Sec_Fetch_Site="same-site").status == 403
    assert page.ask("POST", f"/{page.token}/api/status", b"{}", Origin=f"http://{page.host}", **KIND).status == 200


def test_only_plain_requests_of_a_size_are_answered(page: Page) -> None:
    path = f"/{page.token}/api/status"
    socket = {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec_WebSocket_Key": "x" * 22,
        "Origin": "http://evil.example",
    }
    assert page.get("api/changes", **socket).status == 403
    assert page.get("api/changes", Upgrade="websocket", Connection="Upgrade").status == 400
    assert page.ask("POST", path, b"{}", Content_Type="text/plain").status == 415
    assert page.ask("POST", path, b"{}", Content_Type="application/x-www-form-urlencoded").status == 415
    assert page.ask("POST", path, b"", Content_Length="99999999", **KIND).status == 413
    assert page.ask("POST", path, b"", Content_Length="-1", **KIND).status == 411
    assert page.ask("POST", path, b"0\r\n\r\n", Transfer_Encoding="chunked", **KIND).status == 400
    for body in (b"", b"[]", b"{", b'{"limit": NaN}', b"[" * 60_000, b"\xff"):
        assert page.ask("POST", path, body, **KIND).status == 400, body[:20]
    for method in ("PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"):
        assert page.ask(method, path).status == 501, method


def test_a_call_is_a_command_of_the_list_and_nothing_else(page: Page, workspace: Path, mabos: Mabos) -> None:
    item = store(mabos, workspace, "We bill per seat")
    told = json.loads(mabos("--json", "recall", "--explain", "--limit=3", "seat", cwd=workspace).stdout)["data"]
    assert page.call("recall", query="seat", limit=3).value["data"] == told
    assert [page.call(name).status for name in ("init", "config", "allow", "doctor", "", "../recall")] == [404] * 6
    for given in ({"workspace": "/"}, {"limit": "3"}, {"query": ["x"]}, {"query": "x", "store": "all --archived"}):
        assert page.call("recall", **given).status == 400, given
    assert page.call("recall", query="--workspace=/").status == 200  # a word, not an option
    assert page.call("get", id="M-1-0000").value["error"]["code"] == "not_found"
    assert page.call("get", id=item, agent_id="nobody").status == 404
    assert page.call("read", path="../../../etc/passwd").status in (400, 404, 422)


def test_forgetting_and_undoing_are_the_commands_own(page: Page, workspace: Path, mabos: Mabos) -> None:
    item = store(mabos, workspace, "We bill per seat")
    receipts = lambda: b"".join(p.read_bytes() for p in (workspace / ".mabos" / "receipts").glob("*.jsonl"))  # noqa: E731
    before = receipts().count(b"\n")
    assert page.call("forget", id=item, reason="by mistake").value["data"]["id"] == item
    assert page.call("recall", query="seat").value["data"]["count"] == 0
    found = page.call("get", id=item).value["data"]
    assert found["state"] == "archived" and found["history"][0]["reason"] == "forgotten: by mistake"
    assert page.call("revive", id=item).status == 200
    assert page.call("get", id=item).value["data"]["state"] == "live"
    assert receipts().count(b"\n") == before + 2
    assert page.call("set_trust", id=item, set="trusted").status == 400  # who decides is not said
    assert page.call("set_trust", id=item, set="trusted", by="ada").status == 200
    assert page.call("trust", id=item).value["data"]["decisions"][0]["by"] == "ada"


def test_looking_changes_nothing(workspace: Path, mabos: Mabos) -> None:
    item = store(mabos, workspace, "We bill per seat")
    assert mabos("fact", "assert", "billing", "uses", "postgres", cwd=workspace).code == 0
    known = {"id": item, "path": "MEMORY.md", "entity": "billing", "query": "seat", "text": "billing"}
    files = lambda: {p: p.read_bytes() for p in workspace.rglob("*") if p.is_file() and ".mabos/index" not in str(p)}  # noqa: E731
    with open_page(workspace, "--read-only") as page:
        assert page.get("api/about").value["read_only"] is True
        page.call("recall", query="seat")
        before = files()
        for call in CALLS.values():
            given = {param.name: known[param.name] for param in call.params if param.name in known}
            answer = page.call(call.name, **given)
            expected = (200, 404) if call.name == "review" else (200,)
            assert answer.status in (expected if call.effect.reads else (403,)), (call.name, answer.body)
        assert {p for p, data in files().items() if before.get(p) != data} <= {*(workspace / ".mabos").rglob("*")}
        assert not list((workspace / ".mabos" / "queue").glob("*access*"))


def test_the_stream_tells_of_changes(page: Page, workspace: Path, mabos: Mabos) -> None:
    connection = http.client.HTTPConnection(page.host, timeout=30)
    connection.request("GET", f"/{page.token}/api/changes")
    stream = connection.getresponse()
    assert stream.getheader("Content-Type") == "text/event-stream"
    first = stream.readline()
    assert first.startswith(b"data: ") and stream.readline() == b"\n"
    store(mabos, workspace, "We bill per seat")
    assert stream.readline().startswith(b"data: ")
    assert page.end() == (0, b"")
    stream.read()
    connection.close()


def test_pages_that_wait_for_changes_leave_room_for_others(page: Page) -> None:
    waiting = [http.client.HTTPConnection(page.host, timeout=30) for _ in range(14)]
    for connection in waiting:
        connection.request("GET", f"/{page.token}/api/changes")
    statuses = sorted(connection.getresponse().status for connection in waiting)
    assert statuses == [200] * 12 + [503] * 2
    assert page.call("status").status == 200
    for connection in waiting:
        connection.close()


def test_it_ends_with_ctrl_c(page: Page) -> None:
    assert page.call("status").status == 200
    assert page.end(signal.SIGINT) == (130, b"")


def test_two_clients_beside_three_writers_lose_nothing(page: Page, workspace: Path, mabos: Mabos) -> None:
    items = [store(mabos, workspace, f"Berth {n} is let to ship {n * 7}") for n in range(40)]

    def write(writer: int) -> list[str]:
        return [store(mabos, workspace, f"Writer {writer} saw heron {n} at pier {writer * 31 + n}") for n in range(8)]

    def ask(number: int) -> int:
        if number % 10 == 0 and number // 10 < len(items):
            return page.call("forget", id=items[number // 10]).status
        return page.call("recall", query=f"berth {number % 40}", limit=5).status

    with ThreadPoolExecutor(64) as clients, ThreadPoolExecutor(3) as writers:
        written = [writers.submit(write, n) for n in range(3)]
        statuses = [*clients.map(ask, range(500))]
        kept = [item for done in written for item in done.result()]
    assert statuses == [200] * 500
    assert [page.call("get", id=item).value["data"]["state"] for item in kept] == ["live"] * 24
    assert {page.call("get", id=item).value["data"]["state"] for item in items} == {"archived"}
    status = Path(f"/proc/{page.process.pid}/status")
    if status.exists():
        kilobytes = int(next(line for line in status.read_text().split("\n") if line.startswith("VmRSS")).split()[1])
        assert kilobytes < 300_000
